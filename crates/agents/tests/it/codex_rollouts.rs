//! Codex's rollouts from outside: every captured file, row by row.

use std::collections::BTreeSet;

use agent_tracer_agents::codex::rollout::{RolloutReader, RolloutState, Row, Rules};
use agent_tracer_event::{Millis, Phase, Subject, Unrecognised};
use agent_tracer_privacy::{Config, Level};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::codex_fixtures::{LEVELS, entries, lines, read_rollout, read_row, read_rows, rollouts};

#[test]
fn every_captured_row_is_understood_at_every_level() {
    for (name, content) in rollouts() {
        for level in LEVELS {
            let unknown: Vec<Unrecognised> = read_rollout(&name, &content, level)
                .into_iter()
                .flat_map(|reading| reading.unrecognised)
                .collect();
            // The model called a tool that does not exist; that is what the scenario is about.
            let expected =
                if name == "unknown_tool" { vec![Unrecognised::Tool("no_such_tool".into())] } else { vec![] };
            assert_eq!(unknown, expected, "{name}");
        }
    }
}

#[test]
fn every_entry_is_complete() {
    for (name, content) in rollouts() {
        for level in LEVELS {
            for entry in entries(&name, &content, level) {
                assert!(entry.occurred_at.0 > 1_700_000_000_000, "{name}: {entry:?}");
                assert!(entry.ended_at.is_none_or(|end| end >= entry.occurred_at), "{name}: {entry:?}");
                assert!(entry.evidence.reason.starts_with("rollout: "), "{name}: {entry:?}");
                assert!(entry.task.runtime_session.len() == 36, "{name}: {entry:?}");
                if entry.phase == Phase::Open && matches!(entry.subject, Subject::Event(_)) {
                    let title = entry.title.as_deref().unwrap_or_default();
                    assert!(!title.is_empty() && title.chars().count() <= 120, "{name}: {entry:?}");
                    assert!(!title.chars().any(char::is_control), "{name}: {title}");
                }
            }
        }
    }
}

/// A row with its members in another order, so that its beginning gives nothing away.
fn reordered(row: &[u8]) -> Vec<u8> {
    let row: Value = serde_json::from_slice(row).unwrap();
    let mut members: Vec<(String, Value)> = row.as_object().unwrap().clone().into_iter().collect();
    members.reverse();
    serde_json::to_vec(&Value::Object(members.into_iter().collect())).unwrap()
}

#[test]
fn skipping_by_the_beginning_of_a_row_changes_nothing() {
    let mut skipped = 0;
    for (name, content) in rollouts() {
        for level in LEVELS {
            let (mut fast, mut slow) = (RolloutReader::new(&name), RolloutReader::new(&name));
            for (offset, row) in lines(&content) {
                let read = read_row(&mut fast, level, &row, offset);
                skipped += usize::from(read == Row::Skipped);
                let reread = read_row(&mut slow, level, &reordered(&row), offset);
                // A copied row that says nothing may be skipped before anybody knows that it is a copy.
                if read != Row::Skipped || reread != Row::Copied {
                    assert_eq!(read, reread, "{name}@{offset}");
                }
            }
        }
    }
    assert!(skipped > 1000);
}

#[test]
fn reading_goes_on_after_a_restart_as_if_it_had_never_stopped() {
    for (name, content) in rollouts() {
        let whole = read_rows(&name, &content, Level::Full);
        let mut state = RolloutState::default();
        for (number, (offset, row)) in lines(&content).into_iter().enumerate() {
            let stored = serde_json::to_string(&state).unwrap();
            assert!(stored.len() < 8192, "{name}: the state stays small");
            let mut reader = RolloutReader::resume(&name, serde_json::from_str(&stored).unwrap());
            assert_eq!(read_row(&mut reader, Level::Full, &row, offset), whole[number], "{name}@{offset}");
            state = reader.state().clone();
        }
    }
}

#[test]
fn reading_a_file_twice_gives_the_same_facts() {
    for (name, content) in rollouts() {
        assert_eq!(read_rows(&name, &content, Level::Actions), read_rows(&name, &content, Level::Actions));
        // Archived and compressed under another path, it is the same file.
        let stem = "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484";
        let here = read_rows(&format!("/a/sessions/2026/11/15/{stem}.jsonl"), &content, Level::Actions);
        assert_eq!(
            here,
            read_rows(&format!("/a/archived_sessions/{stem}.jsonl.zst"), &content, Level::Actions)
        );
    }
}

#[test]
fn an_excluded_folder_gives_no_entries() {
    let (config, faults) = Config::parse(b"exclude /home/dev/**\n");
    assert_eq!(faults, []);
    for (name, content) in rollouts() {
        let mut reader = RolloutReader::new(&name);
        for (offset, row) in lines(&content) {
            let rules = Rules { config: &config, hash_key: [0; 16], home_dir: None };
            let row = reader.read(&rules, &row, offset, Millis(0));
            assert!(matches!(row, Row::Excluded | Row::Copied), "{name}@{offset}: {row:?}");
        }
    }
}

#[test]
fn torn_strange_and_hostile_lines_are_rows_like_any_other() {
    let mut reader = RolloutReader::new("x");
    for (row, expected) in [
        (&b"{\"timestamp\":\"2026"[..], Row::Malformed),
        (b"not json", Row::Malformed),
        (b"[]", Row::Malformed),
        (b"{}}", Row::Malformed),
        (b"\xff\xfe\x00", Row::Malformed),
    ] {
        assert_eq!(read_row(&mut reader, Level::Actions, row, 0), expected);
    }
    let deep = format!(
        "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"name\":\"mcp\",\"call_id\":\"c\",\"arguments\":{}}}}}",
        serde_json::to_string(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).unwrap()
    );
    assert!(matches!(read_row(&mut reader, Level::Actions, deep.as_bytes(), 0), Row::Read(_)));
    let marked = b"\xef\xbb\xbf{\"type\":\"session_meta\",\"payload\":{\"id\":\"thread\",\"cwd\":\"\xff\"}}";
    let Row::Read(reading) = read_row(&mut reader, Level::Actions, marked, 0) else { panic!("it is read") };
    assert_eq!(reading.entries[0].task.runtime_session, "thread");
    assert_eq!(reading.entries[0].metadata["cwd"], "\u{fffd}");
}

#[test]
fn no_row_is_lost_because_a_member_is_missing_or_odd() {
    let odd =
        [json!(null), json!(7), json!("odd"), json!([1]), json!({"a": {"b": []}}), json!(true), json!(-1)];
    /// Every path to a member of a value, three levels deep.
    fn paths(value: &Value, at: &str, levels: usize, into: &mut Vec<String>) {
        let Value::Object(members) = value else { return };
        for (name, member) in members {
            let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            into.push(path.clone());
            if levels > 1 {
                paths(member, &path, levels - 1, into);
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (name, content) in rollouts() {
        let mut reader = RolloutReader::new(&name);
        for (offset, row) in lines(&content) {
            let value: Value = serde_json::from_slice(&row).unwrap();
            let kind = (
                value["type"].to_string(),
                value["payload"]["type"].to_string(),
                value["payload"]["item"]["type"].to_string(),
                value["payload"]["name"].to_string(),
            );
            if seen.insert(kind) {
                let mut places = Vec::new();
                paths(&value, "", 4, &mut places);
                for place in places {
                    for odd in &odd {
                        let mut changed = value.clone();
                        *changed.pointer_mut(&place).unwrap() = odd.clone();
                        let changed = changed.to_string();
                        for level in [Level::Metadata, Level::Full] {
                            let row = read_row(&mut reader.clone(), level, changed.as_bytes(), offset);
                            assert_ne!(row, Row::Malformed, "{changed}");
                        }
                    }
                }
            }
            read_row(&mut reader, Level::Actions, &row, offset);
        }
    }
    assert!(seen.len() > 40);
}

proptest! {
    #[test]
    fn rows_in_any_order_and_any_number_never_break_the_reader(
        order in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..40),
    ) {
        let rollouts = rollouts();
        let mut reader = RolloutReader::new("x");
        for (offset, (file, row)) in order.into_iter().enumerate() {
            let (_, content) = &rollouts[file.index(rollouts.len())];
            let lines = lines(content);
            let (_, row) = &lines[row.index(lines.len())];
            prop_assert_ne!(read_row(&mut reader, Level::Full, row, offset as u64), Row::Malformed);
        }
    }

    #[test]
    fn cut_and_damaged_rows_never_break_the_reader(
        file in any::<prop::sample::Index>(),
        row in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let rollouts = rollouts();
        let (_, content) = &rollouts[file.index(rollouts.len())];
        let lines = lines(content);
        let mut row = lines[row.index(lines.len())].1.clone();
        for (at, byte) in damage {
            let at = at.index(row.len());
            row[at] = byte;
        }
        let cut = cut.index(row.len() + 1);
        for row in [&row[..], &row[..cut]] {
            let mut reader = RolloutReader::new("x");
            let first = read_row(&mut reader, Level::Full, row, 3);
            let again = read_row(&mut RolloutReader::new("x"), Level::Full, row, 3);
            prop_assert_eq!(first, again);
        }
    }
}
