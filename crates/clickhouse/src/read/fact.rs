//! Facts as they are read, and the rows that people see.

use agent_tracer_event::{CallState, Certainty, ErrorClass, Kind, Lane};
use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::{FactRow, List};
use clickhouse::Row;
use serde::Deserialize;

use super::task::PLACE;
use super::{Key, Reader, columns};

/// The columns of a fact that rows and lists show.
#[derive(Clone, Debug, Row, Deserialize)]
pub(crate) struct FactShown {
    pub(crate) owner: String,
    pub(crate) task: String,
    fact: i64,
    version: u64,
    kind: String,
    list: u8,
    lane: String,
    occurred: i64,
    ord: i64,
    ended: Option<i64>,
    state: String,
    open: u8,
    tool: Option<String>,
    turn: Option<i64>,
    duration: Option<i64>,
    error_class: String,
    signature: Option<i64>,
    certainty: String,
    channels: u8,
    data: String,
    derived: String,
    /// The task's place among equal places of rows.
    place: i64,
}

/// A fact, whose it is and when it last changed.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) key: Key,
    pub(crate) version: u64,
    pub(crate) place: i64,
    pub(crate) row: FactRow,
}

impl From<FactShown> for Stored {
    fn from(shown: FactShown) -> Self {
        let row = FactRow {
            fact: shown.fact,
            kind: Kind::parse(&shown.kind),
            list: List::from_code(i64::from(shown.list)),
            lane: Lane::parse(&shown.lane).unwrap_or(Lane::Telemetry),
            occurred: shown.occurred,
            order: shown.ord,
            ended: shown.ended,
            state: CallState::parse(&shown.state),
            open: shown.open == 1,
            tool: shown.tool,
            turn: shown.turn,
            duration: shown.duration,
            error: ErrorClass::parse(&shown.error_class),
            signature: shown.signature,
            certainty: Certainty::parse(&shown.certainty).unwrap_or(Certainty::Guessed),
            channels: shown.channels,
            // What cannot be read is lost for showing; what the columns know stays.
            data: serde_json::from_str(&shown.data).unwrap_or_default(),
            derived: serde_json::from_str(&shown.derived).unwrap_or_default(),
        };
        Self {
            key: Key { owner: shown.owner, task: shown.task },
            version: shown.version,
            place: shown.place,
            row,
        }
    }
}

impl Reader {
    /// Facts; `rest` begins behind the table.
    pub(crate) fn facts(&self, rest: &str) -> Answer<Vec<Stored>> {
        let columns = columns::<FactShown>().replace("`place`", &format!("{PLACE} AS place"));
        let shown = self.rows::<FactShown>(&format!("SELECT {columns} FROM fact FINAL {rest}"))?;
        Ok(shown.into_iter().map(Stored::from).collect())
    }
}
