//! Payloads as older documents spell them, each with what must come out of it.
//!
//! The law: an older spelling lands under the same name as the client's own, and nothing of it is lost.

mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, CallState, Channel, Entry, Kind, Millis, Reading, Subject, Tokens};
use agent_tracer_privacy::{Config, Level, reduce};
use serde_json::{Map, Value, json};

use crate::transcript::{Captured, read as read_transcript};
use table::{Says, TABLE};

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/seeds")
}

/// Every payload of a hook or of the status line: `<document>/<file>` and what it holds.
pub(super) fn payloads() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for document in std::fs::read_dir(folder()).unwrap() {
        let document = document.unwrap().path();
        let title = document.file_name().unwrap().to_str().unwrap().to_owned();
        // What is posted to the server is read by the server.
        if title == "ingest" {
            continue;
        }
        for file in std::fs::read_dir(&document).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".json") {
                let payload = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                all.push((format!("{title}/{name}"), payload));
            }
        }
    }
    all.sort_by(|(one, _), (two, _)| one.cmp(two));
    assert!(all.len() > 150, "{}", all.len());
    all
}

/// Reads a payload as its hook would have written it.
pub(super) fn reading(name: &str, payload: &Value) -> Reading {
    let agent = if name.contains("codex") { Agent::CODEX } else { Agent::CLAUDE_CODE };
    let status_line = name.contains("/StatusLine");
    let (source, privacy) = match agent {
        Agent::CLAUDE_CODE if status_line => (Source::StatusLine, agent_tracer_privacy::Source::StatusLine),
        agent => (Source::Hook, agent_tracer_privacy::Source::Hook(agent)),
    };
    let config = Config { level: Level::Actions, ..Config::default() };
    let mut body = Vec::new();
    let whole = serde_json::to_vec(payload).unwrap();
    let reduction = reduce(&whole, privacy, &config, &mut || [7; 16], &mut body);
    assert_eq!(reduction.fault, None, "{name}");
    read(&Observation {
        agent,
        channel: Channel::Hook,
        name: "1731-812-0",
        arrived: Millis(1_790_000_000_000),
        source,
        body: &body,
        context: &Context::default(),
    })
}

/// Returns what a template of the table stands for in this payload.
fn expected(template: &str, payload: &Value) -> Value {
    let member = |name: &str| {
        let found = payload.get(name).or_else(|| payload.get("tool_input")?.get(name));
        found.unwrap_or_else(|| panic!("{name} is in {payload}")).clone()
    };
    if let Some((before, rest)) = template.split_once('{')
        && let Some((name, _)) = rest.split_once('}')
    {
        let value = member(name);
        return if before.is_empty() { value } else { json!(format!("{before}{}", value.as_str().unwrap())) };
    }
    serde_json::from_str(template).unwrap_or_else(|_| json!(template))
}

#[test]
fn every_payload_of_the_documents_is_understood_whole() {
    let mut wrong = Vec::new();
    for (name, payload) in payloads() {
        let reading = reading(&name, &payload);
        assert_eq!(reading.unrecognised, [], "{name}");
        if name.ends_with("StatusLine.first.json") {
            let snapshot = |entry: &Entry| entry.subject == Subject::Event(Kind::ContextSnapshot);
            assert!(!reading.entries.iter().any(snapshot), "without a percentage nothing is recorded");
            continue;
        }
        let rows: Vec<&Says> = TABLE.iter().filter(|row| name.starts_with(row.files)).collect();
        let is_pair = name.contains("/PostToolUse.") && name.starts_with("hook-spec");
        assert!(is_pair || !rows.is_empty(), "{name} is in the table");
        for row in rows {
            let found: Vec<&Entry> =
                reading.entries.iter().filter(|entry| entry.subject == Subject::Event(row.kind)).collect();
            if found.is_empty() {
                wrong.push(format!("{name}: no {}", row.kind));
            }
            for (key, template) in row.members {
                let wanted = expected(template, &payload);
                let given: Vec<Option<&Value>> = found.iter().map(|entry| entry.metadata.get(*key)).collect();
                if !given.contains(&Some(&wanted)) {
                    wrong.push(format!("{name}: {} {key} is {given:?} and should be {wanted}", row.kind));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_has_a_payload() {
    let names: Vec<String> = payloads().into_iter().map(|(name, _)| name).collect();
    for row in TABLE {
        assert!(names.iter().any(|name| name.starts_with(row.files)), "{}", row.files);
    }
}

#[test]
fn what_returned_is_the_call_that_was_attempted() {
    let all = payloads();
    let mut pairs = 0;
    for (name, attempt) in all.iter().filter(|(name, _)| name.contains("/PreToolUse.")) {
        let after = name.replace("PreToolUse", "PostToolUse");
        let Some((_, returned)) = all.iter().find(|(other, _)| *other == after) else { continue };
        if returned.get("tool_use_id").is_none() {
            continue;
        }
        let call = |payload: &Value, name: &str| {
            let reading = reading(name, payload);
            reading.entries.into_iter().find(|entry| entry.key.starts_with("tool:")).unwrap()
        };
        let (before, after) = (call(attempt, name), call(returned, &after));
        assert_eq!((&before.key, before.subject, &before.title), (&after.key, after.subject, &after.title));
        assert_eq!(before.state, Some(CallState::Running), "{name}");
        assert_eq!(after.state, Some(CallState::Succeeded), "{name}");
        pairs += 1;
    }
    assert!(pairs > 30, "{pairs}");
}

/// Members under their older and their present name, by the event they stand on.
const RENAMED: &[(&str, &str, &str)] = &[
    ("SubagentStart", "subagent_type", "agent_type"),
    ("SubagentStop", "subagent_type", "agent_type"),
    ("TaskCreated", "task_name", "task_subject"),
    ("TaskCompleted", "task_name", "task_subject"),
    ("StopFailure", "error_type", "error"),
    ("Notification", "notification_message", "message"),
    ("ConfigChange", "config_source", "source"),
    ("PostToolUse", "tool_output", "tool_response"),
];
const RENAMED_INPUTS: &[(&str, &str, &str)] = &[
    ("TaskCreate", "task_subject", "subject"),
    ("TaskCreate", "task_description", "description"),
    ("TaskUpdate", "task_id", "taskId"),
    ("CronCreate", "schedule", "cron"),
];

fn rename(members: &mut Map<String, Value>, old: &str, new: &str) -> bool {
    let Some(value) = members.remove(old) else { return false };
    members.insert(new.to_owned(), value);
    true
}

/// Returns what a reading says, without the copy of the input as it was spelled.
fn without_input(reading: &Reading) -> Vec<Entry> {
    let mut entries = reading.entries.clone();
    for entry in &mut entries {
        entry.metadata.remove("toolInput");
        entry.metadata.remove("callSignature");
        // The order of members in a payload shows in nothing that people see.
        entry.metadata.sort_keys();
    }
    entries
}

#[test]
fn an_older_spelling_says_what_the_clients_own_says() {
    let mut renamed = BTreeSet::new();
    for (name, payload) in payloads() {
        let mut client = payload.clone();
        let members = client.as_object_mut().unwrap();
        let event = members.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let tool = members.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (on, old, new) in RENAMED {
            if *on == event && rename(members, old, new) {
                renamed.insert((*on, *old));
            }
        }
        if let Some(input) = members.get_mut("tool_input").and_then(Value::as_object_mut) {
            for (on, old, new) in RENAMED_INPUTS {
                if *on == tool && rename(input, old, new) {
                    renamed.insert((*on, *old));
                }
            }
        }
        assert_eq!(
            without_input(&reading(&name, &payload)),
            without_input(&reading(&name, &client)),
            "{name}"
        );
    }
    assert_eq!(renamed.len(), RENAMED.len() + RENAMED_INPUTS.len(), "{renamed:?}");
}

#[test]
fn a_payload_of_a_subagent_is_the_subagents_and_names_its_transcript() {
    for (name, payload) in payloads().iter().filter(|(name, _)| name.starts_with("agent-context/")) {
        let reading = reading(name, payload);
        let subagent = payload.get("agent_id").is_some();
        let task = reading.entries.iter().find(|entry| entry.subject == Subject::Task).unwrap();
        let session = if subagent { "sub--f7e8d9c0" } else { "abc-123" };
        assert_eq!(task.task.runtime_session, session, "{name}");
        assert_eq!(task.metadata["agentType"], if subagent { "ui-designer" } else { "main" }, "{name}");
        assert_eq!(
            task.metadata["transcriptPath"],
            payload.get("agent_transcript_path").unwrap_or(&payload["transcript_path"]).clone(),
            "{name}"
        );
    }
}

#[test]
fn times_parents_and_failures_that_only_documents_have_are_kept() {
    let at = Millis::parse("2026-02-17T10:00:00.250Z").unwrap();
    for (name, payload) in payloads().iter().filter(|(name, _)| name.starts_with("telemetry-spike/")) {
        for entry in reading(name, payload).entries {
            assert_eq!(entry.occurred_at, at, "{name}");
            if entry.subject == Subject::Task && entry.task.runtime_session == "sub--a9" {
                assert!(
                    entry.metadata.get("parentSession").is_none_or(|parent| parent == "s-spike"),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn rows_with_the_usage_beside_the_message_are_counted_and_nothing_else_is_kept() {
    let path = folder().join("telemetry-spike/s-spike.jsonl");
    let content = std::fs::read(&path).unwrap();
    let captured = Captured { scenario: "seeds".to_owned(), path, content };
    for level in [Level::Metadata, Level::Actions] {
        let actual = read_transcript(&captured, level);
        assert_eq!(actual.unrecognised(), [], "{level:?}");
        let entries = actual.entries();
        let used: Vec<&Entry> =
            entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::TokenUsage)).collect();
        assert_eq!(used.len(), 2);
        let sum = used
            .iter()
            .fold(Tokens::default(), |sum, entry| sum.plus(&Tokens::read(&entry.metadata).unwrap()));
        assert_eq!((sum.input, sum.output, sum.cache_read, sum.cache_write), (127, 75, 1980, 60));
        let cost: f64 = used.iter().filter_map(|entry| entry.metadata["clientCostUsd"].as_f64()).sum();
        assert!((cost - 0.0165).abs() < 1e-9, "{cost}");
        assert_eq!(used[0].metadata["model"], "claude-sonnet-4-20250514");
        assert_eq!(used[0].metadata["durationMs"], 950);
        let failed: Vec<&Entry> =
            entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::ModelRequest)).collect();
        assert_eq!((failed.len(), &failed[0].metadata["httpStatus"]), (1, &json!(529)));
        let text = serde_json::to_string(&entries).unwrap();
        assert!(!text.contains("canary-seed-result") && !text.contains("canary-seed-system"), "{text}");
    }
}
