//! Tests the context summary: switched on, shown, read by a real hook, switched off.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

const CONF: &str = "home/.config/agent-tracer/config.toml";
/// The file that held the table before.
const OLD: &str = "home/.config/agent-tracer/context.conf";
const PAGES: &str = "home/.local/share/agent-tracer/context";
const SESSION: &str = "5a133364-48e1-40c2-b568-cfba1112cbce";

fn payload(event: &str, more: &str) -> String {
    format!(
        "{{\"session_id\": \"{SESSION}\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"{event}\"{more}}}"
    )
}

/// A world in which a few calls were recorded.
fn with_history() -> World {
    let world = World::with_real_hook();
    for call in 0..3 {
        let more = format!(
            ", \"tool_name\": \"Bash\", \"tool_input\": {{\"command\": \"cargo test\"}}, \"tool_use_id\": \"t{call}\", \"error\": \"Exit code 1\""
        );
        for event in ["PreToolUse", "PostToolUseFailure"] {
            world.hook("project", "claude", &payload(event, &more)).ended_with(0);
        }
    }
    let server = Server::start(&world);
    let until = Instant::now() + Duration::from_secs(60);
    while !server.get("/api/v1/tools").contains("\"failures\":3") {
        assert!(Instant::now() < until, "{}", server.get("/api/v1/tools"));
    }
    server.end(Signal::SIGTERM);
    world
}

fn begin(world: &World) -> String {
    world
        .hook("project", "claude", &payload("SessionStart", ", \"source\": \"startup\""))
        .ended_with(0)
        .stdout
}

#[test]
fn agents_get_a_summary_only_while_the_user_wants_it() {
    let world = with_history();
    let shown = world.run(&["context", "show"]).ended_with(0);
    assert!(shown.stdout.contains("- Failed often here: cargo test (3 of 3)."), "{}", shown.stdout);
    assert!(shown.stderr.contains("context is off"), "{}", shown.stderr);
    assert_eq!(begin(&world), "");
    world.run(&["context", "on", "--budget-usd", "20"]).ended_with(0);
    assert_eq!(world.mode(CONF), 0o600);
    let said: Value = serde_json::from_str(&begin(&world)).expect("an answer");
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
    assert!(text.contains("cargo test (3 of 3)") && text.contains("today's budget of $20.00"), "{text}");
    let json = world.run(&["context", "show", "--json"]).ended_with(0);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&json["on"], json["text"].as_str()), (&Value::Bool(true), Some(text)));
    world.run(&["context", "off"]).ended_with(0);
    assert_eq!(begin(&world), "");
    assert!(!world.exists(PAGES));
}

#[test]
fn a_server_writes_the_context_pages_and_removes_them() {
    let world = with_history();
    world.run(&["context", "on", "--export-task"]).ended_with(0);
    for page in world.names(PAGES) {
        std::fs::remove_file(world.path(&format!("{PAGES}/{page}"))).expect("removed");
    }
    assert_eq!(begin(&world), "");
    let server = Server::start(&world);
    assert!(begin(&world).contains("cargo test"));
    drop(server);
    world.write(CONF, "[context]\nenabled = false\n");
    let server = Server::start(&world);
    assert_eq!(begin(&world), "");
    drop(server);
    std::fs::remove_file(world.path(CONF)).expect("removed");
    world.write(OLD, "on\nbytes many\n");
    let mut server = Server::start(&world);
    assert_eq!(begin(&world), "", "what is not understood switches nothing on");
    drop(server.end(Signal::SIGTERM));
    server = Server::start(&world);
    assert!(server.end(Signal::SIGTERM).contains("line 2: `many` is not a whole number"));
}

#[test]
fn odd_wishes_are_refused_and_a_broken_file_can_be_written_anew() {
    let world = World::new();
    for wish in [["--bytes", "3"], ["--budget-usd", "0"]] {
        world.run(&[&["context", "on"][..], &wish[..]].concat()).ended_with(2);
        assert!(!world.exists(CONF));
    }
    world.write(OLD, "nonsense\n");
    let broken = world.run(&["context", "show"]).ended_with(1);
    assert!(broken.stderr.contains("line 1: unknown setting `nonsense`"), "{}", broken.stderr);
    world.run(&["context", "off"]).ended_with(0);
    let none = world.run(&["context", "show"]).ended_with(0);
    assert!(none.stderr.contains("no summary for"), "{}", none.stderr);
    world.run(&["context", "on"]).ended_with(0);
    assert_eq!(world.read(CONF), "[context]\nenabled = true\n");
}
