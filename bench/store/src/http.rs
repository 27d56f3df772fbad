//! Ingest over HTTP against the real server, beside what SQLite itself allows.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::floors;
use crate::machine::{self, Busy};
use crate::report::Report;
use crate::sample::Sample;
use crate::server::Server;
use agent_tracer_testkit::history::Dice;

/// How long each row of the table is measured.
const LASTING: Duration = Duration::from_secs(4);

/// What one posted event weighs, about as much as a hook's payload.
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
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.host,
            self.token,
            body.len()
        );
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
    /// Events in a second until all of them are folded.
    folded_per_second: f64,
}

fn post(server: &Server, connections: usize, at_once: u64, numbers: &Arc<AtomicU64>) -> Result<Rate, String> {
    let known = counted(server)?;
    let (begun, before) = (Instant::now(), Busy::of(server.pid(), ""));
    let workers: Vec<_> = (0..connections)
        .map(|worker| {
            let connection = Connection::open(server);
            let numbers = Arc::clone(numbers);
            std::thread::spawn(move || -> Result<(Sample, u64, u64), String> {
                let mut connection = connection?;
                let mut dice = Dice::new(worker as u64 + 1);
                let (mut times, mut taken, mut refused) = (Sample::default(), 0, 0);
                while begun.elapsed() < LASTING {
                    let first = numbers.fetch_add(at_once, Ordering::Relaxed);
                    let events: Vec<String> =
                        (first..first + at_once).map(|number| event(&mut dice, number)).collect();
                    let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
                    let start = Instant::now();
                    if connection.post("/ingest/v1/events", &body)? == 202 {
                        times.push(start.elapsed());
                        taken += at_once;
                    } else {
                        refused += at_once;
                    }
                }
                Ok((times, taken, refused))
            })
        })
        .collect();
    let (mut times, mut taken, mut refused) = (Sample::default(), 0, 0);
    for worker in workers {
        let (more, some, others) = worker.join().map_err(|_| "a client died".to_owned())??;
        times.join(more);
        taken += some;
        refused += others;
    }
    let per_second = taken as f64 / begun.elapsed().as_secs_f64();
    settle(server, known + taken)?;
    let folded_per_second = taken as f64 / begun.elapsed().as_secs_f64();
    let cpu_us = Busy::of(server.pid(), "").since(&before) * 1e3 / taken.max(1) as f64;
    Ok(Rate { connections, at_once, per_second, times, refused, cpu_us, folded_per_second })
}

/// How many observations the store has counted.
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
        "  {:>11} {:>8} {:>10} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>9}  refused",
        "connections",
        "at once",
        "events/s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "x single",
        "x group",
        "CPU µs",
        "folded/s"
    ));
    report.keep("floors", json!({ "single": single, "group256": grouped, "load": machine::load() }));
    let numbers = Arc::new(AtomicU64::new(0));
    for (connections, at_once) in [(1, 1), (8, 1), (64, 1), (1, 100), (8, 100), (64, 100)] {
        let rate = post(server, connections, at_once, &numbers)?;
        report.line(&format!(
            "  {:>11} {:>8} {:>10.0} {:>8.2} {:>8.2} {:>8.2} {:>9.2} {:>9.2} {:>8.0} {:>9.0}  {}",
            rate.connections,
            rate.at_once,
            rate.per_second,
            rate.times.p50(),
            rate.times.p99(),
            rate.times.max(),
            rate.per_second / single,
            rate.per_second / grouped,
            rate.cpu_us,
            rate.folded_per_second,
            rate.refused
        ));
        report.keep(
            "ingest",
            json!({
                "connections": rate.connections, "atOnce": rate.at_once, "eventsPerSecond": rate.per_second,
                "times": rate.times.json(), "refused": rate.refused, "serverCpuMicrosPerEvent": rate.cpu_us, "foldedPerSecond": rate.folded_per_second, "load": machine::load(),
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
