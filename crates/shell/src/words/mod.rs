//! From words to fields: what a program would be given, as far as the command line alone can tell.
//!
//! Nothing is looked up outside the command: no environment, no disk. A variable is known only if the same
//! command line set it to plain text; everything else stays as written and is marked as dynamic.

mod brace;
mod expand;
mod frame;
mod literal;
mod operate;
mod variables;

pub(crate) use expand::{Inner, expand, scripts_in};
pub(crate) use frame::{Frame, Origin};
pub(crate) use literal::literal_output;
pub(crate) use variables::{Value, Variables};

use std::borrow::Cow;

use crate::syntax::ast::Word;

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Field<'t> {
    /// Its text; expansions that are not known stand in it as written.
    pub(crate) text: Cow<'t, str>,
    /// The word it came from, if it came from one.
    pub(crate) word: Option<&'t Word>,
    /// Part of the text is only known when the command runs.
    pub(crate) dynamic: bool,
    /// An unquoted pattern: it stands for the files that match.
    pub(crate) glob: bool,
    /// The values that a loop gives the variable in it.
    pub(crate) alternatives: Vec<String>,
    /// A limit kept it from being worked out.
    pub(crate) cut: bool,
}

impl<'t> Field<'t> {
    /// Returns a field with known text.
    pub(crate) fn literal(text: impl Into<Cow<'t, str>>) -> Self {
        Self {
            text: text.into(),
            word: None,
            dynamic: false,
            glob: false,
            alternatives: Vec::new(),
            cut: false,
        }
    }

    /// Returns a field that only the running command would know.
    pub(crate) fn unknown() -> Self {
        Self { dynamic: true, ..Self::literal("") }
    }

    /// Returns `true` for an option: a dash and something behind it.
    pub(crate) fn is_option(&self) -> bool {
        // A dash alone names standard input.
        self.text.len() > 1 && self.text.starts_with('-')
    }
}
