//! Tests agents that die unobserved: one killed together with the server is found when the server comes back.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::clock::{stream, until};
use crate::http::Door;
use crate::server::Server;
use crate::world::{Tracer, World, hook};

const SESSION: &str = "77777777-7777-4777-8777-777777777777";

/// A process that stands for an agent: it gives every line that it reads to the real hook, and lives until it is killed.
struct Agent(Child);

impl Agent {
    fn start(tracer: &Tracer) -> Agent {
        let script = r#"while read -r line; do printf '%s' "$line" | "$0" claude; done; read -r forever"#;
        let mut command = tracer.program("sh");
        command.arg("-c").arg(script).arg(hook()).stdin(Stdio::piped());
        Agent(command.spawn().expect("a shell"))
    }

    fn tell(&mut self, mut payload: Value) {
        payload["session_id"] = json!(SESSION);
        payload["cwd"] = json!("/nowhere/shop");
        let line = format!("{payload}\n");
        self.0.stdin.as_mut().expect("its input").write_all(line.as_bytes()).expect("written");
    }

    fn die(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }
}

fn status(door: &Door) -> Value {
    let (code, body) = door.get("/api/v1/tasks").expect("an answer");
    assert_eq!(code, 200, "{body}");
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    answer["items"][0]["status"].clone()
}

#[test]
fn an_agent_that_died_with_the_server_is_abandoned_after_the_restart_and_opens_again_when_it_speaks() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    let (server, door) = Server::start(&tracer);
    let mut first = stream(&door);
    let mut agent = Agent::start(&tracer);
    agent.tell(json!({"hook_event_name": "SessionStart", "source": "startup"}));
    agent.tell(json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    agent.tell(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_left",
        "tool_input": {"command": "make"}}));
    until(&mut first, "toolu_left");
    assert_eq!(status(&door), "running");
    server.kill();

    // The server alone died: the agent still runs, and its call with it.
    let (server, door) = Server::start(&tracer);
    let mut second = stream(&door);
    until(&mut second, "toolu_left");
    agent.tell(json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "toolu_alive",
        "tool_input": {"file_path": "/nowhere/shop/a"}}));
    until(&mut second, "toolu_alive");
    assert_eq!(status(&door), "running");
    server.kill();
    agent.die();

    // Now both did: no event says how the calls ended, and none ever will.
    let (server, door) = Server::start(&tracer);
    let mut third = stream(&door);
    until(&mut third, "\"closedBy\":\"process_gone\"");
    assert_eq!(status(&door), "abandoned");

    // A later process of the session opens it again.
    let mut next = Agent::start(&tracer);
    next.tell(json!({"hook_event_name": "SessionStart", "source": "resume"}));
    // What comes within milliseconds of the end may have been said before it, so one word may not be enough.
    let opened = (0..1_000).any(|word| {
        let prompt = format!("go on {word}.");
        next.tell(json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        until(&mut third, &prompt);
        status(&door) == "running"
    });
    assert!(opened, "it is {}", status(&door));
    next.die();
    server.end();
}
