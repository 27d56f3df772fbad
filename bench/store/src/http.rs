//! Ingest over HTTP against the real server, beside what SQLite itself allows.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::clients;
use crate::floors;
use crate::machine::{self, Busy};
use crate::report::Report;
use crate::sample::Sample;
use crate::server::Server;
use agent_tracer_testkit::history::Dice;

/// Duration of the measurement of one row.
const LASTING: Duration = Duration::from_secs(4);

/// Path of the posts.
const EVENTS: &str = "/ingest/v1/events";

/// Events that are made in advance; what is posted is one of them with another id.
const PREPARED: u64 = 4_096;

/// Bytes of one posted event, about those of a hook's payload.
const EVENT_BYTES: usize = 1_900;

/// A connection that is used again and again.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    host: String,
    token: String,
}

impl Connection {
    pub(crate) fn open(server: &Server) -> Result<Self, String> {
        let fail = |error: std::io::Error| format!("cannot reach the server: {error}");
        let stream = TcpStream::connect(server.address).map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(fail)?;
        Ok(Self {
            reader: BufReader::new(stream),
            host: server.address.to_string(),
            token: server.token.clone(),
        })
    }

    /// Posts JSON; gives the status.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Result<u16, String> {
        let head = head(path, &self.host, &self.token, body.len());
        self.exchange(&[head.as_bytes(), body.as_bytes()].concat())
            .map_err(|error| format!("lost the server: {error}"))
    }

    /// Begins to follow the stream; gives the reader behind the headers.
    pub(crate) fn follow(mut self) -> Result<BufReader<TcpStream>, String> {
        let head = format!("GET /api/v1/stream HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        let fail = |error: std::io::Error| format!("lost the stream: {error}");
        self.reader.get_mut().write_all(head.as_bytes()).map_err(fail)?;
        let mut line = String::new();
        self.reader.read_line(&mut line).map_err(fail)?;
        if !line.contains(" 200 ") {
            return Err(format!("no stream: {}", line.trim()));
        }
        Ok(self.reader)
    }

    fn exchange(&mut self, request: &[u8]) -> std::io::Result<u16> {
        self.reader.get_mut().write_all(request)?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut length = 0;
        loop {
            line.clear();
            if self.reader.read_line(&mut line)? <= 2 {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body)?;
        Ok(status)
    }
}

/// Returns the head of a post.
fn head(path: &str, host: &str, token: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// An event of a call, with an id of its own.
pub(crate) fn event(dice: &mut Dice, number: u64) -> String {
    let session = number % 400;
    let path = format!("/home/dev/project-{}/src/file_{}.rs", session % 40, dice.skewed(5_000));
    let mut event = format!(
        r#"{{"id":"bench-{number}","kind":"tool.used","runtimeSource":"claude_code","runtimeSessionId":"bench-session-{session}","title":"Read file","filePaths":["{path}"],"metadata":{{"toolName":"Read","note":""#
    );
    while event.len() < EVENT_BYTES {
        event.push_str(dice.pick(&[
            "the handler reads it once ",
            "and keeps nothing of it ",
            "so nothing grows ",
        ]));
    }
    event.push_str(r#""}}"#);
    event
}

struct Rate {
    connections: usize,
    at_once: u64,
    per_second: f64,
    times: Sample,
    refused: u64,
    /// Processor time of the server for each event until all of them are folded, in microseconds.
    cpu_us: f64,
    /// Processor time of the clients for each event: they share the machine with the server.
    client_us: f64,
    /// Events in a second until all of them are folded.
    folded_per_second: f64,
}

/// Suffix of the ids of events that are made in advance.
fn prepared() -> Vec<String> {
    let mut dice = Dice::new(1);
    let tail =
        |number| event(&mut dice, number).split_once(&format!("{number}")).map(|(_, tail)| tail.to_owned());
    (0..PREPARED).filter_map(tail).collect()
}

fn post(server: &Server, connections: usize, at_once: u64, numbers: &mut u64) -> Result<Rate, String> {
    let known = counted(server)?;
    let tails = prepared();
    let streams: Result<Vec<_>, _> = (0..connections)
        .map(|_| Connection::open(server).map(|connection| connection.reader.into_inner()))
        .collect();
    let streams = streams?;
    let host = server.address.to_string();
    let (begun, before) = (Instant::now(), Busy::of(server.pid(), ""));
    let mut body = String::new();
    let next = |_, request: &mut Vec<u8>| {
        body.clear();
        body.push_str(r#"{"events":["#);
        for place in 0..at_once {
            let tail = tails.get((*numbers % PREPARED) as usize).map_or("", String::as_str);
            let comma = if place == 0 { "" } else { "," };
            body.push_str(&format!(r#"{comma}{{"id":"bench-{numbers}"#));
            body.push_str(tail);
            *numbers += 1;
        }
        body.push_str("]}");
        request.extend_from_slice(head(EVENTS, &host, &server.token, body.len()).as_bytes());
        request.extend_from_slice(body.as_bytes());
    };
    let asked = clients::ask(streams, LASTING, next).map_err(|error| format!("lost the server: {error}"))?;
    let (taken, refused) = (asked.accepted * at_once, asked.others * at_once);
    let per_second = taken as f64 / begun.elapsed().as_secs_f64();
    settle(server, known + taken)?;
    let folded_per_second = taken as f64 / begun.elapsed().as_secs_f64();
    let each = |micros: f64| micros / taken.max(1) as f64;
    Ok(Rate {
        connections,
        at_once,
        per_second,
        times: asked.times,
        refused,
        cpu_us: each(Busy::of(server.pid(), "").since(&before) * 1e3),
        client_us: each(asked.cpu.as_secs_f64() * 1e6),
        folded_per_second,
    })
}

/// A number that no earlier run began with or came to.
fn first_number() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    now * 1_000_000
}

/// Returns the number of observations that the store has counted.
fn counted(server: &Server) -> Result<u64, String> {
    let path = server.home.data().join("ledger.db");
    rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|conn| {
            conn.query_row("SELECT coalesce(sum(n), 0) FROM outcome", [], |row| row.get::<_, i64>(0))
        })
        .map(|counted| u64::try_from(counted).unwrap_or(0))
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))
}

/// Waits until so many observations are folded.
fn settle(server: &Server, expected: u64) -> Result<(), String> {
    let begun = Instant::now();
    while counted(server)? < expected {
        if begun.elapsed() > Duration::from_secs(300) {
            return Err("what was acknowledged is not folded after five minutes".to_owned());
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    Ok(())
}

/// Measures ingest beside the floors.
pub(crate) fn measure(server: &Server, folder: &Path, report: &mut Report) -> Result<(), String> {
    let payload = event(&mut Dice::new(1), 1);
    let single = floors::sqlite(folder, &payload, 1, LASTING)?.per_second;
    let grouped = floors::sqlite(folder, &payload, 256, LASTING)?.per_second;
    report.title(&format!("ingest over HTTP, events of {EVENT_BYTES} bytes (load {:.1})", machine::load()));
    report.line(&format!(
        "  floors: SQLite FULL, one event a transaction {single:.0}/s, 256 of them {grouped:.0}/s"
    ));
    report.line(&format!(
        "  {:>11} {:>8} {:>10} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>9}  refused",
        "connections",
        "at once",
        "events/s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "x single",
        "x group",
        "CPU µs",
        "clients",
        "folded/s"
    ));
    report.keep("floors", json!({ "single": single, "group256": grouped, "load": machine::load() }));
    // A kept history may hold what an earlier run posted, and what is posted again is only counted.
    let mut numbers = first_number();
    for (connections, at_once) in [(1, 1), (8, 1), (64, 1), (1, 100), (8, 100), (64, 100)] {
        let rate = post(server, connections, at_once, &mut numbers)?;
        report.line(&format!(
            "  {:>11} {:>8} {:>10.0} {:>8.2} {:>8.2} {:>8.2} {:>9.2} {:>9.2} {:>8.0} {:>8.0} {:>9.0}  {}",
            rate.connections,
            rate.at_once,
            rate.per_second,
            rate.times.p50(),
            rate.times.p99(),
            rate.times.max(),
            rate.per_second / single,
            rate.per_second / grouped,
            rate.cpu_us,
            rate.client_us,
            rate.folded_per_second,
            rate.refused
        ));
        report.keep(
            "ingest",
            json!({
                "connections": rate.connections, "atOnce": rate.at_once, "eventsPerSecond": rate.per_second,
                "times": rate.times.json(), "refused": rate.refused, "serverCpuMicrosPerEvent": rate.cpu_us, "clientCpuMicrosPerEvent": rate.client_us, "foldedPerSecond": rate.folded_per_second, "load": machine::load(),
            }),
        );
        let bar = match (connections, at_once) {
            (8, 1) => 2.0,
            (64, 1) => 4.0,
            _ => continue,
        };
        let ratio = rate.per_second / single;
        let what = format!(
            "{connections} connections, single events: {ratio:.2} x one transaction each (at least {bar})"
        );
        report.judge("I1", &what, ratio >= bar);
        let what =
            format!("{connections} connections, single events: p99 {:.1} ms (at most 10)", rate.times.p99());
        report.judge("I1", &what, rate.times.p99() <= 10.0);
    }
    Ok(())
}
