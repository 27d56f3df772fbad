//! LZ4 blocks against a dictionary that is looked through once.
//!
//! Rows are a few hundred bytes, so what costs is not packing them but getting ready for it: each block would begin with
//! a walk through the whole dictionary. Here the places of the dictionary are kept in a table that every block begins
//! with a copy of. What is written is the plain LZ4 block format, read by any decoder that takes a dictionary.

/// Places are kept by this many bits of a hash.
const HASH_BITS: u32 = 12;

/// The shortest repetition that the format can name.
const SHORTEST: usize = 4;

/// The format ends each block with at least so many bytes as they are,
const PLAIN_END: usize = 5;

/// and begins no repetition nearer to the end than this.
const LAST_BEGIN: usize = 12;

/// Places are kept in 16 bits, which is also as far as the format reaches back.
const FARTHEST: usize = u16::MAX as usize;

type Table = [u16; 1 << HASH_BITS];

/// Packs one block after the other.
pub(super) struct Packer {
    /// The positions of sequences of bytes in the dictionary.
    known: Box<Table>,
    table: Box<Table>,
    /// The dictionary, and behind it the bytes that are packed.
    window: Vec<u8>,
    dictionary: usize,
}

impl Packer {
    pub(super) fn new(dictionary: &[u8]) -> Self {
        let mut known = Box::new([0; 1 << HASH_BITS]);
        for at in 0..dictionary.len().saturating_sub(SHORTEST - 1) {
            put(&mut known, word(dictionary, at), at);
        }
        Self { table: known.clone(), known, window: dictionary.to_vec(), dictionary: dictionary.len() }
    }

    /// Adds the block of these bytes. More bytes than fit beside the dictionary are not packed: tells whether they were.
    pub(super) fn pack(&mut self, bytes: &[u8], block: &mut Vec<u8>) -> bool {
        // A distance in the format has two bytes. Longer texts are rare and are packed by the general encoder.
        if self.dictionary + bytes.len() > FARTHEST {
            return false;
        }
        self.window.truncate(self.dictionary);
        self.window.extend_from_slice(bytes);
        // A copy of 8 KB. A walk through the dictionary before every blob was among the largest costs of an event
        // (ADR 12).
        self.table.copy_from_slice(self.known.as_slice());
        let window = self.window.as_slice();
        let mut at = self.dictionary;
        let mut plain = at;
        let last_begin = window.len().saturating_sub(LAST_BEGIN);
        while at < last_begin {
            let here = word(window, at);
            let before = put(&mut self.table, here, at);
            if before >= at || word(window, before) != here {
                // The longer nothing repeats, the larger the steps.
                at += 1 + ((at - plain) >> 6);
                continue;
            }
            let length = SHORTEST + alike(window, before + SHORTEST, at + SHORTEST);
            put_sequence(block, window.get(plain..at).unwrap_or_default(), Some((at - before, length)));
            at += length;
            plain = at;
        }
        put_sequence(block, window.get(plain..).unwrap_or_default(), None);
        true
    }
}

/// Returns four bytes as a number; behind the end there are none.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + SHORTEST).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Remembers where these four bytes stand. Gives where they, or others of the same hash, stood before.
fn put(table: &mut Table, word: u32, at: usize) -> usize {
    let place = (word.wrapping_mul(2_654_435_761) >> (32 - HASH_BITS)) as usize;
    let at = u16::try_from(at).unwrap_or(0);
    table.get_mut(place).map_or(0, |kept| std::mem::replace(kept, at)) as usize
}

/// Returns how many bytes from two places on are the same, as far as the format lets a repetition reach.
fn alike(window: &[u8], left: usize, right: usize) -> usize {
    let end = window.len() - PLAIN_END;
    let right = window.get(right..end).unwrap_or_default();
    let left = window.get(left..).unwrap_or_default();
    let eights =
        left.chunks_exact(8).zip(right.chunks_exact(8)).take_while(|(one, two)| one == two).count() * 8;
    let rest = left.iter().zip(right).skip(eights);
    eights + rest.take_while(|(one, two)| one == two).count()
}

/// Appends bytes as they are, then what is repeated: how far back it stands and how long it is.
fn put_sequence(block: &mut Vec<u8>, plain: &[u8], repeated: Option<(usize, usize)>) {
    let longer = repeated.map_or(0, |(_, length)| length - SHORTEST);
    let nibble = |length: usize| u8::try_from(length.min(15)).unwrap_or(15);
    block.push((nibble(plain.len()) << 4) | nibble(longer));
    put_rest(block, plain.len());
    block.extend_from_slice(plain);
    if let Some((back, _)) = repeated {
        block.extend_from_slice(&u16::try_from(back).unwrap_or(0).to_le_bytes());
        put_rest(block, longer);
    }
}

/// Writes the part of a length that does not fit into four bits.
fn put_rest(block: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(15) else { return };
    while rest >= 255 {
        block.push(255);
        rest -= 255;
    }
    block.push(u8::try_from(rest).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DICTIONARY: &[u8] = b"the quick brown fox jumps over the lazy dog, \"permissionMode\":\"default\"";

    fn there_and_back(bytes: &[u8]) -> Vec<u8> {
        let mut block = Vec::new();
        assert!(Packer::new(DICTIONARY).pack(bytes, &mut block));
        let back = lz4_flex::block::decompress_with_dict(&block, bytes.len(), DICTIONARY).unwrap();
        assert_eq!(back, bytes);
        block
    }

    #[test]
    fn what_the_dictionary_holds_costs_little() {
        let row = b"{\"permissionMode\":\"default\",\"and\":\"the quick brown fox jumps over the lazy cat\"}";
        assert!(there_and_back(row).len() * 2 < row.len());
    }

    #[test]
    fn short_long_and_even_texts_come_back() {
        for length in [0, 1, 4, 5, 11, 12, 13, 14, 19, 270, 271, 4_000, FARTHEST - DICTIONARY.len()] {
            there_and_back(&vec![b'x'; length]);
            there_and_back(&(0..length).map(|at| (at * at / 7) as u8).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_longer_than_can_be_reached_is_left_to_others() {
        let mut block = Vec::new();
        assert!(!Packer::new(DICTIONARY).pack(&vec![0; FARTHEST], &mut block));
        assert!(block.is_empty());
    }

    #[test]
    fn one_block_does_not_remember_the_one_before() {
        let mut packer = Packer::new(DICTIONARY);
        let (mut first, mut again) = (Vec::new(), Vec::new());
        packer.pack(b"something else, something else, something else", &mut first);
        packer.pack(b"a text of its own that is not known yet", &mut Vec::new());
        packer.pack(b"something else, something else, something else", &mut again);
        assert_eq!(first, again);
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(
            words in proptest::collection::vec("[a-d]{1,6}|quick brown|permissionMode|\\PC", 0..400),
        ) {
            there_and_back(words.concat().as_bytes());
        }
    }
}
