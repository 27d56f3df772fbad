//! Hooks that an agent posts itself.

use agent_tracer_event::{Agent, Channel, Kind, Subject};
use agent_tracer_ledger::Verdict;
use serde_json::{Value, json};

use crate::world::{TOKEN, UNRECORDED, World};

fn fixtures() -> Vec<(Agent, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let mut found = Vec::new();
    let mut folders =
        vec![(Agent::CLAUDE_CODE, format!("{root}/claude-code")), (Agent::CODEX, format!("{root}/codex"))];
    while let Some((agent, folder)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect(&folder).flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push((agent, path.display().to_string()));
            } else if path.file_name().is_some_and(|name| name == "hooks.jsonl") {
                found.push((agent, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn every_captured_hook_is_taken_with_an_empty_answer() {
    let world = World::new();
    let mut sent = 0;
    for (agent, text) in fixtures() {
        let path = if agent == Agent::CODEX { "/hooks/codex" } else { "/hooks/claude" };
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("a fixture");
            // Captured lines are the payload itself, or hold it beside what was known of the process.
            let payload =
                ["payload", "stdin", "body"].iter().find_map(|name| line.get(*name)).unwrap_or(&line);
            let answer = world.post(path, payload);
            assert_eq!((answer.status, answer.body.len()), (200, 0), "{}", answer.text());
            sent += 1;
        }
    }
    assert!(sent > 100, "{sent}");
    let brought = world.memory.brought.lock().unwrap();
    assert_eq!(brought.len(), sent);
    assert!(brought.iter().all(|observed| observed.channel == Channel::Http));
    for observed in brought.iter() {
        let Verdict::Read(reading) = &observed.verdict else { panic!("{observed:?}") };
        assert!(!reading.entries.is_empty(), "{observed:?}");
        assert_eq!(observed.payload.is_some(), observed.agent == Agent::CLAUDE_CODE);
    }
}

#[test]
fn a_payload_passes_privacy_before_anything_else() {
    let world = World::new();
    let hook = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_use_id": "toolu_1",
        "tool_input": {"command": "export TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345"},
        "tool_response": {"stdout": "CANARY-out", "stderr": ""}});
    assert_eq!(world.post("/hooks/claude", &hook).status, 200);
    let brought = world.memory.brought.lock().unwrap();
    let kept = String::from_utf8(brought[0].kept.clone().unwrap()).unwrap();
    let all = format!("{:?}{kept}", brought);
    assert!(!all.contains("CANARY-out") && !all.contains("ghp_01234"), "{all}");
    drop(brought);
    let event = world.memory.events().pop().unwrap();
    assert_eq!((event.subject, event.key.as_str()), (Subject::Event(Kind::TerminalCommand), "tool:toolu_1"));
}

#[test]
fn equal_payloads_are_distinct_observations() {
    let world = World::new();
    let hook = json!({"hook_event_name": "Stop", "session_id": "s", "turn_id": "t"});
    for _ in 0..2 {
        world.post("/hooks/codex", &hook);
    }
    let brought = world.memory.brought.lock().unwrap();
    assert_eq!(brought.len(), 2);
    assert_ne!(brought[0].name, brought[1].name);
}

#[test]
fn a_key_tells_what_is_the_same() {
    let world = World::new();
    let post = |path: &str, key: &str, payload: &Value| {
        world.ask("POST", path).bearer(TOKEN).header("Idempotency-Key", key).json(payload).send().status
    };
    let hook = json!({"hook_event_name": "Stop", "session_id": "s", "turn_id": "t"});
    let names = || {
        let brought = world.memory.brought.lock().unwrap();
        brought.iter().map(|observed| (observed.name.clone(), observed.payload)).collect::<Vec<_>>()
    };
    assert_eq!(post("/hooks/claude", "k-1", &hook), 200);
    assert_eq!(post("/hooks/claude", "k-1", &hook), 200);
    assert_eq!(post("/hooks/claude", "k-2", &hook), 200);
    assert_eq!(post("/hooks/codex", "k-1", &hook), 200);
    let seen = names();
    assert_eq!(seen[0], ("key:claude_code:k-1".to_owned(), None), "the payload does not count");
    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
    assert_ne!(seen[0], seen[3]);
    assert_eq!(post("/hooks/claude", "k-3", &json!([])), 400);
    assert_ne!(names()[4].0, "key:claude_code:k-3", "what is refused does not use up its key");
    for bad in ["", " ", "two words", &"k".repeat(257)] {
        assert_eq!(post("/hooks/claude", bad, &hook), 400, "{bad:?}");
    }
    assert_eq!(names().len(), 5);
}

#[test]
fn an_excluded_folder_leaves_nothing_and_the_agent_does_not_notice() {
    let world = World::new();
    world.conf("exclude ~/secret/**\n");
    let hook = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/home/dev/secret/a", "prompt": "x"});
    let answer = world.post("/hooks/claude", &hook);
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    let brought = world.memory.brought.lock().unwrap();
    assert!(matches!(brought[0].verdict, Verdict::Refused(_)));
    assert_eq!((brought[0].kept.clone(), brought[0].payload), (None, None));
}

#[test]
fn an_invalid_payload_is_reported_and_counted() {
    let world = World::new();
    for body in ["", "{", "[]", "null", "{\"a\":1}x", "\u{0}"] {
        let answer = world.ask("POST", "/hooks/claude").bearer(TOKEN).body("application/json", body).send();
        assert_eq!(answer.status, 400, "{body:?}");
        answer.wrong();
    }
    let verdicts = world.memory.verdicts();
    assert_eq!(verdicts.len(), 6);
    assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Malformed(_))));
}

#[test]
fn nothing_is_kept_of_a_session_that_ran_while_recording_was_switched_off() {
    let world = World::new();
    let hook = json!({"hook_event_name": "UserPromptSubmit", "session_id": UNRECORDED, "prompt": "quiet"});
    assert_eq!(world.post("/hooks/claude", &hook).status, 200);
    let child = json!({"hook_event_name": "PreToolUse", "session_id": UNRECORDED, "agent_id": "a1", "agent_type": "Explore",
        "tool_name": "Read", "tool_use_id": "toolu_1", "tool_input": {"file_path": "/x"}});
    assert_eq!(world.post("/hooks/claude", &child).status, 200);
    let event = json!({"events": [{"kind": "user.message", "runtimeSource": "claude_code", "title": "quiet",
        "runtimeSessionId": UNRECORDED}]});
    assert_eq!(world.post("/ingest/v1/events", &event).status, 202);
    let ensure = json!({"runtimeSource": "claude_code", "runtimeSessionId": UNRECORDED, "title": "quiet"});
    assert_eq!(world.post("/ingest/v1/sessions/ensure", &ensure).status, 200);
    let of = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    for agent in [None, Some("a1")] {
        let mut attributes = vec![
            of("event.name", "api_request"),
            of("session.id", UNRECORDED),
            of("request_id", "req_1"),
            of("input_tokens", "7"),
        ];
        attributes.extend(agent.map(|agent| of("agent_id", agent)));
        let record = json!({"timeUnixNano": "1794772610184000000", "attributes": attributes});
        let export = json!({"resourceLogs": [{"resource": {"attributes": [of("service.name", "claude-code")]},
            "scopeLogs": [{"logRecords": [record]}]}]});
        assert_eq!(world.post("/v1/logs", &export).status, 200);
    }
    let brought = world.memory.brought.lock().unwrap();
    assert!(brought.len() >= 6, "{}", brought.len());
    for observed in brought.iter() {
        assert!(matches!(observed.verdict, Verdict::Refused(_)), "{observed:?}");
        assert_eq!((&observed.kept, observed.payload), (&None, None));
    }
}
