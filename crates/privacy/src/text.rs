//! A string of the document: a span of its spelling, and the text that it stands for.
//!
//! Most strings have no escape and are used where they lie. A lone surrogate cannot be written as UTF-8;
//! it becomes U+FFFD.

use crate::lanes::{BLOCK, Lanes};
use crate::swar;

/// A string, between its quotes, as spelled in the document. Its escapes are known to be well formed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The spelling.
    pub(crate) raw: &'a [u8],
    /// The start of the spelling in the document.
    pub(crate) at: usize,
    /// The bytes by which the text is shorter than its spelling (0 means: no escape), and in the last two bits the
    /// kinds of escapes in it. One word, because strings are copied more often than anything else here.
    shrink: usize,
}

/// The kinds of escapes in a spelling; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Escapes {
    /// None, or only those of quote, backslash and white space: the spelling can be searched instead of the text.
    #[default]
    Simple,
    /// Others, which may hide any character.
    Odd,
    /// Also half of a surrogate pair, which has to be replaced.
    Lone,
}

impl<'a> Text<'a> {
    pub(crate) fn new(raw: &'a [u8], at: usize, shrink: usize, escapes: Escapes) -> Self {
        Self { raw, at, shrink: (shrink << 2) | escapes as usize }
    }

    /// Returns the place in the document of the first byte that is not UTF-8, if there is one.
    pub(crate) fn invalid_at(&self) -> Option<usize> {
        // Quicker than the decoder for the short strings that most are.
        if self.raw.is_ascii() {
            return None;
        }
        std::str::from_utf8(self.raw).err().map(|error| self.at + error.valid_up_to())
    }

    /// Returns `true` if the spelling may hide characters.
    pub(crate) fn odd(&self) -> bool {
        self.shrink & 3 >= Escapes::Odd as usize
    }

    /// Returns `true` if it contains half of a surrogate pair.
    pub(crate) fn lone(&self) -> bool {
        self.shrink & 3 == Escapes::Lone as usize
    }

    /// Returns the length of the text in bytes of UTF-8.
    pub(crate) fn len(&self) -> usize {
        self.raw.len().saturating_sub(self.shrink >> 2)
    }

    /// Returns `true` if the spelling is the text.
    pub(crate) fn plain(&self) -> bool {
        self.shrink == 0
    }

    /// Returns the text; `scratch` is overwritten if there are escapes to undo.
    pub(crate) fn decode<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if self.plain() {
            return self.raw;
        }
        decode_whole(self.raw, scratch);
        scratch
    }

    /// Returns at least the first `limit` bytes of the text, at most four more; less if it is shorter.
    pub(crate) fn head<'b>(&self, limit: usize, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if self.plain() {
            return self.raw.get(..limit).unwrap_or(self.raw);
        }
        scratch.clear();
        decode_into(self.raw, limit, scratch);
        scratch
    }

    /// Returns `true` if the text is `word`.
    pub(crate) fn is(&self, word: &[u8]) -> bool {
        if self.plain() {
            return self.raw == word;
        }
        self.len() == word.len() && {
            let mut scratch = Vec::with_capacity(word.len());
            self.decode(&mut scratch) == word
        }
    }
}

/// Writes the text of a spelling over `out`.
fn decode_whole(raw: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.reserve(raw.len());
    // Blocks are copied whole, and the bytes that are no part of the text are overwritten.
    let mut buffer = [0; 512];
    let (mut from, mut used) = (0, 0);
    while let Some(block) = block_at(raw, from) {
        if used > buffer.len() - BLOCK {
            out.extend_from_slice(buffer.get(..used).unwrap_or_default());
            used = 0;
        }
        let Some(room) = buffer.get_mut(used..).and_then(|rest| rest.first_chunk_mut::<BLOCK>()) else {
            break;
        };
        *room = *block;
        let escapes = Lanes::of(block).is(b'\\').bits();
        if escapes == 0 {
            from += BLOCK;
            used += BLOCK;
            continue;
        }
        let plain = escapes.trailing_zeros() as usize;
        from += plain;
        match (raw.get(from + 1), room.get_mut(plain)) {
            (Some(letter), Some(slot)) if *letter != b'u' => {
                *slot = escaped(*letter);
                from += 2;
                used += plain + 1;
            }
            _ => {
                out.extend_from_slice(buffer.get(..used + plain).unwrap_or_default());
                used = 0;
                from += decode_escape(raw.get(from..).unwrap_or_default(), out);
            }
        }
    }
    out.extend_from_slice(buffer.get(..used).unwrap_or_default());
    decode_into(raw.get(from..).unwrap_or_default(), usize::MAX, out);
}

#[inline(always)]
fn block_at(bytes: &[u8], from: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(from..)?.first_chunk()
}

/// Returns the byte that a backslash and `letter` stand for.
#[inline(always)]
fn escaped(letter: u8) -> u8 {
    ESCAPED.get(letter as usize).copied().unwrap_or(letter)
}

static ESCAPED: [u8; 256] = escaped_bytes();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn escaped_bytes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            other => other,
        };
        byte += 1;
    }
    table
}

/// The distance within which the next escape is searched byte by byte.
const NEAR: usize = 16;

/// Appends the text of a spelling until `out` holds at least `limit` bytes.
fn decode_into(raw: &[u8], limit: usize, out: &mut Vec<u8>) {
    let mut rest = raw;
    while out.len() < limit {
        // In programs and data the next escape is near: cheaper byte by byte than by words and copies.
        let near = rest.iter().take(NEAR.min(limit - out.len())).take_while(|byte| **byte != b'\\').count();
        if near < NEAR {
            let (plain, after) = rest.split_at(near);
            out.extend(plain);
            rest = after;
            if rest.first() != Some(&b'\\') {
                return;
            }
            rest = rest.get(decode_escape(rest, out)..).unwrap_or_default();
            continue;
        }
        let at = swar::position(rest, 0, b'\\');
        let (plain, escape) = rest.split_at(at.min(rest.len()));
        let room = limit - out.len();
        if let Some(enough) = plain.get(..room) {
            out.extend_from_slice(enough);
            return;
        }
        out.extend_from_slice(plain);
        if escape.is_empty() {
            return;
        }
        rest = escape.get(decode_escape(escape, out)..).unwrap_or_default();
    }
}

/// Appends the character of the escape at the start of `escape`. Returns the length of its spelling.
pub(crate) fn decode_escape(escape: &[u8], out: &mut Vec<u8>) -> usize {
    match escape.get(1) {
        None => escape.len(),
        Some(b'u') => {
            let (character, taken) = unit(escape);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            taken
        }
        Some(letter) => {
            out.push(escaped(*letter));
            2
        }
    }
}

/// Returns the character of a `\u` escape or of a pair of them, and the length of the spelling.
fn unit(escape: &[u8]) -> (char, usize) {
    let unit = |at: usize| escape.get(at..).and_then(swar::hex4);
    let high = u32::from(unit(2).unwrap_or(0xfffd));
    let mut code = high;
    let mut taken = 6;
    if (0xd800..0xdc00).contains(&high) && escape.get(6..8) == Some(b"\\u") {
        let low = u32::from(unit(8).unwrap_or(0));
        if (0xdc00..0xe000).contains(&low) {
            code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
            taken = 12;
        }
    }
    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), taken)
}

#[cfg(test)]
mod tests {
    use crate::scan::Cursor;

    fn decoded(spelling: &str) -> (Vec<u8>, usize) {
        let quoted = format!("\"{spelling}\"");
        let text = Cursor::new(quoted.as_bytes()).string().expect("a string");
        let mut scratch = Vec::new();
        (text.decode(&mut scratch).to_vec(), text.len())
    }

    #[test]
    fn the_length_is_known_without_decoding() {
        for spelling in [
            "",
            "plain",
            "\\n",
            "a\\u0041b",
            "\\u00e9",
            "\\u20ac",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\udc00x",
            "é\\\\\\\"",
        ] {
            let (text, length) = decoded(spelling);
            assert_eq!(text.len(), length, "{spelling}");
            assert!(std::str::from_utf8(&text).is_ok(), "{spelling}");
        }
    }

    #[test]
    fn a_head_is_as_long_as_asked_or_as_there_is() {
        let spelling = format!("\"{}\"", "ab\\n".repeat(100));
        let text = Cursor::new(spelling.as_bytes()).string().expect("a string");
        let mut scratch = Vec::new();
        for limit in 0..320 {
            let head = text.head(limit, &mut scratch);
            assert!(head.len() >= limit.min(300) && head.len() <= limit + 4, "{limit}: {}", head.len());
            assert!("ab\n".repeat(101).as_bytes().starts_with(head));
        }
    }

    #[test]
    fn a_string_in_pieces_is_the_string_as_a_whole() {
        for length in 0..200usize {
            for filler in ["x", "é", "\\n", "\\\"", "\\\\", "\\t", "\\u00e9", "\\ud83d\\ude00", "\\ud83d"] {
                let spelling = format!("\"{}{filler}{}\"", "a".repeat(length), "b".repeat(length % 37));
                for behind in ["", ", and more of the document, so that there are whole blocks to read"] {
                    let document = format!("{spelling}{behind}");
                    let mut whole = Cursor::new(document.as_bytes());
                    let mut scratch = Vec::new();
                    let text = whole.string().expect("a string");
                    let mut pieces = Vec::new();
                    let mut cursor = Cursor::new(document.as_bytes());
                    cursor.string_pieces(&mut |piece| pieces.extend_from_slice(piece)).expect("a string");
                    assert_eq!(pieces, text.decode(&mut scratch), "{document}");
                    assert_eq!(cursor.at, whole.at);
                }
            }
        }
    }
}
