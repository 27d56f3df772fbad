//! At least once, in order, from where it was, with versions that only grow.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_fleet::ship::{Backoff, Carrier, Cursor, ShipError, Step};
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_testkit::scenario;

use crate::ship::world::{Memory, TO, World, unpacked};

const SCENARIO: &str = "2.1.325/agent_nested";

/// Returns the arrivals of an undisturbed run.
fn expected(policy: &str) -> std::collections::BTreeMap<(String, Option<i64>), String> {
    let world = World::of(&[SCENARIO]);
    world.ship(policy);
    world.contents()
}

#[test]
fn lost_parts_and_lost_answers_are_sent_again_by_the_next_shipper() {
    let world = World::of(&[]);
    let observed = scenario(SCENARIO).observed(None);
    for (round, part) in observed.chunks(9).enumerate() {
        world.bring(part.to_vec());
        *world.server.lose.lock().unwrap() = u32::try_from(round % 4).unwrap();
        let mut backoff = Backoff::default();
        loop {
            // Every attempt is another process.
            match world.shipper("").in_parts_of(2).step() {
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
fn a_task_that_is_allowed_in_the_middle_of_the_way_arrives_whole() {
    let world = World::of(&[SCENARIO]);
    // As if everything up to here had been held back: the task is allowed only behind it.
    let mut shipper = world.shipper("").in_parts_of(3);
    let Step::Sent(first) = shipper.step().unwrap() else { panic!("nothing was sent") };
    drop(shipper);
    let text = std::fs::read_to_string(world.cursor_path()).unwrap();
    let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
    let task = world.contents().keys().next().unwrap().0.clone();
    state["skipped"] = serde_json::json!([task]);
    state["until"] = serde_json::json!(1);
    let mut file = File::create(world.cursor_path()).unwrap();
    file.write_all(state.to_string().as_bytes()).unwrap();
    world.server.bodies.lock().unwrap().clear();
    let mut shipper = world.shipper("").in_parts_of(3);
    let mut began_anew = false;
    while let Step::Sent(sent) = shipper.step().unwrap() {
        began_anew |= sent.until == 0;
    }
    assert!(began_anew && first.until > 1);
    assert_eq!(world.contents(), expected(""));
}

/// Two parts are on their way at once: the first is lost, but only after the second has arrived.
struct Overtaken {
    memory: Arc<Memory>,
    first: u64,
    arrived: Mutex<bool>,
    news: Condvar,
}

impl Carrier for Overtaken {
    fn carry(&self, packed: &[u8]) -> Result<(), ShipError> {
        let body = unpacked(packed);
        let mut arrived = self.arrived.lock().unwrap();
        if serde_json::from_slice::<Shipment>(&body).unwrap().until > self.first {
            self.memory.bodies.lock().unwrap().push(body);
            *arrived = true;
            self.news.notify_all();
            return Ok(());
        }
        let patience = Duration::from_secs(60);
        let (_arrived, waited) =
            self.news.wait_timeout_while(arrived, patience, |arrived| !*arrived).unwrap();
        assert!(!waited.timed_out(), "nothing was sent beside the first part");
        Err(ShipError::Unreachable("lost".into()))
    }
}

#[test]
fn a_part_that_overtakes_a_lost_one_does_not_count_as_arrived() {
    let world = World::of(&[SCENARIO]);
    let first = world.outbox().after(0, 3).unwrap().until;
    let carrier = Overtaken {
        memory: Arc::clone(&world.server),
        first,
        arrived: Mutex::default(),
        news: Condvar::new(),
    };
    let error = world.shipper_by("", Box::new(carrier)).in_parts_of(3).step().unwrap_err();
    assert!(error.is_passing(), "{error}");
    assert!(!world.contents().is_empty(), "the second arrived");
    assert_eq!(Cursor::open(&world.cursor_path(), TO).unwrap().until(), 0);
    world.ship("");
    assert_eq!(world.contents(), expected(""));
}

#[test]
fn what_was_sent_before_a_part_is_lost_is_not_sent_again() {
    let world = World::of(&[SCENARIO]);
    // Of the parts of one step the first arrives, and the others are lost.
    struct OnlyFirst(Arc<Memory>, u64);
    impl Carrier for OnlyFirst {
        fn carry(&self, packed: &[u8]) -> Result<(), ShipError> {
            let body = unpacked(packed);
            match serde_json::from_slice::<Shipment>(&body).unwrap().until <= self.1 {
                true => self.0.bodies.lock().unwrap().push(body),
                false => return Err(ShipError::Unreachable("lost".into())),
            }
            Ok(())
        }
    }
    let first = world.outbox().after(0, 3).unwrap().until;
    let carrier = || Box::new(OnlyFirst(Arc::clone(&world.server), first));
    let mut shipper = world.shipper_by("", carrier()).in_parts_of(3);
    let Step::Sent(sent) = shipper.step().unwrap() else { panic!("nothing was sent") };
    assert_eq!(sent.until, first);
    assert_eq!(Cursor::open(&world.cursor_path(), TO).unwrap().until(), first);
    assert!(shipper.step().unwrap_err().is_passing());
    world.ship("");
    assert_eq!(world.contents(), expected(""));
}

#[test]
fn what_comes_while_parts_are_on_their_way_is_in_the_next_step() {
    let world = Arc::new(World::of(&[SCENARIO]));
    struct Meanwhile(Arc<World>);
    impl Carrier for Meanwhile {
        fn carry(&self, packed: &[u8]) -> Result<(), ShipError> {
            self.0.bring(scenario("2.1.325/agent_fg").observed(None));
            self.0.server.bodies.lock().unwrap().push(unpacked(packed));
            Ok(())
        }
    }
    let newest = world.outbox().newest().unwrap();
    let mut shipper = world.shipper_by("", Box::new(Meanwhile(Arc::clone(&world)))).in_parts_of(1_000_000);
    assert!(matches!(shipper.step().unwrap(), Step::Sent(sent) if sent.until == newest));
    assert!(shipper.lag().unwrap() > 0);
    assert!(matches!(shipper.step().unwrap(), Step::Sent(sent) if sent.until > newest));
    assert_eq!(shipper.step().unwrap(), Step::UpToDate);
}

#[test]
fn a_server_that_does_not_take_it_ends_the_way_where_it_is() {
    struct Refuses;
    impl Carrier for Refuses {
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
    assert_eq!(world.server.bodies.lock().unwrap().len(), sent, "it is not sent again");
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
