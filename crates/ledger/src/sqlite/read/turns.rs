//! Turns: from a prompt to its end, with what was asked, what was answered and what it spent.

use agent_tracer_event::TaskId;
use rusqlite::{Connection, OptionalExtension};

use super::row::RowBuilder;
use super::usage_sum::{UsageSum, count, read_spend};
use super::{cursor, task};
use crate::project::presenters::{self, About, TurnActivity, TurnEdges};
use crate::project::spend::Spend;
use crate::project::{FactRow, List};
use crate::sqlite::facts::{self, StoredFact};
use crate::store::{Answer, Paging};
use crate::view::{Page, Turn};

/// A prompt or an end may be reported a little before or after its turn.
const NEAR_MS: i64 = 60_000;

/// More prompts and ends than this are not looked at for one page.
const MOST_NEAR: i64 = 4_000;

/// Returns a page of turns, oldest first.
pub(crate) fn turns(conn: &Connection, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
    let task = task::number(conn, id)?;
    let limit = cursor::limit(paging);
    let [occurred, order, fact] =
        cursor::page_start::<3>(cursor::List::Turns, paging)?.unwrap_or([i64::MIN; 3]);
    let list = List::Turn.code();
    let found = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.list = ?2 AND (f.occurred, f.ord, f.fact) > (?3, ?4, ?5) \
         ORDER BY f.occurred, f.ord, f.fact LIMIT ?6",
        [task, list, occurred, order, fact, i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)],
    )?;
    let before: i64 = conn
        .prepare_cached(
            "SELECT count(*) FROM fact WHERE task = ?1 AND list = ?2 AND (occurred, ord, fact) <= (?3, ?4, ?5)",
        )?
        .query_row([task, list, occurred, order, fact], |row| row.get(0))?;
    let next_begins = found.get(limit).map(|next| next.row.occurred);
    let page = cursor::cut(cursor::List::Turns, limit, found, |turn| {
        [turn.row.occurred, turn.row.order, turn.row.fact]
    });
    let edges = edges(conn, task, &page.items, next_begins)?;
    let about = RowBuilder::new(conn).about(task)?;
    let mut items = Vec::with_capacity(page.items.len());
    for (index, stored) in page.items.iter().enumerate() {
        let number = count(before).saturating_add(index as u64 + 1);
        items.push(turn(conn, task, &about, &stored.row, number, &edges)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns the prompts and final messages of the turns of a page.
fn edges(
    conn: &Connection,
    task: i64,
    turns: &[StoredFact],
    next_begins: Option<i64>,
) -> rusqlite::Result<TurnEdges> {
    let Some(first) = turns.first().map(|turn| turn.row.occurred) else { return Ok(TurnEdges::default()) };
    let last_end = turns.iter().map(|turn| turn.row.ended.unwrap_or(turn.row.occurred)).max();
    let from = first.saturating_sub(NEAR_MS);
    let to = next_begins.max(last_end).map_or(i64::MAX, |at| at.saturating_add(NEAR_MS));
    // The last page has nothing behind it.
    let to = if next_begins.is_none() { i64::MAX } else { to };
    let select = |list: List| {
        facts::select(
            conn,
            "WHERE f.task = ?1 AND f.list = ?2 AND f.occurred >= ?3 AND f.occurred <= ?4 \
             ORDER BY f.occurred, f.ord, f.fact LIMIT ?5",
            [task, list.code(), from, to, MOST_NEAR],
        )
    };
    let (prompts, ends) = (select(List::Prompt)?, select(List::Stop)?);
    let rows = |stored: Vec<StoredFact>| stored.into_iter().map(|stored| stored.row);
    Ok(TurnEdges::new(rows(prompts), rows(ends)))
}

fn turn(
    conn: &Connection,
    task: i64,
    about: &About,
    row: &FactRow,
    number: u64,
    edges: &TurnEdges,
) -> rusqlite::Result<Turn> {
    let columns = Spend::COLUMNS.join(", ");
    let sums = conn
        .prepare_cached(&format!(
            "SELECT calls, failures, {columns} FROM turn_sum WHERE task = ?1 AND turn = ?2"
        ))?
        .query_row([task, row.fact], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, read_spend(row, 2)?))
        })
        .optional()?;
    let (calls, failures, spend) = sums.unwrap_or_default();
    let called =
        TurnActivity { calls: count(calls), failures: count(failures), usage: UsageSum::from(spend).view() };
    Ok(presenters::turn(about, row, number, edges.prompt(row), edges.end(row), called))
}
