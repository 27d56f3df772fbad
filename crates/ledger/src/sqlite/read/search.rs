//! Search: rows that hold all words of a question, newest first by when they happened, whenever they arrived.
//!
//! The index lists documents by the second (see `follower`). The rows of one second are sorted by their moment, so a page
//! reads the last second that it looks at to its end.
//!
//! What the index narrows by marks is checked again against the row, and so are the words where the index was asked for
//! less than them (see `sought`).

use agent_tracer_event::CallState;
use rusqlite::{Connection, params};

use super::follower::{
    day_mark, document, document_number, end_of_second, moment_before, row_of, second_start, texts,
};
use super::fts_query::{Bounds, FtsQuery, any_of, ask, everything, quote};
use super::row::RowBuilder;
use super::text;
use super::{cursor, rollup, stream, task};
use crate::project::time::{Level, pieces};
use crate::search::{Ask, mark, snippet, term_of_word};
use crate::sqlite::codec;
use crate::sqlite::facts::StoredFact;
use crate::store::{Answer, QueryError, SearchFilter};
use crate::view::{Hit, Page};

/// So many documents are looked at for one page: some milliseconds. A page that is not full then has a cursor to go on
/// from.
const MOST_LOOKED_AT: usize = 2_000;

/// So many rows are read for one page to see whether they have the words: as long.
const MOST_READ: usize = 1_000;

/// The conditions of a search beside its words.
struct SearchConditions {
    tool: Option<String>,
    state: Option<CallState>,
    task: Option<i64>,
    project: Option<i64>,
    since: i64,
    until: i64,
}

/// Returns a page of rows that hold the words.
pub(crate) fn search(conn: &Connection, filter: &SearchFilter) -> Answer<Page<Hit>> {
    search_within(conn, filter, Bounds::USUAL)
}

/// Searches with other bounds to the ways in which the index is asked.
pub(super) fn search_within(conn: &Connection, filter: &SearchFilter, bounds: Bounds) -> Answer<Page<Hit>> {
    let ask = ask(&filter.q);
    let place = cursor::page_start::<2>(cursor::List::Search, &filter.range.paging)?;
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
    let narrow = SearchConditions {
        tool: filter.tool.clone(),
        state,
        task: filter.task.as_ref().map(|id| task::number(conn, id)).transpose()?,
        project,
        since: filter.range.since.map_or(i64::MIN, |at| at.0),
        until: filter.range.until.map_or(i64::MAX, |at| at.0),
    };
    let Some(FtsQuery { mut all, is_exact }) = FtsQuery::build(conn, &ask, bounds)? else {
        return Ok(Page::whole(Vec::new()));
    };
    all.extend(marks(conn, filter, &narrow)?);
    if all.is_empty() {
        if is_exact {
            return Ok(Page::whole(Vec::new()));
        }
        all.push(everything());
    }
    let wanted = HitFilter { filter, narrow, ask, is_exact, expression: all.join(" AND ") };
    collect(conn, &wanted, place.map(|[occurred, id]| HitPosition { occurred, id }))
}

/// The conditions that a hit must meet.
struct HitFilter<'filter> {
    filter: &'filter SearchFilter,
    narrow: SearchConditions,
    ask: Ask,
    /// Every document that the index finds has the words.
    is_exact: bool,
    /// The expression of FTS5.
    expression: String,
}

fn bad_state(state: &str) -> QueryError {
    let known: Vec<&str> = CallState::ALL.iter().map(|state| state.as_str()).collect();
    QueryError::Bad(format!("`state` cannot be `{state}`\nhint: it is one of `{}`", known.join("`, `")))
}

/// Returns the marks that a document must have.
fn marks(
    conn: &Connection,
    filter: &SearchFilter,
    narrow: &SearchConditions,
) -> rusqlite::Result<Vec<String>> {
    let mut marks = Vec::new();
    if let Some(tool) = &narrow.tool {
        marks.push(quote(&mark('t', tool)));
    }
    if let Some(state) = narrow.state {
        marks.push(quote(&mark('s', state as i64)));
    }
    if let Some(kind) = filter.kind {
        marks.push(quote(&mark('k', kind as i64)));
    }
    if let Some(task) = narrow.task {
        marks.push(quote(&mark('i', task)));
    }
    if narrow.since > i64::MIN || narrow.until < i64::MAX {
        let mut days = Vec::new();
        if let Some((first, last)) = rollup::extent(conn)? {
            for piece in pieces(narrow.since.max(first), narrow.until.min(last), Level::Day) {
                let mut at = piece.from;
                while at < piece.to {
                    days.push(quote(&day_mark(piece.level, at)));
                    at = piece.level.end(at);
                }
            }
        }
        // A range without any day has no rows: a mark that no document has.
        marks.push(if days.is_empty() { quote(&mark('d', "none")) } else { any_of(days.into_iter()) });
    }
    Ok(marks)
}

/// The position of a hit in the list: its time, then its number in the fact table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HitPosition {
    occurred: i64,
    id: i64,
}

/// A document that has the words, and whether its row is what the search was narrowed to as far as columns say.
struct Candidate {
    number: i64,
    /// None if the row is gone or stands at another moment, and the index does not know it yet.
    place: Option<HitPosition>,
    is_wanted: bool,
}

/// Looks at the next documents from a number down to another, without reading what their rows show.
fn candidates(
    conn: &Connection,
    HitFilter { filter, narrow, expression, .. }: &HitFilter<'_>,
    numbers: std::ops::Range<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Candidate>> {
    let mut find = conn.prepare_cached(
        "SELECT candidate.number, f.id, f.occurred, f.kind >= 0 AND (?5 IS NULL OR f.kind = ?5) \
           AND (?6 IS NULL OR f.state = ?6) AND (?7 IS NULL OR f.task = ?7) AND f.occurred >= ?8 AND f.occurred < ?9 \
           AND (?10 IS NULL OR f.duration >= ?10) AND (?11 IS NULL OR t.project = ?11) AND (?12 IS NULL OR t.agent = ?12) \
         FROM (SELECT rowid AS number FROM search WHERE search MATCH ?1 AND rowid >= ?2 AND rowid < ?3 \
               ORDER BY rowid DESC LIMIT ?4) candidate \
         LEFT JOIN fact f INDEXED BY fact_brief ON f.id = candidate.number & 2147483647 \
         LEFT JOIN task t ON t.id = f.task",
    )?;
    let rows = find.query_map(
        params![
            expression,
            numbers.start,
            numbers.end,
            i64::try_from(limit).unwrap_or(i64::MAX),
            filter.kind.map(|kind| kind as i64),
            narrow.state.map(|state| state as i64),
            narrow.task,
            narrow.since,
            narrow.until,
            filter.longer_than_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
            narrow.project,
            filter.range.agent.map(|agent| agent.place() as i64),
        ],
        |row| {
            let number = row.get(0)?;
            let place = row.get::<_, Option<i64>>(1)?.zip(row.get::<_, Option<i64>>(2)?);
            let place = place.map(|(id, occurred)| HitPosition { occurred, id });
            // A row that moved in time has another number now. The old document stays until the follower comes by and
            // must not be shown twice.
            let place = place.filter(|place| document_number(place.occurred, place.id) == number);
            let is_wanted = row.get::<_, Option<bool>>(3)?.unwrap_or(false);
            Ok(Candidate { number, place, is_wanted })
        },
    )?;
    rows.collect()
}

/// Documents in the order of the list.
struct HitPart {
    candidates: Vec<Candidate>,
    /// Documents that were looked at.
    looked_at: usize,
    /// The number below which the next part begins; none if there is no more.
    rest: Option<i64>,
}

impl HitPart {
    /// Looks at about so many documents below a number, and at all others of the last second among them.
    fn below(conn: &Connection, wanted: &HitFilter<'_>, below: i64, step: usize) -> rusqlite::Result<Self> {
        let mut found = candidates(conn, wanted, 1..below, step)?;
        let rest = match found.last() {
            Some(last) if found.len() == step => Some((second_start(last.number), last.number)),
            _ => None,
        };
        if let Some((start, last)) = rest {
            found.extend(candidates(conn, wanted, start.max(1)..last, usize::MAX)?);
        }
        let looked_at = found.len();
        found.retain(|candidate| candidate.place.is_some());
        // Numbers of documents are by the second only; within it the list is ordered by the millisecond.
        found.sort_unstable_by_key(|candidate| std::cmp::Reverse(candidate.place));
        Ok(Self { candidates: found, looked_at, rest: rest.map(|(start, _)| start) })
    }
}

fn collect(conn: &Connection, wanted: &HitFilter<'_>, after: Option<HitPosition>) -> Answer<Page<Hit>> {
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
    let mut reached = HitPosition { occurred: i64::MAX, id: i64::MAX };
    // The second of the last hit may hold more of them: it is read again, and what was shown is left out.
    let mut below = after.map_or(i64::MAX, |place| end_of_second(place.occurred));
    let so_far = |hits, reached: HitPosition| {
        let key = [reached.occurred, reached.id];
        Ok(Page { items: hits, next_cursor: Some(cursor::write(cursor::List::Search, &key)) })
    };
    loop {
        let part = HitPart::below(conn, wanted, below, step)?;
        for candidate in &part.candidates {
            let Some(place) = candidate.place else { continue };
            if after.is_some_and(|after| place >= after) {
                continue;
            }
            // A page may come up short and still have a cursor: the cost of one answer is bounded, not the number of
            // its hits.
            if hits.len() == limit || read == MOST_READ {
                return so_far(hits, reached);
            }
            reached = place;
            if !candidate.is_wanted {
                continue;
            }
            let id = row_of(candidate.number);
            if !wanted.is_exact {
                read += 1;
                if !may_have_words(conn, &wanted.ask, id)? {
                    continue;
                }
            }
            // Search follows behind the writer, so a document may belong to a row that is gone by now.
            let Some(stored) = stream::by_id(conn, id)? else { continue };
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
        let Some(rest) = part.rest.filter(|rest| *rest > 0) else { return Ok(Page::whole(hits)) };
        below = rest;
        looked_at += part.looked_at;
        if looked_at >= MOST_LOOKED_AT {
            // All of the last second was looked at, also if no row of it is left.
            return so_far(hits, HitPosition { occurred: moment_before(rest), id: i64::MAX });
        }
        step = step.saturating_mul(2).min(MOST_LOOKED_AT - looked_at);
    }
}

/// Returns whether a row may have the words, reported by its bytes: reading a row costs three times as much as this
/// look at it.
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

/// Returns whether a row is what the search was narrowed to, as far as columns do not tell.
fn is_wanted(
    conn: &Connection,
    filter: &SearchFilter,
    narrow: &SearchConditions,
    stored: &StoredFact,
) -> rusqlite::Result<bool> {
    let row = &stored.row;
    if narrow.tool.as_ref().is_some_and(|tool| !row.tool.as_deref().is_some_and(|own| is_same(own, tool))) {
        return Ok(false);
    }
    let Some(wanted) = &filter.range.agent_type else { return Ok(true) };
    // A row that does not name its type is of its task's.
    let own = match &row.data.agent_type {
        Some(own) if !own.is_empty() => own.clone(),
        _ => {
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
