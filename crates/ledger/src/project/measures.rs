//! The measures: what a sum over time counts, and the columns in which both stores keep it.
//!
//! Each meaning has a field of its own here. The stores have fewer columns than there are meanings, because no
//! dimension uses them all: which measure a column holds depends on the dimension of its row. That mapping is
//! [`COLUMNS`] and nothing else; a statement that reads such a column by itself names it by a constant of this module.
//!
//! A new measure is a field of [`Measures`], an entry in `measure_columns`, a line in [`super::tally`] that counts it,
//! and one step of the schema of each store. The tables, the statements and the rows of both stores follow from the entry.

use super::spend::{Spend, sums};
use super::tally::Dim;

/// The counts of a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Occurrences: rows, calls, failures, activations or decisions, as the dimension says.
    pub n: i64,
    /// The number of failures among them.
    pub failures: i64,
    /// Reads of a file.
    pub reads: i64,
    /// Changes of a file.
    pub changes: i64,
    /// Time in calls, in milliseconds.
    pub ms: i64,
    /// Time that decisions took, in microseconds.
    pub decision_us: i64,
    /// Time spent waiting for people, in milliseconds.
    pub wait_ms: i64,
    /// Calls among all rows; of [`Dim::Activity`] only.
    pub calls: i64,
    /// Tokens and cost.
    pub spend: Spend,
}

sums!(Measures { n, failures, reads, changes, ms, decision_us, wait_ms, calls } { spend });

/// The stores that keep a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnStores {
    /// Both stores.
    Both,
    /// The embedded store. The team's store counts it from another dimension.
    Embedded,
    /// The share of a sealed task alone, where another column of a rollup says the same.
    Share,
}

/// A column of sums.
#[derive(Clone, Copy, Debug)]
pub struct MeasureColumn {
    /// Its name in both stores.
    pub name: &'static str,
    /// The stores that keep it.
    pub kept_by: ColumnStores,
    /// Its place in the share of a sealed task. Stored: a new column takes the next one.
    pub place: usize,
    /// In a row of facts of the team's store: the array with a fact's counts by dimension. `None` if a fact has one
    /// number for all dimensions that it spends in.
    pub array: Option<&'static str>,
    /// The measure that it holds, by dimension.
    measure: fn(&mut Measures, Dim) -> &mut i64,
}

impl MeasureColumn {
    /// Returns the value of this column in a row of a dimension.
    #[must_use]
    pub fn value(&self, mut measures: Measures, dim: Dim) -> i64 {
        *(self.measure)(&mut measures, dim)
    }

    /// Sets the measure that this column holds in a row of a dimension.
    pub fn set(&self, measures: &mut Measures, dim: Dim, value: i64) {
        *(self.measure)(measures, dim) = value;
    }
}

/// Expands a macro with the columns that a fact has for itself in each dimension: the name, the place in a share, the
/// name, column and description of its array in a row of facts, the description of the sum, and the measure.
#[macro_export]
macro_rules! measure_columns {
    ($expand:ident) => {
        $expand! {
            [
                n, 0, sums_n, "sums.n",
                "count; for models: responses; for files: reads", "count; for models: responses; for files: reads",
                |sums, dim| match dim {
                    Dim::Model => &mut sums.spend.responses,
                    Dim::File => &mut sums.reads,
                    _ => &mut sums.n,
                }
            ]
            [
                failures, 1, sums_failures, "sums.failures",
                "failures; for files: changes", "failures; for files: changes",
                |sums, dim| if dim == Dim::File { &mut sums.changes } else { &mut sums.failures }
            ]
            [
                ms, 2, sums_ms, "sums.ms",
                "time in tool calls in milliseconds; for skills: responses; for rules: time of decisions in microseconds",
                "time in tool calls in milliseconds; for skills: responses; for rules: time of decisions in microseconds",
                |sums, dim| match dim {
                    Dim::Skill => &mut sums.spend.responses,
                    Dim::Rule => &mut sums.decision_us,
                    _ => &mut sums.ms,
                }
            ]
            [
                wait_ms, 3, sums_wait_ms, "sums.wait_ms",
                "time spent waiting for people, in milliseconds", "time spent waiting for people, in milliseconds",
                |sums, _| &mut sums.wait_ms
            ]
        }
    };
}

/// The column with the number of reads, in rows of [`Dim::File`].
pub const FILE_READS: &str = "n";

/// The column with the number of changes, in rows of [`Dim::File`].
pub const FILE_CHANGES: &str = "failures";

/// The column with the number of responses, in rows of [`Dim::Skill`].
pub const SKILL_RESPONSES: &str = "ms";

const fn spent(
    name: &'static str,
    place: usize,
    measure: fn(&mut Measures, Dim) -> &mut i64,
) -> MeasureColumn {
    MeasureColumn { name, kept_by: ColumnStores::Both, place, array: None, measure }
}

macro_rules! all_columns {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        /// Every column, in the order of the tables.
        pub const COLUMNS: &[MeasureColumn] = &[
            $(MeasureColumn {
                name: stringify!($name),
                kept_by: ColumnStores::Both,
                place: $place,
                array: Some($path),
                measure: $measure,
            },)*
            spent("input", 4, |sums, _| &mut sums.spend.input),
            spent("output", 5, |sums, _| &mut sums.spend.output),
            spent("cache_read", 6, |sums, _| &mut sums.spend.cache_read),
            spent("cache_write", 7, |sums, _| &mut sums.spend.cache_write),
            spent("reasoning", 8, |sums, _| &mut sums.spend.reasoning),
            spent("cost", 9, |sums, _| &mut sums.spend.cost),
            spent("unpriced", 11, |sums, _| &mut sums.spend.unpriced),
            MeasureColumn { kept_by: ColumnStores::Share, ..spent("responses", 10, |sums, _| &mut sums.spend.responses) },
            MeasureColumn { kept_by: ColumnStores::Embedded, ..spent("calls", 12, |sums, _| &mut sums.calls) },
        ];
    };
}
measure_columns!(all_columns);

/// Returns the columns of a rollup of the embedded store.
pub fn of_rollups() -> impl Iterator<Item = &'static MeasureColumn> + Clone {
    COLUMNS.iter().filter(|column| column.kept_by != ColumnStores::Share)
}

/// Returns the columns that the team's store adds up.
pub fn of_team() -> impl Iterator<Item = &'static MeasureColumn> + Clone {
    COLUMNS.iter().filter(|column| column.kept_by == ColumnStores::Both)
}

/// Returns a list for a statement: each of some columns in its own words.
pub fn list<'a>(
    columns: impl Iterator<Item = &'a MeasureColumn>,
    one: impl Fn(&MeasureColumn) -> String,
) -> String {
    columns.map(one).collect::<Vec<_>>().join(", ")
}

impl Measures {
    /// Returns the numbers in the order of a share.
    #[must_use]
    pub fn share(&self, dim: Dim) -> Vec<i64> {
        let mut numbers = vec![0; COLUMNS.len()];
        for column in COLUMNS {
            if let Some(number) = numbers.get_mut(column.place) {
                *number = column.value(*self, dim);
            }
        }
        numbers
    }

    /// Returns the measures of a share. A number that an older version did not write is zero.
    #[must_use]
    pub fn of_share(numbers: &[i64], dim: Dim) -> Self {
        let mut measures = Self::default();
        for column in COLUMNS {
            column.set(&mut measures, dim, numbers.get(column.place).copied().unwrap_or(0));
        }
        measures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures() -> Measures {
        Measures {
            n: 1,
            failures: 2,
            ms: 3,
            wait_ms: 4,
            calls: 5,
            spend: Spend::of_numbers([6, 7, 8, 9, 10, 11, 12, 13]),
            ..Measures::default()
        }
    }

    #[test]
    fn a_share_is_stored_in_the_order_that_it_always_had() {
        let stored = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 5];
        assert_eq!(measures().share(Dim::Activity), stored);
        assert_eq!(Measures::of_share(&stored, Dim::Activity), measures());
        let shorter = Measures::of_share(&stored[..12], Dim::Activity);
        assert_eq!(shorter, Measures { calls: 0, ..measures() });
        let mut places: Vec<usize> = COLUMNS.iter().map(|column| column.place).collect();
        places.sort_unstable();
        assert_eq!(places, (0..COLUMNS.len()).collect::<Vec<_>>());
    }

    #[test]
    fn a_column_holds_the_measure_of_its_dimension() {
        let column = |name: &str| COLUMNS.iter().find(|column| column.name == name).unwrap();
        let file = Measures { reads: 1, changes: 2, ..Measures::default() };
        assert_eq!(column(FILE_READS).value(file, Dim::File), 1);
        assert_eq!(column(FILE_CHANGES).value(file, Dim::File), 2);
        let spend = Spend { responses: 3, ..Spend::default() };
        let skill = Measures { n: 4, spend, ..Measures::default() };
        assert_eq!(column(SKILL_RESPONSES).value(skill, Dim::Skill), 3);
        assert_eq!(column("n").value(skill, Dim::Skill), 4);
        assert_eq!(column("n").value(skill, Dim::Model), 3);
        let rule = Measures { decision_us: 5, ..Measures::default() };
        assert_eq!(column("ms").value(rule, Dim::Rule), 5);
    }
}
