//! The words of `usage`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::{Args, ValueEnum};

use super::agent;

/// What a report has a line for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PeriodName {
    /// Each day
    Daily,
    /// Each week, from Monday
    Weekly,
    /// Each month
    Monthly,
    /// Each session, with its subagents
    Session,
    /// Each window of five hours, as the clients count them
    Blocks,
}

/// What each line is told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByName {
    /// The model that answered
    Model,
    /// The project
    Project,
    /// The agent: Claude Code or Codex
    Agent,
    /// The skill that a response was given for; with `--files` slower, because every row is read
    Skill,
}

/// Says what your agents spent: tokens and cost, each response once
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer usage                               each day
  agent-tracer usage monthly --by model            each month, by model
  agent-tracer usage daily --since 7d --by project
  agent-tracer usage session --since 24h           each session with its subagents
  agent-tracer usage blocks --since 2d             windows of five hours; the open one with its forecast
  agent-tracer usage daily --files                 straight from the agents' files: no server, nothing stored
  agent-tracer usage --json | jq .total.costUsd

A response counts once, however many files, forks and channels tell of it. What only the client's own account knows
(compactions, the request behind a web search) is in the sums, and in RESIDUAL by itself. `≥$1.20` and `no price` mean
that a model has no price: its tokens count, its cost does not; `prices.toml` can give it one.")]
pub(crate) struct Usage {
    /// What each line is
    #[arg(value_enum, default_value_t = PeriodName::Daily)]
    pub(crate) period: PeriodName,
    /// Tell each line apart
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<ByName>,
    /// Only since then: a date, a time, or how long ago (`7d`, `24h`)
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Whose days: an IANA name such as `Europe/Berlin`, or `UTC`; this machine's unless given
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Only in a project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT", conflicts_with = "files")]
    pub(crate) project: Option<String>,
    /// Only this agent's
    #[arg(long, value_name = "AGENT", value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Read the agents' files instead of the ledger; or those in a folder
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    pub(crate) files: Option<Option<PathBuf>>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print a table for spreadsheets
    #[arg(long)]
    pub(crate) csv: bool,
}
