//! A canary in every place of every result: it must not appear in the output.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source};
use serde_json::{Map, Value, json};

use crate::fixtures::{Case, all, reduced, run};

/// Capital letters and underscores: no id, no state, no model, no path.
const CANARY: &str = "CANARY_4711_SINGS";

/// A result body in a payload: how to reach it.
#[derive(Clone, Debug)]
enum Body {
    Member(&'static str),
    Call(usize, String),
}

fn bodies(case: &Case) -> Vec<Body> {
    let payload = &case.payload;
    let mut found = Vec::new();
    for name in ["tool_response", "tool_output", "result", "stdout"] {
        if payload.get(name).is_some() {
            found.push(Body::Member(name));
        }
    }
    if payload["error"].is_string() && !matches!(case.event(), "StopFailure" | "PostModelRequest") {
        found.push(Body::Member("error"));
    }
    if payload["agent_type"] == "" && payload.get("last_assistant_message").is_some() {
        found.push(Body::Member("last_assistant_message"));
    }
    if case.event() == "ElicitationResult" && payload.get("content").is_some() {
        found.push(Body::Member("content"));
    }
    if payload.get("delta").is_some() {
        found.push(Body::Member("delta"));
    }
    if let Some(calls) = payload["tool_calls"].as_array() {
        for (number, call) in calls.iter().enumerate() {
            for name in ["tool_response"] {
                if call.get(name).is_some() {
                    found.push(Body::Call(number, name.to_owned()));
                }
            }
        }
    }
    found
}

fn body_mut<'a>(payload: &'a mut Value, body: &Body) -> &'a mut Value {
    match body {
        Body::Member(name) => &mut payload[*name],
        Body::Call(number, name) => &mut payload["tool_calls"][*number][name],
    }
}

/// All copies of `value` with one leaf or one name replaced by the canary.
fn with_canary(value: &Value) -> Vec<Value> {
    let mut copies = vec![json!(CANARY)];
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                copies.extend(with_canary(item).into_iter().map(|copy| {
                    let mut items = items.clone();
                    items[at] = copy;
                    Value::Array(items)
                }));
            }
            let mut longer = items.clone();
            longer.push(json!(CANARY));
            copies.push(Value::Array(longer));
        }
        Value::Object(members) => {
            for (name, member) in members {
                copies.extend(with_canary(member).into_iter().map(|copy| {
                    let mut members = members.clone();
                    members.insert(name.clone(), copy);
                    Value::Object(members)
                }));
                let renamed = members.iter().map(|(other, member)| {
                    let name = if other == name { format!("{CANARY}_{other}") } else { other.clone() };
                    (name, member.clone())
                });
                copies.push(Value::Object(renamed.collect::<Map<String, Value>>()));
            }
            let mut longer = members.clone();
            longer.insert(CANARY.to_owned(), json!({CANARY: [CANARY, {"status": CANARY, "id": CANARY, "usage": {"input_tokens": CANARY}}]}));
            copies.push(Value::Object(longer));
        }
        Value::String(text) => copies.push(json!(format!("{text}\n{CANARY}"))),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
    copies
}

/// Returns `true` if the body keeps its first line, where a canary may survive.
fn keeps_first_line(case: &Case, body: &Body) -> bool {
    matches!(body, Body::Member("error")) && case.payload["tool_name"] != "Bash"
}

fn assert_silent(input: &str, source: Source, case: &str) {
    for level in [Level::Metadata, Level::Actions] {
        let (reduction, out) = run(input.as_bytes(), source, level);
        assert_eq!(reduction.fault, None, "{case}");
        let out = String::from_utf8(out).expect("UTF-8");
        assert!(!out.contains("CANARY"), "{case} at {level:?}:\n  in  {input}\n  out {out}");
    }
    let mut full = reduced(input, source, Level::Full);
    without_excerpts(&mut full);
    let full = full.to_string();
    assert!(
        !full.contains("CANARY"),
        "{case} at full, outside of head and tail:\n  in  {input}\n  out {full}"
    );
}

/// Takes out what level `full` may keep of a body.
fn without_excerpts(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let body = members.contains_key("outputBytes") || members.contains_key("bytes");
            if body {
                members.remove("head");
                members.remove("tail");
            }
            members.remove("delta");
            members.values_mut().for_each(without_excerpts);
        }
        Value::Array(items) => items.iter_mut().for_each(without_excerpts),
        _ => {}
    }
}

#[test]
fn no_canary_in_a_result_reaches_the_output() {
    let mut seen = std::collections::BTreeSet::new();
    let mut tried = 0;
    for case in all() {
        for body in bodies(&case) {
            let mut payload = case.payload.clone();
            let original = body_mut(&mut payload, &body).clone();
            // The same structure again and again teaches nothing.
            let shape =
                format!("{:?} {body:?} {} {:?}", case.event(), case.payload["tool_name"], shape(&original));
            if !seen.insert(shape) {
                continue;
            }
            for copy in with_canary(&original) {
                if keeps_first_line(&case, &body) && !copy.as_str().is_some_and(|text| text.contains('\n')) {
                    continue;
                }
                *body_mut(&mut payload, &body) = copy;
                assert_silent(&payload.to_string(), case.source, &case.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "only {tried} canaries");
}

/// The names and types of a value, without its texts.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) => json!("s"),
        Value::Array(items) => Value::Array(items.iter().map(shape).collect()),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), shape(member))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn a_result_under_an_escaped_or_repeated_name_is_still_a_result() {
    let body = json!({"stdout": CANARY, "x": [CANARY]}).to_string();
    for event in ["PostToolUse", "PostToolUseFailure", "PostToolBatch", "SomethingNew"] {
        for name in [
            "tool_response",
            "tool_output",
            "tool_result",
            "toolUseResult",
            "result",
            "results",
            "output",
            "stdout",
            "stderr",
            "errors",
        ] {
            for spelled in spellings(name) {
                let own = format!("{spelled}:{body}");
                let text = format!("{spelled}:\"{CANARY}\"");
                for members in [
                    format!("{own},\"hook_event_name\":\"{event}\",\"tool_name\":\"Bash\""),
                    format!("\"hook_event_name\":\"{event}\",\"tool_name\":\"Bash\",{own}"),
                    format!("{own},{text},{own},\"tool_name\":\"Read\",\"tool_name\":\"Bash\""),
                    format!("\"nested\":{{\"a\":[{{{own}}}]}}"),
                    format!("\"tool_calls\":[{{{own},\"tool_name\":\"Read\"}},{{{text}}}]"),
                    format!("\"tool\\u005fcalls\":[{{{own}}}]"),
                    format!("\"nested\":{{\"tool_calls\":[{{\"x\":{{{own}}}}}]}}"),
                ] {
                    assert_silent(&format!("{{{members}}}"), Source::Hook(Agent::CLAUDE_CODE), &members);
                    assert_silent(&format!("{{{members}}}"), Source::Hook(Agent::CODEX), &members);
                }
            }
        }
    }
}

#[test]
fn an_error_is_silent_in_every_spelling_and_order() {
    for spelled in spellings("error") {
        for members in [
            format!(
                "{spelled}:\"{CANARY}\",\"hook_event_name\":\"PostToolUseFailure\",\"tool_name\":\"Bash\""
            ),
            format!(
                "\"hook_event_name\":\"PostToolUseFailure\",{spelled}:\"Exit code 1\\n{CANARY}\",\"tool_name\":\"Bash\""
            ),
            format!("\"hook_event_name\":\"StopFailure\",{spelled}:\"{CANARY}\""),
            format!("{spelled}:{{\"message\":\"{CANARY}\"}}"),
            format!("\"x\":{{{spelled}:\"{CANARY}\"}}"),
            format!("\"tool_calls\":[{{{spelled}:\"{CANARY}\"}}]"),
        ] {
            assert_silent(&format!("{{{members}}}"), Source::Hook(Agent::CLAUDE_CODE), &members);
        }
    }
}

#[test]
fn text_that_a_person_typed_into_a_form_is_dropped_in_every_order() {
    for spelled in spellings("content") {
        for value in [
            format!("{{\"colour\":\"{CANARY}\",\"{CANARY}\":1}}"),
            format!("\"{CANARY}\""),
            format!("[\"{CANARY}\"]"),
        ] {
            for members in [
                format!("{spelled}:{value},\"hook_event_name\":\"ElicitationResult\""),
                format!("\"hook_event_name\":\"ElicitationResult\",{spelled}:{value}"),
                format!(
                    "\"hook_event_name\":\"Elicitation\\u0052esult\",{spelled}:{value},{spelled}:{value}"
                ),
                format!(
                    "\"hook_event_name\":\"Stop\",{spelled}:{value},\"hook_event_name\":\"ElicitationResult\""
                ),
            ] {
                assert_silent(&format!("{{{members}}}"), Source::Hook(Agent::CLAUDE_CODE), &members);
            }
        }
    }
}

#[test]
fn the_summary_of_a_nameless_agent_is_silent_in_every_order() {
    for spelled in spellings("last_assistant_message") {
        for members in [
            format!("{spelled}:\"{CANARY}\",\"agent_type\":\"\""),
            format!("\"agent_type\":\"\",{spelled}:\"{CANARY}\""),
            format!("\"agent_type\":\"\",{spelled}:\"{CANARY}\",\"agent_type\":\"Explore\""),
            format!("\"agent\\u005ftype\":\"\",{spelled}:{{\"text\":\"{CANARY}\"}}"),
        ] {
            assert_silent(&format!("{{{members}}}"), Source::Hook(Agent::CLAUDE_CODE), &members);
        }
    }
}

#[test]
fn contents_of_files_are_silent_at_every_level() {
    for name in [
        "content",
        "old_string",
        "new_string",
        "oldString",
        "newString",
        "new_source",
        "old_source",
        "insert_text",
        "file_text",
        "patch",
    ] {
        for spelled in spellings(name) {
            for value in
                [format!("\"{CANARY}\""), format!("[\"{CANARY}\"]"), format!("{{\"{CANARY}\":\"{CANARY}\"}}")]
            {
                for input in [
                    format!("{{{spelled}:{value}}}"),
                    format!("{{\"edits\":[{{{spelled}:{value}}}]}}"),
                    format!("{{\"a\":{{\"b\":[[{{{spelled}:{value}}}]]}}}}"),
                ] {
                    for members in [
                        format!("\"tool_input\":{input}"),
                        format!("\"tool\\u005finput\":{input}"),
                        format!("\"tool_calls\":[{{\"tool_input\":{input}}}]"),
                    ] {
                        for level in [Level::Metadata, Level::Actions, Level::Full] {
                            let (reduction, out) = run(
                                format!("{{{members}}}").as_bytes(),
                                Source::Hook(Agent::CLAUDE_CODE),
                                level,
                            );
                            assert_eq!(reduction.fault, None);
                            let out = String::from_utf8(out).expect("UTF-8");
                            assert!(!out.contains("CANARY"), "{members} at {level:?}: {out}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_person_s_answers_are_silent_below_full() {
    for name in ["answers", "annotations"] {
        let members = format!(
            "\"tool_name\":\"AskUserQuestion\",\"tool_input\":{{\"{name}\":{{\"{CANARY}?\":\"{CANARY}\"}}}}"
        );
        for level in [Level::Metadata, Level::Actions] {
            let (_, out) = run(format!("{{{members}}}").as_bytes(), Source::Hook(Agent::CLAUDE_CODE), level);
            assert!(!String::from_utf8_lossy(&out).contains("CANARY"), "{members}");
        }
        let (_, out) =
            run(format!("{{{members}}}").as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Full);
        assert!(String::from_utf8_lossy(&out).contains("CANARY"), "{members}");
    }
}

/// The name as it is, and with escapes in it.
fn spellings(name: &str) -> [String; 3] {
    let first = name.chars().next().expect("a name") as u32;
    let all: String = name.chars().map(|character| format!("\\u{:04X}", character as u32)).collect();
    [format!("\"{name}\""), format!("\"\\u{first:04x}{}\"", &name[1..]), format!("\"{all}\"")]
}
