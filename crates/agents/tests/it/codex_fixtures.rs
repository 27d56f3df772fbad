//! The captured Codex scenarios, and small ways to read them.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::codex::rollout::{RolloutReader, Row, Rules};
use agent_tracer_agents::files::{Line, LineSplitter};
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Entry, Kind, Millis, Reading, Subject};
use agent_tracer_privacy::{Config, Level, reduce};
use serde_json::Value;

/// The key under which contents are hashed in tests.
const KEY: [u8; 16] = *b"sixteen bytes ok";

pub(crate) const LEVELS: [Level; 3] = [Level::Metadata, Level::Actions, Level::Full];

/// Every file below the Codex fixtures with this ending, in order.
fn files(ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                walk(&path, ending, into);
            } else if path.to_str().unwrap().ends_with(ending) {
                into.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex"), ending, &mut found);
    assert!(!found.is_empty(), "there are fixtures that end with {ending}");
    found
}

fn name(path: &Path, ending: &str) -> String {
    path.file_name().unwrap().to_str().unwrap().trim_end_matches(ending).to_owned()
}

/// All rollouts: the scenario with `.child` and so on, and the content.
pub(crate) fn rollouts() -> Vec<(String, Vec<u8>)> {
    let paths = files(".jsonl").into_iter().filter(|path| path.parent().unwrap().ends_with("rollouts"));
    paths.map(|path| (name(&path, ".jsonl"), fs::read(path).unwrap())).collect()
}

/// One rollout.
pub(crate) fn rollout(scenario: &str) -> Vec<u8> {
    rollouts().into_iter().find(|(name, _)| name == scenario).unwrap().1
}

/// All captured sequences of hooks: the scenario, and time and payload of each.
pub(crate) fn hook_scenarios() -> Vec<(String, Vec<(Millis, Value)>)> {
    let read = |path: PathBuf| {
        let rows = fs::read_to_string(&path).unwrap();
        let rows = rows.lines().map(|row| {
            let row: Value = serde_json::from_str(row).unwrap();
            (Millis((row["t"].as_f64().unwrap() * 1000.0) as i64), row["payload"].clone())
        });
        (name(&path, ".hooks.jsonl"), rows.collect())
    };
    files(".hooks.jsonl").into_iter().map(read).collect()
}

/// All single payloads of hooks, one per event and variant.
pub(crate) fn hook_payloads() -> Vec<(String, Value)> {
    let paths = files(".json").into_iter().filter(|path| path.parent().unwrap().ends_with("payloads"));
    let parsed = paths.map(|path| {
        (name(&path, ".json"), serde_json::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap())
    });
    parsed.filter(|(_, payload)| payload.get("hook_event_name").is_some()).collect()
}

/// The true token totals: the scenario and what the API answered.
pub(crate) fn truths() -> Vec<(String, Value)> {
    let read = |path: PathBuf| {
        (name(&path, ".truth.json"), serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap())
    };
    files(".truth.json").into_iter().map(read).collect()
}

pub(crate) fn config(level: Level) -> Config {
    Config { level, ..Config::default() }
}

/// A payload as the hook would write it.
pub(crate) fn reduced(payload: &Value, level: Level) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = serde_json::to_vec(payload).unwrap();
    let source = agent_tracer_privacy::Source::Hook(Agent::CODEX);
    let reduction = reduce(&bytes, source, &config(level), &mut || KEY, &mut out);
    assert_eq!(reduction.fault, None, "{payload}");
    out
}

/// Reads the body of one hook.
pub(crate) fn read_hook(name: &str, at: Millis, body: &[u8]) -> Reading {
    let context = Context::default();
    read(&Observation {
        agent: Agent::CODEX,
        channel: Channel::Hook,
        name,
        arrived: at,
        source: Source::Hook,
        body,
        context: &context,
    })
}

/// Reads one hook after privacy.
pub(crate) fn read_payload(name: &str, at: Millis, payload: &Value, level: Level) -> Reading {
    read_hook(name, at, &reduced(payload, level))
}

/// Reads one row of a rollout.
pub(crate) fn read_row(reader: &mut RolloutReader, level: Level, row: &[u8], offset: u64) -> Row {
    let config = config(level);
    reader.read(&Rules { config: &config, hash_key: KEY, home_dir: None }, row, offset, Millis(0))
}

/// The lines of a rollout with their offsets.
pub(crate) fn lines(content: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut lines = Vec::new();
    LineSplitter::new(0).push(content, |line| match line {
        Line::Complete { bytes, offset } => lines.push((offset, bytes.to_vec())),
        Line::TooLong { .. } => panic!("no captured line is too long"),
    });
    lines
}

/// Reads a whole rollout and returns what became of each row.
pub(crate) fn read_rows(name: &str, content: &[u8], level: Level) -> Vec<Row> {
    let mut reader = RolloutReader::new(name);
    lines(content).iter().map(|(offset, row)| read_row(&mut reader, level, row, *offset)).collect()
}

/// Reads a whole rollout and returns what its rows say.
pub(crate) fn read_rollout(name: &str, content: &[u8], level: Level) -> Vec<Reading> {
    let rows = read_rows(name, content, level).into_iter();
    let read = rows.filter_map(|row| match row {
        Row::Read(reading) => Some(reading),
        Row::Skipped | Row::Copied | Row::Excluded => None,
        Row::Malformed => panic!("{name} holds a row that is no JSON"),
    });
    read.collect()
}

/// The entries of a whole rollout.
pub(crate) fn entries(name: &str, content: &[u8], level: Level) -> Vec<Entry> {
    read_rollout(name, content, level).into_iter().flat_map(|reading| reading.entries).collect()
}

/// The thread of rows that are written by hand.
pub(crate) const THREAD: &str = "01a1e0b3-0708-7a91-bca0-aa31b76b9484";

/// Rows written by hand: each is a type and a payload, a second apart, with ordinals.
pub(crate) fn written(rows: &[(&str, Value)]) -> Vec<u8> {
    let mut content = Vec::new();
    for (ordinal, (kind, payload)) in rows.iter().enumerate() {
        let row = serde_json::json!({
            "timestamp": Millis(1_794_771_191_000 + 1000 * ordinal as i64).to_string(),
            "ordinal": ordinal,
            "type": kind,
            "payload": payload,
        });
        content.extend_from_slice(row.to_string().as_bytes());
        content.push(b'\n');
    }
    content
}

pub(crate) fn is(entry: &Entry, kind: Kind) -> bool {
    entry.subject == Subject::Event(kind)
}

/// Returns whether an entry is about a tool call.
pub(crate) fn is_call(entry: &Entry) -> bool {
    entry.key.starts_with("tool:")
}
