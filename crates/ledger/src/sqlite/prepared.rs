//! Preparation of a batch before it is written. It runs on the thread of the caller, because the writer has only one.

use agent_tracer_event::{Entry, EntryId, Subject, TaskKey};
use xxhash_rust::xxh3::xxh3_64;

use super::entry_codec;
use crate::observation::{Batch, Observed, Verdict};
use crate::project::row;

/// An entry that is ready to be written.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct PreparedEntry {
    /// The number of the entry: of the observation and its place in it.
    pub(super) uid: i64,
    /// The number of its key.
    pub(super) key: i64,
    /// As it is kept; nothing of what is reported about a task itself.
    pub(crate) blob: Vec<u8>,
    entry: EntryState,
}

/// The entry itself, or what is left of it.
#[derive(Debug)]
#[cfg_attr(test, derive(PartialEq))]
enum EntryState {
    Whole(Box<Entry>),
    /// It was taken to be folded; what is written of it is in the blob.
    Taken(TaskKey),
}

impl PreparedEntry {
    fn new(observation: &str, index: u32, entry: Entry) -> Self {
        // Fields about the task itself are repeated by every hook. Of each the best one is kept with the task, so no
        // blob is made.
        let is_fact = !matches!(entry.subject, Subject::Task | Subject::Account);
        let blob = if is_fact { entry_codec::write(&entry) } else { Vec::new() };
        Self::with_blob(observation, index, entry, blob)
    }

    /// Returns an entry with the bytes that are stored of it.
    fn with_blob(observation: &str, index: u32, entry: Entry, blob: Vec<u8>) -> Self {
        let (uid, key) = (uid(observation, index), row::number(&entry.key));
        // Boxed, so that a taken entry leaves little more than its task behind.
        Self { uid, key, blob, entry: EntryState::Whole(Box::new(entry)) }
    }

    /// Reads a stored entry of a task. Returns `None` if its bytes are not understood.
    pub(crate) fn read(observation: &str, index: u32, task: &TaskKey, blob: &[u8]) -> Option<Self> {
        Some(Self::with_blob(observation, index, entry_codec::read(blob, task)?, blob.to_vec()))
    }

    /// Returns an entry that is not stored itself: only its effects are.
    pub(crate) fn reported(observation: &str, index: u32, entry: Entry) -> Self {
        Self::with_blob(observation, index, entry, Vec::new())
    }

    /// Returns the entry, unless a fold took it.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        match &self.entry {
            EntryState::Whole(entry) => Some(entry),
            EntryState::Taken(_) => None,
        }
    }

    /// Returns the task of the entry.
    pub(crate) fn task(&self) -> &TaskKey {
        match &self.entry {
            EntryState::Whole(entry) => &entry.task,
            EntryState::Taken(task) => task,
        }
    }

    /// Takes the entry: it is folded once, and no other caller needs it unless the transaction fails.
    pub(crate) fn take(&mut self) -> Option<Entry> {
        let task = self.task().clone();
        match std::mem::replace(&mut self.entry, EntryState::Taken(task)) {
            EntryState::Whole(entry) => Some(*entry),
            EntryState::Taken(_) => None,
        }
    }

    /// Makes an entry that was taken by a transaction which failed whole again.
    pub(super) fn restore(&mut self) {
        if let EntryState::Taken(task) = &self.entry
            && let Some(entry) = entry_codec::read(&self.blob, task)
        {
            self.entry = EntryState::Whole(Box::new(entry));
        }
    }
}

/// Returns the number of an entry: of the observation and its place in it.
pub(super) fn uid(observation: &str, index: u32) -> i64 {
    // Derived and never drawn: the same observation through another delivery must find its entry, or it would count
    // twice.
    xxh3_64(EntryId::derive(observation, index).as_str().as_bytes()).cast_signed()
}

/// A batch that is ready to be written.
#[derive(Debug, Default)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Prepared {
    /// The batch; its entries are in `ready`.
    pub(crate) batch: Batch,
    /// Of each observation, its entries.
    pub(crate) ready: Vec<Vec<PreparedEntry>>,
}

impl Prepared {
    /// Prepares a batch.
    pub(crate) fn of(batch: Batch) -> Self {
        let mut batch = batch.in_time();
        let ready = batch.observed.iter_mut().map(|observed| match &mut observed.verdict {
            Verdict::Read(reading) => (0..)
                .zip(std::mem::take(&mut reading.entries))
                .map(|(index, entry)| PreparedEntry::new(&observed.name, index, entry))
                .collect(),
            Verdict::Malformed(_) | Verdict::Refused(_) => Vec::new(),
        });
        Self { ready: ready.collect(), batch }
    }

    /// Returns the batch as it was brought, whatever a transaction that failed took of it.
    pub(super) fn into_batch(mut self) -> Batch {
        for (observed, mut ready) in self.batch.observed.iter_mut().zip(self.ready) {
            if let Verdict::Read(reading) = &mut observed.verdict {
                // A failed transaction took the entries. A caller that tries the batch again must not deliver an
                // empty one.
                ready.iter_mut().for_each(PreparedEntry::restore);
                reading.entries = ready.into_iter().filter_map(|mut ready| ready.take()).collect();
            }
        }
        self.batch
    }

    /// Adds an observation whose entries are ready.
    pub(crate) fn push(&mut self, observed: Observed, ready: Vec<PreparedEntry>) {
        self.batch.observed.push(observed);
        self.ready.push(ready);
    }

    /// Returns its observations, each with its entries.
    pub(crate) fn observations(&self) -> impl Iterator<Item = (&Observed, &[PreparedEntry])> {
        self.batch.observed.iter().zip(self.ready.iter().map(Vec::as_slice))
    }

    /// Takes its observations, one by one.
    pub(crate) fn into_each(self) -> impl Iterator<Item = (Observed, Vec<PreparedEntry>)> {
        self.batch.observed.into_iter().zip(self.ready)
    }

    /// Takes off what comes behind the first so many observations.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let batch = Batch { observed: self.batch.observed.split_off(at), ..Batch::default() };
        Self { batch, ready: self.ready.split_off(at) }
    }

    /// Returns whether each observation stands for itself: nothing else is written with them.
    pub(super) fn stands_alone(&self) -> bool {
        // A cursor says that everything before it is in the store, so it may not travel apart from the rows that it
        // covers.
        self.batch.cursors.is_empty() && self.batch.skipped == 0 && !self.batch.reread && !self.batch.own
    }

    /// Returns how much of a group it is.
    pub(super) fn len(&self) -> usize {
        self.batch.observed.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, Channel, Evidence, Kind, Millis, Phase, Reading};

    use super::*;

    fn batch() -> Batch {
        let entry = |subject, key: &str| {
            let task = TaskKey::new(Agent::CODEX, "s");
            Entry::new(subject, Phase::Open, task, key, Millis(7), Evidence::measured("test"))
        };
        let entries =
            vec![entry(Subject::Task, "task"), entry(Subject::Event(Kind::UserMessage), "prompt:1")];
        let observed = |name: &str, verdict| Observed {
            name: name.to_owned(),
            source: None,
            agent: Agent::CODEX,
            channel: Channel::Http,
            arrived: Millis(9),
            verdict,
            payload: None,
            kept: None,
        };
        let read = Verdict::Read(Reading { entries, ..Reading::default() });
        let observed = vec![observed("bad", Verdict::Malformed("no".to_owned())), observed("good", read)];
        Batch { observed, ..Batch::default() }
    }

    #[test]
    fn a_batch_that_is_not_taken_comes_back_as_it_was() {
        assert_eq!(Prepared::of(batch()).into_batch(), batch());
    }

    #[test]
    fn what_a_failed_transaction_took_is_there_for_the_next() {
        let mut prepared = Prepared::of(batch());
        let ready = &mut prepared.ready[1][1];
        let entry = ready.take().unwrap();
        assert!(ready.entry().is_none() && ready.take().is_none());
        ready.restore();
        assert_eq!(ready.entry(), Some(&entry));
        ready.take();
        assert_eq!(prepared.into_batch(), batch(), "also in a batch that is given back");
    }
}
