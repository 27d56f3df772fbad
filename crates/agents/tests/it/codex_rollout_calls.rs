//! Reads calls from Codex's rollouts: name, end and duration.

use std::collections::BTreeMap;

use agent_tracer_event::{CallState, Certainty, Entry, Kind, Phase};
use agent_tracer_privacy::Level;
use serde_json::{Value, json};

use crate::codex_fixtures::{THREAD, entries, is, is_call, rollout, written};

/// Returns how each call of a scenario ended: tool, state, exit code, class.
fn endings(name: &str) -> Vec<(String, CallState, Option<i64>, Option<String>)> {
    let mut calls: BTreeMap<String, Entry> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in entries(name, &rollout(name), Level::Actions).into_iter().filter(is_call) {
        if !order.contains(&entry.key) {
            order.push(entry.key.clone());
        }
        match calls.get_mut(&entry.key) {
            Some(known) => {
                known.state = entry.state.or(known.state);
                known.metadata.extend(entry.metadata);
            }
            None => {
                calls.insert(entry.key.clone(), entry);
            }
        }
    }
    let end = |key: &String| {
        let call = &calls[key];
        (
            call.tool_name.clone().unwrap(),
            call.state.unwrap(),
            call.metadata.get("exitCode").and_then(Value::as_i64),
            call.metadata.get("errorClass").and_then(Value::as_str).map(str::to_owned),
        )
    };
    order.iter().map(end).collect()
}

#[test]
fn a_command_that_the_client_left_running_is_abandoned_and_did_not_fail() {
    // The client may write its end before it knows that the command was killed, or after.
    for (exit_code, is_last) in [(-1, false), (-1, true), (137, true), (143, true)] {
        let (mut kept, mut last) = (Vec::new(), Vec::new());
        for line in rollout("shell_background").split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut row: Value = serde_json::from_slice(line).unwrap();
            let item = &mut row["payload"]["item"];
            let is_end = item["type"] == "CommandExecution";
            if is_end {
                item["status"] = "failed".into();
                item["exit_code"] = exit_code.into();
            }
            // Nothing polls it: the report of its end to the model is not there.
            let text = row.to_string();
            if !text.contains("write_stdin") && !text.contains("Process exited with code") {
                let rows = if is_end && is_last { &mut last } else { &mut kept };
                rows.extend(serde_json::to_vec(&row).unwrap());
                rows.push(b'\n');
            }
        }
        kept.extend(last);
        let all = entries("shell_background", &kept, Level::Actions);
        let ends: Vec<&Entry> =
            all.iter().filter(|entry| is_call(entry) && entry.phase == Phase::Close).collect();
        let [end] = ends.as_slice() else { panic!("{ends:?}") };
        assert_eq!(end.state, Some(CallState::Abandoned), "{exit_code}");
        assert_eq!(end.metadata.get("errorClass"), None);
    }
}

#[test]
fn a_session_that_only_reviews_is_called_a_review() {
    let all = entries("review", &rollout("review"), Level::Actions);
    let titles: Vec<&Value> = all.iter().filter_map(|entry| entry.metadata.get("title")).collect();
    assert!(titles.contains(&&Value::from("Code review")), "{titles:?}");
}

#[test]
fn calls_end_as_the_rollout_tells() {
    use CallState::{Denied, Failed, Interrupted, Running, Succeeded};
    type Expected = (&'static str, CallState, Option<i64>, Option<&'static str>);
    let table: &[(&str, &[Expected])] = &[
        ("shell_ok", &[("Bash", Succeeded, Some(0), None)]),
        ("shell_fail", &[("Bash", Failed, Some(3), Some("non_zero_exit"))]),
        ("shell_bg", &[("Bash", Succeeded, Some(0), None), ("write_stdin", Succeeded, None, None)]),
        ("shell_background", &[("Bash", Succeeded, Some(0), None), ("write_stdin", Succeeded, None, None)]),
        ("shell_tty", &[("Bash", Succeeded, Some(0), None), ("write_stdin", Succeeded, None, None)]),
        ("bad_args", &[("Bash", Failed, None, Some("invalid_input"))]),
        ("unknown_tool", &[("no_such_tool", Failed, None, Some("invalid_input"))]),
        ("ask", &[("request_user_input", Failed, None, Some("invalid_input"))]),
        ("patch_bad", &[("apply_patch", Failed, None, Some("not_found"))]),
        (
            "patch",
            &[
                ("apply_patch", Succeeded, None, None),
                ("apply_patch", Succeeded, None, None),
                ("apply_patch", Succeeded, None, None),
            ],
        ),
        (
            "mcp",
            &[("mcp__lab__echo", Succeeded, None, None), ("mcp__lab__fail", Failed, None, Some("unknown"))],
        ),
        ("mcp_raise", &[("mcp__lab__boom", Failed, None, Some("unknown"))]),
        ("mcp_search", &[("tool_search", Succeeded, None, None), ("mcp__lab__echo", Succeeded, None, None)]),
        ("o_predeny", &[("Bash", Denied, None, Some("hook_blocked"))]),
        ("interrupt", &[("Bash", Interrupted, Some(-1), Some("interrupt"))]),
        ("tui", &[("Bash", Succeeded, Some(0), None), ("Bash", Denied, None, Some("permission"))]),
        (
            "refuse",
            &[
                ("Bash", Denied, None, Some("permission")),
                ("apply_patch", Denied, None, Some("permission")),
                ("mcp__demo__write", Denied, None, Some("permission")),
            ],
        ),
        (
            "approve",
            &[
                ("Bash", Succeeded, Some(0), None),
                ("Bash", Succeeded, Some(0), None),
                ("Bash", Interrupted, Some(-1), Some("interrupt")),
            ],
        ),
        (
            "questions",
            &[
                ("request_user_input", Succeeded, None, None),
                ("request_user_input", Interrupted, None, Some("interrupt")),
            ],
        ),
        ("killed", &[("Bash", Running, None, None)]),
        ("plan2", &[("update_plan", Succeeded, None, None)]),
        ("view_image", &[("view_image", Succeeded, None, None)]),
        ("image_gen", &[("image_generation", Succeeded, None, None)]),
        (
            "code_shell",
            &[
                ("exec", Succeeded, None, None),
                ("Bash", Succeeded, Some(0), None),
                ("Bash", Failed, Some(4), Some("non_zero_exit")),
            ],
        ),
        ("code_patch", &[("exec", Succeeded, None, None), ("apply_patch", Succeeded, None, None)]),
        ("code_mcp", &[("exec", Succeeded, None, None), ("mcp__demo__echo", Succeeded, None, None)]),
        (
            "js_wait",
            &[
                ("exec", Succeeded, None, None),
                ("wait", Succeeded, None, None),
                ("Bash", Succeeded, Some(0), None),
            ],
        ),
        (
            "agent_v1",
            &[
                ("spawn_agent", Succeeded, None, None),
                ("multi_agent_v1wait_agent", Succeeded, None, None),
                ("multi_agent_v1close_agent", Succeeded, None, None),
            ],
        ),
        (
            "agent_v2",
            &[
                ("collaborationspawn_agent", Succeeded, None, None),
                ("collaborationwait_agent", Succeeded, None, None),
            ],
        ),
        (
            "legacy_history",
            &[
                ("Bash", Succeeded, Some(0), None),
                ("apply_patch", Succeeded, None, None),
                ("apply_patch", Succeeded, None, None),
                ("apply_patch", Succeeded, None, None),
                ("mcp__lab__echo", Succeeded, None, None),
                ("mcp__lab__fail", Failed, None, Some("unknown")),
                ("web_search", Succeeded, None, None),
                ("web_search", Succeeded, None, None),
                ("spawn_agent", Succeeded, None, None),
                ("multi_agent_v1wait_agent", Succeeded, None, None),
                ("Bash", Succeeded, Some(0), None),
            ],
        ),
    ];
    for (name, expected) in table {
        let expected: Vec<_> = expected
            .iter()
            .map(|(tool, state, exit, class)| ((*tool).to_owned(), *state, *exit, class.map(str::to_owned)))
            .collect();
        assert_eq!(endings(name), expected, "{name}");
    }
}

fn call(name: &str, tool: &str, phase: Phase) -> Entry {
    let found = entries(name, &rollout(name), Level::Actions);
    let mut calls = found.into_iter().filter(|entry| is_call(entry) && entry.phase == phase);
    calls.find(|entry| entry.tool_name.as_deref() == Some(tool)).unwrap()
}

#[test]
fn waiting_for_the_user_is_distinguished_from_running() {
    let asked = call("tui", "Bash", Phase::Close);
    assert_eq!(asked.metadata["durationMs"], 0);
    assert_eq!(asked.metadata["durationSource"], "agent");
    let wait = asked.metadata["permissionWaitMs"].as_i64().unwrap();
    assert_eq!(wait, asked.ended_at.unwrap().0 - asked.occurred_at.0);
    let slow = call("shell_background", "Bash", Phase::Close);
    assert_eq!(slow.metadata["durationMs"], 1871);
    assert!(!slow.metadata.contains_key("permissionWaitMs"));
    assert!(!call("shell_ok", "Bash", Phase::Close).metadata.contains_key("permissionWaitMs"));
}

#[test]
fn old_files_give_the_time_that_their_output_names() {
    let command = call("legacy_history", "Bash", Phase::Close);
    assert_eq!((&command.metadata["durationMs"], &command.metadata["exitCode"]), (&json!(2), &json!(0)));
    let output: usize = 388;
    assert_eq!(command.metadata["outputBytes"], output);
}

#[test]
fn patches_tell_what_became_of_each_file() {
    let found = entries("patch", &rollout("patch"), Level::Actions);
    let moved = found.iter().filter(|entry| is_call(entry) && entry.phase == Phase::Close).nth(1).unwrap();
    assert_eq!(
        moved.metadata["fileChanges"],
        json!([
            {"path": "/home/dev/project/src/extra.txt", "operation": "create", "bytes": 6, "lines": 1},
            {"path": "/home/dev/project/notes/hello.txt", "operation": "rename",
             "to": "/home/dev/project/notes/renamed.txt", "linesAdded": 1, "linesRemoved": 1},
        ])
    );
    let nested = call("code_patch", "apply_patch", Phase::Close);
    assert_eq!(nested.file_paths, ["/home/dev/project/notes/hello.txt"]);
    assert_eq!(nested.title.as_deref(), Some("Create notes/hello.txt"));
    assert!(!nested.metadata.contains_key("toolInput"));
}

#[test]
fn code_is_measured_and_its_tools_are_named() {
    let code = call("code_shell", "exec", Phase::Open);
    assert_eq!(code.metadata["calledTools"], json!(["exec_command"]));
    assert!(code.metadata["toolInput"]["content"]["bytes"].is_u64());
    assert_eq!(code.title.as_deref(), Some("Run code that calls exec_command"));
}

#[test]
fn a_command_of_the_user_is_a_command_like_any_other() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "cwd": "/src", "source": "cli"})),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t1", "item": {
            "type": "CommandExecution", "id": "u1", "command": ["/bin/zsh", "-lc", "git status"],
            "cwd": "file:///src", "source": "user_shell", "status": "completed", "exit_code": 0,
            "aggregated_output": "clean", "duration": {"secs": 0, "nanos": 5_000_000}}}),
        ),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let command = found.iter().find(|entry| is_call(entry)).unwrap();
    assert!(is(command, Kind::TerminalCommand));
    assert_eq!(command.metadata["commandSource"], "user_shell");
    assert_eq!(command.metadata["command"], "git status");
    assert_eq!(
        (command.metadata["outputBytes"].as_u64(), command.metadata["durationMs"].as_u64()),
        (Some(5), Some(5))
    );
}

#[test]
fn answers_that_were_kept_are_counted_on_their_question() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD})),
        (
            "response_item",
            json!({"type": "function_call", "name": "request_user_input", "call_id": "c",
            "arguments": "{\"questions\":[{\"id\":\"q\",\"question\":\"Which?\"}]}"}),
        ),
        (
            "retained_context",
            json!({"type": "verified_answer", "turn_id": "t", "call_id": "c",
            "questions": [{"question": "Which?", "answer": "secret-answer"}]}),
        ),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let answered =
        found.iter().find(|entry| entry.metadata.get("questionPhase") == Some(&json!("answered"))).unwrap();
    assert_eq!((answered.key.as_str(), &answered.metadata["answerCount"]), ("tool:c", &json!(1)));
    assert!(!serde_json::to_string(&found).unwrap().contains("secret-answer"));
}

#[test]
fn a_patch_typed_into_a_shell_names_its_files() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "cwd": "/src"})),
        (
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "call_id": "c",
            "arguments": json!({"cmd": "apply_patch <<'EOF'\n*** Begin Patch\nEOF"}).to_string()}),
        ),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "item": {"type": "FileChange",
            "id": "c", "changes": {"/src/a.txt": {"type": "update", "unified_diff": "@@\n-x\n+y\n", "move_path": "/src/b.txt"}},
            "status": "completed", "stdout": "", "stderr": ""}}),
        ),
        (
            "response_item",
            json!({"type": "function_call_output", "call_id": "c",
            "output": "Wall time: 0.0 seconds\nOutput:\nExit code: 0\n"}),
        ),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let calls: Vec<&Entry> = found.iter().filter(|entry| is_call(entry)).collect();
    assert_eq!(calls.len(), 2, "the output adds nothing to the item");
    assert!(calls.iter().all(|entry| is(entry, Kind::TerminalCommand)));
    assert_eq!(calls[1].file_paths, ["/src/a.txt", "/src/b.txt"]);
    assert_eq!(calls[1].state, Some(CallState::Succeeded));
}

#[test]
fn a_command_that_never_ran_has_no_exit_of_its_own() {
    let rows = written(&[
        ("session_meta", json!({"id": THREAD, "session_id": THREAD, "cwd": "/src"})),
        (
            "event_msg",
            json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "item": {"type":
            "CommandExecution", "id": "c", "command": ["/bin/bash", "-lc", "pwd"], "cwd": "file:///src/sub%20dir",
            "status": "failed", "exit_code": -1, "source": "unified_exec_startup"}}),
        ),
    ]);
    let found = entries("x", &rows, Level::Actions);
    let call = found.iter().find(|entry| is_call(entry)).unwrap();
    assert_eq!((call.state, &call.metadata["errorClass"]), (Some(CallState::Failed), &json!("unknown")));
    assert_eq!(call.metadata["cwd"], "/src/sub dir");
}

#[test]
fn a_denial_matters_as_surely_as_the_attempt_was_seen() {
    let found = entries("o_predeny", &rollout("o_predeny"), Level::Actions);
    let weights: Vec<&Entry> = found
        .iter()
        .filter(|entry| is_call(entry) && entry.metadata.get("importance") == Some(&json!("critical")))
        .collect();
    assert!(
        weights.iter().any(|entry| entry.evidence.certainty == Certainty::Measured && entry.state.is_none())
    );
    assert!(weights.iter().any(|entry| entry.state == Some(CallState::Denied)));
}

#[test]
fn without_a_question_there_is_no_wait_for_an_answer() {
    let waited = |policy: &str, ended: i64| {
        let rows = written(&[
            ("session_meta", json!({"id": THREAD, "session_id": THREAD, "cwd": "/src"})),
            ("turn_context", json!({"turn_id": "t", "approval_policy": policy})),
            (
                "event_msg",
                json!({"type": "item_completed", "thread_id": THREAD, "turn_id": "t", "started_at_ms": 1000,
                "completed_at_ms": ended, "item": {"type": "CommandExecution", "id": "c", "command": ["ls"],
                "status": "completed", "exit_code": 0, "duration": {"secs": 0, "nanos": 5_000_000}}}),
            ),
        ]);
        let found = entries("x", &rows, Level::Actions);
        found.iter().find(|entry| is_call(entry)).unwrap().metadata.get("permissionWaitMs").cloned()
    };
    assert_eq!(waited("on-request", 3005), Some(json!(2000)));
    assert_eq!(waited("never", 3005), None);
    assert_eq!(waited("on-request", 1050), None, "starting a process takes time too");
}
