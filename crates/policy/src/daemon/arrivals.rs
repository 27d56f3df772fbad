//! What has arrived and is not in the ledger yet, so that a question about the past is answered up to the event itself.
//!
//! Law: what the session told before has to be in the ledger; the event itself need not be, if what it will change there
//! can be said beforehand. Whoever cannot be sure waits, and no longer than half of the hook's own deadline.

use std::time::{Duration, Instant};

use agent_tracer_event::{Channel, Reading, TaskId};
use agent_tracer_ledger::{PendingOverlay, TaskHistory};
use agent_tracer_spool::EnvelopeName;

/// What is on its way to the ledger.
pub trait Arrivals: Send + Sync {
    /// Waits until everything that a session told before this envelope is in the ledger, for so long at the most; says
    /// whether it is.
    fn wait_for_earlier(&self, name: &EnvelopeName, session: Option<&str>, most: Duration) -> bool;
    /// The same for the envelope itself.
    fn wait_for(&self, name: &EnvelopeName, most: Duration) -> bool;
    /// What an envelope says that is not in the ledger yet; `None` if it is, or nobody can read it.
    fn peek(&self, name: &EnvelopeName) -> Option<Reading>;
}

/// How the past up to one event is reached.
pub(crate) struct Reach<'q> {
    pub(crate) arrivals: &'q dyn Arrivals,
    /// The event's own envelope; none if it is not recorded.
    pub(crate) envelope: Option<EnvelopeName>,
    pub(crate) session: Option<&'q str>,
    pub(crate) patience: Duration,
}

impl Reach<'_> {
    /// The past with everything up to the event and the event itself. `None` if that could not be had in time.
    pub(crate) fn past(&self, past: &TaskHistory, task: &TaskId) -> Option<TaskHistory> {
        let name = self.envelope.as_ref()?;
        let until = Instant::now() + self.patience;
        if !self.arrivals.wait_for_earlier(name, self.session, self.patience) {
            return None;
        }
        if let Some(coming) = self.coming(name)
            && past.knows(task).ok()?
        {
            return Some(past.with(coming));
        }
        let left = until.saturating_duration_since(Instant::now());
        self.arrivals.wait_for(name, left).then(|| past.clone())
    }

    fn coming(&self, name: &EnvelopeName) -> Option<PendingOverlay> {
        let reading = self.arrivals.peek(name)?;
        PendingOverlay::of(reading.entries, Channel::Hook)
    }
}
