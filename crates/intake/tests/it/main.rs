//! The whole room against real files, a real spool and every fixture.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod files;
mod fixtures;
mod import;
mod intake;
mod ledger;
mod liveness;
mod reread;
mod spool;
mod tail;
mod world;
