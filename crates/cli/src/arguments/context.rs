//! Defines the arguments of `context`.

use clap::{Args, Subcommand};

/// Adds a summary of the project's recent history to the context of new sessions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context show                     the summary for a session started here
  agent-tracer context on                       add it to new sessions
  agent-tracer context on --budget-usd 20       with the rest of the day's budget
  agent-tracer context on --export-task         and pass the task id to the agent's shells
  agent-tracer context off

Off by default. A running server keeps the summary up to date; the hook reads one file and never
waits. It holds fixed words, counts and plain names, and never text of a prompt, a command or a result:
docs/context.md.")]
pub(crate) struct Context {
    #[command(subcommand)]
    pub(crate) command: ContextCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    On(ContextOn),
    /// Stops adding the summary, at once
    Off,
    Show(ContextShow),
}

/// Adds the summary to the context of new sessions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context on
  agent-tracer context on --bytes 800 --budget-usd 20")]
pub(crate) struct ContextOn {
    /// Daily budget in dollars; the rest of it is part of the summary
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) budget_usd: Option<f64>,
    /// Limit of the summary in bytes: 200 to 8192
    #[arg(long, value_name = "COUNT")]
    pub(crate) bytes: Option<usize>,
    /// Write `export AGENT_TRACER_TASK=…` where Claude Code's shells read it
    #[arg(long)]
    pub(crate) export_task: bool,
}

/// Shows the summary that a session started here would get
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context show
  agent-tracer context show --json | jq .bytes")]
pub(crate) struct ContextShow {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
