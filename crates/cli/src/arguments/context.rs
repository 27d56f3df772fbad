//! The words of `context`.

use clap::{Args, Subcommand};

/// Says what agents are told when they begin: counts of what happened in their project before
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context show                     what an agent that begins here would be told
  agent-tracer context on                       tell it, from now on
  agent-tracer context on --budget-usd 20       and what is left of the day's budget
  agent-tracer context on --export-task         and name the session to the agent's shells
  agent-tracer context off

Off unless you switch it on. A running server keeps the text fresh; the hook reads one file and waits
for nobody. Only our words, counts and plain names are told, never a text of a prompt, a command or a
result: docs/context.md.")]
pub(crate) struct Context {
    #[command(subcommand)]
    pub(crate) command: ContextCommand,
}

/// What to do about it.
#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    On(ContextOn),
    /// Tells agents nothing any more, at once
    Off,
    Show(ContextShow),
}

/// Tells agents that begin what happened in their project before
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context on
  agent-tracer context on --bytes 800 --budget-usd 20")]
pub(crate) struct ContextOn {
    /// What a day may cost, in dollars; what is left of it is told
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) budget_usd: Option<f64>,
    /// The longest text, in bytes: 200 to 8192
    #[arg(long, value_name = "COUNT")]
    pub(crate) bytes: Option<usize>,
    /// Write `export AGENT_TRACER_TASK=…` where Claude Code's shells read it
    #[arg(long)]
    pub(crate) export_task: bool,
}

/// Shows what an agent that begins here would be told
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer context show
  agent-tracer context show --json | jq .bytes")]
pub(crate) struct ContextShow {
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
