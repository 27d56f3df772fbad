//! The whole way, from a ledger to a server that keeps every byte.
#![expect(clippy::unwrap_used, reason = "a test that fails says so")]

mod canaries;
mod server;
mod shipping;
mod world;
