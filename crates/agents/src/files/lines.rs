//! Complete lines out of chunks, each with the offset at which it stands in the file.
//!
//! A line ends with `\n`; a `\r` before it belongs to the ending. Blank lines say nothing and are passed over. What
//! stands after the last `\n` is kept until its end arrives and is not part of [`LineSplitter::offset`], so a reader
//! that stores that offset and starts again there loses nothing and repeats nothing. A line longer than the limit is
//! never held in memory: it is counted and reported by place, length, beginning and end, because what matters of a row
//! with a film in it stands before and behind the film.

use memchr::memchr_iter;

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A whole line without its ending.
    Complete {
        /// The bytes of the line; not empty, not necessarily UTF-8.
        bytes: &'a [u8],
        /// Holds where its first byte stands in the file.
        offset: u64,
    },
    /// A line beyond the limit. The bytes in its middle are gone.
    TooLong {
        /// Holds where its first byte stands in the file.
        offset: u64,
        /// Holds how long it was, without its ending.
        length: u64,
        /// Holds how it began: at most [`LineSplitter::KEPT`] bytes.
        head: &'a [u8],
        /// Holds how it ended: at most as many bytes, none of which are in `head`.
        tail: &'a [u8],
    },
}

/// Cuts a growing file into lines.
#[derive(Clone, Debug)]
pub struct LineSplitter {
    /// Holds where the line that has not ended yet begins.
    start: u64,
    /// Holds what has arrived of that line; only its beginning once it passed the limit.
    carry: Vec<u8>,
    /// Holds how many bytes followed `carry` after the line passed the limit; 0 means that it did not.
    dropped: u64,
    /// The last of those bytes: up to twice as many as are handed on.
    tail: Vec<u8>,
    /// The longest line that is handed on.
    limit: usize,
    /// Holds how many lines passed the limit.
    too_long: u64,
}

impl LineSplitter {
    /// The longest line that is handed on unless asked otherwise: room for a screenshot in base64.
    pub const LIMIT: usize = 64 * 1024 * 1024;
    /// Limits how many bytes of the beginning and of the end of a longer line are handed on.
    pub const KEPT: usize = 64 * 1024;

    /// Starts at an offset of the file at which a line begins.
    #[must_use]
    pub fn new(offset: u64) -> Self {
        Self::with_limit(offset, Self::LIMIT)
    }

    /// Starts at an offset of the file at which a line begins, with a limit in bytes for each line.
    #[must_use]
    pub fn with_limit(offset: u64, limit: usize) -> Self {
        Self {
            start: offset,
            carry: Vec::new(),
            dropped: 0,
            tail: Vec::new(),
            limit: limit.max(1),
            too_long: 0,
        }
    }

    /// Returns where to start again: the first byte that belongs to no complete line yet.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.start
    }

    /// Returns where the next chunk is expected to begin in the file.
    #[must_use]
    pub fn expects(&self) -> u64 {
        self.start + self.waiting()
    }

    /// Returns how many bytes wait for the end of their line.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.dropped + self.carry.len() as u64
    }

    /// Returns what stands after the last ending, with its offset: the whole last line of a file that does not end its last
    /// line, or a write that is still under way. `None` if there is nothing, or if it is too long.
    #[must_use]
    pub fn rest(&self) -> Option<(&[u8], u64)> {
        let rest = self.carry.trim_ascii_end();
        (self.dropped == 0 && !rest.is_empty()).then_some((rest, self.start))
    }

    /// Returns how many lines were too long to be handed on.
    #[must_use]
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Takes the next bytes of the file and hands on every line that they complete.
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut from = 0;
        for end in memchr_iter(b'\n', chunk) {
            let piece = chunk.get(from..end).unwrap_or_default();
            from = end + 1;
            self.end(piece, &mut each);
        }
        self.keep(chunk.get(from..).unwrap_or_default());
    }

    /// Ends the current line with `piece`.
    fn end(&mut self, piece: &[u8], each: &mut impl FnMut(Line<'_>)) {
        let offset = self.start;
        let length = self.waiting() + piece.len() as u64;
        self.start += length + 1;
        // The common case hands on a slice of the chunk and copies nothing.
        if self.dropped == 0 && self.carry.is_empty() {
            self.hand(piece, offset, each);
            return;
        }
        self.keep(piece);
        let carry = std::mem::take(&mut self.carry);
        if self.dropped > 0 {
            self.too_long += 1;
            let tail = self.tail.get(self.tail.len().saturating_sub(self.part_bytes())..).unwrap_or_default();
            each(Line::TooLong { offset, length, head: &carry, tail });
            self.tail.clear();
        } else {
            self.hand(&carry, offset, each);
        }
        // Given back, so that a file of torn lines does not allocate for each of them.
        self.carry = carry;
        self.carry.clear();
        self.dropped = 0;
    }

    fn hand(&mut self, bytes: &[u8], offset: u64, each: &mut impl FnMut(Line<'_>)) {
        if bytes.len() > self.limit {
            self.too_long += 1;
            let (head, rest) = bytes.split_at_checked(self.part_bytes()).unwrap_or((bytes, &[]));
            let tail = rest.get(rest.len().saturating_sub(self.part_bytes())..).unwrap_or_default();
            each(Line::TooLong { offset, length: bytes.len() as u64, head, tail });
            return;
        }
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if !bytes.trim_ascii().is_empty() {
            each(Line::Complete { bytes, offset });
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.dropped == 0 && self.carry.len() + piece.len() <= self.limit {
            self.carry.extend_from_slice(piece);
            return;
        }
        let kept = self.part_bytes();
        // What waits is either short or about to be let go: no more than two pieces are ever looked at.
        if self.dropped == 0 && self.carry.len() > kept {
            self.tail = self.carry.split_off(kept);
            self.carry.shrink_to(kept);
            self.dropped = self.tail.len() as u64;
        }
        let (head, rest) =
            piece.split_at_checked(kept.saturating_sub(self.carry.len())).unwrap_or((piece, &[]));
        self.carry.extend_from_slice(head);
        self.dropped += rest.len() as u64;
        self.tail.extend_from_slice(rest.get(rest.len().saturating_sub(2 * kept)..).unwrap_or_default());
        if self.tail.len() > 2 * kept {
            self.tail.drain(..self.tail.len() - kept);
            self.tail.shrink_to(4 * kept);
        }
    }

    fn part_bytes(&self) -> usize {
        Self::KEPT.min(self.limit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(splitter: &mut LineSplitter, chunk: &[u8]) -> Vec<(u64, String)> {
        let mut seen = Vec::new();
        splitter.push(chunk, |line| {
            seen.push(match line {
                Line::Complete { bytes, offset } => (offset, String::from_utf8_lossy(bytes).into_owned()),
                Line::TooLong { offset, length, head, tail } => {
                    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
                    (offset, format!("too long: {length} {head}…{tail}"))
                }
            });
        });
        seen
    }

    #[test]
    fn a_line_is_handed_on_only_when_it_has_ended() {
        let mut splitter = LineSplitter::new(100);
        assert_eq!(lines(&mut splitter, b"one\ntw"), [(100, "one".into())]);
        assert_eq!((splitter.offset(), splitter.expects()), (104, 106));
        assert_eq!(lines(&mut splitter, b"o"), []);
        assert_eq!(lines(&mut splitter, b"\nthree\n"), [(104, "two".into()), (108, "three".into())]);
        assert_eq!((splitter.offset(), splitter.waiting()), (114, 0));
    }

    #[test]
    fn carriage_returns_and_blank_lines_are_not_content() {
        let mut splitter = LineSplitter::new(0);
        assert_eq!(lines(&mut splitter, b"a\r\n\r\n\n  \nb\r"), [(0, "a".into())]);
        assert_eq!(lines(&mut splitter, b"\n"), [(9, "b".into())]);
        assert_eq!(splitter.offset(), 12);
    }

    #[test]
    fn a_line_beyond_the_limit_is_counted_and_the_next_one_is_read() {
        for chunks in [vec![&b"123456789\nok\n"[..]], vec![b"1234", b"5678", b"9\no", b"k\n"]] {
            let mut splitter = LineSplitter::with_limit(0, 5);
            let seen: Vec<_> = chunks.into_iter().flat_map(|chunk| lines(&mut splitter, chunk)).collect();
            assert_eq!(seen, [(0, "too long: 9 12345…6789".into()), (10, "ok".into())]);
            assert_eq!(splitter.too_long(), 1);
        }
    }

    #[test]
    fn an_endless_line_does_not_grow_in_memory() {
        let mut splitter = LineSplitter::with_limit(0, 1000);
        for _ in 0..10_000 {
            assert_eq!(lines(&mut splitter, &[b'x'; 700]), []);
            assert!(splitter.carry.capacity() + splitter.tail.capacity() <= 10_000);
        }
        assert_eq!(splitter.waiting(), 7_000_000);
    }

    #[test]
    fn the_beginning_and_the_end_of_a_line_that_is_too_long_are_handed_on() {
        let kept = LineSplitter::KEPT;
        let mut line = vec![b'a'; kept];
        line.extend(vec![b'b'; 3 * kept]);
        line.extend(vec![b'c'; kept]);
        line.push(b'\n');
        for size in [7_777, kept, 2 * kept + 1, line.len()] {
            let mut splitter = LineSplitter::with_limit(0, 2 * kept);
            let mut seen = 0;
            for chunk in line.chunks(size) {
                splitter.push(chunk, |line| {
                    let Line::TooLong { length, head, tail, .. } = line else { panic!("{line:?}") };
                    assert_eq!(length, 5 * kept as u64);
                    assert_eq!((head, tail), (&*vec![b'a'; kept], &*vec![b'c'; kept]), "chunks of {size}");
                    seen += 1;
                });
            }
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn what_stands_after_the_last_ending_can_be_looked_at() {
        let mut splitter = LineSplitter::with_limit(0, 8);
        assert_eq!(splitter.rest(), None);
        lines(&mut splitter, b"one\ntwo ");
        assert_eq!(splitter.rest(), Some((&b"two"[..], 4)));
        lines(&mut splitter, b"three four");
        assert_eq!(splitter.rest(), None);
        assert_eq!(lines(&mut splitter, b"\n"), [(4, "too long: 14 two thre…e four".into())]);
        lines(&mut splitter, b"  ");
        assert_eq!(splitter.rest(), None);
    }

    proptest! {
        #[test]
        fn chunks_do_not_change_what_is_read(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0_usize..200, 0..8),
            limit in 1_usize..40,
        ) {
            let mut whole = LineSplitter::with_limit(7, limit);
            let expected = lines(&mut whole, &text);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(text.len());
            cuts.sort_unstable();
            let mut torn = LineSplitter::with_limit(7, limit);
            let mut seen = Vec::new();
            let mut from = 0;
            for cut in cuts {
                seen.extend(lines(&mut torn, &text[from..cut]));
                from = cut;
            }
            prop_assert_eq!(seen, expected);
            prop_assert_eq!(torn.offset(), whole.offset());
            prop_assert_eq!(torn.expects(), 7 + text.len() as u64);
        }

        #[test]
        fn starting_again_at_the_offset_repeats_and_loses_nothing(
            text in "([a-z]{0,6}\r?\n){0,12}[a-z]{0,6}",
            cut in 0_usize..80,
        ) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut first = LineSplitter::new(0);
            let mut seen = lines(&mut first, &bytes[..cut]);
            let again = first.offset();
            let mut second = LineSplitter::new(again);
            seen.extend(lines(&mut second, &bytes[usize::try_from(again).unwrap()..]));
            prop_assert_eq!(seen, lines(&mut LineSplitter::new(0), bytes));
        }
    }
}
