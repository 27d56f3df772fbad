//! Reading: order, batches, and what an ack is worth.

use agent_tracer_spool::drain::{Drain, DrainError};
use agent_tracer_spool::{Reason, Stats};

use crate::world::{T0, World, bodies, name};

/// A spool with envelopes `0`, `1`, … one nanosecond apart.
fn filled(count: u64) -> World {
    let world = World::prepared();
    for number in (0..count).rev() {
        world.accept(T0 + number, number.to_string().as_bytes()).unwrap();
    }
    world
}

#[test]
fn envelopes_come_oldest_first_in_any_order_of_writing() {
    let world = filled(30);
    let batch = world.everything();
    let expected: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    assert_eq!(bodies(&batch), expected.iter().map(String::as_bytes).collect::<Vec<_>>());
    assert!(batch.nothing_left && batch.refused.is_empty());
    assert!(batch.receipt.names().eq(batch.envelopes.iter().map(|envelope| &envelope.name)));
}

#[test]
fn batches_hold_no_more_files_than_asked_for() {
    let world = filled(7);
    let mut drain = world.open();
    let mut sizes = Vec::new();
    loop {
        let batch = drain.next_batch(3, u64::MAX).unwrap();
        sizes.push((batch.envelopes.len(), batch.nothing_left));
        drain.ack(batch.receipt).unwrap();
        if batch.nothing_left {
            break;
        }
    }
    assert_eq!(sizes, [(3, false), (3, false), (1, true)]);
    assert_eq!((world.list("new").len(), drain.in_flight(), world.used()), (0, 0, 0));
}

#[test]
fn batches_hold_no_more_bytes_than_asked_for_but_at_least_one_envelope() {
    let world = World::prepared();
    for number in 0..4 {
        world.accept(T0 + number, &[b'x'; 1000]).unwrap();
    }
    world.accept(T0 + 9, &[b'y'; 9000]).unwrap();
    let mut drain = world.open();
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let batch = drain.next_batch(100, 2500).unwrap();
        sizes.push(batch.envelopes.len());
        drain.ack(batch.receipt).unwrap();
    }
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(drain.next_batch(0, 0).unwrap().envelopes.len(), 0);
    world.accept(T0 + 10, b"at least one").unwrap();
    assert_eq!(drain.next_batch(0, 0).unwrap().envelopes.len(), 1);
}

#[test]
fn nothing_is_removed_before_the_ack() {
    let world = filled(3);
    let mut drain = world.open();
    let batch = drain.next_batch(2, u64::MAX).unwrap();
    assert_eq!((world.list("new").len(), drain.in_flight()), (3, 2));
    drain.ack(batch.receipt).unwrap();
    assert_eq!((world.list("new").len(), drain.in_flight()), (1, 0));
}

#[test]
fn a_drain_does_not_repeat_itself_and_a_restarted_one_does() {
    let world = filled(3);
    let mut drain = world.open();
    let first = drain.next_batch(2, u64::MAX).unwrap();
    assert_eq!(bodies(&drain.next_batch(9, u64::MAX).unwrap()), [b"2"]);
    assert!(drain.next_batch(9, u64::MAX).unwrap().envelopes.is_empty());
    assert_eq!(bodies(&first), [b"0", b"1"]);
    drop(drain);
    assert_eq!(bodies(&world.everything()), [b"0", b"1", b"2"]);
}

#[test]
fn a_batch_put_back_is_delivered_again_and_first() {
    let world = filled(5);
    let mut drain = world.open();
    let batch = drain.next_batch(2, u64::MAX).unwrap();
    drain.put_back(batch.receipt);
    assert_eq!(drain.in_flight(), 0);
    assert_eq!(bodies(&drain.next_batch(3, u64::MAX).unwrap()), [b"0", b"1", b"2"]);
}

#[test]
fn an_ack_of_files_that_are_gone_is_no_error() {
    let world = filled(2);
    let mut drain = world.open();
    let batch = drain.next_batch(9, u64::MAX).unwrap();
    std::fs::remove_file(world.path("new").join(batch.envelopes[0].name.as_str())).unwrap();
    drain.ack(batch.receipt).unwrap();
    assert_eq!(drain.in_flight(), 0);
}

#[test]
fn an_ack_that_fails_removes_the_rest_and_repeats_nothing() {
    let world = filled(3);
    let mut drain = world.open();
    let batch = drain.next_batch(9, u64::MAX).unwrap();
    let stuck = world.path("new").join(batch.envelopes[1].name.as_str());
    std::fs::remove_file(&stuck).unwrap();
    std::fs::create_dir(&stuck).unwrap();
    let error = drain.ack(batch.receipt).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot remove `{}`", stuck.display()));
    assert_eq!(world.list("new").len(), 1);
    let after = drain.next_batch(9, u64::MAX).unwrap();
    assert!(after.envelopes.is_empty() && after.nothing_left);
}

#[test]
fn envelopes_that_arrive_late_with_an_old_name_are_not_forgotten() {
    let world = filled(3);
    let mut drain = world.open();
    let first = drain.next_batch(1, u64::MAX).unwrap();
    world.accept(T0 - 5, b"late").unwrap();
    let rest = drain.next_batch(9, u64::MAX).unwrap();
    assert_eq!(bodies(&rest), [&b"late"[..], b"1", b"2"]);
    drain.ack(first.receipt).unwrap();
    drain.ack(rest.receipt).unwrap();
    assert!(world.list("new").is_empty());
}

#[test]
fn a_spool_has_one_drain_at_a_time() {
    let world = filled(1);
    let drain = world.open();
    let error = Drain::open(&world.spool).unwrap_err();
    assert!(matches!(error, DrainError::Busy(_)));
    assert_eq!(
        error.to_string(),
        format!("another process drains the spool `{}`", world.spool.root().display())
    );
    drop(drain);
    world.open();
}

#[test]
fn an_empty_or_missing_spool_is_drained_without_complaint() {
    for world in [World::bare(), World::prepared()] {
        let batch = world.everything();
        assert!(batch.envelopes.is_empty() && batch.refused.is_empty() && batch.nothing_left);
    }
}

#[test]
fn opening_recounts_used() {
    let world = filled(2);
    world.accept(T0 + 5, &[b'x'; 5000]).unwrap();
    world.put("used", &[b'.'; 999], 0o600);
    let drain = world.open();
    assert_eq!(world.used(), 4);
    world.put("used", b"", 0o600);
    drain.recount().unwrap();
    assert_eq!(world.used(), 4);
}

#[test]
fn an_empty_look_corrects_the_accounting() {
    let world = filled(2);
    let mut drain = world.open();
    let batch = drain.next_batch(9, u64::MAX).unwrap();
    drain.ack(batch.receipt).unwrap();
    // Hooks that died between their reservation and their rename.
    world.put("used", &[b'.'; 50], 0o600);
    assert!(drain.next_batch(9, u64::MAX).unwrap().nothing_left);
    assert_eq!(world.used(), 0);
}

#[test]
fn opening_leaves_no_traces_but_the_lock() {
    let world = filled(1);
    let before = world.list("");
    drop(world.open());
    let mut expected = before;
    expected.push("drain.lock".into());
    expected.sort();
    assert_eq!(world.list(""), expected);
}

#[test]
fn stats_count_waiting_and_lost_envelopes() {
    let world = filled(3);
    world.put(&format!("tmp/{}", name(T0, 77)), b"half", 0o600);
    world.put("quarantine/x", b"x", 0o600);
    world.put("quarantine/x.reason", b"x", 0o600);
    world.put("new/not an envelope", b"x", 0o600);
    assert!(world.spool.count_loss(Reason::Panic));
    assert!(world.spool.count_loss(Reason::Panic));
    let lost = Reason::ALL.map(|reason| (reason, if reason == Reason::Panic { 2 } else { 0 })).to_vec();
    let envelopes = world.list("new").into_iter().filter(|name| name.starts_with('0'));
    let bytes = envelopes.map(|name| std::fs::metadata(world.path("new").join(name)).unwrap().len());
    let expected = Stats {
        waiting: 3,
        waiting_bytes: bytes.sum(),
        oldest_nanos: Some(T0),
        unfinished: 1,
        quarantined: 1,
        lost,
    };
    assert_eq!(world.spool.stats().unwrap(), expected);
    assert_eq!(expected.lost_total(), 2);
    let nothing = World::bare().spool.stats().unwrap();
    assert_eq!((nothing.waiting, nothing.oldest_nanos, nothing.lost_total()), (0, None, 0));
}

#[test]
fn more_files_than_one_look_keeps_all_come_in_order() {
    let world = World::prepared();
    let envelope = crate::world::envelope(b"{}");
    // Written by hand: what matters is their number.
    for number in 0..20_000 {
        crate::world::write(&world.path("new").join(name(T0 + number * 7919 % 20_011, 0)), &envelope);
    }
    for entry in world.list("new") {
        let path = world.path("new").join(entry);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let mut drain = world.open();
    let (mut delivered, mut last) = (0, None);
    loop {
        let batch = drain.next_batch(3000, u64::MAX).unwrap();
        for envelope in &batch.envelopes {
            assert!(last.replace(envelope.name) < Some(envelope.name));
            delivered += 1;
        }
        drain.ack(batch.receipt).unwrap();
        if batch.nothing_left {
            break;
        }
    }
    assert_eq!(delivered, 20_000);
}
