//! Escaping of header names and values: any bytes in, one line of UTF-8 out, and back exactly.

use std::borrow::Cow;

const DIGITS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends a value with `%`, control characters and bytes that are not UTF-8 escaped.
pub(super) fn push_value(out: &mut Vec<u8>, value: &[u8]) {
    // Nearly every value is a plain path or word: one look, one copy.
    if all(value, |byte| matches!(byte, 0x20..=0x7e) && byte != b'%') {
        out.extend_from_slice(value);
        return;
    }
    for chunk in value.utf8_chunks() {
        let mut buffer = [0u8; 4];
        for character in chunk.valid().chars() {
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            if character == '%' || character.is_control() {
                bytes.iter().for_each(|byte| push_escaped(out, *byte));
            } else {
                out.extend_from_slice(bytes);
            }
        }
        chunk.invalid().iter().for_each(|byte| push_escaped(out, *byte));
    }
}

/// Appends a name with everything but letters, digits, `.`, `_` and `-` escaped.
pub(super) fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    if all(name, is_plain_in_name) {
        out.extend_from_slice(name);
        return;
    }
    for byte in name {
        if is_plain_in_name(*byte) {
            out.push(*byte);
        } else {
            push_escaped(out, *byte);
        }
    }
}

/// Returns `true` if every byte passes.
///
/// Sixteen bytes at a time without a branch between them compile to vector instructions, at a quarter of
/// the cost of a loop over single bytes.
#[inline(always)]
fn all(bytes: &[u8], passes: impl Fn(u8) -> bool) -> bool {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let block_passes = |block: &[u8; 16]| block.iter().fold(true, |passed, byte| passed & passes(*byte));
    blocks.iter().all(block_passes) && rest.iter().all(|byte| passes(*byte))
}

/// Returns `true` if the byte needs no escape in a name.
pub(super) fn is_plain_in_name(byte: u8) -> bool {
    PLAIN_IN_NAME.get(usize::from(byte)).copied().unwrap_or_default()
}

/// A table, because the ranges cost a dozen instructions per byte.
static PLAIN_IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "checked by the compiler that evaluates it")]
        {
            table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'.' | b'_' | b'-');
        }
        byte += 1;
    }
    table
};

/// Undoes either escaping; `None` if a `%` is not followed by two hexadecimal digits.
pub(super) fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let Some(first) = text.iter().position(|byte| *byte == b'%') else {
        return Some(Cow::Borrowed(text));
    };
    let (plain, mut rest) = text.split_at_checked(first)?;
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(plain);
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let ([high, low], tail) = rest.split_first_chunk::<2>()?;
        out.push(digit(*high)? << 4 | digit(*low)?);
        rest = tail;
    }
    Some(Cow::Owned(out))
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or(b'0');
    out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_value(&mut out, value);
        out
    }

    #[test]
    fn values_are_one_line_of_text_and_come_back() {
        for (value, text) in [
            (&b""[..], &b""[..]),
            (b" leading and trailing ", b" leading and trailing "),
            (b"/home/dev/a b: c", b"/home/dev/a b: c"),
            (b"100%", b"100%25"),
            (b"%41", b"%2541"),
            (b"a\nb\r\tc\0", b"a%0Ab%0D%09c%00"),
            (b"\x1b[31m\x7f", b"%1B[31m%7F"),
            ("naïve 日本".as_bytes(), "naïve 日本".as_bytes()),
            ("\u{9b}31m".as_bytes(), b"%C2%9B31m"),
            (b"caf\xe9", b"caf%E9"),
            (b"\xe6\x97 cut", b"%E6%97 cut"),
            (b"\xed\xa0\x80", b"%ED%A0%80"),
            (b"\xff\xfe", b"%FF%FE"),
        ] {
            assert_eq!(escaped(value), text, "{value:?}");
            assert_eq!(unescape(text).as_deref(), Some(value), "{text:?}");
        }
    }

    #[test]
    fn every_byte_comes_back_in_values_and_names() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        assert_eq!(unescape(&escaped(&all)).as_deref(), Some(&all[..]));
        let mut name = Vec::new();
        push_name(&mut name, &all);
        assert!(name.iter().all(|byte| is_plain_in_name(*byte) || *byte == b'%'));
        assert_eq!(unescape(&name).as_deref(), Some(&all[..]));
    }

    #[test]
    fn a_half_escape_is_refused() {
        for text in ["%", "%4", "a%", "%4g", "%g4", "% 41", "%+1", "%%41"] {
            assert_eq!(unescape(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(unescape(b"%e9%E9").as_deref(), Some(&b"\xe9\xe9"[..]));
    }
}
