//! The lists of one task: files, commands, exploration, permissions, todos, questions, context.

use agent_tracer_event::{CallState, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file and what was done with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUse {
    /// Its path.
    pub path: String,
    /// How often it was read.
    pub reads: u64,
    /// How often it was changed.
    pub changes: u64,
    /// Calls on it that failed.
    pub failures: u64,
    /// First touched.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Millis,
    /// Last touched.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// Who touched it.
    pub by: Vec<FileUser>,
}

/// A task that touched a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUser {
    /// The task.
    pub task_id: String,
    /// Its agent's type.
    pub agent_type: String,
    /// How often.
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
    /// What a person reads.
    pub title: String,
    /// The command as given, masked.
    pub command: String,
    /// Its gravest effect.
    pub effect: String,
    /// Whether the command line hides its own failure.
    pub failure_masked: bool,
    /// Where it stands.
    #[schema(value_type = String)]
    pub state: CallState,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The class of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// A look at something: a file, a search, a listing, a symbol, a tool, the web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exploration {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// What kind of look: the row's `subtypeKey`, such as `read_file` or `grep_code`.
    pub what: String,
    /// What a person reads.
    pub title: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The files.
    pub file_paths: Vec<String>,
    /// The first line read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many lines were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The pattern searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Where it searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// What it asked for: the output mode of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The files that a search was restricted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// Whether a search took capitals and small letters for the same, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    /// Whether the pattern of a search may match across lines, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiline: Option<bool>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub state: Option<CallState>,
}

/// A look-up in the web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebLookup {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// `web_search` or `web_fetch`.
    pub what: String,
    /// What a person reads.
    pub title: String,
    /// What was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What was asked of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The addresses.
    pub urls: Vec<String>,
    /// Their hosts.
    pub domains: Vec<String>,
    /// The domains that a search was limited to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// The domains that a search left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_domains: Vec<String>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub state: Option<CallState>,
}

/// A permission that was asked for.
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
    /// The call, where it could be joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The row of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What was asked for.
    pub title: String,
    /// `allowed`, `denied`, or absent while nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// How long the answer took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The input of the call in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_input_summary: Option<String>,
    /// How many new permission rules the client offered with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion_count: Option<u64>,
}

/// An item of a to-do list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// The agent's id of it.
    pub todo_id: String,
    /// The task.
    pub task_id: String,
    /// What is to do.
    pub subject: String,
    /// How urgent the agent calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Where it stands.
    pub state: String,
    /// How it got there, oldest first.
    pub history: Vec<TodoStep>,
}

/// One change of a to-do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TodoStep {
    /// The new state.
    pub state: String,
    /// When.
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
    /// What a person reads.
    pub title: String,
    /// The questions as asked.
    #[schema(value_type = Vec<Object>)]
    pub questions: Vec<serde_json::Value>,
    /// `asked`, `answered`, `declined`, `cancelled`.
    pub phase: String,
    /// How many answers were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_count: Option<u64>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// How long the answer took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// What a point of the context chart marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextPointKind {
    /// The use of the window at a moment.
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
    /// What it marks.
    pub kind: ContextPointKind,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// How full the window was, in percent.
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
    /// What the session cost so far, as the client says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Use of the five-hour limit, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub five_hour_used_pct: Option<f64>,
    /// Use of the seven-day limit, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seven_day_used_pct: Option<f64>,
    /// What a person reads at a mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The client said nothing of its window: this follows from what a response was asked with, and from its model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}
