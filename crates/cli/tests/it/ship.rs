//! `agent-tracer ship` against a server that keeps every byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::history::{full, json};

/// The heads and bodies of received requests.
type Requests = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// Takes everything, and keeps the heads of requests with their bodies.
fn server() -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let kept: Requests = Arc::default();
    let keep = Arc::clone(&kept);
    // Ends with the process of the test.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let keep = Arc::clone(&keep);
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
                loop {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if reader.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let length = head.to_lowercase().lines().find_map(|line| {
                        line.strip_prefix("content-length: ").and_then(|length| length.trim().parse().ok())
                    });
                    let mut body = vec![0; length.unwrap_or(0)];
                    reader.read_exact(&mut body).expect("a body");
                    keep.lock().expect("a lock").push((head, body));
                    if stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}").is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, kept)
}

fn ship_check(world: &crate::world::World) -> Value {
    let report: Value = serde_json::from_str(&world.run(&["doctor", "--json"]).stdout).expect("JSON");
    let checks = report.get("checks").and_then(Value::as_array).expect("checks");
    checks.iter().find(|check| check["name"] == "ship").cloned().unwrap_or_default()
}

#[test]
fn everything_is_shipped_once_and_the_doctor_knows_how_much_waits() {
    let mut world = full();
    let (url, kept) = server();
    assert_eq!(ship_check(&world), Value::Null, "no finding without shipping");
    world.run(&["ship", "--once"]).ended_with(2);
    let refused = world.run(&["ship", "--once", "--to", &url]).ended_with(1);
    assert!(refused.stderr.contains("token"), "{}", refused.stderr);
    world.set("AGENT_TRACER_SHIP_TOKEN", "an-ingest-token");
    let waits = json(&world, &["ship", "--dry-run", "--to", &url]);
    assert!(waits["behind"].as_u64().expect("a number") > 10, "{waits}");
    let sent = json(&world, &["ship", "--once", "--to", &url]);
    assert!(sent["facts"].as_u64().expect("a number") > 10 && sent["held"] == 0, "{sent}");
    let requests = kept.lock().expect("a lock").len();
    assert!(requests > 0);
    let again = json(&world, &["ship", "--once", "--to", &url]);
    assert_eq!((&again["facts"], kept.lock().expect("a lock").len()), (&0.into(), requests));
    let check = ship_check(&world);
    assert_eq!(check["state"], "ok", "{check}");
    assert!(kept.lock().expect("a lock").iter().all(|(head, _)| head.contains("Bearer an-ingest-token")));
}

#[test]
fn a_missing_token_or_database_gets_a_hint() {
    let world = full();
    let refused = world.run(&["ship", "--once", "--to", "http://127.0.0.1:1"]).ended_with(1);
    assert!(refused.stderr.contains("`ship.token`"), "{}", refused.stderr);
    // No process listens there.
    let store = "clickhouse://none@127.0.0.1:1/none";
    let refused = world.run(&["token", "--store", store, "list"]).ended_with(1);
    assert!(refused.stderr.contains("hint: see whether ClickHouse runs"), "{}", refused.stderr);
}

#[test]
fn a_policy_that_is_not_understood_lets_nothing_leave() {
    let mut world = full();
    let (url, kept) = server();
    world.set("AGENT_TRACER_SHIP_TOKEN", "an-ingest-token");
    world.write("home/policy.toml", "levels = \"metadata\"\n");
    let policy = world.path("home/policy.toml").display().to_string();
    let answer = world.run(&["ship", "--once", "--to", &url, "--policy", &policy]).ended_with(1);
    assert!(answer.stderr.contains("nothing may leave"), "{}", answer.stderr);
    let plain = world.run(&["ship", "--once", "--to", "http://tracer.example"]).ended_with(1);
    assert!(plain.stderr.contains("unencrypted"), "{}", plain.stderr);
    assert!(kept.lock().expect("a lock").is_empty());
}
