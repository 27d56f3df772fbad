//! The lists of one task: files, commands, exploration, permissions, todos, questions, context.

use agent_tracer_event::{CallState, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Use of one file in a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUse {
    /// Its path.
    pub path: String,
    /// Number of reads.
    pub reads: u64,
    /// Number of changes.
    pub changes: u64,
    /// Failed calls on the file.
    pub failures: u64,
    /// Time of the first use.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Millis,
    /// Time of the last use.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// Tasks that used the file.
    pub by: Vec<FileUser>,
}

/// A task that used a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUser {
    /// The task.
    pub task_id: String,
    /// Type of the agent.
    pub agent_type: String,
    /// Number of uses.
    pub count: u64,
}

/// A shell command that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandRun {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Display title.
    pub title: String,
    /// The command line, with secrets masked.
    pub command: String,
    /// Gravest effect of the command.
    pub effect: String,
    /// True if the command line hides its own failure.
    pub failure_masked: bool,
    /// Current state.
    pub state: CallState,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Class of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// Start time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// One step of exploration: a file read, a search, a listing, a symbol, a tool, the web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exploration {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// The row's `subtypeKey`, such as `read_file` or `grep_code`.
    pub what: String,
    /// Display title.
    pub title: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The files.
    pub file_paths: Vec<String>,
    /// First line that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Number of lines that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Search pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Folder or file that was searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Output mode of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// File pattern that a search was restricted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// True if a search ignored case; absent where the call does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    /// True if the pattern could match across lines; absent where the call does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiline: Option<bool>,
    /// Time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Current state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
}

/// A web search or a fetched page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebLookup {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// `web_search` or `web_fetch`.
    pub what: String,
    /// Display title.
    pub title: String,
    /// Search terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Question about the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The addresses.
    pub urls: Vec<String>,
    /// Hosts of the addresses.
    pub domains: Vec<String>,
    /// The domains that a search was limited to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// The domains that a search excluded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_domains: Vec<String>,
    /// Time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Current state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
}

/// A permission prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's own id of the call, where the prompt could be joined to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Id of the call's row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Display title of the request.
    pub title: String,
    /// `allowed` or `denied`; absent while unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Time of the question.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Time until the answer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The input of the call in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input_summary: Option<String>,
    /// Number of new permission rules that the client offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion_count: Option<u64>,
}

/// An item of a to-do list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// The agent's own id of the item.
    pub todo_id: String,
    /// The task.
    pub task_id: String,
    /// Text of the item.
    pub subject: String,
    /// Priority, as the agent states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Current state.
    pub state: String,
    /// Changes of state, oldest first.
    pub history: Vec<TodoStep>,
}

/// One change of state of a to-do item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TodoStep {
    /// The new state.
    pub state: String,
    /// Time.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// The row's id.
    pub id: String,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Display title.
    pub title: String,
    /// The questions, as the agent put them.
    #[schema(value_type = Vec<Object>)]
    pub questions: Vec<serde_json::Value>,
    /// `asked`, `answered`, `declined`, `cancelled`.
    pub phase: String,
    /// Number of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_count: Option<u64>,
    /// Time of the question.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Time until the answer, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Kind of a point of the context chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextPointKind {
    /// Use of the context window.
    Snapshot,
    /// The context was compacted.
    Compaction,
    /// Another model took over.
    ModelSwitch,
}

/// A point of the context chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextPoint {
    /// The row's id.
    pub id: String,
    /// Kind of the point.
    pub kind: ContextPointKind,
    /// Time.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// Used part of the window, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_pct: Option<f64>,
    /// Tokens in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// The size of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_size: Option<u64>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Cost of the session so far, as the client reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Use of the five-hour limit, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub five_hour_used_pct: Option<f64>,
    /// Use of the seven-day limit, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seven_day_used_pct: Option<f64>,
    /// Display title of a mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// True if the value was derived from a response's input tokens and its model, because the client did not report it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}
