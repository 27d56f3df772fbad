//! Reads the changes of files and the commits of a call from the structured result that the client keeps beside its
//! text.
//!
//! Lines of a difference are counted, and nothing of them is kept.

use agent_tracer_event::{Entry, attributes};
use serde_json::{Map, Value};

use super::scan::{Cursor, Read};
use super::text::Text;
use super::writer::{RowWriter, absolute_path, put};
use crate::tools::commits;

/// The most files of one result that are listed.
const FILES: usize = 100;
/// The most bytes of an output that are searched for commits.
const OUTPUT_BYTES: usize = 64 * 1024;

/// Lines that came and went in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileDiff<'a> {
    path: Text<'a>,
    is_new: bool,
    has_hunks: bool,
    added: u64,
    removed: u64,
}

/// Adds the changed lines by file to the end of a call.
pub(super) fn changed_lines(writer: &RowWriter<'_, '_>, result: &[u8], entry: &mut Entry) {
    let Ok(diffs) = diffs(result) else { return };
    let files: Vec<Value> = diffs
        .iter()
        // A file that was written again as it was has a path and no hunk: it did not change.
        .filter(|diff| diff.is_new || diff.has_hunks)
        .filter_map(|diff| Some((diff, absolute_path(writer.rules, &diff.path.decode())?)))
        .take(FILES)
        .map(|(diff, path)| {
            let mut file = Map::new();
            put(&mut file, "path", path);
            put(&mut file, "operation", if diff.is_new { "create" } else { "modify" });
            put(&mut file, "linesAdded", diff.added);
            put(&mut file, "linesRemoved", diff.removed);
            Value::Object(file)
        })
        .collect();
    if !files.is_empty() {
        entry.metadata.insert(attributes::FILE_CHANGES.to_owned(), Value::Array(files));
    }
}

/// Adds the hashes of commits to the end of a call that makes commits.
pub(super) fn committed(output: Text<'_>, entry: &mut Entry) {
    let hashes = commits::hashes(&output.head(OUTPUT_BYTES));
    if !hashes.is_empty() {
        entry.metadata.insert(attributes::COMMIT_HASHES.to_owned(), Value::from(hashes));
    }
}

/// Returns the standard output in a structured result of a shell.
pub(super) fn output_of(result: &[u8]) -> Option<Text<'_>> {
    let mut output = None;
    let read = Cursor::new(result).members(|cursor, name| match &*name.name() {
        b"stdout" => {
            output = cursor.text()?;
            Ok(())
        }
        _ => cursor.skip(),
    });
    read.ok().and(output)
}

/// Reads the differences in a result: that of an edit or a written file, or those that a command made.
fn diffs(result: &[u8]) -> Read<Vec<FileDiff<'_>>> {
    let mut all = Vec::new();
    let mut own = FileDiff::default();
    let mut content = 0;
    Cursor::new(result).members(|cursor, name| match &*name.name() {
        b"filePath" => {
            own.path = cursor.text()?.unwrap_or_default();
            Ok(())
        }
        b"type" => {
            own.is_new = cursor.text()?.is_some_and(|kind| kind.is("create"));
            Ok(())
        }
        b"content" if cursor.peek() == Some(b'"') => {
            content = cursor.string()?.decode().lines().count() as u64;
            Ok(())
        }
        b"structuredPatch" => hunks(cursor, &mut own),
        b"bashEditDiff" => cursor.members(|cursor, name| match &*name.name() {
            b"files" => cursor.items(|cursor| {
                all.push(file(cursor)?);
                Ok(())
            }),
            _ => cursor.skip(),
        }),
        _ => cursor.skip(),
    })?;
    // There is no hunk against a file that did not exist.
    if own.is_new && !own.has_hunks {
        own.added = content;
    }
    all.push(own);
    Ok(all)
}

fn file<'a>(cursor: &mut Cursor<'a>) -> Read<FileDiff<'a>> {
    let mut diff = FileDiff::default();
    cursor.members(|cursor, name| match &*name.name() {
        b"filePath" => {
            diff.path = cursor.text()?.unwrap_or_default();
            Ok(())
        }
        b"created" => {
            diff.is_new = cursor.flag()?.unwrap_or(false);
            Ok(())
        }
        b"hunks" => hunks(cursor, &mut diff),
        _ => cursor.skip(),
    })?;
    Ok(diff)
}

fn hunks(cursor: &mut Cursor<'_>, diff: &mut FileDiff<'_>) -> Read<()> {
    cursor.items(|cursor| {
        diff.has_hunks = true;
        cursor.members(|cursor, name| match &*name.name() {
            b"lines" => cursor.items(|cursor| {
                let line = cursor.text()?.unwrap_or_default();
                match line.raw().first() {
                    Some(b'+') => diff.added += 1,
                    Some(b'-') => diff.removed += 1,
                    _ => {}
                }
                Ok(())
            }),
            _ => cursor.skip(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(result: &str) -> Vec<(String, bool, u64, u64)> {
        let diffs = diffs(result.as_bytes()).unwrap().into_iter().filter(|diff| !diff.path.is_empty());
        diffs.map(|diff| (diff.path.to_string(), diff.is_new, diff.added, diff.removed)).collect()
    }

    #[test]
    fn lines_of_edits_writes_and_commands_are_counted() {
        let edit = r#"{"filePath":"/a","oldString":"b","structuredPatch":[{"oldStart":1,"lines":[" x","-b","+c","+d"]}]}"#;
        assert_eq!(lines(edit), [("/a".to_owned(), false, 2, 1)]);
        let write = r#"{"type":"create","filePath":"/a","content":"x\ny\n","structuredPatch":[]}"#;
        assert_eq!(lines(write), [("/a".to_owned(), true, 2, 0)]);
        let command = r#"{"stdout":"","bashEditDiff":{"files":[{"filePath":"/o","hunks":[{"lines":["+new"]}],"created":true},{"filePath":"/w","hunks":[{"lines":[" A","-B"]}]}],"moreFiles":0}}"#;
        assert_eq!(lines(command), [("/o".to_owned(), true, 1, 0), ("/w".to_owned(), false, 0, 1)]);
    }

    #[test]
    fn output_of_a_shell_is_found() {
        let output = output_of(br#"{"stdout":"[main 1a2b3c4] x","stderr":""}"#).unwrap();
        assert_eq!(output.decode(), "[main 1a2b3c4] x");
        assert_eq!(output_of(b"[1]"), None);
    }
}
