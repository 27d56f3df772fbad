//! The plan, the stops and the counts of an import.

use agent_tracer_ledger::AppendError;
use std::fs;
use std::fs::File;

use agent_tracer_event::Millis;
use agent_tracer_intake::Stop;
use agent_tracer_intake::import::{OnFailure, Plan, run};

use crate::world::{WRITTEN, World, rows, touch};

fn file(number: usize) -> String {
    format!("claude/projects/-nowhere-shop/5a1{number}.jsonl")
}

fn history(world: &World, files: usize) {
    for number in 0..files {
        let text = rows(number * 10..number * 10 + 3).replace("5a13", &format!("5a1{number}"));
        world.put(&file(number), text.as_bytes());
    }
}

#[test]
fn only_what_changed_since_a_moment_is_read() {
    let world = World::new();
    history(&world, 3);
    touch(&File::open(world.path(&file(1))).unwrap(), WRITTEN - 86_400_000);
    let plan = Plan::make(&world.files, &world.roots(), Some(Millis(WRITTEN)));
    assert_eq!((plan.found, plan.too_old, plan.files.len()), (3, 1, 2));
}

#[test]
fn the_newest_files_come_first() {
    let world = World::new();
    history(&world, 3);
    touch(&File::open(world.path(&file(1))).unwrap(), WRITTEN + 5);
    touch(&File::open(world.path(&file(2))).unwrap(), WRITTEN - 5);
    let plan = Plan::make(&world.files, &world.roots(), None);
    let order: Vec<_> = plan.files.iter().map(|found| found.path.clone()).collect();
    assert_eq!(order, [world.path(&file(1)), world.path(&file(0)), world.path(&file(2))]);
}

#[test]
fn one_appended_row_is_all_that_a_second_run_reads() {
    let mut world = World::new();
    history(&world, 3);
    let plan = Plan::make(&world.files, &world.roots(), None);
    run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    let added = rows(55..56);
    world.append(&file(2), added.as_bytes());
    world.restart();
    let plan = Plan::make(&world.files, &world.roots(), None);
    assert_eq!((plan.files.len(), plan.bytes), (1, added.len() as u64));
    let summary = run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!((summary.counts.rows, summary.counts.bytes), (1, added.len() as u64));
}

#[test]
fn a_sink_that_takes_nothing_ends_an_import_without_patience() {
    let mut world = World::new();
    history(&world, 5);
    for _ in 0..2 {
        world.sink.refuse(AppendError::DiskFull);
    }
    let plan = Plan::make(&world.files, &world.roots(), None);
    let refused = run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {});
    assert_eq!(refused.unwrap_err(), AppendError::DiskFull);
    world.restart();
    let plan = Plan::make(&world.files, &world.roots(), None);
    // A second thread may have met the second refusal, or not.
    let _may_be_refused = run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).is_err();
    world.restart();
    let plan = Plan::make(&world.files, &world.roots(), None);
    run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    let mut names: Vec<String> = world.sink.observed().into_iter().map(|it| it.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 15);
}

#[test]
fn an_import_with_patience_waits_for_the_sink() {
    let world = World::new();
    history(&world, 2);
    world.sink.refuse(AppendError::DiskFull);
    let plan = Plan::make(&world.files, &world.roots(), None);
    let summary = run(&world.files, &plan, OnFailure::Wait, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!((summary.read, summary.counts.rows), (2, 6));
}

#[test]
fn a_stopped_import_is_continued() {
    let mut world = World::new();
    history(&world, 4);
    let stop = Stop::new();
    stop.request();
    let plan = Plan::make(&world.files, &world.roots(), None);
    assert!(run(&world.files, &plan, OnFailure::Fail, &stop, &mut |_| {}).unwrap().is_stopped);
    assert_eq!(world.sink.observed(), []);
    world.restart();
    let plan = Plan::make(&world.files, &world.roots(), None);
    run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!(world.sink.observed().len(), 12);
}

#[test]
fn a_sink_that_forgot_everything_is_brought_everything_under_the_same_names() {
    let mut world = World::new();
    history(&world, 3);
    let names = |world: &World| {
        let mut names: Vec<String> = world.sink.observed().into_iter().map(|it| it.name).collect();
        names.sort();
        names
    };
    let plan = Plan::make(&world.files, &world.roots(), None);
    run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    let first = names(&world);
    world.with_new_sink();
    let plan = Plan::make(&world.files, &world.roots(), None);
    run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!(names(&world), first);
}

#[test]
fn a_file_that_cannot_be_read_does_not_stop_the_others() {
    let world = World::new();
    history(&world, 2);
    let rollout = "codex/sessions/rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl.zst";
    world.put(rollout, b"this is no archive");
    let plan = Plan::make(&world.files, &world.roots(), None);
    let summary = run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!((summary.read, summary.failed), (2, 1));
    assert!(summary.failures[0].to_string().contains("cannot read `"), "{}", summary.failures[0]);
    fs::remove_file(world.path(rollout)).unwrap();
}
