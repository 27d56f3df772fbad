//! Tools that read and change files.

use agent_tracer_event::semantics::{EntityType, SubtypeKey};
use agent_tracer_event::{Metadata, attributes};
use serde_json::Value;

use super::input::{Input, integer};
use super::row::{EXPLORE, FILE, Row, flag, id, number, text};
use super::{Meaning, skills};

const PATH: &[&str] = &["file_path", "filePath", "path"];
const NOTEBOOK: &[&str] = &["notebook_path", "notebookPath", "file_path"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["Read", "read_file", "ReadFile", "FileRead"],
        subtype: SubtypeKey::ReadFile,
        operation: "read",
        entity: Some((EntityType::File, PATH)),
        files: &["file_path", "filePath", "path"],
        keep: &[
            number(&["offset"], attributes::READ_OFFSET),
            number(&["limit"], attributes::READ_LIMIT),
            text(&["pages"], attributes::READ_PAGES, 100),
        ],
        title: |input| format!("Read {}{}", path(input, PATH, "a file"), range(input)),
        also: Some(skill_read),
        ..EXPLORE
    },
    Row {
        names: &["NotebookRead"],
        subtype: SubtypeKey::ReadFile,
        operation: "read",
        entity: Some((EntityType::File, NOTEBOOK)),
        files: NOTEBOOK,
        title: |input| format!("Read notebook {}", path(input, NOTEBOOK, "")),
        ..EXPLORE
    },
    Row {
        names: &["view_image"],
        subtype: SubtypeKey::ReadFile,
        label: Some("View image"),
        operation: "read",
        entity: Some((EntityType::File, PATH)),
        files: PATH,
        title: |input| format!("Look at {}", path(input, PATH, "an image")),
        ..EXPLORE
    },
    Row {
        names: &["Write", "FileWrite", "write_file", "create_file"],
        subtype: SubtypeKey::CreateFile,
        operation: "create",
        entity: Some((EntityType::File, PATH)),
        files: PATH,
        title: |input| format!("Write {}", path(input, PATH, "a file")),
        also: Some(|input, meaning| size(input, &["content", "file_text"], &mut meaning.metadata)),
        ..FILE
    },
    Row {
        names: &["Edit", "FileEdit", "str_replace", "edit_file"],
        entity: Some((EntityType::File, PATH)),
        files: PATH,
        keep: &[flag(&["replace_all", "replaceAll"], attributes::EDIT_REPLACE_ALL)],
        title: |input| format!("Edit {}", path(input, PATH, "a file")),
        also: Some(edited_lines),
        ..FILE
    },
    Row {
        names: &["MultiEdit"],
        entity: Some((EntityType::File, PATH)),
        files: PATH,
        title: |input| {
            let edits = input.list(&["edits"]).map_or(0, <[Value]>::len);
            let times = if edits > 1 { format!(" ({edits} changes)") } else { String::new() };
            format!("Edit {}{times}", path(input, PATH, "a file"))
        },
        keep: &[super::row::count(&["edits"], attributes::EDIT_COUNT)],
        ..FILE
    },
    Row {
        names: &["NotebookEdit"],
        label: Some("Edit notebook"),
        entity: Some((EntityType::File, NOTEBOOK)),
        files: NOTEBOOK,
        keep: &[
            id(&["cell_id", "cellId"], attributes::NOTEBOOK_CELL_ID),
            text(&["cell_type"], attributes::NOTEBOOK_CELL_TYPE, 40),
            text(&["edit_mode"], attributes::NOTEBOOK_EDIT_MODE, 40),
        ],
        title: |input| {
            let what = match input.text(&["edit_mode"]) {
                Some("insert") => "Add a cell to",
                Some("delete") => "Delete a cell of",
                _ => "Edit notebook",
            };
            format!("{what} {}", path(input, NOTEBOOK, "a notebook"))
        },
        also: Some(|input, meaning| size(input, &["new_source"], &mut meaning.metadata)),
        ..FILE
    },
];

/// Returns the path as people read it, or what to say without one.
fn path<'a>(input: &Input<'a>, keys: &[&str], without: &'a str) -> &'a str {
    input.text(keys).map_or(without, |path| input.display_path(path))
}

/// Returns which part of the file, in words.
fn range(input: &Input<'_>) -> String {
    if let Some(pages) = input.id(&["pages"]) {
        return format!(" (pages {pages})");
    }
    // The client counts lines from one; zero and negative offsets mean the beginning.
    let offset = input.number(&["offset"]).filter(|offset| *offset > 0);
    let limit = input.number(&["limit"]).filter(|limit| *limit > 0);
    match (offset, limit) {
        (Some(from), Some(1)) => format!(" (line {from})"),
        (Some(from), Some(count)) => {
            format!(" (lines {from}–{})", from.saturating_add(count).saturating_sub(1))
        }
        (Some(from), None) => format!(" (from line {from})"),
        (None, Some(1)) => " (first line)".to_owned(),
        (None, Some(count)) => format!(" (first {count} lines)"),
        (None, None) => String::new(),
    }
}

/// Adds the skill that a read activates; the tool that names it does so too.
fn skill_read(input: &Input<'_>, meaning: &mut Meaning) {
    if let Some(skill) = input.text(PATH).and_then(skills::name_of_file) {
        skills::mark(&mut meaning.metadata, &skill, skills::Activation::Read);
    }
}

/// Bytes and lines of a text that privacy has already reduced, or of the text itself.
pub(super) fn measure(value: &Value) -> (Option<i64>, Option<i64>) {
    match value {
        Value::String(text) => (i64::try_from(text.len()).ok(), i64::try_from(text.lines().count()).ok()),
        Value::Object(reduced) => {
            (reduced.get("bytes").and_then(integer), reduced.get("lines").and_then(integer))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => (None, None),
    }
}

fn size(input: &Input<'_>, keys: &[&str], metadata: &mut Metadata) {
    let Some(value) = input.get(keys) else { return };
    let (bytes, lines) = measure(value);
    if let Some(bytes) = bytes {
        metadata.insert(attributes::CONTENT_BYTES.to_owned(), Value::from(bytes));
    }
    if let Some(lines) = lines {
        metadata.insert(attributes::CONTENT_LINES.to_owned(), Value::from(lines));
    }
}

/// Writes how many lines went and came. Not said of a replacement of all, which the input cannot count.
fn edited_lines(input: &Input<'_>, meaning: &mut Meaning) {
    if input.flag(&["replace_all", "replaceAll"]) == Some(true) {
        return;
    }
    for (keys, name) in [
        (&["old_string", "oldString"], attributes::LINES_REMOVED),
        (&["new_string", "newString"], attributes::LINES_ADDED),
    ] {
        if let Some(lines) = input.get(keys).and_then(|value| measure(value).1) {
            meaning.metadata.insert(name.to_owned(), Value::from(lines));
        }
    }
}
