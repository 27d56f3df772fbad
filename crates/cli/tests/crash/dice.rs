//! Chance that can be repeated: the same seed gives the same choices.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A source of choices (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns another source with choices independent of those made here.
    pub(crate) fn split(&mut self) -> Dice {
        Dice(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns whether one of `of` cases came up.
    pub(crate) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// A time of up to so many microseconds.
    pub(crate) fn micros(&mut self, end: u64) -> Duration {
        Duration::from_micros(self.below(end))
    }
}

/// The seed in `$CRASH_SEED`, or another one each time. It is printed, and so in the output of a test that fails.
pub(crate) fn seed() -> u64 {
    let named = std::env::var("CRASH_SEED").ok().and_then(|text| text.parse().ok());
    let seed = named.unwrap_or_else(|| RandomState::new().hash_one("seed") & 0xffff_ffff);
    println!("CRASH_SEED={seed}");
    seed
}

/// Returns the number of rounds: `$FAULT_ROUNDS` (`make test-faults`), or a few.
pub(crate) fn rounds(few: usize) -> usize {
    std::env::var("FAULT_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Lets a drawn time pass. The one place that waits for no event: a process dies at this moment, and it is any moment.
#[expect(clippy::disallowed_methods, reason = "a death by chance has no signal that one could wait for")]
pub(crate) fn pass(time: Duration) {
    std::thread::sleep(time);
}
