//! The tables below `fixtures/golden/truth/`, which people write: one row per scenario, one file per client version.
//!
//! Reading is strict: a column that is not compared, or a word without a meaning, fails the test.

use std::collections::BTreeMap;
use std::fs;

use agent_tracer_event::{Agent, Channel};

use super::super::files;
use super::super::scenarios::fixtures;

/// Responses, and their tokens: input, output, read from the cache, written to it.
pub(super) type ResponseSums = [u64; 5];

/// The numbers of a row.
const NUMBERS: &[&str] = &[
    "prompts",
    "blocked",
    "messages",
    "answers",
    "reports",
    "orders",
    "interrupts",
    "asks",
    "refusals",
    "failed_requests",
];

/// Describes how a call ended, and what it is about the ending that some channel cannot see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) state: String,
    pub(super) how: Option<How>,
    /// Empty for the main agent.
    pub(super) agent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The call never began: there is no such tool, or its input is wrong.
    Unattempted,
    /// The user answered a dialog with No.
    Dialog,
    /// The words of a hook reached the model and look like any result.
    Words,
    /// It ended with the process.
    Cut,
}

/// An agent that another one started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Child {
    pub(super) id: String,
    pub(super) kind: String,
    /// The id of an agent, or `main`.
    pub(super) parent: String,
}

/// Describes what happened in one scenario.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) agent: Agent,
    pub(super) version: String,
    pub(super) calls: Vec<Call>,
    pub(super) agents: Vec<Child>,
    pub(super) compactions: Vec<String>,
    /// Turns that ended in an error of the API, with the agent whose turn it was.
    pub(super) errors: Vec<(String, Option<String>)>,
    /// By agent, `main` among them; what the client asked for itself: `compaction`, `search`, `title`; and `cut`, answers
    /// that were cut short, with the numbers of their rows.
    pub(super) tokens: BTreeMap<String, ResponseSums>,
    /// Holds what the client's own accounts say where that is not the sum of the tokens.
    pub(super) account: Option<[u64; 4]>,
    pub(super) killed: bool,
    numbers: BTreeMap<&'static str, i64>,
    /// Holds what the capture of one channel left out: the row as that channel's files can show it.
    captured: Vec<(Channel, Self)>,
}

impl Row {
    pub(super) fn number(&self, name: &str) -> i64 {
        assert!(NUMBERS.contains(&name), "{name} is no number of a row");
        self.numbers.get(name).copied().unwrap_or(0)
    }

    /// The row as far as these channels were captured.
    pub(super) fn seen_by(&self, channels: &[Channel]) -> &Self {
        let part = self.captured.iter().find(|(channel, _)| *channels == [*channel]);
        part.map_or(self, |(_, row)| row)
    }
}

fn strings(value: &toml::Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

/// Reads `Bash denied dialog @agent`.
fn call(text: &str) -> Call {
    let (ending, agent) = match text.split_once(" @") {
        Some((ending, agent)) => (ending, Some(agent.to_owned())),
        None => (text, None),
    };
    let mut words = ending.split(' ');
    let (tool, state) = (words.next().unwrap(), words.next().unwrap());
    let how = words.next().map(|word| match word {
        "unattempted" => How::Unattempted,
        "dialog" => How::Dialog,
        "words" => How::Words,
        "cut" => How::Cut,
        other => panic!("{text}: {other} is no way to end"),
    });
    assert_eq!(words.next(), None, "{text}");
    assert!(["succeeded", "failed", "denied", "interrupted", "running"].contains(&state), "{text}");
    Call { tool: tool.to_owned(), state: state.to_owned(), how, agent }
}

/// Reads `id type < parent`.
fn child(text: &str) -> Child {
    let (about, parent) = text.split_once(" < ").unwrap();
    let (id, kind) = about.split_once(' ').unwrap();
    Child { id: id.to_owned(), kind: kind.to_owned(), parent: parent.to_owned() }
}

/// Reads `rate_limit @agent`.
fn error(text: &str) -> (String, Option<String>) {
    match text.split_once(" @") {
        Some((error, agent)) => (error.to_owned(), Some(agent.to_owned())),
        None => (text.to_owned(), None),
    }
}

fn numbers<const N: usize>(value: &toml::Value) -> [u64; N] {
    let numbers = value.as_array().unwrap().iter();
    let numbers: Vec<u64> =
        numbers.map(|number| u64::try_from(number.as_integer().unwrap()).unwrap()).collect();
    numbers.try_into().unwrap()
}

fn tokens(value: &toml::Value) -> BTreeMap<String, ResponseSums> {
    value.as_table().unwrap().iter().map(|(who, value)| (who.clone(), numbers(value))).collect()
}

/// Reads columns into a row, over what is there.
fn fill(row: &mut Row, columns: &toml::Table, name: &str) {
    for (column, value) in columns {
        match column.as_str() {
            "calls" => row.calls = strings(value).into_iter().map(call).collect(),
            "agents" => row.agents = strings(value).into_iter().map(child).collect(),
            "compactions" => {
                row.compactions = strings(value).into_iter().map(str::to_owned).collect();
                let known = row.compactions.iter().all(|trigger| trigger == "manual" || trigger == "auto");
                assert!(known, "{name}: {:?}", row.compactions);
            }
            "errors" => row.errors = strings(value).into_iter().map(error).collect(),
            "tokens" => row.tokens = tokens(value),
            "account" => row.account = Some(numbers(value)),
            "killed" => row.killed = value.as_bool().unwrap(),
            "capture" => assert!(!value.as_str().unwrap().is_empty(), "{name}"),
            "hooks" | "files" => {
                assert!(columns.contains_key("capture"), "{name}: only what was not captured may differ");
            }
            other => {
                let number = NUMBERS.iter().find(|known| **known == other);
                let number = number.unwrap_or_else(|| panic!("{name}: {other} is no column"));
                row.numbers.insert(number, value.as_integer().unwrap());
            }
        }
    }
    for who in row.calls.iter().filter_map(|call| call.agent.as_ref()).chain(row.tokens.keys()) {
        let known = row.agents.iter().any(|agent| agent.id == *who)
            || ["main", "compaction", "search", "title", "cut"].contains(&who.as_str());
        assert!(known, "{name}: {who} is unknown");
    }
}

fn row(agent: Agent, version: &str, name: &str, columns: &toml::Table) -> Row {
    for needed in ["prompts", "answers", "calls"] {
        assert!(columns.contains_key(needed), "{name} says nothing of {needed}");
    }
    let mut row = Row {
        agent,
        version: version.to_owned(),
        calls: Vec::new(),
        agents: Vec::new(),
        compactions: Vec::new(),
        errors: Vec::new(),
        tokens: BTreeMap::new(),
        account: None,
        killed: false,
        numbers: BTreeMap::new(),
        captured: Vec::new(),
    };
    fill(&mut row, columns, name);
    for (column, channel) in [("hooks", Channel::Hook), ("files", Channel::Transcript)] {
        if let Some(part) = columns.get(column) {
            let mut captured = row.clone();
            captured.captured.clear();
            fill(&mut captured, part.as_table().unwrap(), name);
            row.captured.push((channel, captured));
        }
    }
    row
}

/// Every row there is, by the name of its scenario.
pub(super) fn read() -> BTreeMap<String, Row> {
    let folder = fixtures().join("golden/truth");
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let mut rows = BTreeMap::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let place = path.strip_prefix(&folder).unwrap().with_extension("");
        // The version has dots of its own, so only the last ending goes.
        let place = place.to_str().unwrap().to_owned();
        let (agent, version) = place.split_once('/').unwrap();
        let agent = match agent {
            "claude-code" => Agent::CLAUDE_CODE,
            "codex" => Agent::CODEX,
            other => panic!("{other} is no agent"),
        };
        let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        for (name, columns) in &table {
            let name = format!("{place}/{name}");
            let read = row(agent, version, &name, columns.as_table().unwrap());
            assert!(rows.insert(name.clone(), read).is_none(), "{name} has two rows");
        }
    }
    rows
}
