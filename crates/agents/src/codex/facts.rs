//! The facts that hooks and rollouts both tell, and the keys under which they meet.
//!
//! A key is made of ids and of what privacy left of a text, so it is the same whichever channel speaks first. The
//! name of the observation is used only where Codex gives nothing better.

use agent_tracer_event::{Agent, Entry, Metadata, TaskKey, attributes};
use serde_json::{Value, json};

use crate::text;

/// The most characters of a prompt or a message that are kept.
const BODY_CHARS: usize = 200_000;
/// The most characters of a child's last message that its parent's row shows.
const EXCERPT_CHARS: usize = 400;

/// Returns the task of a thread.
pub(super) fn task(thread: &str) -> TaskKey {
    TaskKey::new(Agent::CODEX, thread)
}

/// A text as privacy left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextOrSize<'a> {
    /// The masked text.
    Text(&'a str),
    /// Its size.
    Bytes(u64),
}

impl<'a> TextOrSize<'a> {
    /// Returns what a value is, if it stands for a text at all.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text)),
            Value::Object(size) => size.get("bytes").and_then(Value::as_u64).map(Self::Bytes),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    /// Returns what it contributes to a key.
    pub(super) fn key(self) -> String {
        match self {
            Self::Text(text) => text::text_key(text),
            Self::Bytes(bytes) => text::length_key(bytes),
        }
    }

    /// Returns whether there is nothing in it.
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Bytes(bytes) => bytes == 0,
        }
    }

    /// Returns the text, if it was kept.
    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Bytes(_) => None,
        }
    }
}

pub(super) fn tool_key(id: &str) -> String {
    format!("tool:{id}")
}

/// Marks a patch or a call of a server with who reports it and under which key: both the hook and the rollout do, and
/// posted events of other tracers carry the same mark.
pub(super) fn cross_check(entry: &mut Entry, source: &str) {
    let is_marked =
        entry.tool_name.as_deref().is_some_and(|tool| tool == "apply_patch" || tool.starts_with("mcp__"));
    if let Some(id) = entry.tool_use_id.as_deref().filter(|_| is_marked) {
        let mark = json!({ "source": source, "dedupeKey": id });
        entry.metadata.insert(attributes::CROSS_CHECK.to_owned(), mark);
    }
}

pub(super) fn turn_key(turn: &str) -> String {
    format!("turn:{turn}")
}

pub(super) fn prompt_key(turn: &str, prompt: TextOrSize<'_>) -> String {
    format!("prompt:{turn}:{}", prompt.key())
}

/// Names the last words of a turn. A hook may send the agent on, and then it answers again in the same turn, perhaps
/// with the same words: both channels know that it is not the first time.
pub(super) fn said_key(turn: &str, message: TextOrSize<'_>, is_again: bool) -> String {
    let again = if is_again { ":again" } else { "" };
    format!("said:{turn}:{}{again}", message.key())
}

pub(super) fn subagent_key(child: &str) -> String {
    format!("subagent:{child}")
}

pub(super) fn response_key(response: &str) -> String {
    format!("response:{response}")
}

/// Names a turn that was cut off: the hook and the row name the same turn.
pub(super) fn interrupted_key(turn: &str) -> String {
    format!("interrupted:{turn}")
}

/// Names the end of a subagent's turn, which is the end of its session: both channels know the turn.
pub(super) fn subagent_ended_key(turn: &str) -> String {
    format!("session:ended:{turn}")
}

/// Names the beginning of a thread, which happens once.
pub(super) fn thread_started_key(thread: &str) -> String {
    format!("session:started:{thread}")
}

/// Names a compaction. A turn is seldom compacted twice; the hook cannot count, so only rollouts tell the second apart.
pub(super) fn compaction_key(phase: &str, turn: &str, number: u32) -> String {
    match number {
        0 | 1 => format!("compaction:{phase}:{turn}"),
        again => format!("compaction:{phase}:{turn}:{again}"),
    }
}

/// Writes a prompt: title, body and size.
pub(super) fn write_prompt(entry: &mut Entry, prompt: TextOrSize<'_>) {
    entry.title = Some("Prompt".to_owned());
    write_words(entry, prompt, attributes::PROMPT_BYTES);
}

/// Writes what the agent said last: title, body and size.
pub(super) fn write_message(entry: &mut Entry, message: TextOrSize<'_>) {
    entry.title = Some("Response".to_owned());
    write_words(entry, message, attributes::MESSAGE_BYTES);
}

/// The most characters of a text that metadata repeats.
const METADATA_CHARS: usize = 10_000;

/// Carries words, or where the level drops them their size.
pub(super) fn carry(metadata: &mut Metadata, name: &str, words: TextOrSize<'_>) {
    let value = match words {
        TextOrSize::Text("") => return,
        TextOrSize::Text(words) => Value::from(text::cut(words, METADATA_CHARS).as_ref()),
        TextOrSize::Bytes(bytes) => serde_json::json!({ "bytes": bytes }),
    };
    metadata.insert(name.to_owned(), value);
}

fn write_words(entry: &mut Entry, words: TextOrSize<'_>, size: &str) {
    let bytes = match words {
        TextOrSize::Text(words) => {
            let title = text::title(words);
            // White space alone leaves the title that is there: no row is without one.
            if !title.is_empty() {
                entry.title = Some(title);
                entry.body = Some(text::cut(words, BODY_CHARS).into_owned());
            }
            words.trim().len() as u64
        }
        TextOrSize::Bytes(bytes) => bytes,
    };
    put(&mut entry.metadata, size, Some(bytes));
}

/// Writes the title that a task gets from its first prompt.
pub(super) fn write_title(metadata: &mut Metadata, prompt: TextOrSize<'_>) {
    let title = prompt.text().map(text::title).filter(|title| !title.is_empty());
    if let Some(title) = title {
        put(metadata, attributes::TITLE, Some(title));
        put(metadata, attributes::TITLE_SOURCE, Some("prompt"));
    }
}

/// Writes what a parent's row says of a child: `status` is running, completed or failed.
pub(super) fn write_action(entry: &mut Entry, child: &str, agent_type: Option<&str>, status: &str) {
    // An empty type would take the place of the real one when the entries are folded.
    let kind = agent_type.filter(|kind| !kind.is_empty());
    entry.title =
        Some(kind.map_or_else(|| "Subagent".to_owned(), |kind| text::title(&format!("Subagent {kind}"))));
    put(&mut entry.metadata, attributes::ASYNC_TASK_ID, Some(child));
    put(&mut entry.metadata, attributes::ASYNC_STATUS, Some(status));
    put(&mut entry.metadata, attributes::AGENT_ID, Some(child));
    put(&mut entry.metadata, attributes::CHILD_SESSION, Some(child));
    put(&mut entry.metadata, attributes::AGENT_TYPE, kind);
}

/// Shows a child's last message on its parent's row.
pub(super) fn write_excerpt(entry: &mut Entry, message: Option<TextOrSize<'_>>) {
    if let Some(words) = message.and_then(TextOrSize::text).map(str::trim).filter(|words| !words.is_empty()) {
        entry.body = Some(text::cut(words, EXCERPT_CHARS).into_owned());
    }
}

/// Puts a value under a name if there is one.
pub(super) fn put(metadata: &mut Metadata, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        metadata.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_contributes_itself_or_its_size() {
        let text = json!("hello");
        assert_eq!(TextOrSize::of(&text).map(TextOrSize::key), Some(text::text_key("hello")));
        let size = json!({"bytes": 5, "lines": 1});
        assert_eq!(TextOrSize::of(&size), Some(TextOrSize::Bytes(5)));
        assert_eq!(TextOrSize::of(&size).map(TextOrSize::key).as_deref(), Some("5"));
        for odd in [json!(null), json!(7), json!(["x"]), json!({"bytes": "5"}), json!({})] {
            assert_eq!(TextOrSize::of(&odd), None, "{odd}");
        }
    }
}
