//! The reader of Claude Code's hooks and status line, over every captured payload and over bad ones.

mod dialogs;
mod environment;
mod fixtures;
mod hostile;
mod levels;
mod older_spellings;
mod prompts;
mod sessions;
mod statusline;
mod subagents;
mod todos;
mod tool_calls;

use std::path::{Path, PathBuf};

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Entry, Kind, Millis, Phase, Reading, Subject};
use agent_tracer_privacy::{Config, Level, reduce};
use serde_json::Value;

/// Holds when every test's observation arrives.
pub(crate) const ARRIVED: Millis = Millis(1_790_000_000_000);

pub(crate) fn fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code")
}

/// One captured invocation.
pub(crate) struct Captured {
    /// Holds where it is, for messages.
    pub(crate) place: String,
    pub(crate) source: Source,
    pub(crate) payload: Value,
}

impl Captured {
    pub(crate) fn event(&self) -> &str {
        self.payload.get("hook_event_name").and_then(Value::as_str).unwrap_or("StatusLine")
    }
}

/// Every invocation of one scenario, in the order of arrival.
pub(crate) fn scenario(version: &str, name: &str) -> Vec<Captured> {
    let path = fixtures_dir().join(version).join(name).join("hooks.jsonl");
    let text = std::fs::read_to_string(&path).expect("the scenario is there");
    let captured = text.lines().enumerate().map(|(number, line)| {
        let mut row: Value = serde_json::from_str(line).expect("a row is JSON");
        let status_line = row.get("channel").is_some_and(|channel| channel == "statusline");
        let source = if status_line { Source::StatusLine } else { Source::Hook };
        let payload = row.get_mut("payload").map(Value::take).expect("a row has a payload");
        Captured { place: format!("{version}/{name}:{}", number + 1), source, payload }
    });
    captured.collect()
}

fn folders(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(path)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

/// One of the payloads that were picked out, one per event and variant.
pub(crate) fn payload(name: &str) -> Value {
    let path = fixtures_dir().join("2.1.325-payloads").join(format!("{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the payload is there"))
        .expect("a payload is JSON")
}

/// Everything that was captured: all scenarios of all versions, and all picked payloads.
pub(crate) fn everything() -> Vec<Captured> {
    let mut all = Vec::new();
    for version in folders(&fixtures_dir()) {
        for name in folders(&fixtures_dir().join(&version)) {
            if fixtures_dir().join(&version).join(&name).join("hooks.jsonl").exists() {
                all.extend(scenario(&version, &name));
            } else if let Some(stem) = name.strip_suffix(".json").filter(|_| version.ends_with("-payloads")) {
                let source = if stem.starts_with("StatusLine") { Source::StatusLine } else { Source::Hook };
                all.push(Captured { place: format!("{version}/{name}"), source, payload: payload(stem) });
            }
        }
    }
    all
}

/// Returns what is left of a payload after privacy, or the payload itself where no level is given.
pub(crate) fn reduced(payload: &Value, source: Source, level: Option<Level>) -> Vec<u8> {
    let whole = serde_json::to_vec(payload).expect("a value is JSON");
    let Some(level) = level else { return whole };
    let source = match source {
        Source::Hook | Source::Decision => agent_tracer_privacy::Source::Hook(Agent::CLAUDE_CODE),
        Source::StatusLine => agent_tracer_privacy::Source::StatusLine,
    };
    let config = Config { level, ..Config::default() };
    let mut out = Vec::new();
    let reduction = reduce(&whole, source, &config, &mut || [7; 16], &mut out);
    assert_eq!(reduction.fault, None);
    out
}

pub(crate) fn context() -> Context {
    Context {
        env: vec![
            ("CLAUDE_PROJECT_DIR".to_owned(), "/home/dev/project".to_owned()),
            ("CLAUDE_CODE_ENTRYPOINT".to_owned(), "cli".to_owned()),
            ("CLAUDE_CODE_SESSION_ATTENDED".to_owned(), "1".to_owned()),
        ],
        pid: Some(812),
        pid_start: Some(90_210),
        pid_namespace: Some(4_026_531_836),
        ..Context::default()
    }
}

pub(crate) fn read_bytes(body: &[u8], source: Source, name: &str) -> Reading {
    read(&Observation {
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        name,
        arrived: ARRIVED,
        source,
        body,
        context: &context(),
    })
}

/// Reads a hook's payload as it is after privacy at the usual level.
pub(crate) fn hook(payload: &Value) -> Reading {
    read_bytes(&reduced(payload, Source::Hook, Some(Level::Actions)), Source::Hook, "1731-812-0")
}

/// The only entry of a reading that is so.
pub(crate) fn single<'r>(reading: &'r Reading, what: &str, so: impl Fn(&Entry) -> bool) -> &'r Entry {
    let found: Vec<&Entry> = reading.entries.iter().filter(|entry| so(entry)).collect();
    assert_eq!(found.len(), 1, "one {what} in {reading:#?}");
    found.first().copied().expect("it was counted")
}

/// The only entry about an event of this kind.
pub(crate) fn only(reading: &Reading, kind: Kind) -> &Entry {
    single(reading, kind.as_str(), |entry| entry.subject == Subject::Event(kind))
}

/// Returns whether an entry only says who called a subagent.
fn names_parent(entry: &Entry) -> bool {
    !entry.metadata.contains_key("agentId") && entry.metadata.contains_key("parentSession")
}

/// The only entry about the task of this runtime session, besides a guess at its parent.
pub(crate) fn task<'r>(reading: &'r Reading, session: &str) -> &'r Entry {
    let own = |entry: &Entry| entry.subject == Subject::Task && entry.task.runtime_session == session;
    single(reading, &format!("task {session}"), |entry| own(entry) && !names_parent(entry))
}

/// The entry that says who called the subagent that acted.
pub(crate) fn parent<'r>(reading: &'r Reading, session: &str) -> &'r Entry {
    let own = |entry: &Entry| entry.subject == Subject::Task && entry.task.runtime_session == session;
    single(reading, &format!("parent of {session}"), |entry| own(entry) && names_parent(entry))
}

/// The only entry about a turn.
pub(crate) fn turn(reading: &Reading) -> &Entry {
    single(reading, "turn", |entry| entry.subject == Subject::Turn)
}

/// Returns what a reading says in one line per entry: what, phase, whose, key, state.
pub(crate) fn outline(reading: &Reading) -> Vec<String> {
    let line = |entry: &Entry| {
        let what = match entry.subject {
            Subject::Event(kind) => kind.to_string(),
            Subject::Task => "task".to_owned(),
            Subject::Turn => "turn".to_owned(),
            Subject::Account => "account".to_owned(),
        };
        let state = entry.state.map_or(String::new(), |state| format!(" {state}"));
        format!("{what} {} {} {}{state}", entry.phase, entry.task.runtime_session, entry.key)
    };
    reading.entries.iter().map(line).collect()
}

/// Returns where a call stands and which phase says so.
pub(crate) fn standing(entry: &Entry) -> (Phase, Option<CallState>) {
    (entry.phase, entry.state)
}

/// Takes a payload and changes members of it.
pub(crate) fn with(mut payload: Value, changes: &[(&str, Value)]) -> Value {
    let members = payload.as_object_mut().expect("a payload is an object");
    for (name, value) in changes {
        members.insert((*name).to_owned(), value.clone());
    }
    payload
}
