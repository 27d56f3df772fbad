//! The grammar: source text to tree.
//!
//! Laws. It never fails: what cannot be understood is recorded as a [`Fault`] and reading goes on. It never
//! recurses deeper than [`MAX_DEPTH`]: below that, brackets and keywords only separate commands. It reads
//! every byte a bounded number of times, so that time grows with the length of the input and nothing else.

mod arithmetic;
pub(crate) mod ast;
mod compound;
mod cursor;
mod dollar;
mod heredoc;
mod list;
mod powershell;
mod redirect;
#[cfg(test)]
mod tests;
mod word;

use ast::{Heredoc, Script};
use cursor::Parser;

/// Greatest depth of nested commands that the tree follows. Real commands stay below ten levels; this many, parsed and
/// walked, fit a 512 KiB stack even without optimisation.
pub(crate) const MAX_DEPTH: usize = 24;

/// The set of faults in a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The text ended inside a quote, bracket, here-document or compound command.
    pub(crate) unfinished: bool,
    /// A token stood where the grammar has no place for it.
    pub(crate) unexpected: bool,
    /// Nesting passed [`MAX_DEPTH`].
    pub(crate) too_deep: bool,
}

impl Fault {
    pub(crate) const fn any(self) -> bool {
        self.unfinished || self.unexpected || self.too_deep
    }
}

/// A tree and what it refers to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) script: Script,
    pub(crate) heredocs: Vec<Heredoc>,
    pub(crate) fault: Fault,
}

/// Reads Bourne shell syntax with the extensions of bash.
pub(crate) fn parse_bash(source: &str) -> Parsed {
    let mut parser = Parser::new(source);
    let script = parser.whole();
    Parsed { script, heredocs: parser.heredocs, fault: parser.fault }
}

/// Reads PowerShell, as far as commands, pipelines, quotes and blocks go.
pub(crate) fn parse_powershell(source: &str) -> Parsed {
    powershell::parse(source)
}
