//! The command line, as `clap` reads it.
//!
//! Law: every command has examples in its help, and the help is the reference: `docs/cli.md` is made from it.

mod agent;
mod alerts;
mod backup;
mod config;
mod context;
mod demo;
mod log;
mod maintenance;
mod policy;
mod query;
mod run;
mod service;
mod shipping;
mod up;
mod upgrade;
mod usage;

use std::path::PathBuf;

pub(crate) use alerts::{Alerts, AlertsCommand};
pub(crate) use backup::{
    Backup, BackupCommand, BackupCreate, BackupList, BackupRemove, BackupRestore, Recover,
};
pub(crate) use config::{Config, ConfigCommand, ConfigGet, ConfigList, ConfigSet, ConfigUnset};
pub(crate) use context::{Context, ContextCommand, ContextOn, ContextShow};
pub(crate) use demo::Demo;
pub(crate) use log::{LogFormatName, LogLevelName, LogOptions};
pub(crate) use maintenance::{Purge, Rebuild, Reread, Retain};
pub(crate) use policy::{
    Guard, Policy, PolicyBacktest, PolicyCheck, PolicyCommand, PolicyInit, PolicyList, PolicyTest,
    PolicyTrust,
};
pub(crate) use query::{
    Export, FormatName, Search, Show, StatusName, Tail, TaskKindName, TaskWords, Tasks, Tools,
};
pub(crate) use run::{Run, RunAgent};
pub(crate) use service::{Service, ServiceCommand, ServiceInstall, ServiceRemove, ServiceStatus};
pub(crate) use shipping::{Engine, Migrate, Ship, Team, TeamCommand, Token, TokenCommand, TokenScopeName};
pub(crate) use up::Up;
pub(crate) use upgrade::Upgrade;
pub(crate) use usage::{ByName, PeriodName, Usage};

use agent_tracer_event::Agent;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Records what your coding agents do, on your own machine
#[derive(Debug, Parser)]
#[command(
    name = "agent-tracer",
    version = env!("AGENT_TRACER_VERSION"),
    max_term_width = 100,
    after_help = "\
Examples:
  agent-tracer                     look at what is here, and choose the next step
  agent-tracer up                  record, read the history, open the dashboard; until Ctrl-C
  agent-tracer install claude      connect Claude Code
  agent-tracer install codex       connect Codex
  agent-tracer tasks               list their tasks
  agent-tracer tail                follow them live
  agent-tracer demo                try it with recorded sessions
  agent-tracer doctor              check the setup

Times (WHEN) are in the time zone of this machine: `2026-11-19`, `2026-11-19T10:00`, `10:00` (of
today), `today`, `yesterday`, how long ago (`30m`, `2h`, `7d`, `2w`), RFC 3339 or Unix milliseconds.
Where clocks go back, a time that occurs twice is the first; one that they skip is an hour later."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Holds the options of every command.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder for data and settings instead of the XDG directories (also `$AGENT_TRACER_HOME`)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

/// Lists the commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(Up),
    Serve(Serve),
    Install(Install),
    Uninstall(Uninstall),
    Service(Service),
    Run(Run),
    Doctor(Doctor),
    Import(Import),
    Tasks(Tasks),
    Show(Show),
    Tail(Tail),
    Search(Search),
    Tools(Tools),
    Usage(Usage),
    Export(Export),
    Policy(Policy),
    Guard(Guard),
    Config(Config),
    Context(Context),
    Alerts(Alerts),
    Backup(Backup),
    Recover(Recover),
    Rebuild(Rebuild),
    Reread(Reread),
    Retain(Retain),
    Purge(Purge),
    Ship(Ship),
    Token(Token),
    Team(Team),
    Migrate(Migrate),
    /// Prints the status line for a payload of Claude Code on standard input
    ///
    /// Claude Code calls the hook binary directly; this prints the same line, to try it out.
    #[command(after_help = "\
Examples:
  echo '{\"cost\": {\"total_cost_usd\": 0.25}}' | agent-tracer statusline")]
    Statusline,
    Upgrade(Upgrade),
    Demo(Demo),
    Completions(Completions),
    Manual(Manual),
}

/// Selects the settings of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// Your settings, for all projects
    User,
    /// Settings of this project, shared with its team
    Project,
    /// Settings of this project, for you alone (Claude Code only)
    Local,
}

/// Megabytes of the ledger that are checked per second unless another number is given.
const CHECK_RATE: u32 = 16;

/// Records what the agents do and shows it in the browser
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer serve                             at http://127.0.0.1:4747
  agent-tracer serve --listen 127.0.0.1:8080     at another address
  agent-tracer serve --home ~/tracer             with data and settings in one folder
  agent-tracer serve --store clickhouse://tracer@db:8123/tracer --name tracer.example
                                                 for a team, behind a proxy that speaks TLS
  agent-tracer serve --log-format json --log-level debug
                                                 with a log for programs, and refused requests in it

Nothing is lost while it is off: hooks write to the spool, agents to their own files, and the next
start reads both. The first start also imports the whole history, in the background.")]
pub(crate) struct Serve {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4747")]
    pub(crate) listen: std::net::SocketAddr,
    /// Megabytes of the ledger to check for damage per second in the background; 0 switches the check off
    #[arg(long, value_name = "MB", default_value_t = CHECK_RATE)]
    pub(crate) check_rate: u32,
    /// Serve a team from this ClickHouse store, `clickhouse://user@host:8123/database`
    ///
    /// The password is read from `$AGENT_TRACER_STORE_PASSWORD`. Every user needs a token then: see `token`.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Host name to accept besides the loopback ones; may be given more than once
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) name: Vec<String>,
    /// Header with the name of the user that the proxy authenticated; grants read access
    ///
    /// It counts only beside the secret of `$AGENT_TRACER_PROXY_SECRET`, sent as `X-Agent-Tracer-Proxy-Secret`.
    #[arg(long, value_name = "HEADER", requires = "store")]
    pub(crate) proxy_header: Option<String>,
    /// Address of the proxy; may be given more than once
    #[arg(long, value_name = "IP", requires = "proxy_header")]
    pub(crate) proxy_from: Vec<std::net::IpAddr>,
    /// Proxy user with admin rights; may be given more than once
    #[arg(long, value_name = "NAME", requires = "proxy_header")]
    pub(crate) admin: Vec<String>,
    /// Name of the store's cluster, as its servers configure it
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogOptions,
}

impl Serve {
    /// Returns the arguments of a server for this machine alone.
    pub(crate) fn at(listen: std::net::SocketAddr, log: LogOptions) -> Serve {
        Serve {
            listen,
            check_rate: CHECK_RATE,
            store: None,
            name: Vec::new(),
            proxy_header: None,
            proxy_from: Vec::new(),
            admin: Vec::new(),
            cluster: None,
            log,
        }
    }
}

/// Imports the history from the agents' own files
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer import                            the whole history of both agents
  agent-tracer import claude --since 30d         files that changed in the last thirty days
  agent-tracer import codex --dry-run            the amount to read
  agent-tracer import --path ~/backup/.claude    another home, or any folder with transcripts
  agent-tracer import --json | jq .rows

A second run reads new data only. `serve` imports by itself; run this only without a server.")]
pub(crate) struct Import {
    /// Agent to import; both by default
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Read this folder instead of the agents' homes; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,
    /// Only files that changed since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Print the amount to read, and read nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Connects an agent: registers the hook for its events
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer install claude --dry-run            show the change, and write nothing
  agent-tracer install claude                      all events, and the status line
  agent-tracer install codex                       all events; then accept them in Codex
  agent-tracer install claude --scope local        only this project, only for you
  agent-tracer install claude --tools Bash,Edit    tool events of these two tools alone
  agent-tracer install claude --print              a template for a team
  agent-tracer install claude --client-version 2.1.197    for this version, not the installed one

The version of the agent decides which events are registered, and how; `--print` and `--scope project`
fit every version. Then the agent is started for a moment, offline and in a temporary home, as a test.
All other settings stay as they are, and `uninstall` restores the file to the byte.
A second run changes nothing; after an update it updates our entries.")]
pub(crate) struct Install {
    /// Agent to connect
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Settings to change
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: ScopeName,
    /// Show the change as a unified diff and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print settings for a team, without any path of this machine, and write nothing
    #[arg(long, conflicts_with_all = ["dry_run", "scope"])]
    pub(crate) print: bool,
    /// Register only these events
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    /// Register tool events only for these tools (`=Name` for one that is not known here)
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Keep the status line of Claude Code as it is
    #[arg(long)]
    pub(crate) no_statusline: bool,
    /// Choose events and form for this version of the agent, instead of asking the one that is installed
    #[arg(long, value_name = "X.Y.Z")]
    pub(crate) client_version: Option<String>,
    /// Skip the test that starts the agent to see that it calls the hook
    #[arg(long)]
    pub(crate) no_verify: bool,
}

/// Disconnects an agent: undoes `install`, and keeps all other settings
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer uninstall claude --dry-run    show the change, and write nothing
  agent-tracer uninstall codex

Recorded data stays where it is.")]
pub(crate) struct Uninstall {
    /// Agent to disconnect
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Settings to change
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: ScopeName,
    /// Show the change as a unified diff and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Checks the setup and prints each problem with a fix
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer doctor
  agent-tracer doctor --brief    only the findings that need attention
  agent-tracer doctor --verify   also with a real call by each agent
  agent-tracer doctor --json | jq '.checks[] | select(.state == \"fail\")'

Exits with 1 if a check fails, else with 0. Changes nothing.")]
pub(crate) struct Doctor {
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the findings that need attention, and a summary
    #[arg(long, conflicts_with = "json")]
    pub(crate) brief: bool,
    /// Start each connected agent for a moment, offline and in a temporary home, to prove that it calls the hook
    #[arg(long, conflicts_with = "brief")]
    pub(crate) verify: bool,
}

/// Prints a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer completions bash > ~/.local/share/bash-completion/completions/agent-tracer
  agent-tracer completions zsh > ~/.zfunc/_agent-tracer
  agent-tracer completions fish > ~/.config/fish/completions/agent-tracer.fish")]
pub(crate) struct Completions {
    /// Shell to write the script for
    pub(crate) shell: clap_complete::Shell,
}

/// Writes the manual pages of all commands into a folder
#[derive(Debug, Args)]
#[command(
    hide = true,
    after_help = "\
Examples:
  agent-tracer manual ~/.local/share/man/man1"
)]
pub(crate) struct Manual {
    /// Folder for the pages; it has to exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
