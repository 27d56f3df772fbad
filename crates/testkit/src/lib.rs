//! For tests only: every captured scenario as the observations that it brings, and histories made from a
//! seed ([`history`]), as long as a test or a bench wants.
//!
//! A scenario is one capture; each of its parts is one file, read by its reader at the usual level of
//! privacy. A fixture that cannot be read is a failure of the test, so this crate panics.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a broken fixture fails the test"
)]

pub mod history;
mod telemetry;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::claude::transcript::{Place, RowReading, TranscriptReader, read_meta};
use agent_tracer_agents::codex::rollout::{RolloutReader, Row};
use agent_tracer_agents::files::{Line, LineSplitter, Rules};
use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis, Reading};
use agent_tracer_ledger::{Observed, Verdict};
pub use agent_tracer_privacy::Level;
use agent_tracer_privacy::{Config, reduce};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

/// One file of a scenario and its observations.
#[derive(Clone, Debug)]
pub struct Part {
    /// The path of the file below the fixtures.
    pub path: String,
    /// The channel.
    pub channel: Channel,
    /// Its observations, in the file's order.
    pub observed: Vec<Observed>,
}

/// Files of one capture.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its folder below the fixtures, or the stem of its files.
    pub name: String,
    /// Its files.
    pub parts: Vec<Part>,
}

impl Scenario {
    /// Returns the observations of one channel, or all of them.
    #[must_use]
    pub fn observed(&self, channel: Option<Channel>) -> Vec<Observed> {
        let parts = self.parts.iter().filter(|part| channel.is_none_or(|channel| part.channel == channel));
        parts.flat_map(|part| part.observed.iter().cloned()).collect()
    }
}

impl Scenario {
    /// Returns decisions that rules could have made on the hooks of the scenario: each kind of decision in turn.
    #[must_use]
    pub fn decided(&self) -> Vec<Observed> {
        const WISHES: [(&str, &str, &str, bool); 7] = [
            ("deny", "applies", "enforce", true),
            ("warn", "applies", "dry_run", false),
            ("ask", "outage", "enforce", true),
            ("allow", "applies", "enforce", false),
            ("rewrite", "applies", "enforce", true),
            ("stop", "applies", "dry_run", false),
            ("warn", "let_go", "enforce", true),
        ];
        let mut decided = Vec::new();
        for observed in self.observed(Some(Channel::Hook)) {
            let Some(Value::Object(payload)) =
                observed.kept.as_deref().and_then(|body| serde_json::from_slice(body).ok())
            else {
                continue;
            };
            let event = payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
            if !matches!(event, "PreToolUse" | "Stop" | "SubagentStop" | "UserPromptSubmit") {
                continue;
            }
            let turn = decided.len();
            // In turn and not by chance, so that every scenario has each kind, and the same one each time.
            let (wish, basis, mode, counted) = WISHES[turn % WISHES.len()];
            let mut rule = json!({"rule": format!("rule-{}", turn % 3), "origin": "user", "decision": wish,
                "basis": basis, "mode": mode, "severity": "high", "counted": counted});
            if turn.is_multiple_of(4) {
                rule["origin"] = "project".into();
                rule["project"] = format!("/srv/{}", turn % 8).into();
            }
            let mut body: serde_json::Map<String, Value> = payload
                .into_iter()
                .filter(|(name, _)| {
                    matches!(
                        name.as_str(),
                        "session_id"
                            | "cwd"
                            | "hook_event_name"
                            | "turn_id"
                            | "prompt_id"
                            | "agent_id"
                            | "agent_type"
                            | "tool_name"
                            | "tool_use_id"
                    )
                })
                .collect();
            let decision =
                json!({"answered_by": "server", "outcome": wish, "took_us": 100 + turn, "rules": [rule]});
            body.insert("decision".to_owned(), decision);
            let body = serde_json::to_vec(&body).unwrap();
            decided.push(decision_of(&observed, &body));
        }
        decided
    }
}

/// Returns the record of a decision on an event.
#[must_use]
pub fn decision_of(event: &Observed, body: &[u8]) -> Observed {
    // The mark behind the event's name and the millisecond keep the decision behind the event that it answers.
    let name = format!("{}!", event.name);
    let arrived = Millis(event.arrived.0 + 1);
    let context = Context::default();
    let reading = read(&Observation {
        agent: event.agent,
        channel: Channel::Hook,
        name: &name,
        arrived,
        source: Source::Decision,
        body,
        context: &context,
    });
    Observed { name, arrived, verdict: Verdict::Read(reading), payload: None, kept: None, ..event.clone() }
}

/// Returns the folder of the fixtures.
#[must_use]
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Returns every scenario that was captured with its sequence of events, of both agents and of every version.
#[must_use]
pub fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for version in sorted(&fixtures().join("claude-code")) {
        for folder in sorted(&version).iter().filter(|folder| folder.join("hooks.jsonl").exists()) {
            all.push(claude(folder, Level::Actions));
        }
    }
    for version in sorted(&fixtures().join("codex")).iter().filter(|version| version.is_dir()) {
        all.extend(codex(version));
    }
    all
}

/// Returns the first scenario whose name ends with `name`.
#[must_use]
pub fn scenario(name: &str) -> Scenario {
    let found = scenarios().into_iter().find(|scenario| scenario.name.ends_with(name));
    found.unwrap_or_else(|| panic!("no scenario is named `{name}`"))
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The order of a folder differs between file systems, and the order of observations is part of snapshots.
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

/// Reads a payload as the hook would have spooled it, at the usual level of privacy.
#[must_use]
pub fn hook(agent: Agent, name: &str, arrived: Millis, is_status_line: bool, payload: &[u8]) -> Observed {
    hook_at(Level::Actions, agent, name, arrived, is_status_line, payload)
}

/// Reads a payload as the hook would have spooled it, at a level of privacy.
#[must_use]
pub fn hook_at(
    level: Level,
    agent: Agent,
    name: &str,
    arrived: Millis,
    is_status_line: bool,
    payload: &[u8],
) -> Observed {
    let (source, privacy) = match agent {
        Agent::CLAUDE_CODE if is_status_line => {
            (Source::StatusLine, agent_tracer_privacy::Source::StatusLine)
        }
        agent => (Source::Hook, agent_tracer_privacy::Source::Hook(agent)),
    };
    let mut body = Vec::new();
    // The key is fixed: hashes of contents are in the snapshots, and a random one would change them in every run.
    reduce(payload, privacy, &config(level), &mut || [7; 16], &mut body);
    let context = Context::default();
    let reading = read(&Observation {
        agent,
        channel: Channel::Hook,
        name,
        arrived,
        source,
        body: &body,
        context: &context,
    });
    Observed {
        name: name.to_owned(),
        source: None,
        agent,
        channel: Channel::Hook,
        arrived,
        verdict: Verdict::Read(reading),
        // Only this agent's equal payloads are the same event twice; the other sends equal bytes for distinct calls.
        payload: (agent == Agent::CLAUDE_CODE).then(|| xxh3_64(&body)),
        kept: Some(body),
    }
}

fn hooks(agent: Agent, path: &Path, level: Level) -> Part {
    let text = fs::read_to_string(path).unwrap();
    let mut observed = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let row: Value = serde_json::from_str(line).unwrap();
        let arrived = match row.get("t_ns") {
            // Two recorders made the captures: one wrote nanoseconds as an integer, the other seconds with a
            // fraction.
            Some(nanos) => Millis::from_nanos(nanos.as_u64().unwrap()),
            None => Millis((row["t"].as_f64().unwrap() * 1000.0) as i64),
        };
        let is_status_line = row.get("channel").is_some_and(|channel| channel == "statusline");
        let name = format!("{}#{}", below(path), index + 1);
        observed.push(hook_at(
            level,
            agent,
            &name,
            arrived,
            is_status_line,
            &serde_json::to_vec(&row["payload"]).unwrap(),
        ));
    }
    Part { path: below(path), channel: Channel::Hook, observed }
}

/// Reads a scenario of Claude Code at a level of privacy, by its version and name.
#[must_use]
pub fn claude_at(level: Level, name: &str) -> Scenario {
    claude(&fixtures().join("claude-code").join(name), level)
}

fn claude(folder: &Path, level: Level) -> Scenario {
    let mut paths = Vec::new();
    files(folder, &mut paths);
    let mut parts = Vec::new();
    for path in paths {
        match file_name(&path) {
            // The expectation stands beside the capture and is no input.
            "truth.json" => {}
            "hooks.jsonl" => parts.push(hooks(Agent::CLAUDE_CODE, &path, level)),
            _ => parts.push(transcript(&path, level)),
        }
    }
    Scenario { name: below(folder), parts }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in sorted(folder) {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Wraps the reading of a row of a file.
fn of_file(agent: Agent, path: &str, name: String, reading: Reading) -> Observed {
    Observed {
        name,
        source: Some(path.to_owned()),
        agent,
        channel: Channel::Transcript,
        arrived: Millis(0),
        verdict: Verdict::Read(reading),
        payload: None,
        kept: None,
    }
}

fn transcript(path: &Path, level: Level) -> Part {
    let observed = transcript_of(level, &below(path), &fs::read(path).unwrap());
    Part { path: below(path), channel: Channel::Transcript, observed }
}

/// Reads a transcript of this path at a level of privacy.
#[must_use]
pub fn transcript_of(level: Level, path: &str, content: &[u8]) -> Vec<Observed> {
    let config = config(level);
    let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
    let mut observed = Vec::new();
    let mut push = |offset: String, reading: Reading| {
        if !reading.entries.is_empty() || !reading.unrecognised.is_empty() {
            observed.push(of_file(Agent::CLAUDE_CODE, path, format!("{path}@{offset}"), reading));
        }
    };
    match Place::of(path) {
        Place::Meta(file) => push("meta".to_owned(), read_meta(&rules, &file, content, Millis(0))),
        Place::Rows(file) => {
            let mut reader = TranscriptReader::new(file);
            LineSplitter::new(0).push(content, |line| {
                let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
                match reader.read(&rules, bytes, offset, Millis(0)) {
                    RowReading::Read(reading) | RowReading::Copied(reading) => {
                        push(offset.to_string(), reading)
                    }
                    _ => {}
                }
            });
            push("end".to_owned(), reader.finish(&rules));
        }
        Place::Other => panic!("{path} is nothing of ours"),
    }
    observed
}

fn codex(version: &Path) -> Vec<Scenario> {
    let mut scenarios: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for path in sorted(&version.join("hooks")) {
        // Hooks and rollouts lie in different folders and belong together by their stem.
        let name = file_name(&path).trim_end_matches(".hooks.jsonl").to_owned();
        scenarios.entry(name).or_default().push(hooks(Agent::CODEX, &path, Level::Actions));
    }
    for path in sorted(&version.join("rollouts")) {
        let name = file_name(&path).split('.').next().unwrap().to_owned();
        scenarios.entry(name).or_default().push(rollout(&path));
    }
    let version = below(version);
    scenarios.into_iter().map(|(name, parts)| Scenario { name: format!("{version}/{name}"), parts }).collect()
}

fn rollout(path: &Path) -> Part {
    // A real name holds the time and the thread; fixtures are called after their scenario.
    let observed = rollout_of(&below(path), &fs::read(path).unwrap());
    Part { path: below(path), channel: Channel::Transcript, observed }
}

/// Reads a rollout of this name.
#[must_use]
pub fn rollout_of(path: &str, content: &[u8]) -> Vec<Observed> {
    let config = config(Level::Actions);
    let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
    let mut reader = RolloutReader::new(path.rsplit('/').next().unwrap());
    let mut observed = Vec::new();
    LineSplitter::new(0).push(content, |line| {
        let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
        let name = reader.observation(offset);
        if let Row::Read(reading) = reader.read(&rules, bytes, offset, Millis(0))
            && (!reading.entries.is_empty() || !reading.unrecognised.is_empty())
        {
            observed.push(of_file(Agent::CODEX, path, name, reading));
        }
    });
    observed
}
