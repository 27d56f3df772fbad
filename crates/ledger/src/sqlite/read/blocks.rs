//! Windows of five hours out of the sums of quarter-hours.

use std::collections::BTreeMap;

use agent_tracer_event::Millis;
use rusqlite::Connection;

use super::bucket::{Bucket, Models};
use super::cursor::{self, List};
use super::insights::asked;
use super::rollup::{self, Members, Of, Sums};
use super::spent::dollars;
use crate::project::blocks::{BLOCK_MS, blocks as windows, pace};
use crate::project::tally::Dim;
use crate::project::time::{Level, Piece};
use crate::store::{Answer, Range};
use crate::view::{BlockForecast, Page, UsageBlock};

const QUARTER_MS: i64 = 900_000;

/// Windows are looked for in so many days at most: the newest.
const MOST_DAYS: i64 = 400;

/// Windows of five hours, newest first.
pub(crate) fn blocks(conn: &Connection, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
    cursor::place::<1>(List::Usage, &range.paging)?;
    let Some((scope, (from, to))) = asked(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    // A window may have opened before the range begins.
    let from = from.saturating_sub(BLOCK_MS).max(to.saturating_sub(MOST_DAYS * 86_400_000));
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
    quarters.retain(|_, bucket| !bucket.is_empty());
    let since = range.since.map_or(i64::MIN, |since| since.0);
    let items: Vec<UsageBlock> = windows(quarters)
        .into_iter()
        .filter(|block| block.to > since)
        .map(|block| {
            let mut sum = Bucket::default();
            for piece in &block.pieces {
                sum.add_all(piece, 1);
            }
            shown(&sum, block.from, block.to, block.first, block.last + QUARTER_MS, now.0)
        })
        .collect();
    cursor::page(List::Usage, &range.paging, items, |block| [-block.started_at.0])
}

fn shown(sum: &Bucket, from: i64, to: i64, first: i64, last: i64, now: i64) -> UsageBlock {
    let Sums { input, output, cache_read, cache_write, cost, .. } = sum.sums;
    let tokens = (input + output + cache_read + cache_write) as f64;
    let forecast = pace(first, to, now, tokens).zip(pace(first, to, now, dollars(cost)));
    UsageBlock {
        started_at: Millis(from),
        ends_at: Millis(to),
        last_at: Millis(last.min(to)),
        is_active: forecast.is_some(),
        forecast: forecast.map(|(tokens, cost)| BlockForecast {
            tokens_per_minute: tokens.per_minute,
            cost_per_hour_usd: cost.per_minute * 60.0,
            tokens: tokens.at_end.round() as u64,
            cost_usd: cost.at_end,
        }),
        usage: sum.spent(sum.sums.n).view(),
    }
}
