//! Sessions: start, end, set-up.

use agent_tracer_event::{Kind, Phase, Unrecognised};
use serde_json::json;

use super::*;

#[test]
fn a_start_begins_a_session_and_says_where_it_runs() {
    let payload = payload("SessionStart.startup.with_model");
    let session = payload["session_id"].as_str().unwrap().to_owned();
    let reading = hook(&payload);
    assert_eq!(
        outline(&reading),
        [
            format!("task update {session} task"),
            format!("session.started open {session} session:started:1731-812-0"),
            format!("context.saved open {session} hook:1731-812-0"),
        ]
    );
    let actual = &task(&reading, &session).metadata;
    assert_eq!(
        Value::Object(actual.clone()),
        json!({
            "cwd": payload["cwd"], "projectDir": "/home/dev/project", "entrypoint": "cli", "attended": true,
            "pid": 812, "pidStart": 90_210, "pidNamespace": 4_026_531_836_u64,
            "transcriptPath": payload["transcript_path"], "agentType": "main", "sessionSource": "startup",
            "model": payload["model"],
        })
    );
    let saved = only(&reading, Kind::ContextSaved);
    assert_eq!(saved.metadata["trigger"], "startup");
    assert_eq!(saved.agent_type.as_deref(), Some("main"));
}

#[test]
fn after_a_compaction_the_same_session_goes_on() {
    let reading = hook(&payload("SessionStart.compact.with_model"));
    assert!(reading.entries.iter().all(|entry| entry.subject != Subject::Event(Kind::SessionStarted)));
    assert_eq!(only(&reading, Kind::ContextSaved).metadata["trigger"], "compact");
}

#[test]
fn a_resume_and_a_fork_say_what_the_cache_will_cost() {
    for (name, source) in
        [("SessionStart.resume.with_model", "resume"), ("SessionStart.fork.no_model", "fork")]
    {
        let payload = payload(name);
        let reading = hook(&payload);
        let started = only(&reading, Kind::SessionStarted);
        assert_eq!(started.metadata["sessionSource"], source);
        assert_eq!(started.metadata["contextTokens"], payload["context_tokens"]);
        assert_eq!(started.metadata["secondsSinceLastResponse"], payload["seconds_since_last_response"]);
        assert_eq!(started.metadata["promptCacheLikelyExpired"], payload["prompt_cache_likely_expired"]);
        assert_eq!(started.metadata["estimatedCacheWriteUsd"], payload["estimated_cache_write_usd"]);
    }
}

#[test]
fn going_on_with_a_task_does_not_change_how_it_came_to_be() {
    for (name, source) in [
        ("SessionStart.startup.with_model", Some("startup")),
        ("SessionStart.clear.no_model", Some("clear")),
        ("SessionStart.fork.no_model", Some("fork")),
        ("SessionStart.resume.with_model", None),
        ("SessionStart.compact.with_model", None),
    ] {
        let payload = payload(name);
        let reading = hook(&payload);
        let actual = task(&reading, payload["session_id"].as_str().unwrap()).metadata.get("sessionSource");
        assert_eq!(actual.and_then(Value::as_str), source, "{name}");
    }
}

#[test]
fn a_given_title_names_the_task() {
    let payload = payload("SessionStart.startup.no_model.titled");
    let reading = hook(&payload);
    let task = task(&reading, payload["session_id"].as_str().unwrap());
    assert_eq!(task.metadata["title"], payload["session_title"]);
    assert_eq!(task.metadata["titleSource"], "session_title");
}

#[test]
fn the_type_of_a_main_agent_is_kept_byte_for_byte() {
    let payload = payload("SessionStart.startup.no_model.agentflag");
    let reading = hook(&payload);
    let task = task(&reading, payload["session_id"].as_str().unwrap());
    assert_eq!(task.metadata["agentType"], payload["agent_type"]);
    let saved = only(&reading, Kind::ContextSaved);
    assert_eq!(saved.metadata["mainAgentType"], payload["agent_type"]);
    assert_eq!(saved.agent_id, None);
}

#[test]
fn every_reason_to_end_has_its_meaning() {
    for (reason, meaning) in [
        ("clear", "cleared"),
        ("prompt_input_exit", "explicit_exit"),
        ("logout", "explicit_exit"),
        ("resume", "idle"),
        ("other", "runtime_terminated"),
        ("bypass_permissions_disabled", "runtime_terminated"),
    ] {
        let reading = hook(&with(payload("SessionEnd.other"), &[("reason", json!(reason))]));
        let ended = only(&reading, Kind::SessionEnded);
        assert_eq!(ended.metadata["completionReason"], meaning, "{reason}");
        assert_eq!(ended.metadata["reason"], reason);
        assert_eq!((ended.phase, ended.ended_at), (Phase::Close, Some(ARRIVED)));
        assert_eq!(reading.unrecognised, []);
    }
}

#[test]
fn a_new_reason_is_kept_and_counted() {
    let reading = hook(&with(payload("SessionEnd.other"), &[("reason", json!("bored"))]));
    let ended = only(&reading, Kind::SessionEnded);
    assert_eq!(ended.metadata["reason"], "bored");
    assert_eq!(ended.metadata["completionReason"], "runtime_terminated");
    assert_eq!(reading.unrecognised, [Unrecognised::Value("reason=bored".to_owned())]);
}

#[test]
fn a_set_up_says_what_triggered_it() {
    let reading = hook(&payload("Setup.maintenance"));
    let entry = only(&reading, Kind::SetupTriggered);
    assert_eq!(entry.metadata["trigger"], "maintenance");
    assert_eq!(entry.title.as_deref(), Some("Maintenance of the project"));
}
