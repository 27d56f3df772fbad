//! Two processes' worth of servers on one real engine (feature `engine`).
#![cfg(feature = "engine")]
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails says so")]

#[path = "../../../clickhouse/tests/it/engine.rs"]
#[expect(dead_code, reason = "the tests of the store also lose an engine")]
mod engine;
mod servers;
