//! A string of the document: a span of its spelling, and the text that it stands for.
//!
//! Most strings have no escape and are used where they lie. A lone surrogate cannot be written as UTF-8;
//! it becomes U+FFFD.

use crate::swar;

/// A string, between its quotes, as spelled in the document. Its escapes are known to be well formed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    /// The spelling.
    pub(crate) raw: &'a [u8],
    /// Where the spelling starts in the document.
    pub(crate) at: usize,
    /// By how many bytes the text is shorter than its spelling; 0 means: no escape.
    shrink: usize,
    /// Whether it holds half of a surrogate pair.
    pub(crate) lone: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(raw: &'a [u8], at: usize, shrink: usize, lone: bool) -> Self {
        Self { raw, at, shrink, lone }
    }

    /// Length of the text in bytes of UTF-8.
    pub(crate) fn len(&self) -> usize {
        self.raw.len().saturating_sub(self.shrink)
    }

    /// Whether the spelling is the text.
    pub(crate) fn plain(&self) -> bool {
        self.shrink == 0
    }

    /// The text; `scratch` is overwritten if there are escapes to undo.
    pub(crate) fn decode<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        if self.plain() {
            return self.raw;
        }
        scratch.clear();
        scratch.reserve(self.len());
        decode_into(self.raw, usize::MAX, scratch);
        scratch
    }

    /// At least the first `limit` bytes of the text, at most four more; less if it is shorter.
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

    /// Whether the text is `word`.
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

/// Appends the text of a spelling until `out` holds at least `limit` bytes.
fn decode_into(raw: &[u8], limit: usize, out: &mut Vec<u8>) {
    let mut rest = raw;
    while out.len() < limit {
        let at = swar::position(rest, 0, b'\\');
        let (plain, escape) = rest.split_at(at.min(rest.len()));
        let room = limit - out.len();
        out.extend_from_slice(plain.get(..room).unwrap_or(plain));
        let Some(kind) = escape.get(1) else { return };
        let mut taken = 2;
        match kind {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => taken = decode_unit(escape, out),
            other => out.push(*other),
        }
        rest = escape.get(taken..).unwrap_or_default();
    }
}

/// Appends the character of a `\u` escape or of a pair of them; says how long the spelling was.
fn decode_unit(escape: &[u8], out: &mut Vec<u8>) -> usize {
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
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    taken
}
