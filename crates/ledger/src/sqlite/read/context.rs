//! The context chart: how full the window was, when it was compacted, which model answered.

use agent_tracer_event::{Kind, TaskId};
use rusqlite::Connection;

use super::row::RowBuilder;
use super::{cursor, stream, task};
use crate::project::List;
use crate::project::context::{is_measure, mark_switches, point};
use crate::project::presenters::thinned;
use crate::sqlite::facts::word_at;
use crate::store::{Answer, Paging};
use crate::view::{ContextPoint, Page};

/// Returns a page of the chart, oldest first. Without a cursor and a limit it is the whole chart: if there are more
/// snapshots than a chart can show, every n-th of them, and always the first and the last; every other mark is always
/// there.
pub(crate) fn context(conn: &Connection, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
    let task = task::number(conn, id)?;
    let after = cursor::page_start::<3>(cursor::List::Context, paging)?;
    let is_whole = paging.limit == 0 && after.is_none();
    let limit = if is_whole { usize::MAX } else { cursor::limit(paging) };
    // Thinned as a whole, whatever the page, so that pages together are the chart.
    let mut places = thinned(places(conn, task)?, |place| place.is_snapshot);
    let before = after.and_then(|after| places.iter().rfind(|place| place.key <= after).copied());
    places.retain(|place| after.is_none_or(|after| place.key > after));
    let page = cursor::cut(cursor::List::Context, limit, places, |place| place.key);
    let about = RowBuilder::new(conn).about(task)?;
    let load = |place: &MarkPosition| -> Answer<Option<ContextPoint>> {
        let stored = stream::by_id(conn, place.id)?;
        Ok(stored.and_then(|stored| point(about.row_id(stored.row.fact), &stored.row)))
    };
    let mut items = Vec::with_capacity(page.items.len());
    for place in &page.items {
        items.extend(load(place)?);
    }
    let before = before.as_ref().map(load).transpose()?.flatten();
    Ok(Page { items: mark_switches(items, before.as_ref()), next_cursor: page.next_cursor })
}

/// A mark of the chart by its place in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MarkPosition {
    key: [i64; 3],
    id: i64,
    is_snapshot: bool,
}

/// Returns all marks. Where the client never said how full its window was, its responses do.
fn places(conn: &Connection, task: i64) -> rusqlite::Result<Vec<MarkPosition>> {
    let mut places = places_in(conn, task, List::Context)?;
    if !places.iter().any(|place| place.is_snapshot) {
        places.extend(places_in(conn, task, List::Response)?);
        places.sort_by_key(|place| place.key);
    }
    Ok(places)
}

/// Returns the marks of a list: only the index is read, which holds a few bytes for each.
fn places_in(conn: &Connection, task: i64, list: List) -> rusqlite::Result<Vec<MarkPosition>> {
    let mut find = conn.prepare_cached(
        "SELECT occurred, ord, fact, id, kind FROM fact INDEXED BY fact_list \
         WHERE task = ?1 AND list = ?2 ORDER BY occurred, ord, fact",
    )?;
    let rows = find.query_map([task, list.code()], |row| {
        Ok(MarkPosition {
            key: [row.get(0)?, row.get(1)?, row.get(2)?],
            id: row.get(3)?,
            is_snapshot: is_measure(word_at(Kind::ALL, row.get(4)?), list),
        })
    })?;
    rows.collect()
}
