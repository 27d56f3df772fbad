//! What a batch needs before it can be written and whoever brings it can do: the writer has only one thread.

use agent_tracer_event::{Entry, EntryId, Subject, TaskKey};
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
    entry: Held,
}

/// The entry itself, or what is left of it.
enum Held {
    Whole(Box<Entry>),
    /// It was taken to be folded; what is written of it is in the blob.
    Taken(TaskKey),
}

impl Ready {
    fn of(observation: &str, index: u32, entry: Entry) -> Self {
        let is_fact = !matches!(entry.subject, Subject::Task | Subject::Account);
        Self {
            uid: uid(observation, index),
            key: row::number(&entry.key),
            blob: if is_fact { kept::write(&entry) } else { Vec::new() },
            entry: Held::Whole(Box::new(entry)),
        }
    }

    /// The entry, unless it was taken.
    pub(super) fn entry(&self) -> Option<&Entry> {
        match &self.entry {
            Held::Whole(entry) => Some(entry),
            Held::Taken(_) => None,
        }
    }

    /// The task of the entry.
    pub(super) fn task(&self) -> &TaskKey {
        match &self.entry {
            Held::Whole(entry) => &entry.task,
            Held::Taken(task) => task,
        }
    }

    /// Takes the entry: it is folded once, and nobody else needs it unless the transaction fails.
    pub(super) fn take(&mut self) -> Option<Entry> {
        let task = self.task().clone();
        match std::mem::replace(&mut self.entry, Held::Taken(task)) {
            Held::Whole(entry) => Some(*entry),
            Held::Taken(_) => None,
        }
    }

    /// Makes an entry that was taken by a transaction which failed whole again.
    pub(super) fn restore(&mut self) {
        if let Held::Taken(task) = &self.entry
            && let Some(entry) = kept::read(&self.blob, task)
        {
            self.entry = Held::Whole(Box::new(entry));
        }
    }
}

/// The number of an entry: of the observation and its place in it.
pub(super) fn uid(observation: &str, index: u32) -> i64 {
    xxh3_64(EntryId::derive(observation, index).as_str().as_bytes()).cast_signed()
}

/// A batch that is ready to be written.
pub(super) struct Prepared {
    /// The batch; its entries are in `ready`.
    pub(super) batch: Batch,
    /// Of each observation, its entries.
    pub(super) ready: Vec<Vec<Ready>>,
}

impl Prepared {
    /// Prepares a batch.
    pub(super) fn of(batch: Batch) -> Self {
        let mut batch = batch.in_time();
        let ready = batch.observed.iter_mut().map(|observed| match &mut observed.verdict {
            Verdict::Read(reading) => (0..)
                .zip(std::mem::take(&mut reading.entries))
                .map(|(index, entry)| Ready::of(&observed.name, index, entry))
                .collect(),
            Verdict::Malformed(_) | Verdict::Refused(_) => Vec::new(),
        });
        Self { ready: ready.collect(), batch }
    }

    /// The batch as it was brought.
    pub(super) fn into_batch(mut self) -> Batch {
        for (observed, ready) in self.batch.observed.iter_mut().zip(self.ready) {
            if let Verdict::Read(reading) = &mut observed.verdict {
                reading.entries = ready.into_iter().filter_map(|mut ready| ready.take()).collect();
            }
        }
        self.batch
    }

    /// How much of a group it is.
    pub(super) fn len(&self) -> usize {
        self.batch.observed.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, Channel, Evidence, Kind, Millis, Phase, Reading};

    use super::*;
    use crate::observed::Observed;

    fn batch() -> Batch {
        let entry = |subject, key: &str| {
            let task = TaskKey::new(Agent::Codex, "s");
            Entry::new(subject, Phase::Open, task, key, Millis(7), Evidence::measured("test"))
        };
        let entries =
            vec![entry(Subject::Task, "task"), entry(Subject::Event(Kind::UserMessage), "prompt:1")];
        let observed = |name: &str, verdict| Observed {
            name: name.to_owned(),
            source: None,
            agent: Agent::Codex,
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
        assert_eq!(prepared.into_batch(), batch());
    }
}
