//! Finds the processes of running tasks that are gone.
//!
//! An agent that is killed sends no event. Its hooks named its process; if that is gone, this room reports it once. A
//! process id is compared with its start time and namespace: ids are used again, and a container has
//! its own. Where the system has no table of processes, none is reported.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_tracer_event::{
    Channel, Entry, Evidence, Kind, Millis, Phase, Reading, Subject, TaskKey, attributes,
};
use agent_tracer_ledger::{AppendError, Batch, Observed, RunningProcess, Verdict};
use serde_json::Value;

use crate::process_table::ProcessTable;
use crate::sink::Sink;

/// The interval between two checks.
pub const EVERY: std::time::Duration = std::time::Duration::from_secs(30);
/// The most processes that are remembered. Beyond, all are forgotten and found again.
const REMEMBERED: usize = 10_000;

/// The processes of sessions that have not ended, as hooks of this server's time named them.
#[derive(Debug, Default)]
pub struct Processes {
    known: Mutex<HashMap<TaskKey, RunningProcess>>,
}

impl Processes {
    /// Learns from a reading that is on disk.
    pub(crate) fn learn(&self, entries: &[Entry]) {
        for entry in entries {
            let number = |name: &str| entry.metadata.get(name).and_then(Value::as_u64);
            if entry.subject == Subject::Task
                && let (Some(pid), Some(start), Some(namespace)) = (
                    number(attributes::PID),
                    number(attributes::PID_START),
                    number(attributes::PID_NAMESPACE),
                )
                && let Ok(pid) = u32::try_from(pid)
            {
                let mut known = self.known();
                if known.len() >= REMEMBERED {
                    known.clear();
                }
                known.insert(
                    entry.task.clone(),
                    RunningProcess { task: entry.task.clone(), pid, start, namespace },
                );
            }
        }
        // Ends come after the processes, because an end names its process too.
        for entry in entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::SessionEnded)) {
            let mut known = self.known();
            if let Some(ended) = known.remove(&entry.task) {
                // Subagents live in the process of their session, and end with it.
                known.retain(|_, other| (other.pid, other.start) != (ended.pid, ended.start));
            }
        }
    }

    /// Returns the processes of sessions that have not ended.
    pub fn list(&self) -> Vec<RunningProcess> {
        self.known().values().cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<TaskKey, RunningProcess>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Alive,
    Gone,
    /// The system does not let us find out.
    Unknown,
}

/// Finds processes that are gone.
#[derive(Debug, Default)]
pub struct Liveness {
    table: ProcessTable,
    /// Processes that were already reported.
    gone: HashSet<RunningProcess>,
}

impl Liveness {
    /// Creates a check that reads this folder, which is like `/proc`, instead of the system's own table.
    #[must_use]
    pub fn at(proc: &Path) -> Self {
        Self { table: ProcessTable::Folder(proc.to_owned()), gone: HashSet::new() }
    }

    /// Reports each of these processes that is gone and was not reported. Returns their number.
    pub fn check(
        &mut self,
        running: impl IntoIterator<Item = RunningProcess>,
        sink: &dyn Sink,
        now: Millis,
    ) -> Result<usize, AppendError> {
        // Ids of another namespace name other processes here, so they are never looked up.
        let Some(namespace) = self.table.namespace() else { return Ok(0) };
        let gone: Vec<RunningProcess> = running
            .into_iter()
            .filter(|process| process.namespace == namespace && !self.gone.contains(process))
            .filter(|process| self.state(process) == State::Gone)
            .collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let observed = gone.iter().map(|process| observe(process, now)).collect();
        // Remembered only after the commit: a refusal is reported again at the next check.
        sink.append(Batch { observed, own: true, ..Batch::default() })?;
        if self.gone.len() >= REMEMBERED {
            self.gone.clear();
        }
        let news = gone.len();
        self.gone.extend(gone);
        Ok(news)
    }

    fn state(&self, process: &RunningProcess) -> State {
        match self.table.find(process.pid) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::Gone,
            // Permission is missing, or the answer makes no sense.
            Err(_) => State::Unknown,
            // The same id with another start is another process: systems use ids again.
            Ok(facts) if facts.start != process.start || facts.is_zombie => State::Gone,
            Ok(_) => State::Alive,
        }
    }
}

fn observe(process: &RunningProcess, now: Millis) -> Observed {
    let RunningProcess { task, pid, start, .. } = process;
    let evidence = Evidence::measured("its process is gone");
    let mut entry = Entry::new(Subject::Task, Phase::Update, task.clone(), "task", now, evidence);
    entry.metadata.insert(attributes::PROCESS_GONE_AT.to_owned(), Value::from(now.0));
    entry.metadata.insert(attributes::GONE_PID.to_owned(), Value::from(*pid));
    entry.metadata.insert(attributes::GONE_PID_START.to_owned(), Value::from(*start));
    Observed {
        name: format!("gone:{pid}:{start}:{}", task.runtime_session),
        source: None,
        agent: task.agent,
        channel: Channel::Hook,
        arrived: now,
        verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
        payload: None,
        kept: None,
    }
}
