//! One task as a page of text: a head, then what it did, the newest last.

use agent_tracer_event::{CallState, Millis};
use agent_tracer_ledger::view::{FileUse, TaskKind, ToolCall, TreeNode, Turn};

use super::Answers;
use crate::commands::tasks;
use crate::figures::{self, duration};
use crate::local_time::LocalTime;
use crate::output::{Output, Paint, one_line};
use crate::table::{Cell, Side, Table};

pub(super) fn text(answers: &Answers, zone: &LocalTime, now: Millis, most: usize, output: &Output) -> String {
    let mut text = String::new();
    let title = one_line(&answers.task.title);
    text.push_str(&output.paint(Paint::Bold, if title.is_empty() { "(no title)" } else { &title }));
    text.push('\n');
    text.push_str(&head(answers, zone).margin(2).render_bare(output));
    let mut part = |name: &str, all: usize, table: Table| {
        if all == 0 {
            return;
        }
        let shown = if all > most {
            format!("{name} (last {most} of {all}; `--all` shows all)")
        } else {
            name.to_owned()
        };
        text.push_str(&format!(
            "\n{}\n{}",
            output.paint(Paint::Bold, &shown),
            table.margin(2).render(output)
        ));
    };
    part("Turns", answers.turns.items.len(), turns(last(&answers.turns.items, most), zone));
    part("Calls", answers.tool_calls.items.len(), calls(last(&answers.tool_calls.items, most), zone));
    part("Files", answers.files.items.len(), files(last(&answers.files.items, most)));
    let below: Vec<TreeNode> = answers
        .tree
        .items
        .iter()
        .filter(|node| node.depth > 0)
        .map(|node| TreeNode { depth: node.depth - 1, task: node.task.clone() })
        .collect();
    part("Subagents", below.len(), tasks::table(last(&below, most), now));
    text
}

fn last<T>(items: &[T], most: usize) -> &[T] {
    items.get(items.len().saturating_sub(most)..).unwrap_or(items)
}

fn head(answers: &Answers, zone: &LocalTime) -> Table {
    let (task, summary) = (&answers.task, &answers.summary);
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    let mut line = |name: &str, value: Cell| table.row(vec![Cell::new(name).paint(Paint::Dim), value]);
    let text = |text: String| Cell::new(text);
    line("status", tasks::status(task));
    if let Some(current) = &task.current {
        line("now", text(current.clone()));
    }
    line("id", text(task.id.clone()));
    line("session", text(task.runtime_session_id.clone()));
    let version = task.client_version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let model = task.model.as_deref().map(|model| format!(", {model}")).unwrap_or_default();
    line("agent", text(format!("{}{version} {}{model}", task.agent, task.agent_type)));
    let branch = task.git_branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    line("project", text(format!("{}{branch}", task.project)));
    if task.workspace_path != task.project && !task.workspace_path.is_empty() {
        line("folder", text(task.workspace_path.clone()));
    }
    if let (TaskKind::Background, Some(parent)) = (task.kind, &task.parent_task_id) {
        line("parent", text(parent.clone()));
    }
    line(
        "time",
        text(format!(
            "{} for {}: {} active, {} waiting for people",
            zone.full(task.started_at),
            duration(summary.duration_ms),
            duration(summary.active_ms),
            duration(summary.waiting_ms)
        )),
    );
    line(
        "did",
        text(format!(
            "{}, {} ({} failed), {} read, {} changed, {}, {}",
            plural(summary.turns, "turn"),
            plural(summary.tool_calls, "call"),
            summary.failures,
            plural(summary.files_read, "file"),
            plural(summary.files_changed, "file"),
            plural(summary.permissions, "permission"),
            plural(summary.agents, "subagent")
        )),
    );
    let usage = &summary.usage;
    line(
        "tokens",
        text(format!(
            "{}: {} in, {} out, {} from cache, {} to cache",
            figures::count(figures::tokens(usage)),
            figures::count(usage.input_tokens),
            figures::count(usage.output_tokens),
            figures::count(usage.cache_read_tokens),
            figures::count(usage.cache_creation_tokens)
        )),
    );
    if let Some(left) = &usage.residual {
        line(
            "residual",
            text(format!(
                "{} of them only in the client's account ({}): {} in, {} out, {} from cache, {} to cache",
                figures::count(figures::residual(left)),
                left.reason,
                figures::count(left.input_tokens),
                figures::count(left.output_tokens),
                figures::count(left.cache_read_tokens),
                figures::count(left.cache_creation_tokens)
            )),
        );
    }
    let context = task.context_used_pct.map(|full| format!("; context {full:.0}% full")).unwrap_or_default();
    let unpriced = match usage.provenance.unpriced {
        0 => String::new(),
        unpriced => {
            format!("; {unpriced} of {} without a price", plural(usage.provenance.responses, "response"))
        }
    };
    line("cost", text(format!("{}{unpriced}{context}", figures::cost(usage))));
    table
}

fn plural(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn turns(turns: &[Turn], zone: &LocalTime) -> Table {
    let mut table = Table::new(&[
        ("#", Side::Right),
        ("AT", Side::Left),
        ("TOOK", Side::Right),
        ("STATE", Side::Left),
        ("CALLS", Side::Right),
        ("FAILED", Side::Right),
        ("TOKENS", Side::Right),
        ("COST", Side::Right),
        ("PROMPT", Side::Left),
    ]);
    for turn in turns {
        table.row(vec![
            Cell::new(turn.number.to_string()),
            Cell::new(zone.time(turn.started_at)),
            Cell::new(turn.duration_ms.map_or_else(|| "-".to_owned(), duration)),
            Cell::new(&turn.state),
            Cell::new(figures::some(turn.tool_call_count)),
            Cell::new(figures::some(turn.failure_count)),
            Cell::new(figures::some(figures::tokens(&turn.usage))),
            Cell::new(figures::cost(&turn.usage)),
            Cell::new(turn.prompt.as_deref().unwrap_or("-")),
        ]);
    }
    table
}

fn calls(calls: &[ToolCall], zone: &LocalTime) -> Table {
    let mut table = Table::new(&[
        ("AT", Side::Left),
        ("TOOK", Side::Right),
        ("STATE", Side::Left),
        ("TOOL", Side::Left),
        ("WHAT", Side::Left),
    ]);
    for call in calls {
        let why = match (call.exit_code.filter(|code| *code != 0), &call.error_class) {
            (Some(code), _) => format!(" ({code})"),
            (None, Some(class)) => format!(" ({class})"),
            (None, None) => String::new(),
        };
        let state = Cell::new(format!("{}{why}", call.state));
        table.row(vec![
            Cell::new(zone.time(call.started_at)),
            Cell::new(call.duration_ms.map_or_else(|| "-".to_owned(), duration)),
            match paint_of(call.state) {
                Some(paint) => state.paint(paint),
                None => state,
            },
            Cell::new(&call.tool_name),
            Cell::new(&call.title),
        ]);
    }
    table
}

/// The colour of a call's state; none for what is as it should be.
pub(in crate::commands) fn paint_of(state: CallState) -> Option<Paint> {
    match state {
        CallState::Failed | CallState::Denied => Some(Paint::Red),
        CallState::Interrupted | CallState::Abandoned => Some(Paint::Yellow),
        CallState::Running => Some(Paint::Green),
        CallState::Succeeded => None,
    }
}

fn files(files: &[FileUse]) -> Table {
    let mut table = Table::new(&[
        ("READ", Side::Right),
        ("CHANGED", Side::Right),
        ("FAILED", Side::Right),
        ("FILE", Side::Left),
    ]);
    for file in files {
        table.row(vec![
            Cell::new(figures::some(file.reads)),
            Cell::new(figures::some(file.changes)),
            Cell::new(figures::some(file.failures)),
            Cell::new(&file.path),
        ]);
    }
    table
}
