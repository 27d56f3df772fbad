//! Describes what leaves for another store: tasks and facts as they were derived here, each with the place at which it
//! changed.
//!
//! These types are the format that is sent. A record replaces every record of the same task or fact with a smaller
//! `version`; the same record twice is the same record. Whose it is says the token of the sender, never the record.

use agent_tracer_event::{Agent, Certainty};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::project::FactRow;
use crate::project::residual::Residual;
use crate::view::{TaskStatus, WaitingReason};

/// The version of the format that [`Shipment`] is written in.
pub const FORMAT: u32 = 1;

/// Carries the tasks and facts that are sent together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Tasks that changed.
    pub tasks: Vec<TaskRecord>,
    /// Facts that changed.
    pub facts: Vec<FactRecord>,
    /// Everything up to this place is in this shipment or in one before it.
    pub until: u64,
    /// Tasks that are to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Removed>,
}

/// Tasks that were deleted where they came from, or that may not be shared any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// Everything of them up to this version goes; what is newer stays.
    pub version: u64,
    /// Their ids.
    pub tasks: Vec<String>,
}

/// A task, as its ledger knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// Its id.
    pub task: String,
    /// The place in its ledger's order of delivery at which it last changed.
    pub version: u64,
    /// The agent.
    pub agent: Agent,
    /// The agent's id of the session.
    pub session: String,
    /// It is a subagent.
    pub background: bool,
    /// The task that started it.
    pub parent: Option<String>,
    /// The certainty of the parent.
    pub parent_certainty: Option<Certainty>,
    /// The call that started it.
    pub parent_tool_use_id: Option<String>,
    /// The task whose context was cleared to begin this one.
    pub continues: Option<String>,
    /// The task whose history this one began with.
    pub forked: Option<String>,
    /// The title that a person reads.
    pub title: String,
    /// The type of its agent, `main` for the main one.
    pub agent_type: String,
    /// The agent's id of the subagent.
    pub agent_id: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The project.
    pub project: String,
    /// The model that answered last.
    pub model: Option<String>,
    /// The machine.
    pub machine: String,
    /// The branch it works on.
    pub git_branch: Option<String>,
    /// The version of the client.
    pub client_version: Option<String>,
    /// The moment when it was first seen.
    pub started: i64,
    /// The moment when it was last active.
    pub last: i64,
    /// The moment when it ended.
    pub ended: Option<i64>,
    /// The last reported status.
    pub status: TaskStatus,
    /// The reason for which it waits.
    pub waiting: Option<WaitingReason>,
    /// Since when.
    pub waiting_since: Option<i64>,
    /// The number of the fact that asks.
    pub waiting_fact: Option<i64>,
    /// The current activity.
    pub current: Option<String>,
    /// Measures how full its context is, in percent.
    pub context_pct: Option<f64>,
    /// Rows.
    pub events: i64,
    /// Calls.
    pub calls: i64,
    /// Calls that failed.
    pub failures: i64,
    /// Turns.
    pub turns: i64,
    /// Time in which people were waited for.
    pub wait_ms: i64,
    /// Tokens and cost.
    pub spent: SpentRecord,
}

/// Holds what a task spent, in the units of the ledger's sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpentRecord {
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Reasoning tokens.
    pub reasoning: i64,
    /// Pico-dollars.
    pub cost: i64,
    /// Responses.
    pub responses: i64,
    /// Responses without a price.
    pub unpriced: i64,
    /// Responses that count elsewhere.
    pub copies: i64,
    /// Holds what the client says that it cost, in pico-dollars.
    pub client_cost: Option<i64>,
    /// Holds what only the client's own account knows.
    pub residual: Option<Residual>,
}

/// A fact as it is sent: its row, the task and version that place it, and two results of the sender.
///
/// On the wire the members of the row stand between those of the record, in the order that [`Serialize`] writes here: a
/// receiver compares records byte for byte, so the order is a part of the format.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FactRecord {
    /// The id of its task.
    pub task: String,
    /// Its place in the sender's order of delivery when it last changed.
    pub version: u64,
    /// The fact itself. A turn has no kind.
    #[serde(flatten)]
    pub row: FactRow,
    /// Pico-dollars that a response costs by the sender's prices.
    pub cost: Option<i64>,
    /// Numbers of facts that turned out to be part of this one: they are gone.
    pub parts: Vec<i64>,
}

impl Serialize for FactRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = &self.row;
        let mut fields = serializer.serialize_struct("FactRecord", 22)?;
        fields.serialize_field("task", &self.task)?;
        fields.serialize_field("fact", &row.fact)?;
        fields.serialize_field("version", &self.version)?;
        fields.serialize_field("kind", &row.kind)?;
        fields.serialize_field("list", &row.list.code())?;
        fields.serialize_field("lane", &row.lane)?;
        fields.serialize_field("occurred", &row.occurred)?;
        fields.serialize_field("order", &row.order)?;
        fields.serialize_field("ended", &row.ended)?;
        fields.serialize_field("state", &row.state)?;
        fields.serialize_field("open", &row.open)?;
        fields.serialize_field("tool", &row.tool)?;
        fields.serialize_field("turn", &row.turn)?;
        fields.serialize_field("duration", &row.duration)?;
        fields.serialize_field("error", &row.error)?;
        fields.serialize_field("signature", &row.signature)?;
        fields.serialize_field("certainty", &row.certainty)?;
        fields.serialize_field("channels", &row.channels)?;
        fields.serialize_field("data", &row.data)?;
        fields.serialize_field("derived", &row.derived)?;
        fields.serialize_field("cost", &self.cost)?;
        fields.serialize_field("parts", &self.parts)?;
        fields.end()
    }
}
