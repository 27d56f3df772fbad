//! A made-up agent, from the word on the hook's command line to rows of a timeline. An agent needs its row in the
//! table, its folder in `agents` and nothing else. Its payloads lie in `data/example.jsonl`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agent_tracer_agent::Agent;
use agent_tracer_event::{CallState, Kind, Millis, TaskKey};
use agent_tracer_intake::spool::SpoolIntake;
use agent_tracer_intake::{Projects, Sink};
use agent_tracer_ledger::{Ledger, Options, RowFilter};
use agent_tracer_spool::Spool;

use crate::world::World;

#[test]
fn an_agent_of_which_only_its_row_and_its_folder_know_reaches_the_timeline() {
    let world = World::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/example.jsonl");
    let hooks = fs::read_to_string(fixtures).expect("the fixture");
    for line in hooks.lines() {
        let event = if line.contains("\"prompt\"") { "prompt" } else { "tool" };
        let output = world.run(&["example", event], line.as_bytes());
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    }
    let example = Agent::parse("example").expect("a row");
    assert!(!Agent::ALL.contains(&example), "no list shows it");
    for (header, body) in world.envelopes() {
        assert_eq!(header.agent, example);
        assert!(!String::from_utf8_lossy(&body).contains("CANARY"), "the result of a call is reduced");
    }

    let ledger =
        Arc::new(Ledger::open(&world.home().join("ledger.db"), Options::default()).expect("a ledger"));
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    let spool = Spool::at(&world.home().join("spool"));
    let mut intake = SpoolIntake::open(&spool, sink, Arc::new(Projects::new())).expect("a spool");
    while !intake.step().expect("committed").is_empty {}

    let task = TaskKey::new(example, "e1").task_id();
    let store = ledger.store();
    let page = store.timeline(&task, &RowFilter::default()).expect("a timeline");
    let rows: Vec<_> = page.items.iter().map(|row| (row.kind, row.title.as_str(), row.state)).collect();
    assert_eq!(
        rows,
        [
            (Kind::UserMessage, "List the files", None),
            (Kind::TerminalCommand, "List the directory", Some(CallState::Succeeded)),
        ]
    );
    let shown = store.task(Millis(0), &task).expect("a task");
    assert_eq!((shown.agent, shown.runtime_session_id.as_str()), (example, "e1"));
}
