//! Decides which skill a response was given for: what the client says, and where it says nothing, its own rule.

use std::collections::BTreeMap;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::view::{Task, UsageView};
use agent_tracer_ledger::{Observed, Range, Retention, TaskFilter, UsageBy, Utc, Verdict};
use agent_tracer_testkit::{Scenario, scenario, scenarios};

use crate::delivery_order::{assert_same, shuffled};
use crate::queries::every;
use crate::world::World;

const FOREVER: Millis = Millis(4_000_000_000_000);

/// Returns every scenario in which the client names a skill.
fn with_skills() -> Vec<Scenario> {
    let names = |observed: &Observed| match &observed.verdict {
        Verdict::Read(reading) => {
            reading.entries.iter().any(|entry| entry.metadata.contains_key("attributionSkill"))
        }
        _ => false,
    };
    scenarios().into_iter().filter(|scenario| scenario.observed(None).iter().any(names)).collect()
}

/// Returns the same from a client that does not say which skill a response was given for.
fn untold(observed: &[Observed]) -> Vec<Observed> {
    let mut all = observed.to_vec();
    for observed in &mut all {
        let Verdict::Read(reading) = &mut observed.verdict else { continue };
        for entry in &mut reading.entries {
            entry.metadata.shift_remove("attributionSkill");
        }
    }
    all
}

fn by_skill(world: &World) -> BTreeMap<String, UsageView> {
    let store = world.ledger.store();
    let all = every(|paging| store.usage(&Range { paging, ..Range::default() }, UsageBy::Skill, &Utc));
    all.into_iter().map(|bucket| (bucket.key, bucket.usage)).collect()
}

fn tasks(world: &World) -> Vec<Task> {
    let store = world.ledger.store();
    every(|paging| store.tasks(Millis(0), &TaskFilter { paging, ..TaskFilter::default() }))
}

#[test]
fn a_skill_has_what_was_answered_for_it_and_how_often_it_was_activated() {
    for (name, skill, responses) in [("2.1.325/otel_skill", "greet", 1), ("2.1.325/slash", "shout", 1)] {
        let world = World::with(&scenario(name).observed(None), 5);
        let store = world.ledger.store();
        let skills = store.skills(&Range::default()).unwrap().items;
        let [stat] = skills.as_slice() else { panic!("{name}: {skills:?}") };
        assert_eq!((stat.skill.as_str(), stat.count, stat.failures), (skill, 1, 0), "{name}");
        assert_eq!(stat.usage.provenance.responses, responses, "{name}");
        assert!(stat.usage.tokens.output > 0 && stat.usage.cost_usd > 0.0, "{name}");
        let whole: f64 = tasks(&world).iter().map(|task| task.usage.cost_usd).sum();
        let share = stat.cost_share.unwrap();
        assert!((share - stat.usage.cost_usd / whole).abs() < 1e-9 && share > 0.0 && share <= 1.0, "{name}");
    }
}

#[test]
fn where_the_client_says_nothing_its_own_rule_gives_the_same() {
    let mut compared = 0;
    for scenario in with_skills() {
        let all = scenario.observed(None);
        let reported = by_skill(&World::with(&all, 7));
        assert!(!reported.is_empty(), "{}", scenario.name);
        assert_eq!(by_skill(&World::with(&untold(&all), 7)), reported, "{}", scenario.name);
        compared += 1;
    }
    assert!(compared >= 3, "{compared}");
}

#[test]
fn the_rule_gives_the_same_in_every_order_and_folded_anew() {
    for (number, scenario) in with_skills().iter().enumerate() {
        let all = untold(&scenario.observed(None));
        let world = World::with(&all, usize::MAX);
        let expected = world.rows();
        for (how, at_a_time) in [("one at a time", 1), ("in threes", 3)] {
            let mixed = shuffled(&all, number as u64 + 7);
            assert_same(&scenario.name, how, &expected, &World::with(&mixed, at_a_time).rows());
        }
        world.ledger.rebuild().unwrap();
        assert_same(&scenario.name, "folded anew", &expected, &world.rows());
    }
}

#[test]
fn the_parts_of_a_task_are_its_whole() {
    for name in ["2.1.325/agent_nested", "2.1.325/rc_tui", "codex/0.166.0/agent_v2", "2.1.325/otel_skill"] {
        let world = World::with(&scenario(name).observed(None), 9);
        let store = world.ledger.store();
        for task in tasks(&world) {
            let id = TaskId::parse(&task.id).unwrap();
            for by in [UsageBy::Model, UsageBy::Project, UsageBy::Agent, UsageBy::AgentType, UsageBy::Task] {
                let parts = store.task_usage(&id, by).unwrap().items;
                let sum = |of: fn(&UsageView) -> u64| parts.iter().map(|part| of(&part.usage)).sum::<u64>();
                let whole = &task.tree_usage;
                assert_eq!(sum(|usage| usage.tokens.output), whole.tokens.output, "{name} by {by:?}");
                assert_eq!(sum(|usage| usage.tokens.input), whole.tokens.input, "{name} by {by:?}");
                let cost: f64 = parts.iter().map(|part| part.usage.cost_usd).sum();
                assert!((cost - whole.cost_usd).abs() < 1e-9, "{name} by {by:?}");
            }
            let skilled: u64 = store
                .task_usage(&id, UsageBy::Skill)
                .unwrap()
                .items
                .iter()
                .map(|it| it.usage.tokens.output)
                .sum();
            assert!(skilled <= task.tree_usage.tokens.output, "{name}");
            assert_eq!(skilled > 0, name.ends_with("otel_skill"), "{name}");
        }
    }
}

/// Follows a session that goes on after retention has dropped its beginning.
#[test]
fn parts_that_were_sealed_are_counted_once_whatever_is_folded_anew() {
    let all = scenario("2.1.325/rc_resume").observed(None);
    let at = |observed: &Observed| match &observed.verdict {
        Verdict::Read(reading) => reading.entries.iter().map(|entry| entry.occurred_at.0).max().unwrap_or(0),
        _ => 0,
    };
    let mut moments: Vec<i64> = all.iter().map(at).filter(|at| *at > 0).collect();
    moments.sort_unstable();
    let middle = moments[moments.len() / 2];
    let (first, second): (Vec<Observed>, Vec<Observed>) =
        all.into_iter().partition(|observed| at(observed) <= middle);
    let world = World::with(&first, 50);
    let old = Retention { events_before: Some(FOREVER), kept_before: None };
    assert!(world.ledger.retain(old).unwrap().tasks > 0);
    world.bring(&second, 50);
    let parts = |world: &World| -> Vec<_> {
        let ids = tasks(world).into_iter().map(|task| TaskId::parse(&task.id).unwrap());
        ids.map(|id| world.ledger.store().task_usage(&id, UsageBy::Model).unwrap().items).collect()
    };
    let expected = parts(&world);
    assert!(expected.iter().flatten().any(|part| part.usage.tokens.output > 0));
    world.ledger.rebuild().unwrap();
    assert_eq!(parts(&world), expected);
}
