//! Fills the search index behind the writer: rows that changed since the last time, a part at a time.
//!
//! A document is the set of terms of a row's text and its marks: kind `k`, tool `t`, state `s`, task `i`, UTC day `d`
//! and month `m`, so that narrowing a search is part of the search. Its number begins with the second in which the row
//! happened and ends with the row's number in the fact table ([`document_number`]), so that the index lists documents by
//! when things happened, whenever they arrived; the document of a task's title and session has the task's number,
//! negative. Token counts and fill levels are not indexed: they are half of all rows, and no search asks for them.

use std::collections::HashMap;

use agent_tracer_event::{Kind, attributes};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::project::list::list_code;
use crate::project::time::Level;
use crate::project::{FactRow, List};
use crate::search::{Terms, mark};
use crate::sqlite::facts::{self, StoredFact};

/// The keys of the positions in the order of delivery up to which facts and tasks are indexed.
const FACTS: &str = "indexed";
const TASKS: &str = "indexed_tasks";

/// Bits of a document's number that hold the row's number in the fact table. The other 32 hold seconds since 1970,
/// which are enough until 2106; two thousand million rows are more than a file of this store can hold in practice.
const ROW_BITS: u32 = 31;
const LAST_SECOND: i64 = (1 << 32) - 1;
const LAST_ROW: i64 = (1 << ROW_BITS) - 1;

/// The number of a row's document, for a query in which the `fact` table is named `f`. As [`document_number`].
pub(crate) const DOCUMENT_NUMBER: &str = "((min(max(f.occurred / 1000, 0), 4294967295) << 31) | f.id)";

/// Returns the number of the document of a row: rows of a later second have a greater one.
///
/// Moments before 1970 and after 2106 count as the first and the last second.
pub(crate) fn document_number(occurred: i64, id: i64) -> i64 {
    (second_of(occurred) << ROW_BITS) | (id & LAST_ROW)
}

/// Returns the number of the row in the fact table that a document is of.
pub(crate) const fn row_of(number: i64) -> i64 {
    number & LAST_ROW
}

/// Returns the number below which all documents are that happened in the same second as this moment, or before.
pub(crate) fn end_of_second(occurred: i64) -> i64 {
    document_number(occurred, LAST_ROW).saturating_add(1)
}

/// Returns the first number that documents of the same second have as this one.
pub(crate) const fn second_start(number: i64) -> i64 {
    number & !LAST_ROW
}

/// Returns the last moment before the second that begins with this number.
pub(crate) const fn moment_before(second_start: i64) -> i64 {
    (second_start >> ROW_BITS) * 1_000 - 1
}

fn second_of(occurred: i64) -> i64 {
    (occurred / 1_000).clamp(0, LAST_SECOND)
}

/// Rows that are indexed between two looks whether anybody waits.
const AT_ONCE: usize = 500;

/// Fills the search index.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    /// Terms of the part that is being indexed, with the number of documents that have them.
    vocabulary: HashMap<String, i64>,
}

impl Follower {
    /// Indexes about `budget` rows that changed, oldest change first. Returns `true` if more are missing. Runs in the
    /// caller's transaction, so that the index and its position are written together.
    ///
    /// It takes the rows in parts, and stops after a part if a caller waits. Rows that are written together are merged
    /// less often: the more rows a transaction has, the less each of them costs.
    pub(crate) fn catch_up(
        &mut self,
        conn: &Connection,
        budget: usize,
        mut is_awaited: impl FnMut() -> bool,
    ) -> rusqlite::Result<bool> {
        self.vocabulary.clear();
        let mut left = budget.max(1);
        let more = loop {
            let part = left.min(AT_ONCE);
            let more = self.take(conn, part)?;
            left -= part;
            if !more || left == 0 || is_awaited() {
                break more;
            }
        };
        self.learn(conn)?;
        Ok(more)
    }

    /// Indexes about `part` rows. Returns `true` if more are missing.
    fn take(&mut self, conn: &Connection, part: usize) -> rusqlite::Result<bool> {
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        let more_tasks = self.index_tasks(conn, part)?;
        let more_facts = self.index_facts(conn, part)?;
        Ok(more_tasks || more_facts)
    }

    /// Counts the terms of what was indexed.
    fn learn(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let mut learn = conn.prepare_cached(
            "INSERT INTO vocabulary (term, n) VALUES (?1, ?2) ON CONFLICT (term) DO UPDATE SET n = n + excluded.n",
        )?;
        // In the order of the table: neighbours stand on one page.
        let mut terms: Vec<(String, i64)> = self.vocabulary.drain().collect();
        terms.sort_unstable();
        for (term, n) in terms {
            learn.execute(params![term, n])?;
        }
        Ok(())
    }

    fn index_facts(&mut self, conn: &Connection, budget: i64) -> rusqlite::Result<bool> {
        let from = reached(conn, FACTS)?;
        let (found, last): (i64, Option<i64>) = conn
            .prepare_cached(
                "SELECT count(*), max(changed) FROM \
                 (SELECT changed FROM fact WHERE changed > ?1 ORDER BY changed LIMIT ?2)",
            )?
            .query_row([from, budget], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Some(last) = last else { return Ok(false) };
        self.forget_hidden(conn, from, last)?;
        // Several rows may have changed at one place: they are indexed together, so that a place says enough. Half of
        // all rows cannot be found by words and are not even looked at.
        let changed = facts::select(
            conn,
            concat!("WHERE f.changed > ?1 AND f.changed <= ?2 AND f.list <> ", list_code!(Response)),
            [from, last],
        )?;
        for stored in &changed {
            let terms = document(stored);
            self.put(conn, document_number(stored.row.occurred, stored.id), &terms)?;
        }
        reach(conn, FACTS, last)?;
        Ok(found >= budget)
    }

    /// Forgets rows that could be found and no longer can.
    fn forget_hidden(&self, conn: &Connection, from: i64, last: i64) -> rusqlite::Result<()> {
        let mut find = conn.prepare_cached(&format!(
            "SELECT d.id FROM fact f JOIN search_docsize d ON d.id = {DOCUMENT_NUMBER} \
             WHERE f.changed > ?1 AND f.changed <= ?2 AND f.list = {}",
            List::Response.code()
        ))?;
        let hidden: Vec<i64> =
            find.query_map([from, last], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for id in hidden {
            conn.prepare_cached("DELETE FROM search WHERE rowid = ?1")?.execute([id])?;
        }
        Ok(())
    }

    fn index_tasks(&mut self, conn: &Connection, budget: i64) -> rusqlite::Result<bool> {
        let from = reached(conn, TASKS)?;
        let mut find = conn.prepare_cached(
            "SELECT id, title, session, changed FROM task WHERE changed > ?1 ORDER BY changed LIMIT ?2",
        )?;
        let rows = find.query_map([from, budget], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, i64>(3)?,
            ))
        })?;
        let mut tasks = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let Some(last) = tasks.last().map(|(_, _, _, changed)| *changed) else { return Ok(false) };
        let is_full = i64::try_from(tasks.len()).is_ok_and(|found| found >= budget);
        if is_full {
            tasks.retain(|(_, _, _, changed)| *changed < last);
            let mut rest =
                conn.prepare_cached("SELECT id, title, session, changed FROM task WHERE changed = ?1")?;
            let rest =
                rest.query_map([last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            for task in rest {
                tasks.push(task?);
            }
        }
        for (id, title, session, _) in tasks {
            self.put(conn, -id, &document_of_task(&title, &session))?;
        }
        reach(conn, TASKS, last)?;
        Ok(is_full)
    }

    fn put(&mut self, conn: &Connection, number: i64, terms: &Terms) -> rusqlite::Result<()> {
        if terms.is_empty() {
            conn.prepare_cached("DELETE FROM search WHERE rowid = ?1")?.execute([number])?;
            return Ok(());
        }
        conn.prepare_cached("INSERT OR REPLACE INTO search (rowid, tokens) VALUES (?1, ?2)")?
            .execute(params![number, terms.document()])?;
        for term in terms.words() {
            match self.vocabulary.get_mut(term) {
                Some(n) => *n += 1,
                None => {
                    self.vocabulary.insert(term.to_owned(), 1);
                }
            }
        }
        Ok(())
    }
}

/// Removes the document of a row that stood at another moment or is gone.
pub(crate) fn forget_document(conn: &Connection, occurred: i64, id: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM search WHERE rowid = ?1")?.execute([document_number(occurred, id)])?;
    Ok(())
}

/// Returns how far something is indexed.
pub(crate) fn reached(conn: &Connection, key: &str) -> rusqlite::Result<i64> {
    let found = conn
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0))
}

fn reach(conn: &Connection, key: &str, place: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
    )?
    .execute(params![key, place])?;
    Ok(())
}

/// Counts the rows that search does not know yet, up to a limit.
pub(crate) fn lag(conn: &Connection) -> rusqlite::Result<i64> {
    const ENOUGH: i64 = 100_000;
    conn.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM fact WHERE changed > ?1 LIMIT ?2)")?
        .query_row([reached(conn, FACTS)?, ENOUGH], |row| row.get(0))
}

/// Returns whether rows of this kind can be found.
pub fn is_indexed(row: &FactRow) -> bool {
    row.kind.is_some_and(|kind| kind != Kind::ContextSnapshot) && row.list != List::Response
}

/// Returns the terms of a task.
pub(crate) fn document_of_task(title: &str, session: &str) -> Terms {
    let mut terms = Terms::default();
    terms.add(title);
    terms.add(session);
    terms
}

/// Returns the terms of a row; empty if rows of its kind are not searched.
pub(crate) fn document(stored: &StoredFact) -> Terms {
    let row = &stored.row;
    let mut terms = Terms::default();
    if !is_indexed(row) {
        return terms;
    }
    for text in texts(row) {
        terms.add(text);
    }
    terms.add_mark(mark('i', stored.task));
    terms.add_mark(day_mark(Level::Day, row.occurred));
    terms.add_mark(day_mark(Level::Month, row.occurred));
    if let Some(kind) = row.kind {
        terms.add_mark(mark('k', kind as i64));
    }
    if let Some(tool) = &row.tool {
        terms.add_mark(mark('t', tool));
    }
    if let Some(state) = row.state {
        terms.add_mark(mark('s', state as i64));
    }
    terms
}

/// Returns the mark of the day or month that begins at, or holds, this moment.
pub(crate) fn day_mark(level: Level, at: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let letter = if level == Level::Month { 'm' } else { 'd' };
    mark(letter, level.start(at).div_euclid(DAY_MS))
}

/// Keys of the metadata whose texts are searched.
const KEYS: [&str; 14] = [
    attributes::COMMAND,
    attributes::WEB_QUERY,
    attributes::WEB_PROMPT,
    attributes::SKILL_NAME,
    attributes::MCP_SERVER,
    attributes::MCP_TOOL,
    attributes::AGENT_NAME,
    attributes::AGENT_DESCRIPTION,
    attributes::SUBJECT,
    attributes::DESCRIPTION,
    attributes::SEARCH_PATTERN,
    attributes::ERROR_CLASS,
    attributes::ERROR,
    attributes::MESSAGE,
];

/// Returns the texts of a row that are searched, the most telling first.
pub fn texts(row: &FactRow) -> Vec<&str> {
    let data = &row.data;
    let mut texts = vec![data.title.as_str()];
    texts.extend(data.body.as_deref());
    let raw = row
        .meta(attributes::COMMAND_ANALYSIS)
        .and_then(|analysis| analysis.get("raw"))
        .and_then(Value::as_str);
    texts.extend(raw);
    texts.extend(KEYS.iter().filter_map(|key| row.text(key)));
    texts.extend(data.file_paths.iter().map(String::as_str));
    if let Some(Value::Array(urls)) = row.meta(attributes::WEB_URLS) {
        texts.extend(urls.iter().filter_map(Value::as_str));
    }
    texts.extend(data.agent_type.as_deref());
    texts.extend(row.tool.as_deref());
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::open::open;

    proptest! {
        #[test]
        fn numbers_of_documents_are_by_the_second_and_name_their_row(
            (one, other) in (any::<i64>(), any::<i64>()),
            (id, other_id) in (1..=LAST_ROW, 1..=LAST_ROW),
        ) {
            let number = document_number(one, id);
            prop_assert!(number > 0, "negative numbers are those of tasks");
            prop_assert_eq!(row_of(number), id);
            prop_assert!(second_start(number) <= number && number < end_of_second(one));
            prop_assert!(second_start(number) == 0 || end_of_second(moment_before(second_start(number))) == second_start(number));
            if second_of(one) < second_of(other) {
                prop_assert!(number < document_number(other, other_id));
            }
        }
    }

    #[test]
    fn a_query_numbers_documents_as_the_code_does() {
        let conn = Connection::open_in_memory().unwrap();
        for occurred in [i64::MIN, -1_500, -1, 0, 999, 1_000, 1_794_988_740_123, 4_294_967_295_999, i64::MAX]
        {
            let asked = format!("SELECT {DOCUMENT_NUMBER} FROM (SELECT ?1 AS occurred, 77 AS id) f");
            let number: i64 = conn.query_row(&asked, [occurred], |row| row.get(0)).unwrap();
            assert_eq!(number, document_number(occurred, 77), "{occurred}");
        }
    }

    #[test]
    fn much_is_taken_at_once_and_left_after_a_part_when_a_caller_waits() {
        let folder = tempfile::tempdir().unwrap();
        let conn = open(&folder.path().join("ledger.db")).unwrap();
        let tasks = 3 * AT_ONCE;
        conn.execute(
            "INSERT INTO task (id, uid, agent, session, told, title, changed) \
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
             SELECT n, 'task-' || n, 0, '', x'', 'look ' || (n % 2), n FROM n",
            [i64::try_from(tasks).unwrap()],
        )
        .unwrap();
        let known = || -> usize {
            let count = "SELECT count(*) FROM search WHERE search MATCH 'look'";
            conn.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
        };
        let mut follower = Follower::default();
        assert!(follower.catch_up(&conn, usize::MAX, || true).unwrap(), "there is more");
        assert_eq!(known(), AT_ONCE);
        assert!(follower.catch_up(&conn, AT_ONCE / 2, || false).unwrap());
        assert_eq!(known(), AT_ONCE + AT_ONCE / 2, "no more than it may");
        assert!(!follower.catch_up(&conn, usize::MAX, || false).unwrap());
        assert_eq!(known(), tasks);
        let counted: i64 =
            conn.query_row("SELECT n FROM vocabulary WHERE term = 'look'", [], |row| row.get(0)).unwrap();
        assert_eq!(usize::try_from(counted), Ok(tasks));
    }
}
