//! Makes a new store of what can be read of a damaged one.
//!
//! The engine refuses a file of which one page is damaged, so its pages are read here: those of its file, those of its log
//! over them, and the journal of posts. Only what nothing else follows from is taken; everything else is folded anew.
//!
//! Law: the damaged files are only read. A row is taken as it is or not at all: one that contradicts its table, its task or
//! itself is left out and counted. A page that does not have its sum is read as it was, where one bit explains that, and is
//! named otherwise. What was deleted on purpose does not come back.

mod btree;
pub(in crate::sqlite) mod lineage;
mod pages;
mod report;
mod rows;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use agent_tracer_event::{Millis, TaskId};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::open::{self, APPLICATION, SCHEMA};
use super::snapshot::Succession;
use super::store_files::beside;
use super::{AppendError, Ledger, OpenError, Options};
use lineage::Foreign;
use pages::{PageNumber, Pages, number};
pub use report::{LostSpan, Salvage, SalvageError};
use rows::RowTransfer;

/// The end of the name of a log, and that of a journal of posts.
const LOG: &str = "-wal";
const POSTS: &str = "-journal-of-posts";

/// Makes a new store of what can be read of another, which may be damaged or gone. Says meanwhile what it does.
///
/// # Errors
/// If there is something at `to` already, if the other is of a newer version or another program's, if nothing of a store
/// is in it, or if the new one cannot be written.
pub fn salvage(
    from: &Path,
    to: &Path,
    options: Options,
    mut watch: impl FnMut(&str),
) -> Result<Salvage, SalvageError> {
    if to.symlink_metadata().is_ok() {
        return Err(SalvageError::Exists);
    }
    let log = beside(from, LOG);
    let foreign = lineage::foreign(from, &log);
    let own_log = if matches!(foreign, Some(Foreign::Other(_))) { None } else { Some(log.as_path()) };
    let pages = Pages::open_with_sums(from, own_log).map_err(SalvageError::Read)?;
    let roots = roots(&pages)?;
    watch("reading what can be read");
    let conn = open::open_watched(to, &(std::sync::Arc::new(|_| ()) as super::upgrade::UpgradeListener))?;
    let mut salvage =
        RowTransfer::new(&conn, &pages, roots).and_then(RowTransfer::run).map_err(OpenError::from)?;
    drop(conn);
    salvage.foreign_log = foreign.and_then(|foreign| match foreign {
        Foreign::Alone(_) => None,
        Foreign::Other(why) => Some(why),
    });
    let has_posts = copy_posts(from, to).map_err(SalvageError::Read)?;
    if salvage.rows.values().sum::<u64>() == 0 && !has_posts {
        return Err(SalvageError::Nothing(nothing(from, &pages)));
    }
    watch("folding everything anew");
    fold(to, options, &mut salvage)?;
    if salvage.events == 0 && salvage.rows.values().sum::<u64>() == 0 {
        return Err(SalvageError::Nothing(nothing(from, &pages)));
    }
    watch("checking the new store");
    super::check_store(to, || true)?;
    Ok(salvage)
}

fn nothing(from: &Path, pages: &Pages) -> String {
    match fs::metadata(from) {
        Err(_) => "there is no such file".to_owned(),
        Ok(facts) if facts.len() == 0 => "it is empty".to_owned(),
        Ok(_) if pages.has_magic() => "it holds no row that can be read".to_owned(),
        Ok(_) => "nothing in it looks like a store".to_owned(),
    }
}

/// Copies the journal of posts and the posts that were set aside. Returns `true` if there are any.
fn copy_posts(from: &Path, to: &Path) -> io::Result<bool> {
    /// A journal that holds nothing is no longer than its head.
    const HEAD_BYTES: u64 = 24;
    let copy = |from: &Path, to: &Path| match fs::copy(from, to) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    let bytes = copy(&beside(from, POSTS), &beside(to, POSTS))?;
    let (old, new) =
        (crate::aside_folder::AsideFolder::beside(from), crate::aside_folder::AsideFolder::beside(to));
    let set_aside = old.list(crate::aside_folder::AsideKind::Post);
    for path in &set_aside {
        new.keep_copy(path)?;
    }
    Ok(bytes > HEAD_BYTES || !set_aside.is_empty())
}

fn fold(to: &Path, options: Options, salvage: &mut Salvage) -> Result<(), SalvageError> {
    let ledger = Ledger::open(to, options)?;
    ledger.fold_waiting()?;
    ledger.rebuild()?;
    ledger.finish_search()?;
    salvage.damaged_posts = ledger.faults().damaged_posts;
    ledger.close();
    drop(ledger);
    salvage.posts = sources(to)?.saturating_sub(salvage.sources);
    let conn = Connection::open(to).map_err(OpenError::from)?;
    let sums = "SELECT count(*), coalesce(sum(events), 0), max(last) FROM task WHERE events > 0";
    let (tasks, events, newest): (i64, i64, Option<i64>) = conn
        .query_row(sums, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .map_err(OpenError::from)?;
    salvage.tasks = u64::try_from(tasks).unwrap_or(0);
    salvage.events = u64::try_from(events).unwrap_or(0);
    salvage.newest = newest.map(Millis);
    Ok(())
}

fn sources(path: &Path) -> Result<u64, OpenError> {
    let count: i64 =
        Connection::open(path)?.query_row("SELECT count(*) FROM source", [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

impl Ledger {
    /// Folds everything that waits in the journal of posts.
    ///
    /// # Errors
    /// If the ledger is closed.
    pub fn fold_waiting(&self) -> Result<(), AppendError> {
        self.on_writer(|writer| while writer.waiting.is_behind() && writer.fold_posted() {})
    }
}

/// Returns why the log beside a store that is not in use cannot be its own; none if it may be.
#[must_use]
pub fn foreign_log(path: &Path) -> Option<String> {
    lineage::foreign(path, &beside(path, LOG)).map(Foreign::into_reason)
}

/// Returns the readable state of a store that its replacement must take over.
#[must_use]
pub fn remains(store: &Path) -> Succession {
    let log = beside(store, LOG);
    let is_own = !matches!(lineage::foreign(store, &log), Some(Foreign::Other(_)));
    let Ok(pages) = Pages::open_with_sums(store, is_own.then_some(log.as_path())) else {
        return Succession::default();
    };
    let Ok(roots) = roots(&pages) else { return Succession::default() };
    let mut succession = Succession::default();
    let rows = |table: &str, each: &mut dyn FnMut(String, i64)| {
        let Some(root) = roots.get(table) else { return };
        walk::Walk::new(&pages).index(*root, &mut |row| {
            if let Ok([Value::Text(key), Value::Integer(value)]) = <[Value; 2]>::try_from(row) {
                each(key, value);
            }
        });
    };
    rows("tombstone", &mut |task, until| {
        succession.deleted.extend(TaskId::parse(&task).map(|task| (task, Millis(until))));
    });
    rows("meta", &mut |key, value| {
        if key == "seq" {
            succession.seq = u64::try_from(value).unwrap_or(0);
        }
    });
    succession
}

/// Returns where each tree begins: as the file says, or, where that cannot be read, as a new store is laid out.
fn roots(pages: &Pages) -> Result<HashMap<String, PageNumber>, SalvageError> {
    let mut roots = schema_roots(pages);
    if pages.has_magic()
        && let Some(first) = pages.read(1)
    {
        let application = number(&first, 68, 4).unwrap_or(0).cast_signed();
        let is_ours = roots.contains_key("entry") && roots.contains_key("source");
        if !roots.is_empty() && !is_ours && application != APPLICATION {
            return Err(SalvageError::NotOurs);
        }
        let found = number(&first, 60, 4).unwrap_or(0).cast_signed();
        // A version that is far from any is damage.
        if application == APPLICATION && (SCHEMA + 1..SCHEMA + 1_000).contains(&found) {
            return Err(SalvageError::Newer { found, known: SCHEMA });
        }
    }
    let is_whole = rows::TABLES.iter().all(|table| roots.contains_key(table.name));
    if !is_whole {
        for (name, root) in usual_roots(pages).map_err(OpenError::from)? {
            roots.entry(name).or_insert(root);
        }
    }
    Ok(roots)
}

/// Returns where each table and index begins, as far as the file says.
fn schema_roots(pages: &Pages) -> HashMap<String, PageNumber> {
    let mut roots = HashMap::new();
    walk::Walk::new(pages).table(1, &mut |row| {
        if let Ok([Value::Text(_), Value::Text(name), Value::Text(_), Value::Integer(root), _]) =
            <[Value; 5]>::try_from(row.values)
            && let Ok(root @ 2..) = PageNumber::try_from(root)
        {
            roots.insert(name, root);
        }
    });
    roots
}

/// Returns where they begin in a store that was made by this version, or made smaller since: whichever suits this file
/// better.
fn usual_roots(pages: &Pages) -> rusqlite::Result<HashMap<String, PageNumber>> {
    let conn = Connection::open_in_memory()?;
    open::create(&conn)?;
    let layout = || -> rusqlite::Result<HashMap<String, PageNumber>> {
        let mut find = conn.prepare("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 1")?;
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let made = layout()?;
    conn.execute_batch("VACUUM")?;
    let tables = rows::tables(&conn)?;
    let [made, smaller] = [made, layout()?].map(|mut layout| {
        layout.retain(|name, root| match tables.get(name.as_str()) {
            Some(table) => table.is_root(pages, *root),
            None => true,
        });
        layout
    });
    let suits = |layout: &HashMap<String, PageNumber>| {
        layout.keys().filter(|name| tables.contains_key(name.as_str())).count()
    };
    let better = if suits(&made) >= suits(&smaller) { made } else { smaller };
    // Indexes of a layout that does not suit would witness for rows that never were.
    let is_sure = suits(&better) == tables.len();
    Ok(better.into_iter().filter(|(name, _)| is_sure || tables.contains_key(name.as_str())).collect())
}
