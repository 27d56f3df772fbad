//! Pauses between attempts: short at first, then longer, until one succeeds.

use std::time::Duration;

/// The pauses between failed attempts.
#[derive(Clone, Debug)]
pub struct Pace {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pace {
    /// Creates pauses that double from `first` up to `longest`.
    #[must_use]
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Returns the pause after another failure.
    pub fn failed(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Starts again with the first pause after the next failure.
    pub fn succeeded(&mut self) {
        self.next = self.first;
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self::new(Duration::from_millis(250), Duration::from_secs(30))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit_and_begin_anew_after_a_success() {
        let mut pace = Pace::new(Duration::from_secs(1), Duration::from_secs(5));
        let pauses: Vec<u64> = (0..5).map(|_| pace.failed().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 5, 5]);
        pace.succeeded();
        assert_eq!(pace.failed(), Duration::from_secs(1));
    }
}
