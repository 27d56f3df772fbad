//! `agent-tracer tasks`: what the agents did, newest first.

mod list;

use std::process::ExitCode;

use agent_tracer_event::TaskId;
use agent_tracer_ledger::TaskFilter;
use agent_tracer_ledger::view::{Page, Task, TaskKind, TreeNode};

use crate::arguments::{Options, Tasks};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::{Reading, json, refused};

pub(super) use list::{Scope, status, table};

pub(super) fn run(
    arguments: &Tasks,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let reading = Reading::open(options, environment)?;
    let mut filter = reading.filter(&arguments.words, environment)?;
    if arguments.tree {
        // Subagents stand below their roots; as items of their own they would be listed twice.
        filter.kind = Some(TaskKind::Primary);
    }
    let page = reading.list(Some(arguments.limit), arguments.cursor.clone(), |store, paging| {
        store.tasks(reading.now, &TaskFilter { paging, ..filter.clone() })
    })?;
    let is_empty = page.items.is_empty();
    let is_more = page.next_cursor.is_some();
    if arguments.tree {
        let tree = trees(&reading, page)?;
        let text = if arguments.json {
            json(&tree)?
        } else {
            table(&tree.items, reading.now, Scope::Own).render(output)
        };
        output.data(if is_empty && !arguments.json { "" } else { &text })?;
    } else if arguments.json {
        output.data(&json(&page)?)?;
    } else if !is_empty {
        let nodes: Vec<TreeNode> = page.items.into_iter().map(|task| TreeNode { depth: 0, task }).collect();
        output.data(&table(&nodes, reading.now, Scope::Tree).render(output))?;
    }
    if is_empty {
        let default = TaskFilter { kind: filter.kind.filter(|_| arguments.tree), ..TaskFilter::default() };
        reading.say_empty(output, environment, filter != default || arguments.cursor.is_some())?;
    } else if is_more && !arguments.json {
        output.say(&format!(
            "more tasks exist; use `--limit {}` to see them",
            arguments.limit.saturating_mul(5)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns each task with everything that it started.
fn trees(reading: &Reading, page: Page<Task>) -> Result<Page<TreeNode>, Failure> {
    let mut items = Vec::new();
    for task in page.items {
        match (reading.store(), TaskId::parse(&task.id)) {
            (Some(store), Some(id)) if task.child_count > 0 => {
                items.extend(store.tree(reading.now, &id).map_err(refused)?.items);
            }
            _ => items.push(TreeNode { depth: 0, task }),
        }
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}
