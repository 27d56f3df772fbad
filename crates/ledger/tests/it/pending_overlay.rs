//! Tests that pending observations give the same answers as once they are stored.

use std::collections::BTreeSet;

use agent_tracer_event::{CallState, Channel, Millis, Reading, Subject, TaskId};
use agent_tracer_ledger::{Observed, PastAction, PendingOverlay, TaskHistory, Verdict};

use crate::world::World;

/// Returns how many of the newest deeds that have ended failed.
fn failures(newest_first: &[PastAction]) -> u64 {
    let ended = newest_first.iter().map(|deed| deed.state).filter(|state| *state != CallState::Running);
    ended.take_while(|state| matches!(state, CallState::Failed | CallState::Denied)).count() as u64
}

/// Returns everything that rules ask of the past of a task, about the calls and files that an observation names.
fn answers(past: &TaskHistory, id: &TaskId, reading: &Reading) -> Vec<String> {
    let mut answers = vec![
        format!("{:?}", past.actions(id, Millis(0), 16)),
        format!("{:?}", past.actions(id, Millis(0), 500)),
        format!("{:?}", past.last_prompt(id)),
    ];
    let failed = past.failures_in_a_row(id, 500).unwrap();
    assert_eq!(failed, failures(&past.actions(id, Millis(0), 500).unwrap()), "{id:?}");
    answers.push(format!("failed {failed}"));
    for entry in reading.entries.iter().filter(|entry| entry.task.task_id() == *id) {
        answers.push(format!("repeats {:?}", past.repeats(id, &entry.key)));
        if let Some(turn) = &entry.turn {
            answers.push(format!("turn {:?}", past.turn(id, turn)));
        }
        for path in &entry.file_paths {
            answers.push(format!("opened {path} {:?}", past.has_opened(id, path)));
        }
    }
    answers
}

/// Brings observations one by one, and asks before and after each. Returns how often both could be asked.
fn hold_against_each_other(name: &str, observed: &[Observed]) -> usize {
    let world = World::new();
    let past = world.ledger.history();
    let mut asked = 0;
    // What no one asks about is brought together.
    let mut between: Vec<Observed> = Vec::new();
    for observed in observed {
        let reading = match &observed.verdict {
            Verdict::Read(reading) if observed.channel == Channel::Hook => Some(reading),
            _ => None,
        };
        let coming = reading.and_then(|reading| PendingOverlay::new(reading.entries.clone(), Channel::Hook));
        let (Some(reading), Some(coming)) = (reading, coming) else {
            between.push(observed.clone());
            continue;
        };
        world.bring(&between, between.len());
        between.clear();
        let events = reading.entries.iter().filter(|entry| matches!(entry.subject, Subject::Event(_)));
        let tasks: BTreeSet<TaskId> = events.map(|entry| entry.task.task_id()).collect();
        let known: Vec<TaskId> = tasks.into_iter().filter(|id| past.knows(id).unwrap()).collect();
        let before: Vec<_> =
            known.iter().map(|id| answers(&past.with(coming.clone()), id, reading)).collect();
        world.bring(std::slice::from_ref(observed), 1);
        for (id, before) in known.iter().zip(before) {
            assert_eq!(before, answers(&past, id, reading), "{name}: {}", observed.name);
            // The writer may come in between: what is laid over what is kept already changes nothing.
            let both = answers(&past.with(coming.clone()), id, reading);
            assert_eq!(before, both, "{name}: {} twice", observed.name);
            asked += 1;
        }
    }
    asked
}

#[test]
fn what_is_about_to_be_kept_is_answered_for_as_if_it_were() {
    let mut asked = 0;
    for scenario in agent_tracer_testkit::scenarios() {
        let mut all = scenario.observed(None);
        all.extend(scenario.decided());
        all.sort_by_key(|observed| observed.arrived);
        asked += hold_against_each_other(&scenario.name, &all);
    }
    assert!(asked > 1000, "{asked}");
}

#[test]
fn what_reaches_beyond_its_own_rows_is_waited_for() {
    let mut refused: BTreeSet<String> = BTreeSet::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for scenario in agent_tracer_testkit::scenarios() {
        for observed in scenario.observed(Some(Channel::Hook)) {
            let Verdict::Read(reading) = observed.verdict else { continue };
            let event = reading.entries.iter().find_map(|entry| entry.hook_event_name.clone());
            let is_taken = PendingOverlay::new(reading.entries, Channel::Hook).is_some();
            if is_taken { &mut taken } else { &mut refused }.extend(event);
        }
    }
    for event in
        ["PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"]
    {
        assert!(taken.contains(event), "{event}: {taken:?}");
    }
    assert!(refused.contains("SessionEnd") && refused.contains("TaskCompleted"), "{refused:?}");
    assert!(!refused.contains("PreToolUse"), "{refused:?}");
}
