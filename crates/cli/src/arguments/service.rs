//! Defines the arguments of `service`.

use clap::{Args, Subcommand};

/// Runs the server always: as a service of your user
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer service install --dry-run    show the file and the commands, and do nothing
  agent-tracer service install              start it now, and at each login
  agent-tracer service status
  agent-tracer service remove

On Linux it is a user unit of systemd, on macOS an agent of launchd. It needs no root, and nothing is
lost while it is off.")]
pub(crate) struct Service {
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

/// Lists the commands.
#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    Install(ServiceInstall),
    Status(ServiceStatus),
    Remove(ServiceRemove),
}

/// Writes the service, starts it now, and has it started at each login
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer service install
  agent-tracer service install --listen 127.0.0.1:8080
  agent-tracer service install --home ~/tracer

A second run brings the service up to date and restarts it. Variables that move an agent's home or the
data are written into it, because a service does not see those of your shell.")]
pub(crate) struct ServiceInstall {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4747")]
    pub(crate) listen: std::net::SocketAddr,
    /// Show the file and the commands, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Tells whether the service is installed, enabled and running, and where its log is
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer service status
  agent-tracer service status --json | jq .running")]
pub(crate) struct ServiceStatus {
    /// Print the status as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Stops the service and removes it: undoes `install`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer service remove --dry-run
  agent-tracer service remove

Recorded data stays where it is.")]
pub(crate) struct ServiceRemove {
    /// Show what would be removed, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
