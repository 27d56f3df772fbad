//! Tokens: every response once, proven against what the provider really answered.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Certainty, Entry, Kind, Phase, Tokens};
use agent_tracer_privacy::Level;
use serde_json::{Value, json};

use crate::codex_fixtures::{
    LEVELS, THREAD, entries, hook_scenarios, is, lines, read_payload, rollout, rollouts, truths, written,
};

/// Sums usage by thread; a response that is reported twice counts once.
fn by_thread(entries: &[Entry]) -> BTreeMap<String, Tokens> {
    let mut seen = BTreeSet::new();
    let mut sums: BTreeMap<String, Tokens> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| is(entry, Kind::TokenUsage) && entry.phase == Phase::Open) {
        if seen.insert((entry.task.runtime_session.clone(), entry.key.clone())) {
            let sum = sums.entry(entry.task.runtime_session.clone()).or_default();
            *sum = sum.plus(&Tokens::read(&entry.metadata).unwrap());
        }
    }
    sums
}

/// Six numbers as Codex has them.
fn inclusive(usage: &Value) -> Tokens {
    let number = |name: &str| usage[name].as_u64().unwrap_or(0);
    Tokens::from_inclusive(
        number("input_tokens"),
        number("cached_input_tokens"),
        number("cache_write_input_tokens"),
        number("output_tokens"),
        Some(number("reasoning_output_tokens")),
    )
}

fn payloads(content: &[u8]) -> Vec<(String, Value)> {
    let rows = lines(content).into_iter().map(|(_, row)| serde_json::from_slice::<Value>(&row).unwrap());
    rows.map(|row| (row["type"].as_str().unwrap().to_owned(), row["payload"].clone())).collect()
}

#[test]
fn the_sum_of_a_thread_is_what_codex_itself_counted() {
    let mut checked = 0;
    for (name, content) in rollouts() {
        let rows = payloads(&content);
        let records: Vec<&Value> = rows
            .iter()
            .filter(|(kind, _)| kind == "token_usage_record")
            .map(|(_, payload)| payload)
            .collect();
        let (Some(first), Some(last)) = (records.first(), records.last()) else { continue };
        // A fork goes on counting where its base stood.
        let inherited = first["thread_token_usage"]["total_tokens"].as_u64().unwrap()
            - first["usage"]["total_tokens"].as_u64().unwrap();
        for level in LEVELS {
            let sums = by_thread(&entries(&name, &content, level));
            assert_eq!(sums.len(), 1, "{name}");
            let sum = sums[first["thread_id"].as_str().unwrap()];
            assert_eq!(
                sum.total() + inherited,
                last["thread_token_usage"]["total_tokens"].as_u64().unwrap(),
                "{name}"
            );
            if inherited == 0 {
                assert_eq!(sum, inclusive(&last["thread_token_usage"]), "{name}");
            }
        }
        checked += 1;
    }
    assert!(checked > 50);
}

#[test]
fn the_sums_are_what_the_provider_really_answered() {
    let rollouts = rollouts();
    let truths = truths();
    assert!(truths.len() >= 15);
    for (scenario, truth) in truths {
        let mut actual = Vec::new();
        for (name, content) in &rollouts {
            if *name == scenario || name.starts_with(&format!("{scenario}.")) {
                actual.extend(entries(name, content, Level::Actions));
            }
        }
        let sums = by_thread(&actual);
        let mut expected = BTreeMap::new();
        for session in truth["sessions"].as_array().unwrap() {
            // The terminal's requests for a title are threads of their own that are never written down.
            let threads = session["threads"].as_array().unwrap().iter();
            for thread in threads.filter(|thread| thread["thread_source"] != "thread_title") {
                let usage = inclusive(&thread["usage"]);
                if usage.total() > 0 {
                    expected.insert(thread["thread_id"].as_str().unwrap().to_owned(), usage);
                }
                let responses: BTreeSet<String> = thread["by_request"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|request| request["complete"] == true)
                    .filter_map(|request| request["response_id"].as_str())
                    .map(|id| format!("response:{id}"))
                    .collect();
                let thread = thread["thread_id"].as_str().unwrap();
                let keys: BTreeSet<String> = actual
                    .iter()
                    .filter(|entry| is(entry, Kind::TokenUsage) && entry.task.runtime_session == thread)
                    .map(|entry| entry.key.clone())
                    .collect();
                assert_eq!(keys, responses, "{scenario}");
            }
        }
        assert_eq!(sums, expected, "{scenario}");
    }
}

#[test]
fn usage_names_its_model_and_where_it_comes_from() {
    for (name, content) in rollouts() {
        for entry in entries(&name, &content, Level::Metadata) {
            if is(&entry, Kind::TokenUsage) && entry.phase == Phase::Open {
                assert!(entry.turn.is_some(), "{name}");
                assert_eq!(entry.metadata["usageSource"], "record", "{name}");
                assert_eq!(entry.key, format!("response:{}", entry.metadata["responseId"].as_str().unwrap()));
            }
        }
    }
    let found = entries("shell_ok", &rollout("shell_ok"), Level::Actions);
    assert_eq!(found.iter().find(|entry| is(entry, Kind::TokenUsage)).unwrap().metadata["model"], "gpt-5.5");
}

/// The same file as a version without `token_usage_record` would have written it.
fn without_records(content: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for (_, row) in lines(content) {
        let value: Value = serde_json::from_slice(&row).unwrap();
        if value["type"] != "token_usage_record" {
            kept.extend_from_slice(&row);
            kept.push(b'\n');
        }
    }
    kept
}

#[test]
fn files_without_records_are_counted_by_difference() {
    let mut checked = 0;
    for (name, content) in rollouts() {
        let counts: Vec<Value> = payloads(&content)
            .into_iter()
            .filter(|(_, payload)| payload["type"] == "token_count" && payload["info"].is_object())
            .map(|(_, payload)| payload["info"].clone())
            .collect();
        let (Some(first), Some(last)) = (counts.first(), counts.last()) else { continue };
        let actual = entries(&name, &without_records(&content), Level::Actions);
        let used: Vec<&Entry> =
            actual.iter().filter(|entry| is(entry, Kind::TokenUsage) && entry.phase == Phase::Open).collect();
        for entry in &used {
            assert_eq!(entry.evidence.certainty, Certainty::Inferred);
            assert_eq!(entry.metadata["usageSource"], "difference");
        }
        let sum: u64 = used.iter().map(|entry| Tokens::read(&entry.metadata).unwrap().total()).sum();
        let inherited = if name == "fork.fork" {
            first["total_token_usage"]["total_tokens"].as_u64().unwrap()
                - first["last_token_usage"]["total_tokens"].as_u64().unwrap()
        } else {
            0
        };
        assert_eq!(sum + inherited, last["total_token_usage"]["total_tokens"].as_u64().unwrap(), "{name}");
        checked += 1;
    }
    assert!(checked > 50);
}

#[test]
fn a_count_of_the_base_before_any_turn_is_no_usage() {
    let count = |total: u64, last: u64| {
        (
            "event_msg",
            json!({"type": "token_count", "info": {
            "total_token_usage": {"input_tokens": total, "output_tokens": 0, "total_tokens": total},
            "last_token_usage": {"input_tokens": last, "output_tokens": 0, "total_tokens": last}}}),
        )
    };
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "forked_from_id": "base"})),
        count(1000, 400),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        count(1000, 400),
        count(1300, 300),
        count(1300, 300),
        count(200, 200),
        count(250, 50),
    ]);
    let actual = entries("x", &rows, Level::Actions);
    let used: Vec<u64> = actual
        .iter()
        .filter(|entry| is(entry, Kind::TokenUsage))
        .map(|entry| Tokens::read(&entry.metadata).unwrap().total())
        .collect();
    assert_eq!(used, [300, 50], "repeats, a count that goes back and the base's own are not used twice");
}

#[test]
fn a_file_that_begins_to_have_records_is_not_counted_twice() {
    let usage = |tokens: u64| json!({"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1});
    let count = |total: u64| {
        ("event_msg", json!({"type": "token_count", "info": {"total_token_usage": usage(total)}}))
    };
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD})),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        count(100),
        (
            "token_usage_record",
            json!({"thread_id": THREAD, "turn_id": "t", "response_id": "r", "usage": usage(50)}),
        ),
        count(150),
        count(190),
    ]);
    let actual = entries("x", &rows, Level::Actions);
    let keys: Vec<&str> =
        actual.iter().filter(|entry| is(entry, Kind::TokenUsage)).map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["usage:total:101", "response:r"]);
}

#[test]
fn hooks_and_records_tell_the_same_numbers_in_the_same_order() {
    let rollouts = rollouts();
    let mut checked = 0;
    for (scenario, rows) in hook_scenarios() {
        let mut hooks: BTreeMap<(String, String), Vec<Tokens>> = BTreeMap::new();
        for (number, (at, payload)) in rows.iter().enumerate() {
            let reading = read_payload(&format!("{scenario}-{number}"), *at, payload, Level::Actions);
            for entry in reading.entries.iter().filter(|entry| is(entry, Kind::ModelRequest)) {
                if let Some(usage) = Tokens::read(&entry.metadata) {
                    let turn = (entry.task.runtime_session.clone(), entry.turn.clone().unwrap());
                    hooks.entry(turn).or_default().push(usage);
                }
            }
        }
        let mut records: BTreeMap<(String, String), Vec<Tokens>> = BTreeMap::new();
        for (name, content) in &rollouts {
            if *name != scenario && !name.starts_with(&format!("{scenario}.")) {
                continue;
            }
            let actual = entries(name, content, Level::Actions);
            let compactions: BTreeSet<&str> = actual
                .iter()
                .filter(|entry| entry.metadata.get("purpose") == Some(&json!("compaction")))
                .map(|entry| entry.key.as_str())
                .collect();
            for entry in
                actual.iter().filter(|entry| is(entry, Kind::TokenUsage) && entry.phase == Phase::Open)
            {
                if !compactions.contains(entry.key.as_str()) {
                    let turn = (entry.task.runtime_session.clone(), entry.turn.clone().unwrap());
                    records.entry(turn).or_default().push(Tokens::read(&entry.metadata).unwrap());
                }
            }
        }
        for (turn, actual) in hooks {
            if let Some(counted) = records.get(&turn) {
                assert_eq!(&actual, counted, "{scenario}: only compactions have no hook");
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "{checked}");
}
