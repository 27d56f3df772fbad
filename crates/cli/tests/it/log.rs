//! Tests the log of `serve`: what it says of requests, in both formats, and what never gets into it.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

const SECRET: &str = "canary";
const PRIVACY: &str = "home/.config/agent-tracer/privacy.conf";

/// Sends secrets wherever a client can put them. Returns the owner's token.
fn send_secrets(server: &Server, world: &World) -> String {
    let token = world.read("home/.local/share/agent-tracer/token").trim().to_owned();
    let json = format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n");
    let prompt =
        r#"{"session_id":"canary","hook_event_name":"UserPromptSubmit","prompt":"canary in a prompt"}"#;
    let answer = server.send("POST", "/hooks/claude", &json, prompt);
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    world.write(PRIVACY, "level actions\n");
    for (method, path, lines, body) in [
        ("GET", "/canary?canary=canary", "", ""),
        ("GET", "/login?code=canary", "", ""),
        ("GET", "/api/v1/tasks?canary=canary", "", ""),
        ("GET", "/api/v1/tasks?limit=canary", "", ""),
        ("GET", "/api/v1/tasks/canary", "", ""),
        ("GET", "/api/v1/search?q=canary", "Cookie: canary=canary\r\n", ""),
        ("GET", "/api/v1/tasks", "Host: canary.example\r\n", ""),
        ("CANARY", "/api/v1/tasks", "", ""),
        (
            "POST",
            "/hooks/claude",
            "Authorization: Bearer canary\r\nContent-Type: application/json\r\n",
            prompt,
        ),
        ("POST", "/hooks/claude", &json, prompt),
        ("POST", "/hooks/claude", &json, r#"{"prompt": "canary"#),
        ("POST", "/ingest/v1/events", &json, r#"{"events":[{"canary":"canary"}]}"#),
        ("POST", "/ingest/v1/events", &json, "canary"),
        ("POST", "/api/v1/policies/backtest", &json, r#"{"rules":"canary"}"#),
        ("POST", "/v1/logs", &json, r#"{"resourceLogs":"canary"}"#),
        ("POST", "/v1/traces", &json.replace("application/json", "application/x-protobuf"), "canary"),
    ] {
        assert!(server.send(method, path, lines, body).starts_with("HTTP/1.1 "), "{method} {path}");
    }
    token
}

/// Returns the log after all of that, at the most talkative level.
fn log(format: &str, ready: &str) -> Vec<String> {
    let world = World::without_hook();
    // It is not known what may be recorded, which is a failure of the server until the file is mended.
    world.write(PRIVACY, "exlude /x\n");
    let server = Server::start_with(&world, &["--log-format", format, "--log-level", "trace"], ready);
    let token = send_secrets(&server, &world);
    let said = server.end(Signal::SIGTERM);
    assert!(!said.to_lowercase().contains(SECRET), "{said}");
    assert!(!said.contains(&token), "{said}");
    said.lines().map(str::to_owned).collect()
}

#[test]
fn as_text_requests_are_named_by_route_and_status_and_no_secret_is() {
    let lines = log("text", "stop       Ctrl-C");
    let has = |parts: &[&str]| lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    for parts in [
        &["Z debug: request refused method=GET route=/api/v1/tasks/{id} status=404 ms="][..],
        &["Z debug: request refused method=GET route=/api/v1/tasks status=400 ms="],
        &["Z debug: request refused method=POST route=/hooks/claude status=401 ms="],
        &["Z debug: request refused method=other route="],
        &["Z error: request failed method=POST route=/hooks/claude status=503 ms="],
        &["Z info: ", "stopping"],
    ] {
        assert!(has(parts), "{parts:?}:\n{}", lines.join("\n"));
    }
}

#[test]
fn as_json_every_line_is_an_object_with_the_same_in_fields_and_no_secret_is_in_it() {
    let lines = log("json", "Agent Tracer is running");
    let lines: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    assert!(lines.iter().all(|line| line["timestamp"].is_string() && line["message"].is_string()));
    let failed = lines.iter().find(|line| line["level"] == "ERROR").expect("a failure");
    assert_eq!(
        (&failed["message"], &failed["method"], &failed["route"], &failed["status"]),
        (&"request failed".into(), &"POST".into(), &"/hooks/claude".into(), &503.into())
    );
    assert!(failed["ms"].is_u64(), "{failed}");
    assert!(lines.iter().any(|line| line["level"] == "DEBUG" && line["route"] == "/api/v1/tasks/{id}"));
    let stopping = lines.iter().find(|line| line["message"] == "SIGTERM: stopping").expect("its end");
    assert_eq!(stopping["signal"], "SIGTERM");
    let ready = lines.iter().find(|line| line["message"] == "Agent Tracer is running").expect("its start");
    assert!(ready["address"].as_str().is_some_and(|address| address.starts_with("127.0.0.1:")), "{ready}");
}

#[test]
fn a_failed_job_is_logged_with_its_name_and_hint_and_without_the_path_of_the_home() {
    let world = World::without_hook();
    world.write("home/.config/agent-tracer/config.toml", "[alerts]\ndesktop = 3\n");
    // The first look runs at the start, and the end waits for it.
    let server = Server::start_with(&world, &["--log-format", "json"], "Agent Tracer is running");
    let said = server.end(Signal::SIGTERM);
    let lines = said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")));
    let lines: Vec<Value> = lines.collect();
    let failed = lines.iter().find(|line| line["job"] == "alerts").expect("a failure");
    assert_eq!(failed["level"], "WARN");
    assert_eq!(failed["hint"], "correct the line; no alerts are sent until then");
    let message = failed["message"].as_str().expect("a message");
    assert!(
        message.contains("`~/.config/agent-tracer/config.toml`") && message.contains("line 2"),
        "{message}"
    );
    assert!(!said.contains(&world.path("home").display().to_string()), "{said}");
}

#[test]
fn refused_requests_are_logged_only_if_asked_for_and_the_option_counts_before_the_variable() {
    let mut world = World::without_hook();
    for (level, arguments, is_logged, ends) in [
        (None, &[][..], false, true),
        (Some("debug"), &[], true, true),
        (Some("debug"), &["--log-level", "info"], false, true),
        (Some("debug"), &["--log-level", "off"], false, false),
    ] {
        world.set("AGENT_TRACER_LOG", level.unwrap_or_default());
        let server = Server::start_with(&world, arguments, "stop       Ctrl-C");
        assert!(server.get("/api/v1/tasks/none").starts_with("HTTP/1.1 404"));
        let said = server.end(Signal::SIGTERM);
        assert_eq!(said.contains("request refused"), is_logged, "{level:?} {arguments:?}\n{said}");
        assert_eq!(said.contains("info: stopped"), ends, "{level:?} {arguments:?}\n{said}");
    }
    world.set("AGENT_TRACER_LOG", "loud");
    let answer = world.run(&["serve", "--listen", "127.0.0.1:0"]).ended_with(2);
    assert!(answer.stderr.contains("`loud`") && answer.stderr.contains("\nhint: "), "{}", answer.stderr);
}

#[test]
fn the_upgrade_of_an_older_store_is_logged_in_the_same_format() {
    let world = World::without_hook();
    Server::start(&world).end(Signal::SIGTERM);
    let store = rusqlite::Connection::open(world.path("home/.local/share/agent-tracer/ledger.db"));
    store.expect("the store").execute_batch(crate::serve::OLDER).expect("an older store");
    let said = Server::start_with(&world, &["--log-format", "json"], "Agent Tracer is running");
    let said = said.end(Signal::SIGTERM);
    let lines = said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")));
    let lines: Vec<Value> = lines.collect();
    let is_upgrade =
        |line: &Value| line["message"].as_str().is_some_and(|text| text.starts_with("store: from schema 6"));
    assert!(lines.iter().any(is_upgrade), "{said}");
}
