//! Hooks and rollouts of the same scenario tell of the same facts under the same keys.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Entry, Kind, Phase, Subject};
use agent_tracer_privacy::Level;

use crate::codex_fixtures::{LEVELS, entries, hook_scenarios, is, is_call, read_payload, rollouts};

type Fact = (String, String);

fn fact(entry: &Entry) -> Fact {
    (entry.task.runtime_session.clone(), entry.key.clone())
}

/// Every key under which an entry can be found.
fn names(entry: &Entry) -> Vec<Fact> {
    let mut names = vec![fact(entry)];
    names.extend(entry.aliases.iter().map(|alias| (entry.task.runtime_session.clone(), alias.clone())));
    names
}

/// One scenario from both sides: what its hooks say, and what its rollouts say.
struct Scenario {
    name: String,
    hooks: Vec<Entry>,
    rollouts: Vec<Entry>,
    /// The threads of which there is a rollout.
    threads: BTreeSet<String>,
}

/// The rollout of a hook scenario has its name, but for two.
fn belongs(rollout: &str, scenario: &str) -> bool {
    let scenario = match scenario {
        "appserver" => "legacy_history",
        other => other,
    };
    rollout == scenario || rollout.starts_with(&format!("{scenario}."))
}

fn scenarios(level: Level) -> Vec<Scenario> {
    let files = rollouts();
    let mut scenarios = Vec::new();
    for (name, rows) in hook_scenarios() {
        let hooks = rows.iter().enumerate().flat_map(|(number, (at, payload))| {
            read_payload(&format!("{name}-{number}"), *at, payload, level).entries
        });
        let hooks: Vec<Entry> = hooks.collect();
        let mut actual = Vec::new();
        let mut threads = BTreeSet::new();
        for (rollout, content) in files.iter().filter(|(rollout, _)| belongs(rollout, &name)) {
            let entries = entries(rollout, content, level);
            threads.insert(entries[0].task.runtime_session.clone());
            actual.extend(entries);
        }
        scenarios.push(Scenario { name, hooks, rollouts: actual, threads });
    }
    scenarios
}

#[test]
fn every_call_that_a_hook_tells_of_is_in_the_rollout_under_the_same_key() {
    for level in LEVELS {
        let mut matched = BTreeSet::new();
        for scenario in scenarios(level) {
            let known: BTreeSet<Fact> =
                scenario.rollouts.iter().filter(|entry| is_call(entry)).flat_map(names).collect();
            for entry in scenario.hooks.iter().filter(|entry| is_call(entry)) {
                if scenario.threads.contains(&entry.task.runtime_session) {
                    assert!(
                        names(entry).iter().any(|name| known.contains(name)),
                        "{}: {entry:?}",
                        scenario.name
                    );
                    matched.insert(fact(entry));
                }
            }
        }
        assert!(matched.len() >= 60, "{}", matched.len());
    }
}

#[test]
fn both_channels_mean_the_same_call_by_the_same_key() {
    for level in LEVELS {
        for scenario in scenarios(level) {
            let mut attempts: BTreeMap<Fact, Vec<&Entry>> = BTreeMap::new();
            let both = scenario.hooks.iter().chain(&scenario.rollouts);
            for entry in both.filter(|entry| is_call(entry) && entry.phase == Phase::Open) {
                attempts.entry(fact(entry)).or_default().push(entry);
            }
            for (key, actual) in attempts {
                let [one, others @ ..] = actual.as_slice() else { continue };
                for other in others {
                    assert_eq!(one.subject, other.subject, "{}: {key:?}", scenario.name);
                    assert_eq!(one.tool_name, other.tool_name, "{}: {key:?}", scenario.name);
                    assert_eq!(one.turn, other.turn, "{}: {key:?}", scenario.name);
                    assert_eq!(one.title, other.title, "{}: {key:?}", scenario.name);
                    assert_eq!(one.file_paths, other.file_paths, "{}: {key:?}", scenario.name);
                    for name in ["callSignature", "subtypeKey", "entityName", "operation"] {
                        assert_eq!(
                            one.metadata.get(name),
                            other.metadata.get(name),
                            "{}: {key:?} {name}",
                            scenario.name
                        );
                    }
                }
            }
        }
    }
}

/// The keys of one kind of fact, on threads of which both sides are there.
fn keys<'a>(
    entries: &'a [Entry],
    wanted: impl Fn(&Entry) -> bool + 'a,
    threads: &'a BTreeSet<String>,
) -> BTreeSet<Fact> {
    entries
        .iter()
        .filter(move |entry| wanted(entry) && threads.contains(&entry.task.runtime_session))
        .map(fact)
        .collect()
}

#[test]
fn prompts_answers_turns_and_interruptions_are_the_same_facts_on_both_sides() {
    for level in LEVELS {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for scenario in scenarios(level) {
            for (what, kind) in [
                ("prompt", Kind::UserMessage),
                ("answer", Kind::AssistantResponse),
                ("interruption", Kind::TurnInterrupted),
                ("subagent", Kind::ActionLogged),
            ] {
                let from_hooks = keys(&scenario.hooks, |entry| is(entry, kind), &scenario.threads);
                let from_rollouts = keys(&scenario.rollouts, |entry| is(entry, kind), &scenario.threads);
                // A prompt that a hook of the user refused never reaches the rollout.
                let refused = scenario.name == "o_exit2" && what == "prompt";
                if !refused {
                    let missing: Vec<&Fact> = from_hooks.difference(&from_rollouts).collect();
                    assert!(
                        missing.is_empty(),
                        "{} {what}: {missing:?} not in {from_rollouts:?}",
                        scenario.name
                    );
                }
                *counts.entry(what).or_default() += from_hooks.len();
            }
            let turn = |entry: &Entry| entry.subject == Subject::Turn;
            let from_hooks = keys(&scenario.hooks, turn, &scenario.threads);
            let from_rollouts = keys(&scenario.rollouts, turn, &scenario.threads);
            assert!(from_hooks.is_subset(&from_rollouts), "{}", scenario.name);
        }
        assert!(counts["prompt"] > 50 && counts["answer"] > 45 && counts["interruption"] >= 3, "{counts:?}");
        assert!(counts["subagent"] >= 5, "{counts:?}");
    }
}

#[test]
fn sessions_and_compactions_meet_too() {
    let (mut started, mut compacted, mut ended) = (0, 0, 0);
    for scenario in scenarios(Level::Actions) {
        let known = |entry: &Entry| scenario.rollouts.iter().any(|other| fact(other) == fact(entry));
        for entry in
            scenario.hooks.iter().filter(|entry| scenario.threads.contains(&entry.task.runtime_session))
        {
            if entry.key.starts_with("session:started:01") {
                assert!(known(entry), "{}: {entry:?}", scenario.name);
                started += 1;
            } else if entry.key.starts_with("compaction:after:") {
                assert!(known(entry), "{}: {entry:?}", scenario.name);
                compacted += 1;
            } else if entry.key.starts_with("session:ended:01") {
                assert!(known(entry), "{}: {entry:?}", scenario.name);
                ended += 1;
            }
        }
    }
    assert!(started > 40 && compacted >= 4 && ended >= 5, "{started} {compacted} {ended}");
}
