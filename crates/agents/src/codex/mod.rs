//! Codex: its events, where its files are, how to install into its `hooks.json`, how it trusts hooks, and what its
//! hooks and rollouts say. See `README.md` beside this file for what the real client was seen to do.

pub(crate) mod compactions;
pub mod events;
mod facts;
pub(crate) mod hooks;
pub mod install;
pub(crate) mod otlp;
pub mod paths;
pub mod rollout;
pub mod trust;
pub mod versions;
mod wire;
