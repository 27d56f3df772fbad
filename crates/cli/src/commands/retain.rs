//! `agent-tracer retain`: drops events that are too old, now. The server does the same once a day.

use std::process::ExitCode;

use agent_tracer_ledger::{AppendError, ClockTrust, Upkeep};
use serde_json::json;

use crate::arguments::{Options, Retain};
use crate::commands::maintenance;
use crate::config;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::retention;

pub(super) fn run(
    arguments: &Retain,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let days = match arguments.days {
        Some(days) => Some(days),
        None => retention::days(&home)?,
    };
    let Some(days) = days else {
        let path = config::path(&home);
        let failure = Failure::usage(format!("`{}` sets no `retention.days`", path.display()));
        return Err(failure.hint("add `--days 90`, or run `agent-tracer config set retention.days 90`"));
    };
    let Some(tended) = maintenance::open(options, environment, output)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let now = environment.now();
    let older = retention::older_than(days, now);
    let failed = |error: AppendError| maintenance::refused(&error);
    // With a clock that is years ahead everything is too old, and what is dropped does not come back.
    let doubt = match tended.ledger.judge_clock(now).map_err(failed)? {
        ClockTrust::Ahead { known } if !arguments.yes => Some(retention::doubt(now, known)),
        ClockTrust::Ahead { .. } | ClockTrust::Sound => None,
    };
    if let Some(doubt) = doubt {
        let would = tended.ledger.would_retain(older).map_err(failed)?;
        let refused = Failure::new(format!("nothing was dropped: {doubt}")).hint(
            "set the clock; if it is right, add `--yes`, or wait until something was recorded on 3 days",
        );
        match would {
            // Nothing would go, so the doubt is no reason to fail.
            would if would == Upkeep::default() => {}
            _ if arguments.dry_run => {
                output.say(&format!("warning: {doubt}; nothing is dropped without `--yes`"))?
            }
            _ => return Err(refused),
        }
    } else if !arguments.dry_run {
        // Not by a dry run: a look must not vouch for the clock of a later run.
        tended.ledger.trust_clock(now).map_err(failed)?;
    }
    let mut pace = maintenance::Pace::default();
    let done = match arguments.dry_run {
        true => tended.ledger.would_retain(older),
        false => tended.ledger.retain_with(older, |done| {
            pace.tell("dropped", done, output);
            true
        }),
    };
    let done = done.map_err(|error| maintenance::refused(&error))?;
    tended.ledger.close();
    output.data(&if arguments.json {
        json_of(&json!({
            "dryRun": arguments.dry_run,
            "days": days,
            "tasks": done.tasks,
            "events": done.events,
            "observations": done.observations,
        }))?
    } else {
        let verb = if arguments.dry_run { "would drop" } else { "dropped" };
        format!(
            "{verb} {} events of {} tasks without an event for more than {days} days; their totals stay\n",
            done.events, done.tasks
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
