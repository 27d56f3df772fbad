//! Bad input and bad places: a counted outcome, never an error that the agent sees.

use std::fs;
use std::os::unix::fs::symlink;

use crate::world::{World, assert_silent};

/// Inputs that clients do not send and the hook must survive.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    vec![
        ("empty", Vec::new()),
        ("blank", b" \n\t ".to_vec()),
        ("cut", br#"{"hook_event_name":"Stop","last_assistant_message":"secret wor"#.to_vec()),
        ("no object", b"[1,2,3]".to_vec()),
        ("two documents", br#"{"hook_event_name":"Stop"}{"hook_event_name":"Stop"}"#.to_vec()),
        ("binary", (0..=255).collect()),
        ("invalid UTF-8", b"{\"hook_event_name\":\"Stop\",\"prompt\":\"\xff\xfe\"}".to_vec()),
        ("deep arrays", format!("{{\"x\":{}}}", deep("[", "]")).into_bytes()),
        ("deep objects", format!("{{\"x\":{}}}", deep("{\"a\":", "}")).into_bytes()),
        ("deep result", format!("{{\"tool_response\":{}}}", deep("[", "]")).into_bytes()),
        ("lone surrogate", br#"{"hook_event_name":"UserPromptSubmit","prompt":"\ud800 x"}"#.to_vec()),
        ("NUL", br#"{"hook_event_name":"UserPromptSubmit","prompt":"a\u0000b"}"#.to_vec()),
    ]
}

#[test]
fn every_input_ends_in_exactly_one_envelope() {
    for (name, bytes) in hostile() {
        let world = World::new();
        assert_silent(&world.run(&["claude"], &bytes));
        let all = world.envelopes();
        assert_eq!(all.len(), 1, "{name}");
        let (header, body) = &all[0];
        assert_eq!(header.received_bytes, Some(bytes.len() as u64), "{name}");
        if header.fault.is_some() {
            assert!(body.is_empty(), "{name}: nothing of what was not understood is written");
        } else {
            serde_json::from_slice::<serde_json::Value>(body)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn fifty_megabytes_of_result_become_a_few_bytes() {
    let world = World::new();
    let mut payload =
        br#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":""#.to_vec();
    payload.resize(payload.len() + (50 << 20), b'x');
    payload.extend_from_slice(br#""},"tool_use_id":"toolu_1"}"#);
    assert_silent(&world.run(&["claude"], &payload));
    let (header, body) = world.envelope();
    assert!(header.fault.is_none());
    assert_eq!(body["tool_response"]["outputBytes"], 50 << 20);
    assert_eq!(body["tool_use_id"], "toolu_1");
}

#[test]
fn input_past_the_cap_is_read_to_its_end_and_marked_as_oversized() {
    let world = World::new();
    let payload = vec![b' '; (64 << 20) + 10];
    assert_silent(&world.run(&["claude"], &payload));
    let all = world.envelopes();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].0.fault.as_ref().map(|fault| fault.what.to_string()).as_deref(), Some("oversize"));
    assert_eq!(all[0].0.received_bytes, Some(payload.len() as u64));
}

#[test]
fn a_home_that_is_a_file_is_silent() {
    let world = World::new();
    let file = world.home().with_file_name("plain");
    fs::File::create(&file).expect("a file");
    let output = crate::world::run(world.command(&["claude"]).env("AGENT_TRACER_HOME", &file), b"{}");
    assert_silent(&output);
}

#[test]
fn a_full_spool_is_a_counted_loss() {
    let world = World::new();
    assert_silent(&world.run(&["claude"], br#"{"hook_event_name":"Stop"}"#));
    let used = world.home().join("spool/used");
    fs::OpenOptions::new().write(true).open(&used).expect("the meter").set_len(10_000_000).expect("a size");
    assert_silent(&world.run(&["claude"], br#"{"hook_event_name":"Stop"}"#));
    assert_eq!(world.envelopes().len(), 1);
    assert_eq!(world.lost(), [("full".to_owned(), 1)]);
}

#[test]
fn a_full_disk_is_a_counted_loss_where_the_counters_were_made_before() {
    let world = World::new();
    let spool = agent_tracer_spool::Spool::at(&world.home().join("spool"));
    spool.prepare().expect("a prepared spool");
    // Every write to this device fails as on a full disk.
    fs::remove_file(world.home().join("spool/used")).expect("the meter");
    symlink("/dev/full", world.home().join("spool/used")).expect("a link");
    assert_silent(&world.run(&["claude"], br#"{"hook_event_name":"Stop"}"#));
    assert_eq!(world.envelopes().len(), 0);
    let lost: u64 = world.lost().iter().map(|(_, count)| count).sum();
    assert_eq!(lost, 1, "{:?}", world.lost());
}
