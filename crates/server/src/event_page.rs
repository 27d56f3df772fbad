//! `docs/events.md` is made from the registry of `event` and the tables below, and this test holds it to that.

use std::fmt::Write as _;

use agent_tracer_event::attributes::{self, ACCOUNT, Attribute, CALLS, Carriers, EVENTS, TASK, TURN};
use agent_tracer_event::semantics::{EntityType, Importance, SubtypeKey, ToolFamily};
use agent_tracer_event::{
    CallState, Certainty, Channel, CompletionReason, ErrorClass, Kind, Lane, Outcome, Subject,
};
use agent_tracer_ledger::view::{TaskStatus, WaitingReason};

const HEAD: &str = "\
# Events and attributes

Generated from the source by a test; do not edit. A row of the timeline is one event: it has a kind, a lane and metadata. \
The API ([api.md](api.md)) returns it as `kind`, `lane` and `metadata`; `agent-tracer tail --kind` and `search kind:` take \
the same words.

One tool call is one event, from the attempt to the end. Later channels add attributes to it; of two values for one \
attribute the more certain one is shown.
";

/// Returns the events of the clients that an event of this kind is made of.
const fn sources(kind: Kind) -> &'static str {
    match kind {
        Kind::SessionStarted => "first sight of a session; SubagentStart on the subagent",
        Kind::SessionEnded => "SessionEnd; SubagentStop on the subagent; `sessions/end`",
        Kind::UserMessage => "UserPromptSubmit; prompts in transcripts and rollouts",
        Kind::UserPromptExpansion => "UserPromptExpansion; expanded prompts in transcripts",
        Kind::AssistantResponse => {
            "Stop, StopFailure; SubagentStop on the subagent; final answers in transcripts and rollouts"
        }
        Kind::AssistantCommentary => {
            "text between tool calls in transcripts and rollouts; MessageDisplay; level `full` only"
        }
        Kind::ThoughtLogged => "thinking in transcripts and rollouts; level `full` only",
        Kind::InstructionsLoaded => "InstructionsLoaded",
        Kind::ContextSaved => {
            "SessionStart, EnterPlanMode, PostToolBatch, Notification, ConfigChange, CwdChanged, DirectoryAdded, PreCompact, \
             PostCompact, SubagentStop of the compaction helper; Codex: reviews, rollbacks, hook prompts"
        }
        Kind::ContextSnapshot => "status line; Codex `token_count`",
        Kind::ModelSwitched => "PreModelSwitch, PostModelSwitch; a change of model between two responses",
        Kind::ModelRequest => {
            "Codex PreModelRequest, PostModelRequest; OTLP `api_request`, `api_error`; retries in transcripts"
        }
        Kind::TokenUsage => "usage of a response in transcripts, rollouts and OTLP",
        Kind::ToolUsed => {
            "PreToolUse, PostToolUse, PostToolUseFailure, PostToolBatch of any tool without a kind of its own"
        }
        Kind::TerminalCommand => "the same for Bash, PowerShell and Codex `exec_command`, `shell`",
        Kind::MonitorObserved => "the same for Monitor",
        Kind::AgentActivityLogged => {
            "the same for Agent, Task, `spawn_agent`, Skill, MCP tools, Cron*, SendMessage and other agent tools"
        }
        Kind::PlanLogged => "the same for ExitPlanMode, `update_plan` and goals",
        Kind::ActionLogged => "SubagentStart, SubagentStop on the parent",
        Kind::QuestionLogged => {
            "the same for AskUserQuestion, `request_user_input`; Elicitation, ElicitationResult"
        }
        Kind::TodoLogged => "the same for TodoWrite, TaskCreate, TaskUpdate; TaskCreated, TaskCompleted",
        Kind::PermissionRequest => "PermissionRequest (Claude Code)",
        Kind::RuleLogged => {
            "PermissionDenied; decisions of policies and of the user's hooks; Codex PermissionRequest"
        }
        Kind::SetupTriggered => "Setup",
        Kind::FileChanged => "FileChanged",
        Kind::WorktreeCreate => "EnterWorktree; Agent with worktree isolation; WorktreeCreate",
        Kind::WorktreeRemove => "ExitWorktree; WorktreeRemove",
        Kind::TurnInterrupted => {
            "Codex Interrupt and `turn_aborted`; interrupt rows in Claude Code's transcripts"
        }
        Kind::TeammateIdle => "TeammateIdle",
        Kind::Unrecognised => {
            "any other event: the payload is kept after privacy, and nothing is derived from it"
        }
    }
}

/// Differences from the hook specification: its rule, our behaviour, and the reason.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    (
        "A hook event and a row of a rollout are one event if they are at most 60 seconds apart (`crossCheck`).",
        "They are joined by the id of the call, which Codex calls also carry as `dedupeKey` in `crossCheck`; posted \
         events with `crossCheck` are merged by its `dedupeKey`. `channels` lists the channels of a row.",
        "A window of time joins calls that only look alike and misses slow ones.",
    ),
    (
        "The hook reads the input of a tool from the variable `TOOL_INPUT`.",
        "The hook reads standard input only.",
        "Both clients write the payload to standard input; a variable has a size limit and is visible to child processes.",
    ),
    (
        "Live events come over a websocket.",
        "They come as server-sent events at `/api/v1/stream`.",
        "The data flows one way; the browser reconnects by itself with `Last-Event-ID`.",
    ),
    (
        "Ids are random.",
        "Ids are derived from natural keys: session, call, prompt, response.",
        "Reading the same thing twice, on any channel and in any order, gives the same row.",
    ),
    (
        "The status line begins with `[monitor]`.",
        "The same; `prefix` in `statusline.conf` changes it.",
        "A second status line may stand beside it.",
    ),
    (
        "Times at which limits are reset are seconds since 1970.",
        "`rateLimitFiveHourResetsAt` and `rateLimitSevenDayResetsAt` are RFC 3339, UTC.",
        "All times of the API have one format.",
    ),
    (
        "Each refresh of the status line is a snapshot.",
        "Equal snapshots are one event; a refresh without usage and limits is none.",
        "The client refreshes several times a second and mostly repeats itself.",
    ),
    (
        "SubagentStop always ends a subagent.",
        "With an empty `agent_type` it is the compaction helper: a `context.saved` of the session with \
         `trigger` `compaction_helper`, and no task. Its text is the whole summary, so only its length is kept.",
        "The client runs compactions as a nameless subagent.",
    ),
    (
        "The hook derives `subtypeKey` and the other semantic attributes.",
        "The server derives them, also for posted events without them.",
        "The hook has to be done within milliseconds, and stored events get better when the tables do.",
    ),
    (
        "Hooks are registered as asynchronous.",
        "All hooks are synchronous.",
        "The client kills asynchronous hooks when the session ends, so the last events were lost.",
    ),
    (
        "WorktreeCreate and the manual compaction are registered.",
        "Neither is registered; their payloads are read if they arrive.",
        "A hook for WorktreeCreate replaces the client's own creation of the worktree, and the output of one for the \
         manual compaction is shown to the model.",
    ),
    (
        "`message` and `content` of transcripts are never read.",
        "Prompts and final answers are read from transcripts at level `actions`, masked. At level `metadata` only \
         their length is kept.",
        "Sessions that ran before the installation can be searched like all others.",
    ),
];

fn table(text: &mut String, heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(heads.iter().map(|head| (*head).to_owned()).collect()));
    text.push_str(&line(heads.iter().map(|_| "---".to_owned()).collect()).replace(' ', ""));
    for row in rows {
        text.push_str(&line(row));
    }
    text.push('\n');
}

fn code(word: &str) -> String {
    format!("`{word}`")
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| code(word)).collect::<Vec<_>>().join(", ")
}

/// Writes the facts that carry an attribute: groups first, then single kinds.
fn carriers(set: Carriers) -> String {
    let mut names = Vec::new();
    let mut rest = set;
    for (group, name) in [(EVENTS, "every event"), (CALLS, "tool calls")] {
        if rest.includes(group) {
            names.push(name.to_owned());
            rest = rest.without(group);
        }
    }
    let kinds = Kind::ALL.iter().filter(|kind| rest.contains(Subject::Event(**kind)));
    names.extend(kinds.map(|kind| code(kind.as_str())));
    for (group, name) in [(TASK, "task"), (TURN, "turn"), (ACCOUNT, "account")] {
        if rest.includes(group) {
            names.push(name.to_owned());
        }
    }
    names.join(", ")
}

fn attribute(attribute: &Attribute) -> Vec<String> {
    vec![
        code(attribute.key),
        attribute.value.to_string(),
        attribute.unit.map(|unit| unit.to_string()).unwrap_or_default(),
        attribute.level.to_string(),
        attribute.meaning.trim().to_owned(),
        carriers(attribute.carriers),
    ]
}

fn word<T: serde::Serialize>(value: T) -> String {
    serde_json::to_value(value).expect("a word").as_str().expect("a string").to_owned()
}

fn page() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("\n## Kinds\n\nThe lane of a tool call depends on the tool and, for commands, on what the command does; ");
    text.push_str("the table shows the usual one.\n\n");
    let kinds = Kind::ALL
        .iter()
        .map(|kind| vec![code(kind.as_str()), kind.lane().to_string(), sources(*kind).to_owned()]);
    table(&mut text, &["kind", "lane", "made from"], kinds);
    let lanes: Vec<&str> = Lane::ALL.iter().map(|lane| lane.as_str()).collect();
    writeln!(text, "Lanes: {}.\n", list(&lanes)).expect("text can be written");

    text.push_str("## Virtual sessions\n\nA subagent of Claude Code has no session of its own. Its task has the session \
                   `sub--<agent id>` and the session of its parent in `parentSession`; `rootSession` is the session of the \
                   main agent. A subagent of Codex has a thread of its own, whose id is its session. The main agent has \
                   the type `main` in rows, metrics and filters.\n\n");

    text.push_str("## Values\n\n");
    let words = |all: &[&'static str]| list(all);
    let rows = [
        ("state of a call", words(&CallState::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`errorClass`", words(&ErrorClass::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`certainty`, least first", words(&Certainty::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`channels`", words(&Channel::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("outcome of an observation", words(&Outcome::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        (
            "`completionReason`",
            words(&CompletionReason::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>()),
        ),
        ("`subtypeKey`", words(&SubtypeKey::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`toolFamily`", words(&ToolFamily::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`entityType`", words(&EntityType::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
        ("`importance`", words(&Importance::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>())),
    ];
    table(&mut text, &["field", "values"], rows.map(|(name, values)| vec![name.to_owned(), values]));

    text.push_str("## Status of a task\n\n");
    let statuses = [
        (TaskStatus::Running, "A turn is open."),
        (TaskStatus::Waiting, "It waits for the user; `waitingReason` says for what."),
        (TaskStatus::Completed, "It ended."),
        (TaskStatus::Failed, "Its last turn failed."),
        (TaskStatus::Abandoned, "Its process is gone, it was stopped, or no event arrived for a long time."),
    ];
    table(
        &mut text,
        &["status", "meaning"],
        statuses.map(|(it, means)| vec![code(&word(it)), means.to_owned()]),
    );
    let reasons = [
        WaitingReason::Permission,
        WaitingReason::Question,
        WaitingReason::Elicitation,
        WaitingReason::Plan,
        WaitingReason::Idle,
    ];
    let reasons: Vec<String> = reasons.into_iter().map(word).collect();
    let reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
    writeln!(text, "`waitingReason`: {}.\n", list(&reasons)).expect("text can be written");

    text.push_str("## Why a session ended\n\n");
    let ends = [
        (
            CompletionReason::Idle,
            "SessionEnd with reason `resume`; `sessions/end` with `completeTask` false",
            "goes on",
        ),
        (
            CompletionReason::AssistantTurnComplete,
            "SubagentStop; a turn of a Codex subagent",
            "a subagent is completed",
        ),
        (
            CompletionReason::ExplicitExit,
            "SessionEnd with reason `prompt_input_exit` or `logout`; `sessions/end`",
            "completed",
        ),
        (CompletionReason::RuntimeTerminated, "SessionEnd with any other reason", "completed"),
        (CompletionReason::Cleared, "SessionEnd with reason `clear`", "completed"),
        (CompletionReason::Abandoned, "`sessions/end`", "completed"),
        (CompletionReason::Cancelled, "TaskStop; a notification that a subagent was stopped", "abandoned"),
    ];
    assert_eq!(ends.len(), CompletionReason::ALL.len(), "every reason has a row");
    let ends = ends.map(|(it, from, then)| vec![code(it.as_str()), from.to_owned(), then.to_owned()]);
    table(&mut text, &["`completionReason`", "comes from", "the task"], ends);

    text.push_str("## Attributes\n\nThe level is the lowest one ([privacy.md](privacy.md)) at which the value is kept. A `text` is a \
                   string that people may have written; where privacy drops it, its length stands for it (`{\"bytes\": n}`), or nothing. `open` is any JSON. \
                   *Tool calls* are the kinds ");
    let calls: Vec<&str> = Kind::ALL
        .iter()
        .filter(|kind| CALLS.contains(Subject::Event(**kind)))
        .map(|kind| kind.as_str())
        .collect();
    writeln!(
        text,
        "{}. Attributes of posted events that are not listed are kept as they came.\n",
        list(&calls)
    )
    .expect("text can be written");
    let heads = ["attribute", "type", "unit", "level", "meaning", "carried by"];
    for group in attributes::GROUPS {
        write!(text, "### {}\n\n{}\n\n", group.title, group.about).expect("text can be written");
        table(&mut text, &heads, group.attributes.iter().map(attribute));
    }
    text.push_str("### Keys with a prefix\n\n");
    let prefixes = attributes::PREFIXES.iter().map(|it| {
        vec![
            code(&format!("{}…", it.prefix)),
            it.value.to_string(),
            it.meaning.to_owned(),
            carriers(it.carriers),
        ]
    });
    table(&mut text, &["attribute", "type", "meaning", "carried by"], prefixes);

    text.push_str("## What differs from the hook specification\n\n");
    let rows = DIFFERENCES
        .iter()
        .map(|(says, does, why)| vec![(*says).to_owned(), (*does).to_owned(), (*why).to_owned()]);
    table(&mut text, &["the specification says", "we do", "why"], rows);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

#[test]
fn the_event_page_is_what_the_registry_says() {
    agent_tracer_house::assert_file("docs/events.md", &page());
}
