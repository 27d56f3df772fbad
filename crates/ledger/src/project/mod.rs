//! Describes what follows from facts: pure functions, no store.
//!
//! A fact becomes a [`FactRow`]; a row adds what it counts to a [`Tally`](tally::Tally), and takes the same away when
//! it changes. So every sum is a function of the facts alone, whatever the order in which they came.

pub mod blocks;
pub mod bucket;
pub mod context;
pub mod forecast;
pub mod latency;
pub mod list;
pub mod presenters;
pub mod ranking;
pub mod residual;
pub mod row;
pub mod ruling;
pub mod status;
pub mod tally;
pub mod task_fields;
pub mod time;

pub use list::List;
pub use row::{FactData, FactRow};
