//! `policy test`: tries the examples that stand beside the rules.

use std::process::ExitCode;

use agent_tracer_policy::{Decision, Surroundings, try_examples};
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use super::check::counted;
use crate::arguments::PolicyTest;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(
    arguments: &PolicyTest,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let around = Surroundings {
        project: super::root(environment).to_str().map(str::to_owned),
        home: environment.user_home().ok().and_then(|home| home.to_str().map(str::to_owned)),
        now: None,
    };
    let (mut tried, mut failed) = (0, 0);
    let mut trials: Vec<Value> = Vec::new();
    for rules in super::meant(arguments.path.as_deref(), home, environment)? {
        let path = rules.path.clone();
        let file = rules.into_rule_file()?;
        for trial in try_examples(&file, &around) {
            tried += 1;
            let (expected, got) = (word(trial.example.expect), word(trial.got));
            if arguments.json {
                trials.push(json!({"path": path, "line": trial.example.line, "rule": trial.rule,
                    "expected": expected, "got": got, "by": trial.by, "holds": trial.holds()}));
            }
            if !trial.holds() {
                failed += 1;
                let by = if trial.by.is_empty() {
                    String::new()
                } else {
                    format!(" by `{}`", trial.by.join("`, `"))
                };
                output.say(&format!(
                    "error: {}:{}: example of `{}` should be `{expected}` and is `{got}`{by}",
                    path.display(),
                    trial.example.line,
                    trial.rule
                ))?;
            }
        }
    }
    if arguments.json {
        output.data(&format!("{:#}\n", json!({ "trials": trials })))?;
    }
    if tried == 0 {
        return Err(Failure::new("no examples to run")
            .hint("add a `[[rule.example]]` beside each rule, with `tool`, `input` and `expect`"));
    }
    if !arguments.json {
        output.data(&format!("{}, {failed} failed\n", counted(tried, "example")))?;
    }
    Ok(if failed > 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn word(decision: Option<Decision>) -> &'static str {
    decision.map_or("nothing", Decision::as_str)
}
