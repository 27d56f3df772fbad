//! The spool from outside: formats, files and promises, on a real file system.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod accept;
mod doorbell;
mod drain;
mod envelope;
mod full_disk;
mod no_handles;
mod purge;
mod refusals;
mod sweep;
mod threads;
mod world;
