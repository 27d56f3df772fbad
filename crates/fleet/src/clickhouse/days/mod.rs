//! Sums of closed days.
//!
//! A query over a month would otherwise add up every fact of that month. So the sums of each owner's UTC days are made
//! once, in `day_sum`, and a query adds up the open rest only.
//!
//! Laws. Sums are made of deduplicated facts, never by an insert of facts: an inserted row may be a repetition. Before
//! a fact of a day that may be closed is written or deleted, that day of its owner is marked, and a marked day is
//! answered from the facts themselves until its sums were made again. So an answer is the same whether a day is closed
//! or not, and a process that dies in the middle of a step leaves at worst a day that costs more.
//!
//! There are no transactions. Time takes their place, read from the clock of the database alone:
//!
//! - A day is marked from [`OPEN_MS`] after its end on, and closed [`CLOSES_MS`] after it: a writer that looked before
//!   it had to mark has long ended.
//! - A marked day is left alone for [`GRACE_MS`] after its newest mark: by then the writer that set the mark has
//!   written, or marks it again.
//! - The mark that was seen before sums were made is taken away, and no newer one.

mod make;
mod mark;

use agent_tracer_ledger::project::measures::{self, MeasureColumn};

pub use make::{RollupDelays, RollupReport};
pub(crate) use mark::{Marks, OwnersDay, PendingLines, all_days_marked};

/// A day.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// Time after its end during which a day is not marked, in milliseconds.
pub(crate) const OPEN_MS: i64 = 10 * 60_000;

/// So long after its end a day is closed.
pub(crate) const CLOSES_MS: i64 = 30 * 60_000;

/// So long after its newest mark the sums of a day may be made again.
pub(crate) const GRACE_MS: i64 = 120_000;

/// The dimension of durations, beside those of the ledger.
pub(crate) const DURATIONS: i64 = 100;

/// Names what every fact of a dimension adds, in a statement whose facts have [`counted_columns`] columns.
pub(crate) fn added_columns() -> String {
    measures::list(measures::of_team(), |MeasureColumn { name, array, .. }| match array {
        Some(_) => format!("own_{name} AS f_{name}"),
        None => format!("if(spends = 1, {name}, 0) AS f_{name}"),
    })
}

/// Returns the columns of facts that count, of which the first ones are [`joined_arrays`].
pub(crate) fn counted_columns() -> String {
    let spent = measures::of_team().filter(|column| column.array.is_none());
    let names = spent.map(|column| column.name.to_owned());
    own_columns().map(|(own, _)| own).chain(["spends".to_owned()]).chain(names).collect::<Vec<_>>().join(", ")
}

/// Returns the arrays with which facts are joined: what each adds in each dimension.
pub(crate) fn joined_arrays() -> String {
    let arrays = own_columns().map(|(own, array)| format!("{array} AS {own}"));
    arrays.chain(["sums.spends AS spends".to_owned()]).collect::<Vec<_>>().join(", ")
}

fn own_columns() -> impl Iterator<Item = (String, &'static str)> {
    measures::of_team().filter_map(|column| Some((format!("own_{}", column.name), column.array?)))
}

/// Returns the day that holds a moment, as an expression.
pub(crate) fn day_of(moment: &str) -> String {
    // By arithmetic: the engine's dates end in 2299 and follow a zone, and a hostile clock may say anything.
    // `positiveModulo`, because `%` of a moment before 1970 is negative.
    format!("{moment} - positiveModulo({moment}, {DAY_MS})")
}

/// SQL expression for the time of the database.
pub(crate) const NOW: &str = "toUnixTimestamp64Milli(now64(3))";
