//! Telemetry of both agents: every captured record, and what must never come out of one.

use std::collections::BTreeSet;
use std::path::Path;

use agent_tracer_agents::otlp::{Record, Signal, read};
use agent_tracer_event::{
    Agent, CallState, Entry, Kind, Millis, Phase, Reading, Subject, Tokens, Unrecognised,
};
use agent_tracer_privacy::{Config, Level};
use serde_json::{Map, Value, json};

use crate::transcript::rules;

pub(super) const LEVELS: [Level; 3] = [Level::Metadata, Level::Actions, Level::Full];

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Puts records into the export that a client would post.
fn export(signal: Signal, resource: &Value, records: &[Value]) -> Value {
    let (resources, scopes, list) = match signal {
        Signal::Logs => ("resourceLogs", "scopeLogs", "logRecords"),
        Signal::Metrics => ("resourceMetrics", "scopeMetrics", "metrics"),
        Signal::Traces => ("resourceSpans", "scopeSpans", "spans"),
    };
    json!({ resources: [{"resource": resource, scopes: [{ list: records }]}] })
}

/// Every captured record of Claude Code: where it is, its signal and its export.
pub(super) fn claude() -> Vec<(String, Signal, Value)> {
    let path = fixtures().join("claude-code/otel-2.1.325/examples.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().enumerate().map(|(number, line)| {
        let row: Value = serde_json::from_str(line).unwrap();
        let signal = match row["signal"].as_str().unwrap() {
            "logRecords" => Signal::Logs,
            "metrics" => Signal::Metrics,
            "spans" => Signal::Traces,
            other => panic!("{other}"),
        };
        let place = format!("{} {}", number + 1, row["name"].as_str().unwrap());
        (place, signal, export(signal, &row["resource"], &[row["item"].clone()]))
    });
    rows.collect()
}

fn attributes(members: &Map<String, Value>) -> Value {
    let list = members.iter().map(|(key, value)| {
        let kind = match value {
            Value::Bool(_) => "boolValue",
            Value::Number(_) => "intValue",
            _ => "stringValue",
        };
        json!({"key": key, "value": { kind: value }})
    });
    Value::Array(list.collect())
}

/// Every captured event of Codex.
pub(super) fn codex() -> Vec<(String, Signal, Value)> {
    let path = fixtures().join("codex/0.166.0/payloads/otel.log_events.json");
    let sample: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let resource = json!({"attributes": attributes(sample["resource"].as_object().unwrap())});
    let events = sample["events"].as_object().unwrap().iter().map(|(name, members)| {
        let record = json!({"attributes": attributes(members.as_object().unwrap())});
        (name.clone(), Signal::Logs, export(Signal::Logs, &resource, &[record]))
    });
    events.collect()
}

pub(super) fn records(signal: Signal, export: &Value, level: Level) -> Vec<Record> {
    let config = Config { level, ..Config::default() };
    read(&rules(&config), signal, export, Millis(5))
}

fn entries(signal: Signal, export: &Value, level: Level) -> Vec<Entry> {
    let readings = records(signal, export, level).into_iter().filter_map(|record| match record {
        Record::Read { reading, .. } => Some(reading),
        Record::Skipped | Record::Foreign | Record::Malformed => None,
    });
    readings.flat_map(|reading: Reading| reading.entries).collect()
}

/// An event of an agent with these attributes.
fn event(agent: Agent, name: &str, members: Value) -> Value {
    let (service, prefix, session) = match agent {
        Agent::CLAUDE_CODE => ("claude-code", "", "session.id"),
        _ => ("codex_exec", "codex.", "conversation.id"),
    };
    let mut all = members.as_object().unwrap().clone();
    all.insert("event.name".to_owned(), json!(format!("{prefix}{name}")));
    all.entry(session).or_insert(json!("s-1"));
    let resource = json!({"attributes": [
        {"key": "service.name", "value": {"stringValue": service}},
        {"key": "service.version", "value": {"stringValue": "9.9.9"}},
    ]});
    let record = json!({"timeUnixNano": "1794772610184000000", "attributes": attributes(&all)});
    export(Signal::Logs, &resource, &[record])
}

fn only(entries: &[Entry], kind: Kind) -> &Entry {
    let found: Vec<&Entry> = entries.iter().filter(|entry| entry.subject == Subject::Event(kind)).collect();
    assert_eq!(found.len(), 1, "one {kind} in {entries:#?}");
    found[0]
}

#[test]
fn every_captured_record_is_known_at_every_level() {
    let mut read = 0;
    let mut skipped = 0;
    for (place, signal, export) in claude().into_iter().chain(codex()) {
        for level in LEVELS {
            for record in records(signal, &export, level) {
                match record {
                    Record::Read { reading, .. } => {
                        assert_eq!(reading.unrecognised, [], "{place}");
                        assert!(!reading.entries.is_empty(), "{place}");
                        read += 1;
                    }
                    Record::Skipped => skipped += 1,
                    Record::Foreign | Record::Malformed => panic!("{place} is {record:?}"),
                }
            }
        }
    }
    assert!(read > 80 && skipped > 50, "{read} read, {skipped} skipped");
}

#[test]
fn calls_have_the_keys_that_hooks_give_them() {
    let mut actual = BTreeSet::new();
    for (place, signal, export) in claude() {
        for entry in entries(signal, &export, Level::Actions) {
            if let Some(id) = &entry.tool_use_id {
                assert_eq!(entry.key, format!("tool:{id}"), "{place}");
                actual.insert((
                    entry.key.clone(),
                    entry.task.runtime_session.clone(),
                    signal == Signal::Traces,
                ));
            }
        }
    }
    assert!(actual.len() > 7, "{actual:?}");
    let mut hooks = BTreeSet::new();
    for name in ["otel_basic", "otel_traces", "otel_traces2", "otel_prompts", "otel_skill", "otel_deny"] {
        for captured in crate::claude_hooks::scenario("2.1.325", name) {
            for entry in crate::claude_hooks::hook(&captured.payload).entries {
                hooks.insert((entry.key, entry.task.runtime_session));
            }
        }
    }
    for (key, session, is_span) in actual {
        let same = hooks.iter().any(|(known, task)| *known == key && (!is_span || *task == session));
        assert!(same, "{key} of {session}");
    }
}

#[test]
fn a_request_says_what_its_response_cost_under_the_name_that_the_transcript_has_for_it() {
    let members = json!({
        "request_id": "req_1", "model": "claude-sonnet-5-5", "input_tokens": 7, "output_tokens": "41",
        "cache_read_tokens": 900, "cache_creation_tokens": 60, "cost_usd": 0.0125, "duration_ms": "830", "ttft_ms": 120,
        "query_source": "compact", "effort": "medium", "agent_id": "a1", "prompt.id": "p-1",
    });
    let actual = entries(Signal::Logs, &event(Agent::CLAUDE_CODE, "api_request", members), Level::Actions);
    let usage = only(&actual, Kind::TokenUsage);
    assert_eq!((usage.key.as_str(), usage.task.runtime_session.as_str()), ("request:req_1", "sub--a1"));
    assert_eq!(
        Tokens::read(&usage.metadata),
        Some(Tokens { input: 7, output: 41, cache_read: 900, cache_write: 60, reasoning: None })
    );
    assert_eq!(usage.metadata["clientCostUsd"], 0.0125);
    assert_eq!(usage.metadata["querySource"], "compact");
    assert_eq!(usage.turn.as_deref(), Some("a1"));
    let request = only(&actual, Kind::ModelRequest);
    assert_eq!((request.state, &request.metadata["durationMs"]), (Some(CallState::Succeeded), &json!(830)));
    assert_eq!(request.metadata["ttftMs"], 120);
    let task: Vec<&Entry> = actual.iter().filter(|entry| entry.subject == Subject::Task).collect();
    assert_eq!(task.len(), 2, "the guess at the parent stands apart");
    assert_eq!(task[1].metadata["clientVersion"], "9.9.9");
    // The rows of the transcript know the same response under this alias.
    let rows = [
        r#"{"type":"assistant","sessionId":"s-1","agentId":"a1","isSidechain":true,"uuid":"u","timestamp":"2026-11-15T19:56:50Z","requestId":"req_1","message":{"id":"msg_1","model":"m","role":"assistant","content":[],"usage":{"input_tokens":7,"output_tokens":41}}}"#,
    ];
    let rows = crate::transcript::read_lines(&rows, Level::Actions).entries();
    assert_eq!(only(&rows, Kind::TokenUsage).aliases, ["request:req_1"]);
}

#[test]
fn only_a_named_request_counts() {
    let nameless = json!({"model": "m", "input_tokens": 7, "output_tokens": 41});
    let actual = entries(Signal::Logs, &event(Agent::CLAUDE_CODE, "api_request", nameless), Level::Full);
    assert!(actual.iter().all(|entry| Tokens::read(&entry.metadata).is_none()), "{actual:#?}");
    assert!(actual.iter().any(|entry| entry.subject == Subject::Event(Kind::ModelRequest)));
    for (place, signal, export) in claude().into_iter().chain(codex()) {
        let repeats = signal != Signal::Logs || place.contains("sse_event");
        for entry in entries(signal, &export, Level::Full) {
            assert!(!repeats || Tokens::read(&entry.metadata).is_none(), "{place}");
        }
        if signal == Signal::Metrics || place.contains("sse_event") {
            assert_eq!(records(signal, &export, Level::Full), [Record::Skipped], "{place}");
        }
    }
}

#[test]
fn an_export_that_is_sent_again_says_nothing_new() {
    for (place, signal, export) in claude().into_iter().chain(codex()) {
        let first = records(signal, &export, Level::Actions);
        let config = Config { level: Level::Actions, ..Config::default() };
        let again = read(&rules(&config), signal, &export, Millis(99));
        if !place.starts_with("codex.agent_communication") {
            assert_eq!(first, again, "{place}: the time of arrival does not matter");
        }
    }
    let two = |prompt: &str| event(Agent::CLAUDE_CODE, "mcp_server_connection", json!({"status": prompt}));
    let key = |export: &Value| entries(Signal::Logs, export, Level::Actions).pop().unwrap().key;
    assert_ne!(key(&two("connected")), key(&two("failed")));
}

#[test]
fn texts_stay_out_below_full_and_addresses_at_every_level() {
    let members = json!({
        "prompt": "canary-prompt", "prompt_text": "canary-prompt", "response": "canary-response", "arguments": "{\"cmd\":\"canary-arguments\"}",
        "output": "canary-output", "tool_input": "{\"command\":\"canary-input\"}", "tool_parameters": "{\"full_command\":\"canary-parameters\"}",
        "content": "canary-content", "user.email": "canary-email", "user.id": "canary-user", "unheard.of": "canary-attribute",
        "tool_name": "Bash", "tool_use_id": "toolu_1", "call_id": "call_1", "success": "true", "decision": "accept", "prompt.id": "p",
        "request_id": "req_1", "body": "canary-body",
    });
    let claude_names = [
        "user_prompt",
        "tool_result",
        "tool_decision",
        "assistant_response",
        "api_request",
        "api_request_body",
        "tool",
        "unknown",
    ];
    let codex_names = ["user_prompt", "tool_result", "agent_communication", "sse_event", "unknown"];
    let exports = claude_names.iter().map(|name| event(Agent::CLAUDE_CODE, name, members.clone()));
    let exports = exports.chain(codex_names.iter().map(|name| event(Agent::CODEX, name, members.clone())));
    let mut kept = 0;
    for export in exports {
        for level in LEVELS {
            let actual = serde_json::to_string(&entries(Signal::Logs, &export, level)).unwrap();
            assert!(!actual.contains("canary-email"), "{actual}");
            assert!(level == Level::Full || !actual.contains("canary-"), "{actual}");
            kept += usize::from(actual.contains("canary-"));
        }
    }
    assert!(kept >= 3, "at full the prompt, the input and the arguments stay: {kept}");
    let secret = json!({"prompt": "use AKIAIOSFODNN7EXAMPLE now", "prompt.id": "p"});
    let actual = entries(Signal::Logs, &event(Agent::CLAUDE_CODE, "user_prompt", secret), Level::Full);
    let body = only(&actual, Kind::UserMessage).body.clone().unwrap();
    assert!(body.starts_with("use ") && !body.contains("AKIAIOSFODNN7EXAMPLE"), "{body}");
}

#[test]
fn results_and_decisions_close_their_calls() {
    let call = |name: &str, more: Value| {
        let mut members =
            json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "duration_ms": "31", "prompt.id": "p"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let actual = entries(Signal::Logs, &event(Agent::CLAUDE_CODE, name, members), Level::Actions);
        actual.into_iter().find(|entry| entry.key == "tool:toolu_1").unwrap()
    };
    for (name, more, phase, state) in [
        (
            "tool_result",
            json!({"success": "true", "tool_result_size_bytes": "12"}),
            Phase::Close,
            Some(CallState::Succeeded),
        ),
        (
            "tool_result",
            json!({"success": false, "error": "it broke\nsecond"}),
            Phase::Close,
            Some(CallState::Failed),
        ),
        (
            "tool_result",
            json!({"success": "false", "decision_type": "reject"}),
            Phase::Close,
            Some(CallState::Denied),
        ),
        ("tool_result", json!({}), Phase::Close, None),
        ("tool_decision", json!({"decision": "accept", "source": "config"}), Phase::Update, None),
        (
            "tool_decision",
            json!({"decision": "reject", "source": "user_reject"}),
            Phase::Close,
            Some(CallState::Denied),
        ),
    ] {
        let entry = call(name, more);
        assert_eq!((entry.phase, entry.state), (phase, state), "{name}");
        assert_eq!(entry.subject, Subject::Event(Kind::TerminalCommand));
    }
    assert_eq!(
        call("tool_result", json!({"success": "true", "tool_result_size_bytes": "12"})).metadata["outputBytes"],
        12
    );
    assert_eq!(
        call("tool_result", json!({"success": false, "error": "it broke\nsecond"})).metadata["error"],
        "it broke"
    );
    let codex = json!({"tool_name": "exec_command", "call_id": "c", "duration_ms": "78", "success": "false", "output": "nope", "arguments": "{}"});
    let actual = entries(Signal::Logs, &event(Agent::CODEX, "tool_result", codex), Level::Actions);
    let entry = actual.iter().find(|entry| entry.key == "tool:c").unwrap();
    assert_eq!((entry.state, &entry.metadata["outputBytes"]), (Some(CallState::Failed), &json!(4)));
    assert_eq!(entry.metadata["durationMs"], 78);
    let denied = json!({"tool_name": "exec_command", "call_id": "c", "decision": "denied", "source": "User"});
    let actual = entries(Signal::Logs, &event(Agent::CODEX, "tool_decision", denied), Level::Actions);
    assert_eq!(actual.iter().find(|entry| entry.key == "tool:c").unwrap().state, Some(CallState::Denied));
    let server = json!({"tool_name": "echo", "call_id": "c", "mcp_server": "lab", "success": "true"});
    let actual = entries(Signal::Logs, &event(Agent::CODEX, "tool_result", server), Level::Actions);
    assert_eq!(only(&actual, Kind::AgentActivityLogged).metadata["mcpTool"], "echo");
}

#[test]
fn a_wait_for_the_user_is_put_on_the_call_that_its_span_lies_in() {
    let span = |name: &str, own: &str, parent: &str, members: Value| {
        let mut members = members;
        members["session.id"] = json!("s-1");
        json!({"name": format!("claude_code.{name}"), "spanId": own, "parentSpanId": parent, "startTimeUnixNano": "1794772610184000000",
            "attributes": attributes(members.as_object().unwrap())})
    };
    let spans = [
        span("tool.blocked_on_user", "b", "t", json!({"duration_ms": 7000, "decision": "accept"})),
        span("tool", "t", "i", json!({"tool_name": "Bash", "tool_use_id": "toolu_1"})),
        span("tool.blocked_on_user", "x", "elsewhere", json!({"duration_ms": 1})),
        span("hook", "h", "t", json!({})),
    ];
    let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]});
    let read = records(Signal::Traces, &export(Signal::Traces, &resource, &spans), Level::Actions);
    let Record::Read { reading, .. } = &read[0] else { panic!("{read:?}") };
    let wait = reading.entries.iter().find(|entry| entry.key == "tool:toolu_1").unwrap();
    assert_eq!(wait.metadata["permissionWaitMs"], 7000);
    assert_eq!(read[2..], [Record::Skipped, Record::Skipped]);
}

#[test]
fn what_is_unknown_is_counted_and_what_is_foreign_is_not_ours() {
    let actual = records(
        Signal::Logs,
        &event(Agent::CODEX, "brand_new", json!({"size": 7, "words": "x"})),
        Level::Actions,
    );
    let Record::Read { agent, reading, .. } = &actual[0] else { panic!("{actual:?}") };
    assert_eq!(
        (*agent, &reading.unrecognised[..]),
        (Agent::CODEX, &[Unrecognised::Event("brand_new".to_owned())][..])
    );
    assert_eq!(only(&reading.entries, Kind::Unrecognised).metadata["payload"], json!({"size": 7}));
    let unknown_word = event(
        Agent::CLAUDE_CODE,
        "tool_decision",
        json!({"tool_name": "Read", "tool_use_id": "t", "decision": "maybe"}),
    );
    let actual = records(Signal::Logs, &unknown_word, Level::Actions);
    let Record::Read { reading, .. } = &actual[0] else { panic!("{actual:?}") };
    assert_eq!(reading.unrecognised, [Unrecognised::Value("decision=maybe".to_owned())]);
    let other = json!({"resourceLogs": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "nginx"}}]},
        "scopeLogs": [{"logRecords": [{"body": {"stringValue": "GET /"}}, 7, {}]}]}]});
    assert_eq!(
        records(Signal::Logs, &other, Level::Full),
        [Record::Foreign, Record::Malformed, Record::Malformed]
    );
    for odd in [json!(null), json!([]), json!({"resourceSpans": []}), json!({"resourceLogs": {}}), json!("x")]
    {
        assert_eq!(records(Signal::Logs, &odd, Level::Full), [Record::Malformed], "{odd}");
    }
    assert_eq!(records(Signal::Logs, &json!({}), Level::Full), []);
}

#[test]
fn a_spawn_tells_who_the_parent_is() {
    let (_, signal, export) =
        codex().into_iter().find(|(name, ..)| name == "codex.agent_communication").unwrap();
    let actual = entries(signal, &export, Level::Actions);
    assert_eq!(actual.len(), 1);
    assert_eq!(actual[0].task.runtime_session, "01a1e0bf-a722-7873-b855-ff4c9a16d530");
    assert_eq!(actual[0].metadata["parentSession"], "01a1e0bf-a666-7001-9cbe-95757bbd8d3b");
}

#[test]
fn lines_of_the_programs_own_log_are_no_events() {
    let export = |name: &str, attributes: Value| {
        json!({"resourceLogs": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "codex_cli_rs"}}]},
            "scopeLogs": [{"logRecords": [{
                "timeUnixNano": "1790000000000000000", "eventName": name,
                "body": {"stringValue": "flushing OTEL metrics"}, "attributes": attributes,
            }]}],
        }]})
    };
    let line = export("event otel/src/metrics/client.rs:412", json!([]));
    assert_eq!(records(Signal::Logs, &line, Level::Full), [Record::Skipped]);
    let named = json!([
        {"key": "event.name", "value": {"stringValue": "codex.brand_new"}},
        {"key": "conversation.id", "value": {"stringValue": "t"}},
    ]);
    let event = export("event otel/src/events.rs:7", named);
    assert!(matches!(records(Signal::Logs, &event, Level::Full).as_slice(), [Record::Read { .. }]));
}
