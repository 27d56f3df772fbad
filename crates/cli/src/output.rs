//! Standard output, standard error and colour.
//!
//! Law: everything can be understood without colour. Colour needs a terminal, no `NO_COLOR`, and a terminal that is
//! not `dumb`; only the eight colours of the terminal's own palette are used.

use std::io::{self, IsTerminal, Write};

use crate::failure::Failure;

/// Holds the output streams of a command.
pub(crate) struct Output {
    colour: bool,
}

/// A colour of the terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Green,
    Yellow,
    Red,
    Blue,
    Bold,
    Dim,
}

impl Output {
    /// Returns the process's own output.
    pub(crate) fn of_process() -> Output {
        let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        // No `TERM` counts as incapable: CI and editors often leave it unset.
        let capable = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Output { colour: io::stdout().is_terminal() && unset("NO_COLOR") && capable }
    }

    /// Returns output without colour: for what is talk, and for tests.
    pub(crate) fn plain() -> Output {
        Output { colour: false }
    }

    /// Returns how many columns standard output has, if it is a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width)).filter(|width| *width > 0)
    }

    /// Writes data: text as it is, to standard output.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|cause| Failure::output(&cause))
    }

    /// Writes talk: a line to standard error.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(io::stderr().lock(), "{}", printable(line)).map_err(|cause| Failure::output(&cause))
    }

    /// Writes a failure. If even that fails, there is no other place to report it.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        if failure.is_shown() {
            drop(writeln!(io::stderr().lock(), "{}", printable(&failure.to_string())));
        }
    }

    /// Returns `text` in colour, where standard output has any.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Green => "32",
            Paint::Yellow => "33",
            Paint::Red => "31",
            Paint::Blue => "34",
            Paint::Bold => "1",
            Paint::Dim => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Returns text without control characters other than line ends: names and commands come from files that others may
/// have written, and must not steer the terminal.
pub(crate) fn printable(text: &str) -> String {
    let visible =
        // Texts of agents reach the terminal, and an escape sequence in one could rewrite what stands above it.
        |character: char| if character.is_control() && character != '\n' { '\u{fffd}' } else { character };
    text.chars().map(visible).collect()
}

/// Returns text as one printable line, without marks that turn the direction of what follows.
pub(crate) fn one_line(text: &str) -> String {
    let is_turn = |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&line).chars().filter(|character| !is_turn(*character)).collect()
}

#[cfg(test)]
mod tests {
    use super::{one_line, printable};

    #[test]
    fn a_line_is_one_line_and_reads_forwards() {
        assert_eq!(one_line(" a\n\tb \u{202e}c\x1b[2J"), "a b c\u{fffd}[2J");
    }

    #[test]
    fn text_from_a_file_does_not_steer_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\rc\u{9b}d\ne"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\ne");
    }
}
