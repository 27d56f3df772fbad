//! Where batches go, as this room sees it. The ledger is one; tests have another.

use agent_tracer_event::Agent;
use agent_tracer_ledger::{AppendError, Batch, Cursor, Receipt};

/// Takes batches and says when they are on disk.
pub trait Sink: Send + Sync {
    /// Writes a batch and returns once it is on disk. What has a cursor is written as a whole or not at all; of others, the
    /// receipt names those that could not be written.
    fn append(&self, batch: Batch) -> Result<Receipt, AppendError>;
    /// How far a source was read.
    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError>;
    /// How far every source of an agent was read.
    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError>;
}
