//! The notation of the case files.
//!
//! One case per line: `command ⇒ effect subtype ¦ key=value ¦ …`. In the command, `␤` is a line end and `␉` a tab.
//! Lines that begin with `#` are comments. Keys that are not given are not checked:
//!
//! | key | what it checks |
//! |---|---|
//! | `op`, `name`, `sub` | operation, program and subcommand of the decisive step; of a pipeline, of its decisive member |
//! | `targets` | all targets of all steps, in order, as `type:value`, separated by two blanks; `-` for none |
//! | `effects` | all effects of all steps, gravest first, joined by `+` |
//! | `structure`, `conf`, `masked` | of the whole |
//! | `steps` | the programs of all steps in order, members of pipelines included |
//! | `wrappers` | of the decisive step |
//! | `reads`, `writes`, `deletes` | files, separated by two blanks; `-` for none |
//! | `checks` | the checks, as `program:operation`, separated by two blanks |
//! | `lane`, `imp`, `entity`, `probe`, `operation`, `label`, `title`, `lines`, `pattern`, `dialect` | as they are called |

use agent_tracer_shell::{Context, Dialect, Effect, ShellCall, Step, describe};
use serde_json::Value;

/// One line of a case file.
pub(crate) struct Case {
    pub(crate) line: usize,
    pub(crate) command: String,
    expectations: Vec<(String, String)>,
}

/// Reads a case file; a line that is not in the notation is an error that names it.
pub(crate) fn read(text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || format!("line {} is not in the notation: {line}", number + 1);
        let (command, expected) = line.rsplit_once(" ⇒ ").ok_or_else(wrong)?;
        let mut expectations = Vec::new();
        for (position, part) in expected.split(" ¦ ").enumerate() {
            if position == 0 {
                let (effect, subtype) = part.trim().split_once(' ').ok_or_else(wrong)?;
                expectations.push(("effect".to_owned(), effect.trim().to_owned()));
                expectations.push(("subtype".to_owned(), subtype.trim().to_owned()));
            } else {
                let (key, value) = part.split_once('=').ok_or_else(wrong)?;
                expectations.push((key.trim().to_owned(), value.trim().to_owned()));
            }
        }
        let command = command.trim().replace('␤', "\n").replace('␉', "\t");
        cases.push(Case { line: number + 1, command, expectations });
    }
    Ok(cases)
}

impl Case {
    /// Returns the differences between the expected and the actual results.
    pub(crate) fn differences(&self) -> Vec<String> {
        let powershell =
            self.expectations.iter().any(|(key, value)| key == "dialect" && value == "powershell");
        let dialect = if powershell { Dialect::PowerShell } else { Dialect::Bash };
        let call = describe(&self.command, &Context { dialect, ..Context::default() });
        let mut differences = Vec::new();
        for (key, expected) in &self.expectations {
            let actual = observe(&call, key);
            if actual != *expected {
                differences.push(format!(
                    "line {}: {}\n    {key}: expected `{expected}`, found `{actual}`",
                    self.line, self.command
                ));
            }
        }
        differences
    }
}

fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value).expect("a word") {
        Value::String(text) => text,
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn observe(call: &ShellCall, key: &str) -> String {
    let analysis = &call.analysis;
    let main = analysis.decisive_step.and_then(|step| analysis.steps.get(step)).map(innermost);
    let listed = |values: &[String]| if values.is_empty() { "-".to_owned() } else { values.join("  ") };
    let of_main = |read: fn(&Step) -> String| main.map_or_else(|| "-".to_owned(), read);
    match key {
        "effect" => analysis.overall_effect.to_string(),
        "subtype" => call.semantics.subtype_key.as_str().to_owned(),
        "op" => of_main(|step| step.operation.clone()),
        "name" => of_main(|step| step.command_name.clone()),
        "sub" => of_main(|step| step.subcommand.clone().unwrap_or_else(|| "-".to_owned())),
        "wrappers" => {
            of_main(|step| if step.wrappers.is_empty() { "-".to_owned() } else { step.wrappers.join(", ") })
        }
        "lines" => of_main(|step| step.selectors.line_range.clone().unwrap_or_else(|| "-".to_owned())),
        "pattern" => of_main(|step| step.selectors.pattern.clone().unwrap_or_else(|| "-".to_owned())),
        "structure" => word(analysis.structure),
        "conf" => word(analysis.confidence),
        "masked" => if analysis.failure_masked { "yes" } else { "no" }.to_owned(),
        "steps" => {
            let mut names = Vec::new();
            for step in &analysis.steps {
                each(step, &mut |step| names.push(step.command_name.clone()));
            }
            names.join(" ")
        }
        "targets" => {
            let mut targets: Vec<String> = Vec::new();
            for step in &analysis.steps {
                each(step, &mut |step| {
                    for target in &step.targets {
                        let text = format!("{}:{}", word(target.kind), target.value);
                        if !targets.contains(&text) {
                            targets.push(text);
                        }
                    }
                });
            }
            listed(&targets)
        }
        "effects" => {
            let mut all: Vec<Effect> = analysis.steps.iter().flat_map(|step| step.effects.clone()).collect();
            all.sort();
            all.dedup();
            all.reverse();
            all.iter().map(|effect| effect.as_str()).collect::<Vec<_>>().join("+")
        }
        "checks" => {
            let checks: Vec<String> = analysis
                .checks
                .iter()
                .map(|check| format!("{}:{}", check.command_name, check.operation))
                .collect();
            listed(&checks)
        }
        "reads" => listed(&call.files.read),
        "writes" => listed(&call.files.written),
        "deletes" => listed(&call.files.deleted),
        "lane" => call.lane.as_str().to_owned(),
        "imp" => call.semantics.importance.as_str().to_owned(),
        "entity" => format!("{}:{}", call.semantics.entity_type.as_str(), call.semantics.entity_name),
        "probe" => call.semantics.probe_key.map_or("-", |key| key.as_str()).to_owned(),
        "operation" => call.semantics.operation.clone(),
        "label" => call.semantics.subtype_label.clone(),
        "title" => call.title.clone(),
        "dialect" => "powershell".to_owned(),
        _ => format!("`{key}` is not a key of the notation"),
    }
}

/// The member of a pipeline that made it what it is, found from outside: the one with the pipeline's name.
fn innermost(step: &Step) -> &Step {
    let members = step.pipeline.as_deref().unwrap_or_default();
    members.iter().rev().find(|member| member.command_name == step.command_name).unwrap_or(step)
}

fn each<'s>(step: &'s Step, visit: &mut impl FnMut(&'s Step)) {
    match &step.pipeline {
        Some(members) => members.iter().for_each(|member| each(member, visit)),
        None => visit(step),
    }
}
