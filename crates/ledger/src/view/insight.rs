//! Numbers over many tasks, each of which opens the rows behind it.

use agent_tracer_event::{Agent, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Row, UsageView, WaitingReason};

/// One tool: how often, how long, how well.
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
    /// All of them together.
    pub total_ms: u64,
}

/// How long the calls of one tool took, counted at the bounds that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDurations {
    /// The tool.
    pub tool: String,
    /// Calls of which it is known how long they took.
    pub count: u64,
    /// All of them together.
    pub total_ms: u64,
    /// For every bound, in the order they were asked for: how many calls took at most that long, within 2 % of it.
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
    /// How many.
    pub count: u64,
    /// How many calls of that tool there were.
    pub calls: u64,
}

/// What was spent in one part of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBucket {
    /// The part: a day, a model, a project, …
    pub key: String,
    /// A name that people know for it, where the key is an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whose task it is, where a team's server answers by task; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What was spent.
    pub usage: UsageView,
}

/// A window of five hours, as the clients count them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageBlock {
    /// When it opened: the full hour before its first response.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// When it closes.
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Millis,
    /// Until when anything was spent in it, to the quarter-hour.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// Whether it is open now.
    pub is_active: bool,
    /// What it comes to if it goes on like that, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<BlockForecast>,
    /// What was spent in it.
    pub usage: UsageView,
}

/// How fast a window fills, since its first response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockForecast {
    /// Tokens in a minute.
    pub tokens_per_minute: f64,
    /// US dollars in an hour; absent where a response has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_per_hour_usd: Option<f64>,
    /// The tokens that it will hold when it closes.
    pub tokens: u64,
    /// What it will have cost then; absent where a response has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// How much of a rate limit of an agent's account is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// Whose account it is, where a team's server answers about several people; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The agent.
    #[schema(value_type = String)]
    pub agent: Agent,
    /// `five_hour` or `seven_day`.
    pub window: String,
    /// How much of it is used, in percent.
    pub used_pct: f64,
    /// When that was seen.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// When it begins anew, where the client says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub resets_at: Option<Millis>,
    /// Where it goes, if it goes on like lately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<LimitForecast>,
}

/// A straight line through what was seen of a limit lately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitForecast {
    /// Percent in an hour.
    pub pct_per_hour: f64,
    /// When all is used; none if it begins anew before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub full_at: Option<Millis>,
    /// How much is used when it begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pct_at_reset: Option<f64>,
    /// How far it may be believed: `low`, `medium` or `high`.
    pub certainty: String,
    /// The points that the line was drawn through.
    pub points: u64,
}

/// A file over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileStat {
    /// Its path.
    pub path: String,
    /// The project.
    pub project: String,
    /// How often it was read.
    pub reads: u64,
    /// How often it was changed.
    pub changes: u64,
}

/// A skill over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillStat {
    /// Its name.
    pub skill: String,
    /// How often it was activated.
    pub count: u64,
    /// Activations that failed.
    pub failures: u64,
    /// What the responses spent that were given for it: those after its activation, until the end of its turn.
    pub usage: UsageView,
    /// How much of all cost that is, from 0 to 1; none where nothing has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_share: Option<f64>,
}

/// An MCP server's tool over many tasks.
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
    /// All of them together.
    pub total_ms: u64,
}

/// A type of agent over many tasks.
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
    /// Time in their tool calls.
    pub tool_ms: u64,
    /// How long they ran, each from its first event to its last, whatever part of that is in the range.
    pub run_ms: u64,
    /// What they spent.
    pub usage: UsageView,
}

/// A command over many tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandStat {
    /// Program and subcommand.
    pub command: String,
    /// How often it ran.
    pub count: u64,
    /// How often it failed.
    pub failures: u64,
    /// All runs together.
    pub total_ms: u64,
    /// The mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
}

/// The same call, made again and again in one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loop {
    /// The task.
    pub task_id: String,
    /// Whose it is, where a team's server answers about several people; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The tool.
    pub tool: String,
    /// What a person reads.
    pub title: String,
    /// How often.
    pub count: u64,
    /// How many of them failed.
    pub failures: u64,
    /// The first.
    #[schema(value_type = String, format = DateTime)]
    pub first_at: Millis,
    /// The last.
    #[schema(value_type = String, format = DateTime)]
    pub last_at: Millis,
    /// The row of the last.
    pub last_id: String,
}

/// A task that waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attention {
    /// The task.
    pub task_id: String,
    /// Its title.
    pub title: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent: Agent,
    /// Its agent's type.
    pub agent_type: String,
    /// Whose it is, where a team's server answers about several people; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The project.
    pub project: String,
    /// What it waits for.
    pub reason: WaitingReason,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Millis,
    /// The row that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_id: Option<String>,
    /// What that row says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A row that answers a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The row.
    pub row: Row,
    /// The title of its task.
    pub task_title: String,
    /// The place that matched, with the words between `⟦` and `⟧`.
    pub snippet: String,
}
