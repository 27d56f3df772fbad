//! Defines the arguments of `policy` and `guard`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::{Args, Subcommand};

use super::agent;

/// Checks, tests and trusts the rules for agents' actions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy init             write a file with example rules, all commented out
  agent-tracer policy check            find faults in your rules and this project's
  agent-tracer policy test             run the examples beside the rules
  agent-tracer policy backtest         replay the last thirty days against the rules
  agent-tracer policy apply            put them in force without a server
  agent-tracer policy list             list the rules in force here
  agent-tracer policy schema           print the schema for editors
  agent-tracer policy trust .          permit this project's rules to allow, rewrite and stop

Your rules are in `policy.toml` in the configuration folder, a project's in
`.agent-tracer/policy.toml` in its root. All keys: docs/policy.md.")]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

/// Lists the subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Puts your rules and this project's in force now; a running server does so within seconds
    Apply,
    Backtest(PolicyBacktest),
    Check(PolicyCheck),
    Test(PolicyTest),
    List(PolicyList),
    Trust(PolicyTrust),
    Init(PolicyInit),
    /// Prints the JSON schema of the file, for editors that complete and check TOML
    #[command(after_help = "\
Examples:
  agent-tracer policy schema > policy.schema.json   beside the file; its first line is then
                                                    `#:schema ./policy.schema.json`")]
    Schema,
}

/// Checks rules and prints every fault with line and column
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy check                  your rules and those of this project
  agent-tracer policy check draft.toml       a draft that is not in force
  agent-tracer policy check --json | jq '.files[].faults'

Exits with 1 if a fault is found. A rule that only one agent can carry out gets a note, not a fault.")]
pub(crate) struct PolicyCheck {
    /// Policy file, or project folder
    pub(crate) path: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the examples beside the rules
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy test
  agent-tracer policy test draft.toml
  agent-tracer policy test --json | jq '.trials[] | select(.holds | not)'

Each `[[rule.example]]` is run against all rules of its file, without a history. Exits with 1 if one has
another outcome than stated, or if there is none.")]
pub(crate) struct PolicyTest {
    /// Policy file, or project folder
    pub(crate) path: Option<PathBuf>,
    /// Print every run as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Replays the recorded history against rules
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy backtest draft.toml               the last thirty days
  agent-tracer policy backtest --since 7d --project .   the rules in force here, over the last week
  agent-tracer policy backtest draft.toml --json | jq '.rules[] | {name, decisions, notJudged}'

Replays the history, the newest tasks first: every call with the usage, repetitions, failures and reads
before it. Calls without enough data are not judged, and are counted by rule and reason. Ctrl-C stops
the replay and prints the findings so far.")]
pub(crate) struct PolicyBacktest {
    /// Policy file, or project folder; the rules in force here by default
    pub(crate) path: Option<PathBuf>,
    /// Only events since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
    #[arg(long, value_name = "WHEN", default_value = "30d", allow_hyphen_values = true)]
    pub(crate) since: String,
    /// Only this project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the rules in force here
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy list
  agent-tracer policy list --json | jq '.rules[] | select(.mode == \"dry_run\")'

A project's rule that allows, rewrites or stops is not in force until the file is trusted.")]
pub(crate) struct PolicyList {
    /// Print the rules as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Trusts a project's present rules, so that they may also allow, rewrite and stop
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy trust .                             the rules of this project
  agent-tracer policy trust work/.agent-tracer/policy.toml
  agent-tracer policy trust . --undo                      withdraw the trust

The trust holds for the file's present hash: any change ends it. Trusted or not, a project's rules never
weaken a decision of your own rules.")]
pub(crate) struct PolicyTrust {
    /// Policy file of a project, or its folder
    pub(crate) path: PathBuf,
    /// Withdraw the trust
    #[arg(long)]
    pub(crate) undo: bool,
}

/// Writes a file with example rules, all commented out
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy init               your own file
  agent-tracer policy init --project     this project's file, shared with its team
  agent-tracer policy init --print       print it

The examples: writes for named subagents only, no raw echo into logs, a completion log, tests before the
turn ends, no recursive deletes, a budget. An existing file is never overwritten.")]
pub(crate) struct PolicyInit {
    /// Write the project's file instead of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Print the file, and write nothing
    #[arg(long, conflicts_with = "project")]
    pub(crate) print: bool,
}

/// Decides one hook event by the rules, without the history
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"rm -rf x\"}}' |
    agent-tracer guard claude

Reads the agent's event on standard input and prints the decision in the agent's format, or nothing. The
hook calls this when no server answers; a rule that needs the history then follows its `on_outage`.")]
pub(crate) struct Guard {
    /// Agent that sends the event
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Called by the hook: the envelope of the event, empty if it is not recorded
    #[arg(long, hide = true, value_name = "ENVELOPE")]
    pub(crate) for_hook: Option<String>,
}
