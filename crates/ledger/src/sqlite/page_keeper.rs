//! The move of the log into the store's file, with the sums of its pages kept true.
//!
//! Only [`PageKeeper::checkpoint`] moves pages into the file. The log is synced first, then the new sums, then the
//! pages are moved. At any moment, and after any crash, a page of the file therefore matches its sum or has a newer
//! image in the log, from which every reader takes it. A page with an image in the log is never reported as damaged.
//!
//! Another program that opens the store may move pages too. A read transaction (the pin) therefore stays open on the
//! state that the sums cover, beyond which the engine moves nothing for any connection. Changes while no server runs
//! leave other traces, which are checked when the store is opened: a log that the sums do not follow, or a changed file
//! that had no log. A page that then differs in more than one bit may have been changed by that program. It is not
//! reported as damaged, and stays marked until the user accepts the change.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::AppendError;
use super::faults::Faults;
use super::page_check::{Tries, changed, free_leaves, is_doubtful};
use super::page_sums::{CHANGED, DAMAGED, LogMark, Mark, OpenedSums, PageSums, UNKNOWN, sum_of};
use super::store_files::{StoreFiles, beside, sync_folder};
use super::wal::{Log, LogPlace, SeenPages};
use super::writer::BUSY;
use crate::fault_cause::FaultCause;

/// The page of which the engine uses nothing, because locks are taken on its bytes.
const LOCK_BYTE: u64 = 1 << 30;

/// Selects how the log is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogMove {
    /// As far as it goes without waiting for anybody.
    Passive,
    /// All of it, and then the log is cut, once no reader uses it.
    Truncate,
    /// All of it, and the log is cut, if no one reads from it.
    TruncateIfFree,
}

/// The file, its sums, and the connections that move the log.
pub(super) struct PageKeeper {
    conn: Connection,
    pin: Connection,
    path: PathBuf,
    log: PathBuf,
    /// The log, once it was there: a process that has no handle left can still read it.
    log_file: Option<Arc<File>>,
    /// Behind the connections, so that it is closed after them: the system takes away every lock that a process has on
    /// a file with the first handle on it that is closed.
    file: Arc<File>,
    page_size: u32,
    /// None after they could not be written: they begin anew with the next checkpoint.
    sums: Option<PageSums>,
    /// Up to where the sums follow the log.
    covered: Option<LogPlace>,
    /// Pages that stand in the log and are read from there.
    in_log: HashSet<u32>,
    /// Another program may have changed the file since the sums were made.
    is_doubtful: bool,
    /// The next page that is looked at.
    next: u32,
    tries: Tries,
    faults: Arc<Faults>,
    /// Nothing is moved unless they hold what was written to them.
    files: Arc<StoreFiles>,
    /// The sum that the first page has, where that is not its own but one bit away.
    flipped: Option<u64>,
    /// Frames that were summed for checkpoints.
    #[cfg(test)]
    pub(super) summed: usize,
    /// An error code that the next access to the log returns, for tests.
    #[cfg(test)]
    pub(super) injected: Option<i32>,
}

/// Why the sums do not cover the log.
enum CoverError {
    /// The log or the store cannot be read.
    Store(io::Error),
    /// The sums cannot be read or written.
    Sums(io::Error),
}

impl From<io::Error> for CoverError {
    fn from(error: io::Error) -> Self {
        Self::Store(error)
    }
}

/// Returns `true` if the system refused an access because it has no handle or no memory left, which is not the file's
/// fault.
pub(super) fn is_passing(error: &io::Error) -> bool {
    /// `ENFILE` and `EMFILE`, which are the same everywhere and have no kind.
    const HANDLES: [i32; 2] = [23, 24];
    error.raw_os_error().is_some_and(|code| HANDLES.contains(&code))
        || matches!(
            error.kind(),
            io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
        )
}

impl PageKeeper {
    /// Begins to keep the sums of a store that is open.
    pub(super) fn open(path: &Path, faults: Arc<Faults>) -> Result<Self, super::OpenError> {
        let io = |error: io::Error| super::OpenError::Io(FaultCause::of_file(path, error));
        let file = Arc::new(File::open(path).map_err(io)?);
        let connect = || -> rusqlite::Result<Connection> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let conn = Connection::open_with_flags(path, flags)?;
            conn.busy_timeout(BUSY)?;
            conn.pragma_update(None, "wal_autocheckpoint", 0)?;
            // The log must be on disk before the file is changed, and the file before the log is used again.
            conn.pragma_update(None, "synchronous", "FULL")?;
            Ok(conn)
        };
        let (conn, pin) = (connect()?, connect()?);
        let page_size = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let mut keeper = Self {
            conn,
            pin,
            path: beside(path, ".sums"),
            log: beside(path, "-wal"),
            log_file: None,
            file,
            page_size,
            sums: None,
            covered: None,
            in_log: HashSet::new(),
            is_doubtful: false,
            next: 1,
            tries: Tries::default(),
            faults,
            files: Arc::default(),
            flipped: None,
            #[cfg(test)]
            summed: 0,
            #[cfg(test)]
            injected: None,
        };
        match keeper.open_sums() {
            Err(error) if is_passing(&error) => return Err(io(error)),
            // Without sums the store is as good as it ever was: they begin anew as soon as they can be written.
            Err(_) => keeper.sums = None,
            Ok(()) => {}
        }
        keeper.pin_and_cover().map_err(io)?;
        Ok(keeper)
    }

    /// Looks at these files before anything is moved.
    pub(super) fn watching(self, files: Arc<StoreFiles>) -> Self {
        Self { files, ..self }
    }

    /// Looks whether the file still begins with the page that was written there. If not, another file was copied over
    /// it.
    pub(super) fn guard(&mut self) {
        let Ok(known) = self.known_sum(1) else { return };
        if self.is_doubtful || self.in_log.contains(&1) || matches!(known, UNKNOWN | DAMAGED | CHANGED) {
            return;
        }
        // One that was cut is reported by its length.
        let Ok(bytes) = self.read(1, 1) else { return };
        let sum = sum_of(1, &bytes);
        let mut is_overwritten = sum != known && self.flipped != Some(sum);
        // A bit is damage, which is reported as such.
        if is_overwritten && Tries::default().is_flipped(1, &bytes, known) {
            self.flipped = Some(sum);
            is_overwritten = false;
        }
        self.files.note_overwritten(is_overwritten);
    }

    /// Refuses to move anything into files that were cut or written over: what is left of them would be damaged.
    fn check_files(&mut self) -> Result<(), AppendError> {
        self.guard();
        let checked = self.files.check_contents();
        if checked.is_err() {
            // Nor must the last connection that is closed.
            for conn in [&self.conn, &self.pin] {
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
        }
        checked
    }

    /// Returns the handle on the file, for those who must not close it before others.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    fn open_sums(&mut self) -> io::Result<()> {
        // A store that begins has nothing to do with the sums of one that was moved away.
        if self.pages()? <= 1 {
            remove_if_there(&self.path)?;
        }
        let (sums, mark) = match PageSums::open(&self.path, self.page_size)? {
            OpenedSums::Known(sums, mark) => (sums, mark),
            OpenedSums::Anew(sums, why) => {
                // Of a store that is new there is nothing to say.
                if self.pages()? > 1 {
                    self.faults.sums_remade(why);
                }
                let mark = Mark { log: self.mark_of_file()?, is_doubtful: false };
                sums.mark(mark)?;
                (sums, mark)
            }
        };
        self.sums = Some(sums);
        self.is_doubtful = is_doubtful(mark, self.open_log()?.as_ref(), &self.file)?;
        Ok(())
    }

    fn open_log(&mut self) -> io::Result<Option<Log>> {
        if self.log_file.is_none() {
            self.log_file = match File::open(&self.log) {
                Ok(file) => Some(Arc::new(file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        self.log_file.clone().map_or(Ok(None), Log::read)
    }

    /// Moves the log into the file. What the system has no handles or memory for now is left for the next time, unless
    /// the log must be cut: it is as safe in the log.
    pub(super) fn checkpoint(&mut self, how: LogMove) -> Result<(), AppendError> {
        self.check_files()?;
        match self.pin_and_cover() {
            Err(error) if is_passing(&error) && how != LogMove::Truncate => return Ok(()),
            covered => covered?,
        }
        let moved = match how {
            LogMove::Passive => self.move_log("PASSIVE", BUSY),
            LogMove::Truncate => self.cut_log(BUSY),
            LogMove::TruncateIfFree => self.cut_log(Duration::ZERO),
        };
        if moved.as_ref().is_ok_and(|moved| is_all(*moved)) {
            // Everybody reads them from the file now.
            self.in_log.clear();
        }
        let pinned = self.pin_and_cover();
        if how != LogMove::Passive && self.open_log()?.is_none() {
            self.mark_empty()?;
        }
        moved?;
        match pinned {
            Err(error) if is_passing(&error) => Ok(()),
            pinned => Ok(pinned?),
        }
    }

    /// Moves all of the log, and cuts it. A caller that commits meanwhile is not cut off: what is moved has its sum
    /// before the log goes, and the pin on a file that holds everything keeps the engine from moving more.
    fn cut_log(&mut self, patience: Duration) -> rusqlite::Result<(i64, i64, i64)> {
        let moved = self.move_log("PASSIVE", patience)?;
        if !is_all(moved) {
            // A reader holds an older state; without the pin, which may be that too.
            self.unpin();
            self.move_log("RESTART", patience)?;
        }
        if self.pin_and_cover().is_err() {
            // What is in the log stays there.
            return Ok(moved);
        }
        self.move_log("TRUNCATE", patience)
    }

    fn move_log(&self, mode: &str, patience: Duration) -> rusqlite::Result<(i64, i64, i64)> {
        self.conn.busy_timeout(patience)?;
        self.conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// Notes that there is no log any more, once it is so.
    fn mark_empty(&mut self) -> io::Result<()> {
        self.covered = None;
        self.in_log.clear();
        let mark = self.mark_of_file()?;
        match &self.sums {
            Some(sums) => {
                sums.mark(Mark { log: mark, is_doubtful: self.is_doubtful }).and_then(|()| sums.sync())
            }
            None => Ok(()),
        }
    }

    fn mark_of_file(&self) -> io::Result<LogMark> {
        let (changed, bytes) = changed(&self.file)?;
        Ok(LogMark::Empty { changed, bytes })
    }

    fn unpin(&self) {
        // Outside of a transaction there is nothing to end.
        self.pin.execute_batch("ROLLBACK").ok();
    }

    /// Holds the newest state, beyond which nothing is moved, and sees to it that the sums cover it. If the log cannot
    /// be read, nothing may be moved.
    fn pin_and_cover(&mut self) -> io::Result<()> {
        self.unpin();
        let pinned = self.pin.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema");
        pinned.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen | ErrorCode::OutOfMemory) => {
                io::Error::new(io::ErrorKind::OutOfMemory, error)
            }
            _ => io::Error::other(error),
        })?;
        match self.cover() {
            Ok(()) => Ok(()),
            Err(CoverError::Store(error)) => Err(error),
            Err(CoverError::Sums(error)) if is_passing(&error) => Err(error),
            Err(CoverError::Sums(_)) => {
                // A sum that is older than its page would accuse it: better none. If even that cannot be written,
                // nothing is moved.
                let was_in_use = self.sums.take().is_some();
                if remove_if_there(&self.path)? || was_in_use {
                    sync_folder(&self.path)?;
                    self.faults.sums_remade("they could not be written");
                }
                Ok(())
            }
        }
    }

    /// Sums the pages that were written to the log since the last time.
    fn cover(&mut self) -> Result<(), CoverError> {
        let Some(log) = self.look_at_log()? else { return Ok(()) };
        let from = self.covered.unwrap_or_else(|| log.begin());
        let (place, found) = log.scan(from, |_, page, bytes| (page, sum_of(page, bytes)))?;
        if found.is_empty() {
            self.covered = Some(place);
            return Ok(());
        }
        self.begin_anew_if_none().map_err(CoverError::Sums)?;
        #[cfg(test)]
        {
            self.summed += found.len();
        }
        // A sum that stands in the log already was written by a process that ended before it could note that, or before
        // the page was moved. It was compared then, and says nothing about what the file holds now.
        let logged: HashSet<(u32, u64)> = found.iter().copied().collect();
        let mut sums: BTreeMap<u32, u64> = found.into_iter().collect();
        // With the power the disk may lose what is not waited for: sums of a log that was never there would accuse
        // pages.
        log.sync()?;
        let (mut damaged, mut changed) = (Vec::new(), Vec::new());
        for (page, sum) in &mut sums {
            let known = self.known_sum(*page).map_err(CoverError::Sums)?;
            let is_comparable = !self.in_log.contains(page) && !logged.contains(&(*page, known));
            // What is written was made of what stood there.
            let below = match known {
                DAMAGED | CHANGED => known,
                known if is_comparable => self.sum_below(*page, known)?,
                known => known,
            };
            match below {
                DAMAGED => damaged.push(*page),
                CHANGED => changed.push(*page),
                _ => continue,
            }
            *sum = below;
        }
        let mark = Mark { log: LogMark::Of { salts: place.salts }, is_doubtful: self.is_doubtful };
        if let Some(kept) = &mut self.sums {
            kept.put(&sums)
                .and_then(|()| kept.mark(mark))
                .and_then(|()| kept.sync())
                .map_err(CoverError::Sums)?;
        }
        self.covered = Some(place);
        self.in_log.extend(sums.keys());
        self.faults.pages_damaged(&damaged);
        self.faults.pages_changed(&changed);
        Ok(())
    }

    fn begin_anew_if_none(&mut self) -> io::Result<()> {
        if self.sums.is_none() {
            let (OpenedSums::Known(sums, _) | OpenedSums::Anew(sums, _)) =
                PageSums::open(&self.path, self.page_size)?;
            sums.mark(Mark { log: self.mark_of_file()?, is_doubtful: true })?;
            self.sums = Some(sums);
        }
        Ok(())
    }

    /// Looks which use of the log this is. Pages of an earlier one are in the file.
    fn look_at_log(&mut self) -> io::Result<Option<Log>> {
        #[cfg(test)]
        if let Some(error) = self.injected.take() {
            return Err(io::Error::from_raw_os_error(error));
        }
        let log = self.open_log()?;
        let salts = log.as_ref().map(|log| log.begin().salts);
        if self.covered.is_some_and(|covered| Some(covered.salts) != salts) {
            self.covered = None;
            self.in_log.clear();
        }
        Ok(log)
    }

    fn known_sum(&mut self, page: u32) -> io::Result<u64> {
        self.sums.as_mut().map_or(Ok(UNKNOWN), |sums| sums.get(page))
    }

    /// Returns the sum of a page of the file that is about to be written over, or what is to be said of it if that
    /// differs.
    fn sum_below(&mut self, page: u32, known: u64) -> io::Result<u64> {
        if known == UNKNOWN || u64::from(page) > self.pages()? {
            return Ok(known);
        }
        let bytes = match self.read(page, 1) {
            Err(error) if is_passing(&error) => return Err(error),
            // What the disk cannot read is not what was written.
            Err(_) => return Ok(DAMAGED),
            Ok(bytes) => bytes,
        };
        if sum_of(page, &bytes) == known || self.free_before().contains(&page) {
            return Ok(known);
        }
        let is_damaged = !self.is_doubtful || self.tries.is_flipped(page, &bytes, known);
        Ok(if is_damaged { DAMAGED } else { CHANGED })
    }

    /// Checks the next pages of the file, at most `most`. Returns `true` at the end of the file.
    pub(super) fn check(&mut self, most: u32) -> io::Result<bool> {
        // Which of them stand in the log must be known as it is now.
        self.look_at_log()?;
        self.begin_anew_if_none()?;
        let (mut damaged, mut changed) = (Vec::new(), Vec::new());
        let pages = self.pages()?;
        let from = self.next;
        let count = u64::from(most).min((pages + 1).saturating_sub(u64::from(from)));
        let (bytes, unreadable) = self.read_around(from, usize::try_from(count).unwrap_or(0))?;
        let mut learned = BTreeMap::new();
        let mut free = None;
        let size = usize::try_from(self.page_size).unwrap_or(4096);
        for (page, bytes) in (from..).zip(bytes.chunks_exact(size)) {
            self.next = page.saturating_add(1);
            let Some(sums) = &mut self.sums else { continue };
            let (known, sum) = (sums.get(page)?, sum_of(page, bytes));
            let is_lock = u64::from(page - 1) * u64::from(self.page_size) == LOCK_BYTE;
            let is_marked = matches!(known, DAMAGED | CHANGED);
            // A page in the log may differ from the file: its newer image is where every reader takes it from, and
            // the next move writes it.
            if sum == known || is_lock || (!is_marked && self.in_log.contains(&page)) {
                continue;
            }
            // On a page that is free stands nothing that anybody reads.
            if free.is_none() && known != UNKNOWN {
                free = Some(self.free_now()?);
            }
            if unreadable.contains(&page) {
                damaged.push(page);
            } else if known == UNKNOWN || free.as_ref().is_some_and(|free| free.contains(&page)) {
                learned.insert(page, sum);
            } else if known == CHANGED {
                changed.push(page);
            } else if known == DAMAGED || !self.is_doubtful || self.tries.is_flipped(page, bytes, known) {
                damaged.push(page);
            } else {
                learned.insert(page, CHANGED);
                changed.push(page);
            }
        }
        let is_done = u64::from(self.next) > pages;
        if is_done {
            self.next = 1;
            // A whole round compared every page since the change from outside; what differs from now on is the
            // disk's.
            self.is_doubtful = false;
            self.tries = Tries::default();
        }
        if let Some(sums) = &mut self.sums {
            sums.put(&learned)?;
            self.faults.sums_forgotten(std::mem::take(&mut sums.forgotten));
        }
        let checked = if is_done { pages } else { u64::from(self.next) - 1 };
        self.faults.pages_checked(checked, pages, is_done);
        self.faults.pages_damaged(&damaged);
        self.faults.pages_changed(&changed);
        Ok(is_done)
    }

    /// Begins to look from the first page on.
    pub(super) fn begin_round(&mut self) {
        self.next = 1;
    }

    /// Takes what stands on marked pages now for what was written, as far as everything that was there before is gone.
    /// Returns how many there were.
    pub(super) fn forgive(
        &mut self,
        is_marked: impl Fn(u64) -> bool,
        mended: impl FnOnce(&[u32]) -> rusqlite::Result<Vec<u32>>,
    ) -> Result<usize, AppendError> {
        // Marks are lifted from pages as they are now, so the sums have to cover the log first.
        self.pin_and_cover()?;
        // Also those that this process has not come to yet.
        let newest = self.in_log.iter().copied().max().unwrap_or(0);
        let pages = u32::try_from(self.pages()?).unwrap_or(u32::MAX).max(newest);
        let mut marked: BTreeSet<u32> = BTreeSet::new();
        for page in 1..=pages {
            if is_marked(self.known_sum(page)?) {
                marked.insert(page);
            }
        }
        // Those that were found and not written over have no mark.
        if is_marked(DAMAGED) {
            marked.extend(self.faults.damaged_pages());
        }
        if marked.is_empty() {
            return Ok(0);
        }
        let mended = mended(&marked.into_iter().collect::<Vec<_>>())?;
        let Some(sums) = &mut self.sums else { return Ok(0) };
        // They have one again when they are moved or looked at.
        sums.put(&mended.iter().map(|page| (*page, UNKNOWN)).collect())?;
        sums.sync()?;
        self.faults.pages_mended(&mended);
        Ok(mended.len())
    }

    fn pages(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len() / u64::from(self.page_size.max(1)))
    }

    fn read(&self, from: u32, count: usize) -> io::Result<Vec<u8>> {
        let size = usize::try_from(self.page_size).unwrap_or(4096);
        let mut bytes = vec![0; count * size];
        self.file.read_exact_at(&mut bytes, u64::from(from - 1) * size as u64)?;
        Ok(bytes)
    }

    /// Returns the same, and names pages that the disk cannot read: one of them says nothing about those beside it.
    fn read_around(&self, from: u32, count: usize) -> io::Result<(Vec<u8>, HashSet<u32>)> {
        match self.read(from, count) {
            Err(error) if !is_passing(&error) => {}
            read => return read.map(|bytes| (bytes, HashSet::new())),
        }
        let (mut bytes, mut unreadable) = (Vec::new(), HashSet::new());
        for page in (from..).take(count) {
            match self.read(page, 1) {
                Ok(read) => bytes.extend_from_slice(&read),
                Err(error) if is_passing(&error) => return Err(error),
                Err(_) => {
                    unreadable.insert(page);
                    bytes.resize(bytes.len() + usize::try_from(self.page_size).unwrap_or(4096), 0);
                }
            }
        }
        Ok((bytes, unreadable))
    }

    /// Returns the pages that nothing was kept on when the log was last moved, as far as the list of them can be read.
    fn free_before(&self) -> HashSet<u32> {
        free_leaves(|page| self.read(page, 1), self.pages().unwrap_or(0))
    }

    /// Returns the pages that nothing is kept on now.
    fn free_now(&self) -> io::Result<HashSet<u32>> {
        let seen = SeenPages::open(self.log_file.clone().map_or(Ok(None), Log::read)?)?;
        let read = |page| seen.read(page)?.map_or_else(|| self.read(page, 1), Ok);
        Ok(free_leaves(read, u64::from(u32::MAX)))
    }
}

/// Tells of what the engine says of a move whether the whole log was moved.
fn is_all((is_busy, frames, moved): (i64, i64, i64)) -> bool {
    is_busy == 0 && frames == moved
}

/// Removes a file; tells whether there was one.
fn remove_if_there(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_sums_every_frame_of_the_log_once_and_a_commit_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = super::super::open::open(&path).unwrap();
        let mut keeper = PageKeeper::open(&path, Arc::default()).unwrap();
        keeper.checkpoint(LogMove::Truncate).unwrap();
        let before = keeper.summed;
        for number in 0..50 {
            conn.execute("INSERT INTO word (text) VALUES (?1)", [format!("word {number}")]).unwrap();
        }
        assert_eq!(keeper.summed, before);
        let frames = (std::fs::metadata(beside(&path, "-wal")).unwrap().len() / (4096 + 24)) as usize;
        for _ in 0..2 {
            keeper.checkpoint(LogMove::Passive).unwrap();
            assert_eq!(keeper.summed - before, frames, "none of them twice");
        }
        assert!(keeper.in_log.is_empty(), "they are read from the file");
    }

    /// Returns a store with rows whose log is empty, and its keeper.
    fn store_with_keeper(path: &Path) -> (Connection, PageKeeper) {
        let conn = super::super::open::open(path).unwrap();
        for number in 0..500 {
            conn.execute("INSERT INTO word (text) VALUES (?1)", [format!("word {number}")]).unwrap();
        }
        let mut keeper = PageKeeper::open(path, Arc::default()).unwrap();
        keeper.checkpoint(LogMove::Truncate).unwrap();
        (conn, keeper)
    }

    fn damaged_after_check(path: &Path) -> Vec<u32> {
        let faults = Arc::new(Faults::default());
        let mut keeper = PageKeeper::open(path, Arc::clone(&faults)).unwrap();
        while !keeper.check(64).unwrap() {}
        faults.damaged_pages()
    }

    #[test]
    fn a_system_without_handles_or_memory_costs_no_sums_and_moves_nothing_until_it_has_some() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let (conn, mut keeper) = store_with_keeper(&path);
        let sums = std::fs::read(beside(&path, ".sums")).unwrap();
        let file = std::fs::read(&path).unwrap();
        conn.execute("UPDATE word SET text = text || ' once'", []).unwrap();
        for error in [24, 23, 12, 5] {
            keeper.injected = Some(error);
            let moved = keeper.checkpoint(LogMove::Passive);
            // A log that cannot be read for another reason is no matter of waiting.
            assert_eq!(moved.is_ok(), error != 5, "{error}: {moved:?}");
            keeper.injected = Some(error);
            assert!(keeper.checkpoint(LogMove::Truncate).is_err(), "{error}: it was to be cut");
            keeper.injected = Some(error);
            assert_eq!(is_passing(&keeper.check(64).unwrap_err()), error != 5);
            assert!(keeper.sums.is_some() && keeper.faults.view(0).check.sums_remade == 0);
            assert_eq!(std::fs::read(beside(&path, ".sums")).unwrap(), sums, "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), file, "{error}: nothing was moved");
        }
        keeper.checkpoint(LogMove::Truncate).unwrap();
        while !keeper.check(64).unwrap() {}
        let seen = keeper.faults.view(0);
        assert_eq!((seen.damaged_pages, seen.changed_pages, seen.problems.len()), (0, 0, 0));
        assert_ne!(std::fs::read(&path).unwrap(), file);
    }

    #[test]
    fn what_another_program_commits_while_the_log_is_cut_has_its_sums() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let (conn, mut keeper) = store_with_keeper(&path);
        for _ in 0..2 {
            conn.execute("UPDATE word SET text = text || ' once' WHERE id % 3 = 0", []).unwrap();
            keeper.pin_and_cover().unwrap();
            let other = Connection::open(&path).unwrap();
            other.execute("UPDATE word SET text = text || ' more' WHERE id % 5 = 0", []).unwrap();
            assert!(is_all(keeper.cut_log(BUSY).unwrap()));
            assert_eq!(std::fs::metadata(beside(&path, "-wal")).unwrap().len(), 0);
            keeper.begin_round();
            while !keeper.check(64).unwrap() {}
            let seen = keeper.faults.view(0);
            assert_eq!((seen.damaged_pages, seen.changed_pages), (0, 0), "{:?}", seen.problems);
        }
    }

    #[test]
    fn a_process_that_ends_between_the_sums_and_their_mark_accuses_no_page() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let (conn, mut keeper) = store_with_keeper(&path);
        conn.execute("UPDATE word SET text = text || ' once' WHERE id % 7 = 0", []).unwrap();
        keeper.pin_and_cover().unwrap();
        let sums = beside(&path, ".sums");
        let head = std::fs::read(&sums).unwrap()[..64].to_vec();
        conn.execute("UPDATE word SET text = text || ' twice' WHERE id % 3 = 0", []).unwrap();
        keeper.pin_and_cover().unwrap();
        // Leaked: closing the last connection would move the log.
        std::mem::forget((conn, keeper));
        std::fs::OpenOptions::new().write(true).open(&sums).unwrap().write_all_at(&head, 0).unwrap();
        assert_eq!(damaged_after_check(&path), Vec::<u32>::new());
    }

    #[test]
    fn a_damaged_page_that_is_written_twice_while_the_log_is_read_stays_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let (conn, keeper) = store_with_keeper(&path);
        let find = "SELECT max(pageno) FROM dbstat WHERE name = 'word' AND pagetype = 'leaf'";
        let page: u32 = conn.query_row(find, [], |row| row.get(0)).unwrap();
        drop((keeper, conn));
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let changed = file.metadata().unwrap().modified().unwrap();
        let at = u64::from(page) * 4096 - 21;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 4], at).unwrap();
        file.set_modified(changed).unwrap();
        drop(file);
        let conn = super::super::open::open(&path).unwrap();
        let faults = Arc::new(Faults::default());
        let mut keeper = PageKeeper::open(&path, Arc::clone(&faults)).unwrap();
        // A reader of an older state keeps the log from being moved whole.
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM word").unwrap();
        for text in ["one more", "and another"] {
            conn.execute("INSERT INTO word (text) VALUES (?1)", [text]).unwrap();
            keeper.checkpoint(LogMove::Passive).unwrap();
            assert_eq!(faults.damaged_pages(), [page]);
            assert_eq!(keeper.known_sum(page).unwrap(), DAMAGED, "{text}");
        }
    }
}
