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
    /// The name of the cluster that the store is
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
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

/// Forgets people and projects, says how long a team keeps things, and who read what
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --person ann --dry-run
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --person ann --yes
  agent-tracer team --store clickhouse://tracer@db:8123/tracer forget --project /srv/app --yes
  agent-tracer team --store clickhouse://tracer@db:8123/tracer retention --days 180
  agent-tracer team --store clickhouse://tracer@db:8123/tracer audit --of ann --since 30d
  agent-tracer team --store clickhouse://tracer@db:8123/tracer sums

What is forgotten leaves no row in any table; a person's tokens go with them, so that their machines are
refused from then on. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Team {
    /// The team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// The name of the cluster that the store is
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    #[command(subcommand)]
    pub(crate) command: TeamCommand,
}

/// What to do with what a team keeps.
#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Deletes everything of a person or of a project, for good
    Forget {
        /// The person or machine, as their token names them
        #[arg(long, value_name = "OWNER", required_unless_present = "project")]
        person: Option<String>,
        /// The project, as tasks name it; with `--person` only what they did there
        #[arg(long, value_name = "PATH")]
        project: Option<String>,
        /// Say how much there is, and delete nothing
        #[arg(long)]
        dry_run: bool,
        /// Delete without being asked
        #[arg(long)]
        yes: bool,
        /// Print what was done as JSON
        #[arg(long)]
        json: bool,
    },
    /// Says or sets for how many days the team keeps things
    Retention {
        /// Let rows go so many days after they happened
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: Option<u32>,
        /// Keep everything
        #[arg(long, conflicts_with = "days")]
        forever: bool,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Says up to when days are added up, or lets them be added up anew
    Sums {
        /// Add up every day anew; answers stay right meanwhile, and slower
        #[arg(long)]
        rebuild: bool,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists who read whose sessions, the newest first
    Audit {
        /// Of this person's sessions; `*` is lists of everybody's
        #[arg(long, value_name = "OWNER")]
        of: Option<String>,
        /// By this person
        #[arg(long, value_name = "OWNER")]
        by: Option<String>,
        /// Since then: a date, a time, or how long ago (`7d`, `24h`)
        #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
        since: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
}

/// An engine that keeps what was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The ledger of this machine
    Sqlite,
    /// A team's store
    Clickhouse,
}

/// Copies everything that this machine recorded into a team's store, and proves that it is there
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer migrate --from sqlite --to clickhouse --store clickhouse://tracer@db:8123/tracer --owner ann
  agent-tracer migrate --from sqlite --to clickhouse --store clickhouse://tracer@db:8123/tracer --owner ann --json

A run that was interrupted goes on where it was; a second run copies what is new. Nothing is held back:
what should not leave as it is goes with `ship` and its policy. At the end both sides are counted and
compared, row by row. The password of the store is read from `$AGENT_TRACER_STORE_PASSWORD`.")]
pub(crate) struct Migrate {
    /// Where it is
    #[arg(long, value_name = "ENGINE")]
    pub(crate) from: Engine,
    /// Where it goes
    #[arg(long, value_name = "ENGINE")]
    pub(crate) to: Engine,
    /// The team's store
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// The name of the cluster that the store is
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// The person or machine under whose name it stands there
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: String,
    /// About so many events are copied at once, and remembered as copied: fewer for a store with little memory
    #[arg(long, value_name = "EVENTS", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) batch: u32,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
