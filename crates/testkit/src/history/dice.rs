//! Random numbers that are the same on every machine.

/// A small generator (SplitMix64). Not for secrets.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x51ab_c0de_0dd5_1234))
    }

    /// Returns the next 64 bits, uniformly distributed.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number from `from` up to but not including `to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.throw() % to.saturating_sub(from).max(1)
    }

    /// Returns `true` `times` in a thousand.
    pub fn per_mille(&mut self, times: u64) -> bool {
        self.throw() % 1000 < times
    }

    /// Returns a number below `to`, small ones far more often: the product of two uniform numbers.
    pub fn skewed(&mut self, to: u64) -> u64 {
        // 53 bits are what a float holds exactly.
        let even = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let (one, two) = (even(self.throw()), even(self.throw()));
        ((one * two * to as f64) as u64).min(to.saturating_sub(1))
    }

    /// Returns a duration in milliseconds: most are short, a few are minutes.
    pub fn duration(&mut self) -> u64 {
        let doublings = self.skewed(18);
        self.within(1, 4) << doublings
    }

    /// Returns one of these words.
    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let index = self.throw() as usize % words.len().max(1);
        words.get(index).copied().unwrap_or_default()
    }

    /// Returns an id in the form of the clients.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.throw(), self.throw());
        let (a1, a2, a3) = (a >> 32, a >> 16 & 0xffff, a & 0xfff);
        format!("{a1:08x}-{a2:04x}-4{a3:03x}-8{:03x}-{:012x}", b >> 52, b & 0xffff_ffff_ffff)
    }

    /// Returns sixteen hexadecimal digits.
    pub fn hex(&mut self) -> String {
        format!("{:016x}", self.throw())
    }
}
