//! A scenario as text: one line per entry, short enough to be read, whole enough to show a change.
//!
//! Long ids are cut to their last characters, tasks are numbered in the order in which they appear, and what is said
//! of a task is shown only where it is news.

use std::collections::BTreeMap;
use std::fmt::Write;

use agent_tracer_event::{Entry, Phase, Subject, Tokens};
use serde_json::Value;

use super::scenarios::Scenario;

/// Members of metadata that are shown on an event.
const SHOWN: &[&str] = &[
    "subtypeKey",
    "exitCode",
    "errorClass",
    "error",
    "stopReason",
    "trigger",
    "compactPhase",
    "promptOrigin",
    "status",
    "completionReason",
    "ruleOutcome",
    "asyncStatus",
    "todoState",
    "questionPhase",
    "requestPhase",
    "httpStatus",
    "childAgentId",
    "batchId",
    "purpose",
    "contextWindowUsedPct",
    "partial",
];

/// Members of metadata that are shown on a task.
const OF_TASKS: &[&str] = &[
    "title",
    "titleSource",
    "agentType",
    "parentSession",
    "parentCertainty",
    "parentToolUseId",
    "depth",
    "model",
    "cwd",
    "gitBranch",
    "clientVersion",
    "sessionSource",
    "forkedFrom",
    "continues",
];

/// The names of tasks, and what was said of them.
#[derive(Default)]
struct Seen {
    tasks: Vec<String>,
    said: BTreeMap<(usize, &'static str), String>,
}

impl Seen {
    fn task(&mut self, session: &str) -> usize {
        if let Some(index) = self.tasks.iter().position(|known| known == session) {
            return index + 1;
        }
        self.tasks.push(session.to_owned());
        self.tasks.len()
    }
}

/// An id cut to what tells it apart from its neighbours.
fn short(text: &str) -> String {
    let part = |part: &str| {
        let is_id = part.len() > 14
            && part.chars().filter(char::is_ascii_digit).count() > 3
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-@.".contains(letter));
        if !is_id {
            return part.to_owned();
        }
        let head = part.split_once('_').map_or("", |(head, _)| head);
        let tail: String = part.chars().skip(part.chars().count() - 6).collect();
        if head.is_empty() { format!("…{tail}") } else { format!("{head}_…{tail}") }
    };
    text.split(':').map(part).collect::<Vec<_>>().join(":")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(' ') => format!("{text:?}"),
        Value::String(text) => short(text),
        other => other.to_string(),
    }
}

/// The text of a scenario's golden file.
pub(super) fn render(scenario: &Scenario) -> String {
    let mut out = String::new();
    let mut seen = Seen::default();
    for part in &scenario.parts {
        let name = part.path.rsplit('/').next().unwrap();
        let (stem, ending) = name.split_once('.').unwrap();
        writeln!(out, "# {}.{ending}", short(stem)).unwrap();
        for (label, reading) in &part.readings {
            for entry in &reading.entries {
                line(&mut out, &mut seen, label, entry);
            }
            for unknown in &reading.unrecognised {
                writeln!(out, "{label} ! {unknown:?}").unwrap();
            }
        }
        if part.silent > 0 {
            writeln!(out, "({} say nothing)", part.silent).unwrap();
        }
    }
    out
}

fn line(out: &mut String, seen: &mut Seen, label: &str, entry: &Entry) {
    let task = seen.task(&entry.task.runtime_session);
    let sign = match entry.phase {
        Phase::Open => '+',
        Phase::Update => '~',
        Phase::Close => '-',
    };
    if entry.subject == Subject::Task {
        let mut news = String::new();
        for name in OF_TASKS {
            let Some(value) = entry.metadata.get(*name) else { continue };
            let text = match (*name, value) {
                ("parentSession" | "forkedFrom" | "continues", Value::String(session)) => {
                    format!("T{}", seen.task(session))
                }
                _ => plain(value),
            };
            if seen.said.get(&(task, *name)) != Some(&text) {
                write!(news, " {name}={text}").unwrap();
                seen.said.insert((task, *name), text);
            }
        }
        if !news.is_empty() {
            writeln!(out, "{label} {sign} T{task}{news}").unwrap();
        }
        return;
    }
    let what = match entry.subject {
        Subject::Event(kind) => kind.to_string(),
        Subject::Turn => "turn".to_owned(),
        Subject::Account => "account".to_owned(),
        Subject::Task => unreachable!("tasks are handled above"),
    };
    write!(out, "{label} {sign} {what}").unwrap();
    if let Some(lane) = entry.lane {
        write!(out, "/{lane}").unwrap();
    }
    if let Some(state) = entry.state {
        write!(out, " {state}").unwrap();
    }
    if let Some(title) = &entry.title {
        write!(out, " {title:?}").unwrap();
    }
    write!(out, " T{task} {}", short(&entry.key)).unwrap();
    for alias in &entry.aliases {
        write!(out, " = {}", short(alias)).unwrap();
    }
    if let Some(series) = entry.series.as_ref().filter(|series| !entry.key.starts_with(&series.name)) {
        write!(out, " in {}", short(&series.name)).unwrap();
    }
    if let Some(usage) = Tokens::read(&entry.metadata) {
        let Tokens { input, output, cache_read, cache_write, .. } = usage;
        write!(out, " in={input} out={output} read={cache_read} written={cache_write}").unwrap();
    }
    for name in SHOWN {
        if let Some(value) = entry.metadata.get(*name) {
            write!(out, " {name}={}", plain(value)).unwrap();
        }
    }
    writeln!(out).unwrap();
}
