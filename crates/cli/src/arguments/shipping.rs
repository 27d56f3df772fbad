//! The words of commands that bring what was recorded elsewhere.

use std::path::PathBuf;

use clap::Args;

/// Brings what was recorded here to a team's server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer ship --to https://tracer.example            until Ctrl-C
  agent-tracer ship --to https://tracer.example --once     what there is now
  agent-tracer ship --once --dry-run                       how much there is to send

The token is read from `ship.token` beside `privacy.conf`, or from `$AGENT_TRACER_SHIP_TOKEN`. What may
leave is said by `ship.toml` there: `level = \"metadata\"`, `projects = [\"~/work/**\"]`,
`drop = [\"gitBranch\"]`. With a line `to = \"https://…\"` in it `serve` ships by itself. A policy that
is not understood lets nothing leave. Works beside a running server.")]
pub(crate) struct Ship {
    /// The server; what `ship.toml` says if none is named
    #[arg(long, value_name = "URL")]
    pub(crate) to: Option<String>,
    /// End when everything is there
    #[arg(long)]
    pub(crate) once: bool,
    /// What may leave, instead of `ship.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Say how much there is to send, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
