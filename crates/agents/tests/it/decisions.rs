//! Reads decisions of rules as events of the agent that they decided on.

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Entry, Kind, Millis, Phase, Reading, Subject};
use serde_json::{Value, json};

fn reading(agent: Agent, body: &[u8]) -> Reading {
    let context = Context::default();
    read(&Observation {
        agent,
        channel: Channel::Hook,
        name: "00000000000000000007-1-0",
        arrived: Millis(7),
        source: Source::Decision,
        body,
        context: &context,
    })
}

fn record(event: &str, rules: Value) -> Value {
    json!({"session_id": "s", "agent_id": "a1", "agent_type": "writer", "hook_event_name": event, "tool_name": "Write",
        "tool_use_id": "toolu_1", "prompt_id": "p",
        "decision": {"answered_by": "server", "outcome": "deny", "took_us": 420, "waited_us": 20, "looked_us": 300, "rules": rules}})
}

fn rule(decision: &str, basis: &str, mode: &str, counted: bool) -> Value {
    json!({"rule": "no-write", "origin": "user", "decision": decision, "basis": basis, "mode": mode,
        "severity": "high", "counted": counted})
}

fn logged(reading: &Reading) -> Vec<&Entry> {
    reading.entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::RuleLogged)).collect()
}

#[test]
fn each_rule_that_decided_is_an_event_of_the_agent_it_decided_on() {
    for agent in [Agent::CLAUDE_CODE, Agent::CODEX] {
        let rules =
            json!([rule("deny", "applies", "enforce", true), rule("warn", "applies", "dry_run", false)]);
        let reading = reading(agent, record("PreToolUse", rules).to_string().as_bytes());
        let [denied, rehearsed] = logged(&reading)[..] else { panic!("{reading:?}") };
        assert_eq!(denied.title.as_deref(), Some("Denied by rule `no-write`: Write"));
        assert_eq!(
            (denied.tool_name.as_deref(), denied.tool_use_id.as_deref()),
            (Some("Write"), Some("toolu_1"))
        );
        assert_eq!(denied.agent_id.as_deref(), Some("a1"));
        assert_eq!(denied.agent_type.as_deref(), Some("writer"));
        for (key, value) in [
            ("ruleId", json!("no-write")),
            ("ruleSource", json!("user")),
            ("ruleOutcome", json!("deny")),
            ("ruleStatus", json!("enforced")),
            ("ruleBasis", json!("applies")),
            ("rulePolicy", json!("agent_tracer")),
            ("severity", json!("high")),
            ("answeredBy", json!("server")),
            ("decisionUs", json!(420)),
            ("decisionWaitUs", json!(20)),
            ("decisionLookUs", json!(300)),
            ("importance", json!("critical")),
        ] {
            assert_eq!(denied.metadata.get(key), Some(&value), "{key}");
        }
        assert_eq!(rehearsed.metadata["ruleStatus"], "dry_run");
        assert_ne!(denied.key, rehearsed.key, "two rules are two events");
        assert_eq!(denied.task, rehearsed.task);
        assert!(reading.unrecognised.is_empty(), "{:?}", reading.unrecognised);
    }
}

#[test]
fn an_end_that_is_put_off_and_an_outage_have_their_own_words() {
    for (event, rule, outcome, status) in [
        ("Stop", rule("deny", "applies", "enforce", true), "block_stop", "enforced"),
        ("Stop", rule("warn", "let_go", "enforce", true), "warn", "let_go"),
        ("PreToolUse", rule("stop", "applies", "enforce", true), "block_stop", "enforced"),
        ("PreToolUse", rule("silent", "outage", "enforce", true), "allow", "enforced"),
        ("PreToolUse", rule("allow", "applies", "enforce", false), "allow", "held_back"),
    ] {
        let body = record(event, json!([rule])).to_string();
        let reading = reading(Agent::CLAUDE_CODE, body.as_bytes());
        let entry = logged(&reading)[0];
        assert_eq!(
            (&entry.metadata["ruleOutcome"], &entry.metadata["ruleStatus"]),
            (&json!(outcome), &json!(status))
        );
    }
}

#[test]
fn a_record_that_is_none_is_counted_and_never_a_panic() {
    for agent in [Agent::CLAUDE_CODE, Agent::CODEX] {
        for body in ["", "[]", "{", "7"] {
            let reading = reading(agent, body.as_bytes());
            assert!(reading.entries.is_empty() && reading.unrecognised.len() == 1, "{body}");
        }
        for body in ["{}", r#"{"decision":7}"#, r#"{"decision":{"rules":{}}}"#] {
            let reading = reading(agent, body.as_bytes());
            assert!(logged(&reading).is_empty() && reading.unrecognised.len() == 1, "{body}");
        }
        let odd = json!({"decision": {"rules": [7, {}, {"rule": "x".repeat(100_000), "counted": "no"}]}})
            .to_string();
        let reading = reading(agent, odd.as_bytes());
        assert_eq!(logged(&reading).len(), 3);
        assert!(logged(&reading).iter().all(|entry| entry.title.as_ref().unwrap().len() < 1000));
        let many =
            json!({"decision": {"rules": vec![rule("deny", "applies", "enforce", true); 5000]}}).to_string();
        assert_eq!(logged(&self::reading(agent, many.as_bytes())).len(), 64);
    }
}

#[test]
fn a_call_that_a_rule_refused_ends_as_denied_by_it() {
    for agent in [Agent::CLAUDE_CODE, Agent::CODEX] {
        let refused = |event: &str, rule: Value| {
            let reading = reading(agent, record(event, json!([rule])).to_string().as_bytes());
            let calls = reading.entries.into_iter().filter(|entry| entry.key == "tool:toolu_1");
            calls.collect::<Vec<Entry>>()
        };
        for wish in ["deny", "stop"] {
            let calls = refused("PreToolUse", rule(wish, "applies", "enforce", true));
            let [call] = &calls[..] else { panic!("{wish}: {calls:?}") };
            assert_eq!((call.state, call.phase), (Some(CallState::Denied), Phase::Close));
            assert_eq!(call.ended_at, Some(Millis(7)));
            assert_eq!(call.metadata["errorClass"], "policy_denied");
            assert_eq!(call.metadata["deniedByRule"], "no-write");
        }
        for (event, rule) in [
            ("PreToolUse", rule("deny", "applies", "dry_run", false)),
            ("PreToolUse", rule("deny", "applies", "enforce", false)),
            ("PreToolUse", rule("ask", "applies", "enforce", true)),
            ("PostToolUse", rule("deny", "applies", "enforce", true)),
            ("Stop", rule("deny", "applies", "enforce", true)),
        ] {
            assert_eq!(refused(event, rule.clone()), [], "{event} {rule}");
        }
    }
}
