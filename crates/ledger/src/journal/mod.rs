//! What is posted while the writer is busy: written down at once, folded soon after.
//!
//! Folding an event into everything that is known takes longer than writing it down, and a writer that is at it, or at
//! a long import, would make an agent wait for its hook. So whatever comes meanwhile goes into the journal: one thread
//! gathers it, writes it and waits for the disk once for all of it. Then it is acknowledged. The writer folds it from
//! there like everything else, and notes how far it came in the same transaction.

mod file;
mod record;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent_tracer_event::Outcome;
use xxhash_rust::xxh3::xxh3_128;

pub(crate) use file::{Part, Place};

use crate::observed::{Batch, Observed, Receipt, Verdict};
use file::JournalFile;

/// Batches that wait to be written down; more are refused.
const QUEUE: usize = 1_024;

/// Bytes of one write.
const GROUP_BYTES: usize = 4 << 20;

/// Whoever comes while so much waits to be folded has to wait for the writer: the journal is for bursts.
const MOST_WAITING: u64 = 256 << 20;

/// The file is not made longer than this.
const LONGEST: u64 = 1 << 30;

/// A file that is shorter is not worth using anew.
const WORTH_USING_ANEW: u64 = 1 << 20;

/// For so long after it was last used, the journal is where posts go: whoever posts now is not the only one.
const LATELY: Duration = Duration::from_millis(50);

/// What waits is folded when it has waited for this long,
const OLD: Duration = Duration::from_millis(8);

/// or is this much: one transaction for many costs little more than one for few.
const MANY_BYTES: u64 = 1 << 20;

/// Told what became of a batch.
pub(crate) type Done = Box<dyn FnOnce(io::Result<Receipt>) + Send>;

/// Whether an observation of this name was folded before.
pub(crate) type Known = Box<dyn FnMut(&str) -> bool + Send>;

/// What becomes of the observations of a batch, and the names of those that are new.
type Noted = (Vec<Outcome>, Vec<u128>);

enum Job {
    Take(Batch, Done),
    UseAnew { leave_nothing: bool, done: Option<SyncSender<()>> },
    Close,
}

/// What the two threads know of each other.
#[derive(Debug)]
struct Shared {
    /// When this process opened the journal; other moments are counted from it.
    opened: Instant,
    /// When something was last written down, in milliseconds; none yet if it is the greatest number.
    used: AtomicU64,
    number: AtomicU64,
    /// Everything before is on disk.
    end: AtomicU64,
    /// Everything before is folded.
    folded: AtomicU64,
    /// Whether the writer was told that something waits.
    is_rung: AtomicBool,
    /// Whether the file cannot be trusted any more: nothing is taken until the next start.
    is_broken: AtomicBool,
    /// Names of what waits.
    names: Mutex<HashSet<u128>>,
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

    fn names(&self) -> std::sync::MutexGuard<'_, HashSet<u128>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(name: &str) -> u128 {
    xxh3_128(name.as_bytes())
}

/// The journal, for whoever brings something.
pub(crate) struct Journal {
    jobs: SyncSender<Job>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The journal, for the writer.
pub(crate) struct Waiting {
    file: JournalFile,
    shared: Arc<Shared>,
    jobs: SyncSender<Job>,
    /// When the writer first saw what waits now.
    since: Option<Instant>,
}

/// A place up to which something was promised; see [`Journal::promise`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise(Place);

impl Journal {
    /// Opens the journal in this file; `ring` is called when something waits to be folded.
    pub(crate) fn open(
        path: &Path,
        folded: Place,
        known: Known,
        ring: impl Fn() + Send + 'static,
    ) -> io::Result<(Self, Waiting)> {
        let file = JournalFile::open(path, folded)?;
        let reader = file.reader()?;
        let from = if file.number == folded.number { folded.offset.max(file::HEAD) } else { file::HEAD };
        let shared = Arc::new(Shared::new(&file, from));
        let mut at = from;
        while at < file.end {
            let part = file.read(at, file.end, usize::MAX)?;
            if part.end == at {
                break;
            }
            at = part.end;
            shared.names().extend(part.observed.iter().map(|(observed, _)| hash(&observed.name)));
        }
        let (jobs, waiting) = sync_channel(QUEUE);
        let desk = Desk { file, shared: Arc::clone(&shared), known, ring: Box::new(ring) };
        let thread = std::thread::Builder::new()
            .name("ledger-journal".to_owned())
            .spawn(move || desk.run(&waiting))?;
        let writer = Waiting { file: reader, shared: Arc::clone(&shared), jobs: jobs.clone(), since: None };
        Ok((Self { jobs, shared, thread: Mutex::new(Some(thread)) }, writer))
    }

    /// Whether something waits to be folded, or did a moment ago.
    pub(crate) fn is_in_use(&self) -> bool {
        self.shared.waiting() > 0 || self.shared.was_used_lately()
    }

    /// Bytes that wait to be folded.
    pub(crate) fn waiting(&self) -> u64 {
        self.shared.waiting()
    }

    /// Whether there is room for more.
    pub(crate) fn has_room(&self) -> bool {
        let end = self.shared.end.load(Ordering::SeqCst);
        self.shared.waiting() < MOST_WAITING && end < LONGEST && !self.shared.is_broken.load(Ordering::SeqCst)
    }

    /// Takes a batch of observations that each stand for themselves. A batch that has no room comes back.
    pub(crate) fn take(&self, batch: Batch, done: Done) -> Result<(), (Batch, Done)> {
        match self.jobs.try_send(Job::Take(batch, done)) {
            Ok(()) => Ok(()),
            Err(
                TrySendError::Full(Job::Take(batch, done))
                | TrySendError::Disconnected(Job::Take(batch, done)),
            ) => Err((batch, done)),
            Err(_) => Ok(()),
        }
    }

    /// What was acknowledged until now.
    pub(crate) fn promise(&self) -> Promise {
        let number = self.shared.number.load(Ordering::SeqCst);
        Promise(Place { number, offset: self.shared.end.load(Ordering::SeqCst) })
    }

    /// Whether what was acknowledged then is folded.
    pub(crate) fn is_kept(&self, Promise(place): Promise) -> bool {
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

impl Waiting {
    /// Whether something waits to be folded.
    pub(crate) fn is_behind(&self) -> bool {
        // In this order: whoever writes something down meanwhile either is seen here or rings again.
        self.shared.is_rung.store(false, Ordering::SeqCst);
        self.shared.waiting() > 0
    }

    /// How long what waits may wait for more of it: not at all once it is much or old. None if nothing waits.
    pub(crate) fn patience(&mut self) -> Option<Duration> {
        if !self.is_behind() {
            self.since = None;
            return None;
        }
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        let is_much = self.shared.waiting() >= MANY_BYTES;
        Some(if is_much { Duration::ZERO } else { OLD.saturating_sub(waited) })
    }

    /// The next records that wait, at most so many.
    pub(crate) fn read(&self, most: usize) -> io::Result<Part> {
        let until = self.shared.end.load(Ordering::SeqCst);
        let number = self.shared.number.load(Ordering::SeqCst);
        let from = self.shared.folded.load(Ordering::SeqCst);
        if from >= until {
            return Ok(Part { end: from, ..Part::default() });
        }
        let mut reader = self.file.reader()?;
        reader.number = number;
        reader.read(from, until, most)
    }

    /// The place at this offset.
    pub(crate) fn place(&self, offset: u64) -> Place {
        Place { number: self.shared.number.load(Ordering::SeqCst), offset }
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
        let is_done = self.shared.waiting() == 0;
        if is_done && offset >= WORTH_USING_ANEW {
            self.jobs.try_send(Job::UseAnew { leave_nothing: false, done: None }).ok();
        }
    }

    /// Leaves nothing behind in the file, if everything in it is folded.
    pub(crate) fn clear(&self) {
        let (done, told) = sync_channel(1);
        if self.jobs.send(Job::UseAnew { leave_nothing: true, done: Some(done) }).is_ok() {
            told.recv().ok();
        }
    }
}

/// The thread that writes the journal.
struct Desk {
    file: JournalFile,
    shared: Arc<Shared>,
    known: Known,
    ring: Box<dyn Fn() + Send>,
}

impl Desk {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut bytes = Vec::new();
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Close => break,
                Job::UseAnew { leave_nothing, done } => self.use_anew(leave_nothing, done),
                Job::Take(batch, done) => {
                    bytes.clear();
                    let mut group = Vec::new();
                    let mut rest = Some(Job::Take(batch, done));
                    while let Some(Job::Take(batch, done)) = rest {
                        group.push((self.note(&batch, &mut bytes), done));
                        rest = if bytes.len() < GROUP_BYTES { jobs.try_recv().ok() } else { None };
                    }
                    self.write(&bytes, group);
                    bytes.shrink_to(GROUP_BYTES);
                    match rest {
                        Some(Job::UseAnew { leave_nothing, done }) => self.use_anew(leave_nothing, done),
                        Some(Job::Close) => break,
                        Some(Job::Take(..)) | None => {}
                    }
                }
            }
        }
    }

    /// Adds a batch to what will be written; gives what becomes of its observations, and their names.
    fn note(&mut self, batch: &Batch, bytes: &mut Vec<u8>) -> Noted {
        let mut names = Vec::new();
        let outcomes = batch.observed.iter().map(|observed| {
            let outcome = self.outcome(observed, &names);
            if !record::write(observed, self.file.number, bytes) {
                return Outcome::Malformed;
            }
            if outcome != Outcome::Duplicate {
                names.push(hash(&observed.name));
            }
            outcome
        });
        (outcomes.collect(), names)
    }

    /// What becomes of an observation. One that is known is written down all the same: it is counted where it is folded.
    fn outcome(&mut self, observed: &Observed, before: &[u128]) -> Outcome {
        match observed.verdict {
            Verdict::Malformed(_) => Outcome::Malformed,
            Verdict::Refused(_) => Outcome::Refused,
            Verdict::Read(_) => {
                let name = hash(&observed.name);
                // First what waits, then what is folded: it leaves the one only after it is in the other.
                let is_known = before.contains(&name)
                    || self.shared.names().contains(&name)
                    || (self.known)(&observed.name);
                if is_known { Outcome::Duplicate } else { Outcome::Recorded }
            }
        }
    }

    fn write(&mut self, bytes: &[u8], group: Vec<(Noted, Done)>) {
        let written = if self.shared.is_broken.load(Ordering::SeqCst) {
            Err(io::Error::other("the journal cannot be written"))
        } else {
            self.file.append(bytes)
        };
        match written {
            Ok(()) => {
                self.shared.names().extend(group.iter().flat_map(|((_, names), _)| names));
                self.shared.end.store(self.file.end, Ordering::SeqCst);
                self.shared.note_use();
                if !self.shared.is_rung.swap(true, Ordering::SeqCst) {
                    (self.ring)();
                }
                for ((outcomes, _), done) in group {
                    done(Ok(Receipt { outcomes, ..Receipt::default() }));
                }
            }
            Err(error) => {
                for (_, done) in group {
                    done(Err(io::Error::new(error.kind(), error.to_string())));
                }
            }
        }
    }

    fn use_anew(&mut self, leave_nothing: bool, done: Option<SyncSender<()>>) {
        if self.shared.waiting() == 0 {
            self.begin_anew(leave_nothing);
        }
        if let Some(done) = done {
            done.send(()).ok();
        }
    }

    fn begin_anew(&mut self, leave_nothing: bool) {
        let used = if leave_nothing { self.file.clear() } else { self.file.begin_anew() };
        if used.is_err() {
            // Nobody knows which number the head has now: what would be written behind it might not be found again.
            self.shared.is_broken.store(true, Ordering::SeqCst);
        } else {
            // Nothing waits, whichever of these is seen first.
            self.shared.folded.store(u64::MAX, Ordering::SeqCst);
            self.shared.number.store(self.file.number, Ordering::SeqCst);
            self.shared.end.store(self.file.end, Ordering::SeqCst);
            self.shared.folded.store(file::HEAD, Ordering::SeqCst);
        }
    }
}
