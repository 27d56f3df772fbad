//! Claude Code's own words: how its payloads spell things, and a view of them that trusts nothing.
//!
//! A payload is any JSON object. Each member is looked up by every spelling that a client or an older document has
//! for it, and used only if it has a type that makes sense. After privacy a text may be an object that says how long it
//! was: [`TextOrLength`].

use serde_json::{Map, Value};

/// Members that any event may carry.
pub(super) const BASE: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "prompt_id",
    "permission_mode",
    "effort",
    "agent_id",
    "agent_type",
    // Older documents put these on some events.
    "timestamp",
    "parent_session_id",
    "subagent_type",
    "agent_transcript_path",
];

/// The most characters of an id that is kept.
const ID_CHARS: usize = 300;

/// A text, as far as privacy left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextOrLength<'a> {
    /// The text itself, masked.
    Text(&'a str),
    /// Only how many bytes it had.
    Length(u64),
}

/// A view of a payload, or of a member of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Members<'a> {
    /// Returns the first of these spellings that is there and not null.
    pub(super) fn get(self, keys: &[&str]) -> Option<&'a Value> {
        keys.iter().find_map(|key| self.0.get(*key).filter(|value| !value.is_null()))
    }

    /// Reads a text with something in it.
    pub(super) fn text(self, keys: &[&str]) -> Option<&'a str> {
        keys.iter().find_map(|key| self.0.get(*key)?.as_str().filter(|text| !text.is_empty()))
    }

    /// Reads an id: a text, or a number written as one.
    pub(super) fn id(self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| match self.0.get(*key)? {
            Value::String(text) if !text.trim().is_empty() => {
                Some(crate::text::cut(text.trim(), ID_CHARS).into_owned())
            }
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Reads a text, or what is left of it.
    pub(super) fn text_or_length(self, keys: &[&str]) -> Option<TextOrLength<'a>> {
        keys.iter().find_map(|key| match self.0.get(*key)? {
            Value::String(text) => Some(TextOrLength::Text(text)),
            Value::Object(reduced) => reduced.get("bytes").and_then(Value::as_u64).map(TextOrLength::Length),
            _ => None,
        })
    }

    /// Reads a truth value.
    pub(super) fn flag(self, keys: &[&str]) -> Option<bool> {
        keys.iter().find_map(|key| self.0.get(*key)?.as_bool())
    }

    /// Reads a number, as it stands.
    pub(super) fn number(self, keys: &[&str]) -> Option<&'a Value> {
        keys.iter().find_map(|key| self.0.get(*key).filter(|value| value.is_number()))
    }

    /// Reads a whole number that is not negative.
    pub(super) fn natural(self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let value = self.0.get(*key)?;
            value.as_u64().or_else(|| value.as_f64().filter(|real| *real >= 0.0).map(|real| real as u64))
        })
    }

    /// Reads a list.
    pub(super) fn list(self, keys: &[&str]) -> Option<&'a [Value]> {
        keys.iter().find_map(|key| self.0.get(*key)?.as_array()).map(Vec::as_slice)
    }

    /// Reads an object.
    pub(super) fn object(self, keys: &[&str]) -> Option<Members<'a>> {
        keys.iter().find_map(|key| self.0.get(*key)?.as_object()).map(Members)
    }
}
