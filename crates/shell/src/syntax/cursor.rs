//! The position of the parser in the source, and its smallest steps.

use super::ast::{Heredoc, Span};
use super::heredoc::Pending;
use super::{Fault, MAX_DEPTH};

/// Counts of the open constructs to which a closing token may belong. They distinguish a stray closer from one that
/// ends an outer construct.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) parentheses: usize,
    pub(super) braces: usize,
    pub(super) ifs: usize,
    pub(super) loops: usize,
    pub(super) cases: usize,
}

/// The state of one pass over the source.
pub(super) struct Parser<'s> {
    pub(super) source: &'s str,
    pub(super) position: usize,
    /// Reading stops here; moved inwards while the body of a here-document or an arithmetic expression is read.
    pub(super) limit: usize,
    /// End of the last token, so that spans do not take trailing blanks along.
    pub(super) token_end: usize,
    pub(super) depth: usize,
    pub(super) open: Open,
    pub(super) pending: Vec<Pending>,
    pub(super) heredocs: Vec<Heredoc>,
    pub(super) fault: Fault,
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            position: 0,
            limit: source.len(),
            token_end: 0,
            depth: 0,
            open: Open::default(),
            pending: Vec::new(),
            heredocs: Vec::new(),
            fault: Fault::default(),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let position = self.position + ahead;
        if position < self.limit { self.source.as_bytes().get(position).copied() } else { None }
    }

    pub(super) fn at_end(&self) -> bool {
        self.position >= self.limit
    }

    /// Returns the unread source. Empty at the limit.
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.position..self.limit).unwrap_or_default()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Steps over ASCII bytes that were just looked at.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.position = (self.position + bytes).min(self.limit);
        self.token_end = self.position;
    }

    /// Steps over one whole character and returns its span.
    pub(super) fn advance_character(&mut self) -> Span {
        let start = self.position;
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        self.advance(width);
        Span::new(start, self.position)
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.advance(text.len());
        }
        found
    }

    /// Skips blanks, escaped line ends and comments, but not line ends: they separate commands.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.position += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.position += 2,
                Some(b'\\') if self.peek_at(1) == Some(b'\r') && self.peek_at(2) == Some(b'\n') => {
                    self.position += 3
                }
                Some(b'#') => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.position += length;
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and line ends; bodies of here-documents that begin after a line end are read on the way.
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.end_line();
        }
    }

    /// Steps over a line end and reads the here-documents announced on that line.
    pub(super) fn end_line(&mut self) {
        self.position += 1;
        if !self.pending.is_empty() {
            self.read_heredocs();
        }
    }

    /// Goes one level down, unless that is too deep.
    pub(super) fn descend(&mut self) -> bool {
        // The parser recurses, and a line of brackets must not use up the stack of its caller.
        if self.depth >= MAX_DEPTH {
            self.fault.too_deep = true;
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Returns `true` where a word ends: at blanks, line ends and operators.
    pub(super) fn ends_word(byte: Option<u8>) -> bool {
        matches!(
            byte,
            None | Some(
                b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
            )
        )
    }

    /// Returns the unquoted word that starts here, if it is one of the grammar's own.
    pub(super) fn keyword(&self) -> Option<&'static str> {
        const KEYWORDS: [&str; 22] = [
            "if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do", "done", "case",
            "esac", "in", "function", "time", "coproc", "!", "{", "}", "[[", "]]",
        ];
        // No keyword begins with another character; most words are ruled out by this one look.
        if !matches!(
            self.peek()?,
            b'i' | b't' | b'e' | b'f' | b's' | b'w' | b'u' | b'd' | b'c' | b'!' | b'{' | b'}' | b'[' | b']'
        ) {
            return None;
        }
        KEYWORDS.into_iter().find(|word| self.starts_with(word) && Self::ends_word(self.peek_at(word.len())))
    }

    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.advance(word.len());
        }
        found
    }
}
