//! The epoch of places in the order of delivery: a `seq` means the same rows only within one epoch.
//!
//! A server of one machine begins a new one whenever it starts: while it was off, an older copy of the ledger may have
//! been put back, rows may have been purged, or the ledger rebuilt. A team's server has none, because its places are
//! moments, which several processes share.
//!
//! The id of an event of the stream is the epoch followed by sixteen digits of the place, in one number that grows.
//! Without an epoch it is the place alone.

use agent_tracer_event::Millis;

/// Digits of a place within an id: the largest that a script can count to has so many.
const DIGITS: usize = 16;

/// The largest place in the order of delivery: what a script can count to.
pub(crate) const LARGEST: u64 = (1 << 53) - 1;

/// The start of counting, in milliseconds; zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

/// A place that a follower knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamPosition {
    /// The epoch; absent where only a number is given.
    pub(crate) epoch: Option<Epoch>,
    /// The place in the order of delivery.
    pub(crate) seq: u64,
}

impl Epoch {
    /// Begins an epoch at this moment.
    pub(crate) fn beginning(now: Millis) -> Self {
        // Zero stands for no epoch, and a clock may stand before 1970.
        Self(u64::try_from(now.0).unwrap_or(0).max(1))
    }

    /// Stands for no epoch.
    pub(crate) const fn none() -> Self {
        Self(0)
    }

    /// Returns the id of a place.
    pub(crate) fn id(self, seq: u64) -> String {
        match self.0 {
            0 => seq.to_string(),
            epoch => format!("{epoch}{seq:0DIGITS$}"),
        }
    }
}

impl StreamPosition {
    /// Reads an id, or a place alone.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (epoch, seq) = match id.len().checked_sub(DIGITS) {
            None | Some(0) => (None, id),
            Some(length) => {
                let (epoch, seq) = id.split_at_checked(length)?;
                (Some(Epoch(epoch.parse().ok()?)), seq)
            }
        };
        let seq = seq.parse().ok().filter(|seq| *seq <= LARGEST)?;
        Some(Self { epoch, seq })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_says_its_epoch_and_its_place(now in 1_i64..10_000_000_000_000, seq in 0..=LARGEST) {
            let epoch = Epoch::beginning(Millis(now));
            prop_assert_eq!(StreamPosition::parse(&epoch.id(seq)), Some(StreamPosition { epoch: Some(epoch), seq }));
            prop_assert_eq!(StreamPosition::parse(&Epoch::none().id(seq)), Some(StreamPosition { epoch: None, seq }));
        }

        #[test]
        fn a_text_that_is_not_an_id_is_none(text in ".*") {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert!(is_number || StreamPosition::parse(&text).is_none());
        }
    }

    #[test]
    fn ids_grow_with_places_and_with_epochs() {
        let number = |now: i64, seq: u64| Epoch::beginning(Millis(now)).id(seq).parse::<u128>().unwrap();
        assert!(number(1_794_777_004_001, 9) < number(1_794_777_004_001, 10));
        assert!(number(1_794_777_004_001, LARGEST) < number(1_794_777_004_002, 0));
        assert_eq!(StreamPosition::parse("9007199254740992"), None, "beyond what a script can count to");
    }
}
