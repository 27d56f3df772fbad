//! Words: text, quotes and expansions between two blanks.

use super::ast::{Part, Span, Word};
use super::cursor::Parser;
use crate::one_or_many::OneOrMany;

impl Parser<'_> {
    /// Reads a word. Empty where none begins.
    pub(super) fn word(&mut self) -> Word {
        let start = self.position;
        let mut parts = OneOrMany::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => parts.push(self.single_quotes()),
                b'"' => self.double_quotes(&mut parts),
                b'\\' => self.backslash(&mut parts),
                b'$' => parts.push(self.dollar(false)),
                b'`' => parts.push(self.backticks()),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => parts.push(self.process_substitution()),
                b'(' if self.extends_glob(start) => self.glob_group(&mut parts),
                _ if Self::ends_word(Some(byte)) => break,
                _ => parts.push(self.plain_run()),
            }
        }
        Word { span: Span::new(start, self.position), parts }
    }

    pub(super) fn at_process_substitution(&self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(')
    }

    fn plain_run(&mut self) -> Part {
        let start = self.position;
        let length = self
            .rest()
            .bytes()
            .position(|byte| {
                matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`') || Self::ends_word(Some(byte))
            })
            .unwrap_or(self.rest().len());
        self.advance(length);
        Part::Plain(Span::new(start, self.position))
    }

    fn backslash(&mut self, parts: &mut OneOrMany<Part>) {
        match self.peek_at(1) {
            Some(b'\n') => self.advance(2),
            Some(b'\r') if self.peek_at(2) == Some(b'\n') => self.advance(3),
            Some(_) => {
                self.advance(1);
                let character = self.advance_character();
                parts.push(Part::Quoted(character));
            }
            None => {
                // A lone backslash at the end stands for itself.
                let character = self.advance_character();
                parts.push(Part::Quoted(character));
            }
        }
    }

    fn single_quotes(&mut self) -> Part {
        self.advance(1);
        let start = self.position;
        let length = self.rest().find('\'');
        self.advance(length.unwrap_or(self.rest().len()));
        let inner = Span::new(start, self.position);
        match length {
            Some(_) => self.advance(1),
            None => self.fault.unfinished = true,
        }
        Part::Quoted(inner)
    }

    /// Reads `"…"`. The text between expansions becomes parts of its own.
    pub(super) fn double_quotes(&mut self, parts: &mut OneOrMany<Part>) {
        self.advance(1);
        let before = parts.len();
        let mut run = self.position;
        loop {
            let here = self.position;
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    push_quoted(parts, run, here);
                    break;
                }
                Some(b'"') => {
                    push_quoted(parts, run, here);
                    self.advance(1);
                    break;
                }
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        push_quoted(parts, run, here);
                        // The escaped character begins the next run of text.
                        run = here + 1;
                        self.advance(2);
                    }
                    Some(b'\n') => {
                        push_quoted(parts, run, here);
                        self.advance(2);
                        run = self.position;
                    }
                    _ => self.advance(1),
                },
                Some(b'$') => {
                    push_quoted(parts, run, here);
                    parts.push(self.dollar(true));
                    run = self.position;
                }
                Some(b'`') => {
                    push_quoted(parts, run, here);
                    parts.push(self.backticks());
                    run = self.position;
                }
                Some(_) => {
                    let length =
                        self.rest().bytes().position(|byte| matches!(byte, b'"' | b'\\' | b'$' | b'`'));
                    self.advance(length.unwrap_or(self.rest().len()));
                }
            }
        }
        if parts.len() == before {
            // `""` is a word, if an empty one.
            parts.push(Part::Quoted(Span::new(self.position, self.position)));
        }
    }

    /// Reads `` `…` ``: only its end is looked for. What is inside is read once its backslashes are resolved.
    pub(super) fn backticks(&mut self) -> Part {
        self.advance(1);
        let start = self.position;
        loop {
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    return Part::Backtick(Span::new(start, self.position));
                }
                Some(b'`') => {
                    let inner = Span::new(start, self.position);
                    self.advance(1);
                    return Part::Backtick(inner);
                }
                Some(b'\\') => {
                    self.advance(1);
                    self.advance_character();
                }
                Some(_) => {
                    let length = self.rest().bytes().position(|byte| matches!(byte, b'`' | b'\\'));
                    self.advance(length.unwrap_or(self.rest().len()));
                }
            }
        }
    }

    /// Returns `true` for the bracket of `@(…)`, `!(…)`, `*(…)`, `+(…)`, `?(…)` inside a word.
    fn extends_glob(&self, word_start: usize) -> bool {
        let before = self.position.checked_sub(1).filter(|&before| before >= word_start);
        before
            .and_then(|before| self.source.as_bytes().get(before))
            .is_some_and(|byte| matches!(byte, b'@' | b'!' | b'*' | b'+' | b'?'))
    }

    fn glob_group(&mut self, parts: &mut OneOrMany<Part>) {
        let start = self.position;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b'\n' => break,
                _ => {}
            }
            self.advance_character();
            if depth == 0 {
                break;
            }
        }
        if depth > 0 {
            self.fault.unfinished = true;
        }
        parts.push(Part::Plain(Span::new(start, self.position)));
    }
}

fn push_quoted(parts: &mut OneOrMany<Part>, start: usize, end: usize) {
    if start < end {
        parts.push(Part::Quoted(Span::new(start, end)));
    }
}
