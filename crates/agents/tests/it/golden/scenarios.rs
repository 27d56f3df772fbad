//! The fixtures, gathered by what happened together, each file read by its reader at the usual level of privacy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::claude::transcript::{Place, RowReading, TranscriptReader, read_meta};
use agent_tracer_agents::codex::rollout::{RolloutReader, Row};
use agent_tracer_agents::files::{Line, LineSplitter};
use agent_tracer_agents::otlp::{Record, Signal};
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis, Reading};
use agent_tracer_privacy::{Config, Level, reduce};
use serde_json::Value;

use super::{otlp, seeds};
use crate::claude_hooks::context;
use crate::transcript::rules;

/// Describes what one file says.
pub(super) struct Part {
    /// Its path below the fixtures.
    pub(super) path: String,
    pub(super) channel: Channel,
    /// Holds what each payload or row says, with what it is.
    pub(super) readings: Vec<(String, Reading)>,
    /// Rows that say nothing.
    pub(super) silent: usize,
}

/// Files that tell of the same thing.
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn below(path: &Path) -> String {
    path.strip_prefix(fixtures()).unwrap().to_str().unwrap().to_owned()
}

fn config(level: Level) -> Config {
    Config { level, ..Config::default() }
}

/// Everything there is, at the usual level of privacy.
pub(super) fn all() -> Vec<Scenario> {
    all_at(Level::Actions)
}

/// Reads everything at a level of privacy.
pub(super) fn all_at(level: Level) -> Vec<Scenario> {
    let mut all = Vec::new();
    for version in ["2.1.150", "2.1.197", "2.1.325", "2.1.326"] {
        for folder in sorted(&fixtures().join("claude-code").join(version)) {
            all.push(claude(&folder, level));
        }
    }
    all.push(payloads(Agent::CLAUDE_CODE, &fixtures().join("claude-code/2.1.325-payloads"), level));
    all.push(telemetry(
        "claude-code/otel-2.1.325",
        "claude-code/otel-2.1.325/examples.jsonl",
        &otlp::claude(),
        level,
    ));
    for version in ["0.166.0", "0.169.0"] {
        all.extend(codex(&fixtures().join("codex").join(version), level));
    }
    all.push(payloads(Agent::CODEX, &fixtures().join("codex/0.166.0/payloads"), level));
    all.push(telemetry(
        "codex/0.166.0/otel",
        "codex/0.166.0/payloads/otel.log_events.json",
        &otlp::codex(),
        level,
    ));
    for document in sorted(&seeds::folder()) {
        match file_name(&document) {
            "ingest" => {}
            name => {
                let agent = if name.contains("codex") { Agent::CODEX } else { Agent::CLAUDE_CODE };
                all.push(payloads(agent, &document, level));
            }
        }
    }
    all
}

/// Reads a payload as its hook would have written it.
fn hook(
    agent: Agent,
    name: &str,
    arrived: Millis,
    is_status_line: bool,
    payload: &Value,
    level: Level,
) -> Reading {
    let (source, privacy) = match agent {
        Agent::CLAUDE_CODE if is_status_line => {
            (Source::StatusLine, agent_tracer_privacy::Source::StatusLine)
        }
        agent => (Source::Hook, agent_tracer_privacy::Source::Hook(agent)),
    };
    let mut body = Vec::new();
    let whole = serde_json::to_vec(payload).unwrap();
    let reduction = reduce(&whole, privacy, &config(level), &mut || [7; 16], &mut body);
    assert_eq!(reduction.fault, None, "{name}");
    let context = match agent {
        Agent::CLAUDE_CODE => context(),
        _ => Context::default(),
    };
    read(&Observation {
        agent,
        channel: Channel::Hook,
        name,
        arrived,
        source,
        body: &body,
        context: &context,
    })
}

fn event_of(payload: &Value) -> &str {
    payload.get("hook_event_name").and_then(Value::as_str).unwrap_or("StatusLine")
}

fn hooks(agent: Agent, path: &Path, level: Level) -> Part {
    let text = fs::read_to_string(path).unwrap();
    let mut readings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let row: Value = serde_json::from_str(line).unwrap();
        let arrived = match row.get("t_ns") {
            Some(nanos) => Millis::from_nanos(nanos.as_u64().unwrap()),
            None => Millis((row["t"].as_f64().unwrap() * 1000.0) as i64),
        };
        let is_status_line = row.get("channel").is_some_and(|channel| channel == "statusline");
        let reading = hook(agent, &format!("{}", index + 1), arrived, is_status_line, &row["payload"], level);
        readings.push((format!("{} {}", index + 1, event_of(&row["payload"])), reading));
    }
    Part { path: below(path), channel: Channel::Hook, readings, silent: 0 }
}

fn claude(folder: &Path, level: Level) -> Scenario {
    let mut parts = Vec::new();
    let mut paths = Vec::new();
    super::files(folder, &mut paths);
    paths.sort_by_key(|path| (file_name(path) != "hooks.jsonl", path.clone()));
    for path in paths {
        match file_name(&path) {
            "truth.json" => {}
            "hooks.jsonl" => parts.push(hooks(Agent::CLAUDE_CODE, &path, level)),
            _ => parts.push(transcript(&path, level)),
        }
    }
    Scenario { name: below(folder), parts }
}

fn transcript(path: &Path, level: Level) -> Part {
    let content = fs::read(path).unwrap();
    let config = config(level);
    let rules = rules(&config);
    let mut readings = Vec::new();
    let mut silent = 0;
    match Place::of(path.to_str().unwrap()) {
        Place::Meta(file) => {
            readings.push(("meta".to_owned(), read_meta(&rules, &file, &content, Millis(0))));
        }
        Place::Rows(file) => {
            let mut reader = TranscriptReader::new(file);
            let mut number = 0;
            LineSplitter::new(0).push(&content, |line| {
                let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
                number += 1;
                match reader.read(&rules, bytes, offset, Millis(0)) {
                    RowReading::Read(reading) | RowReading::Copied(reading)
                        if !reading.entries.is_empty() =>
                    {
                        readings.push((format!("row {number}"), reading));
                    }
                    RowReading::Read(reading) if !reading.unrecognised.is_empty() => {
                        readings.push((format!("row {number}"), reading));
                    }
                    RowReading::Malformed => panic!("{}:{number} is no JSON", path.display()),
                    _ => silent += 1,
                }
            });
            let last = reader.finish(&rules);
            if !last.entries.is_empty() {
                readings.push(("end".to_owned(), last));
            }
        }
        Place::Other => panic!("{} is nothing of ours", path.display()),
    }
    Part { path: below(path), channel: Channel::Transcript, readings, silent }
}

fn codex(folder: &Path, level: Level) -> Vec<Scenario> {
    let mut scenarios: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for path in sorted(&folder.join("hooks")) {
        let name = file_name(&path).trim_end_matches(".hooks.jsonl").to_owned();
        scenarios.entry(name).or_default().push(hooks(Agent::CODEX, &path, level));
    }
    for path in sorted(&folder.join("rollouts")) {
        let name = file_name(&path).split('.').next().unwrap().to_owned();
        scenarios.entry(name).or_default().push(rollout(&path, level));
    }
    let version = below(folder);
    let scenario = |(name, parts)| Scenario { name: format!("{version}/{name}"), parts };
    scenarios.into_iter().map(scenario).collect()
}

fn rollout(path: &Path, level: Level) -> Part {
    let content = fs::read(path).unwrap();
    let config = config(level);
    let rules =
        agent_tracer_agents::codex::rollout::Rules { config: &config, hash_key: [7; 16], home_dir: None };
    // The name on disk has the time and the thread; fixtures are called after their scenario.
    let mut reader = RolloutReader::new(file_name(path));
    let mut readings = Vec::new();
    let mut silent = 0;
    let mut number = 0;
    LineSplitter::new(0).push(&content, |line| {
        let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
        number += 1;
        match reader.read(&rules, bytes, offset, Millis(0)) {
            Row::Read(reading) => readings.push((format!("row {number}"), reading)),
            Row::Malformed => panic!("{}:{number} is no JSON", path.display()),
            Row::Skipped | Row::Copied | Row::Excluded => silent += 1,
        }
    });
    Part { path: below(path), channel: Channel::Transcript, readings, silent }
}

/// Payloads that were picked out, each as if it came alone.
fn payloads(agent: Agent, folder: &Path, level: Level) -> Scenario {
    let mut parts = Vec::new();
    for path in sorted(folder) {
        let name = file_name(&path);
        if name.ends_with(".jsonl") && agent == Agent::CLAUDE_CODE {
            parts.push(transcript(&path, level));
        }
        let Some(stem) = name.strip_suffix(".json") else { continue };
        let payload: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let is_status_line = agent == Agent::CLAUDE_CODE && stem.starts_with("StatusLine");
        if payload.get("hook_event_name").is_none() && !is_status_line {
            continue;
        }
        let reading = hook(agent, stem, Millis(1_790_000_000_000), is_status_line, &payload, level);
        let readings = vec![(event_of(&payload).to_owned(), reading)];
        parts.push(Part { path: below(&path), channel: Channel::Hook, readings, silent: 0 });
    }
    Scenario { name: below(folder), parts }
}

fn telemetry(name: &str, path: &str, exports: &[(String, Signal, Value)], level: Level) -> Scenario {
    let mut readings = Vec::new();
    let mut silent = 0;
    for (label, signal, export) in exports {
        for record in otlp::records(*signal, export, level) {
            match record {
                Record::Read { reading, .. } => readings.push((label.clone(), reading)),
                Record::Skipped => silent += 1,
                Record::Foreign | Record::Malformed => panic!("{label} is {record:?}"),
            }
        }
    }
    let part = Part { path: path.to_owned(), channel: Channel::Otlp, readings, silent };
    Scenario { name: name.to_owned(), parts: vec![part] }
}
