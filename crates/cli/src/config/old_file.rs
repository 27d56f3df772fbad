//! The files that held the settings before `config.toml`, one for each table.
//!
//! Three of them were TOML, with the table's keys at the root. The others had lines of a word and its value, and `#` began
//! a comment. Such a file is rewritten as TOML, line by line, and then read as its table: a mistake keeps its line, and
//! what is read is what `config migrate` writes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_tracer_spool::Home;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FILE_BYTES, Fault, Section, parse, read_text};
use crate::failure::Failure;
use crate::files;

/// A file that held the settings of one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OldFile {
    /// Its name in the configuration folder.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
}

/// The form of an old file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// TOML.
    Toml,
    /// Lines of a word and its value.
    Lines {
        words: &'static [Word],
        /// The meaning of a second line for the same setting.
        repeats: Repeats,
    },
}

/// The meaning of a second line for the same setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It is a mistake.
    AreFaults,
    /// It takes the place of the first.
    Replace,
}

/// A word of a line, and the key that took its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) word: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: Value,
}

/// The value of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    /// A whole number behind the word.
    Number,
    /// A number behind the word, with or without decimals.
    Amount,
    /// Nothing: the word itself means this.
    Switch(bool),
}

impl OldFile {
    /// Returns the path of the file.
    pub(crate) fn path(&self, home: &Home) -> PathBuf {
        home.config().join(self.name)
    }

    /// Reads the text of the file; `None` if there is none.
    pub(super) fn read(&self, home: &Home) -> Result<Option<String>, Failure> {
        let path = self.path(home);
        match self.form {
            Form::Toml => read_text(&path),
            // Such a file was always read whatever its comments held.
            Form::Lines { .. } => {
                let bytes = files::read_own(&path, FILE_BYTES)?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// Reads the text of the file as the table that took its place.
    pub(super) fn parse<T: Section>(&self, text: &str) -> Result<T, Fault> {
        let rewritten = self.rewrite(text)?;
        // Columns are those of a text that the user does not see.
        let fault = |fault: Fault| match self.form {
            Form::Toml => fault,
            Form::Lines { .. } => fault.without_column(),
        };
        let root = DeTable::parse(&rewritten).map_err(|error| fault(Fault::of(&rewritten, &error)))?;
        let whole = Spanned::new(0..rewritten.len(), DeValue::Table(root.into_inner()));
        parse(&rewritten, whole).map_err(fault)
    }

    /// Returns the keys of the table as TOML, a line for each line of the file.
    pub(super) fn rewrite(&self, text: &str) -> Result<String, Fault> {
        let (words, repeats) = match self.form {
            Form::Toml => return Ok(text.to_owned()),
            Form::Lines { words, repeats } => (words, repeats),
        };
        let mut lines: Vec<String> = Vec::new();
        let mut places = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let (line, comment) = line.find('#').map_or((line, ""), |at| line.split_at(at));
            let parts: Vec<&str> = line.split_whitespace().collect();
            let setting = setting(words, &parts).map_err(|what| Fault::in_line(number + 1, what))?;
            let mut rewritten = String::new();
            if let Some((key, value)) = setting {
                rewritten = format!("{key} = {value}");
                let first = places.insert(key, number).filter(|_| repeats == Repeats::Replace);
                if let Some(first) = first.and_then(|number| lines.get_mut(number)) {
                    // Emptied and not removed, for the same reason.
                    first.clear();
                }
            }
            if !rewritten.is_empty() && !comment.is_empty() {
                rewritten.push(' ');
            }
            // One line for each line, so that faults keep the numbers that the user sees.
            lines.push(rewritten + comment.trim_end());
        }
        Ok(lines.iter().map(|line| format!("{line}\n")).collect())
    }
}

/// Returns the setting of one line: its key, and the value as TOML.
fn setting(words: &[Word], parts: &[&str]) -> Result<Option<(&'static str, String)>, String> {
    let Some((name, values)) = parts.split_first() else { return Ok(None) };
    let word = words.iter().find(|word| word.word == *name);
    match (word.map(|word| (word.key, word.value)), values) {
        (Some((key, Value::Number)), [value]) => match value.parse::<i64>() {
            Ok(number) => Ok(Some((key, number.to_string()))),
            Err(_) => Err(format!("`{value}` is not a whole number")),
        },
        (Some((key, Value::Amount)), [value]) => match value.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some((key, format!("{number:?}")))),
            _ => Err(format!("`{value}` is not a number")),
        },
        (Some((key, Value::Switch(value))), []) => Ok(Some((key, value.to_string()))),
        _ => Err(format!("unknown setting `{name}`")),
    }
}
