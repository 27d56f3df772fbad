//! Defines the arguments of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Starts an agent and records this session alone, without a change of its settings
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "AGENT",
    subcommand_help_heading = "Agent",
    override_usage = "agent-tracer run [OPTIONS] AGENT [ARGUMENTS]...",
    after_help = "\
Examples:
  agent-tracer run AGENT                             interactive, recorded
  agent-tracer run --receipt run.json AGENT exec \"…\"  with a summary, for CI
  agent-tracer run --receipt - AGENT > summary.json  summary behind the agent's own output

AGENT is the word that `install` takes; everything behind it goes to the agent untouched, except one leading `--`. Your own
hooks run too, and hooks that are installed already record nothing twice. Terminal, signals and exit code pass through
(128 + n after signal n). Works with and without a server; see docs/ci.md for the receipt."
)]
pub(crate) struct Run {
    /// Write a summary of the run as JSON to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) receipt: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) agent: RunAgent,
}

/// Holds the agent and its arguments, which are not ours to read.
#[derive(Debug, Subcommand)]
pub(crate) enum RunAgent {
    /// The agent's word, then its arguments.
    #[command(external_subcommand)]
    Words(Vec<OsString>),
}
