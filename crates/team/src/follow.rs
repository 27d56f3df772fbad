//! What other processes took, as it arrives: the store is asked again and again, each time from a little before the last
//! answer, and what was told already is dropped.
//!
//! Two processes write at once, and what arrived earlier may be seen later. Whoever looked only behind the newest place
//! would miss it.

use std::collections::HashMap;

use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{Answer, Store};

/// How far back it is looked again, in milliseconds: longer than any insert takes to be seen.
const OVERLAP_MS: u64 = 15_000;

/// Rows that are asked for at once.
const PART: u32 = 1_000;

/// Where a process is in what arrives.
#[derive(Debug, Default)]
pub(crate) struct Follow {
    /// The newest moment that was seen.
    newest: u64,
    /// What was told, with the moment at which that state of it arrived.
    told: HashMap<String, u64>,
}

impl Follow {
    /// Begins with what arrives from now on.
    pub(crate) fn from(newest: u64) -> Self {
        Self { newest, told: HashMap::new() }
    }

    /// Rows that arrived and were not told yet, in the order in which they arrived.
    pub(crate) fn next(&mut self, store: &dyn Store) -> Answer<Vec<Row>> {
        let mut fresh = Vec::new();
        let from = self.newest.saturating_sub(OVERLAP_MS);
        let is_first = self.told.is_empty();
        let before = self.newest;
        let mut after = from;
        loop {
            let rows = store.changes(after, PART)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            self.newest = self.newest.max(after);
            for row in rows {
                let known = self.told.insert(row.id.clone(), row.seq);
                // What was there before it began is nothing new.
                let is_old = is_first && row.seq <= before;
                if known != Some(row.seq) && !is_old {
                    fresh.push(row);
                }
            }
        }
        let edge = self.newest.saturating_sub(2 * OVERLAP_MS);
        self.told.retain(|_, at| *at > edge);
        Ok(fresh)
    }
}
