//! `event_msg`: turns, counts and items, and in the legacy dialect what happened in a form of its own.

use agent_tracer_event::{CallState, Millis, Unrecognised};

use super::items::{self, End, duration};
use super::patches::patched;
use super::servers::{Mcp, mcp_ended};
use super::telling::Telling;
use super::{agents, context, head, snapshot, talk, turns, usage};
use crate::codex::wire::Members;

/// Reads one event.
pub(super) fn event(told: &mut Telling<'_>, event: &Members<'_>) {
    let kind = event.word("type").unwrap_or_default();
    match kind.as_ref() {
        "task_started" | "turn_started" => turns::started(told, event),
        "task_complete" | "turn_complete" => {
            talk::drop_said(told, event.text("last_agent_message").as_deref());
            turns::completed(told, event);
        }
        "turn_aborted" => {
            talk::drop_said(told, None);
            turns::aborted(told, event);
        }
        "token_count" => {
            snapshot::token_count(told, event);
            if let Some(info) = event.members("info") {
                usage::difference(told, &info);
            }
        }
        "thread_settings_applied" => usage::settings(told, event),
        "item_completed" => items::completed(told, event),
        "user_message" => talk::user_event(told, event),
        "agent_message" => talk::agent_event(told, event),
        "agent_reasoning" | "agent_reasoning_raw_content" => talk::thought_event(told, event),
        "patch_apply_end" => patch_end(told, event),
        "mcp_tool_call_end" => mcp_end(told, event),
        "web_search_end" => items::web_search(told, event, "web_search_end"),
        "image_generation_end" => items::image_generation(told, event, "image_generation_end"),
        "sub_agent_activity" => agents::activity(told, event, "sub_agent_activity"),
        "context_compacted" => context::compacted_item(told),
        "entered_review_mode" => context::review_began(told, event),
        "exited_review_mode" => context::review_ended(told, event),
        "thread_rolled_back" => context::rolled_back(told, event),
        "error" | "stream_error" => {
            if let Some(turn) = told.turn.clone() {
                turns::failure(told, &turn, event, "error");
            }
        }
        other if head::says_nothing("event_msg", Some(other)) => {}
        other => {
            let other = told.rules.word(other);
            told.unknown(Unrecognised::Row(format!("event_msg/{other}")));
        }
    }
}

/// When something ended that took this long.
fn ended(told: &Telling<'_>, state: CallState, duration_ms: Option<u64>) -> End {
    let started = duration_ms
        .and_then(|duration| i64::try_from(duration).ok())
        .map_or(told.at, |duration| Millis(told.at.0.saturating_sub(duration)));
    End { state, class: None, started, ended: told.at, duration_ms }
}

fn patch_end(told: &mut Telling<'_>, event: &Members<'_>) {
    let Some(id) = event.word("call_id").map(|id| told.rules.word(&id)) else { return };
    let failed = event.truth("success") == Some(false) || event.word("status").as_deref() == Some("failed");
    let declined = event.word("status").as_deref() == Some("declined");
    let state = match (declined, failed) {
        (true, _) => CallState::Denied,
        (false, true) => CallState::Failed,
        (false, false) => CallState::Succeeded,
    };
    let end = ended(told, state, None);
    let entry = patched(told, &id, event, &end, "patch_apply_end");
    told.say(entry);
}

fn mcp_end(told: &mut Telling<'_>, event: &Members<'_>) {
    let Some(id) = event.word("call_id").map(|id| told.rules.word(&id)) else { return };
    let invocation = event.members("invocation").unwrap_or_default();
    let result = event.members("result").unwrap_or_default();
    let call = Mcp {
        server: invocation.word("server").unwrap_or_default().into_owned(),
        tool: invocation.word("tool").unwrap_or_default().into_owned(),
        arguments: invocation.raw("arguments"),
        result: result.raw("Ok"),
        error: result.raw("Err"),
    };
    let end = ended(told, CallState::Succeeded, duration(event));
    let entry = mcp_ended(told, &id, &call, end, "mcp_tool_call_end");
    told.say(entry);
}
