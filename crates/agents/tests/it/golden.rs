//! Everything under `fixtures/`, read and compared: what the readers make of it is written down in `fixtures/golden/`.
//!
//! A golden file is a snapshot with one line per entry, as a person would want to read it. `INSTA_UPDATE=always cargo test
//! -p agent-tracer-agents golden` accepts what differs; look at every line of the difference before keeping it.

mod attributes;
mod lines;
mod otlp;
mod scenarios;
mod seeds;
mod truth;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use scenarios::{Scenario, all, fixtures};

fn golden_dir() -> PathBuf {
    fixtures().join("golden")
}

fn golden_file(scenario: &Scenario) -> PathBuf {
    golden_dir().join(format!("{}.snap", scenario.name))
}

/// Every file below a folder.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, into) } else { into.push(path) }
    }
}

/// Files that no reader of this crate reads, by the beginning of their name, and why.
const UNREAD: &[(&str, &str)] = &[
    ("README.md", "prose"),
    ("golden/", "what came out"),
    ("codex/0.166.0/payloads/appserver.", "the app server is no channel of ours"),
    ("codex/0.166.0/payloads/exec_json.", "the output of exec is no channel of ours"),
    ("codex/0.166.0/payloads/notify.", "notify is older than hooks and says less"),
    ("seeds/ingest/", "posted to the server, which reads it"),
];

#[test]
fn every_fixture_is_read() {
    let read: BTreeSet<String> =
        all().into_iter().flat_map(|scenario| scenario.parts).map(|part| part.path).collect();
    let mut paths = Vec::new();
    files(&fixtures(), &mut paths);
    assert!(paths.len() > 700, "{}", paths.len());
    for path in paths {
        let name = path.strip_prefix(fixtures()).unwrap().to_str().unwrap().to_owned();
        let unread = UNREAD.iter().any(|(start, _)| name.starts_with(start)) || name.ends_with("truth.json");
        assert_eq!(read.contains(&name), !unread, "{name}");
    }
}

/// Holds what Codex was made to call in `unknown_tool` exists nowhere.
const UNKNOWN_ON_PURPOSE: &[(&str, &str)] = &[("codex/0.166.0/unknown_tool", "Tool(\"no_such_tool\")")];

#[test]
fn nothing_that_was_captured_is_unrecognised() {
    for scenario in all() {
        for part in &scenario.parts {
            for (label, reading) in &part.readings {
                let unknown: Vec<String> =
                    reading.unrecognised.iter().map(|what| format!("{what:?}")).collect();
                let expected = UNKNOWN_ON_PURPOSE.iter().any(|(name, what)| {
                    *name == scenario.name && unknown.iter().all(|unknown| unknown == what)
                });
                assert!(expected || unknown.is_empty(), "{} {label}: {unknown:?}", part.path);
            }
        }
    }
}

#[test]
fn every_fixture_says_what_its_golden_file_says() {
    let mut expected = BTreeSet::new();
    for scenario in all() {
        let path = golden_file(&scenario);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(path.parent().unwrap());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let name = path.file_stem().unwrap().to_str().unwrap();
        settings.bind(|| insta::assert_snapshot!(name, lines::render(&scenario)));
        expected.insert(path);
    }
    let mut there = Vec::new();
    files(&golden_dir(), &mut there);
    there.retain(|path| path.extension().is_some_and(|ending| ending == "snap") && !expected.contains(path));
    assert!(there.is_empty(), "golden files of no fixture: {there:?}\nhint: delete them");
}

#[test]
fn every_title_is_one_short_line_without_a_full_stop() {
    for scenario in all() {
        for (label, reading) in scenario.parts.iter().flat_map(|part| &part.readings) {
            for entry in &reading.entries {
                let Some(title) = entry.title.as_deref() else { continue };
                assert!(!title.is_empty() && title.trim() == title, "{} {label}: {title:?}", scenario.name);
                assert!(title.chars().count() <= 120, "{} {label}: {title:?}", scenario.name);
                assert!(!title.contains(char::is_control), "{} {label}: {title:?}", scenario.name);
            }
        }
    }
}
