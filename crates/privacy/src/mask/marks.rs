//! Where passwords are spelled: the places of `=`, `:`, `<`, `--` and ` -`; and two hints in letters, the `w` of `sw` and
//! the `f` of `nf`, which are rare, and in `password` and `config`.
//!
//! Sixteen bytes are tested at once by a loop that compiles to vector compares; only a block with a mark in
//! it is looked at more closely.

use crate::swar;

/// Bytes per test.
const BLOCK: usize = 16;

/// Whether a text of 8 to 16 bytes has no mark in it; `None` for one of another length.
#[inline(always)]
pub(super) fn none_in_short(text: &[u8]) -> Option<bool> {
    if text.len() > BLOCK {
        return None;
    }
    let (first, last) = (text.first_chunk::<8>()?, text.last_chunk::<8>()?);
    let marks = swar::marks(u64::from_le_bytes(*first)) | swar::marks(u64::from_le_bytes(*last));
    Some(marks == 0)
}

/// Calls `on` with the place of each mark from `from` on, in order, until it answers true.
#[inline(always)]
pub(super) fn any(text: &[u8], from: usize, mut on: impl FnMut(usize) -> bool) -> bool {
    if from == 0 && text.first().is_some_and(|first| is_mark(b' ', *first)) && on(0) {
        return true;
    }
    // A mark depends on the byte before it, so blocks start at the second byte.
    let mut at = from.max(1);
    while let Some(window) = text.get(at - 1..).and_then(|rest| rest.first_chunk::<{ BLOCK + 1 }>()) {
        if may_hold_mark(window) && each(window, at, &mut on) {
            return true;
        }
        at += BLOCK;
    }
    // What is left is shorter than a block: test the last block of the text, and look only at the new part.
    if text.last_chunk::<{ BLOCK + 1 }>().is_some_and(|last| !may_hold_mark(last)) {
        return false;
    }
    let rest = text.get(at - 1..).unwrap_or_default();
    rest.windows(2).enumerate().any(|(within, pair)| match pair {
        // Most bytes are letters, which are above all marks.
        [before, here] => *here <= b'=' && is_mark(*before, *here) && on(at + within),
        _ => false,
    })
}

/// Calls `on` for each mark of a block that begins at `at`, one byte behind the start of `window`.
#[inline(never)]
fn each(window: &[u8; BLOCK + 1], at: usize, on: &mut impl FnMut(usize) -> bool) -> bool {
    let (words, _) = window.get(1..).unwrap_or_default().as_chunks::<8>();
    for (first, word) in [0, 8].into_iter().zip(words) {
        let mut marks = swar::marks(u64::from_le_bytes(*word));
        while marks != 0 {
            let within = first + swar::before(marks);
            marks &= marks - 1;
            if let Some([before, here]) = window.get(within..within + 2)
                && is_mark(*before, *here)
                && on(at + within)
            {
                return true;
            }
        }
    }
    false
}

/// Calls `on` with the place of each hint, in order, until it answers true.
#[inline(always)]
pub(super) fn hints(text: &[u8], mut on: impl FnMut(usize) -> bool) -> bool {
    let mut look = |at: usize| {
        let pair = text.get(at.wrapping_sub(1)..).and_then(|rest| rest.first_chunk::<2>());
        pair.is_some_and(|[before, here]| is_hint(*before, *here)) && on(at)
    };
    let (words, tail) = text.as_chunks::<8>();
    let mut at = 0;
    let mut last = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        if swar::either(word, b'w', b'f') != 0 {
            // The byte before each.
            let before = (word << 8) | last;
            let hints = swar::either(word, b'w', b'f') & swar::either(before, b's', b'n');
            if hints != 0 && (at..at + 8).any(&mut look) {
                return true;
            }
        }
        last = word >> 56;
        at += 8;
    }
    (at..at + tail.len()).any(look)
}

#[inline(always)]
fn is_hint(before: u8, here: u8) -> bool {
    ((before == b's') & (here == b'w')) | ((before == b'n') & (here == b'f'))
}

#[inline(always)]
fn is_mark(before: u8, here: u8) -> bool {
    (here == b'=')
        | (here == b':')
        | (here == b'<')
        | ((here == b'-') & ((before == b'-') | (before == b' ')))
}

/// Whether the block behind the first byte of `window` holds a mark, or a `;`, which costs nothing to test with them.
#[inline(always)]
fn may_hold_mark(window: &[u8; BLOCK + 1]) -> bool {
    let (Some(before), Some(here)) = (window.first_chunk::<BLOCK>(), window.last_chunk::<BLOCK>()) else {
        return false;
    };
    // One loop per test: the compiler makes vectors of each, but not of both together.
    let mut pairs = false;
    for byte in here {
        pairs |= byte.wrapping_sub(b':') < 4;
    }
    let mut options = false;
    for (before, here) in before.iter().zip(here) {
        options |= (*here == b'-') & ((*before == b'-') | (*before == b' '));
    }
    pairs | options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<usize> {
        let mut places = Vec::new();
        any(text, 0, |at| {
            places.push(at);
            false
        });
        hints(text, |at| {
            places.push(at);
            false
        });
        places
    }

    #[test]
    fn marks_are_found_at_every_distance_from_a_block() {
        for before in 0..50 {
            for after in 0..50 {
                for (mark, expected) in
                    [("=", 0), (":", 0), ("<", 0), (" -", 1), ("--", 1), ("sw", 1), ("nf", 1)]
                {
                    let text = format!("x{}{mark}{}", "a".repeat(before), "b".repeat(after));
                    assert_eq!(all(text.as_bytes()), [1 + before + expected], "{text}");
                }
            }
        }
    }

    #[test]
    fn a_hyphen_inside_a_word_is_no_mark() {
        assert_eq!(all(b"well-known kebab-case-name-of-something-long"), [0usize; 0]);
        assert_eq!(all(b"-p first"), [0]);
    }

    #[test]
    fn a_true_answer_stops_the_search() {
        let mut seen = 0;
        assert!(any(b"a=1 b=2", 0, |_| {
            seen += 1;
            true
        }));
        assert_eq!(seen, 1);
    }
}
