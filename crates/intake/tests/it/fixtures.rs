//! Every captured file, laid into agents' homes and read by this room, which must agree with the agents' readers.

use std::fs;
use std::path::{Path, PathBuf};

use agent_tracer_agents::claude::transcript::{Place, RowReading, TranscriptReader, read_meta};
use agent_tracer_agents::codex::rollout::{RolloutReader, Row};
use agent_tracer_agents::files::{Line, LineSplitter, Rules};
use agent_tracer_event::{Millis, Reading};
use agent_tracer_intake::Stop;
use agent_tracer_intake::import::{OnFailure, Plan, run};
use agent_tracer_ledger::Verdict;
use agent_tracer_privacy::Config;
use serde_json::Value;

use crate::world::{WRITTEN, World};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { below(&path, into) } else { into.push(path) }
    }
}

/// Returns every transcript, description and rollout, with its path in an agent's home.
pub(crate) fn captured() -> Vec<(String, Vec<u8>)> {
    let mut paths = Vec::new();
    below(&fixtures().join("claude-code"), &mut paths);
    let mut captured = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let relative = path.strip_prefix(fixtures().join("claude-code")).unwrap().to_str().unwrap();
        let is_other = matches!(name, "hooks.jsonl" | "truth.json") || relative.starts_with("otel");
        if is_other || Place::of(name) == Place::Other {
            continue;
        }
        captured.push((format!("claude/projects/{relative}"), fs::read(&path).unwrap()));
    }
    let rollouts = ["codex/0.166.0/rollouts", "codex/0.169.0/rollouts"];
    for path in rollouts.iter().flat_map(|folder| fs::read_dir(fixtures().join(folder)).unwrap()) {
        let path = path.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let first: Value =
            serde_json::from_slice(bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        let thread = first["payload"]["id"].as_str().unwrap();
        let scenario = path.file_stem().unwrap().to_str().unwrap();
        let name = format!("codex/sessions/2026/11/15/{scenario}/rollout-2026-11-15T19-33-11-{thread}.jsonl");
        captured.push((name, bytes));
    }
    captured.sort();
    assert!(captured.len() > 200, "{}", captured.len());
    captured
}

/// Reads a whole file with the agents' readers. Returns the readings and the number of lines without one.
fn expected(path: &Path, bytes: &[u8]) -> (Vec<Reading>, u64) {
    let config = Config::default();
    let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
    let text = path.to_str().unwrap();
    let (mut readings, mut silent) = (Vec::new(), 0);
    let mut each = |bytes: &[u8], read: &mut dyn FnMut(&[u8], u64) -> Option<Reading>| {
        let mut splitter = LineSplitter::new(0);
        let mut push = |line: &[u8], offset| match read(line, offset) {
            Some(reading) => readings.push(reading),
            None => silent += 1,
        };
        splitter.push(bytes, |line| {
            let Line::Complete { bytes, offset } = line else { panic!("no captured line is too long") };
            push(bytes, offset);
        });
        if let Some((rest, offset)) = splitter.rest() {
            push(rest, offset);
        }
    };
    if text.contains("/codex/") {
        let mut reader = RolloutReader::new(text);
        each(bytes, &mut |line, offset| match reader.read(&rules, line, offset, Millis(WRITTEN)) {
            Row::Read(reading) => Some(reading),
            Row::Malformed => panic!("{text} has a line that is no JSON"),
            Row::Skipped | Row::Copied | Row::Excluded => None,
        });
        return (readings, silent);
    }
    match Place::of(text) {
        Place::Meta(file) => match read_meta(&rules, &file, bytes, Millis(WRITTEN)) {
            reading if reading.entries.is_empty() => silent += 1,
            reading => readings.push(reading),
        },
        Place::Rows(file) => {
            let mut reader = TranscriptReader::new(file);
            each(bytes, &mut |line, offset| match reader.read(&rules, line, offset, Millis(WRITTEN)) {
                RowReading::Read(reading) => Some(reading),
                RowReading::Copied(reading) => (!reading.entries.is_empty()).then_some(reading),
                RowReading::Malformed => panic!("{text} has a line that is no JSON"),
                RowReading::Skipped | RowReading::Excluded => None,
            });
        }
        Place::Other => panic!("{text} is nothing of ours"),
    }
    (readings, silent)
}

#[track_caller]
fn assert_all_brought(world: &World, captured: &[(String, Vec<u8>)]) {
    let mut silent = 0;
    for (name, bytes) in captured {
        let path = world.path(name);
        let (readings, silent_here) = expected(&path, bytes);
        silent += silent_here;
        let observed = world.sink.observed_in(&path);
        let mut names: Vec<&String> = observed.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), observed.len(), "{name}: every row has a name of its own");
        assert_eq!(observed.len(), readings.len(), "{name}");
        for ((row, verdict), reading) in observed.into_iter().zip(readings) {
            assert_eq!(verdict, Verdict::Read(reading), "{name} {row}");
        }
    }
    assert_eq!(world.sink.skipped(), silent);
}

#[test]
fn the_whole_history_is_brought_once_and_a_second_run_writes_nothing() {
    let mut world = World::new();
    let captured = captured();
    for (name, bytes) in &captured {
        world.put(name, bytes);
    }
    let plan = Plan::make(&world.files, &world.roots(), None);
    assert_eq!((plan.found, plan.unchanged), (captured.len(), 0));
    let mut last = None;
    let summary =
        run(&world.files, &plan, OnFailure::Fail, &Stop::new(), &mut |progress| last = Some(*progress))
            .unwrap();
    assert_eq!((summary.read, summary.failed, summary.later), (captured.len(), 0, 0));
    let last = last.unwrap();
    assert_eq!((last.files, last.files_total), (captured.len(), captured.len()));
    assert_eq!(last.bytes, last.bytes_total);
    assert_all_brought(&world, &captured);

    world.restart();
    let again = Plan::make(&world.files, &world.roots(), None);
    assert_eq!((again.files.len(), again.unchanged, again.bytes), (0, captured.len(), 0));
    let attempts = world.sink.attempts();
    run(&world.files, &again, OnFailure::Fail, &Stop::new(), &mut |_| {}).unwrap();
    assert_eq!(world.sink.attempts(), attempts);
}

#[test]
fn files_that_grow_in_pieces_read_as_if_whole() {
    let mut world = World::new();
    let captured = captured();
    // Pieces of many sizes, with a restart of the program in between.
    let sizes = [977, 3, 4096, 1, 20_011, 333];
    let mut places = vec![0; captured.len()];
    let mut round = 0;
    while places.iter().zip(&captured).any(|(place, (_, bytes))| *place < bytes.len()) {
        for (index, ((name, bytes), place)) in captured.iter().zip(&mut places).enumerate() {
            // Clients write a description at once.
            let size = if name.ends_with(".meta.json") {
                bytes.len()
            } else {
                sizes[(round + index) % 6] << (round / 4).min(12)
            };
            let piece = &bytes[*place..bytes.len().min(*place + size)];
            if !piece.is_empty() {
                world.append(name, piece);
                *place += piece.len();
                world.read(name);
            }
        }
        round += 1;
        if round % 5 == 0 {
            world.restart();
        }
    }
    assert_all_brought(&world, &captured);
}
