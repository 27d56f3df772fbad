//! What rules of the user's decided, and how often.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One rule that spoke about one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleDecision {
    /// The row's id.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// Whose it is, where a team's server answers about several people; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The row of the call that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What a person reads.
    pub title: String,
    /// The rule.
    pub rule: String,
    /// Whose rule: `user`, `project` or `trusted_project`.
    pub origin: String,
    /// The root of the rule's project; absent if it is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_project: Option<String>,
    /// How much a person should care; absent where nobody could ask the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// What it was decided on.
    pub inputs: RuleInputs,
    /// What the rule wants: `allow`, `rewrite`, `warn`, `ask`, `deny`, `stop`, or `silent`.
    pub decision: String,
    /// What that comes to: `allow`, `rewrite`, `warn`, `ask`, `deny` or `block_stop`.
    pub outcome: String,
    /// Whether it acts: `enforce` or `dry_run`.
    pub mode: String,
    /// How it counted: `enforced`, `dry_run`, `held_back` (the project is not trusted) or `let_go` (an end was put off as
    /// often as it may be).
    pub status: String,
    /// Why it spoke: `applies`, `outage`, `not_possible` or `let_go`.
    pub basis: String,
    /// Who decided: `server`, `guard`, `outage`, or the client's own `claude_prompt` or `claude_agent`.
    pub answered_by: String,
    /// How long that took, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_us: Option<u64>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
}

/// What a decision was made on: ids, names and places. What the agent wanted to do stands in the call's own row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleInputs {
    /// The event that the agent told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The product.
    #[schema(value_type = String)]
    pub agent: Agent,
    /// The type of agent.
    pub agent_type: String,
    /// Whether it is a subagent.
    pub is_subagent: bool,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// Where it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// How often one rule decided what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleStat {
    /// The rule.
    pub rule: String,
    /// The root of its project; absent if it is the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How often it spoke at all.
    pub count: u64,
    /// How often that counted.
    pub enforced: u64,
    /// How often it only rehearsed.
    pub dry_run: u64,
    /// How often it was held back, because its project is not trusted.
    pub held_back: u64,
    /// How often it let go of an end that it had put off as often as it may.
    pub let_go: u64,
    /// How often it came to what, rehearsals included.
    pub outcomes: BTreeMap<String, u64>,
    /// How long a decision took on average, in microseconds.
    pub mean_us: u64,
    /// When it last spoke, as far as its decisions are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Millis>,
}
