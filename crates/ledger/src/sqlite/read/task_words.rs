//! Words that are looked for in titles and sessions of tasks.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::follower::document_of_task;
use super::fts_query::{Bounds, FtsQuery, ask};
use crate::search::Ask;

/// Numbers of tasks that lie closer together than this are asked for together.
const NEAR: i64 = 512;

/// Words that a task must have.
pub(crate) struct TaskWords {
    ask: Ask,
    /// The expression of FTS5, or `None` if the index cannot narrow by these words.
    expression: Option<String>,
    is_exact: bool,
}

impl TaskWords {
    /// Reads a question; none if no task can have its words.
    pub(crate) fn parse(conn: &Connection, question: &str, bounds: Bounds) -> rusqlite::Result<Option<Self>> {
        let ask = ask(question);
        let sought = FtsQuery::build(conn, &ask, bounds)?.filter(|_| !ask.is_empty());
        Ok(sought.map(|FtsQuery { all, is_exact }| Self {
            ask,
            expression: Some(all.join(" AND ")).filter(|all| !all.is_empty()),
            is_exact,
        }))
    }

    /// Returns whether tasks must be looked at to know whether they have the words.
    pub(crate) fn must_be_read(&self) -> bool {
        !self.is_exact
    }

    /// Returns the numbers of all tasks that have the words; none if they may be more than `most`.
    pub(crate) fn find_tasks(
        &self,
        conn: &Connection,
        most: usize,
    ) -> rusqlite::Result<Option<HashSet<i64>>> {
        let Some(expression) = &self.expression else { return Ok(None) };
        let mut find =
            conn.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 AND rowid < 0 LIMIT ?2")?;
        let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
        let rows =
            find.query_map(params![expression, limit], |row| row.get::<_, i64>(0).map(|rowid| -rowid))?;
        let found = rows.collect::<rusqlite::Result<HashSet<i64>>>()?;
        if found.len() > most {
            return Ok(None);
        }
        self.having(conn, found).map(Some)
    }

    /// Returns those of some tasks that have the words.
    pub(crate) fn filter_tasks(
        &self,
        conn: &Connection,
        mut tasks: Vec<i64>,
    ) -> rusqlite::Result<HashSet<i64>> {
        let Some(expression) = &self.expression else {
            return self.having(conn, tasks.into_iter().collect());
        };
        let mut find = conn.prepare_cached(
            "SELECT rowid FROM search WHERE search MATCH ?1 AND rowid >= ?2 AND rowid <= ?3",
        )?;
        let wanted: HashSet<i64> = tasks.iter().copied().collect();
        tasks.sort_unstable();
        let mut found = HashSet::new();
        for near in tasks.chunk_by(|one, next| next - one <= NEAR) {
            let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
            for rowid in find.query_map(params![expression, -last, -first], |row| row.get::<_, i64>(0))? {
                found.insert(-rowid?);
            }
        }
        found.retain(|id| wanted.contains(id));
        self.having(conn, found)
    }

    /// Returns those of the found tasks that do have the words.
    fn having(&self, conn: &Connection, mut found: HashSet<i64>) -> rusqlite::Result<HashSet<i64>> {
        if self.is_exact {
            return Ok(found);
        }
        let mut read = conn.prepare_cached("SELECT title, session FROM task WHERE id = ?1")?;
        let mut having = HashSet::with_capacity(found.len());
        for id in found.drain() {
            let mut rows = read.query([id])?;
            let Some(row) = rows.next()? else { continue };
            let (title, session) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
            let may_be = self.ask.may_be_met_by(&[title, session]);
            if may_be && self.ask.is_met_by(&document_of_task(title, session)) {
                having.insert(id);
            }
        }
        Ok(having)
    }
}
