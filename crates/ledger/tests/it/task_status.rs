//! Records where tasks stand after what really happened, from every channel alone and from both.

use std::collections::BTreeMap;

use agent_tracer_event::{Agent, Channel, Entry, Evidence, Millis, Phase, Reading, Subject, TaskKey};
use agent_tracer_ledger::{Observed, Verdict};
use agent_tracer_testkit::{scenario, scenarios};
use serde_json::Value;

use crate::world::World;

/// Status, reason of waiting, and kind of every task that has events, by its session.
fn standings(world: &World) -> BTreeMap<String, (i64, Option<i64>, bool)> {
    let conn = world.connection();
    let mut find =
        conn.prepare("SELECT session, status, waiting, background FROM task WHERE events > 0").unwrap();
    let rows = find.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))).unwrap();
    rows.map(Result::unwrap).collect()
}

const COMPLETED: i64 = 2;
const FAILED: i64 = 3;
const ABANDONED: i64 = 4;

#[test]
fn every_captured_session_that_ended_is_completed_and_its_calls_have_ended() {
    let mut completed = 0;
    for scenario in scenarios() {
        let hooks = scenario.observed(Some(Channel::Hook));
        // Of a session that was resumed later the transcript knows more than the hooks of the first part.
        let world = World::with(&hooks, 50);
        let conn = world.connection();
        let ended: Vec<String> = {
            let mut find = conn
                .prepare("SELECT DISTINCT t.session FROM task t JOIN fact f ON f.task = t.id AND f.list = 4")
                .unwrap();
            find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        if hooks.is_empty() {
            continue;
        }
        let standings = standings(&world);
        for session in ended {
            let (status, waiting, _) = standings[&session];
            // An agent that was stopped did not come to its own end.
            let is_stopped = session == "sub--a936f4dd0d6bbabf7";
            let expected = if is_stopped { vec![ABANDONED] } else { vec![COMPLETED, FAILED] };
            assert!(expected.contains(&status), "{} {session}: {status}", scenario.name);
            assert_eq!(waiting, None, "{} {session}", scenario.name);
            let running: i64 = conn
                .query_row(
                    "SELECT count(*) FROM fact f JOIN task t ON t.id = f.task WHERE t.session = ?1 AND f.state = 0 \
                     AND f.tool IS NOT NULL",
                    [&session],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(running, 0, "{} {session} has calls that run", scenario.name);
            completed += 1;
        }
    }
    assert!(completed > 100, "{completed}");
}

#[test]
fn a_killed_session_keeps_its_call_until_a_caller_finds_the_process_gone() {
    let world = World::with(&scenario("2.1.325/killed").observed(None), 10);
    let running: i64 = world
        .connection()
        .query_row("SELECT count(*) FROM fact WHERE open = 1 AND state = 0", [], |row| row.get(0))
        .unwrap();
    assert_eq!(running, 1);
}

#[test]
fn a_change_that_no_entry_brings_has_a_place_behind_everything_before_it() {
    let world = World::with(&scenario("2.1.325/killed").observed(None), 10);
    let store = world.ledger.store();
    let seen = store.seq().unwrap();
    let session: String = world
        .connection()
        .query_row("SELECT t.session FROM task t JOIN fact f ON f.task = t.id WHERE f.open = 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    let at = Millis(i64::MAX / 4);
    let evidence = Evidence::measured("its process is gone");
    let task = TaskKey::new(Agent::CLAUDE_CODE, session);
    let mut entry = Entry::new(Subject::Task, Phase::Update, task, "task", at, evidence);
    entry.metadata.insert("processGoneAt".to_owned(), Value::from(at.0));
    let gone = Observed {
        name: "gone".to_owned(),
        source: None,
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        arrived: at,
        verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
        payload: None,
        kept: None,
    };
    world.bring(std::slice::from_ref(&gone), 1);
    let closed = store.changes(seen, 100).unwrap();
    assert!(closed.iter().any(|row| row.metadata.get("closedBy") == Some(&Value::from("process_gone"))));
    assert!(closed.iter().all(|row| row.seq > seen));
    // Repeating a report changes nothing.
    let seen = store.seq().unwrap();
    world.bring(&[gone], 1);
    assert_eq!((store.changes(seen, 100).unwrap().len(), store.seq().unwrap()), (0, seen));
}

#[test]
fn nested_subagents_stand_below_the_agent_that_started_them() {
    let world = World::with(&scenario("2.1.325/agent_nested").observed(None), 10);
    let conn = world.connection();
    let mut find = conn
        .prepare("SELECT t.session, p.session FROM task t JOIN task p ON p.id = t.parent ORDER BY t.session")
        .unwrap();
    let links: Vec<(String, String)> =
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        links,
        [
            ("sub--a65b484af8affef61".to_owned(), "2ebc5ab6-4a16-4d07-8e32-a49967836261".to_owned()),
            ("sub--acd640c9bc2108eee".to_owned(), "sub--a65b484af8affef61".to_owned()),
        ]
    );
}

#[test]
fn tokens_are_those_that_the_provider_counted() {
    let mut compared = 0;
    for scenario in scenarios() {
        let path = agent_tracer_testkit::fixtures().join(&scenario.name).join("truth.json");
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let truth: Value = serde_json::from_str(&text).unwrap();
        let world = World::with(&scenario.observed(None), 20);
        let conn = world.connection();
        for session in truth["sessions"].as_array().unwrap() {
            let root = session["session_id"].as_str().unwrap();
            for agent in session["agents"].as_array().unwrap() {
                let name = agent["agent_id"].as_str().map_or(root.to_owned(), |id| format!("sub--{id}"));
                // An agent that went on in another session is in both, and is one agent.
                let sessions = truth["sessions"].as_array().unwrap().iter();
                let all = sessions.flat_map(|session| session["agents"].as_array().unwrap());
                let is_same = |other: &&Value| {
                    **other == *agent
                        || !agent["agent_id"].is_null() && other["agent_id"] == agent["agent_id"]
                };
                let same: Vec<&Value> = all.filter(is_same).collect();
                let expected = |key: &str| -> i64 {
                    same.iter()
                        .map(|agent| agent["by_kind"]["turn"]["usage"][key].as_i64().unwrap_or(0))
                        .sum()
                };
                let sums = |column: &str| -> i64 {
                    conn.query_row(
                        &format!("SELECT coalesce(sum({column}), 0) FROM task WHERE session = ?1"),
                        [&name],
                        |row| row.get(0),
                    )
                    .unwrap()
                };
                // What compaction and side requests cost only the client's own account knows.
                let side: i64 = conn
                    .query_row(
                        "SELECT count(*) FROM fact f JOIN task t ON t.id = f.task WHERE t.session = ?1 AND f.list = 9 \
                         AND f.turn IS NULL",
                        [&name],
                        |row| row.get(0),
                    )
                    .unwrap();
                if side > 0 || session["cut_short"] != 0 {
                    continue;
                }
                for (column, key) in [
                    ("input", "input_tokens"),
                    ("output", "output_tokens"),
                    ("cache_read", "cache_read_input_tokens"),
                    ("cache_write", "cache_creation_input_tokens"),
                ] {
                    assert_eq!(sums(column), expected(key), "{} {name} {column}", scenario.name);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}
