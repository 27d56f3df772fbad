//! Tasks as a table.

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::{Task, TaskStatus, TreeNode, WaitingReason};

use crate::figures;
use crate::output::Paint;
use crate::table::{Cell, Side, Table};

/// Selects the tasks that the numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Scope {
    /// The task alone: where its subagents have lines of their own.
    Own,
    /// The task and its subagents.
    Tree,
}

/// Returns a table of tasks; those that others started stand further to the right.
pub(in crate::commands) fn table(nodes: &[TreeNode], now: Millis, scope: Scope) -> Table {
    let [calls, failed, tokens, cost] = match scope {
        Scope::Own => ["OWN CALLS", "OWN FAILED", "OWN TOKENS", "OWN COST"],
        Scope::Tree => ["CALLS", "FAILED", "TOKENS", "COST"],
    };
    let mut table = Table::new(&[
        ("STATUS", Side::Left),
        ("AGE", Side::Right),
        ("AGENT", Side::Left),
        ("PROJECT", Side::Left),
        (calls, Side::Right),
        (failed, Side::Right),
        (tokens, Side::Right),
        (cost, Side::Right),
        ("ID", Side::Left),
        ("TITLE", Side::Left),
    ]);
    for TreeNode { depth, task } in nodes {
        let (calls, failures, usage) = match scope {
            Scope::Own => (task.tool_call_count, task.failure_count, &task.usage),
            Scope::Tree => (task.tree_tool_call_count, task.tree_failure_count, &task.tree_usage),
        };
        let failed = Cell::new(figures::some(failures));
        table.row(vec![
            status(task),
            Cell::new(figures::age(now.0.saturating_sub(task.last_event_at.0))),
            Cell::new(agent(task)),
            Cell::new(figures::project(task)),
            Cell::new(figures::some(calls)),
            if failures > 0 { failed.paint(Paint::Red) } else { failed },
            Cell::new(figures::some(figures::tokens(usage))),
            Cell::new(figures::cost(usage)),
            Cell::new(figures::short_id(&task.id)).paint(Paint::Dim),
            Cell::new(&task.title).indent(2 * usize::try_from(*depth).unwrap_or(0).min(20)),
        ]);
    }
    table
}

/// Returns the agent, and the type of a subagent.
fn agent(task: &Task) -> String {
    let product = task.agent.spec().word;
    match task.agent_type.as_str() {
        "main" | "" => product.to_owned(),
        kind => format!("{product}/{kind}"),
    }
}

/// Returns the status of a task and the cause of a wait.
pub(in crate::commands) fn status(task: &Task) -> Cell {
    let (text, paint) = match (task.status, task.waiting_reason) {
        (TaskStatus::Running, _) if task.stale => ("stale", Some(Paint::Yellow)),
        (TaskStatus::Running, _) => ("running", Some(Paint::Green)),
        (TaskStatus::Waiting, Some(WaitingReason::Idle)) => ("idle", None),
        (TaskStatus::Waiting, Some(WaitingReason::Permission)) => ("permission?", Some(Paint::Yellow)),
        (TaskStatus::Waiting, Some(WaitingReason::Question)) => ("question?", Some(Paint::Yellow)),
        (TaskStatus::Waiting, Some(WaitingReason::Elicitation)) => ("form?", Some(Paint::Yellow)),
        (TaskStatus::Waiting, Some(WaitingReason::Plan)) => ("plan?", Some(Paint::Yellow)),
        (TaskStatus::Waiting, None) => ("waiting", Some(Paint::Yellow)),
        (TaskStatus::Completed, _) => ("completed", None),
        (TaskStatus::Failed, _) => ("failed", Some(Paint::Red)),
        (TaskStatus::Abandoned, _) => ("abandoned", Some(Paint::Dim)),
    };
    let cell = Cell::new(text);
    match paint {
        Some(paint) => cell.paint(paint),
        None => cell,
    }
}
