//! `event_msg`: turns, counts and items, and in the legacy dialect what happened in a form of its own.

use agent_tracer_event::{CallState, Millis, Unrecognised};

use super::items::{self, End, duration};
use super::patches::patched;
use super::servers::{Mcp, mcp_ended};
use super::writer::RolloutWriter;
use super::{agents, context, head, messages, snapshot, turns, usage};
use crate::codex::wire::Members;

/// Reads one event.
pub(super) fn event(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let kind = event.word("type").unwrap_or_default();
    match kind.as_ref() {
        "task_started" | "turn_started" => turns::started(writer, event),
        "task_complete" | "turn_complete" => {
            messages::drop_said(writer, event.text("last_agent_message").as_deref());
            turns::completed(writer, event);
        }
        "turn_aborted" => {
            messages::drop_said(writer, None);
            turns::aborted(writer, event);
        }
        "token_count" => {
            // Rows of this type repeat, and after a compaction `last_token_usage` is made up: only the difference of
            // the totals may count, and only where no `token_usage_record` does.
            snapshot::token_count(writer, event);
            if let Some(info) = event.members("info") {
                usage::difference(writer, &info);
            }
        }
        "thread_settings_applied" => usage::settings(writer, event),
        "item_completed" => items::completed(writer, event),
        "user_message" => messages::user_event(writer, event),
        "agent_message" => messages::agent_event(writer, event),
        "agent_reasoning" | "agent_reasoning_raw_content" => messages::thought_event(writer, event),
        "patch_apply_end" => patch_end(writer, event),
        "mcp_tool_call_end" => mcp_end(writer, event),
        "web_search_end" => items::web_search(writer, event, "web_search_end"),
        "image_generation_end" => items::image_generation(writer, event, "image_generation_end"),
        "sub_agent_activity" => agents::activity(writer, event, "sub_agent_activity"),
        "context_compacted" => context::compacted_item(writer),
        "entered_review_mode" => context::review_began(writer, event),
        "exited_review_mode" => context::review_ended(writer, event),
        "thread_rolled_back" => context::rolled_back(writer, event),
        "error" | "stream_error" => {
            if let Some(turn) = writer.turn.clone() {
                turns::failure(writer, &turn, event, "error");
            }
        }
        other if head::says_nothing("event_msg", Some(other)) => {}
        other => {
            let other = writer.rules.word(other);
            writer.unknown(Unrecognised::Row(format!("event_msg/{other}")));
        }
    }
}

/// Returns when something ended that took this long.
fn ended(writer: &RolloutWriter<'_>, state: CallState, duration_ms: Option<u64>) -> End {
    // Neither dialect stores when something began: the start follows from the end.
    let started = duration_ms
        .and_then(|duration| i64::try_from(duration).ok())
        .map_or(writer.at, |duration| Millis(writer.at.0.saturating_sub(duration)));
    End { state, class: None, started, ended: writer.at, duration_ms }
}

fn patch_end(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let Some(id) = event.word("call_id").map(|id| writer.rules.word(&id)) else { return };
    let failed = event.truth("success") == Some(false) || event.word("status").as_deref() == Some("failed");
    let declined = event.word("status").as_deref() == Some("declined");
    let state = match (declined, failed) {
        (true, _) => CallState::Denied,
        (false, true) => CallState::Failed,
        (false, false) => CallState::Succeeded,
    };
    let end = ended(writer, state, None);
    let entry = patched(writer, &id, event, &end, "patch_apply_end");
    writer.say(entry);
}

fn mcp_end(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let Some(id) = event.word("call_id").map(|id| writer.rules.word(&id)) else { return };
    let invocation = event.members("invocation").unwrap_or_default();
    let result = event.members("result").unwrap_or_default();
    let call = Mcp {
        server: invocation.word("server").unwrap_or_default().into_owned(),
        tool: invocation.word("tool").unwrap_or_default().into_owned(),
        arguments: invocation.raw("arguments"),
        result: result.raw("Ok"),
        error: result.raw("Err"),
    };
    // Until the result is read: `isError` or an error beside it turns this into a failure.
    let end = ended(writer, CallState::Succeeded, duration(event));
    let entry = mcp_ended(writer, &id, &call, end, "mcp_tool_call_end");
    writer.say(entry);
}
