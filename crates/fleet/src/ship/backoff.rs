//! Computes the delay before the next attempt.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(300);

/// Computes delays that double with every failure in a row, up to five minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Records a success: the next failure is the first again.
    pub fn worked(&mut self) {
        self.failures = 0;
    }

    /// Records a failure. `spread` is any number: many machines that lost the same server must not come back at once.
    pub fn failed(&mut self, spread: u64) -> Duration {
        let wait = FIRST.saturating_mul(1_u32.checked_shl(self.failures).unwrap_or(u32::MAX)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let parts = u32::try_from(spread % 1_000).unwrap_or(0);
        // At least half of the delay: one that could be zero would let a broken machine retry without a pause.
        wait / 2 + wait / 2 * parts / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..12).map(|_| backoff.failed(999).as_secs()).collect();
        assert!(waits.is_sorted(), "{waits:?}");
        assert!(*waits.last().unwrap() <= LONGEST.as_secs() && *waits.last().unwrap() > 200);
        backoff.worked();
        assert!(backoff.failed(0) <= FIRST);
        for _ in 0..100 {
            assert!(backoff.failed(u64::MAX) <= LONGEST);
        }
    }
}
