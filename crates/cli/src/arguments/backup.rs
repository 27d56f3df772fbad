//! The words of `backup`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Keeps copies of what goes into compactions, if you want that
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup on --days 14             keep a copy of every automatic compaction from now on
  agent-tracer backup list                     what is kept
  agent-tracer backup restore NAME --to FILE   bring one back
  agent-tracer backup remove NAME
  agent-tracer backup off

Off unless you switch it on: a copy holds the agent's own file as it is, prompts and results included.
It is readable by you alone, and goes with its age, with its task, or when there is no more room.")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

/// What to do with copies.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    On(BackupOn),
    /// Makes no more copies; those that are there stay until they are too old
    Off,
    List(BackupList),
    Restore(BackupRestore),
    Remove(BackupRemove),
}

/// Keeps a copy of what goes into every automatic compaction, while a server runs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup on
  agent-tracer backup on --days 7 --megabytes 500")]
pub(crate) struct BackupOn {
    /// For how many days
    #[arg(long, value_name = "COUNT", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) days: u32,
    /// In how much room; the oldest go first
    #[arg(long, value_name = "COUNT", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) megabytes: u32,
}

/// Lists the copies, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup list --json | jq -r '.backups[].name'")]
pub(crate) struct BackupList {
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Brings a copy back, decompressed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup restore NAME | jq -r .type
  agent-tracer backup restore NAME --to ~/restored.jsonl

A file that is there is never touched.")]
pub(crate) struct BackupRestore {
    /// Its name, as `backup list` shows it
    pub(crate) name: String,
    /// Write it there instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

/// Removes copies for good
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup remove NAME
  agent-tracer backup remove --all")]
pub(crate) struct BackupRemove {
    /// Their names, as `backup list` shows them
    #[arg(required_unless_present = "all")]
    pub(crate) names: Vec<String>,
    /// All of them
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}
