//! Files that grow while they are followed.

use std::fs;
use std::sync::Arc;
use std::thread::JoinHandle;

use agent_tracer_intake::Stop;
use agent_tracer_intake::tail::{Tail, Waker};
use agent_tracer_ledger::{AppendError, Batch};

use crate::world::{World, row, rows};

const FILE: &str = "claude/projects/-nowhere-shop/5a13.jsonl";

struct Running {
    stop: Stop,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(world: &World, polls: bool, history: bool) -> Self {
        let make = if polls { Tail::polling } else { Tail::new };
        let (mut tail, waker) = make(Arc::clone(&world.files), world.roots());
        if history {
            tail.read_everything();
        }
        let stop = Stop::new();
        let stopping = stop.clone();
        Self { stop, waker, thread: Some(std::thread::spawn(move || tail.run(&stopping))) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn has(rows: usize) -> impl Fn(&[Batch]) -> bool {
    move |batches| batches.iter().map(|batch| batch.observed.len()).sum::<usize>() >= rows
}

#[test]
fn every_row_is_brought_as_it_is_written() {
    let world = World::new();
    world.put(FILE, rows(0..1).as_bytes());
    let _running = Running::start(&world, false, false);
    for number in 1..=40 {
        world.append(FILE, row(number).as_bytes());
        world.sink.wait_until("a row", has(number + 1));
    }
    world.sink.wait_until("no row twice", |batches| {
        batches.iter().map(|batch| batch.observed.len()).sum::<usize>() == 41
    });
}

#[test]
fn folders_that_do_not_exist_yet_are_followed_once_they_do() {
    let world = World::new();
    let _running = Running::start(&world, false, false);
    world.put(FILE, rows(0..2).as_bytes());
    world.sink.wait_until("the first folder", has(2));
    // A folder that is made and filled at once, and a file in a deeper folder.
    world.put("claude/projects/-other/7c/subagents/agent-b.jsonl", rows(5..6).as_bytes());
    world.sink.wait_until("a new folder", has(3));
    fs::remove_dir_all(world.path("claude")).unwrap();
    // Times of change are fixed here, so only another length makes it another file.
    world.put(FILE, rows(7..10).as_bytes());
    world.sink.wait_until("the folder that was made again", has(6));
    world.append(FILE, rows(10..11).as_bytes());
    world.sink.wait_until("and goes on", has(7));
}

#[test]
fn existing_files_are_read_on_request() {
    let world = World::new();
    world.put(FILE, rows(0..3).as_bytes());
    let _running = Running::start(&world, false, true);
    world.sink.wait_until("the history", has(3));
}

#[test]
fn without_a_watcher_files_are_followed_too() {
    let world = World::new();
    world.put(FILE, rows(0..1).as_bytes());
    let _running = Running::start(&world, true, true);
    world.sink.wait_until("the history", has(1));
    world.append(FILE, rows(1..2).as_bytes());
    world.sink.wait_until("an appended row", has(2));
    world.put("claude/projects/-other/9d.jsonl", rows(3..4).as_bytes());
    world.sink.wait_until("a new file", has(3));
}

#[test]
fn a_sink_that_took_nothing_gets_the_rows_later() {
    let world = World::new();
    world.put(FILE, rows(0..1).as_bytes());
    for _ in 0..2 {
        world.sink.refuse(AppendError::DiskFull);
    }
    let _running = Running::start(&world, false, true);
    world.sink.wait_until("the row after two refusals", has(1));
    assert_eq!(world.sink.attempts(), 3);
}

#[test]
fn a_file_that_is_cut_and_replaced_while_it_is_followed_is_read_anew() {
    let world = World::new();
    world.put(FILE, rows(0..4).as_bytes());
    let _running = Running::start(&world, false, true);
    world.sink.wait_until("the history", has(4));
    world.put(FILE, rows(20..22).as_bytes());
    world.sink.wait_until("the new content", has(6));
    world.put("claude/projects/-nowhere-shop/next", rows(30..31).as_bytes());
    fs::rename(world.path("claude/projects/-nowhere-shop/next"), world.path(FILE)).unwrap();
    world.sink.wait_until("the replacement", has(7));
}

#[test]
fn every_fixture_that_grows_while_it_is_followed_is_brought_whole() {
    let world = World::new();
    let captured: Vec<_> = crate::fixtures::captured()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".jsonl"))
        .step_by(7)
        .collect();
    let _running = Running::start(&world, false, false);
    for part in 0..4 {
        for (name, bytes) in &captured {
            let size = bytes.len().div_ceil(4);
            let piece = bytes.get(part * size..bytes.len().min((part + 1) * size)).unwrap_or_default();
            world.append(name, piece);
        }
    }
    let whole = World::new();
    for (name, bytes) in &captured {
        whole.put(name, bytes);
        whole.read(name);
    }
    let expected = whole.sink.observed().len();
    world.sink.wait_until("all rows", has(expected));
    for (name, _) in &captured {
        let names = |world: &World| {
            world.sink.observed_in(&world.path(name)).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&world), names(&whole), "{name}");
    }
}

#[test]
fn nothing_waits_behind_a_file_that_the_sink_does_not_take() {
    let world = World::new();
    world.sink.poison(Some("5a13.jsonl"));
    world.put(FILE, rows(0..2).as_bytes());
    world.put("claude/projects/-nowhere-shop/fresh.jsonl", rows(5..8).as_bytes());
    let _running = Running::start(&world, false, true);
    world.sink.wait_until("the file behind it", has(3));
    assert_eq!(world.files.counts().parked, 1);
}
