//! The marks around which secrets are spelled without a telling name before them: `<`, the last hyphen of `--` and
//! ` -`, and the colon of `:/` and `:_`.

use crate::lanes::{BLOCK, Lanes};

/// Calls `on` with the place of each mark, in order.
#[inline(always)]
pub(super) fn each(text: &[u8], mut on: impl FnMut(usize)) {
    let mut at = 0;
    while let Some((before, here)) = window(text, at) {
        let (block, at_block) = (Lanes::of(&here), at);
        at += BLOCK;
        // Most blocks of a text hold none of the signs.
        let (hyphens, opened, slashes) = (block.is(b'-'), block.is(b'<'), block.is(b'/').or(block.is(b'_')));
        let mut marks = hyphens.or(opened).or(slashes).bits();
        if marks == 0 {
            continue;
        }
        let before = Lanes::of(&before);
        let options = hyphens.and(before.is(b'-').or(before.is(b' ')));
        // The colon itself is the byte before.
        let addresses = slashes.and(before.is(b':'));
        marks = opened.or(options).or(addresses).bits();
        while marks != 0 {
            let place = at_block + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            match text.get(place) {
                Some(b'/' | b'_') => on(place - 1),
                // Of a row of hyphens only the last one counts.
                Some(b'-') if text.get(place + 1) == Some(&b'-') => {}
                _ => on(place),
            }
        }
    }
}

/// Returns the block of the text at `at`, after the one that begins one byte before it. A blank stands for the byte
/// before the text, and bytes that are no marks for those after it.
#[inline(always)]
fn window(text: &[u8], at: usize) -> Option<([u8; BLOCK], [u8; BLOCK])> {
    if let Some(window) =
        at.checked_sub(1).and_then(|start| text.get(start..)?.first_chunk::<{ BLOCK + 1 }>())
    {
        return Some((*window.first_chunk()?, *window.last_chunk()?));
    }
    (at < text.len()).then(|| edge(text, at))
}

/// Returns the first block of a text, or an incomplete last one.
#[inline(never)]
fn edge(text: &[u8], at: usize) -> ([u8; BLOCK], [u8; BLOCK]) {
    let mut bytes = [0u8; BLOCK + 1];
    let [first, ..] = &mut bytes;
    *first = b' ';
    let start = at.saturating_sub(1);
    for (slot, byte) in bytes.iter_mut().skip(usize::from(at == 0)).zip(text.get(start..).unwrap_or_default())
    {
        *slot = *byte;
    }
    (*bytes.first_chunk().unwrap_or(&[0; BLOCK]), *bytes.last_chunk().unwrap_or(&[0; BLOCK]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<usize> {
        let mut places = Vec::new();
        each(text, |at| places.push(at));
        places
    }

    #[test]
    fn marks_are_found_at_every_distance_from_a_block() {
        for before in 0..50 {
            for after in 0..50 {
                for (mark, expected) in [(":/", 0), (":_", 0), ("<", 0), (" -", 1), ("--", 1), ("-----", 4)] {
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
        assert_eq!(all(b"--x"), [1]);
        assert_eq!(all(b""), [0usize; 0]);
    }
}
