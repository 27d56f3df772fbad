//! Patches by what they did to each file. Contents and differences are only measured.

use agent_tracer_event::{CallState, Entry, attributes};
use serde_json::{Map, Value, json};

use super::calls::HookCall;
use super::items::{End, close, end, id_of, path_of};
use super::outputs::{quantities, say_end};
use super::writer::RolloutWriter;
use crate::codex::facts::put;
use crate::codex::wire::Members;
use crate::text::relative;

/// Reads a patch that was applied, or not: `FileChange`.
pub(super) fn item(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let end = end(writer, row, item, "FileChange");
    let entry = patched(writer, &id, item, &end, "item_completed FileChange");
    say_end(writer, entry);
}

/// Returns what a patch did, by file. Contents and differences are only measured.
pub(super) fn patched(
    writer: &mut RolloutWriter<'_>,
    id: &str,
    item: &Members<'_>,
    end: &End,
    reason: &str,
) -> Entry {
    let mut headers = Vec::new();
    let mut paths: Vec<String> = Vec::new();
    let mut files = Vec::new();
    let cwd = writer.state.cwd.clone();
    let changes = item.members("changes").unwrap_or_default();
    for (path, change) in changes.iter().take(FILES) {
        let full = writer.rules.word(&path_of(path));
        let path = relative(&full, &[cwd.as_deref()]);
        let change = Members::parse(change.get()).unwrap_or_default();
        let kind = change.word("type").unwrap_or_default();
        writer.expect_known("FileChange.type", &kind, &["add", "update", "delete"]);
        let moved = change.word("move_path").map(|to| writer.rules.word(&path_of(&to)));
        let (header, operation) = match kind.as_ref() {
            "add" => ("Add", "create"),
            "delete" => ("Delete", "delete"),
            _ if moved.is_some() => ("Update", "rename"),
            _ => ("Update", "modify"),
        };
        headers.push(format!("*** {header} File: {path}"));
        if let Some(to) = &moved {
            headers.push(format!("*** Move to: {}", relative(to, &[cwd.as_deref()])));
        }
        paths.extend(std::iter::once(&full).chain(&moved).cloned());
        let mut file = Map::new();
        put(&mut file, "path", Some(full));
        put(&mut file, "operation", Some(operation));
        put(&mut file, "to", moved);
        let content = change.text("content");
        put(&mut file, "bytes", content.as_ref().map(|content| content.len()));
        put(&mut file, "lines", content.as_ref().map(|content| content.lines().count()));
        if let Some(diff) = change.text("unified_diff") {
            let count = |sign: char| diff.lines().filter(|line| line.starts_with(sign)).count();
            put(&mut file, "linesAdded", Some(count('+')));
            put(&mut file, "linesRemoved", Some(count('-')));
        }
        files.push(Value::Object(file));
    }
    let known = writer.state.call(id).is_some();
    let hook_call = HookCall::new("apply_patch", json!({"command": headers_of(&headers)}).to_string());
    let mut entry = close(writer, id, &hook_call, end, reason);
    if !known {
        // Made up from what happened: it must not pass for what was asked.
        entry.metadata.remove(attributes::TOOL_INPUT);
        entry.metadata.remove(attributes::CALL_SIGNATURE);
        for name in [attributes::PATCH_BYTES, attributes::PATCH_LINES] {
            entry.metadata.remove(name);
        }
    }
    // A patch inside a shell command names its files only here.
    entry.file_paths = paths;
    put(&mut entry.metadata, attributes::FILE_CHANGES, (!files.is_empty()).then_some(files));
    let size = |name: &str| item.text(name).map_or(0, |text| text.len());
    put(&mut entry.metadata, attributes::OUTPUT_BYTES, Some(size("stdout") + size("stderr")));
    if end.state == CallState::Failed {
        let why = item.text("stderr").unwrap_or_default();
        for (name, value) in quantities(writer, "apply_patch", &why, end.state, None) {
            entry.metadata.entry(name).or_insert(value);
        }
    }
    entry
}

/// The most files of one patch that are kept.
const FILES: usize = 100;

fn headers_of(headers: &[String]) -> String {
    format!("*** Begin Patch\n{}\n*** End Patch\n", headers.join("\n"))
}
