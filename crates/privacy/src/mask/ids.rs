//! Ids, which are never secrets. They are recognised first because every payload has many of them.

use crate::swar;

/// Returns `true` if `text` is a UUID or the id of a tool call, or has the shape of one and no sign with which a
/// password could be spelled.
#[inline]
pub(super) fn is_id(text: &[u8]) -> bool {
    let shape = is_uuid_like(text) || text.starts_with(b"toolu_") || text.starts_with(b"call_");
    shape && (8..=40).contains(&text.len()) && is_one_word(text)
}

/// Returns `true` if a stretch of word characters has the shape of a UUID. No key has it.
#[inline]
pub(super) fn is_uuid_like(text: &[u8]) -> bool {
    text.len() == 36
        && text.first().is_some_and(u8::is_ascii_hexdigit)
        && [8, 13, 18, 23].iter().all(|place| text.get(*place) == Some(&b'-'))
}

/// Returns `true` if a text of 8 to 16 bytes, too short for a key, has no sign with which a password could be spelled.
#[inline]
pub(super) fn is_short_word(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) else { return false };
    let breaks = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        swar::marks(word) | swar::blanks(word)
    };
    text.len() <= 16 && breaks(first) | breaks(last) == 0
}

/// Returns `true` if a text of at least eight bytes has no blank, no quote, no mark and no escaped line break.
fn is_one_word(text: &[u8]) -> bool {
    let (words, _) = text.as_chunks::<8>();
    let breaks = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        swar::separators(word) | swar::colon_to_equals(word) | swar::backslashes(word)
    };
    words.iter().chain(text.last_chunk()).all(|word| breaks(word) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_recognised_and_lookalikes_are_not() {
        assert!(is_id(b"5a133364-48e1-40c2-b568-cfba1112cbce"));
        assert!(is_id(b"toolu_40897adff8f74b43bf5153ec"));
        assert!(is_id(b"call_06f2226527ec411da74e"));
        assert!(!is_id(b"5a133364-48e1-40c2-b568-cfba1112cb=e"));
        assert!(!is_id(b"toolu_40897adff8f74b43bf5153ec with words"));
        assert!(!is_id(b"5a133364x48e1-40c2-b568-cfba1112cbce"));
        assert!(!is_id(b"call_password=hunter2"));
        assert!(!is_id(b"toolu_\\nsomething in the next line"));
        assert!(!is_id(b"call_x\\nsomething_else"));
        assert!(!is_id(b""));
    }
}
