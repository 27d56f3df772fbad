//! Arguments of a program as a list: the option is one text, its value the next.

use super::name_judgement::NameJudgement;
use super::options::{self, ShortOption};
use super::{Span, values};

/// The state of a list of arguments between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Argv {
    next: NextArgument,
    /// The short option whose value is a password of the program.
    short: Option<(u8, ShortOption)>,
    /// True if the program has a `login`.
    logs_in: bool,
}

/// The meaning of the next argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextArgument {
    Anything,
    /// The value of an option with a telling name.
    Value(NameJudgement),
    /// A password of any shape.
    Password,
    /// `name:password`
    Pair,
    /// `name=value; name=value`
    Cookie,
}

impl Argv {
    pub(crate) const START: Self = Self { next: NextArgument::Anything, short: None, logs_in: false };

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
        let awaited = std::mem::replace(&mut self.next, NextArgument::Anything);
        match argument {
            [b'-', b'-', name @ ..] => {
                self.next = match name {
                    b"user" | b"proxy-user" => NextArgument::Pair,
                    b"cookie" => NextArgument::Cookie,
                    b"oauth2-bearer" => NextArgument::Password,
                    _ => after(name),
                };
                None
            }
            [b'-', letter, attached @ ..] => self.short(*letter, attached),
            _ => match awaited {
                NextArgument::Anything => {
                    self.program(argument);
                    None
                }
                NextArgument::Value(judgement) => judgement.secret(argument),
                NextArgument::Password => whole(argument, 0),
                NextArgument::Pair => options::pair(argument).and_then(|start| whole(argument, start)),
                NextArgument::Cookie if argument.contains(&b'=') => whole(argument, 0),
                NextArgument::Cookie => None,
            },
        }
    }

    fn short(&mut self, letter: u8, attached: &[u8]) -> Option<Span> {
        if let Some((known, how)) = self.short
            && known == letter
        {
            match (how, attached) {
                (ShortOption::Attached, []) => {}
                (ShortOption::Either | ShortOption::Apart, []) => self.next = NextArgument::Password,
                (ShortOption::Pair, []) => self.next = NextArgument::Pair,
                (ShortOption::Cookie, []) => self.next = NextArgument::Cookie,
                (ShortOption::Fed, []) => {}
                (ShortOption::Attached | ShortOption::Either, value) => {
                    let found = whole(value, 0)?;
                    return Some(Span { start: found.start + 2, end: found.end + 2, ..found });
                }
                (ShortOption::Percent, []) => self.next = NextArgument::Pair,
                (
                    ShortOption::Apart
                    | ShortOption::Pair
                    | ShortOption::Percent
                    | ShortOption::Cookie
                    | ShortOption::Fed,
                    _,
                ) => {}
            }
            return None;
        }
        // `-u`, `-su`; `-storepass` is a long option with one hyphen.
        self.next = match (letter, attached) {
            (b'u', []) | (b'a'..=b'z', [b'u']) => NextArgument::Pair,
            (b'b', []) => NextArgument::Cookie,
            (_, [_, _, ..]) => {
                let mut name = vec![letter];
                name.extend_from_slice(attached);
                after(&name)
            }
            _ => NextArgument::Anything,
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
            self.short = Some((b'p', ShortOption::Either));
        }
    }
}

fn after(name: &[u8]) -> NextArgument {
    // With `=` in it the pair is seen where it stands.
    let judgement =
        if name.contains(&b'=') { NameJudgement::NOTHING } else { NameJudgement::from_name(name, false) };
    if judgement.is_nothing() { NextArgument::Anything } else { NextArgument::Value(judgement) }
}

fn whole(argument: &[u8], start: usize) -> Option<Span> {
    let value = argument.get(start..)?;
    let secret = !value.is_empty() && !values::refers(value, true);
    secret.then_some(Span { start, end: argument.len(), kind: "option" })
}
