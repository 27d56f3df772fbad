//! Deleting on purpose: no sum, no row and no byte of any file is left.

use std::path::Path;

use agent_tracer_event::{
    Agent, Channel, Entry, Evidence, Kind, Millis, Phase, Reading, Subject, TaskId, TaskKey,
};
use agent_tracer_ledger::{Batch, Cursor, Observed, Retention, Verdict};
use agent_tracer_testkit::{scenario, scenarios};
use rusqlite::types::ValueRef;
use serde_json::json;

use crate::world::World;

const FOREVER: Millis = Millis(4_000_000_000_000);
const OLD: Retention = Retention { events_before: Some(FOREVER), kept_before: Some(FOREVER) };

fn task_ids(world: &World) -> Vec<TaskId> {
    world.ledger.every_task().unwrap()
}

/// Returns an event of a session that says this everywhere that an event can say something.
fn said(session: &str, number: usize, mark: &str) -> Observed {
    let task = TaskKey::new(Agent::CLAUDE_CODE, session);
    let at = Millis(1_794_777_004_000 + i64::try_from(number).unwrap());
    let evidence = Evidence::measured("test");
    let mut about = Entry::new(Subject::Task, Phase::Update, task.clone(), "task", at, evidence.clone());
    about.metadata = json!({"cwd": format!("/home/dev/{mark}"), "title": mark}).as_object().unwrap().clone();
    let kind = Subject::Event(Kind::ToolUsed);
    let mut call = Entry::new(kind, Phase::Close, task, format!("tool:{number}"), at, evidence);
    call.title = Some(format!("Read {mark}"));
    call.body = Some(format!("{mark} ").repeat(40));
    call.tool_name = Some("Read".to_owned());
    call.file_paths = vec![format!("/home/dev/{mark}/{number}.rs")];
    call.metadata = json!({"subtypeKey": "read_file", "durationMs": 7}).as_object().unwrap().clone();
    Observed {
        name: format!("{session}-{number}"),
        source: None,
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        arrived: at,
        verdict: Verdict::Read(Reading { entries: vec![about, call], ..Reading::default() }),
        payload: None,
        kept: Some(format!("kept {mark}").repeat(30).into_bytes()),
    }
}

/// Brings sessions in turns, an event at a time, so that pages are split and rows rewritten again and again.
fn bring(world: &World, sessions: &[(&str, &str)], rounds: usize) {
    for number in 0..rounds {
        for (session, mark) in sessions {
            world.bring(&[said(session, number, mark)], 1);
        }
    }
    world.ledger.finish_search().unwrap();
}

fn id(session: &str) -> TaskId {
    TaskKey::new(Agent::CLAUDE_CODE, session).task_id()
}

/// Returns where something stands: files whose bytes hold it, and columns of the store that do when they are unpacked.
fn places_of(world: &World, mark: &str) -> Vec<String> {
    let path = world.path();
    let mut places = Vec::new();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() && holds(&std::fs::read(&file).unwrap(), mark) {
            places.push(file.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    places.extend(columns_with(&path, mark));
    places
}

fn holds(bytes: &[u8], mark: &str) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark.as_bytes())
}

fn columns_with(path: &Path, mark: &str) -> Vec<String> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let mut find = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for table in tables.iter().filter(|table| *table != "search") {
        let mut rows = conn.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let count = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..count {
                let is_there = match row.get_ref(column).unwrap() {
                    ValueRef::Text(text) => holds(text, mark),
                    ValueRef::Blob(blob) => agent_tracer_ledger::unpack(blob).contains(mark),
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => false,
                };
                if is_there {
                    found.push(format!("{table}.{column}"));
                }
            }
        }
    }
    found
}

#[test]
fn what_is_left_by_a_purge_is_what_a_rebuild_gives() {
    let all: Vec<Observed> =
        scenarios().iter().step_by(5).flat_map(|scenario| scenario.observed(None)).collect();
    let world = World::with(&all, usize::MAX);
    for id in task_ids(&world) {
        if world.ledger.purge(vec![id.clone()], FOREVER).unwrap().tasks == 0 {
            // It went with the task that had started it.
            continue;
        }
        let left = world.rows();
        world.ledger.rebuild().unwrap();
        let rebuilt = world.rows();
        let lost: Vec<&String> = left.iter().filter(|row| !rebuilt.contains(row)).collect();
        let new: Vec<&String> = rebuilt.iter().filter(|row| !left.contains(row)).collect();
        assert!(lost.is_empty() && new.is_empty(), "{id}\n{lost:#?}\n{new:#?}");
    }
    assert_eq!(world.rows(), Vec::<String>::new());
}

#[test]
fn a_subagent_that_is_deleted_leaves_the_rows_and_sums_of_its_parent() {
    for name in ["2.1.325/agent_nested", "2.1.325/agent_bg"] {
        let world = World::with(&scenario(name).observed(None), usize::MAX);
        let subagents: Vec<TaskId> = {
            let conn = world.connection();
            let mut find = conn.prepare("SELECT uid FROM task WHERE parent IS NOT NULL").unwrap();
            let ids = find.query_map([], |row| row.get::<_, String>(0)).unwrap();
            ids.map(|id| TaskId::parse(&id.unwrap()).unwrap()).collect()
        };
        assert!(!subagents.is_empty(), "{name}");
        let has_summary = |row: &&String| row.starts_with("fact") && row.contains("\"agents\":");
        let reported = world.rows().iter().filter(has_summary).count();
        world.ledger.purge(subagents, FOREVER).unwrap();
        let left = world.rows();
        assert!(left.iter().filter(has_summary).count() <= reported);
        world.ledger.rebuild().unwrap();
        assert_eq!(world.rows(), left, "{name}");
    }
}

#[test]
fn no_byte_of_a_deleted_task_is_left_in_any_file_and_the_others_stay() {
    let world = World::new();
    let sessions =
        [("gone-1111", "bcdfghjklmnp"), ("stays-111", "stayshereall"), ("gone-2222", "qrstvwxzbcdf")];
    bring(&world, &sessions, 60);
    let world = world.reopen();
    for (_, mark) in sessions {
        assert!(!places_of(&world, mark).is_empty());
    }
    world.ledger.purge(vec![id("gone-1111")], FOREVER).unwrap();
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    assert!(!places_of(&world, "qrstvwxzbcdf").is_empty() && !places_of(&world, "stayshereall").is_empty());
    // Reported again, it is refused, and nothing of it is kept.
    world.bring(&[said("gone-1111", 3, "bcdfghjklmnp")], 1);
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    world.ledger.purge_all_with(FOREVER, |_| {}).unwrap();
    for (_, mark) in sessions {
        assert_eq!(places_of(&world, mark), Vec::<String>::new());
    }
    assert!(!world.ledger.is_purge_pending().unwrap());
}

#[test]
fn totals_that_outlived_their_events_go_with_their_task() {
    let sealed = |sessions: &[(&str, &str)]| {
        let world = World::new();
        bring(&world, sessions, 5);
        world.ledger.retain(OLD).unwrap();
        // It went on, and was dropped once more.
        for (session, mark) in sessions {
            world.bring(&[said(session, 77, mark)], 1);
        }
        world.ledger.retain(OLD).unwrap();
        world
    };
    let (gone, stays) = (("gone-1111", "bcdfghjklmnp"), ("stays-111", "stayshereall"));
    let expected = sealed(&[stays]).rows();
    let world = sealed(&[stays, gone]);
    assert_ne!(world.rows(), expected);
    assert_eq!(world.ledger.inseparable(vec![id("gone-1111")]).unwrap(), 0);
    world.ledger.purge(vec![id("gone-1111")], FOREVER).unwrap();
    assert_eq!(world.rows(), expected);
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    world.ledger.rebuild().unwrap();
    assert_eq!(world.rows(), expected, "nor are they in what is counted anew");
}

#[test]
fn purging_all_leaves_no_total_of_dropped_events() {
    let world = World::new();
    bring(&world, &[("gone-1111", "bcdfghjklmnp"), ("gone-2222", "qrstvwxzbcdf")], 5);
    world.ledger.retain(OLD).unwrap();
    // As if an earlier version had dropped them: what each of them added is not known.
    world.connection().execute("DELETE FROM sealed_share", []).unwrap();
    let both = vec![id("gone-1111"), id("gone-2222")];
    assert_eq!(world.ledger.inseparable(both).unwrap(), 2);
    let done = world.ledger.purge_all_with(FOREVER, |_| {}).unwrap();
    assert_eq!(done.tasks, 2);
    assert_eq!(world.rows(), Vec::<String>::new());
    let health = world.ledger.store().health().unwrap();
    assert_eq!((health.events, health.entries, health.tasks), (0, 0, 0));
    for mark in ["bcdfghjklmnp", "qrstvwxzbcdf"] {
        assert_eq!(places_of(&world, mark), Vec::<String>::new());
    }
    world.ledger.rebuild().unwrap();
    assert_eq!(world.rows(), Vec::<String>::new());
    // What comes later is counted from nothing.
    let mut later = said("later-111", 1, "laterhere");
    later.arrived = FOREVER;
    world.bring(&[later], 1);
    assert_eq!(world.ledger.store().health().unwrap().events, 1);
}

#[test]
fn a_purge_that_could_not_be_finished_is_finished_when_it_is_asked_for_again() {
    let world = World::new();
    bring(&world, &[("gone-1111", "bcdfghjklmnp"), ("stays-111", "stayshereall")], 20);
    let in_the_way = world.path().with_file_name("ledger.db.anew");
    std::fs::create_dir(&in_the_way).unwrap();
    world.ledger.purge(vec![id("gone-1111")], FOREVER).unwrap_err();
    assert!(world.ledger.is_purge_pending().unwrap());
    std::fs::remove_dir(&in_the_way).unwrap();
    let world = world.reopen();
    assert_eq!(world.ledger.purge(Vec::new(), FOREVER).unwrap().tasks, 0);
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    assert!(!world.ledger.is_purge_pending().unwrap() && !in_the_way.exists());
}

#[test]
fn what_a_reader_remembers_of_what_was_deleted_is_not_kept_when_it_reads_again() {
    let world = World::new();
    let file = |session: &str, number: usize, mark: &str| {
        let mut observed = said(session, number, mark);
        observed.source = Some("a file".to_owned());
        observed.kept = None;
        let cursor = Cursor {
            source: "a file".to_owned(),
            agent: Agent::CLAUDE_CODE,
            offset: 9,
            state: format!("remembers {mark}").into_bytes(),
            bare: b"bare".to_vec(),
        };
        Batch { observed: vec![observed], cursors: vec![cursor], ..Batch::default() }
    };
    let state = || world.ledger.cursor("a file").unwrap().unwrap().state;
    world.ledger.append(file("gone-1111", 1, "bcdfghjklmnp")).unwrap();
    assert_eq!(state(), b"remembers bcdfghjklmnp");
    let names = world.ledger.names_of(vec![id("gone-1111")]).unwrap();
    assert!(names.has_id(id("gone-1111").as_str()) && names.has_session("gone-1111"));
    assert_eq!(world.ledger.change_cursors(|_| Some(b"bare".to_vec())).unwrap(), 1);
    world.ledger.purge(vec![id("gone-1111")], Millis(1_794_777_004_050)).unwrap();
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    for reread in [false, true] {
        let again = Batch { reread, ..file("gone-1111", 1, "bcdfghjklmnp") };
        world.ledger.append(again).unwrap();
        assert_eq!(state(), b"bare");
    }
    assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new());
    // What the session says later is its own.
    world.ledger.append(file("gone-1111", 60, "saidlater")).unwrap();
    assert_eq!(state(), b"remembers saidlater");
}

#[test]
fn what_is_deleted_while_the_clock_is_behind_does_not_come_back() {
    let world = World::new();
    let at = |number: usize, phase: Phase, moment: Millis| {
        let mut observed = said("gone-1111", number, "bcdfghjklmnp");
        observed.name = format!("{}-{phase:?}", observed.name);
        observed.arrived = moment;
        if let Verdict::Read(reading) = &mut observed.verdict {
            for entry in &mut reading.entries {
                entry.occurred_at = moment;
                entry.phase = phase;
            }
        }
        observed
    };
    let day = 86_400_000;
    let reported = [
        at(1, Phase::Open, Millis(10_000 * day)),
        at(1, Phase::Close, Millis(10_000 * day + 60_000)),
        at(2, Phase::Open, Millis(10_001 * day)),
        at(2, Phase::Close, Millis(10_001 * day + 60_000)),
    ];
    world.bring(&reported, 1);
    // The clock shows a moment before all of it, and then one in the middle.
    for now in [Millis(9_000 * day), Millis(10_001 * day + 1)] {
        world.ledger.purge(vec![id("gone-1111")], now).unwrap();
        world.bring(&reported, 1);
        assert_eq!(places_of(&world, "bcdfghjklmnp"), Vec::<String>::new(), "{now}");
    }
    let later = at(3, Phase::Close, Millis(10_002 * day));
    world.bring(&[later], 1);
    assert_eq!(world.ledger.store().health().unwrap().events, 1, "what came later is kept");
}
