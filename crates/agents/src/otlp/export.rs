//! Takes an export apart: resources, scopes, records.

use std::collections::HashMap;

use agent_tracer_event::{Agent, Millis};
use serde_json::Value;

use super::{Attributes, Record, RecordWriter, Signal};
use crate::files::Rules;
use crate::{claude, codex};

/// The members that lead from an export to its records.
fn path(signal: Signal) -> [&'static str; 3] {
    match signal {
        Signal::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
        Signal::Metrics => ["resourceMetrics", "scopeMetrics", "metrics"],
        Signal::Traces => ["resourceSpans", "scopeSpans", "spans"],
    }
}

pub(super) fn is_export(signal: Signal, body: &Value) -> bool {
    let [resources, ..] = path(signal);
    body.as_object().is_some_and(|members| members.is_empty())
        || body.get(resources).is_some_and(Value::is_array)
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn read(rules: &Rules<'_>, signal: Signal, export: &Value, arrived: Millis) -> Vec<Record> {
    let [resources, scopes, records] = path(signal);
    if !is_export(signal, export) {
        return vec![Record::Malformed];
    }
    let calls = calls_of_spans(signal, export);
    let mut read = Vec::new();
    for resource in list(export, resources) {
        let about = Attributes::of(resource.get("resource").and_then(|resource| resource.get("attributes")));
        for scope in list(resource, scopes) {
            for item in list(scope, records) {
                read.push(record(rules, signal, &about, item, &calls, arrived));
            }
        }
    }
    read
}

/// Returns which call a span belongs to: a span that waits for the user names only the span that it lies in.
fn calls_of_spans(signal: Signal, export: &Value) -> HashMap<&str, String> {
    let mut calls = HashMap::new();
    if signal != Signal::Traces {
        return calls;
    }
    let scopes = list(export, "resourceSpans").iter().flat_map(|resource| list(resource, "scopeSpans"));
    for span in scopes.flat_map(|scope| list(scope, "spans")) {
        let attributes = Attributes::of(span.get("attributes"));
        let call = attributes.text(&["tool_use_id", "gen_ai.tool.call.id"]);
        if let (Some(id), Some(call)) = (span.get("spanId").and_then(Value::as_str), call) {
            calls.insert(id, call.to_owned());
        }
    }
    calls
}

fn record(
    rules: &Rules<'_>,
    signal: Signal,
    resource: &Attributes,
    item: &Value,
    calls: &HashMap<&str, String>,
    arrived: Millis,
) -> Record {
    if !item.is_object() {
        return Record::Malformed;
    }
    let attributes = Attributes::of(item.get("attributes"));
    let Some(full_name) = name(signal, &attributes, item) else { return Record::Malformed };
    let Some(agent) = agent(resource, &full_name) else { return Record::Foreign };
    if signal == Signal::Metrics {
        return Record::Skipped;
    }
    // Every event of Codex names itself; what does not is a line of its program's own log, called by its place in the
    // source.
    let is_event = attributes.text(&["event.name"]).is_some() || full_name.starts_with("codex.");
    if agent == Agent::CODEX && signal == Signal::Logs && !is_event {
        return Record::Skipped;
    }
    let name = full_name.split_once('.').filter(|(whose, _)| matches!(*whose, "claude_code" | "codex"));
    let name = name.map_or(full_name.as_str(), |(_, name)| name);
    let parent = item.get("parentSpanId").and_then(Value::as_str).unwrap_or_default();
    let own = item.get("spanId").and_then(Value::as_str).unwrap_or_default();
    let call = calls.get(own).or_else(|| calls.get(parent)).map(String::as_str);
    let mut writer = RecordWriter::new(rules, agent, name, resource, &attributes, item, call, arrived);
    let understood = match (agent, signal) {
        (Agent::CLAUDE_CODE, Signal::Traces) => claude::otlp::span(&mut writer),
        (Agent::CLAUDE_CODE, _) => claude::otlp::event(&mut writer),
        // Its spans are those of its program's parts, by the hundred; its events report what they measure.
        (_, Signal::Traces) => true,
        (_, _) => codex::otlp::event(&mut writer),
    };
    writer.end(understood)
}

/// Returns what a record calls itself.
fn name(signal: Signal, attributes: &Attributes, item: &Value) -> Option<String> {
    fn text(value: Option<&Value>) -> Option<&str> {
        value.and_then(Value::as_str).filter(|text| !text.is_empty())
    }
    let name = match signal {
        Signal::Metrics | Signal::Traces => text(item.get("name")),
        Signal::Logs => attributes
            .text(&["event.name"])
            .or_else(|| text(item.get("eventName")))
            .or_else(|| text(item.get("body").and_then(|body| body.get("stringValue")))),
    };
    name.map(str::to_owned)
}

/// Returns whose record it is: by the program that exports, or by the record's own name.
fn agent(resource: &Attributes, name: &str) -> Option<Agent> {
    let service = resource.text(&["service.name"]).unwrap_or_default();
    if name.starts_with("claude_code.") || service == "claude-code" || service == "claude_code" {
        return Some(Agent::CLAUDE_CODE);
    }
    let is_codex = service.strip_prefix("codex").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    (name.starts_with("codex.") || is_codex).then_some(Agent::CODEX)
}
