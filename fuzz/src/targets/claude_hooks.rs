//! Whatever a hook or the status line of Claude Code carries, it is read, always the same way, and nothing well-formed
//! is lost.

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "claude_hooks",
    run,
    seeds,
    dictionary: &[
        b"\"hook_event_name\":\"SessionStart\"",
        b"\"hook_event_name\":\"SessionEnd\"",
        b"\"hook_event_name\":\"UserPromptSubmit\"",
        b"\"hook_event_name\":\"UserPromptExpansion\"",
        b"\"hook_event_name\":\"PreToolUse\"",
        b"\"hook_event_name\":\"PostToolUse\"",
        b"\"hook_event_name\":\"PostToolUseFailure\"",
        b"\"hook_event_name\":\"PostToolBatch\"",
        b"\"hook_event_name\":\"PermissionRequest\"",
        b"\"hook_event_name\":\"PermissionDenied\"",
        b"\"hook_event_name\":\"SubagentStart\"",
        b"\"hook_event_name\":\"SubagentStop\"",
        b"\"hook_event_name\":\"Stop\"",
        b"\"hook_event_name\":\"StopFailure\"",
        b"\"hook_event_name\":\"Notification\"",
        b"\"hook_event_name\":\"ConfigChange\"",
        b"\"hook_event_name\":\"TaskCreated\"",
        b"\"hook_event_name\":\"PostCompact\"",
        b"\"hook_event_name\":\"Elicitation\"",
        b"\"hook_event_name\":\"PostModelSwitch\"",
        b"\"hook_event_name\":\"WorktreeCreate\"",
        b"\"tool_name\":\"Bash\"",
        b"\"tool_name\":\"Agent\"",
        b"\"tool_name\":\"TodoWrite\"",
        b"\"tool_name\":\"AskUserQuestion\"",
        b"\"tool_name\":\"mcp__a__b\"",
        b"\"tool_input\":",
        b"\"tool_response\":",
        b"\"tool_calls\":[",
        b"\"agent_id\":\"a\"",
        b"\"agent_type\":\"\"",
        b"\"prompt\":\"<task-notification>\\n<task-id>a</task-id>\\n<status>completed</status>\"",
        b"\"context_window\":{\"used_percentage\":",
        b"\"rate_limits\":{\"five_hour\":{\"resets_at\":",
        b"{\"bytes\":9}",
        b"18446744073709551615",
        b"-1e400",
        b"null",
        b"{}",
    ],
};

fn run(bytes: &[u8]) {
    let context =
        Context { env: vec![("CLAUDE_PROJECT_DIR".to_owned(), "/src".to_owned())], ..Context::default() };
    for source in [Source::Hook, Source::StatusLine] {
        let observation = Observation {
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Hook,
            name: "fuzz",
            arrived: Millis(1),
            source,
            body: bytes,
            context: &context,
        };
        let reading = read(&observation);
        assert_eq!(reading, read(&observation), "the same payload says the same");
        assert!(
            !reading.entries.is_empty() || !reading.unrecognised.is_empty(),
            "nothing is lost in silence"
        );
        for entry in &reading.entries {
            let title = entry.title.as_deref().unwrap_or_default();
            assert!(
                title.chars().count() <= 120 && !title.chars().any(char::is_control),
                "a title is one short line"
            );
            assert!(!entry.key.is_empty(), "every entry names its fact");
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let payloads = [
        r#"{"session_id":"s","transcript_path":"/t/s.jsonl","cwd":"/src","prompt_id":"p","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test | tee log"},"tool_use_id":"t"}"#,
        r#"{"session_id":"s","cwd":"/src","prompt_id":"p","agent_id":"a","agent_type":"Explore","hook_event_name":"PostToolUse","tool_name":"Agent","tool_input":{"prompt":"look"},"tool_response":{"status":"completed","agentId":"b"},"tool_use_id":"t","duration_ms":7}"#,
        r#"{"session_id":"s","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"/src/a"},"tool_use_id":"t","tool_response":{"isError":true,"errorClass":"permission"}}]}"#,
        r#"{"session_id":"s","version":"2.1.325","model":{"id":"m"},"context_window":{"used_percentage":3,"context_window_size":200000,"current_usage":{"input_tokens":1}},"cost":{"total_cost_usd":0.1}}"#,
    ];
    payloads.iter().map(|payload| payload.as_bytes().to_vec()).collect()
}
