//! Copies of the whole store, made while it is in use.
//!
//! One read transaction sees one state of the store, whatever is written meanwhile. What was acknowledged and is not folded
//! yet stands in the journal of posts, so that is copied first and folded into the copy: a record is in the journal or,
//! if it was folded in between, in the store. A copy is one file, whole or not there.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agent_tracer_event::{Millis, TaskId};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, params};

use super::copy_sum::CopySum;
use super::open::{self, create_private};
use super::salvage::lineage;
use super::store_files::{beside, sync_folder};
use super::{AppendError, Ledger, OpenError, Options, copy_sum, journal_fold, swap};
use crate::journal;

/// Pages that are copied at a time: four megabytes.
const PAGES: std::ffi::c_int = 1024;

/// The numbers of tasks and rows in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Bytes of the file.
    pub bytes: u64,
    /// Tasks that have events.
    pub tasks: u64,
    /// Events of them.
    pub events: u64,
    /// The moment when the newest of them was last active.
    pub newest: Option<Millis>,
}

/// The decision to continue a copy or to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The copy goes on.
    GoOn,
    /// The copy ends and leaves nothing behind.
    Stop,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(OpenError),
    /// The copy cannot be written.
    #[error("the copy cannot be written")]
    Write(#[source] io::Error),
    /// The copy does not take what it still lacks: posts of the journal, or deletions since it was made.
    #[error("the copy cannot be completed")]
    Incomplete(#[source] AppendError),
    /// The copy is not what was copied; how.
    #[error("the copy is not what was copied: {0}")]
    Differs(String),
    /// It was stopped.
    #[error("it was stopped")]
    Stopped,
}

impl From<OpenError> for CopyError {
    fn from(error: OpenError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for CopyError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Copies a store into a file that is not there yet, whether or not another process writes to it. Says after each part how
/// many bytes of how many are done.
///
/// # Errors
/// If the store cannot be read or is damaged, or the copy cannot be written; nothing is left of it then.
pub fn copy_store(
    store: &Path,
    to: &Path,
    options: Options,
    pace: impl FnMut(u64, u64) -> Pace,
) -> Result<Contents, CopyError> {
    let part = part_of(to);
    remove_copy(&part).map_err(CopyError::Write)?;
    let copied = copy_into(store, &part, options, pace).and_then(|mut contents| {
        let finished =
            copy_sum::append(&part).and_then(|()| File::open(&part)).and_then(|file| file.sync_all());
        finished
            .and_then(|()| fs::rename(&part, to))
            .and_then(|()| sync_folder(to))
            .map_err(CopyError::Write)?;
        contents.bytes = fs::metadata(to).map_or(contents.bytes, |facts| facts.len());
        Ok(contents)
    });
    if copied.is_err() {
        drop(remove_copy(&part));
    }
    copied
}

fn part_of(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    to.with_file_name(format!(".{name}.part"))
}

/// The ends of the names of the files that may stand beside a copy while it is made or opened.
const COMPANIONS: [&str; 6] = ["-wal", "-shm", "-journal", "-journal-of-posts", ".sums", ".anew"];

/// Removes a copy of a store, whole or not, with all that may stand beside it. One that is not there is removed already.
///
/// # Errors
/// If a file cannot be removed.
pub fn remove_copy(file: &Path) -> io::Result<()> {
    // The companions hold as much as the file, and without it no one would look for them.
    remove_companions(file)?;
    is_removed(fs::remove_file(file))
}

fn remove_companions(file: &Path) -> io::Result<()> {
    for end in COMPANIONS {
        is_removed(fs::remove_file(beside(file, end)))?;
    }
    is_removed(fs::remove_dir_all(beside(file, ".aside")))
}

fn is_removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn copy_into(
    store: &Path,
    part: &Path,
    options: Options,
    mut pace: impl FnMut(u64, u64) -> Pace,
) -> Result<Contents, CopyError> {
    let source = open_copy(store)?;
    let posts = beside(store, "-journal-of-posts");
    let has_posts = journal::waits(&posts, journal_fold::folded(&source)?).map_err(CopyError::Write)?;
    create_private(part)?;
    if has_posts {
        fs::copy(&posts, beside(part, "-journal-of-posts")).map_err(CopyError::Write)?;
    }
    // From here on it sees one state.
    source.execute_batch("BEGIN")?;
    // Counted in the transaction that is copied: counts of a store that goes on being written to would differ from
    // any copy.
    let expected = count(&source, 0)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copied = Connection::open_with_flags(part, flags)?;
    // Half a copy is of no use: it is begun anew, and all of it is on disk before it gets its name.
    copied.pragma_update(None, "journal_mode", "OFF")?;
    copied.pragma_update(None, "synchronous", "OFF")?;
    let bytes = u64::try_from(source.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))?);
    let bytes = bytes.unwrap_or(0);
    {
        let backup = Backup::new(&source, &mut copied)?;
        loop {
            let step = backup.step(PAGES)?;
            let progress = backup.progress();
            let count = |pages: std::ffi::c_int| u64::try_from(pages).unwrap_or(0).saturating_mul(bytes);
            let total = count(progress.pagecount);
            if pace(total.saturating_sub(count(progress.remaining)), total) == Pace::Stop {
                return Err(CopyError::Stopped);
            }
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                // Busy or locked. Waiting here would hold the read transaction open, and with it the log of the
                // store.
                _ => return Err(OpenError::Locked.into()),
            }
        }
    }
    drop(copied);
    drop(source);
    if has_posts {
        let ledger = Ledger::open(part, options)?;
        let folded = ledger.fold_waiting();
        ledger.close();
        folded.map_err(CopyError::Incomplete)?;
    }
    finish(part, pace)?;
    let contents = contents(part)?;
    let is_less = contents.tasks < expected.tasks || contents.events < expected.events;
    if is_less || (!has_posts && contents != Contents { bytes: contents.bytes, ..expected }) {
        return Err(CopyError::Differs(format!("{contents:?} instead of {expected:?}")));
    }
    Ok(contents)
}

/// Makes one file of a copy that is whole.
fn finish(part: &Path, mut pace: impl FnMut(u64, u64) -> Pace) -> Result<(), CopyError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(part, flags)?;
    // A log of the original must never be applied to the copy, although both began with the same pages.
    lineage::note_copy(&conn)?;
    // In this mode a later reader leaves no files beside the copy.
    conn.pragma_update(None, "journal_mode", "DELETE")?;
    drop(conn);
    remove_companions(part).map_err(CopyError::Write)?;
    let length = fs::metadata(part).map_or(0, |facts| facts.len());
    let conn = open_copy(part)?;
    match conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?.as_str() {
        "ok" => {}
        verdict => return Err(OpenError::Corrupt(verdict.into()).into()),
    }
    if pace(length, length) == Pace::Stop { Err(CopyError::Stopped) } else { Ok(()) }
}

/// Opens a store or a copy to be read, of this version or an older one.
fn open_copy(path: &Path) -> Result<Connection, OpenError> {
    if swap::is_unfinished(path) {
        return Err(OpenError::Unfinished);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    match open::check_version_of(&conn) {
        // Backups outlive versions: an older one is upgraded when it is restored, and can be counted and searched as
        // it is.
        Ok(()) | Err(OpenError::Older { .. }) => Ok(conn),
        Err(error) => Err(error),
    }
}

fn count(conn: &Connection, bytes: u64) -> rusqlite::Result<Contents> {
    let sums = "SELECT count(*), coalesce(sum(events), 0), max(last) FROM task WHERE events > 0";
    conn.query_row(sums, [], |row| {
        let number = |place| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(place)?).unwrap_or(0));
        let newest = row.get::<_, Option<i64>>(2)?.map(Millis);
        Ok(Contents { bytes, tasks: number(0)?, events: number(1)?, newest })
    })
}

/// Returns the contents of a store or a copy.
///
/// # Errors
/// If it cannot be read, is of a newer version, or is another program's.
pub fn contents(path: &Path) -> Result<Contents, OpenError> {
    let bytes = fs::metadata(path).map_or(0, |facts| facts.len());
    Ok(count(&open_copy(path)?, bytes)?)
}

/// Checks every page of a store or a copy, compares a copy with its sum, and returns what is in it.
///
/// # Errors
/// If it is damaged, cannot be read, is of a newer version, or is another program's.
pub fn verify_copy(path: &Path) -> Result<Contents, OpenError> {
    let conn = open_copy(path)?;
    // What stands on a page can be changed without its shape. A store that was written to has sums of its own.
    let is_written = beside(path, ".sums").exists();
    if !is_written && copy_sum::check(path).map_err(|error| OpenError::Io(error.into()))? == CopySum::Differs
    {
        return Err(OpenError::Corrupt("its bytes are not those that were written".into()));
    }
    match conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?.as_str() {
        "ok" => contents(path),
        verdict => Err(OpenError::Corrupt(verdict.into())),
    }
}

/// Returns `true` if a store or a copy may hold any of these tasks: it has them, or posts wait in its journal.
///
/// # Errors
/// If it cannot be read.
pub fn copy_holds(path: &Path, tasks: &[TaskId]) -> Result<bool, OpenError> {
    let conn = open_copy(path)?;
    let mut find = conn.prepare("SELECT 1 FROM task WHERE uid = ?1")?;
    for task in tasks {
        if find.exists([task.as_str()])? {
            return Ok(true);
        }
    }
    let posts = beside(path, "-journal-of-posts");
    // One that cannot be read may hold anything.
    Ok(journal::waits(&posts, journal_fold::folded(&conn)?).unwrap_or(true))
}

/// The state of a store that a copy must take over when it replaces the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Succession {
    /// Tasks that were deleted on purpose, and up to when.
    pub deleted: Vec<(TaskId, Millis)>,
    /// The newest position in the order of delivery: followers have seen everything up to it.
    pub seq: u64,
}

/// Makes a copy ready to take the place of a store: brings it up to date, deletes from it what was deleted since it was
/// made, and lets its order of delivery go on behind that of the store. Returns how many tasks were deleted.
///
/// # Errors
/// If it cannot be opened or written.
pub fn succeed(copy: &Path, succession: &Succession, options: Options) -> Result<u64, CopyError> {
    copy_sum::cut(copy).map_err(CopyError::Write)?;
    let ledger = Ledger::open(copy, options)?;
    let seq = i64::try_from(succession.seq).unwrap_or(i64::MAX);
    let mut deleted = 0;
    for (task, until) in &succession.deleted {
        let (id, moment) = (task.clone(), until.0);
        let is_known = ledger.on_writer(move |writer| {
            let sql = "SELECT 1 FROM tombstone WHERE task = ?1 AND until >= ?2";
            writer.conn.prepare_cached(sql)?.exists(params![id.as_str(), moment])
        });
        if !is_known.map_err(CopyError::Incomplete)?? {
            deleted += ledger.purge(vec![task.clone()], *until).map_err(CopyError::Incomplete)?.tasks;
        }
    }
    ledger
        .on_writer(move |writer| {
            // Followers have read up to the position of the old store. One that went back would give new rows numbers
            // that they have seen.
            writer.memory.seq = writer.memory.seq.max(seq);
            writer.change(|_| Ok(()))
        })
        .and_then(|changed| changed)
        .map_err(CopyError::Incomplete)?;
    ledger.close();
    Ok(deleted)
}
