//! Calls to MCP servers.

use agent_tracer_event::{CallState, Entry, ErrorClass, attributes};
use serde_json::Value;

use super::calls::{HookCall, object_or_text};
use super::items::{End, close, end, id_of};
use super::outputs::{quantities, say_end};
use super::writer::RolloutWriter;
use crate::codex::facts::put;
use crate::codex::wire::{Members, Raw, text};

/// The client's own words where a dialog was answered with No. What a server says stands in the result, or behind a prefix.
const REFUSALS: &[&str] = &["user cancelled MCP tool call", "user rejected MCP tool call"];

/// Reads a call that a server answered, or not: `McpToolCall`.
pub(super) fn item(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let end = end(writer, row, item, "McpToolCall");
    let call = Mcp {
        server: item.word("server").unwrap_or_default().into_owned(),
        tool: item.word("tool").unwrap_or_default().into_owned(),
        arguments: item.raw("arguments"),
        result: item.raw("result"),
        error: item.members("error").and_then(|error| error.raw("message")).or_else(|| item.raw("error")),
    };
    let mut entry = mcp_ended(writer, &id, &call, end, "item_completed McpToolCall");
    put(&mut entry.metadata, attributes::READ_ONLY_HINT, item.truth("readOnlyHint"));
    say_end(writer, entry);
}

/// A call to a server, as an item or an event tells it.
pub(super) struct Mcp<'a> {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) arguments: Option<Raw<'a>>,
    pub(super) result: Option<Raw<'a>>,
    pub(super) error: Option<Raw<'a>>,
}

pub(super) fn mcp_ended(
    writer: &mut RolloutWriter<'_>,
    id: &str,
    call: &Mcp<'_>,
    mut end: End,
    reason: &str,
) -> Entry {
    let tool = format!("mcp__{}__{}", call.server, call.tool);
    let input = call.arguments.map_or_else(|| "{}".to_owned(), |raw| object_or_text(raw.get()));
    let result = call.result.and_then(|raw| Members::parse(raw.get()));
    if result.as_ref().and_then(|result| result.truth("isError")) == Some(true) || call.error.is_some() {
        end.state = CallState::Failed;
    }
    // The error is either beside the result or the text of the result.
    let mut texts = String::new();
    for part in result.as_ref().map(|result| result.list("content")).unwrap_or_default() {
        if let Some(text) = Members::parse(part.get()).and_then(|part| part.text("text")) {
            texts.push_str(&text);
        }
    }
    if let Some(error) = call.error.and_then(text) {
        texts.push_str(&error);
    }
    if call.error.and_then(text).is_some_and(|error| REFUSALS.contains(&error.as_ref())) {
        end.state = CallState::Denied;
        end.class = Some(ErrorClass::Permission);
    }
    let kept = quantities(writer, &tool, &texts, end.state, end.class);
    let mut entry = close(writer, id, &HookCall::new(tool, input), &end, reason);
    for (name, value) in kept {
        entry.metadata.entry(name).or_insert(value);
    }
    let bytes = call.result.map_or(texts.len(), |raw| strings(raw.get()));
    entry.metadata.insert(attributes::OUTPUT_BYTES.to_owned(), Value::from(bytes));
    entry
}

/// Returns the bytes of all texts in a value, by a walk over its spelling.
fn strings(json: &str) -> usize {
    match serde_json::from_str::<Value>(json) {
        Ok(value) => texts_in(&value),
        Err(_) => json.len(),
    }
}

fn texts_in(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(texts_in).sum(),
        // What a part is, is not what it says.
        Value::Object(members) => {
            members.iter().filter(|(name, _)| *name != "type").map(|(_, one)| texts_in(one)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
