//! `policy check`: everything that is wrong with rules, with line and column.

use std::process::ExitCode;

use agent_tracer_policy::Fault;
use agent_tracer_policy::daemon::Rules;
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::arguments::PolicyCheck;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(
    arguments: &PolicyCheck,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let files = super::meant(arguments.path.as_deref(), home, environment)?;
    if arguments.json {
        let files: Vec<Value> = files.iter().map(as_json).collect();
        output.data(&format!("{:#}\n", json!({ "files": files })))?;
    } else {
        for rules in &files {
            let path = rules.path.display();
            let faults = match &rules.content {
                Ok(file) => &file.notes,
                Err(faults) => faults,
            };
            let kind = if rules.content.is_ok() { "note" } else { "error" };
            for fault in faults {
                output.say(&format!("{kind}: {path}:{fault}"))?;
            }
            if let Ok(file) = &rules.content {
                output.data(&format!("{path}: {}\n", counted(file.rules.len(), "rule")))?;
            }
        }
    }
    if arguments.path.is_none() && !arguments.json {
        for line in super::verifiers::differences(home, environment)? {
            output.say(&line)?;
        }
    }
    let broken = files.iter().any(|rules| rules.content.is_err());
    Ok(if broken { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn as_json(rules: &Rules) -> Value {
    let listed = |faults: &[Fault]| -> Vec<Value> {
        faults
            .iter()
            .map(|it| json!({"line": it.line, "column": it.column, "what": it.what, "hint": it.hint}))
            .collect()
    };
    match &rules.content {
        Ok(file) => json!({"path": rules.path, "sha256": rules.hash, "rules": file.rules.len(), "faults": [],
            "notes": listed(&file.notes)}),
        Err(faults) => {
            json!({"path": rules.path, "sha256": rules.hash, "rules": 0, "faults": listed(faults), "notes": []})
        }
    }
}

/// Returns a count with its noun: `1 rule`, `2 rules`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
