//! Search: rows that hold all words of a question, newest first.
//!
//! FTS5 walks the lists of documents backwards and stops at the end of the page. The beginning of a word is asked for
//! by the terms that begin so, most frequent first: FTS5's own way would merge all their lists in memory before the
//! first answer. What the index narrows by marks is checked again against the row.

use std::collections::HashSet;

use agent_tracer_event::CallState;
use rusqlite::{Connection, params};

use super::follower::{day_mark, texts};
use super::row::RowBuilder;
use super::text;
use super::{cursor, rollup, stream, task};
use crate::project::time::{Level, pieces};
use crate::search::{Ask, Need, mark, snippet, term_of_word};
use crate::sqlite::facts::Stored;
use crate::store::{Answer, QueryError, SearchFilter};
use crate::view::{Hit, Page};

/// The beginning of a word stands for so many terms at most.
const MOST_ENDINGS: usize = 64;

/// So many terms with one beginning are compared by how frequent they are.
const MOST_COMPARED: i64 = 20_000;

/// So many documents are looked at for one page: some milliseconds. A page that is not full then has a cursor to go on
/// from.
const MOST_LOOKED_AT: usize = 2_000;

/// A question longer than this is cut.
const LONGEST_QUESTION: usize = 1_000;

/// Reads the words of a question.
pub(crate) fn ask(question: &str) -> Ask {
    Ask::of(question.get(..question.floor_char_boundary(LONGEST_QUESTION)).unwrap_or_default())
}

/// What FTS5 must match for these words; none if no document can.
fn expression(conn: &Connection, ask: &Ask) -> rusqlite::Result<Option<Vec<String>>> {
    let mut all = Vec::new();
    for need in &ask.needs {
        let ways = ways(conn, need)?;
        if ways.is_empty() {
            return Ok(None);
        }
        all.push(any(&ways));
    }
    Ok(Some(all))
}

fn ways(conn: &Connection, need: &Need) -> rusqlite::Result<Vec<String>> {
    let mut ways = Vec::new();
    for way in &need.ways {
        let mut parts: Vec<String> = way.iter().map(|term| quoted(term)).collect();
        if let (true, Some(last)) = (need.is_open, way.last()) {
            parts.pop();
            let endings: Vec<String> = endings(conn, last)?.iter().map(|term| quoted(term)).collect();
            if endings.is_empty() {
                continue;
            }
            parts.push(any(&endings));
        }
        ways.push(format!("({})", parts.join(" AND ")));
    }
    Ok(ways)
}

fn quoted(term: &str) -> String {
    format!("\"{term}\"")
}

fn any(ways: &[String]) -> String {
    format!("({})", ways.join(" OR "))
}

/// The terms that begin like this, most frequent first.
fn endings(conn: &Connection, beginning: &str) -> rusqlite::Result<Vec<String>> {
    // One letter begins a large part of all terms: it is taken as a word of its own.
    if beginning.len() < 2 {
        return Ok(vec![beginning.to_owned()]);
    }
    // Terms are `a-z`, `0-9` and `_`, all of which come before `~`.
    let mut find =
        conn.prepare_cached("SELECT term, n FROM vocabulary WHERE term >= ?1 AND term < ?1 || '~' LIMIT ?2")?;
    let rows =
        find.query_map(params![beginning, MOST_COMPARED], |row| Ok((row.get::<_, i64>(1)?, row.get(0)?)))?;
    let mut terms: Vec<(i64, String)> = rows.collect::<rusqlite::Result<_>>()?;
    terms.sort_unstable_by_key(|(n, term)| std::cmp::Reverse((term == beginning, *n)));
    terms.truncate(MOST_ENDINGS);
    Ok(terms.into_iter().map(|(_, term)| term).collect())
}

/// Words that are looked for in titles and sessions of tasks.
pub(crate) struct TaskWords {
    expression: String,
}

/// Numbers of tasks that lie closer together than this are asked for together.
const NEAR: i64 = 512;

impl TaskWords {
    /// Reads a question; none if no task can have its words.
    pub(crate) fn of(conn: &Connection, question: &str) -> rusqlite::Result<Option<Self>> {
        let found = expression(conn, &ask(question))?.filter(|all| !all.is_empty());
        Ok(found.map(|all| Self { expression: all.join(" AND ") }))
    }

    /// The numbers of all tasks that have the words; none if they are more than `most`.
    pub(crate) fn all(&self, conn: &Connection, most: usize) -> rusqlite::Result<Option<HashSet<i64>>> {
        let mut find =
            conn.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 AND rowid < 0 LIMIT ?2")?;
        let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
        let rows =
            find.query_map(params![self.expression, limit], |row| row.get::<_, i64>(0).map(|rowid| -rowid))?;
        let found = rows.collect::<rusqlite::Result<HashSet<i64>>>()?;
        Ok((found.len() <= most).then_some(found))
    }

    /// Those of some tasks that have the words.
    pub(crate) fn among(&self, conn: &Connection, mut tasks: Vec<i64>) -> rusqlite::Result<HashSet<i64>> {
        let mut find = conn.prepare_cached(
            "SELECT rowid FROM search WHERE search MATCH ?1 AND rowid >= ?2 AND rowid <= ?3",
        )?;
        tasks.sort_unstable();
        let mut found = HashSet::new();
        for near in tasks.chunk_by(|one, next| next - one <= NEAR) {
            let (Some(first), Some(last)) = (near.first(), near.last()) else { continue };
            for rowid in
                find.query_map(params![self.expression, -last, -first], |row| row.get::<_, i64>(0))?
            {
                found.insert(-rowid?);
            }
        }
        Ok(found)
    }
}

/// What a search is narrowed by, beside its words.
struct Narrow {
    tool: Option<String>,
    state: Option<CallState>,
    task: Option<i64>,
    project: Option<i64>,
    since: i64,
    until: i64,
}

/// A page of rows that hold the words.
pub(crate) fn search(conn: &Connection, filter: &SearchFilter) -> Answer<Page<Hit>> {
    let ask = ask(&filter.q);
    let place = cursor::place::<1>(cursor::List::Search, &filter.range.paging)?;
    let state = match &filter.state {
        Some(state) => Some(CallState::parse(state).ok_or_else(|| bad_state(state))?),
        None => None,
    };
    let project = match &filter.range.project {
        Some(project) => match text::number(conn, project)? {
            Some(number) => Some(number),
            None => return Ok(Page::whole(Vec::new())),
        },
        None => None,
    };
    let narrow = Narrow {
        tool: filter.tool.clone(),
        state,
        task: filter.task.as_ref().map(|id| task::number(conn, id)).transpose()?,
        project,
        since: filter.range.since.map_or(i64::MIN, |at| at.0),
        until: filter.range.until.map_or(i64::MAX, |at| at.0),
    };
    let Some(mut all) = expression(conn, &ask)? else { return Ok(Page::whole(Vec::new())) };
    all.extend(marks(conn, filter, &narrow)?);
    if all.is_empty() {
        return Ok(Page::whole(Vec::new()));
    }
    let expression = all.join(" AND ");
    let before = place.map_or(i64::MAX, |[before]| before);
    collect(conn, filter, &narrow, &ask, &expression, before)
}

fn bad_state(state: &str) -> QueryError {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    QueryError::Bad(format!("`state` cannot be `{state}`\nhint: it is one of `{}`", known.join("`, `")))
}

/// The marks that a document must have.
fn marks(conn: &Connection, filter: &SearchFilter, narrow: &Narrow) -> rusqlite::Result<Vec<String>> {
    let mut marks = Vec::new();
    if let Some(tool) = &narrow.tool {
        marks.push(quoted(&mark('t', tool)));
    }
    if let Some(state) = narrow.state {
        marks.push(quoted(&mark('s', state as i64)));
    }
    if let Some(kind) = filter.kind {
        marks.push(quoted(&mark('k', kind as i64)));
    }
    if let Some(task) = narrow.task {
        marks.push(quoted(&mark('i', task)));
    }
    if narrow.since > i64::MIN || narrow.until < i64::MAX {
        let mut days = Vec::new();
        if let Some((first, last)) = rollup::extent(conn)? {
            for piece in pieces(narrow.since.max(first), narrow.until.min(last), Level::Day) {
                let mut at = piece.from;
                while at < piece.to {
                    days.push(quoted(&day_mark(piece.level, at)));
                    at = piece.level.end(at);
                }
            }
        }
        // A range without any day has no rows: a mark that no document has.
        marks.push(if days.is_empty() { quoted(&mark('d', "none")) } else { any(&days) });
    }
    Ok(marks)
}

/// A document that has the words, and whether its row is what the search was narrowed to as far as columns tell.
struct Candidate {
    id: i64,
    is_wanted: bool,
}

/// Looks at the next documents below a number, without reading what their rows show.
fn candidates(
    conn: &Connection,
    filter: &SearchFilter,
    narrow: &Narrow,
    expression: &str,
    before: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Candidate>> {
    let mut find = conn.prepare_cached(
        "SELECT candidate.id, f.kind >= 0 AND (?4 IS NULL OR f.kind = ?4) AND (?5 IS NULL OR f.state = ?5) \
           AND (?6 IS NULL OR f.task = ?6) AND f.occurred >= ?7 AND f.occurred < ?8 AND (?9 IS NULL OR f.duration >= ?9) \
           AND (?10 IS NULL OR t.project = ?10) AND (?11 IS NULL OR t.agent = ?11) \
         FROM (SELECT rowid AS id FROM search WHERE search MATCH ?1 AND rowid > 0 AND rowid < ?2 \
               ORDER BY rowid DESC LIMIT ?3) candidate \
         LEFT JOIN fact f INDEXED BY fact_brief ON f.id = candidate.id LEFT JOIN task t ON t.id = f.task",
    )?;
    let rows = find.query_map(
        params![
            expression,
            before,
            i64::try_from(limit).unwrap_or(i64::MAX),
            filter.kind.map(|kind| kind as i64),
            narrow.state.map(|state| state as i64),
            narrow.task,
            narrow.since,
            narrow.until,
            filter.longer_than_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            narrow.project,
            filter.range.agent.map(|agent| agent as i64),
        ],
        // A row may be gone that the index still knows: then nothing is known of it, and it is not wanted.
        |row| Ok(Candidate { id: row.get(0)?, is_wanted: row.get::<_, Option<bool>>(1)?.unwrap_or(false) }),
    )?;
    rows.collect()
}

fn collect(
    conn: &Connection,
    filter: &SearchFilter,
    narrow: &Narrow,
    ask: &Ask,
    expression: &str,
    mut before: i64,
) -> Answer<Page<Hit>> {
    let limit = cursor::limit(&filter.range.paging);
    // Every step opens the lists of all terms anew: where many documents will not do, it looks at many at once.
    let is_sparse = narrow.project.is_some() || filter.longer_than_ms.is_some();
    let mut step = if is_sparse { MOST_LOOKED_AT } else { limit.saturating_add(limit / 4).clamp(64, 640) };
    let mut builder = RowBuilder::new(conn);
    let mut looked_at = 0;
    let mut hits = Vec::new();
    loop {
        let found = candidates(conn, filter, narrow, expression, before, step)?;
        for candidate in &found {
            if hits.len() == limit {
                return Ok(Page {
                    items: hits,
                    next_cursor: Some(cursor::write(cursor::List::Search, &[before])),
                });
            }
            before = candidate.id;
            if !candidate.is_wanted {
                continue;
            }
            let Some(stored) = stream::by_id(conn, candidate.id)? else { continue };
            if is_wanted(conn, filter, narrow, &stored)? {
                hits.push(Hit {
                    row: builder.row(&stored.row, stored.task, stored.changed)?,
                    task_title: title_of(conn, stored.task)?,
                    snippet: snippet(ask, texts(&stored.row)),
                });
            }
        }
        looked_at += found.len();
        if found.len() < step {
            return Ok(Page::whole(hits));
        }
        if looked_at >= MOST_LOOKED_AT {
            return Ok(Page {
                items: hits,
                next_cursor: Some(cursor::write(cursor::List::Search, &[before])),
            });
        }
        step = step.saturating_mul(2).min(MOST_LOOKED_AT - looked_at);
    }
}

fn title_of(conn: &Connection, task: i64) -> rusqlite::Result<String> {
    let mut find = conn.prepare_cached("SELECT title FROM task WHERE id = ?1")?;
    find.query_row([task], |row| row.get(0))
}

/// Whether a row is what the search was narrowed to, as far as columns do not tell.
fn is_wanted(
    conn: &Connection,
    filter: &SearchFilter,
    narrow: &Narrow,
    stored: &Stored,
) -> rusqlite::Result<bool> {
    let row = &stored.row;
    if narrow.tool.as_ref().is_some_and(|tool| !row.tool.as_deref().is_some_and(|own| is_same(own, tool))) {
        return Ok(false);
    }
    let Some(wanted) = &filter.range.agent_type else { return Ok(true) };
    let own = match &row.data.agent_type {
        Some(own) => own.clone(),
        None => {
            let mut find = conn.prepare_cached("SELECT agent_type FROM task WHERE id = ?1")?;
            let word: i64 = find.query_row([stored.task], |row| row.get(0))?;
            crate::sqlite::words::text(conn, word)?.unwrap_or_default()
        }
    };
    let own = if own.is_empty() { super::row::MAIN } else { own.as_str() };
    Ok(own == wanted)
}

/// Tools are the same whatever the case they were asked for in.
fn is_same(one: &str, other: &str) -> bool {
    one == other || term_of_word(one) == term_of_word(other)
}
