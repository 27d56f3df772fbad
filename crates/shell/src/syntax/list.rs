//! Lists, chains and pipelines, which join commands.

use super::ast::{Chain, Command, Item, Link, Pipeline, Script, Span};
use super::cursor::Parser;
use crate::one_or_many::OneOrMany;

/// The token that ends the script being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    End,
    Parenthesis,
    Brace,
    /// The condition of `if` or `elif`.
    Then,
    /// A branch of `if`.
    Fi,
    /// The condition of a loop.
    Do,
    /// The body of a loop.
    Done,
    /// An arm of `case`.
    Arm,
}

/// A closing token in the place of a command.
enum Closer {
    /// It ends the innermost construct, and with it the script.
    Expected,
    /// It ends an outer construct: the script ends too, and a construct in between was left open.
    Outer,
    /// It belongs to no open construct. Its length in bytes.
    Stray(usize),
}

impl Parser<'_> {
    /// Reads to the end of the source.
    pub(super) fn whole(&mut self) -> Script {
        let script = self.script(Until::End);
        if !self.pending.is_empty() {
            // Here-documents were announced on the last line: there is no body.
            self.fault.unfinished = true;
            self.read_heredocs();
        }
        script
    }

    /// Reads commands up to the token that ends them, which is left in place.
    pub(super) fn script(&mut self, until: Until) -> Script {
        let mut script = Script::default();
        loop {
            self.skip_lines();
            if self.at_end() {
                if until != Until::End {
                    self.fault.unfinished = true;
                }
                return script;
            }
            match self.closer(until) {
                Some(Closer::Expected) => return script,
                Some(Closer::Outer) => {
                    self.fault.unexpected = true;
                    return script;
                }
                Some(Closer::Stray(bytes)) => {
                    self.fault.unexpected = true;
                    self.advance(bytes);
                    continue;
                }
                None => {}
            }
            let before = self.position;
            if let Some(item) = self.item() {
                script.items.push(item);
            }
            if self.position == before {
                // Nothing in the grammar begins like this. Stepping over it keeps the pass finite.
                self.fault.unexpected = true;
                self.advance_character();
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        let chain = self.chain();
        self.skip_blanks();
        let mut background = false;
        match self.peek() {
            Some(b'&') if self.peek_at(1) != Some(b'&') => {
                self.advance(1);
                background = true;
            }
            Some(b';') if self.peek_at(1) != Some(b';') && self.peek_at(1) != Some(b'&') => self.advance(1),
            Some(b';') if self.open.cases == 0 => self.advance(1),
            Some(b'\n') => self.end_line(),
            // A closer is looked at by the caller; anything else begins a command without a separator.
            Some(_) if !matches!(self.peek(), Some(b')' | b';')) => self.fault.unexpected |= chain.is_some(),
            _ => {}
        }
        Some(Item { chain: chain?, background })
    }

    fn chain(&mut self) -> Option<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let link = if self.take("&&") {
                Link::And
            } else if self.take("||") {
                Link::Or
            } else {
                break;
            };
            self.skip_lines();
            match self.pipeline() {
                Some(pipeline) => rest.push((link, pipeline)),
                None => self.fault.unexpected = true,
            }
        }
        Some(Chain { first, rest })
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        self.skip_blanks();
        let start = self.position;
        let mut negated = false;
        let mut timed = false;
        loop {
            if self.take_keyword("!") {
                negated = !negated;
            } else if self.take_keyword("time") {
                timed = true;
                self.skip_blanks();
                while self.starts_with("-p") && Self::ends_word(self.peek_at(2)) {
                    self.advance(2);
                    self.skip_blanks();
                }
            } else {
                break;
            }
            self.skip_blanks();
        }
        let prefixed = self.position > start;
        let mut commands: OneOrMany<Command> = OneOrMany::default();
        loop {
            match self.command() {
                Some(command) => commands.push(command),
                None if commands.is_empty() && !prefixed => {
                    // `| x`, `&& x`: an operator with nothing before it. Step over it so that `x` is still seen.
                    if !(self.take("&&") || self.take("||") || self.take("|&") || self.take("|")) {
                        return None;
                    }
                    self.fault.unexpected = true;
                    return None;
                }
                None => self.fault.unexpected |= !commands.is_empty(),
            }
            self.skip_blanks();
            if self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|') {
                self.advance(1);
                if self.peek() == Some(b'&') {
                    self.advance(1);
                }
                self.skip_lines();
            } else {
                break;
            }
        }
        let end = commands.last().map_or(self.token_end, |command| command.span.end);
        Some(Pipeline { span: Span::new(start, end.max(start)), negated, timed, commands })
    }

    /// Looks whether a closing token stands here, and whose it is.
    fn closer(&self, until: Until) -> Option<Closer> {
        let of = |expected: bool, open: usize, bytes: usize| {
            Some(if expected {
                Closer::Expected
            } else if open > 0 {
                Closer::Outer
            } else {
                Closer::Stray(bytes)
            })
        };
        match self.peek()? {
            b')' => return of(until == Until::Parenthesis, self.open.parentheses, 1),
            b';' if matches!(self.peek_at(1), Some(b';' | b'&')) => {
                return of(until == Until::Arm, self.open.cases, 2);
            }
            b';' | b'&' if self.peek_at(1) != Some(b'>') && self.peek_at(1) != Some(b'&') => {
                return Some(Closer::Stray(1));
            }
            _ => {}
        }
        let word = self.keyword()?;
        let bytes = word.len();
        match word {
            "}" => of(until == Until::Brace, self.open.braces, bytes),
            "then" => of(until == Until::Then, self.open.ifs, bytes),
            "elif" | "else" | "fi" => of(until == Until::Fi, self.open.ifs, bytes),
            "do" => of(until == Until::Do, self.open.loops, bytes),
            "done" => of(until == Until::Done, self.open.loops, bytes),
            "esac" => of(until == Until::Arm, self.open.cases, bytes),
            _ => None,
        }
    }
}

/// Returns a command on its own, as an item of a script.
pub(super) fn alone(command: Command) -> Item {
    let first =
        Pipeline { span: command.span, negated: false, timed: false, commands: OneOrMany::One(command) };
    Item { chain: Chain { first, rest: Vec::new() }, background: false }
}
