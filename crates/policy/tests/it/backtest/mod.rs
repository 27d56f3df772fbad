//! Rules over captured history: what a back-test says is what a live hook would have been told.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod history;
mod live;
mod walking;
mod world;
