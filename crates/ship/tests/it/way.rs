//! At least once, in order, from where it was, with versions that only grow.

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ship::{Backoff, ShipError, Step};
use agent_tracer_testkit::scenario;

use crate::world::World;

const SCENARIO: &str = "2.1.325/agent_nested";

/// What arrives if nothing goes wrong.
fn expected(policy: &str) -> std::collections::BTreeMap<(String, Option<i64>), String> {
    let world = World::of(&[SCENARIO]);
    world.ship(policy);
    world.contents()
}

#[test]
fn lost_parts_and_lost_answers_are_sent_again_by_whoever_comes_next() {
    let world = World::of(&[]);
    let observed = scenario(SCENARIO).observed(None);
    for (round, part) in observed.chunks(9).enumerate() {
        world.bring(part.to_vec());
        *world.server.lose.lock().unwrap() = u32::try_from(round % 4).unwrap();
        let mut backoff = Backoff::default();
        loop {
            // Every attempt is another process.
            match world.shipper("").step() {
                Ok(Step::UpToDate) => break,
                Ok(Step::Sent(_)) => backoff.worked(),
                Err(error) => {
                    assert!(error.is_passing(), "{error}");
                    assert!(backoff.failed(7).as_secs() <= 300);
                }
            }
        }
    }
    let expected = expected("");
    let mut arrived = world.contents();
    // What became part of another fact was seen by itself for a while.
    arrived.retain(|key, _| expected.contains_key(key));
    assert_eq!(arrived, expected);
    assert!(expected.len() > 20);
}

#[test]
fn what_is_acknowledged_is_not_sent_again() {
    let world = World::of(&[SCENARIO]);
    world.ship("");
    let sent = world.server.bodies.lock().unwrap().len();
    world.ship("");
    assert_eq!(world.server.bodies.lock().unwrap().len(), sent);
    assert!(world.cursor_path().exists());
}

#[test]
fn after_a_rebuild_everything_has_a_greater_version_than_before() {
    let world = World::of(&[SCENARIO]);
    world.ship("");
    let before = world.arrived();
    world.server.bodies.lock().unwrap().clear();
    world.ledger.rebuild().unwrap();
    world.ship("");
    let after = world.arrived();
    assert!(after.len() >= before.len() && !before.is_empty());
    let greatest = before.values().map(|(version, _)| *version).max().unwrap();
    for (key, (version, _)) in &after {
        assert!(*version > greatest, "{key:?}");
    }
    assert_eq!(world.contents().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
}

#[test]
fn another_policy_sends_everything_again_under_it() {
    let world = World::of(&[SCENARIO]);
    world.ship("level = \"full\"");
    world.ship("level = \"metadata\"");
    assert_eq!(world.contents(), expected("level = \"metadata\""));
}

#[test]
fn a_task_that_becomes_allowed_arrives_whole() {
    let world = World::of(&[SCENARIO]);
    world.ship("projects = [\"/nowhere/**\"]");
    assert_eq!(world.contents().len(), 0);
    world.ship("");
    assert_eq!(world.contents(), expected(""));
}

#[test]
fn a_server_that_does_not_take_it_ends_the_way_where_it_is() {
    struct Refuses;
    impl agent_tracer_ship::Carrier for Refuses {
        fn carry(&self, _: &[u8]) -> Result<(), ShipError> {
            Err(ShipError::Refused { status: 401, detail: "this token is not known here".to_owned() })
        }
    }
    let world = World::of(&[SCENARIO]);
    let error = world.shipper_by("", Box::new(Refuses)).step().unwrap_err();
    assert!(!error.is_passing());
    world.ship("");
    assert_eq!(world.contents(), expected(""));
}

#[test]
fn what_another_policy_excludes_is_taken_back() {
    let world = World::of(&[SCENARIO]);
    world.ship("");
    assert!(world.contents().len() > 20);
    world.ship("projects = [\"/nowhere/**\"]");
    assert_eq!(world.contents().len(), 0);
    world.ship("");
    assert_eq!(world.contents(), expected(""), "and comes back when it may");
}

#[test]
fn what_is_purged_here_goes_there_once_and_a_second_purge_too() {
    let world = World::of(&[SCENARIO, "2.1.325/agent_fg"]);
    world.ship("");
    let tasks: Vec<TaskId> = world.contents().keys().filter_map(|(task, _)| TaskId::parse(task)).collect();
    let purged = tasks[0].clone();
    world.ledger.purge(vec![purged.clone()], Millis(i64::MAX / 2)).unwrap();
    let left = |world: &World| world.contents().keys().any(|(task, _)| *task == purged.to_string());
    assert!(left(&world));
    // The part that says so is lost first.
    *world.server.lose.lock().unwrap() = 1;
    assert!(world.shipper("").step().unwrap_err().is_passing());
    world.ship("");
    assert!(!left(&world));
    assert!(world.contents().len() > 5, "nothing else went");
    let sent = world.server.bodies.lock().unwrap().len();
    world.ship("");
    assert_eq!(world.server.bodies.lock().unwrap().len(), sent, "it is not told again");
}

#[test]
fn what_never_left_is_not_named_when_it_is_purged() {
    let world = World::of(&[SCENARIO]);
    world.ship("projects = [\"/nowhere/**\"]");
    let all = world.ledger.every_task().unwrap();
    world.ledger.purge(all, Millis(i64::MAX / 2)).unwrap();
    world.ship("projects = [\"/nowhere/**\"]");
    assert_eq!(world.server.bodies.lock().unwrap().len(), 0);
}
