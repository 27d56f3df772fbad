//! Nothing of a result gets out of a rollout below level `full`.
//!
//! A canary is put into every place of every row that may hold what a tool gave back, what a file holds or what an
//! image shows, in values and in names of members; none may be found in what the row says.

use agent_tracer_agents::codex::rollout::{RolloutReader, Row};
use agent_tracer_event::CallState;
use agent_tracer_privacy::Level;
use serde_json::{Map, Value};

use crate::codex_fixtures::{entries, is_call, lines, read_row, rollouts};

const CANARY: &str = "canary-7f3a";

/// The members whose values are results, contents or the client's own texts, wherever they stand.
const BODIES: &[&str] = &[
    "aggregated_output",
    "formatted_output",
    "stdout",
    "stderr",
    "unified_diff",
    "content_items",
    "result",
    "output",
    "structuredContent",
    "base_instructions",
    "replacement_history",
    "replacement_history_metadata",
    "resume_metadata",
    "encrypted_content",
    "review_output",
    "state",
    "tools",
    "summary_text",
    "raw_content",
    "answer",
    "revised_result",
    "agents_states",
    "permission_profile",
    "file_system_sandbox_policy",
    "Ok",
];

/// Puts the canary into every text and behind every name of a value.
fn poison(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(format!("{CANARY} {text} {CANARY}")),
        Value::Array(items) => Value::Array(items.iter().map(poison).collect()),
        Value::Object(members) => {
            let mut poisoned: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), poison(member))).collect();
            poisoned.insert(CANARY.to_owned(), Value::from(CANARY));
            Value::Object(poisoned)
        }
        other => other.clone(),
    }
}

/// Poisons every body in a row; how many there were.
fn poison_bodies(value: &mut Value, inside: &str) -> usize {
    let mut poisoned = 0;
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let body = BODIES.contains(&name.as_str())
                    // The content of a file inside a patch.
                    || (name == "content" && matches!(inside, "change"))
                    // The words of the harness and of a compaction.
                    || (name == "message" && inside == "compacted")
                    || (name == "text" && inside == "fragment");
                if body {
                    *member = poison(member);
                    poisoned += 1;
                    continue;
                }
                let place = match name.as_str() {
                    "changes" => "changes",
                    "fragments" => "fragment",
                    _ if inside == "changes" => "change",
                    _ => inside,
                };
                poisoned += poison_bodies(member, place);
            }
        }
        Value::Array(items) => {
            poisoned += items.iter_mut().map(|item| poison_bodies(item, inside)).sum::<usize>()
        }
        _ => {}
    }
    poisoned
}

/// Poisons what only some rows hold: harness messages, contents of patches and code, mail, reasoning.
fn poison_row(row: &mut Value) -> usize {
    let kind = row["type"].as_str().unwrap().to_owned();
    let inner = row["payload"]["type"].as_str().unwrap_or_default().to_owned();
    let name = row["payload"]["name"].as_str().unwrap_or_default().to_owned();
    let inside = if kind == "compacted" { "compacted" } else { "" };
    let mut poisoned = poison_bodies(&mut row["payload"], inside);
    let payload = &mut row["payload"];
    match (kind.as_str(), inner.as_str()) {
        ("response_item", "message" | "agent_message" | "reasoning" | "additional_tools") => {
            payload["content"] = poison(&payload["content"]);
            poisoned += 1;
        }
        // A line of a patch that is no header, and a text in code, are contents of files.
        ("response_item", "custom_tool_call") if name == "apply_patch" => {
            let patch = payload["input"].as_str().unwrap().replace("\n+", &format!("\n+{CANARY} "));
            payload["input"] = Value::from(patch);
            poisoned += 1;
        }
        ("response_item", "custom_tool_call") => {
            payload["input"] = Value::from(format!("{} // {CANARY}", payload["input"].as_str().unwrap()));
            poisoned += 1;
        }
        ("event_msg", "agent_reasoning") => {
            payload["text"] = Value::from(CANARY);
            poisoned += 1;
        }
        ("event_msg", "item_completed") => {
            let item = payload["item"]["type"].as_str().unwrap().to_owned();
            // What an agent says on its way is commentary; only the end of the turn tells the last of it.
            if item == "AgentMessage" {
                payload["item"]["content"] = poison(&payload["item"]["content"]);
                poisoned += 1;
            }
        }
        _ => {}
    }
    poisoned
}

#[test]
fn no_result_content_or_commentary_gets_out_below_full() {
    let mut planted = 0;
    for (name, content) in rollouts() {
        for level in [Level::Metadata, Level::Actions] {
            let mut reader = RolloutReader::new(&name);
            for (offset, row) in lines(&content) {
                let mut row: Value = serde_json::from_slice(&row).unwrap();
                planted += poison_row(&mut row);
                let read = read_row(&mut reader, level, row.to_string().as_bytes(), offset);
                if let Row::Read(reading) = &read {
                    let said = serde_json::to_string(reading).unwrap();
                    assert!(!said.contains(CANARY), "{name}@{offset}: {said}");
                }
                let state = serde_json::to_string(reader.state()).unwrap();
                assert!(!state.contains(CANARY), "{name}@{offset}: {state}");
            }
        }
    }
    assert!(planted > 1500, "{planted}");
}

#[test]
fn the_canaries_of_the_captures_themselves_stay_where_they_are() {
    for (name, content) in rollouts() {
        for level in [Level::Metadata, Level::Actions] {
            let said = serde_json::to_string(&entries(&name, &content, level)).unwrap();
            // `cat canary.txt` is a command; what the file holds begins with `canary-`.
            assert!(!said.contains("canary-"), "{name}: {said}");
        }
    }
}

#[test]
fn of_a_failed_call_only_the_class_is_kept() {
    let mut failed = 0;
    for (name, content) in rollouts() {
        for entry in entries(&name, &content, Level::Actions).iter().filter(|entry| is_call(entry)) {
            assert!(!entry.metadata.contains_key("error"), "{name}: {entry:?}");
            let ended_badly =
                matches!(entry.state, Some(CallState::Failed | CallState::Denied | CallState::Interrupted));
            assert_eq!(entry.metadata.contains_key("errorClass"), ended_badly, "{name}: {entry:?}");
            failed += usize::from(ended_badly);
        }
    }
    assert!(failed > 10);
}

#[test]
fn texts_become_sizes_at_metadata() {
    for (name, content) in rollouts() {
        for entry in entries(&name, &content, Level::Metadata) {
            assert_eq!(entry.body, None, "{name}: {entry:?}");
            let said = serde_json::to_string(&entry).unwrap();
            assert!(!said.contains("[["), "{name}: {said}");
        }
    }
}
