//! Any order of actions, each of which may be cut short by death.

use proptest::prelude::*;

use super::{HomeModel, LONG_AFTER};

/// More steps than any action takes: it lives.
const LIVES: usize = 1_000_000;

#[derive(Debug, Clone)]
enum Action {
    /// Few times and pids, so that processes of different namespaces draw the same names.
    Write {
        nanos: u64,
        pid: u32,
        dies_at: usize,
    },
    Open {
        dies_at: usize,
    },
    Deliver {
        max_files: usize,
        dies_at: usize,
    },
    Commit,
    Ack {
        dies_at: usize,
    },
    PutBack,
    Sweep {
        now_nanos: u64,
        dies_at: usize,
    },
    KillReader,
}

fn death(steps: usize) -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(LIVES), 1 => 0..steps]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (1..4u64, 7..9u32, death(14)).prop_map(|(nanos, pid, dies_at)| Action::Write { nanos, pid, dies_at }),
        2 => death(60).prop_map(|dies_at| Action::Open { dies_at }),
        4 => (1..6usize, death(4)).prop_map(|(max_files, dies_at)| Action::Deliver { max_files, dies_at }),
        3 => Just(Action::Commit),
        3 => death(8).prop_map(|dies_at| Action::Ack { dies_at }),
        1 => Just(Action::PutBack),
        2 => (prop_oneof![Just(2), Just(LONG_AFTER)], death(8))
            .prop_map(|(now_nanos, dies_at)| Action::Sweep { now_nanos, dies_at }),
        1 => Just(Action::KillReader),
    ]
}

fn act(world: &mut HomeModel, action: &Action) {
    match *action {
        Action::Write { nanos, pid, dies_at } => world.write(nanos, pid, dies_at),
        Action::Open { dies_at } => world.open(dies_at),
        Action::Deliver { max_files, dies_at } => world.deliver(max_files, dies_at),
        Action::Commit => world.commit(),
        Action::Ack { dies_at } => world.ack(dies_at),
        Action::PutBack => world.put_back(),
        Action::Sweep { now_nanos, dies_at } => world.sweep(now_nanos, dies_at),
        Action::KillReader => world.kill_reader(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_accepted_envelope_is_lost_when_processes_die(actions in prop::collection::vec(action(), 1..60)) {
        let mut world = HomeModel::new();
        for action in &actions {
            act(&mut world, action);
        }
        world.keep_promises();
    }
}

#[test]
fn a_writer_may_die_at_each_of_its_steps() {
    let mut deaths = 0;
    for dies_at in 0..64 {
        for prepared in [false, true] {
            let mut world = HomeModel::new();
            if prepared {
                world.spool.prepare().unwrap();
            }
            world.write(1, 7, LIVES);
            world.write(1, 7, dies_at);
            world.write(1, 7, LIVES);
            deaths += usize::from(world.results[&1] == super::WriteResult::Nothing);
            assert_eq!(world.results[&2], super::WriteResult::Accepted, "a dead writer blocks no other");
            world.keep_promises();
        }
    }
    assert!((10..64).contains(&deaths), "some budgets are deadly, some are enough: {deaths}");
}

#[test]
fn the_reader_may_die_at_each_of_its_steps() {
    for dies_at in 0..80 {
        let mut world = HomeModel::new();
        for pid in 1..6 {
            world.write(1, pid, LIVES);
        }
        world.write(1, 1, 4);
        world.open(dies_at);
        world.deliver(3, dies_at);
        world.commit();
        world.ack(dies_at);
        world.sweep(LONG_AFTER, dies_at);
        world.deliver(3, LIVES);
        world.keep_promises();
    }
}

#[test]
fn unacked_envelopes_are_delivered_again_after_a_restart() {
    let mut world = HomeModel::new();
    for pid in 1..5 {
        world.write(1, pid, LIVES);
    }
    world.open(LIVES);
    world.deliver(3, LIVES);
    let first = world.held.as_ref().unwrap().numbers.clone();
    world.open(LIVES);
    world.deliver(3, LIVES);
    assert_eq!(world.held.as_ref().unwrap().numbers, first);
    world.commit();
    world.ack(LIVES);
    world.deliver(3, LIVES);
    assert_eq!(world.held.as_ref().unwrap().numbers, vec![3]);
    world.keep_promises();
}
