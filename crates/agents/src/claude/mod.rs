//! Claude Code: its events, where its files are, and how to install into its settings. See `README.md` beside this
//! file for what the real client was seen to do.

pub(crate) mod compactions;
pub mod events;
pub(crate) mod hooks;
pub mod identity;
pub mod install;
pub(crate) mod otlp;
pub mod paths;
pub(crate) mod statusline;
pub mod transcript;
pub mod versions;
mod wire;
