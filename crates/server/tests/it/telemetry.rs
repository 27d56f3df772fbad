//! OpenTelemetry, in both forms.

use std::io::Write;
use std::sync::atomic::Ordering;

use agent_tracer_event::Channel;
use agent_tracer_ledger::Verdict;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::client::Answer;
use crate::world::{TOKEN, World};

/// The captured records, put back into exports.
fn exports() -> Vec<(&'static str, Value)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/claude-code/otel-2.1.325/examples.jsonl");
    let text = std::fs::read_to_string(path).expect("fixtures");
    text.lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).expect("json");
            // The capture says where it left attributes out.
            if let Some(list) = record["item"]["attributes"].as_array_mut() {
                list.retain(Value::is_object);
            }
            let (path, outer, middle) = match record["signal"].as_str().expect("a signal") {
                "logRecords" => ("/v1/logs", "resourceLogs", "scopeLogs"),
                "spans" => ("/v1/traces", "resourceSpans", "scopeSpans"),
                _ => ("/v1/metrics", "resourceMetrics", "scopeMetrics"),
            };
            let inner = record["signal"].as_str().unwrap();
            let scope = json!({"scope": record["scope"], inner: [record["item"]]});
            (path, json!({outer: [{"resource": record["resource"], middle: [scope]}]}))
        })
        .collect()
}

/// Writes an export as protobuf. Only what the captured ones hold.
mod protobuf {
    use serde_json::Value;

    fn varint(out: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            out.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    fn bytes(out: &mut Vec<u8>, number: u64, inner: &[u8]) {
        varint(out, number << 3 | 2);
        varint(out, inner.len() as u64);
        out.extend_from_slice(inner);
    }

    fn fixed(out: &mut Vec<u8>, number: u64, value: [u8; 8]) {
        varint(out, number << 3 | 1);
        out.extend_from_slice(&value);
    }

    fn whole(value: &Value) -> i64 {
        value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
    }

    fn any(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            match name.as_str() {
                "stringValue" => bytes(&mut out, 1, value.as_str().unwrap().as_bytes()),
                "boolValue" => out.extend([2 << 3, u8::from(value.as_bool().unwrap())]),
                "intValue" => {
                    out.push(3 << 3);
                    varint(&mut out, whole(value).cast_unsigned());
                }
                "doubleValue" => fixed(&mut out, 4, value.as_f64().unwrap().to_le_bytes()),
                "arrayValue" => {
                    let mut list = Vec::new();
                    for item in value["values"].as_array().into_iter().flatten() {
                        bytes(&mut list, 1, &any(item));
                    }
                    bytes(&mut out, 5, &list);
                }
                other => panic!("{other}"),
            }
        }
        out
    }

    fn attributes(out: &mut Vec<u8>, number: u64, list: &Value) {
        for item in list.as_array().into_iter().flatten() {
            let mut pair = Vec::new();
            bytes(&mut pair, 1, item["key"].as_str().unwrap().as_bytes());
            bytes(&mut pair, 2, &any(&item["value"]));
            bytes(out, number, &pair);
        }
    }

    fn id(text: &Value) -> Vec<u8> {
        let digits: Vec<u8> = text
            .as_str()
            .unwrap_or_default()
            .chars()
            .map(|digit| digit.to_digit(16).unwrap() as u8)
            .collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    fn record(path: &str, item: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        let time =
            |out: &mut Vec<u8>, number, name: &str| fixed(out, number, whole(&item[name]).to_le_bytes());
        match path {
            "/v1/logs" => {
                time(&mut out, 1, "timeUnixNano");
                time(&mut out, 11, "observedTimeUnixNano");
                bytes(&mut out, 5, &any(&item["body"]));
                attributes(&mut out, 6, &item["attributes"]);
                for (number, name) in [(9, "traceId"), (10, "spanId")] {
                    if item[name].is_string() {
                        bytes(&mut out, number, &id(&item[name]));
                    }
                }
                if let Some(name) = item["eventName"].as_str() {
                    bytes(&mut out, 12, name.as_bytes());
                }
            }
            "/v1/traces" => {
                bytes(&mut out, 1, &id(&item["traceId"]));
                bytes(&mut out, 2, &id(&item["spanId"]));
                if item["parentSpanId"].is_string() {
                    bytes(&mut out, 4, &id(&item["parentSpanId"]));
                }
                bytes(&mut out, 5, item["name"].as_str().unwrap().as_bytes());
                time(&mut out, 7, "startTimeUnixNano");
                time(&mut out, 8, "endTimeUnixNano");
                attributes(&mut out, 9, &item["attributes"]);
                let mut status = Vec::new();
                if let Some(code) = item["status"]["code"].as_u64() {
                    status.extend([3 << 3, code as u8]);
                }
                bytes(&mut out, 15, &status);
            }
            _ => bytes(&mut out, 1, item["name"].as_str().unwrap().as_bytes()),
        }
        out
    }

    pub(super) fn export(path: &str, export: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        for resource in export.as_object().unwrap().values().next().unwrap().as_array().unwrap() {
            let mut one = Vec::new();
            let mut about = Vec::new();
            attributes(&mut about, 1, &resource["resource"]["attributes"]);
            bytes(&mut one, 1, &about);
            for scope in resource.as_object().unwrap().values().filter_map(Value::as_array).flatten() {
                let mut records = Vec::new();
                for item in scope.as_object().unwrap().values().filter_map(Value::as_array).flatten() {
                    bytes(&mut records, 2, &record(path, item));
                }
                bytes(&mut one, 2, &records);
            }
            bytes(&mut out, 1, &one);
        }
        out
    }
}

fn send(world: &World, path: &str, kind: &str, body: Vec<u8>) -> Answer {
    world.ask("POST", path).bearer(TOKEN).body(kind, body).send()
}

fn entries(world: &World) -> Vec<Value> {
    let mut entries: Vec<Value> =
        world.memory.entries().iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    entries.sort_by_key(Value::to_string);
    entries
}

#[test]
fn both_forms_of_the_captured_telemetry_say_the_same() {
    let (one, two) = (World::new(), World::new());
    let exports = exports();
    assert!(exports.len() > 10);
    for (path, export) in &exports {
        let json = send(&one, path, "application/json", export.to_string().into_bytes());
        assert_eq!((json.status, json.text().as_str()), (200, "{}"), "{export}");
        let packed = send(&two, path, "application/x-protobuf", protobuf::export(path, export));
        assert_eq!((packed.status, packed.body.len()), (200, 0), "{export}");
        assert_eq!(packed.header("content-type"), "application/x-protobuf");
    }
    assert!(!entries(&one).is_empty());
    for (json, packed) in entries(&one).into_iter().zip(entries(&two)) {
        assert_eq!(json, packed);
    }
    assert_eq!(entries(&one).len(), entries(&two).len());
    let skipped = |world: &World| world.memory.skipped.load(Ordering::SeqCst);
    assert_eq!(skipped(&one), skipped(&two));
    assert!(one.memory.brought.lock().unwrap().iter().all(|observed| observed.channel == Channel::Otlp));
}

#[test]
fn an_export_that_is_sent_again_is_known() {
    let world = World::new();
    let logs: Vec<Value> =
        exports().into_iter().filter(|(path, _)| *path == "/v1/logs").map(|(_, export)| export).collect();
    for _ in 0..2 {
        for export in &logs {
            send(&world, "/v1/logs", "application/json", export.to_string().into_bytes());
        }
    }
    let names: Vec<String> =
        world.memory.brought.lock().unwrap().iter().map(|observed| observed.name.clone()).collect();
    let (first, second) = names.split_at(names.len() / 2);
    assert!(!first.is_empty());
    assert_eq!(first, second);
}

#[test]
fn compressed_exports_are_read() {
    let world = World::new();
    let (path, export) = exports().into_iter().find(|(path, _)| *path == "/v1/logs").unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(export.to_string().as_bytes()).unwrap();
    let ask = world.ask("POST", path).bearer(TOKEN).header("Content-Encoding", "gzip");
    assert_eq!(ask.body("application/json", encoder.finish().unwrap()).send().status, 200);
}

#[test]
fn foreign_telemetry_is_refused_with_a_reason() {
    let world = World::new();
    let foreign = json!({"resourceLogs": [{"resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "postgres"}}]},
        "scopeLogs": [{"logRecords": [{"body": {"stringValue": "hello"}}, 7]}]}]});
    let answer = send(&world, "/v1/logs", "application/json", foreign.to_string().into_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["partialSuccess"]["rejectedLogRecords"], "2");
    let verdicts = world.memory.verdicts();
    assert!(matches!(&verdicts[..], [Verdict::Refused(_), Verdict::Malformed(_)]), "{verdicts:?}");
    let record = json!({"resourceLogs": [{"resource": foreign["resourceLogs"][0]["resource"],
        "scopeLogs": [{"logRecords": [{"body": {"stringValue": "hello"}}]}]}]});
    let packed = send(&world, "/v1/logs", "application/x-protobuf", protobuf::export("/v1/logs", &record));
    assert_eq!(
        packed.body[..4],
        [0x0a, packed.body.len() as u8 - 2, 0x08, 1],
        "partial success, one refused"
    );
}

#[test]
fn what_is_no_export_is_an_error_in_the_form_of_the_request() {
    let world = World::new();
    for body in ["{", "[1]", "{\"a\":1}", "\"x\""] {
        let json = send(&world, "/v1/logs", "application/json", body.into());
        assert_eq!(json.status, 400, "{body}");
        json.wrong();
    }
    let packed = send(&world, "/v1/traces", "application/x-protobuf", vec![0x0a, 0xff]);
    assert_eq!((packed.status, packed.header("content-type")), (400, "application/x-protobuf"));
    assert_eq!(packed.body[..2], [0x08, 3], "a status of the code for a bad argument");
    assert_eq!(send(&world, "/v1/logs", "text/plain", b"x".to_vec()).status, 415);
    assert_eq!(
        send(&world, "/v1/logs", "application/x-protobuf", Vec::new()).status,
        200,
        "an empty export is one"
    );
    assert_eq!(send(&world, "/v1/logs", "application/json", b"{}".to_vec()).status, 200);
}

#[test]
fn telemetry_of_an_excluded_session_is_refused() {
    let world = World::new();
    let (path, export) = exports()
        .into_iter()
        .find(|(path, export)| {
            *path == "/v1/logs"
                && send(&world, path, "application/json", export.to_string().into_bytes()).status == 200
                && !world.memory.entries().is_empty()
        })
        .unwrap();
    let session = world.memory.entries()[0].task.runtime_session.clone();
    world.conf("exclude /p/**\n");
    let ensure = json!({"runtimeSource": "claude_code", "runtimeSessionId": session, "workspacePath": "/p"});
    world.post("/ingest/v1/sessions/ensure", &ensure);
    let answer = send(&world, path, "application/json", export.to_string().into_bytes());
    assert_eq!(answer.json()["partialSuccess"]["rejectedLogRecords"], "1");
}
