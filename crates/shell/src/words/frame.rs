//! The text that is being read, and where it came from.
//!
//! The script of `bash -c '…'` is a text of its own, with its own tree. What is reported about it still has to
//! be found in the command that the agent ran, so every text knows the way back to the root.

use std::borrow::Cow;

use crate::syntax::Parsed;
use crate::syntax::ast::{Part, Span, Word};

/// A text with its tree.
pub(crate) struct Frame<'t> {
    pub(crate) text: &'t str,
    pub(crate) parsed: &'t Parsed,
    pub(crate) origin: Origin,
}

/// The mapping from positions in a text to positions in the root.
pub(crate) enum Origin {
    /// The text is a stretch of the root that begins here.
    At(usize),
    /// One position of the root for every byte of the text, and one for its end.
    Map(Vec<usize>),
    /// The text was put together: all of it stands for this stretch.
    Whole(Span),
}

impl Origin {
    /// Returns the stretch of the root that a stretch of the text was read from.
    pub(crate) fn root(&self, span: Span) -> Span {
        match self {
            Self::At(offset) => Span::new(span.start + offset, span.end + offset),
            Self::Map(map) => {
                let at = |position: usize| map.get(position).or(map.last()).copied().unwrap_or_default();
                Span::new(at(span.start), at(span.end).max(at(span.start)))
            }
            Self::Whole(whole) => *whole,
        }
    }

    /// Returns the same for a text that is the rest of this one from a position on, where that takes no copying.
    fn from(&self, start: usize) -> Option<Self> {
        match self {
            Self::At(offset) => Some(Self::At(offset + start)),
            Self::Whole(whole) => Some(Self::Whole(*whole)),
            Self::Map(_) => None,
        }
    }
}

impl Frame<'_> {
    /// Returns the text of a word with its quotes removed, expansions left as written, and the way back to the root.
    pub(crate) fn unquoted(&self, word: &Word) -> (String, Origin) {
        let mut text = String::new();
        let mut map = Vec::new();
        let mut copy = |span: Span, text: &mut String| {
            for offset in 0..span.of(self.text).len() {
                map.push(self.origin.root(Span::new(span.start + offset, span.end)).start);
            }
            text.push_str(span.of(self.text));
        };
        for part in &word.parts {
            match part {
                Part::Plain(span) | Part::Quoted(span) | Part::Opaque(span) => copy(*span, &mut text),
                Part::Parameter(parameter) => copy(parameter.span, &mut text),
                Part::Command(command) | Part::Process(command) => copy(command.span, &mut text),
                Part::Arithmetic(arithmetic) => copy(arithmetic.0, &mut text),
                Part::Backtick(inner) => {
                    // The part holds only the inside; the two backticks belong to the text as written.
                    let start = inner.start.saturating_sub(1);
                    let end = (inner.end + 1).min(self.text.len());
                    copy(Span::new(start, end), &mut text);
                }
                Part::Decoded(_) => return self.decoded(word),
            }
        }
        let end = word.parts.last().map_or(word.span.end, part_end);
        map.push(self.origin.root(Span::new(end, end)).start);
        (text, Origin::Map(map))
    }

    /// Escapes in `$'…'` leave no byte-by-byte way back.
    fn decoded(&self, word: &Word) -> (String, Origin) {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Plain(span) | Part::Quoted(span) | Part::Opaque(span) => {
                    text.push_str(span.of(self.text))
                }
                Part::Decoded(decoded) => text.push_str(&decoded.1),
                Part::Parameter(parameter) => text.push_str(parameter.span.of(self.text)),
                Part::Command(command) | Part::Process(command) => text.push_str(command.span.of(self.text)),
                Part::Arithmetic(arithmetic) => text.push_str(arithmetic.0.of(self.text)),
                Part::Backtick(inner) => {
                    text.push('`');
                    text.push_str(inner.of(self.text));
                    text.push('`');
                }
            }
        }
        (text, Origin::Whole(self.origin.root(word.span)))
    }

    /// Returns the script inside backticks: a backslash there protects a backtick, a dollar sign or another backslash.
    pub(crate) fn backtick_script(&self, inner: Span) -> (Cow<'_, str>, Origin) {
        let source = inner.of(self.text);
        // Without a backslash nothing changes: then nothing is copied, and no map is built.
        if !source.contains('\\')
            && let Some(origin) = self.origin.from(inner.start)
        {
            return (Cow::Borrowed(source), origin);
        }
        let mut text = String::new();
        let mut map = Vec::new();
        let mut characters = source.char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            let kept = match characters.peek() {
                Some(&(next, escaped)) if character == '\\' && matches!(escaped, '`' | '$' | '\\') => {
                    characters.next();
                    (next, escaped)
                }
                _ => (offset, character),
            };
            let root = self.origin.root(Span::new(inner.start + kept.0, inner.end)).start;
            for byte in 0..kept.1.len_utf8() {
                map.push(root + byte);
            }
            text.push(kept.1);
        }
        map.push(self.origin.root(Span::new(inner.end, inner.end)).start);
        (Cow::Owned(text), Origin::Map(map))
    }
}

fn part_end(part: &Part) -> usize {
    match part {
        Part::Plain(span) | Part::Quoted(span) | Part::Opaque(span) => span.end,
        Part::Decoded(decoded) => decoded.0.end,
        Part::Parameter(parameter) => parameter.span.end,
        Part::Command(command) | Part::Process(command) => command.span.end,
        Part::Backtick(inner) => inner.end,
        Part::Arithmetic(arithmetic) => arithmetic.0.end,
    }
}
