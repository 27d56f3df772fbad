//! The end of a turn on the main thread, and failures of any turn.
//!
//! `Stop` and `StopFailure` give no reason of the model's; `stopReason` of a good end comes from the transcript.

use agent_tracer_event::{CallState, Channel, Entry, Kind, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry, carry_text};
use super::subagents;
use crate::claude::identity;
use crate::claude::wire::TextOrLength;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "Stop",
        members: &[
            "stop_hook_active",
            "last_assistant_message",
            "background_tasks",
            "session_crons",
            "stop_reason",
        ],
        read: stop,
    },
    Event {
        name: "StopFailure",
        members: &["error", "error_type", "error_details", "error_message", "last_assistant_message"],
        read: failure,
    },
];

const ERRORS: &[&str] = &[
    "authentication_failed",
    "oauth_org_not_allowed",
    "account_on_hold",
    "verification_required",
    "billing_error",
    "rate_limit",
    "overloaded",
    "invalid_request",
    "model_not_found",
    "server_error",
    "unknown",
    "max_output_tokens",
    "cloud_credential_error",
];

/// The most characters of a final message that are kept.
const BODY_CHARS: usize = 200_000;
/// The most characters of it that the row shows; the whole is its body.
const METADATA_CHARS: usize = 10_000;

fn stop(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut said = answer(hook);
    if hook.agent_id.is_some() && hook.observation.channel == Channel::Hook {
        // A subagent ends with its `SubagentStop`. A row of its file is read as this event too, and is its last word.
        said.metadata.insert(attributes::ENDS_AGENT.to_owned(), Value::Bool(false));
        reading.entries.push(said);
        return;
    }
    reading.entries.push(said);
    if let Some(mut turn) = hook.turn_entry(Phase::Close) {
        turn.state = Some(CallState::Succeeded);
        turn.ended_at = Some(hook.at);
        reading.entries.push(turn);
    }
}

/// Returns the last words of a turn, on the task that acted.
pub(super) fn answer(hook: &Hook<'_>) -> Entry {
    let said = hook.payload.text_or_length(&["last_assistant_message"]);
    let key = key(hook, said);
    let mut entry = hook.event(Kind::AssistantResponse, Phase::Close, key);
    if hook.turn().is_none() {
        entry.series = identity::nameless_series("said", identity::text_part(said).as_deref());
    }
    entry.ended_at = Some(hook.at);
    entry.title = Some("Response".to_owned());
    words(&mut entry, said);
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["stop_reason"], attributes::STOP_REASON),
            (&["stop_hook_active"], attributes::STOP_HOOK_ACTIVE),
            (&["agent_transcript_path"], attributes::AGENT_TRANSCRIPT_PATH),
        ],
    );
    for (list, name) in [
        ("background_tasks", attributes::BACKGROUND_TASK_COUNT),
        ("session_crons", attributes::SESSION_CRON_COUNT),
    ] {
        if let Some(items) = hook.payload.list(&[list]) {
            entry.metadata.insert(name.to_owned(), Value::from(items.len()));
        }
    }
    if let Some(tasks) = background_tasks(hook) {
        entry.metadata.insert(attributes::BACKGROUND_TASKS.to_owned(), tasks);
    }
    entry
}

/// Returns the key of a turn's last words: the transcript has the same, also where they are the client's own about a
/// failure.
fn key(hook: &Hook<'_>, said: Option<TextOrLength<'_>>) -> String {
    let key_in = |turn: &str| match said {
        Some(TextOrLength::Text(text)) if !text.trim().is_empty() => Some(identity::said_key(turn, text)),
        Some(TextOrLength::Length(bytes)) if bytes > 0 => Some(identity::said_length_key(turn, bytes)),
        _ => None,
    };
    let key = hook.turn().and_then(|turn| key_in(&turn));
    let key = key.map(|key| if is_again(hook) { identity::again_key(&key) } else { key });
    key.unwrap_or_else(|| format!("stop:{}", hook.observation.name))
}

fn is_again(hook: &Hook<'_>) -> bool {
    hook.payload.get(&["stop_hook_active"]).and_then(Value::as_bool) == Some(true)
}

/// Writes the text of a message as title, body and size.
fn words(entry: &mut Entry, said: Option<TextOrLength<'_>>) {
    carry_text(&mut entry.metadata, attributes::LAST_ASSISTANT_MESSAGE, said, METADATA_CHARS);
    match said {
        Some(TextOrLength::Text(text)) => {
            let title = text::title(text);
            if !title.is_empty() {
                entry.title = Some(title);
                entry.body = Some(text::cut(text, BODY_CHARS).into_owned());
            }
            entry.metadata.insert(attributes::MESSAGE_BYTES.to_owned(), Value::from(text.trim().len()));
        }
        Some(TextOrLength::Length(bytes)) => {
            entry.metadata.insert(attributes::MESSAGE_BYTES.to_owned(), Value::from(bytes));
        }
        None => {}
    }
}

/// Returns what still runs beside the session: ids, types and states, and no text but the type.
fn background_tasks(hook: &Hook<'_>) -> Option<Value> {
    let tasks = hook.payload.list(&["background_tasks"]).filter(|tasks| !tasks.is_empty())?;
    let mut kept = Vec::new();
    for task in tasks.iter().take(100) {
        let mut row = serde_json::Map::new();
        for (from, to) in [("id", "id"), ("type", "type"), ("status", "status"), ("agent_type", "agentType")]
        {
            if let Some(text) = task.get(from).and_then(Value::as_str) {
                row.insert(to.to_owned(), Value::from(text::line(text, 200)));
            }
        }
        kept.push(Value::Object(row));
    }
    Some(Value::Array(kept))
}

fn failure(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("error", ERRORS, reading);
    if subagents::is_compaction_helper(hook) {
        reading.entries.push(subagents::helper(hook, "failed"));
        return;
    }
    reading.entries.push(hook.task());
    let error = hook
        .payload
        .text(&["error", "error_type"])
        .map_or_else(|| "unknown".to_owned(), |e| text::line(e, 100));
    let key = key(hook, hook.payload.text_or_length(&["last_assistant_message"]));
    let mut entry = hook.event(Kind::AssistantResponse, Phase::Close, key);
    if hook.turn().is_none() {
        let part = identity::text_part(hook.payload.text_or_length(&["last_assistant_message"]));
        entry.series = identity::nameless_series("said", part.as_deref());
    }
    entry.ended_at = Some(hook.at);
    entry.state = Some(CallState::Failed);
    words(&mut entry, hook.payload.text_or_length(&["last_assistant_message"]));
    entry.title = Some(text::title(&format!("Turn failed: {}", error.replace('_', " "))));
    entry.metadata.insert(attributes::STOP_REASON.to_owned(), Value::from(format!("error:{error}")));
    entry.metadata.insert(attributes::ERROR.to_owned(), Value::from(error.as_str()));
    carry_text(
        &mut entry.metadata,
        attributes::ERROR_DETAILS,
        hook.payload.text_or_length(&["error_details", "error_message"]),
        1000,
    );
    reading.entries.push(entry);
    if let Some(mut turn) = hook.turn_entry(Phase::Close) {
        turn.state = Some(CallState::Failed);
        turn.ended_at = Some(hook.at);
        turn.metadata.insert(attributes::ERROR.to_owned(), Value::from(error.as_str()));
        reading.entries.push(turn);
    }
    if hook.agent_id.is_some() {
        // With an agent's id this event takes the place of `SubagentStop`, which then never comes, so it ends the row
        // of the parent too.
        let mut row = subagents::on_parent(hook, Phase::Close, "failed");
        row.metadata.insert(attributes::ERROR.to_owned(), Value::from(error));
        reading.entries.push(row);
    }
}
