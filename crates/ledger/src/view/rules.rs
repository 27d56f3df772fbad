//! Decisions of the user's rules, and their numbers.

use std::collections::BTreeMap;

use agent_tracer_event::schema::AgentId;
use agent_tracer_event::{Agent, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Decision of one rule on one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleDecision {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Owner, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Id of the row of the call concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Display title.
    pub title: String,
    /// The rule.
    pub rule: String,
    /// Origin of the rule: `user`, `project` or `trusted_project`.
    pub origin: String,
    /// The root of the rule's project; absent if it is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_project: Option<String>,
    /// Severity; absent where the rule could not be evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Input of the decision.
    pub inputs: RuleInputs,
    /// Decision of the rule: `allow`, `rewrite`, `warn`, `ask`, `deny`, `stop`, or `silent`.
    pub decision: String,
    /// Outcome for the agent: `allow`, `rewrite`, `warn`, `ask`, `deny` or `block_stop`.
    pub outcome: String,
    /// Mode of the rule: `enforce` or `dry_run`.
    pub mode: String,
    /// Effect: `enforced`, `dry_run`, `held_back` (the project is not trusted) or `let_go` (the stop was deferred as often
    /// as the rule allows).
    pub status: String,
    /// Basis of the decision: `applies`, `outage`, `not_possible` or `let_go`.
    pub basis: String,
    /// Source of the decision: `server`, `guard`, `outage`, or the client's own `claude_prompt` or `claude_agent`.
    pub answered_by: String,
    /// Duration of the decision in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_us: Option<u64>,
    /// Time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
}

/// Input of a decision: ids, names and places. The call's own row holds what the agent was about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleInputs {
    /// Event that the agent reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The product.
    #[schema(value_type = AgentId)]
    pub agent: Agent,
    /// The type of agent.
    pub agent_type: String,
    /// True for a subagent.
    pub is_subagent: bool,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's own id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Numbers of one rule's decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleStat {
    /// The rule.
    pub rule: String,
    /// The root of its project; absent if it is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Number of decisions.
    pub count: u64,
    /// Decisions that were enforced.
    pub enforced: u64,
    /// Decisions in a dry run.
    pub dry_run: u64,
    /// Decisions held back because the project is not trusted.
    pub held_back: u64,
    /// Stops that were let go after being deferred as often as the rule allows.
    pub let_go: u64,
    /// Decisions by outcome, dry runs included.
    pub outcomes: BTreeMap<String, u64>,
    /// Mean duration of a decision in microseconds.
    pub mean_us: u64,
    /// Time of the last decision that is still stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
}
