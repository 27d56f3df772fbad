//! Queries for the full-text index.
//!
//! A prefix stands for all terms that begin with it. A few terms are queried one by one: FTS5 then walks their lists of
//! documents backwards and stops at the end of the page. More terms are left to FTS5's own prefix search, which merges
//! all their lists in memory before the first answer, at a cost that grows with the lists. If the lists are too long
//! for that, the prefix narrows little. It is then left out, and the texts of the documents that have the other words
//! are checked.

use agent_tracer_event::Kind;
use rusqlite::{Connection, params};

use crate::search::{Ask, Need, mark};

/// The numbers of terms that decide the way in which a prefix is queried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most terms that are queried one by one.
    pub(crate) single: usize,
    /// The greatest total length of the document lists of more terms that are merged into one.
    pub(crate) merged: i64,
}

impl Bounds {
    /// Bounds at which either way costs some milliseconds.
    pub(crate) const USUAL: Self = Self { single: 64, merged: 30_000 };
}

/// The longest question, in bytes. A longer one is cut.
const LONGEST_QUESTION: usize = 1_000;

/// Parses the words of a question.
pub(crate) fn ask(question: &str) -> Ask {
    Ask::parse(question.get(..question.floor_char_boundary(LONGEST_QUESTION)).unwrap_or_default())
}

/// A query for the full-text index.
pub(crate) struct FtsQuery {
    /// Expressions of FTS5 that must all match. Empty if the index cannot narrow by these words.
    pub(crate) all: Vec<String>,
    /// Every document that matches has the words. If `false`, the text of each must be checked.
    pub(crate) is_exact: bool,
}

impl FtsQuery {
    /// Returns the query for some words, or `None` if no document can have them.
    pub(crate) fn build(conn: &Connection, ask: &Ask, bounds: Bounds) -> rusqlite::Result<Option<Self>> {
        let mut sought = Self { all: Vec::new(), is_exact: true };
        for need in &ask.needs {
            let ways = sought.ways(conn, need, bounds)?;
            if ways.is_empty() {
                return Ok(None);
            }
            // A need that some way meets without the index cannot narrow it.
            if ways.iter().all(|way| !way.is_empty()) {
                sought.all.push(any_of(ways.iter().map(|way| format!("({})", way.join(" AND ")))));
            }
        }
        Ok(Some(sought))
    }

    /// Returns the ways in which a need can be met, each by all of its parts.
    fn ways(&mut self, conn: &Connection, need: &Need, bounds: Bounds) -> rusqlite::Result<Vec<Vec<String>>> {
        let mut ways = Vec::new();
        for way in &need.ways {
            let (whole, beginning) = need.asked_by(way);
            let mut parts: Vec<String> = whole.iter().map(|term| quote(term)).collect();
            match beginning.map(|beginning| endings(conn, beginning, bounds)).transpose()? {
                Some(PrefixQuery::None) => continue,
                Some(PrefixQuery::Asked(asked)) => parts.push(asked),
                Some(PrefixQuery::TooMany) => self.is_exact = false,
                None => {}
            }
            ways.push(parts);
        }
        Ok(ways)
    }
}

/// The query for the terms of a prefix.
enum PrefixQuery {
    /// No term begins so.
    None,
    Asked(String),
    /// The lists of documents are too long to be merged.
    TooMany,
}

fn endings(conn: &Connection, beginning: &str, bounds: Bounds) -> rusqlite::Result<PrefixQuery> {
    // Terms are `a-z`, `0-9` and `_`, all of which come before `~`.
    let mut find =
        conn.prepare_cached("SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?1 || '~' LIMIT ?2")?;
    let limit = i64::try_from(bounds.single.saturating_add(1)).unwrap_or(i64::MAX);
    let terms: Vec<String> =
        find.query_map(params![beginning, limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if terms.is_empty() {
        return Ok(PrefixQuery::None);
    }
    if terms.len() <= bounds.single {
        return Ok(PrefixQuery::Asked(any_of(terms.iter().map(|term| quote(term)))));
    }
    let mut count = conn.prepare_cached("SELECT n FROM vocabulary WHERE term >= ?1 AND term < ?1 || '~'")?;
    let mut rows = count.query([beginning])?;
    let mut listed = 0;
    // Every term has a document, so that no more terms are counted than documents may be merged.
    while let Some(row) = rows.next()? {
        listed += row.get::<_, i64>(0)?.max(1);
        if listed > bounds.merged {
            return Ok(PrefixQuery::TooMany);
        }
    }
    Ok(PrefixQuery::Asked(format!("{} *", quote(beginning))))
}

/// Returns an expression that matches every document of a row, because each has a kind.
pub(crate) fn everything() -> String {
    any_of(Kind::ALL.iter().map(|kind| quote(&mark('k', *kind as i64))))
}

/// Returns a term, as FTS5 is asked for it.
pub(crate) fn quote(term: &str) -> String {
    format!("\"{term}\"")
}

/// Returns a query for any of these.
pub(crate) fn any_of(ways: impl Iterator<Item = String>) -> String {
    format!("({})", ways.collect::<Vec<_>>().join(" OR "))
}
