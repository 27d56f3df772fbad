//! Tasks, turns, sessions and what they cost.

use agent_tracer_event::schema::AgentId;
use agent_tracer_event::{Agent, CallState, Certainty, Millis, Tokens};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Origin of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A session that a person started.
    Primary,
    /// A subagent.
    Background,
}

/// Status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// A turn is running.
    Running,
    /// It waits for a person, for the reason in [`WaitingReason`].
    Waiting,
    /// It ended.
    Completed,
    /// Its last turn failed.
    Failed,
    /// It has been silent for so long that it is not expected to continue.
    Abandoned,
}

/// Reason why a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingReason {
    /// A permission.
    Permission,
    /// An answer to a question.
    Question,
    /// An answer to an MCP server's form.
    Elicitation,
    /// The approval of a plan.
    Plan,
    /// The next prompt.
    Idle,
}

/// Tokens and cost of a task, counted once for each response of a provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Cost by the price table, in US dollars.
    pub cost_usd: f64,
    /// Cost as the client reports it, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cost_usd: Option<f64>,
    /// Part that only the client's cumulative account knows. Included in the sums above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<Residual>,
    /// Basis of the sums.
    pub provenance: UsageProvenance,
}

/// Tokens that no response reports, only the client's cumulative account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Residual {
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Cost by the price table, in US dollars.
    pub cost_usd: f64,
    /// Cost by the client's own account, where it states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cost_usd: Option<f64>,
    /// Reason why only a difference is known: `compaction`, `side request`, both, or `unknown`.
    pub reason: String,
    /// The same by model, where it is the residual of tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ResidualModel>,
}

/// The residual of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResidualModel {
    /// The model.
    pub model: String,
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Cost by the price table, in US dollars; absent if the model has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Reason why only a difference is known.
    pub reason: String,
}

impl From<ResidualModel> for Residual {
    fn from(line: ResidualModel) -> Self {
        Self {
            tokens: line.tokens,
            cost_usd: line.cost_usd.unwrap_or(0.0),
            client_cost_usd: None,
            reason: line.reason,
            models: Vec::new(),
        }
    }
}

/// Basis of a sum of usage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageProvenance {
    /// Responses of providers in the sum.
    pub responses: u64,
    /// Responses whose model has no price: their tokens count, their cost does not.
    pub unpriced: u64,
    /// Responses that a fork, resume or subagent copied and that count elsewhere.
    pub copies: u64,
}

/// One runtime session of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// Display title.
    pub title: String,
    /// Origin of the task.
    pub kind: TaskKind,
    /// Current state.
    pub status: TaskStatus,
    /// Reason of the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_reason: Option<WaitingReason>,
    /// Start of the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waiting_since: Option<Millis>,
    /// True if it has been silent for too long, or its process is gone.
    pub stale: bool,
    /// The task that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// Certainty of the parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_certainty: Option<Certainty>,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// The agent.
    #[schema(value_type = AgentId)]
    pub agent: Agent,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// The agent's own id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The agent's own id of the session.
    pub runtime_session_id: String,
    /// Working directory.
    pub workspace_path: String,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Time of the first event.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// Time of the last event.
    #[schema(value_type = String, format = DateTime)]
    pub last_event_at: Millis,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// Rows in its timeline.
    pub event_count: u64,
    /// Its own tool calls.
    pub tool_call_count: u64,
    /// Its own tool calls that failed.
    pub failure_count: u64,
    /// Turns.
    pub turn_count: u64,
    /// Subagents that it started itself.
    pub child_count: u64,
    /// Current activity: the title of the newest open call, or of the newest row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Used part of the context window, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used_pct: Option<f64>,
    /// Usage of the task itself.
    pub usage: UsageView,
    /// Usage of the task and all its descendants.
    pub tree_usage: UsageView,
    /// Tool calls of it and all its descendants: of the same scope as `treeUsage`.
    pub tree_tool_call_count: u64,
    /// Tool calls of it and all its descendants that failed.
    pub tree_failure_count: u64,
    /// The task whose context was cleared to begin this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues_task_id: Option<String>,
    /// The task whose history this one began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from_task_id: Option<String>,
    /// The branch it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The version of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// Path of the agent's transcript, as hooks name it. Never serialised and never shipped.
    #[serde(skip)]
    pub transcript_path: Option<String>,
    /// Owner, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The machine it runs on.
    pub machine_id: String,
    /// The project: the root of the repository, or the folder.
    pub project: String,
}

/// A task in the tree of its descendants, parents before children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeNode {
    /// Depth below the requested task.
    pub depth: u32,
    /// The task.
    pub task: Task,
}

/// A turn: from a prompt to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Number of the turn within the task, from one.
    pub number: u64,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Origin of the prompt: `user`, `task_notification`, `steering`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_origin: Option<String>,
    /// Start time.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// Duration in milliseconds, time spent waiting for people included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Duration as the client reports it, which may leave out time spent waiting for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_duration_ms: Option<u64>,
    /// Current state.
    #[schema(value_type = CallState)]
    pub state: String,
    /// Reason why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Final answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Tool calls in it.
    pub tool_call_count: u64,
    /// Tool calls in it that failed.
    pub failure_count: u64,
    /// Usage of the turn.
    pub usage: UsageView,
}

/// One session of a task: from a start or resume of the process to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// Start time.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// Cause of the start: `startup`, `resume`, `clear`, `fork`, `compact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Reason of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_reason: Option<String>,
}

/// Numbers of a task and its subagents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSummary {
    /// The task.
    pub task_id: String,
    /// Time from the first to the last event, in milliseconds.
    pub duration_ms: u64,
    /// Time in which a turn ran and did not wait for a person. With `waitingMs` never more than `durationMs`.
    pub active_ms: u64,
    /// Time in which the task or a subagent waited for a person.
    pub waiting_ms: u64,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Distinct files read.
    pub files_read: u64,
    /// Distinct files changed.
    pub files_changed: u64,
    /// Permission prompts.
    pub permissions: u64,
    /// True if permission prompts were recorded: hooks report them, the agents' own files do not. Otherwise
    /// `permissions` and `waitingMs` are unknown.
    pub permissions_recorded: bool,
    /// Compactions of its context.
    pub compactions: u64,
    /// Subagents, at any depth.
    pub agents: u64,
    /// Usage of the task and its descendants.
    pub usage: UsageView,
    /// Sessions of the task, oldest first.
    pub sessions: Vec<SessionView>,
}
