//! `agent-tracer export`: tasks and their events, for other programs.
//!
//! Law: a file is complete or not there. What is written is what the query API answers, task by task, so the memory that
//! is needed does not grow with the history.

mod csv;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use agent_tracer_event::TaskId;
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{MAX_LIMIT, Paging, QueryError, RowFilter, TaskFilter};
use serde_json::json;

use crate::arguments::{Export, FormatName, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::{Reading, refused};

/// Counts the exported rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExportCounts {
    pub(super) tasks: u64,
    pub(super) events: u64,
}

pub(super) fn run(
    arguments: &Export,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let reading = Reading::open(options, environment)?;
    let filter = reading.filter(&arguments.words, environment)?;
    let ids = ids(&reading, &filter, arguments.limit)?;
    let form = Form { format: arguments.format, tasks_only: arguments.tasks_only };
    let Some(path) = &arguments.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        let done = write(&reading, &ids, form, &mut out)
            .and_then(|done| out.flush().map_err(|cause| Failure::output(&cause)).map(|()| done))?;
        if done.tasks == 0 {
            reading.say_empty(output, environment, filter != TaskFilter::default())?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let path = environment.absolute(path);
    let done = to_file(&reading, &ids, form, &path)?;
    output.say(&format!("wrote {} tasks with {} events to `{}`", done.tasks, done.events, path.display()))?;
    if done.tasks == 0 {
        reading.say_empty(output, environment, filter != TaskFilter::default())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Holds the form of an export.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) format: FormatName,
    pub(super) tasks_only: bool,
}

/// Returns the selected tasks, newest first. Read at once: a task with new events moves to the front of the list.
pub(super) fn ids(
    reading: &Reading,
    filter: &TaskFilter,
    limit: Option<u32>,
) -> Result<Vec<TaskId>, Failure> {
    let page = reading.list(limit, None, |store, paging| {
        let page = store.tasks(reading.now, &TaskFilter { paging, ..filter.clone() })?;
        let items = page.items.iter().filter_map(|task| TaskId::parse(&task.id)).collect();
        Ok(agent_tracer_ledger::view::Page { items, next_cursor: page.next_cursor })
    })?;
    Ok(page.items)
}

/// Writes tasks to a file, which gets its name when all is written.
pub(super) fn to_file(
    reading: &Reading,
    ids: &[TaskId],
    form: Form,
    path: &Path,
) -> Result<ExportCounts, Failure> {
    let fail = |cause: &io::Error| Failure::file("write", path, cause).hint("nothing was written");
    if path.is_dir() {
        return Err(Failure::usage(format!("`{}` is a folder", path.display())).hint("name a file in it"));
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Readable by its owner alone: it holds what the ledger holds.
    let file = tempfile::Builder::new()
        .prefix(".agent-tracer-export-")
        .tempfile_in(folder)
        .map_err(|cause| fail(&cause))?;
    let mut out = BufWriter::new(file);
    let done = write(reading, ids, form, &mut out)?;
    let file = out.into_inner().map_err(|error| fail(error.error()))?;
    // On disk before it gets its name: `purge --export` deletes the originals next.
    file.as_file().sync_all().map_err(|cause| fail(&cause))?;
    file.persist(path).map_err(|error| fail(&error.error))?;
    Ok(done)
}

fn write(
    reading: &Reading,
    ids: &[TaskId],
    form: Form,
    out: &mut dyn Write,
) -> Result<ExportCounts, Failure> {
    let mut done = ExportCounts::default();
    let lost = |cause: io::Error| Failure::output(&cause);
    if form.format == FormatName::Csv {
        csv::head(form.tasks_only, out).map_err(lost)?;
    }
    for id in ids {
        let Some(store) = reading.store() else { return Ok(done) };
        let task = match store.task(reading.now, id) {
            Ok(task) => task,
            // Purged meanwhile.
            Err(QueryError::NotFound) => continue,
            Err(error) => return Err(refused(error)),
        };
        done.tasks += 1;
        match form.format {
            FormatName::Jsonl => line(&json!({ "task": task }), out).map_err(lost)?,
            FormatName::Csv if form.tasks_only => csv::task(&task, out).map_err(lost)?,
            FormatName::Csv => {}
        }
        if !form.tasks_only {
            done.events += events(reading, id, &mut |row| match form.format {
                FormatName::Jsonl => line(&json!({ "event": row }), out),
                FormatName::Csv => csv::event(&task, row, out),
            })?;
        }
    }
    Ok(done)
}

fn line(value: &serde_json::Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Goes through the events of a task, oldest first; returns how many there are.
fn events(
    reading: &Reading,
    id: &TaskId,
    take: &mut dyn FnMut(&Row) -> io::Result<()>,
) -> Result<u64, Failure> {
    let Some(store) = reading.store() else { return Ok(0) };
    let mut count = 0;
    let mut paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
    loop {
        let part = match store.timeline(id, &RowFilter { paging, ..RowFilter::default() }) {
            Err(QueryError::NotFound) => return Ok(count),
            other => other.map_err(refused)?,
        };
        for row in &part.items {
            take(row).map_err(|cause| Failure::output(&cause))?;
            count += 1;
        }
        if part.next_cursor.is_none() {
            return Ok(count);
        }
        paging = Paging { cursor: part.next_cursor, limit: MAX_LIMIT };
    }
}
