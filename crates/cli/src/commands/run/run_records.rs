//! Brings everything that a run recorded into the ledger before it is read: by the server that runs, or here.
//!
//! Law: a server is waited for and never stopped; without one the spool is drained and the files are read in this process.
//! What was not read in time is said.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_tracer_event::{Agent, TaskId, TaskKey};
use agent_tracer_intake::{Sink, catch_up};
use agent_tracer_ledger::view::{Task, TaskKind};
use agent_tracer_ledger::{Paging, QueryError, TaskFilter, error_text};
use agent_tracer_spool::{Home, run};

use super::RunFacts;
use crate::arguments::Options;
use crate::commands::import;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::instance::Instance;
use crate::reading::{Reading, refused};
use crate::sources;

/// The longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(15);
/// A server that has written nothing for so long has read what it finds.
const SETTLED: Duration = Duration::from_secs(4);
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Names how tasks were found to be of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    /// Their hooks named the run.
    Run,
    /// They began in the same folder at that time.
    FolderAndTime,
    /// There are none.
    None,
}

/// Holds the main tasks of a run, and what is in the way.
pub(super) struct RunRecords {
    pub(super) reading: Reading,
    pub(super) tasks: Vec<Task>,
    pub(super) matched: Match,
    pub(super) unread: Vec<String>,
}

/// Reads what a run recorded, and finds its tasks.
pub(super) fn read_run(
    facts: &RunFacts,
    home: &Home,
    options: &Options,
    environment: &Environment,
) -> Result<RunRecords, Failure> {
    let unread = match (Instance::is_held(home), Instance::take(home)) {
        // Taking the lock is the test: a server may have started since the look.
        (false, Ok(_instance)) => read_here(facts, home, environment)?,
        _ => wait_for_server(facts, home, options, environment)?,
    };
    let reading = Reading::open(options, environment)?;
    let (tasks, matched) = tasks(facts, home, &reading, environment)?;
    Ok(RunRecords { reading, tasks, matched, unread })
}

/// Drains the spool, and reads the files that its events name and those that changed during the run.
fn read_here(facts: &RunFacts, home: &Home, environment: &Environment) -> Result<Vec<String>, Failure> {
    let ledger = Arc::new(sources::ledger(home)?);
    let privacy = Arc::new(sources::privacy(home, environment)?);
    sources::known(&privacy)?;
    let sink: Arc<dyn Sink> = Arc::<agent_tracer_ledger::Ledger>::clone(&ledger);
    let since = facts.started.0.saturating_mul(1_000_000);
    let roots = sources::roots(facts.agent, home, environment)?;
    let failed =
        catch_up(home, &roots, &|found| found.facts.changed_ns >= since, &sink, privacy, sources::clock());
    let failed = failed.map_err(|error| {
        Failure::from_text(&error_text(&error)).hint("run `agent-tracer doctor` for details")
    })?;
    ledger.finish_search().map_err(|error| import::refused(&error))?;
    ledger.close();
    Ok(failed.iter().map(|error| error_text(error)).collect())
}

/// Waits until the server has brought the events that are in the spool now, and has read the transcripts to their ends.
fn wait_for_server(
    facts: &RunFacts,
    home: &Home,
    options: &Options,
    environment: &Environment,
) -> Result<Vec<String>, Failure> {
    let begun = Instant::now();
    let new = home.spool().join("new");
    let mut waiting: Vec<PathBuf> =
        fs::read_dir(&new).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let (mut seq, mut changed) = (0, Instant::now());
    loop {
        waiting.retain(|path| path.exists());
        if waiting.is_empty() {
            let reading = Reading::open(options, environment)?;
            let now = reading.store().map(|store| store.seq()).transpose().map_err(refused)?.unwrap_or(0);
            if now != seq {
                (seq, changed) = (now, Instant::now());
            }
            let (tasks, matched) = tasks(facts, home, &reading, environment)?;
            // Without the names of its sessions a run ends by silence alone, which may come too early.
            if (matched == Match::Run && is_read(&reading, &tasks)?) || changed.elapsed() >= SETTLED {
                return Ok(Vec::new());
            }
        }
        if begun.elapsed() >= PATIENCE {
            return Ok(vec![format!("the server had not read everything after {} s", PATIENCE.as_secs())]);
        }
        #[expect(clippy::disallowed_methods, reason = "no event reports a write by another process")]
        std::thread::sleep(LOOK);
    }
}

/// Returns `true` if every transcript of the tasks and of those below them was read to its end.
fn is_read(reading: &Reading, tasks: &[Task]) -> Result<bool, Failure> {
    let Some(store) = reading.store() else { return Ok(true) };
    for task in tasks {
        let Some(id) = TaskId::parse(&task.id) else { continue };
        for node in store.tree(reading.now, &id).map_err(refused)?.items {
            let Some(path) = node.task.transcript_path.as_deref() else { continue };
            let Ok(facts) = fs::metadata(Path::new(path)) else { continue };
            if store.position(path).map_err(refused)?.is_none_or(|position| position < facts.len()) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns the main tasks of a run.
fn tasks(
    facts: &RunFacts,
    home: &Home,
    reading: &Reading,
    environment: &Environment,
) -> Result<(Vec<Task>, Match), Failure> {
    let Some(store) = reading.store() else { return Ok((Vec::new(), Match::None)) };
    let mut tasks = Vec::new();
    // A file that cannot be read names no session; then time and folder decide.
    for session in run::sessions(home, facts.id.as_bytes()).unwrap_or_default() {
        for agent in Agent::ALL {
            match store.task(reading.now, &TaskKey::new(*agent, session.as_str()).task_id()) {
                Ok(task) => tasks.push(task),
                Err(QueryError::NotFound) => {}
                Err(error) => return Err(refused(error)),
            }
        }
    }
    if !tasks.is_empty() {
        return Ok((tasks, Match::Run));
    }
    // A run whose hooks named no session: two agents at once in one folder cannot be distinguished here.
    let (since, until) = (facts.started, facts.ended);
    let filter = TaskFilter {
        agent: Some(facts.agent),
        kind: Some(TaskKind::Primary),
        since: Some(since),
        until: Some(until),
        paging: Paging::default(),
        ..TaskFilter::default()
    };
    let mut found = store.tasks(reading.now, &filter).map_err(refused)?.items;
    found.retain(|task| task.started_at >= since && Path::new(&task.workspace_path) == environment.directory);
    let matched = if found.is_empty() { Match::None } else { Match::FolderAndTime };
    Ok((found, matched))
}
