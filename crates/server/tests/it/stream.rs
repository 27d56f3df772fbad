//! The live stream: no gap, never backwards, and an end to everything.

use std::sync::Arc;
use std::time::Duration;

use agent_tracer_event::{Agent, Kind, TaskKey};
use agent_tracer_ledger::view::Row;
use serde_json::json;

use crate::client::Events;
use crate::store::{Gate, Memory};
use crate::world::{NOW, World, config, task};

/// Adds a row to the store and tells those who follow.
fn commit(world: &World, name: &str, seq: u64) -> Row {
    let row = world.memory.row(&task("s"), name, Kind::UserMessage, seq);
    world.live.publish(std::slice::from_ref(&row));
    row
}

/// The id of a place: the epoch of the server, which is when it began, and the place.
fn place(seq: u64) -> String {
    format!("{NOW}{seq:016}")
}

fn follow(world: &World, query: &str) -> Events {
    let mut events = world.ask("GET", &format!("/api/v1/stream?{query}")).follow();
    assert_eq!(events.block().unwrap().comment.as_deref(), Some("agent-tracer"), "it greets");
    events
}

#[test]
fn a_row_arrives_as_it_is_with_its_place_as_id() {
    let world = World::new();
    // Begun behind a place: what is committed before the follower is registered is read from the store.
    let mut events = follow(&world, "after=0");
    let row = commit(&world, "a", 7);
    let event = events.event();
    assert_eq!((event.id.clone(), event.name.as_deref()), (Some(place(7)), None));
    assert_eq!(event.json(), serde_json::to_value(&row).unwrap());
}

#[test]
fn who_comes_back_gets_what_it_missed_and_then_what_comes() {
    let world = World::new();
    for seq in 1..=700 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let mut events = world.ask("GET", "/api/v1/stream?after=9").header("Last-Event-ID", "3").follow();
    assert_eq!(events.seqs(697), (4..=700).collect::<Vec<_>>(), "the header beats the parameter");
    commit(&world, "new", 701);
    assert_eq!(events.seqs(1), [701]);
}

#[test]
fn a_row_that_is_both_read_and_broadcast_comes_once() {
    let world = World::new();
    world.memory.row(&task("s"), "1", Kind::UserMessage, 1);
    let (gate, came) = Gate::closed();
    *world.memory.gate.lock().unwrap() = Some(gate.clone());
    let mut events = world.ask("GET", "/api/v1/stream?after=0").follow();
    came.recv().expect("the store is about to be read");
    (2..=5).for_each(|seq| drop(commit(&world, &seq.to_string(), seq)));
    gate.open();
    assert_eq!(events.seqs(5), [1, 2, 3, 4, 5]);
    commit(&world, "6", 6);
    assert_eq!(events.seqs(1), [6]);
}

#[test]
fn a_row_that_is_committed_right_after_the_reading_is_not_lost() {
    let world = World::new();
    world.memory.row(&task("s"), "1", Kind::UserMessage, 1);
    let (gate, came) = Gate::closed();
    *world.memory.gate_behind_changes.lock().unwrap() = Some(gate.clone());
    let mut events = world.ask("GET", "/api/v1/stream?after=0").follow();
    came.recv().expect("the store has been read");
    (2..=5).for_each(|seq| drop(commit(&world, &seq.to_string(), seq)));
    gate.open();
    assert_eq!(events.seqs(5), [1, 2, 3, 4, 5]);
}

#[test]
fn many_who_begin_while_rows_are_committed_all_get_all_in_order() {
    let world = World::new();
    for seq in 1..=300 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let mut followers: Vec<Events> = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| (301..=900).for_each(|seq| drop(commit(&world, &seq.to_string(), seq))));
        followers = (0..4).map(|_| world.ask("GET", "/api/v1/stream?after=0").follow()).collect();
    });
    for follower in &mut followers {
        assert_eq!(follower.seqs(900), (1..=900).collect::<Vec<_>>());
    }
}

#[test]
fn rows_of_one_place_are_not_torn_apart() {
    let world = World::new();
    for number in 0..600_u64 {
        world.memory.row(&task("s"), &number.to_string(), Kind::UserMessage, 1 + number / 300);
    }
    let mut events = follow(&world, "after=0");
    let expected: Vec<u64> = (0..600).map(|number| 1 + number / 300).collect();
    assert_eq!(events.seqs(600), expected);
}

#[test]
fn a_follower_too_far_behind_has_to_load_again() {
    let mut short = config();
    short.limits.catch_up_rows = 10;
    let world = World::with(short).unwrap();
    for seq in 1..=50 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let mut events = follow(&world, "after=5");
    let missed = events.event();
    assert_eq!((missed.name.as_deref(), missed.json()), (Some("missed"), json!({"from": 5, "to": 50})));
    commit(&world, "new", 51);
    assert_eq!(events.seqs(1), [51]);
    // A place that this ledger never reached.
    let missed = follow(&world, "after=1000").event();
    assert_eq!(missed.json(), json!({"from": 1000, "to": 51}));
}

#[test]
fn a_slow_follower_receives_the_gap() {
    let world = World::new();
    // The store holds none of what is published: a follower that reads it at the same time would have them from there.
    let first = world.memory.row(&task("s"), "r", Kind::UserMessage, 1);
    world.memory.rows.lock().unwrap().clear();
    let mut events = follow(&world, "after=1");
    // Far more than the network and every buffer hold, while the client does not read.
    let long = "x".repeat(20_000);
    let rows: Vec<Row> =
        (2..=12_001_u64).map(|seq| Row { seq, body: Some(long.clone()), ..first.clone() }).collect();
    world.live.publish(&rows);
    let mut last = 1;
    let missed = loop {
        let event = events.event();
        if event.name.is_some() {
            break event.json();
        }
        let seq = event.json()["seq"].as_u64().unwrap();
        assert_eq!(seq, last + 1);
        last = seq;
    };
    assert_eq!(missed["from"], last);
    let to = missed["to"].as_u64().unwrap();
    assert_eq!(events.seqs(1), [to + 1]);
}

#[test]
fn every_follower_receives_a_gap_of_too_many_changes() {
    let world = World::new();
    let id = task("s").task_id();
    let mut events = follow(&world, &format!("after=0&task={id}"));
    commit(&world, "a", 7);
    assert_eq!(events.seqs(1), [7]);
    world.live.publish_missed(7, 5_000);
    let missed = events.event();
    assert_eq!((missed.id.clone(), missed.name.as_deref()), (Some(place(5000)), Some("missed")));
    assert_eq!(missed.json(), json!({"from": 7, "to": 5_000}));
    commit(&world, "b", 5_001);
    assert_eq!(events.seqs(1), [5_001]);
}

#[test]
fn only_what_is_wanted_is_sent() {
    let world = World::new();
    let (main, child, other) = (task("s"), task("sub--c"), TaskKey::new(Agent::CODEX, "o"));
    world.memory.add_task(&main, None, "/p");
    world.memory.add_task(&child, Some(&main), "/p");
    world.memory.add_task(&other, None, "/q");
    for (seq, key, kind) in [
        (1, &main, Kind::UserMessage),
        (2, &child, Kind::ToolUsed),
        (3, &other, Kind::ToolUsed),
        (4, &main, Kind::ToolUsed),
        (5, &other, Kind::UserMessage),
    ] {
        world.memory.row(key, &seq.to_string(), kind, seq);
    }
    let id = main.task_id();
    for (query, expected) in [
        (format!("task={id}"), vec![1, 4]),
        (format!("task={id}&tree=true"), vec![1, 2, 4]),
        ("kind=tool.used".to_owned(), vec![2, 3, 4]),
        ("lane=user".to_owned(), vec![1, 5]),
        ("agent=codex".to_owned(), vec![3, 5]),
        ("project=%2Fp".to_owned(), vec![1, 2, 4]),
        (format!("task={id}&tree=true&kind=tool.used&agent=claude_code"), vec![2, 4]),
    ] {
        let mut events = follow(&world, &format!("after=0&{query}"));
        assert_eq!(events.seqs(expected.len()), expected, "{query}");
    }
    for query in ["tree=true", "task=x", "after=-1", "colour=red"] {
        assert_eq!(world.get(&format!("/api/v1/stream?{query}")).status, 400, "{query}");
    }
    assert_eq!(world.ask("GET", "/api/v1/stream").header("Last-Event-ID", "x").send().status, 400);
}

#[test]
fn of_a_session_that_two_people_have_each_ones_rows_are_judged_by_their_own_task() {
    let world = World::new();
    let of_ann = Arc::new(Memory::default());
    of_ann.add_task(&task("s"), None, "/p");
    world.memory.team.set(Arc::clone(&of_ann)).ok().unwrap();
    let rows: Vec<Row> = [(1, None), (2, Some("bob")), (3, Some("ann"))]
        .into_iter()
        .map(|(seq, owner)| Row {
            owner: owner.map(str::to_owned),
            ..world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq)
        })
        .collect();
    world.memory.rows.lock().unwrap().clear();
    let mut by_name = follow(&world, "after=0&owner=ann");
    // Everybody's store could not say which of two is meant: it has none.
    let mut by_project = follow(&world, "after=0&project=/p");
    world.live.publish(&rows);
    assert_eq!(by_name.seqs(1), [3]);
    assert_eq!(by_project.seqs(2), [2, 3], "both are asked of what that person has");
}

#[test]
fn removed_rows_are_sent_to_every_follower_and_are_no_place_to_begin_at() {
    let world = World::new();
    // A follower of another task: the task of a removed row is unknown.
    let mut others = follow(&world, &format!("after=0&task={}", TaskKey::new(Agent::CODEX, "o").task_id()));
    let mut events = follow(&world, "after=0");
    commit(&world, "a", 1);
    assert_eq!(events.seqs(1), [1]);
    let ids: Vec<String> = (0..501).map(|number| format!("row {number}")).collect();
    // The place was read from the store already; the removed row is sent all the same.
    world.live.publish_removed(1, &ids);
    for follower in [&mut events, &mut others] {
        let (first, rest) = (follower.event(), follower.event());
        assert_eq!((first.name.as_deref(), first.id.as_deref()), (Some("removed"), None));
        assert_eq!(first.json(), json!({"ids": ids[..500]}));
        assert_eq!(rest.json(), json!({"ids": ids[500..]}));
    }
    commit(&world, "b", 2);
    assert_eq!(events.seqs(1), [2]);
}

#[test]
fn a_silent_stream_says_that_it_is_alive() {
    let mut lively = config();
    lively.limits.heartbeat = Duration::from_millis(20);
    let world = World::with(lively).unwrap();
    let mut events = follow(&world, "");
    for _ in 0..3 {
        assert_eq!(events.block().unwrap().comment.as_deref(), Some("still here"));
    }
}

#[test]
fn there_is_room_for_so_many_followers() {
    let mut narrow = config();
    narrow.limits.streams = 2;
    narrow.limits.heartbeat = Duration::from_millis(20);
    let world = World::with(narrow).unwrap();
    let first = follow(&world, "");
    let _second = follow(&world, "");
    let third = world.get("/api/v1/stream");
    assert_eq!((third.status, third.header("retry-after")), (429, "5"));
    third.wrong();
    drop(first);
    // The server notices a departure at its next heartbeat.
    let room = (0..500).any(|_| {
        let answer = world.ask("GET", "/api/v1/stream?after=x").send();
        assert_eq!(answer.status, 400);
        let ask = world.ask("GET", "/api/v1/stream");
        let mut stream = crate::client::connect(world.server.address());
        std::io::Write::write_all(&mut stream, &ask.bytes(false)).unwrap();
        let mut head = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut head).unwrap();
        &head == b"HTTP/1.1 200"
    });
    assert!(room, "there is room again");
}

#[test]
fn an_id_of_this_server_resumes_without_a_word() {
    let world = World::new();
    for seq in 1..=5 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let mut events = world.ask("GET", "/api/v1/stream").header("Last-Event-ID", &place(3)).follow();
    assert_eq!(events.seqs(2), [4, 5]);
    let mut events = follow(&world, &format!("after={}", place(4)));
    assert_eq!(events.seqs(1), [5]);
}

#[test]
fn an_id_of_another_epoch_has_to_load_again_and_gets_the_rows_too() {
    let world = World::new();
    for seq in 1..=5 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let other = format!("{}{:016}", NOW - 1, 3);
    let mut events = world.ask("GET", "/api/v1/stream").header("Last-Event-ID", &other).follow();
    let missed = events.event();
    assert_eq!((missed.name.as_deref(), missed.id.clone()), (Some("missed"), Some(place(3))));
    assert_eq!(missed.json(), json!({"from": 0, "to": 3}));
    assert_eq!(events.seqs(2), [4, 5]);
}

#[test]
fn rows_removed_while_a_follower_was_away_are_sent_when_it_returns() {
    let world = World::new();
    for seq in 1..=5 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    world.live.publish_removed(2, &["before".to_owned()]);
    world.live.publish_removed(3, &["at the same place".to_owned()]);
    world.live.publish_removed(4, &["a".to_owned(), "b".to_owned()]);
    let mut events = world.ask("GET", "/api/v1/stream").header("Last-Event-ID", &place(3)).follow();
    let gone = events.event();
    assert_eq!((gone.name.as_deref(), gone.id.as_deref()), (Some("removed"), None));
    assert_eq!(gone.json(), json!({"ids": ["at the same place", "a", "b"]}));
    assert_eq!(events.seqs(2), [4, 5]);
}

#[test]
fn after_more_removed_rows_than_are_remembered_a_follower_has_to_load_again() {
    let world = World::new();
    for seq in 1..=5 {
        world.memory.row(&task("s"), &seq.to_string(), Kind::UserMessage, seq);
    }
    let many: Vec<String> = (0..10_001).map(|number| number.to_string()).collect();
    world.live.publish_removed(4, &many);
    let mut events = world.ask("GET", "/api/v1/stream").header("Last-Event-ID", &place(3)).follow();
    assert_eq!(events.event().name.as_deref(), Some("missed"));
    assert_eq!(events.seqs(2), [4, 5]);
}

#[test]
fn what_is_no_id_is_refused() {
    let world = World::new();
    for id in ["x", "-1", "1.5", "9007199254740992", "1-2"] {
        assert_eq!(world.ask("GET", "/api/v1/stream").header("Last-Event-ID", id).send().status, 400, "{id}");
        let answer = world.get(&format!("/api/v1/stream?after={id}"));
        assert_eq!((answer.status, answer.wrong()), (400, vec!["after".to_owned()]), "{id}");
    }
}
