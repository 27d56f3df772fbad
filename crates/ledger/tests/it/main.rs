//! The ledger from outside: what is brought, and what is answered.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod channels;
mod charts;
mod claude_ends;
mod codex_ends;
mod coming;
mod commits;
mod damage;
mod decisions;
mod endings;
mod faults;
mod list_items;
mod lives;
mod orders;
mod owners;
mod posted;
mod purge;
mod queries;
mod queries_beginnings;
mod queries_files;
mod queries_numbers;
mod queries_odd;
mod queries_search;
mod queries_until;
mod queries_world;
mod series;
mod skills;
mod totals;
mod truth;
mod upkeep;
mod world;
