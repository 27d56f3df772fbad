//! Facts as they are read, and the rows that people see.

use std::collections::{BTreeSet, HashMap, HashSet};

use agent_tracer_event::{CallState, Certainty, ErrorClass, Kind, Lane};
use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::{FactRow, List};
use clickhouse::Row;
use serde::Deserialize;

use super::task::PLACE;
use super::{Key, Reader, columns};
use crate::clickhouse::fleet::{any_of, literal};

/// The columns of a fact that rows and lists show.
#[derive(Clone, Debug, Row, Deserialize)]
pub(crate) struct FactShown {
    pub(crate) owner: String,
    pub(crate) task: String,
    fact: i64,
    version: u64,
    gone: u8,
    arrived: i64,
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

/// Holds a fact with its owner and the time of its last change.
#[derive(Clone, Debug)]
pub(crate) struct StoredFact {
    pub(crate) key: Key,
    pub(crate) version: u64,
    /// Time of arrival; of a repeated fact, the last.
    pub(crate) arrived: i64,
    pub(crate) place: i64,
    pub(crate) row: FactRow,
}

impl From<FactShown> for StoredFact {
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
            arrived: shown.arrived,
            place: shown.place,
            row,
        }
    }
}

/// A version of a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Version {
    pub(crate) key: Key,
    pub(crate) fact: i64,
    pub(crate) version: u64,
}

impl Reader {
    /// Returns the newest version of each fact among the given versions, each once, in no order.
    pub(crate) fn newest_of(&self, versions: Vec<Version>) -> Answer<Vec<StoredFact>> {
        let versions: HashSet<Version> = versions.into_iter().collect();
        if versions.is_empty() {
            return Ok(Vec::new());
        }
        let facts: BTreeSet<String> = versions
            .iter()
            .map(|Version { key, fact, .. }| {
                format!("({}, {}, {fact})", literal(&key.owner), literal(&key.task))
            })
            .collect();
        let columns = columns::<FactShown>().replace("`place`", &format!("{PLACE} AS place"));
        let rows = self.rows::<FactShown>(&format!(
            "SELECT {columns} FROM fact WHERE owner IN {} AND (owner, task, fact) IN ({})",
            any_of(versions.iter().map(|one| one.key.owner.as_str())),
            facts.into_iter().collect::<Vec<_>>().join(", ")
        ))?;
        let mut newest: HashMap<(Key, i64), FactShown> = HashMap::new();
        for row in rows {
            let key = (Key { owner: row.owner.clone(), task: row.task.clone() }, row.fact);
            if newest
                .get(&key)
                .is_none_or(|known| (known.version, known.arrived) <= (row.version, row.arrived))
            {
                newest.insert(key, row);
            }
        }
        let shown = newest.into_values().filter(|row| row.gone == 0).map(StoredFact::from).filter(|stored| {
            let StoredFact { key, version, row, .. } = stored;
            versions.contains(&Version { key: key.clone(), fact: row.fact, version: *version })
        });
        Ok(shown.collect())
    }

    /// Facts; `rest` begins behind the table.
    pub(crate) fn facts(&self, rest: &str) -> Answer<Vec<StoredFact>> {
        let columns = columns::<FactShown>().replace("`place`", &format!("{PLACE} AS place"));
        let shown = self.rows::<FactShown>(&format!("SELECT {columns} FROM fact FINAL {rest}"))?;
        Ok(shown.into_iter().map(StoredFact::from).collect())
    }
}
