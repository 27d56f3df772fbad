//! Data of charts: activity over time, and the lanes of one task in as many columns as the screen has.

use agent_tracer_event::{Certainty, Kind, Lane, Millis};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Activity in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivityBucket {
    /// Start of the interval.
    #[schema(value_type = String, format = DateTime)]
    pub at: Millis,
    /// Rows of timelines.
    pub events: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Time spent in tool calls, in milliseconds.
    pub tool_ms: u64,
    /// Time spent waiting for people, in milliseconds.
    pub waiting_ms: u64,
    /// Input tokens, caches included.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Cost by the price table, in US dollars.
    pub cost_usd: f64,
}

/// The lanes of a task and its subagents in a time range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneBins {
    /// Start of the range.
    #[schema(value_type = String, format = DateTime)]
    pub from: Millis,
    /// End of the range.
    #[schema(value_type = String, format = DateTime)]
    pub to: Millis,
    /// Number of columns.
    pub width: u32,
    /// The lanes, the task's own first, then its subagents', parents before children.
    pub strips: Vec<LaneStrip>,
    /// Intervals without activity in any lane: start and end in milliseconds since 1970.
    pub gaps: Vec<[i64; 2]>,
}

/// One lane of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneStrip {
    /// The task.
    pub task_id: String,
    /// The lane.
    #[schema(value_type = Lane)]
    pub lane: String,
    /// Non-empty columns, left to right.
    pub bins: Vec<LaneBin>,
}

/// One or more columns of a lane: one row, or several too close to be drawn apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneBin {
    /// Start, in milliseconds since 1970.
    pub start: i64,
    /// End, in milliseconds since 1970.
    pub end: i64,
    /// Number of rows.
    pub count: u32,
    /// Rows that failed.
    pub failures: u32,
    /// Milliseconds between `start` and `end` in which at least one of the rows ran; the rest is idle.
    pub busy_ms: u64,
    /// True while one of the rows runs.
    pub running: bool,
    /// Track within the lane for rows that run in parallel, from 0.
    pub track: u32,
    /// Id of the row, if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Display title: the row's, or the most frequent tool.
    pub title: String,
    /// The kind, if all rows share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Kind>)]
    pub kind: Option<String>,
    /// The tool, if all rows share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Lowest certainty among the rows.
    #[schema(value_type = Certainty)]
    pub certainty: String,
}
