//! One tree of tasks while it is replayed: calls begin, overlap and end as they did.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::{Event, Surroundings};
use agent_tracer_event::{CallState, Kind, Millis, TaskId, attributes};
use agent_tracer_ledger::view::{Row, Task};
use serde_json::Value;

use crate::backtest::evidence::{ReplayEvidence, TreeState};
use crate::backtest::moment::{self, Moment};
use crate::backtest::walk::Walk;
use crate::evidence::EvidenceHistory;

/// Calls of one tree that are open at the same time; the oldest of more is taken for ended.
const OPEN_MAX: usize = 10_000;

/// Calls that have begun and not ended yet, the first to end first.
#[derive(Default)]
struct OpenCalls {
    ends: BinaryHeap<Reverse<(Millis, u64)>>,
    rows: HashMap<u64, Row>,
    next: u64,
}

impl OpenCalls {
    fn push(&mut self, row: Row) {
        // A call without a known end is over when its tree is.
        let end = row.ended_at.unwrap_or(Millis(i64::MAX));
        self.ends.push(Reverse((end, self.next)));
        self.rows.insert(self.next, row);
        self.next += 1;
    }

    fn pop(&mut self, until: Millis) -> Option<Row> {
        let is_due = self.ends.peek().is_some_and(|Reverse((end, _))| *end <= until);
        // A history may hold any number of calls whose end was never reported; without the limit memory would grow
        // with it.
        if !is_due && self.rows.len() <= OPEN_MAX {
            return None;
        }
        let Reverse((_, number)) = self.ends.pop()?;
        self.rows.remove(&number)
    }

    /// Returns the open call that a permission was asked for.
    fn asked_for(&self, permission: &Row) -> Option<&Row> {
        fn signature(row: &Row) -> Option<&str> {
            row.metadata.get(attributes::CALL_SIGNATURE).and_then(Value::as_str)
        }
        let is_same = |row: &Row| {
            let by_id = row.tool_use_id.is_some() && row.tool_use_id == permission.tool_use_id;
            by_id || (signature(row).is_some() && signature(row) == signature(permission))
        };
        self.rows.values().find(|row| row.task_id == permission.task_id && is_same(row))
    }
}

/// One tree while it is replayed.
pub(crate) struct Replay<'r> {
    root: &'r Task,
    tree: TreeState,
    open: OpenCalls,
}

impl<'r> Replay<'r> {
    pub(crate) fn new(root: &'r Task) -> Self {
        Self { root, tree: TreeState::default(), open: OpenCalls::default() }
    }

    /// Counts its tasks.
    pub(crate) fn tasks(&self) -> u64 {
        self.tree.tasks() as u64
    }

    /// Replays the next row, in the order in which things began.
    pub(crate) fn row(&mut self, walk: &mut Walk<'_>, row: Row) {
        while let Some(ended) = self.open.pop(row.occurred_at) {
            self.end(walk, &ended);
        }
        if !self.tree.has_task(&row.task_id) {
            self.tree.add_task(&row.task_id, self.started_at(walk, &row));
        }
        // The row counts before it is judged: a live question, too, waits until the ledger has its event.
        if moment::is_call(&row) {
            self.tree.begin_call(&row, self.root.agent);
        } else {
            let cost = &walk.request.setting.cost_pico;
            self.tree.add_row(&row, self.root.agent, |row| cost(row));
        }
        if row.kind == Kind::UserMessage {
            self.judge(walk, &row, &moment::prompt_moment(&row), row.occurred_at);
        } else if row.kind == Kind::PermissionRequest {
            // The permission itself does not keep its call's input; the call does.
            let asked =
                moment::call_moment(self.open.asked_for(&row).unwrap_or(&row), Event::PermissionRequest);
            self.judge(walk, &row, &asked, row.occurred_at);
        } else if moment::is_call(&row) {
            if moment::is_asked(&row, self.root.agent) {
                if (walk.request.since..=walk.request.now).contains(&row.occurred_at) {
                    walk.judge.calls += 1;
                }
                self.judge(walk, &row, &moment::call_moment(&row, Event::PreToolUse), row.occurred_at);
            }
            self.open.push(row);
        } else if let Some(end) = moment::end_moment(&row) {
            self.judge(walk, &row, &end, row.occurred_at);
        }
    }

    /// Returns the beginning of the task of a row. It may lie before every row that is replayed.
    fn started_at(&self, walk: &Walk<'_>, row: &Row) -> Millis {
        if row.task_id == self.root.id {
            return self.root.started_at;
        }
        let task = TaskId::parse(&row.task_id).and_then(|id| walk.store.task(walk.request.now, &id).ok());
        task.map_or(row.occurred_at, |task| task.started_at)
    }

    /// Ends what is still open.
    pub(crate) fn end_all(&mut self, walk: &mut Walk<'_>) {
        while let Some(ended) = self.open.pop(Millis(i64::MAX)) {
            self.end(walk, &ended);
        }
    }

    fn end(&mut self, walk: &mut Walk<'_>, row: &Row) {
        let agent = self.root.agent;
        let event = match row.state {
            _ if !moment::is_asked(row, agent) => None,
            Some(CallState::Succeeded) => Some(Event::PostToolUse),
            Some(CallState::Failed) if crate::legality::has_event(agent, Event::PostToolUseFailure) => {
                Some(Event::PostToolUseFailure)
            }
            // A shell command of Codex that ends with another code than 0 has run all the same.
            Some(CallState::Failed) if row.kind == Kind::TerminalCommand => Some(Event::PostToolUse),
            _ => None,
        };
        self.tree.end_call(row, agent);
        if let Some(event) = event {
            let at = row.ended_at.unwrap_or(row.occurred_at);
            self.judge(walk, row, &moment::call_moment(row, event), at);
        }
    }

    fn judge(&self, walk: &mut Walk<'_>, row: &Row, moment: &Moment, at: Millis) {
        if at < walk.request.since || at > walk.request.now {
            return;
        }
        let around = Surroundings {
            project: Some(self.root.project.clone()).filter(|project| !project.is_empty()),
            home: walk.request.setting.user_home.clone(),
            now: (walk.request.setting.local)(at).local,
        };
        let call = moment.call(self.root.agent, around);
        let Walk { days, judge, .. } = walk;
        let of_day = |at: Millis| days.spending_until(at);
        let evidence = ReplayEvidence { tree: &self.tree, row, at, of_day: &of_day };
        judge.judge(&call, moment.missing, &EvidenceHistory::new(evidence));
    }
}
