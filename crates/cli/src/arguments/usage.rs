//! Defines the arguments of `usage`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::{Args, ValueEnum};

use super::agent;

/// Lists the periods of a usage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PeriodName {
    /// One line per day
    Daily,
    /// One line per week, from Monday
    Weekly,
    /// One line per month
    Monthly,
    /// One line per session, with its subagents
    Session,
    /// One line per window of five hours, as the clients count them
    Blocks,
}

/// Lists the groupings within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByName {
    /// By the model that answered
    Model,
    /// By project
    Project,
    /// By agent
    Agent,
    /// By skill; slower with `--files`, because every row is read
    Skill,
}

/// Reports tokens and cost, each response counted once
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer usage                               by day
  agent-tracer usage monthly --by model            by month and model
  agent-tracer usage daily --since 7d --by project
  agent-tracer usage session --since 24h           by session with its subagents
  agent-tracer usage blocks --since 2d             windows of five hours; the open one with its forecast
  agent-tracer usage daily --files                 straight from the agents' files: no server, nothing stored
  agent-tracer usage --json | jq .total.costUsd

A response counts once, in however many files, forks and channels it occurs. Usage that only the client's own account
records (compactions, the request behind a web search) is part of the sums, and shown as RESIDUAL. `≥$1.20` and
`no price` mean that a model has no price: its tokens count, its cost does not; the table
`[prices]` of `config.toml` can add one.")]
pub(crate) struct Usage {
    /// Period of each line
    #[arg(value_enum, default_value_t = PeriodName::Daily)]
    pub(crate) period: PeriodName,
    /// Group within each line
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<ByName>,
    /// Only usage since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only usage before then
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Time zone for days and times: an IANA name such as `Europe/Berlin`, or an offset; this machine's by default
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Only this project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT", conflicts_with = "files")]
    pub(crate) project: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Read the agents' files, or those in a folder, instead of the ledger
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    pub(crate) files: Option<Option<PathBuf>>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV for spreadsheets
    #[arg(long)]
    pub(crate) csv: bool,
}
