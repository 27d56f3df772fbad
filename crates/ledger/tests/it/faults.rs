//! A store that cannot take something: what is at fault is found, what is not goes on, and all of it is seen.

use std::sync::mpsc::channel;
use std::time::Duration;

use agent_tracer_event::{
    Agent, Channel, Entry, Evidence, Kind, Millis, Outcome, Phase, Reading, Subject, TaskKey,
};
use agent_tracer_ledger::{AppendError, Batch, Cursor, Observed, Receipt, Verdict};

use crate::world::World;

/// Returns one event of a session.
fn observed(session: &str, number: usize) -> Observed {
    let (task, at) = (TaskKey::new(Agent::CLAUDE_CODE, session), Millis(1_790_000_000_000 + number as i64));
    let subject = Subject::Event(Kind::ToolUsed);
    let key = format!("tool:{number}");
    let mut entry = Entry::new(subject, Phase::Open, task, &key, at, Evidence::reported("test"));
    entry.tool_name = Some("Bash".to_owned());
    Observed {
        name: format!("{session}-{number}"),
        source: None,
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        arrived: at,
        verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
        payload: None,
        kept: None,
    }
}

/// Returns events of a session that is well, with one of a session that is not at each of these places.
fn batch(count: usize, poison: &[usize]) -> Batch {
    let session = |number| if poison.contains(&number) { "poison" } else { "well" };
    let observed = (0..count).map(|number| observed(session(number), number)).collect();
    Batch { observed, ..Batch::default() }
}

/// Makes every write of the session `poison` fail, as if its pages were damaged.
fn poison(world: &World) {
    world
        .connection()
        .execute_batch(
            "CREATE TRIGGER poison BEFORE INSERT ON entry \
             WHEN new.task IN (SELECT id FROM task WHERE session = 'poison') \
             BEGIN SELECT RAISE(ABORT, 'this page is damaged'); END",
        )
        .unwrap();
}

fn heal(world: &World) {
    world.connection().execute_batch("DROP TRIGGER IF EXISTS poison; DROP TRIGGER IF EXISTS sick").unwrap();
}

/// Makes every write fail.
fn sicken(world: &World) {
    world
        .connection()
        .execute_batch(
            "CREATE TRIGGER sick BEFORE INSERT ON meta BEGIN SELECT RAISE(ABORT, 'every page is damaged'); END",
        )
        .unwrap();
}

fn events(world: &World, session: &str) -> i64 {
    let sql = "SELECT coalesce(sum(events), 0) FROM task WHERE session = ?1";
    world.connection().query_row(sql, [session], |row| row.get(0)).unwrap()
}

fn refused(world: &World) -> i64 {
    let sql = "SELECT coalesce(sum(n), 0) FROM outcome WHERE outcome = ?1";
    world.connection().query_row(sql, [Outcome::Refused as i64], |row| row.get(0)).unwrap()
}

#[test]
fn what_cannot_be_written_is_named_and_nothing_waits_behind_it() {
    for bad in [vec![0], vec![99], vec![3, 4, 50], (0..100).collect()] {
        let world = World::new();
        poison(&world);
        let receipt = world.ledger.append(batch(100, &bad)).unwrap();
        let places: Vec<usize> = receipt.unwritten.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, bad);
        assert!(receipt.unwritten.iter().all(|(_, why)| why.contains("this page is damaged")));
        let refused: Vec<usize> =
            (0..100).filter(|place| receipt.outcomes[*place] == Outcome::Refused).collect();
        assert_eq!((refused, receipt.outcomes.len()), (bad.clone(), 100));
        assert_eq!(events(&world, "well"), 100 - bad.len() as i64);
        let faults = world.ledger.faults();
        assert!(faults.recording && faults.write_failures["unreadable"] > 0, "{faults:?}");
        assert!(!faults.problems.is_empty(), "damage is seen");
    }
}

#[test]
fn a_store_that_takes_nothing_is_held_and_nothing_is_named() {
    let world = World::new();
    sicken(&world);
    let refused = world.ledger.append(batch(10, &[])).unwrap_err();
    assert!(matches!(refused, AppendError::Store(_)), "{refused:?}");
    let faults = world.ledger.faults();
    assert!(!faults.recording, "{faults:?}");
    assert!(faults.problems[0].contains("\nhint: "), "{faults:?}");
    assert!(world.ledger.probe().is_err());
    heal(&world);
    world.ledger.probe().unwrap();
    assert!(world.ledger.faults().recording, "a write succeeded");
    assert_eq!(world.ledger.append(batch(10, &[])).unwrap().unwritten, []);
    assert_eq!(events(&world, "well"), 10);
}

#[test]
fn a_part_of_a_file_is_written_as_a_whole_or_not_at_all() {
    let world = World::new();
    poison(&world);
    let cursor = Cursor {
        source: "file".to_owned(),
        agent: Agent::CLAUDE_CODE,
        offset: 7,
        state: Vec::new(),
        bare: Vec::new(),
    };
    let whole = Batch { cursors: vec![cursor], ..batch(5, &[2]) };
    let refused = world.ledger.append(whole.clone()).unwrap_err();
    assert!(matches!(refused, AppendError::Item(_)), "{refused:?}");
    assert_eq!((events(&world, "well"), world.ledger.cursor("file").unwrap()), (0, None));
    heal(&world);
    world.ledger.append(whole).unwrap();
    assert_eq!(events(&world, "well"), 4);
}

#[test]
fn notes_of_our_own_are_kept_and_count_as_nothing_that_arrived() {
    let world = World::new();
    world.ledger.append(batch(3, &[])).unwrap();
    let received = world.ledger.store().outcomes().unwrap();
    let note = Batch { observed: vec![observed("well", 9)], own: true, ..Batch::default() };
    for _ in 0..2 {
        world.ledger.append(note.clone()).unwrap();
        assert_eq!(world.ledger.store().outcomes().unwrap(), received);
    }
    assert_eq!(events(&world, "well"), 4);
}

fn post(world: &World, batch: Batch) -> Result<Receipt, AppendError> {
    let (tell, reported) = channel();
    world.ledger.post(batch, move |answer| drop(tell.send(answer))).unwrap();
    reported.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn a_post_that_cannot_be_written_is_set_aside_and_written_once_the_cause_is_gone() {
    let world = World::new();
    poison(&world);
    let receipt = post(&world, batch(9, &[4])).unwrap();
    assert_eq!(receipt.outcomes[4], Outcome::Refused);
    assert_eq!((events(&world, "well"), events(&world, "poison"), refused(&world)), (8, 0, 1));
    assert_eq!(world.ledger.faults().set_aside, 1);
    let world = world.reopen();
    // Once the writer answers, it has tried.
    post(&world, batch(0, &[])).unwrap();
    assert_eq!((world.ledger.faults().set_aside, refused(&world)), (1, 1), "the cause is not gone");
    heal(&world);
    let world = world.reopen();
    post(&world, batch(0, &[])).unwrap();
    assert_eq!((world.ledger.faults().set_aside, refused(&world)), (0, 0));
    assert_eq!((events(&world, "well"), events(&world, "poison")), (8, 1));
}

#[test]
fn nothing_is_acknowledged_in_a_store_that_was_taken_away_until_it_is_back() {
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-journal-of-posts"] {
        let world = World::new();
        world.ledger.append(batch(3, &[])).unwrap();
        let (there, aside) = (world.path().with_file_name(name), world.path().with_file_name("elsewhere"));
        std::fs::rename(&there, &aside).unwrap();
        let refused = world.ledger.append(batch(6, &[])).unwrap_err();
        assert!(matches!(&refused, AppendError::Gone(which) if which.contains(name)), "{refused:?}");
        assert!(matches!(post(&world, batch(6, &[])), Err(AppendError::Gone(_))));
        let faults = world.ledger.faults();
        assert!(!faults.recording && faults.problems[0].contains(name), "{faults:?}");
        std::fs::rename(&aside, &there).unwrap();
        world.ledger.append(batch(6, &[])).unwrap();
        assert!(world.ledger.faults().recording);
        assert_eq!(events(&world, "well"), 6);
    }
}

#[test]
fn nothing_is_acknowledged_in_a_store_that_was_cut_or_written_over_in_place() {
    type Breakage<'a> = &'a dyn Fn(&std::fs::File);
    let half = |file: &std::fs::File| file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let ways: [(&str, &str, Breakage<'_>); 5] = [
        ("ledger.db-wal", "cut short", &|file| file.set_len(0).unwrap()),
        ("ledger.db-wal", "cut short", &half),
        ("ledger.db", "cut short", &|file| file.set_len(0).unwrap()),
        ("ledger.db", "cut short", &half),
        ("ledger.db-wal", "cut short", &|file| {
            std::os::unix::fs::FileExt::write_all_at(file, &[0; 512], 0).unwrap();
        }),
    ];
    for (number, (name, what, cut)) in ways.into_iter().enumerate() {
        let world = World::new();
        // Few enough that the log is not moved by itself: one that was moved whole may be cut without loss.
        world.ledger.append(batch(60, &[])).unwrap();
        world.ledger.append(batch(120, &[])).unwrap();
        let path = world.path().with_file_name(name);
        cut(&std::fs::OpenOptions::new().write(true).open(&path).unwrap());
        for count in [700, 710] {
            let refused = world.ledger.append(batch(count, &[])).map(drop);
            assert!(
                matches!(&refused, Err(AppendError::Gone(said)) if said.contains(what)),
                "{number}, {name}: {refused:?}"
            );
        }
        assert!(matches!(post(&world, batch(720, &[])), Err(AppendError::Gone(_))), "{name}");
        let faults = world.ledger.faults();
        assert!(!faults.recording && faults.problems[0].contains(name), "{name}: {faults:?}");
        assert!(faults.write_failures["replaced"] > 0, "{name}: {faults:?}");
    }
}

#[test]
fn an_older_copy_that_is_written_over_the_store_is_noticed_and_nothing_is_moved_into_it() {
    let world = World::new();
    world.ledger.append(batch(20, &[])).unwrap();
    world.ledger.move_log_now().unwrap();
    let old = std::fs::read(world.path()).unwrap();
    world.ledger.append(batch(900, &[])).unwrap();
    world.ledger.move_log_now().unwrap();
    assert!(world.ledger.faults().problems.is_empty());
    let file = std::fs::OpenOptions::new().write(true).open(world.path()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &old, 0).unwrap();
    let refused = world.ledger.move_log_now().unwrap_err();
    assert!(matches!(&refused, AppendError::Gone(said) if said.contains("written over")), "{refused:?}");
    assert!(matches!(world.ledger.append(batch(950, &[])), Err(AppendError::Gone(_))));
    assert!(!world.ledger.faults().recording);
}

#[test]
fn a_log_or_a_store_that_is_made_shorter_rightly_is_no_fault() {
    let world = World::new();
    for round in 1..4 {
        world.ledger.append(batch(300 * round, &[])).unwrap();
        world.ledger.move_log_now().unwrap();
        // Another program, which finds everything moved.
        let cut = "PRAGMA wal_checkpoint(TRUNCATE)";
        world.connection().query_row(cut, [], |row| row.get::<_, i64>(0)).unwrap();
        let tasks = world.ledger.every_task().unwrap();
        if round == 2 {
            world.ledger.purge(tasks, Millis(1)).unwrap();
        }
        world.ledger.append(batch(300 * round + 5, &[])).unwrap();
        assert!(world.ledger.faults().problems.is_empty(), "{:?}", world.ledger.faults().problems);
    }
}

#[test]
fn a_page_that_is_damaged_costs_what_is_on_it_and_is_seen_by_those_who_read() {
    let world = World::new();
    let many = (0..400)
        .flat_map(|session| (0..5).map(move |number| observed(&format!("session-{session}"), number)));
    let many: Vec<Observed> = many.collect();
    world.bring(&many, 500);
    world.ledger.finish_search().unwrap();
    let path = world.path();
    world.ledger.close();
    // Pages of the facts and of the entries: all but a few of the first and the last.
    let length = std::fs::metadata(&path).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let sql = "SELECT pageno FROM dbstat WHERE name = 'fact' AND pagetype = 'leaf' ORDER BY pageno";
    let conn = world.connection();
    let pages: Vec<u64> = match conn.prepare(sql) {
        Ok(mut find) => {
            let pages = find.query_map([], |row| row.get::<_, i64>(0)).unwrap();
            pages.map(|page| page.unwrap() as u64).collect()
        }
        // Without that table any pages in the middle have to do.
        Err(_) => (length / 4096 / 2..length / 4096 / 2 + 8).collect(),
    };
    drop(conn);
    for page in pages.iter().take(8) {
        std::os::unix::fs::FileExt::write_all_at(&file, &[0; 4096], (page - 1) * 4096).unwrap();
    }
    drop(file);
    // Small files are checked when they are opened: it says so, and nothing is written.
    let refused = agent_tracer_ledger::Ledger::open(&path, agent_tracer_ledger::Options::default());
    let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("damaged") && said.contains("\nhint: "), "{said}");
    let checked = agent_tracer_ledger::check_store(&path, || true).unwrap_err().to_string();
    assert!(checked.contains("damaged"), "{checked}");
}
