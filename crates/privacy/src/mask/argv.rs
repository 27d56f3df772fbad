//! Arguments of a program as a list: the option is one text, its value the next.

use super::named::Telling;
use super::options::{self, Short};
use super::{Span, values};

/// The state of a list of arguments between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Argv {
    next: Next,
    /// The short option whose value is a password of the program.
    short: Option<(u8, Short)>,
    /// True if the program has a `login`.
    logs_in: bool,
}

/// The meaning of the next argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Anything,
    /// The value of an option with a telling name.
    Value(Telling),
    /// A password of any shape.
    Password,
    /// `name:password`
    Pair,
    /// `name=value; name=value`
    Cookie,
}

impl Argv {
    pub(crate) const START: Self = Self { next: Next::Anything, short: None, logs_in: false };

    /// Returns the state before the first argument of `program`.
    pub(crate) fn of(program: &[u8]) -> Self {
        let mut argv = Self::START;
        for word in program.split(u8::is_ascii_whitespace) {
            argv.program(word);
        }
        argv
    }

    /// Takes the next argument. Returns the secret in it, if the arguments before it mark it as one.
    pub(crate) fn read(&mut self, argument: &[u8]) -> Option<Span> {
        let awaited = std::mem::replace(&mut self.next, Next::Anything);
        match argument {
            [b'-', b'-', name @ ..] => {
                self.next = match name {
                    b"user" | b"proxy-user" => Next::Pair,
                    b"cookie" => Next::Cookie,
                    b"oauth2-bearer" => Next::Password,
                    _ => after(name),
                };
                None
            }
            [b'-', letter, attached @ ..] => self.short(*letter, attached),
            _ => match awaited {
                Next::Anything => {
                    self.program(argument);
                    None
                }
                Next::Value(telling) => telling.secret(argument),
                Next::Password => whole(argument, 0),
                Next::Pair => options::pair(argument).and_then(|start| whole(argument, start)),
                Next::Cookie if argument.contains(&b'=') => whole(argument, 0),
                Next::Cookie => None,
            },
        }
    }

    fn short(&mut self, letter: u8, attached: &[u8]) -> Option<Span> {
        if let Some((known, how)) = self.short
            && known == letter
        {
            match (how, attached) {
                (Short::Attached, []) => {}
                (Short::Either | Short::Apart, []) => self.next = Next::Password,
                (Short::Pair, []) => self.next = Next::Pair,
                (Short::Cookie, []) => self.next = Next::Cookie,
                (Short::Fed, []) => {}
                (Short::Attached | Short::Either, value) => {
                    let found = whole(value, 0)?;
                    return Some(Span { start: found.start + 2, end: found.end + 2, ..found });
                }
                (Short::Percent, []) => self.next = Next::Pair,
                (Short::Apart | Short::Pair | Short::Percent | Short::Cookie | Short::Fed, _) => {}
            }
            return None;
        }
        // `-u`, `-su`; `-storepass` is a long option with one hyphen.
        self.next = match (letter, attached) {
            (b'u', []) | (b'a'..=b'z', [b'u']) => Next::Pair,
            (b'b', []) => Next::Cookie,
            (_, [_, _, ..]) => {
                let mut name = vec![letter];
                name.extend_from_slice(attached);
                after(&name)
            }
            _ => Next::Anything,
        };
        None
    }

    fn program(&mut self, argument: &[u8]) {
        let name = argument.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(short) = options::short_of(name) {
            self.short = Some(short);
        } else if options::logs_in(name) {
            self.logs_in = true;
        } else if self.logs_in && name == b"login" {
            self.short = Some((b'p', Short::Either));
        }
    }
}

fn after(name: &[u8]) -> Next {
    // With `=` in it the pair is seen where it stands.
    let telling = if name.contains(&b'=') { Telling::NOTHING } else { Telling::of(name, false) };
    if telling.is_nothing() { Next::Anything } else { Next::Value(telling) }
}

fn whole(argument: &[u8], start: usize) -> Option<Span> {
    let value = argument.get(start..)?;
    let secret = !value.is_empty() && !values::refers(value, true);
    secret.then_some(Span { start, end: argument.len(), kind: "option" })
}
