//! The user's settings: `config.toml` in the configuration folder, one table for each part of the product.
//!
//! ```toml
//! [retention]
//! days = 90
//! ```
//!
//! A table is read by its part alone, so a mistake in one table leaves the others in force. A mistake outside of every
//! table (no TOML, an unknown table) concerns all of them: it could be a misspelt table, and none is taken for absent.
//! Where a table is absent, the file that held these settings before is read in its place ([`old_file`]). Law: settings
//! that are not understood are an error with a line, and never half of them.

mod editor;
mod fault;
mod number;
mod old_file;
#[cfg(test)]
mod reference;
mod registry;
mod values;

use std::path::{Path, PathBuf};

use agent_tracer_jobs::{alerts, context};
use agent_tracer_prices::Overrides;
use agent_tracer_spool::Home;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::backup_job::BackupSettings;
use crate::failure::Failure;
use crate::files;
use crate::retention::RetentionSettings;

pub(crate) use editor::{Edit, adopt_all, apply, key_of, set, switch};
pub(crate) use fault::{Fault, nearest};
pub(crate) use number::between;
pub(crate) use old_file::{Form, OldFile, Repeats, Value, Word};
pub(crate) use registry::{SETTINGS, Setting, find, parts};
pub(crate) use values::{EffectiveSetting, Values};

/// The most bytes of a settings file.
const FILE_BYTES: usize = 1 << 20;

/// The tables, in the order in which they are listed.
pub(crate) const TABLES: [Table; 6] = [
    Table::of::<alerts::Settings>(),
    Table::of::<BackupSettings>(),
    Table::of::<context::Settings>(),
    Table::of::<Overrides>(),
    Table::of::<RetentionSettings>(),
    Table::of::<agent_tracer_fleet::ship::Settings>(),
];

/// A table of `config.toml`.
pub(crate) trait Section: DeserializeOwned {
    /// The name of the table.
    const NAME: &'static str;
    /// The file that held these settings before.
    const OLD_FILE: OldFile;
    /// The consequence of a mistake, and the way out.
    const HINT: &'static str;

    /// Checks what the types cannot, and returns the offset and the text of a mistake.
    fn verify(&self) -> Result<(), (usize, String)> {
        Ok(())
    }
}

/// A table without the type of its settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// The file that held these settings before.
    pub(crate) old_file: OldFile,
    /// The consequence of a mistake, and the way out.
    pub(crate) hint: &'static str,
    check: fn(&str, Spanned<DeValue<'_>>) -> Result<(), Fault>,
    check_old: fn(&str) -> Result<(), Fault>,
}

impl Table {
    const fn of<T: Section>() -> Self {
        Self {
            name: T::NAME,
            old_file: T::OLD_FILE,
            hint: T::HINT,
            check: |text, table| parse::<T>(text, table).map(drop),
            check_old: |text| T::OLD_FILE.parse::<T>(text).map(drop),
        }
    }

    /// Returns the table of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        static ALL: [Table; TABLES.len()] = TABLES;
        ALL.iter().find(|table| table.name == name)
    }

    /// Returns the failure to read a file of this table.
    pub(crate) fn failure(&self, path: &Path, fault: &Fault) -> Failure {
        fault.failure(path).hint(self.hint)
    }
}

/// The old file of a table, where there is one.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// The table that takes its place.
    pub(crate) table: &'static str,
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// True if it is read, because the table is absent.
    pub(crate) is_read: bool,
}

/// Returns the path of the file.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.config().join("config.toml")
}

/// Reads a table, or the file that was there before it; `None` if there is neither.
pub(crate) fn read<T: Section>(home: &Home) -> Result<Option<T>, Failure> {
    let path = path(home);
    let failure = |path: &Path, fault: &Fault| fault.failure(path).hint(T::HINT);
    if let Some(text) = read_text(&path)?
        && let Some(table) = table_of(&text, T::NAME).map_err(|fault| failure(&path, &fault))?
    {
        return parse(&text, table).map(Some).map_err(|fault| failure(&path, &fault));
    }
    let path = T::OLD_FILE.path(home);
    let Some(text) = T::OLD_FILE.read(home)? else { return Ok(None) };
    T::OLD_FILE.parse(&text).map(Some).map_err(|fault| failure(&path, &fault))
}

/// Returns the path of the file that holds a table: the old one only if it is read.
pub(crate) fn path_in_force<T: Section>(home: &Home) -> PathBuf {
    let is_old = leftovers(home).iter().any(|old| old.table == T::NAME && old.is_read);
    if is_old { T::OLD_FILE.path(home) } else { path(home) }
}

/// Returns the old files that are there. Where `config.toml` is not understood, each of them counts as read.
pub(crate) fn leftovers(home: &Home) -> Vec<Leftover> {
    let text = read_text(&path(home)).ok().flatten().unwrap_or_default();
    let leftover = |table: &Table| {
        let path = table.old_file.path(home);
        let is_absent = || table_of(&text, table.name).map_or(true, |table| table.is_none());
        path.exists().then(|| Leftover { table: table.name, path, is_read: is_absent() })
    };
    TABLES.iter().filter_map(leftover).collect()
}

/// Returns the mistakes of the settings in force, one for each table that has one.
pub(crate) fn faults(home: &Home) -> Vec<(&'static str, Failure)> {
    let check = |table: &Table| -> Result<(), Failure> {
        let path = path(home);
        let failure = |path: &Path, fault: Fault| table.failure(path, &fault);
        if let Some(text) = read_text(&path)?
            && let Some(found) = table_of(&text, table.name).map_err(|fault| failure(&path, fault))?
        {
            return (table.check)(&text, found).map_err(|fault| failure(&path, fault));
        }
        let path = table.old_file.path(home);
        let Some(text) = table.old_file.read(home)? else { return Ok(()) };
        (table.check_old)(&text).map_err(|fault| failure(&path, fault))
    };
    TABLES.iter().filter_map(|table| check(table).err().map(|failure| (table.name, failure))).collect()
}

fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    let Some(bytes) = files::read_own(path, FILE_BYTES)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("cannot read `{}`: byte {at} is not UTF-8", path.display()))
            .hint("save the file as UTF-8")
    })
}

/// Returns a table of a text, if it has it.
fn table_of<'t>(text: &'t str, name: &str) -> Result<Option<Spanned<DeValue<'t>>>, Fault> {
    let root = DeTable::parse(text).map_err(|error| Fault::of(text, &error))?.into_inner();
    let known = TABLES.map(|table| table.name);
    if let Some(foreign) = root.keys().find(|key| !known.contains(&&**key.get_ref())) {
        return Err(Fault::unknown(text, foreign.span().start, "", foreign.get_ref(), &known));
    }
    Ok(root.into_iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value))
}

fn parse<T: Section>(text: &str, table: Spanned<DeValue<'_>>) -> Result<T, Fault> {
    let settings = T::deserialize(ValueDeserializer::from(table)).map_err(|error| Fault::of(text, &error))?;
    settings.verify().map_err(|(offset, what)| Fault::at(text, offset, what))?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use agent_tracer_jobs::alerts::Settings;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        (folder, home)
    }

    fn write(home: &Home, name: &str, text: &str) {
        files::write_private(&home.config().join(name), text.as_bytes()).expect("written");
    }

    fn days(home: &Home) -> Result<Option<u32>, String> {
        read::<RetentionSettings>(home)
            .map(|settings| settings.and_then(|it| it.days))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_table_is_read_before_the_old_file_and_the_old_file_where_it_is_absent() {
        let (_folder, home) = home();
        assert_eq!(days(&home), Ok(None));
        write(&home, "retention.conf", "# mine\ndays 30\n");
        assert_eq!(days(&home), Ok(Some(30)));
        write(&home, "config.toml", "# nothing yet\n");
        assert_eq!(days(&home), Ok(Some(30)));
        write(&home, "config.toml", "[retention]\ndays = 90 # a quarter\n");
        assert_eq!(days(&home), Ok(Some(90)));
        // An empty table keeps everything: the old file does not come back into force.
        write(&home, "config.toml", "[retention]\n");
        assert_eq!(days(&home), Ok(None));
    }

    #[test]
    fn a_mistake_names_its_line_its_key_and_what_is_allowed() {
        for (text, expected) in [
            ("[retention]\n dyas = 3\n", "line 2, column 2: unknown key `retention.dyas`"),
            ("[retention]\n dyas = 3\n", "hint: did you mean `retention.days`?"),
            ("[retention]\nmonths = 3\n", "hint: `retention` has `days`"),
            ("[retention]\ndays = 0\n", "line 2, column 8: `retention.days`: `0` is not between 1 and 36500"),
            ("[retention]\ndays = '3'\n", "line 2, column 8: `retention.days`: invalid type"),
            ("retention.days = -1", "line 1, column 18: `retention.days`: `-1` is not between"),
            ("retention = 3", "line 1, column 13: `retention`: invalid type: integer `3`, expected a table"),
            (
                "\n[retension]\ndays = 3",
                "line 2, column 2: unknown table `retension`\nhint: did you mean `retention`?",
            ),
            (
                "days = 3",
                "line 1, column 1: unknown table `days`\nhint: the tables are `alerts`, `backup`, `context`, `prices`, `retention`, `ship`",
            ),
            ("[retention]\ndays = 3\ndays = 4\n", "line 3, column 1: duplicate key"),
            ("days 3\n", "line 1, column "),
        ] {
            let (_folder, home) = home();
            write(&home, "config.toml", text);
            let failure = days(&home).expect_err(text);
            assert!(failure.contains(expected), "{text}\n{failure}");
            assert!(failure.ends_with(RetentionSettings::HINT), "{failure}");
        }
        let (_folder, home) = home();
        write(&home, "config.toml", "[[alerts.webhook]]\nurl = \"secret://x\"\n");
        let failure = read::<Settings>(&home).expect_err("no address").to_string();
        assert!(
            failure.contains("line 2, column 7: `alerts.webhook[0].url`: a webhook's `url` must"),
            "{failure}"
        );
        assert!(!failure.contains("secret"), "{failure}");
        assert_eq!(days(&home), Ok(None), "another table is read all the same");
        files::write_private(&path(&home), b"# \xff").expect("written");
        assert!(days(&home).expect_err("no text").contains("byte 2 is not UTF-8"));
    }
}
