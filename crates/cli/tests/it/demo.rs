//! Tests `demo`: played for real through the real hook, queried, and stopped by a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::world::World;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Demo {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Demo {
    fn start(world: &World, arguments: &[&str]) -> Demo {
        let mut child = Command::new(world.path("bin/agent-tracer"))
            .arg("demo")
            .args(arguments)
            .env_clear()
            .env("HOME", world.path("home"))
            .env("PATH", world.path("empty"))
            .env("TMPDIR", world.path("empty"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("standard error"));
        Demo { child, stderr, said: String::new() }
    }

    fn read_until(&mut self, part: &str) {
        while !self.said.contains(part) {
            let read = self.stderr.read_line(&mut self.said).expect("text");
            assert!(read > 0, "it ended without saying `{part}`:\n{}", self.said);
        }
    }

    fn get(&self, path: &str) -> Value {
        let address =
            self.said.split("http://").nth(1).and_then(|link| link.split('/').next()).expect("an address");
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("patience");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).map_err(|error| format!("{path}: {error}:\n{answer}")).expect("JSON")
    }

    /// Asks until the answer is as it should be: what was written is read by a server that runs beside us.
    #[track_caller]
    fn ask_until(&self, path: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let answer = self.get(path);
            let items = answer.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
            if is_so(&items) {
                return items;
            }
            assert!(began.elapsed() < PATIENCE, "{path} never became so:\n{answer:#}");
            std::thread::yield_now();
        }
    }

    fn end(mut self, signal: Signal) -> String {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a number"));
        kill(pid, signal).expect("signalled");
        self.stderr.read_to_string(&mut self.said).expect("text");
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{}", self.said);
        std::mem::take(&mut self.said)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // Asked, not killed: then it takes its server along.
        if let Ok(pid) = i32::try_from(self.child.id())
            && matches!(self.child.try_wait(), Ok(None))
        {
            kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
        }
        drop(self.child.wait());
    }
}

fn titled<'a>(tasks: &'a [Value], words: &str) -> &'a Value {
    let found =
        tasks.iter().find(|task| task["title"].as_str().is_some_and(|title| title.starts_with(words)));
    found.ok_or_else(|| format!("no task `{words}` in {tasks:#?}")).expect("a task")
}

#[test]
fn played_once_it_shows_tasks_subagents_failures_and_permissions_as_recorded() {
    let world = World::with_real_hook();
    let mut demo = Demo::start(&world, &["--once", "--speed", "2000", "--days", "0"]);
    demo.read_until("played once: 5 sessions");
    let tasks = demo.ask_until("/api/v1/tasks?kind=primary", |tasks| {
        tasks.len() == 5
            && tasks.iter().all(|task| task["status"] == "completed" || task["status"] == "failed")
    });
    let agents: Vec<&str> = tasks.iter().filter_map(|task| task["agent"].as_str()).collect();
    assert_eq!(agents.iter().filter(|agent| **agent == "claude_code").count(), 3);
    assert_eq!(agents.iter().filter(|agent| **agent == "codex").count(), 2);

    let checkout = titled(&tasks, "Checkout takes seconds")["id"].as_str().expect("an id");
    let tree = demo.ask_until(&format!("/api/v1/tasks/{checkout}/tree"), |nodes| {
        nodes.len() == 5 && nodes.iter().any(|node| node["depth"] == 2)
    });
    let depths: Vec<u64> = tree.iter().filter_map(|node| node["depth"].as_u64()).collect();
    assert_eq!(depths.iter().filter(|depth| **depth == 1).count(), 3, "three at once: {depths:?}");
    assert!(tree.iter().all(|node| node["task"]["status"] == "completed"), "{tree:#?}");
    // A file that is not there, a host that cannot be found, a failing test, an edit of a text that is not there.
    demo.ask_until(&format!("/api/v1/tasks/{checkout}/tool-calls?tree=true&limit=500"), |calls| {
        calls.iter().filter(|call| call["state"] == "failed").count() == 4
            && calls.iter().filter(|call| call["toolName"] == "Agent").count() == 4
    });

    let release = titled(&tasks, "Prepare release 2.4.0")["id"].as_str().expect("an id");
    demo.ask_until(&format!("/api/v1/tasks/{release}/permissions"), |asked| asked.len() == 2);
    demo.ask_until(&format!("/api/v1/tasks/{release}/context"), |points| {
        points.iter().any(|point| point["kind"] == "compaction")
    });
    // The rest of both agents' limits is shown too.
    demo.ask_until("/api/v1/limits", |limits| {
        ["claude_code", "codex"].iter().all(|agent| {
            ["five_hour", "seven_day"].iter().all(|window| {
                limits.iter().any(|limit| limit["agent"] == *agent && limit["window"] == *window)
            })
        })
    });
    // Rules rehearse: their decisions are shown, and nothing was done.
    demo.ask_until("/api/v1/policies/decisions", |decisions| {
        let spoke =
            |rule: &str| decisions.iter().any(|one| one["rule"] == rule && one["status"] == "dry_run");
        spoke("ask-before-push") && spoke("look-at-the-first-error")
    });
    let forecast = titled(&tasks, "The harvest forecast")["id"].as_str().expect("an id");
    demo.ask_until(&format!("/api/v1/tasks/{forecast}/tree"), |nodes| nodes.len() == 3);
    assert_eq!(titled(&tasks, "Translate the product pages")["status"], "failed");

    let health = demo.get("/api/v1/health");
    assert_eq!(health["outcomes"]["malformed"], 0, "{health:#}");
    assert_eq!(health["unrecognised"].as_array().map(Vec::len), Some(0), "{health:#}");
    let said = demo.end(Signal::SIGINT);
    assert!(said.contains("nothing is left behind"), "{said}");
    assert_eq!(world.names("empty"), Vec::<String>::new());
    assert_eq!(world.names("home"), Vec::<String>::new(), "the user's own home is not touched");
}

#[test]
fn days_of_history_are_there_from_the_beginning_and_a_signal_ends_it_in_the_middle() {
    let world = World::with_real_hook();
    let mut demo = Demo::start(&world, &["--days", "3"]);
    demo.read_until("stop       Ctrl-C");
    // Five stories on three days, every third one left out; and today's.
    demo.ask_until("/api/v1/tasks?kind=primary&limit=100", |tasks| tasks.len() > 10);
    let said = demo.end(Signal::SIGTERM);
    assert!(said.contains("/login?code=") && said.contains("stopped after"), "{said}");
    assert_eq!(world.names("empty"), Vec::<String>::new());
}

#[test]
fn without_the_hook_it_says_what_is_missing_and_makes_nothing() {
    let world = World::without_hook();
    let answer = world.run(&["demo"]).ended_with(1);
    assert!(
        answer.stderr.contains("no hook binary at `[W]/bin/agent-tracer-hook`\nhint: "),
        "{}",
        answer.stderr
    );
    let answer = world.run(&["demo", "--home", "[W]/home"]).ended_with(2);
    assert!(answer.stderr.contains("makes its own home\nhint: "), "{}", answer.stderr);
    world.run(&["demo", "--speed", "0"]).ended_with(2);
}
