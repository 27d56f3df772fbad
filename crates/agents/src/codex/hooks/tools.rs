//! Tool calls: attempted, asked about, returned.
//!
//! Codex tells only of calls that went well, with one exception: a command that ended with a code other than zero
//! also returns, and the payload lacks the code. So the end of a command is known here and how it ended is not; the
//! rollout says that.

use agent_tracer_event::{
    Agent, CallState, Certainty, Entry, Kind, Phase, Reading, Subject, Unrecognised, attributes,
};
use serde_json::Value;

use super::Event;
use super::hook::Hook;
use crate::codex::facts::{cross_check, put, tool_key};
use crate::text::{self, call_signature};
use crate::tools::{Call, Meaning, NAME_CHARS, outcome, settle_question, understand};

pub(super) const EVENTS: &[Event] = &[
    Event { name: "PreToolUse", members: &["tool_name", "tool_input", "tool_use_id"], read: attempted },
    Event {
        name: "PermissionRequest",
        members: &["tool_name", "tool_input", "tool_use_id"],
        read: permission,
    },
    Event {
        name: "PostToolUse",
        members: &["tool_name", "tool_input", "tool_use_id", "tool_response"],
        read: returned,
    },
];

/// The most characters of the summary of an input.
const SUMMARY_CHARS: usize = 400;

const NULL: Value = Value::Null;

/// A call as a payload tells of it.
struct CallPayload<'a> {
    tool: &'a str,
    input: &'a Value,
    id: Option<String>,
}

impl<'a> CallPayload<'a> {
    fn new(hook: &Hook<'a>) -> Self {
        Self {
            tool: hook.text("tool_name").unwrap_or_default(),
            input: hook.payload.get("tool_input").unwrap_or(&NULL),
            id: hook.id("tool_use_id"),
        }
    }

    fn name(&self) -> String {
        text::line(self.tool, NAME_CHARS)
    }

    fn meaning(&self, hook: &Hook<'_>, reading: &mut Reading) -> Meaning {
        let call = Call { agent: Agent::CODEX, tool: self.tool, input: self.input, place: hook.place() };
        let meaning = understand(&call);
        if !meaning.recognised {
            reading.unrecognised.push(Unrecognised::Tool(self.name()));
        }
        meaning
    }

    fn signature(&self) -> String {
        call_signature(Agent::CODEX, self.tool, self.input)
    }

    /// Returns the entry of the call, with all that its input says.
    fn entry(&self, hook: &Hook<'_>, phase: Phase, meaning: Meaning) -> Entry {
        let key = self.id.as_deref().map_or_else(|| hook.own_key(), tool_key);
        let mut entry = hook.event(Kind::ToolUsed, phase, key);
        entry.tool_name = Some(self.name());
        entry.tool_use_id.clone_from(&self.id);
        meaning.write(&mut entry);
        put(&mut entry.metadata, attributes::CALL_SIGNATURE, Some(self.signature()));
        cross_check(&mut entry, "hook");
        entry
    }
}

fn attempted(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook);
    let meaning = call_payload.meaning(hook, reading);
    reading.entries.push(hook.task());
    let mut entry = call_payload.entry(hook, Phase::Open, meaning);
    entry.state = Some(CallState::Running);
    reading.entries.push(entry);
}

fn returned(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook);
    let meaning = call_payload.meaning(hook, reading);
    reading.entries.push(hook.task());
    let subtype = meaning.semantics.subtype;
    let is_command = meaning.kind == Kind::TerminalCommand;
    let mut entry = call_payload.entry(hook, Phase::Close, meaning);
    let outcome = outcome::returned(hook.payload.get("tool_response").unwrap_or(&NULL));
    entry.ended_at = Some(hook.observation.arrived);
    entry.state = Some(outcome.state);
    let importance = outcome::importance(outcome.state, subtype);
    for (name, value) in outcome.metadata {
        // Members of the input stay; a result only adds.
        entry.metadata.entry(name).or_insert(value);
    }
    if entry.subject == Subject::Event(Kind::QuestionLogged) {
        settle_question(&mut entry);
    }
    put(&mut entry.metadata, attributes::IMPORTANCE, importance.map(|importance| importance.as_str()));
    if is_command && outcome.state == CallState::Succeeded {
        entry.evidence.certainty = Certainty::Inferred;
        entry.evidence.reason = "hook PostToolUse, which does not tell the exit code".to_owned();
    }
    let child = entry.metadata.get(attributes::CHILD_AGENT_ID).and_then(Value::as_str).map(str::to_owned);
    reading.entries.push(entry);
    if let Some(child) = child.filter(|_| is_spawn(call_payload.tool)) {
        reading.entries.push(spawned(hook, &call_payload, &child));
    }
}

/// Returns whether a tool starts another agent, under any namespace that is glued to its name.
fn is_spawn(tool: &str) -> bool {
    tool.ends_with("spawn_agent")
}

/// Returns the child that a call started: here the parent is certain.
fn spawned(hook: &Hook<'_>, call_payload: &CallPayload<'_>, child: &str) -> Entry {
    let mut entry = hook.entry(Subject::Task, Phase::Update, child, "task");
    entry.evidence.certainty = Certainty::Reported;
    put(&mut entry.metadata, attributes::AGENT_ID, Some(child));
    put(&mut entry.metadata, attributes::PARENT_SESSION, Some(hook.thread.as_str()));
    put(&mut entry.metadata, attributes::PARENT_CERTAINTY, Some("reported"));
    put(&mut entry.metadata, attributes::ROOT_SESSION, Some(hook.root.as_str()));
    put(&mut entry.metadata, attributes::PARENT_TOOL_USE_ID, call_payload.id.as_deref());
    entry
}

fn permission(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook);
    let meaning = call_payload.meaning(hook, reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::RuleLogged, Phase::Open, hook.own_key());
    entry.title = Some(text::title(&format!("Permission asked: {}", meaning.title)));
    entry.tool_name = Some(call_payload.name());
    entry.tool_use_id.clone_from(&call_payload.id);
    entry.file_paths = meaning.file_paths;
    for (name, value) in [
        (attributes::RULE_STATUS, "requested"),
        (attributes::RULE_OUTCOME, "observed"),
        (attributes::RULE_POLICY, "codex_permission"),
    ] {
        put(&mut entry.metadata, name, Some(value));
    }
    put(&mut entry.metadata, attributes::TOOL_NAME, Some(call_payload.name()));
    put(&mut entry.metadata, attributes::TOOL_USE_ID, call_payload.id.as_deref());
    put(&mut entry.metadata, attributes::TOOL_INPUT_SUMMARY, Some(summary(call_payload.input)));
    put(&mut entry.metadata, attributes::CALL_SIGNATURE, Some(call_payload.signature()));
    put(&mut entry.metadata, attributes::REQUESTED_TITLE, Some(meaning.title));
    // The justification that the model gives for asking.
    let why = call_payload.input.get("description").and_then(Value::as_str).filter(|why| !why.is_empty());
    put(&mut entry.metadata, attributes::REASON, why.map(|why| text::line(why, 1000)));
    reading.entries.push(entry);
}

/// Returns what the dialog is about, in one line: the command where there is one, else the input as JSON.
fn summary(input: &Value) -> String {
    let command = input.get("command").and_then(Value::as_str);
    match command.or_else(|| input.as_str()) {
        Some(command) => text::line(command, SUMMARY_CHARS),
        None => text::line(&input.to_string(), SUMMARY_CHARS),
    }
}
