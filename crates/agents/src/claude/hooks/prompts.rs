//! Reads prompts, the expansions of slash commands, and the words of the client in the user's place.

use agent_tracer_event::{Entry, Evidence, Kind, Phase, Reading, Subject, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry, carry_text};
use super::sessions::title_of_session;
use crate::claude::hooks::notification::Notification;
use crate::claude::identity;
use crate::claude::wire::TextOrLength;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "UserPromptSubmit", members: &["prompt", "session_title", "source"], read: prompt },
    Event {
        name: "UserPromptExpansion",
        members: &["expansion_type", "command_name", "command_args", "command_source", "prompt"],
        read: expansion,
    },
    Event {
        name: "MessageDisplay",
        members: &["turn_id", "message_id", "index", "final", "delta"],
        read: display,
    },
];

/// Holds who wrote a prompt, by the client's own word for it, and ours.
const SOURCES: &[(&str, &str)] = &[
    ("user", "user"),
    ("sdk", "user"),
    ("system", "task_notification"),
    ("loop_wakeup", "loop_wakeup"),
    ("schedule_wakeup", "schedule_wakeup"),
    ("poll_event", "poll_event"),
];

/// The most characters of a prompt that is kept as text.
const BODY_CHARS: usize = 200_000;
/// The most characters of it that the row shows; the whole is its body.
const METADATA_CHARS: usize = 10_000;
/// The first bytes of an expanded prompt that are kept.
const SNIPPET_BYTES: usize = 2048;

fn prompt(hook: &Hook<'_>, reading: &mut Reading) {
    let known: Vec<&str> = SOURCES.iter().map(|(source, _)| *source).collect();
    hook.expect_one_of("source", &known, reading);
    let said = hook.payload.text_or_length(&["prompt"]);
    let notification = match said {
        Some(TextOrLength::Text(text)) => Notification::parse(text),
        Some(TextOrLength::Length(_)) | None => {
            hook.payload.object(&["prompt"]).and_then(Notification::of_reduced)
        }
    };
    let source = hook.payload.text(&["source"]);
    let by_source = SOURCES.iter().find(|(known, _)| Some(*known) == source).map(|(_, origin)| *origin);
    // At level `metadata` only this word is left of a notification.
    let reduced = hook.payload.object(&["prompt"]).and_then(|prompt| prompt.text(&["promptOrigin"]));
    let is_notification = notification.is_some() || reduced == Some("task_notification");
    // The text decides before `source`, which no captured payload had.
    let origin = if is_notification { "task_notification" } else { by_source.unwrap_or("user") };

    let mut task = hook.task();
    title_of_session(hook, &mut task);
    if let Some(TextOrLength::Text(text)) = said
        // A notification of the client as the first prompt would name the session after a background task.
        && origin == "user"
        && !task.metadata.contains_key(attributes::TITLE)
    {
        let title = text::title(text);
        if !title.is_empty() {
            task.metadata.insert(attributes::TITLE.to_owned(), Value::from(title));
            task.metadata.insert(attributes::TITLE_SOURCE.to_owned(), Value::from("prompt"));
        }
    }
    reading.entries.push(task);

    let part = identity::text_part(said);
    let key = match &hook.prompt_id {
        Some(prompt) => identity::prompt_key(prompt, part.as_deref()),
        None => hook.own_key(),
    };
    let mut message = hook.event(Kind::UserMessage, Phase::Open, key);
    if hook.agent_id.is_none() {
        message.series = identity::prompt_series(hook.prompt_id.as_deref(), part.as_deref());
    }
    message.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from(origin));
    carry(
        hook.payload,
        &mut message.metadata,
        &[(&["source"], attributes::PROMPT_SOURCE), (&["session_title"], attributes::SESSION_TITLE)],
    );
    match said {
        Some(TextOrLength::Text(text)) => {
            message.title = Some(text::title(text)).filter(|title| !title.is_empty());
            message.body = Some(text::cut(text, BODY_CHARS).into_owned());
            message.metadata.insert(attributes::PROMPT_BYTES.to_owned(), Value::from(text.len()));
        }
        Some(TextOrLength::Length(bytes)) => {
            message.metadata.insert(attributes::PROMPT_BYTES.to_owned(), Value::from(bytes));
        }
        None => {}
    }
    carry_text(&mut message.metadata, attributes::PROMPT, said, METADATA_CHARS);
    if let Some(notification) = &notification {
        message.title = Some(notification.title());
        notification.write(&mut message.metadata);
    } else if message.title.is_none() {
        message.title = Some("Prompt".to_owned());
    }
    reading.entries.push(message);
    let mut turn = hook.turn_entry(Phase::Open).unwrap_or_else(|| nameless_turn(hook));
    turn.metadata.insert(attributes::PROMPT_ORIGIN.to_owned(), Value::from(origin));
    reading.entries.push(turn);
    if let Some(notification) = notification {
        reading.entries.extend(notification.closes(hook));
    }
}

/// Returns the turn that a prompt begins of which no id is known. What ends it follows from what comes after it. A
/// channel that knows the turn knows better when it began.
fn nameless_turn(hook: &Hook<'_>) -> Entry {
    let key = format!("~turn:{}", hook.observation.name);
    let mut turn = hook.entry(Subject::Turn, Phase::Open, hook.actor(), key);
    turn.evidence = Evidence::inferred(turn.evidence.reason);
    turn
}

fn expansion(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("expansion_type", &["slash_command", "mcp_prompt"], reading);
    reading.entries.push(hook.task());
    let key = hook.prompt_id.as_ref().map_or_else(|| hook.own_key(), |prompt| format!("expansion:{prompt}"));
    let mut entry = hook.event(Kind::UserPromptExpansion, Phase::Open, key);
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["expansion_type"], attributes::EXPANSION_TYPE),
            (&["command_name"], attributes::COMMAND_NAME),
            (&["command_source"], attributes::COMMAND_SOURCE),
        ],
    );
    carry_text(
        &mut entry.metadata,
        attributes::COMMAND_ARGS,
        hook.payload.text_or_length(&["command_args"]),
        10_000,
    );
    let name = hook.payload.text(&["command_name"]).unwrap_or_default();
    let args = hook.payload.text(&["command_args"]).unwrap_or_default();
    entry.title = Some(text::title(&format!("/{} {args}", name.trim_start_matches('/'))));
    // The client gives the line that was typed; older documents say that this is the expanded text.
    match hook.payload.text_or_length(&["prompt"]) {
        Some(TextOrLength::Text(given)) if given.trim_start().starts_with('/') => {
            entry.body = Some(text::cut(given, BODY_CHARS).into_owned());
        }
        Some(TextOrLength::Text(given)) => {
            entry.metadata.insert(attributes::EXPANDED_PROMPT_BYTES.to_owned(), Value::from(given.len()));
            let snippet = text::cut_bytes(given, SNIPPET_BYTES);
            entry
                .metadata
                .insert(attributes::EXPANDED_PROMPT_SNIPPET.to_owned(), Value::from(snippet.as_ref()));
        }
        Some(TextOrLength::Length(bytes)) if bytes != typed_bytes(hook, name) => {
            entry.metadata.insert(attributes::EXPANDED_PROMPT_BYTES.to_owned(), Value::from(bytes));
        }
        Some(TextOrLength::Length(_)) | None => {}
    }
    reading.entries.push(entry);
}

/// Returns how long the typed line is: the command's name behind a slash, and its arguments behind a space. Where only
/// lengths are left, this alone tells the typed line from the expanded text.
fn typed_bytes(hook: &Hook<'_>, name: &str) -> u64 {
    let arguments = match hook.payload.text_or_length(&["command_args"]) {
        Some(TextOrLength::Text(text)) => text.len() as u64,
        Some(TextOrLength::Length(bytes)) => bytes,
        None => 0,
    };
    let command = 1 + name.trim_start_matches('/').len() as u64;
    if arguments == 0 { command } else { command + 1 + arguments }
}

/// Reads a piece of text on its way to the screen. Registered only by those who ask for it, and text only at level
/// `full`.
fn display(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let Some(TextOrLength::Text(delta)) = hook.payload.text_or_length(&["delta"]) else { return };
    if delta.trim().is_empty() {
        return;
    }
    let key = match (hook.payload.id(&["message_id"]), hook.payload.natural(&["index"])) {
        (Some(message), Some(index)) => format!("display:{message}:{index}"),
        _ => hook.own_key(),
    };
    let mut entry: Entry = hook.event(Kind::AssistantCommentary, Phase::Open, key);
    entry.title = Some(text::title(delta));
    entry.body = Some(text::cut(delta, BODY_CHARS).into_owned());
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["message_id"], attributes::DISPLAY_MESSAGE_ID),
            (&["turn_id"], attributes::DISPLAY_TURN_ID),
            (&["index"], attributes::DISPLAY_INDEX),
            (&["final"], attributes::DISPLAY_FINAL),
        ],
    );
    reading.entries.push(entry);
}
