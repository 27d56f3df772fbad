//! `agent-tracer migrate`: everything that this machine recorded, in a team's store, and the proof that it is there.

use std::process::ExitCode;

use agent_tracer_fleet::clickhouse::Checksum;
use agent_tracer_fleet::ship::{Copier, Cursor, ShipError};
use agent_tracer_intake::Stop;
use agent_tracer_ledger::FaultCause;
use serde_json::json;

use super::token::fleet;
use crate::arguments::{Engine, Migrate, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::ship_job::{self, failure_of};
use crate::signals;

pub(super) fn run(
    arguments: &Migrate,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    if (arguments.from, arguments.to) != (Engine::Sqlite, Engine::Clickhouse) {
        return Err(Failure::usage("unsupported direction").hint("use `--from sqlite --to clickhouse`"));
    }
    if arguments.owner.is_empty() || arguments.owner.len() > 256 {
        return Err(Failure::usage("the owner's name must have 1 to 256 bytes"));
    }
    let (home, _) = environment.home(options.home.as_deref())?;
    let outbox = ship_job::outbox(&home)?;
    let fleet = fleet(environment, &arguments.store, arguments.cluster.as_deref())?;
    fleet.migrate().map_err(|error| failure_of(&error))?;
    let owner = arguments.owner.as_str();
    let failed =
        |error: agent_tracer_fleet::clickhouse::FleetError| ShipError::Unreachable(FaultCause::new(error));
    // Another store, or another name there, begins anew.
    let to = format!("{} {owner}", arguments.store);
    let cursor = Cursor::open(&home.data().join("migrate.json"), &to).map_err(|error| failure_of(&error))?;
    let mut copier = Copier::new(outbox, cursor, arguments.batch);
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let mut copied = Checksum::default();
    while !stop.is_requested() {
        let more = copier.step(|shipment| {
            fleet.write(owner, shipment).map_err(failed)?;
            copied.tasks += shipment.tasks.len() as u64;
            copied.facts += shipment.facts.len() as u64;
            Ok(())
        });
        if !more.map_err(|error| interrupted(&error))? {
            break;
        }
        let (done, all) = copier.progress().map_err(|error| interrupted(&error))?;
        output
            .say(&format!("copied up to {done} of {all}: {} tasks, {} facts", copied.tasks, copied.facts))?;
    }
    if stop.is_requested() {
        return Err(Failure::new("stopped before the copy was complete")
            .hint("run the same command again to continue"));
    }
    output.say("comparing both sides")?;
    let (mut here, mut there) = (Checksum::default(), Checksum::default());
    let looked = copier.each(|shipment| {
        here += Checksum::of(owner, shipment);
        there += fleet.checksum(owner, shipment).map_err(failed)?;
        Ok(())
    });
    looked.map_err(|error| interrupted(&error))?;
    if here != there {
        return Err(Failure::new(format!(
            "both sides differ: {} tasks and {} facts with checksum {:016x} here, {} and {} with {:016x} there",
            here.tasks, here.facts, here.sum, there.tasks, there.facts, there.sum
        ))
        .hint("remove `migrate.json` in the data folder and run the command again; existing rows are replaced, not duplicated"));
    }
    output.data(&if arguments.json {
        json_of(&json!({
            "copied": { "tasks": copied.tasks, "facts": copied.facts },
            "verified": { "tasks": there.tasks, "facts": there.facts, "checksum": format!("{:016x}", there.sum) },
        }))?
    } else {
        format!(
            "copied {} tasks and {} facts; {} tasks and {} facts are there, with the same checksum {:016x}\n",
            copied.tasks, copied.facts, there.tasks, there.facts, there.sum
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

fn interrupted(error: &ShipError) -> Failure {
    failure_of(error).hint("run the same command again to continue")
}
