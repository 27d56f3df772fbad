//! History: every file of both agents, read once.
//!
//! A plan is made from names and metadata alone; a file without changes since its last reading is not opened. Then a
//! few threads read, newest files first, and the sink writes. A stop at any moment loses nothing: the next run goes on.

use agent_tracer_ledger::AppendError;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent_tracer_agents::sessions::Form;
use agent_tracer_event::Millis;

use crate::files::{Counts, Files, FoundFile, ReadError, ReadOutcome, Root, find};
use crate::pace::Pace;
use crate::stop::Stop;

/// Threads that read. Each waits until its batch is on disk, and the batches that wait share one commit: with more
/// threads a commit is larger, and a row costs less.
const WORKERS: usize = 4;
/// The interval between two reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// The most failures that are kept with their causes; others are only counted.
const FAILURES_SHOWN: usize = 20;

/// The files to read.
#[derive(Debug, Default)]
pub struct Plan {
    /// Files to read, the newest first.
    pub files: Vec<FoundFile>,
    /// The number of files that were found.
    pub found: usize,
    /// The number of those without changes since they were read.
    pub unchanged: usize,
    /// The number of those that were last changed before the requested time.
    pub too_old: usize,
    /// The number of bytes to read.
    pub bytes: u64,
    /// Folders that could not be listed.
    pub unreadable: Vec<(PathBuf, io::Error)>,
}

impl Plan {
    /// Plans to read every file of these folders that changed since its last reading, and since this time.
    pub fn make(files: &Files, roots: &[Root], since: Option<Millis>) -> Self {
        let mut plan = Self::default();
        for root in roots {
            let unreadable = find(root, &mut |found| {
                plan.found += 1;
                let changed_ms = found.facts.changed_ns.div_euclid(1_000_000);
                if since.is_some_and(|since| changed_ms < since.0) {
                    plan.too_old += 1;
                } else if !files.is_news(&found) {
                    plan.unchanged += 1;
                } else {
                    plan.bytes += files.unseen(&found);
                    plan.files.push(found);
                }
            });
            plan.unreadable.extend(unreadable);
        }
        // Descriptions come last: they may be recorded only if the transcript beside them may.
        plan.files.sort_by_key(|found| {
            (found.file.form == Form::Description, std::cmp::Reverse(found.facts.changed_ns))
        });
        plan
    }
}

/// The progress of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files that are done.
    pub files: usize,
    /// Files to read.
    pub files_total: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes to read, as planned. Compressed files turn out to be longer.
    pub bytes_total: u64,
    /// Rows that the sink took.
    pub rows: u64,
}

/// The result of an import.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files that were read.
    pub read: usize,
    /// Files that cannot be read yet.
    pub later: usize,
    /// Files that could not be read.
    pub failed: usize,
    /// The first of those failures.
    pub failures: Vec<ReadError>,
    /// Counts of this import alone.
    pub counts: Counts,
    /// A stop was requested before the end.
    pub is_stopped: bool,
}

/// The reaction to a sink that takes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Give up.
    Fail,
    /// Wait, and try again.
    Wait,
}

/// Reads the files of a plan. `watch` is called now and then, and once at the end.
pub fn run(
    files: &Files,
    plan: &Plan,
    on_failure: OnFailure,
    stop: &Stop,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Summary, AppendError> {
    let before = files.counts();
    let job = Job {
        files,
        plan,
        on_failure,
        stop,
        next: AtomicUsize::new(0),
        given_up: Stop::new(),
        later: Mutex::new(Vec::new()),
    };
    let progress = |done: usize| {
        let counts = since(files.counts(), before);
        Progress {
            files: done,
            files_total: plan.files.len(),
            bytes: counts.bytes,
            bytes_total: plan.bytes,
            rows: counts.rows,
        }
    };
    let mut summary = Summary::default();
    let mut refusal = None;
    let mut done = 0;
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..WORKERS.min(plan.files.len()) {
            let sender = sender.clone();
            let job = &job;
            scope.spawn(move || job.work(&sender));
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(PROGRESS_EVERY) {
                Ok(result) => {
                    done += 1;
                    refusal = summary.add(result).or(refusal.take());
                }
                Err(RecvTimeoutError::Timeout) => watch(&progress(done)),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    // A description may have been read before the transcript that decides whether it may be recorded.
    for index in job.later.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let Some(found) = plan.files.get(index) else { continue };
        let result = files.read(&found.path, &found.file, stop);
        summary.later -= 1;
        refusal = summary.add(result).or(refusal.take());
    }
    summary.counts = since(files.counts(), before);
    summary.is_stopped |= stop.is_requested();
    watch(&progress(done));
    refusal.map_or(Ok(summary), Err)
}

impl Summary {
    /// Counts a result. Returns the error of the sink, if it is one.
    fn add(&mut self, result: Result<ReadOutcome, ReadError>) -> Option<AppendError> {
        match result {
            Ok(ReadOutcome::Read | ReadOutcome::Nothing | ReadOutcome::Busy) => self.read += 1,
            Ok(ReadOutcome::Later) => self.later += 1,
            Ok(ReadOutcome::Gone) => {}
            Ok(ReadOutcome::Stopped) => self.is_stopped = true,
            Err(ReadError::Sink { source, .. }) => return Some(source),
            Err(error @ (ReadError::File { .. } | ReadError::Parked { .. })) => {
                self.failed += 1;
                if self.failures.len() < FAILURES_SHOWN {
                    self.failures.push(error);
                }
            }
        }
        None
    }
}

struct Job<'a> {
    files: &'a Files,
    plan: &'a Plan,
    on_failure: OnFailure,
    stop: &'a Stop,
    next: AtomicUsize,
    /// Requested once a thread met a sink that takes nothing.
    given_up: Stop,
    later: Mutex<Vec<usize>>,
}

impl Job<'_> {
    fn work(&self, results: &Sender<Result<ReadOutcome, ReadError>>) {
        while !self.stop.is_requested() && !self.given_up.is_requested() {
            // One counter instead of a share per thread: files differ too much in length for equal shares.
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = self.plan.files.get(index) else { return };
            let result = self.read(found);
            match &result {
                Ok(ReadOutcome::Later) => {
                    self.later.lock().unwrap_or_else(PoisonError::into_inner).push(index);
                }
                // The other threads would meet the same refusal, each after its own wait.
                Err(ReadError::Sink { .. }) => self.given_up.request(),
                _ => {}
            }
            if results.send(result).is_err() {
                return;
            }
        }
    }

    fn read(&self, found: &FoundFile) -> Result<ReadOutcome, ReadError> {
        let mut pace = Pace::default();
        loop {
            let result = self.files.read(&found.path, &found.file, self.stop);
            if !matches!(result, Err(ReadError::Sink { .. })) || self.on_failure == OnFailure::Fail {
                return result;
            }
            if self.stop.wait(pace.failed()) {
                return Ok(ReadOutcome::Stopped);
            }
        }
    }
}

fn since(now: Counts, before: Counts) -> Counts {
    Counts {
        rows: now.rows - before.rows,
        bytes: now.bytes - before.bytes,
        skipped: now.skipped - before.skipped,
        replaced: now.replaced - before.replaced,
        failed: now.failed - before.failed,
        // A state, not a sum: there is nothing to subtract.
        parked: now.parked,
    }
}
