//! Everything that arrives, in threads of its own: what a server starts, watches and stops.
//!
//! Four threads at most, all of which wait nearly all of the time: one for the spool, one for files that grow, one that
//! reads the history once and ends, and one that looks for processes that are gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use agent_tracer_spool::drain::DrainError;
use agent_tracer_spool::{Home, Spool};

use crate::Clock;
use crate::drained::Drained;
use crate::files::{Counts, Files, Root};
use crate::import::{self, Patience, Plan, Progress};
use crate::liveness::{self, Liveness};
use crate::note::{Note, Notes};
use crate::privacy::PrivacyFile;
use crate::project::Projects;
use crate::sink::Sink;
use crate::spool::{self, SpoolCounts, SpoolIntake};
use crate::stop::Stop;
use crate::tail::{NamedFiles, Tail, Waker};
use agent_tracer_ledger::{AppendError, RunningProcess};

/// How often a long import is noted.
const NOTED_EVERY: Duration = Duration::from_secs(10);

/// Lists the processes of tasks that run.
pub type Running = Arc<dyn Fn() -> Vec<RunningProcess> + Send + Sync>;

/// What an intake needs.
pub struct Setup {
    /// Where the spool is.
    pub home: Home,
    /// Where the agents' files are.
    pub roots: Vec<Root>,
    /// What may be recorded of them.
    pub privacy: Arc<PrivacyFile>,
    /// What time it is.
    pub clock: Clock,
    /// Where notes go.
    pub notes: Notes,
    /// Transcripts that hooks name outside of the folders; what is posted is learned by the caller.
    pub named: NamedFiles,
    /// Who runs besides those whose hooks are heard from now on.
    pub running: Option<Running>,
}

/// Why an intake did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The spool cannot be taken.
    #[error("cannot read the spool")]
    Spool(#[source] DrainError),
    /// The sink does not say how far files were read.
    #[error("cannot tell how far files were read")]
    Sink(#[source] AppendError),
    /// The system gives no thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

/// How far the history is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// It is being read.
    Reading(Progress),
    /// All of it was read.
    Done(Progress),
}

/// What an intake has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Envelopes that were brought.
    pub envelopes: u64,
    /// Files of the spool that could not be read.
    pub refused: u64,
    /// Envelopes that the sink did not take although it takes others.
    pub unwritten: u64,
    /// Attempts to bring envelopes that failed.
    pub failures: u64,
    /// What files said.
    pub files: Counts,
    /// How far the history is.
    pub history: History,
}

/// Threads that bring what arrives.
pub struct Intake {
    home: Home,
    stop: Stop,
    waker: Waker,
    spool: Arc<SpoolCounts>,
    files: Arc<Files>,
    history: Arc<Mutex<History>>,
    drained: Drained,
    threads: Vec<JoinHandle<()>>,
}

impl Intake {
    /// Takes the spool, begins to watch files, and starts.
    pub fn start(setup: Setup, sink: Arc<dyn Sink>) -> Result<Self, StartError> {
        let Setup { home, roots, privacy, clock, notes, named, running } = setup;
        let projects = Arc::new(Projects::new());
        let spool = SpoolIntake::open(&Spool::at(&home.spool()), Arc::clone(&sink), Arc::clone(&projects))
            .map_err(StartError::Spool)?;
        let drained = Drained::of(&home);
        let spool = spool.telling(drained.clone()).naming(named.clone());
        let (counts, processes) = (spool.counts(), spool.processes());
        let files = Arc::new(Files::new(Arc::clone(&sink), privacy, projects, Arc::clone(&clock)));
        match files.load() {
            // Each file is asked for by itself when it is read.
            Err(error @ AppendError::Item(_)) => {
                notes(Note::warning(format!("cannot list how far files were read: {error}")));
            }
            loaded => loaded.map_err(StartError::Sink)?,
        }
        // Watched before the history is looked at: what changes in between is read by the one or by the other.
        let (tail, waker) = Tail::new(Arc::clone(&files), roots.clone(), Arc::clone(&notes));
        files.name_recent(&named);
        let tail = tail.with_named(named);
        let mut intake = Self {
            home: home.clone(),
            stop: Stop::new(),
            waker,
            spool: counts,
            files: Arc::clone(&files),
            history: Arc::new(Mutex::new(History::Reading(Progress::default()))),
            drained,
            threads: Vec::new(),
        };
        let stop = intake.stop.clone();
        {
            let (clock, notes, stop) = (Arc::clone(&clock), Arc::clone(&notes), stop.clone());
            intake.spawn("intake-spool", move || spool::run(spool, &home, &clock, &notes, &stop))?;
        }
        {
            let stop = stop.clone();
            intake.spawn("intake-tail", move || tail.run(&stop))?;
        }
        {
            let (history, stop, notes) = (Arc::clone(&intake.history), stop.clone(), Arc::clone(&notes));
            intake.spawn("intake-history", move || read_history(&files, &roots, &history, &notes, &stop))?;
        }
        let list = move || {
            let mut list = running.as_ref().map(|running| running()).unwrap_or_default();
            list.extend(processes.list());
            list.sort_unstable();
            list.dedup();
            list
        };
        intake.spawn("intake-liveness", move || look_for_the_gone(&list, &*sink, &clock, &notes, &stop))?;
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

    /// What was done so far.
    pub fn state(&self) -> State {
        State {
            envelopes: self.spool.envelopes(),
            refused: self.spool.refused(),
            unwritten: self.spool.unwritten(),
            failures: self.spool.failures(),
            files: self.files.counts(),
            history: *lock(&self.history),
        }
    }

    /// Tells when an envelope is in the ledger.
    pub fn drained(&self) -> Drained {
        self.drained.clone()
    }

    /// Brings what is in the spool, then ends. What is not read of files is read the next time.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.stop.request();
        self.waker.wake();
        spool::wake(&self.home);
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
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

fn read_history(files: &Files, roots: &[Root], history: &Mutex<History>, notes: &Notes, stop: &Stop) {
    let plan = Plan::make(files, roots, None);
    for (folder, error) in &plan.unreadable {
        notes(Note::warning(format!("cannot look into `{}`: {error}", folder.display())));
    }
    if !plan.files.is_empty() {
        notes(Note::info(format!("reading {} files of history, {} MB", plan.files.len(), plan.bytes >> 20)));
    }
    let mut noted = Instant::now();
    let mut last = Progress::default();
    let result = import::run(files, &plan, Patience::Wait, stop, &mut |progress| {
        last = *progress;
        *lock(history) = History::Reading(*progress);
        if noted.elapsed() >= NOTED_EVERY {
            noted = Instant::now();
            let Progress { files, files_total, bytes, rows, .. } = progress;
            let mb = bytes >> 20;
            notes(Note::info(format!("history: {files} of {files_total} files, {mb} MB, {rows} rows")));
        }
    });
    match result {
        Ok(summary) if summary.is_stopped => return,
        Ok(summary) => {
            for failure in &summary.failures {
                let cause = std::error::Error::source(failure).map(|cause| format!(": {cause}"));
                notes(Note::warning(format!("{failure}{}", cause.unwrap_or_default())));
            }
            if summary.read > 0 {
                let rows = summary.counts.rows;
                notes(Note::info(format!("history: done, {} files, {rows} rows", summary.read)));
            }
        }
        Err(error) => notes(Note::warning(format!("history: {error}"))),
    }
    *lock(history) = History::Done(last);
}

fn look_for_the_gone(
    running: &dyn Fn() -> Vec<RunningProcess>,
    sink: &dyn Sink,
    clock: &Clock,
    notes: &Notes,
    stop: &Stop,
) {
    let mut liveness = Liveness::default();
    // At once: whoever died while nobody looked is found now, not half a minute later.
    loop {
        if let Err(error) = liveness.check(running(), sink, clock()) {
            notes(Note::warning(format!("cannot keep that a process is gone: {error}")));
        }
        if stop.wait(liveness::EVERY) {
            break;
        }
    }
}
