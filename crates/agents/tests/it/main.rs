//! Tests of the edit plans from outside: whole files in, whole files out.

mod claude_hooks;
mod claude_install;
mod codex_install;
mod codex_trust;
mod files;
mod plugin;
mod undo;
