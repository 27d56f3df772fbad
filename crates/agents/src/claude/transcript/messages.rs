//! Reads the words of the model: final answers, commentary, thoughts, and the errors in their place.

use agent_tracer_event::{Entry, Kind, Phase, Series, Subject, Unrecognised, attributes};
use agent_tracer_privacy::Level;
use serde_json::Value;

use super::row::{Block, Content};
use super::state::Unsettled;
use super::text::Text;
use super::usage::SYNTHETIC;
use super::writer::{Member, RowWriter, put};
use super::{calls, responses, version};
use crate::claude::identity;
use crate::claude::wire::TextOrLength;
use crate::text::{cut, title};

/// The most characters of what is said on the way.
const COMMENTARY_CHARS: usize = 10_000;
/// The most characters of a thought.
const THOUGHT_CHARS: usize = 6_144;

/// Reads a row of the assistant.
pub(super) fn assistant(writer: &mut RowWriter<'_, '_>) {
    let Some(message) = writer.row.message.as_ref() else { return };
    if writer.row.is_api_error {
        failure(writer);
        return;
    }
    responses::usage(writer);
    let synthetic = message.model.is(SYNTHETIC);
    let texts = match &message.content {
        Content::Empty => &[],
        Content::Text(text) => &[Block { kind: Text::new(b"text"), text: *text, ..Block::default() }][..],
        Content::Blocks(blocks) => blocks.as_slice(),
    };
    for (index, block) in texts.iter().enumerate() {
        match &*block.kind.head(40) {
            // The client answers in the model's place where there is nothing to say.
            "text" if synthetic => {}
            "text" => words(writer, block.text, index),
            "thinking" => thought(writer, block.text, index),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => calls::attempted(writer, block),
            kind if kind.ends_with("_tool_result") => calls::answered_by_server(writer, block),
            "redacted_thinking" | "image" | "document" | "fallback" | "container_upload" | "compaction" => {}
            kind => {
                let kind = writer.rules.word(kind);
                writer.reading.unrecognised.push(Unrecognised::Value(format!("content.type={kind}")));
            }
        }
    }
}

/// Writes a text: the last of its turn, one on the way, or one of which the row does not say.
fn words(writer: &mut RowWriter<'_, '_>, text: Text<'_>, index: usize) {
    let Some(message) = writer.row.message.as_ref() else { return };
    let reason = message.stop_reason;
    let id = writer.word(message.id);
    // The model goes on behind these two reasons, so this was not its answer.
    if writer.row.is_aborted || reason.is("tool_use") || reason.is("pause_turn") {
        commentary(writer, Kind::AssistantCommentary, text, index, COMMENTARY_CHARS);
        return;
    }
    let Some(kept) = message_of(writer, "Stop", text) else { return };
    let at = Some(writer.at);
    writer.lane().unsettled = None;
    if reason.is_empty() {
        writer.lane().unsettled = Some(Unsettled { message: id, text: kept, at });
        return;
    }
    let reason = writer.word(reason);
    last_words(writer, kept, Some(reason), &id);
}

/// Returns what privacy leaves of a message; `None` if it is blank. The hook has it without the white space around it.
fn message_of(writer: &mut RowWriter<'_, '_>, event: &str, text: Text<'_>) -> Option<Value> {
    let whole = text.decode();
    let words = whole.trim();
    (!words.is_empty())
        .then(|| writer.reduce_member(event, None, "last_assistant_message", Member::Str(words)))
}

fn last_words(writer: &mut RowWriter<'_, '_>, kept: Value, reason: Option<String>, message: &str) {
    let series = series(writer, &kept);
    let mut members = vec![("last_assistant_message", kept)];
    if let Some(reason) = reason {
        members.push(("stop_reason", Value::from(reason)));
    }
    // The hook says so itself; here the feedback of a hook stood between the two answers.
    if writer.lane().sent_on {
        members.push(("stop_hook_active", Value::Bool(true)));
    }
    let mut entries = writer.as_hook("Stop", members);
    for entry in &mut entries {
        if entry.subject == Subject::Event(Kind::AssistantResponse) {
            entry.series.clone_from(&series);
            put(&mut entry.metadata, attributes::MESSAGE_ID, message);
        }
    }
    writer.reading.entries.append(&mut entries);
}

/// Hooks of old clients do not name the turn: the words and their order do.
fn series(writer: &RowWriter<'_, '_>, kept: &Value) -> Option<Series> {
    if !writer.agent.is_empty() || !version::may_lack_prompt_ids(writer.row.version) {
        return None;
    }
    let part = identity::text_part(match kept {
        Value::String(text) => Some(TextOrLength::Text(text)),
        other => other.get("bytes").and_then(Value::as_u64).map(TextOrLength::Length),
    });
    identity::nameless_series("said", part.as_deref())
}

/// Ends the turn with its last text, because something else begins.
pub(super) fn settle(writer: &mut RowWriter<'_, '_>) {
    let Some(unsettled) = writer.lane().unsettled.take() else { return };
    let at = writer.at;
    // Said when it was written and not when the next row showed that nothing followed.
    writer.at = unsettled.at.unwrap_or(at);
    last_words(writer, unsettled.text, None, &unsettled.message);
    writer.at = at;
}

/// Marks the last text as one on the way, because the model went on.
pub(super) fn unsettle(writer: &mut RowWriter<'_, '_>) {
    writer.lane().unsettled = None;
}

/// Writes a text that is kept only by those who ask for everything.
fn commentary(writer: &mut RowWriter<'_, '_>, kind: Kind, text: Text<'_>, index: usize, most: usize) {
    if writer.rules.level() != Level::Full {
        return;
    }
    let whole = text.decode();
    if whole.trim().is_empty() {
        return;
    }
    let masked = agent_tracer_privacy::mask(&whole);
    let key = format!("{}:{index}", writer.own_key());
    let mut entry = writer.event(kind, Phase::Close, key);
    entry.title = Some(title(&masked));
    entry.body = Some(cut(&masked, most).into_owned());
    let message = writer.row.message.as_ref().map(|message| message.id).unwrap_or_default();
    put(&mut entry.metadata, attributes::MESSAGE_ID, writer.word(message));
    put(&mut entry.metadata, attributes::TEXT_BYTES, whole.len());
    writer.push(entry);
}

fn thought(writer: &mut RowWriter<'_, '_>, text: Text<'_>, index: usize) {
    commentary(writer, Kind::ThoughtLogged, text, index, THOUGHT_CHARS);
}

/// Reads an error of the API, said in the model's place. The hook says the same text.
fn failure(writer: &mut RowWriter<'_, '_>) {
    let Some(message) = writer.row.message.as_ref() else { return };
    let text = match &message.content {
        Content::Text(text) => *text,
        Content::Blocks(blocks) => {
            blocks.iter().find(|block| !block.text.is_empty()).map(|block| block.text).unwrap_or_default()
        }
        Content::Empty => Text::default(),
    };
    unsettle(writer);
    let kept = message_of(writer, "StopFailure", text).unwrap_or_default();
    let error = writer.reduce_member("StopFailure", None, "error", Member::Text(writer.row.error));
    // The hook of a failed turn makes its key of the same two: another key would show each failure twice.
    let key = writer.turn().and_then(|turn| said_key(&turn, &kept));
    let series = series(writer, &kept);
    let mut entries = writer.as_hook("StopFailure", vec![("error", error), ("last_assistant_message", kept)]);
    for entry in &mut entries {
        if entry.subject == Subject::Event(Kind::AssistantResponse) {
            entry.series.clone_from(&series);
            complete(writer, entry, key.clone());
        }
    }
    writer.reading.entries.append(&mut entries);
}

fn complete(writer: &RowWriter<'_, '_>, entry: &mut Entry, key: Option<String>) {
    entry.key = key.unwrap_or_else(|| writer.own_key());
    if let Some(status) = writer.row.api_error_status {
        entry.metadata.insert(attributes::HTTP_STATUS.to_owned(), Value::from(status));
    }
    put(&mut entry.metadata, attributes::REQUEST_ID, writer.word(writer.row.request));
}

fn said_key(turn: &str, kept: &Value) -> Option<String> {
    match kept {
        Value::String(text) => Some(identity::said_key(turn, text)),
        Value::Object(size) => {
            size.get("bytes").and_then(Value::as_u64).map(|bytes| identity::said_length_key(turn, bytes))
        }
        _ => None,
    }
}
