//! Privacy for rollouts: the rules of the hooks, applied in memory.
//!
//! A rollout holds what hooks never show: whole outputs, file contents, images. Nothing of a row reaches an entry
//! unless a reader asked for that member by name, and then it passes through the same reduction as the payload of a
//! hook would: a row is put into the words of the hook that tells of the same thing. So both channels say the same
//! of a command, a prompt or a patch, at every level, to the letter; their keys depend on it.

use std::borrow::Cow;

use agent_tracer_event::{Agent, Metadata};
use agent_tracer_privacy::{Source, reduce};
use serde_json::{Map, Value};

use crate::files::Rules;

impl Rules<'_> {
    /// Returns what a person or another agent asked for: the text, or its size.
    pub(super) fn prompt(&self, text: &str) -> Value {
        self.one("UserPromptSubmit", None, "prompt", &quoted(text))
    }

    /// Returns what the agent said at the end: the text, or its size.
    pub(super) fn message(&self, text: &str) -> Value {
        self.one("Stop", None, "last_assistant_message", &quoted(text))
    }

    /// Returns what a tool was called with. `json` is the input in the form that the hook has for this tool.
    pub(super) fn input(&self, tool: &str, json: &str) -> Value {
        self.one("PreToolUse", Some(tool), "tool_input", json)
    }

    /// Returns what came of a call: quantities, never the text (at `full`: also its head and tail).
    pub(super) fn result(&self, tool: &str, json: &str) -> Metadata {
        object(self.one("PostToolUse", Some(tool), "tool_response", json))
    }

    /// Returns why a call failed: what the hook would keep of its error.
    pub(super) fn failure(&self, tool: &str, json: &str) -> Metadata {
        object(self.one("PostToolUseFailure", Some(tool), "error", json))
    }

    /// Returns why a request to the model failed: a masked first line, or its size.
    pub(super) fn request_error(&self, text: &str) -> Value {
        self.one("PostModelRequest", None, "error", &quoted(text))
    }

    /// Reduces one member of a payload and returns what is left of it.
    fn one(&self, event: &str, tool: Option<&str>, name: &str, json: &str) -> Value {
        let mut payload = Vec::with_capacity(json.len() + 128);
        payload.extend_from_slice(b"{\"hook_event_name\":");
        payload.extend_from_slice(quoted(event).as_bytes());
        if let Some(tool) = tool {
            payload.extend_from_slice(b",\"tool_name\":");
            payload.extend_from_slice(quoted(tool).as_bytes());
        }
        payload.push(b',');
        payload.extend_from_slice(quoted(name).as_bytes());
        payload.push(b':');
        payload.extend_from_slice(json.as_bytes());
        payload.push(b'}');
        let mut out = Vec::new();
        let mut key = || self.hash_key;
        let reduction = reduce(&payload, Source::Hook(Agent::CODEX), self.config, &mut key, &mut out);
        if reduction.fault.is_some() {
            return Value::Null;
        }
        match serde_json::from_slice::<Map<String, Value>>(&out) {
            Ok(mut members) => members.remove(name).unwrap_or_default(),
            Err(_) => Value::Null,
        }
    }
}

fn object(value: Value) -> Metadata {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Metadata::new()
        }
    }
}

/// Reads a text as JSON.
pub(super) fn quoted(text: &str) -> Cow<'static, str> {
    // Only a map with odd keys can fail to be written; a text cannot.
    serde_json::to_string(text).map_or(Cow::Borrowed("\"\""), Cow::Owned)
}
