//! Drains the spool: envelopes in, batches out, acknowledged once they are on disk.
//!
//! [`SpoolIntake::step`] brings one batch and has no timing; [`run`] waits for the doorbell or for two seconds,
//! whichever comes first, and steps until nothing is left. A crash between the sink's answer and the acknowledgement
//! brings the same envelopes again, which the ledger recognises by their names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Channel, Entry, Kind, Millis, Reading, Subject, Unrecognised, attributes};
use agent_tracer_ledger::{AppendError, Batch, Observed, Verdict};
use agent_tracer_spool::doorbell::{self, Listener};
use agent_tracer_spool::drain::{Delivered, DrainError, RefusedFile};
use agent_tracer_spool::{Drain, EnvelopeName, Home, Spool, envelope};
use tracing::{info, warn};
use xxhash_rust::xxh3::xxh3_64;

use crate::Clock;
use crate::drain_watcher::DrainWatcher;
use crate::liveness::Processes;
use crate::log::chain;
use crate::pace::Pace;
use crate::project::{ProjectClaims, Projects};
use crate::sink::Sink;
use crate::stop::Stop;
use crate::tail::NamedFiles;
use crate::transcript;

/// The most envelopes of a batch, while few wait.
const FILES_MAX: usize = 256;
/// The most envelopes after a full batch. A commit syncs and writes some forty pages whatever it holds, so a backlog
/// takes fewer of them. A post that arrives meanwhile waits for the larger commit, some tenths of a second.
const FILES_MAX_WAITING: usize = 1_024;
/// The most bytes of a batch.
const BYTES_MAX: u64 = 4 << 20;
/// The longest wait for the doorbell: a ring may be lost.
const LOOK: Duration = Duration::from_secs(2);
/// The pause without a doorbell.
const LOOK_UNBELLED: Duration = Duration::from_millis(200);
/// The interval between two removals of the leftovers of dead hooks.
const SWEEP: Duration = Duration::from_secs(600);

/// The reason why a step failed. Nothing was acknowledged.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The spool could not be read.
    #[error("cannot read the spool")]
    Spool(#[source] DrainError),
    /// The sink did not take the batch.
    #[error("cannot store the envelopes of the spool")]
    Sink(#[source] AppendError),
}

/// The result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Envelopes in the batch.
    pub envelopes: usize,
    /// Files that are no envelopes, or damaged ones. They were put aside.
    pub refused: usize,
    /// Of the envelopes, those that the sink did not take although it takes others. They were put aside.
    pub unwritten: usize,
    /// Nothing is left to bring.
    pub is_empty: bool,
}

/// Counts of the work so far.
#[derive(Debug, Default)]
pub struct SpoolCounts {
    envelopes: AtomicU64,
    refused: AtomicU64,
    unwritten: AtomicU64,
    failures: AtomicU64,
}

impl SpoolCounts {
    /// Returns the number of envelopes that the sink got.
    pub fn envelopes(&self) -> u64 {
        self.envelopes.load(Ordering::Relaxed)
    }

    /// Returns the number of files that were put aside because they could not be read.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns the number of envelopes that were put aside because the sink did not take them.
    pub fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    /// Returns the number of failed attempts: the disk was full, or the ledger closed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// Brings envelopes to a sink.
pub struct SpoolIntake {
    drain: Drain,
    sink: Arc<dyn Sink>,
    projects: Arc<Projects>,
    processes: Arc<Processes>,
    counts: Arc<SpoolCounts>,
    drained: Option<DrainWatcher>,
    named: Option<NamedFiles>,
    /// The most envelopes of the next batch.
    files_max: usize,
}

impl SpoolIntake {
    /// Takes the spool. Fails if another process has it.
    pub fn open(spool: &Spool, sink: Arc<dyn Sink>, projects: Arc<Projects>) -> Result<Self, DrainError> {
        Ok(Self {
            drain: Drain::open(spool)?,
            sink,
            projects,
            processes: Arc::default(),
            counts: Arc::default(),
            drained: None,
            named: None,
            files_max: FILES_MAX,
        })
    }

    /// Notifies a watcher whenever envelopes have left the spool.
    #[must_use]
    pub fn with_watcher(mut self, drained: DrainWatcher) -> Self {
        self.drained = Some(drained);
        self
    }

    /// Collects the transcripts that hooks name.
    #[must_use]
    pub fn naming(mut self, named: NamedFiles) -> Self {
        self.named = Some(named);
        self
    }

    /// Returns the counts, which go on changing.
    pub fn counts(&self) -> Arc<SpoolCounts> {
        Arc::clone(&self.counts)
    }

    /// Returns the processes that hooks named.
    pub fn processes(&self) -> Arc<Processes> {
        Arc::clone(&self.processes)
    }

    /// Brings one batch and acknowledges it.
    pub fn step(&mut self) -> Result<Step, StepError> {
        let result = self.try_step();
        match &result {
            Ok(step) => {
                self.counts.envelopes.fetch_add(step.envelopes as u64, Ordering::Relaxed);
                self.counts.refused.fetch_add(step.refused as u64, Ordering::Relaxed);
                self.counts.unwritten.fetch_add(step.unwritten as u64, Ordering::Relaxed);
            }
            Err(_) => {
                self.counts.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        result
    }

    fn try_step(&mut self) -> Result<Step, StepError> {
        let mut batch = self.drain.next_batch(self.files_max, BYTES_MAX).map_err(StepError::Spool)?;
        let is_full = batch.envelopes.len() >= self.files_max;
        self.files_max = if is_full { (self.files_max * 2).min(FILES_MAX_WAITING) } else { FILES_MAX };
        let mut step = Step {
            envelopes: batch.envelopes.len(),
            refused: batch.refused.len(),
            unwritten: 0,
            is_empty: batch.nothing_left,
        };
        if batch.envelopes.is_empty() {
            return Ok(step);
        }
        let names: Vec<EnvelopeName> = batch.envelopes.iter().map(|delivered| delivered.name).collect();
        let mut said = ProjectClaims::new();
        let observed = batch.envelopes.into_iter().map(|delivered| {
            let Delivered { name, mut header, body } = delivered;
            let agent = header.agent;
            transcript::hash(&mut header, agent, &body);
            observe(name.as_str(), &header, &body, &self.projects, &mut said)
        });
        let brought = Batch { observed: observed.collect(), ..Batch::default() };
        let process_entries = processes_of(&brought);
        if let Some(named) = &self.named {
            named.learn(&brought);
        }
        match self.sink.append(brought) {
            Ok(written) => {
                let unwritten: Vec<(EnvelopeName, String)> = written
                    .unwritten
                    .into_iter()
                    .filter_map(|(place, why)| Some((*names.get(place)?, why)))
                    .collect();
                let aside = self.drain.put_aside(&mut batch.receipt, &unwritten).map_err(StepError::Spool)?;
                step.unwritten = aside.len();
            }
            Err(error) => {
                self.drain.put_back(batch.receipt);
                return Err(StepError::Sink(error));
            }
        }
        self.projects.remember(said);
        self.processes.learn(&process_entries);
        self.drain.ack(batch.receipt).map_err(StepError::Spool)?;
        if let Some(drained) = &self.drained {
            drained.notify();
        }
        Ok(step)
    }

    /// Removes the leftovers of dead hooks.
    pub fn sweep(&mut self, now: Millis) -> Result<Vec<RefusedFile>, StepError> {
        let nanos = u64::try_from(now.0).unwrap_or(0).saturating_mul(1_000_000);
        let swept = self.drain.sweep(nanos).map_err(StepError::Spool)?;
        self.drain.recount().map_err(StepError::Spool)?;
        self.counts.refused.fetch_add(swept.refused.len() as u64, Ordering::Relaxed);
        Ok(swept.refused)
    }
}

/// Brings envelopes until a stop is requested. The envelopes of that moment are brought before it ends.
///
/// The requester also calls [`wake`], because this may be waiting for the doorbell.
pub fn run(mut intake: SpoolIntake, home: &Home, clock: &Clock, stop: &Stop) {
    let bell = Listener::bind(home).map_err(|error| {
        warn!(error = %error, "cannot bind the doorbell, checking the spool five times a second instead: {error}");
    });
    // Another attempt may succeed now: the store was repaired, or this version reads more.
    match Spool::at(&home.spool()).requeue_unwritten() {
        Ok(0) => {}
        Ok(envelopes) => info!(envelopes, "retrying {envelopes} envelopes that were put aside"),
        Err(error) => warn_failed(&error, None),
    }
    let mut pace = Pace::default();
    let mut swept: Option<Instant> = None;
    loop {
        // Read before the drain, not after: what arrives until the request still gets one whole pass.
        let is_last = stop.is_requested();
        if swept.is_none_or(|at| at.elapsed() >= SWEEP) {
            swept = Some(Instant::now());
            if let Err(error) = intake.sweep(clock()) {
                warn_failed(&error, None);
            }
        }
        match drain_all(&mut intake) {
            Ok(()) => pace.succeeded(),
            Err(error) => {
                let pause = pace.failed();
                warn_failed(&error, Some(pause));
                if is_last || stop.wait(pause) {
                    return;
                }
                continue;
            }
        }
        if is_last {
            return;
        }
        let rang = match &bell {
            Ok(bell) => bell.wait(LOOK).is_ok(),
            Err(()) => false,
        };
        if !rang {
            stop.wait(LOOK_UNBELLED);
        }
    }
}

/// Wakes a drain that waits for the doorbell.
pub fn wake(home: &Home) {
    doorbell::ring(home);
}

fn drain_all(intake: &mut SpoolIntake) -> Result<(), StepError> {
    loop {
        let step = intake.step()?;
        if step.refused > 0 {
            let files = step.refused;
            warn!(files, "put aside {files} unreadable files of the spool");
        }
        if step.unwritten > 0 {
            let envelopes = step.unwritten;
            warn!(
                envelopes,
                "put aside {envelopes} envelopes that the ledger rejects; the next start retries them"
            );
        }
        if step.is_empty || (step.envelopes == 0 && step.refused == 0) {
            return Ok(());
        }
    }
}

/// Logs a failure of the spool or the sink, and the time until the next attempt.
fn warn_failed(error: &dyn std::error::Error, pause: Option<Duration>) {
    let error = chain(error);
    match pause.map(|pause| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)) {
        Some(retry_ms) => warn!(error = %error, retry_ms, "{error}; retrying in {retry_ms} ms"),
        None => warn!(error = %error, "{error}"),
    }
}

fn source_of(channel: envelope::Channel) -> Source {
    match channel {
        envelope::Channel::Hook => Source::Hook,
        envelope::Channel::Statusline => Source::StatusLine,
        envelope::Channel::Decision => Source::Decision,
    }
}

/// Why an envelope holds nothing that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EnvelopeFault {
    /// The hook did not understand the payload, and wrote only where.
    #[error("{what} at byte {at}")]
    Payload {
        /// The fault.
        what: String,
        /// Its position in the payload.
        at: u64,
    },
    /// The body is not JSON.
    #[error("not JSON")]
    NotJson,
}

/// Reads an envelope.
pub(crate) fn read_envelope(
    name: &str,
    header: &envelope::Header<'_>,
    body: &[u8],
) -> Result<Reading, EnvelopeFault> {
    if let Some(fault) = &header.fault {
        return Err(EnvelopeFault::Payload { what: fault.what.clone().into_owned(), at: fault.at });
    }
    let reading = read(&Observation {
        agent: header.agent,
        channel: Channel::Hook,
        name,
        arrived: Millis::from_nanos(header.arrived_nanos),
        source: source_of(header.channel),
        body,
        context: &context_of(header),
    });
    if is_malformed(&reading) { Err(EnvelopeFault::NotJson) } else { Ok(reading) }
}

/// Reads an envelope as the ledger takes it.
pub(crate) fn observe(
    name: &str,
    header: &envelope::Header<'_>,
    body: &[u8],
    projects: &Projects,
    said: &mut ProjectClaims,
) -> Observed {
    let (agent, source) = (header.agent, source_of(header.channel));
    let arrived = Millis::from_nanos(header.arrived_nanos);
    let verdict = match read_envelope(name, header, body) {
        Ok(mut reading) => {
            said.append(&mut projects.add_to(&mut reading, None));
            Verdict::Read(reading)
        }
        Err(fault) => Verdict::Malformed(fault.to_string()),
    };
    // Some agents send equal bytes for distinct calls, and a status line repeats itself all the time.
    let may_repeat = agent.spec().repeats_equal_events && source == Source::Hook && !body.is_empty();
    let payload = may_repeat.then(|| xxh3_64(body));
    let mut kept = Vec::new();
    envelope::encode(header, body, &mut kept);
    Observed {
        name: name.to_owned(),
        source: None,
        agent,
        channel: Channel::Hook,
        arrived,
        verdict,
        payload,
        kept: Some(kept),
    }
}

/// Returns the few entries of a batch that name processes or end sessions, as the batch itself goes to the sink.
fn processes_of(batch: &Batch) -> Vec<Entry> {
    let entries = batch.observed.iter().filter_map(|observed| match &observed.verdict {
        Verdict::Read(reading) => Some(&reading.entries),
        Verdict::Malformed(_) | Verdict::Refused(_) => None,
    });
    // Copied before the batch is given away, and only these few: most batches name no process.
    let relevant = entries.flatten().filter(|entry| match entry.subject {
        Subject::Task => entry.metadata.contains_key(attributes::PID),
        Subject::Event(kind) => kind == Kind::SessionEnded,
        Subject::Turn | Subject::Account => false,
    });
    relevant.cloned().collect()
}

/// Returns `true` if a reader found no JSON: only then is its reading empty but for one unrecognised line.
pub(crate) fn is_malformed(reading: &Reading) -> bool {
    reading.entries.is_empty() && matches!(reading.unrecognised.as_slice(), [Unrecognised::Line(_)])
}

fn context_of(header: &envelope::Header<'_>) -> Context {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Context {
        cwd: header.cwd.as_deref().map(text),
        env: header.env.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        pid: header.pid,
        pid_start: header.pid_start,
        pid_namespace: header.pid_namespace,
        parent_pid: header.parent_pid,
        transcript: transcript::seen(header),
    }
}
