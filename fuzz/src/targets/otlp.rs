//! Whatever an export of telemetry holds, each record ends in one way, always the same, and usage comes only from a
//! record that names its request.

use agent_tracer_agents::files::Rules;
use agent_tracer_agents::otlp::{Record, Signal, read};
use agent_tracer_event::{Kind, Millis, Subject, Tokens};
use agent_tracer_privacy::{Config, Level};
use serde_json::Value;

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "otlp",
    run,
    seeds,
    dictionary: &[
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"api_request\"}}",
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"tool_result\"}}",
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"tool_decision\"}}",
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"user_prompt\"}}",
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"codex.tool_result\"}}",
        b"{\"key\":\"event.name\",\"value\":{\"stringValue\":\"codex.agent_communication\"}}",
        b"{\"key\":\"request_id\",\"value\":{\"stringValue\":\"r\"}}",
        b"{\"key\":\"input_tokens\",\"value\":{\"intValue\":\"18446744073709551615\"}}",
        b"{\"key\":\"tool_name\",\"value\":{\"stringValue\":\"Bash\"}}",
        b"{\"key\":\"tool_use_id\",\"value\":{\"stringValue\":\"t\"}}",
        b"{\"key\":\"arguments\",\"value\":{\"stringValue\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}}",
        b"\"resourceLogs\":[{",
        b"\"resourceSpans\":[{",
        b"\"scopeLogs\":[{",
        b"\"logRecords\":[{",
        b"\"timeUnixNano\":\"18446744073709551615\"",
        b"\"arrayValue\":{\"values\":[",
        b"null",
    ],
};

fn run(bytes: &[u8]) {
    let Ok(export) = serde_json::from_slice(bytes) else { return };
    hold([Signal::Logs, Signal::Metrics, Signal::Traces], &export);
}

/// The laws of an export, in whatever form it came.
pub(super) fn hold<const N: usize>(signals: [Signal; N], export: &Value) {
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let config = Config { level, ..Config::default() };
        let rules = Rules { config: &config, hash_key: [7; 16], home_dir: None };
        for signal in signals {
            let records = read(&rules, signal, export, Millis(1));
            assert_eq!(records, read(&rules, signal, export, Millis(1)), "the same export says the same");
            for record in records {
                let Record::Read { name, reading, .. } = record else { continue };
                assert!(!name.is_empty() && signal != Signal::Metrics, "numbers are counted and not read");
                assert!(!reading.entries.is_empty() || !reading.unrecognised.is_empty());
                for entry in &reading.entries {
                    let named = entry.key.starts_with("request:");
                    let counts = Tokens::read(&entry.metadata).is_some();
                    assert!(!counts || (named && entry.subject == Subject::Event(Kind::TokenUsage)));
                }
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let exports = [
        r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"claude-code"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1794772610184000000","attributes":[{"key":"event.name","value":{"stringValue":"api_request"}},{"key":"session.id","value":{"stringValue":"s"}},{"key":"request_id","value":{"stringValue":"r"}},{"key":"input_tokens","value":{"intValue":7}},{"key":"output_tokens","value":{"intValue":"3"}}]}]}]}]}"#,
        r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"codex_exec"}}]},"scopeLogs":[{"logRecords":[{"attributes":[{"key":"event.name","value":{"stringValue":"codex.tool_result"}},{"key":"conversation.id","value":{"stringValue":"c"}},{"key":"call_id","value":{"stringValue":"t"}},{"key":"success","value":{"stringValue":"true"}},{"key":"arguments","value":{"stringValue":"{\"cmd\":\"ls\"}"}},{"key":"output","value":{"stringValue":"a"}}]}]}]}]}"#,
        r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"claude-code"}}]},"scopeSpans":[{"spans":[{"name":"claude_code.tool","spanId":"a","startTimeUnixNano":"1794772610184000000","attributes":[{"key":"tool_use_id","value":{"stringValue":"t"}}]},{"name":"claude_code.tool.blocked_on_user","spanId":"b","parentSpanId":"a","attributes":[{"key":"duration_ms","value":{"intValue":5}}]}]}]}]}"#,
    ];
    exports.iter().map(|export| export.as_bytes().to_vec()).collect()
}
