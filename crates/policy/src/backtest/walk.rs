//! Walks the history: tasks newest first, each tree of them in the order in which things happened.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::{LocalTime, Policy};
use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::view::{Row, Task};
use agent_tracer_ledger::{Answer, MAX_LIMIT, Paging, QueryError, RowFilter, Store, TaskFilter};

use crate::backtest::days::DayCosts;
use crate::backtest::judge::Judge;
use crate::backtest::moment;
use crate::backtest::replay::Replay;
use crate::backtest::report::Backtest;

/// The most levels of a tree.
const DEPTH: usize = 64;

/// A moment, where the human is.
#[derive(Clone, Copy, Debug)]
pub struct LocalMoment {
    /// The day of the week and the minute.
    pub local: Option<LocalTime>,
    /// The beginning of the day.
    pub midnight: Millis,
}

/// Returns the cost of a response in pico-dollars; none if its model has no price.
pub type CostOf = Arc<dyn Fn(&Row) -> Option<u64> + Send + Sync>;

/// The surroundings of a replay.
#[derive(Clone)]
pub struct Setting {
    /// The user's home.
    pub user_home: Option<String>,
    /// Returns the local time of the human.
    pub local: Arc<dyn Fn(Millis) -> LocalMoment + Send + Sync>,
    /// Returns the cost of a response.
    pub cost_pico: CostOf,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting").finish_non_exhaustive()
    }
}

/// A request for a replay.
#[derive(Debug)]
pub struct ReplayRequest<'a> {
    /// The rules.
    pub policy: &'a Policy,
    /// From when on.
    pub since: Millis,
    /// Until when: now.
    pub now: Millis,
    /// Only this project.
    pub project: Option<String>,
    /// The surroundings.
    pub setting: &'a Setting,
}

/// The progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Trees of tasks that are done.
    pub trees: u64,
    /// Tool calls that were judged.
    pub calls: u64,
    /// The last event of the task that comes next; everything newer is done.
    pub reached: Option<Millis>,
}

/// Replays. `go_on` is asked after every page of rows: why to stop, if so.
///
/// # Errors
/// If the store cannot answer.
pub fn run(
    store: &dyn Store,
    request: &ReplayRequest<'_>,
    mut go_on: impl FnMut(&Progress) -> Option<&'static str>,
) -> Answer<Backtest> {
    let mut walk = Walk {
        store,
        request,
        judge: Judge::new(request.policy),
        days: DayCosts { store, setting: request.setting, sums: RefCell::default() },
        progress: Progress::default(),
        done: HashSet::new(),
    };
    let mut filter = TaskFilter {
        since: Some(request.since),
        project: request.project.clone(),
        paging: Paging { cursor: None, limit: MAX_LIMIT },
        ..TaskFilter::default()
    };
    let stopped = 'walk: loop {
        let page = store.tasks(request.now, &filter)?;
        for task in page.items {
            let Some(root) = walk.root_of(task)? else { continue };
            walk.progress.reached = Some(root.last_event_at);
            if let Some(why) = walk.tree(&root, &mut go_on)? {
                break 'walk Some(why);
            }
            walk.progress.trees += 1;
        }
        filter.paging.cursor = page.next_cursor;
        if filter.paging.cursor.is_none() {
            break None;
        }
    };
    Ok(walk.judge.report(request.since, request.now, stopped))
}

pub(crate) struct Walk<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) request: &'a ReplayRequest<'a>,
    pub(crate) judge: Judge,
    pub(crate) days: DayCosts<'a>,
    progress: Progress,
    /// Roots that no page will bring by themselves, because they fell silent before the stretch began.
    done: HashSet<String>,
}

impl Walk<'_> {
    /// Returns the root of the tree that a task stands in, if it is this task that has to bring it.
    fn root_of(&mut self, task: Task) -> Answer<Option<Task>> {
        let own = task.id.clone();
        let mut root = task;
        // A ring of parents, which only wrong guesses could make, must not keep the walk here for ever.
        for _ in 0..DEPTH {
            let Some(parent) = root.parent_task_id.as_deref().and_then(TaskId::parse) else { break };
            match self.store.task(self.request.now, &parent) {
                Ok(parent) => root = parent,
                // Purged, or never seen: the task is the root of what is left.
                Err(QueryError::NotFound) => break,
                Err(error) => return Err(error),
            }
        }
        let is_listed = root.last_event_at >= self.request.since
            && self.request.project.as_ref().is_none_or(|project| *project == root.project);
        if root.id == own || (!is_listed && self.done.insert(root.id.clone())) {
            return Ok(Some(root));
        }
        Ok(None)
    }

    /// Replays one tree. Says why to stop, if so.
    fn tree(
        &mut self,
        root: &Task,
        go_on: &mut impl FnMut(&Progress) -> Option<&'static str>,
    ) -> Answer<Option<&'static str>> {
        let Some(id) = TaskId::parse(&root.id) else { return Ok(None) };
        let mut filter = RowFilter {
            kinds: moment::KINDS.to_vec(),
            tree: true,
            paging: Paging { cursor: None, limit: MAX_LIMIT },
            ..RowFilter::default()
        };
        let mut replay = Replay::new(root);
        let stopped = loop {
            let page = match self.store.timeline(&id, &filter) {
                Ok(page) => page,
                // Purged since it was listed.
                Err(QueryError::NotFound) => break None,
                Err(error) => return Err(error),
            };
            for row in page.items {
                replay.row(self, row);
            }
            self.progress.calls = self.judge.calls;
            if let Some(why) = go_on(&self.progress) {
                break Some(why);
            }
            filter.paging.cursor = page.next_cursor;
            if filter.paging.cursor.is_none() {
                break None;
            }
        };
        // Also when the replay was stopped: calls that are open would otherwise count as asked and never as ended.
        replay.end_all(self);
        self.judge.tasks += replay.tasks();
        Ok(stopped)
    }
}
