//! Files that are torn, cut, replaced, moved, excluded and compressed while they are read.

use std::fs::{self, File};
use std::io::Write;

use agent_tracer_event::Subject;
use agent_tracer_intake::Stop;
use agent_tracer_intake::files::{ReadError, ReadOutcome};
use agent_tracer_ledger::{AppendError, Verdict};
use proptest::prelude::*;

use crate::world::{WRITTEN, World, kind, row, rows, touch};

const FILE: &str = "claude/projects/-nowhere-shop/5a13.jsonl";
const ROLLOUT: &str = "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl";

fn names(world: &World) -> Vec<String> {
    world.sink.observed().into_iter().map(|observed| observed.name).collect()
}

#[test]
fn a_line_is_read_once_it_is_whole_and_only_once() {
    let world = World::new();
    let row = row(1);
    let (head, tail) = row.split_at(40);
    world.put(FILE, head.as_bytes());
    assert_eq!(world.read(FILE), ReadOutcome::Nothing);
    assert_eq!(world.sink.attempts(), 0, "half a line is not worth a write");
    world.append(FILE, tail.trim_end().as_bytes());
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world).len(), 1);
    // The line break comes late, with the next line.
    world.append(FILE, b"\n");
    world.read(FILE);
    world.append(FILE, self::row(2).as_bytes());
    world.read(FILE);
    assert_eq!(names(&world).len(), 2);
    assert!(names(&world)[1].starts_with(&format!("5a13@{}~", row.len())), "{:?}", names(&world));
}

#[test]
fn a_file_that_was_cut_and_written_anew_is_read_from_its_beginning() {
    let world = World::new();
    world.put(FILE, rows(0..5).as_bytes());
    world.read(FILE);
    let first = names(&world);
    world.sink.forget_rows();
    world.put(FILE, rows(0..3).as_bytes());
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world), first[..3], "what is the same has the same names");
    world.sink.forget_rows();
    world.put(FILE, rows(7..9).as_bytes());
    world.read(FILE);
    let other = names(&world);
    assert_eq!(other.len(), 2);
    assert!(other.iter().all(|name| !first.contains(name)), "another row has another name");
    assert_eq!(world.files.counts().replaced, 2);
}

#[test]
fn a_file_that_was_cut_and_grew_past_its_old_length_is_noticed() {
    let world = World::new();
    // The beginnings are equal far beyond the part that is hashed.
    let beginning = rows(0..60);
    world.put(FILE, format!("{beginning}{}", rows(60..62)).as_bytes());
    world.read(FILE);
    world.sink.forget_rows();
    world.put(FILE, format!("{beginning}{}", rows(70..80)).as_bytes());
    world.read(FILE);
    let names = names(&world);
    assert_eq!(names.len(), 70, "all of it is read again, so nothing is missed");
}

#[test]
fn a_file_that_was_replaced_deleted_or_made_again_is_read_anew() {
    let world = World::new();
    world.put(FILE, rows(0..2).as_bytes());
    world.read(FILE);
    world.put("claude/projects/-nowhere-shop/new", rows(0..3).as_bytes());
    fs::rename(world.path("claude/projects/-nowhere-shop/new"), world.path(FILE)).unwrap();
    world.read(FILE);
    assert_eq!(names(&world).len(), 2 + 3);
    fs::remove_dir_all(world.path("claude")).unwrap();
    assert_eq!(world.read(FILE), ReadOutcome::Gone);
    world.put(FILE, rows(5..6).as_bytes());
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world).len(), 2 + 3 + 1);
    // Emptied, and filled again.
    world.put(FILE, b"");
    world.read(FILE);
    world.put(FILE, rows(8..10).as_bytes());
    world.read(FILE);
    assert_eq!(names(&world).len(), 2 + 3 + 1 + 2);
}

#[test]
fn after_a_start_of_the_program_reading_goes_on_where_it_was() {
    let mut world = World::new();
    world.put(FILE, rows(0..3).as_bytes());
    world.read(FILE);
    world.restart();
    assert_eq!(world.read(FILE), ReadOutcome::Nothing);
    world.append(FILE, rows(3..4).as_bytes());
    world.restart();
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world).len(), 4);
    assert_eq!(world.files.counts().replaced, 0);
    assert_eq!(world.files.counts().bytes, row(3).len() as u64, "only the new row was read");
}

#[test]
fn a_refused_batch_is_brought_the_next_time() {
    let world = World::new();
    world.put(FILE, rows(0..3).as_bytes());
    world.read(FILE);
    world.append(FILE, rows(3..5).as_bytes());
    for _ in 0..3 {
        world.sink.refuse(AppendError::DiskFull);
        let path = world.path(FILE);
        assert!(world.files.read(&path, &kind(&path), &Stop::new()).is_err());
    }
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world).len(), 5);
}

#[test]
fn batches_are_bounded_and_each_carries_its_position() {
    let world = World::new();
    let text = rows(0..4100);
    let path = world.put(FILE, text.as_bytes());
    world.read(FILE);
    let batches = world.sink.batches();
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.observed.len()).collect();
    assert_eq!(sizes, [2000, 2000, 100]);
    let offsets: Vec<u64> = batches.iter().map(|batch| batch.cursors[0].offset).collect();
    assert_eq!(offsets[2], text.len() as u64);
    assert_eq!(offsets[0], rows(0..2000).len() as u64);
    assert!(batches.iter().all(|batch| batch.cursors[0].source == path.to_str().unwrap()));
}

#[test]
fn long_rows_fill_a_batch_by_their_bytes() {
    let world = World::new();
    let long = row(1).replace("prompt number 1", &"word ".repeat(300_000));
    world.put(FILE, long.repeat(7).as_bytes());
    world.read(FILE);
    let sizes: Vec<usize> = world.sink.batches().iter().map(|batch| batch.observed.len()).collect();
    assert_eq!(sizes, [3, 3, 1]);
}

#[test]
fn a_run_that_died_in_the_middle_of_a_file_is_continued() {
    let mut world = World::new();
    world.put(FILE, rows(0..4100).as_bytes());
    // The third batch is refused, which ends the run.
    let path = world.path(FILE);
    world.sink.refuse(AppendError::Closed);
    assert!(world.files.read(&path, &kind(&path), &Stop::new()).is_err());
    assert_eq!(names(&world).len(), 0);
    let stop = Stop::new();
    stop.request();
    assert_eq!(world.files.read(&path, &kind(&path), &stop).unwrap(), ReadOutcome::Stopped);
    world.read(FILE);
    world.restart();
    // A cursor from the middle shows that there is more, although nothing in the file has changed.
    let middle = world.sink.batches()[0].cursors[0].clone();
    agent_tracer_intake::Sink::append(
        &*world.sink,
        agent_tracer_ledger::Batch { cursors: vec![middle], ..Default::default() },
    )
    .unwrap();
    world.sink.forget_rows();
    world.restart();
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(names(&world).len(), 2100);
}

#[test]
fn rows_that_are_no_json_are_malformed_and_do_not_stop_the_others() {
    let world = World::new();
    world.put(FILE, format!("{}garbage\n[1]\n{}\u{0}\u{0}\n", row(0), row(1)).as_bytes());
    world.read(FILE);
    let malformed =
        world.sink.observed().iter().filter(|it| matches!(it.verdict, Verdict::Malformed(_))).count();
    assert_eq!((names(&world).len(), malformed), (5, 3));
}

#[test]
fn nothing_is_brought_of_an_excluded_directory_or_of_files_beside_it() {
    let world = World::new();
    world.put("home/privacy.conf", b"exclude /nowhere/shop/**\nexclude /nowhere/shop\n");
    let meta = "claude/projects/-nowhere-shop/5a13/subagents/agent-a1.meta.json";
    world.put(meta, br#"{"agentType":"Explore","description":"secret plan"}"#);
    assert_eq!(world.read(meta), ReadOutcome::Later, "the session's directory is not known yet");
    world.put(FILE, format!("{}garbage\n{}", row(0), row(1)).as_bytes());
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert_eq!(world.read(meta), ReadOutcome::Nothing);
    assert_eq!(names(&world), Vec::<String>::new());
    assert_eq!(world.sink.skipped(), 3);
    let state = String::from_utf8(world.sink.batches()[0].cursors[0].state.clone()).unwrap();
    assert!(!state.contains("/nowhere/shop"), "{state}");
}

#[test]
fn a_description_beside_a_session_that_may_be_recorded_is_read_once_that_is_known() {
    let world = World::new();
    world.put("home/privacy.conf", b"exclude /elsewhere/**\n");
    let meta = "claude/projects/-nowhere-shop/5a13/subagents/agent-a1.meta.json";
    world.put(meta, br#"{"agentType":"Explore","spawnDepth":1}"#);
    assert_eq!(world.read(meta), ReadOutcome::Later);
    world.put(FILE, rows(0..1).as_bytes());
    world.read(FILE);
    assert_eq!(world.read(meta), ReadOutcome::Read);
    assert_eq!(world.read(meta), ReadOutcome::Nothing);
    assert!(names(&world)[1].starts_with("5a13/agent-a1.meta~"), "{:?}", names(&world));
}

#[test]
fn a_description_that_is_half_written_is_read_later_and_a_broken_one_counted() {
    let world = World::new();
    let meta = "claude/projects/-nowhere-shop/5a13/subagents/agent-a1.meta.json";
    world.put(meta, br#"{"agentType":"Ex"#);
    assert_eq!(world.read(meta), ReadOutcome::Later);
    world.put(meta, br#"{"agentType":"Explore"}"#);
    assert_eq!(world.read(meta), ReadOutcome::Read);
    world.put(meta, b"{");
    world.set_now(WRITTEN + 60_000);
    assert_eq!(world.read(meta), ReadOutcome::Read);
    assert!(matches!(world.sink.observed()[1].verdict, Verdict::Malformed(_)));
    assert_eq!(world.read(meta), ReadOutcome::Nothing);
}

#[test]
fn an_exclusion_that_is_made_later_applies_from_the_next_row() {
    let mut world = World::new();
    let rollout = format!("codex/sessions/2026/11/15/{ROLLOUT}");
    let content = rollout_rows();
    let half = content.iter().take(content.len() / 2).rposition(|byte| *byte == b'\n').unwrap() + 1;
    for restarts in [false, true] {
        world.put("home/privacy.conf", b"");
        world.put(FILE, rows(0..2).as_bytes());
        world.read(FILE);
        world.put(&rollout, &content[..half]);
        world.read(&rollout);
        let before = names(&world).len();
        world.put("home/privacy.conf", b"exclude /nowhere/shop\nexclude /home/dev/project\n");
        if restarts {
            world.restart();
        }
        world.append(FILE, rows(2..4).as_bytes());
        world.read(FILE);
        world.append(&rollout, &content[half..]);
        world.read(&rollout);
        assert_eq!(names(&world).len(), before);
        world.put("home/privacy.conf", b"# nothing is excluded any more\n");
        world.append(FILE, rows(4..5).as_bytes());
        world.read(FILE);
        assert_eq!(names(&world).len(), before + 1);
        world.with_new_sink();
    }
}

#[test]
fn a_task_gets_its_first_project_and_keeps_it() {
    let world = World::new();
    let moved = row(1).replace("/nowhere/shop", "/nowhere/other");
    world.put(FILE, format!("{}{moved}", row(0)).as_bytes());
    world.read(FILE);
    let projects: Vec<String> = world
        .sink
        .observed()
        .into_iter()
        .filter_map(|observed| match observed.verdict {
            Verdict::Read(reading) => Some(reading.entries),
            _ => None,
        })
        .flatten()
        .filter(|entry| entry.subject == Subject::Task)
        .filter_map(|entry| Some(entry.metadata.get("project")?.as_str()?.to_owned()))
        .collect();
    assert_eq!(projects, ["/nowhere/shop", "/nowhere/shop"]);
}

#[test]
fn the_last_words_of_an_old_client_are_brought_once_the_file_is_quiet() {
    let world = World::new();
    // Old clients do not record why a message ended.
    let words = concat!(
        r#"{"type":"assistant","uuid":"a1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","#,
        r#""message":{"id":"msg_1","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"#,
        r#""stop_reason":null,"usage":{"input_tokens":1,"output_tokens":2}}}"#,
        "\n"
    );
    world.put(FILE, format!("{}{words}", row(0)).as_bytes());
    world.read(FILE);
    let said = |world: &World| names(world).iter().any(|name| name.ends_with("~end"));
    assert!(!said(&world));
    assert_eq!(world.read(FILE), ReadOutcome::Nothing);
    world.set_now(WRITTEN + 3_600_000);
    assert_eq!(world.read(FILE), ReadOutcome::Read);
    assert!(said(&world));
    assert_eq!(world.read(FILE), ReadOutcome::Nothing);
}

fn rollout_rows() -> Vec<u8> {
    fs::read(crate::fixtures::fixtures().join("codex/0.166.0/rollouts/shell_ok.jsonl")).unwrap()
}

#[test]
fn a_compressed_rollout_reads_as_the_plain_one() {
    let world = World::new();
    let plain = format!("codex/sessions/2026/11/15/{ROLLOUT}");
    let archived = format!("codex/archived_sessions/{ROLLOUT}.zst");
    world.put(&plain, &rollout_rows());
    world.read(&plain);
    let first = names(&world);
    assert!(first.len() > 5);
    world.sink.forget_rows();
    let content = rollout_rows();
    let (head, tail) = content.split_at(content.len() / 3);
    // Two frames, one after the other.
    let mut bytes = compress(head);
    bytes.extend(compress(tail));
    world.put(&archived, &bytes);
    assert_eq!(world.read(&archived), ReadOutcome::Read);
    assert_eq!(names(&world), first);
    assert_eq!(world.read(&archived), ReadOutcome::Nothing);
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn a_damaged_archive_is_an_error_that_is_not_repeated_until_it_changes() {
    let world = World::new();
    let archived = format!("codex/archived_sessions/{ROLLOUT}.zst");
    let bytes = compress(&rollout_rows());
    let path = world.put(&archived, &bytes[..bytes.len() / 2]);
    let kind = kind(&path);
    assert!(world.files.read(&path, &kind, &Stop::new()).is_err());
    let found = |world: &World| {
        let mut all = Vec::new();
        for root in world.roots() {
            agent_tracer_intake::files::find(&root, &mut |found| all.push(found));
        }
        assert_eq!(all.len(), 1);
        world.files.is_news(&all[0])
    };
    assert!(!found(&world));
    world.put(&archived, &bytes);
    touch(&File::open(&path).unwrap(), WRITTEN + 1);
    assert!(found(&world));
    assert_eq!(world.files.read(&path, &kind, &Stop::new()).unwrap(), ReadOutcome::Read);
}

#[test]
fn a_rollout_that_is_moved_to_the_archive_brings_no_new_names() {
    let world = World::new();
    let plain = format!("codex/sessions/2026/11/15/{ROLLOUT}");
    let archived = format!("codex/archived_sessions/{ROLLOUT}");
    world.put(&plain, &rollout_rows());
    world.read(&plain);
    let first = names(&world);
    world.sink.forget_rows();
    fs::create_dir_all(world.path("codex/archived_sessions")).unwrap();
    fs::rename(world.path(&plain), world.path(&archived)).unwrap();
    assert_eq!(world.read(&plain), ReadOutcome::Gone);
    world.read(&archived);
    assert_eq!(names(&world), first);
}

#[test]
fn a_path_that_is_no_regular_file_does_not_block() {
    let world = World::new();
    fs::create_dir_all(world.path(FILE)).unwrap();
    assert_eq!(world.read(FILE), ReadOutcome::Gone);
    let pipe = world.path("claude/projects/-nowhere-shop/6b.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    assert_eq!(world.files.read(&pipe, &kind(&pipe), &Stop::new()).unwrap(), ReadOutcome::Gone);
}

/// Returns rows of every kind, whole and broken.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0..50_usize).prop_map(row),
        1 => Just("\n".to_owned()),
        1 => Just("garbage\n".to_owned()),
        1 => Just("{\"type\":\"mode\",\"sessionId\":\"5a13\"}\r\n".to_owned()),
        1 => Just("{\"type\":\"never-seen\",\"sessionId\":\"5a13\",\"uuid\":\"x\"}\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_file_reads_the_same_however_it_grows(
        lines in proptest::collection::vec(any_line(), 0..12),
        ends in any::<bool>(),
        cuts in proptest::collection::vec((0..4000_usize, any::<bool>()), 0..8),
    ) {
        let mut text: String = lines.concat();
        if !ends {
            text.truncate(text.trim_end().len());
        }
        let whole = World::new();
        whole.put(FILE, text.as_bytes());
        whole.read(FILE);
        let mut parts = World::new();
        let mut cuts: Vec<(usize, bool)> = cuts.into_iter().map(|(cut, restart)| (cut.min(text.len()), restart)).collect();
        cuts.push((text.len(), false));
        cuts.sort_unstable();
        parts.put(FILE, b"");
        let mut from = 0;
        for (cut, restart) in cuts {
            let file = fs::OpenOptions::new().append(true).open(parts.path(FILE)).unwrap();
            (&file).write_all(&text.as_bytes()[from..cut]).unwrap();
            touch(&file, WRITTEN);
            from = cut;
            parts.read(FILE);
            if restart {
                parts.restart();
            }
        }
        let observed = |world: &World| world.sink.observed_in(&world.path(FILE));
        prop_assert_eq!(observed(&parts), observed(&whole));
        prop_assert_eq!(parts.sink.skipped(), whole.sink.skipped());
    }
}

#[test]
fn a_file_that_the_sink_does_not_take_is_parked_and_tried_again_less_and_less_often() {
    let world = World::new();
    let path = world.put(FILE, rows(0..2).as_bytes());
    let attempt = || world.files.read(&path, &kind(&path), &Stop::new());
    world.sink.poison(Some("5a13.jsonl"));
    let mut now = WRITTEN;
    for pause in [5_000, 10_000, 20_000] {
        assert!(matches!(attempt(), Err(ReadError::Parked { .. })));
        assert_eq!((world.files.counts().parked, world.files.due().len()), (1, 0));
        assert_eq!(attempt().unwrap(), ReadOutcome::Nothing, "it waits");
        now += pause;
        world.set_now(now - 1);
        assert!(world.files.due().is_empty(), "not before its pause is over");
        world.set_now(now);
        assert_eq!(world.files.due(), std::slice::from_ref(&path));
    }
    world.sink.poison(None);
    assert_eq!(attempt().unwrap(), ReadOutcome::Read);
    assert_eq!((world.files.counts().parked, world.sink.observed().len()), (0, 2));
}
