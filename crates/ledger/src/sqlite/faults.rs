//! The faults of the store since it was opened, and its present ability to take writes.
//!
//! The writer, the journal, the checkpointer and every reader record their faults here, and the health report reads
//! them. Law: a fault of the disk or of the whole store lasts until a write succeeds; damage that was found once lasts
//! until the store is opened again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::AppendError;
use super::page_check::PageOwner;
use crate::error_text;
use crate::view::{PageCheck, StoreFaults};

/// Advice about a store that cannot be written.
const HELD: &str = "hooks wait in the spool and posts are refused until it can be written; nothing that was \
    acknowledged is lost";

/// Damaged pages that are named.
const NAMED: usize = 3;

/// Damaged pages that are remembered by their number; of more, only the count is of use.
const REMEMBERED: usize = 4_096;

/// Counts and states.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    writes: BTreeMap<&'static str, u64>,
    reads: u64,
    /// Why the store takes nothing now.
    failing: Option<AppendError>,
    /// The first error of a read or a write about damaged pages.
    damaged: Option<String>,
    /// Places in the journal of posts that could not be read.
    posts: u64,
    /// Of which the last stood at its end.
    is_torn: bool,
    /// Commits in the log behind a frame that cannot be read.
    commits: u64,
    /// Pages that are not what was written, with what stands there as far as that was looked for.
    pages: BTreeMap<u32, Option<PageOwner>>,
    /// Pages that another program changed while no server ran.
    changed: BTreeSet<u32>,
    /// The progress of the page check.
    check: PageCheck,
    /// The moment when they were last all checked.
    checked: Option<Instant>,
}

impl Faults {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a write that failed. The store fails from now on, unless the fault may be that of what was written.
    pub(crate) fn write_failed(&self, error: &AppendError) {
        let mut inner = self.inner();
        *inner.writes.entry(error.reason()).or_default() += 1;
        match error {
            AppendError::Item(what) => {
                let said = || {
                    format!(
                        "the store could not write something although it writes others: {}",
                        error_text(what)
                    )
                };
                inner.damaged.get_or_insert_with(said);
            }
            AppendError::Closed => {}
            lasting => inner.failing = Some(lasting.clone()),
        }
    }

    /// Notes that the store takes nothing from now on, without a write that failed.
    pub(crate) fn note_failing(&self, error: AppendError) {
        self.inner().failing = Some(error);
    }

    /// Notes that the store takes something.
    pub(crate) fn write_succeeded(&self) {
        // A lock that is free costs less than the write did.
        self.inner().failing = None;
    }

    /// Returns the reason for which the store takes nothing now.
    pub(crate) fn failing(&self) -> Option<AppendError> {
        self.inner().failing.clone()
    }

    /// Counts a question that had no answer because of damage; what the store said.
    pub(crate) fn read_failed(&self, what: &str) {
        let mut inner = self.inner();
        inner.reads += 1;
        inner.damaged.get_or_insert_with(|| format!("a part of the store cannot be read: {what}"));
    }

    /// Counts places in the journal of posts that could not be read.
    pub(crate) fn posts_damaged(&self, places: u64) {
        self.inner().posts += places;
    }

    /// Counts an end of the journal of posts that could not be read.
    pub(crate) fn posts_torn(&self) {
        let mut inner = self.inner();
        inner.posts += 1;
        inner.is_torn = true;
    }

    /// Counts commits of the log that could not be read.
    pub(crate) fn commits_damaged(&self, commits: u64) {
        self.inner().commits += commits;
    }

    /// Notes that the sums of all pages are made anew, and why.
    pub(super) fn sums_remade(&self, why: &str) {
        let mut inner = self.inner();
        inner.check.sums_remade += 1;
        inner.check.remade_because = Some(why.to_owned());
    }

    /// Counts parts of the sums that could not be read and are made anew.
    pub(super) fn sums_forgotten(&self, parts: u64) {
        if parts > 0 {
            let mut inner = self.inner();
            inner.check.sums_remade += parts;
            inner.check.remade_because = Some("a part of their file was damaged".to_owned());
        }
    }

    /// Notes how far the pages are checked.
    pub(super) fn pages_checked(&self, checked: u64, pages: u64, is_done: bool) {
        let mut inner = self.inner();
        (inner.check.checked, inner.check.pages) = (checked, pages);
        if is_done {
            inner.check.rounds += 1;
            inner.checked = Some(Instant::now());
        }
    }

    /// Notes pages that are damaged. Each counts once.
    pub(super) fn pages_damaged(&self, pages: &[u32]) {
        let mut inner = self.inner();
        for page in pages {
            if inner.pages.len() < REMEMBERED {
                inner.pages.entry(*page).or_default();
            }
        }
    }

    /// Notes pages that another program changed. Each counts once.
    pub(super) fn pages_changed(&self, pages: &[u32]) {
        let mut inner = self.inner();
        for page in pages {
            if inner.changed.len() < REMEMBERED {
                inner.changed.insert(*page);
            }
        }
    }

    /// Returns the pages that are damaged.
    pub(super) fn damaged_pages(&self) -> Vec<u32> {
        self.inner().pages.keys().copied().collect()
    }

    /// Returns the damaged pages of which it is not known what stands there.
    pub(super) fn pages_without_place(&self) -> Vec<u32> {
        self.inner().pages.iter().filter(|(_, place)| place.is_none()).map(|(page, _)| *page).collect()
    }

    /// Notes what stands on damaged pages.
    pub(super) fn pages_placed(&self, places: BTreeMap<u32, PageOwner>) {
        let mut inner = self.inner();
        for (page, place) in places {
            if let Some(known) = inner.pages.get_mut(&page) {
                *known = Some(place);
            }
        }
    }

    /// Notes that pages are damaged or changed no more.
    pub(super) fn pages_mended(&self, pages: &[u32]) {
        let mut inner = self.inner();
        for page in pages {
            inner.pages.remove(page);
            inner.changed.remove(page);
        }
    }

    /// Returns the faults for the wire, with the number of posts set aside now.
    pub(crate) fn view(&self, set_aside: u64) -> StoreFaults {
        let inner = self.inner();
        let mut problems = Vec::new();
        if let Some(failing) = &inner.failing {
            problems.push(format!("{}; {HELD}\nhint: {}", error_text(failing), failing.way_out()));
        }
        if let Some(what) = &inner.damaged {
            problems.push(format!(
                "{what}\nhint: stop the server and run `agent-tracer recover`, which makes a new store of what can be read"
            ));
        }
        if inner.posts > 0 {
            let places = inner.posts;
            let end = if inner.is_torn {
                "; one of them is its end: a power cut leaves the same of posts that were never acknowledged"
            } else {
                ""
            };
            problems.push(format!(
                "{places} places in the journal of posts could not be read when the store was opened{end}\n\
                 hint: everything else in it was read; the bytes are in `ledger.db.aside`"
            ));
        }
        if inner.commits > 0 {
            let commits = inner.commits;
            problems.push(format!(
                "{commits} commits stand in the store's log in or behind a part that is damaged, and are missing; after a \
                 power cut they may never have been acknowledged\nhint: a copy of the log is in `ledger.db.aside`; \
                 `agent-tracer import` reads the agents' own files again, `agent-tracer backup restore` brings back a backup"
            ));
        }
        problems.extend(damaged_pages(&inner.pages));
        if !inner.changed.is_empty() {
            problems.push(format!(
                "{} pages of `ledger.db` were changed while no server used it, by another program or by the disk\n\
                 hint: {WAY_OUT_OF_CHANGES}",
                inner.changed.len()
            ));
        }
        if set_aside > 0 {
            problems.push(format!(
                "{set_aside} posted events could not be written and are set aside in `ledger.db.aside`\n\
                 hint: they are tried again at every start of the server"
            ));
        }
        StoreFaults {
            recording: inner.failing.is_none(),
            write_failures: inner
                .writes
                .iter()
                .map(|(reason, count)| ((*reason).to_owned(), *count))
                .collect(),
            read_failures: inner.reads,
            damaged_posts: inner.posts,
            damaged_commits: inner.commits,
            damaged_pages: u64::try_from(inner.pages.len()).unwrap_or(u64::MAX),
            changed_pages: u64::try_from(inner.changed.len()).unwrap_or(u64::MAX),
            check: PageCheck {
                last_round_age_ms: inner
                    .checked
                    .map(|then| u64::try_from(then.elapsed().as_millis()).unwrap_or(u64::MAX)),
                ..inner.check.clone()
            },
            set_aside,
            parked_files: 0,
            problems,
        }
    }
}

/// Describes damaged pages: their number, the content of the first ones, and the hint.
fn damaged_pages(pages: &BTreeMap<u32, Option<PageOwner>>) -> Option<String> {
    if pages.is_empty() {
        return None;
    }
    let named = pages
        .iter()
        .take(NAMED)
        .map(|(page, place)| (*page, place.as_ref().map(|place| place.name.as_str())));
    let is_mendable = pages.values().all(|place| place.as_ref().is_some_and(|place| place.is_folded));
    Some(format!("{}\nhint: {}", damage_in_words(pages.len(), named), way_out_of_damage(is_mendable)))
}

/// Describes the damage: the number of pages, and the content of some of them.
pub(crate) fn damage_in_words<'a>(
    count: usize,
    named: impl IntoIterator<Item = (u32, Option<&'a str>)>,
) -> String {
    let named = named.into_iter().take(NAMED).map(|(page, place)| match place {
        Some(place) => format!("page {page} in {place}"),
        None => format!("page {page}"),
    });
    let words = if count == 1 {
        "1 page of `ledger.db` is damaged".to_owned()
    } else {
        format!("{count} pages of `ledger.db` are damaged")
    };
    format!("{words}: {}", named.collect::<Vec<_>>().join(", "))
}

/// Advice about pages that another program or the disk changed.
pub(crate) const WAY_OUT_OF_CHANGES: &str = "stop the server; if you know which program it was, run `agent-tracer recover \
    --accept-changes`; if not, run `agent-tracer recover`, which names what may be wrong";

/// Returns the hint for damaged pages.
pub(crate) fn way_out_of_damage(is_mendable: bool) -> &'static str {
    if is_mendable {
        "stop the server and run `agent-tracer rebuild`, which writes everything on them anew from what was recorded; if \
         that fails, run `agent-tracer recover`"
    } else {
        "stop the server and run `agent-tracer recover`, which saves what can be read; with a copy of the ledger, \
         `agent-tracer backup restore` brings that back"
    }
}

impl AppendError {
    /// Returns the word under which it is counted.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::DiskFull => "disk_full",
            Self::ReadOnly => "read_only",
            Self::Closed => "closed",
            Self::Gone(_) => "replaced",
            Self::Store(_) => "io",
            Self::Item(_) => "unreadable",
        }
    }

    /// Returns the hint for this fault.
    #[must_use]
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::DiskFull => "free some space: writing goes on by itself",
            Self::ReadOnly => {
                "check the owner and mode of the home folder, and whether its disk is mounted read-only"
            }
            Self::Gone(_) => {
                "put the file back where it was, or stop the server, run `agent-tracer doctor` and start it again; until \
                 then what was in a file that is gone can be copied from `/proc/<pid of the server>/fd`"
            }
            Self::Closed => "start `agent-tracer serve` again",
            Self::Store(_) => {
                "look into the system's log for errors of the disk; writing is tried again by itself"
            }
            Self::Item(_) => "run `agent-tracer recover`, which makes a new store of what can be read",
        }
    }
}

impl From<rusqlite::Error> for AppendError {
    /// Distinguishes faults of the whole store from those that one item may cause. A fault of writing is the store's:
    /// a long item fails first on a disk that is nearly full, and is not at fault. A fault of reading, of a damaged
    /// page or of meaning may be the item's; the writer finds out by writing another item.
    fn from(error: rusqlite::Error) -> Self {
        let extended = match &error {
            rusqlite::Error::SqliteFailure(error, _) => error.extended_code,
            _ => return Self::Item(error.into()),
        };
        let is_read = [
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_SHORT_READ,
            ffi::SQLITE_IOERR_CORRUPTFS,
            ffi::SQLITE_IOERR_DATA,
        ];
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::SystemIoFailure) if is_read.contains(&extended) => Self::Item(error.into()),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted
                | ErrorCode::NoLargeFileSupport,
            ) => Self::Store(error.into()),
            _ => Self::Item(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn a_fault_of_writing_is_the_stores_and_one_of_reading_may_be_the_items() {
        let is_item = |code| matches!(AppendError::from(failure(code)), AppendError::Item(_));
        for code in [
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_IOERR_SHORT_READ,
            ffi::SQLITE_CONSTRAINT,
            ffi::SQLITE_TOOBIG,
            ffi::SQLITE_ERROR,
        ] {
            assert!(is_item(code), "{code}");
        }
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_IOERR_TRUNCATE,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_NOMEM,
        ] {
            assert!(!is_item(code), "{code}");
        }
        assert!(matches!(AppendError::from(rusqlite::Error::InvalidQuery), AppendError::Item(_)));
    }

    #[test]
    fn a_store_that_fails_says_so_until_it_takes_something_and_damage_until_the_next_start() {
        let faults = Faults::default();
        assert!(faults.view(0).problems.is_empty());
        faults.write_failed(&AppendError::Store("disk I/O error".into()));
        let failing = faults.view(0);
        assert!(!failing.recording && failing.problems[0].contains("\nhint: "), "{failing:?}");
        assert_eq!(failing.write_failures, BTreeMap::from([("io".to_owned(), 1)]));
        faults.write_succeeded();
        let again = faults.view(0);
        assert!(again.recording && again.problems.is_empty() && again.write_failures["io"] == 1);
        faults.read_failed("database disk image is malformed");
        faults.write_succeeded();
        let damaged = faults.view(0);
        assert!(damaged.recording, "others are recorded");
        assert_eq!((damaged.read_failures, damaged.problems.len()), (1, 1));
    }

    #[test]
    fn damaged_pages_are_named_with_the_way_out_that_helps() {
        let faults = Faults::default();
        faults.pages_damaged(&[7, 9]);
        faults.pages_damaged(&[9]);
        let place = |name: &str, is_folded| PageOwner { name: format!("`{name}`"), is_folded };
        faults.pages_placed(BTreeMap::from([(7, place("fact", true))]));
        let seen = faults.view(0);
        assert_eq!(seen.damaged_pages, 2);
        let (text, hint) = seen.problems[0].split_once("\nhint: ").unwrap();
        assert_eq!(text, "2 pages of `ledger.db` are damaged: page 7 in `fact`, page 9");
        assert!(hint.contains("agent-tracer recover") && !hint.contains("rebuild"), "{hint}");
        assert_eq!(faults.pages_without_place(), [9]);
        faults.pages_placed(BTreeMap::from([(9, place("rollup", true))]));
        assert!(faults.view(0).problems[0].contains("agent-tracer rebuild"));
        faults.pages_placed(BTreeMap::from([(9, place("entry", false))]));
        assert!(!faults.view(0).problems[0].contains("rebuild"));
        faults.pages_mended(&[7, 9]);
        assert!(faults.view(0).problems.is_empty());
    }
}
