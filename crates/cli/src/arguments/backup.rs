//! The words of `backup`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::store_backups::{Every, parse_span};

/// Backs up the store, and keeps copies of what goes into compactions, if you want that
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup create                      back up the store now, also while the server runs
  agent-tracer backup create --every 1d --keep 7  and once a day from now on, while a server runs
  agent-tracer backup list                        what is kept, of both kinds
  agent-tracer backup restore NAME                put a backup in the place of the store
  agent-tracer backup on --days 14                keep a copy of every automatic compaction from now on
  agent-tracer backup restore NAME --to FILE      bring a copy of a compaction back
  agent-tracer backup remove NAME
  agent-tracer backup off

A backup of the store holds everything that was recorded up to then. A copy of a compaction holds the
agent's own file as it is, prompts and results included. Both are off unless you ask for them, readable
by you alone, and go when a task in them is purged. `docs/recovery.md` says what to do when.")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

/// What to do with copies.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    Create(BackupCreate),
    List(BackupList),
    Restore(BackupRestore),
    Remove(BackupRemove),
    On(BackupOn),
    /// Makes no more copies of compactions; those that are there stay until they are too old
    Off,
}

/// Backs up the store now: everything that was recorded or acknowledged until now
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup create
  agent-tracer backup create --every 12h --keep 14   now, and twice a day while a server runs
  agent-tracer backup create --every off             no more by themselves
  agent-tracer backup create --json | jq -r .name

The server may go on meanwhile. The backup is checked before it counts. What waits in the spool is not
in it: it is read into whatever store there is.")]
pub(crate) struct BackupCreate {
    /// Let the server make one this often from now on: `1d`, `12h`, `30m`, or `off`
    #[arg(long, value_name = "SPAN", value_parser = parse_span)]
    pub(crate) every: Option<Every>,
    /// How many of them are kept; the oldest go first
    #[arg(long, value_name = "COUNT", requires = "every", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) keep: u32,
    /// Print what was made as JSON
    #[arg(long)]
    pub(crate) json: bool,
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

/// Lists backups of the store and copies of compactions, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup list
  agent-tracer backup list --verify
  agent-tracer backup list --json | jq -r '.backups[] | select(.kind == \"store\").name'

Kinds: `store` was made by `backup create` or the server, `undo` is a store that another replaced,
`upgrade` is a store as it was before a newer version changed it, `compaction` is what went into one,
`unfinished` is what a process left that was killed while it made a copy; `backup remove` removes it.")]
pub(crate) struct BackupList {
    /// Check every backup of the store against its sum, and fail if one is damaged
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print them as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Puts a backup in the place of the store, or brings a copy of a compaction back
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer backup restore store-20261115T211004001Z.db --dry-run
  agent-tracer backup restore store-20261115T211004001Z.db
  agent-tracer backup restore NAME --to ~/restored.jsonl

Of the store: stop the server first. The backup is checked, what was purged since is deleted from it, and the
present store is kept beside it as an `undo`, which can be restored in turn. Of a compaction: the agent's file
is printed, or written to a file that is not there yet.")]
pub(crate) struct BackupRestore {
    /// Its name, as `backup list` shows it
    pub(crate) name: String,
    /// Write it there instead, and leave the store alone; a file that is there is never touched
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Say what is in it and what would be done, and do nothing
    #[arg(long, conflicts_with = "to")]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what was done as JSON
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
    /// Their names, as `backup list` shows them
    #[arg(required_unless_present = "all")]
    pub(crate) names: Vec<String>,
    /// All copies of compactions; backups of the store only by name
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
}

/// Makes a new store of what can be read of a damaged one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer recover --dry-run               what could be salvaged, and what is gone
  agent-tracer recover                         salvage it, and go on with it
  agent-tracer recover --accept-changes        you changed the store with another program
  agent-tracer recover --from old/ledger.db --to new.db
  agent-tracer recover --json | jq .lostTasks

Reads the pages of the store one by one, its log and the journal of posts, folds everything anew and checks
it. The damaged files are only read, and kept beside the new store. A store that is whole is left alone.
Stop the server first. Where nothing can be salvaged it ends with 1.")]
pub(crate) struct Recover {
    /// Salvage this store instead of the one of the home
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Write the new store there, and leave the one of the home alone
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Say what could be salvaged, and change nothing
    #[arg(long, conflicts_with = "to")]
    pub(crate) dry_run: bool,
    /// If nothing can be salvaged, keep the damaged files and begin with an empty store
    #[arg(long, conflicts_with_all = ["from", "to", "dry_run"])]
    pub(crate) start_empty: bool,
    /// Salvage nothing: take pages that another program changed while no server ran for right
    #[arg(long, conflicts_with_all = ["from", "to", "dry_run", "start_empty"])]
    pub(crate) accept_changes: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
