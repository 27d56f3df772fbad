//! Takes an export apart: resources, scopes, records.

use std::collections::HashMap;

use agent_tracer_event::{Agent, Millis};
use serde_json::Value;

use super::{Attributes, Record, RecordWriter, Signal};
use crate::adapter;
use crate::files::Rules;

/// Returns the members that lead from an export to its records.
fn path(signal: Signal) -> [&'static str; 3] {
    match signal {
        Signal::Logs => ["resourceLogs", "scopeLogs", "logRecords"],
        Signal::Metrics => ["resourceMetrics", "scopeMetrics", "metrics"],
        Signal::Traces => ["resourceSpans", "scopeSpans", "spans"],
    }
}

pub(super) fn is_export(signal: Signal, body: &Value) -> bool {
    let [resources, ..] = path(signal);
    // An exporter with nothing to send leaves the list out, as JSON of protobuf does with all that is empty.
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
    // Only spans lie in each other; a record of the other two names its call itself or belongs to none.
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
    let service = resource.text(&["service.name"]).unwrap_or_default();
    // Any program of the machine may export to this address.
    let Some(adapter) = adapter::exporter(service, &full_name) else { return Record::Foreign };
    // Metrics are sums of what events report one by one, and name no response: counted here, tokens would count twice.
    if signal == Signal::Metrics {
        return Record::Skipped;
    }
    if signal == Signal::Logs && adapter.is_program_log(attributes.text(&["event.name"]), &full_name) {
        return Record::Skipped;
    }
    // A prefix goes only if it is the name of an agent; any other dot is part of the record's own name.
    let name = full_name.split_once('.').filter(|(id, _)| Agent::parse(id).is_some());
    let name = name.map_or(full_name.as_str(), |(_, name)| name);
    let parent = item.get("parentSpanId").and_then(Value::as_str).unwrap_or_default();
    let own = item.get("spanId").and_then(Value::as_str).unwrap_or_default();
    let call = calls.get(own).or_else(|| calls.get(parent)).map(String::as_str);
    let mut writer =
        RecordWriter::new(rules, adapter.agent(), name, resource, &attributes, item, call, arrived);
    let understood = if signal == Signal::Traces {
        adapter.read_span(&mut writer)
    } else {
        adapter.read_export(&mut writer)
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
        // The body is the last choice: one agent repeats the name there, but it may be any text.
        Signal::Logs => attributes
            .text(&["event.name"])
            .or_else(|| text(item.get("eventName")))
            .or_else(|| text(item.get("body").and_then(|body| body.get("stringValue")))),
    };
    name.map(str::to_owned)
}
