//! Requests to the provider, as newer clients log them: what a request repeats of the one before it, and how large its
//! system prompt and its tools are.
//!
//! `api-request` holds hashes of messages: `keep` of the last request's, then `tail` of its own. `api-request-shape`
//! holds the system prompt and the definitions of tools, once for each `shapeHash`. Only counts, sizes and names of MCP
//! servers are taken. They belong to the response, whose row may stand before that of its request: both are written
//! when they are complete.

use std::collections::BTreeMap;

use agent_tracer_event::{Entry, Kind, Metadata, Millis, Phase, attributes};
use serde_json::{Value, json};

use super::scan::{Cursor, Read};
use super::state::{AnsweredRequest, RequestForm, RequestShape};
use super::text::Text;
use super::writer::{RowWriter, put};

/// The most MCP servers whose tools are listed by themselves.
const SERVERS: usize = 40;
/// The digits of a hash that are kept: enough to distinguish the requests of a session.
const HASH_DIGITS: usize = 16;

/// Reads an `api-request` row.
pub(super) fn request(writer: &mut RowWriter<'_, '_>) {
    writer.state.requested(writer.row.id.raw());
    let Some(form) = writer.line.and_then(|line| form(line).ok()) else { return };
    let form = RequestForm { id: hash_of(writer.row.id), at: writer.at.0, ..form };
    match writer.state.take_answered(form.id) {
        Some(answered) => {
            let mut entry = writer.event(Kind::TokenUsage, Phase::Update, answered.key);
            // The beginning of the fact stays that of the response.
            (entry.occurred_at, entry.order, entry.turn) =
                (Millis(answered.at), answered.order, answered.turn);
            entry.metadata.clear();
            entry.metadata.insert(attributes::OWN_REQUEST.to_owned(), Value::Bool(true));
            write(writer, &form, &mut entry.metadata);
            writer.push(entry);
        }
        None => writer.state.remember_form(form),
    }
}

/// Adds to a response what its request says, or remembers the response until its request is read.
pub(super) fn describe(writer: &mut RowWriter<'_, '_>, entry: &mut Entry) {
    if writer.row.request_ref.is_empty() {
        return;
    }
    let id = hash_of(writer.row.request_ref);
    match writer.state.take_form(id) {
        Some(form) => write(writer, &form, &mut entry.metadata),
        None => writer.state.remember_answered(AnsweredRequest {
            id,
            key: entry.key.clone(),
            at: entry.occurred_at.0,
            order: entry.order,
            turn: entry.turn.clone(),
        }),
    }
}

fn write(writer: &mut RowWriter<'_, '_>, form: &RequestForm, metadata: &mut Metadata) {
    put(metadata, attributes::REQUEST_PREFIX_HASH, form.prefix.as_str());
    put(metadata, attributes::MESSAGE_COUNT, form.messages);
    put(metadata, attributes::REPEATED_MESSAGE_COUNT, form.repeated);
    // The state of a reader that stopped before the time was read has none.
    put(metadata, attributes::REQUESTED_AT, Some(form.at).filter(|at| *at > 0));
    if let Some(shape) = writer.state.take_shape(&form.prefix) {
        put(metadata, attributes::SYSTEM_BYTES, shape.system_bytes);
        put(metadata, attributes::TOOL_DEFINITIONS, shape.tools);
    }
}

fn hash_of(id: Text<'_>) -> u64 {
    xxhash_rust::xxh3::xxh3_64(id.raw())
}

/// Reads the counts of a request.
fn form(line: &[u8]) -> Read<RequestForm> {
    let mut form = RequestForm::default();
    let mut own = 0_u64;
    Cursor::new(line).members(|cursor, name| match &*name.name() {
        b"shapeHash" => {
            form.prefix = digits(cursor.text()?.unwrap_or_default());
            Ok(())
        }
        b"keep" => {
            form.repeated = cursor.count()?.unwrap_or(0);
            Ok(())
        }
        b"tail" => cursor.items(|cursor| {
            own += 1;
            cursor.skip()
        }),
        _ => cursor.skip(),
    })?;
    form.messages = form.repeated.saturating_add(own);
    Ok(form)
}

/// Returns the first digits of a hash; nothing of a text that is none.
fn digits(text: Text<'_>) -> String {
    let head = text.head(HASH_DIGITS);
    let is_hash = head.len() == HASH_DIGITS && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { head.into_owned() } else { String::new() }
}

/// Reads an `api-request-shape` row.
pub(super) fn shape(writer: &mut RowWriter<'_, '_>) {
    let Some((prefix, system_bytes, tools)) = writer.line.and_then(|line| sizes(line).ok()) else { return };
    if prefix.is_empty() {
        return;
    }
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (tool, bytes) in tools {
        let server =
            tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(server, _)| server);
        let server = server.and_then(|server| writer.rules.code(server)).unwrap_or_default();
        let server = if sums.len() < SERVERS || sums.contains_key(&server) { server } else { String::new() };
        let (count, size) = sums.entry(server).or_default();
        *count += 1;
        *size = size.saturating_add(bytes);
    }
    let tools = sums.into_iter().map(|(server, (count, bytes))| match server.as_str() {
        "" => json!({"tools": count, "bytes": bytes}),
        server => json!({"server": server, "tools": count, "bytes": bytes}),
    });
    let tools = Value::Array(tools.collect());
    writer.state.remember_shape(RequestShape { prefix, system_bytes, tools });
}

type Sizes = (String, u64, Vec<(String, u64)>);

/// Reads the sizes of the system prompt and of each tool.
fn sizes(line: &[u8]) -> Read<Sizes> {
    let (mut prefix, mut system_bytes, mut tools) = (String::new(), 0_u64, Vec::new());
    Cursor::new(line).members(|cursor, name| match &*name.name() {
        b"shapeHash" => {
            prefix = digits(cursor.text()?.unwrap_or_default());
            Ok(())
        }
        b"shape" => cursor.members(|cursor, name| match &*name.name() {
            b"system" => {
                system_bytes = cursor.raw()?.len() as u64;
                Ok(())
            }
            b"tools" => cursor.items(|cursor| {
                let tool = cursor.raw()?;
                let mut title = String::new();
                Cursor::new(tool).members(|cursor, name| match &*name.name() {
                    b"name" => {
                        title = cursor.text()?.unwrap_or_default().head(300).into_owned();
                        Ok(())
                    }
                    _ => cursor.skip(),
                })?;
                tools.push((title, tool.len() as u64));
                Ok(())
            }),
            _ => cursor.skip(),
        }),
        _ => cursor.skip(),
    })?;
    Ok((prefix, system_bytes, tools))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_read_as_counts() {
        let line = br#"{"type":"api-request","id":"r","shapeHash":"7743e866f801008b1ab93a2bdfc07b54","keep":4,"tail":["x","y"]}"#;
        let form = form(line).unwrap();
        assert_eq!((form.prefix.as_str(), form.repeated, form.messages), ("7743e866f801008b", 4, 6));
        assert_eq!(digits(Text::new(b"not a hash at all")), "");
    }

    #[test]
    fn shape_is_read_as_sizes() {
        let line = br#"{"type":"api-request-shape","shapeHash":"7743e866f801008b1a","shape":{"system":[{"text":"abc"}],"tools":[{"name":"Read","d":1},{"name":"mcp__demo__add"}]}}"#;
        let (prefix, system_bytes, tools) = sizes(line).unwrap();
        assert_eq!((prefix.as_str(), system_bytes), ("7743e866f801008b", 16));
        assert_eq!(tools, [("Read".to_owned(), 21), ("mcp__demo__add".to_owned(), 25)]);
    }
}
