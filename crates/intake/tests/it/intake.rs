//! All threads together, as a server runs them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_tracer_event::{Agent, TaskKey};
use agent_tracer_intake::tail::NamedFiles;
use agent_tracer_intake::{History, Intake, PrivacyFile, Setup, Sink, StartError};
use agent_tracer_ledger::RunningProcess;
use agent_tracer_spool::envelope::{self, Header};
use agent_tracer_spool::{Spool, doorbell};

use crate::world::{Log, Recorder, World, row, rows};

const FILE: &str = "claude/projects/-nowhere-shop/5a13.jsonl";

fn setup(world: &World) -> Setup {
    Setup {
        home: world.home(),
        roots: world.roots(),
        privacy: Arc::new(PrivacyFile::new(world.home().privacy_conf(), [7; 16], None)),
        clock: world.clock(),
        named: NamedFiles::outside(&world.roots()),
        running: Some(Arc::new(|| {
            vec![RunningProcess { task: TaskKey::new(Agent::CODEX, "s"), pid: 1, start: 1, namespace: 0 }]
        })),
    }
}

fn start(world: &World) -> Result<Intake, StartError> {
    let sink: Arc<dyn Sink> = Arc::<Recorder>::clone(&world.sink);
    Intake::start(setup(world), sink)
}

#[test]
fn history_live_rows_and_envelopes_all_arrive_and_a_second_start_brings_nothing() {
    let world = World::new();
    world.put(FILE, rows(0..3).as_bytes());
    let log = Log::of_process();
    let intake = start(&world).unwrap();
    let count = |rows: usize| {
        move |batches: &[agent_tracer_ledger::Batch]| {
            batches.iter().map(|batch| batch.observed.len()).sum::<usize>() >= rows
        }
    };
    world.sink.wait_until("the history", count(3));
    world.append(FILE, row(3).as_bytes());
    world.sink.wait_until("a live row", count(4));
    let header = Header::new(Agent::CLAUDE_CODE, envelope::Channel::Hook, 1_790_000_000_000_000_000);
    let body = br#"{"session_id":"5a13","hook_event_name":"Stop"}"#;
    Spool::at(&world.home().spool()).accept(&header, body, header.arrived_nanos, 812).unwrap();
    doorbell::ring(&world.home());
    world.sink.wait_until("an envelope", count(5));
    let busy = start(&world);
    assert!(matches!(busy, Err(StartError::Spool(_))), "one at a time");
    // The counts follow the commit, so they are polled until they have caught up with the sink.
    let begun = Instant::now();
    let state = loop {
        let state = intake.state();
        let in_vain = begun.elapsed() > Duration::from_secs(60);
        if (state.envelopes >= 1 && state.files.rows >= 4) || in_vain {
            break state;
        }
        std::thread::yield_now();
    };
    assert_eq!((state.envelopes, state.refused, state.failures), (1, 0, 0));
    assert_eq!(state.files.rows, 4);
    intake.stop();
    let said = log.text();
    assert!(said.contains("reading 1 files of history") && said.contains("history: done"), "{said}");
    assert!(!said.contains("prompt number"), "{said}");
    let ends = |line: &serde_json::Value| line["files"] == 1 && line["rows"] == 3;
    assert!(log.lines("history: done").iter().any(ends), "its numbers are fields: {said}");

    let attempts = world.sink.attempts();
    let again = start(&world).unwrap();
    // Stopping waits for the thread of the history.
    while !matches!(again.state().history, History::Done(_)) {
        std::thread::yield_now();
    }
    again.stop();
    assert_eq!(world.sink.attempts(), attempts);
}

/// Accepts a hook event that names a transcript.
fn say(world: &World, body: &str) {
    let header = Header::new(Agent::CLAUDE_CODE, envelope::Channel::Hook, 1_790_000_000_000_000_000);
    Spool::at(&world.home().spool()).accept(&header, body.as_bytes(), header.arrived_nanos, 812).unwrap();
    doorbell::ring(&world.home());
}

fn rows_of(path: std::path::PathBuf, least: usize) -> impl Fn(&[agent_tracer_ledger::Batch]) -> bool {
    move |batches| {
        let observed = batches.iter().flat_map(|batch| &batch.observed);
        observed.filter(|observed| observed.source.as_deref() == path.to_str()).count() >= least
    }
}

#[test]
fn a_transcript_that_a_hook_names_is_read_wherever_it_is() {
    let world = World::new();
    let file = "second-account/projects/-shop/5a13.jsonl";
    let agent = "second-account/projects/-shop/5a13/subagents/agent-a1.jsonl";
    let other = "second-account/projects/-shop/77aa.jsonl";
    world.put(file, rows(0..2).as_bytes());
    world.put(other, rows(0..9).as_bytes());
    let intake = start(&world).unwrap();
    let path = world.path(file).display().to_string();
    say(&world, &format!(r#"{{"session_id":"5a13","transcript_path":"{path}","hook_event_name":"Stop"}}"#));
    world.sink.wait_until("the rows that are there", rows_of(world.path(file), 2));
    world.append(file, row(2).as_bytes());
    world.sink.wait_until("a row that comes later", rows_of(world.path(file), 3));
    world.put(agent, rows(4..6).as_bytes());
    world.sink.wait_until("the rows of a subagent", rows_of(world.path(agent), 2));
    // A file without folders around it, as some older clients write it. Only its hook names it.
    let flat = "elsewhere/agent-b2.jsonl";
    world.put(flat, rows(0..1).as_bytes());
    let path = world.path(flat).display().to_string();
    say(
        &world,
        &format!(
            r#"{{"session_id":"5a13","agent_id":"b2","agent_type":"Explore","agent_transcript_path":"{path}","hook_event_name":"SubagentStop"}}"#
        ),
    );
    world.sink.wait_until("the file of one subagent", rows_of(world.path(flat), 1));
    intake.stop();
    let all = world.sink.batches();
    assert!(!rows_of(world.path(other), 1)(&all), "what no hook named is not read");

    // The next server reads rows that were written while none ran, although no hook names the file again.
    world.append(file, row(3).as_bytes());
    let intake = start(&world).unwrap();
    world.sink.wait_until("the row written meanwhile", rows_of(world.path(file), 4));
    intake.stop();
}
