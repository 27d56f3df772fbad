//! A compaction from the hook to the answer: how long the file was, its hash, what went in, what came out.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

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
