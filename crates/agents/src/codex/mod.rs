//! Codex: its events, where its files are, how to install into its `hooks.json`, and how it trusts hooks. See
//! `README.md` beside this file for what the real client was seen to do.

pub mod events;
mod facts;
pub(crate) mod hooks;
pub mod install;
pub mod paths;
pub mod rollout;
pub mod trust;
mod wire;
