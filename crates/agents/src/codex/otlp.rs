//! What Codex's own telemetry says, event by event.
//!
//! `conversation.id` is the thread. No event names its turn, and a prompt none of its own: what could only become a
//! second row of the same thing is not told. Token counts come with `sse_event`, which names no response, so they never
//! count; the rollout's records do.

use agent_tracer_event::{CallState, Certainty, Kind, Phase, Subject, Unrecognised, attributes};
use serde_json::Value;

use super::facts::{put, task, thread_started_key};
use crate::extent::Bounds;
use crate::otlp::Telling;
use crate::text;
use crate::tools::outcome;

/// Events that say nothing which another channel does not say better.
const SILENT: &[&str] =
    &["startup_phase", "turn_ttft", "websocket_connect", "websocket_event", "websocket_request"];

/// What people and rules answer, and whether the call may run.
const DECISIONS: &[(&str, bool)] = &[
    ("approved", true),
    ("approved_execpolicy_amendment", true),
    ("approved_for_session", true),
    ("approved_with_amendment", true),
    ("abort", false),
    ("denied", false),
    ("timed_out", false),
];

/// Reads a log event; says whether anybody knows it.
pub(crate) fn event(told: &mut Telling<'_>) -> bool {
    match told.name {
        "conversation_starts" => started(told),
        // The rollout and the hooks have the prompt with its turn; here only the thread is known to live.
        "user_prompt" => told.task(),
        "api_request" => request(told),
        "sse_event" => stream(told),
        "tool_decision" => decision(told),
        "tool_result" => result(told),
        "agent_communication" => communication(told),
        name => return SILENT.contains(&name),
    }
    true
}

fn started(told: &mut Telling<'_>) {
    told.task();
    if let Some(entry) = told.reading.entries.last_mut() {
        for (name, ours) in [
            ("approval_policy", attributes::APPROVAL_POLICY),
            ("sandbox_policy", attributes::SANDBOX_POLICY),
            ("originator", attributes::ENTRYPOINT),
        ] {
            let value = told.attributes.text(&[name]).map(|value| told.rules.word(value));
            put(&mut entry.metadata, ours, value);
        }
    }
    let thread = told.session();
    let mut entry = told.event(Kind::SessionStarted, Phase::Open, thread_started_key(&thread));
    entry.title = Some("Session started".to_owned());
    told.say(entry);
}

const REQUEST: &[(&[&str], &str)] = &[
    (&["model"], attributes::MODEL),
    (&["duration_ms"], attributes::DURATION_MS),
    (&["http.response.status_code"], attributes::HTTP_STATUS),
    (&["attempt"], attributes::ATTEMPT),
    (&["endpoint"], attributes::ENDPOINT),
];

fn request(told: &mut Telling<'_>) {
    let status = told.attributes.count(&["http.response.status_code"]);
    let failed =
        status.is_some_and(|status| status >= 400) || told.attributes.text(&["error.message"]).is_some();
    attempt(told, failed);
}

fn attempt(told: &mut Telling<'_>, failed: bool) {
    let mut entry = told.event(Kind::ModelRequest, Phase::Close, told.own_key());
    let model = told.id(&["model"]).unwrap_or_else(|| "the model".to_owned());
    let (state, status, title) = if failed {
        (CallState::Failed, "failed", format!("Request to {model} failed"))
    } else {
        (CallState::Succeeded, "completed", format!("{model} answered"))
    };
    entry.state = Some(state);
    entry.ended_at = Some(told.at);
    entry.title = Some(text::title(&title));
    put(&mut entry.metadata, attributes::STATUS, Some(status));
    told.carry(&mut entry.metadata, REQUEST);
    put(&mut entry.metadata, attributes::ERROR, told.error(&["error.message", "error"]));
    told.say(entry);
}

/// A piece of a stream. Only one that failed says something that nobody else does.
fn stream(told: &mut Telling<'_>) {
    let failed = told.attributes.text(&["event.kind"]) == Some("response.failed")
        || told.attributes.text(&["error.message"]).is_some();
    if failed {
        attempt(told, true);
    }
}

/// The tool under the name that hooks have for it.
fn tool(told: &Telling<'_>) -> String {
    let name = told.id(&["tool_name"]).unwrap_or_default();
    match told.id(&["mcp_server"]) {
        Some(server) if !name.starts_with("mcp__") => format!("mcp__{server}__{name}"),
        _ => name,
    }
}

fn decision(told: &mut Telling<'_>) {
    let decision = told.id(&["decision"]).unwrap_or_default();
    let known = DECISIONS.iter().find(|(word, _)| *word == decision);
    if known.is_none() {
        told.reading.unrecognised.push(Unrecognised::Value(format!("decision={decision}")));
    }
    let refused = known.is_some_and(|(_, allowed)| !allowed);
    let name = tool(told);
    let id = told.id(&["call_id"]);
    let phase = if refused { Phase::Close } else { Phase::Update };
    let mut entry = told.tool_call(&name, id, &Value::Null, phase);
    told.carry(
        &mut entry.metadata,
        &[(&["decision"], attributes::PERMISSION_DECISION), (&["source"], attributes::PERMISSION_SOURCE)],
    );
    if refused {
        entry.state = Some(CallState::Denied);
        entry.ended_at = Some(told.at);
        put(&mut entry.metadata, attributes::ERROR_CLASS, Some("permission"));
    }
    told.say(entry);
}

fn result(told: &mut Telling<'_>) {
    let name = tool(told);
    let id = told.id(&["call_id"]);
    let arguments = told.attributes.text(&["arguments"]);
    let arguments = arguments.and_then(|text| Bounds::ARGUMENTS.parse::<Value>(text)).unwrap_or(Value::Null);
    let input = told.reduced("PreToolUse", &name, "tool_input", &arguments);
    let mut entry = told.tool_call(&name, id, &input, Phase::Close);
    let output = told.attributes.text(&["output"]).map(str::to_owned).unwrap_or_default();
    let kept = told.reduced("PostToolUse", &name, "tool_response", &Value::from(output.as_str()));
    entry.metadata.extend(outcome::returned(&kept).metadata);
    put(&mut entry.metadata, attributes::OUTPUT_BYTES, Some(output.len()));
    entry.ended_at = Some(told.at);
    if let Some(good) = told.attributes.flag(&["success"]) {
        entry.state = Some(if good { CallState::Succeeded } else { CallState::Failed });
        if good {
            // A command that ended with a code other than zero counts as a success of its tool.
            entry.evidence.certainty = Certainty::Inferred;
        }
    }
    told.carry(
        &mut entry.metadata,
        &[(&["duration_ms"], attributes::DURATION_MS), (&["output_truncated"], attributes::RESULT_TRUNCATED)],
    );
    if entry.metadata.contains_key(attributes::DURATION_MS) {
        put(&mut entry.metadata, attributes::DURATION_SOURCE, Some("agent"));
    }
    told.say(entry);
}

/// Agents that talk to each other. A spawn tells for certain who the parent is; what is said is nobody's business here.
fn communication(told: &mut Telling<'_>) {
    let (from, to) = (told.id(&["sender_thread_id"]), told.id(&["receiver_thread_id"]));
    if told.attributes.text(&["kind"]) != Some("spawn") {
        return;
    }
    let (Some(from), Some(to)) = (from, to) else { return };
    let mut entry = told.entry(Subject::Task, Phase::Update, task(&to), "task");
    put(&mut entry.metadata, attributes::AGENT_ID, Some(to));
    put(&mut entry.metadata, attributes::PARENT_SESSION, Some(from));
    put(&mut entry.metadata, attributes::PARENT_CERTAINTY, Some("reported"));
    told.reading.entries.push(entry);
}
