//! Reads the rows of a transcript that matter for a compaction.

use agent_tracer_event::Millis;
use serde_json::Value;

use crate::compactions::{LineRead, Mark, Part, Piece};

/// Reads a row of a transcript.
pub(crate) fn read(row: &Value) -> LineRead {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let mut read = LineRead {
        id: text("uuid").map(str::to_owned),
        at: text("timestamp").and_then(Millis::parse),
        ..LineRead::default()
    };
    match (text("type"), text("subtype")) {
        (Some("system"), Some("compact_boundary")) => read.mark = Some(mark(row)),
        (Some("user"), _) => {
            let is = |name: &str| row.get(name) == Some(&Value::Bool(true));
            let part = match (is("isCompactSummary"), is("isMeta")) {
                (true, _) => Part::Summary,
                (false, true) => Part::Harness,
                (false, false) => Part::Prompt,
            };
            read.pieces = pieces(row, part);
        }
        // An error of the API is written in the model's place and is no answer of it.
        (Some("assistant"), _) if row.get("isApiErrorMessage") != Some(&Value::Bool(true)) => {
            read.pieces = pieces(row, Part::Answer);
        }
        _ => {}
    }
    read
}

fn mark(row: &Value) -> Mark {
    let about = row.get("compactMetadata");
    let number = |name: &str| about.and_then(|about| about.get(name)).and_then(Value::as_u64);
    let kept = about.and_then(|about| about.get("preservedMessages")).and_then(|kept| kept.get("uuids"));
    let kept = kept.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    Mark {
        trigger: about
            .and_then(|about| about.get("trigger"))
            .and_then(Value::as_str)
            // Shown as it is, so only the two words that the client has pass; the file is not trusted.
            .filter(|trigger| matches!(*trigger, "manual" | "auto"))
            .map(str::to_owned),
        pre_tokens: number("preTokens"),
        post_tokens: number("postTokens"),
        kept: kept.map(str::to_owned).collect(),
        replaced_by: None,
    }
}

/// Returns the pieces of a message; plain text is of this part.
fn pieces(row: &Value, plain: Part) -> Vec<Piece> {
    let content = row.get("message").and_then(|message| message.get("content"));
    let said = |part: Part, text: &str| Piece {
        part,
        bytes: text.len() as u64,
        text: Some(text.to_owned()),
        tool: None,
    };
    match content {
        Some(Value::String(text)) => vec![said(plain, text)],
        Some(Value::Array(blocks)) => blocks
            .iter()
            .filter_map(|block| {
                let text = |name: &str| block.get(name).and_then(Value::as_str);
                let sized = |part: Part, of: Option<&Value>| Piece {
                    part,
                    bytes: of.map_or(0, |of| of.to_string().len() as u64),
                    text: None,
                    tool: text("name").map(str::to_owned),
                };
                match text("type")? {
                    "text" => Some(said(plain, text("text").unwrap_or_default())),
                    "thinking" => Some(said(Part::Thought, text("thinking").unwrap_or_default())),
                    "tool_use" | "server_tool_use" => Some(sized(Part::Call, block.get("input"))),
                    "tool_result" => Some(sized(Part::Result, block.get("content"))),
                    _ => Some(sized(Part::Harness, Some(block))),
                }
            })
            .collect(),
        _ => Vec::new(),
    }
}
