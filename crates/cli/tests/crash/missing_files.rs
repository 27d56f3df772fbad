//! Files of a running server that are taken away: it says so, acknowledges nothing, and goes on when they are back.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use agent_tracer_spool::envelope::Agent;
use serde_json::Value;

use crate::dice::pass;
use crate::feed::{Call, Request, now_nanos, spool_at};
use crate::fixtures;
use crate::http::Door;
use crate::ledger_dump;
use crate::server::Server;
use crate::world::{Tracer, World};

fn health(door: &Door) -> Value {
    let (status, body) = door.get("/api/v1/health").expect("it answers");
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).expect("JSON")
}

#[test]
fn a_ledger_that_is_moved_away_takes_nothing_until_it_is_back_and_loses_nothing() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    let (mut server, door) = Server::start(&tracer);
    assert!(Request::hook(1, 0).send(&door));
    assert_eq!(health(&door)["faults"]["recording"], true);
    fs::rename(tracer.ledger(), tracer.path("aside.db")).expect("moved");

    let (status, said) = Request::hook(1, 1).try_send(&door).expect("it answers");
    assert_eq!(status, 503, "{said}");
    let mut payload = fixtures::payload("PostToolUse.bash");
    payload["session_id"] = "waits".into();
    spool_at(&tracer, &Call::new("waits".to_owned(), Agent::CLAUDE_CODE, payload), now_nanos());
    server.must_say("cannot store the envelopes of the spool");
    assert_eq!(tracer.spooled("new").len(), 1);
    let state = health(&door);
    assert_eq!((&state["status"], &state["faults"]["recording"]), (&"degraded".into(), &false.into()));
    let (code, report) = tracer.run(&["doctor", "--brief"]);
    assert!(code == 1 && report.contains("`ledger.db` was removed") && report.contains("fix: "), "{report}");
    let (_, metrics) = door.get("/metrics").expect("it answers");
    assert!(metrics.contains("agent_tracer_store_write_failures_total{reason=\"replaced\"}"), "{metrics}");

    fs::rename(tracer.path("aside.db"), tracer.ledger()).expect("moved back");
    assert!(Request::hook(1, 1).send(&door));
    for _ in 0..600 {
        if tracer.spooled("new").is_empty() {
            break;
        }
        server.hear("nothing that it ever says", Duration::from_millis(100));
    }
    assert_eq!(health(&door)["faults"]["recording"], true);
    server.end();
    assert_eq!(tracer.spooled("quarantine"), Vec::<String>::new());
    assert_eq!(ledger_dump::number(&tracer, "SELECT sum(calls) FROM task WHERE session LIKE 'posted-%'"), 2);
    assert_eq!(ledger_dump::envelopes(&tracer).len(), 1);
}

#[test]
fn a_lock_file_that_is_removed_lets_no_other_process_write() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    let (mut server, door) = Server::start(&tracer);
    assert!(Request::hook(1, 0).send(&door));
    for command in [
        &["rebuild"][..],
        &["import"],
        &["retain", "--days", "1"],
        &["reread"],
        &["purge", "--all", "--yes"],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        // It may have been written anew since the last.
        drop(fs::remove_file(tracer.path("ledger.lock")));
        let (code, said) = tracer.run(command);
        assert!(code == 1 && said.contains("the ledger is in use by"), "{command:?}: {said}");
    }
    assert!(Request::hook(1, 1).send(&door));
    server.must_say("`ledger.lock` was removed");
    let state = health(&door);
    let problems = state["problems"].to_string();
    assert!(state["status"] == "degraded" && problems.contains("`ledger.lock` was removed"), "{state}");
    let (code, report) = tracer.run(&["doctor", "--brief"]);
    assert!(
        code == 1 && report.contains("`ledger.lock` was removed") && report.contains("fix: "),
        "{report}"
    );
    let (_, metrics) = door.get("/metrics").expect("it answers");
    let count = metrics.lines().find_map(|line| line.strip_prefix("agent_tracer_lock_removed_total "));
    assert!(count.is_some_and(|count| count.parse::<f64>().expect("a number") >= 1.0), "{metrics}");
    server.end();
    assert_eq!(ledger_dump::number(&tracer, "SELECT sum(calls) FROM task WHERE session LIKE 'posted-%'"), 2);
}

#[test]
fn files_that_are_cut_or_written_over_in_place_take_nothing_more_and_that_is_seen() {
    type Way<'a> = (&'a str, &'a str, &'a dyn Fn(&Tracer, &[u8]));
    let cut = |tracer: &Tracer, name: &str| {
        let file = OpenOptions::new().write(true).open(tracer.path(name)).expect("the file");
        file.set_len(0).expect("cut");
    };
    let ways: [Way<'_>; 3] = [
        ("`ledger.db-wal` was cut short", "a cut log", &|tracer, _| cut(tracer, "ledger.db-wal")),
        ("`ledger.db` was cut short", "a cut store", &|tracer, _| cut(tracer, "ledger.db")),
        // As `cp` does it: the same file with other bytes.
        ("`ledger.db` was written over", "an older copy", &|tracer, old| {
            let file = OpenOptions::new().write(true).open(tracer.ledger()).expect("the store");
            file.write_all_at(old, 0).expect("written");
            file.set_len(old.len() as u64).expect("cut");
        }),
    ];
    for (said, name, change) in ways {
        let world = World::new();
        let tracer = world.tracer("tracer");
        let (server, door) = Server::start(&tracer);
        server.end();
        drop(door);
        let old = fs::read(tracer.ledger()).expect("the store");
        let (server, door) = Server::start(&tracer);
        for number in 0..40 {
            assert!(Request::events(number, 0).send(&door) && Request::hook(number, 0).send(&door));
        }
        server.end();
        let (server, door) = Server::start(&tracer);
        assert!(Request::hook(90, 0).send(&door));
        change(&tracer, &old);
        // What was written over is found by who looks at it now and then, the rest by the next commit.
        let mut seen = Value::Null;
        for part in 1..400 {
            Request::hook(90, part).try_send(&door).expect("it answers");
            seen = health(&door);
            if seen["faults"]["recording"] == false {
                break;
            }
            pass(Duration::from_millis(50));
        }
        assert_eq!(
            (&seen["status"], &seen["faults"]["recording"]),
            (&"degraded".into(), &false.into()),
            "{name}"
        );
        let (status, body) = Request::hook(91, 0).try_send(&door).expect("it answers");
        assert_eq!(status, 503, "{name}: {body}");
        let (code, report) = tracer.run(&["doctor", "--brief"]);
        assert!(code == 1 && report.contains(said) && report.contains("fix: "), "{name}: {report}");
        // Of a store that cannot be read at all there are no figures either.
        let (status, metrics) = door.get("/metrics").expect("it answers");
        let is_counted = metrics.contains("store_write_failures_total{reason=\"replaced\"}");
        assert!(is_counted || status == 503, "{name}: {metrics}");
        server.end();
    }
}
