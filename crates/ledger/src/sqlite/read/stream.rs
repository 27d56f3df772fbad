//! Rows in the order that people see, out of one list or many.
//!
//! The rows of a task stand in an index in that order, and so do the rows of each of its lists. A question about
//! several lists, or about a task with its subagents, merges such streams and reads from each only as far as the page
//! goes. So a page costs what its rows cost, wherever in the history it is.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use rusqlite::{Connection, params};

use super::cursor;
use crate::project::List;
use crate::sqlite::facts::{self, StoredFact};
use crate::store::{Answer, RowFilter};
use crate::view::Page;

/// Lane, kind, certainty, state and tool of a row as one number, as the index of the timeline holds it: the same words as
/// there, or SQLite reads the row. Eight bits each, the lane lowest; the tool has the rest.
pub(crate) const DRAWN: &str =
    "(lane | (kind << 8) | (certainty << 16) | (ifnull(state, 255) << 24) | (ifnull(tool, 0) << 32))";

/// One stream: the rows of a task, or those of one of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// The task.
    pub(crate) task: i64,
    /// The list; none means the whole timeline.
    pub(crate) list: Option<List>,
}

/// Selects rows of the streams, and the place to start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamFilter {
    /// The place after which (in the direction of reading) to begin.
    pub(crate) after: Option<StreamPosition>,
    /// At or after this.
    pub(crate) since: i64,
    /// Before this.
    pub(crate) until: i64,
    /// Backwards.
    pub(crate) newest_first: bool,
    /// One bit for each lane that is wanted.
    pub(crate) lanes: i64,
    /// One bit for each kind that is wanted.
    pub(crate) kinds: i64,
}

/// The position of a row in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamPosition {
    /// The moment.
    pub(crate) occurred: i64,
    /// Breaks ties between equal times.
    pub(crate) order: i64,
    /// The number of the fact.
    pub(crate) fact: i64,
    /// The task.
    pub(crate) task: i64,
}

impl StreamPosition {
    fn key(self) -> [i64; 4] {
        [self.occurred, self.order, self.fact, self.task]
    }

    fn new([occurred, order, fact, task]: [i64; 4]) -> Self {
        Self { occurred, order, fact, task }
    }
}

/// Returns the bits of a set of words; no words mean all.
fn bits(places: impl ExactSizeIterator<Item = u32>) -> i64 {
    if places.len() == 0 { -1 } else { places.fold(0, |bits, place| bits | (1 << place)) }
}

impl StreamFilter {
    /// Converts a filter of the query API.
    pub(crate) fn read(filter: &RowFilter) -> Answer<Self> {
        let list = list_of(filter.newest_first);
        Ok(Self {
            after: cursor::page_start(list, &filter.paging)?.map(StreamPosition::new),
            since: filter.since.map_or(i64::MIN, |at| at.0),
            until: filter.until.map_or(i64::MAX, |at| at.0),
            newest_first: filter.newest_first,
            lanes: bits(filter.lanes.iter().map(|lane| *lane as u32)),
            kinds: bits(filter.kinds.iter().map(|kind| *kind as u32)),
        })
    }
}

fn list_of(newest_first: bool) -> cursor::List {
    if newest_first { cursor::List::RowsNewestFirst } else { cursor::List::Rows }
}

/// Returns a page of the rows of some streams.
pub(crate) fn page(conn: &Connection, sources: &[Source], filter: &RowFilter) -> Answer<Page<StoredFact>> {
    let wanted = StreamFilter::read(filter)?;
    let limit = cursor::limit(&filter.paging);
    let found = merge(conn, sources, &wanted, limit + 1)?;
    let page = cursor::cut(list_of(filter.newest_first), limit, found, |(place, _)| place.key());
    let mut items = Vec::with_capacity(page.items.len());
    for (_, id) in page.items {
        items.extend(by_id(conn, id)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns the row with this number in the table.
pub(crate) fn by_id(conn: &Connection, id: i64) -> rusqlite::Result<Option<StoredFact>> {
    Ok(facts::select(conn, "WHERE f.id = ?1", [id])?.pop())
}

/// Returns the first `limit` places of all streams together, each with the row's number in the table.
pub(crate) fn merge(
    conn: &Connection,
    sources: &[Source],
    wanted: &StreamFilter,
    limit: usize,
) -> rusqlite::Result<Vec<(StreamPosition, i64)>> {
    // One stream is read at once. Of many, most give nothing to the page: they are read in small steps.
    let step = if sources.len() == 1 { limit } else { (limit / sources.len().max(1)).clamp(4, limit.max(4)) };
    let mut heads = BinaryHeap::with_capacity(sources.len());
    for source in sources {
        let mut stream =
            Stream { source: *source, wanted: *wanted, ahead: VecDeque::new(), step, is_done: false };
        stream.fill(conn)?;
        heads.extend(Head::new(stream));
    }
    let mut found = Vec::with_capacity(limit.min(1_024));
    while found.len() < limit {
        let Some(mut head) = heads.pop() else { break };
        found.push((head.place, head.id));
        head.stream.fill(conn)?;
        heads.extend(Head::new(head.stream));
    }
    Ok(found)
}

/// A stream that is being read.
struct Stream {
    source: Source,
    wanted: StreamFilter,
    ahead: VecDeque<(StreamPosition, i64)>,
    step: usize,
    is_done: bool,
}

/// A stream by its next row; the greatest is the next of all.
struct Head {
    place: StreamPosition,
    id: i64,
    newest_first: bool,
    stream: Stream,
}

impl Head {
    fn new(mut stream: Stream) -> Option<Self> {
        let (place, id) = stream.ahead.pop_front()?;
        Some(Self { place, id, newest_first: stream.wanted.newest_first, stream })
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.place.cmp(&other.place);
        if self.newest_first { order } else { order.reverse() }
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Head {}

impl Stream {
    /// Reads on if nothing is ahead.
    fn fill(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if self.is_done || !self.ahead.is_empty() {
            return Ok(());
        }
        let Source { task, list } = self.source;
        let wanted = &self.wanted;
        let (from, bound) = self.bounds();
        let sql = match (list, wanted.newest_first) {
            (None, false) => format!(
                "SELECT occurred, ord, fact, id FROM fact INDEXED BY fact_time \
                 WHERE task = ?1 AND kind >= 0 AND (occurred, ord, fact) > (?3, ?4, ?5) AND occurred < ?6 \
                 AND (?7 >> ({DRAWN} & 255)) & 1 AND (?8 >> kind) & 1 AND ?2 IS NULL \
                 ORDER BY occurred, ord, fact LIMIT ?9"
            ),
            (None, true) => format!(
                "SELECT occurred, ord, fact, id FROM fact INDEXED BY fact_time \
                 WHERE task = ?1 AND kind >= 0 AND (occurred, ord, fact) < (?3, ?4, ?5) AND occurred >= ?6 \
                 AND (?7 >> ({DRAWN} & 255)) & 1 AND (?8 >> kind) & 1 AND ?2 IS NULL \
                 ORDER BY occurred DESC, ord DESC, fact DESC LIMIT ?9"
            ),
            (Some(_), false) => "SELECT occurred, ord, fact, id FROM fact INDEXED BY fact_list \
                 WHERE task = ?1 AND list = ?2 AND (occurred, ord, fact) > (?3, ?4, ?5) AND occurred < ?6 \
                 AND (?7 < 0 OR (?7 >> lane) & 1) AND (?8 < 0 OR (?8 >> kind) & 1) \
                 ORDER BY occurred, ord, fact LIMIT ?9"
                .to_owned(),
            (Some(_), true) => "SELECT occurred, ord, fact, id FROM fact INDEXED BY fact_list \
                 WHERE task = ?1 AND list = ?2 AND (occurred, ord, fact) < (?3, ?4, ?5) AND occurred >= ?6 \
                 AND (?7 < 0 OR (?7 >> lane) & 1) AND (?8 < 0 OR (?8 >> kind) & 1) \
                 ORDER BY occurred DESC, ord DESC, fact DESC LIMIT ?9"
                .to_owned(),
        };
        let mut statement = conn.prepare_cached(&sql)?;
        let rows = statement.query_map(
            params![
                task,
                list.map(List::code),
                from.occurred,
                from.order,
                from.fact,
                bound,
                wanted.lanes,
                wanted.kinds,
                i64::try_from(self.step).unwrap_or(i64::MAX),
            ],
            |row| {
                let place =
                    StreamPosition { occurred: row.get(0)?, order: row.get(1)?, fact: row.get(2)?, task };
                Ok((place, row.get(3)?))
            },
        )?;
        self.ahead = rows.collect::<rusqlite::Result<_>>()?;
        self.is_done = self.ahead.len() < self.step;
        self.step = self.step.saturating_mul(2).min(1_024);
        self.wanted.after = self.ahead.back().map(|(place, _)| *place);
        Ok(())
    }

    /// Returns the place after which the next read begins, and the other end.
    fn bounds(&self) -> (StreamPosition, i64) {
        let wanted = &self.wanted;
        let task = self.source.task;
        let newest_first = wanted.newest_first;
        let edge = if newest_first {
            StreamPosition { occurred: wanted.until, order: i64::MIN, fact: i64::MIN, task }
        } else {
            StreamPosition { occurred: wanted.since.saturating_sub(1), order: i64::MAX, fact: i64::MAX, task }
        };
        let bound = if newest_first { wanted.since } else { wanted.until };
        let Some(mut after) = wanted.after else { return (edge, bound) };
        // The same place in another task comes after it or before it, as the tasks do.
        if newest_first && task < after.task {
            after.fact = after.fact.saturating_add(1);
        } else if !newest_first && task > after.task {
            after.fact = after.fact.saturating_sub(1);
        }
        after.task = task;
        (if newest_first { after.min(edge) } else { after.max(edge) }, bound)
    }
}
