//! The command line, as `clap` reads it.
//!
//! Law: every command has examples in its help, and the help is the reference: `docs/cli.md` is made from it.

mod agent;
mod alerts;
mod asking;
mod backup;
mod context;
mod demo;
mod policy;
mod shipping;
mod spending;
mod tending;

use std::path::PathBuf;

pub(crate) use alerts::{Alerts, AlertsCommand};
pub(crate) use asking::{
    Export, FormatName, Search, Show, StatusName, Tail, TaskKindName, TaskWords, Tasks, Tools,
};
pub(crate) use backup::{
    Backup, BackupCommand, BackupCreate, BackupList, BackupRemove, BackupRestore, Recover,
};
pub(crate) use context::{Context, ContextCommand, ContextOn, ContextShow};
pub(crate) use demo::Demo;
pub(crate) use policy::{
    Guard, Policy, PolicyBacktest, PolicyCheck, PolicyCommand, PolicyInit, PolicyList, PolicyTest,
    PolicyTrust,
};
pub(crate) use shipping::{Engine, Migrate, Ship, Team, TeamCommand, Token, TokenCommand, TokenScopeName};
pub(crate) use spending::{ByName, PeriodName, Usage};
pub(crate) use tending::{Purge, Rebuild, Reread, Retain};

use agent_tracer_event::Agent;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Records what your coding agents do, on your own machine
#[derive(Debug, Parser)]
#[command(
    name = "agent-tracer",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  agent-tracer serve               record and show, until Ctrl-C
  agent-tracer install claude      connect Claude Code
  agent-tracer install codex       connect Codex
  agent-tracer tasks               what they did
  agent-tracer tail                what they do
  agent-tracer demo                see it with recorded sessions
  agent-tracer doctor              see whether all is well"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Keep everything in this folder instead of the XDG directories (also `$AGENT_TRACER_HOME`)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Install(Install),
    Uninstall(Uninstall),
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
    /// Prints the status line for what Claude Code sends on standard input
    ///
    /// Claude Code calls the hook binary directly; this is the same, for trying it out.
    #[command(after_help = "\
Examples:
  echo '{\"cost\": {\"total_cost_usd\": 0.25}}' | agent-tracer statusline")]
    Statusline,
    Demo(Demo),
    Completions(Completions),
}

/// Whose settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    /// Yours, for all projects
    User,
    /// This project's, shared with everybody who works on it
    Project,
    /// This project's, for you alone (Claude Code only)
    Local,
}

/// Reads what the agents do, keeps it, and shows it in the browser
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer serve                             at http://127.0.0.1:4747
  agent-tracer serve --listen 127.0.0.1:8080     somewhere else
  agent-tracer serve --home ~/tracer             with everything in one folder
  agent-tracer serve --store clickhouse://tracer@db:8123/tracer --name tracer.example
                                                 a team's, behind a proxy that speaks TLS

While it is off nothing is lost: hooks write to the spool, agents to their own files, and the next
start reads both. The first start also reads the whole history, in the background.")]
pub(crate) struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4747")]
    pub(crate) listen: std::net::SocketAddr,
    /// Megabytes of the ledger that are looked through for damage in a second, beside everything else; 0: none
    #[arg(long, value_name = "MB", default_value_t = 16)]
    pub(crate) check_rate: u32,
    /// Serve a team: what machines ship to this ClickHouse, `clickhouse://user@host:8123/database`
    ///
    /// The password is read from `$AGENT_TRACER_STORE_PASSWORD`. Everybody needs a token then: see `token`.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A name under which it may be called besides the loopback ones; may be given more than once
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) name: Vec<String>,
    /// The header in which a proxy names whom it let in; they may read
    ///
    /// It counts only with the secret of `$AGENT_TRACER_PROXY_SECRET`, sent as `X-Agent-Tracer-Proxy-Secret`.
    #[arg(long, value_name = "HEADER", requires = "store")]
    pub(crate) proxy_header: Option<String>,
    /// An address that the proxy may have; may be given more than once
    #[arg(long, value_name = "IP", requires = "proxy_header")]
    pub(crate) proxy_from: Vec<std::net::IpAddr>,
    /// Somebody whom the proxy may name and who may change things; may be given more than once
    #[arg(long, value_name = "NAME", requires = "proxy_header")]
    pub(crate) admin: Vec<String>,
    /// The name of the cluster that the store is, in the configuration of its servers
    #[arg(long, value_name = "NAME", requires = "store")]
    pub(crate) cluster: Option<String>,
}

/// Reads the history that the agents keep of themselves
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer import                            everything of both agents
  agent-tracer import claude --since 30d         files that changed in the last thirty days
  agent-tracer import codex --dry-run            how much there is to read
  agent-tracer import --path ~/backup/.claude    another home, or any folder with transcripts
  agent-tracer import --json | jq .rows

A second run reads only what is new. `serve` does this by itself; run it without a server.")]
pub(crate) struct Import {
    /// The agent; both if none is named
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Read this folder instead of the agents' homes; may be given more than once
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,
    /// Only files that changed since then: a date, a time, or how long ago (`7d`, `24h`)
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Say how much there is to read, and read nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Connects an agent: registers the hook for its events
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer install claude --dry-run            show what would change, and change nothing
  agent-tracer install claude                      all events, and the status line
  agent-tracer install codex                       all events; then accept them in Codex
  agent-tracer install claude --scope local        only this project, only for you
  agent-tracer install claude --tools Bash,Edit    tool events of these two tools alone
  agent-tracer install claude --print              a template for a team
  agent-tracer install claude --client-version 2.1.197    for this version, whatever is installed here

The version of the agent decides which events are registered, and how; `--print` and `--scope project`
are for every version. Then the agent is started for a moment, offline and in a temporary home, to try it.
Everything else in the settings stays as it is, and `uninstall` undoes it to the byte.
A second run changes nothing; after an update it brings our entries up to date.")]
pub(crate) struct Install {
    /// The agent to connect
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Whose settings to change
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
    /// Leave the status line of Claude Code alone
    #[arg(long)]
    pub(crate) no_statusline: bool,
    /// Choose events and form for this version of the agent, instead of asking the one that is installed
    #[arg(long, value_name = "X.Y.Z")]
    pub(crate) client_version: Option<String>,
    /// Do not start the agent for a moment to see whether it calls the hook
    #[arg(long)]
    pub(crate) no_verify: bool,
}

/// Disconnects an agent: undoes `install`, and leaves everything else as it is
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer uninstall claude --dry-run    show what would change, and change nothing
  agent-tracer uninstall codex

What was recorded stays where it is.")]
pub(crate) struct Uninstall {
    /// The agent to disconnect
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Whose settings to change
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(crate) scope: ScopeName,
    /// Show the change as a unified diff and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Looks at everything and says what is right, what is not, and how to fix it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer doctor
  agent-tracer doctor --brief    only what needs your attention
  agent-tracer doctor --verify   with a real call by each agent
  agent-tracer doctor --json | jq '.checks[] | select(.state == \"fail\")'

Ends with 1 if something fails, else with 0. Changes nothing.")]
pub(crate) struct Doctor {
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only what needs attention, and a summary
    #[arg(long, conflicts_with = "json")]
    pub(crate) brief: bool,
    /// Start each connected agent for a moment, offline and in a temporary home, to see whether it calls the hook
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
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
