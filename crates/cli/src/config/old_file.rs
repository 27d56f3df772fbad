//! The files that held the settings before `config.toml`, one for each table.
//!
//! Three of them were TOML, with the table's keys at the root. The others had lines of a word and its value, and `#` began
//! a comment. Such a file is rewritten as TOML, line by line, and then read as its table: a mistake keeps its line, and
//! what is read is what `config migrate` would write.

use std::path::PathBuf;

use agent_tracer_spool::Home;
use toml::de::{Deserializer, Error};

use super::{Fault, Section};

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
    Lines(&'static [Word]),
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
}

impl OldFile {
    /// Returns the path of the file.
    pub(crate) fn path(&self, home: &Home) -> PathBuf {
        home.config().join(self.name)
    }

    /// Reads the text of the file as the table that took its place.
    pub(super) fn parse<T: Section>(&self, text: &str) -> Result<T, Fault> {
        let rewritten = self.rewrite(text)?;
        let fault = |error: &Error| match self.form {
            Form::Toml => Fault::of(&rewritten, error),
            // Columns are those of the text that the user does not see.
            Form::Lines(_) => Fault::of(&rewritten, error).without_column(),
        };
        let deserializer = Deserializer::parse(&rewritten).map_err(|error| fault(&error))?;
        T::deserialize(deserializer).map_err(|error| fault(&error))
    }

    /// Returns the keys of the table as TOML, a line for each line of the file.
    fn rewrite(&self, text: &str) -> Result<String, Fault> {
        let words = match self.form {
            Form::Toml => return Ok(text.to_owned()),
            Form::Lines(words) => words,
        };
        let mut lines = String::new();
        for (number, line) in text.lines().enumerate() {
            let (said, comment) = line.find('#').map_or((line, ""), |at| line.split_at(at));
            let said: Vec<&str> = said.split_whitespace().collect();
            let setting = setting(words, &said).map_err(|what| Fault::in_line(number + 1, what))?;
            let parts: Vec<&str> =
                [&*setting, comment.trim_end()].into_iter().filter(|it| !it.is_empty()).collect();
            lines.push_str(&parts.join(" "));
            lines.push('\n');
        }
        Ok(lines)
    }
}

/// Returns the setting of one line, as TOML.
fn setting(words: &[Word], said: &[&str]) -> Result<String, String> {
    let Some((name, values)) = said.split_first() else { return Ok(String::new()) };
    let word = words.iter().find(|word| word.word == *name);
    match (word.map(|word| (word.key, word.value)), values) {
        (Some((key, Value::Number)), [value]) => match value.parse::<i64>() {
            Ok(number) => Ok(format!("{key} = {number}")),
            Err(_) => Err(format!("`{value}` is not a whole number")),
        },
        _ => Err(format!("`{name}` is no setting")),
    }
}
