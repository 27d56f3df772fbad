//! Text that arrives in bits and is hashed in words.

/// Collects short pieces of a text into longer ones, whose lengths are multiples of eight but for the last.
pub(crate) struct Pieces {
    buffer: [u8; Pieces::SIZE],
    used: usize,
}

impl Pieces {
    const SIZE: usize = 512;
    /// The bytes taken at once.
    pub(crate) const BLOCK: usize = 32;

    pub(crate) fn new() -> Self {
        Self { buffer: [0; Self::SIZE], used: 0 }
    }

    /// Takes the first `count` bytes of `block`.
    #[inline(always)]
    pub(crate) fn push(&mut self, block: &[u8; Self::BLOCK], count: usize, sink: &mut impl FnMut(&[u8])) {
        if self.used > Self::SIZE - Self::BLOCK {
            self.flush(sink);
        }
        if let Some(room) = self.buffer.get_mut(self.used..).and_then(|rest| rest.first_chunk_mut()) {
            *room = *block;
        }
        self.used += count;
    }

    #[inline(always)]
    pub(crate) fn push_byte(&mut self, byte: u8, sink: &mut impl FnMut(&[u8])) {
        if self.used > Self::SIZE - Self::BLOCK {
            self.flush(sink);
        }
        if let Some(room) = self.buffer.get_mut(self.used) {
            *room = byte;
        }
        self.used += 1;
    }

    #[inline(never)]
    fn flush(&mut self, sink: &mut impl FnMut(&[u8])) {
        let whole = self.used & !7;
        sink(self.buffer.get(..whole).unwrap_or_default());
        self.buffer.copy_within(whole..self.used.min(Self::SIZE), 0);
        self.used -= whole;
    }

    pub(crate) fn rest(&self) -> &[u8] {
        self.buffer.get(..self.used).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pieces_but_the_last_are_whole_words() {
        let mut pieces = Pieces::new();
        let mut whole = Vec::new();
        let mut taken = Vec::new();
        let mut sink = |piece: &[u8]| {
            assert_eq!(piece.len() % 8, 0);
            taken.extend_from_slice(piece);
        };
        for number in 0..500usize {
            let block: [u8; Pieces::BLOCK] = std::array::from_fn(|at| (number + at) as u8);
            let count = number % (Pieces::BLOCK + 1);
            whole.extend_from_slice(&block[..count]);
            pieces.push(&block, count, &mut sink);
            whole.push(b'x');
            pieces.push_byte(b'x', &mut sink);
        }
        taken.extend_from_slice(pieces.rest());
        assert_eq!(taken, whole);
    }
}
