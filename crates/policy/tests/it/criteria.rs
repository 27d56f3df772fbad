//! Criteria of finished work: actions that prove it, and actions that do not.

use agent_tracer_event::Agent;
use agent_tracer_policy::{NoHistory, Outcome, Policy, Work, WorkAction};
use serde_json::json;

use crate::world::{FixedHistory, call_of, rules};

fn ran(command: &str, exit: Option<i32>) -> WorkAction {
    ran_in(command, "/code/app", exit)
}

fn ran_in(command: &str, directory: &str, exit: Option<i32>) -> WorkAction {
    WorkAction::Ran { command: command.to_owned(), directory: Some(directory.to_owned()), exit }
}

fn changed_file(path: &str) -> WorkAction {
    WorkAction::Changed(path.to_owned())
}

/// Returns the unmet criterion, if any.
#[track_caller]
fn missing_criteria(require: &str, work: Work) -> Option<String> {
    let text = format!(
        "[[rule]]\nname = \"r\"\non = \"Stop\"\ndecision = \"deny\"\nreason = \"not yet\"\nrequire.{require}\n"
    );
    let past = FixedHistory { put_off: Some(0), work: Some(work), ..FixedHistory::default() };
    let call = call_of(Agent::CLAUDE_CODE, json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    let verdict = Policy::of_user(rules(&text)).decide(&call, &past);
    match verdict.outcome {
        Outcome::Silent => None,
        Outcome::Deny => {
            let said = verdict.reasons.join("\n");
            let why = said.strip_prefix("[policy rule `r`] not yet: ");
            Some(why.expect("the reason with what is missing").to_owned())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tests_count_only_as_proof() {
    let edit = || changed_file("/code/app/src/a.rs");
    let none = "no tests ran after the last change (`src/a.rs`)";
    for (actions, expected) in [
        (vec![], None),
        (vec![WorkAction::Read("/code/app/a".to_owned())], None),
        (vec![changed_file("/tmp/notes")], None),
        (vec![edit()], Some(none)),
        (vec![edit(), ran("cargo test", Some(0))], None),
        (vec![ran("cargo test", Some(0)), edit()], Some(none)),
        (vec![edit(), ran("cargo test", Some(101))], Some("the tests failed: `cargo test`")),
        (vec![edit(), ran("cargo test", Some(101)), ran("cargo test", Some(0))], None),
        (
            vec![edit(), ran("cargo test", Some(0)), ran("cargo test", Some(1))],
            Some("the tests failed: `cargo test`"),
        ),
        (vec![edit(), ran("cargo test", None)], Some("the result of `cargo test` is unknown")),
        (
            vec![edit(), ran("npm test || true", Some(0))],
            Some("the exit code of `npm test || true` does not say whether the tests passed: run them alone"),
        ),
        (
            vec![edit(), ran("pytest -q | tail -5", Some(0))],
            Some(
                "the exit code of `pytest -q | tail -5` does not say whether the tests passed: run them alone",
            ),
        ),
        (vec![edit(), ran("set -o pipefail; pytest -q | tail -5", Some(0))], None),
        (vec![edit(), ran("cd web && npm test", Some(0))], None),
        (
            vec![edit(), ran("cd /elsewhere && npm test", Some(0))],
            Some("`cd /elsewhere && npm test` did not run inside the project"),
        ),
        (
            vec![edit(), ran_in("npm test", "/elsewhere", Some(0))],
            Some("`npm test` did not run inside the project"),
        ),
        (vec![edit(), ran("cargo test", Some(0)), ran("npm test || true", Some(0))], None),
        (vec![edit(), ran("cargo build", Some(0))], Some(none)),
        (
            vec![ran("cargo test", Some(0)), ran("sed -i s/a/b/ src/b.rs", Some(0))],
            Some("no tests ran after the last change (`src/b.rs`)"),
        ),
    ] {
        let work = Work { actions: actions.clone(), ..Work::default() };
        assert_eq!(missing_criteria("tests_passed = true", work).as_deref(), expected, "{actions:?}");
    }
}

#[test]
fn a_failure_is_handled_by_a_success_of_its_kind() {
    for (actions, expected) in [
        (vec![ran("cargo build", Some(0))], None),
        (vec![ran("cargo build", Some(1))], Some("`cargo build` failed and nothing was done about it")),
        (vec![ran("cargo build", Some(1)), ran("cargo build --release", Some(0))], None),
        (vec![ran("grep x y", Some(1))], None),
        (vec![ran("npm run deploy", None)], None),
        (
            vec![ran("git push", Some(1)), ran("git commit -m x", Some(0))],
            Some("`git push` failed and nothing was done about it"),
        ),
    ] {
        let work = Work { actions: actions.clone(), ..Work::default() };
        assert_eq!(missing_criteria("failures_handled = true", work).as_deref(), expected, "{actions:?}");
    }
}

#[test]
fn todos_mentions_and_logs_are_looked_up() {
    let todos = |open| Work { open_todos: open, ..Work::default() };
    assert_eq!(missing_criteria("todos_closed = true", todos(Some(0))), None);
    assert_eq!(
        missing_criteria("todos_closed = true", todos(Some(2))).as_deref(),
        Some("2 work items are open")
    );
    assert_eq!(missing_criteria("todos_closed = true", todos(None)), None);
    let mentions = |actions: Vec<WorkAction>| Work {
        actions,
        mentioned: vec!["/code/app/docs".to_owned(), "/code/app/a.md".to_owned()],
        ..Work::default()
    };
    assert_eq!(
        missing_criteria("mentioned_opened = true", mentions(vec![])).as_deref(),
        Some("not opened: `docs`, `a.md`")
    );
    let read = vec![WorkAction::Read("/code/app/docs/x.md".to_owned()), ran("cat a.md", Some(0))];
    assert_eq!(missing_criteria("mentioned_opened = true", mentions(read)), None);
    let log = |actions| Work { actions, ..Work::default() };
    assert_eq!(
        missing_criteria("wrote = \"log/*.md\"", log(vec![])).as_deref(),
        Some("nothing was written to `log/*.md`")
    );
    assert_eq!(
        missing_criteria("wrote = \"log/*.md\"", log(vec![changed_file("/code/app/log/today.md")])),
        None
    );
    assert_eq!(
        missing_criteria("wrote = \"log/*.md\"", log(vec![ran("echo done >> log/today.md", Some(0))])),
        None
    );
}

#[test]
fn all_unmet_criteria_are_reported_at_once_and_an_outage_defers_nothing() {
    let work = Work { actions: vec![changed_file("/code/app/a")], open_todos: Some(1), ..Work::default() };
    assert_eq!(
        missing_criteria("tests_passed = true\nrequire.todos_closed = true", work).as_deref(),
        Some("no tests ran after the last change (`a`); one work item is open")
    );
    let text = "[[rule]]\nname = \"r\"\non = \"Stop\"\ndecision = \"deny\"\nreason = \"not yet\"\nrequire.tests_passed = true\n";
    let call = call_of(Agent::CODEX, json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    assert!(Policy::of_user(rules(text)).decide(&call, &NoHistory).is_silent());
}
