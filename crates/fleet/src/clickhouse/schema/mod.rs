//! The tables and views, defined once; statements for one server and for a cluster are made from the same definitions.
//!
//! Laws: every key begins with the owner. A row is replaced by one of the same key with a greater version, never added
//! to. No view is filled by an insert, because what is inserted may be a repetition; sums are made of deduplicated rows,
//! those of closed days in advance (`days`).
//! No table is partitioned by time, because a fact's time may change with its version and rows are only deduplicated
//! within a partition.

mod pages;
mod statements;
mod tables;
mod views;

use crate::clickhouse::days::all_days_marked;
use statements::{add_column, add_indexes, drop_index, fill_days, fill_indexes};

pub use pages::page;
pub use statements::{Layout, create, database, delete, keep_for};
pub use tables::{AGING, Column, Index, TABLES, Table};
pub(crate) use tables::{BEGINNING, BEGINNINGS};
pub use views::{VIEWS, View};

/// The version of the schema that this program asks.
pub const VERSION: u32 = 5;

/// Builds the steps to each version from the one before it. Every statement may be run again. What is new is made by
/// [`create`] alone.
#[must_use]
pub fn step(version: u32, layout: &Layout) -> Vec<String> {
    match version {
        // The access log, and an index of tasks by id for queries without an owner.
        2 => create(layout).into_iter().chain(add_indexes(layout)).collect(),
        // A view of latencies; and what was there before an index was is found by it too.
        3 => create(layout).into_iter().chain(fill_indexes(layout)).collect(),
        // Sums of closed days, and in which days facts are; indexes of lists, of which some are rare, and of beginnings.
        4 => {
            let indexes = add_indexes(layout).into_iter().chain(fill_indexes(layout));
            create(layout).into_iter().chain([fill_days()]).chain(indexes).collect()
        }
        // Sums by machine. Those that are there know none: every day is asked of its facts until its sums were made again.
        5 => {
            let mut statements = vec![all_days_marked()];
            statements.extend(add_column("day_sum", "machine", layout));
            // Too many parents passed this filter as possible matches for none: children of a page were searched
            // everywhere.
            statements.push(drop_index("task", "by_parent", layout));
            statements.extend(add_indexes(layout));
            statements.extend(fill_indexes(layout));
            statements
        }
        _ => Vec::new(),
    }
}
