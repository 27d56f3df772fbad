//! Recently written records in memory, for the writer: reading them back from the file would only repeat the work of
//! decoding them.
//!
//! It is a run of records without a gap, and never much of them. Whatever is not here, because it did not fit, was
//! taken by a transaction that failed, or was written by an earlier process, is read from the file.

use std::collections::VecDeque;

use super::file::RecordRun;
use crate::observation::Observed;
use crate::sqlite::prepared::PreparedEntry;

/// More bytes of the file than this are not held here as well.
const MOST: u64 = 4 << 20;

/// A record, and where it ends.
pub(super) type Record = ((Observed, Vec<PreparedEntry>), u64);

/// A run of records.
#[derive(Debug, Default)]
pub(super) struct HandoffBuffer {
    /// The positions in the file at which the first of them begins and the last of them ends.
    from: u64,
    to: u64,
    records: VecDeque<Record>,
}

impl HandoffBuffer {
    /// Hands over records that stand in the file from here on. They are let go if they do not follow the last, or if
    /// there is no room: then the file has them.
    pub(super) fn put(&mut self, from: u64, records: impl IntoIterator<Item = Record>) {
        if self.records.is_empty() {
            (self.from, self.to) = (from, from);
        }
        // A gap would break the promise that the records here are a run. The file has them, so letting them go costs
        // only a read.
        if self.to != from {
            return;
        }
        for record in records {
            // Measured by the bytes in the file, because the size of decoded entries is not known without walking
            // them.
            if record.1.saturating_sub(self.from) > MOST {
                return;
            }
            self.to = record.1;
            self.records.push_back(record);
        }
    }

    /// Takes the records that begin here, at most so many; none if the first here is another.
    pub(super) fn take(&mut self, from: u64, most: usize) -> Option<RecordRun> {
        // What was folded from the file meanwhile is no news.
        while self.from < from
            && let Some((_, end)) = self.records.pop_front()
        {
            self.from = end;
        }
        if self.records.is_empty() || self.from != from {
            return None;
        }
        let mut part = RecordRun { is_handed: true, ..RecordRun::default() };
        for ((observed, ready), end) in self.records.drain(..most.min(self.records.len())) {
            part.prepared.push(observed, ready);
            part.ends.push(end);
            self.from = end;
        }
        part.end = self.from;
        // One burst does not hold its memory for ever.
        if self.records.is_empty() {
            self.records.shrink_to(1_024);
        }
        Some(part)
    }

    /// Returns where in the file what is here begins, if anything is.
    pub(super) fn begins(&self) -> Option<u64> {
        (!self.records.is_empty()).then_some(self.from)
    }

    /// Lets everything go.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::ready;
    use super::*;

    fn run(from: u64, ends: &[u64]) -> (u64, Vec<Record>) {
        (from, ends.iter().map(|end| (ready(&end.to_string()), *end)).collect())
    }

    fn put(handed: &mut HandoffBuffer, (from, records): (u64, Vec<Record>)) {
        handed.put(from, records);
    }

    fn ends(part: Option<RecordRun>) -> Vec<u64> {
        part.map(|part| part.ends).unwrap_or_default()
    }

    #[test]
    fn records_are_taken_in_their_order_and_once() {
        let mut handed = HandoffBuffer::default();
        put(&mut handed, run(24, &[30, 40]));
        put(&mut handed, run(40, &[50]));
        assert_eq!(handed.begins(), Some(24));
        assert_eq!(ends(handed.take(24, 2)), [30, 40]);
        assert_eq!(handed.begins(), Some(40));
        assert_eq!(ends(handed.take(24, 9)), [0_u64; 0], "they are taken");
        assert_eq!(ends(handed.take(40, 9)), [50]);
        assert_eq!((handed.begins(), ends(handed.take(50, 9))), (None, vec![]));
    }

    #[test]
    fn behind_a_gap_nothing_is_held_until_everything_before_it_is_gone() {
        let mut handed = HandoffBuffer::default();
        put(&mut handed, run(24, &[30]));
        put(&mut handed, run(40, &[50]));
        assert_eq!(ends(handed.take(24, 9)), [30]);
        put(&mut handed, run(50, &[60]));
        assert_eq!(
            (handed.begins(), ends(handed.take(30, 9))),
            (Some(50), vec![]),
            "the file has what comes between"
        );
        assert_eq!(ends(handed.take(50, 9)), [60]);
    }

    #[test]
    fn what_was_read_from_the_file_is_not_taken_again() {
        let mut handed = HandoffBuffer::default();
        put(&mut handed, run(24, &[30, 40, 50]));
        assert_eq!(ends(handed.take(40, 9)), [50]);
        put(&mut handed, run(50, &[60]));
        assert_eq!((ends(handed.take(60, 9)), handed.begins()), (vec![], None));
    }

    #[test]
    fn it_never_holds_much() {
        let mut handed = HandoffBuffer::default();
        put(&mut handed, run(24, &[24 + MOST, 25 + MOST, 26 + MOST]));
        put(&mut handed, run(24 + MOST, &[25 + MOST]));
        assert_eq!(ends(handed.take(24, 9)), [24 + MOST]);
        assert_eq!(handed.begins(), None);
    }
}
