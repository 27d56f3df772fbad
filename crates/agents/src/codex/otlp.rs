//! Reads Codex's own telemetry, event by event.
//!
//! `conversation.id` is the thread. No event names its turn, and a prompt none of its own: what could only become a
//! second row of the same thing is left out. Token counts come with `sse_event`, which names no response, so they never
//! count; the rollout's records do.

use agent_tracer_event::{CallState, Certainty, Kind, Phase, Subject, Unrecognised, attributes};
use serde_json::Value;

use super::facts::{put, task, thread_started_key};
use crate::extent::Bounds;
use crate::otlp::RecordWriter;
use crate::text;
use crate::tools::outcome;

/// Events that say nothing which another channel does not say better.
const SILENT: &[&str] =
    &["startup_phase", "turn_ttft", "websocket_connect", "websocket_event", "websocket_request"];

/// Holds what people and rules answer, and whether the call may run.
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
pub(crate) fn event(writer: &mut RecordWriter<'_>) -> bool {
    match writer.name {
        "conversation_starts" => started(writer),
        // The rollout and the hooks have the prompt with its turn; here only the thread is known to live.
        "user_prompt" => writer.task(),
        "api_request" => request(writer),
        "sse_event" => stream(writer),
        "tool_decision" => decision(writer),
        "tool_result" => result(writer),
        "agent_communication" => communication(writer),
        name => return SILENT.contains(&name),
    }
    true
}

fn started(writer: &mut RecordWriter<'_>) {
    writer.task();
    if let Some(entry) = writer.reading.entries.last_mut() {
        for (name, ours) in [
            ("approval_policy", attributes::APPROVAL_POLICY),
            ("sandbox_policy", attributes::SANDBOX_POLICY),
            ("originator", attributes::ENTRYPOINT),
        ] {
            let value = writer.attributes.text(&[name]).map(|value| writer.rules.word(value));
            put(&mut entry.metadata, ours, value);
        }
    }
    let thread = writer.session();
    let mut entry = writer.event(Kind::SessionStarted, Phase::Open, thread_started_key(&thread));
    entry.title = Some("Session started".to_owned());
    writer.say(entry);
}

const REQUEST: &[(&[&str], &str)] = &[
    (&["model"], attributes::MODEL),
    (&["duration_ms"], attributes::DURATION_MS),
    (&["http.response.status_code"], attributes::HTTP_STATUS),
    (&["attempt"], attributes::ATTEMPT),
    (&["endpoint"], attributes::ENDPOINT),
];

fn request(writer: &mut RecordWriter<'_>) {
    let status = writer.attributes.count(&["http.response.status_code"]);
    let failed =
        status.is_some_and(|status| status >= 400) || writer.attributes.text(&["error.message"]).is_some();
    attempt(writer, failed);
}

fn attempt(writer: &mut RecordWriter<'_>, failed: bool) {
    let mut entry = writer.event(Kind::ModelRequest, Phase::Close, writer.own_key());
    let model = writer.id(&["model"]).unwrap_or_else(|| "the model".to_owned());
    let (state, status, title) = if failed {
        (CallState::Failed, "failed", format!("Request to {model} failed"))
    } else {
        (CallState::Succeeded, "completed", format!("{model} answered"))
    };
    entry.state = Some(state);
    entry.ended_at = Some(writer.at);
    entry.title = Some(text::title(&title));
    put(&mut entry.metadata, attributes::STATUS, Some(status));
    writer.carry(&mut entry.metadata, REQUEST);
    put(&mut entry.metadata, attributes::ERROR, writer.error(&["error.message", "error"]));
    writer.say(entry);
}

/// Reads a piece of a stream. Only a failed one carries news.
fn stream(writer: &mut RecordWriter<'_>) {
    let failed = writer.attributes.text(&["event.kind"]) == Some("response.failed")
        || writer.attributes.text(&["error.message"]).is_some();
    if failed {
        attempt(writer, true);
    }
}

/// Returns the tool under the name that hooks have for it.
fn tool(writer: &RecordWriter<'_>) -> String {
    let name = writer.id(&["tool_name"]).unwrap_or_default();
    match writer.id(&["mcp_server"]) {
        Some(server) if !name.starts_with("mcp__") => format!("mcp__{server}__{name}"),
        _ => name,
    }
}

fn decision(writer: &mut RecordWriter<'_>) {
    let decision = writer.id(&["decision"]).unwrap_or_default();
    let known = DECISIONS.iter().find(|(word, _)| *word == decision);
    if known.is_none() {
        writer.reading.unrecognised.push(Unrecognised::Value(format!("decision={decision}")));
    }
    let refused = known.is_some_and(|(_, allowed)| !allowed);
    let name = tool(writer);
    let id = writer.id(&["call_id"]);
    let phase = if refused { Phase::Close } else { Phase::Update };
    let mut entry = writer.tool_call(&name, id, &Value::Null, phase);
    writer.carry(
        &mut entry.metadata,
        &[(&["decision"], attributes::PERMISSION_DECISION), (&["source"], attributes::PERMISSION_SOURCE)],
    );
    if refused {
        entry.state = Some(CallState::Denied);
        entry.ended_at = Some(writer.at);
        put(&mut entry.metadata, attributes::ERROR_CLASS, Some("permission"));
    }
    writer.say(entry);
}

fn result(writer: &mut RecordWriter<'_>) {
    let name = tool(writer);
    let id = writer.id(&["call_id"]);
    let arguments = writer.attributes.text(&["arguments"]);
    let arguments = arguments.and_then(|text| Bounds::ARGUMENTS.parse::<Value>(text)).unwrap_or(Value::Null);
    let input = writer.reduced("PreToolUse", &name, "tool_input", &arguments);
    let mut entry = writer.tool_call(&name, id, &input, Phase::Close);
    let output = writer.attributes.text(&["output"]).map(str::to_owned).unwrap_or_default();
    let kept = writer.reduced("PostToolUse", &name, "tool_response", &Value::from(output.as_str()));
    entry.metadata.extend(outcome::returned(&kept).metadata);
    put(&mut entry.metadata, attributes::OUTPUT_BYTES, Some(output.len()));
    entry.ended_at = Some(writer.at);
    if let Some(good) = writer.attributes.flag(&["success"]) {
        entry.state = Some(if good { CallState::Succeeded } else { CallState::Failed });
        if good {
            // A command that ended with a code other than zero counts as a success of its tool.
            entry.evidence.certainty = Certainty::Inferred;
        }
    }
    writer.carry(
        &mut entry.metadata,
        &[(&["duration_ms"], attributes::DURATION_MS), (&["output_truncated"], attributes::RESULT_TRUNCATED)],
    );
    if entry.metadata.contains_key(attributes::DURATION_MS) {
        put(&mut entry.metadata, attributes::DURATION_SOURCE, Some("agent"));
    }
    writer.say(entry);
}

/// Agents that talk to each other. A spawn names the parent for certain; the messages are not kept.
fn communication(writer: &mut RecordWriter<'_>) {
    let (from, to) = (writer.id(&["sender_thread_id"]), writer.id(&["receiver_thread_id"]));
    if writer.attributes.text(&["kind"]) != Some("spawn") {
        return;
    }
    let (Some(from), Some(to)) = (from, to) else { return };
    let mut entry = writer.entry(Subject::Task, Phase::Update, task(&to), "task");
    put(&mut entry.metadata, attributes::AGENT_ID, Some(to));
    put(&mut entry.metadata, attributes::PARENT_SESSION, Some(from));
    put(&mut entry.metadata, attributes::PARENT_CERTAINTY, Some("reported"));
    writer.reading.entries.push(entry);
}
