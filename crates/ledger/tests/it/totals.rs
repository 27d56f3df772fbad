//! Whatever the order, the repetition, the size of the parts and the mixture of channels, the totals are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agent_tracer_event::{Channel, Entry, Kind, Millis, Subject, TaskId};
use agent_tracer_ledger::view::{Task, UsageView};
use agent_tracer_ledger::{Observed, Range, TaskFilter, UsageBy, Utc, Verdict};
use agent_tracer_testkit::{Scenario, fixtures, rollout_of, scenario, scenarios};
use serde_json::Value;

use crate::delivery_order::shuffled;
use crate::queries::every;
use crate::world::World;

const PARTS: [UsageBy; 8] = [
    UsageBy::Day,
    UsageBy::Week,
    UsageBy::Month,
    UsageBy::Model,
    UsageBy::Project,
    UsageBy::Agent,
    UsageBy::AgentType,
    UsageBy::Skill,
];

fn tasks(world: &World) -> Vec<Task> {
    let store = world.ledger.store();
    every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }))
}

/// Returns every total there is: of each task, its own and its tree's; over time by whatever it can be distinguished
/// by.
fn totals(world: &World) -> BTreeMap<String, UsageView> {
    let store = world.ledger.store();
    let mut all = BTreeMap::new();
    for task in tasks(world) {
        let id = TaskId::parse(&task.id).unwrap();
        all.insert(format!("own {}", task.runtime_session_id), task.usage);
        all.insert(format!("tree {}", task.runtime_session_id), task.tree_usage);
        for by in [UsageBy::Model, UsageBy::Skill] {
            for part in store.task_usage(&id, by).unwrap().items {
                all.insert(format!("{by:?} of {} {}", task.runtime_session_id, part.key), part.usage);
            }
        }
    }
    for by in PARTS {
        let buckets = every(|paging| store.usage(&Range { paging, ..Range::default() }, by, &Utc));
        all.extend(buckets.into_iter().map(|bucket| (format!("{by:?} {}", bucket.key), bucket.usage)));
    }
    // A task that only one channel knows and that spent nothing is no total.
    all.retain(|_, usage| *usage != UsageView::default());
    all
}

/// Brings these in parts of sizes that the seed says, and some of them twice.
fn reported(observed: &[Observed], seed: u64) -> World {
    let mixed = shuffled(observed, seed);
    let world = World::new();
    let (mut at, mut state) = (0, seed | 1);
    while at < mixed.len() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size = 1 + (state >> 33) as usize % 40;
        let end = (at + size).min(mixed.len());
        world.bring(&mixed[at..end], size);
        if state >> 60 < 5 {
            // A retry: the same once more, and some of what came long before.
            world.bring(&mixed[at / 2..end], usize::MAX);
        }
        at = end;
    }
    world
}

#[test]
fn totals_do_not_depend_on_order_repetition_parts_or_mixture_of_channels() {
    let mut with_telemetry = 0;
    for (number, scenario) in scenarios().iter().enumerate() {
        let known = scenario.observed(None);
        let expected = totals(&World::with(&known, usize::MAX));
        let full = scenario.with_telemetry();
        let seed = number as u64 + 1;
        assert_eq!(totals(&reported(&full.observed(None), seed)), expected, "{}: mixed", scenario.name);
        // Telemetry comes seconds after the rest or long before a file is read.
        let mut telemetry = full.observed(Some(Channel::Otlp));
        with_telemetry += usize::from(!telemetry.is_empty());
        telemetry.extend(full.observed(Some(Channel::Transcript)));
        telemetry.extend(full.observed(Some(Channel::Hook)));
        assert_eq!(totals(&World::with(&telemetry, 11)), expected, "{}: telemetry first", scenario.name);
    }
    assert!(with_telemetry > 60, "{with_telemetry}");
}

/// Counts a response that only telemetry tells of, and the same record a second time does not.
#[test]
fn telemetry_alone_counts_each_request_once() {
    let mut compared = 0;
    for name in ["2.1.325/hello", "2.1.325/agent_nested", "2.1.325/otel_basic", "2.1.325/rc_resume"] {
        let full = scenario(name).with_telemetry();
        let telemetry = full.observed(Some(Channel::Otlp));
        let alone = totals(&World::with(&[telemetry.clone(), telemetry].concat(), 3));
        let files = totals(&World::with(&full.observed(Some(Channel::Transcript)), usize::MAX));
        let spent = |totals: &BTreeMap<String, UsageView>| -> BTreeMap<String, u64> {
            let own = totals.iter().filter(|(key, _)| key.starts_with("own "));
            own.map(|(key, usage)| {
                let left = usage.residual.as_ref().map_or(0, |left| left.tokens.output);
                (key.clone(), usage.tokens.output - left)
            })
            .filter(|(_, tokens)| *tokens > 0)
            .collect()
        };
        assert_eq!(spent(&alone), spent(&files), "{name}");
        compared += spent(&alone).len();
    }
    assert!(compared >= 6, "{compared}");
}

/// Ignores stream events and metrics of Codex, which repeat the tokens of a response without naming it.
#[test]
fn stream_events_of_codex_never_count() {
    let mut seen = 0;
    for scenario in scenarios().iter().filter(|scenario| scenario.name.starts_with("codex/")) {
        for observed in scenario.with_telemetry().observed(Some(Channel::Otlp)) {
            let Verdict::Read(reading) = &observed.verdict else { continue };
            let usage = reading.entries.iter().any(|entry| entry.subject == Subject::Event(Kind::TokenUsage));
            assert!(!usage, "{}: {reading:?}", scenario.name);
        }
        seen += 1;
    }
    assert!(seen > 40, "{seen}");
}

fn is_usage_from(observed: &Observed, source: &str) -> bool {
    let Verdict::Read(reading) = &observed.verdict else { return false };
    reading.entries.iter().any(|entry| entry.metadata.get("usageSource").is_some_and(|from| from == source))
}

/// Returns the turn of a response that this source tells of.
fn turn_of(observed: &Observed, source: &str) -> Option<String> {
    let Verdict::Read(reading) = &observed.verdict else { return None };
    let from = |entry: &&Entry| entry.metadata.get("usageSource").is_some_and(|from| from == source);
    let entry = reading.entries.iter().find(from)?;
    Some(format!("{} {}", entry.task.runtime_session, entry.turn.as_deref()?))
}

fn responses(world: &World) -> u64 {
    tasks(world).iter().map(|task| task.usage.provenance.responses).sum()
}

/// Counts a thread that keeps no file and is known by its hooks alone.
#[test]
fn a_thread_without_a_file_spent_what_its_hooks_say() {
    let ephemeral = scenario("codex/0.166.0/ephemeral");
    assert!(ephemeral.parts.iter().all(|part| part.channel == Channel::Hook));
    let world = World::with(&ephemeral.observed(None), 4);
    assert_eq!(responses(&world), 2);
    let spent = tasks(&world).into_iter().map(|task| task.usage).collect::<Vec<_>>();
    assert!(spent.iter().any(|usage| usage.tokens.output > 0 && usage.cost_usd > 0.0), "{spent:?}");
}

#[test]
fn a_turn_of_codex_counts_its_records_if_it_has_any_and_else_its_hooks() {
    let mut compared = 0;
    let with_both = |scenario: &&Scenario| {
        let all = scenario.observed(None);
        all.iter().any(|one| is_usage_from(one, "hook")) && all.iter().any(|one| is_usage_from(one, "record"))
    };
    for scenario in scenarios().iter().filter(with_both) {
        let name = &scenario.name;
        let all = scenario.observed(None);
        let records = totals(&World::with(&scenario.observed(Some(Channel::Transcript)), 20));
        let whole = World::with(&all, 20);
        let spent = |totals: &BTreeMap<String, UsageView>| -> Vec<(String, u64, u64)> {
            let own = totals.iter().filter(|(key, _)| key.starts_with("own "));
            own.map(|(key, usage)| (key.clone(), usage.tokens.input, usage.tokens.output)).collect()
        };
        // A thread that leaves no rollout has hooks alone.
        let both = spent(&totals(&whole));
        assert!(spent(&records).iter().all(|thread| both.contains(thread)), "{name}: {both:?}");
        // Without its records the hooks count.
        let hooks: Vec<Observed> = all.iter().filter(|one| !is_usage_from(one, "record")).cloned().collect();
        let of_hooks = responses(&World::with(&hooks, 20));
        assert!(of_hooks > 0, "{name}");
        // With one record, its turn counts that one alone, however many attempts the hooks tell of.
        let reported: BTreeSet<String> = hooks.iter().filter_map(|one| turn_of(one, "hook")).collect();
        let with_hooks =
            |one: &&Observed| turn_of(one, "record").is_some_and(|turn| reported.contains(&turn));
        let Some(record) = all.iter().find(with_hooks) else { continue };
        let turn = turn_of(record, "record");
        let attempts = hooks.iter().filter(|one| turn_of(one, "hook") == turn).count() as u64;
        let mixed = World::with(&shuffled(&[hooks, vec![record.clone()]].concat(), 5), 3);
        assert_eq!(responses(&mixed), of_hooks - attempts + 1, "{name}");
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}

/// Checks both files, because Codex begins a new file when a thread is taken back to an earlier point; the old one
/// stays, and what it spent too.
#[test]
fn a_thread_that_was_reverted_has_spent_what_both_its_files_say() {
    let path = fixtures().join("codex/0.166.0/rollouts/hello.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let thread = first["payload"]["id"].as_str().unwrap();
    let old = rollout_of(&format!("rollout-2026-11-15T19-33-05-{thread}.jsonl"), text.as_bytes());
    let spent = |observed: &[Observed]| -> (usize, u64) {
        let world = World::with(observed, 6);
        let tasks = tasks(&world);
        (tasks.len(), tasks.iter().map(|task| task.usage.tokens.output).sum())
    };
    let (threads, before) = spent(&old);
    assert_eq!(threads, 1);
    let name = format!("rollout-2026-11-15T19-50-00-{thread}_01a1e0ff-0000-7000-8000-000000000001.jsonl");
    // What the new file repeats was spent once.
    let copy = rollout_of(&name, text.as_bytes());
    assert_eq!(spent(&[old.clone(), copy].concat()), (1, before));
    // What was asked after the revert was spent on top of what was thrown away.
    let again = text.replace("resp_", "resp_again");
    let again = rollout_of(&name, again.as_bytes());
    assert_eq!(spent(&[again.clone(), old.clone()].concat()), (1, 2 * before));
    assert_eq!(spent(&[old, again].concat()), (1, 2 * before));
}
