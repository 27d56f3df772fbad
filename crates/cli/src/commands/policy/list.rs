//! `policy list`: which rules are in force here.

use std::process::ExitCode;

use agent_tracer_policy::daemon::{PROJECT_FILE, load_effective};
use agent_tracer_policy::{Mode, Origin, Rule};
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::arguments::PolicyList;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::{Output, Paint};
use crate::table::{Cell, Side, Table};

pub(super) fn run(
    arguments: &PolicyList,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let root = super::root(environment);
    let in_force = load_effective(home, &root)?;
    let rules: Vec<(Origin, &Rule)> = in_force.policy.rules().collect();
    let (user, project) = (home.policy_file(), root.join(PROJECT_FILE));
    if arguments.json {
        let rules: Vec<Value> = rules.iter().map(|(origin, rule)| as_json(*origin, rule)).collect();
        let files = json!({"user": user, "project": project});
        output.data(&format!("{:#}\n", json!({ "files": files, "rules": rules })))?;
    } else if rules.is_empty() {
        output.say(&format!("no rules: neither `{}` nor `{}`", user.display(), project.display()))?;
        output.say("hint: run `agent-tracer policy init`")?;
    } else {
        output.data(&table(&rules).render(output))?;
        for line in super::verifiers::differences(home, environment)? {
            output.say(&line)?;
        }
    }
    match in_force.broken {
        Some(broken) => Err(broken.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Returns the state of a rule, with the reason if it does not act.
fn state(origin: Origin, rule: &Rule) -> &'static str {
    match rule.mode {
        Mode::DryRun => "dry_run",
        Mode::Enforce if origin.may(rule.decision) => "enforce",
        Mode::Enforce => "not_trusted",
    }
}

fn as_json(origin: Origin, rule: &Rule) -> Value {
    let events: Vec<&str> = rule.events.iter().map(|event| event.as_str()).collect();
    json!({
        "name": rule.name, "description": rule.description, "origin": origin.as_str(), "line": rule.line,
        "events": events, "decision": rule.decision.as_str(), "reason": rule.reason,
        "severity": rule.severity.as_str(), "mode": rule.mode.as_str(), "onOutage": rule.on_outage.as_str(),
        "state": state(origin, rule), "looksAtThePast": !rule.when.is_empty() || !rule.require.is_empty(),
        "examples": rule.examples.len(),
    })
}

fn table(rules: &[(Origin, &Rule)]) -> Table {
    let mut table = Table::new(&[
        ("RULE", Side::Left),
        ("FROM", Side::Left),
        ("STATE", Side::Left),
        ("DECISION", Side::Left),
        ("SEVERITY", Side::Left),
        ("ON", Side::Left),
    ]);
    for (origin, rule) in rules {
        let events: Vec<&str> = rule.events.iter().map(|event| event.as_str()).collect();
        let state = state(*origin, rule);
        let shown = Cell::new(state);
        table.row(vec![
            Cell::new(&rule.name),
            Cell::new(origin.as_str()),
            if state == "enforce" { shown } else { shown.paint(Paint::Yellow) },
            Cell::new(rule.decision.as_str()),
            Cell::new(rule.severity.as_str()),
            Cell::new(events.join(", ")),
        ]);
    }
    table
}
