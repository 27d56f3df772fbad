//! Reads the rows of a rollout that matter for a compaction.

use agent_tracer_event::Millis;
use serde_json::Value;

use crate::compactions::{LineRead, Mark, Part, Piece};

/// Reads a row of a rollout.
pub(crate) fn read(row: &Value) -> LineRead {
    let at = row.get("timestamp").and_then(Value::as_str).and_then(Millis::parse);
    let payload = row.get("payload").unwrap_or(&Value::Null);
    let id = payload.get("id").and_then(Value::as_str).map(str::to_owned);
    let mut read = LineRead { id, at, ..LineRead::default() };
    match row.get("type").and_then(Value::as_str) {
        Some("compacted") => read.mark = Some(mark(payload)),
        Some("response_item") => {
            // The summary is written down as an answer too, just before the mark that holds it.
            let is_output =
                row.get("metadata").and_then(|it| it.get("compaction_output")) == Some(&Value::Bool(true));
            if !is_output {
                read.pieces.extend(piece(payload));
            }
        }
        _ => {}
    }
    read
}

fn mark(payload: &Value) -> Mark {
    let summary = payload.get("message").and_then(Value::as_str).filter(|text| !text.is_empty());
    let history = payload.get("replacement_history").and_then(Value::as_array);
    let mut pieces: Vec<Piece> = history.into_iter().flatten().filter_map(piece).collect();
    if let Some(summary) = summary {
        // The history repeats the summary as a message; it is read once, as the summary.
        pieces.retain(|piece| piece.text.as_deref() != Some(summary));
        pieces.push(message_piece(Part::Summary, summary));
    }
    Mark { replaced_by: Some(pieces), ..Mark::default() }
}

fn message_piece(part: Part, text: &str) -> Piece {
    Piece { part, bytes: text.len() as u64, text: Some(text.to_owned()), tool: None }
}

/// Reads one item of a conversation.
fn piece(item: &Value) -> Option<Piece> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let sized = |part: Part, of: Option<&Value>| Piece {
        part,
        bytes: of.map_or(0, |of| of.as_str().map_or_else(|| of.to_string().len(), str::len) as u64),
        text: None,
        tool: text("name").map(str::to_owned),
    };
    Some(match text("type")? {
        "message" => {
            let content = item.get("content").and_then(Value::as_array);
            let texts =
                content.into_iter().flatten().filter_map(|part| part.get("text").and_then(Value::as_str));
            let whole = texts.collect::<Vec<_>>().join("\n");
            let part = match text("role") {
                Some("assistant") => Part::Answer,
                Some("user") if is_typed(item) => Part::Prompt,
                _ => Part::Harness,
            };
            message_piece(part, &whole)
        }
        "reasoning" => sized(Part::Thought, item.get("summary")),
        "function_call" => sized(Part::Call, item.get("arguments")),
        "custom_tool_call" => sized(Part::Call, item.get("input")),
        "local_shell_call" | "web_search_call" | "tool_search_call" => sized(Part::Call, item.get("action")),
        "function_call_output" | "custom_tool_call_output" => sized(Part::Result, item.get("output")),
        "compaction" | "compaction_summary" | "context_compaction" => sized(Part::Summary, Some(item)),
        _ => sized(Part::Harness, Some(item)),
    })
}

/// Messages of the client itself have the role of the user too; where the row says which they are, that counts.
fn is_typed(item: &Value) -> bool {
    let kinds = item
        .get("internal_chat_message_metadata_passthrough")
        .and_then(|about| about.get("content_item_kinds"))
        .and_then(Value::as_array);
    kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind == "user.text"))
}
