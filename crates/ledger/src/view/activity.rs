//! What is drawn: activity over time, and the lanes of one task in as many columns as the screen has.

use agent_tracer_event::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What happened in one stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityBucket {
    /// Where the stretch begins.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// Rows.
    pub events: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Time spent in tool calls.
    pub tool_ms: u64,
    /// Time in which people were waited for.
    pub waiting_ms: u64,
    /// Input tokens, caches included.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// What it cost.
    pub cost_usd: f64,
}

/// The lanes of a task and its subagents between two moments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneBins {
    /// Where the picture begins.
    #[schema(value_type = String, format = DateTime)]
    pub from: Millis,
    /// Where it ends.
    #[schema(value_type = String, format = DateTime)]
    pub to: Millis,
    /// How many columns it has.
    pub width: u32,
    /// The lanes, the task's own first, then its subagents', parents before children.
    pub strips: Vec<LaneStrip>,
    /// Stretches in which nothing happened in any lane: begin and end in milliseconds since 1970.
    pub gaps: Vec<[i64; 2]>,
}

/// One lane of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneStrip {
    /// The task.
    pub task_id: String,
    /// The lane.
    pub lane: String,
    /// Its columns that hold anything, left to right.
    pub bins: Vec<LaneBin>,
}

/// One or more columns of a lane: one row, or several too close to be told apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneBin {
    /// Begin, in milliseconds since 1970.
    pub start: i64,
    /// End, in milliseconds since 1970.
    pub end: i64,
    /// How many rows are in it.
    pub count: u32,
    /// How many of them failed.
    pub failures: u32,
    /// Milliseconds between `start` and `end` in which at least one of them ran; the rest of that time is idle.
    pub busy_ms: u64,
    /// Whether one of them still runs.
    pub running: bool,
    /// Which of the parallel rows of the lane it is drawn in, from 0.
    pub track: u32,
    /// The row, if it is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What a person reads: the row's title, or the most frequent tool.
    pub title: String,
    /// The kind, if all have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The tool, if all have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How sure the least sure of them is.
    pub certainty: String,
}
