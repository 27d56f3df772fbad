//! The questions: every one costs what its answer costs, not what the history costs.
//!
//! Lists walk an index in the order of the list and stop at the end of the page; numbers over many tasks are sums of
//! sums that the writer keeps. Nothing here writes, and nothing here knows the clock. A test runs every question and
//! reads the plan of every statement.

mod answers;
mod attention;
mod bucket;
mod context;
mod counts;
pub mod cursor;
mod detail;
mod files;
pub(crate) mod follower;
mod fts_query;
mod health;
mod insights;
mod lanes;
mod limits;
mod lists;
mod loops;
mod outbox;
mod parts;
mod pending_overlay;
#[cfg(test)]
mod plans;
mod pool;
#[cfg(test)]
mod prefix_search;
mod rollup;
mod row;
mod rules;
mod search;
pub mod staleness;
mod stream;
pub(crate) mod summary;
pub(crate) mod task;
mod task_history;
mod task_words;
mod tasks;
mod text;
mod turns;
mod usage;
pub mod usage_sum;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use agent_tracer_event::Agent;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};

pub(crate) use follower::Follower;
pub use follower::{is_indexed, texts};
pub use outbox::Outbox;
pub use pending_overlay::PendingOverlay;
pub(crate) use row::RowBuilder;
pub use task_history::TaskHistory;
pub use usage::{LocalStretch, local_stretches};

use crate::observation::Cursor;
use crate::sqlite::codec;
use crate::sqlite::faults::Faults;
use crate::store::{Answer, QueryError};

/// Connections of the pool: enough that a slow question does not hold up a quick one.
const CONNECTIONS: usize = 4;

impl From<rusqlite::Error> for QueryError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
                Self::Damaged(error.into())
            }
            _ => Self::Store(error.into()),
        }
    }
}

/// The store of one file, for questions.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    pool: pool::Pool,
    faults: Arc<Faults>,
    /// Behind the connections, so that it is closed after them; see [`SqliteStore::holding`].
    #[expect(dead_code, reason = "held, not used")]
    held: Option<Arc<File>>,
}

impl SqliteStore {
    /// Opens the store in this file, which the writer has made.
    pub(crate) fn open(path: &Path, faults: Arc<Faults>) -> rusqlite::Result<Self> {
        Ok(Self { pool: pool::Pool::open(path, CONNECTIONS)?, faults, held: None })
    }

    /// Keeps another handle on the file open for as long as its own: the first one that is closed would take every lock of
    /// the process on the file with it.
    pub(crate) fn holding(self, file: Arc<File>) -> Self {
        Self { held: Some(file), ..self }
    }

    /// Opens a store with a connection of its own, for a caller that must not wait for the queries of others.
    pub(crate) fn open_alone(path: &Path, faults: Arc<Faults>) -> rusqlite::Result<Self> {
        Ok(Self { pool: pool::Pool::open(path, 1)?, faults, held: None })
    }

    /// Answers a question from one state of the store, whatever is written meanwhile.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> Answer<T>) -> Answer<T> {
        let answer = self.try_ask(question);
        if let Err(QueryError::Damaged(what)) = &answer {
            self.faults.read_failed(&what.to_string());
        }
        answer
    }

    fn try_ask<T>(&self, question: impl FnOnce(&Connection) -> Answer<T>) -> Answer<T> {
        let conn = self.pool.take();
        let moment = conn.unchecked_transaction()?;
        let answer = question(&moment);
        moment.finish()?;
        answer
    }

    /// Returns how far a source has been read.
    pub(crate) fn cursor(&self, source: &str) -> Answer<Option<Cursor>> {
        self.ask(|conn| {
            let mut find =
                conn.prepare_cached("SELECT source, agent, offset, state FROM cursor WHERE source = ?1")?;
            Ok(find.query_row([source], read_cursor).optional()?)
        })
    }

    /// Returns which observations of these names were brought before.
    pub(crate) fn find_known(&self, names: &[&str]) -> Answer<Vec<bool>> {
        self.ask(|conn| {
            let mut find = conn.prepare_cached("SELECT 1 FROM source WHERE time = ?1 AND name = ?2")?;
            let known = names.iter().map(|name| {
                let (time, name) = crate::sqlite::sources::name_of(name);
                find.exists([time, name])
            });
            Ok(known.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns how far every source of an agent has been read.
    pub(crate) fn cursors(&self, agent: Agent) -> Answer<Vec<Cursor>> {
        self.ask(|conn| {
            let mut find =
                conn.prepare_cached("SELECT source, agent, offset, state FROM cursor WHERE agent = ?1")?;
            let cursors = find.query_map([agent.place() as i64], read_cursor)?;
            Ok(cursors.collect::<rusqlite::Result<_>>()?)
        })
    }
}

fn read_cursor(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    let state = codec::decode(row.get_ref(3)?.as_blob()?).map(std::borrow::Cow::into_owned).ok();
    // Without its state a reader cannot go on: it begins again, and what it says twice changes nothing.
    let offset: i64 = if state.is_some() { row.get(2)? } else { 0 };
    Ok(Cursor {
        source: row.get(0)?,
        agent: row::agent_at(row.get(1)?),
        offset: u64::try_from(offset).unwrap_or(0),
        state: state.unwrap_or_default(),
        bare: Vec::new(),
    })
}
