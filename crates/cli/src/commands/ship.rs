//! `agent-tracer ship`: brings what was recorded here to a team's server.

use std::process::ExitCode;

use agent_tracer_fleet::ship::{Cursor, lag};
use agent_tracer_intake::Stop;
use serde_json::json;

use crate::arguments::{Options, Ship};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::{json as json_of, refused};
use crate::ship_job::Progress;
use crate::{log, ship_job, signals, sources};

pub(super) fn run(
    arguments: &Ship,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let policy = ship_job::policy(&home, environment, arguments.policy.as_deref())?;
    let to = arguments.to.as_deref().or(policy.to()).map(str::to_owned);
    if arguments.dry_run {
        let outbox = ship_job::outbox(&home)?;
        let cursor = Cursor::open(&ship_job::cursor_path(&home), to.as_deref().unwrap_or_default())
            .map_err(|error| ship_job::failure_of(&error))?;
        let behind = lag(&outbox, &cursor).map_err(refused)?;
        output.data(&if arguments.json {
            json_of(&json!({ "dryRun": true, "behind": behind }))?
        } else {
            format!("{behind} changes not yet shipped\n")
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(to) = to else {
        return Err(Failure::usage("no destination configured")
            .hint("add `--to https://…`, or run `agent-tracer config set ship.to https://…`"));
    };
    log::start(&arguments.log, environment, &sources::clock())?;
    let mut shipper = ship_job::shipper(&home, environment, &to, policy)?;
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let sent = ship_job::run(&mut shipper, &stop, arguments.once, &Progress::default())?;
    output.data(&if arguments.json {
        json_of(&json!({
            "tasks": sent.tasks,
            "facts": sent.facts,
            "held": sent.held,
            "removed": sent.removed,
            "bytes": sent.bytes,
        }))?
    } else {
        format!(
            "shipped {} tasks and {} facts in {} bytes; the policy held back {}\n",
            sent.tasks, sent.facts, sent.bytes, sent.held
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
