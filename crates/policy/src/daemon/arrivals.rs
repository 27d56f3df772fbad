//! Waits for envelopes on their way to the ledger, so that the history is complete up to the event itself.
//!
//! Law: earlier events of the session have to be in the ledger; the event itself need not be, if its changes there can
//! be computed beforehand. Otherwise the lookup waits, no longer than half of the hook's own deadline.

use std::time::{Duration, Instant};

use agent_tracer_event::{Channel, Reading, TaskId};
use agent_tracer_ledger::{PendingOverlay, TaskHistory};
use agent_tracer_spool::EnvelopeName;

/// Envelopes on their way to the ledger.
pub trait Arrivals: Send + Sync {
    /// Waits until every earlier event of the session is in the ledger, at most this long. Returns `false` on timeout.
    fn wait_for_earlier(&self, name: &EnvelopeName, session: Option<&str>, most: Duration) -> bool;
    /// Waits for the envelope itself in the same way.
    fn wait_for(&self, name: &EnvelopeName, most: Duration) -> bool;
    /// Reads an envelope that is not in the ledger yet; `None` if it is, or cannot be read.
    fn peek(&self, name: &EnvelopeName) -> Option<Reading>;
}

/// The way to the history up to one event.
pub(crate) struct ArrivalWait<'q> {
    pub(crate) arrivals: &'q dyn Arrivals,
    /// The event's own envelope; none if it is not recorded.
    pub(crate) envelope: Option<EnvelopeName>,
    pub(crate) session: Option<&'q str>,
    pub(crate) max_wait: Duration,
}

impl ArrivalWait<'_> {
    /// Returns the past with everything up to the event and the event itself; `None` if that could not be had in time.
    pub(crate) fn history(&self, past: &TaskHistory, task: &TaskId) -> Option<TaskHistory> {
        let name = self.envelope.as_ref()?;
        let until = Instant::now() + self.max_wait;
        if !self.arrivals.wait_for_earlier(name, self.session, self.max_wait) {
            return None;
        }
        // The event itself is not waited for: its commit costs an `fsync`, and the rows that the writer will make of
        // its envelope can be computed here. A task without any row is waited for, because the overlay needs one to
        // stand on.
        if let Some(pending) = self.pending(name)
            && past.knows(task).ok()?
        {
            return Some(past.with(pending));
        }
        let left = until.saturating_duration_since(Instant::now());
        self.arrivals.wait_for(name, left).then(|| past.clone())
    }

    fn pending(&self, name: &EnvelopeName) -> Option<PendingOverlay> {
        let reading = self.arrivals.peek(name)?;
        PendingOverlay::new(reading.entries, Channel::Hook)
    }
}
