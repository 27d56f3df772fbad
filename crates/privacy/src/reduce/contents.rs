//! Reduces contents of files, patches and other long strings to their size and a keyed hash.

use super::walk::PayloadPass;
use super::write;
use crate::fault::{Fault, FaultKind};
use crate::keep;
use crate::scan::{Cursor, Visitor};
use crate::siphash::Hasher;
use crate::swar;
use crate::text::Text;

/// Longest header line of a patch that is kept.
const HEADER_BYTES: usize = 512;

/// Most header lines of a patch that are kept.
const HEADERS: usize = 200;

/// The first line of every patch of Codex.
const PATCH: &[u8] = b"*** Begin Patch";

/// The beginnings of the lines of a patch that name a file.
const NAMES_FILE: [&[u8]; 4] =
    [b"*** Add File: ", b"*** Update File: ", b"*** Delete File: ", b"*** Move to: "];

impl<'a> PayloadPass<'a, '_> {
    /// Reduces the content of a file, of any JSON type.
    pub(super) fn contents(&mut self) -> Result<(), Fault> {
        match self.cursor.peek() {
            Some(b'"') => {
                let start = self.cursor.at;
                let mut digest = Digest::new(&self.hash_key());
                self.cursor.string_pieces(&mut |piece| digest.add(piece))?;
                // A patch keeps the names of its files, so it is read a second time.
                if may_be_patch(self.cursor.since(start + 1)) {
                    self.cursor.at = start;
                    let text = self.cursor.string()?;
                    self.digest(&text);
                } else {
                    self.quantity(digest);
                    self.writer.raw(b"}");
                }
                Ok(())
            }
            Some(b'{' | b'[') => {
                let start = self.cursor.at;
                if let Some(end) = already_reduced(self.cursor.clone()) {
                    self.cursor.at = end;
                    let spelling = self.cursor.since(start);
                    self.writer.out.extend(spelling.iter().filter(|byte| !byte.is_ascii_whitespace()));
                    return Ok(());
                }
                let mut sum = ContentDigest { digest: Digest::new(&self.hash_key()), scratch: Vec::new() };
                self.cursor.walk(&mut sum)?;
                self.quantity(sum.digest);
                self.writer.raw(b"}");
                Ok(())
            }
            _ => {
                let spelling = self.cursor.scalar()?;
                if matches!(spelling, b"true" | b"false" | b"null") {
                    self.writer.raw(spelling);
                } else {
                    self.writer.raw(b"{\"bytes\":");
                    self.writer.number(spelling.len() as u64);
                    self.writer.raw(b"}");
                }
                Ok(())
            }
        }
    }

    /// Writes a string as size and hash; of a patch also the names of its files.
    pub(super) fn digest(&mut self, text: &Text<'_>) {
        let mut scratch = std::mem::take(&mut self.writer.decoded);
        self.digest_of(text.decode(&mut scratch));
        self.writer.decoded = scratch;
    }

    fn digest_of(&mut self, decoded: &[u8]) {
        let mut digest = Digest::new(&self.hash_key());
        digest.add(decoded);
        self.quantity(digest);
        if is_patch(decoded) {
            self.files(decoded);
        }
        self.writer.raw(b"}");
    }

    fn quantity(&mut self, digest: Digest) {
        self.writer.raw(b"{\"bytes\":");
        self.writer.number(digest.bytes);
        self.writer.raw(b",\"lines\":");
        self.writer.number(digest.lines());
        self.writer.raw(b",\"hash\":\"");
        self.writer.hex(&digest.hasher.finish());
        self.writer.raw(b"\"");
    }

    fn files(&mut self, patch: &[u8]) {
        self.writer.raw(b",\"files\":[");
        let headers = patch
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .filter(|line| NAMES_FILE.iter().any(|start| line.starts_with(start)));
        for (number, header) in headers.take(HEADERS).enumerate() {
            if number > 0 {
                self.writer.raw(b",");
            }
            self.writer.mask(write::cut(header, HEADER_BYTES));
            self.writer.quoted_mask();
        }
        self.writer.raw(b"]");
    }
}

/// The reduced form of a content.
struct Digest {
    bytes: u64,
    breaks: u64,
    /// True if the last byte was a line break, or there was none.
    at_line_start: bool,
    hasher: Hasher,
}

impl Digest {
    fn new(key: &[u8; 16]) -> Self {
        Self { bytes: 0, breaks: 0, at_line_start: true, hasher: Hasher::new(key) }
    }

    fn add(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        self.breaks += breaks(text);
        if let Some(last) = text.last() {
            self.at_line_start = *last == b'\n';
        }
        self.hasher.write(text);
    }

    fn lines(&self) -> u64 {
        self.breaks + u64::from(!self.at_line_start)
    }
}

/// The bytes of a text that are searched for the first line of a patch.
pub(super) const PATCH_HEAD: usize = 1024;

/// Returns `true` if the spelling of a string may be that of a patch: near its head are stars, or escapes that may hide
/// them.
pub(super) fn may_be_patch(spelling: &[u8]) -> bool {
    // No character is spelled with more than six bytes for each of its own.
    let head = spelling.get(..6 * PATCH_HEAD).unwrap_or(spelling);
    let mut at = swar::position(head, 0, b'*');
    while let Some(rest) = head.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(b"***") {
            return true;
        }
        at = swar::position(head, at + 1, b'*');
    }
    swar::position_of_pair(head, 0, *b"\\u") < head.len()
}

/// Returns `true` if a text is a patch of Codex.
pub(super) fn is_patch(text: &[u8]) -> bool {
    // A here-document, a mark of byte order or anything else may stand in the lines before.
    let head = text.get(..PATCH_HEAD).unwrap_or(text);
    head.split(|byte| *byte == b'\n').any(|line| {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        line.trim_ascii_start().starts_with(PATCH)
    })
}

/// Returns `true` if a text is an encoded file: a data URL, or a picture or document in base64.
pub(super) fn is_encoded_file(text: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR", b"JVBERi0", b"UEsDB"];
    let head = text.get(..128).unwrap_or(text);
    match head.first() {
        Some(b'd' | b'D') => {
            let scheme = head.get(..5).unwrap_or_default();
            scheme.eq_ignore_ascii_case(b"data:") && head.contains(&b',')
        }
        // The backslash of a line break that is still spelled as one.
        Some(b'i' | b'/' | b'R' | b'U' | b'J') => {
            STARTS.iter().any(|start| head.starts_with(start))
                && head.iter().all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\')
                })
        }
        _ => false,
    }
}

/// Counts the lines of a text; a line break at its end does not begin another.
pub(super) fn lines(text: &[u8]) -> u64 {
    breaks(text) + u64::from(!matches!(text.last(), None | Some(b'\n')))
}

/// Counts the line breaks of a text in sums of one byte, which vectorise, and in pieces short enough for such a sum.
fn breaks(text: &[u8]) -> u64 {
    let (pieces, rest) = text.as_chunks::<64>();
    let count = |piece: &[u8]| u64::from(piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>());
    pieces.iter().map(|piece| count(piece)).sum::<u64>() + count(rest)
}

/// Returns the end of `{"bytes":N,"lines":N,"hash":"…"}`, if exactly that is there.
fn already_reduced(mut cursor: Cursor<'_>) -> Option<usize> {
    let mut next = |name: &[u8], before: u8| -> Option<()> {
        cursor.blank();
        cursor.expect(before).ok()?;
        cursor.blank();
        if !cursor.string().ok()?.is(name) {
            return None;
        }
        cursor.blank();
        cursor.expect(b':').ok()?;
        cursor.blank();
        if name == b"hash" {
            let hash = cursor.string().ok()?;
            let is_hash =
                hash.raw.len() == 32 && keep::is_id(hash.raw) && hash.raw.iter().all(u8::is_ascii_hexdigit);
            return is_hash.then_some(());
        }
        let number = cursor.scalar().ok()?;
        (number.len() <= 20 && number.iter().all(u8::is_ascii_digit)).then_some(())
    };
    next(b"bytes", b'{')?;
    next(b"lines", b',')?;
    next(b"hash", b',')?;
    cursor.blank();
    match cursor.expect(b'}').map_err(|fault| fault.what) {
        Ok(()) => Some(cursor.at),
        Err(FaultKind::UnexpectedEnd | FaultKind::UnexpectedByte) => None,
        Err(_) => None,
    }
}

/// Content that is not one string: all its strings, one after the other.
struct ContentDigest {
    digest: Digest,
    scratch: Vec<u8>,
}

impl<'a> Visitor<'a> for ContentDigest {
    fn key(&mut self, _: Text<'a>) -> bool {
        true
    }

    fn text(&mut self, text: Text<'a>) {
        self.digest.add(text.decode(&mut self.scratch));
    }
}
