//! Whatever stands in a transcript, each row is read, always the same way, and what is remembered stays small.
//!
//! The input is a whole file: rows follow each other, so that a row meets the state which others left behind. The same
//! bytes are also read as the file that lies beside a subagent's.

use agent_tracer_agents::claude::transcript::{RowReading, TranscriptFile, TranscriptReader, read_meta};
use agent_tracer_agents::files::{Line, LineSplitter, Rules};
use agent_tracer_event::Millis;
use agent_tracer_privacy::{Config, Level};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "claude_transcript",
    run,
    seeds,
    dictionary: &[
        b"{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"u\",\"timestamp\":\"2026-11-15T19:33:11.642Z\",\"message\":",
        b"{\"type\":\"assistant\",\"sessionId\":\"s\",\"requestId\":\"r\",\"message\":{\"id\":\"m\",",
        b"{\"type\":\"system\",\"subtype\":\"compact_boundary\",",
        b"{\"type\":\"attachment\",\"attachment\":{\"type\":",
        b"{\"type\":\"cost-state\",",
        b"{\"type\":\"api_response\",\"usage\":",
        b"{\"type\":\"progress\",\"data\":",
        b"{\"type\":\"queue-operation\",",
        b"\"promptId\":\"p\"",
        b"\"isSidechain\":true",
        b"\"agentId\":\"a\"",
        b"\"usage\":{\"input_tokens\":1,\"output_tokens\":2}",
        b"{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}",
        b"{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"is_error\":true,\"content\":\"x\"}",
        b"\"toolDenialKind\":\"user-rejected\"",
        b"[Request interrupted by user for tool use]",
        b"\"isApiErrorMessage\":true",
        b"\"toolUseResult\":",
        b"null",
        b"18446744073709551615",
        b"-1",
        b"\n",
    ],
};

/// More than any honest session leaves behind: open calls with their inputs, and the ids of responses.
const STATE_BYTES: usize = 4 << 20;

fn run(bytes: &[u8]) {
    for level in [Level::Metadata, Level::Full] {
        let config = Config { level, ..Config::default() };
        let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
        let file = TranscriptFile { session: Some("s".to_owned()), ..TranscriptFile::default() };
        let mut reader = TranscriptReader::new(file.clone());
        LineSplitter::new(0).push(bytes, |line| {
            let Line::Complete { bytes: row, offset } = line else { return };
            let mut again = reader.clone();
            let first = reader.read(&rules, row, offset, Millis(0));
            let second = again.read(&rules, row, offset, Millis(0));
            assert_eq!(first, second, "the same row in the same state says the same");
            assert_eq!(format!("{:?}", reader.state()), format!("{:?}", again.state()));
            if let RowReading::Read(reading) = first {
                assert!(!reading.entries.is_empty() || !reading.unrecognised.is_empty());
            }
        });
        let last = reader.finish(&rules);
        assert!(last.entries.iter().all(|entry| !entry.key.is_empty()), "every entry names its fact");
        assert!(format!("{:?}", reader.state()).len() < STATE_BYTES, "what is remembered is bounded");
        let beside = TranscriptFile { agent_id: Some("a".to_owned()), ..file };
        let meta = read_meta(&rules, &beside, bytes, Millis(0));
        assert_eq!(meta, read_meta(&rules, &beside, bytes, Millis(0)));
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let rows = [
        r#"{"type":"user","sessionId":"s","uuid":"u1","timestamp":"2026-11-15T19:33:11.642Z","cwd":"/src","version":"2.1.325","promptId":"p","message":{"role":"user","content":"Go"}}"#,
        r#"{"type":"assistant","sessionId":"s","uuid":"u2","timestamp":"2026-11-15T19:33:12.642Z","requestId":"r1","message":{"id":"m1","model":"claude","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}}"#,
        r#"{"type":"user","sessionId":"s","uuid":"u3","timestamp":"2026-11-15T19:33:13.642Z","promptId":"p","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},"toolUseResult":{"stdout":"a","stderr":"","interrupted":false}}"#,
        r#"{"type":"assistant","sessionId":"s","uuid":"u4","timestamp":"2026-11-15T19:33:14.642Z","requestId":"r2","message":{"id":"m2","model":"claude","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}}"#,
        r#"{"type":"cost-state","sessionId":"s","totalCostUSD":0.1,"modelUsage":{"claude":{"inputTokens":2,"outputTokens":4,"costUSD":0.1}}}"#,
    ];
    let meta =
        r#"{"agentType":"Explore","toolUseId":"t1","parentAgentId":"b","spawnDepth":2,"description":"Look"}"#;
    vec![
        rows.join("\n").into_bytes(),
        format!("{}\r\n", rows.join("\r\n")).into_bytes(),
        meta.as_bytes().to_vec(),
    ]
}
