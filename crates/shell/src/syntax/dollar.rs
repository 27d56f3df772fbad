//! Expansions: what a dollar sign begins, and process substitution.

use super::ast::{Parameter, Part, Span, Substitution};
use super::cursor::Parser;
use super::list::Until;
use crate::one_or_many::OneOrMany;

impl Parser<'_> {
    /// Reads the expansion at a dollar sign. A dollar sign that begins nothing is text.
    pub(super) fn dollar(&mut self, quoted: bool) -> Part {
        let start = self.position;
        match self.peek_at(1) {
            Some(b'(') => {
                if self.peek_at(2) == Some(b'(')
                    && let Some(close) = self.arithmetic_end(3)
                {
                    self.advance(3);
                    let parts = self.expansions_until(close);
                    self.advance(2);
                    return Part::Arithmetic(Box::new((Span::new(start, self.position), parts)));
                }
                self.advance(1);
                self.substitution(start, quoted).map_or_else(Part::Opaque, |it| Part::Command(Box::new(it)))
            }
            Some(b'{') => self.braced_parameter(quoted),
            Some(b'\'') if !quoted => self.ansi_quotes(),
            Some(b'"') if !quoted => {
                // Translated text: the quotes that follow are read as quotes.
                self.advance(1);
                Part::Quoted(Span::new(self.position, self.position))
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.advance(1);
                let name = self.name();
                // An escaped line end does not end the name; what follows it belongs to another variable.
                let goes_on = self.starts_with("\\\n")
                    && self.peek_at(2).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                self.parameter(start, name, !goes_on, quoted, OneOrMany::default())
            }
            Some(b'0'..=b'9' | b'?' | b'$' | b'!' | b'#' | b'*' | b'@' | b'-') => {
                let name = Span::new(start + 1, start + 2);
                self.advance(2);
                self.parameter(start, name, true, quoted, OneOrMany::default())
            }
            _ => {
                self.advance(1);
                Part::Quoted(Span::new(start, self.position))
            }
        }
    }

    fn parameter(
        &self,
        start: usize,
        name: Span,
        plain: bool,
        quoted: bool,
        operand: OneOrMany<Part>,
    ) -> Part {
        let span = Span::new(start, self.position);
        Part::Parameter(Box::new(Parameter { span, name, plain, quoted, operand }))
    }

    fn name(&mut self) -> Span {
        let start = self.position;
        let length = self.rest().bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'));
        self.advance(length.unwrap_or(self.rest().len()));
        Span::new(start, self.position)
    }

    /// Reads `<(…)` and `>(…)`.
    pub(super) fn process_substitution(&mut self) -> Part {
        let start = self.position;
        self.advance(1);
        self.substitution(start, false).map_or_else(Part::Opaque, |it| Part::Process(Box::new(it)))
    }

    /// Reads a script in brackets; the parser stands on the opening one.
    fn substitution(&mut self, start: usize, quoted: bool) -> Result<Substitution, Span> {
        self.advance(1);
        if !self.descend() {
            return Err(Span::new(start, self.position));
        }
        // What is open outside cannot be closed in here.
        let outside = std::mem::take(&mut self.open);
        self.open.parentheses = 1;
        let script = self.script(Until::Parenthesis);
        self.open = outside;
        self.take(")");
        self.ascend();
        Ok(Substitution { span: Span::new(start, self.position), quoted, script })
    }

    fn braced_parameter(&mut self, quoted: bool) -> Part {
        let start = self.position;
        self.advance(2);
        if !self.descend() {
            return Part::Opaque(Span::new(start, self.position));
        }
        let marked = matches!(self.peek(), Some(b'!' | b'#')) && self.peek_at(1) != Some(b'}');
        if marked {
            self.advance(1);
        }
        let name = match self.peek() {
            Some(b'?' | b'$' | b'!' | b'#' | b'*' | b'@' | b'-') => {
                self.advance(1);
                Span::new(self.position - 1, self.position)
            }
            _ => self.name(),
        };
        let plain = !marked && self.peek() == Some(b'}');
        let mut operand = OneOrMany::default();
        loop {
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    break;
                }
                Some(b'}') => {
                    self.advance(1);
                    break;
                }
                Some(b'\\') => {
                    self.advance(1);
                    self.advance_character();
                }
                Some(b'\'') if !quoted => {
                    self.advance(1);
                    let length = self.rest().find('\'').map_or(self.rest().len(), |found| found + 1);
                    self.advance(length);
                }
                Some(b'"') => self.double_quotes(&mut operand),
                Some(b'$') => operand.push(self.dollar(quoted)),
                Some(b'`') => operand.push(self.backticks()),
                Some(_) => {
                    let length = self
                        .rest()
                        .bytes()
                        .position(|byte| matches!(byte, b'}' | b'\\' | b'\'' | b'"' | b'$' | b'`'));
                    // A single quote inside double quotes is text, so at least one byte is taken.
                    match length {
                        Some(0) => {
                            self.advance_character();
                        }
                        Some(length) => self.advance(length),
                        None => self.advance(self.rest().len()),
                    }
                }
            }
        }
        self.ascend();
        self.parameter(start, name, plain, quoted, operand)
    }

    /// Reads `$'…'` with the escapes of ANSI C.
    fn ansi_quotes(&mut self) -> Part {
        let start = self.position;
        self.advance(2);
        let mut text = String::new();
        loop {
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    break;
                }
                Some(b'\'') => {
                    self.advance(1);
                    break;
                }
                Some(b'\\') => {
                    self.advance(1);
                    self.ansi_escape(&mut text);
                }
                Some(_) => {
                    let length = self.rest().bytes().position(|byte| matches!(byte, b'\'' | b'\\'));
                    let run = Span::new(self.position, self.position + length.unwrap_or(self.rest().len()));
                    text.push_str(run.of(self.source));
                    self.advance(run.end - run.start);
                }
            }
        }
        Part::Decoded(Box::new((Span::new(start, self.position), text)))
    }

    fn ansi_escape(&mut self, text: &mut String) {
        let character = self.advance_character().of(self.source);
        match character {
            "n" => text.push('\n'),
            "t" => text.push('\t'),
            "r" => text.push('\r'),
            "e" | "E" => text.push('\u{1b}'),
            "a" => text.push('\u{7}'),
            "b" => text.push('\u{8}'),
            "f" => text.push('\u{c}'),
            "v" => text.push('\u{b}'),
            "x" => self.code(text, 16, 2),
            "u" => self.code(text, 16, 4),
            "U" => self.code(text, 16, 8),
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" => {
                self.position -= 1;
                self.code(text, 8, 3);
            }
            other => text.push_str(other),
        }
    }

    fn code(&mut self, text: &mut String, radix: u32, most: usize) {
        let digits: String =
            self.rest().chars().take(most).take_while(|digit| digit.is_digit(radix)).collect();
        self.advance(digits.len());
        if let Some(character) = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
            text.push(character);
        }
    }
}
