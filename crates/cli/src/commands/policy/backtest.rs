//! `policy backtest`: what rules would have done, over the recorded history.

use std::process::ExitCode;

use agent_tracer_intake::Stop;
use agent_tracer_policy::Policy;
use agent_tracer_policy::backtest::{Backtest, Progress, ReplayRequest, RuleReport, run as replay};
use agent_tracer_policy::daemon::load_effective;

use crate::arguments::{Options, PolicyBacktest};
use crate::commands::import::progress::Display;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::local_time::LocalTime;
use crate::output::{Output, Paint, one_line};
use crate::reading::{self, Reading};
use crate::table::{Cell, Side, Table};
use crate::{policy_files, replay, signals, sources};

/// Examples of one rule that a person is shown.
const SHOWN: usize = 5;

pub(super) fn run(
    arguments: &PolicyBacktest,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let reading = Reading::open(options, environment)?;
    let policy = meant(arguments, &reading, environment)?;
    if policy.rules().next().is_none() {
        return Err(Failure::new("no rules to replay").hint("name a file, or run `agent-tracer policy init`"));
    }
    let since = LocalTime::of(environment).parse(&arguments.since, reading.now)?;
    let project = reading.project(arguments.project.as_deref(), environment)?;
    let Some(store) = reading.store() else {
        reading.say_empty(output, environment, false)?;
        return Ok(ExitCode::SUCCESS);
    };
    let setting = replay::setting(environment, sources::prices(&reading.home)?);
    let ask = ReplayRequest { policy: &policy, since, now: reading.now, project, setting: &setting };
    let stop = Stop::new();
    signals::request_on_end(&stop)?;
    let mut display = Display::of_process();
    let found = replay(store.as_ref(), &ask, |progress| {
        display.say(&line(progress, environment));
        stop.is_requested().then_some("stopped")
    });
    display.clear();
    let found = found.map_err(reading::refused)?;
    if arguments.json {
        output.data(&reading::json(&found)?)?;
    } else {
        show(&found, environment, output)?;
    }
    // The code of shells for an end by Ctrl-C: what was found until then was printed.
    Ok(if found.complete { ExitCode::SUCCESS } else { ExitCode::from(130) })
}

/// Returns the draft that was named, as the user's own; else what is in force here.
fn meant(
    arguments: &PolicyBacktest,
    reading: &Reading,
    environment: &Environment,
) -> Result<Policy, Failure> {
    if let Some(path) = &arguments.path {
        let rules = super::existing(&policy_files::named(path, environment))?;
        // A draft may do all that a rule can; as the project's it would be held back without trust.
        return Ok(Policy::of_user(rules.into_rule_file()?));
    }
    let in_force = load_effective(&reading.home, &super::root(environment))?;
    match in_force.broken {
        Some(broken) => Err(broken.into()),
        None => Ok(in_force.policy),
    }
}

fn line(progress: &Progress, environment: &Environment) -> String {
    let reached = progress.reached.map(|at| format!(", back to {}", LocalTime::of(environment).minute(at)));
    format!("{} tasks, {} calls{}", progress.trees, progress.calls, reached.unwrap_or_default())
}

fn show(found: &Backtest, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
    let zone = LocalTime::of(environment);
    let mut table = Table::new(&[
        ("RULE", Side::Left),
        ("DENIED", Side::Right),
        ("ASKED", Side::Right),
        ("REWRITTEN", Side::Right),
        ("WARNED", Side::Right),
        ("ALLOWED", Side::Right),
        ("STOPPED", Side::Right),
        ("NOT JUDGED", Side::Right),
    ]);
    for rule in &found.rules {
        let of = rule.decisions;
        let count = |count: u64| Cell::new(count.to_string());
        let not_judged: u64 = rule.not_judged.iter().filter_map(|it| it.count).sum();
        table.row(vec![
            Cell::new(one_line(&rule.name)),
            count(of.denied),
            count(of.asked),
            count(of.rewritten),
            count(of.warned),
            count(of.allowed),
            count(of.stopped),
            count(not_judged),
        ]);
    }
    let mut text = table.render(output);
    for rule in &found.rules {
        text.push_str(&details(rule, &zone, output));
    }
    output.data(&text)?;
    let outcomes = found.outcomes;
    output.say(&format!(
        "{} calls of {} tasks since {}: {} would have been denied, {} asked, {} rewritten, {} stopped",
        found.calls,
        found.tasks,
        zone.minute(found.since),
        outcomes.denied,
        outcomes.asked,
        outcomes.rewritten,
        outcomes.stopped
    ))?;
    if !found.complete {
        output.say("stopped early: older tasks are missing")?;
    }
    Ok(())
}

/// Returns the newest calls of a rule, and what could not be judged.
fn details(rule: &RuleReport, zone: &LocalTime, output: &Output) -> String {
    if rule.examples.is_empty() && rule.not_judged.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", output.paint(Paint::Bold, &one_line(&rule.name)));
    for example in rule.examples.iter().take(SHOWN) {
        text.push_str(&format!(
            "  {}  {:<7} {}  ({}, event {}, task {})\n",
            zone.minute(example.occurred_at),
            example.decision,
            one_line(&example.title),
            one_line(&example.agent_type),
            example.row_id,
            example.task_id
        ));
    }
    let more = rule.decisions.sum().saturating_sub(rule.examples.len().min(SHOWN) as u64);
    if more > 0 {
        text.push_str(&format!("  … and {more} more\n"));
    }
    if rule.held_back > 0 {
        text.push_str(&format!("  held back {} times: the project is not trusted\n", rule.held_back));
    }
    for reason in &rule.not_judged {
        match reason.count {
            Some(count) => text.push_str(&format!("  not judged {count} times: {}\n", reason.reason)),
            None => text.push_str(&format!("  not judged: {}\n", reason.reason)),
        }
    }
    text
}
