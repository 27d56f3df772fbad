//! Holds the knowledge about each coding agent: one folder per agent.
//!
//! The law of the room: pure. Text and values come in, text and values go out; nothing here reads a file, the
//! environment or the clock, starts a process or prints. An agent's own spelling lives in that agent's folder and
//! nowhere else in the house.

mod adapter;
pub mod claude;
pub mod client_version;
pub mod codex;
pub mod command_line;
pub mod compactions;
mod decisions;
#[cfg(feature = "example-agent")]
mod example;
pub mod extent;
pub mod files;
pub mod hooks;
pub mod observation;
pub mod otlp;
mod read;
pub mod sessions;
pub mod settings;
pub mod setup;
pub mod text;
pub mod tools;
pub mod usage;

pub use client_version::ClientVersion;
pub use observation::{Context, Observation, Source, TranscriptSeen};
pub use read::read;
