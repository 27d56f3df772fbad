//! Requests and answers of ingest, as they are on the wire.
//!
//! These types are the documentation of the contract. Events are read value by value instead, so that one bad record
//! does not make the whole body unreadable.

use agent_tracer_event::Lane;
use agent_tracer_ledger::view::TaskStatus;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A session that should have a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnsureRequest {
    /// The agent: `claude_code`, `codex`, or an older name of them.
    #[schema(example = "claude_code")]
    pub(crate) runtime_source: String,
    /// The agent's id of the session.
    pub(crate) runtime_session_id: String,
    /// The text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workspace_path: Option<String>,
    /// The task's id, where the sender knows it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<String>,
    /// The task that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    /// The session that started it: our id of it, or the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_session_id: Option<String>,
    /// The origin: `user`, `server-sdk`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// True if an earlier session is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resume: Option<bool>,
}

/// The ids of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnsureAnswer {
    /// The task.
    pub(crate) task_id: String,
    /// The session.
    pub(crate) session_id: String,
    /// True if this call created the task.
    pub(crate) task_created: bool,
    /// True if this call created the session.
    pub(crate) session_created: bool,
}

/// A session that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndRequest {
    /// The agent.
    #[schema(example = "claude_code")]
    pub(crate) runtime_source: String,
    /// The agent's id of the session.
    pub(crate) runtime_session_id: String,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    /// True if the task is complete too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) complete_task: Option<bool>,
    /// The reason of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) completion_reason: Option<String>,
    /// Subagents that are complete with it, by the agent's ids of them or by our ids of their tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) background_completions: Option<Vec<String>>,
}

/// The status of a task after the end of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EndAnswer {
    /// The task.
    pub(crate) task_id: String,
    /// The session.
    pub(crate) session_id: String,
    /// The status of the task.
    pub(crate) task_status: TaskStatus,
}

/// Events to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventsRequest {
    /// One to a thousand of them.
    pub(crate) events: Vec<PostedEvent>,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostedEvent {
    /// The sender's id of it. The same id twice is one event.
    pub(crate) id: Option<String>,
    /// The kind of event.
    #[schema(example = "tool.used")]
    pub(crate) kind: String,
    /// The task; or else the two members below.
    pub(crate) task_id: Option<String>,
    /// The agent of the session.
    pub(crate) runtime_source: Option<String>,
    /// The agent's id of the session.
    pub(crate) runtime_session_id: Option<String>,
    /// The session, as `ensure` gave it.
    pub(crate) session_id: Option<String>,
    /// The time of the event; the time of its arrival unless given.
    #[schema(format = DateTime)]
    pub(crate) occurred_at: Option<String>,
    /// The text for people.
    pub(crate) title: Option<String>,
    /// Longer text.
    pub(crate) body: Option<String>,
    /// The lane; the usual one of its kind or tool unless given.
    #[schema(value_type = Option<Lane>)]
    pub(crate) lane: Option<String>,
    /// Files it is about.
    pub(crate) file_paths: Option<Vec<String>>,
    /// Attributes of the event.
    #[schema(value_type = Option<Object>)]
    pub(crate) metadata: Option<serde_json::Value>,
    /// The event that it is a part of.
    pub(crate) parent_event_id: Option<String>,
}

/// The outcomes of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventsAnswer {
    /// The number of events that are on disk and are new.
    pub(crate) accepted: u64,
    /// The number of events that were known.
    pub(crate) duplicates: u64,
    /// Those that were refused.
    pub(crate) rejected: Vec<RejectedEvent>,
}

/// An event that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RejectedEvent {
    /// Its place in the batch, from 0.
    pub(crate) index: u64,
    /// The sender's id of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// The reason.
    pub(crate) reason: String,
}
