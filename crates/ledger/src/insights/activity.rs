//! Activity over time, in as many columns as a chart has.

use super::{GroupBy, Rollups};
use crate::project::measures::Measures;
use crate::project::presenters::numbers::activity_bucket;
use crate::project::tally::Dim;
use crate::project::time::Level;
use crate::store::{Answer, Range};
use crate::view::{ActivityBucket, Page};

/// The most columns of a chart.
const MAX_COLUMNS: i64 = 2_000;

/// The most quarter-hours that are read for one chart. Beyond them days are read instead.
const MAX_QUARTERS: i64 = 2_000;

const QUARTER_MS: i64 = 900_000;
const DAY_MS: i64 = 86_400_000;

/// Returns the activity over time in columns of equal width, oldest first, empty ones included.
///
/// # Errors
/// If the range is wrong, or the store cannot answer.
pub fn activity<R: Rollups>(rollups: &R, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let (first, last) = window.span;
    let from = range.since.map_or(first, |since| since.0);
    let to = match range.until {
        Some(until) => until.0,
        None => rollups.newest(&window)?.unwrap_or(last),
    };
    let Some(grid) = Grid::new(from, to, buckets) else { return Ok(Page::whole(Vec::new())) };
    let mut columns = vec![Measures::default(); grid.columns];
    // However far the chart goes, only stretches for which the store has data are read, and they are read whole: a
    // column of days has whole days even if the window ends within one.
    let known = grid.level.around((first.max(grid.from), last.min(grid.to())));
    for stretch in rollups.sums(&window, known, Dim::Activity, GroupBy::Time(grid.level))? {
        if let Some(column) = grid.column(stretch.at).and_then(|column| columns.get_mut(column)) {
            *column += stretch.sums;
        }
    }
    let items = columns.iter().enumerate();
    let items = items.map(|(column, sums)| activity_bucket(grid.at(column), sums));
    Ok(Page::whole(items.collect()))
}

/// Columns of equal width over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The stretches of time that make up a column.
    pub level: Level,
    /// The beginning of the first column.
    pub from: i64,
    /// The width of a column, in milliseconds.
    pub width: i64,
    /// The number of columns.
    pub columns: usize,
}

impl Grid {
    /// Returns a grid of at most `buckets` columns over a range, or `None` if the range is empty.
    #[must_use]
    pub fn new(from: i64, to: i64, buckets: u32) -> Option<Self> {
        if from >= to {
            return None;
        }
        let asked = i64::from(buckets).clamp(1, MAX_COLUMNS);
        let length = to.saturating_sub(from);
        let width = length.div_euclid(asked) + i64::from(length.rem_euclid(asked) > 0);
        let (level, unit) = if width >= DAY_MS || length / QUARTER_MS > MAX_QUARTERS {
            (Level::Day, DAY_MS)
        } else {
            (Level::Quarter, QUARTER_MS)
        };
        let from = level.start(from);
        let length = to.saturating_sub(from);
        // The first column may begin before the range. If that takes one column too many, all become wider.
        let mut width = width.div_euclid(unit) * unit + if width.rem_euclid(unit) > 0 { unit } else { 0 };
        let columns = |width: i64| length.div_euclid(width) + i64::from(length.rem_euclid(width) > 0);
        while columns(width) > asked {
            width = width.saturating_add(unit);
        }
        Some(Self { level, from, width, columns: usize::try_from(columns(width)).ok()? })
    }

    /// Returns the end of the last column.
    #[must_use]
    pub fn to(&self) -> i64 {
        self.at(self.columns)
    }

    /// Returns the beginning of a column.
    #[must_use]
    pub fn at(&self, column: usize) -> i64 {
        self.from.saturating_add(self.width.saturating_mul(i64::try_from(column).unwrap_or(i64::MAX)))
    }

    /// Returns the column that holds a moment.
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
            let grid = Grid::new(from, from + length, buckets).unwrap();
            prop_assert!(grid.columns <= buckets as usize);
            prop_assert!(grid.from <= from && grid.to() >= from + length);
            prop_assert_eq!(grid.level.start(grid.at(1)), grid.at(1));
            prop_assert!((grid.to() - grid.from) / grid.level.end(0) <= 2 * MAX_QUARTERS.max(length / DAY_MS + 500));
        }
    }
}
