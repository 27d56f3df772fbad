//! The hook events of Codex 0.169.0. All of them are registered: none changes the agent by being observed, and an
//! older version ignores a name that it does not know (`versions` says which it has).

/// One event of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The agent's name for it in `hooks.json`.
    pub name: &'static str,
    /// Its name in the keys of the trust store.
    pub snake: &'static str,
    /// True if its matcher is compared with the name of a tool.
    pub of_a_tool: bool,
    /// True if the agent looks at a matcher at all.
    pub has_matcher: bool,
    /// True if the agent allows it three seconds at most, and one if nothing is said.
    pub hurried: bool,
}

const fn event(name: &'static str, snake: &'static str) -> Event {
    Event { name, snake, of_a_tool: false, has_matcher: true, hurried: false }
}

const fn tool_event(name: &'static str, snake: &'static str) -> Event {
    Event { of_a_tool: true, ..event(name, snake) }
}

const fn plain_event(name: &'static str, snake: &'static str) -> Event {
    Event { has_matcher: false, ..event(name, snake) }
}

/// All 14 events, in the order in which `install` writes them: the way of a session.
// All of them: an unknown event is ignored by older versions, unlike an unknown key of the file.
pub const EVENTS: [Event; 14] = [
    event("SessionStart", "session_start"),
    plain_event("UserPromptSubmit", "user_prompt_submit"),
    plain_event("PreModelRequest", "pre_model_request"),
    plain_event("PostModelRequest", "post_model_request"),
    tool_event("PreToolUse", "pre_tool_use"),
    tool_event("PermissionRequest", "permission_request"),
    tool_event("PostToolUse", "post_tool_use"),
    event("PreCompact", "pre_compact"),
    event("PostCompact", "post_compact"),
    event("SubagentStart", "subagent_start"),
    event("SubagentStop", "subagent_stop"),
    plain_event("Stop", "stop"),
    Event { hurried: true, ..plain_event("Interrupt", "interrupt") },
    Event { hurried: true, ..event("SessionEnd", "session_end") },
];

/// The seconds that a hurried event gets from us: the most that the agent allows.
pub const HURRIED_TIMEOUT: u64 = 3;

/// Tools that Codex 0.166.0 was seen to name in hooks, with the aliases its matchers know, for checking what a user
/// typed after `--tools`. The real set depends on the model and on features, so this list decides nothing else.
pub const TOOLS: [&str; 15] = [
    "Agent",
    "Bash",
    "Edit",
    "Write",
    "apply_patch",
    "collaborationspawn_agent",
    "collaborationwait_agent",
    "create_goal",
    "multi_agent_v1close_agent",
    "multi_agent_v1wait_agent",
    "request_user_input",
    "spawn_agent",
    "update_goal",
    "update_plan",
    "view_image",
];

/// Returns the event called `name`.
pub fn find(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|event| event.name == name)
}
