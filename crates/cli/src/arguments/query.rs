//! Defines the arguments of `tasks`, `show`, `tail`, `search`, `tools` and `export`.

use std::path::PathBuf;

use agent_tracer_event::Agent;
use clap::{Args, ValueEnum};

use super::agent;

/// Filters by the status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StatusName {
    /// Works now
    Running,
    /// Needs an answer from a person
    Waiting,
    /// Ended
    Completed,
    /// Failed in its last turn
    Failed,
    /// Inactive past the timeout
    Abandoned,
}

/// Filters by the starter of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum TaskKindName {
    /// Started by a person
    Primary,
    /// Started by another task
    Background,
}

/// Selects tasks.
#[derive(Debug, Args, Default)]
pub(crate) struct TaskWords {
    /// Only tasks with one of these states
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) status: Vec<StatusName>,
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Only tasks of a project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only tasks with these words in the title or session
    #[arg(long, value_name = "WORDS")]
    pub(crate) q: Option<String>,
    /// Only tasks with an event since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only tasks that began before then
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Only tasks started by a person, or by another task
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<TaskKindName>,
    /// Only tasks with a failed call, their own or a subagent's
    #[arg(long)]
    pub(crate) failed_calls: bool,
}

/// Lists what your agents did, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer tasks                                  the newest twenty
  agent-tracer tasks --status running,waiting         what goes on just now
  agent-tracer tasks --project . --since 7d --tree    here, this week, with subagents below their parents
  agent-tracer tasks --q 'flaky test' --failed-calls
  agent-tracer tasks --json | jq -r '.items[].id'

The id at the end of a line is enough for `show`.")]
pub(crate) struct Tasks {
    #[command(flatten)]
    pub(crate) words: TaskWords,
    /// Number of tasks
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Continue an earlier answer: its `nextCursor`
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// Show subagents below the task that started them
    #[arg(long, conflicts_with = "kind")]
    pub(crate) tree: bool,
    /// Print the answer of the query API as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows one task: its numbers, turns, calls, files and subagents
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer show t7k2qf             by the beginning of its id
  agent-tracer show 5a13c0de-…         by what the agent calls its session
  agent-tracer show last               the task with the latest event
  agent-tracer show t7k2qf --all       every turn, call and file
  agent-tracer show last --json | jq .summary")]
pub(crate) struct Show {
    /// Task: the beginning of its id or of its session's, or `last`
    pub(crate) id: String,
    /// Show everything instead of the last ten of each
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the answers of the query API as JSON: task, summary, turns, toolCalls, files, tree
    #[arg(long)]
    pub(crate) json: bool,
}

/// Follows the agents' events live
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer tail
  agent-tracer tail --task t7k2qf                     one task and its subagents
  agent-tracer tail --lane user,questions,rule        only prompts, questions and rules
  agent-tracer tail --kind terminal.command --json | jq -r .title
  agent-tracer tail --lines 50 --no-follow            the last 50 events

Follows the running server, or the ledger itself without one. Ctrl-C ends it.")]
pub(crate) struct Tail {
    /// Only this task and its subagents: the beginning of its id or of its session's, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// Only these lanes of the timeline
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) lane: Vec<String>,
    /// Only these kinds of events
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) kind: Vec<String>,
    /// Number of past events to show first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) lines: u32,
    /// Print the past events, and exit
    #[arg(long)]
    pub(crate) no_follow: bool,
    /// Print each event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Searches all recorded text: prompts, answers, commands, files and more
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer search cargo test                     all of the words; the last may be incomplete
  agent-tracer search tool:Bash state:failed '>10s'  failed commands that took at least ten seconds
  agent-tracer search migration since:7d project:shop
  agent-tracer search kind:user.message deploy --json | jq -r '.items[].row.body'

Filters: tool: state: kind: agent: client: project: task: since: until: and >TIME (500ms,
10s, 2m, 1h). All other words are searched for; quotes make a filter a plain word: '\"tool:Bash\"'.")]
pub(crate) struct Search {
    /// Words to search for
    #[arg(required = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Number of hits
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Continue an earlier answer: its `nextCursor`
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// Print the answer of the query API as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows the calls, failures and durations of each tool
///
/// `P50`, `P95` and `P99` cover whole UTC days: with `--since` or `--until` inside a day they include that whole day,
/// while the counts and the total cover exactly the range.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer tools
  agent-tracer tools --since 7d --project .
  agent-tracer tools --json | jq '.items[] | select(.failures > 0)'")]
pub(crate) struct Tools {
    /// Only calls since then, such as `yesterday`, `2026-11-19T10:00` or `7d`
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only calls before then
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Only this project: its folder, any folder in it, or the last part of its path
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent::parser())]
    pub(crate) agent: Option<Agent>,
    /// Print the answer of the query API as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lists the formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// One JSON object per line: `{"task": …}`, then `{"event": …}` for each of its events
    Jsonl,
    /// A table for spreadsheets: one line per event
    Csv,
}

/// Exports tasks and their events for other programs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-tracer export --output history.jsonl                        all tasks
  agent-tracer export --format csv --since 30d --output month.csv   for a spreadsheet
  agent-tracer export --project . --tasks-only | jq -r .task.title

The file appears only when it is complete. In a table, a text that a spreadsheet would take for a
formula gets an apostrophe before it.")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) words: TaskWords,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: FormatName,
    /// Export tasks without their events
    #[arg(long)]
    pub(crate) tasks_only: bool,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Limit of tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}
