//! Tests of the edit plans from outside: whole files in, whole files out. And of the readers: everything that was
//! captured from the real clients, at every level of privacy.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail by panicking, and a missing element fails the test"
)]

mod claude_hooks;
mod claude_install;
mod client_versions;
mod codex_canaries;
mod codex_fixtures;
mod codex_hooks;
mod codex_hooks_odd;
mod codex_install;
mod codex_joins;
mod codex_rollout_calls;
mod codex_rollout_facts;
mod codex_rollouts;
mod codex_tokens;
mod codex_trust;
mod decisions;
mod files;
mod golden;
mod plugin;
mod tools;
mod transcript;
mod undo;
