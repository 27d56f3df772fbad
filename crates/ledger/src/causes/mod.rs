//! Causes of a task's cost, failures and changes: pure functions of its history.
//!
//! The input is a [`History`](history::History) of one conversation and a list of
//! [`CallStep`](history::CallStep)s of a tree; [`rows`] reads both from facts. Nothing here reads a store, a clock or a file.
//!
//! - [`cache`] finds where a cached prefix was lost, and why.
//! - [`context`] divides each prompt among the things that it consists of, and the cost of the task with it.
//! - [`failures`] follows each failure to the first success of the same intent.
//! - [`changes`] sums the edits of files, with the commits among them.

pub mod cache;
pub mod changes;
pub mod context;
pub mod failures;
pub mod history;
pub mod money;
pub mod rows;
