//! The context chart: how full the window was, when it was compacted, which model answered.

use agent_tracer_event::{Kind, Millis, TaskId};
use rusqlite::Connection;
use serde_json::Value;

use super::row::{About, RowBuilder};
use super::{cursor, stream, task};
use crate::project::{FactRow, List};
use crate::store::{Answer, Paging};
use crate::view::{ContextPoint, ContextPointKind, Page};

/// A chart has no more points than this.
const MOST_POINTS: usize = 1_500;

/// A page of the chart, oldest first. Without a cursor and a limit it is the whole chart: if there are more snapshots
/// than a chart can show, every n-th of them, and always the first and the last; every other mark is always there.
pub(crate) fn context(conn: &Connection, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
    let task = task::number(conn, id)?;
    let after = cursor::place::<3>(cursor::List::Context, paging)?;
    let is_whole = paging.limit == 0 && after.is_none();
    let limit = if is_whole { usize::MAX } else { cursor::limit(paging) };
    // Thinned as a whole, whatever the page, so that pages together are the chart.
    let mut places = thinned(places(conn, task)?);
    places.retain(|place| after.is_none_or(|after| place.key > after));
    let page = cursor::cut(cursor::List::Context, limit, places, |place| place.key);
    let about = RowBuilder::new(conn).about(task)?;
    let mut items = Vec::with_capacity(page.items.len());
    for place in &page.items {
        if let Some(stored) = stream::by_id(conn, place.id)? {
            items.extend(point(&about, &stored.row));
        }
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// A mark of the chart by its place in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    key: [i64; 3],
    id: i64,
    is_snapshot: bool,
}

/// All marks: only the index is read, which holds a few bytes for each.
fn places(conn: &Connection, task: i64) -> rusqlite::Result<Vec<Place>> {
    let mut find = conn.prepare_cached(
        "SELECT occurred, ord, fact, id, kind FROM fact INDEXED BY fact_list \
         WHERE task = ?1 AND list = ?2 ORDER BY occurred, ord, fact",
    )?;
    let rows = find.query_map([task, List::Context.code()], |row| {
        Ok(Place {
            key: [row.get(0)?, row.get(1)?, row.get(2)?],
            id: row.get(3)?,
            is_snapshot: row.get::<_, i64>(4)? == Kind::ContextSnapshot as i64,
        })
    })?;
    rows.collect()
}

/// Leaves out snapshots, evenly, until a chart can show what is left.
fn thinned(places: Vec<Place>) -> Vec<Place> {
    let snapshots = places.iter().filter(|place| place.is_snapshot).count();
    let room = MOST_POINTS.saturating_sub(places.len() - snapshots).max(MOST_POINTS / 2);
    let every = snapshots.div_ceil(room).max(1);
    let mut seen = 0;
    let mut kept = places;
    kept.retain(|place| {
        if !place.is_snapshot {
            return true;
        }
        seen += 1;
        seen == 1 || seen == snapshots || seen % every == 0
    });
    kept
}

fn point(about: &About, row: &FactRow) -> Option<ContextPoint> {
    let kind = match row.kind? {
        Kind::ContextSnapshot => ContextPointKind::Snapshot,
        Kind::ModelSwitched => ContextPointKind::ModelSwitch,
        // A compaction that begins is not one yet.
        _ if row.text("compactPhase") == Some("after") => ContextPointKind::Compaction,
        _ => return None,
    };
    let share = |key: &str| row.meta(key).and_then(Value::as_f64);
    let tokens = |key: &str| row.meta(key).and_then(Value::as_u64);
    let is_mark = kind != ContextPointKind::Snapshot;
    Some(ContextPoint {
        id: about.row_id(row.fact),
        kind,
        at: Millis(row.occurred),
        used_pct: share("contextWindowUsedPct"),
        total_tokens: tokens("contextWindowTotalTokens"),
        window_size: tokens("contextWindowSize"),
        model: ["toModel", "modelId", "model"].iter().find_map(|key| row.text(key)).map(str::to_owned),
        cost_usd: share("costTotalUsd"),
        five_hour_used_pct: share("rateLimitFiveHourUsedPct"),
        seven_day_used_pct: share("rateLimitSevenDayUsedPct"),
        title: Some(row.data.title.clone()).filter(|title| is_mark && !title.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chart_keeps_its_ends_and_all_marks() {
        let places: Vec<Place> =
            (0..50_000).map(|at| Place { key: [at, 0, 0], id: at, is_snapshot: at % 100 != 50 }).collect();
        let kept = thinned(places.clone());
        assert!(kept.len() <= MOST_POINTS + 2, "{}", kept.len());
        assert_eq!(kept.first(), places.first());
        assert_eq!(kept.last(), places.last());
        assert_eq!(kept.iter().filter(|place| !place.is_snapshot).count(), 500);
        assert_eq!(thinned(places[..1_000].to_vec()).len(), 1_000);
    }
}
