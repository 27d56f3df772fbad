//! Files of a running server that are taken away: it says so, acknowledges nothing, and goes on when they are back.

use std::fs;
use std::time::Duration;

use agent_tracer_spool::envelope::Agent;
use serde_json::Value;

use crate::books;
use crate::feed::{Call, Request, now_nanos, spool_at};
use crate::fixtures;
use crate::http::Door;
use crate::server::Server;
use crate::world::World;

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
    spool_at(&tracer, &Call::new("waits".to_owned(), Agent::ClaudeCode, payload), now_nanos());
    server.must_say("cannot keep what is in the spool");
    assert_eq!(tracer.spooled("new").len(), 1);
    let told = health(&door);
    assert_eq!((&told["status"], &told["faults"]["recording"]), (&"degraded".into(), &false.into()));
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
    assert_eq!(books::number(&tracer, "SELECT sum(calls) FROM task WHERE session LIKE 'posted-%'"), 2);
    assert_eq!(books::envelopes(&tracer).len(), 1);
}

#[test]
fn a_lock_file_that_is_removed_lets_no_other_process_write() {
    let world = World::new();
    let tracer = world.tracer("tracer");
    let (server, door) = Server::start(&tracer);
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
    server.end();
    assert_eq!(books::number(&tracer, "SELECT sum(calls) FROM task WHERE session LIKE 'posted-%'"), 2);
}
