//! `agent-tracer show`: everything about one task on one screen.

mod page;

use std::process::ExitCode;

use agent_tracer_event::TaskId;
use agent_tracer_ledger::view::{FileUse, Page, Task, TaskSummary, ToolCall, TreeNode, Turn, UsageBucket};
use agent_tracer_ledger::{RowFilter, UsageBy};
use serde::Serialize;

use crate::arguments::{Options, Show};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::{Reading, json, refused};

pub(super) use page::paint_of;

/// The answers of the query API about one task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answers {
    task: Task,
    summary: TaskSummary,
    /// Usage of the task and its subagents, by model.
    models: Page<UsageBucket>,
    turns: Page<Turn>,
    tool_calls: Page<ToolCall>,
    files: Page<FileUse>,
    tree: Page<TreeNode>,
}

pub(super) fn run(
    arguments: &Show,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let reading = Reading::open(options, environment)?;
    let task = reading.task(&arguments.id)?;
    let (Some(store), Some(id)) = (reading.store(), TaskId::parse(&task.id)) else {
        return Err(Failure::new(format!("cannot show the task `{}`", task.id)));
    };
    let answers = Answers {
        summary: store.summary(reading.now, &id).map_err(refused)?,
        models: store.task_usage(&id, UsageBy::Model).map_err(refused)?,
        turns: reading.list(None, None, |store, paging| store.turns(&id, &paging))?,
        tool_calls: reading.list(None, None, |store, paging| {
            store.tool_calls(&id, &RowFilter { paging, ..RowFilter::default() })
        })?,
        files: reading.list(None, None, |store, paging| store.task_files(&id, true, &paging))?,
        tree: store.tree(reading.now, &id).map_err(refused)?,
        task,
    };
    let text = if arguments.json {
        json(&answers)?
    } else {
        let most = if arguments.all { usize::MAX } else { 10 };
        page::text(&answers, &LocalTime::of(environment), reading.now, most, output)
    };
    output.data(&text)?;
    Ok(ExitCode::SUCCESS)
}
