//! Describes what a commit tells: to whom, and in which parts.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use agent_tracer_testkit::scenario;

use crate::world::World;

#[test]
fn a_follower_may_take_any_part_of_a_commit() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let world = World::with(&all, usize::MAX);
    let store = world.ledger.store();
    let whole: BTreeSet<String> = store.changes(0, 1_000).unwrap().into_iter().map(|row| row.id).collect();
    assert!(whole.len() > 20, "{}", whole.len());
    let (mut after, mut seen, mut parts) = (0, BTreeSet::new(), 0);
    loop {
        let rows = store.changes(after, 4).unwrap();
        let Some(last) = rows.last() else { break };
        assert!(last.seq > after, "every part goes on behind the one before");
        after = last.seq;
        seen.extend(rows.into_iter().map(|row| row.id));
        parts += 1;
    }
    assert_eq!(seen, whole);
    assert!(parts > 4, "{} rows of one commit came in {parts} parts", whole.len());
}

#[test]
fn rows_are_reported_to_those_who_want_them_at_the_end_of_a_commit() {
    let all = scenario("2.1.325/agent_nested").observed(None);
    let world = World::new();
    let wants = Arc::new(AtomicBool::new(false));
    let reported: Arc<Mutex<Vec<String>>> = Arc::default();
    {
        let (wants, reported) = (Arc::clone(&wants), Arc::clone(&reported));
        world.ledger.on_commit_while(
            move || wants.load(Ordering::SeqCst),
            move |committed| reported.lock().unwrap().extend(committed.rows.iter().map(|row| row.id.clone())),
        );
    }
    let (unheard, change) = all.split_at(all.len() / 2);
    world.bring(unheard, 5);
    assert!(reported.lock().unwrap().is_empty());
    wants.store(true, Ordering::SeqCst);
    let before = world.ledger.store().seq().unwrap();
    world.bring(change, usize::MAX);
    let changed = world.ledger.store().changes(before, 1_000).unwrap();
    let changed: BTreeSet<String> = changed.into_iter().map(|row| row.id).collect();
    assert!(!changed.is_empty());
    assert_eq!(reported.lock().unwrap().iter().cloned().collect::<BTreeSet<_>>(), changed);
}
