//! Payloads as older documents spell them: understood as the same things.

use agent_tracer_event::{Kind, Millis, Phase};
use serde_json::json;

use super::*;

fn read_as(event: &str, members: Value) -> Reading {
    let mut payload = members;
    for (name, value) in [("session_id", "s-1"), ("cwd", "/p"), ("hook_event_name", event)] {
        payload = with(payload, &[(name, json!(value))]);
    }
    let reading = hook(&payload);
    assert_eq!(reading.unrecognised, [], "{event}");
    reading
}

#[test]
fn a_subagents_type_under_its_older_name() {
    let reading = read_as("SubagentStart", json!({"agent_id": "a1", "subagent_type": "tdd-reviewer"}));
    assert_eq!(task(&reading, "sub--a1").metadata["agentType"], "tdd-reviewer");
    let helper = read_as("SubagentStart", json!({"agent_id": "a2", "subagent_type": ""}));
    assert_eq!(outline(&helper), ["context.saved open s-1 compaction:a2"]);
}

#[test]
fn a_subagents_end_with_time_duration_parent_and_success() {
    let reading = read_as(
        "SubagentStop",
        json!({
            "agent_id": "a1", "agent_type": "x", "parent_session_id": "s-0", "duration_ms": 1200, "success": false,
            "error": "it broke", "timestamp": "2026-02-17T10:00:00Z", "stop_reason": "end_turn",
            "agent_transcript_path": "/t/agent-a1.jsonl",
        }),
    );
    let at = Millis::parse("2026-02-17T10:00:00Z").unwrap();
    let row = only(&reading, Kind::ActionLogged);
    assert_eq!(row.metadata["asyncStatus"], "failed");
    assert_eq!(row.metadata["durationMs"], 1200);
    assert_eq!((row.occurred_at, row.ended_at), (at, Some(at)));
    let named = parent(&reading, "sub--a1");
    assert_eq!(named.metadata["parentSession"], "s-0");
    assert_eq!(named.metadata["parentCertainty"], "reported");
    assert_eq!(only(&reading, Kind::AssistantResponse).metadata["stopReason"], "end_turn");
    assert_eq!(turn(&reading).state, Some(CallState::Failed));
}

#[test]
fn a_failed_turn_with_its_type_and_message() {
    let reading = read_as("StopFailure", json!({"error_type": "rate_limit", "error_message": "slow down"}));
    let row = only(&reading, Kind::AssistantResponse);
    assert_eq!(row.metadata["stopReason"], "error:rate_limit");
    assert_eq!(row.metadata["errorDetails"], "slow down");
}

#[test]
fn a_stop_with_its_reason() {
    let reading = read_as("Stop", json!({"stop_reason": "end_turn", "last_assistant_message": "Done."}));
    assert_eq!(only(&reading, Kind::AssistantResponse).metadata["stopReason"], "end_turn");
}

#[test]
fn notifications_settings_and_items() {
    let reading = read_as(
        "Notification",
        json!({"notification_type": "idle_prompt", "notification_message": "Waiting"}),
    );
    assert_eq!(only(&reading, Kind::ContextSaved).metadata["message"], "Waiting");
    let reading = read_as("ConfigChange", json!({"config_source": "user_settings"}));
    assert_eq!(only(&reading, Kind::ContextSaved).metadata["trigger"], "config_change:user_settings");
    let reading = read_as("TaskCreated", json!({"task_name": "Ship it", "task_description": "soon"}));
    assert_eq!(only(&reading, Kind::TodoLogged).metadata["subject"], "Ship it");
}

#[test]
fn a_tool_that_returned_with_its_output_and_success() {
    let reading = read_as(
        "PostToolUse",
        json!({
            "tool_name": "Bash", "tool_input": {"command": "false"}, "tool_output": "it went wrong", "success": false,
            "duration_ms": 7, "tool_use_id": "toolu_1", "timestamp": "2026-02-17T10:00:00.250Z",
        }),
    );
    let row = only(&reading, Kind::TerminalCommand);
    assert_eq!(standing(row), (Phase::Close, Some(CallState::Failed)));
    assert_eq!(row.metadata["durationMs"], 7);
    assert_eq!(row.metadata["outputBytes"], 13);
    assert_eq!(row.occurred_at, Millis::parse("2026-02-17T10:00:00.250Z").unwrap());
}

#[test]
fn a_batch_with_its_ids_beside_the_calls() {
    let reading = read_as(
        "PostToolBatch",
        json!({
            "tool_use_ids": ["toolu_1", "toolu_2"],
            "tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "/p/a"}},
                           {"tool_name": "Read", "tool_input": {"file_path": "/p/b"}}],
        }),
    );
    let row = only(&reading, Kind::ContextSaved);
    assert_eq!(row.metadata["toolUseIds"], json!(["toolu_1", "toolu_2"]));
    let keys: Vec<&str> = reading.entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["task", "batch:toolu_1", "tool:toolu_1", "tool:toolu_2"]);
    let bare = read_as("PostToolBatch", json!({"tool_use_ids": ["toolu_1", "toolu_2"]}));
    assert_eq!(only(&bare, Kind::ContextSaved).metadata["itemCount"], 2);
}

#[test]
fn work_items_in_the_arguments_of_their_tools() {
    let reading = read_as(
        "PreToolUse",
        json!({"tool_name": "TaskCreate", "tool_use_id": "t1", "tool_input": {"task_subject": "Plan", "task_description": "d"}}),
    );
    assert_eq!(only(&reading, Kind::TodoLogged).metadata["subject"], "Plan");
    let reading = read_as(
        "PostToolUse",
        json!({"tool_name": "TaskUpdate", "tool_use_id": "t2", "tool_input": {"task_id": "4", "status": "completed"}}),
    );
    assert_eq!(only(&reading, Kind::TodoLogged).aliases, ["todo:4:completed"]);
}

#[test]
fn a_single_question_and_a_schedule() {
    let reading = read_as(
        "PreToolUse",
        json!({"tool_name": "AskUserQuestion", "tool_use_id": "t", "tool_input": {"question": "Which?", "options": ["A", "B"]}}),
    );
    let row = only(&reading, Kind::QuestionLogged);
    assert_eq!(row.title.as_deref(), Some("Ask: Which?"));
    assert_eq!(row.metadata["options"], json!(["A", "B"]));
    let reading = read_as(
        "PreToolUse",
        json!({"tool_name": "CronCreate", "tool_use_id": "t", "tool_input": {"schedule": "0 9 * * *", "prompt": "look"}}),
    );
    assert_eq!(only(&reading, Kind::AgentActivityLogged).metadata["cron"], "0 9 * * *");
}

#[test]
fn a_worktree_by_its_path_and_an_expansion_by_its_text() {
    let reading = read_as("WorktreeCreate", json!({"worktree_path": "/p/.claude/worktrees/w1"}));
    let row = only(&reading, Kind::WorktreeCreate);
    assert_eq!(row.metadata["worktreeName"], "w1");
    assert_eq!(row.metadata["worktreePath"], "/p/.claude/worktrees/w1");
    let payload = json!({
        "session_id": "s", "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
        "command_name": "foo", "prompt": "Do all of this.",
    });
    let reading = read_bytes(&serde_json::to_vec(&payload).unwrap(), Source::Hook, "o");
    let row = only(&reading, Kind::UserPromptExpansion);
    assert_eq!(row.title.as_deref(), Some("/foo"));
    assert_eq!(row.metadata["expandedPromptBytes"], 15);
    assert_eq!(row.metadata["expandedPromptSnippet"], "Do all of this.");
}

#[test]
fn a_permission_request_with_the_id_of_its_call() {
    let reading = read_as(
        "PermissionRequest",
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_9", "permission_suggestions": []}),
    );
    let row = only(&reading, Kind::PermissionRequest);
    assert_eq!(row.metadata["toolUseId"], "toolu_9");
    assert_eq!(row.tool_use_id.as_deref(), Some("toolu_9"));
}

#[test]
fn a_denial_without_a_call_keeps_what_was_wanted() {
    let reading = hook(&json!({
        "session_id": "s", "hook_event_name": "PermissionDenied", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /"}, "reason": "destructive",
    }));
    let rule = only(&reading, Kind::RuleLogged);
    assert_eq!(rule.metadata["toolInput"], json!({"command": "rm -rf /"}));
    assert_eq!(rule.metadata["toolInputSummary"], "rm -rf /");
}

#[test]
fn the_error_of_a_failed_turn_is_not_a_message_of_the_assistant() {
    let reading = hook(&json!({
        "session_id": "s", "hook_event_name": "StopFailure", "error_type": "rate_limit",
        "error_message": "slow down",
    }));
    let failed = only(&reading, Kind::AssistantResponse);
    assert_eq!(failed.metadata["errorDetails"], "slow down");
    assert_eq!(failed.metadata.get("lastAssistantMessage"), None);
    assert_eq!(failed.body, None);
}

#[test]
fn the_size_of_an_expanded_prompt_is_kept_at_every_level() {
    let payload = |prompt: &str| {
        json!({
            "session_id": "s", "hook_event_name": "UserPromptExpansion", "expansion_type": "slash_command",
            "command_name": "shout", "command_args": "hi there", "prompt": prompt,
        })
    };
    let long = "ä".repeat(4_000);
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let read = |prompt: &str| {
            let body = reduced(&payload(prompt), Source::Hook, Some(level));
            only(&read_bytes(&body, Source::Hook, "one"), Kind::UserPromptExpansion).clone()
        };
        assert_eq!(read(&long).metadata["expandedPromptBytes"], 8_000, "{level:?}");
        assert_eq!(read("/shout hi there").metadata.get("expandedPromptBytes"), None, "{level:?}");
        if let Some(snippet) = read(&long).metadata.get("expandedPromptSnippet").and_then(Value::as_str) {
            assert!(snippet.len() <= 2_048 && snippet.len() > 2_040, "{}", snippet.len());
        }
    }
}

#[test]
fn items_of_one_list_stand_in_their_order_with_their_priority() {
    let reading = hook(&json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "TodoWrite", "tool_use_id": "t1",
        "tool_input": {"todos": [
            {"content": "one", "status": "pending", "priority": "high"},
            {"content": "two", "status": "pending"},
        ]},
        "tool_response": {},
    }));
    let mut items: Vec<&Entry> =
        reading.entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::TodoLogged)).collect();
    items.sort_by_key(|entry| (entry.occurred_at, entry.order));
    let subjects: Vec<&Value> = items.iter().map(|entry| &entry.metadata["subject"]).collect();
    assert_eq!(subjects, [&json!("one"), &json!("two")]);
    assert_eq!(items[0].metadata["priority"], "high");
    let orders: std::collections::BTreeSet<u64> = reading.entries.iter().map(|entry| entry.order).collect();
    assert_eq!(orders.len(), reading.entries.len(), "no two rows of a payload share a place");
}

#[test]
fn a_question_that_returned_is_answered_wherever_the_answer_stands() {
    let reading = hook(&json!({
        "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "AskUserQuestion", "tool_use_id": "q1",
        "tool_input": {"question": "Which?", "options": ["a", "b"]}, "tool_response": {"answer": "a"},
    }));
    assert_eq!(only(&reading, Kind::QuestionLogged).metadata["questionPhase"], "answered");
}

#[test]
fn a_search_of_the_web_has_its_query_where_a_fetch_has_its_address() {
    let reading = hook(&json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_use_id": "w1",
        "tool_input": {"query": "rust sqlite", "allowed_domains": ["docs.rs"]},
    }));
    let search = only(&reading, Kind::ToolUsed);
    assert_eq!(search.metadata["webUrls"], json!(["rust sqlite"]));
    assert_eq!(search.metadata["webAllowedDomains"], json!(["docs.rs"]));
}
