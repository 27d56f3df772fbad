//! Rereading: better readings replace older ones, and observations that cannot be read again stay.

use std::fs;
use std::sync::Arc;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_intake::files::Files;
use agent_tracer_intake::import::{OnFailure, Plan, run};
use agent_tracer_intake::reread::{ReplacingLedger, Rereading, read_kept};
use agent_tracer_intake::spool::SpoolIntake;
use agent_tracer_intake::{Clock, PrivacyFile, Projects, Sink, Stop};
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{
    AppendError, Batch, Cursor, Ledger, MAX_LIMIT, Options, Paging, Receipt, RowFilter, TaskFilter, Verdict,
};
use agent_tracer_spool::Spool;
use agent_tracer_spool::envelope::{self, Header};

use crate::fixtures::captured;
use crate::world::{WRITTEN, World, rows};

/// A sink that drops some entries of every observation, as an older reader would.
struct Worse(Arc<Ledger>, fn(usize) -> usize);

impl Sink for Worse {
    fn append(&self, mut batch: Batch) -> Result<Receipt, AppendError> {
        for observed in &mut batch.observed {
            if let Verdict::Read(reading) = &mut observed.verdict {
                reading.entries.truncate((self.1)(reading.entries.len()));
            }
        }
        Sink::append(self.0.as_ref(), batch)
    }

    fn cursor(&self, source: &str) -> Result<Option<Cursor>, AppendError> {
        Sink::cursor(self.0.as_ref(), source)
    }

    fn cursors(&self, agent: Agent) -> Result<Vec<Cursor>, AppendError> {
        Sink::cursors(self.0.as_ref(), agent)
    }
}

fn ledger(world: &World, name: &str) -> Arc<Ledger> {
    Arc::new(Ledger::open(&world.path(name), Options::default()).unwrap())
}

fn import(world: &World, sink: Arc<dyn Sink>) -> usize {
    let privacy = PrivacyFile::new(world.home().privacy_conf(), [7; 16], None);
    let clock: Clock = Arc::new(|| Millis(WRITTEN));
    let files = Files::new(sink, Arc::new(privacy), Arc::new(Projects::new()), clock);
    files.load().unwrap();
    let plan = Plan::make(&files, &world.roots(), None);
    run(&files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap().read
}

fn reread(world: &World, ledger: &Arc<Ledger>) -> Rereading {
    let again = Arc::new(ReplacingLedger::new(Arc::clone(ledger)));
    read_kept(&again, None, &Projects::new(), &Stop::new(), &mut |_| {}).unwrap();
    let sink: Arc<dyn Sink> = Arc::<ReplacingLedger>::clone(&again);
    import(world, sink);
    again.counts()
}

/// Returns every row of every task, without the places at which they were delivered.
fn all_rows(ledger: &Ledger) -> Vec<Row> {
    let store = ledger.store();
    let mut all = Vec::new();
    let mut paging = Paging { limit: MAX_LIMIT, ..Paging::default() };
    loop {
        let tasks = store.tasks(Millis(WRITTEN), &TaskFilter { paging, ..TaskFilter::default() }).unwrap();
        for task in tasks.items {
            let id = agent_tracer_event::TaskId::parse(&task.id).unwrap();
            let mut part = Paging { limit: MAX_LIMIT, ..Paging::default() };
            loop {
                let page = store.timeline(&id, &RowFilter { paging: part, ..RowFilter::default() }).unwrap();
                all.extend(page.items.into_iter().map(|row| Row { seq: 0, ..row }));
                if page.next_cursor.is_none() {
                    break;
                }
                part = Paging { cursor: page.next_cursor, limit: MAX_LIMIT };
            }
        }
        if tasks.next_cursor.is_none() {
            break;
        }
        paging = Paging { cursor: tasks.next_cursor, limit: MAX_LIMIT };
    }
    all.sort_by(|one, two| one.id.cmp(&two.id));
    all
}

#[test]
fn every_captured_file_rereads_the_same_and_better_if_it_was_read_badly() {
    let world = World::new();
    for (name, bytes) in captured() {
        world.put(&name, &bytes);
    }
    let good = ledger(&world, "good.db");
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&good);
    import(&world, sink);
    let expected = all_rows(&good);
    assert!(expected.len() > 1000, "{}", expected.len());
    let same = reread(&world, &good);
    assert_eq!((same.changed, same.unreadable), (0, 0), "{same:?}");
    assert!(same.unchanged > 1000, "{same:?}");
    assert_eq!(all_rows(&good), expected);

    let bad = ledger(&world, "bad.db");
    import(&world, Arc::new(Worse(Arc::clone(&bad), |count| count / 2)));
    assert_ne!(all_rows(&bad), expected);
    assert!(reread(&world, &bad).changed > 100);
    assert_eq!(all_rows(&bad), expected);
}

#[test]
fn rows_of_a_vanished_file_stay_and_the_next_import_goes_on_where_it_was() {
    let world = World::new();
    let (gone, there) =
        ("claude/projects/-nowhere-shop/5a12.jsonl", "claude/projects/-nowhere-shop/5a13.jsonl");
    world.put(gone, rows(0..5).replace("5a13", "5a12").as_bytes());
    world.put(there, rows(0..5).as_bytes());
    let ledger = ledger(&world, "ledger.db");
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    import(&world, Arc::clone(&sink));
    let before = all_rows(&ledger);
    fs::remove_file(world.path(gone)).unwrap();
    let done = reread(&world, &ledger);
    assert_eq!((done.changed, done.unchanged), (0, 5));
    assert_eq!(all_rows(&ledger), before);
    assert_eq!(import(&world, sink), 0, "reading again forgets no position");
}

#[test]
fn kept_envelopes_are_read_again_of_the_agent_that_is_meant() {
    let world = World::new();
    let spool = Spool::at(&world.home().spool());
    spool.prepare().unwrap();
    for (number, agent) in [(1, Agent::CLAUDE_CODE), (2, Agent::CODEX)] {
        let header = Header::new(agent, envelope::Channel::Hook, 1_790_000_000_000_000_000 + number);
        let body = format!(
            r#"{{"session_id":"5a1{number}","hook_event_name":"UserPromptSubmit","cwd":"/nowhere/shop","prompt":"hello"}}"#
        );
        spool.accept(&header, body.as_bytes(), header.arrived_nanos, 812).unwrap();
    }
    let ledger = ledger(&world, "ledger.db");
    let worse: Arc<dyn Sink> = Arc::new(Worse(Arc::clone(&ledger), |_| 0));
    SpoolIntake::open(&spool, worse, Arc::new(Projects::new())).unwrap().step().unwrap();
    let before = all_rows(&ledger).len();
    let again = ReplacingLedger::new(Arc::clone(&ledger));
    let mut read = 0;
    read_kept(&again, Some(Agent::CODEX), &Projects::new(), &Stop::new(), &mut |count| read = count).unwrap();
    assert_eq!(read, 1);
    let codex = all_rows(&ledger).len();
    assert!(codex > before, "{before} {codex}");
    read_kept(&again, None, &Projects::new(), &Stop::new(), &mut |_| {}).unwrap();
    assert!(all_rows(&ledger).len() > codex);
    assert_eq!(again.counts().unreadable, 0);
}

#[test]
fn kept_bytes_that_are_no_envelope_are_counted_and_their_rows_stay() {
    let world = World::new();
    let ledger = ledger(&world, "ledger.db");
    world.put("claude/projects/-nowhere-shop/5a13.jsonl", rows(0..2).as_bytes());
    let sink: Arc<dyn Sink> = Arc::<Ledger>::clone(&ledger);
    import(&world, sink);
    let before = all_rows(&ledger);
    let strange = agent_tracer_ledger::Observed {
        name: "strange".to_owned(),
        source: None,
        agent: Agent::CLAUDE_CODE,
        channel: agent_tracer_event::Channel::Hook,
        arrived: Millis(WRITTEN),
        verdict: Verdict::Malformed("not JSON".to_owned()),
        payload: None,
        kept: Some(b"no envelope".to_vec()),
    };
    ledger.append(Batch { observed: vec![strange], ..Batch::default() }).unwrap();
    let again = ReplacingLedger::new(Arc::clone(&ledger));
    read_kept(&again, None, &Projects::new(), &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!(again.counts(), Rereading { unreadable: 1, ..Rereading::default() });
    assert_eq!(all_rows(&ledger), before);
}
