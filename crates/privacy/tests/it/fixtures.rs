//! Every captured payload, and the shortest way to reduce one.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Config, Level, Reduction, Source, reduce};
use serde_json::Value;

/// A captured payload.
pub(crate) struct Case {
    /// The source of the payload.
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) payload: Value,
}

impl Case {
    pub(crate) fn event(&self) -> &str {
        self.payload["hook_event_name"].as_str().unwrap_or("")
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// Rows `{payload, channel?}` of a captured sequence.
fn rows(path: &Path, default: Source, out: &mut Vec<Case>) {
    let text = fs::read_to_string(path).expect("a captured sequence");
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut row: Value = serde_json::from_str(line).expect("a row");
        let source = if row["channel"] == "statusline" { Source::StatusLine } else { default };
        out.push(Case {
            name: format!("{}:{number}", path.display()),
            source,
            payload: row["payload"].take(),
        });
    }
}

/// One payload per file.
fn files(folder: &Path, default: Source, out: &mut Vec<Case>) {
    for path in
        entries(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"))
    {
        let payload: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("a payload")).expect("JSON");
        let statusline =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("StatusLine"));
        let source = if statusline { Source::StatusLine } else { default };
        if payload.is_object() {
            out.push(Case { name: path.display().to_string(), source, payload });
        }
    }
}

/// The payloads that were kept one by one: each event in each of its variants.
pub(crate) fn variants() -> Vec<Case> {
    let mut cases = Vec::new();
    files(&folder().join("claude-code/2.1.325-payloads"), Source::Hook(Agent::CLAUDE_CODE), &mut cases);
    files(&folder().join("codex/0.166.0/payloads"), Source::Hook(Agent::CODEX), &mut cases);
    assert!(cases.len() > 150, "{} variants were found", cases.len());
    cases
}

/// Everything that was captured from the hooks and status lines of both agents.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = variants();
    for version in ["2.1.197", "2.1.325"] {
        for scenario in entries(&folder().join("claude-code").join(version)) {
            let path = scenario.join("hooks.jsonl");
            if path.exists() {
                rows(&path, Source::Hook(Agent::CLAUDE_CODE), &mut cases);
            }
        }
    }
    for version in ["0.166.0", "0.169.0"] {
        for path in entries(&folder().join("codex").join(version).join("hooks")) {
            rows(&path, Source::Hook(Agent::CODEX), &mut cases);
        }
    }
    assert!(cases.len() > 1500, "{} payloads were found", cases.len());
    cases
}

/// The key of every test.
pub(crate) const KEY: [u8; 16] = [7; 16];

pub(crate) fn at(level: Level) -> Config {
    Config { level, ..Config::default() }
}

pub(crate) fn run(input: &[u8], source: Source, level: Level) -> (Reduction, Vec<u8>) {
    let mut out = Vec::new();
    let reduction = reduce(input, source, &at(level), &mut || KEY, &mut out);
    (reduction, out)
}

/// Reduces a payload that is understood, and reads the answer.
pub(crate) fn reduced(input: &str, source: Source, level: Level) -> Value {
    let (reduction, out) = run(input.as_bytes(), source, level);
    assert_eq!(reduction.fault, None, "{input}");
    let text = String::from_utf8(out).expect("UTF-8");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Reduces a payload of Claude Code at the default level.
pub(crate) fn claude(payload: &Value) -> Value {
    reduced(&payload.to_string(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions)
}

/// Reduces a payload of Codex at the default level.
pub(crate) fn codex(payload: &Value) -> Value {
    reduced(&payload.to_string(), Source::Hook(Agent::CODEX), Level::Actions)
}
