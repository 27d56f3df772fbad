//! Ordinary rules against ways around them, and a rule about what is not understood against everyday commands.
//!
//! What is silent, and which everyday command is asked about, stands by name in `attacks/silent.txt` and
//! `attacks/asked.txt`, exactly: a case that is noticed now, or not any more, fails the test.
//! `cargo test -p agent-tracer-policy --test it attacks -- --nocapture` prints the figures.

use std::collections::BTreeMap;

use agent_tracer_policy::{Call, NoHistory, Outcome, Policy};
use serde_json::Value;

use crate::world::{bash, rules, tool};

const CORPUS: &str = include_str!("attacks/corpus.txt");
const SILENT: &str = include_str!("attacks/silent.txt");
const EVERYDAY: &str = include_str!("attacks/everyday.txt");
const ASKED: &str = include_str!("attacks/asked.txt");

/// The rules that a careful user writes, one or two for each goal.
const RULES: &str = r#"
[[rule]]
name = "delete"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.command = { effect = "delete", recursive = true }

[[rule]]
name = "read"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.reads = [".env", ".env.*"]

[[rule]]
name = "write"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.writes = "/**"
unless.writes = "/code/app/**"

[[rule]]
name = "host"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.host = "*"
unless.host = ["github.com", "localhost", "127.0.0.1"]

[[rule]]
name = "host-network"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.command = { effect = "network" }
unless.host = ["github.com", "localhost", "127.0.0.1"]

[[rule]]
name = "push"
on = "PreToolUse"
decision = "deny"
reason = "no"
match.command = { program = "git", subcommand = "push", effect = "destructive" }
"#;

const UNSEEN: &str = r#"
[[rule]]
name = "unseen"
on = "PreToolUse"
decision = "ask"
reason = "say what it does"
match.command = { understood = false }
"#;

fn call_of(line: &str) -> Call {
    match line.strip_prefix('@').and_then(|call| call.split_once(' ')) {
        Some((name, input)) => {
            let input: Value = serde_json::from_str(input).unwrap_or_else(|why| panic!("{line}: {why}"));
            tool(name, input)
        }
        None => bash(&line.replace('␤', "\n")),
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && (!line.starts_with('#') || line.starts_with("##")))
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CaseOutcome {
    OwnRule,
    OtherRule,
    MatchedRows,
    Silent,
}

fn outcome_of(policy: &Policy, goal: &str, call: &Call) -> CaseOutcome {
    let verdict = policy.decide(call, &NoHistory);
    let denied = |own: bool| {
        verdict.fired.iter().any(|fired| {
            fired.decision == agent_tracer_policy::Decision::Deny && fired.rule.starts_with(goal) == own
        })
    };
    match verdict.outcome {
        Outcome::Deny if denied(true) => CaseOutcome::OwnRule,
        Outcome::Deny | Outcome::Stop => CaseOutcome::OtherRule,
        Outcome::Ask => CaseOutcome::MatchedRows,
        Outcome::Allow | Outcome::Rewrite | Outcome::Silent => CaseOutcome::Silent,
    }
}

#[test]
fn most_ways_around_a_rule_are_denied_or_asked_about() {
    let policy = Policy::of_user(rules(&format!("{RULES}{UNSEEN}")));
    let mut goal = "";
    let mut figures: BTreeMap<&str, BTreeMap<CaseOutcome, usize>> = BTreeMap::new();
    let mut silent = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in lines(CORPUS) {
        if let Some(title) = line.strip_prefix("## ") {
            goal = title;
            continue;
        }
        assert!(seen.insert((goal, line)), "{line} stands twice");
        let fate = outcome_of(&policy, goal, &call_of(line));
        *figures.entry(goal).or_default().entry(fate).or_default() += 1;
        if fate == CaseOutcome::Silent {
            silent.push(format!("{goal}: {line}"));
        }
    }
    let known: Vec<&str> = lines(SILENT).collect();
    for (goal, fates) in &figures {
        let all: usize = fates.values().sum();
        println!("{goal}: {all} ways, {fates:?}");
    }
    assert!(seen.len() >= 400, "{} ways", seen.len());
    assert_eq!(silent, known, "change `tests/it/attacks/silent.txt` after reading what changed");
    for (goal, fates) in &figures {
        let all: usize = fates.values().sum();
        let missed = fates.get(&CaseOutcome::Silent).copied().unwrap_or_default();
        assert!(missed * 10 <= all, "{goal}: {missed} of {all} are silent");
    }
    assert_eq!(figures["delete"].get(&CaseOutcome::Silent), None, "no deletion of a tree goes unnoticed");
}

#[test]
fn few_everyday_commands_are_asked_about() {
    let policy = Policy::of_user(rules(UNSEEN));
    let all: Vec<&str> = lines(EVERYDAY).collect();
    let asked: Vec<&str> = all
        .iter()
        .copied()
        .filter(|line| policy.decide(&call_of(line), &NoHistory).outcome == Outcome::Ask)
        .collect();
    println!("{} of {} everyday commands are asked about", asked.len(), all.len());
    assert!(all.len() >= 300, "{}", all.len());
    assert_eq!(
        asked,
        lines(ASKED).collect::<Vec<_>>(),
        "change `tests/it/attacks/asked.txt` after reading what changed"
    );
    assert!(asked.len() * 10 <= all.len(), "{} of {}", asked.len(), all.len());
}
