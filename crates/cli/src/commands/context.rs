//! Implements `agent-tracer context`: switches the context summary and shows it.

use std::process::ExitCode;

use agent_tracer_jobs::context::{Keeper, Settings, summary};
use agent_tracer_policy::daemon::project_root;
use agent_tracer_spool::Home;
use serde_json::json;

use crate::arguments::{Context, ContextCommand, ContextOn, ContextShow, Options};
use crate::context_job;
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::files;
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
            // A file that makes no sense is no reason to go on telling.
            let settings = context_job::read(&home).unwrap_or_default();
            write(&home, &Settings { is_on: false, ..settings })?;
            clear(&home)?;
            output.say("context is off: new sessions get no summary")?;
        }
        ContextCommand::Show(wanted) => show(wanted, &home, options, environment, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(home: &Home, settings: &Settings) -> Result<(), Failure> {
    files::make_folder(home.config(), 0o700)?;
    files::write_private(&context_job::path(home), settings.write().as_bytes())
}

fn clear(home: &Home) -> Result<(), Failure> {
    let cleared = Keeper::of(home.clone()).clear();
    cleared.map_err(|cause| Failure::new(format!("cannot remove the context pages: {}", plain(&cause))))
}

fn switch_on(
    wanted: &ContextOn,
    home: &Home,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut settings = Settings { is_on: true, exports_task: wanted.export_task, ..Settings::default() };
    settings.bytes = wanted.bytes.unwrap_or(settings.bytes);
    settings.budget_usd = wanted.budget_usd;
    // Read back, so that nothing is written that the server would not understand.
    Settings::parse(&settings.write()).map_err(|error| Failure::usage(error.what))?;
    write(home, &settings)?;
    let marked = Keeper::of(home.clone()).mark_task(&settings);
    marked.map_err(|cause| Failure::new(format!("cannot write the context pages: {}", plain(&cause))))?;
    let reading = Reading::open(options, environment)?;
    if let Some(store) = reading.store() {
        let midnight = LocalTime::of(environment).midnight(reading.now);
        let kept = Keeper::of(home.clone()).refresh(store.as_ref(), &settings, reading.now, midnight);
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
            let ask = summary::Ask { project: &project, now: reading.now, midnight, settings: &settings };
            summary::text(store.as_ref(), &ask).map_err(reading::refused)?
        }
        None => None,
    };
    if wanted.json {
        let bytes = text.as_ref().map_or(0, String::len);
        return output.data(&reading::json(&json!({
            "on": settings.is_on, "exportTask": settings.exports_task, "budgetUsd": settings.budget_usd,
            "bytesMax": settings.bytes, "project": project, "text": text, "bytes": bytes,
        }))?);
    }
    match text {
        Some(text) => output.data(&(text + "\n"))?,
        None => output.say(&format!("no summary for `{project}` yet"))?,
    }
    if !settings.is_on {
        output.say("context is off: new sessions do not get this\nhint: run `agent-tracer context on` to switch it on")?;
    }
    Ok(())
}
