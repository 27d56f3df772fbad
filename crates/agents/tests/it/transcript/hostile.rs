//! Bad lines: whatever a file holds, its rows are read, counted or left alone, and the next row is read.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

#[test]
fn lines_that_are_no_rows_are_counted_and_the_next_one_is_read() {
    let good = r#"{"type":"custom-title","sessionId":"s","customTitle":"x"}"#;
    for bad in [
        "",
        "{",
        "nonsense",
        "[]",
        "7",
        "null",
        "\"text\"",
        r#"{"type":"user""#,
        "\u{0}\u{1}",
        r#"{"type":"user","message":{"content":"torn {"type":"user"}"#,
        r#"{"type":"user"} {"type":"user"}"#,
    ] {
        let actual = read_lines(&[bad, good], Level::Actions);
        let expected = u64::from(!bad.trim().is_empty());
        assert_eq!((actual.counts().malformed, actual.entries().len()), (expected, 1), "{bad:?}");
    }
}

#[test]
fn members_of_any_type_break_nothing() {
    let odd = [json!(null), json!(7), json!("x"), json!([1, {"a": []}]), json!({"a": {"b": 1}}), json!(true)];
    for captured in scenario("2.1.325/rc_tui").iter().filter(|captured| captured.rows().is_some()) {
        for line in captured.content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(40) {
            let row: Value = serde_json::from_slice(line).unwrap();
            for name in row.as_object().unwrap().keys() {
                for value in &odd {
                    let mut changed = row.clone();
                    changed[name] = value.clone();
                    let actual = read_lines(&[&changed.to_string()], Level::Full);
                    assert_eq!(actual.counts().malformed, 0, "{name} = {value}");
                }
            }
        }
    }
}

#[test]
fn names_spelled_with_escapes_and_members_twice_are_read_as_the_client_reads_them() {
    let row = r#"{"\u0074ype":"x","type":"custom-title","sess\u0069onId":"other","sessionId":"s","customTitle":"one","customTitle":"two"}"#;
    let actual = read_lines(&[row], Level::Actions);
    assert_eq!(actual.entries()[0].metadata["title"], "two");
    assert_eq!(actual.entries()[0].task.runtime_session, "s");
}

#[test]
fn a_byte_order_mark_carriage_returns_and_blanks_are_no_content() {
    let file = TranscriptFile { session: Some("s".to_owned()), ..TranscriptFile::default() };
    let content = "\u{feff} {\"type\" : \"custom-title\" , \"customTitle\" : \"x\"} \r\n\r\n\n";
    let actual = read_in_chunks(&file, content.as_bytes(), Level::Actions, &[]);
    assert_eq!((actual.rows.len(), actual.counts().read), (1, 1));
}

#[test]
fn a_row_beyond_the_limit_still_says_what_it_cost_and_that_its_call_ended() {
    let config = config(Level::Actions);
    let rules = rules(&config);
    let file = TranscriptFile { session: Some("s".to_owned()), ..TranscriptFile::default() };
    let mut reader = TranscriptReader::new(file);
    let film = "x".repeat(300_000);
    let response = format!(
        r#"{{"parentUuid":null,"message":{{"id":"msg_1","model":"m","content":[{{"type":"text","text":"{film}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1,"output_tokens":5}}}},"requestId":"req_1","type":"assistant","uuid":"u1","timestamp":"2026-11-15T21:00:00.000Z","sessionId":"s"}}"#
    );
    let result = format!(
        r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_1","type":"tool_result","content":"{film}","is_error":true}}]}},"uuid":"u2","timestamp":"2026-11-15T21:00:01.000Z","sessionId":"s"}}"#
    );
    let mut lines = LineSplitter::with_limit(0, 200_000);
    let mut entries = Vec::new();
    let content = format!("{response}\n{result}\n");
    lines.push(content.as_bytes(), |line| {
        let Line::TooLong { offset, length, head, tail } = line else { panic!("it is too long") };
        let RowReading::Read(reading) = reader.read_remains(&rules, head, tail, length, offset, ARRIVED)
        else {
            panic!("it says something")
        };
        assert_eq!(reading.unrecognised, [Unrecognised::Line("too long".to_owned())]);
        entries.extend(reading.entries);
    });
    let usage = of_kind(&entries, Kind::TokenUsage);
    assert_eq!((usage.len(), &usage[0].metadata["usage"]["outputTokens"]), (1, &json!(5)));
    assert_eq!(usage[0].key, "response:msg_1");
    let ended = entries.iter().find(|entry| entry.key == "tool:toolu_1").unwrap();
    assert_eq!(ended.state, Some(agent_tracer_event::CallState::Failed));
    assert_eq!(ended.ended_at, Millis::parse("2026-11-15T21:00:01.000Z"));
    assert!(ended.metadata["rowBytes"].as_u64().unwrap() > 300_000);
    assert_eq!(reader.counts().too_long, 2);
}

#[test]
fn nothing_of_an_excluded_directory_is_said_or_remembered() {
    let captured = &scenario("2.1.325/bash_ok")[0];
    let (config, faults) = Config::parse(b"level full\nexclude /home/dev/**");
    assert_eq!(faults, []);
    let mut reader = TranscriptReader::new(captured.rows().unwrap());
    let mut seen = Vec::new();
    LineSplitter::new(0).push(&captured.content, |line| {
        let Line::Complete { bytes, offset } = line else { panic!("no line is long") };
        seen.push(reader.read(&rules(&config), bytes, offset, ARRIVED));
    });
    // What stands before the first row with a directory says nothing of anything.
    assert!(seen.iter().all(|row| matches!(row, RowReading::Excluded | RowReading::Skipped)), "{seen:#?}");
    assert!(reader.counts().excluded > 20);
    let state = serde_json::to_string(reader.state()).unwrap();
    assert!(!state.contains("/home/dev") && !state.contains("toolu_"), "{state}");
}

#[test]
fn what_stands_before_the_first_directory_waits_where_anything_is_excluded() {
    let title = r#"{"type":"custom-title","sessionId":"s","customTitle":"secret plan"}"#;
    let row = r#"{"type":"user","uuid":"u1","sessionId":"s","promptId":"p","cwd":"/srv/secret","timestamp":"2026-11-15T21:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    let read = |conf: &[u8], lines: &[&str]| {
        let config = Config::parse(conf).0;
        let mut reader = TranscriptReader::new(TranscriptFile::default());
        let read = |line: &&str| match reader.read(&rules(&config), line.as_bytes(), 0, ARRIVED) {
            RowReading::Read(reading) => reading.entries.len(),
            _ => 0,
        };
        let counts: Vec<usize> = lines.iter().map(read).collect();
        (counts, reader.state().is_excluded())
    };
    assert_eq!(read(b"exclude /srv/secret/**", &[title, row, title]), (vec![0, 0, 0], Some(true)));
    let (counts, excluded) = read(b"exclude /srv/other/**", &[title, row, title]);
    assert!(counts[0] == 0 && counts[1] > 2 && counts[2] == 1 && excluded == Some(false), "{counts:?}");
    assert_eq!(read(b"level actions", &[title]), (vec![1], None));
}

#[test]
fn a_file_of_another_sessions_rows_tells_of_that_session() {
    let row = r#"{"type":"user","uuid":"u1","sessionId":"other","promptId":"p","timestamp":"2026-11-15T21:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    let entries = read_lines(&[row], Level::Actions).entries();
    assert!(entries.iter().all(|entry| entry.task.runtime_session == "other"), "{entries:#?}");
}

#[test]
fn the_memory_of_a_reader_stays_small() {
    let call = |number: u32| {
        format!(
            r#"{{"type":"assistant","uuid":"u{number}","isSidechain":true,"agentId":"a{number}","sessionId":"s","timestamp":"2026-11-15T21:00:00.000Z","requestRef":"r{number}","message":{{"id":"msg_{number}","model":"m","stop_reason":"tool_use","content":[{{"type":"tool_use","id":"toolu_{number}","name":"Bash","input":{{"command":"ls {number}"}}}}],"usage":{{"output_tokens":1}}}}}}"#
        )
    };
    let lines: Vec<String> = (0..3000).map(call).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let actual = read_lines(&lines, Level::Actions);
    assert_eq!(actual.counts().read, 3000);
    assert!(serde_json::to_string(&actual.state).unwrap().len() < 64 * 1024);
}

/// Files that hold most types of rows.
fn rows() -> Vec<Vec<u8>> {
    let files = ["2.1.325/rc_tui", "2.1.325/tui_team", "2.1.325/err401", "2.1.197/old_agent_err"];
    let captured = files.iter().flat_map(|name| scenario(name)).filter(|captured| captured.rows().is_some());
    captured
        .flat_map(|captured| {
            captured.content.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_break_the_reader(index in 0_usize..10_000, changes in prop::collection::vec((0_usize..100_000, any::<u8>()), 1..6)) {
        let rows = rows();
        let mut row = rows[index % rows.len()].clone();
        for (at, byte) in changes {
            let length = row.len().max(1);
            if let Some(place) = row.get_mut(at % length) {
                *place = byte;
            }
        }
        let config = config(Level::Full);
        let read = || {
            let mut reader = TranscriptReader::new(TranscriptFile::default());
            (reader.read(&rules(&config), &row, 0, ARRIVED), reader.state().clone())
        };
        prop_assert_eq!(read(), read());
    }

    #[test]
    fn cut_rows_never_break_the_reader_of_remains(index in 0_usize..10_000, head in 0_usize..4000, tail in 0_usize..4000) {
        let rows = rows();
        let row = &rows[index % rows.len()];
        let config = config(Level::Full);
        let (head, tail) = (head.min(row.len()), row.len().saturating_sub(tail));
        let mut reader = TranscriptReader::new(TranscriptFile::default());
        reader.read_remains(&rules(&config), &row[..head], &row[tail.max(head)..], row.len() as u64, 0, ARRIVED);
        prop_assert_eq!(reader.counts().too_long, 1);
    }
}
