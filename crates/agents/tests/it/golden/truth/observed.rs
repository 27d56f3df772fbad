//! Folds the entries of a scenario into facts and counts them.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{CallState, Channel, Kind, Series, Subject, TaskKey, Tokens};
use agent_tracer_ledger::{Fact, SourcedEntry, fold};
use serde_json::Value;

use super::super::scenarios::Scenario;
use super::table::ResponseSums;

/// Holds what happened, as far as it can be known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) numbers: BTreeMap<&'static str, i64>,
    pub(super) calls: Vec<String>,
    pub(super) agents: Vec<String>,
    pub(super) errors: Vec<String>,
    pub(super) compactions: Vec<String>,
    pub(super) tokens: BTreeMap<String, ResponseSums>,
    pub(super) account: Option<[u64; 4]>,
}

impl Happened {
    /// Every column that differs, with both sides of it.
    pub(super) fn differences(&self, actual: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut compare = |column: &str, happened: String, actual: String| {
            if happened != actual {
                differences.push(format!("{column}\n  happened {happened}\n  reported {actual}"));
            }
        };
        for (column, number) in &self.numbers {
            compare(column, number.to_string(), actual.numbers[column].to_string());
        }
        compare("calls", format!("{:?}", self.calls), format!("{:?}", actual.calls));
        compare("agents", format!("{:?}", self.agents), format!("{:?}", actual.agents));
        compare("errors", format!("{:?}", self.errors), format!("{:?}", actual.errors));
        compare("compactions", format!("{:?}", self.compactions), format!("{:?}", actual.compactions));
        compare("tokens", format!("{:?}", self.tokens), format!("{:?}", actual.tokens));
        compare("account", format!("{:?}", self.account), format!("{:?}", actual.account));
        differences
    }
}

/// A call as both sides write it.
pub(super) fn state_line(tool: &str, state: &str, agent: Option<&str>) -> String {
    match agent {
        Some(agent) => format!("{tool} {state} @{agent}"),
        None => format!("{tool} {state}"),
    }
}

/// Returns the facts that these channels report. Keys that are declared equal are one fact.
fn facts(scenario: &Scenario, channels: &[Channel]) -> Vec<Fact> {
    let parts = || scenario.parts.iter().filter(|part| channels.contains(&part.channel));
    let entries = || {
        parts().flat_map(|part| {
            let readings = part.readings.iter();
            readings.flat_map(|(_, reading)| &reading.entries).map(|entry| (part.channel, entry))
        })
    };
    // Each key leads to another one of its class, and the last of them to itself.
    let mut same: BTreeMap<(TaskKey, String), String> = BTreeMap::new();
    // The first that a channel tells of a series is the first that another tells; the ledger joins them so.
    let mut series: BTreeMap<(Channel, TaskKey, String), Vec<String>> = BTreeMap::new();
    for (channel, entry) in entries() {
        let class = class_of(&same, &entry.task, &entry.key);
        let nth = entry.series.as_ref().map(|Series { name, part }| {
            let name = format!("{name} {part}");
            let known = series.entry((channel, entry.task.clone(), name.clone())).or_default();
            let place = known.iter().position(|key| *key == entry.key).unwrap_or_else(|| {
                known.push(entry.key.clone());
                known.len() - 1
            });
            format!("{name} {place}")
        });
        for alias in entry.aliases.iter().chain(&nth) {
            let other = class_of(&same, &entry.task, alias);
            if other != class {
                same.insert((entry.task.clone(), other), class.clone());
            }
        }
    }
    let mut actual: BTreeMap<(TaskKey, String), Vec<SourcedEntry>> = BTreeMap::new();
    for (channel, entry) in entries() {
        let key = class_of(&same, &entry.task, &entry.key);
        actual
            .entry((entry.task.clone(), key))
            .or_default()
            .push(SourcedEntry { entry: entry.clone(), channel });
    }
    actual.values().filter_map(|actual| fold(actual)).collect()
}

/// Returns the key that stands for all keys declared equal to this one.
fn class_of(same: &BTreeMap<(TaskKey, String), String>, task: &TaskKey, key: &str) -> String {
    let mut class = key.to_owned();
    while let Some(next) = same.get(&(task.clone(), class.clone())) {
        class.clone_from(next);
    }
    class
}

fn is(fact: &Fact, kind: Kind) -> bool {
    fact.subject == Subject::Event(kind)
}

fn text<'a>(fact: &'a Fact, key: &str) -> Option<&'a str> {
    fact.metadata.get(key).and_then(Value::as_str)
}

/// The agents of a scenario, by the tasks that they have.
struct Agents(BTreeMap<String, String>);

impl Agents {
    fn of(facts: &[Fact]) -> Self {
        let tasks = facts.iter().filter(|fact| fact.subject == Subject::Task);
        let known = tasks
            .filter_map(|fact| Some((fact.task.runtime_session.clone(), text(fact, "agentId")?.to_owned())));
        Self(known.collect())
    }

    fn who(&self, session: &str) -> Option<&str> {
        self.0.get(session).map(String::as_str)
    }

    fn of_fact(&self, fact: &Fact) -> Option<&str> {
        self.who(&fact.task.runtime_session)
    }
}

fn children(facts: &[Fact], agents: &Agents) -> Vec<String> {
    let mut children: Vec<String> = facts
        .iter()
        .filter(|fact| fact.subject == Subject::Task)
        .filter_map(|fact| {
            let id = agents.of_fact(fact)?;
            let kind = text(fact, "agentType").unwrap_or("-");
            let parent = text(fact, "parentSession");
            let parent = parent.map_or("-", |parent| agents.who(parent).unwrap_or("main"));
            Some(format!("{id} {kind} < {parent}"))
        })
        .collect();
    children.sort();
    children
}

/// Compactions, by what began them. Two channels tell of one as two facts: the one that tells of more is believed.
fn compactions(facts: &[Fact]) -> Vec<String> {
    let mut by_channel: BTreeMap<Channel, Vec<String>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| text(fact, "compactPhase") == Some("after")) {
        for channel in &fact.channels {
            let trigger = text(fact, "trigger").unwrap_or("-").to_owned();
            by_channel.entry(*channel).or_default().push(trigger);
        }
    }
    let mut most = by_channel.into_values().max_by_key(Vec::len).unwrap_or_default();
    most.sort();
    most
}

/// Tokens by whose they are. Records of responses count wherever a turn has any; only elsewhere what its attempts say.
fn tokens(facts: &[Fact], agents: &Agents) -> BTreeMap<String, ResponseSums> {
    let recorded: BTreeSet<(&TaskKey, Option<&str>)> = facts
        .iter()
        .filter(|fact| is(fact, Kind::TokenUsage))
        .map(|fact| (&fact.task, fact.turn.as_deref()))
        .collect();
    let mut sums: BTreeMap<String, ResponseSums> = BTreeMap::new();
    for fact in facts {
        let counts = is(fact, Kind::TokenUsage)
            || is(fact, Kind::ModelRequest) && !recorded.contains(&(&fact.task, fact.turn.as_deref()));
        let Some(usage) = Tokens::read(&fact.metadata).filter(|_| counts) else { continue };
        let whose = match text(fact, "purpose") {
            Some("compaction") => "compaction",
            _ if fact.metadata.get("partial") == Some(&Value::Bool(true)) => "cut",
            _ => agents.of_fact(fact).unwrap_or("main"),
        };
        let [input, output, read, written] = four(&usage);
        let sum = sums.entry(whose.to_owned()).or_default();
        for (sum, number) in sum.iter_mut().zip([1, input, output, read, written]) {
            *sum += number;
        }
    }
    sums
}

fn four(usage: &Tokens) -> [u64; 4] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write]
}

/// The client's own account of all sessions, without what a fork's begins with.
fn account(facts: &[Fact]) -> Option<[u64; 4]> {
    let all = |key: &str| -> Vec<[u64; 4]> {
        let accounts = facts.iter().filter(|fact| fact.subject == Subject::Account && fact.key == key);
        accounts.filter_map(|fact| Tokens::read(&fact.metadata)).map(|usage| four(&usage)).collect()
    };
    let (accounts, copied) = (all("account"), all("account:copied"));
    let sum = |index: usize| -> u64 {
        let own: u64 = accounts.iter().map(|account| account[index]).sum();
        own - copied.iter().map(|account| account[index]).sum::<u64>()
    };
    (!accounts.is_empty()).then(|| [sum(0), sum(1), sum(2), sum(3)])
}

/// Counts what the channels tell.
pub(super) fn observed(scenario: &Scenario, channels: &[Channel]) -> Happened {
    let facts = facts(scenario, channels);
    let agents = Agents::of(&facts);
    let count = |wanted: &dyn Fn(&Fact) -> bool| {
        i64::try_from(facts.iter().filter(|fact| wanted(fact)).count()).unwrap()
    };
    let is_main = |fact: &Fact| agents.of_fact(fact).is_none();
    let outcome =
        |fact: &Fact, outcome: &str| is(fact, Kind::RuleLogged) && text(fact, "ruleOutcome") == Some(outcome);
    let numbers = BTreeMap::from([
        ("prompts", count(&|fact| is(fact, Kind::UserMessage) && is_main(fact))),
        ("answers", count(&|fact| is(fact, Kind::AssistantResponse) && is_main(fact))),
        ("reports", count(&|fact| is(fact, Kind::AssistantResponse) && !is_main(fact))),
        ("orders", count(&|fact| is(fact, Kind::UserMessage) && !is_main(fact))),
        ("interrupts", count(&|fact| is(fact, Kind::TurnInterrupted))),
        ("asks", count(&|fact| is(fact, Kind::PermissionRequest) || outcome(fact, "observed"))),
        ("refusals", count(&|fact| outcome(fact, "auto_deny"))),
        (
            "failed_requests",
            count(&|fact| {
                is(fact, Kind::ModelRequest)
                    && (fact.state == Some(CallState::Failed) || text(fact, "status") == Some("error"))
            }),
        ),
    ]);
    let mut calls: Vec<String> = facts
        .iter()
        .filter(|fact| fact.key.starts_with("tool:"))
        .map(|fact| {
            let tool = fact.tool_name.as_deref().unwrap_or("-");
            state_line(tool, fact.state.map_or("-", CallState::as_str), agents.of_fact(fact))
        })
        .collect();
    let mut errors: Vec<String> = facts
        .iter()
        .filter(|fact| is(fact, Kind::AssistantResponse))
        .filter_map(|fact| {
            let error = text(fact, "stopReason")?.strip_prefix("error:")?;
            Some(match agents.of_fact(fact) {
                Some(agent) => format!("{error} @{agent}"),
                None => error.to_owned(),
            })
        })
        .collect();
    calls.sort();
    errors.sort();
    Happened {
        numbers,
        calls,
        agents: children(&facts, &agents),
        errors,
        compactions: compactions(&facts),
        tokens: tokens(&facts, &agents),
        account: account(&facts),
    }
}
