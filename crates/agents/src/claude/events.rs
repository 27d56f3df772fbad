//! The hook events of Claude Code 2.1.326, and which of them we register. Older versions have fewer: see `versions`.
//!
//! Law: observing must not change the agent. `WorktreeCreate` is never registered (a silent hook replaces git's own
//! creation and breaks worktrees), `MessageDisplay` only when it is named (it holds up the turn), and the compaction
//! events only where the model does not notice.

/// Describes how an event may be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// Always.
    Default,
    /// Only when the user names it.
    OptIn,
    /// Not at all: a hook that only looks on would change what the agent does.
    Never,
}

/// One event of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The agent's name for it.
    pub name: &'static str,
    /// Tells whether we register it.
    pub registration: Registration,
    /// True if its matcher is compared with the name of a tool.
    pub of_a_tool: bool,
    /// Seconds after which the agent gives up, where its default does not do.
    pub timeout: Option<u32>,
    /// A matcher that the event always has, because it does not fire without or is noticed by the model.
    pub matcher: Option<&'static str>,
}

const fn event(name: &'static str) -> Event {
    Event { name, registration: Registration::Default, of_a_tool: false, timeout: None, matcher: None }
}

const fn tool_event(name: &'static str) -> Event {
    Event { of_a_tool: true, ..event(name) }
}

/// Files whose change is worth an event: what steers the agent, and what holds secrets.
const WATCHED_FILES: &str = "CLAUDE.md|.env|.envrc|.claude/settings.json|.claude/settings.local.json";

/// Compactions that no user typed. After `/compact` in the terminal the agent shows `PreCompact [<command>] completed
/// successfully` and sends that line to the model, whatever the hook prints and even if it is asynchronous. Such a
/// compaction is still seen: in SessionStart (`compact`), in the SubagentStop without a type, and in the transcript.
const UNSEEN_COMPACTION: &str = "auto";

/// All 33 events, in the order in which `install` writes them: the way of a session.
pub const EVENTS: [Event; 33] = [
    event("Setup"),
    // A start that waits for us would be felt; two seconds are a thousand times what the hook needs.
    Event { timeout: Some(2), ..event("SessionStart") },
    // The default of 1.5 s prints an error on the user's terminal when a loaded machine misses it.
    Event { timeout: Some(10), ..event("SessionEnd") },
    event("UserPromptSubmit"),
    event("UserPromptExpansion"),
    event("InstructionsLoaded"),
    tool_event("PreToolUse"),
    tool_event("PostToolUse"),
    tool_event("PostToolUseFailure"),
    event("PostToolBatch"),
    tool_event("PermissionRequest"),
    tool_event("PermissionDenied"),
    event("Notification"),
    event("Stop"),
    event("StopFailure"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("TaskCreated"),
    event("TaskCompleted"),
    event("TeammateIdle"),
    Event { matcher: Some(UNSEEN_COMPACTION), ..event("PreCompact") },
    Event { matcher: Some(UNSEEN_COMPACTION), ..event("PostCompact") },
    event("PreModelSwitch"),
    event("PostModelSwitch"),
    event("CwdChanged"),
    Event { matcher: Some(WATCHED_FILES), ..event("FileChanged") },
    event("DirectoryAdded"),
    event("ConfigChange"),
    Event { registration: Registration::Never, ..event("WorktreeCreate") },
    event("WorktreeRemove"),
    event("Elicitation"),
    event("ElicitationResult"),
    Event { registration: Registration::OptIn, ..event("MessageDisplay") },
];

/// Tools that Claude Code 2.1.325 and 2.1.197 were seen to offer, for checking what a user typed after `--tools`.
/// The real set depends on the model, on flags and on the version, so this list decides nothing else.
pub const TOOLS: [&str; 38] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LSP",
    "ListAgents",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
];

/// Returns the event called `name`.
pub fn find(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.name == name)
}
