//! Where batches go, as this room sees it. The ledger is one; tests have another.

use agent_tracer_event::Agent;
use agent_tracer_ledger::{Batch, Cursor, Receipt};

/// Why a batch was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The disk is full.
    #[error("the disk is full")]
    DiskFull,
    /// The store may only be read.
    #[error("the ledger may only be read")]
    ReadOnly,
    /// The ledger is closed and takes nothing any more.
    #[error("the ledger is closed")]
    Closed,
    /// The ledger takes nothing now.
    #[error("the ledger did not take it: {0}")]
    Failed(String),
    /// The ledger takes others, but not this.
    #[error("the ledger takes others, but not this: {0}")]
    Item(String),
}

/// Takes batches and says when they are on disk.
pub trait Sink: Send + Sync {
    /// Writes a batch and returns once it is on disk. What has a cursor is written as a whole or not at all; of others, the
    /// receipt names those that could not be written.
    fn append(&self, batch: Batch) -> Result<Receipt, SinkError>;
    /// How far a source was read.
    fn cursor(&self, source: &str) -> Result<Option<Cursor>, SinkError>;
    /// How far every source of an agent was read.
    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, SinkError>;
}
