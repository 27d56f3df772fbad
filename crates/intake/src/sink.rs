//! The receiver of batches. The ledger is one; tests have another.

use agent_tracer_event::Agent;
use agent_tracer_ledger::{AppendError, Batch, Cursor, Receipt};

/// Takes batches and returns once they are on disk.
pub trait Sink: Send + Sync {
    /// Writes a batch and returns once it is on disk. A batch with a cursor is written as a whole or not at all; for others
    /// the receipt names the observations that could not be written.
    fn append(&self, batch: Batch) -> Result<Receipt, AppendError>;
    /// Returns the position up to which a source was read.
    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError>;
    /// Returns the positions up to which the sources of an agent were read.
    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError>;
}
