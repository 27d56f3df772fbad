//! Implements `agent-tracer context`: switches the context summary and shows it.

use std::process::ExitCode;

use agent_tracer_jobs::context::{PageWriter, Settings, summary};
use agent_tracer_policy::daemon::project_root;
use agent_tracer_spool::Home;
use serde_json::json;

use crate::arguments::{Context, ContextCommand, ContextOn, ContextShow, Options};
use crate::config::{self, Edit};
use crate::context_job;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::{self, Reading};

pub(super) fn run(
    arguments: &Context,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    match &arguments.command {
        ContextCommand::On(wanted) => switch_on(wanted, &home, options, environment, output)?,
        ContextCommand::Off => {
            change(&home, &[set("enabled", "false")?], output)?;
            // The hook reads a page and no setting: a page that is left would still be given to agents.
            clear(&home)?;
            output.say("context is off: new sessions get no summary")?;
        }
        ContextCommand::Show(wanted) => show(wanted, &home, options, environment, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn set(name: &str, value: &str) -> Result<Edit, Failure> {
    config::set(&config::key_of::<Settings>(&[name]), value)
}

fn change(home: &Home, edits: &[Edit], output: &mut Output) -> Result<(), Failure> {
    let applied = config::switch::<Settings>(home, edits)?;
    applied.notes().iter().try_for_each(|note| output.say(note))
}

fn clear(home: &Home) -> Result<(), Failure> {
    let cleared = PageWriter::new(home.clone()).clear();
    cleared.map_err(|cause| Failure::new(format!("cannot remove the context pages: {}", plain(&cause))))
}

fn switch_on(
    wanted: &ContextOn,
    home: &Home,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    // An option that is not given has its default again.
    let or_default = |name: &str, value: Option<String>| match value {
        Some(value) => set(name, &value),
        None => Ok(Edit::Unset(config::key_of::<Settings>(&[name]))),
    };
    let edits = [
        set("enabled", "true")?,
        or_default("bytes", wanted.bytes.map(|bytes| bytes.to_string()))?,
        or_default("budget_usd", wanted.budget_usd.map(|budget| budget.to_string()))?,
        or_default("export_task", wanted.export_task.then(|| "true".to_owned()))?,
    ];
    change(home, &edits, output)?;
    let settings = context_job::read(home)?;
    let marked = PageWriter::new(home.clone()).mark_task(&settings);
    marked.map_err(|cause| Failure::new(format!("cannot write the context pages: {}", plain(&cause))))?;
    let reading = Reading::open(options, environment)?;
    // At once, so that the next session has a page even if no server runs.
    if let Some(store) = reading.store() {
        let midnight = LocalTime::of(environment).midnight(reading.now);
        let kept = PageWriter::new(home.clone()).refresh(store.as_ref(), &settings, reading.now, midnight);
        let kept =
            kept.map_err(|cause| Failure::new(format!("cannot write the context pages: {}", plain(&cause))))?;
        output.say(&format!("context is on: new sessions get a summary, in {kept} folders so far"))?;
    } else {
        output.say("context is on: new sessions get a summary once events are recorded")?;
    }
    output.say("hint: `agent-tracer context show` shows it; a running server keeps it fresh")
}

fn show(
    wanted: &ContextShow,
    home: &Home,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    let settings = context_job::read(home)?;
    let reading = Reading::open(options, environment)?;
    let root = project_root(&environment.directory);
    let project = root.to_string_lossy().into_owned();
    let text = match reading.store() {
        Some(store) => {
            let midnight = LocalTime::of(environment).midnight(reading.now);
            let ask = summary::SummaryRequest {
                project: &project,
                now: reading.now,
                midnight,
                settings: &settings,
            };
            summary::text(store.as_ref(), &ask).map_err(reading::refused)?
        }
        None => None,
    };
    if wanted.json {
        let bytes = text.as_ref().map_or(0, String::len);
        return output.data(&reading::json(&json!({
            "on": settings.enabled, "exportTask": settings.export_task, "budgetUsd": settings.budget_usd,
            "bytesMax": settings.bytes, "project": project, "text": text, "bytes": bytes,
        }))?);
    }
    match text {
        Some(text) => output.data(&(text + "\n"))?,
        None => output.say(&format!("no summary for `{project}` yet"))?,
    }
    if !settings.enabled {
        output.say("context is off: new sessions do not get this\nhint: run `agent-tracer context on` to switch it on")?;
    }
    Ok(())
}
