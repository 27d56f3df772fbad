//! Defines the arguments of `backup`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::store_backups::{BackupInterval, parse_span};

/// Backs up the store, and keeps copies of compactions if switched on
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup create                      back up the store now, also while the server runs
  agent-tracer backup create --every 1d --keep 7  now, and once a day while a server runs
  agent-tracer backup list                        list both kinds
  agent-tracer backup restore NAME                replace the store with a backup
  agent-tracer backup on --days 14                keep a copy of every automatic compaction from now on
  agent-tracer backup restore NAME --to FILE      write a backup or copy to a file
  agent-tracer backup remove NAME
  agent-tracer backup off

A backup of the store holds every record up to its time. A copy of a compaction holds the agent's own
file unchanged, prompts and results included. Both are off by default, readable by you alone, and
deleted when a task in them is purged. `docs/recovery.md` explains when to use which.")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    Create(BackupCreate),
    List(BackupList),
    Restore(BackupRestore),
    Remove(BackupRemove),
    On(BackupOn),
    /// Stops making copies of compactions; existing copies stay until they expire
    Off,
}

/// Backs up the store now, with every record acknowledged so far
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup create
  agent-tracer backup create --every 12h --keep 14   now, and twice a day while a server runs
  agent-tracer backup create --every off             stop scheduled backups
  agent-tracer backup create --json | jq -r .name

The server may keep running. The backup is checked before it counts. Events that still wait in the
spool are not part of it: they go into the store when it is next read.")]
pub(crate) struct BackupCreate {
    /// Interval of scheduled backups by the server: `1d`, `12h`, `30m`, or `off`
    #[arg(long, value_name = "SPAN", value_parser = parse_span)]
    pub(crate) every: Option<BackupInterval>,
    /// Number of backups to keep; the oldest are removed first
    #[arg(long, value_name = "COUNT", requires = "every", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) keep: u32,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Keeps a copy of every automatic compaction's input, while a server runs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup on
  agent-tracer backup on --days 7 --megabytes 500")]
pub(crate) struct BackupOn {
    /// Days to keep a copy
    #[arg(long, value_name = "COUNT", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) days: u32,
    /// Space for copies in megabytes; the oldest are removed first
    #[arg(long, value_name = "COUNT", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) megabytes: u32,
}

/// Lists backups of the store and copies of compactions, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup list
  agent-tracer backup list --verify
  agent-tracer backup list --json | jq -r '.backups[] | select(.kind == \"store\").name'

Kinds: `store` was made by `backup create` or the server, `undo` is a store that another replaced,
`upgrade` is a store from before an upgrade, `compaction` is the input of a compaction, `unfinished` is
the rest of an interrupted copy; `backup remove` removes it.")]
pub(crate) struct BackupList {
    /// Check every backup of the store against its checksum, and fail if one is damaged
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Replaces the store with a backup, or prints a copy of a compaction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup restore store-20261115T211004001Z.db --dry-run
  agent-tracer backup restore store-20261115T211004001Z.db
  agent-tracer backup restore NAME --to ~/restored.jsonl

A backup of the store: stop the server first. The backup is checked, tasks purged since then are deleted
from it, and the present store is kept beside it as an `undo`, which can be restored in turn. A copy of a
compaction: the agent's file is printed, or written to a new file.")]
pub(crate) struct BackupRestore {
    /// Name, as `backup list` shows it
    pub(crate) name: String,
    /// Write to this file instead, and keep the store; an existing file is never overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Print the contents and the steps, and change nothing
    #[arg(long, conflicts_with = "to")]
    pub(crate) dry_run: bool,
    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "to")]
    pub(crate) json: bool,
}

/// Removes backups and copies for good
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup remove NAME
  agent-tracer backup remove --all")]
pub(crate) struct BackupRemove {
    /// Names, as `backup list` shows them
    #[arg(required_unless_present = "all")]
    pub(crate) names: Vec<String>,
    /// All copies of compactions; backups of the store go only by name
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

/// Salvages the readable part of a damaged store
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer recover --dry-run               print what can be salvaged
  agent-tracer recover                         salvage it, and use the new store
  agent-tracer recover --accept-changes        accept a change by another program
  agent-tracer recover --from old/ledger.db --to new.db
  agent-tracer recover --json | jq .lostTasks

Reads the pages of the store one by one, its log and the journal of posts, derives all tables again and
checks them. The damaged files are only read, and kept beside the new store. An intact store is left
unchanged. Stop the server first. Exits with 1 if nothing can be salvaged.")]
pub(crate) struct Recover {
    /// Store to salvage instead of the one in the home
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Write the new store to this file, and keep the one in the home
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Print what can be salvaged, and change nothing
    #[arg(long, conflicts_with = "to")]
    pub(crate) dry_run: bool,
    /// If nothing can be salvaged, keep the damaged files and start with an empty store
    #[arg(long, conflicts_with_all = ["from", "to", "dry_run"])]
    pub(crate) start_empty: bool,
    /// Salvage nothing: accept pages that another program changed while no server ran
    #[arg(long, conflicts_with_all = ["from", "to", "dry_run", "start_empty"])]
    pub(crate) accept_changes: bool,
    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
