//! Checks the ends of calls and the kept parts of their results.

use agent_tracer_agents::tools::outcome::{failed, importance, returned};
use agent_tracer_event::CallState;
use agent_tracer_event::semantics::{Importance, SubtypeKey};
use serde_json::json;

#[test]
fn a_result_says_how_the_call_ended() {
    for (body, state, class) in [
        (json!({"outputBytes": 4}), CallState::Succeeded, None),
        (json!({"outputBytes": 4, "isError": false, "exitCode": 0}), CallState::Succeeded, None),
        (json!({"outputBytes": 4, "exitCode": 2}), CallState::Failed, Some("non_zero_exit")),
        (json!({"isError": true}), CallState::Failed, None),
        (json!({"isError": true, "errorClass": "timeout"}), CallState::Failed, Some("timeout")),
        (json!({"isError": true, "errorClass": "permission"}), CallState::Denied, Some("permission")),
        (json!({"isError": true, "errorClass": "hook_blocked"}), CallState::Denied, Some("hook_blocked")),
        (json!({"isError": true, "errorClass": "policy_denied"}), CallState::Denied, Some("policy_denied")),
        (json!({"isError": true, "errorClass": "interrupt"}), CallState::Interrupted, Some("interrupt")),
        (json!({"isError": true, "errorClass": "new word"}), CallState::Failed, Some("unknown")),
        (json!({"interrupted": true}), CallState::Interrupted, Some("interrupt")),
        (json!({"success": false}), CallState::Failed, None),
        (json!(null), CallState::Succeeded, None),
        (json!("Exit code 1, says the text of a command that went well"), CallState::Succeeded, None),
        (json!([{"type": "text", "text": "x"}]), CallState::Succeeded, None),
    ] {
        let outcome = returned(&body);
        assert_eq!(outcome.state, state, "{body}");
        assert_eq!(outcome.metadata.get("errorClass").and_then(|class| class.as_str()), class, "{body}");
    }
}

#[test]
fn an_error_says_why() {
    let outcome = failed(
        &json!({"outputBytes": 30, "isError": true, "errorClass": "not_found", "firstLine": "No\u{7} such"}),
        false,
    );
    assert_eq!(outcome.state, CallState::Failed);
    assert_eq!(outcome.metadata["error"], "No such");
    assert_eq!(outcome.metadata["errorClass"], "not_found");
    assert_eq!(failed(&json!({"exitCode": 3}), false).metadata["errorClass"], "non_zero_exit");
    assert_eq!(failed(&json!("text"), false).metadata["errorClass"], "unknown");
    assert_eq!(failed(&json!(null), true).state, CallState::Interrupted);
    assert_eq!(failed(&json!({"errorClass": "permission"}), false).state, CallState::Denied);
}

#[test]
fn of_a_result_only_named_things_are_kept() {
    let body = json!({
        "stdout": "secret", "content": [{"text": "secret"}], "agentId": "a1", "status": "completed", "totalDurationMs": 9,
        "totalToolUseCount": 2, "resolvedModel": "claude-x", "usage": {"input_tokens": 5}, "prompt": "secret",
        "worktreePath": "/w", "backgroundTaskId": "b1", "numFiles": 3, "totalMatches": 4, "agent_id": "other",
        "exitCode": "not a number", "interrupted": "no",
    });
    let outcome = returned(&body);
    assert_eq!(
        serde_json::Value::Object(outcome.metadata.clone()),
        json!({
            "resultFiles": 3, "resultMatches": 4, "backgroundTaskId": "b1", "worktreePath": "/w", "totalDurationMs": 9,
            "totalToolUseCount": 2, "childAgentId": "a1", "agentResolvedModel": "claude-x", "status": "completed",
            "outputBytes": outcome.metadata["outputBytes"],
        })
    );
}

#[test]
fn codex_answers_with_json_inside_a_string() {
    let outcome =
        returned(&json!("{\"agent_id\":\"01a1e0be-84a3-7821-97dd-747b90c57e02\",\"nickname\":\"Maxwell\"}"));
    assert_eq!(outcome.metadata["childAgentId"], "01a1e0be-84a3-7821-97dd-747b90c57e02");
    let outcome = returned(&json!({"task_name": "/root/scout", "outputBytes": 0}));
    assert_eq!(outcome.metadata["childTaskName"], "/root/scout");
}

#[test]
fn refusals_and_failed_tests_matter() {
    assert_eq!(importance(CallState::Denied, SubtypeKey::ReadFile), Some(Importance::Critical));
    assert_eq!(importance(CallState::Failed, SubtypeKey::RunTest), Some(Importance::Critical));
    assert_eq!(importance(CallState::Failed, SubtypeKey::RunBuild), None);
    assert_eq!(importance(CallState::Succeeded, SubtypeKey::RunTest), None);
}
