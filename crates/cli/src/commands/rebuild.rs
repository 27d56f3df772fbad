//! `agent-tracer rebuild`: folds everything that is shown anew from what was recorded.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use crate::arguments::{Options, Rebuild};
use crate::commands::maintenance;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::figures;
use crate::output::Output;

pub(super) fn run(
    arguments: &Rebuild,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let begun = Instant::now();
    let Some(tended) = maintenance::open(options, environment, output)? else {
        if arguments.json {
            output.data(&format!("{:#}\n", json!({ "tasks": 0, "events": 0 })))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let done = tended.ledger.rebuild().map_err(|error| maintenance::refused(&error))?;
    // Here, because without a server nothing else fills the search.
    tended.ledger.finish_search().map_err(|error| maintenance::refused(&error))?;
    tended.ledger.close();
    let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    output.data(&if arguments.json {
        format!("{:#}\n", json!({ "tasks": done.tasks, "events": done.events, "elapsedMs": elapsed_ms }))
    } else {
        format!(
            "rebuilt {} tasks with {} events in {}\n",
            done.tasks,
            done.events,
            figures::duration(elapsed_ms)
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
