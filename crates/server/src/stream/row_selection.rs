//! Filters the rows of a follower.
//!
//! A row knows its task, lane and kind, and on a team's server whose it is. Its agent, its project and its ancestors are the task's, which the store knows;
//! they are remembered for a moment, because they may be corrected.

use std::collections::HashMap;

use agent_tracer_event::{Agent, Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{OwnerFilter, Store};

use crate::app::App;
use crate::query::QueryParams;

/// The time for which a cached task is used.
const BELIEVED_MS: i64 = 2_000;

/// The most tasks that are remembered.
const REMEMBERED: usize = 4_096;

/// The most ancestors that are looked at.
const DEPTH: usize = 64;

/// The filter of a follower.
#[derive(Default)]
pub(super) struct RowSelection {
    task: Option<TaskId>,
    tree: bool,
    lanes: Vec<Lane>,
    kinds: Vec<Kind>,
    agent: Option<Agent>,
    project: Option<String>,
    pub(super) owner: Option<String>,
    /// By task, and whose it is: two people may have the same one.
    known: HashMap<(Option<String>, String), (i64, bool)>,
}

impl RowSelection {
    pub(super) fn from_params(params: &QueryParams) -> Self {
        Self {
            task: params.task("task"),
            tree: params.flag("tree"),
            lanes: params.words("lane", Lane::parse),
            kinds: params.words("kind", Kind::parse),
            agent: params.word("agent", Agent::parse),
            project: params.text("project"),
            owner: params.text("owner"),
            known: HashMap::new(),
        }
    }

    /// Returns whether the row's own fields pass.
    pub(super) fn by_itself(&self, row: &Row) -> bool {
        (self.lanes.is_empty() || self.lanes.contains(&row.lane))
            && (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && (self.owner.is_none() || self.owner == row.owner)
            && (self.tree || self.task.as_ref().is_none_or(|task| task.as_str() == row.task_id))
    }

    /// Returns whether the store must be params about a row's task.
    pub(super) fn asks_the_store(&self) -> bool {
        self.tree || self.agent.is_some() || self.project.is_some()
    }

    /// Returns whether the row's task passes. Asks the store.
    pub(super) fn by_task(&mut self, app: &App, row: &Row) -> bool {
        let now = (app.deps.clock)();
        let key = (row.owner.clone(), row.task_id.clone());
        if let Some((at, wanted)) = self.known.get(&key)
            && (now.0 - at).abs() < BELIEVED_MS
        {
            return *wanted;
        }
        if self.known.len() >= REMEMBERED {
            // All at once: each is out of date within seconds, so an order of age would cost more than asking again.
            self.known.clear();
        }
        let owners = OwnerFilter { owner: row.owner.clone(), machine: None };
        let narrowed = row.owner.as_ref().and_then(|_| app.deps.store.narrowed(&owners));
        let wanted = self.reload(narrowed.as_ref().unwrap_or(&app.deps.store).as_ref(), &row.task_id, now);
        self.known.insert(key, (now.0, wanted));
        wanted
    }

    fn reload(&self, store: &dyn Store, id: &str, now: Millis) -> bool {
        let ask = |id: &str| TaskId::parse(id).and_then(|id| store.task(now, &id).ok());
        let mut task = if self.agent.is_some() || self.project.is_some() {
            let Some(task) = ask(id) else { return false };
            let owned = self.agent.is_none_or(|agent| task.agent == agent)
                && self.project.as_ref().is_none_or(|project| task.project == *project);
            if !owned {
                return false;
            }
            Some(task)
        } else {
            None
        };
        let Some(root) = self.task.as_ref().filter(|_| self.tree) else { return true };
        let mut at = id.to_owned();
        for _ in 0..DEPTH {
            if at == root.as_str() {
                return true;
            }
            let parent = task.take().or_else(|| ask(&at)).and_then(|task| task.parent_task_id);
            let Some(parent) = parent else { return false };
            at = parent;
        }
        false
    }
}
