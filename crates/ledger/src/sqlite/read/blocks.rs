//! Windows of five hours out of the sums of quarter-hours.

use std::collections::BTreeMap;

use agent_tracer_event::Millis;
use rusqlite::Connection;

use super::bucket::{Bucket, Models};
use super::cursor::{self, List};
use super::insights::asked;
use super::rollup::{self, Members, Of};
use crate::project::shown::numbers;
use crate::project::tally::Dim;
use crate::project::time::{Level, Piece};
use crate::store::{Answer, Range};
use crate::view::{Page, UsageBlock};

/// Windows of five hours, newest first.
pub(crate) fn blocks(conn: &Connection, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
    cursor::place::<1>(List::Usage, &range.paging)?;
    let Some((scope, span)) = asked(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let (from, to) = numbers::block_span(span);
    let mut members = Members::new(conn, &scope);
    let mut models = Models::new(conn);
    let mut quarters: BTreeMap<i64, Bucket> = BTreeMap::new();
    // Days without anything are one look each, not one for every quarter-hour of them.
    let mut days: Vec<i64> = Vec::new();
    let piece = Piece { level: Level::Day, from: Level::Day.start(from), to: Level::Day.end(to) };
    rollup::visit_piece(conn, Dim::Model, &piece, Of::scope(&scope), &mut |rolled| {
        if days.last() != Some(&rolled.at) {
            days.push(rolled.at);
        }
        Ok(())
    })?;
    for day in days {
        let piece = Piece {
            level: Level::Quarter,
            from: day.max(Level::Quarter.start(from)),
            to: Level::Day.end(day).min(to),
        };
        rollup::visit_piece(conn, Dim::Model, &piece, Of::scope(&scope), &mut |rolled| {
            if members.has(rolled.actor)? {
                let (_, reason) = models.of(rolled.key)?;
                quarters.entry(rolled.at).or_default().add(&rolled.sums, reason, 1);
            }
            Ok(())
        })?;
    }
    numbers::block_page(&range.paging, now, range.since, quarters)
}
