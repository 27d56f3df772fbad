//! The journal of posts that arrive while the writer is busy: they are written at once and folded soon afterwards.
//!
//! Folding an event into everything that is known takes longer than writing it down, and a writer that is at it, or at
//! a long import, would make an agent wait for its hook. So whatever comes meanwhile goes into the journal: one thread
//! gathers it, writes it and waits for the disk once for all of it. Then it is acknowledged. The writer folds it from
//! there like everything else, and notes how far it came in the same transaction. It does not wait for the disk with
//! that, because what the disk loses is folded again from here: so the journal waits for the store before it writes
//! over anything.

mod file;
mod group_writer;
mod handoff_buffer;
mod record;

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

pub(crate) use file::{JournalPosition, RecordRun, create, waits};

use crate::aside_folder::{AsideFolder, AsideKind};
use crate::observation::{Observed, Receipt};
use crate::sqlite::faults::Faults;
use crate::sqlite::prepared::{Prepared, PreparedEntry};
use crate::sqlite::store_files::StoreFiles;
use file::JournalFile;
use group_writer::GroupWriter;
use handoff_buffer::HandoffBuffer;

/// Batches that wait to be written down; more are refused.
const QUEUE: usize = 1_024;

/// The most bytes that wait to be folded. Beyond them posts wait for the writer: the journal is for bursts.
const MOST_WAITING: u64 = 256 << 20;

/// The file is not made longer than this.
const LONGEST: u64 = 1 << 30;

/// A file that is shorter is not worth using anew.
const WORTH_USING_ANEW: u64 = 1 << 20;

/// The time after its last use in which posts go to the journal: more of them are likely to come.
const LATELY: Duration = Duration::from_millis(50);

/// The longest time that a post waits to be folded,
const OLD: Duration = Duration::from_millis(8);

/// or is this much: one transaction for many costs little more than one for few. While more of it comes, this is a
/// burst: the writer then leaves the processors to those who post, because each of them waits for an answer,
const BURST_BYTES: u64 = 64 << 10;

/// and rests this many times as long as it folds,
const RESTS: u32 = 12;

/// until so much waits that it must be folded as fast as it can be.
const PRESSING: u64 = MOST_WAITING / 2;

/// Receives the outcome of a batch.
pub(crate) type PostReply = Box<dyn FnOnce(io::Result<Receipt>) + Send>;

/// Looks up the observations that were folded before, by their names.
pub(crate) type FoldedLookup = Box<dyn FnMut(&[&str]) -> Vec<bool> + Send>;

/// Waits until everything that was folded is on disk in the store as well.
pub(crate) type Settle = Box<dyn FnMut() -> io::Result<()> + Send>;

/// The checks that the journal makes before it acknowledges anything, and the record of its faults.
pub(crate) struct JournalChecks {
    pub(crate) files: Arc<StoreFiles>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) aside: AsideFolder,
}

/// Returns an observation as a record that stands for itself, of no journal; none if it cannot be written.
pub(crate) fn encode(observed: &Observed, ready: &[PreparedEntry]) -> Option<Vec<u8>> {
    let mut record = Vec::new();
    record::write(observed, ready, 0, &mut record).then_some(record)
}

/// Reads such a record; none if it is damaged or this version does not understand it.
pub(crate) fn decode(bytes: &[u8]) -> Option<Prepared> {
    let record::FoundRecord::Record(body, _) = record::find(bytes, 0) else { return None };
    let (observed, ready) = record::read(body)?;
    let mut prepared = Prepared::default();
    prepared.push(observed, ready);
    Some(prepared)
}

enum Job {
    Take(Prepared, PostReply),
    UseAnew { leave_nothing: bool, done: Option<SyncSender<()>> },
    Close,
}

/// Names of observations, each by its hash.
type Names = HashSet<u128, BuildHasherDefault<HashedKey>>;

/// A hash is spread evenly already: hashing it again would cost as much as looking it up.
#[derive(Default)]
struct HashedKey(u64);

impl Hasher for HashedKey {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The state that the two threads share.
#[derive(Debug)]
struct Shared {
    /// The moment when this process opened the journal; other moments are counted from it.
    opened: Instant,
    /// The moment when something was last written down, in milliseconds; none yet if it is the greatest number.
    used: AtomicU64,
    number: AtomicU64,
    /// Everything before is on disk.
    end: AtomicU64,
    /// Everything before is folded.
    folded: AtomicU64,
    /// The writer was notified of waiting posts.
    is_rung: AtomicBool,
    /// The file cannot be trusted any more. The journal takes nothing until the next start.
    is_broken: AtomicBool,
    /// Names of what waits.
    names: Mutex<Names>,
    /// Recently written records, in memory.
    handed: Mutex<HandoffBuffer>,
}

impl Shared {
    fn new(file: &JournalFile, folded: u64) -> Self {
        Self {
            opened: Instant::now(),
            used: AtomicU64::new(u64::MAX),
            number: AtomicU64::new(file.number),
            end: AtomicU64::new(file.end),
            folded: AtomicU64::new(folded),
            is_rung: AtomicBool::default(),
            is_broken: AtomicBool::default(),
            names: Mutex::default(),
            handed: Mutex::default(),
        }
    }

    fn note_use(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.used.store(now, Ordering::SeqCst);
    }

    fn was_used_lately(&self) -> bool {
        let used = self.used.load(Ordering::SeqCst);
        let until = Duration::from_millis(used).saturating_add(LATELY);
        used != u64::MAX && self.opened.elapsed() < until
    }

    fn waiting(&self) -> u64 {
        // The end is asked first: it never comes before what is folded.
        let folded = self.folded.load(Ordering::SeqCst);
        self.end.load(Ordering::SeqCst).saturating_sub(folded)
    }

    fn names(&self) -> std::sync::MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handoff(&self) -> std::sync::MutexGuard<'_, HandoffBuffer> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time that `waiting` bytes may still wait for more, `waited` after the first of them. `rest` is the pause
/// of the writer after its last fold, and `comes_more` is `true` while posts keep coming.
fn patience(waiting: u64, waited: Duration, rest: Duration, comes_more: bool) -> Duration {
    match waiting {
        // Each fold leaves less processor to those who post and wait for an answer. Rest is capped, so that a long
        // fold does not delay what follows.
        BURST_BYTES..PRESSING if comes_more => rest.saturating_sub(waited).min(LATELY),
        BURST_BYTES.. => Duration::ZERO,
        _ => OLD.saturating_sub(waited),
    }
}

fn hash(name: &str) -> u128 {
    xxh3_128(name.as_bytes())
}

/// The side of the journal that takes batches.
pub(crate) struct Journal {
    jobs: SyncSender<Job>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The journal, for the writer.
pub(crate) struct JournalReader {
    file: JournalFile,
    shared: Arc<Shared>,
    jobs: SyncSender<Job>,
    /// The moment when the writer first saw what waits now.
    since: Option<Instant>,
    /// The moment when it began to fold, and how long it rests after that.
    begun: Option<Instant>,
    rest: Duration,
}

/// A place up to which something was promised; see [`Journal::flush_token`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlushToken(JournalPosition);

impl Journal {
    /// Opens the journal in this file; `ring` is called when something waits to be folded, `settle` before anything
    /// that was folded is written over.
    pub(crate) fn open(
        file: File,
        folded: JournalPosition,
        known: FoldedLookup,
        mut settle: Settle,
        checks: JournalChecks,
        ring: impl Fn() + Send + 'static,
    ) -> io::Result<(Self, JournalReader)> {
        // The store may have lost commits whose records are still in the file. Opening decides what is written over,
        // so the store has to be on disk before that.
        settle()?;
        let mut file = JournalFile::open(file, folded)?;
        if let Some(torn) = file.torn.take() {
            // A torn end may be the rest of a post that was acknowledged on a disk that lied. It is kept, because the
            // next record is written over it.
            checks.aside.keep(AsideKind::Journal, "it stood at the end and is no whole record", &torn)?;
            checks.faults.posts_torn();
        }
        let reader = file.reader()?;
        // A number that the store does not know is that of a use which began after its last fold: nothing of it is
        // folded yet.
        let from = if file.number == folded.number { folded.offset.max(file::HEAD) } else { file::HEAD };
        let shared = Arc::new(Shared::new(&file, from));
        let mut at = from;
        while at < file.end {
            let part = file.read(at, file.end, usize::MAX)?;
            if part.end == at {
                break;
            }
            at = part.end;
            // A client repeats a post that it got no answer to. Without these names the repeat of one that waits
            // would be reported as new.
            shared.names().extend(part.prepared.batch.observed.iter().map(|observed| hash(&observed.name)));
        }
        let (jobs, waiting) = sync_channel(QUEUE);
        let writer = GroupWriter::new(file, Arc::clone(&shared), known, settle, checks, Box::new(ring));
        let thread = std::thread::Builder::new()
            .name("ledger-journal".to_owned())
            .spawn(move || writer.run(&waiting))?;
        let writer = JournalReader {
            file: reader,
            shared: Arc::clone(&shared),
            jobs: jobs.clone(),
            since: None,
            begun: None,
            rest: Duration::ZERO,
        };
        Ok((Self { jobs, shared, thread: Mutex::new(Some(thread)) }, writer))
    }

    /// Returns whether something waits to be folded, or did a moment ago.
    pub(crate) fn is_in_use(&self) -> bool {
        self.shared.waiting() > 0 || self.shared.was_used_lately()
    }

    /// Returns the number of bytes that wait to be folded.
    pub(crate) fn waiting(&self) -> u64 {
        self.shared.waiting()
    }

    /// Returns whether there is room for more.
    pub(crate) fn has_room(&self) -> bool {
        let end = self.shared.end.load(Ordering::SeqCst);
        self.shared.waiting() < MOST_WAITING && end < LONGEST && !self.shared.is_broken.load(Ordering::SeqCst)
    }

    /// Takes a batch of observations that each stand for themselves. A batch that has no room comes back.
    pub(crate) fn take(&self, batch: Prepared, done: PostReply) -> Result<(), (Prepared, PostReply)> {
        match self.jobs.try_send(Job::Take(batch, done)) {
            Ok(()) => Ok(()),
            Err(
                TrySendError::Full(Job::Take(batch, done))
                | TrySendError::Disconnected(Job::Take(batch, done)),
            ) => Err((batch, done)),
            // Only a batch was sent, so only a batch can come back.
            Err(_) => Ok(()),
        }
    }

    /// Returns a token for all posts acknowledged so far.
    pub(crate) fn flush_token(&self) -> FlushToken {
        let number = self.shared.number.load(Ordering::SeqCst);
        FlushToken(JournalPosition { number, offset: self.shared.end.load(Ordering::SeqCst) })
    }

    /// Returns whether what was acknowledged then is folded.
    pub(crate) fn is_flushed(&self, FlushToken(place): FlushToken) -> bool {
        // A file is used anew only when everything in it is folded, so another number answers for all places of the
        // old one.
        self.shared.number.load(Ordering::SeqCst) != place.number
            || self.shared.folded.load(Ordering::SeqCst) >= place.offset
    }

    /// Takes nothing any more and writes down what it took.
    pub(crate) fn close(&self) {
        self.jobs.send(Job::Close).ok();
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }
}

impl JournalReader {
    /// Returns whether something waits to be folded.
    pub(crate) fn is_behind(&self) -> bool {
        // In this order: a record that is written meanwhile is either seen here or rings again.
        self.shared.is_rung.store(false, Ordering::SeqCst);
        self.shared.waiting() > 0
    }

    /// Returns how long what waits may wait for more of it: not at all once it is much or old. None if nothing waits.
    pub(crate) fn patience(&mut self) -> Option<Duration> {
        if !self.is_behind() {
            self.since = None;
            return None;
        }
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        Some(patience(self.shared.waiting(), waited, self.rest, self.shared.was_used_lately()))
    }

    /// Notes that the writer begins to fold.
    pub(crate) fn begin(&mut self) {
        self.begun = Some(Instant::now());
    }

    /// Returns the next records that wait, at most so many.
    pub(crate) fn read(&self, most: usize) -> io::Result<RecordRun> {
        let until = self.shared.end.load(Ordering::SeqCst);
        let number = self.shared.number.load(Ordering::SeqCst);
        let from = self.shared.folded.load(Ordering::SeqCst);
        if from >= until {
            return Ok(RecordRun { end: from, ..RecordRun::default() });
        }
        let mut buffer = self.shared.handoff();
        if let Some(part) = buffer.take(from, most) {
            return Ok(part);
        }
        let until = buffer.begins().unwrap_or(until).min(until);
        drop(buffer);
        let mut reader = self.file.reader()?;
        reader.number = number;
        reader.read(from, until, most)
    }

    /// Returns the place at this offset.
    pub(crate) fn position(&self, offset: u64) -> JournalPosition {
        JournalPosition { number: self.shared.number.load(Ordering::SeqCst), offset }
    }

    /// Notes that everything up to here is folded: these were.
    pub(crate) fn folded<'a>(&mut self, offset: u64, names: impl Iterator<Item = &'a str>) {
        // Now that they are in the store, they are found there.
        let mut waiting = self.shared.names();
        for name in names {
            waiting.remove(&hash(name));
        }
        drop(waiting);
        self.shared.folded.store(offset, Ordering::SeqCst);
        self.since = None;
        self.rest = self.begun.take().map_or(Duration::ZERO, |begun| begun.elapsed().saturating_mul(RESTS));
        let is_done = self.shared.waiting() == 0;
        // Overwriting costs the disk less than growing, but it waits for the store's log first, which little data is
        // not worth.
        if is_done && offset >= WORTH_USING_ANEW {
            // Not awaited, unlike in `clear`: nothing depends on it, and it is tried again after the next fold.
            self.jobs.try_send(Job::UseAnew { leave_nothing: false, done: None }).ok();
        }
    }

    /// Leaves nothing behind in the file, if everything in it is folded.
    pub(crate) fn clear(&self) {
        let (done, reported) = sync_channel(1);
        if self.jobs.send(Job::UseAnew { leave_nothing: true, done: Some(done) }).is_ok() {
            reported.recv().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_waits_for_more_and_much_does_not() {
        let [zero, one] = [0, 1].map(Duration::from_millis);
        assert_eq!(patience(1, zero, zero, true), OLD);
        assert_eq!(patience(1, one, zero, false), OLD - one);
        assert_eq!(patience(1, OLD * 2, zero, true), zero);
        assert_eq!(patience(BURST_BYTES, zero, zero, true), zero);
    }

    #[test]
    fn a_writer_in_a_burst_rests_until_posts_pause_or_too_much_waits() {
        let [zero, one, ten] = [0, 1, 10].map(Duration::from_millis);
        assert_eq!(patience(BURST_BYTES, one, ten, true), ten - one);
        assert_eq!(
            patience(BURST_BYTES, zero, LATELY * 9, true),
            LATELY,
            "it looks again whether posts still come"
        );
        assert_eq!(patience(BURST_BYTES, ten, ten, true), zero, "it has rested");
        assert_eq!(patience(BURST_BYTES, zero, ten, false), zero, "no more posts come");
        assert_eq!(patience(PRESSING, zero, ten, true), zero);
        assert_eq!(patience(BURST_BYTES - 1, zero, ten, true), OLD, "this is none");
    }
}
