//! Texts that repeat, each stored once.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

/// More than this many texts are not remembered at a time.
const REMEMBERED: usize = 50_000;

/// The writer's knowledge of the word table.
#[derive(Debug, Default)]
pub(crate) struct Words {
    known: HashMap<String, i64>,
}

impl Words {
    /// Returns the number of a text; it gets one if it has none.
    pub(crate) fn id(&mut self, conn: &Connection, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(text) {
            return Ok(*id);
        }
        let mut find = conn.prepare_cached("SELECT id FROM word WHERE text = ?1")?;
        let id = match find.query_row([text], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => {
                conn.prepare_cached("INSERT INTO word (text) VALUES (?1)")?.execute([text])?;
                conn.last_insert_rowid()
            }
        };
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(text.to_owned(), id);
        Ok(id)
    }

    /// Forgets everything: what was learned in a transaction that failed is not true.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

/// Returns the text of a word.
pub(crate) fn text(conn: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
    conn.prepare_cached("SELECT text FROM word WHERE id = ?1")?.query_row([id], |row| row.get(0)).optional()
}
