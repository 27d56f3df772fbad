//! The tokeniser: a cursor over the bytes of one JSON document.
//!
//! Strict where it matters (a payload that is cut off or not JSON must be a [`Fault`], not a guess), and
//! without a tree: a string is a span of the input, and an unwanted value is skipped. Strings are
//! read a word at a time, because a result can be megabytes long and is only measured. Nesting is a stack of
//! bits, never the call stack.

use crate::container_stack::ContainerStack;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{BLOCK, Lanes};
use crate::pieces::Pieces;
use crate::swar;
use crate::text::{Escapes, Text, decode_escape};

/// A receiver of the names and texts in a value that is not kept.
pub(crate) trait Visitor<'a> {
    /// Receives a member's name. Returns `false` if its value is to be skipped.
    fn key(&mut self, key: Text<'a>) -> bool;
    /// Receives a string that is not a name.
    fn text(&mut self, text: Text<'a>);
    /// Ends the effect of the last name: a container has begun, or a number or word was read.
    fn unnamed(&mut self) {}
}

/// A visitor that reads nothing.
struct Discard;

impl<'a> Visitor<'a> for Discard {
    fn key(&mut self, _: Text<'a>) -> bool {
        true
    }
    fn text(&mut self, _: Text<'a>) {}
}

/// The escapes found in a string.
#[derive(Default)]
struct FoundEscapes {
    /// The bytes by which the text is shorter than its spelling.
    shrink: usize,
    escapes: Escapes,
}

/// The number of set bits in each byte, as a table: baseline x86-64 has no instruction for it.
static ONES: [u8; 256] = ones();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a bad index is an error of the build"
)]
const fn ones() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).count_ones() as u8;
        byte += 1;
    }
    table
}

/// Returns the bytes of a block after the backslash of an escape, with one more bit for the first byte of the next
/// block, and the number of escapes that begin here; `None` if there is anything but simple escapes.
///
/// `specials` are the quotes, backslashes and control characters of the block; its first byte is escaped if that is
/// `carried` here from the last one.
#[inline(always)]
fn simple_escapes(block: &[u8; BLOCK], specials: u32, carried: u32) -> Option<(u32, usize)> {
    let bytes = Lanes::of(block);
    let backslashes = bytes.is(b'\\').bits();
    let mut left = backslashes & !carried;
    let mut escaped = carried | (left << 1);
    let ones = |byte: u32| ONES.get(byte as usize).copied().unwrap_or_default();
    let mut count = usize::from(ones(left & 0xff) + ones(left >> 8));
    // Backslashes in a row: every second one is a letter.
    if left & (left << 1) != 0 {
        (escaped, count) = (carried, 0);
        while left != 0 {
            let letter = (left & left.wrapping_neg()) << 1;
            escaped |= letter;
            left &= (left - 1) & !letter;
            count += 1;
        }
    }
    if specials & !backslashes & !escaped != 0 {
        return None;
    }
    let letters = bytes.is(b'n').or(bytes.is(b't')).or(bytes.is(b'r'));
    let simple = bytes.is(b'"').or(letters).bits() | backslashes;
    (escaped & !simple & 0xffff == 0).then_some((escaped, count))
}

/// A place in the document.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// The next byte to read. May be set back to where a value started.
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns `true` if the next value is a string without a quote in the first `length` bytes of its spelling.
    pub(crate) fn is_before_string(&self, length: usize) -> bool {
        let head = self.bytes.get(self.at + 1..self.at + 1 + length);
        self.peek() == Some(b'"') && head.is_some_and(|head| !head.contains(&b'"'))
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns a fault at the cursor: the input ended, or `what`.
    #[cold]
    pub(crate) fn fault(&self, what: FaultKind) -> Fault {
        let what = if self.at >= self.bytes.len() { FaultKind::UnexpectedEnd } else { what };
        Fault { what, at: self.at.min(self.bytes.len()) }
    }

    /// Moves over a byte order mark.
    pub(crate) fn byte_order_mark(&mut self) {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(b"\xef\xbb\xbf")) {
            self.at += 3;
        }
    }

    /// Moves over white space.
    #[inline]
    pub(crate) fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Moves over `byte`, or returns a fault.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.fault(FaultKind::UnexpectedByte))
        }
    }

    /// Returns the bytes read since `start`.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Reads a string; the cursor stands on its opening quote.
    pub(crate) fn string(&mut self) -> Result<Text<'a>, Fault> {
        self.expect(b'"')?;
        let start = self.at;
        let mut found = FoundEscapes::default();
        let mut block = start;
        // The end of the last escape that was read by itself; its bytes are not read again.
        let mut next = start;
        // One if the last block ended in a backslash whose letter is the first byte of the next.
        let mut carried = 0;
        let end = 'end: loop {
            let Some(bytes) = self.bytes.get(block..).and_then(|rest| rest.first_chunk()) else {
                let next = if carried == 1 { block - 1 } else { block.max(next) };
                found.shrink -= carried as usize;
                break self.last_bytes(next, &mut found)?;
            };
            let specials = swar::special_bits(bytes);
            if specials | carried == 0 {
                block += BLOCK;
                continue;
            }
            if next <= block
                && let Some((escaped, count)) = simple_escapes(bytes, specials, carried)
            {
                found.shrink += count;
                carried = escaped >> BLOCK;
                block += BLOCK;
                continue;
            }
            // The end of the string, or an escape that takes a closer look: one by one.
            if carried == 1 {
                found.shrink -= 1;
                next = self.special(block - 1, &mut found)?;
                carried = 0;
            }
            let mut specials = specials;
            while specials != 0 {
                let place = block + specials.trailing_zeros() as usize;
                specials &= specials - 1;
                if place < next {
                    continue;
                }
                match self.bytes.get(place) {
                    Some(b'"') => break 'end place,
                    _ => next = self.special(place, &mut found)?,
                }
            }
            block += BLOCK;
        };
        self.at = end;
        let raw = self.since(start);
        self.at += 1;
        Ok(Text::new(raw, start, found.shrink, found.escapes))
    }

    /// Reads the rest of a string in the last bytes of the document. Returns the place of its quote.
    #[inline(never)]
    fn last_bytes(&mut self, from: usize, found: &mut FoundEscapes) -> Result<usize, Fault> {
        let mut at = from;
        loop {
            at = swar::special(self.bytes, at);
            if self.bytes.get(at) == Some(&b'"') {
                return Ok(at);
            }
            at = self.special(at, found)?;
        }
    }

    /// Reads the escape at `place`. Returns its end.
    #[inline(always)]
    fn special(&mut self, place: usize, found: &mut FoundEscapes) -> Result<usize, Fault> {
        match (self.bytes.get(place), self.bytes.get(place + 1)) {
            (Some(b'\\'), Some(b'"' | b'\\' | b'n' | b'r' | b't')) => {
                found.shrink += 1;
                Ok(place + 2)
            }
            (Some(b'\\'), _) => {
                self.at = place;
                self.escape(&mut found.shrink, &mut found.escapes)?;
                Ok(self.at)
            }
            _ => {
                self.at = place;
                Err(self.fault(FaultKind::ControlCharacter))
            }
        }
    }

    /// Reads a string and hands its text to `sink` in pieces, in one go: for strings that are only hashed.
    pub(crate) fn string_pieces(&mut self, sink: &mut impl FnMut(&[u8])) -> Result<(), Fault> {
        self.expect(b'"')?;
        let mut pieces = Pieces::new();
        let mut at = self.at;
        loop {
            // Whole blocks are copied, and bytes too many are overwritten: cheaper than short copies.
            while let Some(block) =
                self.bytes.get(at..).and_then(|rest| rest.first_chunk::<{ Pieces::BLOCK }>())
            {
                let clean = swar::special_near(block);
                pieces.push(block, clean, sink);
                at += clean;
                if clean < Pieces::BLOCK {
                    break;
                }
            }
            match (self.bytes.get(at), self.bytes.get(at + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'n')) => {
                    pieces.push_byte(b'\n', sink);
                    at += 2;
                }
                (Some(b'\\'), Some(quoted @ (b'"' | b'\\'))) => {
                    pieces.push_byte(*quoted, sink);
                    at += 2;
                }
                (Some(b'\\'), _) => {
                    self.at = at;
                    self.escape(&mut 0, &mut Escapes::Simple)?;
                    let mut decoded = Vec::with_capacity(4);
                    decode_escape(self.since(at), &mut decoded);
                    for byte in decoded {
                        pieces.push_byte(byte, sink);
                    }
                    at = self.at;
                }
                // The last bytes of the document, less than a block.
                (Some(byte @ 0x20..), _) => {
                    pieces.push_byte(*byte, sink);
                    at += 1;
                }
                _ => {
                    self.at = at;
                    return Err(self.fault(FaultKind::ControlCharacter));
                }
            }
        }
        self.at = at + 1;
        sink(pieces.rest());
        Ok(())
    }

    /// Moves over one escape (or a pair of surrogates) and notes how many bytes the text is shorter than its spelling.
    #[inline(never)]
    fn escape(&mut self, shrink: &mut usize, escapes: &mut Escapes) -> Result<(), Fault> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'n' | b'r' | b't') => {
                *shrink += 1;
                self.at += 2;
                Ok(())
            }
            Some(b'/' | b'b' | b'f') => {
                *escapes = Escapes::Odd.max(*escapes);
                *shrink += 1;
                self.at += 2;
                Ok(())
            }
            Some(b'u') => {
                let unit = self.unit(self.at)?;
                self.at += 6;
                *escapes = Escapes::Odd.max(*escapes);
                *shrink += match unit {
                    0..0x80 => 5,
                    0x80..0x800 => 4,
                    0xd800..0xdc00 => match self.low_surrogate() {
                        Some(_) => {
                            self.unit(self.at)?;
                            self.at += 6;
                            8
                        }
                        None => {
                            *escapes = Escapes::Lone;
                            3
                        }
                    },
                    0xdc00..0xe000 => {
                        *escapes = Escapes::Lone;
                        3
                    }
                    _ => 3,
                };
                Ok(())
            }
            Some(_) => Err(self.fault(FaultKind::BadEscape)),
            None => Err(Fault { what: FaultKind::UnexpectedEnd, at: self.bytes.len() }),
        }
    }

    /// Returns the four digits of the `\u` escape that starts at `at`.
    fn unit(&self, at: usize) -> Result<u16, Fault> {
        let digits = self.bytes.get(at + 2..).unwrap_or_default();
        match swar::hex4(digits) {
            Some(unit) => Ok(unit),
            None if digits.len() < 4 => Err(Fault { what: FaultKind::UnexpectedEnd, at: self.bytes.len() }),
            None => Err(Fault { what: FaultKind::BadEscape, at }),
        }
    }

    /// Returns the second half of a pair, if one follows.
    fn low_surrogate(&self) -> Option<u16> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(b"\\u")?;
        swar::hex4(rest).filter(|unit| (0xdc00..0xe000).contains(unit))
    }

    /// Reads a number, `true`, `false` or `null`, and returns its spelling.
    pub(crate) fn scalar(&mut self) -> Result<&'a [u8], Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            _ => return Err(self.fault(FaultKind::UnexpectedByte)),
        }
        Ok(self.since(start))
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        for byte in word {
            if self.peek() != Some(*byte) {
                return Err(self.fault(FaultKind::BadWord));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault(FaultKind::BadNumber)) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // `01`, `1x`: a number ends where JSON goes on.
        match self.peek() {
            Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' | b'+') => {
                Err(self.fault(FaultKind::BadNumber))
            }
            _ => Ok(()),
        }
    }

    /// Moves over one value of any kind and depth.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        self.walk(&mut Discard)
    }

    /// Moves over one value of any kind and depth and reports its names and texts.
    pub(crate) fn walk<V: Visitor<'a>>(&mut self, visitor: &mut V) -> Result<(), Fault> {
        let mut nest = ContainerStack::default();
        loop {
            self.blank();
            let opened = match self.peek() {
                Some(b'"') => {
                    let text = self.string()?;
                    visitor.text(text);
                    false
                }
                Some(open @ (b'{' | b'[')) => {
                    let object = open == b'{';
                    visitor.unnamed();
                    self.at += 1;
                    self.blank();
                    if self.peek() == Some(if object { b'}' } else { b']' }) {
                        self.at += 1;
                        false
                    } else {
                        nest.push(object);
                        true
                    }
                }
                _ => {
                    self.scalar()?;
                    visitor.unnamed();
                    false
                }
            };
            let mut wants_value = opened;
            if opened && nest.top() == Some(true) {
                wants_value = self.named(visitor)?;
            }
            while !wants_value {
                let Some(object) = nest.top() else { return Ok(()) };
                self.blank();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        wants_value = if object {
                            self.blank();
                            self.named(visitor)?
                        } else {
                            true
                        };
                    }
                    Some(b'}') if object => {
                        self.at += 1;
                        nest.pop();
                    }
                    Some(b']') if !object => {
                        self.at += 1;
                        nest.pop();
                    }
                    _ => return Err(self.fault(FaultKind::UnexpectedByte)),
                }
            }
        }
    }

    /// Reads a name and its colon. Returns `false` if the visitor declined the value, which is then already skipped.
    fn named<V: Visitor<'a>>(&mut self, visitor: &mut V) -> Result<bool, Fault> {
        let key = self.string()?;
        self.blank();
        self.expect(b':')?;
        if visitor.key(key) {
            return Ok(true);
        }
        // Not `skip`, which would call back here; the type of the visitor changes, so this ends after one step.
        self.walk(&mut Discard)?;
        Ok(false)
    }
}
