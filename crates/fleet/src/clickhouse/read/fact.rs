//! Facts as they are read, and the rows that people see.

use std::collections::{BTreeSet, HashMap, HashSet};

use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::FactRow;
use clickhouse::Row;
use serde::Deserialize;

use super::task::PLACE;
use super::{Reader, TaskKey, columns};
use crate::clickhouse::fact_columns::{FactColumns, fact_columns};
use crate::clickhouse::fleet::{any_of, literal};

fact_columns! {
    /// An answer with facts: the columns of a fact's row, and what places it. [`StoredFact`] is what becomes of it; the
    /// client itself can only fill columns of its own types.
    #[derive(Clone, Debug, Row, Deserialize)]
    struct FactAnswer {
        own {
            owner: String,
            task: String,
            version: u64,
            gone: u8,
            arrived: i64,
            /// The task's place among equal places of rows.
            place: i64,
        }
    }
}

/// Holds a fact with its owner and the time of its last change.
#[derive(Clone, Debug)]
pub(crate) struct StoredFact {
    pub(crate) key: TaskKey,
    pub(crate) version: u64,
    /// Time of arrival; of a repeated fact, the last.
    pub(crate) arrived: i64,
    pub(crate) place: i64,
    pub(crate) row: FactRow,
}

impl From<FactAnswer> for StoredFact {
    fn from(answer: FactAnswer) -> Self {
        Self {
            key: TaskKey { owner: answer.owner.clone(), task: answer.task.clone() },
            version: answer.version,
            arrived: answer.arrived,
            place: answer.place,
            row: answer.into_fact(),
        }
    }
}

/// A version of a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Version {
    pub(crate) key: TaskKey,
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
        let columns = columns::<FactAnswer>().replace("`place`", &format!("{PLACE} AS place"));
        let rows = self.rows::<FactAnswer>(&format!(
            "SELECT {columns} FROM fact WHERE owner IN {} AND (owner, task, fact) IN ({})",
            any_of(versions.iter().map(|one| one.key.owner.as_str())),
            facts.into_iter().collect::<Vec<_>>().join(", ")
        ))?;
        let mut newest: HashMap<(TaskKey, i64), FactAnswer> = HashMap::new();
        for row in rows {
            let key = (TaskKey { owner: row.owner.clone(), task: row.task.clone() }, row.fact);
            if newest
                .get(&key)
                // By arrival among equal versions: a repeated shipment is the same record, and the stream tells of
                // its last arrival.
                .is_none_or(|known| (known.version, known.arrived) <= (row.version, row.arrived))
            {
                newest.insert(key, row);
            }
        }
        // Deduplicated here: `FINAL` over the few granules in question reads and merges every column of all their
        // rows.
        let found = newest.into_values().filter(|row| row.gone == 0).map(StoredFact::from).filter(|stored| {
            let StoredFact { key, version, row, .. } = stored;
            versions.contains(&Version { key: key.clone(), fact: row.fact, version: *version })
        });
        Ok(found.collect())
    }

    /// Facts; `rest` begins behind the table.
    pub(crate) fn facts(&self, rest: &str) -> Answer<Vec<StoredFact>> {
        let columns = columns::<FactAnswer>().replace("`place`", &format!("{PLACE} AS place"));
        let found = self.rows::<FactAnswer>(&format!("SELECT {columns} FROM fact FINAL {rest}"))?;
        Ok(found.into_iter().map(StoredFact::from).collect())
    }
}
