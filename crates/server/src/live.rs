//! Rows as they are committed, for everybody who follows.
//!
//! The writer puts rows in and never waits: who is too slow misses some, is told so, and asks the store.

use std::fmt;
use std::sync::{Arc, OnceLock};

use agent_tracer_ledger::view::Row;
use tokio::sync::broadcast;

/// Rows that are kept for the slowest follower. A row is some two kilobytes.
const ROWS: usize = 4096;

/// A row that was committed.
pub(crate) struct LiveRow {
    /// The row.
    pub(crate) row: Row,
    /// The row as it is sent: written once for all followers.
    text: OnceLock<Arc<str>>,
}

impl LiveRow {
    pub(crate) fn new(row: Row) -> Self {
        Self { row, text: OnceLock::new() }
    }

    /// The row as one event of a stream.
    pub(crate) fn text(&self) -> Arc<str> {
        let write = || {
            let data = serde_json::to_string(&self.row).unwrap_or_default();
            Arc::from(format!("id: {}\ndata: {data}\n\n", self.row.seq))
        };
        Arc::clone(self.text.get_or_init(write))
    }
}

/// Where committed rows are put in.
#[derive(Clone)]
pub struct Live(broadcast::Sender<Arc<LiveRow>>);

impl Live {
    /// Nobody follows yet.
    #[must_use]
    pub fn new() -> Self {
        Self(broadcast::Sender::new(ROWS))
    }

    /// Whether anybody follows.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Puts in the rows of one commit. Never waits.
    pub fn publish(&self, rows: &[Row]) {
        if !self.is_followed() {
            return;
        }
        let mut rows: Vec<&Row> = rows.iter().collect();
        rows.sort_by_key(|row| row.seq);
        for row in rows {
            // An error says that the last follower has just left.
            drop(self.0.send(Arc::new(LiveRow::new(row.clone()))));
        }
    }

    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<LiveRow>> {
        self.0.subscribe()
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("followers", &self.0.receiver_count()).finish()
    }
}
