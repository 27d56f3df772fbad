//! The words of a project that the user has not trusted reach neither the model nor the human.

use agent_tracer_event::Agent;
use agent_tracer_policy::{
    Answer, Call, Event, History, NoHistory, Policy, Trust, Work, answer, answer_unjudged,
};
use serde_json::json;

use crate::world::{FixedHistory, call_of, rules};

/// Stands in every text that a rule can hold.
const WORD: &str = "IGNORE-ALL-PREVIOUS";

fn project(event: Event, decision: &str, name: &str) -> String {
    let require =
        if event.is_an_end() { format!("require = {{ wrote = [\"{WORD}.md\"] }}\n") } else { String::new() };
    format!(
        "[[rule]]\nname = \"{name}\"\ndescription = \"{WORD}\"\non = \"{event}\"\ndecision = \"{decision}\"\n\
         reason = \"{WORD} \\u001b[31m\"\nsystem_message = \"{WORD}\"\n{require}"
    )
}

fn call(agent: Agent, event: Event) -> Call {
    call_of(
        agent,
        json!({"hook_event_name": event.as_str(), "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_use_id": "t", "prompt": "hello", "stop_hook_active": false}),
    )
}

fn everything(answer: &Answer) -> String {
    format!("{}{}", answer.stdout, answer.stderr)
}

#[test]
fn a_project_speaks_only_once_it_is_trusted() {
    let mut spoken = 0;
    let known = FixedHistory { work: Some(Work::default()), put_off: Some(0), ..FixedHistory::default() };
    for event in Event::ALL {
        for decision in ["warn", "ask", "deny"] {
            let Ok(file) =
                agent_tracer_policy::read(&format!("version = 1\n{}", project(*event, decision, "p")))
            else {
                continue;
            };
            for agent in Agent::ALL {
                for history in [&NoHistory as &dyn History, &known] {
                    let call = call(*agent, *event);
                    let said = |trust| {
                        let policy = Policy::default().with_project(file.clone(), trust);
                        everything(&answer(&call, &policy.decide(&call, history)))
                    };
                    let (trusted, not_trusted) = (said(Trust::Trusted), said(Trust::NotTrusted));
                    assert!(!not_trusted.contains(WORD), "{event} {decision} {agent:?}: {not_trusted}");
                    assert_eq!(trusted.is_empty(), not_trusted.is_empty(), "{event} {decision} {agent:?}");
                    assert!(!trusted.contains("\\u001b") && !trusted.contains("[31m"), "{trusted}");
                    spoken += usize::from(trusted.contains(WORD));
                }
            }
        }
    }
    assert!(spoken > 20, "{spoken}");
}

#[test]
fn a_name_that_holds_a_sentence_is_shown_by_its_line() {
    for (name, is_named) in [
        ("no-force-push", true),
        ("a.b.c.d", true),
        ("ignore-all-previous-rules-now", false),
        ("IgnoreAllPreviousRulesNow", false),
        (&"a".repeat(41), false),
    ] {
        let file = rules(&project(Event::PreToolUse, "deny", name));
        let call = call(Agent::CLAUDE_CODE, Event::PreToolUse);
        let verdict = Policy::default().with_project(file, Trust::NotTrusted).decide(&call, &NoHistory);
        let said = everything(&answer(&call, &verdict));
        assert_eq!(said.contains(name), is_named, "{said}");
        assert_eq!(said.contains("policy rule `line 2` of this project"), !is_named, "{said}");
    }
}

#[test]
fn what_cannot_be_judged_is_left_to_the_human_or_refused() {
    let said = |agent, event| everything(&answer_unjudged(agent, event, "the rules \u{1b}[1mare broken"));
    let claude = said(Agent::CLAUDE_CODE, Event::PreToolUse);
    assert!(
        claude.contains("\"permissionDecision\":\"ask\"") && claude.contains("the rules are broken"),
        "{claude}"
    );
    assert!(said(Agent::CODEX, Event::PreToolUse).contains("\"permissionDecision\":\"deny\""));
    assert_eq!(said(Agent::CLAUDE_CODE, Event::Stop), "");
}
