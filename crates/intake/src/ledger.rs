//! The ledger as a sink.

use agent_tracer_event::Agent;
use agent_tracer_ledger::{AppendError, Batch, Cursor, Ledger, QueryError, Receipt};

use crate::sink::{Sink, SinkError};

impl Sink for Ledger {
    fn append(&self, batch: Batch) -> Result<Receipt, SinkError> {
        Self::append(self, batch).map_err(SinkError::from)
    }

    fn cursor(&self, source: &str) -> Result<Option<Cursor>, SinkError> {
        Self::cursor(self, source).map_err(|error| unanswered(self, &error))
    }

    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, SinkError> {
        Self::cursors(self, agent).map_err(|error| unanswered(self, &error))
    }
}

impl From<AppendError> for SinkError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::DiskFull => Self::DiskFull,
            AppendError::ReadOnly => Self::ReadOnly,
            AppendError::Closed => Self::Closed,
            AppendError::Gone(what) | AppendError::Store(what) => Self::Failed(what),
            AppendError::Item(what) => Self::Item(what),
        }
    }
}

/// Tells by a write of something else whether it is the whole store that does not answer.
fn unanswered(ledger: &Ledger, error: &QueryError) -> SinkError {
    match ledger.probe() {
        Ok(()) => SinkError::Item(error.to_string()),
        Err(_) => SinkError::Failed(error.to_string()),
    }
}
