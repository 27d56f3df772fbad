//! The words of `policy` and `guard`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::{Args, Subcommand};

use super::agent;

/// Reads, tries and trusts the rules that act on what agents do
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy init             a file with ready rules, all commented out
  agent-tracer policy check            what is wrong with your rules and this project's
  agent-tracer policy test             do the rules do what the examples beside them say
  agent-tracer policy backtest         what they would have done in the last thirty days
  agent-tracer policy apply            put them in force where no server runs
  agent-tracer policy list             which rules are in force here
  agent-tracer policy schema           what editors need to complete and check the file
  agent-tracer policy trust .          let this project's rules also allow, rewrite and stop

Your rules are in `policy.toml` in the configuration folder, a project's in
`.agent-tracer/policy.toml` in its root. All keys: docs/policy.md.")]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Puts your rules and this project's in force now; a running server does it by itself within seconds
    Apply,
    Backtest(PolicyBacktest),
    Check(PolicyCheck),
    Test(PolicyTest),
    List(PolicyList),
    Trust(PolicyTrust),
    Init(PolicyInit),
    /// Prints the schema of the file, for editors that complete and check TOML
    #[command(after_help = "\
Examples:
  agent-tracer policy schema > policy.schema.json   beside the file; its first line is then
                                                    `#:schema ./policy.schema.json`")]
    Schema,
}

/// Reads rules and tells everything that is wrong, with line and column
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy check                  your rules and those of this project
  agent-tracer policy check draft.toml       a file that is not in force
  agent-tracer policy check --json | jq '.files[].faults'

Ends with 1 if anything is wrong. A rule that only one agent can carry out is noted, not refused.")]
pub(crate) struct PolicyCheck {
    /// A file, or the folder of a project
    pub(crate) path: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Tries the examples that stand beside the rules
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy test
  agent-tracer policy test draft.toml
  agent-tracer policy test --json | jq '.trials[] | select(.holds | not)'

Each `[[rule.example]]` is tried with all rules of its file and without a past. Ends with 1 if one
does not come out as it says, or if there is none.")]
pub(crate) struct PolicyTest {
    /// A file, or the folder of a project
    pub(crate) path: Option<PathBuf>,
    /// Print every trial as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Says what rules would have done over the recorded history
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy backtest draft.toml               the last thirty days
  agent-tracer policy backtest --since 7d --project .   the rules that are in force here, this week
  agent-tracer policy backtest draft.toml --json | jq '.rules[] | {name, decisions, notJudged}'

Replays the history, the newest tasks first: every call with what was known of it then, what was
spent, repeated, failed and read before. What was not kept cannot be judged, and is told by rule and
reason. Ctrl-C stops it and shows what was found.")]
pub(crate) struct PolicyBacktest {
    /// A file of rules, or the folder of a project; the rules that are in force here if none is named
    pub(crate) path: Option<PathBuf>,
    /// From when on: a date, a time, or how long ago (`7d`, `24h`)
    #[arg(long, value_name = "WHEN", default_value = "30d", allow_hyphen_values = true)]
    pub(crate) since: String,
    /// Only in a project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<String>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the rules that are in force here
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy list
  agent-tracer policy list --json | jq '.rules[] | select(.mode == \"dry_run\")'

A project's rule that allows, rewrites or stops is held back until the file is trusted.")]
pub(crate) struct PolicyList {
    /// Print the rules as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Trusts a project's rules as they are now, so that they may also allow, rewrite and stop
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy trust .                             the rules of this project
  agent-tracer policy trust work/.agent-tracer/policy.toml
  agent-tracer policy trust . --undo                      take it back

The hash of the file is remembered: after any change it is not trusted any more. Trusted or not,
a project never weakens what your own rules decide.")]
pub(crate) struct PolicyTrust {
    /// A project's file of rules, or its folder
    pub(crate) path: PathBuf,
    /// Trust it no longer
    #[arg(long)]
    pub(crate) undo: bool,
}

/// Writes a file with ready rules, all commented out
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer policy init               your own file
  agent-tracer policy init --project     this project's, shared with everybody who works on it
  agent-tracer policy init --print       only show it

Write only for named subagents, no raw echo into logs, a completion log, tests before the turn
ends, no recursive deletes, a budget. A file that is there is never touched.")]
pub(crate) struct PolicyInit {
    /// Write the project's file instead of yours
    #[arg(long)]
    pub(crate) project: bool,
    /// Print it and write nothing
    #[arg(long, conflicts_with = "project")]
    pub(crate) print: bool,
}

/// Answers one hook by the rules, without looking at the past
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo '{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"rm -rf x\"}}' |
    agent-tracer guard claude

Reads the event as the agent sends it on standard input and prints what the agent understands, or
nothing. This is what stands in when no server answers; a rule that looks at the past then does
what its `on_outage` says.")]
pub(crate) struct Guard {
    /// The agent that asks
    #[arg(value_parser = agent::parser())]
    pub(crate) agent: Agent,
    /// Called by the hook: the envelope of the event, empty if it is not recorded
    #[arg(long, hide = true, value_name = "ENVELOPE")]
    pub(crate) for_hook: Option<String>,
}
