//! The reading side: delivers envelopes oldest first and removes them only after the caller's commit.
//!
//! Law: a file leaves `new/` in two ways only. [`Drain::ack`] unlinks it, and takes a [`Receipt`] that
//! exists only for a delivered batch: call it after an fsynced commit. Or it is no envelope of ours,
//! and goes to `quarantine/` with a reason. A drain does not deliver a file twice; a restarted one
//! delivers everything again that was not acked, so the caller's commit must tolerate repetition.
//!
//! One drain per spool: it holds a lock on `drain.lock` as long as it lives. Memory is bounded by
//! the batch and by some thousand names, however many files wait.

mod admit;
mod purge;
mod quarantine;
mod scan;
mod sweep;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

pub use admit::Refusal;
pub use purge::{PurgeDecision, SpoolPurge};
pub use quarantine::{Disposition, RefusedFile};
pub use sweep::SweepCounts;

pub(crate) use quarantine::{REASON_SUFFIX, UNWRITTEN};
pub(crate) use scan::each;

use crate::envelope::Header;
use crate::spool::{Folder, Spool, SpoolError, units_of};
use crate::{EnvelopeName, disk};
use admit::{Admission, Guard};
use scan::Entry;

/// The most names taken from one listing of `new/`; a listing reads every waiting name.
const QUEUE_MAX: usize = 16_384;
/// The most listings of `new/` in one call.
const LOOKS_MAX: usize = 3;
/// The number of failed reads after which a file is put aside.
const ATTEMPTS_MAX: u8 = 3;

/// The one reader of a spool.
#[derive(Debug)]
pub struct Drain {
    spool: Spool,
    guard: Guard,
    /// Names still to deliver from the last look, the oldest at the end.
    queue: Vec<EnvelopeName>,
    /// Delivered and not acked.
    in_flight: HashSet<EnvelopeName>,
    /// Refused, but could not be moved away.
    left: HashSet<EnvelopeName>,
    /// The same for files whose name is not an envelope's.
    left_strangers: HashSet<OsString>,
    /// Failed reads by name, for files that may be readable the next time.
    attempts: HashMap<EnvelopeName, u8>,
    /// Files put aside since the quarantine was last trimmed.
    aside: u32,
    /// Held, not used: its lock keeps other drains out.
    _lock: File,
}

/// A delivered envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// Its file name, which is also the id of an observation that has no better one.
    pub name: EnvelopeName,
    /// The facts about the observation besides its bytes.
    pub header: Header<'static>,
    /// The observation's bytes after privacy.
    pub body: Vec<u8>,
}

/// The result of one call of [`Drain::next_batch`].
#[derive(Debug)]
pub struct Batch {
    /// The envelopes, oldest first.
    pub envelopes: Vec<Delivered>,
    /// Files that were refused on the way.
    pub refused: Vec<RefusedFile>,
    /// The argument for [`Drain::ack`] once the envelopes are durable elsewhere.
    pub receipt: Receipt,
    /// True if the last listing had nothing more to deliver: the time to wait for the doorbell.
    pub nothing_left: bool,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.envelopes.is_empty() && self.refused.is_empty()
    }
}

/// The right to have delivered envelopes removed.
#[derive(Debug, Default)]
#[must_use = "without an ack the envelopes are delivered again after a restart"]
pub struct Receipt {
    entries: Vec<(EnvelopeName, u64)>,
}

impl Receipt {
    /// Returns the names of its envelopes.
    pub fn names(&self) -> impl Iterator<Item = &EnvelopeName> {
        self.entries.iter().map(|(name, _)| name)
    }
}

impl Drain {
    /// Locks the spool, after creating missing folders.
    ///
    /// Refuses a spool of another user (running as root in someone's home would leave files there that
    /// their hooks cannot touch) and one that another drain holds.
    pub fn open(spool: &Spool) -> Result<Drain, DrainError> {
        let guard = Guard::probe(spool)?;
        spool.prepare()?;
        // Locked after `prepare`, which makes the folder of the lock.
        let path = spool.root().join("drain.lock");
        let lock = disk::open_lock(&path).map_err(SpoolError::at("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(DrainError::Busy(spool.root().to_owned())),
            Err(TryLockError::Error(source)) => return Err(SpoolError::at("lock", &path)(source).into()),
        }
        let drain = Drain {
            spool: spool.clone(),
            guard,
            queue: Vec::new(),
            in_flight: HashSet::new(),
            left: HashSet::new(),
            left_strangers: HashSet::new(),
            attempts: HashMap::new(),
            // Earlier drains may have left too many files, so the first refusal tidies.
            aside: quarantine::TIDIED_EVERY,
            _lock: lock,
        };
        drain.recount()?;
        Ok(drain)
    }

    /// Delivers up to `max_files` envelopes of up to `max_bytes` together, but at least one if any is
    /// deliverable.
    ///
    /// Oldest first by name; an envelope that arrives late with an old name (its hook was slow) comes
    /// with the next look into the folder. Every batch is in order in itself.
    pub fn next_batch(&mut self, max_files: usize, max_bytes: u64) -> Result<Batch, DrainError> {
        let mut batch = Batch {
            envelopes: Vec::new(),
            refused: Vec::new(),
            receipt: Receipt::default(),
            nothing_left: false,
        };
        let mut bytes = 0u64;
        let mut looks = 0;
        while batch.envelopes.len() + batch.refused.len() < max_files.max(1) {
            let Some(name) = self.queue.pop() else {
                // Network file systems can go on listing files that are gone.
                looks += 1;
                if looks > LOOKS_MAX {
                    break;
                }
                match self.list_new(&mut batch.refused) {
                    Ok(true) => continue,
                    Ok(false) => batch.nothing_left = true,
                    // What is already in the batch must reach the caller; the error will be back.
                    Err(_) if !batch.is_empty() => {}
                    Err(error) => return Err(error),
                }
                break;
            };
            // The first envelope has no limit of room: one larger than the batch would never be delivered.
            let room = (!batch.envelopes.is_empty()).then(|| max_bytes.saturating_sub(bytes));
            let path = self.spool.path(Folder::New, &name);
            match admit::admit(&self.guard, &path, room) {
                Ok(Admission::Admitted { header, body, size }) => {
                    bytes = bytes.saturating_add(size);
                    self.attempts.remove(&name);
                    self.in_flight.insert(name);
                    batch.receipt.entries.push((name, size));
                    batch.envelopes.push(Delivered { name, header, body });
                }
                Ok(Admission::NoRoom) => {
                    self.queue.push(name);
                    break;
                }
                Ok(Admission::Gone) => {}
                Ok(Admission::Refused(refusal)) => batch.refused.push(self.refuse(&name, refusal)),
                Err(source) => {
                    if let Some(refusal) = self.give_up(&name, &source) {
                        batch.refused.push(self.refuse(&name, refusal));
                        continue;
                    }
                    self.queue.push(name);
                    if batch.is_empty() {
                        return Err(SpoolError::at("read", &path)(source).into());
                    }
                    break;
                }
            }
        }
        // A second look may have found a late arrival with an older name.
        batch.envelopes.sort_unstable_by_key(|envelope| envelope.name);
        Ok(batch)
    }

    /// Removes the envelopes of a receipt. Call it only after the caller's own commit is on disk.
    ///
    /// A file that cannot be removed is not delivered again by this drain, but by the next one. The
    /// first failure is returned after everything else has been removed; there is nothing to repeat.
    pub fn ack(&mut self, receipt: Receipt) -> Result<(), DrainError> {
        let mut freed = 0;
        let mut failed = None;
        for (name, size) in receipt.entries {
            let path = self.spool.path(Folder::New, &name);
            match disk::remove(&path) {
                // A file that is gone already is what was asked for.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    failed.get_or_insert(SpoolError::at("remove", &path)(error));
                }
                _ => {
                    self.in_flight.remove(&name);
                    freed += units_of(size);
                }
            }
        }
        // Lowered after a failure too: the room of the removed files is free.
        let lowered = self.lower_used(freed);
        match failed {
            Some(error) => Err(error.into()),
            None => lowered,
        }
    }

    /// Puts aside delivered envelopes that the caller could not commit although it committed others, each with its
    /// reason. They return by [`Spool::requeue`] or [`Spool::requeue_unwritten`].
    pub fn put_aside(
        &mut self,
        receipt: &mut Receipt,
        unwritten: &[(EnvelopeName, String)],
    ) -> Result<Vec<RefusedFile>, DrainError> {
        let mut freed = 0;
        let mut refused = Vec::new();
        for (name, why) in unwritten {
            let Some(place) = receipt.entries.iter().position(|(delivered, _)| delivered == name) else {
                continue;
            };
            let (_, size) = receipt.entries.remove(place);
            self.in_flight.remove(name);
            let file = self.refuse(name, Refusal::Unwritten(why.clone()));
            // Only what left `new/` frees its units: the quarantine has limits of its own.
            if matches!(file.disposition, Disposition::Quarantined(_)) {
                freed += units_of(size);
            }
            refused.push(file);
        }
        self.lower_used(freed)?;
        Ok(refused)
    }

    /// Takes back a batch that could not be committed: its envelopes will be delivered again.
    pub fn put_back(&mut self, receipt: Receipt) {
        for (name, _) in &receipt.entries {
            self.in_flight.remove(name);
        }
        // They are older than the queued names; a new listing puts them first.
        self.queue.clear();
    }

    /// Returns the number of envelopes that are delivered and not acked.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sets `used` to the real number of units. Opening does this too; a server that keeps the drain open
    /// should repeat it now and then, because hooks that died left reservations behind.
    pub fn recount(&self) -> Result<(), DrainError> {
        let mut units = 0;
        // `tmp/` counts too: a half-written envelope takes room until the sweep.
        for folder in [Folder::New, Folder::Tmp] {
            each(&self.spool.folder(folder), |_, facts| units += units_of(facts.bytes))?;
        }
        self.set_used(|_| units)
    }

    /// Lists `new/`. Returns `false` if there is nothing to deliver.
    fn list_new(&mut self, refused: &mut Vec<RefusedFile>) -> Result<bool, DrainError> {
        let folder = self.spool.folder(Folder::New);
        let found = scan::smallest(&folder, QUEUE_MAX, |entry| match entry {
            Entry::Envelope(name) => self.in_flight.contains(name) || self.left.contains(name),
            Entry::Stranger(name) => self.left_strangers.contains(name),
        })?;
        self.queue = found.names;
        refused.extend(self.refuse_strangers(Folder::New, found.strangers));
        if found.was_empty {
            // Corrects every drift of the accounting at the moment when it is cheap.
            self.set_used(|_| 0)?;
        }
        Ok(!self.queue.is_empty())
    }

    /// Counts a failed read; a file that failed too often is refused, so that it does not block the
    /// others for ever. It is only moved, because it may be readable on another machine.
    ///
    /// A shortage is no fault of the file, and every other file would fail too, so the file waits without
    /// a limit.
    fn give_up(&mut self, name: &EnvelopeName, error: &io::Error) -> Option<Refusal> {
        if disk::is_shortage(error) {
            return None;
        }
        let attempts = self.attempts.entry(*name).or_default();
        *attempts += 1;
        if *attempts < ATTEMPTS_MAX {
            return None;
        }
        self.attempts.remove(name);
        Some(Refusal::Unreadable(error.to_string()))
    }

    fn refuse(&mut self, name: &EnvelopeName, refusal: Refusal) -> RefusedFile {
        let refused = quarantine::envelope(&self.spool, Folder::New, name, refusal);
        if matches!(refused.disposition, Disposition::LeftInPlace(_)) {
            self.left.insert(*name);
        }
        self.tidy();
        refused
    }

    /// Counts a file that was put aside, and trims the quarantine every [`quarantine::TIDIED_EVERY`] files.
    fn tidy(&mut self) {
        self.aside += 1;
        if self.aside >= quarantine::TIDIED_EVERY {
            self.aside = 0;
            quarantine::tidy(&self.spool);
        }
    }

    fn refuse_strangers(&mut self, from: Folder, names: Vec<OsString>) -> Vec<RefusedFile> {
        names
            .into_iter()
            .map(|name| {
                let refused = quarantine::stranger(&self.spool, from, &name);
                if matches!(refused.disposition, Disposition::LeftInPlace(_)) {
                    self.left_strangers.insert(name);
                }
                self.tidy();
                refused
            })
            .collect()
    }

    fn lower_used(&self, units: u64) -> Result<(), DrainError> {
        if units == 0 {
            return Ok(());
        }
        self.set_used(|taken| taken.saturating_sub(units))
    }

    /// Changes the length of `used`. A hook that appends between our look and our cut loses its
    /// reservation: `used` is then a few units too low until the next recount.
    fn set_used(&self, change: impl FnOnce(u64) -> u64) -> Result<(), DrainError> {
        let path = self.spool.used();
        let failed = || SpoolError::at("recount", &path);
        let file = disk::open_append(&path).map_err(failed())?;
        let taken = disk::facts_of(&file).map_err(failed())?.bytes;
        let wanted = change(taken);
        if wanted != taken {
            disk::set_len(&file, wanted).map_err(failed())?;
        }
        Ok(())
    }
}

/// Why the spool could not be drained.
#[derive(Debug)]
pub enum DrainError {
    /// Another drain holds the spool.
    Busy(PathBuf),
    /// The folder belongs to someone else.
    Foreign(PathBuf),
    /// A file operation failed.
    Failed(SpoolError),
}

impl From<SpoolError> for DrainError {
    fn from(error: SpoolError) -> DrainError {
        DrainError::Failed(error)
    }
}

impl fmt::Display for DrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrainError::Busy(path) => {
                write!(f, "another process drains the spool `{}`", path.display())
            }
            DrainError::Foreign(path) => {
                write!(f, "the spool `{}` belongs to another user", path.display())
            }
            DrainError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DrainError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DrainError::Failed(error) => error.source(),
            DrainError::Busy(_) | DrainError::Foreign(_) => None,
        }
    }
}
