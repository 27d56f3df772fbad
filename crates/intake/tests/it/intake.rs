//! All threads together, as a server runs them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_tracer_event::{Agent, TaskKey};
use agent_tracer_intake::liveness::Process;
use agent_tracer_intake::{History, Intake, Notes, PrivacyFile, Setup, Sink, StartError};
use agent_tracer_spool::envelope::{self, Header};
use agent_tracer_spool::{Spool, doorbell};

use crate::world::{Recorder, World, row, rows};

const FILE: &str = "claude/projects/-nowhere-shop/5a13.jsonl";

fn setup(world: &World, notes: Notes) -> Setup {
    Setup {
        home: world.home(),
        roots: world.roots(),
        privacy: Arc::new(PrivacyFile::new(world.home().privacy_conf(), [7; 16], None)),
        clock: world.clock(),
        notes,
        running: Some(Arc::new(|| {
            vec![Process { task: TaskKey::new(Agent::Codex, "s"), pid: 1, start: 1, namespace: 0 }]
        })),
    }
}

fn start(world: &World, notes: Notes) -> Result<Intake, StartError> {
    let sink: Arc<dyn Sink> = Arc::<Recorder>::clone(&world.sink);
    Intake::start(setup(world, notes), sink)
}

#[test]
fn history_live_rows_and_envelopes_all_arrive_and_a_second_start_brings_nothing() {
    let world = World::new();
    world.put(FILE, rows(0..3).as_bytes());
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes: Notes = {
        let heard = Arc::clone(&heard);
        Arc::new(move |note| heard.lock().unwrap().push(note.to_string()))
    };
    let intake = start(&world, Arc::clone(&notes)).unwrap();
    let count = |rows: usize| {
        move |batches: &[agent_tracer_ledger::Batch]| {
            batches.iter().map(|batch| batch.observed.len()).sum::<usize>() >= rows
        }
    };
    world.sink.wait_until("the history", count(3));
    world.append(FILE, row(3).as_bytes());
    world.sink.wait_until("a live row", count(4));
    let header = Header::new(envelope::Agent::ClaudeCode, envelope::Channel::Hook, 1_790_000_000_000_000_000);
    let body = br#"{"session_id":"5a13","hook_event_name":"Stop"}"#;
    Spool::at(&world.home().spool()).accept(&header, body, header.arrived_nanos, 812).unwrap();
    doorbell::ring(&world.home());
    world.sink.wait_until("an envelope", count(5));
    let busy = start(&world, Arc::clone(&notes));
    assert!(matches!(busy, Err(StartError::Spool(_))), "one at a time");
    // The counts follow the commit: they are looked at until they have caught up with what the sink was given.
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
    let said = heard.lock().unwrap().join("\n");
    assert!(said.contains("reading 1 files of history") && said.contains("history: done"), "{said}");
    assert!(!said.contains("prompt number"), "{said}");

    let asked = world.sink.asked();
    let again = start(&world, notes).unwrap();
    // Ends once the thread of the history has ended, because stopping waits for it.
    while !matches!(again.state().history, History::Done(_)) {
        std::thread::yield_now();
    }
    again.stop();
    assert_eq!(world.sink.asked(), asked);
}
