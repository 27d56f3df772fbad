//! The payloads that the bars are stated for, in the shape that Claude Code sends them.

use std::path::Path;

use serde_json::{Value, json};

/// A named payload.
pub(crate) struct Payload {
    /// Name in the report.
    pub(crate) name: &'static str,
    /// Exactly what goes to standard input.
    pub(crate) bytes: Vec<u8>,
}

fn base(event: &str, transcript: &Path) -> Value {
    json!({
        "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce",
        "transcript_path": transcript,
        "cwd": "/home/dev/project",
        "prompt_id": "6de0354e-e5da-44ac-9bff-ba6869b0008e",
        "permission_mode": "acceptEdits",
        "effort": {"level": "medium"},
        "hook_event_name": event,
    })
}

/// Text with line breaks and quotes, as command output has them.
fn text(bytes: usize) -> String {
    let line = "drwxr-xr-x  5 dev dev  4096 Nov 15 21:14 \"crates\" and some more words of output\n";
    let mut out = line.repeat(bytes / line.len() + 1);
    out.truncate(bytes);
    out
}

fn payload(name: &'static str, base: Value, own: Value) -> Payload {
    let mut whole = base;
    if let (Value::Object(all), Value::Object(own)) = (&mut whole, own) {
        all.extend(own);
    }
    let mut bytes = whole.to_string().into_bytes();
    bytes.push(b'\n');
    Payload { name, bytes }
}

fn result(name: &'static str, bytes: usize, transcript: &Path) -> Payload {
    payload(
        name,
        base("PostToolUse", transcript),
        json!({
            "tool_name": "Bash",
            "tool_input": {"command": "ls -la && git status", "description": "List files"},
            "tool_response": {"stdout": text(bytes), "stderr": "", "interrupted": false, "isImage": false},
            "tool_use_id": "toolu_40897adff8f74b43bf5153ec",
            "duration_ms": 26,
        }),
    )
}

/// The payloads of the bars: 2 KB in its three forms, 64 KB and 1 MB of result.
pub(crate) fn all(transcript: &Path) -> Vec<Payload> {
    vec![
        result("result 2 KB", 2048, transcript),
        payload(
            "Write 2 KB",
            base("PreToolUse", transcript),
            json!({
                "tool_name": "Write",
                "tool_input": {"file_path": "/home/dev/project/src/lib.rs", "content": text(2048)},
                "tool_use_id": "toolu_40897adff8f74b43bf5153ec",
            }),
        ),
        payload("prompt 2 KB", base("UserPromptSubmit", transcript), json!({"prompt": text(2048)})),
        result("result 64 KB", 64 << 10, transcript),
        result("result 1 MB", 1 << 20, transcript),
    ]
}
