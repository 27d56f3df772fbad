//! `agent-tracer team`: what a team forgets, how long it keeps the rest, which days are added up, and who read what.
//!
//! Law: no row is deleted before it was counted and the user agreed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use agent_tracer_event::Millis;
use agent_tracer_fleet::clickhouse::{AccessEntry, DeletionScope, Fleet, RowCounts};
use agent_tracer_server::AuditFilter;
use serde_json::{Map, Value, json};

use super::token::fleet;
use crate::arguments::{Team, TeamCommand};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::ship_job::failure_of;

pub(super) fn run(
    arguments: &Team,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let fleet = fleet(environment, &arguments.store, arguments.cluster.as_deref())?;
    fleet.migrate().map_err(|error| failure_of(&error))?;
    match &arguments.command {
        TeamCommand::Forget { person, project, dry_run, yes, json } => {
            let what = match (person.clone(), project.clone()) {
                (owner, Some(project)) => DeletionScope::Project { project, owner },
                (Some(owner), None) => DeletionScope::Owner(owner),
                (None, None) => {
                    return Err(Failure::usage("nothing selected: pass `--person` or `--project`"));
                }
            };
            forget(&fleet, &what, *dry_run, *yes, *json, output)?;
        }
        TeamCommand::Retention { days, forever, json } => {
            if days.is_some() || *forever {
                fleet.keep_for(*days).map_err(|error| failure_of(&error))?;
            }
            let days = fleet.kept_for().map_err(|error| failure_of(&error))?;
            output.data(&match (json, days) {
                (true, days) => json_of(&json!({ "days": days }))?,
                (false, Some(days)) => format!("rows are kept for {days} days after they happened\n"),
                (false, None) => "everything is kept\n".to_owned(),
            })?;
        }
        TeamCommand::Sums { rebuild, json } => sums(&fleet, *rebuild, *json, output)?,
        TeamCommand::Audit { of, by, since, limit, json } => {
            let (since, _) = LocalTime::of(environment).range(since.as_deref(), None, environment.now())?;
            let filter =
                AuditFilter { owner: of.clone(), reader: by.clone(), since, ..AuditFilter::default() };
            let visits = fleet.access_log(&filter, *limit).map_err(|error| failure_of(&error))?;
            audit(&visits, *json, output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn words(what: &DeletionScope) -> String {
    match what {
        DeletionScope::Owner(owner) => format!("everything of `{owner}`"),
        DeletionScope::Project { project, owner: None } => format!("everything of the project `{project}`"),
        DeletionScope::Project { project, owner: Some(owner) } => {
            format!("everything that `{owner}` did in `{project}`")
        }
    }
}

fn forget(
    fleet: &Fleet,
    what: &DeletionScope,
    dry_run: bool,
    yes: bool,
    is_json: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let found = fleet.rows_of(what).map_err(|error| failure_of(&error))?;
    let gone = match (dry_run, found.sum()) {
        (true, _) | (false, 0) => found,
        (false, rows) => {
            if !yes {
                ask(&format!("{} ({rows} rows)", words(what)))?;
            }
            fleet.forget(what).map_err(|error| failure_of(&error))?
        }
    };
    output.data(&if is_json {
        let tables: Map<String, Value> =
            gone.0.iter().map(|(table, rows)| ((*table).to_owned(), Value::from(*rows))).collect();
        json_of(&json!({ "dryRun": dry_run, "rows": tables }))?
    } else {
        said(what, dry_run, &gone)
    })
}

fn said(what: &DeletionScope, dry_run: bool, gone: &RowCounts) -> String {
    let verb = if dry_run { "would forget" } else { "forgot" };
    let tables: Vec<String> = gone.0.iter().map(|(table, rows)| format!("{rows} in `{table}`")).collect();
    format!("{verb} {}: {} rows ({})\n", words(what), gone.sum(), tables.join(", "))
}

fn ask(what: &str) -> Result<(), Failure> {
    // Standard output may be a pipe for the answer; the question goes to standard error.
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "refusing to forget {what} without confirmation: not a terminal"
        ))
        .hint("add `--yes` to skip the confirmation, or `--dry-run` to preview"));
    }
    let fail = |cause: io::Error| Failure::output(&cause);
    let mut talk = io::stderr().lock();
    write!(talk, "forget {what} for good? [y/N] ").and_then(|()| talk.flush()).map_err(fail)?;
    drop(talk);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(fail)?;
    match matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        true => Ok(()),
        false => Err(Failure::new("not confirmed: nothing was deleted")),
    }
}

/// Reports the summed days; with `rebuild` marks all of them, and servers sum them again.
fn sums(fleet: &Fleet, rebuild: bool, is_json: bool, output: &mut Output) -> Result<(), Failure> {
    let waiting = match rebuild {
        true => fleet.mark_all_days(),
        false => fleet.days_marked(),
    };
    let waiting = waiting.map_err(|error| failure_of(&error))?;
    let until = fleet.closed_until().map_err(|error| failure_of(&error))?.map(|at| Millis(at).to_string());
    if is_json {
        return output.data(&json_of(&json!({ "closedUntil": until, "waiting": waiting }))?);
    }
    let until = until.as_deref().and_then(|until| until.split('T').next());
    let closed = match until {
        Some(day) => format!("days before {day} (UTC) are added up"),
        None => "no day is added up yet".to_owned(),
    };
    let waiting = match waiting {
        0 => "none waits to be added up again".to_owned(),
        waiting => format!(
            "{waiting} days of owners wait to be added up again: a server does so some minutes after the last change"
        ),
    };
    output.data(&format!("{closed}; {waiting}\n"))
}

fn audit(visits: &[AccessEntry], is_json: bool, output: &mut Output) -> Result<(), Failure> {
    if is_json {
        let items: Vec<Value> = visits
            .iter()
            .map(|visit| {
                json!({
                    "at": Millis(visit.at).to_string(),
                    "reader": visit.reader,
                    "owner": visit.owner,
                    "taskId": Some(&visit.task).filter(|task| !task.is_empty()),
                    "question": visit.what,
                })
            })
            .collect();
        return output.data(&json_of(&json!({ "items": items }))?);
    }
    let lines: String = visits
        .iter()
        .map(|visit| {
            format!(
                "{}  {} read {}  {}  {}\n",
                Millis(visit.at),
                visit.reader,
                visit.owner,
                visit.what,
                visit.task
            )
        })
        .collect();
    output.data(&lines)
}
