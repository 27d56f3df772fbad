//! Counts alerts since the start of the server, one number for each kind and outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::alerts::alert::Kind;

/// The outcome of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived: once for each receiver.
    Sent,
    /// It did not arrive: once for each receiver.
    Failed,
    /// The same alert was sent lately. A lasting cause is suppressed anew at each look.
    CooledDown,
    /// There were too many at once.
    Crowded,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sent, Self::Failed, Self::CooledDown, Self::Crowded];

    /// Returns the word for it in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::CooledDown => "cooled_down",
            Self::Crowded => "crowded",
        }
    }
}

/// Counts alerts. Clones count into the same numbers.
#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<[[AtomicU64; Outcome::ALL.len()]; Kind::ALL.len()]>);

impl Counts {
    /// Counts one.
    pub fn add(&self, kind: Kind, outcome: Outcome) {
        if let Some(count) = self.place(kind, outcome) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns all numbers, zeros included: a kind that a server can report is never missing.
    #[must_use]
    pub fn all(&self) -> Vec<(Kind, Outcome, u64)> {
        let pairs = Kind::ALL.into_iter().flat_map(|kind| Outcome::ALL.map(|outcome| (kind, outcome)));
        pairs
            .map(|(kind, outcome)| {
                let count = self.place(kind, outcome).map_or(0, |count| count.load(Ordering::Relaxed));
                (kind, outcome, count)
            })
            .collect()
    }

    fn place(&self, kind: Kind, outcome: Outcome) -> Option<&AtomicU64> {
        self.0.get(kind as usize)?.get(outcome as usize)
    }
}
