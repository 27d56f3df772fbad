//! Whatever bytes an agent sends, at any level: an object that can be read again, or a fault and nothing.

use agent_tracer_event::Agent;
use agent_tracer_privacy::{Config, Level, Source, reduce};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "privacy_reduce",
    run,
    seeds,
    dictionary: &[
        b"\"hook_event_name\":\"PostToolUse\",",
        b"\"hook_event_name\":\"PostToolUseFailure\",",
        b"\"hook_event_name\":\"ElicitationResult\",",
        b"\"hook_event_name\":\"StopFailure\",",
        b"\"tool_name\":\"Bash\",",
        b"\"tool_name\":\"spawn_agent\",",
        b"\"tool_response\":",
        b"\"tool\\u005fresponse\":",
        b"\"tool_input\":{",
        b"\"tool_calls\":[{",
        b"\"error\":\"Exit code 3\\n",
        b"\"content\":",
        b"\"last_assistant_message\":",
        b"\"agent_type\":\"\",",
        b"\"compact_summary\":",
        b"\"usage\":{\"input_tokens\":1,",
        b"\"task\":{\"id\":\"1\"",
        b"\"statusChange\":{\"from\":\"a\"",
        b"*** Begin Patch\\n*** Add File: a\\n",
        b"<task-notification><result>",
        b"</result>",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        b"\\u0000",
        b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        b"-0.5e+10",
        b"null",
    ],
};

fn run(bytes: &[u8]) {
    for source in [Source::Hook(Agent::CLAUDE_CODE), Source::Hook(Agent::CODEX), Source::StatusLine] {
        for level in [Level::Metadata, Level::Actions, Level::Full] {
            let config = Config { level, ..Config::default() };
            let mut out = Vec::new();
            let reduction = reduce(bytes, source, &config, &mut || [7; 16], &mut out);
            if let Some(fault) = reduction.fault {
                assert!(out.is_empty(), "a fault leaves nothing");
                assert!(fault.at <= bytes.len(), "a fault has a place");
                continue;
            }
            assert!(std::str::from_utf8(&out).is_ok(), "what is written is text");
            let mut again = Vec::new();
            let second = reduce(&out, source, &config, &mut || [7; 16], &mut again);
            assert!(second.fault.is_none(), "what is written can be read: {:?}", second.fault);
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let payloads: [&[u8]; 6] = [
        br#"{"session_id":"5a133364-48e1-40c2-b568-cfba1112cbce","cwd":"/home/dev","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":"a\nb","stderr":"","interrupted":false}}"#,
        br#"{"hook_event_name":"PostToolUseFailure","tool_name":"Read","error":"File does not exist.","is_interrupt":false}"#,
        br#"{"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Bash","tool_input":{"command":"x"},"tool_response":"Exit code 3\nbad"},{"tool_name":"Agent","tool_response":[{"type":"text","text":"done"}]}]}"#,
        br#"{"tool_name":"Write","tool_input":{"file_path":"/a","content":"x\ty\u00e9","todos":[{"content":"one"}],"answers":{"Which?":"A"}}}"#,
        br#"{"hook_event_name":"UserPromptSubmit","prompt":"<task-notification><result>x</result></task-notification> password=hunter2"}"#,
        br#"{"agent_type":"","last_assistant_message":"summary","compact_summary":"more","delta":"piece","content":{"a":1}}"#,
    ];
    payloads.iter().map(|payload| payload.to_vec()).collect()
}
