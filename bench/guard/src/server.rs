//! The real server, as a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent_tracer_spool::{Home, Spool};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::rules::MEASURED;

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server that is gone when it is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    spool: Spool,
}

pub(crate) fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("AGENT_TRACER_HOME", home)
        .env("TZ", "UTC")
        .stdin(Stdio::null());
    command
}

/// Puts the rules of a home in force without a server.
pub(crate) fn apply(program: &Path, home: &Path) -> Result<(), String> {
    let output = command(program, home).args(["policy", "apply"]).current_dir(home).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`policy apply` failed: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("cannot start `{}`: {error}", program.display())),
    }
}

impl Server {
    /// Starts the program on a home, and waits until it says where it listens.
    pub(crate) fn start(program: &Path, home: &Path) -> Result<Self, String> {
        let fail = |error: std::io::Error| format!("cannot start `{}`: {error}", program.display());
        let mut command = command(program, home);
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(fail)?;
        let stderr = child.stderr.take();
        let spool = Spool::at(&Home::in_folder(home).spool());
        let mut server = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), spool };
        let Some(stderr) = stderr else { return Err("the server has no standard error".to_owned()) };
        let (mut lines, mut said) = (BufReader::new(stderr), String::new());
        while !said.contains("stop       Ctrl-C") {
            if lines.read_line(&mut said).map_err(fail)? == 0 {
                return Err(format!("the server did not start:\n{said}"));
            }
        }
        let link = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        server.address =
            link.parse().map_err(|_| format!("the server does not say where it listens:\n{said}"))?;
        // Its log must be read, or it would wait for a full pipe.
        std::thread::spawn(move || drop(lines.read_to_end(&mut Vec::new())));
        Ok(server)
    }

    fn get(&self, path: &str) -> Result<Value, String> {
        let fail = |error: std::io::Error| format!("cannot ask the server for `{path}`: {error}");
        let mut stream = TcpStream::connect(self.address).map_err(fail)?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address)
            .map_err(fail)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(fail)?;
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
        serde_json::from_str(body).map_err(|error| format!("`{path}`: {error}"))
    }

    fn items(&self, path: &str) -> Result<Vec<Value>, String> {
        Ok(self.get(path)?.get("items").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// The session with the most calls among the newest of Claude Code; an unknown one if there is none.
    pub(crate) fn busiest(&self) -> Result<String, String> {
        let tasks = self.items("/api/v1/tasks?agent=claude_code&kind=primary&limit=500")?;
        let calls = |task: &&Value| task.get("toolCalls").and_then(Value::as_u64).unwrap_or(0);
        let busiest = tasks.iter().max_by_key(calls).and_then(|task| task.get("runtimeSessionId")?.as_str());
        Ok(busiest.unwrap_or("5a133364-48e1-40c2-b568-cfba1112cbce").to_owned())
    }

    /// Returns the number of events in the ledger.
    pub(crate) fn events(&self) -> Result<u64, String> {
        let health = self.get("/api/v1/health")?;
        let events = health.get("store").and_then(|store| store.get("events")).and_then(Value::as_u64);
        Ok(events.or_else(|| health.get("seq").and_then(Value::as_u64)).unwrap_or(0))
    }

    /// Waits until nothing is in the spool.
    pub(crate) fn caught_up(&self) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            let stats = self.spool.stats().map_err(|error| format!("cannot look at the spool: {error}"))?;
            if stats.waiting == 0 {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err("the server does not catch up".to_owned());
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "looking without a pause would take the processor that is measured"
            )]
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Returns the durations of the newest decisions about a session by the server's own account.
    pub(crate) fn decided(&self, session: &str, most: usize) -> Result<Vec<Decided>, String> {
        self.caught_up()?;
        let tasks = self.items("/api/v1/tasks?agent=claude_code&kind=primary&limit=500")?;
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let task = tasks.iter().find(|task| text(task, "runtimeSessionId").as_deref() == Some(session));
        let Some(id) = task.and_then(|task| text(task, "id")) else { return Ok(Vec::new()) };
        let path =
            format!("/api/v1/tasks/{id}/timeline?kind=rule.logged&newestFirst=true&limit={}", most.min(500));
        let rows = self.items(&path)?;
        let measured = rows.iter().filter_map(|row| row.get("metadata")).filter(|metadata| {
            metadata.get("ruleId").and_then(Value::as_str) == Some(MEASURED)
                && metadata.get("answeredBy").and_then(Value::as_str) == Some("server")
        });
        Ok(measured
            .filter_map(|metadata| {
                let micros = |key: &str| metadata.get(key)?.as_f64();
                let (all, waited) = (micros("decisionUs")?, micros("decisionWaitUs").unwrap_or(0.0));
                let looked = micros("decisionLookUs").unwrap_or(0.0);
                Some(Decided { all, waited, looked, rules: all - waited - looked })
            })
            .collect())
    }
}

/// Splits the time of a decision, in microseconds.
pub(crate) struct Decided {
    /// From the moment the question was accepted until its answer was ready.
    pub(crate) all: f64,
    /// Until the session's earlier events were in the ledger.
    pub(crate) waited: f64,
    /// To look up the past.
    pub(crate) looked: f64,
    /// The rest: to read the question, the rules, the answer.
    pub(crate) rules: f64,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // One that is gone already needs no signal.
            kill(Pid::from_raw(pid), Signal::SIGTERM).ok();
        }
        drop(self.child.wait());
    }
}
