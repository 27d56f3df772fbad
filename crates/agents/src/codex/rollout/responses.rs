//! `response_item`: the conversation as the model has it. Of all of it, calls and their outputs are read.

use agent_tracer_event::Unrecognised;

use super::writer::RolloutWriter;
use super::{calls, head, items, messages, outputs};
use crate::codex::wire::Members;

/// Reads one item of the conversation.
pub(super) fn response(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    // The turn stands in a corner of the row.
    let passed = item.members("internal_chat_message_metadata_passthrough");
    if let Some(turn) = passed.and_then(|passed| passed.word("turn_id")) {
        writer.turn = Some(writer.rules.word(&turn));
    }
    let kind = item.word("type").unwrap_or_default();
    match kind.as_ref() {
        "function_call" => calls::function(writer, item),
        "custom_tool_call" => calls::custom(writer, item),
        "local_shell_call" => calls::local_shell(writer, item),
        "tool_search_call" => calls::tool_search(writer, item),
        "function_call_output" | "custom_tool_call_output" => outputs::returned(writer, item, &kind),
        "tool_search_output" => outputs::tools_found(writer, item),
        "web_search_call" => {
            messages::flush_said(writer);
            items::web_search(writer, item, "web_search_call");
        }
        "image_generation_call" => {
            messages::flush_said(writer);
            items::image_generation(writer, item, "image_generation_call");
        }
        "agent_message" => messages::mail(writer, item),
        other if head::says_nothing("response_item", Some(other)) => {}
        other => {
            let other = writer.rules.word(other);
            writer.unknown(Unrecognised::Row(format!("response_item/{other}")));
        }
    }
}
