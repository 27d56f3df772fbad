//! Defines the arguments of `ship`, `token`, `team` and `migrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::LogOptions;

/// Sends this machine's records to a team's server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer ship --to https://tracer.example            until Ctrl-C
  agent-tracer ship --to https://tracer.example --once     the present backlog
  agent-tracer ship --once --dry-run                       print the size of the backlog

The token is read from `ship.token` beside `privacy.conf`, or from `$AGENT_TRACER_SHIP_TOKEN`. The table
`[ship]` of `config.toml` selects what may leave: `level = \"metadata\"`, `projects = [\"~/code/**\"]`,
`drop = [\"gitBranch\"]`. With `to = \"https://…\"` in it `serve` ships by itself. A policy that is not
understood lets nothing leave. Works beside a running server.")]
pub(crate) struct Ship {
    /// Server to send to; by default that of `ship.to`
    #[arg(long, value_name = "URL")]
    pub(crate) to: Option<String>,
    /// Exit when the backlog is sent
    #[arg(long)]
    pub(crate) once: bool,
    /// File with the keys of `[ship]` to use instead of that table
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Print the size of the backlog, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) log: LogOptions,
}

/// Lists the rights that a token can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenScopeName {
    /// Ship records under the owner's name
    Ingest,
    /// Query and follow
    Read,
    /// All rights
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

A secret is shown once, when it is made; the store keeps only its hash. Every server refuses a revoked
token within seconds. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Token {
    /// URL of the team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// Name of the store's cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and prints its secret
    Add {
        /// Person or machine that owns the shipped records
        owner: String,
        /// Rights of the token
        #[arg(long, value_name = "SCOPE", default_value = "ingest")]
        scope: TokenScopeName,
        /// Days until it expires; never by default
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
        days: Option<u32>,
    },
    /// Lists the valid tokens
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Makes a new secret for a token, and revokes the old one
    Rotate {
        /// Id, as `list` shows it
        id: String,
    },
    /// Revokes a token
    Revoke {
        /// Id, as `list` shows it
        id: String,
    },
}

/// Deletes people and projects, sets the retention of a team's store, and shows its access log
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --person ann --dry-run
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --person ann --yes
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --project /srv/app --yes
  agent-tracer team --store clickhouse://tracer@db:8123/tracer retention --days 180
  agent-tracer team --store clickhouse://tracer@db:8123/tracer audit --of ann --since 30d
  agent-tracer team --store clickhouse://tracer@db:8123/tracer sums

A deletion leaves no row in any table; a person's tokens go too, so that their machines are refused from
then on. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Team {
    /// URL of the team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// Name of the store's cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    #[command(subcommand)]
    pub(crate) command: TeamCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Deletes all records of a person or a project, for good
    Forget {
        /// Person or machine, as their token names them
        #[arg(long, value_name = "OWNER", required_unless_present = "project")]
        person: Option<String>,
        /// Project, as tasks name it; with `--person` only their records in it
        #[arg(long, value_name = "PATH")]
        project: Option<String>,
        /// Print the number of records, and delete nothing
        #[arg(long)]
        dry_run: bool,
        /// Skip the confirmation
        #[arg(long)]
        yes: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows or sets the retention of the store in days
    Retention {
        /// Delete rows this many days after their event
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: Option<u32>,
        /// Keep rows forever
        #[arg(long, conflicts_with = "days")]
        forever: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows the last summed day, or requests new sums
    Sums {
        /// Sum every day again; answers stay correct meanwhile, but slower
        #[arg(long)]
        rebuild: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists accesses to the sessions of other people, the newest first
    Audit {
        /// Only accesses to this person's sessions; `*` selects lists of all owners
        #[arg(long, value_name = "OWNER")]
        of: Option<String>,
        /// Only accesses by this person
        #[arg(long, value_name = "OWNER")]
        by: Option<String>,
        /// Only accesses since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
        #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
        since: Option<String>,
        /// Limit of entries
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Lists the storage engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// Ledger of this machine
    Sqlite,
    /// Store of a team
    Clickhouse,
}

/// Copies all records of this machine into a team's store, and verifies the copy
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer migrate --from sqlite --to clickhouse --store clickhouse://tracer@db:8123/tracer --owner ann
  agent-tracer migrate --from sqlite --to clickhouse --store clickhouse://tracer@db:8123/tracer --owner ann --json

An interrupted run continues where it was; a second run copies new records. Records go unfiltered: to
filter them by a policy, use `ship`. At the end both sides are counted and compared, row by row. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Migrate {
    /// Source engine
    #[arg(long, value_name = "ENGINE")]
    pub(crate) from: Engine,
    /// Target engine
    #[arg(long, value_name = "ENGINE")]
    pub(crate) to: Engine,
    /// URL of the team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// Name of the store's cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// Person or machine that owns the copied records there
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: String,
    /// Events in one copied batch; use fewer for a store with little memory
    #[arg(long, value_name = "EVENTS", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) batch: u32,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
