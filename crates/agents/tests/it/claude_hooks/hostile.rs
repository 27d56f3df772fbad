//! Bad input is normal input: nothing panics, nothing is lost that could be kept.

use agent_tracer_event::{Kind, Unrecognised};
use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn an_unknown_event_is_kept_whole_and_counted() {
    let payload = json!({"session_id": "s", "hook_event_name": "TeaReady", "cups": 2, "who": {"name": "x"}});
    let reading = hook(&payload);
    let row = only(&reading, Kind::Unrecognised);
    assert_eq!(row.metadata["payload"], payload);
    assert_eq!(row.title.as_deref(), Some("Unrecognised: TeaReady"));
    assert_eq!(reading.unrecognised, [Unrecognised::Event("TeaReady".to_owned())]);
}

#[test]
fn an_unknown_member_is_kept_and_counted() {
    let reading = hook(&with(payload("PreToolUse.read"), &[("mood", json!({"is": "good"}))]));
    assert_eq!(reading.unrecognised, [Unrecognised::Field("PreToolUse.mood".to_owned())]);
    assert_eq!(only(&reading, Kind::ToolUsed).metadata["other.mood"], json!({"is": "good"}));
}

#[test]
fn bytes_that_are_no_json_say_nothing() {
    for body in [&b""[..], b"{", b"nonsense", b"\xff\xfe", b"{\"a\":1} trailing"] {
        for source in [Source::Hook, Source::StatusLine] {
            let reading = read_bytes(body, source, "o");
            assert_eq!(reading.entries, []);
            assert_eq!(reading.unrecognised, [Unrecognised::Line("not JSON".to_owned())]);
        }
    }
}

#[test]
fn a_status_line_under_the_name_of_codex_is_counted_and_not_read() {
    let body = serde_json::to_vec(&payload("StatusLine.cached")).unwrap();
    let reading = read(&Observation {
        agent: Agent::CODEX,
        channel: Channel::Hook,
        name: "o",
        arrived: ARRIVED,
        source: Source::StatusLine,
        body: &body,
        context: &context(),
    });
    assert_eq!(reading.entries, []);
    assert_eq!(reading.unrecognised, [Unrecognised::Event("status line of codex".to_owned())]);
}

#[test]
fn json_that_is_no_payload_is_still_kept() {
    for body in ["null", "3", "[]", "\"x\"", "{}", "{\"hook_event_name\": 7}"] {
        let reading = read_bytes(body.as_bytes(), Source::Hook, "o");
        assert_eq!(only(&reading, Kind::Unrecognised).task.runtime_session, "unknown", "{body}");
    }
}

#[test]
fn a_session_without_an_id_is_known_by_its_transcript_or_its_process() {
    let mut payload = payload("Stop.plain");
    let session = payload["session_id"].as_str().unwrap().to_owned();
    payload.as_object_mut().unwrap().remove("session_id");
    let reading = hook(&payload);
    assert!(reading.entries.iter().all(|entry| entry.task.runtime_session == session));
    payload.as_object_mut().unwrap().remove("transcript_path");
    let mut context = context();
    context.env.push(("CLAUDE_CODE_SESSION_ID".to_owned(), "from-env".to_owned()));
    let body = serde_json::to_vec(&payload).unwrap();
    let reading = read(&Observation {
        agent: Agent::CLAUDE_CODE,
        channel: Channel::Hook,
        name: "o",
        arrived: ARRIVED,
        source: Source::Hook,
        body: &body,
        context: &context,
    });
    assert!(reading.entries.iter().all(|entry| entry.task.runtime_session == "from-env"));
}

#[test]
fn huge_texts_make_small_titles_and_bounded_facts() {
    let huge = "wörd ".repeat(2_000_000);
    let reading = read_bytes(
        &serde_json::to_vec(&with(payload("UserPromptSubmit.text"), &[("prompt", json!(huge))])).unwrap(),
        Source::Hook,
        "o",
    );
    let row = only(&reading, Kind::UserMessage);
    assert!(row.title.as_ref().unwrap().chars().count() <= 120);
    assert_eq!(row.metadata["promptBytes"], huge.len());
    assert!(row.body.as_ref().unwrap().chars().count() <= 200_000);
}

#[test]
fn titles_are_safe_to_show() {
    let evil = "\u{1b}[31mred\u{7}\u{202e}txt.exe\nnext\tline\u{0}";
    for (name, input) in [
        ("Read", json!({"file_path": evil})),
        ("WebSearch", json!({"query": evil})),
        ("Agent", json!({"description": evil, "subagent_type": evil})),
        (evil, json!({})),
        ("mcp__\u{1b}__x\n", json!({})),
    ] {
        let reading =
            hook(&with(payload("PreToolUse.read"), &[("tool_name", json!(name)), ("tool_input", input)]));
        let row = reading.entries.iter().find(|entry| entry.key.starts_with("tool:")).unwrap();
        let title = row.title.as_deref().unwrap();
        assert!(!title.contains(char::is_control) && !title.contains('\u{202e}'), "{title:?}");
    }
}

/// Any JSON, with the agent's own words where they do the most harm.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "Bash",
            "Agent",
            "TodoWrite",
            "apply_patch",
            "mcp__a__b",
            "<task-notification>"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".{0,8}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A captured payload with some of its values, at any depth, replaced by anything.
fn mutated() -> impl Strategy<Value = (Source, Value)> {
    let all: Vec<(Source, Value)> =
        everything().into_iter().map(|captured| (captured.source, captured.payload)).collect();
    (prop::sample::select(all), prop::collection::vec((any::<prop::sample::Index>(), any_json()), 1..4))
        .prop_map(|((source, mut payload), changes)| {
            for (index, value) in changes {
                let mut places = Vec::new();
                gather(&payload, String::new(), &mut places);
                let place = index.get(&places).clone();
                if let Some(slot) = payload.pointer_mut(&place) {
                    *slot = value;
                }
            }
            (source, payload)
        })
}

/// The pointers of everything inside a value.
fn gather(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                gather(member, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                gather(item, format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
    places.push(at);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_json_under_any_events_name_is_read_without_harm(
        event in prop::sample::select(agent_tracer_agents::claude::events::EVENTS.to_vec()),
        members in prop::collection::vec((prop::sample::select(MEMBERS.to_vec()), any_json()), 0..8),
    ) {
        let mut payload = json!({"session_id": "s", "hook_event_name": event.name});
        for (name, value) in members {
            payload[name] = value;
        }
        let body = serde_json::to_vec(&payload).unwrap();
        let reading = read_bytes(&body, Source::Hook, "o");
        prop_assert!(!reading.entries.is_empty());
        prop_assert_eq!(&reading, &read_bytes(&body, Source::Hook, "o"));
    }

    #[test]
    fn captured_payloads_with_odd_values_are_read_without_harm((source, payload) in mutated()) {
        let body = serde_json::to_vec(&payload).unwrap();
        let reading = read_bytes(&body, source, "o");
        prop_assert!(!reading.entries.is_empty());
        for entry in &reading.entries {
            let title = entry.title.as_deref().unwrap_or_default();
            prop_assert!(title.chars().count() <= 120 && !title.contains(char::is_control), "{:?}", title);
        }
        prop_assert_eq!(&reading, &read_bytes(&body, source, "o"));
    }

    #[test]
    fn any_bytes_are_read_without_harm(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let reading = read_bytes(&body, Source::Hook, "o");
        prop_assert!(reading.entries.len() <= 2);
    }
}

/// Members that some reader looks at.
const MEMBERS: [&str; 40] = [
    "agent_id",
    "agent_type",
    "prompt_id",
    "cwd",
    "permission_mode",
    "effort",
    "timestamp",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "tool_calls",
    "tool_use_ids",
    "error",
    "is_interrupt",
    "duration_ms",
    "mcp_server",
    "reason",
    "source",
    "model",
    "session_title",
    "prompt",
    "last_assistant_message",
    "background_tasks",
    "session_crons",
    "trigger",
    "compact_summary",
    "custom_instructions",
    "task_id",
    "task_subject",
    "file_path",
    "globs",
    "requested_schema",
    "permission_suggestions",
    "message",
    "notification_type",
    "delta",
    "index",
    "name",
    "worktree_path",
];
