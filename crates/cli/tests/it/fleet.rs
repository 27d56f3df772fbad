//! Runs real processes on the real engine of ClickHouse: servers, a shipper, and the tests that kill them.
//!
//! Every record arrives once, whichever process dies; forgotten rows are gone; copied rows are proven to be there.
#![expect(clippy::indexing_slicing, reason = "what is missing fails the test")]

mod moving;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::{Batch, Ledger, Options, RowFilter, TaskFilter};
use agent_tracer_testkit::history::{Dice, History};
use serde_json::Value;

use crate::engine::Engine;

/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

const SECRET: &str = "0123456789-of-the-proxy-0123456789";

/// Waits until it holds, looking now and then.
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// A store, a machine with a ledger, and the programs around them.
struct Fleet {
    folder: tempfile::TempDir,
    engine_port: u16,
    engine: Option<Engine>,
}

/// Kills its process on drop.
struct Running(Child);

impl Running {
    fn kill(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ended");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Fleet {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fleet = Self { folder, engine_port: free_port(), engine: None };
        fleet.start_engine();
        fleet
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start_engine(&mut self) {
        self.engine = Some(Engine::start_at(&self.path("engine"), false, self.engine_port));
    }

    fn kill_engine(&mut self) {
        self.engine.take().expect("it runs").kill();
    }

    fn store(&self) -> String {
        format!("clickhouse://127.0.0.1:{}/tracer", self.engine_port)
    }

    fn command(&self, home: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-tracer"));
        command.env_clear().env("HOME", self.folder.path()).env("AGENT_TRACER_HOME", self.path(home));
        command.env("AGENT_TRACER_PROXY_SECRET", SECRET).args(words).stdin(Stdio::null());
        command
    }

    /// Runs it to its end; gives what it printed.
    fn run(&self, home: &str, words: &[&str]) -> String {
        let output = self.command(home, words).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn token(&self, owner: &str, scope: &str) -> String {
        let store = self.store();
        self.run("server", &["token", "--store", &store, "add", owner, "--scope", scope]).trim().to_owned()
    }

    /// Starts a server and waits until it answers.
    fn serve(&self, home: &str, port: u16) -> Running {
        let (store, listen) = (self.store(), format!("127.0.0.1:{port}"));
        let words = [
            "serve",
            "--store",
            &store,
            "--listen",
            &listen,
            "--proxy-header",
            "X-Forwarded-User",
            "--proxy-from",
            "127.0.0.1",
            "--admin",
            "root",
        ];
        let mut child = self.command(home, &words).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(child.stderr.take().expect("talk"));
        let running = Running(child);
        let mut line = String::new();
        while !line.contains("serving a team") {
            line.clear();
            assert!(said.read_line(&mut line).expect("text") > 0, "the server ended");
        }
        // Its output must be read, or the pipe fills.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        running
    }

    fn ledger(&self) -> Ledger {
        let data = self.path("machine");
        std::fs::create_dir_all(&data).expect("a folder");
        Ledger::open(&data.join("ledger.db"), Options::default()).expect("a ledger")
    }

    fn ship(&self, port: u16, token: &str, once: bool) -> Command {
        let to = format!("http://127.0.0.1:{port}");
        let mut words = vec!["ship", "--to", &to];
        if once {
            words.push("--once");
        }
        let mut command = self.command("machine", &words);
        command.env("AGENT_TRACER_SHIP_TOKEN", token).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

fn ask(port: u16, path: &str, headers: &[(&str, &str)]) -> Option<(u16, Value)> {
    let address: SocketAddr = format!("127.0.0.1:{port}").parse().expect("an address");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split(' ').nth(1)?.parse().ok()?;
    let (_, body) = text.split_once("\r\n\r\n")?;
    Some((status, serde_json::from_str(body).unwrap_or_default()))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Every page of a list.
fn all(port: u16, path: &str, token: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let sign = if path.contains('?') { '&' } else { '?' };
        let page = format!("{path}{sign}limit=500{cursor}");
        let (status, body) = ask(port, &page, &[("Authorization", &bearer(token))]).expect("an answer");
        assert_eq!(status, 200, "{page}: {body}");
        items.extend(body["items"].as_array().expect("items").iter().cloned());
        match body["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

/// The ids of all rows of all tasks, each as often as it is there.
fn rows_at(port: u16, token: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for task in all(port, "/api/v1/tasks", token) {
        let path = format!("/api/v1/tasks/{}/timeline", task["id"].as_str().expect("an id"));
        rows.extend(all(port, &path, token).iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
    }
    rows.sort();
    rows
}

fn rows_in(ledger: &Ledger) -> Vec<String> {
    let store = ledger.store();
    let mut rows = Vec::new();
    let mut filter = TaskFilter::default();
    loop {
        filter.paging.limit = 500;
        let page = store.tasks(Millis(0), &filter).expect("tasks");
        for task in page.items {
            let id = TaskId::parse(&task.id).expect("an id");
            let mut of_task = RowFilter::default();
            loop {
                of_task.paging.limit = 500;
                let page = store.timeline(&id, &of_task).expect("rows");
                rows.extend(page.items.into_iter().map(|row| row.id));
                of_task.paging.cursor = page.next_cursor;
                if of_task.paging.cursor.is_none() {
                    break;
                }
            }
        }
        filter.paging.cursor = page.next_cursor;
        if filter.paging.cursor.is_none() {
            rows.sort();
            return rows;
        }
    }
}

fn until(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str::<Value>(&text).ok().and_then(|state| state["until"].as_u64()).unwrap_or(0)
}

#[test]
fn whatever_is_killed_when_nothing_is_lost_and_nothing_doubled() {
    let mut fleet = Fleet::new();
    let (ingest, read) = (fleet.token("ann", "ingest"), fleet.token("bob", "read"));
    let ports = [free_port(), free_port()];
    let mut servers: Vec<Option<Running>> =
        vec![Some(fleet.serve("one", ports[0])), Some(fleet.serve("two", ports[1]))];
    let ledger = fleet.ledger();
    let mut history = History::new(1_800, 3);
    let mut dice = Dice::new(17);
    let cursor = fleet.path("machine/ship.json");
    for round in 0..6 {
        ledger.append(Batch { observed: history.batch(300), ..Batch::default() }).expect("kept");
        let shipper = Running(fleet.ship(ports[0], &ingest, false).spawn().expect("it starts"));
        // Somewhere on the way, at another moment in every round.
        let before = until(&cursor);
        let looks = dice.within(1, 12);
        let mut looked = 0;
        wait_for("the shipper to begin", || {
            looked += 1;
            looked > looks || until(&cursor) > before
        });
        match round % 3 {
            0 => {
                shipper.kill();
            }
            1 => {
                servers[0].take().expect("it runs").kill();
                servers[0] = Some(fleet.serve("one", ports[0]));
                drop(shipper);
            }
            _ => {
                fleet.kill_engine();
                fleet.start_engine();
                drop(shipper);
            }
        }
    }
    let mut last = String::new();
    wait_for("everything to arrive", || {
        let output = fleet.ship(ports[0], &ingest, true).stderr(Stdio::piped()).output().expect("it starts");
        last = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success()
    });
    let here = rows_in(&ledger);
    assert!(here.len() > 500, "{}", here.len());
    let distinct: BTreeSet<&String> = here.iter().collect();
    assert_eq!(distinct.len(), here.len());
    for port in ports {
        assert_eq!(rows_at(port, &read), here, "{last}");
    }
}

#[test]
fn a_stream_of_one_process_tells_what_another_took() {
    let fleet = Fleet::new();
    let (ingest, read) = (fleet.token("ann", "ingest"), fleet.token("bob", "read"));
    let ports = [free_port(), free_port()];
    let _servers = [fleet.serve("one", ports[0]), fleet.serve("two", ports[1])];
    let ledger = fleet.ledger();
    ledger
        .append(Batch { observed: History::new(150, 5).batch(usize::MAX), ..Batch::default() })
        .expect("kept");
    let mut streams = Vec::new();
    for port in ports {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("patience");
        write!(
            stream,
            "GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {read}\r\n\r\n"
        )
        .expect("sent");
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while !line.contains("agent-tracer") {
            line.clear();
            assert!(stream.read_line(&mut line).expect("text") > 0, "the stream ended");
        }
        streams.push(stream);
    }
    assert!(fleet.ship(ports[0], &ingest, true).status().expect("it starts").success());
    let here: BTreeSet<String> = rows_in(&ledger).into_iter().collect();
    for mut stream in streams {
        let mut seen = BTreeSet::new();
        while seen.len() < here.len() {
            let mut line = String::new();
            assert!(stream.read_line(&mut line).expect("text") > 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                let row: Value = serde_json::from_str(data).expect("JSON");
                assert!(seen.insert(row["id"].as_str().expect("an id").to_owned()), "sent twice: {row}");
            }
        }
        assert_eq!(seen, here);
    }
}

#[test]
fn a_proxy_names_people_their_looks_are_kept_and_who_is_forgotten_is_gone() {
    let fleet = Fleet::new();
    let ingest = fleet.token("ann", "ingest");
    let port = free_port();
    let _server = fleet.serve("one", port);
    let ledger = fleet.ledger();
    ledger
        .append(Batch { observed: History::new(150, 5).batch(usize::MAX), ..Batch::default() })
        .expect("kept");
    assert!(fleet.ship(port, &ingest, true).status().expect("it starts").success());
    let named = |name| [("X-Forwarded-User", name), ("X-Agent-Tracer-Proxy-Secret", SECRET)];
    let status = |path: &str, headers: &[(&str, &str)]| ask(port, path, headers).expect("an answer").0;
    assert_eq!(status("/api/v1/tasks", &[("X-Forwarded-User", "bob")]), 401, "no proof");
    assert_eq!(
        status("/api/v1/tasks", &[("X-Forwarded-User", "bob"), ("X-Agent-Tracer-Proxy-Secret", "guess")]),
        401
    );
    let (answered, tasks) = ask(port, "/api/v1/tasks", &named("bob")).expect("an answer");
    assert_eq!(answered, 200, "{tasks}");
    let task = tasks["items"][0]["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/v1/tasks/{task}");
    for name in ["bob", "bob", "ann"] {
        assert_eq!(status(&path, &named(name)), 200, "{name}");
    }
    let store = fleet.store();
    let audit = |words: &[&str]| -> Vec<(String, String, Value)> {
        let words: Vec<&str> = [&["team", "--store", &store, "audit", "--json"], words].concat();
        let seen: Value = serde_json::from_str(&fleet.run("server", &words)).expect("JSON");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let items = seen["items"].as_array().expect("items").iter();
        items.map(|item| (text(&item["reader"]), text(&item["owner"]), item["taskId"].clone())).collect()
    };
    let of_ann = audit(&["--of", "ann"]);
    assert_eq!(of_ann.first(), Some(&("bob".to_owned(), "ann".to_owned(), Value::from(task.as_str()))));
    assert!(of_ann.iter().all(|(reader, _, _)| reader == "bob"), "one's own are one's own: {of_ann:?}");
    assert_eq!(audit(&["--of", "*", "--by", "bob"]).first().map(|row| row.2.clone()), Some(Value::Null));
    assert_eq!(audit(&["--by", "cat"]), []);

    let sums = ["team", "--store", &store, "sums"];
    wait_for("the server to close the days that are over", || {
        fleet.run("server", &sums).contains("(UTC) are added up")
    });
    let seen = fleet.run("server", &[&sums[..], &["--rebuild", "--json"]].concat());
    let seen: Value = serde_json::from_str(&seen).expect("JSON");
    assert!(seen["waiting"].as_u64() > Some(0) && seen["closedUntil"].is_string(), "{seen}");

    let forget = ["team", "--store", &store, "forget", "--person", "ann", "--json"];
    let rows = |words: &[&str]| -> u64 {
        let seen: Value = serde_json::from_str(&fleet.run("server", words)).expect("JSON");
        seen["rows"].as_object().expect("tables").values().map(|rows| rows.as_u64().expect("a number")).sum()
    };
    assert!(rows(&[&forget[..], &["--dry-run"]].concat()) > 50);
    let refused = fleet.command("server", &forget).output().expect("it starts");
    assert_eq!(refused.status.code(), Some(2), "not confirmed");
    assert!(rows(&[&forget[..], &["--yes"]].concat()) > 50);
    assert_eq!(rows(&[&forget[..], &["--dry-run"]].concat()), 0, "no row is left in any table");
    assert_eq!(
        ask(port, "/api/v1/tasks", &named("bob")).expect("an answer").1["items"],
        Value::Array(Vec::new())
    );
    let mut seed = 100;
    wait_for("the machine of the forgotten person to be refused", || {
        seed += 1;
        ledger
            .append(Batch { observed: History::new(20, seed).batch(usize::MAX), ..Batch::default() })
            .expect("kept");
        !fleet.ship(port, &ingest, true).status().expect("it starts").success()
    });
    let days = ["team", "--store", &store, "retention"];
    assert!(fleet.run("server", &days).contains("everything is kept"));
    assert!(fleet.run("server", &[&days[..], &["--days", "30"]].concat()).contains("30 days"));
    assert!(fleet.run("server", &[&days[..], &["--forever"]].concat()).contains("everything is kept"));
}
