//! `agent-tracer reread`: what was read before, with the readers of this version.
//!
//! Law: adds and replaces, and never takes away what can only not be read any more.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use agent_tracer_event::Agent;
use agent_tracer_intake::files::Files;
use agent_tracer_intake::import::{OnFailure, Plan, Summary, run as read_plan};
use agent_tracer_intake::reread::{ReplacingLedger, read_kept};
use agent_tracer_intake::{Projects, Sink, Stop};
use serde_json::json;

use crate::arguments::{Options, Reread};
use crate::commands::import::progress::Display;
use crate::commands::{import, maintenance};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::agent_of;
use crate::{figures, signals, sources};

pub(super) fn run(
    arguments: &Reread,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    // Before the ledger starts threads of its own.
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let begun = Instant::now();
    let agent = arguments.agent.map(agent_of);
    let Some(tended) = maintenance::open(options, environment, output)? else {
        if arguments.json {
            output.data(&format!("{:#}\n", json!({ "changed": 0, "unchanged": 0, "unreadable": 0 })))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let again = Arc::new(ReplacingLedger::new(Arc::clone(&tended.ledger)));
    let projects = Arc::new(Projects::new());
    let mut display = Display::of_process();
    let mut hooks = 0;
    let read = read_kept(&again, agent, &projects, &stop, &mut |read| {
        hooks = read;
        display.say(&format!("{read} kept events of hooks"));
    });
    display.clear();
    read.map_err(|error| import::refused(&error))?;
    let mut files = Summary::default();
    if !arguments.hooks_only {
        let privacy = Arc::new(sources::privacy(&tended.home, environment)?);
        sources::known(&privacy)?;
        let sink: Arc<dyn Sink> = Arc::<ReplacingLedger>::clone(&again);
        let reader = Files::new(sink, privacy, projects, sources::clock());
        let mut roots = Vec::new();
        for known in Agent::ALL.iter().filter(|known| agent.is_none_or(|agent| agent == **known)) {
            roots.extend(sources::roots(*known, &tended.home, environment)?);
        }
        let plan = Plan::make(&reader, &roots, None);
        let read = read_plan(&reader, &plan, OnFailure::Fail, &stop, &mut |progress| display.show(progress));
        display.clear();
        files = read.map_err(|error| import::refused(&error))?;
    }
    tended.ledger.finish_search().map_err(|error| maintenance::refused(&error))?;
    tended.ledger.close();
    for failure in &files.failures {
        let cause = std::error::Error::source(failure).map(|cause| format!(": {cause}")).unwrap_or_default();
        output.say(&format!("warning: {failure}{cause}; its old reading stays"))?;
    }
    let counts = again.counts();
    let is_stopped = stop.is_requested();
    let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    output.data(&if arguments.json {
        let object = json!({
            "hooks": hooks,
            "filesRead": files.read,
            "filesFailed": files.failed,
            "changed": counts.changed,
            "unchanged": counts.unchanged,
            "unreadable": counts.unreadable,
            "stopped": is_stopped,
            "elapsedMs": elapsed_ms,
        });
        format!("{object:#}\n")
    } else {
        let stopped = if is_stopped { "; stopped, run it again to read the rest" } else { "" };
        format!(
            "read {hooks} kept events of hooks and {} files again in {}: {} say more or something else, {} the \
             same, {} cannot be read{stopped}\n",
            files.read,
            figures::duration(elapsed_ms),
            counts.changed,
            counts.unchanged,
            counts.unreadable
        )
    })?;
    Ok(if files.failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
