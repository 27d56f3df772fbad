//! Reads `policy.toml`.
//!
//! The law: nothing is guessed and nothing is skipped. A key or a word that we do not know is a fault with its line and
//! column and, where one is near, with the word that was probably meant; so is a decision that no agent can carry out
//! at its event. All faults of a file are reported at once. A rule that is silently not in force is worse than none.
//!
//! The keys are described in `docs/policy.md`; a test holds both to the same list.

mod fields;
mod matcher;
mod rule;
mod suggest;
mod verifier;

use std::fmt;

use toml::de::{DeTable, DeValue};

use crate::rule::Rule;
pub(crate) use matcher::agents;
pub use matcher::{COMMAND_KEYS, MATCH_KEYS, TIME_KEYS};
pub(crate) use rule::AT_MOST_MAX;
pub use rule::{EXAMPLE_KEYS, REQUIRE_KEYS, REWRITE_KEYS, RULE_KEYS, WHEN_KEYS};

/// The longest file that is read, in bytes.
pub const BYTES_MAX: usize = 1 << 20;
/// The most rules of a file.
pub const RULES_MAX: usize = 1000;

/// The keys of the file itself.
pub const FILE_KEYS: &[&str] = &["version", "deadline_ms", "rule"];

/// The longest time that a hook may wait for an answer, in milliseconds.
pub const DEADLINE_MS_MAX: u32 = 10_000;

/// Something that is wrong, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
    /// The error.
    pub what: String,
    /// A way out.
    pub hint: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// The rules of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleFile {
    /// In the order in which they stand.
    pub rules: Vec<Rule>,
    /// The time a hook waits for an answer, in milliseconds, if the file sets it. Only the user's counts.
    pub deadline_ms: Option<u32>,
    /// Warnings: allowed, and probably not intended.
    pub notes: Vec<Fault>,
}

/// Reads a file, or tells everything that is wrong with it.
pub fn read(text: &str) -> Result<RuleFile, Vec<Fault>> {
    let mut reader = Reader { text, faults: Vec::new(), notes: Vec::new() };
    let (rules, deadline_ms) = reader.file();
    if reader.faults.is_empty() {
        Ok(RuleFile { rules, deadline_ms, notes: reader.notes })
    } else {
        reader.faults.sort();
        Err(reader.faults)
    }
}

struct Reader<'t> {
    text: &'t str,
    faults: Vec<Fault>,
    notes: Vec<Fault>,
}

impl Reader<'_> {
    fn file(&mut self) -> (Vec<Rule>, Option<u32>) {
        if self.text.len() > BYTES_MAX {
            self.fault(0, format!("the file is over {BYTES_MAX} bytes"), None);
            return (Vec::new(), None);
        }
        // A tree with places instead of a derived type: derive stops at the first error and knows no place for a
        // wrong word.
        let table = match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                let message = error.message().lines().collect::<Vec<_>>().join("; ");
                self.fault(start, message, None);
                return (Vec::new(), None);
            }
        };
        self.check_keys(&table, FILE_KEYS, "the file");
        match self.integer(&table, "version") {
            Some((1, _)) => {}
            Some((other, at)) => {
                self.fault(at, format!("`version` is {other}, and only 1 is known"), None);
            }
            None => {
                if !table.contains_key("version") {
                    self.fault(
                        0,
                        "`version` is missing".to_owned(),
                        Some("begin with `version = 1`".to_owned()),
                    );
                }
            }
        }
        let deadline_ms = self.integer(&table, "deadline_ms").and_then(|(number, at)| {
            let found = u32::try_from(number).ok().filter(|number| (1..=DEADLINE_MS_MAX).contains(number));
            if found.is_none() {
                self.fault(
                    at,
                    format!("`deadline_ms` is {number}, and has to be from 1 to {DEADLINE_MS_MAX}"),
                    None,
                );
            }
            found
        });
        let mut rules: Vec<Rule> = Vec::new();
        for (position, (table, at)) in self.tables(&table, "rule").into_iter().enumerate() {
            if position >= RULES_MAX {
                self.fault(at, format!("there are more than {RULES_MAX} rules"), None);
                break;
            }
            if let Some(rule) = self.rule(table, at) {
                // Records and back-tests know a rule by its name and its origin alone.
                if rules.iter().any(|other| other.name == rule.name) {
                    self.fault(at, format!("two rules are called `{}`", rule.name), None);
                }
                rules.push(rule);
            }
        }
        (rules, deadline_ms)
    }

    fn fault(&mut self, offset: usize, what: String, hint: Option<String>) {
        let (line, column) = self.line_and_column(offset);
        self.faults.push(Fault { line, column, what, hint });
    }

    fn note(&mut self, offset: usize, what: String) {
        let (line, column) = self.line_and_column(offset);
        self.notes.push(Fault { line, column, what, hint: None });
    }

    /// Returns line and column of a byte, in characters and counted from one.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text.get(..end).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

/// Returns the name of a value's type for people.
fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
