//! Answers of the query API.
//!
//! These are the values of the query API, the same from every store. Names are those of the wire contract; times are
//! RFC 3339 in UTC with milliseconds; every list is a [`Page`]. Nothing here is stored: a store fills them.

mod activity;
mod health;
mod insight;
mod lists;
mod row;
mod rules;
mod task;

pub use activity::{ActivityBucket, LaneBin, LaneBins, LaneStrip};
pub use health::{
    Health, HealthStatus, ImportHealth, OutcomeCounts, OutcomeReason, PageCheck, RetentionHealth, ShipHealth,
    SourceHealth, SpoolHealth, StoreFaults, StoreHealth, StoreKind, UnrecognisedName,
};
pub use insight::{
    AgentStat, Attention, BlockForecast, CommandStat, FailureStat, FileStat, Hit, Limit, LimitForecast,
    LimitWindow, Loop, McpStat, SkillStat, ToolDurations, ToolStat, UsageBlock, UsageBucket,
};
pub use lists::{
    CommandRun, ContextPoint, ContextPointKind, Exploration, FileUse, FileUser, Permission, Question, Todo,
    TodoStep, WebLookup,
};
pub use row::{EntryDetail, EventDetail, Row, ToolCall};
pub use rules::{RuleDecision, RuleInputs, RuleStat};
pub use task::{
    Residual, ResidualModel, SessionView, Task, TaskKind, TaskStatus, TaskSummary, TreeNode, Turn,
    UsageProvenance, UsageView, WaitingReason,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A part of a list, with the cursor of the next part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items of this part, in the list's order.
    pub items: Vec<T>,
    /// Cursor of the next part, to pass as `cursor`. Absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Returns a list that is complete.
    #[must_use]
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next_cursor: None }
    }
}
