//! SipHash-2-4 with a 128-bit answer: the keyed hash of file contents.
//!
//! Keyed, because a bare hash of a short file can be guessed from a dictionary; the key belongs to one
//! home and never leaves it. 128 bits, so that two different contents of one machine never meet.

/// A hash in the making: feed it with [`Hasher::write`], in pieces of any size.
pub(crate) struct Hasher {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
    /// Bytes that do not fill a word yet, little end first.
    tail: u64,
    /// The number of bytes in `tail`, 0 to 7.
    held: u32,
    /// Bytes seen so far; only the low eight bits enter the hash.
    length: u64,
}

impl Hasher {
    /// Starts a hash under `key`.
    pub(crate) fn new(key: &[u8; 16]) -> Self {
        let whole = u128::from_le_bytes(*key);
        let (k0, k1) = (whole as u64, (whole >> 64) as u64);
        Self {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
            tail: 0,
            held: 0,
            length: 0,
        }
    }

    #[inline(always)]
    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v2 = self.v2.rotate_left(32);
    }

    #[inline(always)]
    fn word(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.round();
        self.v0 ^= word;
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.tail |= u64::from(byte) << (8 * self.held);
        self.held += 1;
        if self.held == 8 {
            let full = self.tail;
            self.tail = 0;
            self.held = 0;
            self.word(full);
        }
    }

    /// Adds `bytes` to the hash.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        while self.held != 0 {
            let Some((first, others)) = rest.split_first() else { return };
            self.byte(*first);
            rest = others;
        }
        let (words, remainder) = rest.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        for byte in remainder {
            self.byte(*byte);
        }
    }

    /// Ends the hash.
    pub(crate) fn finish(mut self) -> [u8; 16] {
        let last = self.tail | (self.length << 56);
        self.word(last);
        self.v2 ^= 0xee;
        for _ in 0..4 {
            self.round();
        }
        let low = self.v0 ^ self.v1 ^ self.v2 ^ self.v3;
        self.v1 ^= 0xdd;
        for _ in 0..4 {
            self.round();
        }
        let high = self.v0 ^ self.v1 ^ self.v2 ^ self.v3;
        (u128::from(low) | (u128::from(high) << 64)).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the reference implementation's `vectors_sip128`: key 00..0f, input 00..n-1.
    const REFERENCE: &[(usize, &str)] = &[
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (2, "8177228da4a45dc7fca38bdef60affe4"),
        (3, "9c70b60c5267a94e5f33b6b02985ed51"),
        (4, "f88164c12d9c8faf7d0f6e7c7bcd5579"),
        (5, "1368875980776f8854527a07690e9627"),
        (6, "14eeca338b208613485ea0308fd7a15e"),
        (7, "a1f1ebbed8dbc153c0b84aa61ff08239"),
        (8, "3b62a9ba6258f5610f83e264f31497b4"),
        (9, "264499060ad9baabc47f8b02bb6d71ed"),
        (10, "00110dc378146956c95447d3f3d0fbba"),
        (11, "0151c568386b6677a2b4dc6f81e5dc18"),
        (12, "d626b266905ef35882634df68532c125"),
        (13, "9869e247e9c08b10d029934fc4b952f7"),
        (14, "31fcefac66d7de9c7ec7485fe4494902"),
        (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
    ];

    fn key() -> [u8; 16] {
        std::array::from_fn(|at| at as u8)
    }

    fn hex(bytes: [u8; 16]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_reference_vectors_come_out() {
        for (length, expected) in REFERENCE {
            let input: Vec<u8> = (0..*length).map(|at| at as u8).collect();
            let mut hasher = Hasher::new(&key());
            hasher.write(&input);
            assert_eq!(hex(hasher.finish()), *expected, "input of {length} bytes");
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_hash_of_the_whole() {
        let input: Vec<u8> = (0..300u32).map(|at| (at * 7) as u8).collect();
        let mut whole = Hasher::new(&key());
        whole.write(&input);
        let whole = whole.finish();
        for size in 1..40 {
            let mut pieces = Hasher::new(&key());
            for piece in input.chunks(size) {
                pieces.write(piece);
            }
            assert_eq!(pieces.finish(), whole, "pieces of {size}");
        }
    }

    #[test]
    fn another_key_gives_another_hash() {
        let mut one = Hasher::new(&key());
        let mut other = Hasher::new(&[7; 16]);
        one.write(b"same");
        other.write(b"same");
        assert_ne!(one.finish(), other.finish());
    }
}
