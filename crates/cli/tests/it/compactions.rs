//! A compaction from the hook to the answer: how long the file was, its hash, what went in, what came out.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

const SESSION: &str = "0d5af126-59ad-4423-8e99-c703f99156f1";

fn transcript() -> String {
    let path = format!("../../fixtures/claude-code/2.1.325/compact_auto/{SESSION}.jsonl");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a transcript")
}

fn json(answer: &str) -> Value {
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON")
}

/// Writes the transcript as it was before its compaction, and tells the hook of that. Returns its path and its text.
fn begin(world: &World) -> (String, String) {
    let text = transcript();
    let mark = text.find("{\"parentUuid\":null,\"logicalParentUuid\"").expect("the mark");
    let file = format!("home/.claude/projects/-home-dev-project/{SESSION}.jsonl");
    let before = text.get(..mark).expect("a part").to_owned();
    world.write(&file, &before);
    let payload = format!(
        "{{\"session_id\": \"{SESSION}\", \"transcript_path\": \"[W]/{file}\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"PreCompact\", \"trigger\": \"auto\", \"custom_instructions\": null}}"
    );
    world.hook("project", "claude", &payload).ended_with(0);
    world.write(&file, &text);
    (file, before)
}

#[test]
fn a_copy_is_kept_only_where_the_user_wants_one_and_goes_with_its_task() {
    const FOLDER: &str = "home/.local/share/agent-tracer/backup";
    let world = World::with_real_hook();
    let none = world.run(&["backup", "list"]).ended_with(0);
    assert!(none.stderr.contains("no copies"), "{}", none.stderr);
    world.run(&["backup", "on", "--days", "7"]).ended_with(0);
    let (_, before) = begin(&world);
    let mut server = Server::start(&world);
    server.read_until("kept a copy of a compaction");
    server.end(Signal::SIGTERM);
    let list: Value =
        serde_json::from_str(&world.run(&["backup", "list", "--json"]).ended_with(0).stdout).expect("JSON");
    let backup = &list["backups"][0];
    let name = backup["name"].as_str().expect("a name");
    assert!(name.ends_with("-main.jsonl.zst"), "{name}");
    assert_eq!(world.mode(&format!("{FOLDER}/{name}")), 0o600);
    assert_eq!(world.run(&["backup", "restore", name]).ended_with(0).stdout, before);
    world.run(&["backup", "restore", name, "--to", "[W]/project/back.jsonl"]).ended_with(0);
    assert_eq!(world.read("project/back.jsonl"), before);
    world.run(&["backup", "restore", name, "--to", "[W]/project/back.jsonl"]).ended_with(1);
    for odd in ["../key", "nothing", "/etc/passwd"] {
        world.run(&["backup", "restore", odd]).ended_with(1);
        world.run(&["backup", "remove", odd]).ended_with(1);
    }
    let task = backup["taskId"].as_str().expect("a task");
    world.run(&["purge", task, "--yes"]).ended_with(0);
    assert_eq!(world.names(FOLDER), Vec::<String>::new());
}

#[test]
fn nothing_is_copied_unless_it_is_switched_on() {
    let world = World::with_real_hook();
    begin(&world);
    let server = Server::start(&world);
    let until = Instant::now() + Duration::from_secs(60);
    while !server.get("/api/v1/tasks").contains(SESSION) {
        assert!(Instant::now() < until, "the hook's event does not arrive");
    }
    drop(server);
    // A second server looks at everything that the first one left.
    drop(Server::start(&world).end(Signal::SIGTERM));
    assert!(!world.exists("home/.local/share/agent-tracer/backup"));
}

#[test]
fn what_the_hook_saw_is_hashed_and_held_against_the_file() {
    let world = World::with_real_hook();
    let text = transcript();
    let mark = text.find("{\"parentUuid\":null,\"logicalParentUuid\"").expect("the mark");
    let file = format!("home/.claude/projects/-home-dev-project/{SESSION}.jsonl");
    // The hook sees the file as it is before the compaction; then the client goes on.
    world.write(&file, text.get(..mark).expect("a part"));
    let payload = format!(
        "{{\"session_id\": \"{SESSION}\", \"transcript_path\": \"[W]/{file}\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"PreCompact\", \"trigger\": \"auto\", \"custom_instructions\": null}}"
    );
    let said = world.hook("project", "claude", &payload).ended_with(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let server = Server::start(&world);
    let until = Instant::now() + Duration::from_secs(60);
    let task = loop {
        assert!(Instant::now() < until, "the hook's event does not arrive");
        let tasks = json(&server.get("/api/v1/tasks?limit=1"));
        let Some(id) = tasks["items"][0]["id"].as_str() else { continue };
        let timeline = server.get(&format!("/api/v1/tasks/{id}/timeline?kind=context.saved"));
        if timeline.contains("transcriptSha256") {
            break id.to_owned();
        }
    };
    world.write(&file, &text);
    let found = json(&server.get(&format!("/api/v1/tasks/{task}/compactions")));
    let one = &found["items"][0];
    assert_eq!(
        (one["offset"].as_u64(), one["seenBytes"].as_u64()),
        (Some(mark as u64), Some(mark as u64)),
        "{found}"
    );
    assert_eq!((&one["unchanged"], &one["trigger"]), (&Value::Bool(true), &Value::from("auto")));
    let items = json(&server.get(&format!("/api/v1/tasks/{task}/compaction-items?number=1&side=after")));
    let parts: Vec<&str> =
        items["items"].as_array().expect("items").iter().filter_map(|it| it["part"].as_str()).collect();
    assert_eq!(parts, ["prompt", "summary"]);
    world.write(&file, &text.replacen("queue-operation", "queue-operatioN", 1));
    let changed = json(&server.get(&format!("/api/v1/tasks/{task}/compactions")));
    assert_eq!(changed["items"][0]["unchanged"], Value::Bool(false));
    fs::remove_file(world.path(&file)).expect("removed");
    assert!(server.get(&format!("/api/v1/tasks/{task}/compactions")).contains("is gone"));
}

#[test]
fn a_file_that_the_hook_names_outside_of_every_known_folder_is_copied_and_read() {
    let world = World::with_real_hook();
    world.run(&["backup", "on", "--days", "7"]).ended_with(0);
    let file = "elsewhere/agent-flat99.jsonl";
    let before = transcript().replace("\"isSidechain\":false", "\"agentId\":\"flat99\",\"isSidechain\":true");
    world.write(file, &before);
    let payload = format!(
        "{{\"session_id\": \"{SESSION}\", \"transcript_path\": \"[W]/elsewhere/{SESSION}.jsonl\", \"agent_id\": \"flat99\", \"agent_type\": \"Explore\", \"agent_transcript_path\": \"[W]/{file}\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"PreCompact\", \"trigger\": \"auto\", \"custom_instructions\": null}}"
    );
    world.hook("project", "claude", &payload).ended_with(0);
    let mut server = Server::start(&world);
    server.read_until("kept a copy of a compaction");
    server.end(Signal::SIGTERM);
    let list: Value =
        serde_json::from_str(&world.run(&["backup", "list", "--json"]).ended_with(0).stdout).expect("JSON");
    let name = list["backups"][0]["name"].as_str().expect("a name");
    assert!(name.contains("-subagent-Explore-"), "{name}");
    assert_eq!(world.run(&["backup", "restore", name]).ended_with(0).stdout, before);
}
