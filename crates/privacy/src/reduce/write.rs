//! Writing JSON: numbers, names, texts with their secrets masked.

use crate::fault::{Fault, FaultKind};
use crate::mask::{self, Span};
use crate::swar;
use crate::text::Text;

/// The output, and the scratch space that texts need on their way to it.
pub(super) struct Writer<'o> {
    pub(super) out: &'o mut Vec<u8>,
    /// A text with its escapes undone.
    pub(super) decoded: Vec<u8>,
    /// A text with its secrets masked.
    pub(super) masked: Vec<u8>,
    spans: Vec<Span>,
    /// Secrets masked so far.
    pub(super) secrets: u32,
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, decoded: Vec::new(), masked: Vec::new(), spans: Vec::new(), secrets: 0 }
    }

    /// Appends JSON as it is.
    #[inline]
    pub(super) fn raw(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    pub(super) fn number(&mut self, value: u64) {
        let mut digits = [0u8; 20];
        let mut rest = value;
        let mut length = 0;
        for slot in digits.iter_mut().rev() {
            *slot = b'0' + (rest % 10) as u8;
            rest /= 10;
            length += 1;
            if rest == 0 {
                break;
            }
        }
        self.raw(digits.last_chunk::<20>().and_then(|all| all.get(20 - length..)).unwrap_or_default());
    }

    pub(super) fn signed(&mut self, value: i64) {
        if value < 0 {
            self.raw(b"-");
        }
        self.number(value.unsigned_abs());
    }

    pub(super) fn hex(&mut self, bytes: &[u8]) {
        let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
        self.out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    }

    /// Writes a text whose secrets are masked. The spelling is copied where nothing has to change.
    pub(super) fn text(&mut self, text: &Text<'_>) -> Result<(), Fault> {
        check(text)?;
        let mut scratch = std::mem::take(&mut self.decoded);
        self.searched(text, text.decode(&mut scratch));
        self.decoded = scratch;
        Ok(())
    }

    /// Writes a text that has been decoded, masked where it holds secrets.
    pub(super) fn searched(&mut self, text: &Text<'_>, decoded: &[u8]) {
        mask::find(decoded, &mut self.spans);
        if self.spans.is_empty() && !text.lone() {
            self.spelled(text);
        } else {
            self.mask_found(decoded);
            self.quoted_mask();
        }
    }

    /// Writes a text in which `secret` is known to be one.
    pub(super) fn with_secret(&mut self, decoded: &[u8], secret: Span) {
        mask::find(decoded, &mut self.spans);
        // The vendor's kind is more precise than `random`.
        if secret.kind != mask::RANDOM || self.spans.is_empty() {
            self.spans.retain(|span| span.end <= secret.start || span.start >= secret.end);
            let place = self.spans.partition_point(|span| span.start < secret.start);
            self.spans.insert(place, secret);
        }
        self.mask_found(decoded);
        self.quoted_mask();
    }

    /// Writes a text as it is spelled in the payload.
    #[inline]
    pub(super) fn spelled(&mut self, text: &Text<'_>) {
        self.out.push(b'"');
        self.out.extend_from_slice(text.raw);
        self.out.push(b'"');
    }

    /// Masks `decoded` into `self.masked`.
    pub(super) fn mask(&mut self, decoded: &[u8]) {
        mask::find(decoded, &mut self.spans);
        self.mask_found(decoded);
    }

    fn mask_found(&mut self, decoded: &[u8]) {
        let count = mask::replace(decoded, &mut self.spans, &mut self.masked);
        self.secrets = self.secrets.saturating_add(count);
    }

    /// Writes the result of [`Writer::mask`] as a string.
    pub(super) fn quoted_mask(&mut self) {
        let masked = std::mem::take(&mut self.masked);
        self.quoted(&masked);
        self.masked = masked;
    }

    /// Writes bytes of UTF-8 as a string; other bytes become U+FFFD.
    pub(super) fn quoted(&mut self, text: &[u8]) {
        self.out.push(b'"');
        if std::str::from_utf8(text).is_ok() {
            self.escaped(text);
        } else {
            for chunk in text.utf8_chunks() {
                self.escaped(chunk.valid().as_bytes());
                if !chunk.invalid().is_empty() {
                    self.out.extend_from_slice("\u{fffd}".as_bytes());
                }
            }
        }
        self.out.push(b'"');
    }

    fn escaped(&mut self, text: &[u8]) {
        let mut rest = text;
        loop {
            let (plain, special) = rest.split_at(swar::special(rest, 0).min(rest.len()));
            self.out.extend_from_slice(plain);
            let Some((first, after)) = special.split_first() else { return };
            match first {
                b'"' => self.raw(b"\\\""),
                b'\\' => self.raw(b"\\\\"),
                b'\n' => self.raw(b"\\n"),
                b'\r' => self.raw(b"\\r"),
                b'\t' => self.raw(b"\\t"),
                other => {
                    self.raw(b"\\u00");
                    self.hex(&[*other]);
                }
            }
            rest = after;
        }
    }
}

/// Refuses a text that is not UTF-8.
pub(super) fn check(text: &Text<'_>) -> Result<(), Fault> {
    match text.invalid_at() {
        None => Ok(()),
        Some(at) => Err(Fault { what: FaultKind::InvalidUtf8, at }),
    }
}

/// Returns the longest start of `text` that has at most `limit` bytes and does not cut a character.
pub(super) fn cut(text: &[u8], limit: usize) -> &[u8] {
    let mut end = limit.min(text.len());
    while end > 0 && text.get(end).is_some_and(|byte| is_continuation(*byte)) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Returns the longest end of `text` that has at most `limit` bytes and does not cut a character.
pub(super) fn cut_start(text: &[u8], limit: usize) -> &[u8] {
    let mut start = text.len().saturating_sub(limit);
    while text.get(start).is_some_and(|byte| is_continuation(*byte)) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

fn is_continuation(byte: u8) -> bool {
    (0x80..0xc0).contains(&byte)
}

/// Returns the first `count` characters of `text`, which is UTF-8 except for a cut character at its end.
pub(super) fn first_characters(text: &[u8], count: usize) -> &[u8] {
    let starts = text.iter().enumerate().filter(|(_, byte)| !is_continuation(**byte));
    let end = starts.map(|(at, _)| at).nth(count).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
