//! Projections of facts, as pure functions without a store.
//!
//! A fact becomes a [`FactRow`]. A row adds its counts to a [`Tally`](tally::Tally), and takes the same counts away
//! when it changes. Every sum is therefore a function of the facts alone, whatever the order of their arrival.

pub mod blocks;
pub mod bucket;
pub mod context;
pub mod forecast;
pub mod latency;
pub mod list;
pub mod measures;
pub mod past_action;
pub mod presenters;
pub mod ranking;
pub mod residual;
pub mod row;
pub mod ruling;
pub mod spend;
pub mod status;
pub mod tally;
pub mod task_fields;
pub mod time;

pub use list::List;
pub use row::{FactData, FactRow};
