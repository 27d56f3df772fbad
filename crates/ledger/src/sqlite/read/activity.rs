//! Activity over time, in as many columns as a chart has.

use rusqlite::{Connection, OptionalExtension};

use super::insights::asked;
use super::rollup::{self, Members, Of, Sums};
use crate::project::shown::numbers::activity_bucket;
use crate::project::tally::Dim;
use crate::project::time::{Level, Piece};
use crate::store::{Answer, Range};
use crate::view::{ActivityBucket, Page};

/// A chart has no more columns than this.
const MOST_BUCKETS: i64 = 2_000;

/// More quarter-hours than this are not read for one chart: days are read instead.
const MOST_QUARTERS: i64 = 2_000;

const QUARTER_MS: i64 = 900_000;
const DAY_MS: i64 = 86_400_000;

/// Columns of equal width, oldest first, those without anything included.
pub(crate) fn activity(conn: &Connection, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
    let Some((scope, (first, last))) = asked(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let from = range.since.map_or(first, |since| since.0);
    let to = match range.until {
        Some(until) => until.0,
        None => newest(conn)?.unwrap_or(last),
    };
    let Some(grid) = Grid::of(from, to, buckets) else { return Ok(Page::whole(Vec::new())) };
    let mut members = Members::new(conn, &scope);
    let mut columns = vec![Sums::default(); grid.columns];
    // Only what the store knows is read, however far the chart goes.
    let known =
        Piece { level: grid.level, from: grid.level.start(first.max(grid.from)), to: last.min(grid.to()) };
    let of = Of::scope(&scope);
    rollup::visit_piece(conn, Dim::Activity, &known, of, &mut |rolled| {
        if let Some(column) = grid.column(rolled.at)
            && members.has(rolled.actor)?
        {
            columns.get_mut(column).into_iter().for_each(|sums| sums.add(&rolled.sums, 1));
        }
        Ok(())
    })?;
    let items =
        columns.iter().enumerate().map(|(column, sums)| activity_bucket(grid.at(column), sums, sums.calls));
    Ok(Page::whole(items.collect()))
}

/// The end of the newest quarter-hour that has anything.
fn newest(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut find =
        conn.prepare_cached("SELECT at FROM rollup WHERE dim = 0 AND level = 0 ORDER BY at DESC LIMIT 1")?;
    Ok(find.query_row([], |row| row.get::<_, i64>(0)).optional()?.map(|at| Level::Quarter.end(at)))
}

/// Columns of equal width over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The stretches that its columns are made of.
    pub level: Level,
    /// Where the first column begins.
    pub from: i64,
    /// How long a column is.
    pub width: i64,
    /// How many there are.
    pub columns: usize,
}

impl Grid {
    /// At most so many columns over a range; none over an empty one.
    #[must_use]
    pub fn of(from: i64, to: i64, buckets: u32) -> Option<Self> {
        if from >= to {
            return None;
        }
        let wanted = i64::from(buckets).clamp(1, MOST_BUCKETS);
        let length = to.saturating_sub(from);
        let width = length.div_euclid(wanted) + i64::from(length.rem_euclid(wanted) > 0);
        let (level, unit) = if width >= DAY_MS || length / QUARTER_MS > MOST_QUARTERS {
            (Level::Day, DAY_MS)
        } else {
            (Level::Quarter, QUARTER_MS)
        };
        let from = level.start(from);
        let length = to.saturating_sub(from);
        // The first column may begin before the range: then one more may be needed, and all become wider.
        let mut width = width.div_euclid(unit) * unit + if width.rem_euclid(unit) > 0 { unit } else { 0 };
        let columns = |width: i64| length.div_euclid(width) + i64::from(length.rem_euclid(width) > 0);
        while columns(width) > wanted {
            width = width.saturating_add(unit);
        }
        Some(Self { level, from, width, columns: usize::try_from(columns(width)).ok()? })
    }

    /// Where the last column ends.
    #[must_use]
    pub fn to(&self) -> i64 {
        self.at(self.columns)
    }

    /// Where a column begins.
    #[must_use]
    pub fn at(&self, column: usize) -> i64 {
        self.from.saturating_add(self.width.saturating_mul(i64::try_from(column).unwrap_or(i64::MAX)))
    }

    /// The column that holds a moment.
    #[must_use]
    pub fn column(&self, at: i64) -> Option<usize> {
        let column = at.checked_sub(self.from)?.div_euclid(self.width);
        usize::try_from(column).ok().filter(|column| *column < self.columns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_cover_the_range_and_are_not_too_many(
            from in 0_i64..4_000_000_000_000, length in 1_i64..400_000_000_000, buckets in 1_u32..500,
        ) {
            let grid = Grid::of(from, from + length, buckets).unwrap();
            prop_assert!(grid.columns <= buckets as usize);
            prop_assert!(grid.from <= from && grid.to() >= from + length);
            prop_assert_eq!(grid.level.start(grid.at(1)), grid.at(1));
            prop_assert!((grid.to() - grid.from) / grid.level.end(0) <= 2 * MOST_QUARTERS.max(length / DAY_MS + 500));
        }
    }
}
