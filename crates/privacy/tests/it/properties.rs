//! Laws that hold for any input.

use std::sync::LazyLock;

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Config, Glob, Level, Source, mask};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::corpus::secrets;
use crate::fixtures::{Case, reduced, run, variants};

/// The number of cases for each law; `PROPTEST_CASES` sets more.
pub(crate) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
}

pub(crate) fn level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Metadata), Just(Level::Actions), Just(Level::Full)]
}

pub(crate) fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::Hook(Agent::CLAUDE_CODE)),
        Just(Source::Hook(Agent::CODEX)),
        Just(Source::StatusLine)
    ]
}

/// Names that mean something, mostly.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "hook_event_name", "tool_name", "agent_type", "tool_input", "tool_calls", "tool_response", "error", "content",
            "last_assistant_message", "prompt", "command", "todos", "answers", "stdout", "result", "status", "usage", "task",
            "id", "compact_summary", "delta", "file_path", "message", "patch", "isError", "exitCode", "cwd", "outputBytes",
        ]).prop_map(str::to_owned),
        1 => "[a-zA-Z_]{1,12}",
        1 => any::<String>(),
    ]
}

/// Words around which secrets are spelled, in any order.
pub(crate) fn soup() -> impl Strategy<Value = String> {
    let words = vec![
        "password",
        "PASSWORD",
        "token",
        "key",
        "api_key",
        "secret",
        "authorization",
        "Bearer",
        "cookie",
        "--token",
        "--password",
        "mysql",
        "curl",
        " -p",
        " -u",
        "://",
        ":",
        "=",
        "==",
        "@",
        "\"",
        "'",
        "\\",
        "\\n",
        "\n",
        "\t",
        " ",
        ",",
        ";",
        "&",
        "(",
        ")",
        "[",
        "]",
        "$",
        "<",
        "{",
        "}",
        "*",
        "xxxx",
        "hunter2",
        "a1B2c3D4e5F6g7H8i9J0",
        "ghp_",
        "AKIA",
        "eyJ",
        ".",
        "-",
        "_",
        "-----BEGIN ",
        "RSA PRIVATE KEY-----",
        "-----END ",
        "[masked:",
        "[masked:token]",
        "https",
        "user",
        "host",
        "é",
        "1",
        "12345678",
        "toolu_",
        "5a133364-48e1-40c2-b568-cfba1112cbce",
        "ABCDEFGHIJKLMNOP",
        "hooks.slack.com/services/",
        "/",
    ];
    prop::collection::vec(prop::sample::select(words), 0..25).prop_map(|words| words.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "PostToolUse", "PostToolUseFailure", "StopFailure", "PostToolBatch", "ElicitationResult", "Bash", "Read",
            "spawn_agent", "apply_patch", "", "completed", "Exit code 3\nx", "*** Begin Patch\n*** Add File: a\n+x",
            "<task-notification><result>x</result>", "{\"agent_id\":\"x\"}", "data:image/png;base64,AAAA",
        ]).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => "[ -~\n]{0,200}",
        1 => (0usize..3000).prop_map(|length| "word ".repeat(length / 5)),
        1 => prop::sample::select(secrets().into_iter().map(|secret| secret.text).collect::<Vec<_>>()),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

pub(crate) fn payload() -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), tree()), 0..10)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

/// All strings of a tree.
fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => members.values().for_each(|member| strings(member, out)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_either_reduced_to_json_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), level in level(), source in source()) {
        let (reduction, out) = run(&bytes, source, level);
        match reduction.fault {
            Some(fault) => prop_assert!(out.is_empty() && fault.at <= bytes.len()),
            None => prop_assert!(serde_json::from_slice::<Value>(&out).is_ok()),
        }
    }

    #[test]
    fn a_payload_with_wild_bytes_in_it_is_either_reduced_or_refused(
        number in any::<prop::sample::Index>(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), level in level(),
    ) {
        static CASES: LazyLock<Vec<Case>> = LazyLock::new(variants);
        let case = number.get(&CASES);
        let mut bytes = case.payload.to_string().into_bytes();
        for (place, byte) in edits {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let (reduction, out) = run(&bytes, case.source, level);
        let valid = serde_json::from_slice::<Value>(&bytes).is_ok();
        match reduction.fault {
            Some(_) => prop_assert!(out.is_empty() && !valid),
            None => prop_assert!(serde_json::from_slice::<Value>(&out).is_ok()),
        }
    }

    #[test]
    fn any_tree_is_reduced_to_json_that_keeps_no_more_the_second_time(payload in payload(), level in level(), source in source()) {
        let once = reduced(&payload.to_string(), source, level);
        let twice = reduced(&once.to_string(), source, level);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        strings(&once, &mut first);
        strings(&twice, &mut second);
        let total = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        // Quantities of quantities are short words of ours; texts of the payload do not come back.
        for text in &second {
            let known = first.contains(text) || text.len() == 32 || text.len() < 40;
            prop_assert!(known, "new in the second pass: {text:?}");
        }
        prop_assert!(total(&second) <= total(&first) + 64 * second.len());
    }

    #[test]
    fn the_reduction_of_a_payload_is_the_same_for_every_spelling(payload in payload(), level in level()) {
        let compact = reduced(&payload.to_string(), Source::Hook(Agent::CLAUDE_CODE), level);
        let pretty = serde_json::to_string_pretty(&payload).expect("JSON");
        prop_assert_eq!(reduced(&pretty, Source::Hook(Agent::CLAUDE_CODE), level), compact);
    }

    #[test]
    fn a_prompt_in_a_payload_is_reduced_to_its_masked_text(
        parts in prop::collection::vec(prop_oneof![
            prop::sample::select(secrets().into_iter().map(|secret| secret.text).collect::<Vec<_>>()),
            soup(),
            "[ -~\n\t]{0,40}",
            any::<String>(),
        ], 0..5),
        glue in prop::sample::select(vec!["", " ", "\n", "\t", "\"", "\\"]),
    ) {
        let text = parts.join(glue);
        prop_assume!(!text.contains("<task-notification") && !text.starts_with("data:"));
        let input = serde_json::json!({"prompt": text}).to_string();
        let kept = reduced(&input, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
        prop_assert_eq!(kept["prompt"].as_str().expect("a prompt"), mask(&text));
    }

    #[test]
    fn masking_is_idempotent(
        parts in prop::collection::vec(prop_oneof![
            prop::sample::select(secrets().into_iter().map(|secret| secret.text).collect::<Vec<_>>()),
            "[ -~\n\t]{0,40}",
            soup(),
            any::<String>(),
        ], 0..6),
        glue in prop::sample::select(vec!["", " ", "\n", "=", ": ", "\""]),
    ) {
        let text = parts.join(glue);
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn masking_leaves_words_alone(words in prop::collection::vec("[A-Za-z]{1,14}", 0..60)) {
        let text = words.join(" ");
        prop_assert_eq!(mask(&text), text.as_str());
    }

    #[test]
    fn any_configuration_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let (config, faults) = Config::parse(&bytes);
        prop_assert!(faults.iter().all(|fault| !fault.to_string().is_empty()));
        config.excludes(b"/home/dev/project", Some(b"/home/dev"));
    }

    #[test]
    fn a_glob_agrees_with_the_slow_way_to_match(pattern in "/[ab/*?]{0,8}", path in "/[ab/]{0,10}") {
        let covered = Glob::new(pattern.as_bytes()).covers(path.as_bytes(), None);
        prop_assert_eq!(covered, slowly(&pattern, &path), "{} on {}", pattern, path);
    }
}

/// Returns `true` if `pattern` matches `path` or a folder that it lies in, by trying everything.
fn slowly(pattern: &str, path: &str) -> bool {
    fn tidy(text: &str) -> String {
        let mut text = text.to_owned();
        while text.contains("//") {
            text = text.replace("//", "/");
        }
        text.trim_end_matches('/').to_owned()
    }
    fn matches(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            ([b'*', b'*', rest @ ..], _) => {
                let stars = rest.iter().take_while(|byte| **byte == b'*').count();
                let rest = &rest[stars..];
                (0..=path.len()).any(|at| matches(rest, &path[at..]))
            }
            ([b'/', b'*', b'*', b'/', ..], [b'/', ..]) => {
                // `/**/` also matches `/`.
                matches(&pattern[3..], path) || matches(&pattern[1..], &path[1..])
            }
            ([b'*', rest @ ..], _) => {
                let name = path.iter().take_while(|byte| **byte != b'/').count();
                (0..=name).any(|at| matches(rest, &path[at..]))
            }
            ([b'?', rest @ ..], [byte, path @ ..]) if *byte != b'/' => matches(rest, path),
            ([expected, rest @ ..], [byte, path @ ..]) if expected == byte => matches(rest, path),
            _ => false,
        }
    }
    let mut pattern = tidy(pattern);
    while pattern.contains("***") {
        pattern = pattern.replace("***", "**");
    }
    while let Some(shorter) = pattern.strip_suffix("/**") {
        pattern = tidy(shorter);
    }
    let path = tidy(path);
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path.as_str()]);
    folders.into_iter().any(|folder| matches(pattern.as_bytes(), folder.as_bytes()))
}
