//! Reads earlier input again, because the readers have become better.
//!
//! Hooks cannot run again, so their envelopes, and the payloads of those that were posted, are kept for a while:
//! [`read_kept`] reads them. The agents' files are still there: through an [`ReplacingLedger`], [`crate::files`] reads them from
//! their beginning. A new observation replaces the old one of the same name. An input that cannot be read any more, such
//! as a file that is gone or an envelope that was dropped, keeps its old observations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Outcome};
use agent_tracer_ledger::{AppendError, Batch, Cursor, Ledger, Observed, Receipt, RetainedPayload, Verdict};
use agent_tracer_spool::envelope;

use crate::project::{ProjectClaims, Projects};
use crate::sink::Sink;
use crate::spool::{is_malformed, observe};
use crate::stop::Stop;

/// The number of envelopes that are read at a time.
const PART: u32 = 256;

/// Counts of reread observations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rereading {
    /// Observations that differ from before, or are new.
    pub changed: u64,
    /// Observations that are the same as before.
    pub unchanged: u64,
    /// Observations that cannot be read; the old ones stay.
    pub unreadable: u64,
}

/// A ledger that takes everything anew: it returns no position of a file, and each batch replaces old observations.
pub struct ReplacingLedger {
    ledger: Arc<Ledger>,
    changed: AtomicU64,
    unchanged: AtomicU64,
    unreadable: AtomicU64,
}

impl ReplacingLedger {
    /// Creates a sink that writes to this ledger.
    #[must_use]
    pub fn new(ledger: Arc<Ledger>) -> Self {
        Self {
            ledger,
            changed: AtomicU64::new(0),
            unchanged: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> Rereading {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Rereading {
            changed: read(&self.changed),
            unchanged: read(&self.unchanged),
            unreadable: read(&self.unreadable),
        }
    }
}

impl Sink for ReplacingLedger {
    fn append(&self, mut batch: Batch) -> Result<Receipt, AppendError> {
        batch.reread = true;
        // The first reading has counted them already.
        batch.skipped = 0;
        let receipt = Sink::append(self.ledger.as_ref(), batch)?;
        for outcome in &receipt.outcomes {
            let count = match outcome {
                Outcome::Malformed => &self.unreadable,
                Outcome::Duplicate | Outcome::Refused => &self.unchanged,
                Outcome::Recorded | Outcome::Unrecognised => &self.changed,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(receipt)
    }

    fn cursor(&self, _: &str) -> Result<Option<Cursor>, AppendError> {
        Ok(None)
    }

    fn cursors(&self, _: Agent) -> Result<Vec<Cursor>, AppendError> {
        Ok(Vec::new())
    }
}

/// Reads every kept envelope again, of one agent or of all. `watch` gets the number of envelopes so far.
///
/// # Errors
/// If the ledger cannot be read or written. Earlier batches stay.
pub fn read_kept(
    again: &ReplacingLedger,
    agent: Option<Agent>,
    projects: &Projects,
    stop: &Stop,
    watch: &mut dyn FnMut(u64),
) -> Result<(), AppendError> {
    let mut place = 0;
    let mut read = 0;
    while !stop.is_requested() {
        let mut kept = again.ledger.retained_payloads(place, PART)?;
        let Some(last) = kept.last() else { break };
        place = last.place;
        kept.retain(|kept| agent.is_none_or(|agent| kept.agent == agent));
        read += kept.len() as u64;
        let mut said = ProjectClaims::new();
        let observed: Vec<Observed> =
            kept.iter().filter_map(|kept| observe_again(kept, projects, &mut said)).collect();
        again.unreadable.fetch_add((kept.len() - observed.len()) as u64, Ordering::Relaxed);
        again.append(Batch { observed, ..Batch::default() })?;
        projects.remember(said);
        watch(read);
    }
    Ok(())
}

/// Reads kept bytes; `None` if they are no envelope.
fn observe_again(kept: &RetainedPayload, projects: &Projects, said: &mut ProjectClaims) -> Option<Observed> {
    if kept.channel == Channel::Http {
        return Some(observe_posted(kept));
    }
    let envelope = envelope::parse(&kept.bytes).ok()?;
    Some(observe(&kept.name, &envelope.header, envelope.body, projects, said))
}

/// Reads a hook that was posted. Only its payload was kept, because a post brings nothing else.
fn observe_posted(kept: &RetainedPayload) -> Observed {
    let reading = read(&Observation {
        agent: kept.agent,
        channel: kept.channel,
        name: &kept.name,
        arrived: kept.arrived,
        source: Source::Hook,
        body: &kept.bytes,
        context: &Context::default(),
    });
    let verdict = if is_malformed(&reading) {
        Verdict::Malformed("not JSON".to_owned())
    } else {
        Verdict::Read(reading)
    };
    Observed {
        name: kept.name.clone(),
        source: None,
        agent: kept.agent,
        channel: kept.channel,
        arrived: kept.arrived,
        verdict,
        payload: None,
        kept: None,
    }
}
