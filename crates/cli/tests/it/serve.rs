//! Tests `serve`: started for real, queried, and stopped by a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::world::World;

pub(crate) struct Server {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Server {
    pub(crate) fn start(world: &World) -> Server {
        Server::start_with(world, &[], "stop       Ctrl-C")
    }

    /// Starts it with more arguments, and waits for the line that says that it listens.
    pub(crate) fn start_with(world: &World, arguments: &[&str], ready: &str) -> Server {
        Server::start_by("serve", world, arguments, ready)
    }

    /// Starts it by another command.
    pub(crate) fn start_by(command: &str, world: &World, arguments: &[&str], ready: &str) -> Server {
        let mut child = Command::new(world.path("bin/agent-tracer"))
            .args([command, "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env_clear()
            .env("HOME", world.path("home"))
            .env("PATH", world.path("empty"))
            .envs(world.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("standard error"));
        let mut server = Server { child, stderr, said: String::new() };
        server.read_until(ready);
        server
    }

    /// Reads what it says up to a line that holds this.
    pub(crate) fn read_until(&mut self, part: &str) {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("text");
            assert!(read > 0, "it ended without saying `{part}`:\n{}", self.said);
            self.said.push_str(&line);
            if line.contains(part) {
                return;
            }
        }
    }

    pub(crate) fn address(&self) -> String {
        let (_, rest) = self.said.split_once("127.0.0.1:").expect("an address");
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("127.0.0.1:{port}")
    }

    /// Returns everything that it has said so far.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.send("GET", path, "", "")
    }

    /// Sends a request with these lines in its head, each ended as all of them are, and returns the answer.
    pub(crate) fn send(&self, method: &str, path: &str, lines: &str, body: &str) -> String {
        let address = self.address();
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{lines}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Posts a body with the owner's token; fails the test unless it was taken.
    pub(crate) fn post(&self, world: &World, path: &str, body: &serde_json::Value) {
        self.post_with(world, path, body, "");
    }

    /// The same with another line of the head, which ends as all of them do.
    pub(crate) fn post_with(&self, world: &World, path: &str, body: &serde_json::Value, line: &str) {
        let token = world.read("home/.local/share/agent-tracer/token");
        let lines =
            format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n{line}", token.trim());
        let answer = self.send("POST", path, &lines, &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 20"), "{path}: {answer}");
    }

    /// Asks it to end; returns everything that it said.
    pub(crate) fn end(mut self, signal: Signal) -> String {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a number"));
        kill(pid, signal).expect("signalled");
        self.stderr.read_to_string(&mut self.said).expect("text");
        let status = self.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{}", self.said);
        std::mem::take(&mut self.said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn it_says_where_to_look_answers_and_ends_when_asked() {
    let world = World::without_hook();
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let server = Server::start(&world);
        assert!(server.said.contains("/login?code="), "{}", server.said);
        assert!(server.said.contains("install claude") && server.said.contains("install codex"));
        assert!(server.get("/").starts_with("HTTP/1.1 200"), "{}", server.get("/"));
        let said = server.end(signal);
        assert!(said.contains("stopping") && said.contains("stopped"), "{said}");
    }
    assert_eq!(world.mode("home/.local/share/agent-tracer/token"), 0o600);
}

/// Makes a store one of schema 6.
pub(crate) const OLDER: &str = "DROP INDEX task_failed; DROP TABLE sealed_share; DROP TRIGGER task_counts_on; DROP TRIGGER task_leaves; DROP TRIGGER task_goes; \
    DROP TRIGGER task_arrives; DROP TRIGGER task_comes; DROP TABLE task_count; \
    ALTER TABLE rollup DROP COLUMN calls; ALTER TABLE sealed_rollup DROP COLUMN calls; PRAGMA user_version = 6";

#[test]
fn a_store_of_an_older_version_is_brought_up_to_date_and_it_says_how_far_it_is() {
    let world = World::without_hook();
    Server::start(&world).end(Signal::SIGTERM);
    let path = world.path("home/.local/share/agent-tracer/ledger.db");
    let store = rusqlite::Connection::open(&path).expect("the store");
    let schema: i32 = store.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a schema");
    store.execute_batch(OLDER).expect("an older store");
    drop(store);
    let said = Server::start(&world).end(Signal::SIGTERM);
    assert!(said.contains(&format!("store: from schema 6 to {schema}: ")), "{said}");
    assert_eq!(world.mode("home/.local/share/agent-tracer/ledger.db.schema-6.backup"), 0o600);
    let again = Server::start(&world).end(Signal::SIGTERM);
    assert!(!again.contains("from schema"), "{again}");
}

#[test]
fn only_one_at_a_time_and_the_other_is_named() {
    let world = World::without_hook();
    let server = Server::start(&world);
    let pid = format!("process {}", server.child.id());
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["import"]] {
        let answer = world.run(arguments).ended_with(1);
        assert!(answer.stderr.contains(&pid) && answer.stderr.contains("\nhint: "), "{}", answer.stderr);
    }
    server.end(Signal::SIGTERM);
    world.run(&["import"]).ended_with(0);
}

#[test]
fn the_spool_and_the_history_are_read_and_payloads_stay_out_of_the_log() {
    let world = World::with_real_hook();
    let rows = concat!(
        r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"canary-in-a-prompt"}}"#,
        "\n"
    );
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", rows);
    let mut hook = Command::new(world.path("bin/agent-tracer-hook"))
        .arg("claude")
        .env_clear()
        .env("HOME", world.path("home"))
        .stdin(Stdio::piped())
        .spawn()
        .expect("the hook starts");
    let payload =
        br#"{"session_id":"5a13","hook_event_name":"UserPromptSubmit","prompt":"canary-in-a-prompt"}"#;
    hook.stdin.take().expect("standard input").write_all(payload).expect("written");
    assert!(hook.wait().expect("the hook ends").success());
    let new = "home/.local/share/agent-tracer/spool/new";
    assert_eq!(world.names(new).len(), 1);
    let mut server = Server::start(&world);
    server.read_until("history: done");
    let said = server.end(Signal::SIGTERM);
    assert_eq!(world.names(new), Vec::<String>::new());
    assert!(!said.contains("canary"), "{said}");
    let again = world.run(&["import"]).ended_with(0);
    assert!(again.stdout.starts_with("read 0 of 1 files"), "{}", again.stdout);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let world = World::without_hook();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let answer = world.run(&["serve", "--listen", &address]).ended_with(1);
    assert!(answer.stderr.contains(&address) && answer.stderr.contains("hint: "), "{}", answer.stderr);
}

#[test]
fn an_address_that_others_can_reach_needs_tokens() {
    let answer = World::without_hook().run(&["serve", "--listen", "0.0.0.0:0"]).ended_with(1);
    assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
}
