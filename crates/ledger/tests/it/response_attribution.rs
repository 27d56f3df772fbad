//! Copies are transfers: a response counts once, in whatever sessions it appears, and an account that was handed on is
//! not new usage.

use agent_tracer_event::{Channel, Subject};
use agent_tracer_ledger::view::Task;
use agent_tracer_ledger::{Observed, Verdict};
use agent_tracer_testkit::{scenario, scenarios};
use serde_json::{Value, json};

use crate::delivery_order::{assert_same, shuffled};
use crate::provider_usage::tasks;
use crate::world::World;

const PARENT: &str = "88ed0a44-c22b-4984-b1f4-43938f903c20";
const FORK: &str = "b1970ab1-cf2f-4f26-8a28-3bc8b9c3b5c2";

fn fork() -> Vec<Observed> {
    scenario("2.1.325/fork").observed(None)
}

/// Changes every account of a session.
fn with_account(observed: &[Observed], session: &str, change: impl Fn(&mut Value)) -> Vec<Observed> {
    let mut all = observed.to_vec();
    for observed in &mut all {
        let Verdict::Read(reading) = &mut observed.verdict else { continue };
        for entry in &mut reading.entries {
            if entry.subject == Subject::Account
                && entry.key == "account"
                && entry.task.runtime_session == session
            {
                let mut value = Value::Object(entry.metadata.clone());
                change(&mut value);
                entry.metadata = value.as_object().unwrap().clone();
            }
        }
    }
    all
}

/// Changes a payload as if the session had been compacted for so many tokens before.
fn more(tokens: u64) -> impl Fn(&mut Value) {
    move |account| {
        let input = &mut account["models"]["claude-opus-5-5"]["inputTokens"];
        *input = json!(input.as_u64().unwrap() + tokens);
    }
}

fn task_of<'a>(tasks: &'a std::collections::BTreeMap<String, Task>, session: &str) -> &'a Task {
    &tasks[session]
}

fn left(task: &Task) -> u64 {
    task.usage.residual.as_ref().map_or(0, |residual| residual.tokens.input)
}

fn without(observed: &[Observed], session: &str) -> Vec<Observed> {
    let is_of = |observed: &Observed| match &observed.verdict {
        Verdict::Read(reading) => reading.entries.iter().any(|entry| entry.task.runtime_session == session),
        _ => false,
    };
    observed.iter().filter(|observed| !is_of(observed)).cloned().collect()
}

#[test]
fn a_fork_knows_its_parent_and_spends_only_what_it_was_answered_itself() {
    for order in [fork(), fork().into_iter().rev().collect()] {
        let world = World::with(&order, 1);
        let tasks = tasks(&world);
        let (parent, fork) = (task_of(&tasks, PARENT), task_of(&tasks, FORK));
        assert_eq!(fork.forked_from_task_id.as_deref(), Some(parent.id.as_str()));
        assert_eq!((parent.usage.tokens.input, fork.usage.tokens.input), (9, 6));
        assert_eq!((&parent.usage.residual, &fork.usage.residual), (&None, &None));
    }
}

#[test]
fn what_was_left_of_the_parents_account_is_not_left_of_the_forks() {
    let all = with_account(&with_account(&fork(), PARENT, more(100)), FORK, more(130));
    let expected = World::with(&all, usize::MAX);
    let known = tasks(&expected);
    assert_eq!((left(task_of(&known, PARENT)), left(task_of(&known, FORK))), (100, 30));
    for seed in 1..6 {
        let mixed = shuffled(&all, seed);
        assert_same("fork", "mixed", &expected.rows(), &World::with(&mixed, 1 + seed as usize).rows());
    }
}

#[test]
fn a_parent_that_went_on_after_the_fork_does_not_change_what_the_fork_began_with() {
    let all = with_account(&with_account(&fork(), PARENT, more(100)), FORK, more(100));
    // The parent is resumed later, compacted again, and writes another account.
    let mut later: Vec<Observed> = with_account(&all, PARENT, more(50));
    later.retain(|observed| match &observed.verdict {
        Verdict::Read(reading) => {
            reading.entries.iter().any(|entry| entry.key == "account" && entry.task.runtime_session == PARENT)
        }
        _ => false,
    });
    for observed in &mut later {
        observed.name.push_str("-later");
        let Verdict::Read(reading) = &mut observed.verdict else { continue };
        for entry in &mut reading.entries {
            entry.occurred_at.0 += 3_600_000;
        }
    }
    assert_eq!(later.len(), 1);
    let all = [all, later].concat();
    let expected = World::with(&all, usize::MAX);
    let known = tasks(&expected);
    assert_eq!((left(task_of(&known, PARENT)), left(task_of(&known, FORK))), (150, 0));
    let reversed: Vec<Observed> = all.into_iter().rev().collect();
    assert_same("fork", "reversed", &expected.rows(), &World::with(&reversed, 1).rows());
}

#[test]
fn a_fork_whose_parent_no_one_read_takes_the_copies_away() {
    let all = without(&with_account(&fork(), FORK, more(7)), PARENT);
    let tasks = tasks(&World::with(&all, 3));
    assert_eq!(tasks.len(), 1);
    assert_eq!((left(task_of(&tasks, FORK)), task_of(&tasks, FORK).usage.tokens.input), (7, 13));
    assert_eq!(task_of(&tasks, FORK).usage.residual.as_ref().unwrap().reason, "unknown");
}

#[test]
fn a_fork_of_a_killed_session_began_with_nothing() {
    let own = |account: &mut Value| {
        account["startedAt"] = json!("2026-11-15T21:32:27.000Z");
        account["models"]["claude-opus-5-5"] = json!({
            "inputTokens": 6 + 2, "outputTokens": 41, "cacheReadTokens": 10_303, "cacheCreationTokens": 221,
        });
    };
    let all = with_account(&fork(), FORK, own);
    let tasks = tasks(&World::with(&all, 3));
    assert_eq!(left(task_of(&tasks, FORK)), 2, "only what the fork's own account does not explain");
}

#[test]
fn an_account_that_began_after_a_kill_covers_only_what_came_after_it() {
    let name = "2.1.325/rc_resume";
    let all = scenario(name).observed(None);
    let known = tasks(&World::with(&all, 5));
    let (session, whole) = known.iter().next().unwrap();
    // The first run was killed before it wrote an account: the second counts from its own beginning.
    let responses: Vec<(i64, u64)> = all
        .iter()
        .filter_map(|observed| match &observed.verdict {
            Verdict::Read(reading) => Some(reading),
            _ => None,
        })
        .flat_map(|reading| &reading.entries)
        .filter(|entry| entry.subject != Subject::Account)
        .filter_map(|entry| {
            Some((entry.occurred_at.0, entry.metadata.get("usage")?["inputTokens"].as_u64()?))
        })
        .filter(|(_, input)| *input > 0)
        .collect();
    let last = responses.iter().max().unwrap();
    let began = agent_tracer_event::Millis(last.0 - 5).to_string();
    let after = with_account(&all, session, |account| {
        account["startedAt"] = json!(began);
        account["models"]["claude-opus-5-5"] = json!({"inputTokens": last.1 + 11});
    });
    let after = tasks(&World::with(&after, 5));
    assert_eq!(left(&after[session]), 11);
    assert_eq!(after[session].usage.tokens.input, whole.usage.tokens.input + 11);
}

/// Returns the rows of a session as a client wrote them that did not say what it copied: under another session's name.
fn copied_blindly(observed: &[Observed], session: &str, to: &str) -> Vec<Observed> {
    let mut all = observed.to_vec();
    for observed in &mut all {
        observed.name = observed.name.replace(session, to);
        observed.source = observed.source.as_ref().map(|source| source.replace(session, to));
        let Verdict::Read(reading) = &mut observed.verdict else { continue };
        reading.entries.retain(|entry| entry.subject != Subject::Account);
        for entry in &mut reading.entries {
            entry.task.runtime_session = entry.task.runtime_session.replace(session, to);
            if entry.metadata.contains_key("ownRequest") {
                entry.metadata.insert("ownRequest".to_owned(), Value::Bool(false));
            }
        }
    }
    all
}

#[test]
fn responses_that_two_sessions_tell_of_count_in_the_one_that_asked() {
    let mut compared = 0;
    for scenario in scenarios().iter().filter(|scenario| scenario.name.starts_with("claude-code/2.1.325/rc_"))
    {
        let own = scenario.observed(Some(Channel::Transcript));
        let world = World::with(&own, usize::MAX);
        let before = tasks(&world);
        let Some(session) = before.keys().find(|session| !session.starts_with("sub--")) else { continue };
        let copy = copied_blindly(&own, session, "0000-copy");
        let main =
            |observed: &Observed| observed.source.as_ref().is_some_and(|it| !it.contains("/subagents/"));
        let copy: Vec<Observed> = copy.into_iter().filter(main).collect();
        let both = [own.clone(), copy.clone()].concat();
        let expected = World::with(&both, usize::MAX);
        let after = tasks(&expected);
        for (name, task) in &before {
            assert_eq!(task.usage, after[name].usage, "{} {name}", scenario.name);
        }
        let given = &after["0000-copy"].usage;
        assert_eq!((given.tokens.input, given.tokens.output, given.provenance.responses), (0, 0, 0));
        assert_eq!(given.provenance.copies, before[session].usage.provenance.responses, "{}", scenario.name);
        let other = [copy, own].concat();
        assert_same(&scenario.name, "copy first", &expected.rows(), &World::with(&other, 4).rows());
        let mixed = shuffled(&both, 5);
        assert_same(&scenario.name, "mixed", &expected.rows(), &World::with(&mixed, 3).rows());
        // Without the session that asked, the provider was asked all the same.
        let id = agent_tracer_event::TaskId::parse(&before[session].id).unwrap();
        expected.ledger.purge(vec![id], agent_tracer_event::Millis(i64::MAX)).unwrap();
        let alone = tasks(&expected);
        assert_eq!(
            alone["0000-copy"].usage.tokens.input,
            before[session].usage.tokens.input
                - before[session].usage.residual.as_ref().map_or(0, |residual| residual.tokens.input)
        );
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}
