//! Dice that fall the same way on every machine.

/// A small generator (SplitMix64): not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `from` up to but not `to`.
    pub(crate) fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from).max(1)
    }

    /// Returns `true` `times` in a hundred.
    pub(crate) fn percent(&mut self, times: u64) -> bool {
        self.next() % 100 < times
    }

    /// A length with a long tail: mostly near `usual`, a few a hundred times as long.
    pub(crate) fn length(&mut self, usual: u64) -> usize {
        let stretch = match self.next() % 1000 {
            0..600 => self.within(20, 100),
            600..900 => self.within(100, 250),
            900..990 => self.within(250, 1200),
            _ => self.within(1200, 10_000),
        };
        (usual * stretch / 100) as usize
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let index = self.next() as usize % words.len().max(1);
        words.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }

    pub(crate) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::new();
        while text.len() < digits {
            text.push_str(&format!("{:016x}", self.next()));
        }
        text.truncate(digits);
        text
    }
}
