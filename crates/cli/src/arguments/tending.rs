//! The words of commands that tend the ledger.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::Args;

use super::agent;

/// Derives everything that is shown anew from what was recorded
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer rebuild
  agent-tracer rebuild --json

Nothing that was recorded changes. Needed only if a number looks wrong, or to fill the search anew.
Stop the server first.")]
pub(crate) struct Rebuild {
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads again what was read before, with the readers of this version
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer reread                    kept events of hooks, and the files of both agents
  agent-tracer reread codex              only the files of Codex, and its hooks
  agent-tracer reread --hooks-only       without the files
  agent-tracer reread --json | jq .changed

What an event says now replaces what it said; today's privacy settings count. What cannot be read
any more, a transcript that is gone or an event whose bytes were dropped, stays as it was told.
What was purged stays away. Stop the server first.")]
pub(crate) struct Reread {
    /// Only the files of this agent
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Leave the files of the agents alone
    #[arg(long, conflicts_with = "agent")]
    pub(crate) hooks_only: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Drops events of tasks that were not heard of for a long time; their totals stay
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer retain --days 90 --dry-run    what would go
  agent-tracer retain                        as `retention.conf` says

Off unless you want it: with a line `days 90` in `retention.conf` beside `privacy.conf` the server does
this once a day. Numbers over time, costs and the list of tasks stay; timelines and search forget. The
agents' own transcripts stay where they are, and what was dropped is not read from them again.
A clock that is more than 7 days ahead of when it was last believed drops nothing, unless something was
recorded on 3 different days of the 14 before it, or `--yes` says that it is right. Stop the server
first.")]
pub(crate) struct Retain {
    /// For so many days, whatever `retention.conf` says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::retention::MOST_DAYS)))]
    pub(crate) days: Option<u32>,
    /// Say what would be dropped, and drop nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Believe the clock, however far ahead it is
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Deletes tasks with everything that was recorded of them, for good
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer purge t7k2qf                                   one task and its subagents
  agent-tracer purge --project ~/clients/secret --dry-run     what would go
  agent-tracer purge --before 2026-01-01 --export old.jsonl   keep a copy outside
  agent-tracer purge --all --yes                              without being asked

Asks before it deletes; without a terminal it needs `--yes`. The store is written anew without what
was deleted, copies of it from before an upgrade and backups that hold any of it are removed, and the
next import does not bring it back. What is left of it outside, it says. The agents' own transcripts
stay where they are: delete those yourself. Stop the server first.")]
pub(crate) struct Purge {
    /// These tasks: the beginning of an id or of a session's
    #[arg(value_name = "ID", required_unless_present_any = ["project", "before", "all"])]
    pub(crate) ids: Vec<String>,
    /// Those of a project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT", conflicts_with = "ids")]
    pub(crate) project: Option<String>,
    /// Those that were last heard of before then: a date, a time, or how long ago (`90d`)
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, conflicts_with = "ids")]
    pub(crate) before: Option<String>,
    /// All of them
    #[arg(long, conflicts_with_all = ["ids", "project", "before"])]
    pub(crate) all: bool,
    /// Write what will be deleted to this file first, as `export` does
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Leave backups of the store that hold any of it, and name them; without this they are removed
    #[arg(long)]
    pub(crate) keep_backups: bool,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
