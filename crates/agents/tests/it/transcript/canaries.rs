//! Nothing of a result, an attachment, a hook's output or a system prompt is ever said below `full`.
//!
//! Every text in such a place is replaced by a canary, in every row of every captured file; then the file is read and
//! everything that was said is searched for it.

use serde_json::{Map, Value};

use super::*;

const CANARY: &str = "CANARY7f3a";

/// Puts a canary into every text and every name below a value.
fn poison(value: &mut Value, number: &mut u32) {
    match value {
        Value::String(text) => {
            *number += 1;
            // Behind words that the table of errors looks for, so that a first line would carry it.
            *text = format!("{CANARY}-{number} {text} {CANARY}");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, number)),
        Value::Object(members) => {
            let old = std::mem::take(members);
            for (name, mut member) in old {
                poison(&mut member, number);
                members.insert(name, member);
            }
            members.insert(format!("{CANARY}-name"), Value::from(CANARY));
        }
        Value::Number(_) => *value = Value::from(CANARY),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Members that hold bodies, wherever they stand in a row of their type.
fn poison_row(row: &mut Map<String, Value>, number: &mut u32) {
    let kind = row.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "user" => {
            if let Some(result) = row.get_mut("toolUseResult") {
                poison_result(result, number);
            }
            let blocks = row.get_mut("message").and_then(|message| message.get_mut("content"));
            for block in blocks.and_then(Value::as_array_mut).into_iter().flatten() {
                if block["type"] == "tool_result" {
                    poison(&mut block["content"], number);
                }
            }
            let outputs = ["<local-command-stdout>", "<local-command-caveat>", "<bash-stdout>"];
            if let Some(Value::String(text)) =
                row.get_mut("message").and_then(|message| message.get_mut("content"))
                && outputs.iter().any(|tag| text.starts_with(tag))
            {
                text.push_str(CANARY);
            }
            if row.get("isMeta") == Some(&Value::Bool(true)) {
                let content = row.get_mut("message").and_then(|message| message.get_mut("content"));
                match content {
                    Some(Value::String(text)) => text.push_str(CANARY),
                    Some(Value::Array(blocks)) => {
                        for block in blocks {
                            if let Some(Value::String(text)) = block.get_mut("text") {
                                text.push_str(CANARY);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        "attachment" => {
            let mut names = vec!["type", "hookName", "hookEvent", "toolUseID", "decision"];
            if let Some(Value::Object(attachment)) = row.get_mut("attachment") {
                // What a person typed while a turn ran is a prompt.
                names.extend((attachment["type"] == "queued_command").then_some("prompt"));
                for (name, member) in attachment.iter_mut() {
                    // A command keeps the name of its program; what it is called with goes.
                    if name == "command" {
                        *member = Value::from(format!("/bin/check --token {CANARY}"));
                    } else if !names.contains(&name.as_str()) {
                        poison(member, number);
                    }
                }
            }
            if let Some(rendered) = row.get_mut("rendered") {
                poison(rendered, number);
            }
        }
        "api-request" | "api-request-blob" | "api-request-shape" | "file-history-snapshot" | "tools-used" => {
            for (name, member) in row.iter_mut() {
                if !["type", "sessionId", "id", "agentId", "timestamp"].contains(&name.as_str()) {
                    poison(member, number);
                }
            }
        }
        "system" => {
            for name in ["content", "hookErrors", "hookInfos", "hookAdditionalContext", "promptSubmitEnding"]
            {
                let kept = name == "promptSubmitEnding";
                match row.get_mut(name) {
                    Some(ending) if kept => ending["ending"]["reason"] = Value::from(CANARY),
                    Some(member) => poison(member, number),
                    None => {}
                }
            }
            if let Some(Value::Object(error)) = row.get_mut("error") {
                for name in ["message", "formatted", "rateLimits", "noResponse"] {
                    if let Some(member) = error.get_mut(name) {
                        poison(member, number);
                    }
                }
            }
        }
        "assistant" => {
            let blocks = row.get_mut("message").and_then(|message| message.get_mut("content"));
            for block in blocks.and_then(Value::as_array_mut).into_iter().flatten() {
                if block["type"] == "thinking" {
                    poison(&mut block["thinking"], number);
                    poison(&mut block["signature"], number);
                }
            }
        }
        _ => {}
    }
}

/// In a structured result the ids and states that may stay are left whole; everything else is poisoned.
fn poison_result(result: &mut Value, number: &mut u32) {
    let Value::Object(members) = result else { return poison(result, number) };
    let kept =
        ["agentId", "agent_id", "status", "type", "backgroundTaskId", "taskId", "resolvedModel", "mode"];
    for (name, member) in members.iter_mut() {
        match member {
            Value::Object(_) if name == "task" || name == "statusChange" || name == "file" => {
                poison_result(member, number)
            }
            Value::Bool(_) | Value::Number(_) | Value::Null => {}
            _ if kept.contains(&name.as_str()) || name == "id" || name == "from" || name == "to" => {}
            _ => poison(member, number),
        }
    }
    members.insert(format!("{CANARY}-name"), Value::from(CANARY));
}

fn poisoned(captured: &Captured) -> Vec<u8> {
    let mut number = 0;
    let mut content = Vec::new();
    for line in captured.content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut row: Value = serde_json::from_slice(line).unwrap();
        poison_row(row.as_object_mut().unwrap(), &mut number);
        content.extend_from_slice(row.to_string().as_bytes());
        content.push(b'\n');
    }
    assert!(number > 0, "{}", captured.path.display());
    content
}

fn said(captured: &Captured, content: &[u8], level: Level) -> String {
    let actual = read_in_chunks(&captured.rows().unwrap(), content, level, &[]);
    assert_eq!(actual.counts().malformed, 0);
    let state = serde_json::to_string(&actual.state).unwrap();
    format!("{}{:?}{state}", serde_json::to_string(&actual.entries()).unwrap(), actual.unrecognised())
}

/// Says where a canary is, in a few words.
fn found(text: &str) -> Option<String> {
    let (before, after) = text.split_once(CANARY)?;
    let before: Vec<char> = before.chars().rev().take(160).collect();
    Some(before.into_iter().rev().chain(CANARY.chars()).chain(after.chars().take(80)).collect())
}

#[test]
fn no_canary_in_a_result_or_a_context_is_ever_said() {
    for captured in everything().iter().filter(|captured| captured.rows().is_some()) {
        // A prompt that a hook blocked is all that this file holds.
        if captured.scenario.ends_with("ctl_ups_block") {
            continue;
        }
        let content = poisoned(captured);
        for level in [Level::Metadata, Level::Actions] {
            let text = without_first_lines(&said(captured, &content, level));
            assert_eq!(found(&text), None, "{} at {level:?}", captured.path.display());
        }
    }
}

/// Takes the first lines of errors out, which privacy lets through for tools that are no shell.
fn without_first_lines(text: &str) -> String {
    let mut parts = text.split("\"error\":\"");
    let mut stripped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find("\",\"").or_else(|| part.find("\"}")).unwrap_or(0);
        stripped.push_str(part.split_at(end).1);
    }
    stripped
}

#[test]
fn at_full_the_head_of_a_result_is_said_so_the_search_would_find_it() {
    let captured = &scenario("2.1.325/bash_ok")[0];
    let text = said(captured, &poisoned(captured), Level::Full);
    assert!(text.contains(&format!("\"outputHead\":\"{CANARY}")), "{text}");
}

#[test]
fn a_canary_in_the_arguments_of_an_unknown_tool_is_masked_like_a_secret() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let prompt = format!(
        r#"{{"type":"user","uuid":"u1","sessionId":"s","promptId":"p","timestamp":"2026-11-15T21:00:00.000Z","cwd":"/home/{secret}","gitBranch":"{secret}","message":{{"role":"user","content":"use {secret}"}}}}"#
    );
    let call = format!(
        r#"{{"type":"assistant","uuid":"u2","sessionId":"s","timestamp":"2026-11-15T21:00:00.000Z","requestId":"{secret}","message":{{"id":"{secret}","model":"{secret}","stop_reason":"end_turn","content":[{{"type":"tool_use","id":"{secret}","name":"{secret}","input":{{"command":"echo {secret}","{secret}":"{secret}"}}}},{{"type":"text","text":"here: {secret}"}},{{"type":"thinking","thinking":"{secret}"}}],"usage":{{"output_tokens":1,"service_tier":"{secret}"}}}}}}"#
    );
    let title = format!(r#"{{"type":"custom-title","sessionId":"s","customTitle":"{secret}"}}"#);
    let unknown = format!(r#"{{"type":"{secret}","sessionId":"s"}}"#);
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let actual = read_lines(&[&prompt, &call, &title, &unknown], level);
        let text =
            serde_json::to_string(&actual.entries()).unwrap() + &format!("{:?}", actual.unrecognised());
        let state = serde_json::to_string(&actual.state).unwrap();
        assert!(!text.contains(&secret), "at {level:?}: {text}");
        assert!(!state.contains(&secret), "at {level:?}: {state}");
    }
}
