//! Questions, answered from the newest version of every row.
//!
//! A reader is about some owners, and maybe about one machine: no statement here reads a row of another. Questions about one task read the rows
//! of that task, which are neighbours; sums over time are those of closed days, and what open days add to them.

mod closed_days;
mod fact;
mod family;
mod files;
mod find;
mod follow;
mod limits;
mod lists;
mod loops;
mod numbers;
mod rules;
mod sums;
mod task;
mod task_page;
mod turns;
mod usage;

use std::sync::Arc;

use agent_tracer_ledger::view::{OutcomeCounts, SourceHealth, StoreHealth, UnrecognisedName};
use agent_tracer_ledger::{Answer, Diagnostics, FaultCause, OwnerFilter, QueryError, Store};
use clickhouse::{RowOwned, RowRead};

use crate::clickhouse::fleet::{Fleet, FleetError, any_of, as_it_is, literal};
pub(crate) use sums::join_tasks;

impl From<FleetError> for QueryError {
    fn from(error: FleetError) -> Self {
        Self::Store(FaultCause::new(error))
    }
}

/// Answers questions about what some owners recorded.
#[derive(Clone)]
pub struct Reader {
    fleet: Arc<Fleet>,
    /// None: all of them.
    owners: Option<Vec<String>>,
    /// None: every machine.
    machine: Option<String>,
}

/// Identifies a task by owner and id: two owners may have the same id, and these are two tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskKey {
    pub(crate) owner: String,
    pub(crate) task: String,
}

/// A row that only says which task.
#[derive(clickhouse::Row, serde::Deserialize)]
struct TaskRef {
    owner: String,
    task: String,
}

impl From<TaskRef> for TaskKey {
    fn from(named: TaskRef) -> Self {
        Self { owner: named.owner, task: named.task }
    }
}

impl Reader {
    /// Makes a reader of what these owners recorded. Without owners there is nothing to read.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>, mut owners: Vec<String>) -> Self {
        owners.sort();
        owners.dedup();
        Self { fleet, owners: Some(owners), machine: None }
    }

    /// Makes a reader of what all owners recorded.
    #[must_use]
    pub const fn of_all_owners(fleet: Arc<Fleet>) -> Self {
        Self { fleet, owners: None, machine: None }
    }

    /// Narrows the reader to one of its owners, or to one machine.
    #[must_use]
    pub fn filtered(&self, filter: &OwnerFilter) -> Self {
        let mut reader = self.clone();
        if let Some(owner) = &filter.owner {
            let has = self.owners.as_ref().is_none_or(|owners| owners.contains(owner));
            reader.owners = Some(has.then(|| owner.clone()).into_iter().collect());
        }
        if let Some(machine) = &filter.machine {
            reader.machine = Some(machine.clone());
        }
        reader
    }

    fn rows<T: RowOwned + RowRead>(&self, statement: &str) -> Answer<Vec<T>> {
        let query = self.fleet.client().query(&as_it_is(statement));
        Ok(self.fleet.wait(query.fetch_all::<T>())?)
    }

    /// Builds the condition that a row of `task` or `day_sum`, which know their machine, is of an owner and a machine
    /// that are asked about.
    fn task_filter(&self) -> String {
        let machine = self.machine.as_ref().map(|machine| format!(" AND machine = {}", literal(machine)));
        format!("{}{}", self.owner_filter(), machine.unwrap_or_default())
    }

    /// Returns the same for a fact, which is where its task is.
    fn fact_filter(&self) -> String {
        let owners = self.owner_filter();
        match self.machine {
            None => owners,
            Some(_) => {
                format!(
                    "{owners} AND (owner, task) IN (SELECT owner, task FROM task FINAL WHERE {})",
                    self.task_filter()
                )
            }
        }
    }

    /// Builds the condition that a row is of an owner who is asked about.
    fn owner_filter(&self) -> String {
        match &self.owners {
            None => "1".to_owned(),
            // An empty list behind `IN` is an error of the engine, and without the condition the rows of all owners
            // would be read.
            Some(owners) if owners.is_empty() => "0".to_owned(),
            Some(owners) => format!("owner IN {}", texts_in(owners)),
        }
    }
}

/// Lists texts behind `IN`.
fn texts_in<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| literal(text.as_ref())).collect();
    format!("({})", texts.join(", "))
}

/// Lists tasks behind `(owner, task) IN`, never none, and once more their owners: by pairs a cluster does not know
/// which of its shards to ask.
fn keys_in<'key>(keys: impl IntoIterator<Item = &'key TaskKey>) -> String {
    let (mut pairs, mut owners) = (Vec::new(), Vec::new());
    for TaskKey { owner, task } in keys {
        pairs.push(format!("({}, {})", literal(owner), literal(task)));
        owners.push(owner.as_str());
    }
    if pairs.is_empty() {
        return "(('', '')) AND owner = ''".to_owned();
    }
    format!("({}) AND owner IN {}", pairs.join(", "), any_of(owners))
}

impl Store for Reader {
    fn narrowed(&self, owners: &OwnerFilter) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.filtered(owners)))
    }
}

// What arrived at a machine is counted on that machine: a team's store has no outcomes and no sources.
impl Diagnostics for Reader {
    fn outcomes(&self) -> Answer<OutcomeCounts> {
        Ok(OutcomeCounts::default())
    }

    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>> {
        Ok(Vec::new())
    }

    fn sources(&self) -> Answer<Vec<SourceHealth>> {
        Ok(Vec::new())
    }

    fn health(&self) -> Answer<StoreHealth> {
        Self::health(self)
    }
}

/// Returns the columns of a row, as a statement names them.
pub(crate) fn columns<T: clickhouse::Row>() -> String {
    let names: Vec<String> = T::COLUMN_NAMES.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
