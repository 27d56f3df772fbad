//! Reads changes of the context: compactions, reviews, kept answers, history that was taken back.

use agent_tracer_event::{Kind, Metadata, Phase, attributes};

use super::state::OpenCall;
use super::writer::RolloutWriter;
use crate::codex::facts::{compaction_key, put, response_key, tool_key};
use crate::codex::wire::Members;

/// Reads `compacted`: the history was replaced by a summary. Of the summary only the size is kept: it quotes
/// everything.
pub(super) fn compacted(writer: &mut RolloutWriter<'_>, row: &Members<'_>) {
    writer.state.compactions = writer.state.compactions.saturating_add(1);
    let mut entry = after(writer, "compacted");
    put(
        &mut entry.metadata,
        attributes::COMPACT_SUMMARY_BYTES,
        row.text("message").map(|summary| summary.len()),
    );
    put(&mut entry.metadata, attributes::WINDOW_NUMBER, row.count("window_number"));
    put(
        &mut entry.metadata,
        attributes::ITEM_COUNT,
        row.raw("replacement_history").map(|_| row.list("replacement_history").len()),
    );
    let response = row.word("compaction_response_id").map(|id| writer.rules.word(&id));
    put(&mut entry.metadata, attributes::RESPONSE_ID, response.as_deref());
    writer.say(entry);
    if let Some(response) = response {
        // Its numbers are in the record of the response; no hook fires for it, and only this row knows what it was for.
        let mut usage =
            writer.event(Kind::TokenUsage, Phase::Update, response_key(&response), "compaction_response_id");
        put(&mut usage.metadata, attributes::PURPOSE, Some("compaction"));
        writer.say(usage);
    }
    if let Some(kept) = row.members("retained_context") {
        let answers = kept.list("verified_answers");
        for answer in answers.into_iter().filter_map(|answer| Members::parse(answer.get())) {
            retained(writer, &answer);
        }
    }
}

/// Reads `ContextCompaction`: the item of the same compaction.
pub(super) fn compacted_item(writer: &mut RolloutWriter<'_>) {
    // Not one more: the item comes beside the row `compacted` and is the same compaction.
    writer.state.compactions = writer.state.compactions.max(1);
    let entry = after(writer, "item_completed ContextCompaction");
    writer.say(entry);
}

fn after(writer: &RolloutWriter<'_>, reason: &str) -> agent_tracer_event::Entry {
    let key = match &writer.turn {
        Some(turn) => compaction_key("after", turn, writer.state.compactions),
        None => format!("compaction:{}", writer.observation),
    };
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, key, reason);
    entry.title = Some("Context compacted".to_owned());
    put(&mut entry.metadata, attributes::COMPACT_PHASE, Some("after"));
    entry
}

/// Reads `verified_answer`: how many questions of a call the user answered. The answers stay where they are.
pub(super) fn retained(writer: &mut RolloutWriter<'_>, answer: &Members<'_>) {
    let Some(id) = answer.word("call_id") else { return };
    let id = writer.rules.word(&id);
    let count = answer.list("questions").len();
    // The call may stand in the file that this one goes on from; answers are kept for this tool alone.
    let call = writer.state.call(&id).cloned().unwrap_or(OpenCall {
        id: id.clone(),
        tool: "request_user_input".to_owned(),
        kind: Kind::QuestionLogged,
        subtype: None,
        is_reported: false,
        process: None,
        role: None,
        escalates: false,
    });
    let mut entry = writer.event(call.kind, Phase::Update, tool_key(&id), "retained_context");
    entry.tool_name = Some(call.tool);
    entry.tool_use_id = Some(id);
    if let Some(turn) = answer.word("turn_id") {
        entry.turn = Some(writer.rules.word(&turn));
    }
    put(&mut entry.metadata, attributes::QUESTION_PHASE, Some("answered"));
    put(&mut entry.metadata, attributes::ANSWER_COUNT, Some(count));
    writer.say(entry);
}

/// Reads `EnteredReviewMode`: a thread of its own will look at the work.
pub(super) fn review_began(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    if let (true, Some(turn)) = (writer.is_own(), writer.turn.clone()) {
        writer.state.enter_turn(&turn);
    }
    let key = review_key(writer, "began", item);
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, key, "EnteredReviewMode");
    entry.title = Some("Review started".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("review_started"));
    let target =
        item.members("target").and_then(|target| target.word("type")).or_else(|| item.word("target"));
    writer.put_word(&mut entry.metadata, attributes::REVIEW_TARGET, target);
    writer.say(entry);
    if writer.is_own() && !writer.state.titled {
        // A session that only reviews has no prompt of its own; one that comes later names it better.
        let mut about = Metadata::new();
        put(&mut about, attributes::TITLE, Some("Code review"));
        put(&mut about, attributes::TITLE_SOURCE, Some("review"));
        writer.say_task(about, "EnteredReviewMode");
    }
}

/// Reads `ExitedReviewMode`: what the review found is its result, so only its size is kept.
pub(super) fn review_ended(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let key = review_key(writer, "ended", item);
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, key, "ExitedReviewMode");
    entry.title = Some("Review ended".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("review_ended"));
    if let Some(output) = item.members("review_output") {
        put(&mut entry.metadata, attributes::ITEM_COUNT, Some(output.list("findings").len()));
        put(&mut entry.metadata, attributes::REVIEW_CONFIDENCE, output.real("overall_confidence_score"));
        put(
            &mut entry.metadata,
            attributes::BYTES,
            output.text("overall_explanation").map(|text| text.len()),
        );
    }
    writer.say(entry);
}

fn review_key(writer: &RolloutWriter<'_>, what: &str, item: &Members<'_>) -> String {
    let id = item.word("id").map(|id| writer.rules.word(&id));
    format!("review:{what}:{}", id.as_deref().unwrap_or(&writer.observation))
}

/// Reads `thread_rolled_back`: the last turns no longer count for the model; they happened all the same.
pub(super) fn rolled_back(writer: &mut RolloutWriter<'_>, event: &Members<'_>) {
    let mut entry = taken_back(writer, "thread_rolled_back");
    put(&mut entry.metadata, attributes::ITEM_COUNT, event.count("num_turns"));
    writer.say(entry);
}

/// Reads a file of a thread that goes on from an earlier point of another file of the same thread.
pub(super) fn went_back(writer: &mut RolloutWriter<'_>, ordinal: Option<u64>) {
    let mut entry = taken_back(writer, "session_meta.history_base");
    put(&mut entry.metadata, attributes::BASE_ORDINAL, ordinal);
    writer.say(entry);
}

fn taken_back(writer: &RolloutWriter<'_>, reason: &str) -> agent_tracer_event::Entry {
    let key = format!("rolled_back:{}", writer.observation);
    let mut entry = writer.event(Kind::ContextSaved, Phase::Open, key, reason);
    entry.title = Some("History taken back".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("rolled_back"));
    entry
}
