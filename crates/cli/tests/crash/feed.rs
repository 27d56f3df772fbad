//! Plays the writers: hooks, programs that post, and agents that write their own files.
//!
//! Each says what was accepted and what it does not know of. Only the first must be there; both at most once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use agent_tracer_ledger::RetainedPayload;
use agent_tracer_privacy::{self as privacy, Config};
use agent_tracer_spool::envelope::{self, Agent, Channel, Header};
use serde_json::{Value, json};

use crate::dice::{Dice, pass};
use crate::fixtures;
use crate::http::Door;
use crate::ledger_dump::POSTED;
use crate::world::{Tracer, World, hook};

/// The member by which a payload is known again. Real ones have none.
const MARK: &str = "crash_mark";

/// One payload of a hook.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) mark: String,
    pub(crate) agent: Agent,
    payload: Value,
}

impl Call {
    pub(crate) fn new(mark: String, agent: Agent, mut payload: Value) -> Call {
        payload[MARK] = Value::from(mark.as_str());
        Call { mark, agent, payload }
    }

    /// The mark in the bytes of an envelope.
    pub(crate) fn mark_of(body: &[u8]) -> String {
        let body: Value = serde_json::from_slice(body).expect("a whole payload");
        body[MARK].as_str().expect("a mark").to_owned()
    }
}

/// Counts the results that a writer saw.
#[derive(Default)]
pub(crate) struct WriterReport {
    /// It was accepted.
    pub(crate) accepted: Vec<String>,
    /// Writes without a result, because a process died.
    pub(crate) unknown: Vec<String>,
}

impl WriterReport {
    pub(crate) fn add(&mut self, other: WriterReport) {
        self.accepted.extend(other.accepted);
        self.unknown.extend(other.unknown);
    }
}

/// Runs the real hook for each of these, one after the other as an agent does, and kills one in so many.
pub(crate) fn run_hooks(
    tracer: &Tracer,
    calls: &[Call],
    killed: u64,
    dice: &mut Dice,
    tick: &Sender<()>,
) -> WriterReport {
    let mut report = WriterReport::default();
    for call in calls {
        let word = call.agent.spec().word;
        let mut command = tracer.program(hook());
        command.arg(word).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the hook starts");
        let mut stdin = child.stdin.take().expect("standard input");
        if killed > 0 && dice.one_in(killed) {
            let moment = dice.micros(hook_micros());
            let text = call.payload.to_string();
            let (first, second) = text.as_bytes().split_at(text.len() / 2);
            drop(stdin.write_all(first));
            drop(stdin.write_all(second));
            drop(stdin);
            pass(moment);
            child.kill().expect("killed");
        } else {
            stdin.write_all(call.payload.to_string().as_bytes()).expect("the hook reads");
            drop(stdin);
        }
        let output = child.wait_with_output().expect("the hook ends");
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "the hook says nothing");
        match output.status.code() {
            Some(0) => report.accepted.push(call.mark.clone()),
            None => report.unknown.push(call.mark.clone()),
            code => panic!("the hook ended with {code:?}"),
        }
        tick.send(()).ok();
    }
    report
}

/// Half of a hook's life here, in microseconds, most of which is its start: those that are killed die within this time.
fn hook_micros() -> u64 {
    static MICROS: OnceLock<u64> = OnceLock::new();
    *MICROS.get_or_init(|| {
        let world = World::new();
        let tracer = world.tracer("measured");
        tracer.spool().prepare().expect("a spool");
        let call =
            Call::new("measured".to_owned(), Agent::CLAUDE_CODE, fixtures::payload("PostToolUse.bash"));
        let calls = vec![call; 5];
        let begun = Instant::now();
        run_hooks(&tracer, &calls, 0, &mut Dice::new(0), &channel().0);
        let each = begun.elapsed() / 5;
        (u64::try_from(each.as_micros()).expect("short") / 2).max(1_000)
    })
}

/// Writes envelopes as the hook does, without its process: many in a short time.
pub(crate) fn spool(tracer: &Tracer, calls: &[Call], tick: &Sender<()>) -> WriterReport {
    let mut report = WriterReport::default();
    for call in calls {
        spool_at(tracer, call, now_nanos());
        report.accepted.push(call.mark.clone());
        tick.send(()).ok();
    }
    report
}

/// Writes one envelope that arrived at this time.
pub(crate) fn spool_at(tracer: &Tracer, call: &Call, arrived: u64) {
    let source = privacy::Source::Hook(call.agent);
    let mut body = Vec::new();
    let payload = call.payload.to_string();
    let reduction =
        privacy::reduce(payload.as_bytes(), source, &Config::default(), &mut || [7; 16], &mut body);
    assert_eq!(reduction.fault, None);
    let header = Header::new(call.agent, Channel::Hook, arrived);
    tracer.spool().accept(&header, &body, arrived, std::process::id()).expect("accepted");
    agent_tracer_spool::doorbell::ring(&tracer.home());
}

#[expect(
    clippy::disallowed_methods,
    reason = "an envelope is stamped when it is written, as the hook does it"
)]
pub(crate) fn now_nanos() -> u64 {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    u64::try_from(elapsed.as_nanos()).expect("before 2554")
}

/// A request that changes something, as its sender keeps it until it is answered.
#[derive(Clone)]
pub(crate) struct Request {
    path: &'static str,
    body: Value,
    /// Number of observations it holds.
    pub(crate) holds: usize,
}

impl Request {
    /// Some events in our own words. The same round gives the same ones.
    pub(crate) fn events(round: usize, part: usize) -> Request {
        let event = |number: usize| {
            let id = format!("event-{round}-{part}-{number}");
            let second = (part * 8 + number) % 60;
            let mut event = json!({
                "id": id,
                "runtimeSource": "claude_code",
                "runtimeSessionId": format!("events-{round}"),
                "occurredAt": format!("2026-11-15T21:{:02}:{second:02}.000Z", round % 60),
            });
            let about = match number % 3 {
                0 => json!({"kind": "token.usage", "metadata": {"responseId": id, "model": "claude-opus-4-1",
                    "inputTokens": 100 + number, "outputTokens": 20, "cacheReadTokens": 3000}}),
                1 => {
                    json!({"kind": "terminal.command", "metadata": {"command": "cargo test", "toolUseId": id,
                    "exitCode": number % 2, "durationMs": 40 + part}})
                }
                _ => json!({"kind": "tool.used", "filePaths": ["/nowhere/shop/a.rs"],
                    "metadata": {"toolName": "Read", "toolUseId": id, "durationMs": 3}}),
            };
            let members = event.as_object_mut().expect("an object");
            members.extend(about.as_object().expect("an object").clone());
            event
        };
        let events: Vec<Value> = (0..EVENTS).map(event).collect();
        Request { path: "/ingest/v1/events", body: json!({ "events": events }), holds: EVENTS }
    }

    /// A hook that an agent posts itself.
    pub(crate) fn hook(round: usize, part: usize) -> Request {
        let mut body = fixtures::payload("PostToolUse.mcp_demo_add");
        body["session_id"] = Value::from(format!("{POSTED}{round}"));
        body["tool_use_id"] = Value::from(format!("toolu_{round}_{part}"));
        Request { path: "/hooks/claude", body, holds: 1 }
    }

    pub(crate) fn try_send(&self, door: &Door) -> io::Result<(u16, String)> {
        door.post(self.path, &self.body)
    }

    /// Sends it; whether it was accepted.
    pub(crate) fn send(&self, door: &Door) -> bool {
        match self.try_send(door) {
            Ok((200 | 202, _)) => true,
            Ok((status, answer)) => panic!("{} answered {status}: {answer}", self.path),
            Err(_) => false,
        }
    }
}

/// Events of one request.
const EVENTS: usize = 6;

/// Sends what waits until the server is gone. What was not answered stays, to be sent again.
pub(crate) fn post(door: &Door, waiting: &mut VecDeque<Request>, tick: &Sender<()>) -> Vec<Request> {
    let mut answered = Vec::new();
    while let Some(request) = waiting.front() {
        if !request.send(door) {
            break;
        }
        answered.extend(waiting.pop_front());
        tick.send(()).ok();
    }
    answered
}

/// A file that an agent writes to, now and then half a line.
pub(crate) struct Growing {
    path: PathBuf,
    bytes: Vec<u8>,
    written: usize,
}

impl Growing {
    pub(crate) fn new(path: PathBuf, bytes: Vec<u8>) -> Growing {
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        Growing { path, bytes, written: 0 }
    }

    /// Writes up to a part of what is left, in some pieces.
    pub(crate) fn grow(&mut self, parts_left: usize, dice: &mut Dice, tick: &Sender<()>) {
        let left = self.bytes.len() - self.written;
        let end = if parts_left <= 1 { self.bytes.len() } else { self.written + left / parts_left };
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path).expect("the transcript");
        while self.written < end {
            let piece = usize::try_from(dice.below(4_000)).expect("small") + 1;
            let until = (self.written + piece).min(end);
            file.write_all(&self.bytes[self.written..until]).expect("written");
            self.written = until;
            tick.send(()).ok();
        }
    }
}

/// Checks that every accepted payload is there, none twice, and no other.
#[track_caller]
pub(crate) fn once(envelopes: &[RetainedPayload], report: &WriterReport) {
    let mut marks: BTreeMap<String, u32> = BTreeMap::new();
    for kept in envelopes {
        let parsed = envelope::parse(&kept.bytes).expect("a whole envelope");
        *marks.entry(Call::mark_of(parsed.body)).or_default() += 1;
    }
    let twice: Vec<&String> = marks.iter().filter(|(_, count)| **count > 1).map(|(mark, _)| mark).collect();
    assert!(twice.is_empty(), "counted twice: {twice:?}");
    let missing: Vec<&String> = report.accepted.iter().filter(|mark| !marks.contains_key(*mark)).collect();
    assert!(missing.is_empty(), "accepted and lost: {missing:?}");
    let brought: BTreeSet<&String> = report.accepted.iter().chain(&report.unknown).collect();
    let strange: Vec<&String> = marks.keys().filter(|mark| !brought.contains(mark)).collect();
    assert!(strange.is_empty(), "never brought: {strange:?}");
}
