//! Codex: its events, where its files are, how to install into its `hooks.json`, and how it trusts hooks. See
//! `README.md` beside this file for what the real client was seen to do.

pub mod events;
pub mod install;
pub mod paths;
pub mod trust;
