//! The words of `alerts`.

use clap::{Args, Subcommand};

/// Tells you when you should look: who waits, is stuck, loops, fails, was denied, or runs out of budget
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts show      what you are told of, and where
  agent-tracer alerts test      send one alert everywhere, and say whether it arrived

What you want is in `alerts.toml` in the configuration folder, never in a project: docs/alerts.md. A
running server watches and sends.")]
pub(crate) struct Alerts {
    #[command(subcommand)]
    pub(crate) command: AlertsCommand,
}

/// What to do about them.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertsCommand {
    Show(AlertsShow),
    Test(AlertsTest),
}

/// Shows what you are told of, and where
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts show
  agent-tracer alerts show --json | jq .webhooks")]
pub(crate) struct AlertsShow {
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sends one alert to the desktop and to every address, and says whether it arrived
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer alerts test
  agent-tracer alerts test --json | jq '.sent[] | select(.error)'

Ends with 1 if one did not arrive.")]
pub(crate) struct AlertsTest {
    /// Print what became of it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
