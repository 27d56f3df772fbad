//! Defines the arguments of `alerts`.

use clap::{Args, Subcommand};

/// Sends alerts when an agent waits, is stuck, loops, fails, is denied, or runs out of budget
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts show      the alerts that are on, and where they are sent
  agent-tracer alerts test      send a test alert everywhere, and print the results

What you want is in the table `[alerts]` of `config.toml`, never in a project: docs/alerts.md. A running
server watches and sends.")]
pub(crate) struct Alerts {
    #[command(subcommand)]
    pub(crate) command: AlertsCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertsCommand {
    Show(AlertsShow),
    Test(AlertsTest),
}

/// Shows which alerts are on and where they are sent
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts show
  agent-tracer alerts show --json | jq .webhooks")]
pub(crate) struct AlertsShow {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sends a test alert to the desktop and to every webhook, and prints the results
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts test
  agent-tracer alerts test --json | jq '.sent[] | select(.error)'

Exits with 1 if one did not arrive.")]
pub(crate) struct AlertsTest {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
