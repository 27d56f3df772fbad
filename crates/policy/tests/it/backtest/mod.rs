//! Rules over captured history: a back-test reports the answers that a live hook would have received.

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
