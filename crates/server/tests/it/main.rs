//! The server as its callers see it: real connections over loopback, every rule with a test that fails without it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod access;
mod assets;
mod backtest;
mod client;
mod compactions;
mod document;
mod events;
mod hooks;
mod ledger;
mod limits;
mod metrics;
#[cfg(target_os = "linux")]
mod other_users;
mod queries;
mod sessions;
mod store;
mod stream;
mod team;
mod telemetry;
mod world;
