//! Alerts: tried by hand, sent by a server, shown on a desktop that is made up.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

const CONF: &str = "home/.config/agent-tracer/config.toml";
/// The file that held the table before.
const OLD: &str = "home/.config/agent-tracer/alerts.toml";

/// Takes everything that is posted.
fn receiver() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/hook/secret-part", listener.local_addr().expect("an address"));
    let (bodies, hears) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a line");
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().expect("a length");
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .expect("answered");
            if bodies.send(serde_json::from_slice(&body).expect("JSON")).is_err() {
                return;
            }
        }
    });
    (url, hears)
}

#[test]
fn a_test_alert_goes_everywhere_and_says_whether_it_arrived() {
    let world = World::new();
    let none = world.run(&["alerts", "test"]).ended_with(1);
    assert!(none.stderr.contains("neither a desktop nor a webhook entry"), "{}", none.stderr);
    let (url, hears) = receiver();
    world.write("empty/notify-send", "#!/bin/sh\nfor word; do echo \"$word\"; done > \"[W]/shown\"\n");
    world.set_mode("empty/notify-send", 0o755);
    world.write(OLD, &format!("desktop = true\n[[webhook]]\nurl = \"{url}\"\n[on]\nfailures = 3\n"));
    let sent = world.run(&["alerts", "test"]).ended_with(0);
    assert_eq!(sent.stdout, "desktop: sent\nwebhook 1: sent\n");
    assert!(world.read("shown").ends_with("--\nAgent Tracer\nalerts arrive\n"), "{}", world.read("shown"));
    let body = hears.recv_timeout(Duration::from_secs(60)).expect("an alert");
    assert_eq!((&body["kind"], &body["text"]), (&Value::from("test"), &Value::from("alerts arrive")));
    let shown = world.run(&["alerts", "show"]).ended_with(0);
    assert!(shown.stdout.contains("on failures = 3") && !shown.stdout.contains("secret"), "{}", shown.stdout);
    world.write(CONF, "[[alerts.webhook]]\nurl = \"http://127.0.0.1:1/secret-part\"\n");
    let failed = world.run(&["alerts", "test", "--json"]).ended_with(1);
    let json: Value = serde_json::from_str(&failed.stdout).expect("JSON");
    assert_eq!(json["sent"][0]["error"], "the receiver could not be reached");
    world.write(CONF, "[alerts.on]\nloud = 1\n");
    let broken = world.run(&["alerts", "show"]).ended_with(1);
    assert!(broken.stderr.contains("line 2") && broken.stderr.contains("hint: "), "{}", broken.stderr);
}

#[test]
fn a_server_tells_of_a_loop_and_logs_that_it_did() {
    let world = World::with_real_hook();
    let (url, hears) = receiver();
    world.write(
        CONF,
        &format!("[[alerts.webhook]]\nurl = \"{url}\"\nformat = \"slack\"\n[alerts.on]\nlooping = 4\n"),
    );
    // A project's file of the same name is not the user's choice.
    world.write("project/.agent-tracer/alerts.toml", "desktop = true\n[on]\ndenials = true\n");
    for call in 0..4 {
        let payload = format!(
            "{{\"session_id\": \"s1\", \"cwd\": \"[W]/project\", \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {{\"command\": \"make SECRET\"}}, \"tool_use_id\": \"t{call}\"}}"
        );
        world.hook("project", "claude", &payload).ended_with(0);
    }
    let mut server = Server::start(&world);
    let body = hears.recv_timeout(Duration::from_secs(60)).expect("an alert");
    assert_eq!(body["text"], "Agent Tracer: the same call was repeated 4 times, 0 of them failed");
    server.read_until("alert looping: sent; 1 so far");
    let numbers = server.get("/metrics");
    for line in [
        "agent_tracer_alerts_total{kind=\"looping\",outcome=\"sent\"} 1",
        "agent_tracer_alerts_total{kind=\"looping\",outcome=\"failed\"} 0",
        "agent_tracer_alerts_total{kind=\"denial\",outcome=\"cooled_down\"} 0",
    ] {
        assert!(numbers.contains(line), "{line}: {numbers}");
    }
    let said = server.end(Signal::SIGTERM);
    assert!(!said.contains("secret-part") && !said.contains("SECRET"), "{said}");
}
