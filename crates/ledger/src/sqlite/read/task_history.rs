//! Answers questions of rules about the history of a task: each question walks an index and stops.

use std::sync::Arc;

use agent_tracer_event::{CallState, Millis, TaskId};
use rusqlite::{Connection, OptionalExtension};

use super::pending_overlay::{PendingOverlay, PendingRow, end_calls, overlay};
use super::row::agent_at;
use super::usage_sum::count;
use super::{SqliteStore, task};
use crate::project::past_action::{self, ACTIONS, PastAction, PastPrompt, PastSpending, opened_files};
use crate::project::row::{Signature, number};
use crate::project::{FactRow, List};
use crate::sqlite::facts;
use crate::store::{Answer, QueryError};

/// The past of tasks.
#[derive(Clone, Debug)]
pub struct TaskHistory {
    store: Arc<SqliteStore>,
    coming: Option<Arc<PendingOverlay>>,
}

impl TaskHistory {
    pub(crate) fn new(store: &Arc<SqliteStore>) -> Self {
        Self { store: Arc::clone(store), coming: None }
    }

    /// Returns the past as it will be once this is kept too.
    #[must_use]
    pub fn with(&self, coming: PendingOverlay) -> Self {
        Self { store: Arc::clone(&self.store), coming: Some(Arc::new(coming)) }
    }

    /// Returns whether anything is kept of a task.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn knows(&self, id: &TaskId) -> Answer<bool> {
        match self.store.ask(|conn| task::number(conn, id)) {
            Ok(_) => Ok(true),
            Err(QueryError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn coming(&self, conn: &Connection, task: i64, id: &TaskId) -> rusqlite::Result<Vec<PendingRow>> {
        self.coming.as_ref().map_or_else(|| Ok(Vec::new()), |coming| coming.rows(conn, task, id))
    }

    /// Returns the usage of a turn, by its bare id.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn turn(&self, id: &TaskId, turn: &str) -> Answer<PastSpending> {
        let turn = number(&format!("turn:{turn}"));
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let found = conn
                .prepare_cached(
                    "SELECT input + output + cache_read + cache_write, cost FROM turn_sum WHERE task = ?1 AND turn = ?2",
                )?
                .query_row([task, turn], |row| {
                    let (tokens, cost): (i64, i64) = (row.get(0)?, row.get(1)?);
                    Ok(PastSpending { tokens: count(tokens), cost_pico: count(cost) })
                })
                .optional()?;
            Ok(found.unwrap_or_default())
        })
    }

    /// Returns how often a call was made before in its task, by the natural key of the call. `None` if the call is not
    /// known.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn repeats(&self, id: &TaskId, key: &str) -> Answer<Option<u64>> {
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let coming = self.coming(conn, task, id)?;
            let own = number(key);
            let signature = match coming.iter().find(|new| new.names.contains(&own)) {
                Some(new) => new.row.signature.map(Signature::number),
                None => signature_of(conn, task, own)?,
            };
            let Some(signature) = signature else { return Ok(None) };
            let made: Option<i64> = conn
                .prepare_cached("SELECT n FROM repeat WHERE task = ?1 AND signature = ?2")?
                .query_row([task, signature], |row| row.get(0))
                .optional()?;
            let counts = |row: &FactRow| i64::from(row.is_call() && row.input() == Some(signature));
            let more: i64 =
                coming.iter().map(|new| counts(&new.row) - new.stored.iter().map(counts).sum::<i64>()).sum();
            let made = (made.is_some() || more > 0).then(|| made.unwrap_or(0) + more);
            // The call itself is one of them.
            Ok(Some(count(made.unwrap_or(1)).saturating_sub(1)))
        })
    }

    /// Returns whether a task has read or made a file, by its absolute path. What it only tried does not count.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn has_opened(&self, id: &TaskId, path: &str) -> Answer<bool> {
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let coming = self.coming(conn, task, id)?;
            if coming.iter().any(|new| opened_files(&new.row).contains(&path)) {
                return Ok(true);
            }
            Ok(conn
                .prepare_cached(
                    "SELECT 1 FROM word w CROSS JOIN file_touch t ON t.task = ?2 AND t.path = w.id \
                     CROSS JOIN fact f ON f.task = t.task AND f.fact = t.fact WHERE w.text = ?1 AND f.state = ?3 LIMIT 1",
                )?
                .exists(rusqlite::params![path, task, CallState::Succeeded as i64])?)
        })
    }

    /// Returns the last prompt that a person typed. Messages from other sources do not count.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn last_prompt(&self, id: &TaskId) -> Answer<Option<PastPrompt>> {
        /// So many messages of others may stand behind it.
        const LOOKED_AT: i64 = 50;
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let mut found = newest(conn, task, List::Prompt, i64::MIN, LOOKED_AT)?;
            overlay(&mut found, &self.coming(conn, task, id)?, |row| row.list == List::Prompt);
            Ok(found.iter().find_map(PastPrompt::of))
        })
    }

    /// Returns how many of the calls of a task that ended last failed, without one in between that did not; at most so
    /// many are looked at. What still runs is passed over.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn failures_in_a_row(&self, id: &TaskId, most: usize) -> Answer<u64> {
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let coming = self.coming(conn, task, id)?;
            // What runs ends with a prompt or an end, and then counts.
            let ends = coming.iter().any(|new| matches!(new.row.list, List::Prompt | List::Stop));
            let passed_over = (!ends).then_some(CallState::Running);
            let limit = i64::try_from(most).unwrap_or(i64::MAX);
            let mut rows = Vec::new();
            for list in ACTIONS {
                rows.extend(facts::read_outlines(
                    conn,
                    &format!(
                        "WHERE f.task = ?1 AND f.{} AND f.state IS NOT ?2 ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT ?3",
                        facts::in_list(list)
                    ),
                    (task, passed_over.map(|state| state as i64), limit),
                )?);
            }
            overlay(&mut rows, &coming, |row| ACTIONS.contains(&row.list));
            rows.sort_by_key(|row| std::cmp::Reverse((row.occurred, row.order, row.fact)));
            end_calls(&mut rows, &coming);
            Ok(past_action::failures_in_a_row(rows.iter().filter_map(|row| row.state), most))
        })
    }

    /// Returns the actions of a task at or after a moment, newest first, at most `most` of them.
    ///
    /// # Errors
    /// If there is no such task, or the store cannot answer.
    pub fn actions(&self, id: &TaskId, since: Millis, most: usize) -> Answer<Vec<PastAction>> {
        self.store.ask(|conn| {
            let task = task::number(conn, id)?;
            let agent: i64 = conn
                .prepare_cached("SELECT agent FROM task WHERE id = ?1")?
                .query_row([task], |row| row.get(0))?;
            let limit = i64::try_from(most).unwrap_or(i64::MAX);
            let mut rows = Vec::new();
            for list in ACTIONS {
                rows.extend(newest(conn, task, list, since.0, limit)?);
            }
            rows.sort_by_key(|row| std::cmp::Reverse((row.occurred, row.order, row.fact)));
            let coming = self.coming(conn, task, id)?;
            overlay(&mut rows, &coming, |row| ACTIONS.contains(&row.list) && row.occurred >= since.0);
            end_calls(&mut rows, &coming);
            rows.truncate(most);
            Ok(rows.iter().filter_map(|row| PastAction::of(row, agent_at(agent))).collect())
        })
    }
}

fn newest(
    conn: &Connection,
    task: i64,
    list: List,
    since: i64,
    limit: i64,
) -> rusqlite::Result<Vec<FactRow>> {
    let found = facts::select(
        conn,
        &format!(
            "WHERE f.task = ?1 AND f.{} AND f.occurred >= ?2 ORDER BY f.occurred DESC, f.ord DESC, f.fact DESC LIMIT ?3",
            facts::in_list(list)
        ),
        [task, since, limit],
    )?;
    Ok(found.into_iter().map(|stored| stored.row).collect())
}

/// Returns the number of a fact's signature, which all calls with the same input share.
fn signature_of(conn: &Connection, task: i64, own: i64) -> rusqlite::Result<Option<i64>> {
    let fact: Option<i64> = conn
        .prepare_cached("SELECT fact FROM alias WHERE task = ?1 AND key = ?2")?
        .query_row([task, own], |row| row.get(0))
        .optional()?;
    let found: Option<Option<i64>> = conn
        .prepare_cached("SELECT signature FROM fact WHERE task = ?1 AND fact = ?2")?
        .query_row([task, fact.unwrap_or(own)], |row| row.get(0))
        .optional()?;
    Ok(found.flatten())
}
