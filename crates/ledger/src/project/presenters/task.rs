//! A task as it is shown at a moment.

use agent_tracer_event::Millis;

use crate::engine::staleness::{self, ReportedState};
use crate::engine::usage_sum::count;
use crate::shipment::DerivedTask;
use crate::view::{Task, TaskKind, TaskStatus, UsageView};

/// The activity of a task and all its descendants.
#[derive(Clone, Debug, Default)]
pub struct TreeSums {
    /// Tokens and cost.
    pub usage: UsageView,
    /// Tool calls.
    pub calls: i64,
    /// Tool calls that failed.
    pub failures: i64,
}

/// Adds the values that a derived task lacks.
#[derive(Clone, Debug)]
pub struct TaskSurroundings {
    /// The moment when one asks.
    pub now: Millis,
    /// It has a call without a recorded end. Matters only where [`DerivedTask::may_be_stale`].
    pub has_open_call: bool,
    /// Subagents that it started itself.
    pub children: u64,
    /// The activity of the task and all its descendants.
    pub tree: TreeSums,
    /// The owner; none on one machine.
    pub owner: Option<String>,
}

impl DerivedTask {
    /// Returns whether an open call decides if it is stale.
    #[must_use]
    pub fn may_be_stale(&self, now: Millis) -> bool {
        staleness::may_be_stale(self.status, self.last, now.0)
    }

    /// Returns the task of the query API.
    #[must_use]
    pub fn present(self, seen: TaskSurroundings) -> Task {
        let kept = ReportedState {
            status: self.status,
            waiting: self.waiting,
            last: self.last,
            has_open_call: seen.has_open_call,
        };
        let (status, stale) = staleness::present(kept, seen.now.0);
        let is_waiting = status == TaskStatus::Waiting;
        Task {
            id: self.task,
            title: self.title,
            kind: if self.background { TaskKind::Background } else { TaskKind::Primary },
            status,
            waiting_reason: self.waiting.filter(|_| is_waiting),
            waiting_since: self.waiting_since.filter(|_| is_waiting).map(Millis),
            stale,
            parent_certainty: self.parent_certainty.filter(|_| self.parent.is_some()),
            parent_task_id: self.parent,
            parent_tool_use_id: self.parent_tool_use_id,
            agent: self.agent,
            agent_type: self.agent_type,
            agent_id: self.agent_id,
            runtime_session_id: self.session,
            workspace_path: self.cwd,
            model: self.model,
            started_at: Millis(self.started),
            last_event_at: Millis(self.last),
            ended_at: self.ended.map(Millis),
            event_count: count(self.events),
            tool_call_count: count(self.calls),
            failure_count: count(self.failures),
            turn_count: count(self.turns),
            child_count: seen.children,
            current: self.current,
            context_used_pct: self.context_pct,
            usage: self.spent.usage().view(),
            tree_usage: seen.tree.usage,
            tree_tool_call_count: count(seen.tree.calls),
            tree_failure_count: count(seen.tree.failures),
            continues_task_id: self.continues,
            forked_from_task_id: self.forked,
            git_branch: self.git_branch,
            client_version: self.client_version,
            transcript_path: None,
            owner: seen.owner,
            machine_id: self.machine,
            project: self.project,
        }
    }
}
