//! `agent-tracer import`: reads the history that the agents keep of themselves.
//!
//! Law: idempotent. What was read is not read again, what was brought is known by its name, and stopping at any moment
//! loses nothing but time.

pub(super) mod progress;

use agent_tracer_ledger::{AppendError, error_text};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use agent_tracer_event::Agent;
use agent_tracer_intake::files::{Files, Root};
use agent_tracer_intake::import::{OnFailure, Plan, Summary, run as read_plan};
use agent_tracer_intake::{Projects, Sink, Stop};
use agent_tracer_spool::Home;
use serde_json::json;

use crate::arguments::{Import, Options};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::instance::Instance;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::{home, signals, sources};
use progress::Display;

pub(super) fn run(
    arguments: &Import,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (since, _) = LocalTime::of(environment).range(arguments.since.as_deref(), None, environment.now())?;
    let (tracer, named) = environment.home(options.home.as_deref())?;
    let roots = roots(arguments, &tracer, environment)?;
    // Before the ledger starts threads of its own.
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    if let Some(mended) = home::prepare(&tracer, named.is_none())? {
        output.say(&format!("warning: {mended}"))?;
    }
    // The ledger has one writer: beside a server the import would wait, and the server reads the same files anyway.
    let _instance = Instance::take(&tracer)?;
    let ledger = Arc::new(sources::ledger(&tracer)?);
    let privacy = Arc::new(sources::privacy(&tracer, environment)?);
    // Unlike `serve`, an import ends: with settings that cannot be read it would skip every file in silence.
    sources::known(&privacy)?;
    let sink: Arc<dyn Sink> = Arc::<agent_tracer_ledger::Ledger>::clone(&ledger);
    let files = Files::new(sink, privacy, Arc::new(Projects::new()), sources::clock());
    files.load().map_err(|error| refused(&error))?;

    let begun = Instant::now();
    let plan = Plan::make(&files, &roots, since);
    for (folder, cause) in &plan.unreadable {
        output.say(&format!("warning: cannot read the folder `{}`: {}", folder.display(), plain(cause)))?;
    }
    if plan.found == 0 {
        for root in &roots {
            output.say(&format!("no history in `{}`", root.folder.display()))?;
        }
    }
    if arguments.dry_run {
        let text = if arguments.json { json_of(&plan, None, begun, true) } else { progress::planned(&plan) };
        output.data(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut display = Display::of_process();
    let summary = read_plan(&files, &plan, OnFailure::Fail, &stop, &mut |progress| display.show(progress));
    display.clear();
    let summary = summary.map_err(|error| refused(&error))?;
    if !summary.is_stopped {
        // Without a server no other process would do it.
        ledger.finish_search().map_err(|error| refused(&error))?;
    }
    ledger.close();
    for failure in &summary.failures {
        let cause = std::error::Error::source(failure).map(|cause| format!(": {cause}")).unwrap_or_default();
        output.say(&format!("warning: {failure}{cause}"))?;
    }
    let text = if arguments.json {
        json_of(&plan, Some(&summary), begun, false)
    } else {
        progress::done(&plan, &summary, begun.elapsed())
    };
    output.data(&text)?;
    Ok(if summary.failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn roots(arguments: &Import, tracer: &Home, environment: &Environment) -> Result<Vec<Root>, Failure> {
    let agent = arguments.agent;
    let mut roots = Vec::new();
    for folder in &arguments.path {
        let folder = environment.absolute(folder);
        if !folder.is_dir() {
            return Err(Failure::usage(format!("`{}` is not a folder", folder.display()))
                .hint("name an agent's home, or a folder with transcripts"));
        }
        roots.extend(sources::roots_in(folder, agent));
    }
    if arguments.path.is_empty() {
        for known in Agent::ALL.iter().filter(|known| agent.is_none_or(|agent| agent == **known)) {
            roots.extend(sources::roots(*known, tracer, environment)?);
        }
    }
    Ok(roots)
}

pub(super) fn refused(error: &AppendError) -> Failure {
    let failure = Failure::from_text(&format!("import stopped: {}", error_text(error)));
    match error {
        AppendError::DiskFull => {
            failure.hint("free some space and run the command again: it goes on where it stopped")
        }
        AppendError::ReadOnly => failure.hint("check the owner and the mode of the home folder"),
        AppendError::Item(_) => failure.hint("run `agent-tracer doctor` to find the damage"),
        AppendError::Closed | AppendError::Gone(_) | AppendError::Store(_) => {
            failure.hint("run `agent-tracer doctor` for details")
        }
    }
}

fn json_of(plan: &Plan, summary: Option<&Summary>, begun: Instant, dry_run: bool) -> String {
    let mut object = json!({
        "dryRun": dry_run,
        "filesFound": plan.found,
        "filesUnchanged": plan.unchanged,
        "filesTooOld": plan.too_old,
        "filesToRead": plan.files.len(),
        "bytesToRead": plan.bytes,
        "elapsedMs": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    });
    if let (Some(summary), Some(members)) = (summary, object.as_object_mut()) {
        let failures: Vec<String> = summary.failures.iter().map(ToString::to_string).collect();
        members.extend([
            ("filesRead".to_owned(), json!(summary.read)),
            ("filesFailed".to_owned(), json!(summary.failed)),
            ("filesLater".to_owned(), json!(summary.later)),
            ("bytes".to_owned(), json!(summary.counts.bytes)),
            ("rows".to_owned(), json!(summary.counts.rows)),
            ("rowsSkipped".to_owned(), json!(summary.counts.skipped)),
            ("stopped".to_owned(), json!(summary.is_stopped)),
            ("failures".to_owned(), json!(failures)),
        ]);
    }
    format!("{object:#}\n")
}
