//! Whatever the order, the number of times and the size of the parts in which a scenario is reported, the rows are the same.

use agent_tracer_event::Channel;
use agent_tracer_ledger::{Observed, Verdict};
use agent_tracer_testkit::{scenario, scenarios};
use serde_json::Value;

use crate::world::World;

/// Returns the same in another order, the same for the same seed.
pub(crate) fn shuffled(observed: &[Observed], seed: u64) -> Vec<Observed> {
    let mut all = observed.to_vec();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..all.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.swap(last, (state % (last as u64 + 1)) as usize);
    }
    all
}

#[track_caller]
pub(crate) fn assert_same(name: &str, how: &str, expected: &[String], actual: &[String]) {
    let missing: Vec<&String> = expected.iter().filter(|row| !actual.contains(row)).take(4).collect();
    let extra: Vec<&String> = actual.iter().filter(|row| !expected.contains(row)).take(4).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{name}, {how}:\nmissing {missing:#?}\nextra {extra:#?}");
}

#[test]
fn every_order_of_every_scenario_ends_in_the_same_rows() {
    for (number, scenario) in scenarios().iter().enumerate() {
        let all = scenario.observed(None);
        let expected = World::with(&all, usize::MAX).rows();
        assert!(!expected.is_empty(), "{}", scenario.name);
        let mut reversed = all.clone();
        reversed.reverse();
        assert_same(&scenario.name, "reversed", &expected, &World::with(&reversed, 7).rows());
        assert_same(&scenario.name, "one at a time", &expected, &World::with(&all, 1).rows());
        let mixed = shuffled(&all, number as u64 + 1);
        assert_same(&scenario.name, "mixed", &expected, &World::with(&mixed, 3).rows());
    }
}

/// Returns what one channel leaves open, the other often closes: each has to get along without it.
#[test]
fn every_order_of_one_channel_alone_ends_in_the_same_rows() {
    for (number, scenario) in scenarios().iter().enumerate() {
        for channel in [Channel::Hook, Channel::Transcript] {
            let all = scenario.observed(Some(channel));
            let expected = World::with(&all, usize::MAX).rows();
            let how = |order: &str| format!("{channel} alone, {order}");
            assert_same(&scenario.name, &how("one at a time"), &expected, &World::with(&all, 1).rows());
            let mixed = shuffled(&all, number as u64 + 1);
            assert_same(&scenario.name, &how("mixed"), &expected, &World::with(&mixed, 3).rows());
        }
    }
}

/// Returns the same as another session would have reported it.
fn reported_by(observed: &[Observed], session: &str) -> Vec<Observed> {
    const CAPTURED: &str = "2ebc5ab6-4a16-4d07-8e32-a49967836261";
    let mut all = observed.to_vec();
    for observed in &mut all {
        observed.name = observed.name.replace(CAPTURED, session);
        observed.source = observed.source.as_ref().map(|source| source.replace(CAPTURED, session));
        let Verdict::Read(reading) = &mut observed.verdict else { continue };
        for entry in &mut reading.entries {
            entry.task.runtime_session = entry.task.runtime_session.replace(CAPTURED, session);
            for value in entry.metadata.values_mut().filter(|value| **value == CAPTURED) {
                *value = Value::from(session);
            }
        }
    }
    all
}

#[test]
fn a_subagent_that_turns_out_to_be_anothers_leaves_no_task_running_behind() {
    let all = scenario("2.1.325/agent_nested").observed(Some(Channel::Transcript));
    let is_of =
        |observed: &Observed, part: &str| observed.source.as_ref().is_some_and(|it| it.contains(part));
    let main: Vec<Observed> =
        all.iter().filter(|observed| !is_of(observed, "/subagents/")).cloned().collect();
    let agent: Vec<Observed> = all
        .iter()
        .filter(|observed| is_of(observed, "/subagents/agent-a65b484af8affef61.jsonl"))
        .cloned()
        .collect();
    assert!(main.len() > 3 && agent.len() > 3, "{} and {}", main.len(), agent.len());
    // Both sessions hold the same subagent, as a copied one does. Whenever it moves, the one it leaves must not wait.
    for until in 1..agent.len() {
        let (begun, rest) = agent.split_at(until);
        let order = [
            reported_by(&main, "a"),
            reported_by(begun, "a"),
            reported_by(&main, "b"),
            reported_by(begun, "b"),
        ]
        .concat();
        let order = [order, reported_by(rest, "a"), reported_by(rest, "b")].concat();
        let expected = World::with(&order, usize::MAX).rows();
        let how = format!("moved behind row {until}");
        assert_same("agent_nested", &how, &expected, &World::with(&order, 1).rows());
    }
}

#[test]
fn telling_everything_again_changes_nothing() {
    for (number, scenario) in scenarios().iter().enumerate() {
        let all = scenario.observed(None);
        let world = World::with(&all, usize::MAX);
        let expected = world.rows();
        let world = world.reopen();
        world.bring(&shuffled(&all, number as u64), 5);
        assert_same(&scenario.name, "again", &expected, &world.rows());
    }
}

#[test]
fn all_scenarios_together_are_the_sum_of_each() {
    let all: Vec<Observed> = scenarios().iter().flat_map(|scenario| scenario.observed(None)).collect();
    let expected = World::with(&all, 500).rows();
    assert_same("all", "mixed", &expected, &World::with(&shuffled(&all, 42), 97).rows());
}

#[test]
fn one_channel_alone_knows_no_task_that_both_do_not_know() {
    for scenario in scenarios() {
        let tasks = |observed: &[Observed]| -> Vec<String> {
            let world = World::with(observed, usize::MAX);
            let conn = world.connection();
            let mut find = conn.prepare("SELECT uid FROM task ORDER BY uid").unwrap();
            find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let both = tasks(&scenario.observed(None));
        for channel in [Channel::Hook, Channel::Transcript] {
            for task in tasks(&scenario.observed(Some(channel))) {
                assert!(
                    both.contains(&task),
                    "{}: {task} is known to the {channel} channel alone",
                    scenario.name
                );
            }
        }
    }
}
