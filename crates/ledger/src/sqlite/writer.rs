//! The only thread that writes. It takes the waiting batches, writes them in one transaction, and answers after the
//! commit.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};

use super::append::{ChangedRows, FoldTransaction, Memory};
use super::checkpoint::Checkpointer;
use super::faults::Faults;
use super::page_keeper::LogMove;
use super::prepared::Prepared;
use super::store_files::StoreFiles;
use super::wal::UnsureLoss;
use super::{AppendError, AppendReply, Job, Listener, RefusalHandling};
use crate::aside_folder::AsideFolder;
use crate::journal::JournalReader;
use crate::observation::Receipt;
use crate::project::tally::Pricer;

/// The pause before another attempt to fold a journal.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The most parts of the journal that the writer folds before it ends. The next writer folds the rest.
const LAST_PARTS: usize = 16;

/// The longest wait for another process that has locked the file.
pub(super) const BUSY: Duration = Duration::from_secs(10);

/// The most observations of a group, so that no caller waits long for a commit.
const GROUP: usize = 4_096;

/// The pause in writes after which search is updated, so that it does not delay a caller that writes steadily.
const QUIET: Duration = Duration::from_millis(3);

/// The number of groups without a pause after which search takes a small part all the same.
const STARVED: u32 = 64;

/// The number of rows that search takes at first. It doubles while no work comes, up to [`MOST_FOLLOWED`].
const LEAST_FOLLOWED: usize = 125;

/// The most rows that search takes at once. Work that arrives meanwhile waits for a small part of them and the commit.
const MOST_FOLLOWED: usize = 8_000;

/// The number of commits after which an idle writer moves the write-ahead log into the file. Each move waits for the
/// disk twice, which is too much for every commit.
const WORTH_TIDYING: u32 = 64;

/// The number of rows after which the checkpoint thread moves the log while the writer goes on: some 64 MB.
const WORTH_MOVING: u64 = 16_000;

/// The longest write-ahead log, in bytes. A longer one is cut, even if that means waiting for readers.
const LONGEST_LOG: u64 = 256 << 20;

/// The progress of search behind the writer.
struct SearchProgress {
    /// Search may lack rows.
    lags: bool,
    /// The number of rows that it takes next.
    part: usize,
    /// Work came since it last took some.
    is_interrupted: bool,
    /// Groups since then.
    groups: u32,
}

impl Default for SearchProgress {
    fn default() -> Self {
        Self { lags: true, part: LEAST_FOLLOWED, is_interrupted: false, groups: 0 }
    }
}

impl SearchProgress {
    /// Returns the time to wait for work before search goes on, or `None` if search is complete.
    fn patience(&self) -> Option<Duration> {
        self.lags.then_some(if self.is_interrupted { QUIET } else { Duration::ZERO })
    }

    fn note_work(&mut self) {
        self.lags = true;
        self.is_interrupted = true;
        self.part = LEAST_FOLLOWED;
        self.groups = self.groups.saturating_add(1);
    }

    fn followed(&mut self, has_more: bool) {
        self.lags = has_more;
        self.is_interrupted = false;
        self.groups = 0;
        self.part = (self.part * 2).min(MOST_FOLLOWED);
    }

    fn is_starved(&self) -> bool {
        self.groups >= STARVED
    }
}

pub(super) struct Writer {
    pub(super) conn: Connection,
    pub(super) memory: Memory,
    pub(super) pricer: Arc<dyn Pricer>,
    pub(super) listeners: Arc<RwLock<Vec<Listener>>>,
    pub(super) path: std::path::PathBuf,
    pub(super) log: std::path::PathBuf,
    pub(super) follower: super::read::Follower,
    /// Commits since the log was last moved into the file.
    pub(super) commits: u32,
    /// Commits wait for the disk at present.
    pub(super) waits_for_disk: bool,
    /// The thread that moves the log into the file while the writer goes on.
    pub(super) checkpointer: Checkpointer,
    /// The number of rows ever written, as of the last time that it was woken.
    pub(super) moved: u64,
    /// The writer's side of the journal.
    pub(super) waiting: JournalReader,
    /// The folder for posts that cannot be folded.
    pub(super) aside: AsideFolder,
    /// The files of the store. A write is acknowledged only if they are still those that were opened.
    pub(super) files: Arc<StoreFiles>,
    /// The record of faults.
    pub(super) faults: Arc<Faults>,
    /// The number of batches that wait for an answer.
    pub(super) unanswered: Arc<AtomicUsize>,
}

impl Writer {
    /// Works until the ledger is closed.
    pub(super) fn run(&mut self, jobs: &Receiver<Job>) {
        let mut behind = SearchProgress::default();
        let mut is_stuck = false;
        loop {
            let posted = self.waiting.patience();
            let is_posted = posted.is_some();
            let patience = match posted {
                Some(patience) => Some(if is_stuck { TRY_AGAIN } else { patience }),
                None => behind.patience(),
            };
            let job = match patience {
                None => jobs.recv().ok(),
                Some(patience) => match jobs.recv_timeout(patience) {
                    // Posts keep coming, so the writer rests longer.
                    Err(RecvTimeoutError::Timeout) if self.waiting.patience() > Some(Duration::ZERO) => {
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) if is_posted => {
                        is_stuck = !self.fold_posted();
                        behind.note_work();
                        if behind.is_starved() {
                            self.follow_behind(&mut behind);
                        }
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        self.follow_behind(&mut behind);
                        continue;
                    }
                    other => other.ok(),
                },
            };
            match job {
                None | Some(Job::Close) => break,
                Some(Job::Posted) => {}
                Some(Job::Run(work)) => {
                    self.run_job(work);
                    behind.note_work();
                }
                Some(Job::Append(batch, unwritten, done)) => {
                    let mut group = vec![(batch, unwritten, done)];
                    let rest = gather(jobs, &mut group);
                    self.group(group);
                    behind.note_work();
                    match rest {
                        Some(Job::Run(work)) => self.run_job(work),
                        Some(Job::Close) => break,
                        Some(Job::Append(..) | Job::Posted) | None => {}
                    }
                    // Steady appends must not keep the journal waiting.
                    if self.waiting.patience() == Some(Duration::ZERO) && !is_stuck {
                        is_stuck = !self.fold_posted();
                    }
                    if behind.is_starved() {
                        self.follow_behind(&mut behind);
                    }
                }
            }
        }
        // Bounded, because a service manager kills a process that is slow to end. The rest is in the journal and
        // loses nothing.
        for _ in 0..LAST_PARTS {
            if !self.waiting.is_behind() || !self.fold_posted() {
                break;
            }
        }
        // Other programs and backups find one whole file, and the next start has no log to read.
        self.checkpoint(LogMove::Truncate);
    }

    /// Decides whether commits that a power cut may have lost come back from the journal of posts.
    pub(super) fn decide_loss(&mut self, unsure: UnsureLoss) {
        // First everything is folded: only then is it known which of the lost commits the journal has brought back.
        while self.waiting.is_behind() && self.fold_posted() {}
        unsure.decide(self.memory.seq, &self.aside, &self.faults);
    }

    /// Moves the log into the file. A failure is counted, and the log keeps the pages that could not be moved.
    pub(super) fn checkpoint(&self, how: LogMove) {
        if let Err(error) = self.checkpointer.checkpoint(how) {
            self.faults.write_failed(&error);
        }
    }

    /// Runs a job whose caller is answered only when its changes are on disk.
    fn run_job(&mut self, work: Box<dyn FnOnce(&mut Self) + Send>) {
        self.wait_for_disk(true).ok();
        work(self);
    }

    fn follow_behind(&mut self, behind: &mut SearchProgress) {
        // A search that cannot be written now is tried again after the next commit.
        let has_more = self.follow(behind.part).unwrap_or_else(|error| {
            self.faults.write_failed(&error);
            false
        });
        behind.followed(has_more);
        if !has_more {
            self.tidy_log();
        }
    }

    /// Adds up to `part` rows to search. Returns `true` if more are missing.
    fn follow(&mut self, part: usize) -> Result<bool, AppendError> {
        // A log that was cut has a hole behind the next commit, by any process.
        self.files.check()?;
        // No wait for the disk: search takes lost rows again.
        self.wait_for_disk(false)?;
        let Self { conn, follower, unanswered, waiting, .. } = self;
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let is_awaited = || unanswered.load(Ordering::SeqCst) > 0 || waiting.is_behind();
        // The follower stops when a caller waits. FTS5 in the transaction of one event cost a p99 of 28 ms, in
        // merges.
        let more = follower.catch_up(&transaction, part, is_awaited)?;
        transaction.commit()?;
        self.files.check()?;
        self.commits = self.commits.saturating_add(1);
        Ok(more)
    }

    /// Adds all rows to search.
    pub(super) fn follow_all(&mut self) -> Result<(), AppendError> {
        while self.follow(MOST_FOLLOWED)? {}
        Ok(())
    }

    /// Writes a group in one transaction. If that fails, each batch gets a transaction of its own, so that one cannot
    /// sink the others, and observations that cannot be written at all are left out of their batch.
    fn group(&mut self, mut group: Vec<(Prepared, RefusalHandling, AppendReply)>) {
        let answered = group.len();
        let batches: Vec<&mut Prepared> = group.iter_mut().map(|(batch, ..)| batch).collect();
        let written = self.write(batches);
        // Before the answers: a caller that posts again on its answer must find the writer idle.
        self.unanswered.fetch_sub(answered, Ordering::SeqCst);
        match written {
            Ok(receipts) => {
                for ((.., done), receipt) in group.into_iter().zip(receipts) {
                    done(Ok(receipt));
                }
            }
            // A disk that is full would refuse each batch alone as well, and every attempt waits for it.
            Err(error) if error.is_lasting() => {
                for (.., done) in group {
                    done(Err(error.clone()));
                }
            }
            Err(_) => {
                for (batch, unwritten, done) in group {
                    done(self.write_alone(batch, unwritten));
                }
            }
        }
        self.move_log();
        self.cut_log();
    }

    /// Wakes the checkpoint thread once the log is worth moving.
    pub(super) fn move_log(&mut self) {
        let written = self.conn.total_changes();
        if written.saturating_sub(self.moved) >= WORTH_MOVING {
            self.moved = written;
            self.checkpointer.wake();
        }
    }

    pub(super) fn write(&mut self, batches: Vec<&mut Prepared>) -> Result<Vec<Receipt>, AppendError> {
        self.change(|apply| batches.into_iter().map(|batch| apply.batch(batch)).collect())
    }

    /// Runs `work` in one transaction, folds the facts that it touched, commits, and notifies the listeners.
    pub(super) fn change<T>(
        &mut self,
        work: impl FnOnce(&mut FoldTransaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, AppendError> {
        self.wait_for_disk(true)?;
        self.change_soon(work)
    }

    /// Sets whether commits wait for the disk, and with it for all commits before them. A power cut may lose a commit
    /// that did not wait, together with all later ones, but never a part of it.
    fn wait_for_disk(&mut self, waits: bool) -> rusqlite::Result<()> {
        if self.waits_for_disk != waits {
            self.conn.pragma_update(None, "synchronous", if waits { "FULL" } else { "NORMAL" })?;
            self.waits_for_disk = waits;
        }
        Ok(())
    }

    /// Works like [`Writer::change`], for observations that are on disk in the journal. The commit does not wait for
    /// the disk: if it is lost, they are folded from the journal again.
    pub(super) fn change_from_journal<T>(
        &mut self,
        work: impl FnOnce(&mut FoldTransaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, AppendError> {
        self.wait_for_disk(false)?;
        self.change_soon(work)
    }

    fn change_soon<T>(
        &mut self,
        work: impl FnOnce(&mut FoldTransaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, AppendError> {
        // Before any change: a file that lost its name would take the write with it.
        if let Err(error) = self.files.check() {
            self.rescue_files()?;
            self.faults.write_failed(&error);
            return Err(error);
        }
        let before = self.memory.seq;
        let Self { conn, memory, pricer, .. } = self;
        // A panic in the fold must not end the only thread that writes: every later post would wait for ever. The
        // transaction is rolled back, and the caches are dropped below as after any error.
        let attempt = catch_unwind(AssertUnwindSafe(|| -> rusqlite::Result<(T, ChangedRows)> {
            let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut apply = FoldTransaction::new(&transaction, memory, pricer.as_ref());
            let answer = work(&mut apply)?;
            apply.finish()?;
            let changed = apply.changed();
            drop(apply);
            transaction.commit()?;
            Ok((answer, changed))
        }));
        let result = attempt.unwrap_or_else(|_| Err(rusqlite::Error::InvalidQuery));
        match result {
            Ok((answer, changed)) => {
                // Between transactions, because a task that is dropped within one would be read again without its
                // unsaved changes.
                self.memory.tasks.trim();
                self.commits = self.commits.saturating_add(1);
                // Again after the commit: a write into such a file must not be acknowledged.
                if let Err(error) = self.files.check() {
                    self.rescue_files()?;
                    self.faults.write_failed(&error);
                    return Err(error);
                }
                self.faults.write_succeeded();
                self.notify(changed);
                Ok(answer)
            }
            Err(error) => {
                // The caches may hold numbers of rows that the failed transaction never wrote.
                self.memory.words.forget();
                self.memory.tasks.forget();
                self.memory.seq = before;
                let error = AppendError::from(error);
                self.faults.write_failed(&error);
                Err(error)
            }
        }
    }

    /// Saves as much as possible of files that were removed or replaced.
    fn rescue_files(&self) -> rusqlite::Result<()> {
        if self.files.check_contents().is_ok() {
            // A log that has lost its name is moved into the file, which may still have its own.
            self.checkpoint(LogMove::Passive);
            return Ok(());
        }
        // The engine would move the rest of a log that was cut, with holes in place of the missing pages.
        self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(|_| ())
    }

    /// Passes the changes of a commit to the listeners that want them. They are asked after the commit, because one
    /// that begins to listen later finds the changes in the store.
    fn notify(&self, changed: ChangedRows) {
        let Ok(listeners) = self.listeners.read() else { return };
        let mut wanting: Vec<&Listener> = listeners.iter().filter(|listener| (listener.wants)()).collect();
        let mut changed = changed;
        if wanting.is_empty() {
            if !changed.has_removed() {
                return;
            }
            // A listener that comes later cannot read removed rows from the store.
            changed = changed.without_rows();
            wanting = listeners.iter().collect();
        }
        // The commit is on disk, so a failure to read its rows back is not reported: queries will find them.
        let Ok(committed) = changed.read(&self.conn, self.memory.seq) else { return };
        for listener in wanting {
            (listener.tell)(&committed);
        }
    }

    /// Moves the log into the file while no caller waits, so that none has to wait for it later.
    fn tidy_log(&mut self) {
        if self.commits >= WORTH_TIDYING {
            self.commits = 0;
            self.checkpoint(LogMove::Passive);
        }
    }

    pub(super) fn cut_log(&self) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > LONGEST_LOG) {
            // A long read of one state, as a copy is, does not hold the writer up: the log is cut after it.
            self.checkpoint(LogMove::TruncateIfFree);
        }
    }
}

/// Adds the waiting batches to a group. Returns the first job that is not a batch.
fn gather(jobs: &Receiver<Job>, group: &mut Vec<(Prepared, RefusalHandling, AppendReply)>) -> Option<Job> {
    let mut size: usize = group.iter().map(|(batch, ..)| batch.len()).sum();
    while size < GROUP {
        match jobs.try_recv() {
            Ok(Job::Append(batch, unwritten, done)) => {
                size += batch.len();
                group.push((batch, unwritten, done));
            }
            Ok(other) => return Some(other),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
    }
    None
}

impl From<std::io::Error> for AppendError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Self::DiskFull,
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly,
            // An error of the writer itself, wrapped on its way.
            _ => match error.downcast::<Self>() {
                Ok(own) => own,
                Err(error) => Self::Store(error.into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckPace, Ledger, Options};

    fn follow(behind: &mut SearchProgress, times: usize) -> Vec<usize> {
        let mut parts = Vec::new();
        for _ in 0..times {
            parts.push(behind.part);
            behind.followed(true);
        }
        parts
    }

    #[test]
    fn search_waits_for_a_pause_and_then_takes_more_each_time() {
        let mut behind = SearchProgress::default();
        behind.note_work();
        assert_eq!(behind.patience(), Some(QUIET));
        let parts = follow(&mut behind, 8);
        assert_eq!((parts.first(), parts.last()), (Some(&LEAST_FOLLOWED), Some(&MOST_FOLLOWED)));
        assert_eq!(behind.patience(), Some(Duration::ZERO), "nothing came: it goes on at once");
        behind.note_work();
        assert_eq!((behind.part, behind.patience()), (LEAST_FOLLOWED, Some(QUIET)));
        behind.followed(false);
        assert_eq!(behind.patience(), None, "it knows everything");
    }

    #[test]
    fn search_goes_on_now_and_then_where_work_never_pauses() {
        let mut behind = SearchProgress::default();
        let starved = (0..STARVED * 3).filter(|_| {
            behind.note_work();
            let is_starved = behind.is_starved();
            if is_starved {
                behind.followed(true);
            }
            is_starved
        });
        assert_eq!(starved.count(), 3);
    }

    #[test]
    fn the_log_is_moved_into_the_file_after_many_commits_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        // Nothing else has the file in hand.
        let check = CheckPace { bytes_per_second: 0, ..CheckPace::default() };
        let ledger = Ledger::open(&path, Options { check, ..Options::default() }).unwrap();
        let file = path.clone();
        // In one go: the writer's own work, which counts commits too, comes before or behind it.
        let sizes = ledger.on_writer(move |writer| {
            let size = || std::fs::metadata(&file).unwrap().len();
            let before = size();
            // More than the file has room for.
            for number in 0..200 {
                let word = format!("{number}{}", "x".repeat(1_000));
                writer.conn.execute("INSERT INTO word (text) VALUES (?1)", [word]).unwrap();
            }
            let mut tidied = |commits: u32| {
                writer.commits = commits;
                writer.tidy_log();
                (writer.commits, size() > before)
            };
            [tidied(WORTH_TIDYING - 1), tidied(WORTH_TIDYING)]
        });
        // At first what was written is in the log alone.
        assert_eq!(sizes.unwrap(), [(WORTH_TIDYING - 1, false), (0, true)]);
    }
}
