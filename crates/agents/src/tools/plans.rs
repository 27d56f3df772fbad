//! Tools that state what is going to be done.

use agent_tracer_event::semantics::SubtypeKey;
use agent_tracer_event::{Kind, attributes};
use serde_json::Value;

use super::Meaning;
use super::input::Input;
use super::row::{PLAN, Row, count, text};
use crate::text::{cut, line};

const OBJECTIVE: &[&str] = &["objective", "goal", "title", "description"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["EnterPlanMode"],
        kind: Kind::ContextSaved,
        label: Some("Enter plan mode"),
        operation: "enter",
        title: |_| "Enter plan mode".to_owned(),
        also: Some(|_, meaning| {
            meaning.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("mode_change:EnterPlanMode"));
        }),
        ..PLAN
    },
    Row {
        names: &["ExitPlanMode", "exit_plan_mode"],
        kind: Kind::PlanLogged,
        label: Some("Present plan"),
        operation: "present",
        body: &["plan"],
        keep: &[count(&["allowedPrompts"], attributes::ALLOWED_PROMPT_COUNT)],
        title: |input| match input.text(&["plan"]).and_then(headline) {
            Some(plan) => format!("Present plan: {}", line(plan, 90)),
            None => "Present the plan".to_owned(),
        },
        ..PLAN
    },
    Row {
        names: &["update_plan"],
        kind: Kind::PlanLogged,
        operation: "update",
        keep: &[text(&["explanation"], attributes::PLAN_EXPLANATION, 1000)],
        title: |input| {
            let steps = steps(input);
            let done = steps.iter().filter(|(_, status)| *status == Some("completed")).count();
            let now =
                steps.iter().find(|(_, status)| *status == Some("in_progress")).and_then(|(step, _)| *step);
            match (steps.len(), now) {
                (0, _) => "Update the plan".to_owned(),
                (all, Some(now)) => format!("Plan ({done} of {all} done): {}", line(now, 80)),
                (all, None) => format!("Plan ({done} of {all} done)"),
            }
        },
        also: Some(plan_steps),
        ..PLAN
    },
    Row {
        names: &["create_goal", "ProposeGoal"],
        label: Some("Set goal"),
        operation: "create",
        body: OBJECTIVE,
        title: |input| match input.text(OBJECTIVE) {
            Some(goal) => format!("Set goal: {}", line(goal, 100)),
            None => "Set a goal".to_owned(),
        },
        ..PLAN
    },
    Row {
        names: &["update_goal", "get_goal"],
        label: Some("Goal"),
        operation: "update",
        keep: &[text(&["status"], attributes::GOAL_STATUS, 60)],
        title: |input| match (input.tool, input.text(&["status"])) {
            ("get_goal", _) => "Look at the goal".to_owned(),
            (_, Some(status)) => format!("Mark the goal as {}", line(&status.replace('_', " "), 40)),
            (_, None) => "Update the goal".to_owned(),
        },
        ..PLAN
    },
    Row {
        names: &["ReportFindings"],
        subtype: SubtypeKey::Verify,
        label: Some("Report findings"),
        operation: "report",
        keep: &[count(&["findings"], attributes::ITEM_COUNT), text(&["level"], attributes::REVIEW_LEVEL, 40)],
        title: |input| match input.list(&["findings"]).map_or(0, <[Value]>::len) {
            0 => "Report no findings".to_owned(),
            1 => "Report a finding".to_owned(),
            many => format!("Report {many} findings"),
        },
        also: Some(|input, meaning| {
            for finding in input.list(&["findings"]).unwrap_or_default() {
                let Some(file) = input.inside(finding).text(&["file"]) else { continue };
                let file = input.stored_path(file);
                if !meaning.file_paths.contains(&file) && meaning.file_paths.len() < super::input::PATHS {
                    meaning.file_paths.push(file);
                }
            }
        }),
        ..PLAN
    },
];

/// Returns the first line of a plan that says something, without its Markdown.
fn headline(plan: &str) -> Option<&str> {
    let mut lines = plan.lines().map(|line| line.trim_start_matches(['#', '*', '-', '>', ' ', '\t']).trim());
    lines.find(|line| !line.is_empty())
}

fn steps<'a>(input: &Input<'a>) -> Vec<(Option<&'a str>, Option<&'a str>)> {
    // No schema bounds the list, and a row must not become as long as a hostile input.
    let steps = input.list(&["plan", "steps"]).unwrap_or_default().iter().take(500);
    steps
        .map(|step| (input.inside(step).text(&["step", "content"]), input.inside(step).text(&["status"])))
        .collect()
}

fn plan_steps(input: &Input<'_>, meaning: &mut Meaning) {
    let steps = steps(input);
    if steps.is_empty() {
        return;
    }
    let mut body = String::new();
    for (step, status) in &steps {
        let mark = match status {
            Some("completed") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        if let Some(step) = step {
            body.push_str(&format!("{mark} {}\n", line(step, 300)));
        }
    }
    meaning.metadata.insert(attributes::ITEM_COUNT.to_owned(), Value::from(steps.len()));
    let body = body.trim_end();
    if !body.is_empty() {
        meaning.body = Some(cut(body, super::sanitise::TEXT_CHARS).into_owned());
    }
}
