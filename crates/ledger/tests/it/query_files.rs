//! The files used most: what is ranked follows from what was used alone, not from the order in which it was reported.

use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::view::FileStat;
use agent_tracer_ledger::{Observed, Paging, Range};
use agent_tracer_testkit::hook;
use serde_json::json;

use crate::delivery_order::shuffled;
use crate::world::World;

const DAY: i64 = 86_400_000;

/// 2026-11-01.
const NOVEMBER: i64 = 1_793_491_200_000;

/// Returns a file that was read once at this moment, in a project.
fn read(number: usize, at: i64, project: &str, path: &str) -> Observed {
    let payload = json!({
        "session_id": format!("5b1c7e36-2d7e-4f6c-9a53-{:012}", project.len()), "cwd": project,
        "transcript_path": format!("{project}/none.jsonl"), "hook_event_name": "PostToolUse", "tool_name": "Read",
        "tool_use_id": format!("toolu_{number}"), "tool_input": { "file_path": path },
        "tool_response": { "type": "text", "file": { "filePath": path, "numLines": 4, "startLine": 1, "totalLines": 4 } },
    });
    let name = format!("read#{number}");
    hook(Agent::CLAUDE_CODE, &name, Millis(at + number as i64), false, payload.to_string().as_bytes())
}

/// Returns every page of the files of a range, so many at a time.
fn files(world: &World, range: &Range, limit: u32) -> Vec<FileStat> {
    let store = world.ledger.store();
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.files(&Range { paging: Paging { cursor, limit }, ..range.clone() }).unwrap();
        all.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return all;
        }
    }
}

#[test]
fn of_more_files_than_are_listed_the_most_used_and_then_the_first_by_name_are() {
    let mut reported = Vec::new();
    for file in 0..300 {
        for _ in 0..if file % 10 == 0 { 2 } else { 1 } {
            reported.push(read(
                reported.len(),
                NOVEMBER,
                "/home/dev/app",
                &format!("/home/dev/app/{file:03}.rs"),
            ));
        }
    }
    reported.reverse();
    let found = files(&World::with(&reported, 1_000), &Range::default(), 40);
    let twice = (0..300).filter(|file| file % 10 == 0).map(|file| (file, 2));
    let once = (0..300).filter(|file| file % 10 != 0).take(120).map(|file| (file, 1));
    let mut expected: Vec<(String, u64)> =
        twice.chain(once).map(|(file, uses)| (format!("/home/dev/app/{file:03}.rs"), uses)).collect();
    let mut listed: Vec<(String, u64)> = found.iter().map(|file| (file.path.clone(), file.reads)).collect();
    assert!(listed.is_sorted_by_key(|(_, uses)| std::cmp::Reverse(*uses)));
    expected.sort();
    listed.sort();
    assert_eq!(listed, expected);
}

#[test]
fn the_same_files_are_listed_in_the_same_order_whatever_the_order_they_were_reported_in() {
    // Two months of some days each; what is outside of every project is used by several.
    let days = [-3, -2, -1, 0, 1, 5, 9].map(|day| NOVEMBER + day * DAY);
    let mut reported = Vec::new();
    for (place, day) in days.into_iter().enumerate() {
        for file in 0..260 {
            let project = ["/home/dev/one", "/home/dev/three"][(file + place) % 2];
            let folder = if file % 5 == 0 { "/etc" } else { "/home/dev/three" };
            for _ in 0..1 + usize::from((file + place) % 7 == 0) {
                reported.push(read(reported.len(), day, project, &format!("{folder}/{file:03}.rs")));
            }
        }
    }
    let worlds = [&reported, &shuffled(&reported, 3), &shuffled(&reported, 4)]
        .map(|reported| World::with(reported, 500));
    let ranges = [
        Range::default(),
        Range { since: Some(Millis(NOVEMBER)), ..Range::default() },
        Range {
            since: Some(Millis(NOVEMBER - 2 * DAY)),
            until: Some(Millis(NOVEMBER + 2 * DAY)),
            ..Range::default()
        },
        Range { since: Some(Millis(NOVEMBER + DAY)), ..Range::default() },
        Range { project: Some("/home/dev/one".to_owned()), ..Range::default() },
    ];
    for range in &ranges {
        let expected = files(&worlds[0], range, 500);
        assert!(expected.len() >= 100, "{range:?}");
        for world in &worlds {
            let listed = files(world, range, 23);
            let text = |files: &[FileStat]| serde_json::to_string_pretty(files).unwrap();
            assert_eq!(text(&listed), text(&expected), "{range:?}");
        }
    }
}
