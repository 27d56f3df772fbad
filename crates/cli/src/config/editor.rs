//! Changes to `config.toml` by commands.
//!
//! Law: a change is whole or not made. Comments, order and line ends of the user stay; the table that a change concerns is
//! understood afterwards, or nothing is written; two commands at once both take effect, because the second waits for
//! the first. Where the old file of a table is in force, its settings become the table first, or they would be lost.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use agent_tracer_spool::Home;
use toml_edit::{DocumentMut, InlineTable, Item, RawString, TableLike, Value};

use super::{FILE_BYTES, Fault, Section, TABLES, Table, path, registry, table_of};
use crate::failure::Failure;
use crate::files::{self, SettingsFile};

/// Time limit for another command that is writing; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A change to one key.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Set(Vec<String>, Value),
    Unset(Vec<String>),
}

impl Edit {
    /// Returns the table of the key.
    pub(crate) fn table(&self) -> Option<&'static Table> {
        let (Self::Set(key, _) | Self::Unset(key)) = self;
        key.first().and_then(|name| Table::named(name))
    }
}

/// The result of a change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// False if the file was that way already.
    pub(crate) is_changed: bool,
    /// The table that was not understood, and was written anew.
    pub(crate) anew: Option<&'static str>,
    /// Old files whose settings were moved, with their tables.
    pub(crate) adopted: Vec<(PathBuf, &'static str)>,
}

impl Applied {
    /// Returns messages about what the user did not ask for.
    pub(crate) fn notes(&self) -> Vec<String> {
        let anew = |table| format!("the table `[{table}]` was not understood and was written anew");
        let note = |(path, table): &(PathBuf, &str)| {
            format!(
                "the settings of `{0}` are in the table `[{table}]` of `config.toml` now\n\
                 hint: remove it, it is not read any more: rm '{0}'",
                path.display()
            )
        };
        self.anew.iter().map(anew).chain(self.adopted.iter().map(note)).collect()
    }
}

/// Returns the change that sets a key to a value that was typed.
pub(crate) fn set(key: &[String], typed: &str) -> Result<Edit, Failure> {
    let setting = registry::find(key)?;
    let value = setting.kind.parse(typed).map_err(|failure| {
        let failure = failure.within(&format!("cannot set `{}`", registry::written(key)));
        failure.hint(format!("it is {}; nothing was written", setting.kind))
    })?;
    Ok(Edit::Set(key.to_vec(), value))
}

/// Returns the parts of a key of this table.
pub(crate) fn key_of<T: Section>(key: &[&str]) -> Vec<String> {
    [T::NAME].iter().chain(key).map(|part| (*part).to_owned()).collect()
}

/// Applies the changes of a command that switches a part on or off. It works also where the table, or its old file, is
/// not understood: such a table is written anew.
pub(crate) fn switch<T: Section>(home: &Home, edits: &[Edit]) -> Result<Applied, Failure> {
    let table = Table::of::<T>();
    match apply(home, &[&table], edits) {
        Ok(applied) => Ok(applied),
        Err(failure) if super::faults(home).iter().any(|(name, _)| *name == T::NAME) => {
            let mut editor = Editor::open(home).map_err(|_| failure)?;
            editor.document.remove(T::NAME);
            editor.append(T::NAME, &[], toml_edit::Table::new());
            edits.iter().try_for_each(|edit| editor.edit(edit))?;
            let is_changed = editor.save(&[&table])?;
            Ok(Applied { is_changed, anew: Some(T::NAME), adopted: Vec::new() })
        }
        Err(failure) => Err(failure),
    }
}

/// Applies changes to these tables: all of them, or none.
pub(crate) fn apply(home: &Home, tables: &[&Table], edits: &[Edit]) -> Result<Applied, Failure> {
    let mut editor = Editor::open(home)?;
    let mut applied = Applied::default();
    for table in tables {
        applied.adopted.extend(editor.adopt(home, table)?);
    }
    edits.iter().try_for_each(|edit| editor.edit(edit))?;
    applied.is_changed = editor.save(tables)?;
    Ok(applied)
}

/// Moves the settings of every old file that is in force into its table.
pub(crate) fn adopt_all(home: &Home) -> Result<Applied, Failure> {
    let mut editor = Editor::open(home)?;
    let mut applied = Applied::default();
    for table in &TABLES {
        applied.adopted.extend(editor.adopt(home, table)?);
    }
    let adopted: Vec<&Table> =
        TABLES.iter().filter(|table| applied.adopted.iter().any(|(_, name)| *name == table.name)).collect();
    applied.is_changed = editor.save(&adopted)?;
    Ok(applied)
}

/// The file while it is being changed.
struct Editor {
    found: SettingsFile,
    document: DocumentMut,
    has_byte_order_mark: bool,
    has_carriage_returns: bool,
    path: PathBuf,
    /// Held until the change is written.
    _lock: File,
}

impl Editor {
    fn open(home: &Home) -> Result<Self, Failure> {
        let path = path(home);
        // Before anything is made: a folder that others can write is not written to.
        files::read_own(&path, FILE_BYTES)?;
        // Made before the lock, which is a file in it.
        files::make_folder(home.config(), 0o700)?;
        let lock = lock(home)?;
        let found = files::find(&path)?;
        // Read again under the lock: another command may have written between the check and the lock.
        let found = SettingsFile { bytes: files::read_own(&path, FILE_BYTES)?, ..found };
        let text = found.text()?;
        let (has_byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let has_carriage_returns = text.contains("\r\n");
        let unix = text.replace("\r\n", "\n");
        // The table reader says what is wrong in words, and knows which tables there are.
        table_of(&unix, "")
            .map_err(|fault| fault.failure(&path).hint("correct the line; nothing was written"))?;
        let document = unix.parse::<DocumentMut>().map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Fault::at(&unix, offset, error.message()).failure(&path).hint("nothing was written")
        })?;
        Ok(Self { found, document, has_byte_order_mark, has_carriage_returns, path, _lock: lock })
    }

    /// Returns the text as it would be written.
    fn text(&self) -> String {
        let mut text = self.document.to_string();
        if self.has_carriage_returns {
            text = text.replace('\n', "\r\n");
        }
        if self.has_byte_order_mark {
            text.insert(0, BYTE_ORDER_MARK);
        }
        text
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), Failure> {
        match edit {
            Edit::Set(key, value) => self.set(key, value.clone()),
            Edit::Unset(key) => {
                self.unset(key);
                Ok(())
            }
        }
    }

    fn set(&mut self, key: &[String], mut value: Value) -> Result<(), Failure> {
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        if let [table, inner @ ..] = parents
            && !self.document.contains_key(table)
        {
            self.append(table, inner, toml_edit::Table::new());
        }
        let wrong = |found: &str| {
            Failure::new(format!("cannot set `{}`: `{found}` is not a table", registry::written(key)))
                .hint("correct the file; nothing was written")
        };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        let mut is_inline = false;
        for name in parents {
            if !table.contains_key(name) {
                let mut new = toml_edit::Table::new();
                new.set_implicit(true);
                let inline = Item::Value(InlineTable::new().into());
                table.insert(name, if is_inline { inline } else { Item::Table(new) });
            }
            let item = table.get_mut(name).ok_or_else(|| wrong(name))?;
            is_inline = is_inline || item.is_inline_table();
            table = item.as_table_like_mut().ok_or_else(|| wrong(name))?;
        }
        match table.get_mut(last) {
            Some(Item::Value(known)) => {
                // The comment behind a value belongs to the line and not to the value.
                *value.decor_mut() = known.decor().clone();
                *known = value;
            }
            Some(_) | None => drop(table.insert(last, Item::Value(value))),
        }
        Ok(())
    }

    fn unset(&mut self, key: &[String]) {
        let Some((last, parents)) = key.split_last() else { return };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in parents {
            let Some(inner) = table.get_mut(name).and_then(Item::as_table_like_mut) else { return };
            table = inner;
        }
        table.remove(last);
    }

    /// Makes a table of the settings of its old file, if that is in force.
    fn adopt(&mut self, home: &Home, table: &Table) -> Result<Option<(PathBuf, &'static str)>, Failure> {
        if self.document.contains_key(table.name) {
            return Ok(None);
        }
        let path = table.old_file.path(home);
        let Some(text) = table.old_file.read(home)? else { return Ok(None) };
        let failure = |fault: Fault| table.failure(&path, &fault);
        (table.check_old)(&text).map_err(failure)?;
        let text = table.old_file.rewrite(text.trim_start_matches(BYTE_ORDER_MARK)).map_err(failure)?;
        let old = text.replace("\r\n", "\n").parse::<DocumentMut>().map_err(|error| {
            failure(Fault::at(&text, error.span().map_or(0, |span| span.start), error.message()))
        })?;
        let rest = text_of(old.trailing());
        let mut adopted = old.into_table();
        adopted.set_implicit(false);
        // The writer orders tables by position, so an adopted one without it would land among the others.
        move_behind(&mut adopted, last_position(self.document.as_table()) + 1);
        self.append(table.name, &[], adopted);
        self.document.set_trailing(rest);
        Ok(Some((path, table.name)))
    }

    /// Appends a table behind everything else, comments included, as the innermost of these in the one of that name.
    fn append(&mut self, name: &str, inner: &[String], mut table: toml_edit::Table) {
        let behind = last_position(self.document.as_table()) + 1;
        let mut before = text_of(self.document.trailing());
        if !before.is_empty() && !before.ends_with('\n') {
            before.push('\n');
        }
        if !self.document.is_empty() || !before.is_empty() {
            before.push('\n');
        }
        self.document.set_trailing("");
        table.set_position(Some(behind));
        table.decor_mut().set_prefix(before);
        let whole = inner.iter().rfold(table, |table, name| {
            let mut outer = toml_edit::Table::new();
            outer.set_implicit(true);
            outer.insert(name, Item::Table(table));
            outer
        });
        self.document.insert(name, Item::Table(whole));
    }

    /// Writes the file, if it is another than before and these tables are understood.
    fn save(self, tables: &[&Table]) -> Result<bool, Failure> {
        let text = self.text();
        // Nothing to write: the time of the file stays, and readers need not read it again.
        if text.as_bytes() == self.found.bytes.as_deref().unwrap_or_default() {
            return Ok(false);
        }
        for table in tables {
            let failure = |fault: Fault| {
                let text = format!("cannot write `{}`: {fault}", self.path.display());
                Failure::from_text(&text).hint("nothing was written")
            };
            if let Some(found) = table_of(&text, table.name).map_err(failure)? {
                // The whole table is read as the server reads it: a value may be right alone and wrong beside another.
                (table.check)(&text, found).map_err(failure)?;
            }
        }
        if text.len() > FILE_BYTES {
            return Err(Failure::new(format!("`{}` would be over {FILE_BYTES} bytes", self.path.display()))
                .hint("nothing was written"));
        }
        files::replace_private(&self.found, text.as_bytes())?;
        Ok(true)
    }
}

fn text_of(raw: &RawString) -> String {
    raw.as_str().unwrap_or_default().to_owned()
}

/// Returns the place of the last table of a document.
fn last_position(table: &toml_edit::Table) -> isize {
    let of_item = |item: &Item| match item {
        Item::Table(table) => last_position(table),
        Item::ArrayOfTables(tables) => tables.iter().map(last_position).max().unwrap_or_default(),
        Item::None | Item::Value(_) => 0,
    };
    let inner = table.iter().map(|(_, item)| of_item(item)).max();
    table.position().unwrap_or_default().max(inner.unwrap_or_default())
}

/// Moves a table and those in it behind this place, in their order.
fn move_behind(table: &mut toml_edit::Table, place: isize) {
    table.set_position(Some(place + table.position().unwrap_or_default()));
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => move_behind(inner, place),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|inner| move_behind(inner, place)),
            Item::None | Item::Value(_) => {}
        }
    }
}

/// Waits until no other command changes the file.
fn lock(home: &Home) -> Result<File, Failure> {
    // Not the file itself, which is replaced by each change.
    let path = home.config().join(".config.toml.lock");
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(|cause| Failure::file("write", &path, &cause))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => park_timeout(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new("another command is changing `config.toml`")
                    .hint("run the command again; nothing was written"));
            }
            Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", &path, &cause)),
        }
    }
}

#[cfg(test)]
mod tests;
