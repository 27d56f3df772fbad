//! Black-box tests of `agent-tracer`: a home of its own, the built binary, and what it says.

mod alerts;
mod answers;
mod backups;
mod certificates;
mod client_versions;
mod compactions;
mod config;
mod context;
mod demo;
mod doctor;
mod doctor_codex;
#[cfg(feature = "engine")]
#[path = "../../../fleet/tests/it/engine.rs"]
#[expect(dead_code, clippy::panic, clippy::unwrap_used, reason = "shared with the tests of the store")]
mod engine;
mod fail_closed;
#[cfg(feature = "engine")]
mod fleet;
mod history;
mod import;
mod install_claude;
mod install_codex;
mod log;
mod maintenance;
mod overview;
mod policy;
mod purge;
mod queries;
mod recovery;
mod run;
mod serve;
mod service;
mod ship;
mod terminal;
mod uninstall;
mod up;
mod upgrade;
mod usage;
mod words;
mod world;
