//! A mistake in a settings file: its place, its key, and what is allowed there.

use std::fmt;
use std::path::Path;

use toml::de::{DeTable, DeValue, Error};

use crate::failure::Failure;

/// The longest word that is compared: a longer one is no typing error.
const WORD_MAX: usize = 64;

/// A mistake in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, counted from one.
    line: usize,
    /// The character in it, counted from one; unknown in files that are read by lines.
    column: Option<usize>,
    what: String,
    hint: Option<String>,
}

impl Fault {
    /// Returns a mistake in a line of a file without columns.
    pub(super) fn in_line(line: usize, what: impl Into<String>) -> Self {
        Self { line, column: None, what: what.into(), hint: None }
    }

    /// Returns a mistake at an offset of a text.
    pub(crate) fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self {
            line: 1 + before.matches('\n').count(),
            column: Some(1 + line.chars().count()),
            what: what.into(),
            hint: None,
        }
    }

    /// Returns the mistake that the parser found. Its text holds the message alone: the parser's own display quotes the
    /// file, and an address there may hold a secret.
    pub(crate) fn of(text: &str, error: &Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().trim_end();
        let key = DeTable::parse(text).ok().and_then(|root| key_at(root.get_ref(), offset));
        let Some(key) = key else { return Self::at(text, offset, message) };
        // serde gives no structure, so its text is taken apart. A text of another form is shown as it is.
        if let Some(rest) = message.strip_prefix("unknown field ") {
            let mut words = quoted(rest);
            let name = words.next().unwrap_or_default();
            let table = key.rsplit_once('.').map_or("", |(table, _)| table);
            let mut fault = Self::unknown(text, offset, table, name, &words.collect::<Vec<_>>());
            let before = text.get(..offset).unwrap_or(text);
            if before.rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("[prices.models."))
            {
                let quoted = "a name with dots needs quotes: `[prices.models.\"gpt-5.5\"]`";
                fault.hint = Some(quoted.to_owned());
            }
            return fault;
        }
        let mut fault = Self::at(text, offset, format!("`{key}`: {message}"));
        if let Some(rest) = message.strip_prefix("unknown variant ") {
            let mut words = quoted(rest);
            let word = words.next().unwrap_or_default();
            fault.hint = nearest(word, words).map(|meant| format!("did you mean `{meant}`?"));
        }
        fault
    }

    /// Returns the mistake of a key that a table does not have; the root has tables.
    pub(crate) fn unknown(text: &str, offset: usize, table: &str, name: &str, known: &[&str]) -> Self {
        let full = |name: &str| if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") };
        let kind = if table.is_empty() { "table" } else { "key" };
        let fault = Self::at(text, offset, format!("unknown {kind} `{}`", full(name)));
        let all = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let hint = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{}`?", full(meant)),
            None if table.is_empty() => format!("the tables are {}", all()),
            None => format!("`{table}` has {}", all()),
        };
        Self { hint: Some(hint), ..fault }
    }

    /// Returns the mistake with its line alone.
    pub(super) fn without_column(self) -> Self {
        Self { column: None, ..self }
    }

    /// Returns the failure to read the file of the mistake.
    pub(crate) fn failure(&self, path: &Path) -> Failure {
        Failure::from_text(&format!("cannot read `{}`: {self}", path.display()))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.what)?;
        self.hint.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Returns the words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the dotted name of the key at an offset, or of the innermost table around it.
fn key_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        let inner = match value.get_ref() {
            DeValue::Table(table) => key_at(table, offset).map(|inner| format!("{name}.{inner}")),
            DeValue::Array(members) => members.iter().enumerate().find_map(|(number, member)| {
                let inner = member.get_ref().as_table().and_then(|table| key_at(table, offset));
                inner.map(|inner| format!("{name}[{number}].{inner}"))
            }),
            _ => None,
        };
        let is_here = || key.span().contains(&offset) || value.span().contains(&offset);
        inner.or_else(|| is_here().then(|| name.to_string()))
    })
}

/// Returns the word that was probably meant: a third of its letters may be wrong, or it begins with what was written.
pub(crate) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let folded = word.to_lowercase().replace('-', "_");
    let near = |candidate: &&str| {
        if folded.len() > WORD_MAX {
            return None;
        }
        // A third of the letters: beyond, a suggestion would be another word and not a slip.
        let limit = (candidate.chars().count() / 3).max(1);
        match strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()) {
            distance if distance <= limit => Some(distance),
            _ if folded.len() > 2 && candidate.starts_with(&folded) => Some(limit + 1),
            _ => None,
        }
    };
    words
        .into_iter()
        .filter_map(|candidate| near(&candidate).map(|distance| (distance, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_place_is_found_in_tables_and_lists() {
        let text = "[a]\nb = 1\n[a.c]\nd = { e = 2 }\n[[a.f]]\ng = 3\n[[a.f]]\ng = 4\n";
        let root = DeTable::parse(text).expect("TOML");
        for (at, key) in
            [("b =", "a.b"), ("e =", "a.c.d.e"), ("3", "a.f[0].g"), ("4", "a.f[1].g"), ("c]", "a.c")]
        {
            let offset = text.find(at).expect("there");
            assert_eq!(key_at(root.get_ref(), offset).as_deref(), Some(key));
        }
    }

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["waiting_minutes", "stuck_minutes", "looping"];
        assert_eq!(nearest("waitng_minutes", words), Some("waiting_minutes"));
        assert_eq!(nearest("Stuck-Minutes", words), Some("stuck_minutes"));
        assert_eq!(nearest("loop", words), Some("looping"));
        assert_eq!(nearest("webhook", words), None);
        assert_eq!(nearest(&"x".repeat(10_000), words), None);
    }
}
