//! Events that others post.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use agent_tracer_event::attributes::{self, ValueType};
use agent_tracer_event::{CallState, Entry, Kind, Lane, Subject, Unrecognised};
use agent_tracer_ledger::AppendError;
use agent_tracer_ledger::Verdict;
use serde_json::{Map, Value, json};

use crate::world::{NOW, World, task};

fn event(members: Value) -> Value {
    let mut event = json!({"kind": "tool.used", "runtimeSource": "claude_code", "runtimeSessionId": "s"});
    event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    event
}

fn post(world: &World, events: &[Value]) -> Value {
    let answer = world.post("/ingest/v1/events", &json!({ "events": events }));
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()
}

fn one(world: &World, members: Value) -> Entry {
    let answer = post(world, &[event(members)]);
    assert_eq!(answer["accepted"], 1, "{answer}");
    world.memory.events().pop().unwrap()
}

#[test]
fn a_query_waits_a_moment_for_acknowledged_data() {
    let world = World::new();
    for ask in [&(|| world.get("/api/v1/tasks").status) as &dyn Fn() -> u16, &|| {
        let body = json!({"runtimeSource": "claude_code", "runtimeSessionId": "s", "title": "t"});
        world.post("/ingest/v1/sessions/ensure", &body).status
    }] {
        world.memory.lags.store(true, Ordering::SeqCst);
        assert_eq!(ask(), 200);
        assert!(!world.memory.lags.load(Ordering::SeqCst), "it was asked whether it is folded");
    }
}

#[test]
fn a_bad_record_never_sinks_its_batch() {
    let world = World::new();
    let bad = [
        json!(7),
        event(json!({"id": "no-kind", "kind": null})),
        json!({"kind": "tool.used"}),
        event(json!({"runtimeSource": "cursor"})),
        event(json!({"runtimeSessionId": null})),
        event(json!({"occurredAt": "yesterday"})),
        event(json!({"occurredAt": "0001-01-01T00:00:00Z"})),
        event(json!({"occurredAt": "9999-12-31T23:59:59Z"})),
        event(json!({"lane": "left"})),
        event(json!({"metadata": []})),
        event(json!({"filePaths": [1]})),
        event(json!({"id": ""})),
        event(json!({"title": {"a": 1}})),
        event(json!({"taskId": task("another").task_id().to_string()})),
    ];
    let mut events = vec![event(json!({"id": "first"}))];
    events.extend(bad.clone());
    events.push(event(json!({"id": "last"})));
    let answer = post(&world, &events);
    assert_eq!((&answer["accepted"], &answer["duplicates"]), (&json!(2), &json!(0)));
    let rejected = answer["rejected"].as_array().unwrap();
    let indexes: Vec<u64> = rejected.iter().map(|one| one["index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, (1..=bad.len() as u64).collect::<Vec<_>>());
    assert_eq!(rejected[1]["id"], "no-kind");
    assert!(rejected.iter().all(|one| !one["reason"].as_str().unwrap().is_empty()));
    // Everything that arrived is counted.
    assert_eq!(world.memory.verdicts().len(), events.len());
    let brought = world.memory.brought.lock().unwrap();
    let names: BTreeSet<&str> = brought.iter().map(|observed| observed.name.as_str()).collect();
    assert_eq!(names.len(), events.len(), "each by itself: a refusal must not hide the next one");
}

#[test]
fn the_same_id_twice_is_one_event() {
    let world = World::new();
    let one = event(json!({"id": "e1"}));
    assert_eq!(post(&world, &[one.clone(), one.clone()])["duplicates"], 1);
    let again = post(&world, &[one]);
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(1)));
    // Mended after it was refused, it is news.
    post(&world, &[event(json!({"id": "e2", "lane": "left"}))]);
    assert_eq!(post(&world, &[event(json!({"id": "e2", "lane": "user"}))])["accepted"], 1);
}

#[test]
fn without_an_id_the_same_moment_is_one_event_and_no_moment_is_two() {
    let world = World::new();
    let dated = event(json!({"occurredAt": "2026-11-15T21:10:04Z", "title": "x"}));
    assert_eq!(post(&world, &[dated.clone(), dated])["duplicates"], 1);
    let undated = event(json!({"title": "x"}));
    assert_eq!(post(&world, &[undated.clone(), undated])["accepted"], 2);
}

#[test]
fn cross_checked_events_of_one_kind_and_session_have_one_key() {
    let world = World::new();
    let check = |source: &str, kind: &str| {
        one(
            &world,
            json!({"kind": kind, "metadata": {"crossCheck": {"source": source, "dedupeKey": "call-1"},
            "toolUseId": "toolu_1"}}),
        )
    };
    let (hook, rollout, other) =
        (check("hook", "tool.used"), check("rollout", "tool.used"), check("hook", "plan.logged"));
    assert_eq!(hook.fact_id(), rollout.fact_id());
    assert_ne!(hook.fact_id(), other.fact_id());
    assert_eq!(hook.aliases, ["tool:toolu_1"], "other channels know it under the call's id");
}

#[test]
fn ids_that_other_channels_know_are_the_keys() {
    let world = World::new();
    let key = |members: Value| one(&world, members).key;
    assert_eq!(key(json!({"metadata": {"toolUseId": "toolu_9"}})), "tool:toolu_9");
    assert_eq!(key(json!({"kind": "token.usage", "metadata": {"messageId": "msg_1"}})), "response:msg_1");
    assert_eq!(key(json!({"kind": "user.message", "metadata": {"promptId": "p1"}})), "prompt:p1");
}

#[test]
fn a_task_may_be_named_by_its_id() {
    let world = World::new();
    let known = world.memory.add_task(&task("s9"), None, "/p");
    let by_id = json!({"kind": "user.message", "taskId": known.id, "body": "hello"});
    let unknown = json!({"kind": "user.message", "taskId": task("unknown").task_id().to_string()});
    let answer = post(&world, &[by_id, unknown, json!({"kind": "user.message", "taskId": "x"})]);
    assert_eq!((&answer["accepted"], answer["rejected"].as_array().unwrap().len()), (&json!(1), 2));
    assert_eq!(world.memory.events()[0].task, task("s9"));
}

#[test]
fn a_shell_event_gets_its_analysis_and_its_lane() {
    let world = World::new();
    let entry = one(
        &world,
        json!({"metadata": {"toolName": "Bash", "toolInput": {"command": "rm -rf build && cargo test"}}}),
    );
    assert_eq!(entry.subject, Subject::Event(Kind::ToolUsed), "the kind that was given stays");
    assert_eq!(entry.metadata["commandAnalysis"]["overallEffect"], "destructive");
    assert_eq!(entry.metadata["sourceTool"], "Bash");
    assert_eq!(entry.lane, Some(Lane::Implementation));
    assert!(entry.title.is_some());
    let bare = one(&world, json!({"kind": "terminal.command", "metadata": {"command": "git status"}}));
    assert_eq!(bare.metadata["subtypeKey"], "shell_probe");
    assert_eq!(bare.tool_name.as_deref(), Some("Bash"));
}

#[test]
fn what_the_sender_says_of_its_meaning_is_kept() {
    let world = World::new();
    let entry = one(
        &world,
        json!({"title": "My own", "lane": "planning", "filePaths": ["/p/b"],
            "metadata": {"toolName": "Read", "toolInput": {"file_path": "/p/a"}, "subtypeKey": "verify"}}),
    );
    assert_eq!(entry.title.as_deref(), Some("My own"));
    assert_eq!(entry.lane, Some(Lane::Planning));
    assert_eq!(entry.file_paths, ["/p/b"]);
    assert_eq!(entry.metadata["subtypeKey"], "verify");
    assert_eq!(entry.metadata["toolFamily"], "explore", "what it did not say is filled in");
}

#[test]
fn results_and_secrets_of_posted_events_never_arrive() {
    let world = World::new();
    let canary = "CANARY-7f3a the whole output of a command ".repeat(200);
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for name in [
        "tool_response",
        "toolResponse",
        "tool_output",
        "toolOutput",
        "result",
        "output",
        "stdout",
        "stderr",
        "toolUseResult",
        "toolResult",
        "response",
    ] {
        for value in
            [json!(canary), json!({"stdout": canary, "nested": {"text": canary}}), json!([{"text": canary}])]
        {
            one(
                &world,
                json!({"body": format!("with {secret}"), "title": format!("t {secret}"),
                "filePaths": [format!("/p/{secret}")],
                "metadata": {"toolName": "Bash", "toolInput": {"command": format!("curl -H 'Authorization: Bearer {secret}'")},
                    name: value, "note": {"deep": [secret]}}}),
            );
        }
    }
    // As a member of its own, in the contents of a file, and as the body of a tool's event.
    one(
        &world,
        json!({"tool_response": canary, "body": canary, "metadata": {"toolName": "Write",
        "toolInput": {"file_path": "/p/a", "content": canary}}}),
    );
    let brought = format!("{:?}", world.memory.brought.lock().unwrap());
    assert!(!brought.contains("CANARY-7f3a"), "a result was kept");
    assert!(!brought.contains(secret), "a secret was kept");
    assert!(brought.contains("[masked:"));
    let last = world.memory.events().pop().unwrap();
    assert!(last.metadata["toolInput"]["content"]["bytes"].as_u64().unwrap() > 1000);
}

#[test]
fn the_level_holds_for_posted_events_too() {
    let world = World::new();
    let prompt = json!({"kind": "user.message", "title": "please", "body": "please do it"});
    assert_eq!(one(&world, prompt.clone()).body.as_deref(), Some("please do it"));
    let thought = json!({"kind": "thought.logged", "body": "hm"});
    assert_eq!(one(&world, thought.clone()).body, None);
    world.conf("level full\n");
    assert_eq!(one(&world, thought).body.as_deref(), Some("hm"));
    world.conf("level metadata\n");
    let entry = one(&world, prompt);
    assert_eq!((entry.body, entry.title), (None, None));
    assert_eq!(entry.metadata["body"]["bytes"], 12);
}

#[test]
fn calls_end_as_their_sender_says() {
    let world = World::new();
    let state = |metadata: Value| {
        let mut metadata = metadata;
        metadata["toolName"] = json!("Bash");
        metadata["toolInput"] = json!({"command": "true"});
        let entry = one(&world, json!({ "occurredAt": "2026-11-15T21:10:04.001Z", "metadata": metadata }));
        (entry.state.unwrap(), entry.ended_at.map(|at| at.0 - NOW), entry.metadata.get("errorClass").cloned())
    };
    assert_eq!(state(json!({"durationMs": 250})), (CallState::Succeeded, Some(250), None));
    assert_eq!(state(json!({"exitCode": 2})), (CallState::Failed, Some(0), Some(json!("non_zero_exit"))));
    assert_eq!(state(json!({"success": false})).0, CallState::Failed);
    assert_eq!(state(json!({"state": "denied"})).0, CallState::Denied);
    assert_eq!(state(json!({"state": "running"})), (CallState::Running, None, None));
}

#[test]
fn tokens_count_wherever_they_stand() {
    let world = World::new();
    let counts = json!({"inputTokens": 5, "outputTokens": 7, "cacheReadTokens": 11});
    let inside = one(&world, json!({"kind": "token.usage", "metadata": counts}));
    let mut beside = counts.clone();
    beside["kind"] = json!("token.usage");
    let beside = one(&world, beside);
    for entry in [inside, beside] {
        assert_eq!(
            entry.metadata["usage"],
            json!({"inputTokens": 5, "outputTokens": 7, "cacheReadTokens": 11,
            "cacheCreationTokens": 0})
        );
    }
}

/// Returns the names that the newest observation counts as unrecognised.
fn unrecognised(world: &World) -> Vec<Unrecognised> {
    match world.memory.verdicts().pop().unwrap() {
        Verdict::Read(reading) => reading.unrecognised,
        verdict @ (Verdict::Malformed(_) | Verdict::Refused(_)) => panic!("{verdict:?}"),
    }
}

#[test]
fn declared_key_with_a_value_of_another_type_is_kept_out_and_counted() {
    let world = World::new();
    let entry = one(
        &world,
        json!({"metadata": {"toolName": "Bash", "toolInput": {"command": "true"}, "durationMs": "soon",
            "exitCode": null, "importance": {"bytes": 3}, "cacheHit": "yes", "paidBy:s": 1, "own": [1], "note": "kept"}}),
    );
    for key in ["durationMs", "exitCode", "paidBy:s"] {
        assert_eq!(entry.metadata.get(key), None, "{key}");
    }
    assert_eq!(entry.metadata["importance"], "minor", "as if the sender had not named it");
    assert_eq!((&entry.metadata["own"], &entry.metadata["note"]), (&json!([1]), &json!("kept")));
    assert_eq!(entry.metadata["cacheHit"], "yes", "its sender's own key");
    let counted: Vec<Unrecognised> = ["durationMs=string", "importance=object", "paidBy:=number"]
        .map(|name| Unrecognised::Value(name.to_owned()))
        .into();
    assert_eq!(unrecognised(&world), counted);
}

#[test]
fn posted_metadata_has_the_declared_types_at_every_level() {
    let world = World::new();
    let values = [
        json!("x".repeat(3000)),
        json!("x"),
        json!(7),
        json!(1.5),
        json!(true),
        json!(["x"]),
        json!({"x": 1}),
        json!(null),
    ];
    for level in ["metadata", "actions", "full"] {
        world.conf(&format!("level {level}\n"));
        for kind in ["tool.used", "terminal.command", "user.message", "token.usage", "session.ended"] {
            for value in &values {
                let metadata: Map<String, Value> =
                    attributes::all().map(|attribute| (attribute.key.to_owned(), value.clone())).collect();
                let entry = one(&world, json!({ "kind": kind, "metadata": metadata }));
                for (key, value) in &entry.metadata {
                    let declared = attributes::value_type(key).unwrap();
                    assert!(declared.admits(value), "{level} {kind}: `{key}` is no {declared}: {value}");
                }
            }
        }
    }
}

#[test]
fn posted_values_of_the_declared_types_are_recognised() {
    let world = World::new();
    world.conf("level full\n");
    for attribute in attributes::all() {
        let value = match attribute.value {
            ValueType::String | ValueType::Text | ValueType::Open => json!("x"),
            ValueType::Integer => json!(7),
            ValueType::Number => json!(1.5),
            ValueType::Boolean => json!(true),
            ValueType::List => json!(["x"]),
            ValueType::Object => json!({"x": 1}),
        };
        one(&world, json!({"kind": "user.message", "metadata": {attribute.key: value}}));
        assert_eq!(unrecognised(&world), [], "{}", attribute.key);
    }
}

#[test]
fn an_unknown_kind_is_kept_and_counted() {
    let world = World::new();
    let answer = post(&world, &[event(json!({"kind": "future.kind", "metadata": {"a": 1}}))]);
    assert_eq!(answer["accepted"], 1);
    let entry = world.memory.events().pop().unwrap();
    assert_eq!(entry.subject, Subject::Event(Kind::Unrecognised));
    assert_eq!((&entry.metadata["eventName"], &entry.metadata["a"]), (&json!("future.kind"), &json!(1)));
    assert!(matches!(&world.memory.verdicts()[0], Verdict::Read(reading) if reading.unrecognised.len() == 1));
}

#[test]
fn a_batch_has_its_bounds() {
    let world = World::new();
    let many: Vec<Value> = (0..1001).map(|number| event(json!({"id": number.to_string()}))).collect();
    for body in [json!({"events": []}), json!({"events": many}), json!({"events": 1}), json!({}), json!([])] {
        let answer = world.post("/ingest/v1/events", &body);
        assert_eq!((answer.status, answer.wrong()), (422, vec!["/events".to_owned()]));
    }
    assert_eq!(post(&world, &many[..1000])["accepted"], 1000);
}

#[test]
fn a_full_queue_asks_to_come_again() {
    let world = World::new();
    world.memory.full.store(true, Ordering::SeqCst);
    let answer = world.post("/ingest/v1/events", &json!({"events": [event(json!({}))]}));
    assert_eq!((answer.status, answer.header("retry-after")), (429, "1"));
    answer.wrong();
}

#[test]
fn nothing_is_taken_while_it_is_not_known_what_may_be_recorded() {
    let world = World::new();
    world.forget_conf();
    let posts = [
        ("/ingest/v1/events", json!({"events": [event(json!({}))]})),
        ("/hooks/claude", json!({"hook_event_name": "Stop", "session_id": "s"})),
        ("/hooks/codex", json!({"hook_event_name": "Stop", "session_id": "s"})),
        ("/v1/logs", json!({"resourceLogs": []})),
    ];
    for (path, body) in &posts {
        let answer = world.post(path, body);
        assert_eq!((answer.status, answer.header("retry-after")), (503, "5"), "{path}");
        assert!(answer.text().contains("privacy.conf"), "{path}: {}", answer.text());
    }
    world.conf("");
    for (path, body) in &posts {
        assert!(matches!(world.post(path, body).status, 200 | 202), "{path}");
    }
}

#[test]
fn what_could_not_be_written_is_not_acknowledged() {
    let world = World::new();
    for (error, status) in [
        (AppendError::DiskFull, 507),
        (AppendError::Closed, 503),
        (AppendError::ReadOnly, 503),
        (AppendError::Store("torn".into()), 503),
    ] {
        *world.memory.refuses.lock().unwrap() = Some(error);
        for (path, body) in [
            ("/ingest/v1/events", json!({"events": [event(json!({}))]})),
            ("/hooks/claude", json!({"hook_event_name": "Stop", "session_id": "s"})),
        ] {
            let answer = world.post(path, &body);
            assert_eq!(answer.status, status, "{path}");
            answer.wrong();
        }
    }
}
