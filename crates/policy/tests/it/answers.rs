//! The exact words for each agent, event and decision.

use agent_tracer_event::Agent;
use agent_tracer_policy::legality::{self, AnswerForm};
use agent_tracer_policy::{Answer, Decision, Event, NoHistory, Policy, answer};
use serde_json::{Value, json};

use crate::world::{bash, call_of, decide, rules};

fn rule(event: &str, decision: &str, more: &str) -> String {
    format!(
        "[[rule]]\nname = \"r\"\non = \"{event}\"\ndecision = \"{decision}\"\nreason = \"because\"\n{more}\n"
    )
}

fn call_at(agent: Agent, event: Event) -> agent_tracer_policy::Call {
    let mut fields = json!({"hook_event_name": event.as_str(), "stop_hook_active": false, "prompt": "go"});
    if event.has_tool() {
        fields["tool_name"] = "Bash".into();
        fields["tool_input"] = json!({"command": "ls", "timeout": 5});
    }
    call_of(agent, fields)
}

#[track_caller]
fn answer_at(agent: Agent, event: Event, decision: Decision) -> Answer {
    let more = if decision == Decision::Rewrite { "[rule.rewrite]\nset = { timeout = 9 }" } else { "" };
    let call = call_at(agent, event);
    // A stop is deferred only with a count; elsewhere the history is not needed.
    let past = crate::world::FixedHistory { put_off: Some(0), ..Default::default() };
    let policy = Policy::of_user(rules(&rule(event.as_str(), decision.as_str(), more)));
    answer(&call, &policy.decide(&call, &past))
}

const SAID: &str = "[policy rule `r`] because";

/// Returns the promises of the table, written once more by hand.
fn expected(cell: &legality::Cell) -> Value {
    let event = cell.event.as_str();
    let specific = |fields: Value| {
        let mut all = json!({"hookEventName": event});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"hookSpecificOutput": all})
    };
    match (cell.form, cell.decision) {
        (AnswerForm::Permission, decision) => {
            specific(json!({"permissionDecision": decision.as_str(), "permissionDecisionReason": SAID}))
        }
        (AnswerForm::UpdatedInput, _) => specific(json!({
            "permissionDecision": "allow", "permissionDecisionReason": SAID,
            "updatedInput": {"command": "ls", "timeout": 9}})),
        (AnswerForm::DenyInstead, decision) => {
            let what =
                if decision == Decision::Stop { "stop here and tell the user" } else { "ask the user first" };
            let reason = format!("{SAID}\n{what}: this agent cannot be made to from here");
            if cell.event == Event::PermissionRequest {
                specific(json!({"decision": {"behavior": "deny", "message": reason}}))
            } else {
                specific(json!({"permissionDecision": "deny", "permissionDecisionReason": reason}))
            }
        }
        (AnswerForm::Behavior, Decision::Allow) => specific(json!({"decision": {"behavior": "allow"}})),
        (AnswerForm::Behavior, _) => specific(json!({"decision": {"behavior": "deny", "message": SAID}})),
        (AnswerForm::BehaviorWithInput, _) => specific(
            json!({"decision": {"behavior": "allow", "updatedInput": {"command": "ls", "timeout": 9}}}),
        ),
        (AnswerForm::Interrupt, _) => {
            specific(json!({"decision": {"behavior": "deny", "message": SAID, "interrupt": true}}))
        }
        (AnswerForm::Block, _) => json!({"decision": "block", "reason": SAID}),
        (AnswerForm::Context, _) => specific(json!({"additionalContext": SAID})),
        (AnswerForm::SystemMessage, _) => json!({"systemMessage": SAID}),
        (AnswerForm::Continue, _) if cell.event == Event::PreToolUse => {
            let mut all = specific(json!({"permissionDecision": "deny", "permissionDecisionReason": SAID}));
            all["continue"] = false.into();
            all["stopReason"] = SAID.into();
            all
        }
        (AnswerForm::Continue, _) => json!({"continue": false, "stopReason": SAID}),
        (AnswerForm::ExitTwo, _) => Value::Null,
    }
}

#[test]
fn every_cell_of_the_table_is_said_in_exactly_these_words() {
    for cell in legality::cells() {
        let answer = answer_at(cell.agent, cell.event, cell.decision);
        if cell.form == AnswerForm::ExitTwo {
            assert_eq!(
                answer,
                Answer { stderr: format!("{SAID}\n"), exit: 2, stdout: String::new() },
                "{cell:?}"
            );
            continue;
        }
        assert_eq!((answer.exit, answer.stderr.as_str()), (0, ""), "{cell:?}");
        assert!(answer.stdout.ends_with("}\n") && answer.stdout.lines().count() == 1, "{cell:?}");
        let value: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(value, expected(&cell), "{cell:?}");
    }
}

#[test]
fn a_decision_that_an_agent_does_not_have_is_not_said_to_it() {
    let allow = rules(&rule("PreToolUse", "allow", "match.tool = \"Bash\""));
    let call = call_at(Agent::CODEX, Event::PreToolUse);
    let verdict = Policy::of_user(allow).decide(&call, &NoHistory);
    assert!(answer(&call, &verdict).is_silent());
}

#[test]
fn codex_never_receives_an_output_that_it_refuses() {
    // Codex runs the tool if it dislikes the answer: `ask`, `continue`, `stopReason`, `suppressOutput` and `interrupt`.
    for event in [Event::PreToolUse, Event::PermissionRequest, Event::PostToolUse] {
        for decision in legality::decisions(&[Agent::CODEX], event) {
            let more =
                if decision == Decision::Rewrite { "[rule.rewrite]\nset = { timeout = 9 }" } else { "" };
            let text = rule(event.as_str(), decision.as_str(), &format!("suppress_output = true\n{more}"));
            let call = call_at(Agent::CODEX, event);
            let said = answer(&call, &decide(&text, &call)).stdout;
            let value: Value = serde_json::from_str(&said).unwrap();
            assert!(value.get("suppressOutput").is_none(), "{said}");
            if event != Event::PostToolUse {
                assert!(value.get("continue").is_none() && value.get("stopReason").is_none(), "{said}");
            }
            let specific = &value["hookSpecificOutput"];
            assert_ne!(specific["permissionDecision"], "ask", "{said}");
            if specific["permissionDecision"] == "allow" {
                assert!(specific["updatedInput"].is_object(), "{said}");
            }
            assert!(specific["decision"].get("interrupt").is_none(), "{said}");
        }
    }
}

#[test]
fn what_else_a_rule_says_goes_along() {
    let text = rule(
        "PreToolUse",
        "stop",
        "stop_reason = \"enough\"\nsystem_message = \"for you\"\nsuppress_output = true",
    );
    let call = bash("ls");
    let value: Value = serde_json::from_str(&answer(&call, &decide(&text, &call)).stdout).unwrap();
    assert_eq!(
        value,
        json!({
            "continue": false, "stopReason": "enough", "systemMessage": "for you", "suppressOutput": true,
            "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                "permissionDecisionReason": SAID}})
    );
}

#[test]
fn permissions_come_with_an_allow_of_claude_code() {
    let text = rule(
        "PermissionRequest",
        "allow",
        "match.tool = \"Bash\"\npermissions = [{ type = \"addRules\", behavior = \"allow\", destination = \"session\", rules = [{ toolName = \"Bash\" }] }]",
    );
    let call = call_at(Agent::CLAUDE_CODE, Event::PermissionRequest);
    let value: Value = serde_json::from_str(&answer(&call, &decide(&text, &call)).stdout).unwrap();
    assert_eq!(
        value["hookSpecificOutput"]["decision"],
        json!({"behavior": "allow", "updatedPermissions": [{"type": "addRules", "behavior": "allow",
            "destination": "session", "rules": [{"toolName": "Bash"}]}]})
    );
    let call = call_at(Agent::CODEX, Event::PermissionRequest);
    let value: Value = serde_json::from_str(&answer(&call, &decide(&text, &call)).stdout).unwrap();
    assert_eq!(value["hookSpecificOutput"]["decision"], json!({"behavior": "allow"}));
}

#[test]
fn warnings_go_along_with_a_decision_and_long_texts_are_cut() {
    let text = rule("PreToolUse", "deny", "").replace("because", &"é".repeat(3000))
        + &rule("PreToolUse", "warn", "").replace("\"r\"", "\"w\"");
    let text = text
        + &(0..4)
            .map(|n| {
                rule("PreToolUse", "deny", "")
                    .replace("\"r\"", &format!("\"r{n}\""))
                    .replace("because", &"é".repeat(3000))
            })
            .collect::<String>();
    let call = bash("ls");
    let value: Value = serde_json::from_str(&answer(&call, &decide(&text, &call)).stdout).unwrap();
    let specific = &value["hookSpecificOutput"];
    assert_eq!(specific["additionalContext"], "[policy rule `w`] because");
    assert_eq!(specific["permissionDecisionReason"].as_str().unwrap().chars().count(), 10_001);
}

#[test]
fn a_prompt_that_is_not_sent_takes_no_context_along() {
    let text = rule("UserPromptSubmit", "deny", "")
        + &rule("UserPromptSubmit", "warn", "").replace("\"r\"", "\"w\"");
    let call = call_at(Agent::CLAUDE_CODE, Event::UserPromptSubmit);
    let value: Value = serde_json::from_str(&answer(&call, &decide(&text, &call)).stdout).unwrap();
    assert_eq!(value, json!({"decision": "block", "reason": SAID}));
}
