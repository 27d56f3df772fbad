//! Nothing of a result reaches the disk: a word that occurs nowhere else is put into every result of every
//! captured payload, and the whole home is searched for it afterwards.

use std::fs;

use serde_json::{Map, Value};

use crate::world::{World, assert_silent, files, fixture_payloads};

const CANARY: &str = "CANARY Q7ZX";

/// Members whose whole value is a result, wherever they stand outside of a tool's input.
const RESULTS: &[&str] = &["tool_response", "tool_output"];

/// Puts the word into every text and every number of a value.
fn poisoned(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(poisoned).collect(),
        Value::Object(members) => {
            let mut out: Map<String, Value> =
                members.iter().map(|(key, value)| (key.clone(), poisoned(value))).collect();
            out.insert(format!("{CANARY} key"), Value::from(1));
            out.into()
        }
        Value::String(text) => format!("{text} {CANARY}").into(),
        Value::Number(_) | Value::Bool(_) | Value::Null => CANARY.into(),
    }
}

/// Poisons the results of a payload. Returns whether there were any.
fn poison(payload: &mut Value) -> bool {
    let Value::Object(members) = payload else { return false };
    let event = members.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let no_type = members.get("agent_type").is_some_and(|kind| kind == "");
    let mut found = false;
    for (key, value) in members.iter_mut() {
        let is_result = RESULTS.contains(&key.as_str())
            || (key == "error" && event == "PostToolUseFailure")
            || (key == "content" && event == "ElicitationResult")
            || (key == "last_assistant_message" && no_type);
        if is_result {
            // An error's first line may be shown for some tools, so the word goes behind it.
            *value = if key == "error" {
                format!("{}\nmore {CANARY}", value.as_str().unwrap_or_default()).into()
            } else {
                poisoned(value)
            };
            found = true;
        } else if key == "prompt" && value.as_str().is_some_and(|text| text.contains("<result>")) {
            let text = value.as_str().unwrap_or_default().replace("<result>", &format!("<result>{CANARY} "));
            *value = text.into();
            found = true;
        } else if key == "tool_calls" {
            for call in value.as_array_mut().into_iter().flatten() {
                found |= poison(call);
            }
        }
    }
    found
}

#[test]
fn no_result_of_any_captured_payload_reaches_the_disk() {
    for level in ["metadata", "actions"] {
        let world = World::new();
        world.write("privacy.conf", &format!("level {level}\n"));
        let mut poisoned = 0;
        for (caller, name, mut payload) in fixture_payloads() {
            if !poison(&mut payload) {
                continue;
            }
            poisoned += 1;
            let output = world.run(&[caller], payload.to_string().as_bytes());
            assert_eq!(output.status.code(), Some(0), "{name}");
            assert_silent(&output);
        }
        assert!(poisoned > 300, "results were found in the fixtures: {poisoned}");
        assert_eq!(world.envelopes().len(), poisoned, "every one of them was recorded");
        for path in files(&world.home()) {
            let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
            let word = CANARY.split(' ').next_back().expect("a word");
            assert!(!text.contains(word), "at `{level}`, {} holds it: {text}", path.display());
        }
    }
}
