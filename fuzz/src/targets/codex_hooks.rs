//! Whatever a hook of Codex carries, it is read, always the same way, and nothing well-formed is lost.

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "codex_hooks",
    run,
    seeds,
    dictionary: &[
        b"\"hook_event_name\":\"SessionStart\"",
        b"\"hook_event_name\":\"UserPromptSubmit\"",
        b"\"hook_event_name\":\"PreModelRequest\"",
        b"\"hook_event_name\":\"PostModelRequest\"",
        b"\"hook_event_name\":\"PreToolUse\"",
        b"\"hook_event_name\":\"PermissionRequest\"",
        b"\"hook_event_name\":\"PostToolUse\"",
        b"\"hook_event_name\":\"PreCompact\"",
        b"\"hook_event_name\":\"PostCompact\"",
        b"\"hook_event_name\":\"SubagentStart\"",
        b"\"hook_event_name\":\"SubagentStop\"",
        b"\"hook_event_name\":\"Stop\"",
        b"\"hook_event_name\":\"Interrupt\"",
        b"\"hook_event_name\":\"SessionEnd\"",
        b"\"tool_name\":\"Bash\"",
        b"\"tool_name\":\"apply_patch\"",
        b"\"tool_name\":\"mcp__a__b\"",
        b"\"tool_name\":\"collaborationspawn_agent\"",
        b"\"tool_input\":",
        b"\"tool_response\":",
        b"\"token_usage\":",
        b"\"agent_id\":\"a\"",
        b"\"transcript_path\":\"rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl\"",
        b"null",
        b"{}",
    ],
};

fn run(bytes: &[u8]) {
    let context = Context::default();
    let observation = Observation {
        agent: Agent::CODEX,
        channel: Channel::Hook,
        name: "fuzz",
        arrived: Millis(1),
        source: Source::Hook,
        body: bytes,
        context: &context,
    };
    let reading = read(&observation);
    assert_eq!(reading, read(&observation), "the same payload says the same");
    assert!(!reading.entries.is_empty() || !reading.unrecognised.is_empty(), "nothing is lost in silence");
    for entry in &reading.entries {
        let title = entry.title.as_deref().unwrap_or_default();
        assert!(
            title.chars().count() <= 120 && !title.chars().any(char::is_control),
            "a title is one short line"
        );
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let payloads = [
        r#"{"session_id":"s","turn_id":"t","cwd":"/src","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c"}"#,
        r#"{"session_id":"s","turn_id":"t","cwd":"/src","hook_event_name":"PostModelRequest","model":"m","status":"completed","error":null,"token_usage":{"input_tokens":3,"cached_input_tokens":1,"output_tokens":2}}"#,
        r#"{"session_id":"s","turn_id":"t","agent_id":"a","agent_type":"default","transcript_path":"/x/rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl","hook_event_name":"SubagentStop","last_assistant_message":"done"}"#,
    ];
    payloads.iter().map(|payload| payload.as_bytes().to_vec()).collect()
}
