//! Questions, answered from the newest version of every row.
//!
//! A reader is about some owners: no statement here reads a row of anybody else. Questions about one task read the rows
//! of that task, which are neighbours; sums over time are those of closed days, and what open days add to them.

mod closed;
mod fact;
mod family;
mod files;
mod find;
mod follow;
mod limits;
mod lists;
mod numbers;
mod rules;
mod store;
mod sums;
mod task;
mod turns;
mod usage;

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_ledger::{Answer, QueryError};
use clickhouse::{RowOwned, RowRead};

use crate::fleet::{Fleet, FleetError, as_it_is, literal};
pub(crate) use sums::whose_tasks;

impl From<FleetError> for QueryError {
    fn from(error: FleetError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Answers questions about what some owners recorded.
#[derive(Clone)]
pub struct Reader {
    fleet: Arc<Fleet>,
    /// None: everybody.
    owners: Option<Vec<String>>,
}

/// A task and whose it is: the same id may come from two owners, and they are two tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) owner: String,
    pub(crate) task: String,
}

impl Reader {
    /// A reader of what these owners recorded. Without owners there is nothing to read.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>, mut owners: Vec<String>) -> Self {
        owners.sort();
        owners.dedup();
        Self { fleet, owners: Some(owners) }
    }

    /// A reader of what everybody recorded.
    #[must_use]
    pub const fn everybody(fleet: Arc<Fleet>) -> Self {
        Self { fleet, owners: None }
    }

    fn rows<T: RowOwned + RowRead>(&self, statement: &str) -> Answer<Vec<T>> {
        let query = self.fleet.client().query(&as_it_is(statement));
        Ok(self.fleet.wait(query.fetch_all::<T>())?)
    }

    /// The condition that a row is of an owner who is asked about.
    fn mine(&self) -> String {
        match &self.owners {
            None => "1".to_owned(),
            Some(owners) if owners.is_empty() => "0".to_owned(),
            Some(owners) => format!("owner IN {}", texts_in(owners)),
        }
    }
}

/// A list of texts behind `IN`.
fn texts_in<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| literal(text.as_ref())).collect();
    format!("({})", texts.join(", "))
}

/// A list of tasks behind `(owner, task) IN`, never empty, and once more their owners: by pairs a cluster does not know
/// which of its shards to ask.
fn keys_in<'key>(keys: impl IntoIterator<Item = &'key Key>) -> String {
    let (mut pairs, mut owners) = (Vec::new(), BTreeSet::new());
    for Key { owner, task } in keys {
        pairs.push(format!("({}, {})", literal(owner), literal(task)));
        owners.insert(owner.as_str());
    }
    if pairs.is_empty() {
        return "(('', '')) AND owner = ''".to_owned();
    }
    let owners: Vec<&str> = owners.into_iter().collect();
    format!("({}) AND owner IN {}", pairs.join(", "), texts_in(&owners))
}

/// The columns of a row, as a statement names them.
pub(crate) fn columns<T: clickhouse::Row>() -> String {
    let names: Vec<String> = T::COLUMN_NAMES.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
