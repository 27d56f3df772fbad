//! Criteria that the client's own hook verifies: written as text, never judged here.

use agent_tracer_event::Agent;
use agent_tracer_policy::{NoHistory, Origin, Policy, RuleScope, Verifier, compile, read};
use agent_tracer_policy_abi::Table;
use serde_json::json;

use crate::world::{call_of, rules};

const DOCS: &str = "[[rule]]\nname = \"docs\"\non = \"Stop\"\ndecision = \"deny\"\n";

#[track_caller]
fn faults(more: &str) -> String {
    let text = format!("version = 1\n{DOCS}{more}");
    read(&text).expect_err(more).iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn the_text_names_its_rule_and_says_the_condition_or_what_is_required() {
    let file = rules(&format!("{DOCS}verify = \"prompt\"\ncondition = \"the docs follow\""));
    let asked = file.rules[0].verifier().unwrap();
    assert_eq!(asked, (Verifier::Prompt, "[Agent Tracer rule `docs`] the docs follow".to_owned()));
    assert!(file.rules[0].in_words().iter().any(|line| line.contains("the docs follow")));
    assert!(file.notes.iter().any(|note| note.to_string().contains("does nothing at `Stop` of `codex`")));
    let file = rules(&format!(
        "{DOCS}verify = \"agent\"\nmatch.agent = \"claude_code\"\nrequire = {{ tests_passed = true, todos_closed = true }}"
    ));
    let (by, text) = file.rules[0].verifier().unwrap();
    assert_eq!(by, Verifier::Agent);
    assert_eq!(
        text,
        "[Agent Tracer rule `docs`] tests passed after the last change; and no work item is open"
    );
    assert!(file.notes.is_empty());
    assert_eq!(
        rules(&format!("{DOCS}reason = \"x\"\nrequire.todos_closed = true")).rules[0].verifier(),
        None
    );
}

#[test]
fn a_rule_that_the_client_verifies_is_not_judged_here() {
    let file = rules(&format!("{DOCS}verify = \"prompt\"\nrequire.tests_passed = true"));
    let place = RuleScope { origin: Origin::User, project: None };
    let bytes = compile(file.rules.iter().map(|rule| (place, rule)), &[], 50, b"/guard").unwrap();
    assert_eq!(Table::open(&bytes).unwrap().rows().count(), 0);
    let stop = call_of(Agent::CLAUDE_CODE, json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    let verdict = Policy::of_user(file).decide(&stop, &NoHistory);
    assert!(verdict.is_silent() && verdict.fired.is_empty(), "{verdict:?}");
}

#[test]
fn what_the_clients_hook_cannot_do_is_refused_with_a_way_out() {
    for (more, expected) in [
        ("verify = \"model\"\ncondition = \"x\"", "prompt"),
        ("verify = \"prompt\"", "nothing to verify"),
        ("verify = \"prompt\"\ncondition = \" \"", "`condition` is empty"),
        ("condition = \"x\"\nreason = \"x\"", "`condition` is for a rule with `verify`"),
        (
            "verify = \"prompt\"\ncondition = \"x\"\nmatch.agent = \"codex\"",
            "only Claude Code can ask a model",
        ),
        ("verify = \"prompt\"\ncondition = \"x\"\nmatch.agent_type = \"a\"", "asked at every end"),
        ("verify = \"prompt\"\ncondition = \"x\"\nwhen.repeated = 2", "asked at every end"),
        ("verify = \"prompt\"\ncondition = \"x\"\nmode = \"dry_run\"", "cannot rehearse"),
    ] {
        let found = faults(more);
        assert!(found.contains(expected), "{more}: {found}");
    }
    let elsewhere =
        format!("version = 1\n{DOCS}verify = \"prompt\"\ncondition = \"x\"").replace("Stop", "SubagentStop");
    assert!(
        read(&elsewhere).expect_err("a verifier at another event")[0].to_string().contains("is for `Stop`")
    );
}
