//! Codex's `apply_patch`: which files it adds, changes, moves and deletes.
//!
//! Only the header lines of a patch are ever looked at (`*** Add File: …`). After privacy they are all that is left of
//! it, in a list called `files`; a patch that is still whole is read for the same lines and nothing else.

use agent_tracer_event::attributes;
use agent_tracer_event::semantics::{EntityType, Importance, SubtypeKey};
use serde_json::{Map, Value};

use super::Meaning;
use super::input::{Input, PATHS};
use super::row::{FILE, Row};
use crate::text::line;

/// The most header lines that are looked at.
const HEADERS: usize = 200;
const INPUT: &[&str] = &["command", "input", "patch"];

const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";

pub(super) const TABLE: &[Row] = &[Row {
    names: &["apply_patch"],
    subtype: SubtypeKey::ApplyPatch,
    operation: "patch",
    title: |input| title(&changes(&patch_headers(input))),
    also: Some(write),
    ..FILE
}];

/// Describes what a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file, as the patch names it.
    pub path: String,
    /// create, modify, delete or rename.
    pub operation: &'static str,
    /// Holds where the file goes, if it is moved.
    pub to: Option<String>,
}

/// Returns the header lines of a patch: from its text, or from the list that privacy left of it.
#[must_use]
pub fn headers(patch: &Value) -> Vec<String> {
    let is_header = |line: &&str| [ADD, UPDATE, DELETE, MOVE].iter().any(|header| line.starts_with(header));
    let lines: Vec<&str> = match patch {
        Value::String(text) => text.lines().filter(is_header).take(HEADERS).collect(),
        Value::Object(reduced) => {
            let files = reduced.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            files.iter().filter_map(Value::as_str).filter(is_header).take(HEADERS).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Vec::new(),
    };
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Returns what the header lines of a patch say.
#[must_use]
pub fn changes(headers: &[String]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for header in headers {
        let change = |path: &str, operation| Change { path: path.trim().to_owned(), operation, to: None };
        if let Some(path) = header.strip_prefix(ADD) {
            changes.push(change(path, "create"));
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            changes.push(change(path, "modify"));
        } else if let Some(path) = header.strip_prefix(DELETE) {
            changes.push(change(path, "delete"));
        } else if let Some(to) = header.strip_prefix(MOVE)
            && let Some(last) = changes.last_mut()
            // A move stands behind the update of the same file and nowhere else.
            && last.operation == "modify"
        {
            last.operation = "rename";
            last.to = Some(to.trim().to_owned());
        }
    }
    changes.retain(|change| !change.path.is_empty());
    changes
}

/// Returns the headers of the call's patch, wherever in the input it stands.
fn patch_headers(input: &Input<'_>) -> Vec<String> {
    // Files of a session have the patch as the whole input, hooks under a name.
    let inside = || input.get(INPUT).map(headers).unwrap_or_default();
    let whole = headers(input.value);
    if whole.is_empty() { inside() } else { whole }
}

fn title(changes: &[Change]) -> String {
    match changes {
        [] => "Apply a patch".to_owned(),
        [only] => match (only.operation, &only.to) {
            ("create", _) => format!("Create {}", only.path),
            ("delete", _) => format!("Delete {}", only.path),
            (_, Some(to)) => format!("Move {} to {to}", only.path),
            (_, None) => format!("Edit {}", only.path),
        },
        several => {
            let names: Vec<&str> =
                several.iter().map(|change| crate::text::base_name(&change.path)).collect();
            format!("Patch {} files: {}", several.len(), names.join(", "))
        }
    }
}

fn write(input: &Input<'_>, meaning: &mut Meaning) {
    let changes = changes(&patch_headers(input));
    let mut listed = Vec::new();
    for change in changes.iter().take(PATHS) {
        let mut row = Map::new();
        row.insert("path".to_owned(), Value::from(input.stored_path(&change.path)));
        row.insert("operation".to_owned(), Value::from(change.operation));
        for path in std::iter::once(&change.path).chain(&change.to) {
            let path = input.stored_path(path);
            if !meaning.file_paths.contains(&path) {
                meaning.file_paths.push(path);
            }
        }
        if let Some(to) = &change.to {
            row.insert("to".to_owned(), Value::from(input.stored_path(to)));
        }
        listed.push(Value::Object(row));
    }
    meaning.file_paths.truncate(PATHS);
    if let [first, rest @ ..] = changes.as_slice() {
        if rest.iter().all(|change| change.operation == first.operation) {
            meaning.semantics.operation = first.operation.to_owned();
        }
        if rest.is_empty() {
            let shown = first.to.as_deref().unwrap_or(&first.path);
            meaning.semantics.entity = Some((EntityType::File, line(input.display_path(shown), 300)));
        }
        if changes.iter().any(|change| change.operation == "delete") {
            meaning.semantics.importance = Importance::Critical;
        }
        meaning.metadata.insert(attributes::FILE_OPERATIONS.to_owned(), Value::Array(listed));
        // Of all files, so that a list that was cut shows as one.
        meaning.metadata.insert(attributes::FILE_COUNT.to_owned(), Value::from(changes.len()));
    }
    for name in ["bytes", "lines"] {
        let size = input.get(INPUT).and_then(|patch| patch.get(name)).and_then(super::input::integer);
        if let Some(size) = size {
            let key = if name == "bytes" { attributes::PATCH_BYTES } else { attributes::PATCH_LINES };
            meaning.metadata.insert(key.to_owned(), Value::from(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Update File: notes/hello.txt\n*** Move to: notes/renamed.txt\n@@\n \
                         hello\n-world\n+codex\n*** Add File: src/extra.txt\n+*** Delete File: not a header\n*** \
                         Delete File: old.txt\n*** End Patch\n";

    #[test]
    fn headers_say_what_happens_to_each_file() {
        let change = |path: &str, operation, to: Option<&str>| Change {
            path: path.to_owned(),
            operation,
            to: to.map(str::to_owned),
        };
        let expected = [
            change("notes/hello.txt", "rename", Some("notes/renamed.txt")),
            change("src/extra.txt", "create", None),
            change("old.txt", "delete", None),
        ];
        assert_eq!(changes(&headers(&json!(PATCH))), expected);
        let reduced = json!({"bytes": 9, "lines": 3, "hash": "0", "files": [
            "*** Update File: notes/hello.txt", "*** Move to: notes/renamed.txt", "*** Add File: src/extra.txt",
            "*** Delete File: old.txt"]});
        assert_eq!(changes(&headers(&reduced)), expected);
    }

    #[test]
    fn odd_patches_are_no_changes() {
        for odd in [
            json!(null),
            json!(3),
            json!({"files": 3}),
            json!({"files": [1, null, "Add File: x"]}),
            json!(""),
        ] {
            assert_eq!(changes(&headers(&odd)), [], "{odd}");
        }
        assert_eq!(changes(&["*** Move to: nowhere".to_owned(), "*** Add File:  ".to_owned()]), []);
    }
}
