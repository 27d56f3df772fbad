//! Real threads on a real file system: several writers, one drain, nothing lost, nothing twice.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agent_tracer_spool::Reason;

use crate::world::{T0, World, header};

const WRITERS: u32 = 6;
const EACH: u32 = 300;

#[test]
fn concurrent_writers_and_a_drain_agree_on_every_envelope() {
    let world = World::prepared();
    let writing = AtomicUsize::new(WRITERS as usize);
    let mut seen = BTreeSet::new();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (spool, writing) = (&world.spool, &writing);
            scope.spawn(move || {
                for number in 0..EACH {
                    let body = format!("{writer} {number}");
                    // All writers share times and pid: only the counter and the lock in tmp/ are left.
                    spool.accept(&header(), body.as_bytes(), T0 + u64::from(number), 7).unwrap();
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let mut drain = world.open();
        loop {
            let ended = writing.load(Ordering::SeqCst) == 0;
            let batch = drain.next_batch(64, 1 << 20).unwrap();
            assert!(batch.refused.is_empty(), "{:?}", batch.refused);
            for envelope in &batch.envelopes {
                assert!(seen.insert(envelope.body.clone()), "delivered twice");
            }
            drain.ack(batch.receipt).unwrap();
            if ended && batch.nothing_left && batch.envelopes.is_empty() {
                break;
            }
        }
    });
    assert_eq!(seen.len() as u32, WRITERS * EACH);
    let stats = world.spool.stats().unwrap();
    assert_eq!((stats.waiting, stats.unfinished, stats.quarantined, stats.lost_total()), (0, 0, 0, 0));
    assert_eq!(world.used(), 0);
}

#[test]
fn losses_counted_at_once_are_all_counted() {
    for world in [World::bare(), World::prepared()] {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..200).for_each(|_| assert!(world.spool.count_loss(Reason::Io))));
            }
        });
        assert_eq!(world.lost(Reason::Io), 1600);
    }
}

#[test]
fn writers_that_make_the_folders_at_once_all_succeed() {
    for _ in 0..20 {
        let world = World::bare();
        thread::scope(|scope| {
            for writer in 0..6 {
                let world = &world;
                scope.spawn(move || world.accept(T0 + writer, b"{}").unwrap());
            }
        });
        assert_eq!(world.list("new").len(), 6);
    }
}
