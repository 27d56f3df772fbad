//! Sessions that others tell of.

use std::collections::BTreeSet;

use agent_tracer_event::{Kind, Subject};
use agent_tracer_ledger::Verdict;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::world::{TOKEN, World, task};

fn ensure(session: &str) -> Value {
    json!({"runtimeSource": "claude-plugin", "runtimeSessionId": session, "title": "Fix it", "workspacePath": "/p"})
}

#[test]
fn a_session_always_has_the_same_ids() {
    let world = World::new();
    let first = world.post("/ingest/v1/sessions/ensure", &ensure("s1")).json();
    assert_eq!(first["taskId"], task("s1").task_id().to_string());
    assert_eq!((&first["taskCreated"], &first["sessionCreated"]), (&json!(true), &json!(true)));
    // Under its old name, and with another name of the agent.
    let mut older = ensure("s1");
    older["runtimeSource"] = json!("claude_code");
    let again = world.post("/api/runtime-session-ensure", &older).json();
    assert_eq!((&again["taskId"], &again["sessionId"]), (&first["taskId"], &first["sessionId"]));
    assert_eq!((&again["taskCreated"], &again["sessionCreated"]), (&json!(false), &json!(false)));
    let other = world.post("/ingest/v1/sessions/ensure", &ensure("s2")).json();
    assert_ne!(other["taskId"], first["taskId"]);
}

#[test]
fn simultaneous_clients_receive_the_same_ids() {
    let world = World::new();
    let ask = || Ask::new(world.server.address(), "POST", "/ingest/v1/sessions/ensure").bearer(TOKEN);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let asking: Vec<_> =
            (0..16).map(|_| scope.spawn(|| ask().json(&ensure("s")).send().json())).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let ids: BTreeSet<String> =
        answers.iter().map(|answer| format!("{}{}", answer["taskId"], answer["sessionId"])).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["taskCreated"] == true).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["sessionCreated"] == true).count(), 1);
}

#[test]
fn what_is_said_of_a_session_is_kept_masked() {
    let world = World::new();
    let mut said = ensure("s");
    said["title"] = json!("use ghp_0123456789abcdefghijABCDEFGHIJ012345");
    said["parentSessionId"] = json!("the-parent");
    world.post("/ingest/v1/sessions/ensure", &said);
    let about = world.memory.entries().into_iter().find(|entry| entry.subject == Subject::Task).unwrap();
    assert!(about.metadata["title"].as_str().unwrap().starts_with("use [masked:"), "{:?}", about.metadata);
    assert_eq!(about.metadata["cwd"], "/p");
    assert_eq!(about.metadata["parentSession"], "the-parent");
}

#[test]
fn an_end_is_recorded_once() {
    let world = World::new();
    world.post("/ingest/v1/sessions/ensure", &ensure("s"));
    let end = json!({"runtimeSource": "claude_code", "runtimeSessionId": "s", "completionReason": "explicit_exit",
        "summary": "done", "backgroundCompletions": ["a1b2"]});
    let first = world.post("/ingest/v1/sessions/end", &end);
    assert_eq!((first.status, first.json()["taskStatus"].clone()), (200, json!("completed")));
    let count = world.memory.events().len();
    let again = world.post("/api/runtime-session-end", &end);
    assert_eq!((again.status, again.json()), (200, first.json()));
    let ends: Vec<_> = world.memory.events().into_iter().skip(count - 2).collect();
    assert_eq!(ends[0].metadata["completionReason"], "explicit_exit");
    assert_eq!(ends[0].body.as_deref(), Some("done"));
    assert_eq!(ends[1].task.runtime_session, "sub--a1b2");
    let names: BTreeSet<String> =
        world.memory.brought.lock().unwrap().iter().map(|observed| observed.name.clone()).collect();
    assert_eq!(names.len(), 3, "the second end has the name of the first: {names:?}");
    assert!(ends.iter().all(|end| end.subject == Subject::Event(Kind::SessionEnded)));
}

#[test]
fn errors_of_a_session_are_reported() {
    let world = World::new();
    let table = [
        (json!({"runtimeSource": "cursor", "runtimeSessionId": "s"}), 422),
        (json!({"runtimeSource": "codex", "runtimeSessionId": ""}), 422),
        (json!({"runtimeSource": "codex"}), 422),
        (json!([1]), 422),
        (
            json!({"runtimeSource": "codex", "runtimeSessionId": "s", "taskId": task("s").task_id().to_string()}),
            409,
        ),
    ];
    for (body, status) in table {
        let answer = world.post("/ingest/v1/sessions/ensure", &body);
        assert_eq!(answer.status, status, "{body}");
        answer.wrong();
    }
    let end = json!({"runtimeSource": "codex", "runtimeSessionId": "s", "completionReason": "bored"});
    assert_eq!(world.post("/ingest/v1/sessions/end", &end).wrong(), ["/completionReason"]);
    let torn =
        world.ask("POST", "/ingest/v1/sessions/end").bearer(TOKEN).body("application/json", "{").send();
    assert_eq!(torn.status, 400);
}

#[test]
fn a_session_in_an_excluded_folder_leaves_nothing() {
    let world = World::new();
    world.conf("exclude /p/**\n");
    let answer = world.post("/ingest/v1/sessions/ensure", &ensure("s"));
    assert_eq!((answer.status, answer.json()["taskCreated"].clone()), (200, json!(false)));
    let event = json!({"events": [{"kind": "user.message", "runtimeSource": "claude_code", "runtimeSessionId": "s",
        "body": "a secret plan"}]});
    let refused = world.post("/ingest/v1/events", &event).json();
    assert_eq!(refused["rejected"][0]["reason"], "excluded by privacy.conf");
    assert!(world.memory.verdicts().iter().all(|verdict| matches!(verdict, Verdict::Refused(_))));
}
