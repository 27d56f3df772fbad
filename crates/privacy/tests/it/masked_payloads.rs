//! Masking inside payloads: a string is kept as masking leaves its text.

use agent_tracer_agent::Agent;
use agent_tracer_privacy::{Level, Source, mask};
use serde_json::{Value, json};

use crate::corpus::{lookalikes, secrets};
use crate::fixtures::{claude, reduced, run};

/// The spelling of a text with every character escaped that can be.
fn escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
    format!("\"{}\"", units.collect::<String>())
}

#[test]
fn a_secret_is_masked_wherever_a_string_is_kept_and_however_it_is_spelled() {
    for secret in secrets() {
        let plain = Value::from(secret.text.as_str()).to_string();
        for spelling in [plain.clone(), escaped(&secret.text), plain.replace('/', "\\/")] {
            for (place, members) in [
                ("/prompt", format!("\"prompt\":{spelling}")),
                ("/unknown", format!("\"unknown\":{spelling}")),
                ("/tool_input/command", format!("\"tool_input\":{{\"command\":{spelling}}}")),
                ("/tool_input/url", format!("\"tool_input\":{{\"url\":{spelling}}}")),
                ("/list/0", format!("\"list\":[{spelling}]")),
                ("/last_assistant_message", format!("\"last_assistant_message\":{spelling}")),
            ] {
                let kept =
                    reduced(&format!("{{{members}}}"), Source::Hook(Agent::CLAUDE_CODE), Level::Actions);
                let kept = kept.pointer(place).and_then(Value::as_str).expect("a kept string");
                assert_eq!(kept, mask(&secret.text), "line {} at {place}", secret.line);
            }
        }
    }
}

#[test]
fn no_secret_of_the_corpus_survives_at_any_level() {
    for secret in secrets() {
        let payload = json!({
            "hook_event_name": "PostToolUseFailure", "tool_name": "Read", "error": secret.text, "prompt": secret.text,
            "tool_input": {"command": secret.text, "content": secret.text, "file_path": secret.text, "name": secret.text},
            "compact_summary": secret.text, "delta": secret.text, "model": secret.text, "cwd": secret.text, "reason": secret.text,
            "nested": [{"tool_response": secret.text}],
        });
        for level in [Level::Metadata, Level::Actions, Level::Full] {
            let (_, out) = run(payload.to_string().as_bytes(), Source::Hook(Agent::CLAUDE_CODE), level);
            let out = String::from_utf8(out).expect("UTF-8");
            // Very short ones may be part of any word.
            for gone in
                secret.secrets.iter().filter(|gone| gone.len() >= 10 && !gone.contains(['\n', '\\', '"']))
            {
                assert!(!out.contains(gone.as_str()), "line {} at {level:?}: {out}", secret.line);
            }
        }
    }
}

#[test]
fn look_alikes_stay_in_payloads_too() {
    for (line, text) in lookalikes() {
        let kept = claude(&json!({"prompt": text, "unknown": text}));
        assert_eq!(kept["prompt"], json!(text), "line {line}");
        assert_eq!(kept["unknown"], json!(text), "line {line}");
    }
}

#[test]
fn long_names_of_members_are_masked_and_cut() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let kept = claude(&json!({token.as_str(): 1, "answers": {format!("x {token}"): 2}}));
    assert_eq!(kept, json!({"[masked:github-token]": 1, "answers": {"x [masked:github-token]": 2}}));
    let kept = claude(&json!({"n".repeat(5000): 1}));
    assert!(kept.as_object().expect("members").keys().all(|name| name.len() == 256));
}

#[test]
fn secrets_are_counted() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let count = |payload: Value| {
        run(payload.to_string().as_bytes(), Source::Hook(Agent::CLAUDE_CODE), Level::Actions).0.masked
    };
    assert_eq!(count(json!({"prompt": "nothing"})), 0);
    assert_eq!(count(json!({"prompt": format!("{token} {token}"), "other": format!("password={token}")})), 3);
    assert_eq!(count(json!({"tool_response": token})), 0);
}
