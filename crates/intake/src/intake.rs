//! The threads that collect everything: a server starts, watches and stops them here.
//!
//! Four threads at most, all of which wait nearly all of the time: one for the spool, one for files that grow, one that
//! reads the history once and ends, and one that finds processes that are gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use agent_tracer_spool::drain::DrainError;
use agent_tracer_spool::{Home, Spool};
use tracing::{info, warn};

use crate::Clock;
use crate::drain_watcher::DrainWatcher;
use crate::files::{Counts, Files, Root};
use crate::import::{self, OnFailure, Plan, Progress};
use crate::liveness::{self, Liveness};
use crate::log;
use crate::privacy::PrivacyFile;
use crate::project::Projects;
use crate::sink::Sink;
use crate::spool::{self, SpoolCounts, SpoolIntake};
use crate::stop::Stop;
use crate::tail::{NamedCounts, NamedFiles, Tail, Waker};
use agent_tracer_ledger::{AppendError, RunningProcess, error_text};

/// The interval between two notes about a long import.
const NOTED_EVERY: Duration = Duration::from_secs(10);

/// Lists the processes of tasks that run.
pub type ProcessLister = Arc<dyn Fn() -> Vec<RunningProcess> + Send + Sync>;

/// The parts that an intake is made of.
pub struct Setup {
    /// The home with the spool.
    pub home: Home,
    /// The folders with the agents' files.
    pub roots: Vec<Root>,
    /// The settings that say what may be recorded of them.
    pub privacy: Arc<PrivacyFile>,
    /// The current time.
    pub clock: Clock,
    /// Transcripts that hooks name outside of the folders. The intake learns them from the spool, the caller from
    /// posts.
    pub named: NamedFiles,
    /// Lists running processes beyond those that hooks name from now on.
    pub running: Option<ProcessLister>,
}

/// The reason why an intake did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The spool cannot be taken.
    #[error("cannot read the spool")]
    Spool(#[source] DrainError),
    /// The sink does not return how far files were read.
    #[error("cannot load the positions of files")]
    Sink(#[source] AppendError),
    /// The system gives no thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

/// The progress of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// It is being read.
    Reading(Progress),
    /// All of it was read.
    Done(Progress),
}

/// The work of an intake so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Envelopes that the sink took.
    pub envelopes: u64,
    /// Files of the spool that could not be read.
    pub refused: u64,
    /// Envelopes that the sink did not take although it takes others.
    pub unwritten: u64,
    /// Failed attempts to bring envelopes.
    pub failures: u64,
    /// The work on files.
    pub files: Counts,
    /// The progress of the history.
    pub history: History,
    /// Files that hooks named and that are not read.
    pub named: NamedCounts,
}

/// The running threads of an intake.
pub struct Intake {
    home: Home,
    stop: Stop,
    waker: Waker,
    spool: Arc<SpoolCounts>,
    files: Arc<Files>,
    history: Arc<Mutex<History>>,
    drained: DrainWatcher,
    named: NamedFiles,
    threads: Vec<JoinHandle<()>>,
}

impl Intake {
    /// Takes the spool, begins to watch files, and starts the threads.
    pub fn start(setup: Setup, sink: Arc<dyn Sink>) -> Result<Self, StartError> {
        let Setup { home, roots, privacy, clock, named, running } = setup;
        let projects = Arc::new(Projects::new());
        // The spool is taken first: a second server must fail before it watches or reads anything.
        let spool = SpoolIntake::open(&Spool::at(&home.spool()), Arc::clone(&sink), Arc::clone(&projects))
            .map_err(StartError::Spool)?;
        let drained = DrainWatcher::new(&home);
        let spool = spool.with_watcher(drained.clone()).naming(named.clone());
        let (counts, processes) = (spool.counts(), spool.processes());
        let files = Arc::new(Files::new(Arc::clone(&sink), privacy, projects, Arc::clone(&clock)));
        match files.load() {
            // Not fatal: reading a file looks up its own position.
            Err(error @ AppendError::Item(_)) => {
                let error = error_text(&error);
                warn!(error = %error, "cannot load the positions of files: {error}");
            }
            loaded => loaded.map_err(StartError::Sink)?,
        }
        // Watched before the history is planned, so that a change in between is read by one or the other.
        let (tail, waker) = Tail::new(Arc::clone(&files), roots.clone());
        files.name_recent(&named);
        let tail = tail.with_named(named.clone());
        let mut intake = Self {
            home: home.clone(),
            stop: Stop::new(),
            waker,
            spool: counts,
            files: Arc::clone(&files),
            history: Arc::new(Mutex::new(History::Reading(Progress::default()))),
            drained,
            named,
            threads: Vec::new(),
        };
        let stop = intake.stop.clone();
        {
            let (clock, stop) = (Arc::clone(&clock), stop.clone());
            intake.spawn("intake-spool", move || spool::run(spool, &home, &clock, &stop))?;
        }
        {
            let stop = stop.clone();
            intake.spawn("intake-tail", move || tail.run(&stop))?;
        }
        {
            let (history, stop) = (Arc::clone(&intake.history), stop.clone());
            intake.spawn("intake-history", move || read_history(&files, &roots, &history, &stop))?;
        }
        let list = move || {
            let mut list = running.as_ref().map(|running| running()).unwrap_or_default();
            list.extend(processes.list());
            // A process of the last run may be named again by a hook of this one.
            list.sort_unstable();
            list.dedup();
            list
        };
        intake.spawn("intake-liveness", move || reap_dead_sessions(&list, &*sink, &clock, &stop))?;
        Ok(intake)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
        match Builder::new().name(name.to_owned()).spawn(work) {
            Ok(thread) => {
                self.threads.push(thread);
                Ok(())
            }
            Err(error) => Err(StartError::Thread(error)),
        }
    }

    /// Returns the work so far.
    pub fn state(&self) -> State {
        State {
            envelopes: self.spool.envelopes(),
            refused: self.spool.refused(),
            unwritten: self.spool.unwritten(),
            failures: self.spool.failures(),
            files: self.files.counts(),
            history: *lock(&self.history),
            named: self.named.counts(),
        }
    }

    /// Returns a watcher of the spool, to wait until an envelope is in the ledger.
    pub fn drained(&self) -> DrainWatcher {
        self.drained.clone()
    }

    /// Brings the envelopes of the spool, then ends. Unread parts of files are left for the next start.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // Requested before the threads are woken: a thread that wakes looks at the request first.
        self.stop.request();
        self.waker.wake();
        spool::wake(&self.home);
        for thread in self.threads.drain(..) {
            // The panic hook has already reported a thread that panicked.
            drop(thread.join());
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_history(files: &Files, roots: &[Root], history: &Mutex<History>, stop: &Stop) {
    let plan = Plan::make(files, roots, None);
    for (folder, error) in &plan.unreadable {
        log::warn_unlisted(roots, folder, error);
    }
    if !plan.files.is_empty() {
        let (files, mb) = (plan.files.len(), plan.bytes >> 20);
        info!(files, bytes = plan.bytes, "reading {files} files of history, {mb} MB");
    }
    let mut noted = Instant::now();
    let mut last = Progress::default();
    let result = import::run(files, &plan, OnFailure::Wait, stop, &mut |progress| {
        last = *progress;
        *lock(history) = History::Reading(*progress);
        if noted.elapsed() >= NOTED_EVERY {
            noted = Instant::now();
            let Progress { files, files_total, bytes, rows, .. } = progress;
            let mb = bytes >> 20;
            info!(
                files,
                files_total, bytes, rows, "history: {files} of {files_total} files, {mb} MB, {rows} rows"
            );
        }
    });
    match result {
        Ok(summary) if summary.is_stopped => return,
        Ok(summary) => {
            for failure in &summary.failures {
                log::warn_unread(failure, None);
            }
            if summary.read > 0 {
                let (files, rows) = (summary.read, summary.counts.rows);
                info!(files, rows, "history: done, {files} files, {rows} rows");
            }
        }
        Err(error) => {
            let error = error_text(&error);
            warn!(error = %error, "history: {error}");
        }
    }
    *lock(history) = History::Done(last);
}

fn reap_dead_sessions(
    running: &dyn Fn() -> Vec<RunningProcess>,
    sink: &dyn Sink,
    clock: &Clock,
    stop: &Stop,
) {
    let mut liveness = Liveness::default();
    // The first check runs at once, to find processes that died while no server ran.
    loop {
        if let Err(error) = liveness.check(running(), sink, clock()) {
            let error = error_text(&error);
            warn!(error = %error, "cannot store the end of a process: {error}");
        }
        if stop.wait(liveness::EVERY) {
            break;
        }
    }
}
