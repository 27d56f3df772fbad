//! Real processes that die at any moment: nothing that was accepted is lost, and nothing is counted twice.
//!
//! Law: only what a process left on disk is believed. The program is killed, never asked; what it kept is compared with
//! what an undisturbed run of the same input keeps.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    reason = "what is not as expected fails the test, and the seed must be seen"
)]

mod books;
mod clock;
mod dice;
mod disk;
mod feed;
mod fixtures;
mod flips;
mod hooks;
mod http;
mod liveness;
mod power;
mod rounds;
mod server;
mod taken;
mod unusable;
mod world;
