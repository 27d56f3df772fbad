//! Tests decisions of rules: listed newest first, narrowed by anything, counted, and the same after a rebuild.

use agent_tracer_event::{Agent, Millis, TaskId};
use agent_tracer_ledger::view::{RuleDecision, RuleStat};
use agent_tracer_ledger::{DecisionFilter, Paging, QueryError, Range, Store};
use agent_tracer_testkit::scenario;

use crate::query_world::{BEGIN, HistoryBuilder};
use crate::world::World;

fn every(store: &dyn Store, limit: u32, filter: &DecisionFilter) -> Vec<RuleDecision> {
    let mut all = Vec::new();
    let mut cursor = None;
    loop {
        let page =
            store.decisions(&DecisionFilter { paging: Paging { cursor, limit }, ..filter.clone() }).unwrap();
        all.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return all;
        }
    }
}

/// Returns two sessions in which three rules speak in turn.
fn world(rounds: usize) -> World {
    let mut story = HistoryBuilder::new(1);
    let mut one = story.asks("one", BEGIN);
    let mut two = story.asks("two", BEGIN + 500);
    for round in 0..rounds {
        story.decides(&mut one, "no-write", "enforced", "deny");
        story.decides(&mut two, "watch", "dry_run", "warn");
        if round % 2 == 0 {
            story.decides(&mut two, "tests-pass", "enforced", "block_stop");
        }
    }
    World::with(&story.observed, 3)
}

#[test]
fn decisions_are_listed_newest_first_in_pages_that_neither_repeat_nor_skip() {
    let world = world(6);
    let store = world.ledger.store();
    let all = every(store.as_ref(), 500, &DecisionFilter::default());
    assert_eq!(all.len(), 15);
    assert!(all.is_sorted_by(|one, two| one.occurred_at >= two.occurred_at));
    for limit in [1, 2, 4, 7] {
        assert_eq!(every(store.as_ref(), limit, &DecisionFilter::default()), all, "pages of {limit}");
    }
    let denied = all.iter().find(|decision| decision.rule == "no-write").unwrap();
    assert_eq!((denied.outcome.as_str(), denied.mode.as_str()), ("deny", "enforce"));
    assert_eq!(denied.took_us, Some(300));
    assert_eq!(denied.inputs.tool_name.as_deref(), Some("Bash"));
    assert_eq!(denied.inputs.agent, Agent::CLAUDE_CODE);
}

#[test]
fn decisions_are_narrowed_by_rule_ending_task_and_time() {
    let world = world(6);
    let store = world.ledger.store();
    let all = every(store.as_ref(), 500, &DecisionFilter::default());
    let two = TaskId::parse(&all.iter().find(|one| one.rule == "watch").unwrap().task_id);
    let middle = Some(all[7].occurred_at);
    let none = DecisionFilter::default;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    type Predicate = fn(&RuleDecision) -> bool;
    let cases: Vec<(DecisionFilter, Predicate)> = vec![
        (DecisionFilter { rule: Some("watch".to_owned()), ..none() }, |one| one.rule == "watch"),
        (DecisionFilter { rule: Some("absent".to_owned()), ..none() }, |_| false),
        (DecisionFilter { statuses: words(&["dry_run"]), ..none() }, |one| one.mode == "dry_run"),
        (DecisionFilter { outcomes: words(&["deny", "block_stop"]), ..none() }, |one| one.outcome != "warn"),
        (DecisionFilter { task: two.clone(), ..none() }, |one| one.rule != "no-write"),
        (DecisionFilter { task: two, rule: Some("tests-pass".to_owned()), ..none() }, |one| {
            one.rule == "tests-pass"
        }),
    ];
    for (filter, wanted) in cases {
        let expected: Vec<RuleDecision> = all.iter().filter(|one| wanted(one)).cloned().collect();
        for limit in [2, 500] {
            assert_eq!(every(store.as_ref(), limit, &filter), expected, "{filter:?}");
        }
    }
    let later = every(store.as_ref(), 3, &DecisionFilter { since: middle, ..none() });
    let earlier = every(store.as_ref(), 3, &DecisionFilter { until: middle, ..none() });
    assert!(!later.is_empty() && !earlier.is_empty());
    assert_eq!([later, earlier].concat(), all);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let world = world(1);
    let store = world.ledger.store();
    let no_one = agent_tracer_event::TaskKey::new(Agent::CODEX, "absent").task_id();
    let of_no_one = DecisionFilter { task: Some(no_one), ..DecisionFilter::default() };
    assert!(matches!(store.decisions(&of_no_one), Err(QueryError::NotFound)));
    let paging = Paging { cursor: Some("torn".to_owned()), limit: 3 };
    let torn = DecisionFilter { paging: paging.clone(), ..DecisionFilter::default() };
    assert!(matches!(store.decisions(&torn), Err(QueryError::Bad(_))));
    assert!(matches!(store.rules(&Range { paging, ..Range::default() }), Err(QueryError::Bad(_))));
}

#[test]
fn rules_are_counted_and_know_when_they_last_spoke() {
    let world = world(6);
    let store = world.ledger.store();
    let rules = store.rules(&Range::default()).unwrap().items;
    let counts: Vec<(&str, u64, u64, u64)> =
        rules.iter().map(|rule| (rule.rule.as_str(), rule.count, rule.enforced, rule.dry_run)).collect();
    assert_eq!(counts, [("no-write", 6, 6, 0), ("watch", 6, 0, 6), ("tests-pass", 3, 3, 0)]);
    assert!(rules.iter().all(|rule| rule.mean_us == 300));
    let all = every(store.as_ref(), 500, &DecisionFilter::default());
    for RuleStat { rule, last_at, outcomes, count, .. } in &rules {
        let newest = all.iter().find(|one| one.rule == *rule).map(|one| one.occurred_at);
        assert_eq!(*last_at, newest, "{rule}");
        assert_eq!(outcomes.values().sum::<u64>(), *count);
    }
    let later = Range { since: Some(Millis(BEGIN + 40 * 86_400_000)), ..Range::default() };
    assert_eq!(store.rules(&later).unwrap().items, Vec::new());
}

#[test]
fn decisions_and_counts_come_back_from_a_rebuild_and_in_any_order() {
    let scenario = scenario("2.1.325/agent_nested");
    let mut observed = [scenario.observed(None), scenario.decided()].concat();
    let world = World::with(&observed, 7);
    let (decisions, rules) = (
        every(world.ledger.store().as_ref(), 500, &DecisionFilter::default()),
        world.ledger.store().rules(&Range::default()).unwrap(),
    );
    assert!(decisions.len() > 5 && rules.items.len() > 2, "{} {}", decisions.len(), rules.items.len());
    assert!(rules.items.iter().any(|rule| rule.project.is_some()));
    world.ledger.rebuild().unwrap();
    assert_eq!(every(world.ledger.store().as_ref(), 500, &DecisionFilter::default()), decisions);
    assert_eq!(world.ledger.store().rules(&Range::default()).unwrap(), rules);
    observed.reverse();
    let backwards = World::with(&observed, 11);
    assert_eq!(every(backwards.ledger.store().as_ref(), 500, &DecisionFilter::default()), decisions);
    assert_eq!(backwards.ledger.store().rules(&Range::default()).unwrap(), rules);
}
