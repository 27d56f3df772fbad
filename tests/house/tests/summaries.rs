//! Summaries of functions begin with a verb in the third person.
//!
//! Law: each room has an allowance of summaries that begin otherwise, and it only ever shrinks. A room that is not named
//! has none.

use std::collections::BTreeMap;
use std::fs;

use super::{root, words};

/// First words that name a thing or state a law, where the reader asks what the function does.
const OPENINGS: &[&str] =
    &["The", "A", "An", "Every", "All", "One", "Those", "Its", "From", "True", "Why", "Everybody"];

/// Beginnings of two words: "Returns `true` if …" says the same in the words of a signature.
const CLAUSES: &[&str] = &["Tells whether", "Says whether"];

/// How many summaries of each room still begin so.
///
/// To lower it: begin them with a verb, run `cargo test -p agent-tracer-house summaries` and write the printed count here.
const ALLOWED: &[(&str, usize)] = &[
    ("bench", 41),
    ("crates/agents", 49),
    ("crates/cli", 60),
    ("crates/hook", 2),
    ("crates/jobs", 1),
    ("crates/ledger", 1),
    ("crates/prices", 3),
    ("crates/privacy", 12),
    ("crates/server", 16),
    ("crates/shell", 4),
    ("crates/spool", 8),
    ("fuzz", 3),
    ("tests", 2),
];

#[test]
fn summaries_of_functions_begin_with_a_verb() {
    let root = root();
    let mut files = Vec::new();
    words::collect(&root, &mut files);
    let mut rooms: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let inside = path.strip_prefix(&root).expect("a file of the tree").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("text");
        let found = summaries(&text).filter(|(_, summary)| !begins_with_verb(summary));
        let found = found.map(|(line, summary)| format!("{inside}:{line}: {summary}"));
        rooms.entry(words::room_of(&inside)).or_default().extend(found);
    }
    let allowed: BTreeMap<&str, usize> = ALLOWED.iter().copied().collect();
    let mut failures = String::new();
    for (room, found) in &rooms {
        let limit = allowed.get(room.as_str()).copied().unwrap_or(0);
        if found.len() > limit {
            let shown: Vec<&str> = found.iter().take(40).map(String::as_str).collect();
            failures.push_str(&format!(
                "`{room}` has {} summaries of functions that begin without a verb, {limit} are allowed:\n  {}\n",
                found.len(),
                shown.join("\n  ")
            ));
        }
    }
    let counts = allowed.iter().map(|(room, limit)| (*room, rooms.get(*room).map_or(0, Vec::len), *limit));
    words::report_progress("summaries", counts);
    assert!(failures.is_empty(), "{failures}hint: begin with a verb: Returns, Reads, Writes, Builds");
}

fn begins_with_verb(summary: &str) -> bool {
    let first = summary.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    !OPENINGS.contains(&first) && !CLAUSES.iter().any(|clause| summary.starts_with(clause))
}

/// Returns the first line of the documentation of each function, with its number.
fn summaries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    let mut begin = None;
    for (number, line) in lines.iter().enumerate() {
        if let Some(summary) = line.strip_prefix("///") {
            begin = begin.or(Some((number + 1, summary.trim())));
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            found.extend(begin.take().filter(|_| declares_function(line)));
        }
    }
    found.into_iter()
}

/// Returns `true` if a line declares a function, whatever stands before `fn`.
fn declares_function(line: &str) -> bool {
    let before = line.split(['(', '<', '"']).next().unwrap_or_default();
    let qualifiers = ["pub", "default", "const", "async", "unsafe", "extern", "crate)", "super)"];
    let line = if before == "pub" { line.split_once(") ").map_or(line, |(_, rest)| rest) } else { line };
    line.split_whitespace().find(|word| !qualifiers.contains(word) && !word.starts_with('"')) == Some("fn")
}

#[test]
fn the_first_words_of_functions_are_found() {
    let text = "/// The sum.\n#[must_use]\npub(crate) const fn sum() {}\n/// The number.\nstruct Number;\n\
                /// Returns it.\nfn it() {}\n/// Says whether it is.\n/// More.\nasync fn is() {}\n";
    let found: Vec<(usize, &str)> = summaries(text).collect();
    assert_eq!(found, [(1, "The sum."), (6, "Returns it."), (8, "Says whether it is.")]);
    let verbs: Vec<bool> = found.iter().map(|(_, summary)| begins_with_verb(summary)).collect();
    assert_eq!(verbs, [false, true, false]);
}
