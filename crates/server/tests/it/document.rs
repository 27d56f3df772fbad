//! Every answer fits the schema that the OpenAPI document gives it, over the captured sessions of the clients and over
//! posted events with words of their sender.

use std::collections::BTreeSet;

use agent_tracer_event::attributes;
use serde_json::{Value, json};

use crate::ledger::Real;
use crate::world::TOKEN;

/// A description that answers are held to.
struct Document(Value);

impl Document {
    /// Adds what in a value does not fit a schema, with its place.
    fn compare(&self, schema: &Value, value: &Value, place: &str, faults: &mut BTreeSet<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.0.pointer(reference.trim_start_matches('#')).expect("a schema");
            return self.compare(target, value, place, faults);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.compare(part, value, place, faults);
        }
        let choices = ["anyOf", "oneOf"].iter().find_map(|name| schema[*name].as_array());
        if let Some(choices) = choices {
            let misfits = choices.iter().map(|choice| {
                let mut misfits = BTreeSet::new();
                self.compare(choice, value, place, &mut misfits);
                misfits
            });
            let misfits: Vec<_> = misfits.collect();
            if misfits.iter().all(|misfits| !misfits.is_empty()) {
                faults.extend(misfits.into_iter().flatten());
            }
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(only) => vec![only],
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if !types.is_empty() && !types.iter().any(|name| is_of(name, value)) {
            faults.insert(format!("{place}: {value} is not of type {types:?}"));
            return;
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            faults.insert(format!("{place}: {value} is not listed"));
        }
        match value {
            Value::Object(members) => {
                for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if !members.contains_key(name) {
                        faults.insert(format!("{place}: `{name}` is missing"));
                    }
                }
                for (name, value) in members {
                    let inner = match &schema["properties"][name] {
                        Value::Null => &schema["additionalProperties"],
                        declared => declared,
                    };
                    if inner.is_object() {
                        self.compare(inner, value, &format!("{place}.{name}"), faults);
                    }
                }
            }
            Value::Array(items) if schema["items"].is_object() => {
                for item in items {
                    self.compare(&schema["items"], item, &format!("{place}[]"), faults);
                }
            }
            _ => {}
        }
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        other => panic!("a type that is not known: {other}"),
    }
}

/// Posts events whose words are not ours, in every attribute that lists words.
fn post_foreign_words(real: &Real) {
    let listed = attributes::all().filter(|attribute| attribute.words.is_some());
    let foreign: serde_json::Map<String, Value> =
        listed.map(|attribute| (attribute.key.to_owned(), json!("foreign"))).collect();
    assert!(foreign.len() >= 7, "{foreign:?}");
    let event = |id: &str, kind: &str, more: Value| {
        let mut metadata = foreign.clone();
        metadata.extend(more.as_object().cloned().unwrap_or_default());
        json!({"id": id, "kind": kind, "runtimeSource": "codex", "runtimeSessionId": "foreign",
            "metadata": metadata})
    };
    let call = |tool: &str| json!({"toolName": tool, "toolUseId": tool, "durationSource": "a watch"});
    let rule = json!({"rulePolicy": "agent_tracer", "ruleId": "r", "ruleOutcome": "sing", "ruleStatus": "loud",
        "ruleDecision": "sing", "ruleBasis": "mood", "ruleSource": "a friend", "severity": "grave"});
    let events = json!({"events": [
        event("1", "terminal.command", call("Bash")),
        event("2", "tool.used", call("Read")),
        event("3", "tool.used", call("WebFetch")),
        event("4", "todo.logged", json!({"toolName": "TodoWrite", "todoId": "t", "subject": "s", "todoState": "parked"})),
        event("5", "question.logged", json!({"questionPhase": "pondered"})),
        event("6", "permission.request", json!({"toolName": "Bash", "decision": "later"})),
        event("7", "rule.logged", rule),
        event("8", "session.ended", json!({"completeTask": false})),
        event("9", "some.kind", json!({})),
    ]});
    let answer = real.post("/ingest/v1/events", &events).json();
    assert_eq!(answer["accepted"], 9, "{answer}");
}

#[test]
fn every_answer_fits_the_document() {
    let real = Real::new();
    for scenario in agent_tracer_testkit::scenarios() {
        real.record(scenario.with_telemetry().observed(None));
        real.record(scenario.decided());
    }
    post_foreign_words(&real);
    let document = Document(real.get("/api/v1/openapi.json"));
    let mut tasks: Vec<String> = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = real.get(&format!("/api/v1/tasks?limit=200&since=2020-01-01{cursor}"));
        tasks.extend(
            page["items"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(tasks.len() > 20, "{}", tasks.len());
    // A few tasks of every part of the captures: all of them over HTTP take minutes. The newest is the one of foreign words.
    let step = tasks.len().div_ceil(12);
    let tasks: Vec<String> = tasks.into_iter().step_by(step).collect();
    let mut faults = BTreeSet::new();
    let mut answers = 0;
    for (path, item) in document.0["paths"].as_object().unwrap() {
        let operation = &item["get"];
        let content = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        if !operation.is_object() || !content.is_object() {
            continue;
        }
        let ids: Vec<String> = match (path.contains("/tasks/{id}"), path.contains("{id}")) {
            (true, _) => tasks.clone(),
            (false, true) => rows(&real, &tasks),
            (false, false) => vec![String::new()],
        };
        for id in ids {
            // A search needs words, and the rest of the history is older than what is shown by default.
            let since = match path.as_str() {
                "/api/v1/search" => "?q=a&since=2020-01-01",
                _ if takes_since(operation) => "?since=2020-01-01",
                _ => "",
            };
            let asked = format!("{}{since}", path.replace("{id}", &id));
            let answer = real.ask("GET", &asked).bearer(TOKEN).send();
            if answer.status == 404 {
                continue;
            }
            assert_eq!(answer.status, 200, "{asked} {}", answer.text());
            document.compare(content, &answer.json(), path, &mut faults);
            answers += 1;
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(answers > tasks.len() * 10, "{answers}");
}

fn takes_since(operation: &Value) -> bool {
    operation["parameters"].as_array().into_iter().flatten().any(|param| param["name"] == "since")
}

/// The first rows of every task.
fn rows(real: &Real, tasks: &[String]) -> Vec<String> {
    let pages = tasks.iter().map(|task| real.get(&format!("/api/v1/tasks/{task}/timeline?limit=2")));
    let ids = pages.flat_map(|page| page["items"].as_array().cloned().unwrap_or_default());
    ids.filter_map(|row| row["id"].as_str().map(str::to_owned)).collect()
}
