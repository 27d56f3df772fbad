//! The same payload at each of the levels.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source};
use serde_json::{Value, json};

use crate::fixtures::{all, reduced};

fn at(level: Level, payload: &Value) -> Value {
    reduced(&payload.to_string(), Source::Hook(Agent::CLAUDE_CODE), level)
}

#[test]
fn metadata_keeps_names_paths_and_numbers_and_of_texts_their_length() {
    let kept = at(
        Level::Metadata,
        &json!({
            "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce", "cwd": "/home/dev/my project", "hook_event_name": "PreToolUse",
            "permission_mode": "acceptEdits", "tool_name": "Bash", "effort": {"level": "medium"}, "duration_ms": 26, "flag": true,
            "prompt": "two\nlines", "last_assistant_message": "done", "session_title": "a title", "reason": "prompt_input_exit",
            "tool_input": {"command": "A=1 FOO=bar /usr/bin/git status", "description": "look", "file_path": "/x/y.rs", "offset": 5,
                           "pattern": "words here", "subagent_type": "Explore", "query": "what is it", "run_in_background": false},
            "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}, "odd name with words": 1,
        }),
    );
    assert_eq!(
        kept,
        json!({
            "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce", "cwd": "/home/dev/my project", "hook_event_name": "PreToolUse",
            "permission_mode": "acceptEdits", "tool_name": "Bash", "effort": {"level": "medium"}, "duration_ms": 26, "flag": true,
            "prompt": {"lines": 2, "bytes": 9}, "session_title": {"lines": 1, "bytes": 7}, "reason": "prompt_input_exit",
            "tool_input": {"command": {"program": "git", "bytes": 31}, "description": {"lines": 1, "bytes": 4},
                           "file_path": "/x/y.rs", "offset": 5, "pattern": {"bytes": 10}, "subagent_type": "Explore",
                           "query": {"bytes": 10}, "run_in_background": false},
            "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"}, "[name of 19 bytes]": 1,
            "last_assistant_message": {"lines": 1, "bytes": 4},
        })
    );
}

#[test]
fn metadata_names_the_program_only_if_it_has_a_name() {
    for (command, expected) in [
        ("git status", json!({"program": "git", "bytes": 10})),
        ("  (cd x && ls)", json!({"program": "cd", "bytes": 14})),
        ("TOKEN=abc123def ./run.sh --x", json!({"program": "run.sh", "bytes": 28})),
        ("A=1 B=2", json!({"bytes": 7})),
        ("\"my program\" x", json!({"bytes": 14})),
        ("$EDITOR x", json!({"bytes": 9})),
        ("", json!({"bytes": 0})),
    ] {
        let kept = at(Level::Metadata, &json!({"tool_input": {"command": command}}));
        assert_eq!(kept["tool_input"]["command"], expected, "{command}");
    }
}

#[test]
fn metadata_keeps_no_text_under_a_name_that_promises_a_word() {
    for (name, value) in [
        ("agent_type", "two words"),
        ("name", "Ada Lovelace"),
        ("status", "it is done"),
        ("reason", "Because of this"),
        ("file_path", "/a\nb"),
        ("model", "x y"),
        ("display_name", "<b>bold</b>"),
        ("session_id", "it's me"),
    ] {
        let kept = at(Level::Metadata, &json!({name: value}));
        assert_eq!(kept[name], json!({"bytes": value.len()}), "{name}");
    }
}

#[test]
fn metadata_keeps_no_words_of_any_captured_payload() {
    let texts = [
        "prompt",
        "message",
        "description",
        "last_assistant_message",
        "task_description",
        "query",
        "question",
        "explanation",
    ];
    for case in all() {
        let kept = reduced(&case.payload.to_string(), case.source, Level::Metadata);
        for_each_string(&kept, "", &mut |name, text| {
            assert!(!texts.contains(&name), "{} keeps `{name}`: {text}", case.name);
            assert!(!text.contains('\n'), "{} keeps a text of lines: {text}", case.name);
        });
    }
}

fn for_each_string(value: &Value, name: &str, seen: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => seen(name, text),
        Value::Array(items) => items.iter().for_each(|item| for_each_string(item, name, seen)),
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| for_each_string(member, name, seen))
        }
        _ => {}
    }
}

#[test]
fn each_level_keeps_no_more_than_the_next() {
    for case in all() {
        let text = case.payload.to_string();
        let sizes = [Level::Metadata, Level::Actions, Level::Full].map(|level| {
            let mut strings = 0;
            for_each_string(&reduced(&text, case.source, level), "", &mut |_, text| strings += text.len());
            strings
        });
        assert!(sizes.is_sorted(), "{}: {sizes:?}", case.name);
    }
}

#[test]
fn full_keeps_head_and_tail_of_a_result() {
    let body = |response: Value| {
        let payload =
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": response});
        at(Level::Full, &payload)["tool_response"].clone()
    };
    assert_eq!(body(json!("short")), json!({"outputBytes": 5, "head": "short"}));
    assert_eq!(body(json!("")), json!({"outputBytes": 0}));
    assert_eq!(
        body(json!({"stdout": "out", "stderr": "err", "interrupted": false})),
        json!({"interrupted": false, "outputBytes": 6, "head": "out\nerr"})
    );
    for length in [2048, 2049, 3000, 4096, 6144, 6145, 10_000, 60_000] {
        let text: String = (0..length).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
        let kept = body(json!(text));
        assert_eq!(kept["outputBytes"], json!(length));
        assert_eq!(kept["head"], json!(&text[..length.min(2048)]), "{length}");
        if length > 2048 {
            assert_eq!(kept["tail"], json!(&text[length - (length - 2048).min(2048)..]), "{length}");
        } else {
            assert_eq!(kept.get("tail"), None);
        }
    }
    let wide = "é".repeat(5000);
    let kept = body(json!(wide));
    assert_eq!(kept["head"], json!("é".repeat(1024)));
    assert_eq!(kept["tail"], json!("é".repeat(1024)));
}

#[test]
fn full_masks_excerpts_even_at_the_edges() {
    let key =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "QUJDRA==".repeat(400));
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for (before, after) in
        [(0, 0), (2030, 0), (2040, 5000), (100, 9000), (5000, 10), (9000, 300), (9000, 2000), (2048, 2048)]
    {
        for secret in [&key, &token] {
            let text = format!("{} {secret} {}", "x ".repeat(before / 2), "y ".repeat(after / 2));
            let payload =
                json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": text})
                    .to_string();
            let kept = reduced(&payload, Source::Hook(Agent::CLAUDE_CODE), Level::Full).to_string();
            assert!(!kept.contains("QUJDRA") && !kept.contains("a1B2"), "{before} {after}: {kept}");
        }
    }
}

#[test]
fn full_keeps_messages_and_answers_but_no_files() {
    let kept = at(
        Level::Full,
        &json!({"hook_event_name": "MessageDisplay", "delta": "a piece", "agent_type": "", "last_assistant_message": "the summary",
                "compact_summary": "s".repeat(2000), "tool_input": {"answers": {"Which?": "A"}, "content": "file"}}),
    );
    assert_eq!(kept["delta"], "a piece");
    assert_eq!(kept["last_assistant_message"], json!({"bytes": 11, "head": "the summary"}));
    assert_eq!(kept["compact_summary"], json!({"bytes": 2000, "head": "s".repeat(1000)}));
    assert_eq!(kept["tool_input"]["answers"], json!({"Which?": "A"}));
    assert_eq!(kept["tool_input"]["content"]["bytes"], 4);
    let metadata = at(Level::Metadata, &json!({"compact_summary": "summary", "delta": "piece"}));
    assert_eq!(metadata, json!({"compact_summary": {"bytes": 7}, "delta": {"bytes": 5}}));
}

#[test]
fn full_keeps_the_start_of_a_tasks_result() {
    let prompt = format!("<task-notification><result>{}</result></task-notification>", "r".repeat(5000));
    let kept = at(Level::Full, &json!({"prompt": prompt}));
    let text = kept["prompt"].as_str().expect("a prompt");
    assert!(text.starts_with("<task-notification><result>[5000 bytes] rrrr") && text.len() < 2200, "{text}");
}

#[test]
fn metadata_marks_a_notification_but_not_a_typed_prompt() {
    let prompt = "\n<task-notification>\n<task-id>a9f867cf9bc859a6d</task-id>\n<result>words</result>\n</task-notification>";
    let payload = json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt});
    let kept = at(Level::Metadata, &payload);
    let expected = json!({"promptOrigin": "task_notification", "lines": 5, "bytes": prompt.len()});
    assert_eq!(kept["prompt"], expected);
    // A second reduction changes nothing, and keeps no text in its place.
    assert_eq!(at(Level::Metadata, &kept)["prompt"], expected);
    for typed in ["what is a <task-notification>?", "task-notification", "fix it"] {
        let kept = at(Level::Metadata, &json!({"hook_event_name": "UserPromptSubmit", "prompt": typed}));
        assert_eq!(kept["prompt"], json!({"lines": 1, "bytes": typed.len()}), "{typed}");
    }
    let forged = json!({"prompt": {"promptOrigin": "my secret words", "bytes": 3}});
    assert_eq!(at(Level::Metadata, &forged)["prompt"]["promptOrigin"], json!({"bytes": 15}));
}

#[test]
fn metadata_keeps_the_task_and_the_status_of_a_notification() {
    let prompt = "<task-notification>\n<task-id>a936f4</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
        <status>killed</status>\n<summary>Agent \"my secret plan\" was stopped</summary>\n\
        <result><status>completed</status> secret</result>\n</task-notification>";
    let kept = at(Level::Metadata, &json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
    let expected = json!({"promptOrigin": "task_notification", "status": "killed", "task_id": "a936f4",
        "tool_use_id": "toolu_1", "type": "agent", "lines": 7, "bytes": prompt.len()});
    assert_eq!(kept["prompt"], expected);
    assert_eq!(at(Level::Metadata, &kept)["prompt"], expected, "a second reduction changes nothing");
    for odd in
        ["<status>my secret words</status>", "<result><status>killed</status></result>", "<status>killed"]
    {
        let prompt = format!("<task-notification>{odd}</task-notification>");
        let kept = at(Level::Metadata, &json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        let expected = json!({"promptOrigin": "task_notification", "lines": 1, "bytes": prompt.len()});
        assert_eq!(kept["prompt"], expected, "{odd}");
    }
}

#[test]
fn the_summary_of_a_compaction_is_measured_however_its_agent_is_spelled() {
    for name in ["agent_type", "subagent_type"] {
        for level in [Level::Metadata, Level::Actions] {
            let payload = json!({"hook_event_name": "SubagentStop", "agent_id": "c", name: "",
                "last_assistant_message": "all of the conversation"});
            assert_eq!(at(level, &payload)["last_assistant_message"]["bytes"], 23, "{name} at {level:?}");
        }
    }
}
