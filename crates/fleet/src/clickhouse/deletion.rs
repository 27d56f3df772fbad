//! Deletes by age, person, project and task.
//!
//! Law: a deletion leaves no row, in no version and in no table. Tasks go last, because they connect the other rows: an
//! interrupted deletion is simply repeated. The sums of affected days go whole, and for a day no process makes them
//! again, so that none includes rows that are just being deleted.

use std::collections::BTreeSet;

use clickhouse::Row;
use serde::Deserialize;

use crate::clickhouse::days::OwnersDay;
use crate::clickhouse::fleet::{Fleet, FleetError, as_it_is, literal};
use crate::clickhouse::schema::{self, TABLES};

/// Limit of tasks that one statement deletes.
const AT_ONCE: usize = 1_000;

/// Time during which no process makes the sums of a day with deletions, in milliseconds.
const AHEAD_MS: i64 = 86_400_000;

/// Selects the rows to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletionScope {
    /// Everything of a person or machine: sessions, tokens, and what they read.
    Owner(String),
    /// Everything that was done in a project, by all owners or by one.
    Project {
        /// The project, as tasks name it.
        project: String,
        /// Only what this owner did there.
        owner: Option<String>,
    },
}

/// Counts the rows of each table, in all their versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowCounts(pub Vec<(&'static str, u64)>);

impl RowCounts {
    /// Adds up all tables.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|(_, rows)| rows).sum()
    }
}

#[derive(Row, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct TaskRef {
    owner: String,
    task: String,
}

impl Fleet {
    /// Keeps rows for so many days after they happened; none keeps them for ever. The engine lets them go when it next
    /// merges, within hours.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn keep_for(&self, days: Option<u32>) -> Result<(), FleetError> {
        if days.is_none() && self.kept_for()?.is_none() {
            return Ok(());
        }
        schema::keep_for(days, self.layout()).iter().try_for_each(|statement| self.run(statement))
    }

    /// Returns for how many days rows are kept; `None` is for ever.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn kept_for(&self) -> Result<Option<u32>, FleetError> {
        let ask = "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() \
                   AND name IN ('fact', 'fact_local') AND create_table_query LIKE '%toIntervalDay(%' LIMIT 1";
        let found: Vec<String> = self.wait(self.client().query(ask).fetch_all())?;
        let days = found.first().and_then(|text| text.split_once("toIntervalDay("));
        Ok(days.and_then(|(_, rest)| rest.split(')').next()?.trim().parse().ok()))
    }

    /// Returns the rows that a deletion would remove from every table, in all their versions.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn rows_of(&self, what: &DeletionScope) -> Result<RowCounts, FleetError> {
        let mut rows = Vec::new();
        match what {
            DeletionScope::Owner(owner) => {
                for table in TABLES {
                    rows.push((table.name, self.count(table.name, &owner_filter(table.name, owner))?));
                }
            }
            DeletionScope::Project { .. } => {
                let found = self.tasks_of(what)?;
                for table in ["fact", "task_day", "visit", "task"] {
                    let mut sum = 0;
                    for part in found.chunks(AT_ONCE) {
                        sum += self.count(table, &tasks_filter(part))?;
                    }
                    rows.push((table, sum));
                }
            }
        }
        Ok(RowCounts(rows))
    }

    /// Forgets it. When this returns, no row of it is there. Gives what was.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses: then a part may be gone, and the same again completes it.
    pub fn forget(&self, what: &DeletionScope) -> Result<RowCounts, FleetError> {
        let rows = self.rows_of(what)?;
        match what {
            DeletionScope::Owner(owner) => {
                // Tokens first: what is still on its way from there is refused.
                let mut tables: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                // Tasks last, because the other rows are found by them: a deletion that is interrupted can be
                // repeated.
                tables.sort_by_key(|table| (*table != "token", *table == "task"));
                for table in tables {
                    self.run(&schema::delete(table, &owner_filter(table, owner), self.layout()))?;
                }
            }
            DeletionScope::Project { .. } => {
                let found = self.tasks_of(what)?;
                for part in found.chunks(AT_ONCE) {
                    self.with_sums_dropped(&tasks_filter(part), || {
                        ["fact", "task_day", "visit", "task"].iter().try_for_each(|table| {
                            self.run(&schema::delete(table, &tasks_filter(part), self.layout()))
                        })
                    })?;
                }
            }
        }
        Ok(rows)
    }

    /// Deletes tasks of an owner as far as they were known at a version: what came later stays.
    pub(crate) fn remove(&self, owner: &str, tasks: &[String], version: u64) -> Result<(), FleetError> {
        for part in tasks.chunks(AT_ONCE) {
            let names: Vec<String> = part.iter().map(|task| literal(task)).collect();
            let scope = format!("owner = {} AND task IN ({})", literal(owner), names.join(", "));
            self.with_sums_dropped(&scope, || {
                let condition = format!("{scope} AND version <= {version}");
                ["fact", "task"]
                    .iter()
                    .try_for_each(|table| self.run(&schema::delete(table, &condition, self.layout())))?;
                self.drop_days_of_nothing(&scope)
            })?;
        }
        Ok(())
    }

    /// Deletes in which days tasks that meet a condition have facts, as far as they have none any more.
    fn drop_days_of_nothing(&self, tasks: &str) -> Result<(), FleetError> {
        let ask = format!("SELECT DISTINCT owner, task FROM fact WHERE {tasks}");
        let left: Vec<TaskRef> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
        let but = match left.is_empty() {
            true => String::new(),
            false => format!(" AND NOT ({})", tasks_filter(&left)),
        };
        self.run(&schema::delete("task_day", &format!("{tasks}{but}"), self.layout()))
    }

    /// Deletes something of facts that meet a condition, and the sums of all days that they stand in: what was said of a
    /// task is also in the keys of those sums.
    fn with_sums_dropped(
        &self,
        facts: &str,
        delete: impl FnOnce() -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        // Before the deletion: afterwards nothing tells in which days the facts stood.
        let days = self.days_of(facts)?;
        self.mark_ahead(&days, AHEAD_MS)?;
        delete()?;
        let days: Vec<OwnersDay> = days.into_iter().collect();
        for part in days.chunks(AT_ONCE) {
            let part: Vec<String> =
                part.iter().map(|(owner, day)| format!("({}, {day})", literal(owner))).collect();
            let condition = format!("(owner, day) IN ({})", part.join(", "));
            self.run(&schema::delete("day_sum", &condition, self.layout()))?;
        }
        Ok(())
    }

    /// Tasks of a project, and all that were ever below them: a subagent may have worked elsewhere.
    fn tasks_of(&self, what: &DeletionScope) -> Result<Vec<TaskRef>, FleetError> {
        let DeletionScope::Project { project, owner } = what else { return Ok(Vec::new()) };
        let scope =
            owner.as_ref().map_or_else(String::new, |owner| format!(" AND owner = {}", literal(owner)));
        let ask = format!(
            "SELECT DISTINCT owner, task FROM task WHERE project = {}{scope} ORDER BY owner, task",
            literal(project)
        );
        let found: Vec<TaskRef> = self.wait(self.client().query(&as_it_is(&ask)).fetch_all())?;
        let distinct: BTreeSet<TaskRef> = found.into_iter().collect();
        Ok(distinct.into_iter().collect())
    }

    fn count(&self, table: &str, condition: &str) -> Result<u64, FleetError> {
        let ask = as_it_is(&format!("SELECT count() FROM `{table}` WHERE {condition}"));
        self.wait(self.client().query(&ask).fetch_one())
    }
}

fn owner_filter(table: &str, owner: &str) -> String {
    let owner = literal(owner);
    match table {
        "visit" => format!("owner = {owner} OR reader = {owner}"),
        _ => format!("owner = {owner}"),
    }
}

fn tasks_filter(found: &[TaskRef]) -> String {
    let pairs: Vec<String> =
        found.iter().map(|one| format!("({}, {})", literal(&one.owner), literal(&one.task))).collect();
    format!("(owner, task) IN ({})", pairs.join(", "))
}
