//! Eight bytes at a time: the loops that must run at the speed of memory.
//!
//! Each test of a word marks the high bit of every byte that matches. A borrow can mark bytes above a true match as
//! well, never below one, so only the lowest mark is used.

use crate::lanes::{BLOCK, Lanes};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Marks quotes, backslashes and control characters, which end or interrupt a JSON string.
///
/// With its second bit inverted a quote is 0x20, and control characters stay below 0x20: one compare for both.
#[inline(always)]
pub(crate) fn specials(word: u64) -> u64 {
    let low = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (low | backslash) & !word & HIGHS
}

/// Counts the bytes of a block before its first special byte: word by word, for texts where it is near.
#[inline(always)]
pub(crate) fn special_near(block: &[u8; 32]) -> usize {
    let mut at = 0;
    for word in block.as_chunks::<8>().0 {
        let marks = specials(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + before(marks);
        }
        at += 8;
    }
    at
}

/// Marks bytes that cannot be inside a word of letters, digits, `_` and `-`: everything below `0` but the hyphen and,
/// as the price of a single compare, the comma.
#[inline(always)]
pub(crate) fn separators(word: u64) -> u64 {
    (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x2e) & !word & HIGHS
}

#[inline(always)]
fn equals(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

/// Marks `:` to `=`, and `-`; and, as this is only a hint, perhaps the byte after a `-`.
#[inline(always)]
pub(crate) fn marks(word: u64) -> u64 {
    colon_to_equals(word) | equals(word, b'-')
}

/// Marks `:`, `;`, `<` and `=`, and nothing else.
#[inline(always)]
pub(crate) fn colon_to_equals(word: u64) -> u64 {
    let low = word & !HIGHS;
    let from_colon = low.wrapping_add(ONES * (0x80 - b':' as u64));
    let behind_equals = low.wrapping_add(ONES * (0x7f - b'=' as u64));
    from_colon & !behind_equals & !word & HIGHS
}

/// Marks blanks and control characters.
#[inline(always)]
pub(crate) fn blanks(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x21) & !word & HIGHS
}

/// Marks backslashes.
#[inline(always)]
pub(crate) fn backslashes(word: u64) -> u64 {
    equals(word, b'\\')
}

/// Counts the bytes before the lowest mark.
#[inline(always)]
pub(crate) fn before(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// Returns up to eight bytes as a word, filled up with 0xff, which no test marks.
#[inline]
pub(crate) fn last_word(tail: &[u8]) -> u64 {
    let mut word = [0xff; 8];
    for (slot, byte) in word.iter_mut().zip(tail) {
        *slot = *byte;
    }
    u64::from_le_bytes(word)
}

/// Returns the place of the first byte at or after `from` that `mark` marks, or the length of `bytes`.
#[inline(always)]
fn find(bytes: &[u8], from: usize, mark: impl Fn(u64) -> u64) -> usize {
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    let (words, tail) = rest.as_chunks::<8>();
    let mut at = from;
    for word in words {
        let marks = mark(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + before(marks);
        }
        at += 8;
    }
    let within = before(mark(last_word(tail)));
    if within < tail.len() { at + within } else { bytes.len() }
}

/// Returns a set bit for each byte of a block that is a quote, a backslash or a control character.
#[inline(always)]
pub(crate) fn special_bits(block: &[u8; BLOCK]) -> u32 {
    let bytes = Lanes::of(block);
    bytes.flip(0x02).at_most(0x20).or(bytes.is(b'\\')).bits()
}

/// Returns the place of the next special byte.
#[inline(always)]
pub(crate) fn special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let bits = special_bits(block);
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    find(bytes, at, specials)
}

/// Returns the place of the next `byte`, or the length of `bytes`.
#[inline]
pub(crate) fn position(bytes: &[u8], from: usize, byte: u8) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let bits = Lanes::of(block).is(byte).bits();
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    find(bytes, at, |word| equals(word, byte))
}

/// Returns the place of the next `pair` of bytes, or the length of `bytes`.
#[inline]
pub(crate) fn position_of_pair(bytes: &[u8], from: usize, pair: [u8; 2]) -> usize {
    let [first, second] = pair;
    let mut at = from;
    while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<{ BLOCK + 1 }>()) {
        let (Some(one), Some(other)) = (window.first_chunk(), window.last_chunk()) else { break };
        let bits = Lanes::of(one).is(first).and(Lanes::of(other).is(second)).bits();
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.windows(2).position(|two| two == pair).map_or(bytes.len(), |place| at + place)
}

/// Returns the value of four hexadecimal digits.
pub(crate) fn hex4(digits: &[u8]) -> Option<u16> {
    let four = digits.first_chunk::<4>()?;
    four.iter().try_fold(0u16, |value, digit| {
        let digit = (*digit as char).to_digit(16)?;
        Some((value << 4) | digit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_classified_at_every_place() {
        for byte in 0..=255u8 {
            let expected = byte == b'"' || byte == b'\\' || byte < 0x20;
            for length in 1..40 {
                for place in 0..length {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    let found = special(&text, 0);
                    assert_eq!(
                        found,
                        if expected { place } else { length },
                        "byte {byte} at {place} of {length}"
                    );
                    let wanted = if byte == b'a' { 0 } else { place };
                    assert_eq!(position(&text, 0, byte), wanted, "byte {byte} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn a_pair_is_found_at_every_place_and_only_as_a_pair() {
        for length in 2..60 {
            for place in 0..length - 1 {
                let mut text = vec![b'<'; length];
                text[place + 1] = b't';
                assert_eq!(position_of_pair(&text, 0, *b"<t"), place, "{place} of {length}");
                assert_eq!(position_of_pair(&text, place + 1, *b"<t"), length);
            }
        }
    }

    #[test]
    fn a_match_is_not_hidden_by_another_behind_it() {
        for first in [b'"', b'\\', b'\n', 0x01, 0x00, 0x1f] {
            for second in [b'"', b'\\', b'\n', 0x21, 0x23, 0x5d, 0x5b, 0x20] {
                let text = [b'x', first, second, second, b'y', b'z', b'z', b'z'];
                assert_eq!(special(&text, 0), 1);
            }
        }
    }

    #[test]
    fn hexadecimal_digits_are_read_in_both_cases() {
        assert_eq!(hex4(b"00e9"), Some(0xe9));
        assert_eq!(hex4(b"D83Dmore"), Some(0xd83d));
        assert_eq!(hex4(b"12g4"), None);
        assert_eq!(hex4(b"123"), None);
        assert_eq!(hex4(b"+123"), None);
    }
}
