//! Rows of the timeline, tool calls, and one event with everything that is known of it.

use std::collections::BTreeMap;

use agent_tracer_event::{CallState, Certainty, Channel, Kind, Lane, Metadata, Millis, Phase};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One row of the timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its id.
    pub id: String,
    /// The place in the order of delivery at which it last changed.
    pub seq: u64,
    /// The task.
    pub task_id: String,
    /// Whose it is, where a team's server answers about several people; absent on one machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The stay of the process that it happened in.
    pub session_id: String,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What it is.
    #[schema(value_type = String, example = "terminal.command")]
    pub kind: Kind,
    /// Where it is shown.
    #[schema(value_type = String, example = "implementation")]
    pub lane: Lane,
    /// What a person reads.
    pub title: String,
    /// Longer text: the prompt, the message, the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// Where a call stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "running")]
    pub state: Option<CallState>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The agent's id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// Whether a subagent did it.
    pub is_subagent: bool,
    /// The agent's id of the session.
    pub runtime_session_id: String,
    /// The hook that told of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// Files it was about.
    pub file_paths: Vec<String>,
    /// Everything else.
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    /// Every channel that told of it.
    #[schema(value_type = Vec<String>)]
    pub channels: Vec<Channel>,
    /// How sure it is.
    #[schema(value_type = String, example = "measured")]
    pub certainty: Certainty,
}

/// One tool use, from attempt to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The row's id.
    pub id: String,
    /// The agent's id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The task.
    pub task_id: String,
    /// The agent's id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The tool.
    pub tool_name: String,
    /// Where it stands.
    #[schema(value_type = String, example = "succeeded")]
    pub state: CallState,
    /// When it was attempted.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Who measured that: `agent` or `tracer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_source: Option<String>,
    /// How long it waited for a permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_wait_ms: Option<u64>,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The class of its error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What a person reads.
    pub title: String,
    /// Every channel that told of it.
    #[schema(value_type = Vec<String>)]
    pub channels: Vec<Channel>,
}

/// A row and everything behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDetail {
    /// The row.
    pub row: Row,
    /// The channel that each field came from.
    #[schema(value_type = Object)]
    pub field_channels: BTreeMap<String, Channel>,
    /// What was said, in the order of delivery.
    pub entries: Vec<ToldEntry>,
}

/// One entry behind a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToldEntry {
    /// Its place in the order of delivery.
    pub seq: u64,
    /// Its id.
    pub entry_id: String,
    /// How it reached us.
    #[schema(value_type = String)]
    pub channel: Channel,
    /// What it does to the row.
    #[schema(value_type = String)]
    pub phase: Phase,
    /// When it happened, as far as it can say.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Why it says so.
    pub evidence: String,
    /// How sure it is.
    #[schema(value_type = String)]
    pub certainty: Certainty,
    /// What it said.
    #[schema(value_type = Object)]
    pub fields: Metadata,
    /// The machine it was recorded on.
    pub machine_id: String,
}
