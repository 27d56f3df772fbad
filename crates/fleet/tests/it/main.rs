//! Shipping, the team's server and its store; with the feature `engine`, on the real engine of ClickHouse.

mod clickhouse;
#[cfg(feature = "engine")]
#[expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails says so")]
mod engine;
mod ship;
mod team;
