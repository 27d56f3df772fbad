//! What a batch needs before it can be written and whoever brings it can do: the writer has only one thread.

use agent_tracer_event::{Entry, EntryId, Subject};
use xxhash_rust::xxh3::xxh3_64;

use super::kept;
use crate::observed::{Batch, Verdict};
use crate::project::row;

/// An entry that is ready to be written.
pub(super) struct Ready {
    /// The number of the entry: of the observation and its place in it.
    pub(super) uid: i64,
    /// The number of its key.
    pub(super) key: i64,
    /// As it is kept; nothing of what is told of a task itself.
    pub(super) blob: Vec<u8>,
    /// A copy to fold; gone once it was taken.
    copy: Option<Entry>,
}

impl Ready {
    /// Prepares an entry.
    pub(super) fn of(observation: &str, index: u32, entry: &Entry) -> Self {
        let is_fact = !matches!(entry.subject, Subject::Task | Subject::Account);
        Self {
            uid: uid(observation, index),
            key: row::number(&entry.key),
            blob: if is_fact { kept::write(entry) } else { Vec::new() },
            copy: is_fact.then(|| entry.clone()),
        }
    }

    /// A copy of the entry that it was made of.
    pub(super) fn take(&mut self, entry: &Entry) -> Entry {
        // A transaction that failed has taken it: the next one makes another.
        self.copy.take().unwrap_or_else(|| entry.clone())
    }
}

/// The number of an entry: of the observation and its place in it.
pub(super) fn uid(observation: &str, index: u32) -> i64 {
    xxh3_64(EntryId::derive(observation, index).as_str().as_bytes()).cast_signed()
}

/// A batch that is ready to be written.
pub(super) struct Prepared {
    pub(super) batch: Batch,
    /// Of each observation, its entries.
    pub(super) ready: Vec<Vec<Ready>>,
}

impl Prepared {
    /// Prepares a batch.
    pub(super) fn of(batch: Batch) -> Self {
        let batch = batch.in_time();
        let ready = batch.observed.iter().map(|observed| match &observed.verdict {
            Verdict::Read(reading) => (0..)
                .zip(&reading.entries)
                .map(|(index, entry)| Ready::of(&observed.name, index, entry))
                .collect(),
            Verdict::Malformed(_) | Verdict::Refused(_) => Vec::new(),
        });
        Self { ready: ready.collect(), batch }
    }

    /// How much of a group it is.
    pub(super) fn len(&self) -> usize {
        self.batch.observed.len().max(1)
    }
}
