//! Codex's hooks when they are not what they were: unknown, missing, odd and hostile.

use agent_tracer_event::{Kind, Millis, Unrecognised};
use agent_tracer_privacy::Level;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::codex_fixtures::{hook_payloads, is, is_call, read_hook, read_payload};
use crate::codex_hooks::{events, only, payload};

#[test]
fn unknown_members_are_kept_and_counted() {
    let mut odd = payload("PreToolUse.Bash");
    odd["hook_event_name"] = json!("PreThought");
    let reading = read_payload("x", Millis(7), &odd, Level::Actions);
    assert_eq!(reading.unrecognised, [Unrecognised::Event("PreThought".into())]);
    let kept = only(&reading, Kind::Unrecognised);
    assert_eq!(kept.metadata["payload"]["tool_use_id"], odd["tool_use_id"]);

    let mut odd = payload("PreToolUse.Bash");
    odd["tool_name"] = json!("teleport");
    odd["permission_mode"] = json!("yolo");
    odd["weather"] = json!("rain");
    let reading = read_payload("x", Millis(7), &odd, Level::Actions);
    let call = reading.entries.iter().find(|entry| is_call(entry)).unwrap();
    assert!(is(call, Kind::ToolUsed));
    assert_eq!(call.metadata["other.weather"], "rain");
    assert_eq!(call.metadata["permissionMode"], "yolo");
    assert_eq!(
        reading.unrecognised,
        [
            Unrecognised::Tool("teleport".into()),
            Unrecognised::Value("permission_mode=yolo".into()),
            Unrecognised::Field("PreToolUse.weather".into()),
        ]
    );
}

#[test]
fn no_event_is_lost_because_a_member_is_missing_or_odd() {
    let odd = [json!(null), json!(7), json!("odd"), json!([1]), json!({"a": {"b": []}}), json!(true)];
    for (name, payload) in hook_payloads() {
        let names: Vec<String> = payload.as_object().unwrap().keys().cloned().collect();
        let expected = events(&read_payload(&name, Millis(7), &payload, Level::Actions)).len();
        for member in names.iter().filter(|member| *member != "hook_event_name") {
            let mut changed = payload.clone();
            changed.as_object_mut().unwrap().remove(member);
            let mut variants = vec![changed];
            variants.extend(odd.iter().map(|value| {
                let mut changed = payload.clone();
                changed[member] = value.clone();
                changed
            }));
            for variant in variants {
                let reading = read_payload(&name, Millis(7), &variant, Level::Actions);
                assert!(!events(&reading).is_empty(), "{variant}");
                if !matches!(member.as_str(), "source" | "transcript_path" | "agent_id" | "session_id") {
                    assert_eq!(events(&reading).len(), expected, "{name} with an odd {member}: {variant}");
                }
                read_hook(&name, Millis(7), &serde_json::to_vec(&variant).unwrap());
            }
        }
    }
}

#[test]
fn bytes_that_are_no_json_say_nothing() {
    for body in [&b""[..], b"{", b"\xff\xfe", b"{}{}"] {
        let reading = read_hook("x", Millis(7), body);
        assert_eq!((reading.entries.len(), reading.unrecognised.len()), (0, 1));
    }
    for body in [&b"[]"[..], b"null", b"{}", b"7"] {
        assert_eq!(events(&read_hook("x", Millis(7), body)).len(), 1);
    }
}

/// Any JSON of moderate size.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("[a-z_]{1,12}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_in_any_member_is_read_and_always_the_same_way(
        pick in any::<prop::sample::Index>(),
        members in proptest::collection::vec((any::<prop::sample::Index>(), any_json()), 0..4),
    ) {
        let payloads = hook_payloads();
        let (name, mut payload) = payloads[pick.index(payloads.len())].clone();
        let names: Vec<String> = payload.as_object().unwrap().keys().cloned().collect();
        for (at, value) in members {
            payload[&names[at.index(names.len())]] = value;
        }
        let body = serde_json::to_vec(&payload).unwrap();
        let reading = read_hook(&name, Millis(7), &body);
        prop_assert!(!reading.entries.is_empty());
        prop_assert_eq!(read_hook(&name, Millis(7), &body), reading);
    }
}
