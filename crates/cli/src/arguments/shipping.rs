//! The words of commands that bring what was recorded elsewhere.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Brings what was recorded here to a team's server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer ship --to https://tracer.example            until Ctrl-C
  agent-tracer ship --to https://tracer.example --once     what there is now
  agent-tracer ship --once --dry-run                       how much there is to send

The token is read from `ship.token` beside `privacy.conf`, or from `$AGENT_TRACER_SHIP_TOKEN`. What may
leave is said by `ship.toml` there: `level = \"metadata\"`, `projects = [\"~/code/**\"]`,
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

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenScopeName {
    /// Ship, under the owner's name
    Ingest,
    /// Ask and follow
    Read,
    /// Everything
    Admin,
}

/// Makes, lists and revokes the tokens of a team's server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer token --store clickhouse://tracer@db:8123/tracer add ann --scope ingest
  agent-tracer token --store clickhouse://tracer@db:8123/tracer add bob --scope read --days 90
  agent-tracer token --store clickhouse://tracer@db:8123/tracer list
  agent-tracer token --store clickhouse://tracer@db:8123/tracer rotate 1a2b3c4d
  agent-tracer token --store clickhouse://tracer@db:8123/tracer revoke 1a2b3c4d

A secret is shown once, when it is made; the store holds its hash. Every server refuses a revoked token
within seconds. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Token {
    /// The team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and prints its secret
    Add {
        /// The person or machine; what it ships stands under this name
        owner: String,
        /// What it allows
        #[arg(long, value_name = "SCOPE", default_value = "ingest")]
        scope: TokenScopeName,
        /// For how many days it holds; for ever if nothing is said
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
    },
    /// Lists the tokens that hold
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Makes a new secret for a token, and revokes the old one
    Rotate {
        /// The id, as `list` shows it
        id: String,
    },
    /// Revokes a token
    Revoke {
        /// The id, as `list` shows it
        id: String,
    },
}
