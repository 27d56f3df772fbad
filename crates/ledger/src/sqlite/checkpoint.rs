//! The thread that moves the write-ahead log into the file, and checks pages when there is nothing to move.
//!
//! A checkpoint copies the pages of the log and waits for the disk twice. On the writer's thread, one commit in many
//! would take a hundred times as long as the others.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::faults::Faults;
use super::open::CHECKED_BYTES;
use super::page_keeper::{LogMove, PageKeeper, is_passing};
use super::page_sums::{CHANGED, DAMAGED};
use super::store_files::StoreFiles;
use super::{AppendError, OpenError, page_check};
use crate::error_text;
use crate::journal::Settle;

/// Pages that are looked at while the log cannot be moved: a megabyte.
const SLICE: u32 = 256;

/// The pause before another attempt after the system had no handles or memory.
const LATER: Duration = Duration::from_secs(5);

/// The interval at which the first page of the store is compared with the one last written.
const GUARD: Duration = Duration::from_secs(5);

/// Bytes of them.
const SLICE_BYTES: u64 = 1 << 20;

/// The pace at which the pages of a store are compared with their sums in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckPace {
    /// Bytes that are read in a second; none at all if this is zero.
    pub bytes_per_second: u64,
    /// The pause between two rounds.
    pub rest: Duration,
}

impl Default for CheckPace {
    fn default() -> Self {
        Self { bytes_per_second: 16 << 20, rest: Duration::from_hours(1) }
    }
}

/// The thread that moves the log, and the way to wake it. It ends when this is dropped.
pub(super) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    keeper: Arc<Mutex<PageKeeper>>,
}

impl Checkpointer {
    /// Begins to wait for work on a file that the writer has opened.
    pub(super) fn start(
        path: &Path,
        faults: Arc<Faults>,
        files: Arc<StoreFiles>,
        pace: CheckPace,
    ) -> Result<Self, OpenError> {
        let mut keeper = PageKeeper::open(path, Arc::clone(&faults))?.watching(files);
        // A small store answers nothing before it was looked through; of a large one that would take too long.
        let is_small = std::fs::metadata(path).is_ok_and(|facts| facts.len() <= CHECKED_BYTES);
        let is_checked = is_small && pace.bytes_per_second > 0 && check_first(&mut keeper, path, &faults);
        let keeper = Arc::new(Mutex::new(keeper));
        let (wake, woken) = sync_channel(1);
        let mut mover =
            CheckpointLoop { keeper: Arc::clone(&keeper), path: path.to_owned(), faults, pace, is_checked };
        let thread = std::thread::Builder::new()
            .name("ledger-log".to_owned())
            .spawn(move || mover.work(&woken))
            .map_err(|error| OpenError::Io(error.into()))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), keeper })
    }

    /// Lets it move what the log holds now. Does not wait.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // Full: it has been woken already and has not begun yet.
            wake.try_send(()).ok();
        }
    }

    /// Returns the handle on the file that must be closed after every connection.
    pub(super) fn file(&self) -> Arc<File> {
        locked(&self.keeper).file()
    }

    /// Moves the log on the thread of the caller. If the other thread is at work, it goes on with that; only a log that
    /// must be cut is waited for.
    pub(super) fn checkpoint(&self, how: LogMove) -> Result<(), AppendError> {
        match (self.keeper.try_lock(), how) {
            (Ok(mut keeper), _) => keeper.checkpoint(how),
            (Err(TryLockError::Poisoned(keeper)), _) => keeper.into_inner().checkpoint(how),
            // The thread is checking or moving. A commit must not wait for it: what stays in the log now is moved
            // with the next round.
            (Err(TryLockError::WouldBlock), LogMove::Passive) => {
                self.wake();
                Ok(())
            }
            (Err(TryLockError::WouldBlock), LogMove::Truncate | LogMove::TruncateIfFree) => {
                locked(&self.keeper).checkpoint(how)
            }
        }
    }

    /// Looks at every page once.
    pub(super) fn check(&self, path: &Path, faults: &Faults) -> io::Result<()> {
        let mut keeper = locked(&self.keeper);
        check_round(&mut keeper)?;
        drop(keeper);
        find_places(path, faults);
        Ok(())
    }

    /// Takes pages that were all written anew for whole: those of tables that are folded, and those that are free.
    pub(super) fn forgive_folded(&self, path: &Path) -> Result<(), AppendError> {
        let mut keeper = locked(&self.keeper);
        // Damage on a page that is free now belongs to no row; once something is written there it would look like its own.
        check_round(&mut keeper)?;
        keeper.forgive(is_mark, |pages| {
            let places = page_check::places(path, pages)?;
            Ok(pages
                .iter()
                .copied()
                .filter(|page| places.get(page).is_none_or(|place| place.is_folded))
                .collect())
        })?;
        Ok(())
    }

    /// Takes every page for whole, because all of them were written anew.
    pub(super) fn forgive_all(&self) -> Result<(), AppendError> {
        locked(&self.keeper).forgive(is_mark, |pages| Ok(pages.to_vec())).map(drop)
    }

    /// Takes pages that another program changed for what was written. Returns how many there were.
    pub(super) fn accept_changes(&self) -> Result<usize, AppendError> {
        let mut keeper = locked(&self.keeper);
        check_round(&mut keeper)?;
        let accepted = keeper.forgive(|sum| sum == CHANGED, |pages| Ok(pages.to_vec()))?;
        // From now on they have sums again.
        check_round(&mut keeper)?;
        Ok(accepted)
    }
}

/// Checks every page while the store is opened. Returns `false` if that failed, to be tried again later.
fn check_first(keeper: &mut PageKeeper, path: &Path, faults: &Faults) -> bool {
    let is_done = check_round(keeper).is_ok();
    find_places(path, faults);
    is_done
}

/// Looks at every page once.
fn check_round(keeper: &mut PageKeeper) -> io::Result<()> {
    keeper.begin_round();
    while !keeper.check(SLICE)? {}
    Ok(())
}

/// Returns `true` if a sum marks its page as bad.
fn is_mark(sum: u64) -> bool {
    matches!(sum, DAMAGED | CHANGED)
}

fn locked(keeper: &Mutex<PageKeeper>) -> MutexGuard<'_, PageKeeper> {
    keeper.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        // Before the join: the thread ends when its channel has no sender left.
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

struct CheckpointLoop {
    keeper: Arc<Mutex<PageKeeper>>,
    path: PathBuf,
    faults: Arc<Faults>,
    pace: CheckPace,
    /// Every page was checked when the store was opened.
    is_checked: bool,
}

impl CheckpointLoop {
    fn work(&mut self, woken: &Receiver<()>) {
        let mut pause = if self.is_checked { self.pace.rest } else { self.pace.pause() };
        loop {
            // Woken at least this often even when the pause is an hour, to notice a file that was written over in
            // place.
            match woken.recv_timeout(pause.min(GUARD)) {
                // What could not be moved now stays in the log, where it is as safe and as readable.
                Ok(()) => {
                    if let Err(error) = locked(&self.keeper).checkpoint(LogMove::Passive) {
                        self.faults.write_failed(&error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    locked(&self.keeper).guard();
                    if pause > GUARD {
                        pause -= GUARD;
                    } else {
                        pause = self.check_some_pages();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Looks at some pages. Returns how long to wait until the next.
    fn check_some_pages(&self) -> Duration {
        if self.pace.bytes_per_second == 0 {
            return self.pace.rest;
        }
        let checked = locked(&self.keeper).check(SLICE);
        match checked {
            Ok(is_done) => {
                find_places(&self.path, &self.faults);
                if is_done { self.pace.rest } else { self.pace.pause() }
            }
            // No handle or no room is the machine's trouble and passes. Reported as damage it would send people to
            // `recover` for nothing.
            Err(error) if lacks_means(&error) => LATER,
            Err(error) => {
                self.faults.read_failed(&error_text(&error));
                self.pace.rest
            }
        }
    }
}

/// Returns whether the system has no handle, no memory or no room left, which says nothing about the store. A check writes
/// down sums, so a full disk stops it too.
fn lacks_means(error: &io::Error) -> bool {
    is_passing(error) || matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// Looks what stands on pages that turned out to be damaged.
fn find_places(path: &Path, faults: &Faults) {
    let pages = faults.pages_without_place();
    if !pages.is_empty()
        && let Ok(places) = page_check::places(path, &pages)
    {
        faults.pages_placed(places);
    }
}

impl CheckPace {
    /// Returns how long to wait between two slices.
    fn pause(&self) -> Duration {
        match self.bytes_per_second {
            0 => self.rest,
            rate => Duration::from_millis((SLICE_BYTES * 1000 / rate).clamp(1, 60_000)),
        }
    }
}

/// Waits until everything that was committed is on disk: what is not in this log any more is in the file.
pub(super) fn settler(log: PathBuf) -> Settle {
    Box::new(move || match File::open(&log) {
        // The log and not the file: commits stand in the log until they are moved, and the move itself waits for the
        // disk.
        Ok(log) => log.sync_data(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_log_comes_into_the_file_without_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = super::super::open::open(&path).unwrap();
        let size = || std::fs::metadata(&path).unwrap().len();
        let before = size();
        let checkpointer =
            Checkpointer::start(&path, Arc::default(), Arc::default(), CheckPace::default()).unwrap();
        checkpointer.wake();
        // It finishes what it was woken for before it ends.
        drop(checkpointer);
        assert!(size() > before, "the tables are in the file");
        assert!(conn.query_row("SELECT count(*) FROM task", [], |row| row.get::<_, i64>(0)).is_ok());
    }

    #[test]
    fn a_full_disk_is_no_damage_that_a_check_found() {
        for (code, expected) in [(28, true), (122, true), (24, true), (12, true), (5, false)] {
            assert_eq!(lacks_means(&io::Error::from_raw_os_error(code)), expected, "{code}");
        }
    }

    #[test]
    fn a_store_that_was_written_anew_is_forgiven_whatever_was_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = super::super::open::open(&path).unwrap();
        for number in 0..900 {
            conn.execute("INSERT INTO word (text) VALUES (?1)", [format!("word {number}")]).unwrap();
        }
        let start = |faults: &Arc<Faults>| {
            let pace = CheckPace { bytes_per_second: 0, ..CheckPace::default() };
            Checkpointer::start(&path, Arc::clone(faults), Arc::default(), pace).unwrap()
        };
        start(&Arc::default()).checkpoint(LogMove::Truncate).unwrap();
        let page: u32 = conn
            .query_row("SELECT max(pageno) FROM dbstat WHERE name = 'word'", [], |row| row.get(0))
            .unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"damage", u64::from(page) * 4096 - 30).unwrap();
        let faults = Arc::default();
        let checkpointer = start(&faults);
        // The damage goes on in what is written on the same page.
        conn.execute("INSERT INTO word (text) VALUES ('one more')", []).unwrap();
        checkpointer.checkpoint(LogMove::Passive).unwrap();
        let wrong = |faults: &Faults| {
            let seen = faults.view(0);
            seen.damaged_pages + seen.changed_pages
        };
        assert_eq!(wrong(&faults), 1);
        drop(checkpointer);
        // A process that has not come to that page yet.
        let faults = Arc::default();
        let checkpointer = start(&faults);
        checkpointer.forgive_all().unwrap();
        checkpointer.check(&path, &faults).unwrap();
        assert_eq!(wrong(&faults), 0, "{:?}", faults.view(0).problems);
    }
}
