//! Defines the arguments of `rebuild`, `reread`, `retain` and `purge`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::Args;

use super::agent;

/// Derives all tables again from the recorded events
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer rebuild
  agent-tracer rebuild --json

Recorded events do not change. Needed only if a number looks wrong, or to build the search index again.
Stop the server first.")]
pub(crate) struct Rebuild {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the recorded events again, with the readers of this version
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer reread                    stored hook events, and the files of both agents
  agent-tracer reread codex              only the files and hooks of Codex
  agent-tracer reread --hooks-only       without the files
  agent-tracer reread --json | jq .changed

The new reading replaces the old one; today's privacy settings apply. Events without a source any more,
because a transcript is gone or their bytes were dropped, keep their old reading. Purged tasks do not
come back. Stop the server first.")]
pub(crate) struct Reread {
    /// Only the files of this agent
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Skip the files of the agents
    #[arg(long, conflicts_with = "agent")]
    pub(crate) hooks_only: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Drops the events of tasks without recent activity; their totals stay
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer retain --days 90 --dry-run    print what would be dropped
  agent-tracer retain                        with the days of `retention.days`

Off unless you want it: after `agent-tracer config set retention.days 90` the server does this once a
day. Numbers over time, costs and the list of tasks stay; timelines and search lose the
events. The agents' own transcripts stay where they are, and dropped events are not read from them
again. A clock more than 7 days ahead of its last trusted time drops nothing, unless events were
recorded on 3 different days of the 14 before it, or `--yes` confirms the clock. Stop the server first.")]
pub(crate) struct Retain {
    /// Days to keep, instead of `retention.days`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::retention::MOST_DAYS)))]
    pub(crate) days: Option<u32>,
    /// Print what would be dropped, and drop nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Trust the clock, however far ahead it is
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Deletes tasks with all their records, for good
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer purge t7k2qf                                   one task and its subagents
  agent-tracer purge --project ~/clients/secret --dry-run     print what would be deleted
  agent-tracer purge --before 2026-01-01 --export old.jsonl   export a copy first
  agent-tracer purge --all --yes                              without confirmation

Asks for confirmation; without a terminal it needs `--yes`. The store is written again without the
deleted tasks, copies from before an upgrade and backups that hold any of them are removed, and the
next import does not bring them back. Remaining traces outside are listed. The agents' own transcripts
stay where they are: delete those yourself. Stop the server first.")]
pub(crate) struct Purge {
    /// Tasks: the beginning of an id or of a session's
    #[arg(value_name = "ID", required_unless_present_any = ["project", "before", "all"])]
    pub(crate) ids: Vec<String>,
    /// Only tasks of a project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT", conflicts_with = "ids")]
    pub(crate) project: Option<String>,
    /// Only tasks with no event since then, such as `2026-11-19` or `90d`
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, conflicts_with = "ids")]
    pub(crate) before: Option<String>,
    /// All tasks
    #[arg(long, conflicts_with_all = ["ids", "project", "before"])]
    pub(crate) all: bool,
    /// Export the selected tasks to this file first
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Keep and list backups of the store that hold any of the tasks, instead of removing them
    #[arg(long)]
    pub(crate) keep_backups: bool,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
