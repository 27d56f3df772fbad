//! The spool against its model: no accepted envelope is lost, whichever process dies and at any step.
//!
//! Writers, the reader and its caller run in an arbitrary order, and each of their steps on the disk
//! (see `disk::gate`) may be the last one of its process. The model remembers only the results
//! that each of them got: accepted, refused, delivered, committed.

mod crashes;
mod faults;
mod interleavings;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;

use crate::disk::gate;
use crate::drain::{Drain, Receipt};
use crate::envelope::{Agent, Channel, Header};
use crate::write::{Accepted, Refused, Writer};
use crate::{Limits, Reason, Spool};

/// A time that no name of a model run is near to.
const LONG_AFTER: u64 = 10_000_000_000_000_000;

/// The result that a writer got for one observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteResult {
    Accepted,
    Refused,
    /// None: it died first.
    Nothing,
}

/// A batch in the hands of the reader's caller.
struct HeldBatch {
    receipt: Receipt,
    numbers: Vec<u32>,
    committed: bool,
}

/// One home with its files, and the results that its processes remember.
struct HomeModel {
    spool: Spool,
    results: BTreeMap<u32, WriteResult>,
    /// Observations that the caller has made durable.
    committed: BTreeSet<u32>,
    drain: Option<Drain>,
    /// Delivered by the present drain, not put back.
    delivered: BTreeSet<u32>,
    held: Option<HeldBatch>,
    /// Refusals that `lost/` must show.
    losses: u64,
    _folder: tempfile::TempDir,
}

fn header() -> Header<'static> {
    Header::new(Agent::CLAUDE_CODE, Channel::Hook, 1)
}

/// Returns a body that names its observation, of one to four units.
fn body_of(number: u32) -> Vec<u8> {
    let mut body = format!("{number} ").into_bytes();
    body.resize(20 + 5000 * (number as usize % 3), b'x');
    body
}

fn number_of(body: &[u8]) -> u32 {
    let text = std::str::from_utf8(body).unwrap();
    let number = text.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(body, body_of(number), "a body comes back whole");
    number
}

/// Writes as a process of its own would: with a counter that starts at zero.
fn write(spool: &Spool, number: u32, now_nanos: u64, pid: u32) -> Result<Accepted, Refused> {
    let counter = AtomicU32::new(0);
    spool.accept_as(&Writer { now_nanos, pid, counter: &counter }, &header(), &body_of(number))
}

impl HomeModel {
    fn new() -> HomeModel {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits { spool_files: 24, ..Limits::default() };
        HomeModel {
            spool: Spool::at(&folder.path().join("home/spool")).with_limits(limits),
            results: BTreeMap::new(),
            committed: BTreeSet::new(),
            drain: None,
            delivered: BTreeSet::new(),
            held: None,
            losses: 0,
            _folder: folder,
        }
    }

    fn write(&mut self, now_nanos: u64, pid: u32, dies_at: usize) {
        let number = self.results.len() as u32;
        let (result, died) = gate::dying_at(dies_at, || write(&self.spool, number, now_nanos, pid));
        let observed = match result {
            Ok(_) => WriteResult::Accepted,
            Err(_) if died => WriteResult::Nothing,
            Err(refused) => {
                assert_eq!((refused.reason, refused.counted), (Reason::Full, true));
                self.losses += 1;
                WriteResult::Refused
            }
        };
        self.results.insert(number, observed);
    }

    /// Takes the reader's process away, with all that it and its caller knew.
    fn kill_reader(&mut self) {
        self.drain = None;
        self.held = None;
        self.delivered.clear();
    }

    fn open(&mut self, dies_at: usize) {
        self.kill_reader();
        let (drain, died) = gate::dying_at(dies_at, || Drain::open(&self.spool));
        assert!(died || drain.is_ok(), "{drain:?}");
        self.drain = drain.ok().filter(|_| !died);
    }

    fn deliver(&mut self, max_files: usize, dies_at: usize) {
        let Some(drain) = self.drain.as_mut().filter(|_| self.held.is_none()) else { return };
        let (batch, died) = gate::dying_at(dies_at, || drain.next_batch(max_files, 1 << 20));
        if died {
            return self.kill_reader();
        }
        let batch = batch.unwrap();
        assert!(batch.envelopes.is_sorted_by_key(|envelope| envelope.name), "oldest first");
        assert!(batch.refused.is_empty(), "a rename is atomic, so `new/` has whole envelopes only");
        let numbers: Vec<u32> = batch.envelopes.iter().map(|envelope| number_of(&envelope.body)).collect();
        for number in &numbers {
            assert!(self.delivered.insert(*number), "{number} was delivered twice by one drain");
            assert_ne!(self.results[number], WriteResult::Refused, "{number} was delivered after a refusal");
        }
        self.held = Some(HeldBatch { receipt: batch.receipt, numbers, committed: false });
    }

    /// Commits as the caller's own fsync does.
    fn commit(&mut self) {
        if let Some(held) = &mut self.held {
            held.committed = true;
            self.committed.extend(&held.numbers);
        }
    }

    fn ack(&mut self, dies_at: usize) {
        let (Some(drain), Some(held)) = (&mut self.drain, self.held.take_if(|held| held.committed)) else {
            return;
        };
        let (result, died) = gate::dying_at(dies_at, || drain.ack(held.receipt));
        assert!(died || result.is_ok(), "{result:?}");
        if died {
            self.kill_reader();
        }
    }

    fn put_back(&mut self) {
        let (Some(drain), Some(held)) = (&mut self.drain, self.held.take_if(|held| !held.committed)) else {
            return;
        };
        drain.put_back(held.receipt);
        for number in held.numbers {
            self.delivered.remove(&number);
        }
    }

    fn sweep(&mut self, now_nanos: u64, dies_at: usize) {
        let Some(drain) = &mut self.drain else { return };
        let (result, died) = gate::dying_at(dies_at, || drain.sweep(now_nanos));
        assert!(died || result.is_ok(), "{result:?}");
        if died {
            self.kill_reader();
        }
    }

    /// Checks every promise of the spool once all processes have ended.
    fn keep_promises(mut self) {
        self.kill_reader();
        let mut drain = Drain::open(&self.spool).unwrap();
        drain.sweep(LONG_AFTER).unwrap();
        let mut deliverable = BTreeSet::new();
        loop {
            let batch = drain.next_batch(7, 1 << 20).unwrap();
            assert!(batch.refused.is_empty(), "{:?}", batch.refused);
            deliverable.extend(batch.envelopes.iter().map(|envelope| number_of(&envelope.body)));
            let ended = batch.envelopes.is_empty() && batch.nothing_left;
            drain.ack(batch.receipt).unwrap();
            // Names that were taken in `new/` are free now.
            if drain.sweep(LONG_AFTER).unwrap().recovered == 0 && ended {
                break;
            }
        }
        for (number, result) in &self.results {
            let kept = self.committed.contains(number) || deliverable.contains(number);
            assert!(*result != WriteResult::Accepted || kept, "{number} was accepted and is lost");
            assert!(
                *result != WriteResult::Refused || !kept,
                "{number} was counted as lost and is delivered"
            );
        }
        assert!(deliverable.iter().all(|number| self.results.contains_key(number)), "delivered from nowhere");
        let stats = self.spool.stats().unwrap();
        assert_eq!((stats.waiting, stats.unfinished, stats.quarantined), (0, 0, 0));
        let torn =
            stats.lost.iter().find(|(reason, _)| *reason == Reason::Torn).map_or(0, |(_, count)| *count);
        assert_eq!(stats.lost_total() - torn, self.losses, "every refusal is counted, and nothing else");
        assert_eq!(std::fs::metadata(self.spool.used()).unwrap().len(), 0, "an empty spool uses nothing");
    }
}
