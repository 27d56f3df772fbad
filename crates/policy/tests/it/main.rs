//! Rules as people write them, calls as agents make them, answers as agents take them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod answers;
mod attacks;
mod backtest;
mod captured;
mod criteria;
mod daemon;
mod deciding;
mod document;
mod evasions;
mod examples;
mod foreign_words;
mod granting;
mod inputs;
mod laws;
mod reading;
mod schema;
mod tables;
mod verifying;
mod world;
