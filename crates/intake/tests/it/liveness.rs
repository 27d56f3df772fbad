//! Processes that run, are gone, have a reused id, or are in another namespace.

use std::os::unix::fs::symlink;
use std::path::Path;

use agent_tracer_event::{Agent, Certainty, Channel, Millis, TaskKey};
use agent_tracer_intake::liveness::Liveness;
use agent_tracer_ledger::Verdict;
use agent_tracer_ledger::{AppendError, RunningProcess};

use crate::world::{Recorder, World};

fn process(pid: u32, start: u64, namespace: u64) -> RunningProcess {
    RunningProcess { task: TaskKey::new(Agent::CLAUDE_CODE, format!("s{pid}")), pid, start, namespace }
}

fn stat(world: &World, pid: u32, state: char, start: u64) {
    let line =
        format!("{pid} (a) b) (c) {state} 1 42 42 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 {start} 1000 10\n");
    world.put(&format!("proc/{pid}/stat"), line.as_bytes());
}

#[test]
fn a_process_is_gone_if_it_ended_or_its_id_belongs_to_another_now() {
    let world = World::new();
    for (pid, state, start) in [(10, 'S', 100), (11, 'S', 999), (12, 'Z', 100)] {
        stat(&world, pid, state, start);
    }
    world.put("proc/14/stat", b"14 (torn");
    std::fs::create_dir_all(world.path("proc/self/ns")).unwrap();
    symlink("pid:[7]", world.path("proc/self/ns/pid")).unwrap();
    let mut liveness = Liveness::at(&world.path("proc"));
    let running =
        || [10, 11, 12, 13, 14].map(|pid| process(pid, 100, 7)).into_iter().chain([process(15, 100, 8)]);
    assert_eq!(liveness.check(running(), &*world.sink, Millis(5)).unwrap(), 3);
    let observed = world.sink.observed();
    let names: Vec<&str> = observed.iter().map(|observed| observed.name.as_str()).collect();
    assert_eq!(names, ["gone:11:100:s11", "gone:12:100:s12", "gone:13:100:s13"]);
    for observed in &observed {
        assert_eq!(observed.channel, Channel::Hook);
        let Verdict::Read(reading) = &observed.verdict else { panic!("{observed:?}") };
        let [entry] = reading.entries.as_slice() else { panic!("{observed:?}") };
        assert_eq!(entry.metadata["processGoneAt"], 5);
        assert_eq!(entry.evidence.certainty, Certainty::Measured);
    }
    assert_eq!(liveness.check(running(), &*world.sink, Millis(9)).unwrap(), 0, "said once");
}

#[test]
fn a_report_that_failed_is_repeated_the_next_time() {
    let world = World::new();
    std::fs::create_dir_all(world.path("proc/self/ns")).unwrap();
    symlink("pid:[7]", world.path("proc/self/ns/pid")).unwrap();
    let mut liveness = Liveness::at(&world.path("proc"));
    world.sink.refuse(AppendError::DiskFull);
    assert!(liveness.check([process(13, 100, 7)], &*world.sink, Millis(5)).is_err());
    assert_eq!(liveness.check([process(13, 100, 7)], &*world.sink, Millis(6)).unwrap(), 1);
}

#[test]
fn without_a_proc_no_process_is_reported() {
    let sink = Recorder::new();
    let mut liveness = Liveness::at(Path::new("/nowhere/proc"));
    assert_eq!(liveness.check([process(13, 100, 7)], &*sink, Millis(5)).unwrap(), 0);
    assert_eq!(sink.attempts(), 0);
}

#[test]
fn this_process_is_alive() {
    let sink = Recorder::new();
    if !Path::new("/proc/self/stat").exists() {
        return;
    }
    let line = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start: u64 = line.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().parse().unwrap();
    let link = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let namespace = link.to_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
    let mut liveness = Liveness::default();
    let me = process(std::process::id(), start, namespace);
    assert_eq!(liveness.check([me.clone()], &*sink, Millis(5)).unwrap(), 0);
    let impostor = RunningProcess { start: start + 1, ..me };
    assert_eq!(liveness.check([impostor], &*sink, Millis(5)).unwrap(), 1);
}
