//! Tool calls from attempt to end.

use agent_tracer_event::{Certainty, Kind, Lane, Phase, Unrecognised};
use serde_json::json;

use super::*;

/// The only entry about a call, besides those that only add to it.
fn call(reading: &Reading) -> &Entry {
    single(reading, "call", |entry| entry.key.starts_with("tool:") && entry.phase != Phase::Update)
}

#[test]
fn an_attempt_opens_the_call_and_its_return_closes_it() {
    let before = hook(&payload("PreToolUse.read"));
    let opened = call(&before);
    assert_eq!(standing(opened), (Phase::Open, Some(CallState::Running)));
    assert_eq!(opened.ended_at, None);
    assert_eq!(opened.title.as_deref(), Some("Read README.md"));
    assert_eq!(opened.lane, Some(Lane::Exploration));
    assert_eq!(opened.tool_name.as_deref(), Some("Read"));
    assert_eq!(opened.file_paths, ["/home/dev/project/README.md"]);

    let payload = payload("PostToolUse.read");
    let after = hook(&payload);
    let closed = call(&after);
    assert_eq!(standing(closed), (Phase::Close, Some(CallState::Succeeded)));
    assert_eq!(closed.key, opened.key);
    assert_eq!(closed.ended_at, Some(ARRIVED));
    assert_eq!(closed.metadata["durationMs"], payload["duration_ms"]);
    assert_eq!(closed.metadata["durationSource"], "agent");
    assert!(closed.metadata["outputBytes"].is_u64());
    assert_eq!(closed.evidence.certainty, Certainty::Measured);
}

#[test]
fn failures_say_what_kind_they_are() {
    for (name, class, exit) in [
        ("PostToolUseFailure.bash", "non_zero_exit", Some(3)),
        ("PostToolUseFailure.read", "not_found", None),
    ] {
        let reading = hook(&payload(name));
        let closed = call(&reading);
        assert_eq!(standing(closed), (Phase::Close, Some(CallState::Failed)), "{name}");
        assert_eq!(closed.metadata["errorClass"], class, "{name}");
        assert_eq!(closed.metadata.get("exitCode").and_then(Value::as_i64), exit, "{name}");
    }
}

#[test]
fn an_interrupted_tool_is_interrupted_and_not_failed() {
    let reading = hook(&with(payload("PostToolUseFailure.bash"), &[("is_interrupt", json!(true))]));
    let closed = call(&reading);
    assert_eq!(closed.state, Some(CallState::Interrupted));
    assert_eq!(closed.metadata["errorClass"], "interrupt");
}

#[test]
fn a_denial_of_auto_mode_closes_the_call_and_is_a_rule_of_its_own() {
    let payload = payload("PermissionDenied.bash");
    let reading = hook(&payload);
    let closed = call(&reading);
    assert_eq!(standing(closed), (Phase::Close, Some(CallState::Denied)));
    assert_eq!(closed.metadata["importance"], "critical");
    let rule = only(&reading, Kind::RuleLogged);
    assert_eq!(rule.metadata["ruleStatus"], "denied");
    assert_eq!(rule.metadata["ruleOutcome"], "auto_deny");
    assert_eq!(rule.metadata["rulePolicy"], "auto_mode_classifier");
    assert_eq!(rule.metadata["reason"], payload["reason"]);
    assert_eq!(rule.tool_use_id, closed.tool_use_id);
}

#[test]
fn a_batch_closes_what_nothing_else_closed() {
    let reading = hook(&payload("PostToolBatch.single.error"));
    let closed = call(&reading);
    assert_eq!(standing(closed), (Phase::Close, Some(CallState::Failed)));
    assert_eq!(closed.metadata["errorClass"], "invalid_input");
    assert_eq!(closed.evidence.certainty, Certainty::Inferred);
    assert_eq!(
        closed.title.as_deref(),
        Some("Edit new.txt"),
        "no attempt was reported, so the batch has everything"
    );
    let saved = only(&reading, Kind::ContextSaved);
    assert_eq!(saved.metadata["trigger"], "tool_batch_completed");
    assert_eq!(saved.metadata["itemCount"], 1);
    assert_eq!(saved.metadata["batchId"], closed.metadata["batchId"]);
}

#[test]
fn a_batch_names_all_its_calls() {
    let payload = payload("PostToolBatch.parallel");
    let reading = hook(&payload);
    let calls = reading.entries.iter().filter(|entry| entry.phase == Phase::Close);
    let ids: Vec<&str> = calls.filter_map(|entry| entry.tool_use_id.as_deref()).collect();
    assert_eq!(ids.len(), 2);
    let saved = only(&reading, Kind::ContextSaved);
    assert_eq!(saved.metadata["toolUseIds"], json!(ids));
    assert_eq!(saved.metadata["itemCount"], 2);
    assert_eq!(saved.key, format!("batch:{}", ids[0]));
}

#[test]
fn denials_by_rule_hook_and_missing_approval_reach_us_through_the_batch() {
    for (name, class) in [
        ("denyrule", "permission"),
        ("deny", "permission"),
        ("ctl_pre_deny", "hook_blocked"),
        ("ctl_pre_exit2", "hook_blocked"),
    ] {
        let mut denied = 0;
        for captured in scenario("2.1.325", name).iter().filter(|one| one.event() == "PostToolBatch") {
            for entry in hook(&captured.payload).entries.iter().filter(|entry| entry.key.starts_with("tool:"))
            {
                if entry.state == Some(CallState::Denied) {
                    denied += 1;
                    assert_eq!(entry.metadata["errorClass"], class, "{name}");
                    assert_eq!(entry.metadata["importance"], "critical");
                }
            }
        }
        assert!(denied > 0, "{name}: nothing was denied");
    }
}

#[test]
fn a_request_for_permission_and_its_attempt_have_one_signature() {
    let mut joined = 0;
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        for name in ["deny", "ctl_perm_allow", "ctl_perm_deny", "rc_tui", "interrupt"] {
            let mut attempts: Vec<Value> = Vec::new();
            for captured in scenario("2.1.325", name) {
                let body = reduced(&captured.payload, captured.source, Some(level));
                let reading = read_bytes(&body, captured.source, "o");
                for entry in &reading.entries {
                    let Some(signature) = entry.metadata.get("callSignature") else { continue };
                    if entry.subject == Subject::Event(Kind::PermissionRequest) {
                        assert!(attempts.contains(signature), "{} at {level:?}", captured.place);
                        joined += 1;
                    } else {
                        attempts.push(signature.clone());
                    }
                }
            }
        }
    }
    assert!(joined >= 12, "{joined}");
}

#[test]
fn a_servers_own_name_beats_the_one_in_the_tools() {
    let reading = hook(&with(
        payload("PreToolUse.mcp_demo_add"),
        &[("mcp_server", json!({"name": "demo one", "source": "project"}))],
    ));
    let opened = call(&reading);
    assert_eq!(opened.metadata["mcpServer"], "demo one");
    assert_eq!(opened.metadata["mcpServerSource"], "project");
    assert_eq!(opened.metadata["mcpTool"], "add");
    assert_eq!(opened.metadata["toolInput"], json!({"a": 2, "b": 3}));
}

#[test]
fn an_unknown_tool_is_kept_and_counted() {
    let reading = hook(&with(
        payload("PreToolUse.read"),
        &[("tool_name", json!("Teleport")), ("tool_input", json!({"to": "moon"}))],
    ));
    let opened = call(&reading);
    assert_eq!(opened.subject, Subject::Event(Kind::ToolUsed));
    assert_eq!(opened.metadata["toolInput"], json!({"to": "moon"}));
    assert_eq!(reading.unrecognised, [Unrecognised::Tool("Teleport".to_owned())]);
}

#[test]
fn answered_questions_are_counted_and_not_quoted() {
    let reading = hook(&payload("PostToolUse.askuserquestion"));
    let closed = call(&reading);
    assert_eq!(closed.subject, Subject::Event(Kind::QuestionLogged));
    assert_eq!(closed.metadata["questionPhase"], "answered");
    assert_eq!(closed.metadata["answerCount"], 1);
    assert_eq!(closed.metadata["questions"][0]["question"], "Which one?");
    assert_eq!(closed.metadata["options"], json!(["A", "B"]));
    let asked = hook(&payload("PreToolUse.askuserquestion"));
    assert_eq!(call(&asked).metadata["questionPhase"], "asked");
}

#[test]
fn worktrees_follow_the_tools_that_make_and_leave_them() {
    let made = hook(&payload("PostToolUse.enterworktree"));
    let entry = only(&made, Kind::WorktreeCreate);
    assert_eq!(entry.metadata["worktreePath"], "/home/dev/project/.claude/worktrees/wt-one");
    assert_eq!(entry.metadata["worktreeBranch"], "worktree-wt-one");
    let left = hook(&payload("PostToolUse.exitworktree"));
    let entry = only(&left, Kind::WorktreeRemove);
    assert_eq!(entry.metadata["worktreeAction"], "remove");
    assert_eq!(entry.metadata["discardedFiles"], 0);
}

#[test]
fn an_input_that_a_hook_rewrote_also_moves_the_call_to_its_lane() {
    let looked = hook(&with(payload("PreToolUse.bash"), &[("tool_input", json!({"command": "ls"}))]));
    assert_eq!(call(&looked).lane, Some(Lane::Exploration));
    let built = hook(&with(payload("PostToolUse.bash"), &[("tool_input", json!({"command": "make all"}))]));
    assert_eq!(call(&built).lane, Some(Lane::Implementation), "said, not left to be guessed");
}

#[test]
fn a_background_shell_gives_the_id_it_goes_on_under() {
    let captured = scenario("2.1.325", "background");
    let ids: Vec<Value> = captured
        .iter()
        .filter(|one| one.event() == "PostToolUse")
        .filter_map(|one| call(&hook(&one.payload)).metadata.get("backgroundTaskId").cloned())
        .collect();
    assert_eq!(ids, [json!("b45s01hfe")]);
}

#[test]
fn a_call_without_an_id_is_a_fact_of_its_own() {
    let mut payload = payload("PreToolUse.read");
    payload.as_object_mut().unwrap().remove("tool_use_id");
    let reading = hook(&payload);
    let entry = only(&reading, Kind::ToolUsed);
    assert_eq!(entry.key, "hook:1731-812-0");
    assert_eq!(entry.tool_use_id, None);
}
