//! Laws that hold for every payload that was ever captured, at every level and raw.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Certainty, Kind, Phase, Subject};
use agent_tracer_privacy::Level;

use super::*;

const LEVELS: [Option<Level>; 4] = [None, Some(Level::Metadata), Some(Level::Actions), Some(Level::Full)];

fn readings(level: Option<Level>) -> impl Iterator<Item = (Captured, Reading)> {
    everything().into_iter().enumerate().map(move |(number, captured)| {
        let body = reduced(&captured.payload, captured.source, level);
        let reading = read_bytes(&body, captured.source, &format!("o{number}"));
        (captured, reading)
    })
}

#[test]
fn everything_that_was_captured_is_recognised() {
    for level in LEVELS {
        for (captured, reading) in readings(level) {
            assert_eq!(reading.unrecognised, [], "{} at {level:?}", captured.place);
            assert!(!reading.entries.is_empty(), "{} at {level:?}", captured.place);
        }
    }
}

#[test]
fn all_events_of_the_client_were_captured_and_read() {
    let seen: BTreeSet<String> = everything().iter().map(|captured| captured.event().to_owned()).collect();
    assert_eq!(seen.len(), 34, "33 events and the status line: {seen:?}");
}

#[test]
fn every_row_has_a_title_that_fits_on_one_line() {
    for level in LEVELS {
        for (captured, reading) in readings(level) {
            for entry in reading.entries.iter().filter(|entry| matches!(entry.subject, Subject::Event(_))) {
                // The end of background work is recorded on the row of the call, which has its title already.
                if entry.phase == Phase::Update || entry.evidence.reason.contains("task-notification") {
                    continue;
                }
                let title = entry.title.as_deref().unwrap_or_default();
                assert!(!title.is_empty(), "{} at {level:?}: {entry:#?}", captured.place);
                assert!(title.chars().count() <= 120, "{title}");
                assert!(!title.contains(char::is_control), "{title:?}");
                assert!(!title.ends_with(' '), "{title:?}");
            }
        }
    }
}

#[test]
fn a_call_has_one_key_one_kind_and_one_owner_from_attempt_to_batch() {
    for level in LEVELS {
        let mut seen: BTreeMap<String, (Subject, String, String)> = BTreeMap::new();
        for (captured, reading) in readings(level) {
            for entry in reading.entries {
                let Some(id) = &entry.tool_use_id else { continue };
                if !entry.key.starts_with("tool:") {
                    continue;
                }
                assert_eq!(entry.key, format!("tool:{id}"));
                let now = (entry.subject, entry.task.runtime_session.clone(), entry.tool_name.clone());
                let Some(tool) = now.2 else { continue };
                let now = (now.0, now.1, tool);
                // A fork and a resume copy nothing into hooks, so an id names one call of one task.
                let before = seen.entry(id.clone()).or_insert_with(|| now.clone());
                assert_eq!(*before, now, "{} at {level:?}", captured.place);
            }
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }
}

#[test]
fn calls_end_as_the_client_says_and_batches_turn_no_success_into_a_failure() {
    // The client's own word for the end of each call, taken without our reader.
    let mut ends: BTreeMap<String, String> = BTreeMap::new();
    for captured in everything() {
        if let (Some(id), "PostToolUse" | "PostToolUseFailure" | "PermissionDenied") =
            (captured.payload["tool_use_id"].as_str(), captured.event())
        {
            ends.insert(id.to_owned(), captured.event().to_owned());
        }
    }
    let mut closed: BTreeMap<String, BTreeMap<Certainty, BTreeSet<CallState>>> = BTreeMap::new();
    for (_, reading) in readings(Some(Level::Actions)) {
        for entry in reading.entries {
            if let (Phase::Close, Some(id), Some(state)) = (entry.phase, entry.tool_use_id, entry.state) {
                closed.entry(id).or_default().entry(entry.evidence.certainty).or_default().insert(state);
            }
        }
    }
    let mut batches = 0;
    for (id, event) in &ends {
        let said = |certainty| -> Vec<CallState> {
            closed.get(id).and_then(|said| said.get(&certainty)).into_iter().flatten().copied().collect()
        };
        match (event.as_str(), said(Certainty::Measured).as_slice()) {
            ("PostToolUse", [CallState::Succeeded]) | ("PermissionDenied", [CallState::Denied]) => {}
            ("PostToolUseFailure", [CallState::Failed | CallState::Denied | CallState::Interrupted]) => {}
            other => panic!("{id}: {other:?}"),
        }
        let by_batch = said(Certainty::Inferred);
        batches += by_batch.len();
        // The text of a server's error may be anything, so a batch may take a failure for a success, but never a
        // success for a failure.
        if event == "PostToolUse" {
            assert!(by_batch.iter().all(|state| *state == CallState::Succeeded), "{id}: {by_batch:?}");
        }
    }
    assert!(batches > 100);
    assert!(ends.len() > 100);
}

#[test]
fn every_event_says_who_where_and_how_sure() {
    for (captured, reading) in readings(Some(Level::Actions)) {
        for entry in &reading.entries {
            assert!(!entry.evidence.reason.is_empty());
            assert_eq!(entry.occurred_at, ARRIVED);
            // An entry that only adds to a row leaves the rest to the others.
            if let (Subject::Event(kind), Phase::Open | Phase::Close) = (entry.subject, entry.phase) {
                assert!(entry.metadata.contains_key("cwd"), "{} {kind}", captured.place);
                // Who stops an agent does not say what it is.
                let is_stopped = entry.metadata.get("completionReason").is_some_and(|why| why == "cancelled");
                assert!(entry.agent_type.is_some() || is_stopped, "{} {kind}", captured.place);
                if kind != Kind::ContextSnapshot {
                    assert_eq!(entry.hook_event_name.as_deref(), Some(captured.event()));
                }
            }
            assert_eq!(
                entry.phase == Phase::Close,
                entry.ended_at.is_some(),
                "{}: {entry:#?}",
                captured.place
            );
        }
    }
}

#[test]
fn facts_of_a_session_stay_within_its_tree() {
    for (captured, reading) in readings(Some(Level::Actions)) {
        let session = captured.payload["session_id"].as_str().expect("a session");
        for entry in &reading.entries {
            let owner = &entry.task.runtime_session;
            // A notification may come to the session behind the one that started the work, which its output is named after.
            let is_earlier = captured.payload["prompt"].as_str().is_some_and(|prompt| {
                prompt.starts_with("<task-notification>") && prompt.contains(&format!("/{owner}/tasks/"))
            });
            let is_known = owner == session || is_earlier || owner.starts_with("sub--");
            assert!(is_known, "{}", captured.place);
            if owner.starts_with("sub--") && entry.subject == Subject::Task {
                let said = entry.metadata.get("rootSession").or_else(|| entry.metadata.get("parentSession"));
                assert_eq!(said.and_then(Value::as_str), Some(session), "{}", captured.place);
            }
        }
    }
}

#[test]
fn reading_twice_gives_the_same() {
    for captured in everything() {
        let body = reduced(&captured.payload, captured.source, Some(Level::Actions));
        assert_eq!(read_bytes(&body, captured.source, "o"), read_bytes(&body, captured.source, "o"));
    }
}

#[test]
fn no_text_of_a_result_comes_through() {
    const CANARY: &str = "canary-7d1f";
    for captured in everything() {
        let mut payload = captured.payload.clone();
        let mut planted = 0;
        if let Some(response) = payload.get_mut("tool_response") {
            planted += plant(response, CANARY);
        }
        for call in payload.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(response) = call.get_mut("tool_response") {
                planted += plant(response, CANARY);
            }
        }
        if captured.event() == "PostToolUseFailure" {
            payload["error"] = Value::from(format!("Exit code 1\n{CANARY}"));
            planted += 1;
        }
        if planted == 0 {
            continue;
        }
        for level in [Level::Metadata, Level::Actions] {
            let body = reduced(&payload, captured.source, Some(level));
            let reading = read_bytes(&body, captured.source, "o");
            let actual = serde_json::to_string(&reading).expect("a reading is JSON");
            assert!(!actual.contains(CANARY), "{} at {level:?}", captured.place);
        }
    }
}

/// Puts the canary into every text of a result; says how many there were.
fn plant(value: &mut Value, canary: &str) -> usize {
    match value {
        Value::String(text) => {
            *text = format!("{canary} {text}");
            1
        }
        Value::Array(items) => items.iter_mut().map(|item| plant(item, canary)).sum(),
        Value::Object(members) => members.values_mut().map(|member| plant(member, canary)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
