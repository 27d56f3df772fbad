//! Search: rows that hold all words of a question, newest first.
//!
//! What the index narrows by marks is checked again against the row, and so are the words where the index was asked for
//! less than them (see `sought`).

use agent_tracer_event::CallState;
use rusqlite::{Connection, params};

use super::follower::{day_mark, document, texts};
use super::row::RowBuilder;
use super::sought::{Bounds, Sought, any, ask, everything, quoted};
use super::text;
use super::{cursor, rollup, stream, task};
use crate::project::time::{Level, pieces};
use crate::search::{Ask, mark, snippet, term_of_word};
use crate::sqlite::codec;
use crate::sqlite::facts::Stored;
use crate::store::{Answer, QueryError, SearchFilter};
use crate::view::{Hit, Page};

/// So many documents are looked at for one page: some milliseconds. A page that is not full then has a cursor to go on
/// from.
const MOST_LOOKED_AT: usize = 2_000;

/// So many rows are read for one page to see whether they have the words: as long.
const MOST_READ: usize = 1_000;

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
    search_within(conn, filter, Bounds::USUAL)
}

/// The same, with other bounds to the ways in which the index is asked.
pub(super) fn search_within(conn: &Connection, filter: &SearchFilter, bounds: Bounds) -> Answer<Page<Hit>> {
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
    let Some(Sought { mut all, is_exact }) = Sought::of(conn, &ask, bounds)? else {
        return Ok(Page::whole(Vec::new()));
    };
    all.extend(marks(conn, filter, &narrow)?);
    if all.is_empty() {
        if is_exact {
            return Ok(Page::whole(Vec::new()));
        }
        all.push(everything());
    }
    let wanted = Wanted { filter, narrow, ask, is_exact, expression: all.join(" AND ") };
    collect(conn, &wanted, place.map_or(i64::MAX, |[before]| before))
}

/// All that is asked of a hit.
struct Wanted<'filter> {
    filter: &'filter SearchFilter,
    narrow: Narrow,
    ask: Ask,
    /// Whether what the index finds has the words.
    is_exact: bool,
    /// What the index is asked for.
    expression: String,
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
        marks.push(if days.is_empty() { quoted(&mark('d', "none")) } else { any(days.into_iter()) });
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
    Wanted { filter, narrow, expression, .. }: &Wanted<'_>,
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

fn collect(conn: &Connection, wanted: &Wanted<'_>, mut before: i64) -> Answer<Page<Hit>> {
    let filter = wanted.filter;
    let limit = cursor::limit(&filter.range.paging);
    // Every step opens the lists of all terms anew: where many documents will not do, it looks at many at once.
    let is_sparse = wanted.narrow.project.is_some() || filter.longer_than_ms.is_some();
    let mut step = match (is_sparse, wanted.is_exact) {
        (true, _) => MOST_LOOKED_AT,
        (false, true) => limit.saturating_add(limit / 4).clamp(64, 640),
        (false, false) => MOST_READ,
    };
    let mut builder = RowBuilder::new(conn);
    let (mut looked_at, mut read) = (0, 0);
    let mut hits = Vec::new();
    let so_far = |hits, before| {
        Ok(Page { items: hits, next_cursor: Some(cursor::write(cursor::List::Search, &[before])) })
    };
    loop {
        let found = candidates(conn, wanted, before, step)?;
        for candidate in &found {
            if hits.len() == limit || read == MOST_READ {
                return so_far(hits, before);
            }
            before = candidate.id;
            if !candidate.is_wanted {
                continue;
            }
            if !wanted.is_exact {
                read += 1;
                if !may_have_words(conn, &wanted.ask, candidate.id)? {
                    continue;
                }
            }
            let Some(stored) = stream::by_id(conn, candidate.id)? else { continue };
            if !wanted.is_exact && !wanted.ask.is_met_by(&document(&stored)) {
                continue;
            }
            if is_wanted(conn, filter, &wanted.narrow, &stored)? {
                hits.push(Hit {
                    row: builder.row(&stored.row, stored.task, stored.changed)?,
                    task_title: title_of(conn, stored.task)?,
                    snippet: snippet(&wanted.ask, texts(&stored.row)),
                });
            }
        }
        looked_at += found.len();
        if found.len() < step {
            return Ok(Page::whole(hits));
        }
        if looked_at >= MOST_LOOKED_AT {
            return so_far(hits, before);
        }
        step = step.saturating_mul(2).min(MOST_LOOKED_AT - looked_at);
    }
}

/// Whether a row may have the words, told by its bytes: reading a row costs three times as much as this look at it.
fn may_have_words(conn: &Connection, ask: &Ask, id: i64) -> rusqlite::Result<bool> {
    let mut find = conn.prepare_cached(
        "SELECT f.data, f.derived, w.text FROM fact f LEFT JOIN word w ON w.id = f.tool WHERE f.id = ?1",
    )?;
    let mut rows = find.query([id])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    let Ok(data) = codec::decode(row.get_ref(0)?.as_blob()?) else { return Ok(true) };
    // Letters are written in JSON as they are.
    let Ok(data) = std::str::from_utf8(&data) else { return Ok(true) };
    let (derived, tool) = (row.get_ref(1)?.as_str_or_null()?, row.get_ref(2)?.as_str_or_null()?);
    Ok(ask.may_be_met_by(&[data, derived.unwrap_or_default(), tool.unwrap_or_default()]))
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
