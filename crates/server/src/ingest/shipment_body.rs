//! Reads a shipment within bounds: of size, of number, of versions and times.
//!
//! A shipment is refused whole if it holds more than a sender of ours ever puts into one, a record that is too large to
//! be shown, or a version that no ledger reaches: the store keeps the greatest version of a record, so one that cannot
//! be surpassed could never be corrected or taken back. A time outside of 1970 to 2100 is moved to the nearer end and
//! counted: the clock of a machine may be wrong, and refusing its records would stop its shipping for good.

use agent_tracer_agents::extent::{Bounds, measure};
use agent_tracer_event::Millis;
use agent_tracer_ledger::shipment::{DerivedTask, Removed, Shipment, ShippedFact};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::events::TIMES;

/// The most values of a whole shipment, before anything is built of it.
pub(super) const BOUNDS: Bounds = Bounds { values: 500_000, containers: 100_000 };

/// The most values of one record.
const RECORD: Bounds = Bounds { values: 10_000, containers: 4_000 };

/// The longest record, in bytes. What a machine records of one event is some kilobytes, and its texts are cut.
const RECORD_BYTES: usize = 1 << 20;

/// The most rows that a shipment becomes: its records, and those that became part of another or are to go.
const ROWS: usize = 16_000;

/// The most values that all records together hold besides their own members.
const METADATA: usize = 150_000;

/// The greatest place in a ledger's order of delivery, which is what a version is.
// More than this a script cannot count exactly, and places are shown to scripts.
const GREATEST: u64 = (1 << 53) - 1;

/// A shipment, and how many of its records had an impossible time.
#[derive(Debug)]
pub(super) struct ShipmentBody {
    pub(super) shipment: Shipment,
    pub(super) clamped: u64,
}

/// A shipment with records that are not built yet.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    format: u32,
    #[serde(borrow)]
    tasks: Vec<&'a RawValue>,
    #[serde(borrow)]
    facts: Vec<&'a RawValue>,
    until: u64,
    #[serde(default)]
    removed: Option<Removed>,
}

/// A reason why a body is not a valid shipment.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    /// The body or a record in it is not a shipment.
    #[error("invalid shipment: {0}")]
    Json(#[from] serde_json::Error),
    /// There are too many rows.
    #[error("the shipment has more than {ROWS} rows")]
    Rows,
    /// A version is out of range.
    #[error("version {0} is greater than any ledger reaches")]
    Version(u64),
    /// The records hold too much metadata.
    #[error("the records hold more than {METADATA} values of metadata")]
    Metadata,
    /// A record is too long.
    #[error("a record is over {RECORD_BYTES} bytes")]
    RecordBytes,
    /// A record holds too many values.
    #[error("a record holds more than {} values", RECORD.values)]
    RecordValues,
}

/// Parses a shipment.
pub(super) fn read(bytes: &[u8]) -> Result<ShipmentBody, BodyError> {
    let wire: Wire<'_> = serde_json::from_slice(bytes)?;
    let removed = wire.removed.as_ref();
    let mut rows = wire.tasks.len() + wire.facts.len() + removed.map_or(0, |removed| removed.tasks.len());
    check_rows(rows)?;
    check_version(wire.until)?;
    if let Some(removed) = removed {
        check_version(removed.version)?;
    }
    let mut clamped = 0;
    let mut tasks = Vec::with_capacity(wire.tasks.len());
    for raw in wire.tasks {
        let mut task: DerivedTask = record(raw)?;
        check_version(task.version)?;
        clamped += u64::from(clamp_task(&mut task));
        tasks.push(task);
    }
    let mut facts = Vec::with_capacity(wire.facts.len());
    let mut metadata = 0;
    for raw in wire.facts {
        let mut fact: ShippedFact = record(raw)?;
        check_version(fact.version)?;
        rows += fact.parts.len();
        check_rows(rows)?;
        metadata +=
            nodes(&fact.row.data.metadata) + nodes(&fact.row.derived) + fact.row.data.file_paths.len();
        if metadata > METADATA {
            return Err(BodyError::Metadata);
        }
        clamped += u64::from(clamp_fact(&mut fact));
        facts.push(fact);
    }
    let shipment = Shipment { format: wire.format, tasks, facts, until: wire.until, removed: wire.removed };
    Ok(ShipmentBody { shipment, clamped })
}

/// Builds one record.
fn record<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, BodyError> {
    let text = raw.get();
    if text.len() > RECORD_BYTES {
        return Err(BodyError::RecordBytes);
    }
    if !RECORD.hold(measure(text.as_bytes())) {
        return Err(BodyError::RecordValues);
    }
    Ok(serde_json::from_str(text)?)
}

fn check_rows(rows: usize) -> Result<(), BodyError> {
    match rows {
        0..=ROWS => Ok(()),
        _ => Err(BodyError::Rows),
    }
}

fn check_version(version: u64) -> Result<(), BodyError> {
    match version {
        0..=GREATEST => Ok(()),
        _ => Err(BodyError::Version(version)),
    }
}

/// Counts values within members.
fn nodes(members: &Map<String, Value>) -> usize {
    members.values().map(value_nodes).sum()
}

fn value_nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(value_nodes).sum(),
        Value::Object(members) => nodes(members),
        _ => 0,
    }
}

/// Moves impossible times to the nearer end. Returns whether there were any.
fn clamp_task(task: &mut DerivedTask) -> bool {
    let times =
        [Some(&mut task.started), Some(&mut task.last), task.ended.as_mut(), task.waiting_since.as_mut()];
    clamp(times)
}

fn clamp_fact(fact: &mut ShippedFact) -> bool {
    clamp([Some(&mut fact.row.occurred), fact.row.ended.as_mut()])
}

fn clamp<const COUNT: usize>(times: [Option<&mut i64>; COUNT]) -> bool {
    let mut is_clamped = false;
    for time in times.into_iter().flatten() {
        let Millis(possible) = Millis(*time).clamp(*TIMES.start(), *TIMES.end());
        is_clamped |= possible != *time;
        *time = possible;
    }
    is_clamped
}
