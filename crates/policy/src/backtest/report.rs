//! The report of a back-test.

use agent_tracer_event::{CallState, Millis, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Decision, Mode, Origin};

words! {
    /// The reason why a replay ended before the whole range was replayed.
    ReplayLimit {
        /// Its time was over.
        Time = "time",
        /// Its caller stopped it.
        Stopped = "stopped",
    }
}

/// The report of a back-test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backtest {
    /// Start of the replayed range.
    #[schema(value_type = String, format = DateTime)]
    pub since: Millis,
    /// End of the replayed range.
    #[schema(value_type = String, format = DateTime)]
    pub until: Millis,
    /// Tasks that were replayed, subagents too.
    pub tasks: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Events at which an agent would have asked: before and after calls, at prompts, permissions and stops.
    pub moments: u64,
    /// True if the whole range was replayed.
    pub complete: bool,
    /// The reason if not. The newest tasks come first, so what is missing is older.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReplayLimit>)]
    pub stopped_by: Option<String>,
    /// Decisions at all those events, by enforced rules.
    pub outcomes: Decisions,
    /// Each rule, in the order of the file.
    pub rules: Vec<RuleReport>,
}

/// Counts of decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decisions {
    /// Would have run without asking.
    pub allowed: u64,
    /// Would have run with another input.
    pub rewritten: u64,
    /// The model would have received a text.
    pub warned: u64,
    /// The human would have been asked.
    pub asked: u64,
    /// Would not have happened; at an end: would have been put off.
    pub denied: u64,
    /// Would not have happened, and the agent would have stopped.
    pub stopped: u64,
}

impl Decisions {
    /// Returns the number of all decisions.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.allowed + self.rewritten + self.warned + self.asked + self.denied + self.stopped
    }
}

/// The report of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleReport {
    /// Its name.
    pub name: String,
    /// Its line in its file, counted from one.
    pub line: u64,
    /// Its origin.
    #[schema(value_type = Origin)]
    pub origin: String,
    /// Its decision.
    #[schema(value_type = Decision)]
    pub decision: String,
    /// Its mode. A rule in `dry_run` is counted too.
    #[schema(value_type = Mode)]
    pub mode: String,
    /// The events that it applies to.
    pub events: Vec<String>,
    /// Counts of its decisions.
    pub decisions: Decisions,
    /// Matches without effect, because the project is not trusted.
    pub held_back: u64,
    /// Events that could not be evaluated, by reason.
    pub not_judged: Vec<UnevaluatedEvents>,
    /// The newest events that it matched, at most a few dozen.
    pub examples: Vec<ReplayMatch>,
}

/// Events that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnevaluatedEvents {
    /// The reason.
    pub reason: String,
    /// Their number. Absent if the reason holds at every evaluation of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// An event that a rule matched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayMatch {
    /// The row.
    pub row_id: String,
    /// Its task.
    pub task_id: String,
    /// The hook event.
    pub event: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Display title.
    pub title: String,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// The time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// The replayed decision.
    #[schema(value_type = Decision)]
    pub decision: String,
    /// The recorded state of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CallState>)]
    pub state: Option<String>,
}
