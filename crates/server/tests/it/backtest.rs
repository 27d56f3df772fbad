//! Draft rules over what the ledger holds.

use std::io::{BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use agent_tracer_event::Millis;
use agent_tracer_policy::backtest::{LocalMoment, Setting};
use agent_tracer_server::Capabilities;
use serde_json::{Value, json};

use crate::client::{Answer, Ask, connect, read};
use crate::ledger::Real;
use crate::world::{TOKEN, World};

const DRAFT: &str = "version = 1\n[[rule]]\nname = \"no-delete\"\non = \"PreToolUse\"\ndecision = \"deny\"\n\
                     reason = \"keep it\"\nmatch.command = { effect = \"delete\" }\n";
const PATH: &str = "/api/v1/policies/backtest";

fn setting(local: impl Fn(Millis) + Send + Sync + 'static) -> Capabilities {
    let local = Arc::new(move |at: Millis| {
        local(at);
        LocalMoment { local: None, midnight: Millis(0) }
    });
    Capabilities {
        compactions: None,
        backtest: Some(Setting { user_home: None, local, cost_pico: Arc::new(|_| None) }),
    }
}

fn call(real: &Real, session: &str, command: &str) {
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": session, "cwd": "/code", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": format!("toolu_{session}"), "permission_mode": "default",
        "transcript_path": "/t/a.jsonl"});
    real.post("/hooks/claude", &payload);
}

fn draft(text: &str) -> Value {
    json!({ "policy": text })
}

fn ask(real: &Real, query: &str, body: &Value) -> Answer {
    real.ask("POST", &format!("{PATH}{query}")).bearer(TOKEN).json(body).send()
}

#[test]
fn a_draft_is_held_against_what_was_recorded() {
    let real = Real::with(setting(|_| {}));
    call(&real, "one", "sudo rm -rf build");
    call(&real, "two", "ls");
    let answer = ask(&real, "?since=-7d", &draft(DRAFT));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let found = answer.json();
    assert_eq!((&found["calls"], &found["complete"]), (&json!(2), &json!(true)), "{found}");
    assert_eq!(found["outcomes"]["denied"], 1);
    let rule = &found["rules"][0];
    assert_eq!((&rule["name"], &rule["decisions"]["denied"]), (&json!("no-delete"), &json!(1)));
    let example = &rule["examples"][0];
    let row = real.get(&format!("/api/v1/events/{}", example["rowId"].as_str().unwrap()));
    assert_eq!(row["row"]["taskId"], example["taskId"]);
    let none = ask(&real, "?project=%2Felsewhere", &draft(DRAFT)).json();
    assert_eq!(none["calls"], 0);
}

#[test]
fn errors_of_a_draft_are_reported_with_line_and_column() {
    let real = Real::with(setting(|_| {}));
    let answer = ask(&real, "", &draft(&DRAFT.replace("decision", "desicion")));
    assert_eq!(answer.status, 422);
    assert_eq!(answer.wrong(), ["policy:2:1", "policy:5:1"]);
    for (body, status) in
        [(json!({}), 422), (json!({"policy": 3}), 422), (json!({"policy": "", "x": 1}), 422)]
    {
        assert_eq!(ask(&real, "", &body).status, status, "{body}");
    }
    assert_eq!(ask(&real, "?since=soon", &draft(DRAFT)).status, 400);
    let plain = real.ask("POST", PATH).bearer(TOKEN).body("text/plain", DRAFT).send();
    assert_eq!(plain.status, 415);
    assert_eq!(real.ask("POST", PATH).json(&draft(DRAFT)).send().status, 401, "it takes a token");
}

#[test]
fn a_server_without_rules_says_so() {
    let world = World::new();
    let answer = world.post(PATH, &draft(DRAFT));
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert!(answer.text().contains("hint: "), "{}", answer.text());
}

#[test]
fn hanging_up_stops_it_and_only_one_runs_at_a_time() {
    const TASKS: usize = 400;
    let (permit, permits) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel::<()>();
    let (permits, begun, judged) = (Mutex::new(permits), Mutex::new(begun), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&judged);
    let real = Real::with(setting(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        begun.lock().unwrap().send(()).ok();
        permits.lock().unwrap().recv().ok();
    }));
    for task in 0..TASKS {
        call(&real, &format!("s{task}"), "rm -rf x");
    }
    let question = real.ask("POST", PATH).bearer(TOKEN).json(&draft(DRAFT));
    let mut stream = connect(real.server.address());
    stream.write_all(&question.bytes(false)).unwrap();
    begins.recv().unwrap();
    let second = ask(&real, "", &draft(DRAFT));
    assert_eq!((second.status, second.header("retry-after")), (429, "5"));
    drop(stream);
    // Each step gives the server the time to notice.
    for _ in 0..TASKS / 2 {
        permit.send(()).unwrap();
        real.get("/health");
    }
    drop(permit);
    while ask(&real, "?project=%2Felsewhere", &draft(DRAFT)).status == 429 {}
    assert!(judged.load(Ordering::SeqCst) < TASKS, "it went on to the end");
    let again = Ask::new(real.server.address(), "GET", "/health");
    let mut stream = connect(real.server.address());
    stream.write_all(&again.bytes(true)).unwrap();
    assert_eq!(read(&mut BufReader::new(stream), "GET").status, 200);
}
