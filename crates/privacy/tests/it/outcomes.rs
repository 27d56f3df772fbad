//! Outcomes of calls by their texts: every captured failure, and lookalikes that are none.

use std::collections::BTreeMap;

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source};
use serde_json::{Value, json};

use crate::fixtures::{all, claude, codex, reduced};

/// Returns the outcome in a body: isError, exitCode, errorClass.
type Outcome = (Option<bool>, Option<i64>, Option<&'static str>);

fn outcome(body: &Value) -> (Option<bool>, Option<i64>, Option<String>) {
    let class = body["errorClass"].as_str().map(str::to_owned);
    (body["isError"].as_bool(), body["exitCode"].as_i64(), class)
}

fn failed(class: &'static str) -> Outcome {
    (Some(true), None, Some(class))
}

fn exited(code: i64) -> Outcome {
    (Some(true), Some(code), Some("non_zero_exit"))
}

const NOTHING: Outcome = (None, None, None);

/// Captured texts by their beginning. The longest beginning that fits decides; a text that fits none must give no
/// outcome.
fn captured(kind: &str) -> Vec<(&'static str, Outcome)> {
    match kind {
        "error" => vec![
            ("Agent terminated early due to an API error: API Error: 400", failed("unknown")),
            (
                "WorktreeCreate hook failed: hook succeeded but returned no worktree path",
                failed("hook_blocked"),
            ),
            ("Exit code 3\n", exited(3)),
            ("File does not exist. Note: your current working directory is", failed("not_found")),
            ("Unable to verify if domain 127.0.0.1 is safe to fetch.", failed("network")),
            ("scripted MCP failure", failed("unknown")),
        ],
        _ => vec![
            ("Agent terminated early due to an API error: API Error: 400", failed("unknown")),
            ("Exit code 3\n", exited(3)),
            ("<tool_use_error>Error: No such tool available: ", failed("invalid_input")),
            ("<tool_use_error>String to replace not found in file.", failed("invalid_input")),
            ("<tool_use_error>File has not been read yet.", failed("invalid_input")),
            (
                "Auto mode is unavailable: its safety check does not run for this session",
                failed("permission"),
            ),
            ("Permission to use Bash with command rm -rf ./nope has been denied.", failed("permission")),
            ("PreToolUse:Bash hook error: ", failed("hook_blocked")),
            ("touch in '/home/dev/denied-file' needs approval.", failed("permission")),
            ("touch in '/home/dev/denied-file' was blocked.", failed("permission")),
        ],
    }
}

fn expected(kind: &str, text: &str) -> (Option<bool>, Option<i64>, Option<String>) {
    let (is_error, code, class) = captured(kind)
        .into_iter()
        .filter(|(start, _)| text.starts_with(start))
        .max_by_key(|(start, _)| start.len())
        .map_or(NOTHING, |(_, outcome)| outcome);
    (is_error, code, class.map(str::to_owned))
}

/// The text that the model sees.
fn text(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.first().and_then(|block| block["text"].as_str()).unwrap_or("").to_owned()
        }
        _ => String::new(),
    }
}

#[test]
fn every_captured_failure_has_its_class() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for case in all() {
        let kept = reduced(&case.payload.to_string(), case.source, Level::Actions);
        match case.event() {
            "PostToolUseFailure" => {
                let error = case.payload["error"].as_str().expect("captured errors are strings");
                let wanted = expected("error", error);
                assert_eq!(outcome(&kept["error"]), wanted, "{}: {error}", case.name);
                assert_eq!(kept["error"]["isError"], json!(true), "{}: a failure is an error", case.name);
                *seen.entry(format!("error {wanted:?}")).or_default() += 1;
            }
            "PostToolBatch" => {
                let calls = case.payload["tool_calls"].as_array().expect("calls");
                for (call, kept) in calls.iter().zip(kept["tool_calls"].as_array().expect("calls")) {
                    let text = text(&call["tool_response"]);
                    let wanted = expected("batch", &text);
                    assert_eq!(outcome(&kept["tool_response"]), wanted, "{}: {text}", case.name);
                    *seen.entry(format!("batch {wanted:?}")).or_default() += 1;
                }
            }
            "PostToolUse" => {
                let (is_error, code, class) = outcome(&kept["tool_response"]);
                assert_ne!(is_error, Some(true), "{}: a successful call is no error", case.name);
                assert_eq!(class, None, "{}", case.name);
                assert!(code.is_none() || code == Some(0), "{}", case.name);
            }
            _ => {}
        }
    }
    assert!(seen.len() >= 10, "the table was used: {seen:#?}");
}

fn failure(tool: &str, error: &str) -> Value {
    let payload = json!({"hook_event_name": "PostToolUseFailure", "tool_name": tool, "error": error});
    claude(&payload)["error"].clone()
}

fn batch(tool: &str, response: Value) -> Value {
    let calls = json!([{"tool_name": tool, "tool_response": response}]);
    claude(&json!({"hook_event_name": "PostToolBatch", "tool_calls": calls}))["tool_calls"][0]["tool_response"].clone()
}

fn used(tool: &str, response: Value) -> Value {
    claude(&json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_response": response}))["tool_response"].clone()
}

#[test]
fn the_words_of_an_error_tell_its_class() {
    for (error, class) in [
        ("[Request interrupted by user for tool use]", "interrupt"),
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", "permission"),
        ("Claude requested permissions to use Write, but you haven't granted it yet.", "permission"),
        ("This command requires approval", "permission"),
        ("EACCES: permission denied, open '/etc/shadow'", "permission"),
        ("Tool call auto-denied", "permission"),
        ("Request timed out after 60000ms", "timeout"),
        ("MCP error -32001: Request timed out", "timeout"),
        ("ENOENT: no such file or directory, open 'x'", "not_found"),
        ("File does not exist.", "not_found"),
        ("connect ECONNREFUSED 127.0.0.1:80", "network"),
        ("getaddrinfo ENOTFOUND example.invalid", "network"),
        ("Request failed with status code 503", "network"),
        ("InputValidationError: Read failed due to the following issue", "invalid_input"),
        ("<tool_use_error>String to replace not found in file.</tool_use_error>", "invalid_input"),
        ("<tool_use_error>File does not exist.</tool_use_error>", "not_found"),
        ("<tool_use_error>Cancelled: parallel tool call Bash errored</tool_use_error>", "interrupt"),
        ("<tool_use_error>Blocked: standalone sleep</tool_use_error>", "policy_denied"),
        ("PreToolUse:Write hook error: no", "hook_blocked"),
        ("PreToolUse:Write hook error: [agent-tracer] writing here is not allowed", "policy_denied"),
        ("PreToolUse:Write hook error: [policy rule `no-write`] only the writer writes", "policy_denied"),
        (
            "PreToolUse:Bash hook error: [policy rule `r`; what happened before could not be looked up] no\nnot at all",
            "policy_denied",
        ),
        ("Execution stopped by PreToolUse hook: [policy rule `budget`] the day is over", "policy_denied"),
        ("Execution stopped by PreToolUse hook: no", "hook_blocked"),
        ("PreToolUse:Write hook error: see [policy rule `x`]", "hook_blocked"),
        ("command was denied by policy", "policy_denied"),
        ("Agent terminated early due to an API error: API Error: 529 overloaded (HTTP 529)", "network"),
        ("Agent terminated early due to an API error: 529", "network"),
        ("Agent terminated early due to an API error: API Error: 401 (HTTP 401)", "unknown"),
        ("File does not exist. Note: your current working directory is /home/u/policy-engine.", "not_found"),
        ("ENOENT: no such file or directory, open '/src/timeout.ts'", "not_found"),
        ("ENOENT: no such file or directory, open /src/timeout.ts", "not_found"),
        ("EISDIR: illegal operation on a directory, read '/x/invalid'", "invalid_input"),
        ("File content (31415 tokens) exceeds maximum allowed tokens (25000).", "invalid_input"),
        ("Found 3 matches of the string to replace, but replace_all is false.", "invalid_input"),
        ("Unknown skill: timeout", "invalid_input"),
        ("<tool_use_error>String to replace not found in file.\nString: if interrupted {", "invalid_input"),
        (
            "<tool_use_error>Found 2 matches of the string to replace\nString: permission denied",
            "invalid_input",
        ),
        ("<tool_use_error>File is in a directory that is denied by your permission settings.", "permission"),
        ("PreToolUse:Bash hook error: [python agent-tracer-lint.py]: no", "hook_blocked"),
        ("PreToolUse:Bash hook error: [/opt/bin/agent-tracer guard]: no", "policy_denied"),
        ("Cannot find module \"network-timeout\", it doesn't exist", "not_found"),
        ("something entirely new", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(failure("Read", error)["errorClass"], json!(class), "{error}");
    }
}

#[test]
fn refusals_by_the_client_are_known_by_the_start_of_their_text() {
    let command = "for f in *; do\n  echo \"$f\"\ndone\n".repeat(100);
    for (text, class) in [
        (format!("Permission to use Bash with command {command} has been denied."), "permission"),
        (format!("Permission to use Bash with command {command} has been auto-denied: no prompts."), "permission"),
        ("Permission to read /etc/shadow has been denied.".into(), "permission"),
        (format!("Permission rule 'Bash({command})' from project settings requires approval for this Bash command"), "permission"),
        ("Hook 'guard.sh' requires approval for this Bash command".into(), "permission"),
        ("Hook 'guard.sh' blocked this action: no".into(), "hook_blocked"),
        ("Current permission mode (plan) requires approval for this Bash command".into(), "permission"),
        ("This Bash command contains multiple operations. The following part requires approval: rm x".into(), "permission"),
        ("This PowerShell command contains multiple operations. The following parts require approval: a, b".into(), "permission"),
        ("Classifier 'bash_allow' requires approval for this Bash command".into(), "permission"),
        ("Tool 'Write' requires approval".into(), "permission"),
        ("sed command requires approval (contains potentially dangerous operations)".into(), "permission"),
        ("File is in a directory that is denied by your permission settings.".into(), "permission"),
        ("Hook PreToolUse:Bash denied this tool".into(), "hook_blocked"),
        ("Execution stopped by PreToolUse hook".into(), "hook_blocked"),
        ("Command timed out after 2m 0.0s".into(), "timeout"),
    ] {
        for body in [failure("Read", &text), failure("Bash", &text), batch("Bash", json!(text)), batch("Bash", json!([{"type": "text", "text": text}]))] {
            assert_eq!(outcome(&body), (Some(true), None, Some(class.to_owned())), "{text}");
        }
    }
    let long = "x".repeat(70_000);
    for text in [
        "Permission to use this file is granted by the MIT licence",
        "Tool 'x' is fine",
        "This command is old",
        "Hook 'a' ran",
        "the log says: Permission to use Bash has been denied",
        &format!("Permission to use {long} has been denied"),
    ] {
        assert_eq!(batch("Bash", json!(text)), json!({"outputBytes": text.len()}));
    }
}

#[test]
fn a_payload_that_says_it_was_interrupted_is_believed_wherever_it_says_so() {
    for text in [
        r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"Exit code 137\nx","is_interrupt":true}"#,
        r#"{"is_interrupt":true,"hook_event_name":"PostToolUseFailure","tool_name":"Read","error":"timed out"}"#,
    ] {
        assert_eq!(
            reduced(text, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["error"]["errorClass"],
            "interrupt"
        );
    }
    let not = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Read","error":"timed out","is_interrupt":false}"#;
    assert_eq!(
        reduced(not, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["error"]["errorClass"],
        "timeout"
    );
}

#[test]
fn an_exit_code_is_read_and_the_output_behind_it_is_not() {
    for (error, expected) in [
        ("Exit code 1\ncat: x: No such file or directory", (Some(true), Some(1), Some("non_zero_exit"))),
        ("Exit code 127\nbash: nope: command not found", (Some(true), Some(127), Some("non_zero_exit"))),
        ("Exit code 2", (Some(true), Some(2), Some("non_zero_exit"))),
        ("Exit code -1\n", (Some(true), Some(-1), Some("non_zero_exit"))),
        ("Exit code 143\nCommand timed out after 2m 0s\npartial", (Some(true), Some(143), Some("timeout"))),
        (
            "Exit code 137\n[Request interrupted by user for tool use]",
            (Some(true), Some(137), Some("interrupt")),
        ),
        ("Exit code of the program was bad", (Some(true), None, Some("unknown"))),
        ("Exit code 99999999999999999999", (Some(true), None, Some("unknown"))),
    ] {
        let body = failure("Bash", error);
        let (is_error, code, class) = outcome(&body);
        assert_eq!((is_error, code, class.as_deref()), expected, "{error}");
    }
}

#[test]
fn only_the_head_of_a_text_is_read() {
    let late = format!("{}\npermission denied", "x".repeat(600));
    assert_eq!(failure("Read", &late)["errorClass"], "unknown");
}

#[test]
fn the_output_of_a_command_is_never_taken_for_a_failure() {
    for output in [
        "Permission denied",
        "error: no such file or directory",
        "Exit code 3\nnot really",
        "<tool_use_error>echoed</tool_use_error>",
        "timed out",
        "PreToolUse:Bash hook error: printed by a test",
    ] {
        for response in [json!(output), json!({"stdout": output, "stderr": output, "interrupted": false})] {
            let body = used("Bash", response);
            assert_eq!(body["isError"], Value::Null, "{output}");
            assert_eq!(body["errorClass"], Value::Null, "{output}");
        }
        let codex_body =
            codex(&json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": output}));
        assert_eq!(codex_body["tool_response"], json!({"outputBytes": output.len()}));
    }
    for output in [
        "touch: cannot touch 'x': Permission denied",
        "error: timed out",
        "No such file",
        "all was blocked",
        "see: hook error",
    ] {
        assert_eq!(batch("Bash", json!(output)), json!({"outputBytes": output.len()}));
    }
    assert_eq!(
        batch("Read", json!("Exit code 3\n")),
        json!({"outputBytes": 12}),
        "only a shell has an exit code"
    );
}

#[test]
fn structure_tells_the_outcome_of_a_successful_call() {
    assert_eq!(
        outcome(&used("Bash", json!({"stdout": "", "interrupted": true}))),
        (Some(true), None, Some("interrupt".into()))
    );
    assert_eq!(outcome(&used("X", json!({"exitCode": 0}))), (Some(false), Some(0), None));
    assert_eq!(
        outcome(&used("X", json!({"exit_code": 7}))),
        (Some(true), Some(7), Some("non_zero_exit".into()))
    );
    assert_eq!(outcome(&used("X", json!({"isError": true}))), (Some(true), None, Some("unknown".into())));
    assert_eq!(outcome(&used("X", json!({"isError": false, "content": []}))), (Some(false), None, None));
    assert_eq!(outcome(&used("X", json!({"success": false}))), (Some(true), None, Some("unknown".into())));
    assert_eq!(outcome(&used("X", json!({"code": 404}))), (None, None, None));
    let patched = |text: &str| {
        codex(&json!({"hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_response": text}))["tool_response"].clone()
    };
    assert_eq!(outcome(&patched("Exit code: 0\nWall time: 0.1 seconds")), (Some(false), Some(0), None));
    assert_eq!(
        outcome(&patched("Exit code: 1\nWall time")),
        (Some(true), Some(1), Some("non_zero_exit".into()))
    );
    assert_eq!(outcome(&patched("done")), (None, None, None));
}

#[test]
fn the_first_line_of_an_error_stays_only_where_no_command_wrote_it() {
    let long = format!("{}\nsecond", "é".repeat(300));
    let body = failure("Read", &long);
    assert_eq!(body["firstLine"], json!("é".repeat(200)));
    assert_eq!(body["outputBytes"], json!(607));
    assert_eq!(failure("Read", "\n\n  first\r\nsecond")["firstLine"], "first");
    for shell in [
        "Bash",
        "PowerShell",
        "mcp__terminal__run",
        "mcp__box__exec_command",
        "Monitor",
        "local_shell",
        "BashOutput",
        "",
    ] {
        assert_eq!(failure(shell, "secret output").get("firstLine"), None, "{shell}");
    }
    let unnamed = claude(&json!({"hook_event_name": "PostToolUseFailure", "error": "secret output"}));
    assert_eq!(unnamed["error"].get("firstLine"), None);
    let twice = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Read","error":"secret output","tool_name":"Bash"}"#;
    assert_eq!(
        reduced(twice, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["error"].get("firstLine"),
        None
    );
    let metadata =
        json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Read", "error": "words"}).to_string();
    assert_eq!(
        reduced(&metadata, Source::Hook(Agent::CLAUDE_CODE), Level::Metadata)["error"].get("firstLine"),
        None
    );
}

#[test]
fn a_first_line_is_masked_before_it_is_cut() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let body = failure("WebFetch", &format!("{} {token} failed", "x".repeat(180)));
    let line = body["firstLine"].as_str().expect("a line");
    assert!(!line.contains("ghp_"), "{line}");
    let body = failure("WebFetch", &format!("login with password={}\nrest", "p1".repeat(200)));
    assert_eq!(body["firstLine"], "login with password=[masked:password]");
}

#[test]
fn error_is_a_word_where_the_client_sends_one() {
    let stop =
        |error: &str| claude(&json!({"hook_event_name": "StopFailure", "error": error}))["error"].clone();
    assert_eq!(stop("rate_limit"), "rate_limit");
    assert_eq!(stop("Not a word")["outputBytes"], 10);
    assert_eq!(stop(&"a".repeat(65))["outputBytes"], 65);
    let disputed =
        r#"{"hook_event_name":"StopFailure","error":"rate_limit","hook_event_name":"PostToolUseFailure"}"#;
    assert_eq!(
        reduced(disputed, Source::Hook(Agent::CLAUDE_CODE), Level::Actions)["error"]["outputBytes"],
        10
    );
    let elsewhere = claude(&json!({"hook_event_name": "New", "error": "a whole output"}));
    assert_eq!(elsewhere["error"], json!({"outputBytes": 14, "isError": true, "errorClass": "unknown"}));
}

#[test]
fn the_provider_may_say_one_sentence() {
    let said = |error: Value| {
        codex(&json!({"hook_event_name": "PostModelRequest", "error": error}))["error"].clone()
    };
    assert_eq!(said(json!("high demand\nand a body")), "high demand");
    assert_eq!(said(json!(null)), Value::Null);
    assert_eq!(said(json!({"message": "x"}))["outputBytes"], 1);
    assert_eq!(
        said(json!("bad key sk-ant-api03-".to_owned() + &"a1B2".repeat(10))),
        "bad key [masked:anthropic-key]"
    );
    let claude = claude(&json!({"hook_event_name": "PostModelRequest", "error": "sentence"}));
    assert_eq!(claude["error"]["outputBytes"], 8, "only Codex has this event");
}
