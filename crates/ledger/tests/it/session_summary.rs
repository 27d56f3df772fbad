//! Tests that the summary of a task stands on the rows that tell of its end, whatever came when.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Channel, Kind, Millis, TaskId, TaskKey};
use agent_tracer_ledger::view::{Row, Task, TaskStatus, TaskSummary};
use agent_tracer_ledger::{Observed, Retention, RowFilter, TaskFilter};
use agent_tracer_testkit::{scenario, scenarios};
use serde_json::Value;

use crate::queries::every;
use crate::world::World;

const FOREVER: Millis = Millis(4_000_000_000_000);

fn tasks(world: &World) -> Vec<Task> {
    let store = world.ledger.store();
    every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }))
}

fn timeline(world: &World, task: &Task) -> Vec<Row> {
    let store = world.ledger.store();
    let id = TaskId::parse(&task.id).unwrap();
    every(|paging| store.timeline(&id, &RowFilter { paging, ..RowFilter::default() }))
}

fn summary(world: &World, task: &Task) -> TaskSummary {
    world.ledger.store().summary(Millis(0), &TaskId::parse(&task.id).unwrap()).unwrap()
}

/// Returns the numbers of a task as a row carries them.
fn carried(world: &World, task: &Task) -> Value {
    let mut reported = serde_json::to_value(summary(world, task)).unwrap();
    reported.as_object_mut().unwrap().remove("sessions");
    reported
}

fn is_over(task: &Task) -> bool {
    let ends = [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Abandoned];
    ends.contains(&task.status) && task.ended_at.is_some()
}

#[test]
fn the_end_of_every_captured_session_and_subagent_carries_what_it_came_to() {
    let (mut sessions, mut subagents) = (0, 0);
    for scenario in scenarios() {
        let world = World::with(&scenario.observed(None), 5);
        let tasks: BTreeMap<String, Task> =
            tasks(&world).into_iter().map(|task| (task.runtime_session_id.clone(), task)).collect();
        for task in tasks.values() {
            let rows = timeline(&world, task);
            let is_end = |row: &&Row| {
                row.kind == Kind::SessionEnded
                    && row.metadata.get("completeTask") != Some(&Value::Bool(false))
            };
            let mut ends: Vec<&Row> = rows.iter().filter(is_end).collect();
            let about = format!("{} {}", scenario.name, task.runtime_session_id);
            if let Some(newest) = ends.pop() {
                let expected = is_over(task).then(|| carried(&world, task));
                assert_eq!(newest.metadata.get("summary"), expected.as_ref(), "{about}");
                sessions += usize::from(expected.is_some());
            }
            assert!(ends.iter().all(|row| !row.metadata.contains_key("summary")), "{about}");
            for row in rows.iter().filter(|row| row.kind == Kind::ActionLogged) {
                let child = row.metadata.get("childSession").and_then(Value::as_str);
                let Some(child) = child.and_then(|child| tasks.get(child)) else { continue };
                // The row of a task that turned out not to be above the subagent tells of it, but not what it came to.
                let mut above = child.parent_task_id.clone();
                while let Some(id) = above.clone().filter(|id| *id != task.id) {
                    above =
                        tasks.values().find(|task| task.id == id).and_then(|it| it.parent_task_id.clone());
                }
                let expected = (is_over(child) && above.is_some()).then(|| carried(&world, child));
                assert_eq!(row.metadata.get("summary"), expected.as_ref(), "{about}: {}", row.title);
                subagents += usize::from(expected.is_some());
            }
        }
    }
    assert!(sessions > 100 && subagents > 20, "{sessions} sessions, {subagents} subagents");
}

#[test]
fn a_summary_says_what_happened() {
    let world = World::with(&scenario("2.1.325/agent_nested").observed(None), 5);
    let id = TaskKey::new(Agent::CLAUDE_CODE, "2ebc5ab6-4a16-4d07-8e32-a49967836261").task_id();
    let task = tasks(&world).into_iter().find(|task| task.id == id.as_str()).unwrap();
    let rows = timeline(&world, &task);
    let end = rows.iter().rfind(|row| row.kind == Kind::SessionEnded).unwrap();
    let reported = &end.metadata["summary"];
    assert_eq!(reported["taskId"], task.id.as_str());
    assert_eq!((reported["agents"].as_u64(), reported["turns"].as_u64()), (Some(2), Some(task.turn_count)));
    for key in ["durationMs", "activeMs", "toolCalls"] {
        assert!(reported[key].as_u64().is_some_and(|number| number > 0), "{key}: {reported}");
    }
    assert_eq!(reported["usage"]["outputTokens"], task.tree_usage.tokens.output);
    assert_eq!(reported["usage"]["costUsd"], task.tree_usage.cost_usd);
    for key in ["failures", "filesRead", "filesChanged", "permissions", "compactions", "waitingMs"] {
        assert!(reported[key].is_u64(), "{key}: {reported}");
    }
}

/// Follows a session that was resumed: what it came to is not known before it ends again.
#[test]
fn a_task_that_goes_on_has_come_to_nothing_yet() {
    let hooks = scenario("2.1.325/bash_ok").observed(Some(Channel::Hook));
    let world = World::with(&hooks, 5);
    let ended = |world: &World| {
        let task = tasks(world).pop().unwrap();
        let rows = timeline(world, &task);
        let end = rows.iter().rfind(|row| row.kind == Kind::SessionEnded).unwrap();
        end.metadata.contains_key("summary")
    };
    assert!(ended(&world));
    // The same session an hour later, without its end.
    let hour = 3_600_000;
    let mut later: Vec<Observed> = hooks.into_iter().rev().skip(1).collect();
    for observed in &mut later {
        observed.name.push_str("-later");
        observed.arrived.0 += hour;
        observed.payload = None;
        let agent_tracer_ledger::Verdict::Read(reading) = &mut observed.verdict else { continue };
        reading
            .entries
            .retain(|entry| entry.subject == agent_tracer_event::Subject::Event(Kind::UserMessage));
        for entry in &mut reading.entries {
            entry.key.push_str("-later");
            entry.aliases.clear();
            entry.occurred_at.0 += hour;
        }
    }
    world.bring(&later, 1);
    assert_eq!(tasks(&world)[0].status, TaskStatus::Running);
    assert!(!ended(&world));
}

#[test]
fn what_a_task_came_to_outlives_its_events() {
    for name in ["2.1.325/agent_nested", "2.1.325/compact", "2.1.325/filewrite", "2.1.325/ctl_perm_allow"] {
        let world = World::with(&scenario(name).observed(None), 50);
        let all = |world: &World| -> Vec<TaskSummary> {
            let mut all: Vec<TaskSummary> = tasks(world).iter().map(|task| summary(world, task)).collect();
            // Stays are rows, and rows are what goes.
            all.iter_mut().for_each(|summary| summary.sessions.clear());
            all
        };
        let expected = all(&world);
        let old = Retention { events_before: Some(FOREVER), kept_before: None };
        assert!(world.ledger.retain(old).unwrap().tasks > 0, "{name}");
        assert_eq!(all(&world), expected, "{name}");
        world.ledger.rebuild().unwrap();
        assert_eq!(all(&world), expected, "{name}, folded anew");
    }
}
