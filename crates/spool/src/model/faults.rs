//! A disk that fails at each step: the writer returns the error, counts the loss and leaves no half-done work.

use std::io::ErrorKind;

use super::{HomeModel, body_of, gate, header, number_of, write};
use crate::drain::{Batch, Drain, Refusal};
use crate::lost::{self, Reason};
use crate::spool::Folder;

fn losses(world: &HomeModel, reason: Reason) -> u64 {
    let counts = lost::counts(&world.spool.folder(Folder::Lost)).unwrap();
    counts.into_iter().find(|(found, _)| *found == reason).map_or(0, |(_, count)| count)
}

#[test]
fn one_failing_step_is_a_counted_loss_or_no_loss() {
    for (kind, reason) in [
        (ErrorKind::StorageFull, Reason::DiskFull),
        (ErrorKind::QuotaExceeded, Reason::DiskFull),
        (ErrorKind::PermissionDenied, Reason::Io),
        (ErrorKind::ReadOnlyFilesystem, Reason::Io),
    ] {
        let mut refusals = 0;
        for step in 0..24 {
            let world = HomeModel::new();
            world.spool.prepare().unwrap();
            let (result, _) = gate::failing_at(step, kind, || write(&world.spool, 1, 5, 7));
            let stats = world.spool.stats().unwrap();
            match result {
                Ok(_) => assert_eq!((stats.waiting, stats.lost_total()), (1, 0), "{kind:?} at step {step}"),
                Err(refused) => {
                    refusals += 1;
                    assert_eq!((refused.reason, refused.counted), (reason, true));
                    assert_eq!(refused.cause.unwrap().kind(), kind);
                    assert_eq!((stats.waiting, stats.unfinished), (0, 0), "{kind:?} at step {step}");
                    assert_eq!((losses(&world, reason), stats.lost_total()), (1, 1));
                }
            }
            world.drain_is_sound();
        }
        // Opening and writing `used`, then creating, writing and renaming the envelope.
        assert_eq!(refusals, 7, "{kind:?}");
    }
}

#[test]
fn a_full_disk_is_counted_where_a_block_is_already_there() {
    let world = HomeModel::new();
    world.spool.prepare().unwrap();
    for losses_so_far in 1..5 {
        // The counters were made by `prepare`; on a real disk their first block is there. The gate
        // fails every write, so count outside of it, as the block would let us.
        let (result, _) = gate::full_from(0, || write(&world.spool, 1, 5, 7));
        let refused = result.unwrap_err();
        assert_eq!((refused.reason, refused.counted), (Reason::DiskFull, false));
        assert!(world.spool.count_loss(refused.reason));
        assert_eq!(losses(&world, Reason::DiskFull), losses_so_far);
        assert_eq!(world.spool.stats().unwrap().unfinished, 0, "half an envelope is removed");
    }
    assert!(write(&world.spool, 1, 5, 7).is_ok(), "and goes on once there is space");
}

#[test]
fn the_steps_of_an_accept_stay_few() {
    let world = HomeModel::new();
    world.spool.prepare().unwrap();
    let (result, steps) = gate::counted(|| write(&world.spool, 0, 5, 7));
    assert!(result.is_ok());
    // open used, write it (two), create, write (two), rename.
    assert_eq!(steps, 7);
    let mut bytes = Vec::new();
    crate::envelope::encode(&header(), &body_of(0), &mut bytes);
    assert_eq!(std::fs::metadata(world.spool.used()).unwrap().len(), 1);
    assert!(bytes.len() < 4096);
}

#[test]
fn a_read_that_fails_once_loses_nothing_and_skips_nothing() {
    let world = HomeModel::new();
    for pid in 1..4 {
        assert!(write(&world.spool, pid, 5, pid).is_ok());
    }
    let mut drain = Drain::open(&world.spool).unwrap();
    // The first look into the folder, then a file each.
    let (look, _) = gate::failing_at(0, ErrorKind::Other, || drain.next_batch(10, 1 << 20));
    assert!(look.unwrap_err().to_string().starts_with("cannot list `"));
    let (first, _) = gate::failing_at(1, ErrorKind::Other, || drain.next_batch(10, 1 << 20));
    assert!(first.unwrap_err().to_string().starts_with("cannot read `"));
    let (second, _) = gate::failing_at(1, ErrorKind::Other, || drain.next_batch(10, 1 << 20));
    let second = second.unwrap();
    let third = drain.next_batch(10, 1 << 20).unwrap();
    let numbers = |batch: &Batch| -> Vec<u32> {
        batch.envelopes.iter().map(|envelope| number_of(&envelope.body)).collect()
    };
    assert_eq!((numbers(&second), second.nothing_left), (vec![1], false), "what was read is handed out");
    assert_eq!((numbers(&third), third.nothing_left), (vec![2, 3], true));

    // Three files, then a second listing that fails: the envelopes read before are delivered all the same.
    let mut drain = reopened(drain, &world);
    let (batch, _) = gate::failing_at(4, ErrorKind::Other, || drain.next_batch(10, 1 << 20));
    let batch = batch.unwrap();
    assert_eq!((numbers(&batch), batch.nothing_left), (vec![1, 2, 3], false));
    assert!(drain.next_batch(10, 1 << 20).unwrap().nothing_left);
}

fn reopened(drain: Drain, world: &HomeModel) -> Drain {
    drop(drain);
    Drain::open(&world.spool).unwrap()
}

#[test]
fn a_file_that_can_never_be_read_is_put_aside_and_blocks_no_other() {
    let world = HomeModel::new();
    for pid in 1..3 {
        assert!(write(&world.spool, pid, 5, pid).is_ok());
    }
    let mut drain = Drain::open(&world.spool).unwrap();
    for step in [1, 0] {
        assert!(gate::failing_at(step, ErrorKind::Other, || drain.next_batch(10, 1 << 20)).0.is_err());
        assert_eq!(world.spool.stats().unwrap().quarantined, 0);
    }
    let (batch, _) = gate::failing_at(0, ErrorKind::Other, || drain.next_batch(10, 1 << 20));
    let batch = batch.unwrap();
    assert!(matches!(batch.refused[..], [ref file] if matches!(file.refusal, Refusal::Unreadable(_))));
    assert_eq!(batch.envelopes.len(), 1);
    assert_eq!(world.spool.stats().unwrap().quarantined, 1);
}

impl HomeModel {
    /// Checks that a drain opens and refuses nothing.
    fn drain_is_sound(&self) {
        let mut drain = Drain::open(&self.spool).unwrap();
        let batch = drain.next_batch(10, 1 << 20).unwrap();
        assert!(batch.refused.is_empty());
        drain.ack(batch.receipt).unwrap();
    }
}
