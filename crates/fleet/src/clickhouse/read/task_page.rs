//! Pages of tasks, newest first.
//!
//! To deduplicate all tasks for a page of them would cost most of the page, and grow with the history. So a first pass
//! reads one column in every version to find the time down to which enough tasks match; a second deduplicates the tasks
//! with such a version, and keeps those with a matching newest version.

use std::collections::{HashMap, HashSet};

use agent_tracer_ledger::Answer;
use clickhouse::Row;
use serde::Deserialize;

use super::family::TaskColumns;
use super::task::PLACE;
use super::{Reader, TaskKey};
use crate::clickhouse::write::TaskLine;

/// Factor by which the next step reads further where many older versions are in the way.
const WIDER: usize = 8;

/// A task by its place in the list.
#[derive(Row, Deserialize)]
pub(crate) struct TaskPosition {
    owner: String,
    task: String,
    pub(crate) last: i64,
    pub(crate) place: i64,
}

impl TaskPosition {
    fn key(&self) -> TaskKey {
        TaskKey { owner: self.owner.clone(), task: self.task.clone() }
    }
}

impl Reader {
    /// Builds the tasks that meet all conditions and stand behind a place, newest first, so many at most.
    pub(crate) fn task_positions(
        &self,
        all: &[String],
        behind: Option<[i64; 2]>,
        limit: usize,
    ) -> Answer<Vec<TaskPosition>> {
        let (mut found, mut wanted) = (Vec::new(), limit);
        let mut end = behind.map(|[last, _]| format!("last <= {last}"));
        let behind = behind.map(|[last, place]| format!("(last, {PLACE}) < ({last}, {place})"));
        loop {
            let mut any = all.to_vec();
            any.extend(end.take());
            let edge: Vec<i64> = self.rows(&format!(
                "SELECT last FROM task WHERE {} ORDER BY last DESC LIMIT 1 OFFSET {}",
                any.join(" AND "),
                wanted.saturating_sub(1)
            ))?;
            // Without an edge there are no more than this.
            let edge = edge.first().copied();
            any.extend(edge.map(|edge| format!("last >= {edge}")));
            let any = any.join(" AND ");
            let behind = behind.as_ref().map_or_else(String::new, |behind| format!(" AND {behind}"));
            found.extend(self.rows::<TaskPosition>(&format!(
                "SELECT owner, task, last, {PLACE} AS place FROM task FINAL \
                 WHERE (owner, task) IN (SELECT owner, task FROM task WHERE {any}) AND {any}{behind} \
                 ORDER BY last DESC, place DESC LIMIT {}",
                limit - found.len()
            ))?);
            match edge {
                Some(edge) if found.len() < limit => end = Some(format!("last < {edge}")),
                _ => return Ok(found),
            }
            wanted = wanted.saturating_mul(WIDER);
        }
    }

    /// Returns those of the listed tasks that have a failed call in their tree.
    pub(crate) fn failing_positions(
        &self,
        all: &[String],
        mut behind: Option<[i64; 2]>,
        limit: usize,
    ) -> Answer<Vec<TaskPosition>> {
        let mut found = Vec::new();
        loop {
            let part = self.task_positions(all, behind, limit)?;
            let is_last = part.len() < limit;
            behind = part.last().map(|listed| [listed.last, listed.place]);
            let failing = self.with_failures(&part)?;
            found.extend(part.into_iter().filter(|listed| failing.contains(&listed.key())));
            if is_last || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }

    /// Returns the listed tasks with a failed call in their tree.
    fn with_failures(&self, listed: &[TaskPosition]) -> Answer<HashSet<TaskKey>> {
        let family = self.families(self.lines_of(listed)?)?;
        let parents: HashMap<TaskKey, TaskKey> =
            family.iter().filter_map(|line| Some((line.key(), line.parent_key()?))).collect();
        let mut failing = HashSet::new();
        for line in family.iter().filter(|line| line.failures > 0) {
            let mut next = Some(line.key());
            // Above one that is known all are known, in a ring of parents too.
            while let Some(key) = next.take_if(|key| failing.insert(key.clone())) {
                next = parents.get(&key).cloned();
            }
        }
        Ok(failing)
    }

    /// Returns the rows of listed tasks, in the same order.
    pub(crate) fn lines_of(&self, listed: &[TaskPosition]) -> Answer<Vec<TaskLine>> {
        let keys: Vec<TaskKey> = listed.iter().map(TaskPosition::key).collect();
        let mut lines: HashMap<TaskKey, TaskLine> = self.newest_tasks(&keys)?;
        Ok(keys.iter().filter_map(|key| lines.remove(key)).collect())
    }
}
