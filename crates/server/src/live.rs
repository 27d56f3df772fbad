//! Broadcasts committed changes to the followers of the stream.
//!
//! The writer puts changes in and never waits: a slow follower misses some, receives a gap, and asks the store.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent_tracer_ledger::view::Row;
use serde_json::json;
use tokio::sync::broadcast;

use crate::epoch::Epoch;

/// Changes that are kept for the slowest follower. A row is some two kilobytes.
// The ring holds pointers to them: full, it keeps some eight megabytes alive.
const CHANGES: usize = 4096;

/// Ids of removed rows in one event.
const IDS: usize = 500;

/// Ids of rows that are gone which are remembered for those who come back.
const REMEMBERED: usize = 10_000;

/// A committed change.
#[expect(clippy::large_enum_variant, reason = "nearly all are rows, and each is behind one pointer already")]
pub(crate) enum ChangeKind {
    /// A row is new or changed.
    Row(Row),
    /// Rows of these ids are no more.
    Removed(Vec<String>),
    /// A gap: too much happened for single rows; holds the place where it begins.
    Missed(u64),
}

impl ChangeKind {
    /// Returns `true` if every follower receives it, whatever it follows.
    pub(crate) const fn is_for_all(&self) -> bool {
        !matches!(self, Self::Row(_))
    }
}

/// A change that was committed.
pub(crate) struct Change {
    /// Its place in the order of delivery.
    pub(crate) seq: u64,
    /// The change.
    pub(crate) what: ChangeKind,
    /// The change as it is sent: written once for all followers.
    text: OnceLock<Arc<str>>,
}

impl Change {
    pub(crate) fn row(row: Row) -> Self {
        Self { seq: row.seq, what: ChangeKind::Row(row), text: OnceLock::new() }
    }

    fn removed(seq: u64, ids: &[String]) -> Self {
        Self { seq, what: ChangeKind::Removed(ids.to_vec()), text: OnceLock::new() }
    }

    fn missed(from: u64, to: u64) -> Self {
        Self { seq: to, what: ChangeKind::Missed(from), text: OnceLock::new() }
    }

    /// Writes the change as one event of a stream of this epoch.
    pub(crate) fn text(&self, epoch: Epoch) -> Arc<str> {
        let write = || match &self.what {
            ChangeKind::Row(row) => {
                let data = serde_json::to_string(row).unwrap_or_default();
                Arc::from(format!("id: {}\ndata: {data}\n\n", epoch.id(self.seq)))
            }
            // Without an id: it is no place from which rows could be read again.
            ChangeKind::Removed(ids) => Arc::from(removed(ids)),
            ChangeKind::Missed(from) => Arc::from(missed(epoch, *from, self.seq)),
        };
        // A server has one epoch, so one text serves all its followers.
        Arc::clone(self.text.get_or_init(write))
    }
}

/// Writes a gap as one event of a stream. Its id is its end: a client that reconnects after it must not receive it again.
pub(crate) fn missed(epoch: Epoch, from: u64, to: u64) -> String {
    let id = epoch.id(to);
    format!("event: missed\nid: {id}\ndata: {{\"from\":{from},\"to\":{to}}}\n\n")
}

/// Writes removed rows as one event of a stream.
pub(crate) fn removed(ids: &[String]) -> String {
    format!("event: removed\ndata: {}\n\n", json!({ "ids": ids }))
}

/// Publishes committed changes.
#[derive(Clone)]
pub struct Live {
    changes: broadcast::Sender<Arc<Change>>,
    gone: Arc<Mutex<RemovedRows>>,
}

/// Rows that are gone, for those who come back.
#[derive(Default)]
struct RemovedRows {
    /// The place in the order of delivery at which each of them went.
    ids: VecDeque<(u64, String)>,
    /// Up to here not all of them are remembered.
    forgotten: u64,
}

impl Live {
    /// Starts without followers.
    #[must_use]
    pub fn new() -> Self {
        Self { changes: broadcast::Sender::new(CHANGES), gone: Arc::default() }
    }

    /// Returns whether the stream has a follower.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.changes.receiver_count() > 0
    }

    /// Puts in the rows of one commit. Never waits.
    pub fn publish(&self, rows: &[Row]) {
        // This runs on the writer's thread: without a follower nothing is cloned and nothing is sorted.
        if !self.is_followed() {
            return;
        }
        let mut rows: Vec<&Row> = rows.iter().collect();
        // A follower remembers the greatest place that it has seen, so nothing may come behind a greater one.
        rows.sort_by_key(|row| row.seq);
        for row in rows {
            self.send(Change::row(row.clone()));
        }
    }

    /// Puts in the ids of rows that a commit removed, with the commit's place in the order of delivery. Never waits.
    pub fn publish_removed(&self, seq: u64, ids: &[String]) {
        // Also without followers: those who come back ask for what went while they were away.
        self.remember_gone(seq, ids);
        if self.is_followed() {
            for ids in ids.chunks(IDS) {
                self.send(Change::removed(seq, ids));
            }
        }
    }

    /// Publishes a gap between two places, which followers fill by asking the store. Never waits.
    pub fn publish_missed(&self, from: u64, to: u64) {
        self.send(Change::missed(from, to));
    }

    fn remember_gone(&self, seq: u64, ids: &[String]) {
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.ids.extend(ids.iter().map(|id| (seq, id.clone())));
        while gone.ids.len() > REMEMBERED {
            if let Some((seq, _)) = gone.ids.pop_front() {
                gone.forgotten = gone.forgotten.max(seq);
            }
        }
    }

    /// Returns the rows that went since a place in the order of delivery; `None` if they are not remembered any more.
    pub(crate) fn gone_since(&self, seq: u64) -> Option<Vec<String>> {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if gone.forgotten > 0 && seq <= gone.forgotten {
            return None;
        }
        // At the place itself too: a row may go right behind another that has the same place.
        Some(gone.ids.iter().filter(|(at, _)| *at >= seq).map(|(_, id)| id.clone()).collect())
    }

    fn send(&self, change: Change) {
        // An error means that the last follower has just left.
        drop(self.changes.send(Arc::new(change)));
    }

    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<Change>> {
        self.changes.subscribe()
    }
}

impl Default for Live {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("followers", &self.changes.receiver_count()).finish()
    }
}
