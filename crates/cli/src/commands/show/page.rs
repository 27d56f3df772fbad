//! One task as a page of text: a head, then what it did, the newest last.

use agent_tracer_event::{CallState, Millis};
use agent_tracer_ledger::view::{FileUse, TaskKind, TaskSummary, ToolCall, TreeNode, Turn, UsageProvenance};

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
            format!("{name}: last {most} of {all}; `--all` shows all")
        } else {
            name.to_owned()
        };
        text.push_str(&format!(
            "\n{}\n{}",
            output.paint(Paint::Bold, &shown),
            table.margin(2).render(output)
        ));
    };
    // Where there are subagents, each part says whether it has theirs.
    let scoped = |name: &str, scope: &str| {
        if answers.summary.agents > 0 { format!("{name} ({scope})") } else { name.to_owned() }
    };
    let own = |name: &str| scoped(name, "its own");
    part(&own("Turns"), answers.turns.items.len(), turns(last(&answers.turns.items, most), zone));
    part(&own("Calls"), answers.tool_calls.items.len(), calls(last(&answers.tool_calls.items, most), zone));
    part(
        &scoped("Files", "with subagents"),
        answers.files.items.len(),
        files(last(&answers.files.items, most)),
    );
    let below: Vec<TreeNode> = answers
        .tree
        .items
        .iter()
        .filter(|node| node.depth > 0)
        // The task itself is the page, so what it started stands at the margin.
        .map(|node| TreeNode { depth: node.depth - 1, task: node.task.clone() })
        .collect();
    part("Subagents", below.len(), tasks::table(last(&below, most), now, tasks::Scope::Own));
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
    // The cost below is that of all models, so this one must not look like the only one.
    let last = if answers.models.items.len() > 1 { "last model " } else { "" };
    let model = task.model.as_deref().map(|model| format!(", {last}{model}")).unwrap_or_default();
    line("agent", text(format!("{}{version} {}{model}", task.agent.name(), task.agent_type)));
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
            "{} for {}: {} active, {}",
            zone.full(task.started_at),
            duration(summary.duration_ms),
            duration(summary.active_ms),
            waiting(summary)
        )),
    );
    line(
        "did",
        text(format!(
            "{}, {}{} ({} failed), {} read, {} changed, {}, {}",
            plural(summary.turns, "turn"),
            with_subagents(summary),
            plural(summary.tool_calls, "call"),
            summary.failures,
            plural(summary.files_read, "file"),
            plural(summary.files_changed, "file"),
            permissions(summary),
            plural(summary.agents, "subagent")
        )),
    );
    let usage = &summary.usage;
    line(
        "tokens",
        text(format!(
            "{}{}: {} in, {} out, {} from cache, {} to cache",
            with_subagents(summary),
            figures::count(figures::tokens(usage)),
            figures::count(usage.tokens.input),
            figures::count(usage.tokens.output),
            figures::count(usage.tokens.cache_read),
            figures::count(usage.tokens.cache_write)
        )),
    );
    if let Some(left) = &usage.residual {
        line(
            "residual",
            text(format!(
                "{} of them only in the client's account ({}): {} in, {} out, {} from cache, {} to cache",
                figures::count(figures::residual(left)),
                left.reason,
                figures::count(left.tokens.input),
                figures::count(left.tokens.output),
                figures::count(left.tokens.cache_read),
                figures::count(left.tokens.cache_write)
            )),
        );
    }
    let context = task.context_used_pct.map(|full| format!("; context {full:.0}% full")).unwrap_or_default();
    line(
        "cost",
        text(format!(
            "{}{}{}{context}",
            with_subagents(summary),
            figures::cost(usage),
            without_price(&usage.provenance)
        )),
    );
    let models = &answers.models.items;
    if models.len() > 1 {
        let each: Vec<String> =
            models.iter().map(|model| format!("{} {}", model.key, figures::cost(&model.usage))).collect();
        line("models", text(each.join(", ")));
    }
    table
}

/// Returns a note that a number counts the subagents too, where there are any.
fn with_subagents(summary: &TaskSummary) -> &'static str {
    if summary.agents > 0 { "with subagents " } else { "" }
}

/// Returns the time spent waiting for people. The agents' own files record no permission prompts.
fn waiting(summary: &TaskSummary) -> String {
    match (summary.permissions_recorded, summary.waiting_ms) {
        (true, ms) => format!("{} waiting for people", duration(ms)),
        (false, 0) => "waiting for people unknown".to_owned(),
        (false, ms) => format!("at least {} waiting for people", duration(ms)),
    }
}

fn permissions(summary: &TaskSummary) -> String {
    if summary.permissions_recorded {
        plural(summary.permissions, "permission")
    } else {
        "permissions unknown".to_owned()
    }
}

/// Returns the number of responses without a price, if any; responses known only to the client's account may be among
/// them.
fn without_price(of: &UsageProvenance) -> String {
    match of.unpriced {
        0 => String::new(),
        unpriced => {
            format!("; {unpriced} of {} without a price", plural(of.responses.max(unpriced), "response"))
        }
    }
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

/// Returns the colour of a call's state; none for what is as it should be.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_recorded_is_unknown_and_not_nothing() {
        let summary = |permissions_recorded: bool, waiting_ms: u64, permissions: u64| {
            let of = TaskSummary { permissions_recorded, waiting_ms, permissions, ..TaskSummary::default() };
            (waiting(&of), super::permissions(&of))
        };
        for (said, waits, asked) in [
            (summary(true, 0, 0), "0ms waiting for people", "0 permissions"),
            (summary(true, 1_500, 1), "1.5s waiting for people", "1 permission"),
            (summary(false, 0, 0), "waiting for people unknown", "permissions unknown"),
            (summary(false, 1_500, 0), "at least 1.5s waiting for people", "permissions unknown"),
        ] {
            assert_eq!(said, (waits.to_owned(), asked.to_owned()));
        }
    }

    #[test]
    fn no_more_responses_lack_a_price_than_there_are() {
        for (responses, unpriced, text) in [
            (80, 0, ""),
            (80, 27, "; 27 of 80 responses without a price"),
            (1, 1, "; 1 of 1 response without a price"),
            (20, 27, "; 27 of 27 responses without a price"),
        ] {
            let of = UsageProvenance { responses, unpriced, ..UsageProvenance::default() };
            assert_eq!(without_price(&of), text);
        }
    }
}
