//! The ledger as a sink.

use agent_tracer_event::Agent;
use agent_tracer_ledger::{AppendError, Batch, Cursor, FaultCause, Ledger, QueryError, Receipt};

use crate::sink::Sink;

impl Sink for Ledger {
    fn append(&self, batch: Batch) -> Result<Receipt, AppendError> {
        Self::append(self, batch)
    }

    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError> {
        Self::cursor(self, source).map_err(|error| unanswered(self, error))
    }

    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError> {
        Self::cursors(self, agent).map_err(|error| unanswered(self, error))
    }
}

/// Classifies a failed query. A write tells whether the whole store fails or only this item.
fn unanswered(ledger: &Ledger, error: QueryError) -> AppendError {
    let cause = FaultCause::new(error);
    match ledger.probe() {
        Ok(()) => AppendError::Item(cause),
        Err(_) => AppendError::Store(cause),
    }
}
