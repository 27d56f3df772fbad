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

mod bit_flips;
mod clock;
mod dice;
mod disk;
mod feed;
mod fixtures;
mod hooks;
mod http;
mod ledger_dump;
mod liveness;
mod missing_files;
mod power;
mod server;
mod server_kills;
mod unusable;
mod world;
