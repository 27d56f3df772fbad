//! The ledger from outside: what is brought, and what is answered.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod causes;
mod channels;
mod charts;
mod claude_ends;
mod codex_ends;
mod commits;
mod damage;
mod decisions;
mod delivery_order;
mod faults;
mod journal_of_posts;
mod list_items;
mod pending_overlay;
mod prefix_search;
mod provider_usage;
mod purge;
mod queries;
mod query_edge_cases;
mod query_files;
mod query_numbers;
mod query_search;
mod query_until;
mod query_world;
mod response_attribution;
mod series;
mod session_summary;
mod shipment_format;
mod skills;
mod task_status;
mod timing;
mod totals;
mod upkeep;
mod world;
