//! Two processes' worth of servers on one real engine (feature `engine`).
#![cfg(feature = "engine")]
#![expect(clippy::unwrap_used, reason = "a test that fails says so")]

mod servers;
