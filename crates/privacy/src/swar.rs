//! Eight bytes at a time: the loops that must run at the speed of memory.
//!
//! Each test marks the high bit of every byte that matches. A borrow can mark bytes above a true match as
//! well, never below one, so only the lowest mark is used.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[inline(always)]
fn equals(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

#[inline(always)]
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * limit as u64) & !word & HIGHS
}

/// The place of the first byte at or after `from` that `mark` marks, or the length of `bytes`.
#[inline(always)]
fn find(bytes: &[u8], from: usize, mark: impl Fn(u64) -> u64) -> usize {
    let Some(rest) = bytes.get(from..) else { return bytes.len() };
    let (words, tail) = rest.as_chunks::<8>();
    let mut at = from;
    for word in words {
        let marks = mark(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let mut last = [0xff; 8];
    for (slot, byte) in last.iter_mut().zip(tail) {
        *slot = *byte;
    }
    let marks = mark(u64::from_le_bytes(last));
    let within = (marks.trailing_zeros() / 8) as usize;
    if within < tail.len() { at + within } else { bytes.len() }
}

/// The place of the next byte that ends or interrupts a JSON string: a quote, a backslash, a control character.
#[inline]
pub(crate) fn special(bytes: &[u8], from: usize) -> usize {
    find(bytes, from, |word| equals(word, b'"') | equals(word, b'\\') | below(word, 0x20))
}

/// The place of the next `byte`.
#[inline]
pub(crate) fn position(bytes: &[u8], from: usize, byte: u8) -> usize {
    find(bytes, from, |word| equals(word, byte))
}

/// The value of four hexadecimal digits.
pub(crate) fn hex4(digits: &[u8]) -> Option<u16> {
    let four = digits.first_chunk::<4>()?;
    four.iter().try_fold(0u16, |value, digit| {
        let digit = (*digit as char).to_digit(16)?;
        Some((value << 4) | digit as u16)
    })
}
