//! Whatever stands in a rollout, each row is read, always the same way, and what is remembered stays small.
//!
//! The input is a whole file: rows follow each other, so that a row meets the state which others left behind.

use agent_tracer_agents::codex::rollout::{RolloutReader, Row, Rules};
use agent_tracer_agents::files::{Line, LineSplitter};
use agent_tracer_event::Millis;
use agent_tracer_privacy::{Config, Level};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "codex_rollout",
    run,
    seeds,
    dictionary: &[
        b"{\"timestamp\":\"2026-11-15T19:33:11.642Z\",\"ordinal\":1,\"type\":\"event_msg\",\"payload\":{\"type\":",
        b"{\"timestamp\":\"2026-11-15T19:33:11.642Z\",\"type\":\"response_item\",\"payload\":{\"type\":",
        b"\"session_meta\"",
        b"\"turn_context\"",
        b"\"token_usage_record\"",
        b"\"compacted\"",
        b"\"task_started\"",
        b"\"task_complete\"",
        b"\"turn_aborted\"",
        b"\"token_count\"",
        b"\"item_completed\"",
        b"\"function_call\"",
        b"\"function_call_output\"",
        b"\"custom_tool_call\"",
        b"\"custom_tool_call_output\"",
        b"\"CommandExecution\"",
        b"\"FileChange\"",
        b"\"McpToolCall\"",
        b"\"CollabAgentToolCall\"",
        b"\"SubAgentActivity\"",
        b"\"turn_id\":",
        b"\"thread_id\":",
        b"\"call_id\":\"c\"",
        b"\"subagent_history_start_ordinal\":",
        b"\"forked_from_id\":",
        b"Process running with session ID 7\\nOutput:\\n",
        b"Script running with cell ID 7\\nOutput:\\n",
        b"null",
        b"18446744073709551615",
        b"-1",
        b"\n",
    ],
};

/// More than any honest thread leaves behind: 64 open calls with their ids, and one message.
const STATE_BYTES: usize = 1 << 20;

fn run(bytes: &[u8]) {
    for level in [Level::Metadata, Level::Full] {
        let config = Config { level, ..Config::default() };
        let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
        let mut reader =
            RolloutReader::new("rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl");
        LineSplitter::new(0).push(bytes, |line| {
            let Line::Complete { bytes: row, offset } = line else { return };
            let mut again = reader.clone();
            let first = reader.read(&rules, row, offset, Millis(0));
            let second = again.read(&rules, row, offset, Millis(0));
            assert_eq!(first, second, "the same row in the same state says the same");
            assert_eq!(reader.state(), again.state());
            if let Row::Read(reading) = first {
                assert!(!reading.entries.is_empty() || !reading.unrecognised.is_empty());
            }
        });
        let state = format!("{:?}", reader.state());
        assert!(state.len() < STATE_BYTES, "what is remembered is bounded");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let rows = [
        r#"{"timestamp":"2026-11-15T19:33:11.642Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1e0b3-0708-7a91-bca0-aa31b76b9484","session_id":"01a1e0b3-0708-7a91-bca0-aa31b76b9484","cwd":"/src","source":"exec","cli_version":"0.166.0","history_mode":"paginated"}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.643Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.644Z","ordinal":2,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.645Z","ordinal":3,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01a1e0b3-0708-7a91-bca0-aa31b76b9484","turn_id":"t","item":{"type":"CommandExecution","id":"c","command":["/bin/bash","-lc","ls"],"cwd":"file:///src","status":"completed","exit_code":0,"aggregated_output":"a","duration":{"secs":0,"nanos":1}},"started_at_ms":1,"completed_at_ms":2}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.646Z","ordinal":4,"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na"}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.647Z","ordinal":5,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2},"last_token_usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2},"model_context_window":9},"rate_limits":{"primary":{"used_percent":1.5,"window_minutes":300,"resets_at":9}}}}"#,
        r#"{"timestamp":"2026-11-15T19:33:11.648Z","ordinal":6,"type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":"Done."}}"#,
    ];
    vec![rows.join("\n").into_bytes(), format!("{}\r\n", rows.join("\r\n")).into_bytes()]
}
