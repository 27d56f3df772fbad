//! The register of targets. A new one is a file of its own and a line here.

mod claude_hooks;
mod claude_transcript;
mod codex_hooks;
mod codex_rollout;
mod codex_trust;
mod envelope;
mod envelope_roundtrip;
mod otlp;
mod otlp_protobuf;
mod policy_rules;
mod policy_table;
mod privacy_config;
mod privacy_mask;
mod privacy_reduce;
mod settings;
mod shell;

/// A law about one reader: `run` panics if the bytes break it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
    /// Inputs of its own to begin with, besides those of the command line.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, put into inputs now and then.
    pub dictionary: &'static [&'static [u8]],
}

/// Every target, in the order in which `all` runs them.
pub const ALL: &[Target] = &[
    claude_hooks::TARGET,
    claude_transcript::TARGET,
    codex_hooks::TARGET,
    codex_rollout::TARGET,
    codex_trust::TARGET,
    envelope::TARGET,
    envelope_roundtrip::TARGET,
    otlp::TARGET,
    otlp_protobuf::TARGET,
    policy_rules::TARGET,
    policy_table::TARGET,
    privacy_config::TARGET,
    privacy_mask::TARGET,
    privacy_reduce::TARGET,
    settings::TARGET,
    shell::TARGET,
];

/// Returns the target of this name.
pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}
