//! The embedded store: one SQLite file, one thread that writes, a few connections that read.

mod aliases;
mod append;
mod checkpoint;
pub(crate) mod codec;
mod endings;
pub(crate) mod facts;
mod flush;
mod kept;
mod life;
mod open;
mod owners;
mod pack;
mod posted;
pub(crate) mod prepared;
pub(crate) mod read;
mod refold;
mod residual;
mod running;
mod settle;
mod skills;
mod sources;
mod standing;
mod tasks;
mod upgrade;
mod upkeep;
pub(crate) mod words;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::JoinHandle;

use agent_tracer_event::{Agent, TaskId};
use agent_tracer_prices::Prices;
use rusqlite::OptionalExtension;

pub use open::OpenError;
pub use read::{Coming, Outbox, Past, PastDeed, PastPrompt, PastSpending};
pub use running::RunningProcess;
pub use upgrade::{Stage, Upgrade};
pub use upkeep::{Kept, Retention, Upkeep};

use crate::journal::{self, Journal};
use crate::observed::{Batch, Cursor, Receipt};
use crate::project::tally::Pricer;
use crate::store::{QueryError, Store};
use crate::view::Row;
use prepared::Prepared;

/// Batches that wait for the writer; more are refused.
const QUEUE: usize = 256;

/// How a ledger is opened.
pub struct Options {
    /// The name of this machine, on every entry.
    pub machine_id: String,
    /// What responses cost.
    pub pricer: Arc<dyn Pricer>,
}

impl Default for Options {
    fn default() -> Self {
        Self { machine_id: "local".to_owned(), pricer: Arc::new(Prices::embedded()) }
    }
}

/// Why something was not written. Whoever brought it still has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendError {
    /// The disk is full.
    DiskFull,
    /// The file cannot be written.
    ReadOnly,
    /// The ledger is closed.
    Closed,
    /// Something else.
    Store(String),
}

impl AppendError {
    /// Whether trying the same again at once is of no use.
    fn is_lasting(&self) -> bool {
        !matches!(self, Self::Store(_))
    }
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DiskFull => f.write_str("the disk is full"),
            Self::ReadOnly => f.write_str("the store cannot be written"),
            Self::Closed => f.write_str("the store is closed"),
            Self::Store(what) => write!(f, "the store could not write: {what}"),
        }
    }
}

impl std::error::Error for AppendError {}

/// Too much waits to be written. The batch comes back.
#[derive(Debug)]
pub struct Full(pub Batch);

/// What a commit changed.
#[derive(Clone, Debug, Default)]
pub struct Committed {
    /// The newest place in the order of delivery.
    pub seq: u64,
    /// Rows that are new or changed.
    pub rows: Vec<Row>,
    /// Rows that are gone because they turned out to be part of another.
    pub removed: Vec<String>,
    /// Tasks that changed.
    pub tasks: Vec<TaskId>,
}

type Done = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;

/// Somebody who is told of commits while they want to be.
struct Listener {
    wants: Box<dyn Fn() -> bool + Send + Sync>,
    tell: Box<dyn Fn(&Committed) + Send + Sync>,
}

/// What the writer is asked to do.
enum Job {
    Append(Prepared, Done),
    Run(Box<dyn FnOnce(&mut writer::Writer) + Send>),
    /// Something waits in the journal.
    Posted,
    Close,
}

/// What was acknowledged up to some moment.
#[derive(Clone, Copy, Debug)]
pub struct Promise(journal::Promise);

/// The ledger on this machine.
pub struct Ledger {
    jobs: SyncSender<Job>,
    /// Batches that the writer has not answered.
    unanswered: Arc<AtomicUsize>,
    journal: Journal,
    thread: Mutex<Option<JoinHandle<()>>>,
    listeners: Arc<RwLock<Vec<Listener>>>,
    store: Arc<read::SqliteStore>,
}

impl Ledger {
    /// Opens the ledger in this file, and makes it if there is none.
    ///
    /// # Errors
    /// If the file is damaged, newer than this version, another program's, or cannot be written.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        Self::open_watched(path, options, |_| ())
    }

    /// The same, and says meanwhile how far it is where the file is of an older version: that may take minutes.
    ///
    /// # Errors
    /// As for [`Ledger::open`].
    pub fn open_watched(
        path: &Path,
        options: Options,
        watch: impl Fn(Upgrade) + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let watch: upgrade::Watch = Arc::new(watch);
        let conn = open::open_watched(path, &watch)?;
        let seq: i64 = conn
            .query_row("SELECT value FROM meta WHERE key = 'seq'", [], |row| row.get(0))
            .optional()?
            .unwrap_or(0);
        let listeners: Arc<RwLock<Vec<Listener>>> = Arc::default();
        let beside = |end: &str| {
            let mut beside = path.as_os_str().to_owned();
            beside.push(end);
            PathBuf::from(beside)
        };
        let (jobs, queue) = sync_channel(QUEUE);
        let asked = read::SqliteStore::open_alone(path)?;
        let bell = jobs.clone();
        let (journal, waiting) = Journal::open(
            &beside("-journal-of-posts"),
            posted::folded(&conn)?,
            // Who cannot be asked has not seen it: folding it decides.
            Box::new(move |names| asked.known(names).unwrap_or_default()),
            checkpoint::settler(beside("-wal")),
            // A writer whose queue is full looks into the journal before it rests.
            move || drop(bell.try_send(Job::Posted)),
        )
        .map_err(|error| OpenError::Io(error.to_string()))?;
        let unanswered = Arc::new(AtomicUsize::new(0));
        let writer = writer::Writer {
            conn,
            memory: append::Memory {
                words: words::Words::default(),
                tasks: tasks::Tasks::default(),
                seq,
                machine_id: options.machine_id,
            },
            pricer: options.pricer,
            listeners: Arc::clone(&listeners),
            log: beside("-wal"),
            aside: beside("-set-aside"),
            waiting,
            unanswered: Arc::clone(&unanswered),
            follower: read::Follower::default(),
            commits: 0,
            waits_for_disk: true,
            checkpointer: checkpoint::Checkpointer::start(path)?,
            moved: 0,
        };
        let store = Arc::new(read::SqliteStore::open(path)?);
        let thread = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(move || writer.run(&queue))
            .map_err(|error| OpenError::Io(error.to_string()))?;
        Ok(Self { jobs, unanswered, journal, thread: Mutex::new(Some(thread)), listeners, store })
    }

    /// Brings a batch and waits until it is on disk.
    ///
    /// # Errors
    /// If it could not be written; then nothing of it was.
    pub fn append(&self, batch: Batch) -> Result<Receipt, AppendError> {
        let (tell, told) = sync_channel(1);
        let done: Done = Box::new(move |answer| {
            tell.send(answer).ok();
        });
        let prepared = Prepared::of(batch);
        self.unanswered.fetch_add(1, Ordering::SeqCst);
        if self.jobs.send(Job::Append(prepared, done)).is_err() {
            self.unanswered.fetch_sub(1, Ordering::SeqCst);
            return Err(AppendError::Closed);
        }
        told.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// Brings a batch and says later, on the writer's thread, what became of it.
    ///
    /// # Errors
    /// If too much waits already, or the ledger is closed: the batch comes back.
    pub fn submit(
        &self,
        batch: Batch,
        done: impl FnOnce(Result<Receipt, AppendError>) + Send + 'static,
    ) -> Result<(), Full> {
        self.submit_prepared(Prepared::of(batch), Box::new(done))
    }

    fn submit_prepared(&self, prepared: Prepared, done: Done) -> Result<(), Full> {
        self.unanswered.fetch_add(1, Ordering::SeqCst);
        match self.jobs.try_send(Job::Append(prepared, done)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => {
                self.unanswered.fetch_sub(1, Ordering::SeqCst);
                match job {
                    Job::Append(batch, _) => Err(Full(batch.into_batch())),
                    Job::Run(_) | Job::Posted | Job::Close => Ok(()),
                }
            }
        }
    }

    /// Brings observations that each stand for themselves, and says later what became of them. They are on disk then;
    /// they are folded at once if the writer has nothing else to do, and soon after if it has.
    ///
    /// # Errors
    /// If too much waits already, or the ledger is closed: the batch comes back.
    pub fn post(
        &self,
        batch: Batch,
        done: impl FnOnce(Result<Receipt, AppendError>) + Send + 'static,
    ) -> Result<(), Full> {
        let stands_alone = batch.cursors.is_empty() && batch.skipped == 0 && !batch.reread;
        let is_busy = self.unanswered.load(Ordering::SeqCst) > 0 || self.journal.is_in_use();
        if !(stands_alone && is_busy && self.journal.has_room()) {
            return self.submit(batch, done);
        }
        let told: journal::Done = Box::new(move |taken| done(taken.map_err(AppendError::from)));
        match self.journal.take(Prepared::of(batch), told) {
            Ok(()) => Ok(()),
            Err((prepared, told)) => self.submit_prepared(
                prepared,
                Box::new(move |answer| told(answer.map_err(std::io::Error::other))),
            ),
        }
    }

    /// What was acknowledged until now.
    #[must_use]
    pub fn promise(&self) -> Promise {
        Promise(self.journal.promise())
    }

    /// Whether everything that was acknowledged then can be asked for.
    #[must_use]
    pub fn is_kept(&self, promise: Promise) -> bool {
        self.journal.is_kept(promise.0)
    }

    /// Bytes that are acknowledged and wait to be folded.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.journal.waiting()
    }

    /// Calls this on the writer's thread after every commit. It must not wait.
    pub fn on_commit(&self, listener: impl Fn(&Committed) + Send + Sync + 'static) {
        self.on_commit_while(|| true, listener);
    }

    /// Calls `tell` on the writer's thread after every commit at whose end `wants` says yes. Neither may wait. Rows are
    /// read back for those who want them: while nobody does, a commit costs nothing of that.
    pub fn on_commit_while(
        &self,
        wants: impl Fn() -> bool + Send + Sync + 'static,
        tell: impl Fn(&Committed) + Send + Sync + 'static,
    ) {
        if let Ok(mut listeners) = self.listeners.write() {
            listeners.push(Listener { wants: Box::new(wants), tell: Box::new(tell) });
        }
    }

    /// How far a source has been read.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn cursor(&self, source: &str) -> Result<Option<Cursor>, QueryError> {
        self.store.cursor(source)
    }

    /// How far every source of an agent has been read.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, QueryError> {
        self.store.cursors(agent)
    }

    /// The store, for questions.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// What tasks did before, as rules ask about it.
    #[must_use]
    pub fn past(&self) -> Past {
        Past::of(&self.store)
    }

    /// Does something on the writer's thread and waits for it.
    fn on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut writer::Writer) -> T + Send + 'static,
    ) -> Result<T, AppendError> {
        let (tell, told) = sync_channel(1);
        let run = Box::new(move |writer: &mut writer::Writer| {
            tell.send(work(writer)).ok();
        });
        self.jobs.send(Job::Run(run)).map_err(|_| AppendError::Closed)?;
        told.recv().map_err(|_| AppendError::Closed)
    }

    /// Waits until search knows every row that is written now.
    ///
    /// # Errors
    /// If the ledger is closed or search cannot be written.
    pub fn finish_search(&self) -> Result<(), AppendError> {
        self.on_writer(writer::Writer::follow_all)?
    }

    /// Writes what waits and closes the file.
    pub fn close(&self) {
        self.journal.close();
        self.jobs.send(Job::Close).ok();
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }
}

/// Opens the store in this file for questions alone: nothing is written, and another process may write meanwhile.
///
/// # Errors
/// If there is no such file, or it is damaged, of another version, another program's, or cannot be read.
pub fn open_read_only(path: &Path) -> Result<Arc<dyn Store>, OpenError> {
    open::look(path)?;
    Ok(Arc::new(read::SqliteStore::open(path)?))
}

/// The text in a packed column, for whoever looks into the file by hand.
#[must_use]
pub fn unpack(blob: &[u8]) -> String {
    codec::decode(blob)
        .map_or_else(|_| "unreadable".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.close();
    }
}
