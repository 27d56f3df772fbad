//! Tasks, turns, sessions and what they cost.

use agent_tracer_event::{Agent, Certainty, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether people started it or another task did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A session of its own.
    Primary,
    /// A subagent.
    Background,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It works.
    Running,
    /// It waits for somebody; [`WaitingReason`] says for what.
    Waiting,
    /// It ended.
    Completed,
    /// Its last turn failed.
    Failed,
    /// It fell silent and will hardly come back.
    Abandoned,
}

/// What a task waits for.
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

/// What a task spent, counted once for each response of a provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// Input tokens, without those read from or written to a cache.
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens written to a cache.
    pub cache_creation_tokens: u64,
    /// Reasoning tokens, which are inside the output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// What it cost by our price table, in US dollars.
    pub cost_usd: f64,
    /// What the client itself says that it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cost_usd: Option<f64>,
    /// What only the client's own account knows. Included in the sums above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<Residual>,
    /// What the sums rest on.
    pub provenance: UsageProvenance,
}

/// Tokens that no response tells of, only a cumulative account of the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Residual {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens written to a cache.
    pub cache_creation_tokens: u64,
    /// What they cost by our price table.
    pub cost_usd: f64,
    /// What they cost by the client's own account, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cost_usd: Option<f64>,
    /// Why they are known only as a difference: `compaction`, `side request`, both, or `unknown`.
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
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Tokens written to a cache.
    pub cache_creation_tokens: u64,
    /// What they cost by our price table; none if the model has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Why they are known only as a difference.
    pub reason: String,
}

impl From<ResidualModel> for Residual {
    fn from(line: ResidualModel) -> Self {
        Self {
            input_tokens: line.input_tokens,
            output_tokens: line.output_tokens,
            cache_read_tokens: line.cache_read_tokens,
            cache_creation_tokens: line.cache_creation_tokens,
            cost_usd: line.cost_usd.unwrap_or(0.0),
            client_cost_usd: None,
            reason: line.reason,
            models: Vec::new(),
        }
    }
}

/// What a sum of usage rests on.
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

/// One runtime session of an agent, as people see it in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// Whether people started it.
    pub kind: TaskKind,
    /// Where it stands.
    pub status: TaskStatus,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_reason: Option<WaitingReason>,
    /// Since when it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub waiting_since: Option<Millis>,
    /// It is silent for longer than it should be, or its process is gone.
    pub stale: bool,
    /// The task that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// How sure the parent is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent_certainty: Option<Certainty>,
    /// The call that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<String>,
    /// The agent.
    #[schema(value_type = String, example = "claude_code")]
    pub agent: Agent,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// The agent's id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The agent's id of the session.
    pub runtime_session_id: String,
    /// Where it works.
    pub workspace_path: String,
    /// The model that answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it was first seen.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// When anything was last heard of it.
    #[schema(value_type = String, format = DateTime)]
    pub last_event_at: Millis,
    /// When it ended.
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
    /// What it does just now: the title of its newest open call, or of its newest row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// How full its context is, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used_pct: Option<f64>,
    /// What it spent itself.
    pub usage: UsageView,
    /// What it and all its descendants spent.
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
    /// The agent's own file of it, as hooks name it. Nobody is shown where that is, and it is not shipped.
    #[serde(skip)]
    pub transcript_path: Option<String>,
    /// Whose it is, where a team's server answers about several people; absent on one machine.
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
    /// How deep it stands below the task that was asked for.
    pub depth: u32,
    /// The task.
    pub task: Task,
}

/// From a prompt to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Its place among the turns of the task, from one.
    pub number: u64,
    /// What was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Who asked: `user`, `task_notification`, `steering`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_origin: Option<String>,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// From its beginning to its end, waits for people included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How long it took by the client's own account, which may leave out waits for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_duration_ms: Option<u64>,
    /// How it ended: running, succeeded, failed, interrupted, abandoned.
    pub state: String,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What it said at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Tool calls in it.
    pub tool_call_count: u64,
    /// Tool calls in it that failed.
    pub failure_count: u64,
    /// What it spent.
    pub usage: UsageView,
}

/// One stay of a process in a task: a start or a resume, and its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// What started it: `startup`, `resume`, `clear`, `fork`, `compact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_reason: Option<String>,
}

/// The numbers of a whole task, with its subagents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSummary {
    /// The task.
    pub task_id: String,
    /// From its first to its last event.
    pub duration_ms: u64,
    /// Time in which a turn ran and no person was waited for. With `waitingMs` never more than `durationMs`.
    pub active_ms: u64,
    /// Time in which it or a subagent waited for a person.
    pub waiting_ms: u64,
    /// Turns.
    pub turns: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Different files that it read.
    pub files_read: u64,
    /// Different files that it changed.
    pub files_changed: u64,
    /// Permissions that it asked for.
    pub permissions: u64,
    /// Whether permission prompts were recorded at all: hooks tell of them, the agents' own files do not. If not,
    /// `permissions` and `waitingMs` are not known.
    pub permissions_recorded: bool,
    /// Compactions of its context.
    pub compactions: u64,
    /// Subagents, at any depth.
    pub agents: u64,
    /// What it and its descendants spent.
    pub usage: UsageView,
    /// Its stays, oldest first.
    pub sessions: Vec<SessionView>,
}
