//! Rows of the timeline, tool calls, and one event in full.

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
    /// Place in the order of delivery of the row's last change.
    pub seq: u64,
    /// The task.
    pub task_id: String,
    /// Owner, on a team's server; absent on a single machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Session: one start or resume of the process.
    pub session_id: String,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Kind of event.
    pub kind: Kind,
    /// Lane of the timeline.
    pub lane: Lane,
    /// Display title.
    pub title: String,
    /// Longer text: the prompt, the message, the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Start time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// State of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's own id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The agent's own id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// True if a subagent did it.
    pub is_subagent: bool,
    /// The agent's own id of the session.
    pub runtime_session_id: String,
    /// Name of the hook event that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// Files concerned.
    pub file_paths: Vec<String>,
    /// Attributes of the kind; `docs/events.md` lists them.
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    /// Channels that reported it.
    pub channels: Vec<Channel>,
    /// Certainty.
    pub certainty: Certainty,
}

/// One tool call, from attempt to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The row's id.
    pub id: String,
    /// The agent's own id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The task.
    pub task_id: String,
    /// The agent's own id of the subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The tool.
    pub tool_name: String,
    /// Current state.
    pub state: CallState,
    /// Time of the attempt.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Millis,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Millis>,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Source of the duration: `agent` or `tracer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_source: Option<String>,
    /// Time spent waiting for a permission, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_wait_ms: Option<u64>,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Class of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// Display title.
    pub title: String,
    /// Channels that reported it.
    pub channels: Vec<Channel>,
}

/// A row with the entries behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventDetail {
    /// The row.
    pub row: Row,
    /// Channel of each field's value.
    pub field_channels: BTreeMap<String, Channel>,
    /// Entries behind the row, in the order of delivery.
    pub entries: Vec<EntryDetail>,
}

/// One entry behind a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryDetail {
    /// Place in the order of delivery.
    pub seq: u64,
    /// Its id.
    pub entry_id: String,
    /// Channel of the observation.
    pub channel: Channel,
    /// Effect on the row.
    pub phase: Phase,
    /// Time of the event, as the source reports it.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// Evidence for the entry.
    pub evidence: String,
    /// Certainty.
    pub certainty: Certainty,
    /// Fields that the entry carries.
    #[schema(value_type = Object)]
    pub fields: Metadata,
    /// Machine that recorded it.
    pub machine_id: String,
}
