//! The format in which tasks and facts are shipped to another store.
//!
//! A shipment holds tasks and facts as this ledger derived them, each with the position in the order of delivery at
//! which it last changed, its `version`. One replaces every version of the same task or fact before its own, so receiving
//! it twice changes nothing. The owner is determined by the sender's token and is never part of a shipment.

use agent_tracer_event::{Agent, Certainty};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::project::FactRow;
use crate::project::residual::Residual;
use crate::project::row::Signature;
use crate::project::spend::Spend;
use crate::view::{TaskStatus, WaitingReason};

/// The version of the format that [`Shipment`] is written in.
pub const FORMAT: u32 = 1;

/// Tasks and facts that are sent together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shipment {
    /// The [`FORMAT`] of the sender.
    pub format: u32,
    /// Tasks that changed.
    pub tasks: Vec<DerivedTask>,
    /// Facts that changed.
    pub facts: Vec<ShippedFact>,
    /// All changes up to this position are in this shipment or in an earlier one.
    pub until: u64,
    /// Tasks to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<Removed>,
}

/// Tasks that were deleted where they came from, or that may not be shared any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// The version up to which everything that is stored of them is deleted; newer versions stay.
    pub version: u64,
    /// Their ids.
    pub tasks: Vec<String>,
}

/// A task as its ledger derived it: with texts where a store has numbers, and without what depends on the moment of a
/// question.
///
/// It is the shape that both stores have in common. A shipment carries it, and each store presents its own rows through
/// it ([`DerivedTask::present`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DerivedTask {
    /// Its id.
    pub task: String,
    /// The position in its ledger's order of delivery at which it last changed.
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
    /// The used share of its context window, in percent.
    pub context_pct: Option<f64>,
    /// Rows.
    pub events: i64,
    /// Calls.
    pub calls: i64,
    /// Calls that failed.
    pub failures: i64,
    /// Turns.
    pub turns: i64,
    /// Time spent waiting for people, in milliseconds.
    pub wait_ms: i64,
    /// Tokens and cost.
    pub spent: TaskSpend,
}

/// The tokens and cost of a task alone, in the units of the ledger's sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskSpend {
    /// Tokens and cost of responses.
    #[serde(flatten)]
    pub spend: Spend,
    /// Copies of responses that are counted in another task.
    pub copies: i64,
    /// The cost that the client reported, in pico-dollars.
    pub client_cost: Option<i64>,
    /// The usage that appears only in the client's own account.
    pub residual: Option<Residual>,
}

/// A fact in a shipment: its row, the task and version that place it, and two results that only the sender can compute.
///
/// It exists beside [`FactRow`], which knows neither its task nor its version, because a store has these in columns of its
/// own. On the wire the members of the row stand between the others, in the order that [`Serialize`] writes here: the
/// bytes are a part of the format.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShippedFact {
    /// The id of its task.
    pub task: String,
    /// The position in the sender's order of delivery at which it last changed.
    pub version: u64,
    /// The fact itself. A turn has no kind.
    #[serde(flatten)]
    pub row: FactRow,
    /// The cost of a response by the sender's prices, in pico-dollars.
    pub cost: Option<i64>,
    /// Numbers of facts that were merged into this one and are gone.
    pub parts: Vec<i64>,
}

impl Serialize for ShippedFact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = &self.row;
        let mut fields = serializer.serialize_struct("ShippedFact", 22)?;
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
        fields.serialize_field("signature", &row.signature.map(Signature::number))?;
        fields.serialize_field("certainty", &row.certainty)?;
        fields.serialize_field("channels", &row.channels)?;
        fields.serialize_field("data", &row.data)?;
        fields.serialize_field("derived", &row.derived)?;
        fields.serialize_field("cost", &self.cost)?;
        fields.serialize_field("parts", &self.parts)?;
        fields.end()
    }
}
