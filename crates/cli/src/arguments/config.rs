//! Defines the arguments of `config`.

use clap::{Args, Subcommand};

/// Shows and changes the settings in `config.toml`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config list                           every setting, its value and where it comes from
  agent-tracer config get retention.days
  agent-tracer config set retention.days 90          keep events for ninety days
  agent-tracer config set alerts.on.budget_usd 20
  agent-tracer config set ship.projects '~/code/**,/srv/app'
  agent-tracer config set 'prices.models.\"gpt-5.5\".input' 4
  agent-tracer config unset retention.days           back to the default
  agent-tracer config migrate                        move older settings files into `config.toml`

`set` and `unset` keep comments and order, and write nothing that would not be understood. A running
server reads the file by itself; prices and the team server count from its next start. What is recorded
and which rules hold is in `privacy.conf` and `policy.toml`: docs/privacy.md, docs/policy.md. All keys:
docs/config.md.")]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    List(ConfigList),
    Get(ConfigGet),
    Set(ConfigSet),
    Unset(ConfigUnset),
    Migrate(ConfigMigrate),
    /// Prints the path of `config.toml`
    #[command(after_help = "\
Examples:
  agent-tracer config path
  $EDITOR \"$(agent-tracer config path)\"")]
    Path,
}

/// Lists every setting with its value and source
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config list
  agent-tracer config list --json | jq '.settings[] | select(.source != \"default\")'

Sources: `default`, `config.toml`, or the name of an older file that is read because `config.toml` does
not have its table. Of addresses that may hold a secret only the host is shown.")]
pub(crate) struct ConfigList {
    /// Print JSON, with type, default, unit and meaning
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the value of a setting
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config get retention.days
  agent-tracer config get alerts.webhook          with its secrets
  agent-tracer config get ship.projects --json | jq -r '.value[]'

Prints nothing for a setting without value and default.")]
pub(crate) struct ConfigGet {
    /// Dotted key, as `config list` shows it
    pub(crate) key: String,
    /// Print JSON, with source, type, default, unit and meaning
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sets one or more settings
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config set retention.days 90
  agent-tracer config set ship.level metadata
  agent-tracer config set ship.drop gitBranch,command
  agent-tracer config set prices.models.ours.input 4 prices.models.ours.output 24
  agent-tracer config set alerts.webhook - < address.txt     keeps it out of the shell's history
  agent-tracer config set alerts.webhook '[{url = \"https://hooks.example/x\", format = \"slack\"}]'

A list is typed with commas, or in the form of TOML. All pairs are written, or none.")]
pub(crate) struct ConfigSet {
    /// Dotted key, as `config list` shows it, and its new value; the value `-` is read from standard input
    #[arg(value_names = ["KEY", "VALUE"], num_args = 2.., required = true, allow_negative_numbers = true)]
    pub(crate) pairs: Vec<String>,
}

/// Removes a setting, so that its default applies
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config unset retention.days
  agent-tracer config unset retention.dyas        also removes a misspelt key")]
pub(crate) struct ConfigUnset {
    /// Dotted key, as `config list` shows it
    pub(crate) key: String,
}

/// Moves the settings of older files into `config.toml`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer config migrate

Comments are kept. Each file is copied to the backups in the data folder, and removed. A file whose table
is in `config.toml` already is not read, and stays as it is.")]
pub(crate) struct ConfigMigrate {}
