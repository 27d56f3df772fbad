//! Looks up texts by their numbers and remembers them for the length of one question.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use crate::sqlite::words;

/// Texts that were looked up for one question.
pub(crate) struct Texts<'conn> {
    conn: &'conn Connection,
    words: HashMap<i64, String>,
    tasks: HashMap<i64, Option<String>>,
}

impl<'conn> Texts<'conn> {
    /// Returns a cache that is empty.
    pub(crate) fn new(conn: &'conn Connection) -> Self {
        Self { conn, words: HashMap::new(), tasks: HashMap::new() }
    }

    /// Returns the text of a word; empty if there is none.
    pub(crate) fn word(&mut self, id: i64) -> rusqlite::Result<String> {
        if let Some(text) = self.words.get(&id) {
            return Ok(text.clone());
        }
        let text = words::text(self.conn, id)?.unwrap_or_default();
        self.words.insert(id, text.clone());
        Ok(text)
    }

    /// Returns the id of a task.
    pub(crate) fn task(&mut self, id: Option<i64>) -> rusqlite::Result<Option<String>> {
        let Some(id) = id else { return Ok(None) };
        if let Some(uid) = self.tasks.get(&id) {
            return Ok(uid.clone());
        }
        let uid: Option<String> = self
            .conn
            .prepare_cached("SELECT uid FROM task WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        self.tasks.insert(id, uid.clone());
        Ok(uid)
    }
}

/// Returns the number of a text that some word has.
pub(crate) fn number(conn: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT id FROM word WHERE text = ?1")?.query_row([text], |row| row.get(0)).optional()
}
