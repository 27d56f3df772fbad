//! The report of a back-test.

use agent_tracer_event::Millis;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The report of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backtest {
    /// From when on it was looked.
    #[schema(value_type = String, format = DateTime)]
    pub since: Millis,
    /// Until when.
    #[schema(value_type = String, format = DateTime)]
    pub until: Millis,
    /// Tasks that were replayed, subagents too.
    pub tasks: u64,
    /// Tool calls among them.
    pub calls: u64,
    /// Moments at which an agent would have asked: before and after calls, at prompts, permissions and ends.
    pub moments: u64,
    /// True if the whole range was replayed.
    pub complete: bool,
    /// The reason if not: `time` or `stopped`. The newest tasks come first, so what is missing is older.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Decisions at all those moments, by enforced rules.
    pub outcomes: Decisions,
    /// Each rule, in the order of the file.
    pub rules: Vec<RuleFound>,
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
    /// All together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.allowed + self.rewritten + self.warned + self.asked + self.denied + self.stopped
    }
}

/// The report of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleFound {
    /// Its name.
    pub name: String,
    /// Its line in its file, counted from one.
    pub line: u64,
    /// Its origin: `user`, `project` or `trusted_project`.
    pub origin: String,
    /// Its decision.
    pub decision: String,
    /// Its mode: `enforce` or `dry_run`. A rehearsal is counted too.
    pub mode: String,
    /// The events at which it speaks.
    pub events: Vec<String>,
    /// Counts of its decisions.
    pub decisions: Decisions,
    /// Matches without effect, because the project is not trusted.
    pub held_back: u64,
    /// Moments that could not be judged, by reason.
    pub not_judged: Vec<NotJudged>,
    /// The newest calls about which it would have spoken, at most a few dozen of them.
    pub examples: Vec<Found>,
}

/// Moments that could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotJudged {
    /// The reason.
    pub reason: String,
    /// Their number. None if the reason holds at every evaluation of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A moment at which a rule would have spoken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The row.
    pub row_id: String,
    /// Its task.
    pub task_id: String,
    /// The event at which it would have been asked.
    pub event: String,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The text for people.
    pub title: String,
    /// The type of the agent, `main` for the main one.
    pub agent_type: String,
    /// The time.
    #[schema(value_type = String, format = DateTime)]
    pub occurred_at: Millis,
    /// The replayed decision.
    pub decision: String,
    /// The recorded outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}
