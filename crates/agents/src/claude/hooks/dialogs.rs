//! Reads dialogs with the user: permissions, servers' questions, notifications.

use agent_tracer_event::{Kind, Phase, Reading, attributes};
use serde_json::{Value, json};

use super::Event;
use super::hook::{Hook, carry, carry_text};
use super::tools::CallPayload;
use crate::claude::wire::TextOrLength;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "PermissionRequest",
        members: &["tool_name", "tool_input", "tool_use_id", "permission_suggestions", "mcp_server"],
        read: permission,
    },
    Event {
        name: "Elicitation",
        members: &["mcp_server_name", "message", "mode", "url", "elicitation_id", "requested_schema"],
        read: elicitation,
    },
    Event {
        name: "ElicitationResult",
        members: &["mcp_server_name", "elicitation_id", "mode", "action", "content"],
        read: elicitation_result,
    },
    Event {
        name: "Notification",
        members: &["message", "notification_message", "title", "notification_type"],
        read: notification,
    },
];

/// The most characters of the summary of an input.
const SUMMARY_CHARS: usize = 400;

const NOTIFICATION_TYPES: &[&str] = &[
    "permission_prompt",
    "idle_prompt",
    "auth_success",
    "elicitation_dialog",
    "elicitation_url_dialog",
    "elicitation_complete",
    "elicitation_response",
    "agent_needs_input",
    "agent_completed",
    "worker_permission_prompt",
    "push_notification",
    "computer_use_enter",
    "computer_use_exit",
    "model_refusal_fallback",
    "auth_storage_failure",
    "plugin_notification",
];

fn permission(hook: &Hook<'_>, reading: &mut Reading) {
    let call_payload = CallPayload::new(hook.payload);
    let meaning = call_payload.meaning(hook);
    call_payload.check(&meaning, reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::PermissionRequest, Phase::Open, hook.own_key());
    // The dialog of a question is the question.
    entry.title = Some(match meaning.kind {
        Kind::QuestionLogged => meaning.title.clone(),
        _ => text::title(&format!("Permission asked: {}", meaning.title)),
    });
    entry.tool_name = Some(text::line(call_payload.tool, crate::tools::NAME_CHARS));
    // Never seen from the client, which leaves the id out; an older document has it.
    entry.tool_use_id = call_payload.id.clone();
    entry.file_paths = meaning.file_paths;
    let metadata = &mut entry.metadata;
    metadata.insert(
        attributes::TOOL_NAME.to_owned(),
        Value::from(text::line(call_payload.tool, crate::tools::NAME_CHARS)),
    );
    if let Some(id) = &call_payload.id {
        metadata.insert(attributes::TOOL_USE_ID.to_owned(), Value::from(id.as_str()));
    }
    metadata.insert(attributes::TOOL_INPUT_SUMMARY.to_owned(), Value::from(summary(call_payload.input)));
    let suggestions = hook.payload.list(&["permission_suggestions"]).map_or(0, <[Value]>::len);
    metadata.insert(attributes::SUGGESTION_COUNT.to_owned(), Value::from(suggestions));
    metadata.insert(attributes::CALL_SIGNATURE.to_owned(), Value::from(call_payload.signature(hook)));
    metadata.insert(attributes::REQUESTED_TITLE.to_owned(), Value::from(meaning.title));
    reading.entries.push(entry);
}

/// Returns what the dialog is about, in one line: the command where there is one, else the input as JSON.
pub(super) fn summary(input: &Value) -> String {
    let command = input.get("command").and_then(Value::as_str);
    match command.or_else(|| input.as_str()) {
        Some(text) => text::line(text, SUMMARY_CHARS),
        None => text::line(&input.to_string(), SUMMARY_CHARS),
    }
}

fn elicitation_key(hook: &Hook<'_>) -> String {
    let id = hook.payload.id(&["elicitation_id"]);
    id.map_or_else(|| hook.own_key(), |id| format!("elicitation:{id}"))
}

fn elicitation(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("mode", &["form", "url"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::QuestionLogged, Phase::Open, elicitation_key(hook));
    let server = hook.payload.text(&["mcp_server_name"]).map(|server| text::line(server, 100));
    let said = hook.payload.text_or_length(&["message"]);
    let asks = server.as_deref().map_or_else(|| "Ask".to_owned(), |server| format!("{server} asks"));
    entry.title = Some(match said {
        Some(TextOrLength::Text(message)) if !message.trim().is_empty() => {
            text::title(&format!("{asks}: {message}"))
        }
        _ => asks,
    });
    if let Some(TextOrLength::Text(message)) = said {
        entry.body = Some(text::cut(message, 10_000).into_owned());
    }
    entry.metadata.insert(attributes::QUESTION_PHASE.to_owned(), Value::from("asked"));
    elicited(hook, &mut entry);
    carry_text(&mut entry.metadata, attributes::MESSAGE, said, 1000);
    let fields = hook.payload.object(&["requested_schema"]).and_then(|schema| schema.object(&["properties"]));
    if let Some(fields) = fields {
        // The names of the fields alone: titles and defaults are texts of the server.
        let names: Vec<String> = fields.0.keys().take(50).map(|name| text::line(name, 100)).collect();
        entry.metadata.insert(attributes::REQUESTED_FIELDS.to_owned(), json!(names));
    }
    carry(hook.payload, &mut entry.metadata, &[(&["url"], attributes::URL)]);
    reading.entries.push(entry);
}

fn elicited(hook: &Hook<'_>, entry: &mut agent_tracer_event::Entry) {
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["mcp_server_name"], attributes::MCP_SERVER_NAME),
            (&["mode"], attributes::MODE),
            (&["elicitation_id"], attributes::ELICITATION_ID),
        ],
    );
}

fn elicitation_result(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("mode", &["form", "url"], reading);
    hook.expect_one_of("action", &["accept", "decline", "cancel"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::QuestionLogged, Phase::Close, elicitation_key(hook));
    entry.ended_at = Some(hook.at);
    let action = hook.payload.text(&["action"]);
    let phase = match action {
        Some("accept") => "answered",
        Some("decline") => "declined",
        Some("cancel") => "cancelled",
        Some(other) => other,
        None => "answered",
    };
    let server = hook.payload.text(&["mcp_server_name"]).unwrap_or("a server");
    entry.title = Some(text::title(&format!("Question of {server}: {phase}")));
    entry.metadata.insert(attributes::QUESTION_PHASE.to_owned(), Value::from(text::line(phase, 60)));
    elicited(hook, &mut entry);
    if hook.payload.id(&["elicitation_id"]).is_none() {
        // Nothing but the server says which question this is the answer to.
        entry.metadata.insert(attributes::ELICITATION_RESULT.to_owned(), Value::Bool(true));
    }
    carry(hook.payload, &mut entry.metadata, &[(&["action"], attributes::ACTION)]);
    reading.entries.push(entry);
}

fn notification(hook: &Hook<'_>, reading: &mut Reading) {
    let kind = hook.payload.text(&["notification_type"]);
    if let Some(kind) = kind
        // A family of names in the program, of which none was seen.
        && !kind.starts_with("quota_auto_resume")
    {
        hook.expect_one_of("notification_type", NOTIFICATION_TYPES, reading);
    }
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    let message = hook.payload.text_or_length(&["message", "notification_message"]);
    let kind = text::line(kind.unwrap_or("unknown"), 60);
    entry.title = Some(match message {
        Some(TextOrLength::Text(message)) if !message.trim().is_empty() => {
            text::title(&format!("Notice: {message}"))
        }
        _ => text::title(&format!("Notice: {}", kind.replace('_', " "))),
    });
    if let Some(TextOrLength::Text(message)) = message {
        entry.body = Some(text::cut(message, 10_000).into_owned());
    }
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from(format!("notification:{kind}")));
    entry.metadata.insert(attributes::NOTIFICATION_TYPE.to_owned(), Value::from(kind));
    carry_text(&mut entry.metadata, attributes::MESSAGE, message, 1000);
    carry_text(&mut entry.metadata, attributes::TITLE, hook.payload.text_or_length(&["title"]), 300);
    reading.entries.push(entry);
}
