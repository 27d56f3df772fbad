//! The embedded store: one SQLite file, one writing thread and a few reading connections.

mod aliases;
mod append;
mod checkpoint;
mod clock;
pub(crate) mod codec;
mod copy_sum;
mod entry_codec;
pub(crate) mod facts;
pub(crate) mod faults;
mod flush;
mod isolate;
mod journal_fold;
mod life;
mod open;
mod pack;
mod page_check;
mod page_keeper;
mod page_sums;
mod permissions;
pub(crate) mod prepared;
mod purge;
pub(crate) mod read;
mod refold;
mod residual;
mod response_attribution;
mod running_processes;
mod salvage;
mod scrub;
mod series;
mod session_summary;
mod settle;
mod share;
mod skills;
mod snapshot;
mod sources;
pub(crate) mod store_files;
mod swap;
mod task_state;
mod tasks;
mod turns;
mod upgrade;
mod upkeep;
mod wal;
pub(crate) mod words;
mod writer;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::JoinHandle;

use agent_tracer_event::{Agent, TaskId};
use agent_tracer_prices::Prices;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

pub use checkpoint::CheckPace;
pub use clock::{ClockTrust, judge_clock};
pub use open::OpenError;
pub use page_check::{PageReport, check_pages};
pub use read::{Outbox, PendingOverlay, TaskHistory};
pub use running_processes::RunningProcess;
pub use salvage::{LostSpan, Salvage, SalvageError, foreign_log, remains, salvage};
pub use snapshot::{
    Contents, CopyError, Pace, Succession, contents, copy_holds, copy_store, remove_copy, succeed,
    verify_copy,
};
pub use swap::{abandon_swap, finish_swap, has_store, prepare_swap, swap_store};
pub use upgrade::{Stage, Upgrade, upgrade_copies};
pub use upkeep::{RetainedPayload, Retention, Upkeep};

use crate::aside_folder::{AsideFolder, AsideKind, AsidePurge};
use crate::fault_cause::FaultCause;
use crate::journal::{self, Journal};
use crate::observation::{Batch, Cursor, Receipt};
use crate::project::tally::Pricer;
use crate::store::{QueryError, Store};
use crate::task_names::TaskNames;
use crate::view::{Row, StoreFaults};
use faults::Faults;
use prepared::Prepared;
use store_files::{FileRole, StoreFiles};

/// The version of the rules by which entries are folded. A store of another version is folded again when a server or a
/// command opens it.
const FOLD: i64 = 1;

/// The most batches that wait for the writer. More are refused.
const QUEUE: usize = 256;

/// Options for opening a ledger.
pub struct Options {
    /// The name of this machine, on every entry.
    pub machine_id: String,
    /// The prices of responses.
    pub pricer: Arc<dyn Pricer>,
    /// The pace at which pages are compared with their sums.
    pub check: CheckPace,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machine_id: "local".to_owned(),
            pricer: Arc::new(Prices::embedded()),
            check: CheckPace::default(),
        }
    }
}

/// The reason for which a batch was not written. The caller still has the batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The disk is full.
    #[error("the disk is full")]
    DiskFull,
    /// The file cannot be written.
    #[error("the store cannot be written")]
    ReadOnly,
    /// The ledger is closed.
    #[error("the store is closed")]
    Closed,
    /// A file of the store was removed or replaced while in use. The text names it.
    #[error("the store is gone: {0} while it is in use")]
    Gone(String),
    /// The store cannot be written.
    #[error("the store could not write")]
    Store(#[source] FaultCause),
    /// This batch could not be written, though the store takes others.
    #[error("the store could not write this")]
    Item(#[source] FaultCause),
}

impl AppendError {
    /// Returns `true` if an immediate second attempt would fail too.
    fn is_lasting(&self) -> bool {
        !matches!(self, Self::Item(_))
    }
}

/// Too many batches wait to be written. Gives the batch back.
#[derive(Debug)]
pub struct QueueFull(pub Batch);

/// The changes of a commit.
#[derive(Clone, Debug, Default)]
pub struct Committed {
    /// The newest position in the order of delivery.
    pub seq: u64,
    /// Rows that are new or changed.
    pub rows: Vec<Row>,
    /// Rows that are gone because they were merged into another.
    pub removed: Vec<String>,
    /// Tasks that changed.
    pub tasks: Vec<TaskId>,
}

type AppendReply = Box<dyn FnOnce(Result<Receipt, AppendError>) + Send>;

/// A subscriber to commits, with the condition under which it wants them.
struct Listener {
    wants: Box<dyn Fn() -> bool + Send + Sync>,
    tell: Box<dyn Fn(&Committed) + Send + Sync>,
}

/// The treatment of observations that the store refuses although it takes others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalHandling {
    /// They are named in the receipt, and the caller keeps them.
    Returned,
    /// They are set aside in files beside the store.
    SetAside,
}

/// A job of the writer.
enum Job {
    Append(Prepared, RefusalHandling, AppendReply),
    Run(Box<dyn FnOnce(&mut writer::Writer) + Send>),
    /// Posts wait in the journal.
    Posted,
    Close,
}

/// The extent of the acknowledged posts at some moment.
#[derive(Clone, Copy, Debug)]
pub struct FlushToken(journal::FlushToken);

/// The ledger on this machine.
pub struct Ledger {
    jobs: SyncSender<Job>,
    /// Batches that the writer has not answered.
    unanswered: Arc<AtomicUsize>,
    journal: Journal,
    thread: Mutex<Option<JoinHandle<()>>>,
    listeners: Arc<RwLock<Vec<Listener>>>,
    store: Arc<read::SqliteStore>,
    faults: Arc<Faults>,
    files: Arc<StoreFiles>,
    aside: AsideFolder,
}

impl Ledger {
    /// Opens the ledger in a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// If the file is damaged, newer than this version, another program's, or cannot be written.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        Self::open_watched(path, options, |_| ())
    }

    /// Opens the ledger in a file, and reports the progress of an upgrade from an older version: it may take minutes.
    ///
    /// # Errors
    /// As for [`Ledger::open`].
    pub fn open_watched(
        path: &Path,
        options: Options,
        watch: impl Fn(Upgrade) + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let watch: upgrade::UpgradeListener = Arc::new(watch);
        let beside = |end: &str| store_files::beside(path, end);
        let faults = Arc::new(Faults::default());
        let aside = AsideFolder::beside(path);
        finish_swap(path).map_err(|error| OpenError::Io(FaultCause::of_file(path, error)))?;
        if let Some(foreign) = salvage::lineage::foreign(path, &beside("-wal")) {
            return Err(OpenError::ForeignLog(foreign.into_reason()));
        }
        let unsure = wal::examine_and_keep(path, &aside, &faults);
        let conn = open::open_watched(path, &watch)?;
        let seq: i64 = conn
            .query_row("SELECT value FROM meta WHERE key = 'seq'", [], |row| row.get(0))
            .optional()?
            .unwrap_or(0);
        let listeners: Arc<RwLock<Vec<Listener>>> = Arc::default();
        let (jobs, queue) = sync_channel(QUEUE);
        let reader = read::SqliteStore::open_alone(path, Arc::clone(&faults))?;
        let bell = jobs.clone();
        let posts = beside("-journal-of-posts");
        let parts = [
            ("", FileRole::Store),
            ("-wal", FileRole::Log),
            ("-shm", FileRole::Other),
            ("-journal-of-posts", FileRole::Other),
        ];
        let journal_file = journal::create(&posts).map_err(|error| OpenError::journal(&posts, error))?;
        let files = Arc::new(StoreFiles::open(parts.map(|(end, part)| (beside(end), part))));
        let (journal, waiting) = Journal::open(
            journal_file,
            journal_fold::folded(&conn)?,
            // If the lookup fails, treat it as new: the fold deduplicates.
            Box::new(move |names| reader.find_known(names).unwrap_or_default()),
            checkpoint::settler(beside("-wal")),
            journal::JournalChecks {
                files: Arc::clone(&files),
                faults: Arc::clone(&faults),
                aside: aside.clone(),
            },
            // A writer whose queue is full looks into the journal before it rests.
            move || drop(bell.try_send(Job::Posted)),
        )
        .map_err(|error| OpenError::journal(&posts, error))?;
        let unanswered = Arc::new(AtomicUsize::new(0));
        let checkpointer =
            checkpoint::Checkpointer::start(path, Arc::clone(&faults), Arc::clone(&files), options.check)?;
        files.hold(checkpointer.file());
        salvage::lineage::note_opening(&conn, &beside("-wal"), &checkpointer);
        let store = read::SqliteStore::open(path, Arc::clone(&faults))?.holding(checkpointer.file());
        let mut writer = writer::Writer {
            conn,
            memory: append::Memory {
                words: words::Words::default(),
                tasks: tasks::Tasks::default(),
                seq,
                machine_id: options.machine_id,
            },
            pricer: options.pricer,
            listeners: Arc::clone(&listeners),
            path: path.to_owned(),
            log: beside("-wal"),
            aside: aside.clone(),
            files: Arc::clone(&files),
            faults: Arc::clone(&faults),
            waiting,
            unanswered: Arc::clone(&unanswered),
            follower: read::Follower::default(),
            commits: 0,
            waits_for_disk: true,
            checkpointer,
            moved: 0,
        };
        let store = Arc::new(store);
        let thread = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(move || {
                // Before any new work: after it, lost commits could not be distinguished from new ones.
                if let Some(unsure) = unsure {
                    writer.decide_loss(unsure);
                }
                writer.try_set_aside_again();
                writer.run(&queue);
            })
            .map_err(|error| OpenError::Io(error.into()))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self { jobs, unanswered, journal, thread, listeners, store, faults, files, aside })
    }

    /// Appends a batch and waits until it is on disk.
    ///
    /// Independent observations that the store cannot take are left out and named in the receipt.
    ///
    /// # Errors
    /// If the batch could not be written. The caller must append all of it again.
    pub fn append(&self, batch: Batch) -> Result<Receipt, AppendError> {
        let (tell, reported) = sync_channel(1);
        let done: AppendReply = Box::new(move |answer| {
            tell.send(answer).ok();
        });
        let prepared = Prepared::of(batch);
        self.unanswered.fetch_add(1, Ordering::SeqCst);
        if self.jobs.send(Job::Append(prepared, RefusalHandling::Returned, done)).is_err() {
            self.unanswered.fetch_sub(1, Ordering::SeqCst);
            return Err(AppendError::Closed);
        }
        reported.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// Queues a batch, and passes the result to `done` on the writer's thread. Observations that the store refuses
    /// although it takes others are set aside, and tried again when the ledger is next opened.
    ///
    /// # Errors
    /// If too many batches wait, or the ledger is closed. The error gives the batch back.
    pub fn submit(
        &self,
        batch: Batch,
        done: impl FnOnce(Result<Receipt, AppendError>) + Send + 'static,
    ) -> Result<(), QueueFull> {
        self.submit_prepared(Prepared::of(batch), Box::new(done))
    }

    fn submit_prepared(&self, prepared: Prepared, done: AppendReply) -> Result<(), QueueFull> {
        self.unanswered.fetch_add(1, Ordering::SeqCst);
        match self.jobs.try_send(Job::Append(prepared, RefusalHandling::SetAside, done)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => {
                self.unanswered.fetch_sub(1, Ordering::SeqCst);
                match job {
                    Job::Append(batch, ..) => Err(QueueFull(batch.into_batch())),
                    Job::Run(_) | Job::Posted | Job::Close => Ok(()),
                }
            }
        }
    }

    /// Queues independent observations, and calls `done` when they are on disk. They are folded at once if the writer
    /// is idle, and otherwise soon afterwards.
    ///
    /// # Errors
    /// If too many batches wait, or the ledger is closed. The error gives the batch back.
    pub fn post(
        &self,
        batch: Batch,
        done: impl FnOnce(Result<Receipt, AppendError>) + Send + 'static,
    ) -> Result<(), QueueFull> {
        let stands_alone = batch.cursors.is_empty() && batch.skipped == 0 && !batch.reread && !batch.own;
        let is_busy = self.unanswered.load(Ordering::SeqCst) > 0 || self.journal.is_in_use();
        // The journal must not acknowledge posts for a store that cannot be written. The writer tries it.
        let is_failing = self.faults.failing().is_some();
        if !(stands_alone && is_busy && !is_failing && self.journal.has_room()) {
            return self.submit(batch, done);
        }
        let reported: journal::PostReply = Box::new(move |taken| done(taken.map_err(AppendError::from)));
        match self.journal.take(Prepared::of(batch), reported) {
            Ok(()) => Ok(()),
            Err((prepared, reported)) => self.submit_prepared(
                prepared,
                Box::new(move |answer| reported(answer.map_err(std::io::Error::other))),
            ),
        }
    }

    /// Returns a token for all posts acknowledged so far.
    #[must_use]
    pub fn flush_token(&self) -> FlushToken {
        FlushToken(self.journal.flush_token())
    }

    /// Returns `true` if all posts that the token covers are visible to queries.
    #[must_use]
    pub fn is_flushed(&self, token: FlushToken) -> bool {
        self.journal.is_flushed(token.0)
    }

    /// Returns the number of acknowledged bytes that wait to be folded.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.journal.waiting()
    }

    /// Returns the faults since the ledger was opened, after a check of its files.
    #[must_use]
    pub fn faults(&self) -> StoreFaults {
        match self.files.check() {
            Err(error) => self.faults.note_failing(error),
            // They are back.
            Ok(()) if matches!(self.faults.failing(), Some(AppendError::Gone(_))) => {
                self.faults.write_succeeded();
            }
            Ok(()) => {}
        }
        let set_aside = self.aside.list(AsideKind::Post).len();
        self.faults.view(u64::try_from(set_aside).unwrap_or(u64::MAX))
    }

    /// Compares every page of the store with its sum, without a pause. [`Ledger::faults`] returns the result.
    ///
    /// # Errors
    /// If the ledger is closed or a file cannot be read.
    pub fn check_all_pages(&self) -> Result<(), AppendError> {
        self.on_writer(|writer| writer.checkpointer.check(&writer.path, &writer.faults))?
            .map_err(AppendError::from)
    }

    /// Accepts the pages that another program changed while no server ran. Returns their number.
    ///
    /// # Errors
    /// If the ledger is closed or a file cannot be read or written.
    pub fn accept_changes(&self) -> Result<usize, AppendError> {
        self.on_writer(|writer| writer.checkpointer.accept_changes())?
    }

    /// Moves the log into the file, as the writer does by itself from time to time.
    ///
    /// # Errors
    /// If the ledger is closed or the file cannot be written.
    pub fn move_log_now(&self) -> Result<(), AppendError> {
        self.on_writer(|writer| writer.checkpointer.checkpoint(page_keeper::LogMove::Passive))?
    }

    /// Tries to write if the last write failed. Without this, an idle store would be reported as failing for ever.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn probe(&self) -> Result<(), AppendError> {
        self.files.check()?;
        self.on_writer(writer::Writer::probe)?
    }

    /// Calls `listener` on the writer's thread after every commit. It must not block.
    pub fn on_commit(&self, listener: impl Fn(&Committed) + Send + Sync + 'static) {
        self.on_commit_while(|| true, listener);
    }

    /// Calls `tell` on the writer's thread after every commit at whose end `wants` says yes. Neither may wait. Rows are
    /// read back for those who want them: while no one does, a commit costs nothing of that. While no listener wants
    /// any, a commit that removed rows is passed on to all of them without its rows.
    pub fn on_commit_while(
        &self,
        wants: impl Fn() -> bool + Send + Sync + 'static,
        tell: impl Fn(&Committed) + Send + Sync + 'static,
    ) {
        if let Ok(mut listeners) = self.listeners.write() {
            listeners.push(Listener { wants: Box::new(wants), tell: Box::new(tell) });
        }
    }

    /// Returns the position up to which a source has been read.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn cursor(&self, source: &str) -> Result<Option<Cursor>, QueryError> {
        self.store.cursor(source)
    }

    /// Returns the positions up to which the sources of an agent have been read.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, QueryError> {
        self.store.cursors(agent)
    }

    /// Returns the store, for queries.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    /// Returns the history of tasks, for rules.
    #[must_use]
    pub fn history(&self) -> TaskHistory {
        TaskHistory::new(&self.store)
    }

    /// Runs `work` on the writer's thread and waits for it.
    fn on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut writer::Writer) -> T + Send + 'static,
    ) -> Result<T, AppendError> {
        let (tell, reported) = sync_channel(1);
        let run = Box::new(move |writer: &mut writer::Writer| {
            tell.send(work(writer)).ok();
        });
        self.jobs.send(Job::Run(run)).map_err(|_| AppendError::Closed)?;
        reported.recv().map_err(|_| AppendError::Closed)
    }

    /// Waits until search has every row written so far.
    ///
    /// # Errors
    /// If the ledger is closed or search cannot be written.
    pub fn finish_search(&self) -> Result<(), AppendError> {
        self.on_writer(writer::Writer::follow_all)?
    }

    /// Writes all waiting batches and closes the file.
    pub fn close(&self) {
        self.journal.close();
        self.jobs.send(Job::Close).ok();
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }
}

/// Opens the store in a file for queries only. It is never written, and another process may write meanwhile.
///
/// # Errors
/// If there is no such file, or it is damaged, of another version, another program's, or cannot be read.
pub fn open_read_only(path: &Path) -> Result<Arc<dyn Store>, OpenError> {
    if swap::is_unfinished(path) {
        return Err(OpenError::Unfinished);
    }
    open::check_version(path)?;
    Ok(Arc::new(read::SqliteStore::open(path, Arc::default())?))
}

/// Checks a store that no process has open for writing, for as long as `goes_on` returns `true`, and changes nothing.
/// Returns `true` if it came to the end.
///
/// # Errors
/// If there is no such file, or it is damaged, of another version, another program's, or cannot be read.
pub fn check_store(path: &Path, goes_on: impl FnMut() -> bool + Send + 'static) -> Result<bool, OpenError> {
    if swap::is_unfinished(path) {
        return Err(OpenError::Unfinished);
    }
    open::check_version(path)?;
    open::check_through(path, goes_on)
}

/// Returns the number of commits in the log of a store behind a part that cannot be read.
///
/// # Errors
/// If the log cannot be read at all.
pub fn damaged_commits(path: &Path) -> std::io::Result<u64> {
    let lost = wal::lost_commits(path)?;
    let comes_back = lost.commits > 0 && !lost.is_damage && comes_back(path).unwrap_or(false);
    Ok(if comes_back { 0 } else { lost.commits })
}

/// Returns `true` if all commits of a store's log are in the store, or wait in the journal of posts to be folded again.
fn comes_back(path: &Path) -> Option<bool> {
    let newest = salvage::lineage::newest_seq(path, &store_files::beside(path, "-wal"))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).ok()?;
    let seq: i64 = conn
        .query_row("SELECT value FROM meta WHERE key = 'seq'", [], |row| row.get(0))
        .optional()
        .ok()?
        .unwrap_or(0);
    let posts = store_files::beside(path, "-journal-of-posts");
    Some(seq >= newest || journal::waits(&posts, journal_fold::folded(&conn).ok()?).ok()?)
}

/// Returns the number of posts set aside beside a store.
#[must_use]
pub fn set_aside(path: &Path) -> u64 {
    u64::try_from(AsideFolder::beside(path).list(AsideKind::Post).len()).unwrap_or(u64::MAX)
}

/// Returns the number of posts that were set aside beside a store and dropped because there were too many.
#[must_use]
pub fn lost_posts(path: &Path) -> u64 {
    AsideFolder::beside(path).lost()
}

/// Removes the posts of some tasks that are set aside beside a store, and copies of its log; without `names`, all of
/// them. An unreadable file stays unless it names one of the tasks' sessions.
///
/// # Errors
/// If a file cannot be read or removed.
pub fn purge_aside(path: &Path, names: Option<&TaskNames>) -> std::io::Result<AsidePurge> {
    AsideFolder::beside(path).purge(names)
}

/// Returns the text in a packed column, for people who inspect the file by hand.
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
