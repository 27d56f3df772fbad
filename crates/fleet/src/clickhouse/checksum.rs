//! Verifies written rows: compares every column of every row by counts and checksums.

use std::hash::{DefaultHasher, Hash, Hasher};

use agent_tracer_ledger::shipment::Shipment;
use serde::Serialize;

use crate::clickhouse::fleet::{Fleet, FleetError, as_it_is, literal};
use crate::clickhouse::read::columns;
use crate::clickhouse::write::{FactLine, TaskLine};

/// Limit of rows that one statement looks up.
const AT_ONCE: usize = 2_000;

/// Holds the checksum of some rows. The order of rows does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// Tasks.
    pub tasks: u64,
    /// Facts.
    pub facts: u64,
    /// All columns of all of them.
    pub sum: u64,
}

impl std::ops::AddAssign for Checksum {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.facts += other.facts;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

fn sum_of<T: Serialize>(rows: &[T]) -> u64 {
    rows.iter().fold(0, |sum, row| {
        // Both sides are computed by this process, so the hash need not be the same from version to version.
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(row).unwrap_or_default().hash(&mut hasher);
        // Added and not chained: the store returns rows in its own order, and in parts.
        sum.wrapping_add(hasher.finish())
    })
}

impl Checksum {
    /// Returns the checksum that a shipment should have under an owner.
    #[must_use]
    pub fn of(owner: &str, shipment: &Shipment) -> Self {
        let tasks: Vec<TaskLine> = shipment.tasks.iter().map(|task| TaskLine::new(owner, task)).collect();
        let facts: Vec<FactLine> = shipment.facts.iter().map(|fact| FactLine::new(owner, fact)).collect();
        Self {
            tasks: tasks.len() as u64,
            facts: facts.len() as u64,
            sum: sum_of(&tasks).wrapping_add(sum_of(&facts)),
        }
    }
}

impl Fleet {
    /// Returns the checksum of the stored rows that a shipment names.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn checksum(&self, owner: &str, shipment: &Shipment) -> Result<Checksum, FleetError> {
        let mut sum = Checksum::default();
        let scope = format!("owner = {}", literal(owner));
        for part in shipment.tasks.chunks(AT_ONCE) {
            let names: Vec<String> = part.iter().map(|task| literal(&task.task)).collect();
            let ask = format!(
                "SELECT {} FROM task FINAL WHERE {scope} AND task IN ({})",
                columns::<TaskLine>(),
                names.join(", ")
            );
            let rows: Vec<TaskLine> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
            sum += Checksum { tasks: rows.len() as u64, facts: 0, sum: sum_of(&rows) };
        }
        for part in shipment.facts.chunks(AT_ONCE) {
            let names: Vec<String> =
                part.iter().map(|fact| format!("({}, {})", literal(&fact.task), fact.row.fact)).collect();
            let ask = format!(
                "SELECT {} FROM fact FINAL WHERE {scope} AND (task, fact) IN ({})",
                columns::<FactLine>(),
                names.join(", ")
            );
            let rows: Vec<FactLine> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
            sum += Checksum { tasks: 0, facts: rows.len() as u64, sum: sum_of(&rows) };
        }
        Ok(sum)
    }
}
