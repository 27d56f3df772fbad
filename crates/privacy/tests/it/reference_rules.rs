//! Every captured payload is kept whole, except for its bodies, which are reduced by the rules.
//!
//! The rules are written down here a second time, as slow functions over trees, and compared with what the pass over
//! the bytes gives.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source, mask};
use serde_json::{Map, Value, json};

use crate::fixtures::{Case, all, claude, codex, reduced};

const RESULTS: &[&str] = &[
    "tool_response",
    "tool_output",
    "tool_result",
    "toolUseResult",
    "result",
    "results",
    "output",
    "stdout",
    "stderr",
];

const CONTENTS: &[&str] =
    &["content", "old_string", "new_string", "new_source", "insert_text", "file_text", "patch"];

/// Members of results that repeat the arguments of the call.
const ECHOES: &[&str] = &[
    "filePath",
    "prompt",
    "description",
    "oldString",
    "newString",
    "originalFile",
    "structuredPatch",
    "query",
    "questions",
    "command",
    "commandName",
    "subject",
    "originalCwd",
    "restoredCwd",
    "outputFile",
    "agentType",
    "agent_type",
    "harnessSectionHash",
    "bashEditDiff",
    "humanSchedule",
    "toolsUsed",
    "updatedFields",
];

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase() || b == b'-')
}

fn is_state(text: &str) -> bool {
    !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Bytes of text in a result, as the module documentation of `reduce/body.rs` defines them.
pub(crate) fn output_bytes(value: &Value, key: &str, tool: &str) -> usize {
    match value {
        Value::String(text) => {
            let named = match key {
                "agentId" | "agent_id" | "backgroundTaskId" | "taskId" | "task_id" | "shellId" | "id" => {
                    is_id(text)
                }
                "status" | "action" | "mode" | "type" | "from" | "to" | "service_tier" | "speed" => {
                    is_state(text)
                }
                "resolvedModel" => text.starts_with("claude") || text.starts_with("gpt"),
                "worktreePath" => text.starts_with('/'),
                "worktreeBranch" => text.starts_with("worktree-"),
                _ => false,
            };
            if named { 0 } else { text.len() }
        }
        Value::Array(items) => items.iter().map(|item| output_bytes(item, "", tool)).sum(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !ECHOES.contains(&name.as_str()))
            .filter(|(name, _)| tool != "Write" || name.as_str() != "content")
            .map(|(name, value)| output_bytes(value, name, tool))
            .sum(),
        _ => 0,
    }
}

struct Check<'a> {
    case: &'a str,
    event: &'a str,
    nameless: bool,
    input: bool,
    todos: bool,
    tool: &'a str,
}

impl Check<'_> {
    fn fail(&self, path: &str, original: &Value, kept: &Value) -> ! {
        panic!("{} at `{path}`:\n  was {original}\n  is  {kept}", self.case)
    }

    fn body(&self, path: &str, original: &Value, kept: &Value) {
        if original.is_null() {
            assert!(kept.is_null());
            return;
        }
        let bytes = output_bytes(original, "", self.tool);
        if kept["outputBytes"] != json!(bytes) {
            self.fail(path, original, kept);
        }
        for (name, value) in kept.as_object().expect("a body is an object") {
            let ours =
                ["outputBytes", "isError", "exitCode", "errorClass", "firstLine", "agent_id", "task_name"];
            let same = original.get(name) == Some(value);
            let part = ["task", "file", "usage", "toolStats", "statusChange"].contains(&name.as_str());
            let counted = value.get("count").is_some() && original.get(name).is_some();
            if !(same || counted || part || ours.contains(&name.as_str())) {
                self.fail(path, original, kept);
            }
        }
    }

    fn content(&self, path: &str, original: &Value, kept: &Value) {
        let text = original.as_str().expect("captured contents are strings");
        let hash = kept["hash"].as_str().unwrap_or("");
        let right = kept["bytes"] == json!(text.len())
            && kept["lines"] == json!(text.lines().count())
            && hash.len() == 32
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !right {
            self.fail(path, original, kept);
        }
    }

    fn members(&self, path: &str, original: &Map<String, Value>, kept: &Map<String, Value>) {
        let names =
            |members: &Map<String, Value>| members.keys().cloned().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(names(original), names(kept), "{} at `{path}`", self.case);
        for (name, original) in original {
            self.member(&format!("{path}.{name}"), name, original, &kept[name]);
        }
    }

    fn member(&self, path: &str, name: &str, original: &Value, kept: &Value) {
        let top = path == format!(".{name}");
        match name {
            _ if !self.input && RESULTS.contains(&name) => self.body(path, original, kept),
            "error" if top && (self.event == "StopFailure" || self.event == "PostModelRequest") => {
                assert_eq!(original, kept, "{}", self.case);
            }
            "error" if !self.input => self.body(path, original, kept),
            "last_assistant_message" if self.nameless => {
                assert_eq!(kept, &json!({"bytes": original.as_str().expect("text").len()}), "{}", self.case);
            }
            "content" if top && self.event == "ElicitationResult" => {
                assert_eq!(
                    kept["count"],
                    json!(original.as_object().expect("a form").len()),
                    "{}",
                    self.case
                );
            }
            "compact_summary" => {
                let text = original.as_str().expect("text");
                let head: String = text.chars().take(1000).collect();
                assert_eq!(kept, &json!({"bytes": text.len(), "head": mask(&head)}), "{}", self.case);
            }
            "delta" if top => assert_eq!(kept, &json!({"bytes": original.as_str().expect("text").len()})),
            "answers" | "annotations" if self.input => {
                assert_eq!(
                    kept["count"],
                    json!(original.as_object().expect("answers").len()),
                    "{}",
                    self.case
                );
            }
            "tool_input" if !self.input => {
                Check { input: true, ..*self }.value(path, original, kept);
            }
            "tool_calls" if !self.input => {
                let (original, kept) = (original.as_array().expect("calls"), kept.as_array().expect("calls"));
                for (original, kept) in original.iter().zip(kept) {
                    let tool = original["tool_name"].as_str().expect("a tool");
                    let inside = Check { tool, ..*self };
                    inside.members(
                        path,
                        original.as_object().expect("a call"),
                        kept.as_object().expect("a call"),
                    );
                }
            }
            "todos" if self.input => Check { todos: true, ..*self }.value(path, original, kept),
            _ if self.input && !self.todos && CONTENTS.contains(&name) => self.content(path, original, kept),
            "command" if original.as_str().is_some_and(|text| text.starts_with("*** Begin Patch")) => {
                self.content(path, original, kept);
                let headers: Vec<&str> = original
                    .as_str()
                    .expect("text")
                    .lines()
                    .filter(|line| line.starts_with("*** ") && line.contains(": "))
                    .collect();
                assert_eq!(kept["files"], json!(headers), "{}", self.case);
            }
            "prompt" if original.as_str().is_some_and(|text| text.contains("<task-notification>")) => {
                let text = original.as_str().expect("text");
                let expected = match text.split_once("<result>") {
                    None => text.to_owned(),
                    Some((before, rest)) => {
                        let (inner, after) = rest.rsplit_once("</result>").expect("its end");
                        format!("{before}<result>[{} bytes]</result>{after}", inner.len())
                    }
                };
                assert_eq!(kept, &json!(expected), "{}", self.case);
            }
            _ => self.value(path, original, kept),
        }
    }

    fn value(&self, path: &str, original: &Value, kept: &Value) {
        match (original, kept) {
            (Value::Object(original), Value::Object(kept)) => self.members(path, original, kept),
            (Value::Array(original), Value::Array(kept)) if original.len() == kept.len() => {
                for (original, kept) in original.iter().zip(kept) {
                    self.value(path, original, kept);
                }
            }
            (Value::String(text), Value::String(kept_text)) if mask(text) == kept_text.as_str() => {}
            _ if original == kept => {}
            _ => self.fail(path, original, kept),
        }
    }
}

fn check(case: &Case) {
    let kept = reduced(&case.payload.to_string(), case.source, Level::Actions);
    let check = Check {
        case: &case.name,
        event: case.event(),
        nameless: case.payload["agent_type"] == "",
        input: false,
        todos: false,
        tool: case.payload["tool_name"].as_str().unwrap_or(""),
    };
    let object = case.payload.as_object().expect("an object");
    check.members("", object, kept.as_object().expect("an object"));
}

#[test]
fn every_captured_payload_is_kept_but_for_its_bodies() {
    let cases = all();
    for case in &cases {
        check(case);
    }
}

#[test]
fn the_output_has_no_byte_more_than_json_needs() {
    for case in all() {
        let (_, out) = crate::fixtures::run(case.payload.to_string().as_bytes(), case.source, Level::Actions);
        let text = String::from_utf8(out).expect("UTF-8");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value.to_string().len(), text.len(), "{}: {text}", case.name);
    }
}

#[test]
fn pretty_printed_payloads_come_out_the_same() {
    for case in crate::fixtures::variants() {
        let pretty = serde_json::to_string_pretty(&case.payload).expect("JSON");
        let windows = pretty.replace('\n', "\r\n");
        let compact = reduced(&case.payload.to_string(), case.source, Level::Actions);
        for spelling in [pretty, windows, format!("\u{feff} \n\t{}\n\n", case.payload)] {
            assert_eq!(reduced(&spelling, case.source, Level::Actions), compact, "{}", case.name);
        }
    }
}

#[test]
fn named_parts_of_structured_results_stay() {
    let kept = claude(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "Agent",
        "tool_response": {
            "status": "completed", "prompt": "an echo", "agentId": "aff290ceeb7216ead", "resolvedModel": "claude-opus-5-5",
            "content": [{"type": "text", "text": "twelve bytes"}], "totalTokens": 14929, "totalToolUseCount": 2,
            "usage": {"input_tokens": 7, "service_tier": "standard", "iterations": [1], "note": "no",
                      "cache_creation": {"ephemeral_5m_input_tokens": 207, "other": 1}},
            "toolStats": {"bashCount": 1, "linesAdded": 0, "unknownCount": 3},
            "worktreePath": "/home/dev/w", "worktreeBranch": "worktree-w",
        },
    }));
    assert_eq!(
        kept["tool_response"],
        json!({
            "status": "completed", "agentId": "aff290ceeb7216ead", "resolvedModel": "claude-opus-5-5",
            "totalTokens": 14929, "totalToolUseCount": 2,
            "usage": {"input_tokens": 7, "service_tier": "standard", "cache_creation": {"ephemeral_5m_input_tokens": 207}},
            "toolStats": {"bashCount": 1, "linesAdded": 0},
            "worktreePath": "/home/dev/w", "worktreeBranch": "worktree-w", "outputBytes": 14,
        })
    );
}

#[test]
fn a_named_part_of_another_shape_is_only_measured() {
    for (name, value) in [
        ("agentId", json!("Not An Id")),
        ("agentId", json!("a".repeat(65))),
        ("status", json!("two words")),
        ("status", json!("Completed")),
        ("resolvedModel", json!("my-own-model")),
        ("worktreePath", json!("relative/path")),
        ("worktreePath", json!("/with\nbreak")),
        ("worktreePath", json!(format!("/{}", "x".repeat(1024)))),
        ("worktreeBranch", json!("feature/x; rm")),
        ("totalTokens", json!("many")),
        ("isImage", json!("yes")),
        ("usage", json!("some")),
        ("statusChange", json!(["a"])),
        ("tasks", json!("none")),
        ("unheard_of", json!("text")),
    ] {
        let kept = claude(&json!({
            "hook_event_name": "PostToolUse", "tool_name": "X", "tool_response": {name: value},
        }));
        let bytes = value.as_str().map_or(1, str::len);
        assert_eq!(kept["tool_response"], json!({"outputBytes": bytes}), "{name}: {value}");
    }
}

#[test]
fn lists_of_a_result_are_counted() {
    let kept = claude(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "TodoWrite",
        "tool_response": {"oldTodos": [], "newTodos": [{"content": "One"}, {"content": "Two"}], "tasks": [1, 2, 3]},
    }));
    assert_eq!(
        kept["tool_response"],
        json!({"oldTodos": {"count": 0}, "newTodos": {"count": 2}, "tasks": {"count": 3}, "outputBytes": 6})
    );
}

#[test]
fn results_are_found_wherever_they_hide() {
    let kept = claude(&json!({
        "hook_event_name": "SomethingNew",
        "nested": {"deep": [{"stdout": "abc", "keep": "this"}], "toolUseResult": "defg"},
        "output": ["x", "yz"], "tool_calls": [{"tool_name": "Bash", "tool_input": {"output": "stays"}, "result": "gone"}],
    }));
    assert_eq!(
        kept,
        json!({
            "hook_event_name": "SomethingNew",
            "nested": {"deep": [{"stdout": {"outputBytes": 3}, "keep": "this"}], "toolUseResult": {"outputBytes": 4}},
            "output": {"outputBytes": 3},
            "tool_calls": [{"tool_name": "Bash", "tool_input": {"output": "stays"}, "result": {"outputBytes": 4}}],
        })
    );
}

#[test]
fn a_result_that_is_no_text_leaves_nothing() {
    for (value, kept) in [
        (json!(null), json!(null)),
        (json!(4711), json!({"outputBytes": 0})),
        (json!(true), json!({"outputBytes": 0})),
        (json!([]), json!({"outputBytes": 0})),
        (json!({}), json!({"outputBytes": 0})),
        (json!(""), json!({"outputBytes": 0})),
    ] {
        let payload = json!({"hook_event_name": "PostToolUse", "tool_name": "X", "tool_response": value});
        assert_eq!(claude(&payload)["tool_response"], kept, "{value}");
    }
}

#[test]
fn codex_tells_the_id_of_an_agent_inside_a_string() {
    let spawned = |tool: &str, answer: &str| {
        codex(&json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_response": answer}))["tool_response"].clone()
    };
    let id = "01a1e0be-84a3-7821-97dd-747b90c57e02";
    let answer = json!({"agent_id": id, "nickname": "Hopper"}).to_string();
    assert_eq!(spawned("spawn_agent", &answer), json!({"agent_id": id, "outputBytes": answer.len()}));
    let answer = json!({"task_name": "/root/scout"}).to_string();
    assert_eq!(
        spawned("collaborationspawn_agent", &answer),
        json!({"task_name": "/root/scout", "outputBytes": answer.len()})
    );
    for odd in [
        "",
        "{",
        "{\"agent_id\":\"not a uuid\"}",
        "{\"task_name\":\"Secret\"}",
        "[1]",
        "{\"agent_id\":[\"x\"]}",
    ] {
        assert_eq!(spawned("spawn_agent", odd), json!({"outputBytes": odd.len()}), "{odd}");
    }
    assert_eq!(spawned("other_tool", &answer), json!({"outputBytes": answer.len()}));
}

#[test]
fn contents_of_files_are_reduced_at_every_depth_of_the_input() {
    let kept = claude(&json!({"hook_event_name": "PreToolUse", "tool_name": "MultiEdit", "tool_input": {
        "file_path": "/a", "edits": [{"old_string": "a\nb", "new_string": ""}], "files": [{"path": "x", "content": "é\n"}],
        "todos": [{"content": "write it", "status": "pending"}], "content": ["a", {"text": "bc"}],
    }}));
    let input = &kept["tool_input"];
    assert_eq!(input["edits"][0]["old_string"]["lines"], 2);
    assert_eq!(input["edits"][0]["new_string"]["bytes"], 0);
    assert_eq!(input["edits"][0]["new_string"]["lines"], 0);
    assert_eq!(input["files"][0]["content"]["bytes"], 3);
    assert_eq!(input["files"][0]["path"], "x");
    assert_eq!(input["todos"], json!([{"content": "write it", "status": "pending"}]));
    assert_eq!(input["content"]["bytes"], 3);
}

#[test]
fn equal_contents_have_equal_hashes_under_one_key() {
    let hash = |spelling: &str| {
        let text = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{{"content":"{spelling}"}}}}"#
        );
        reduced(&text, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["tool_input"]["content"]["hash"]
            .clone()
    };
    let long = "all work and no play\\n".repeat(300);
    assert_eq!(hash("a\\nb\\u00e9\\ud83d\\ude00/"), hash("a\\u000Ab\u{e9}\u{1f600}\\/"));
    assert_eq!(hash(&long), hash(&long.replace("\\n", "\\u000a")));
    assert_ne!(hash("a"), hash("b"));
    assert_ne!(hash("a"), hash("a\\n"));
}

#[test]
fn the_key_is_asked_for_once_and_only_if_something_is_hashed() {
    let asked = |payload: Value| {
        let mut count = 0;
        let mut out = Vec::new();
        let config = crate::fixtures::at(Level::Actions);
        let mut key = || {
            count += 1;
            crate::fixtures::KEY
        };
        agent_tracer_privacy::reduce(
            payload.to_string().as_bytes(),
            Source::Hook(Agent::CLAUDE_CODE),
            &config,
            &mut key,
            &mut out,
        );
        count
    };
    assert_eq!(asked(json!({"hook_event_name": "Stop", "tool_response": "x", "prompt": "y"})), 0);
    assert_eq!(
        asked(json!({"tool_input": {"content": "x", "old_string": "y", "long": "z".repeat(3000)}})),
        1
    );
}

#[test]
fn the_output_is_appended_to_the_buffer() {
    let mut out = b"header ".to_vec();
    let config = crate::fixtures::at(Level::Actions);
    agent_tracer_privacy::reduce(
        b"{\"a\":1}",
        Source::Hook(Agent::CLAUDE_CODE),
        &config,
        &mut || [0; 16],
        &mut out,
    );
    assert_eq!(out, b"header {\"a\":1}");
    agent_tracer_privacy::reduce(
        b"{\"a\":1",
        Source::Hook(Agent::CLAUDE_CODE),
        &config,
        &mut || [0; 16],
        &mut out,
    );
    assert_eq!(out, b"header {\"a\":1}");
}

#[test]
fn long_strings_are_reduced_unless_a_person_or_an_agent_wrote_them() {
    let long = "word ".repeat(1000);
    let short = "word ".repeat(400);
    let kept = claude(&json!({
        "hook_event_name": "UserPromptSubmit", "prompt": long, "last_assistant_message": long, "unknown": long, "brief": short,
        "message": long, "nested": {"unknown": long, "description": long},
        "tool_input": {"command": long, "description": long, "query": long, "nested": {"command": long, "message": long}},
    }));
    for path in
        ["/prompt", "/last_assistant_message", "/message", "/nested/description", "/tool_input/command"]
    {
        assert_eq!(kept.pointer(path), Some(&json!(long)), "{path}");
    }
    for path in [
        "/unknown",
        "/nested/unknown",
        "/tool_input/query",
        "/tool_input/nested/command",
        "/tool_input/description",
        "/tool_input/nested/message",
    ] {
        let reduced = kept.pointer(path).expect("a member");
        assert_eq!(reduced["bytes"], json!(long.len()), "{path}");
        assert_eq!(reduced["lines"], json!(1), "{path}");
    }
    assert_eq!(kept["brief"], json!(short));
}

#[test]
fn a_text_beyond_all_measure_is_cut_and_says_so() {
    let huge = "ä word ".repeat(60_000);
    for (name, payload) in [
        ("prompt", json!({"hook_event_name": "UserPromptSubmit", "prompt": huge})),
        ("command", json!({"tool_name": "Bash", "tool_input": {"command": huge}})),
    ] {
        let kept = claude(&payload);
        let text =
            kept.pointer(&format!("/{name}")).or(kept.pointer("/tool_input/command")).and_then(Value::as_str);
        let text = text.expect("a text");
        assert!(text.len() <= 256 * 1024 + 64, "{name} has {} bytes", text.len());
        assert!(
            text.ends_with(&format!("of {} bytes]", huge.len())),
            "{name} ends in {:?}",
            &text[text.len() - 50..]
        );
        assert!(huge.starts_with(&text[..200_000]));
    }
}

#[test]
fn patches_keep_the_names_of_their_files() {
    let patch = "*** Begin Patch\n*** Add File: a/b.txt\n+secret line\n*** Update File: c d.rs\n*** Move to: e.rs\n@@\n-x\n+*** Add File: no\n*** Delete File: f\r\n*** End Patch";
    let files = json!([
        "*** Add File: a/b.txt",
        "*** Update File: c d.rs",
        "*** Move to: e.rs",
        "*** Delete File: f"
    ]);
    for (pointer, input) in [
        ("/command", json!({"command": patch})),
        ("/input", json!({"input": patch})),
        ("/patch", json!({"patch": format!("  \n{patch}")})),
        ("/nested/anything", json!({"nested": {"anything": patch}})),
        ("", json!(patch)),
    ] {
        let kept =
            codex(&json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "tool_input": input}));
        let reduced = kept["tool_input"].pointer(pointer).expect("a patch");
        assert_eq!(reduced["files"], files, "{pointer}");
        assert!(reduced["hash"].is_string() && !kept.to_string().contains("secret line"), "{kept}");
    }
}

#[test]
fn a_patch_of_many_files_is_cut() {
    let mut patch = String::from("*** Begin Patch\n");
    for number in 0..500 {
        patch.push_str(&format!("*** Add File: {number}{}\n+x\n", "n".repeat(1000)));
    }
    let kept = codex(&json!({"tool_name": "apply_patch", "tool_input": {"command": patch}}));
    let files = kept["tool_input"]["command"]["files"].as_array().expect("files");
    assert_eq!(files.len(), 200);
    assert!(files.iter().all(|file| file.as_str().is_some_and(|line| line.len() <= 512)));
}

#[test]
fn pictures_in_text_clothes_are_reduced() {
    let data = format!("data:image/png;base64,{}", "iVBORw0K".repeat(60));
    let bare = format!("iVBORw0KGgo{}", "AAAA".repeat(100));
    let kept = claude(
        &json!({"hook_event_name": "X", "prompt": data, "image": data, "tool_input": {"command": bare, "url": data}}),
    );
    for path in ["/prompt", "/image", "/tool_input/command", "/tool_input/url"] {
        assert!(kept.pointer(path).is_some_and(|value| value["hash"].is_string()), "{path}: {kept}");
    }
    let small = claude(&json!({"icon": "data:image/gif;base64,R0lGODlhAQABAAAAACw="}));
    assert_eq!(small["icon"], "data:image/gif;base64,R0lGODlhAQABAAAAACw=");
}

#[test]
fn task_notifications_lose_the_result_of_the_task() {
    for (prompt, expected) in [
        (
            "<task-notification>\n<result>a</result>b</result>\n</task-notification>",
            "<task-notification>\n<result>[11 bytes]</result>\n</task-notification>",
        ),
        ("<task-notification><result>never closed", "<task-notification><result>[12 bytes]"),
        (
            "<task-notification><status>completed</status></task-notification>",
            "<task-notification><status>completed</status></task-notification>",
        ),
        (
            "hello\n<task-notification>\n<result>x</result> after",
            "hello\n<task-notification>\n<result>[1 bytes]</result> after",
        ),
        (
            "<task-notification><event>line</event></task-notification>",
            "<task-notification><event>[4 bytes]</event></task-notification>",
        ),
        (
            "<task-notification><output-file>/x</output-file><result></result>",
            "<task-notification><output-file>/x</output-file><result>[0 bytes]</result>",
        ),
        ("what does <result>x</result> mean", "what does <result>x</result> mean"),
    ] {
        let kept = claude(&json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}));
        assert_eq!(kept["prompt"], json!(expected));
        assert_eq!(claude(&kept), kept, "a second time");
    }
    let escaped =
        r#"{"prompt":"\u003ctask-notification\u003e\u003cresult\u003esecret words\u003c/result\u003e"}"#;
    let kept = reduced(escaped, Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
    assert_eq!(kept["prompt"], "<task-notification><result>[12 bytes]</result>");
}
