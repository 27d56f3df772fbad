//! Every payload that the real clients sent is read, and what rules can speak about is found in it.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_event::Agent;
use agent_tracer_policy::{Call, Event, NoHistory, Policy, Surroundings, Thread, answer};
use serde_json::Value;

use crate::world::rules;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// Returns every hook payload of the fixtures.
fn payloads() -> Vec<(Agent, String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = Vec::new();
    for (agent, folder) in [(Agent::CLAUDE_CODE, "claude-code"), (Agent::CODEX, "codex")] {
        let mut paths = Vec::new();
        files(&root.join(folder), &mut paths);
        for path in paths {
            let name = path.display().to_string();
            if name.ends_with("hooks.jsonl") {
                for line in fs::read_to_string(&path).unwrap().lines() {
                    let row: Value = serde_json::from_str(line).unwrap();
                    found.push((agent, name.clone(), row["payload"].clone()));
                }
            } else if name.contains("payloads/") && name.ends_with(".json") {
                let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                found.push((agent, name, value));
            }
        }
    }
    found.retain(|(_, _, payload)| payload["hook_event_name"].is_string());
    found
}

#[test]
fn every_captured_payload_is_read() {
    let everything = rules(
        r#"
[[rule]]
name = "all"
on = ["UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"]
decision = "deny"
reason = "no"
"#,
    );
    let policy = Policy::of_user(everything);
    let mut seen = std::collections::BTreeMap::new();
    let all = payloads();
    assert!(all.len() > 1500, "{} payloads", all.len());
    for (agent, name, payload) in all {
        let bytes = payload.to_string();
        let event = payload["hook_event_name"].as_str().unwrap().to_owned();
        let call = Call::read(agent, bytes.as_bytes(), Surroundings::default()).unwrap();
        assert_eq!(call.is_some(), Event::parse(&event).is_some(), "{name}");
        let Some(call) = call else { continue };
        *seen.entry((agent, call.event)).or_insert(0) += 1;
        assert_eq!(call.thread() == Thread::Subagent, payload.get("agent_id").is_some(), "{name}: {payload}");
        assert_eq!(call.event.has_tool(), call.tool.is_some(), "{name}: {payload}");
        if call.tool.as_deref() == Some("Bash") {
            assert!(call.command.is_some(), "{name}: {payload}");
        }
        if matches!(call.tool.as_deref(), Some("Read" | "Write" | "Edit" | "apply_patch")) {
            assert!(!call.touches.is_empty(), "{name}: {payload}");
        }
        if call.tool.as_deref().is_some_and(|tool| tool.starts_with("mcp__")) {
            assert!(
                call.mcp.as_ref().is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty()),
                "{name}"
            );
        }
        let verdict = policy.decide(&call, &NoHistory);
        let answer = answer(&call, &verdict);
        assert!(!answer.is_silent(), "{name}: {payload}");
        if !answer.stdout.is_empty() {
            let said: Value = serde_json::from_str(&answer.stdout).unwrap();
            assert!(said.is_object(), "{name}");
        }
    }
    for event in Event::ALL {
        assert!(seen.contains_key(&(Agent::CLAUDE_CODE, *event)), "no payload of {event}");
    }
    assert!(seen.contains_key(&(Agent::CODEX, Event::SubagentStop)));
}

#[test]
fn without_rules_nothing_is_said() {
    for (agent, name, payload) in payloads() {
        let call = Call::read(agent, payload.to_string().as_bytes(), Surroundings::default()).unwrap();
        let Some(call) = call else { continue };
        let verdict = Policy::default().decide(&call, &NoHistory);
        assert!(answer(&call, &verdict).is_silent(), "{name}");
    }
}

/// Returns every cell of JavaScript that a Codex ran, from its rollouts.
fn cells() -> Vec<String> {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex/0.166.0/rollouts"), &mut paths);
    let mut cells = Vec::new();
    for path in paths {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let item = &row["payload"];
            if item["type"] == "custom_tool_call" && item["name"] == "exec" {
                cells.push(item["input"].as_str().unwrap().to_owned());
            }
        }
    }
    cells
}

#[test]
fn cells_and_workflow_scripts_are_not_understood() {
    let unclear = rules(
        r#"
[[rule]]
name = "unclear"
on = "PreToolUse"
decision = "ask"
reason = "read it first"
match.command = { understood = false }
"#,
    );
    let allowed = rules(
        r#"
[[rule]]
name = "any"
on = "PreToolUse"
decision = "allow"
reason = "fine"
match.tool = ["exec", "js_repl", "Workflow"]
"#,
    );
    let cells = cells();
    assert!(cells.len() >= 8, "{} cells", cells.len());
    let mut inputs: Vec<(&str, Value)> =
        cells.iter().map(|cell| ("exec", Value::from(cell.as_str()))).collect();
    inputs.extend(cells.iter().map(|cell| ("js_repl", serde_json::json!({"code": cell}))));
    inputs.push(("Workflow", serde_json::json!({"script": "await agent('rm -rf build')"})));
    inputs.push(("Workflow", serde_json::json!({"name": "nightly"})));
    for (tool, input) in inputs {
        let payload = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w",
            "tool_name": tool, "tool_input": input, "tool_use_id": "t"});
        let call = Call::read(Agent::CODEX, payload.to_string().as_bytes(), Surroundings::default())
            .unwrap()
            .unwrap();
        assert!(!call.is_understood(), "{payload}");
        let said = |policy: &Policy| policy.decide(&call, &NoHistory).fired.len();
        assert_eq!(said(&Policy::of_user(unclear.clone())), 1, "{payload}");
        assert_eq!(said(&Policy::of_user(allowed.clone())), 0, "{payload}");
    }
}

#[test]
fn commands_that_a_cell_starts_are_judged_as_commands() {
    let nested: Vec<Value> = payloads()
        .into_iter()
        .filter(|(agent, _, payload)| {
            let id = payload["tool_use_id"].as_str().unwrap_or_default();
            *agent == Agent::CODEX && id.starts_with("exec-") && payload["tool_name"] == "Bash"
        })
        .map(|(_, _, payload)| payload)
        .collect();
    assert!(!nested.is_empty());
    for payload in nested {
        let call = Call::read(Agent::CODEX, payload.to_string().as_bytes(), Surroundings::default()).unwrap();
        if let Some(call) = call.filter(|call| call.event.has_tool()) {
            assert!(call.command.is_some(), "{payload}");
        }
    }
}

#[test]
fn odd_payloads_are_errors_or_match_no_rule() {
    let read = |bytes: &[u8]| Call::read(Agent::CLAUDE_CODE, bytes, Surroundings::default());
    assert_eq!(read(b"").unwrap_err().to_string(), "the payload is not JSON");
    assert_eq!(read(b"[1]").unwrap_err().to_string(), "the payload is not an object");
    assert_eq!(read(b"{}").unwrap_err().to_string(), "the payload has no `hook_event_name`");
    assert!(read(br#"{"hook_event_name": "SomethingNew"}"#).unwrap().is_none());
    let odd =
        br#"{"hook_event_name": "PreToolUse", "tool_name": 3, "tool_input": "x", "agent_id": {}, "cwd": []}"#;
    let call = read(odd).unwrap().unwrap();
    assert_eq!((call.tool, call.agent_id, call.cwd), (None, None, None));
    let deep = format!(
        "{{\"hook_event_name\": \"PreToolUse\", \"tool_input\": {}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(read(deep.as_bytes()).is_err());
}
