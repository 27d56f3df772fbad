//! The state of every file: its mark, a claim of the thread that reads it, and a few readers that stay in memory.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_tracer_event::Millis;

use super::find::Facts;
use super::mark::Mark;
use super::reader::Reader;
use crate::pace::Pace;

/// The most readers that stay in memory, for files that are growing.
const WARM: usize = 32;

/// The pauses between attempts to bring a file that the sink does not take.
const PARKED_FIRST: Duration = Duration::from_secs(5);
const PARKED_LONGEST: Duration = Duration::from_secs(600);

/// The position in a file.
#[derive(Clone, Debug)]
pub(super) struct FilePosition {
    pub(super) mark: Mark,
    pub(super) offset: u64,
    /// The reader at that position, if it is in memory.
    pub(super) reader: Option<Reader>,
}

#[derive(Debug, Default)]
struct Slot {
    known: Option<FilePosition>,
    busy: bool,
    /// Another thread wanted to read it meanwhile.
    again: bool,
    /// The metadata of a failed reading: no other attempt is made until it changes.
    failed: Option<Facts>,
    /// Set while the sink does not take it although it takes others.
    parked: Option<ParkedFile>,
}

/// A file that waits for its next attempt.
#[derive(Clone, Debug)]
struct ParkedFile {
    since: Millis,
    pause: Duration,
    pace: Pace,
}

impl ParkedFile {
    /// Returns `true` if the next attempt is due. A clock that was set back does not postpone it.
    fn is_due(&self, now: Millis) -> bool {
        u128::from(now.0.abs_diff(self.since.0)) >= self.pause.as_millis()
    }
}

#[derive(Debug, Default)]
struct Slots {
    files: HashMap<PathBuf, Slot>,
    warm: VecDeque<PathBuf>,
}

/// Counts of the work on files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that the sink took.
    pub rows: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Rows without an observation, or excluded ones.
    pub skipped: u64,
    /// Files that were read from the beginning, because another file was in their place.
    pub replaced: u64,
    /// Failed readings.
    pub failed: u64,
    /// Files that wait for their next attempt, because the sink does not take them although it takes others.
    pub parked: u64,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) rows: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) replaced: AtomicU64,
    pub(super) failed: AtomicU64,
}

impl Tally {
    pub(super) fn counts(&self) -> Counts {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Counts {
            rows: read(&self.rows),
            bytes: read(&self.bytes),
            skipped: read(&self.skipped),
            replaced: read(&self.replaced),
            failed: read(&self.failed),
            parked: 0,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Registry {
    slots: Mutex<Slots>,
}

impl Registry {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the state of a file that no thread reads.
    pub(super) fn put(&self, path: PathBuf, known: FilePosition) {
        self.slots().files.entry(path).or_default().known = Some(known);
    }

    /// Returns the path of every file with a state.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.slots().files.keys().cloned().collect()
    }

    /// Claims a file for reading and returns its state. `None` if another thread has it, which will then read on.
    pub(super) fn claim(&self, path: &Path) -> Option<Option<FilePosition>> {
        let mut slots = self.slots();
        if let Some(slot) = slots.files.get_mut(path) {
            if slot.busy {
                slot.again = true;
                return None;
            }
            slot.busy = true;
            return Some(slot.known.clone());
        }
        slots.files.insert(path.to_owned(), Slot { busy: true, ..Slot::default() });
        Some(None)
    }

    /// Gives a file back. Returns `true` if another thread wanted to read it meanwhile.
    pub(super) fn release(&self, path: &Path, known: Option<FilePosition>, failed: Option<Facts>) -> bool {
        let mut slots = self.slots();
        let Some(slot) = slots.files.get_mut(path) else { return false };
        let again = std::mem::take(&mut slot.again);
        slot.busy = false;
        slot.failed = failed;
        let is_warm = known.as_ref().is_some_and(|known| known.reader.is_some());
        // A file that is gone leaves no slot: names of files come and go for as long as the server runs.
        let is_forgotten = known.is_none() && failed.is_none() && slot.parked.is_none();
        slot.known = known;
        if is_forgotten {
            slots.files.remove(path);
        }
        slots.warm.retain(|warm| warm != path);
        if is_warm {
            slots.warm.push_back(path.to_owned());
        }
        // Readers cost memory; a cold file gets its reader from the store, where its state is.
        while slots.warm.len() > WARM {
            let coldest = slots.warm.pop_front();
            if let Some(known) =
                coldest.and_then(|path| slots.files.get_mut(&path)).and_then(|slot| slot.known.as_mut())
            {
                known.reader = None;
            }
        }
        again
    }

    /// Reads the mark of a file.
    pub(super) fn with_mark<T>(&self, path: &Path, read: impl FnOnce(&Mark) -> T) -> Option<T> {
        let slots = self.slots();
        slots.files.get(path).and_then(|slot| slot.known.as_ref()).map(|known| read(&known.mark))
    }

    /// Returns `true` if reading the file in exactly this state failed.
    pub(super) fn has_failed(&self, path: &Path, facts: &Facts) -> bool {
        self.slots().files.get(path).is_some_and(|slot| slot.failed.as_ref() == Some(facts))
    }

    /// Lets a file wait for its next attempt. Returns the pause.
    pub(super) fn park(&self, path: &Path, now: Millis) -> Duration {
        let mut slots = self.slots();
        let slot = slots.files.entry(path.to_owned()).or_default();
        let mut pace = match slot.parked.take() {
            Some(parked) => parked.pace,
            None => Pace::new(PARKED_FIRST, PARKED_LONGEST),
        };
        let pause = pace.failed();
        slot.parked = Some(ParkedFile { since: now, pause, pace });
        pause
    }

    /// Ends the wait of a file that the sink took.
    pub(super) fn unpark(&self, path: &Path) {
        if let Some(slot) = self.slots().files.get_mut(path) {
            slot.parked = None;
        }
    }

    /// Returns `true` if a file waits for an attempt that is not due yet.
    pub(super) fn waits(&self, path: &Path, now: Millis) -> bool {
        let slots = self.slots();
        let parked = slots.files.get(path).and_then(|slot| slot.parked.as_ref());
        parked.is_some_and(|parked| !parked.is_due(now))
    }

    /// Returns the number of waiting files, and those whose attempt is due.
    pub(super) fn parked(&self, now: Millis) -> (u64, Vec<PathBuf>) {
        let slots = self.slots();
        let parked = slots.files.iter().filter_map(|(path, slot)| Some((path, slot.parked.as_ref()?)));
        let mut count = 0;
        let due = parked.inspect(|_| count += 1).filter(|(_, parked)| parked.is_due(now));
        let due = due.map(|(path, _)| path.clone()).collect();
        (count, due)
    }

    /// Returns the number of bytes of a file that were seen.
    pub(super) fn seen(&self, path: &Path) -> Option<u64> {
        let slots = self.slots();
        slots.files.get(path).and_then(|slot| slot.known.as_ref()).map(|known| known.mark.identity.length)
    }
}
