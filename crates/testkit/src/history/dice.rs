//! Dice that fall the same way on every machine.

/// A small generator (SplitMix64): not for secrets.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x51ab_c0de_0dd5_1234))
    }

    /// The next throw: all bits are even.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `from` up to but not `to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.throw() % to.saturating_sub(from).max(1)
    }

    /// Whether something happens that happens `times` in a thousand.
    pub fn per_mille(&mut self, times: u64) -> bool {
        self.throw() % 1000 < times
    }

    /// A number below `to`, small ones far more often: the product of two even throws.
    pub fn skewed(&mut self, to: u64) -> u64 {
        let even = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let (one, two) = (even(self.throw()), even(self.throw()));
        ((one * two * to as f64) as u64).min(to.saturating_sub(1))
    }

    /// How long something takes in milliseconds: most are quick, a few take minutes.
    pub fn duration(&mut self) -> u64 {
        let doublings = self.skewed(18);
        self.within(1, 4) << doublings
    }

    /// One of these.
    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let index = self.throw() as usize % words.len().max(1);
        words.get(index).copied().unwrap_or_default()
    }

    /// A name as clients draw them.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.throw(), self.throw());
        let (a1, a2, a3) = (a >> 32, a >> 16 & 0xffff, a & 0xfff);
        format!("{a1:08x}-{a2:04x}-4{a3:03x}-8{:03x}-{:012x}", b >> 52, b & 0xffff_ffff_ffff)
    }

    /// Sixteen hexadecimal digits.
    pub fn hex(&mut self) -> String {
        format!("{:016x}", self.throw())
    }
}
