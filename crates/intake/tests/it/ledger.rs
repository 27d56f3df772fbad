//! The intake with the real ledger: its positions hold, and nothing is counted twice.

use std::fs;
use std::sync::Arc;

use agent_tracer_event::{Agent, Millis, Outcome};
use agent_tracer_intake::files::Files;
use agent_tracer_intake::import::{OnFailure, Plan, run};
use agent_tracer_intake::spool::SpoolIntake;
use agent_tracer_intake::{Clock, PrivacyFile, Projects, Sink, Stop};
use agent_tracer_ledger::{AppendError, Batch, Cursor, Ledger, Options, Receipt};
use agent_tracer_spool::Spool;
use agent_tracer_spool::envelope::{self, Header};
use std::sync::Mutex;

use crate::fixtures::captured;
use crate::world::{WRITTEN, World, rows};

/// Remembers the outcome of every observation.
struct Watched {
    ledger: Ledger,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Watched {
    fn open(world: &World) -> Arc<Self> {
        let ledger = Ledger::open(&world.path("ledger.db"), Options::default()).unwrap();
        Arc::new(Self { ledger, outcomes: Mutex::default() })
    }

    fn take(&self) -> Vec<Outcome> {
        std::mem::take(&mut *self.outcomes.lock().unwrap())
    }
}

impl Sink for Watched {
    fn append(&self, batch: Batch) -> Result<Receipt, AppendError> {
        let receipt = Sink::append(&self.ledger, batch)?;
        self.outcomes.lock().unwrap().extend(&receipt.outcomes);
        Ok(receipt)
    }

    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError> {
        Sink::cursor(&self.ledger, source)
    }

    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError> {
        Sink::cursors(&self.ledger, agent)
    }
}

fn files(world: &World, sink: &Arc<Watched>) -> Files {
    let privacy = PrivacyFile::new(world.home().privacy_conf(), [7; 16], None);
    let clock: Clock = Arc::new(|| Millis(WRITTEN));
    let sink: Arc<dyn Sink> = Arc::<Watched>::clone(sink);
    let files = Files::new(sink, Arc::new(privacy), Arc::new(Projects::new()), clock);
    files.load().unwrap();
    files
}

fn import(world: &World, sink: &Arc<Watched>) -> usize {
    let files = files(world, sink);
    let plan = Plan::make(&files, &world.roots(), None);
    run(&files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    plan.files.len()
}

#[test]
fn every_fixture_goes_into_the_ledger_and_a_second_import_after_a_restart_reads_nothing() {
    let world = World::new();
    let captured = captured();
    for (name, bytes) in &captured {
        world.put(name, bytes);
    }
    let sink = Watched::open(&world);
    assert_eq!(import(&world, &sink), captured.len());
    let outcomes = sink.take();
    assert!(outcomes.len() > 1000, "{}", outcomes.len());
    assert!(!outcomes.contains(&Outcome::Malformed));
    sink.ledger.close();
    drop(sink);
    let sink = Watched::open(&world);
    assert_eq!(import(&world, &sink), 0);
    assert_eq!(sink.take(), []);
}

#[test]
fn a_file_that_is_read_again_from_its_beginning_is_all_duplicates_but_for_what_is_new() {
    let world = World::new();
    let file = "claude/projects/-nowhere-shop/5a13.jsonl";
    world.put(file, rows(0..5).as_bytes());
    let sink = Watched::open(&world);
    import(&world, &sink);
    assert_eq!(sink.take(), [Outcome::Recorded; 5]);
    // Another file in its place, with one row more.
    world.put("claude/next", rows(0..6).as_bytes());
    fs::rename(world.path("claude/next"), world.path(file)).unwrap();
    import(&world, &sink);
    let outcomes = sink.take();
    assert_eq!(outcomes[..5], [Outcome::Duplicate; 5]);
    assert_eq!(outcomes[5..], [Outcome::Recorded]);
}

#[test]
fn an_envelope_that_comes_again_after_a_crash_is_a_duplicate() {
    let world = World::new();
    let spool = Spool::at(&world.home().spool());
    spool.prepare().unwrap();
    let header = Header::new(Agent::CLAUDE_CODE, envelope::Channel::Hook, 1_790_000_000_000_000_000);
    let body = br#"{"session_id":"5a13","hook_event_name":"SessionStart","source":"startup"}"#;
    let accepted = spool.accept(&header, body, header.arrived_nanos, 812).unwrap();
    let file = spool.root().join("new").join(accepted.name.as_str());
    fs::hard_link(&file, world.path("as it was")).unwrap();
    let sink = Watched::open(&world);
    let drain = || {
        let shared: Arc<dyn Sink> = Arc::<Watched>::clone(&sink);
        let mut intake = SpoolIntake::open(&spool, shared, Arc::new(Projects::new())).unwrap();
        intake.step().unwrap();
        sink.take()
    };
    assert_eq!(drain(), [Outcome::Recorded]);
    fs::rename(world.path("as it was"), &file).unwrap();
    assert_eq!(drain(), [Outcome::Duplicate]);
}
