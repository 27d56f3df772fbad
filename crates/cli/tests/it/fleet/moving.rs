//! Moves one machine's records to a team's store: proven by counts and checksums, whichever process dies on the way.

use super::*;

/// A statement for the engine itself.
fn tell_engine(port: u16, statement: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{statement}",
        statement.len()
    )
    .expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

/// Returns the engine's row count.
fn counted(port: u16, table: &str) -> u64 {
    let seen = tell_engine(port, &format!("SELECT count() FROM tracer.{table} FINAL"));
    let (_, body) = seen.split_once("\r\n\r\n").expect("an answer");
    body.trim().parse().expect("a number")
}

#[test]
fn what_is_copied_is_proven_to_be_there_and_a_second_run_copies_nothing() {
    let mut fleet = Fleet::new();
    let ledger = fleet.ledger();
    let mut history = History::new(900, 21);
    ledger.append(Batch { observed: history.batch(500), ..Batch::default() }).expect("kept");
    let store = fleet.store();
    let words =
        ["migrate", "--from", "sqlite", "--to", "clickhouse", "--store", &store, "--owner", "ann", "--json"];
    let seen =
        |fleet: &Fleet| -> Value { serde_json::from_str(&fleet.run("machine", &words)).expect("JSON") };
    let first = seen(&fleet);
    assert!(first["copied"]["facts"].as_u64() > Some(200), "{first}");
    assert_eq!(
        first["copied"],
        serde_json::json!({
            "tasks": first["verified"]["tasks"], "facts": first["verified"]["facts"]
        })
    );
    let again = seen(&fleet);
    assert_eq!((&again["copied"]["facts"], &again["verified"]), (&0.into(), &first["verified"]));
    // The engine is away in the middle; the same command goes on.
    ledger.append(Batch { observed: history.batch(usize::MAX), ..Batch::default() }).expect("kept");
    fleet.kill_engine();
    let failed = fleet.command("machine", &words).output().expect("it starts");
    assert_eq!(failed.status.code(), Some(1));
    fleet.start_engine();
    let more = seen(&fleet);
    assert!(more["verified"]["facts"].as_u64() > first["verified"]["facts"].as_u64(), "{more}");
    // A row that is not as it was is found.
    let change = "ALTER TABLE tracer.fact UPDATE data = concat(data, ' ') WHERE kind = 'user.message' SETTINGS mutations_sync = 2";
    let sent = tell_engine(fleet.engine_port, change);
    assert!(sent.contains(" 200 "), "{sent}");
    let differs = fleet.command("machine", &words).output().expect("it starts");
    let said = String::from_utf8_lossy(&differs.stderr).into_owned();
    assert!(differs.status.code() == Some(1) && said.contains("both sides differ"), "{said}");
}

#[test]
fn a_move_that_is_killed_anywhere_goes_on_and_is_proven_at_its_end() {
    let mut fleet = Fleet::new();
    let ledger = fleet.ledger();
    let mut history = History::new(1_500, 41);
    let mut dice = Dice::new(29);
    let (store, cursor) = (fleet.store(), fleet.path("machine/migrate.json"));
    // Few at once, so that there are many places to die at.
    let words = [
        "migrate",
        "--from",
        "sqlite",
        "--to",
        "clickhouse",
        "--store",
        &store,
        "--owner",
        "ann",
        "--batch",
        "40",
        "--json",
    ];
    let (mut cut_short, mut places) = (0, BTreeSet::new());
    for round in 0..8 {
        if round % 2 == 0 {
            ledger.append(Batch { observed: history.batch(300), ..Batch::default() }).expect("kept");
        }
        let mut command = fleet.command("machine", &words);
        let mut moving =
            Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
        let before = until(&cursor);
        // Now and then before anything was copied, else somewhere on the way or at its end.
        let (looks, steps) = (dice.within(1, 40), dice.within(0, 200));
        let mut looked = 0;
        wait_for("a moment to die at", || {
            looked += 1;
            let is_early = round % 4 == 1 && looked > looks;
            is_early || until(&cursor) > before + steps || moving.0.try_wait().expect("a state").is_some()
        });
        places.insert(until(&cursor));
        if round % 3 == 2 {
            fleet.kill_engine();
            // It says that the store is gone, or had done all before.
            moving.0.wait().expect("it ended");
            fleet.start_engine();
        } else {
            cut_short += u32::from(moving.0.try_wait().expect("a state").is_none());
            moving.kill();
        }
    }
    assert!(cut_short > 0 && places.len() > 2, "{cut_short} were cut short, at {places:?}");
    ledger.append(Batch { observed: history.batch(usize::MAX), ..Batch::default() }).expect("kept");
    let seen: Value = serde_json::from_str(&fleet.run("machine", &words)).expect("JSON");
    let verified = |what: &str| seen["verified"][what].as_u64().expect("a number");
    assert!(verified("facts") > 800, "{seen}");
    // Nothing is there beside what was proven.
    assert_eq!(counted(fleet.engine_port, "fact"), verified("facts"));
    assert_eq!(counted(fleet.engine_port, "task"), verified("tasks"));
    let again: Value = serde_json::from_str(&fleet.run("machine", &words)).expect("JSON");
    assert_eq!((&again["copied"]["facts"], &again["verified"]), (&0.into(), &seen["verified"]));
}
