//! Numbers over many tasks, each of which opens the rows behind it.

use agent_tracer_event::schema::AgentId;
use agent_tracer_event::{Agent, Millis, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Row, UsageView, WaitingReason};
use crate::project::forecast::ForecastConfidence;

/// Calls, failures and durations of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolStat {
    /// The tool.
    pub tool: String,
    /// Calls.
    pub count: u64,
    /// Calls that failed or were denied.
    pub failures: u64,
    /// Half of the calls took at most this long, within 1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// 95 of 100 calls took at most this long, within 1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// 99 of 100 calls took at most this long, within 1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Total duration in milliseconds.
    pub total_ms: u64,
}

/// Durations of one tool's calls, counted at the requested bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDurations {
    /// The tool.
    pub tool: String,
    /// Calls with a known duration.
    pub count: u64,
    /// Total duration in milliseconds.
    pub total_ms: u64,
    /// Calls that took at most as long as each bound, within 2 %, in the order of the request.
    pub at_most: Vec<u64>,
}

/// Failures of one class at one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureStat {
    /// The class.
    pub error_class: String,
    /// The tool.
    pub tool: String,
    /// Number of failures.
    pub count: u64,
    /// Number of all calls of the tool.
    pub calls: u64,
}

/// Usage of one group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBucket {
    /// The group: a day, a model, a project, …
    pub key: String,
    /// Display name, where the key is an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Owner of the task, where a team's server groups by task; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Usage.
    pub usage: UsageView,
}

/// A window of five hours, as the clients count them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBlock {
    /// Start of the window: the full hour before its first response.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// End of the window.
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Millis,
    /// Last use in the window, to the quarter-hour.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// True while the window is open.
    pub is_active: bool,
    /// Projection to the end of the window, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<BlockForecast>,
    /// Usage in the window.
    pub usage: UsageView,
}

/// Rate at which a window fills, from its first response on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockForecast {
    /// Tokens per minute.
    pub tokens_per_minute: f64,
    /// US dollars per hour; absent where a response has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_hour_usd: Option<f64>,
    /// Projected tokens at the end of the window.
    pub tokens: u64,
    /// Projected cost at the end of the window; absent where a response has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

words! {
    /// The window over which a rate limit counts.
    LimitWindow {
        /// Five hours.
        FiveHour = "five_hour",
        /// Seven days.
        SevenDay = "seven_day",
    }
}

/// Use of a rate limit of an agent's account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// Owner of the account, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The agent.
    #[schema(value_type = AgentId)]
    pub agent: Agent,
    /// The window of the limit.
    #[schema(value_type = LimitWindow)]
    pub window: String,
    /// Used part of the limit, in percent.
    pub used_pct: f64,
    /// Time of the observation.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// Time of the reset, where the client reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub resets_at: Option<Millis>,
    /// Projection of the recent use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<LimitForecast>,
}

/// Linear projection of the recent use of a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitForecast {
    /// Percent per hour.
    pub pct_per_hour: f64,
    /// Time at which the limit is reached; absent if it resets before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub full_at: Option<Millis>,
    /// Projected use at the reset, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pct_at_reset: Option<f64>,
    /// Confidence in the projection.
    #[schema(value_type = ForecastConfidence)]
    pub certainty: String,
    /// Number of observations behind the projection.
    pub points: u64,
}

/// Use of one file over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileStat {
    /// Its path.
    pub path: String,
    /// The project.
    pub project: String,
    /// Number of reads.
    pub reads: u64,
    /// Number of changes.
    pub changes: u64,
}

/// Use of one skill over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillStat {
    /// Its name.
    pub skill: String,
    /// Number of activations.
    pub count: u64,
    /// Activations that failed.
    pub failures: u64,
    /// Usage of the responses from its activation to the end of the turn.
    pub usage: UsageView,
    /// Share of the total cost, from 0 to 1; absent where nothing has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_share: Option<f64>,
}

/// Use of one tool of an MCP server over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpStat {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Calls.
    pub count: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Total duration in milliseconds.
    pub total_ms: u64,
}

/// Activity of one type of agent over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStat {
    /// The type, `main` for the main agent.
    pub agent_type: String,
    /// Tasks.
    pub tasks: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Time spent in tool calls, in milliseconds.
    pub tool_ms: u64,
    /// Sum of the tasks' durations in milliseconds, each from its first event to its last, even outside of the range.
    pub run_ms: u64,
    /// Usage.
    pub usage: UsageView,
}

/// Runs of one command over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandStat {
    /// Program and subcommand.
    pub command: String,
    /// Number of runs.
    pub count: u64,
    /// Number of failed runs.
    pub failures: u64,
    /// Total duration in milliseconds.
    pub total_ms: u64,
    /// Mean duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
}

/// The same call repeated in one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loop {
    /// The task.
    pub task_id: String,
    /// Owner, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The tool.
    pub tool: String,
    /// Display title.
    pub title: String,
    /// Number of calls.
    pub count: u64,
    /// Number of failed calls.
    pub failures: u64,
    /// Time of the first call.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Millis,
    /// Time of the last call.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// Id of the last call's row.
    pub last_id: String,
}

/// A task that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attention {
    /// The task.
    pub task_id: String,
    /// Title of the task.
    pub title: String,
    /// The agent.
    #[schema(value_type = AgentId)]
    pub agent: Agent,
    /// Type of the agent.
    pub agent_type: String,
    /// Owner, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The project.
    pub project: String,
    /// Reason of the wait.
    pub reason: WaitingReason,
    /// Start of the wait.
    #[schema(value_type = String, format = DateTime)]
    pub since: Millis,
    /// Id of the row that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_id: Option<String>,
    /// Text of that row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The row.
    pub row: Row,
    /// Title of the row's task.
    pub task_title: String,
    /// Matching excerpt, with the matching words between `⟦` and `⟧`.
    pub snippet: String,
}
