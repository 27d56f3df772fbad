//! The server before the real ledger: what is posted is there to be asked for, followed and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agent_tracer_event::Millis;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, QueueFull};
use agent_tracer_server::{
    Append, Config, Live, PeerUser, PolicyListing, Server, ServerDeps, SpoolView, WriteCallback, serve,
};
use serde_json::{Value, json};

use crate::client::{Answer, Ask};
use crate::world::{NOW, TOKEN, config};

struct Queue(Arc<Ledger>);

impl Append for Queue {
    fn submit(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        self.0.submit(batch, done).map_err(|QueueFull(batch)| Box::new(batch))
    }

    fn post(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        self.0.post(batch, done).map_err(|QueueFull(batch)| Box::new(batch))
    }

    fn soon(&self) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
        let (ledger, token) = (Arc::clone(&self.0), self.0.flush_token());
        Some(Box::new(move || ledger.is_flushed(token)))
    }
}

pub(crate) struct Real {
    pub(crate) server: Server,
    ledger: Arc<Ledger>,
    clock: Arc<AtomicI64>,
    _folder: tempfile::TempDir,
}

impl Real {
    pub(crate) fn new() -> Self {
        Self::with(agent_tracer_server::Capabilities::default())
    }

    /// The same with what it can do beyond answering.
    pub(crate) fn with(acts: agent_tracer_server::Capabilities) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Arc::new(Ledger::open(&folder.path().join("ledger.db"), Options::default()).unwrap());
        let live = Live::new();
        let clock = Arc::new(AtomicI64::new(NOW));
        let (followed, publish) = (live.clone(), live.clone());
        ledger.on_commit_while(
            move || followed.is_followed(),
            move |committed| {
                publish.publish(&committed.rows);
                publish.publish_removed(committed.seq, &committed.removed);
            },
        );
        let config = Config { peer_owner: |_, _| Some(PeerUser::Same), ..config() };
        let deps = ServerDeps {
            team: None,
            capabilities: acts,
            store: ledger.store(),
            append: Arc::new(Queue(Arc::clone(&ledger))),
            live,
            clock: {
                let clock = Arc::clone(&clock);
                Arc::new(move || Millis(clock.load(Ordering::SeqCst)))
            },
            spool: Arc::new(SpoolView::default),
            home: None,
            rules: Arc::new(PolicyListing::default),
            privacy: Arc::new(|| Ok(Arc::default())),
            excluded: agent_tracer_server::ExcludedSessions::default(),
            unrecorded: Arc::new(|_| false),
            assets: Arc::new(|_| None),
        };
        Self { server: serve(config, deps).unwrap(), ledger, clock, _folder: folder }
    }

    /// Appends what readers made of captured input.
    pub(crate) fn record(&self, observed: Vec<Observed>) {
        self.ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    }

    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.server.address(), method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path).send();
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        answer.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let answer = self.ask("POST", path).bearer(TOKEN).json(body).send();
        assert!(answer.status < 300, "{path} {}", answer.text());
        answer
    }
}

fn ensure(real: &Real) -> Value {
    let body = json!({"runtimeSource": "claude_code", "runtimeSessionId": "s", "title": "Fix it", "workspacePath": "/p"});
    real.post("/ingest/v1/sessions/ensure", &body).json()
}

#[test]
fn a_session_and_its_events_are_there_when_the_call_returns() {
    let real = Real::new();
    let first = ensure(&real);
    assert_eq!((&first["taskCreated"], &first["sessionCreated"]), (&json!(true), &json!(true)));
    let again = ensure(&real);
    assert_eq!(again["sessionId"], first["sessionId"]);
    assert_eq!((&again["taskCreated"], &again["sessionCreated"]), (&json!(false), &json!(false)));
    let task = first["taskId"].as_str().unwrap();
    let events = json!({"events": [
        {"id": "e1", "kind": "user.message", "taskId": task, "body": "please run it", "title": "please run it"},
        {"id": "e2", "kind": "tool.used", "taskId": task, "metadata": {"toolName": "Bash", "toolUseId": "toolu_1",
            "toolInput": {"command": "cargo test"}, "durationMs": 40}},
        {"id": "e1", "kind": "user.message", "taskId": task, "body": "please run it"},
        {"id": "e3"},
    ]});
    let answer = real.post("/ingest/v1/events", &events).json();
    assert_eq!((&answer["accepted"], &answer["duplicates"]), (&json!(2), &json!(1)), "{answer}");
    assert_eq!(answer["rejected"][0]["index"], 3);
    let shown = real.get(&format!("/api/v1/tasks/{task}"));
    assert_eq!((&shown["title"], &shown["workspacePath"]), (&json!("Fix it"), &json!("/p")));
    let timeline = real.get(&format!("/api/v1/tasks/{task}/timeline"));
    let rows = timeline["items"].as_array().unwrap();
    let call = rows.iter().find(|row| row["toolUseId"] == "toolu_1").expect("the call");
    assert_eq!(call["metadata"]["commandAnalysis"]["steps"][0]["commandName"], "cargo");
    assert_eq!((&call["state"], &call["channels"]), (&json!("succeeded"), &json!(["http"])));
    assert_eq!(call["sessionId"], first["sessionId"], "rows stand in the session that was answered");
    let counts = real.get("/api/v1/health")["outcomes"].clone();
    let sum: u64 = ["recorded", "duplicate", "unrecognised", "malformed", "refused"]
        .iter()
        .map(|name| counts[*name].as_u64().unwrap())
        .sum();
    assert_eq!(counts["received"].as_u64(), Some(sum), "{counts}");
    assert_eq!(counts["malformed"], 1);
}

#[test]
fn events_that_check_each_other_are_one_row() {
    let real = Real::new();
    for (source, id) in [("hook", "a"), ("rollout", "b")] {
        let event = json!({"events": [{"id": id, "kind": "tool.used", "runtimeSource": "codex", "runtimeSessionId": "t",
            "occurredAt": "2026-11-15T21:10:04Z", "metadata": {"toolName": "apply_patch",
            "crossCheck": {"source": source, "dedupeKey": "call_1"}}}]});
        real.post("/ingest/v1/events", &event);
    }
    let task = real.get("/api/v1/tasks")["items"][0]["id"].as_str().unwrap().to_owned();
    let rows = real.get(&format!("/api/v1/tasks/{task}/timeline?kind=tool.used"));
    assert_eq!(rows["items"].as_array().unwrap().len(), 1, "{rows}");
}

#[test]
fn an_end_completes_the_task_and_may_be_repeated() {
    let real = Real::new();
    ensure(&real);
    let end =
        json!({"runtimeSource": "claude_code", "runtimeSessionId": "s", "completionReason": "explicit_exit"});
    let first = real.post("/ingest/v1/sessions/end", &end).json();
    assert_eq!(first["taskStatus"], "completed");
    assert_eq!(real.post("/ingest/v1/sessions/end", &end).json(), first);
    let task = first["taskId"].as_str().unwrap();
    let ends = real.get(&format!("/api/v1/tasks/{task}/timeline?kind=session.ended"));
    assert_eq!(ends["items"].as_array().unwrap().len(), 1, "{ends}");
}

#[test]
fn a_session_that_went_on_after_its_end_may_end_again() {
    let real = Real::new();
    let task = ensure(&real)["taskId"].as_str().unwrap().to_owned();
    let end = json!({"runtimeSource": "claude_code", "runtimeSessionId": "s", "completeTask": true});
    let status = || real.get(&format!("/api/v1/tasks/{task}"))["status"].clone();
    for round in 1..=3 {
        let event = json!({"events": [{"id": format!("p{round}"), "kind": "user.message", "taskId": task,
            "body": format!("prompt {round}")}]});
        real.clock.fetch_add(60_000, Ordering::SeqCst);
        real.post("/ingest/v1/events", &event);
        assert_eq!(status(), "running", "round {round}");
        for _ in 0..2 {
            real.clock.fetch_add(1_000, Ordering::SeqCst);
            let answer = real.post("/ingest/v1/sessions/end", &end).json();
            assert_eq!(answer["taskStatus"], "completed", "round {round}");
        }
        let timeline = real.get(&format!("/api/v1/tasks/{task}/timeline"));
        let rows = timeline["items"].as_array().unwrap();
        let ends = rows.iter().filter(|row| row["kind"] == "session.ended").count();
        assert_eq!(ends, round, "an end that is sent twice is one");
    }
}

#[test]
fn the_end_of_an_unknown_session_makes_no_task() {
    let real = Real::new();
    for end in [json!({}), json!({"completeTask": false}), json!({"completionReason": "idle"})] {
        let mut body = json!({"runtimeSource": "claude_code", "runtimeSessionId": "never-seen"});
        body.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        let answer = real.ask("POST", "/ingest/v1/sessions/end").bearer(TOKEN).json(&body).send();
        assert_eq!(answer.status, 404, "{end}");
    }
    assert_eq!(real.get("/api/v1/tasks")["items"], json!([]));
}

#[test]
fn an_end_that_does_not_complete_the_task_leaves_it_waiting() {
    for end in [
        json!({"completeTask": false}),
        json!({"completeTask": false, "completionReason": "explicit_exit"}),
        json!({"completionReason": "idle"}),
        json!({"completionReason": "assistant_turn_complete"}),
    ] {
        let real = Real::new();
        let task = ensure(&real)["taskId"].as_str().unwrap().to_owned();
        let prompt = json!({"events": [{"id": "p", "kind": "user.message", "taskId": task, "body": "go",
            "occurredAt": "2026-11-15T21:00:00Z"}]});
        real.post("/ingest/v1/events", &prompt);
        let mut body = json!({"runtimeSource": "claude_code", "runtimeSessionId": "s"});
        body.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
        assert_eq!(real.post("/ingest/v1/sessions/end", &body).json()["taskStatus"], "waiting", "{end}");
        body["completeTask"] = json!(true);
        assert_eq!(real.post("/ingest/v1/sessions/end", &body).json()["taskStatus"], "completed", "{end}");
    }
}

#[test]
fn a_hook_over_http_and_an_event_tell_of_one_call() {
    let real = Real::new();
    let hook = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": "Bash",
        "tool_use_id": "toolu_1", "tool_input": {"command": "cargo test"}});
    real.post("/hooks/claude", &hook);
    let event = json!({"events": [{"kind": "terminal.command", "runtimeSource": "claude_code", "runtimeSessionId": "s",
        "metadata": {"toolName": "Bash", "toolUseId": "toolu_1", "exitCode": 101, "toolInput": {"command": "cargo test"}}}]});
    real.post("/ingest/v1/events", &event);
    let task = real.get("/api/v1/tasks")["items"][0]["id"].as_str().unwrap().to_owned();
    let calls = real.get(&format!("/api/v1/tasks/{task}/tool-calls"));
    let calls = calls["items"].as_array().unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!((&calls[0]["state"], &calls[0]["exitCode"]), (&json!("failed"), &json!(101)));
}

#[test]
fn a_follower_sees_every_row_once_whether_it_was_there_or_came_back() {
    let real = Real::new();
    let task = ensure(&real)["taskId"].as_str().unwrap().to_owned();
    let mut live = real.ask("GET", "/api/v1/stream?after=0").follow();
    for number in 0..30 {
        let event = json!({"events": [{"id": number.to_string(), "kind": "user.message", "taskId": task,
            "body": format!("prompt {number}")}]});
        real.post("/ingest/v1/events", &event);
    }
    let newest = real.ledger.store().seq().unwrap();
    let mut seen = Vec::new();
    loop {
        let row = live.event().json();
        seen.push(row["seq"].as_u64().unwrap());
        if row["body"] == "prompt 29" {
            break;
        }
    }
    assert!(seen.is_sorted(), "{seen:?}");
    let middle = seen[seen.len() / 2];
    let mut back = real.ask("GET", "/api/v1/stream").header("Last-Event-ID", &middle.to_string()).follow();
    let rest = real.ledger.store().changes(middle, 500).unwrap();
    let expected: Vec<u64> = rest.iter().map(|row| row.seq).collect();
    assert_eq!(back.seqs(expected.len()), expected);
    assert!(*seen.last().unwrap() <= newest);
}

/// Counts rows, once everything is folded.
fn rows(real: &Real) -> u64 {
    let token = real.ledger.flush_token();
    while !real.ledger.is_flushed(token) {
        std::thread::yield_now();
    }
    real.get("/api/v1/health")["store"]["events"].as_u64().unwrap()
}

#[test]
fn an_equal_payload_is_a_retry_for_as_long_as_a_sender_may_try_again() {
    let real = Real::new();
    let hooks = [
        json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}),
        json!({"hook_event_name": "Notification", "session_id": "s", "message": "waits", "notification_type": "idle_prompt"}),
        json!({"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash",
            "tool_input": {"command": "ls"}}),
        json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "other"}),
    ];
    let post = |after_ms: i64, key: Option<&str>| {
        real.clock.store(NOW + after_ms, Ordering::SeqCst);
        for (place, hook) in hooks.iter().enumerate() {
            let ask = real.ask("POST", "/hooks/claude").bearer(TOKEN).json(hook);
            let ask = match key {
                Some(key) => ask.header("Idempotency-Key", &format!("{key}-{place}")),
                None => ask,
            };
            assert_eq!(ask.send().status, 200);
        }
        rows(&real)
    };
    let first = post(0, None);
    assert!(first >= 4, "{first}");
    for after_ms in [1, 4_999, 5_001, 11_000, 19_999] {
        assert_eq!(post(after_ms, None), first, "{after_ms} ms later");
    }
    let second = post(60_000, None);
    assert!(second > first, "that is no retry any more");
    let third = post(60_001, Some("a"));
    assert!(third > second, "another key is another event");
    assert_eq!(post(600_000, Some("a")), third, "the same key never is");
    assert!(post(600_000, Some("b")) > third);
}

#[test]
fn equal_payloads_of_codex_are_distinct_unless_a_key_says_otherwise() {
    let real = Real::new();
    let hook = json!({"hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "tool_name": "Bash",
        "tool_input": {"command": "ls"}});
    for _ in 0..2 {
        real.post("/hooks/codex", &hook);
    }
    let before = rows(&real);
    for _ in 0..2 {
        let ask = real.ask("POST", "/hooks/codex").bearer(TOKEN).header("Idempotency-Key", "k");
        assert_eq!(ask.json(&hook).send().status, 200);
    }
    assert_eq!((before, rows(&real)), (2, 3));
}

#[test]
fn a_row_that_is_purged_without_followers_is_sent_later() {
    let real = Real::new();
    ensure(&real);
    let seq = real.get("/api/v1/health")["seq"].as_u64().unwrap();
    let gone: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&gone);
    real.ledger.on_commit_while(
        || false,
        move |committed| {
            assert!(committed.rows.is_empty());
            noted.lock().unwrap().extend(committed.removed.iter().cloned());
        },
    );
    let event = json!({"events": [{"id": "e1", "kind": "user.message", "runtimeSource": "claude_code",
        "runtimeSessionId": "s", "title": "a"}]});
    real.post("/ingest/v1/events", &event);
    rows(&real);
    let task = agent_tracer_event::TaskKey::new(agent_tracer_event::Agent::CLAUDE_CODE, "s").task_id();
    real.ledger.purge(vec![task], Millis(NOW)).unwrap();
    assert!(!gone.lock().unwrap().is_empty());
    let mut events = real.ask("GET", &format!("/api/v1/stream?after={seq}")).follow();
    let event = events.event();
    assert_eq!(event.name.as_deref(), Some("removed"));
    assert_eq!(event.json()["ids"], json!(*gone.lock().unwrap()));
}

#[test]
fn health_says_why_something_was_malformed_or_refused() {
    let real = Real::new();
    for body in ["{", "[]", "{\"a\":1}x", "{\"abc\":1}x"] {
        let answer = real.ask("POST", "/hooks/claude").bearer(TOKEN).body("application/json", body).send();
        assert_eq!(answer.status, 400, "{body}");
    }
    rows(&real);
    let health = real.get("/api/v1/health");
    let reasons = health["reasons"].as_array().unwrap();
    let sum: u64 = reasons.iter().map(|reason| reason["count"].as_u64().unwrap()).sum();
    assert_eq!((sum, &health["outcomes"]["malformed"]), (4, &json!(4)), "{health}");
    for reason in reasons {
        assert_eq!((&reason["outcome"], &reason["channel"]), (&json!("malformed"), &json!("http")));
        let text = reason["reason"].as_str().unwrap();
        assert!(!text.is_empty() && !text.contains(" at byte "), "{text}");
    }
    assert_eq!(reasons[0]["count"], 2, "the place of a fault makes no other reason: {reasons:?}");
}
