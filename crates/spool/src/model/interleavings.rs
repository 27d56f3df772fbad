//! A writer held before each of its steps while someone else runs.

use super::{HomeModel, LONG_AFTER, gate, number_of, write};
use crate::drain::Drain;

/// More than the steps of one accept.
const STEPS: usize = 24;

/// Returns the envelopes that are in `new/` afterwards.
fn deliverable(world: &HomeModel) -> Vec<u32> {
    let mut drain = Drain::open(&world.spool).unwrap();
    let batch = drain.next_batch(100, 1 << 20).unwrap();
    assert!(batch.refused.is_empty() && batch.nothing_left);
    batch.envelopes.iter().map(|envelope| number_of(&envelope.body)).collect()
}

#[test]
fn two_writers_that_draw_the_same_name_both_deliver() {
    for step in 0..STEPS {
        let world = HomeModel::new();
        let (one, other) =
            gate::held_at(step, || write(&world.spool, 1, 5, 7), || write(&world.spool, 2, 5, 7));
        assert_ne!(one.unwrap().name, other.unwrap().name);
        let mut numbers = deliverable(&world);
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2], "held at step {step}");
    }
}

#[test]
fn a_sweep_under_a_sleeping_writer_loses_nothing() {
    for step in 0..STEPS {
        let world = HomeModel::new();
        world.spool.prepare().unwrap();
        let sweep = || {
            let mut drain = Drain::open(&world.spool).unwrap();
            drain.sweep(LONG_AFTER).unwrap()
        };
        let (result, _) = gate::held_at(step, || write(&world.spool, 1, 5, 7), sweep);
        assert!(result.is_ok(), "held at step {step}: {result:?}");
        let numbers = deliverable(&world);
        // Once, or twice where the sweep delivered what the writer then believed gone.
        assert!(!numbers.is_empty() && numbers.iter().all(|number| *number == 1), "{numbers:?}");
    }
}

#[test]
fn a_drain_never_sees_half_an_envelope() {
    for step in 0..STEPS {
        let world = HomeModel::new();
        world.spool.prepare().unwrap();
        let (result, seen) = gate::held_at(step, || write(&world.spool, 1, 5, 7), || deliverable(&world));
        assert!(result.is_ok());
        assert!(seen.is_empty() || seen == [1], "held at step {step}: {seen:?}");
        assert_eq!(deliverable(&world), [1]);
    }
}

#[test]
fn folders_that_vanish_under_a_writer_are_made_again() {
    for step in 0..STEPS {
        let world = HomeModel::new();
        world.spool.prepare().unwrap();
        let vanish = || std::fs::remove_dir_all(world.spool.root()).unwrap();
        let (result, ()) = gate::held_at(step, || write(&world.spool, 1, 5, 7), vanish);
        assert!(result.is_ok(), "held at step {step}: {result:?}");
        let numbers = deliverable(&world);
        // A user who deletes the spool deletes accepted envelopes too.
        assert!(numbers == [1] || (numbers.is_empty() && step >= 7), "held at step {step}: {numbers:?}");
    }
}
