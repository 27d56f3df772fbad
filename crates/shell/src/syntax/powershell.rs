//! PowerShell, as far as it is needed: statements, pipelines, quotes, subexpressions and blocks, into the same
//! tree. Expressions are not understood; they become tests if they call nothing and unknown commands if they do.

use super::ast::{
    Chain, Command, Item, Link, Parameter, Part, Pipeline, Redirect, RedirectKind, Script, Shape, Simple,
    Span, Substitution, Word,
};
use super::{Fault, MAX_DEPTH, Parsed};
use crate::one_or_many::OneOrMany;

/// Words that only introduce a condition or a block.
const KEYWORDS: &[&str] = &[
    "if", "elseif", "else", "while", "until", "do", "foreach", "for", "switch", "try", "catch", "finally",
    "begin", "process", "end", "param", "trap", "return", "throw", "in",
];

pub(super) fn parse(source: &str) -> Parsed {
    let mut reader = Reader { source, position: 0, depth: 0, fault: Fault::default() };
    let mut script = reader.script(None);
    // A closer without an opener ends the script early: read on behind it.
    while reader.position < source.len() {
        reader.fault.unexpected = true;
        reader.character();
        script.items.extend(reader.script(None).items);
    }
    Parsed { script, heredocs: Vec::new(), fault: reader.fault }
}

struct Reader<'s> {
    source: &'s str,
    position: usize,
    depth: usize,
    fault: Fault,
}

impl<'s> Reader<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.position).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.position + ahead).copied()
    }

    fn character(&mut self) {
        self.position += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn skip_to_end_of(&mut self, text: &str) -> bool {
        match self.rest().find(text) {
            Some(at) => {
                self.position += at + text.len();
                true
            }
            None => {
                self.position = self.source.len();
                self.fault.unfinished = true;
                false
            }
        }
    }

    /// Skips blanks, comments and escaped line ends; with `lines` also line ends.
    fn skip(&mut self, lines: bool) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.position += 1,
                Some(b'\n') if lines => self.position += 1,
                Some(b'`') if matches!(self.peek_at(1), Some(b'\n' | b'\r')) => self.position += 2,
                Some(b'#') => self.position += self.rest().find('\n').unwrap_or(self.rest().len()),
                Some(b'<') if self.peek_at(1) == Some(b'#') => {
                    self.skip_to_end_of("#>");
                }
                _ => return,
            }
        }
    }

    /// Reads statements up to a closer, which is left in place.
    fn script(&mut self, closer: Option<u8>) -> Script {
        let mut script = Script::default();
        loop {
            self.skip(true);
            match self.peek() {
                None => {
                    self.fault.unfinished |= closer.is_some();
                    return script;
                }
                Some(b';') => self.position += 1,
                Some(byte @ (b')' | b'}')) => {
                    if closer.is_none_or(|closer| closer != byte) {
                        self.fault.unexpected = true;
                    }
                    return script;
                }
                Some(_) => {
                    let before = self.position;
                    if let Some(chain) = self.chain() {
                        let background = self.peek() == Some(b'&') && self.peek_at(1) != Some(b'&');
                        if background {
                            self.position += 1;
                        }
                        script.items.push(Item { chain, background });
                    }
                    if self.position == before {
                        self.fault.unexpected = true;
                        self.character();
                    }
                }
            }
        }
    }

    fn chain(&mut self) -> Option<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip(false);
            let link = if self.rest().starts_with("&&") {
                Link::And
            } else if self.rest().starts_with("||") {
                Link::Or
            } else {
                return Some(Chain { first, rest });
            };
            self.position += 2;
            self.skip(true);
            if let Some(pipeline) = self.pipeline() {
                rest.push((link, pipeline));
            }
        }
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        let start = self.position;
        let mut commands = OneOrMany::default();
        while let Some(command) = self.command() {
            commands.push(command);
            self.skip(false);
            if self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|') {
                self.position += 1;
                self.skip(true);
            } else {
                break;
            }
        }
        let end = commands.last()?.span.end;
        Some(Pipeline { span: Span::new(start, end.max(start)), negated: false, timed: false, commands })
    }

    fn command(&mut self) -> Option<Command> {
        self.skip(false);
        let start = self.position;
        // Words that only introduce something are stepped over, however many there are.
        loop {
            if let Some(keyword) = self.keyword() {
                self.position += keyword.len();
                self.skip(false);
                if self.peek() == Some(b'(') {
                    return Some(self.condition(start));
                }
            } else if self.rest().get(..9).is_some_and(|word| word.eq_ignore_ascii_case("function ")) {
                self.position += 9;
                self.skip(false);
                self.word();
                self.skip(false);
            } else {
                break;
            }
        }
        match self.peek()? {
            b'&' if self.peek_at(1) != Some(b'&') => {
                self.position += 1;
                return self.command_words(start);
            }
            b'{' | b'(' => return self.bracketed(start),
            _ => {}
        }
        self.command_words(start)
    }

    /// Returns a block, or an expression in brackets.
    fn bracketed(&mut self, start: usize) -> Option<Command> {
        let shape = if self.peek() == Some(b'{') {
            Shape::Group(self.block(b'}')?)
        } else {
            let script = self.block(b')')?;
            // `(…).Property` belongs to the expression.
            while !ends_word(self.peek()) && self.peek() != Some(b'}') {
                self.character();
            }
            Shape::Subshell(script)
        };
        Some(Command { span: Span::new(start, self.position), shape, redirects: Vec::new() })
    }

    fn keyword(&self) -> Option<&'static str> {
        KEYWORDS.iter().copied().find(|word| {
            self.rest().get(..word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word))
                && (ends_word(self.peek_at(word.len())) || self.peek_at(word.len()) == Some(b'{'))
        })
    }

    /// Reads `( … )` behind a keyword: an expression, in which commands may still hide.
    fn condition(&mut self, start: usize) -> Command {
        let mut words = Vec::new();
        let mut depth = 0_usize;
        loop {
            self.skip(true);
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    break;
                }
                Some(b'(') => {
                    depth += 1;
                    self.position += 1;
                }
                Some(b')') => {
                    depth = depth.saturating_sub(1);
                    self.position += 1;
                    if depth == 0 {
                        break;
                    }
                }
                Some(byte) if ends_word(Some(byte)) || byte == b'}' => self.position += 1,
                Some(_) => words.push(self.word()),
            }
        }
        Command { span: Span::new(start, self.position), shape: Shape::Test(words), redirects: Vec::new() }
    }

    /// Returns a bracketed script. Nothing where it would be too deep; the bracket is consumed either way.
    fn block(&mut self, closer: u8) -> Option<Script> {
        self.position += 1;
        if self.depth >= MAX_DEPTH {
            self.fault.too_deep = true;
            return None;
        }
        self.depth += 1;
        let script = self.script(Some(closer));
        self.depth -= 1;
        if self.peek() == Some(closer) {
            self.position += 1;
        }
        Some(script)
    }

    fn command_words(&mut self, start: usize) -> Option<Command> {
        let mut words: OneOrMany<Word> = OneOrMany::default();
        let mut redirects = Vec::new();
        let mut end = start;
        loop {
            self.skip(false);
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
            } else if ends_word(self.peek()) && !matches!(self.peek(), Some(b'('))
                || self.peek() == Some(b'}')
            {
                break;
            } else {
                words.push(self.word());
                // `$x = command`: the command is what runs.
                let assigns = words.len() == 2
                    && matches!(words.get(1).map(|word| word.span.of(self.source)), Some("=" | "+="));
                if assigns {
                    words = OneOrMany::default();
                    self.skip(true);
                    if matches!(self.peek(), Some(b'(' | b'{')) && redirects.is_empty() {
                        return self.bracketed(start);
                    }
                }
            }
            end = self.position;
        }
        if words.is_empty() && redirects.is_empty() {
            return None;
        }
        let span = Span::new(start, end);
        let is_expression =
            words.first().and_then(|word| word.span.of(self.source).chars().next()).is_some_and(|first| {
                matches!(first, '$' | '[' | '"' | '\'' | '@' | '-') || first.is_ascii_digit()
            });
        let shape = if is_expression && !span.of(self.source).contains('(') {
            Shape::Test(words.to_vec())
        } else {
            Shape::Simple(Simple { assignments: Vec::new(), words })
        };
        Some(Command { span, shape, redirects })
    }

    fn redirect(&mut self) -> Option<Redirect> {
        let start = self.position;
        let prefix = usize::from(matches!(self.peek()?, b'1'..=b'6' | b'*') && self.peek_at(1) == Some(b'>'));
        if self.peek_at(prefix) != Some(b'>') {
            return None;
        }
        let append = self.peek_at(prefix + 1) == Some(b'>');
        let duplicate = self.peek_at(prefix + 1) == Some(b'&');
        self.position += prefix + 1 + usize::from(append || duplicate);
        let operator = Span::new(start, self.position);
        self.skip(false);
        let target = self.word();
        let kind = match (append, duplicate) {
            (true, _) => RedirectKind::Append,
            (_, true) => RedirectKind::Duplicate,
            _ => RedirectKind::Write,
        };
        Some(Redirect { operator, kind, target, heredoc: None })
    }

    fn word(&mut self) -> Word {
        let start = self.position;
        let mut parts = OneOrMany::default();
        while let Some(byte) = self.peek() {
            let here = self.position;
            match byte {
                b'\'' => {
                    self.position += 1;
                    let inner = self.position;
                    let closed = self.skip_to_end_of("'");
                    parts.push(Part::Quoted(Span::new(inner, self.position - usize::from(closed))));
                }
                b'@' if matches!(self.peek_at(1), Some(b'\'' | b'"')) => {
                    let end = if self.peek_at(1) == Some(b'"') { "\"@" } else { "'@" };
                    self.position += 2;
                    let inner = self.position;
                    let closed = self.skip_to_end_of(end);
                    parts.push(Part::Quoted(Span::new(inner, self.position - if closed { 2 } else { 0 })));
                }
                b'"' => self.double_quotes(&mut parts),
                b'`' => {
                    self.position += 1;
                    let inner = self.position;
                    self.character();
                    parts.push(Part::Quoted(Span::new(inner, self.position)));
                }
                b'$' => parts.push(self.dollar(false)),
                b'@' if matches!(self.peek_at(1), Some(b'(' | b'{')) => {
                    self.position += 1;
                    let closer = if self.peek() == Some(b'(') { b')' } else { b'}' };
                    parts.push(self.nested(here, closer));
                }
                b'(' => parts.push(self.nested(here, b')')),
                b'{' => parts.push(self.nested(here, b'}')),
                b'}' => break,
                _ if ends_word(Some(byte)) => break,
                _ => {
                    let length = self.rest().bytes().position(|byte| {
                        matches!(byte, b'\'' | b'"' | b'`' | b'$' | b'@' | b'{' | b'}')
                            || ends_word(Some(byte))
                    });
                    // A lone `@` is text.
                    self.position += length.unwrap_or(self.rest().len()).max(1);
                    parts.push(Part::Plain(Span::new(here, self.position)));
                }
            }
        }
        Word { span: Span::new(start, self.position), parts }
    }

    fn nested(&mut self, start: usize, closer: u8) -> Part {
        match self.block(closer) {
            Some(script) => {
                let span = Span::new(start, self.position);
                Part::Command(Box::new(Substitution { span, quoted: true, script }))
            }
            None => Part::Opaque(Span::new(start, self.position)),
        }
    }

    fn double_quotes(&mut self, parts: &mut OneOrMany<Part>) {
        self.position += 1;
        let mut run = self.position;
        loop {
            let here = self.position;
            let push = |parts: &mut OneOrMany<Part>| {
                if run < here {
                    parts.push(Part::Quoted(Span::new(run, here)));
                }
            };
            match self.peek() {
                None => {
                    self.fault.unfinished = true;
                    push(parts);
                    break;
                }
                Some(b'"') => {
                    push(parts);
                    self.position += 1;
                    break;
                }
                Some(b'`') => {
                    push(parts);
                    self.position += 1;
                    run = self.position;
                    self.character();
                }
                Some(b'$') => {
                    push(parts);
                    parts.push(self.dollar(true));
                    run = self.position;
                }
                Some(_) => self.character(),
            }
        }
        // `""` is an argument, though an empty one.
        if parts.is_empty() {
            parts.push(Part::Quoted(Span::new(self.position, self.position)));
        }
    }

    fn dollar(&mut self, quoted: bool) -> Part {
        let start = self.position;
        self.position += 1;
        match self.peek() {
            Some(b'(') => return self.nested(start, b')'),
            Some(b'{') => {
                self.skip_to_end_of("}");
            }
            _ => {
                let length = self
                    .rest()
                    .bytes()
                    .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'?')));
                self.position += length.unwrap_or(self.rest().len());
            }
        }
        let span = Span::new(start, self.position);
        let name = Span::new(start, start);
        Part::Parameter(Box::new(Parameter {
            span,
            name,
            plain: false,
            quoted,
            operand: OneOrMany::default(),
        }))
    }
}

fn ends_word(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b')' | b'(' | b'<' | b'>'))
}
