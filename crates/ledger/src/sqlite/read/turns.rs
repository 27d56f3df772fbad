//! Turns: from a prompt to its end, with what was asked, what was answered and what it spent.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Millis, TaskId};
use rusqlite::{Connection, OptionalExtension};

use super::row::{About, RowBuilder};
use super::spent::{Spent, count};
use super::{cursor, task};
use crate::project::{FactRow, List};
use crate::sqlite::facts::{self, Stored};
use crate::store::{Answer, Paging};
use crate::view::{Page, Turn};

/// A prompt or an end may be told a little before or after its turn.
const NEAR_MS: i64 = 60_000;

/// More prompts and ends than this are not looked at for one page.
const MOST_NEAR: i64 = 4_000;

/// A page of turns, oldest first.
pub(crate) fn turns(conn: &Connection, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
    let task = task::number(conn, id)?;
    let limit = cursor::limit(paging);
    let [occurred, order, fact] = cursor::place::<3>(cursor::List::Turns, paging)?.unwrap_or([i64::MIN; 3]);
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
    let near = Near::load(conn, task, &page.items, next_begins)?;
    let about = RowBuilder::new(conn).about(task)?;
    let mut items = Vec::with_capacity(page.items.len());
    for (index, stored) in page.items.iter().enumerate() {
        let number = count(before).saturating_add(index as u64 + 1);
        items.push(turn(conn, task, &about, &stored.row, number, &near)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// What was said at the beginning and at the end of turns, by the turn's number.
struct Near {
    prompts: HashMap<i64, FactRow>,
    ends: HashMap<i64, FactRow>,
}

impl Near {
    fn load(
        conn: &Connection,
        task: i64,
        turns: &[Stored],
        next_begins: Option<i64>,
    ) -> rusqlite::Result<Self> {
        let mut near = Self { prompts: HashMap::new(), ends: HashMap::new() };
        let Some(first) = turns.first().map(|turn| turn.row.occurred) else { return Ok(near) };
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
        for stored in select(List::Prompt)? {
            if let Some(turn) = stored.row.turn {
                near.prompts.entry(turn).or_insert(stored.row);
            }
        }
        for stored in select(List::Stop)? {
            if let Some(turn) = stored.row.turn {
                near.ends.insert(turn, stored.row);
            }
        }
        Ok(near)
    }
}

fn said(row: &FactRow) -> Option<String> {
    row.data.body.clone().or_else(|| Some(row.data.title.clone())).filter(|text| !text.is_empty())
}

fn turn(
    conn: &Connection,
    task: i64,
    about: &About,
    row: &FactRow,
    number: u64,
    near: &Near,
) -> rusqlite::Result<Turn> {
    let columns = Spent::COLUMNS;
    let sums = conn
        .prepare_cached(&format!(
            "SELECT calls, failures, {columns} FROM turn_sum WHERE task = ?1 AND turn = ?2"
        ))?
        .query_row([task, row.fact], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, Spent::read(row, 2)?))
        })
        .optional()?;
    let (calls, failures, spent) = sums.unwrap_or_default();
    let prompt = near.prompts.get(&row.fact);
    let end = near.ends.get(&row.fact);
    let text =
        |key: &str, other: Option<&FactRow>| row.text(key).or_else(|| other?.text(key)).map(str::to_owned);
    let ended = row.ended;
    let ours = ended.and_then(|ended| u64::try_from(ended.saturating_sub(row.occurred)).ok());
    Ok(Turn {
        id: about.turn_id(row.fact),
        task_id: about.uid.to_string(),
        number,
        prompt: prompt.and_then(said),
        prompt_origin: text("promptOrigin", prompt),
        started_at: Millis(row.occurred),
        ended_at: ended.map(Millis),
        duration_ms: row.duration.and_then(|duration| u64::try_from(duration).ok()).or(ours),
        state: row.state.unwrap_or(CallState::Running).to_string(),
        stop_reason: end
            .and_then(|end| end.text("stopReason").map(str::to_owned))
            .or_else(|| text("stopReason", None)),
        answer: end.and_then(said),
        tool_call_count: count(calls),
        failure_count: count(failures),
        usage: spent.view(),
    })
}
