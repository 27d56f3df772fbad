//! What happens to the context: compactions, reviews, answers that were kept, history that was taken back.

use agent_tracer_event::{Kind, Metadata, Phase, attributes};

use super::state::OpenCall;
use super::telling::Telling;
use crate::codex::facts::{compaction_key, put, response_key, tool_key};
use crate::codex::wire::Members;

/// `compacted`: the history was replaced by a summary. Of the summary only the size is kept: it quotes everything.
pub(super) fn compacted(told: &mut Telling<'_>, row: &Members<'_>) {
    told.state.compactions = told.state.compactions.saturating_add(1);
    let mut entry = after(told, "compacted");
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
    let response = row.word("compaction_response_id").map(|id| told.rules.word(&id));
    put(&mut entry.metadata, attributes::RESPONSE_ID, response.as_deref());
    told.say(entry);
    if let Some(response) = response {
        let mut usage =
            told.event(Kind::TokenUsage, Phase::Update, response_key(&response), "compaction_response_id");
        put(&mut usage.metadata, attributes::PURPOSE, Some("compaction"));
        told.say(usage);
    }
    if let Some(kept) = row.members("retained_context") {
        let answers = kept.list("verified_answers");
        for answer in answers.into_iter().filter_map(|answer| Members::parse(answer.get())) {
            retained(told, &answer);
        }
    }
}

/// `ContextCompaction`: the item of the same compaction.
pub(super) fn compacted_item(told: &mut Telling<'_>) {
    told.state.compactions = told.state.compactions.max(1);
    let entry = after(told, "item_completed ContextCompaction");
    told.say(entry);
}

fn after(told: &Telling<'_>, reason: &str) -> agent_tracer_event::Entry {
    let key = match &told.turn {
        Some(turn) => compaction_key("after", turn, told.state.compactions),
        None => format!("compaction:{}", told.observation),
    };
    let mut entry = told.event(Kind::ContextSaved, Phase::Open, key, reason);
    entry.title = Some("Context compacted".to_owned());
    put(&mut entry.metadata, attributes::COMPACT_PHASE, Some("after"));
    entry
}

/// `verified_answer`: how many questions of a call the user answered. The answers stay where they are.
pub(super) fn retained(told: &mut Telling<'_>, answer: &Members<'_>) {
    let Some(id) = answer.word("call_id") else { return };
    let id = told.rules.word(&id);
    let count = answer.list("questions").len();
    let call = told.state.call(&id).cloned().unwrap_or(OpenCall {
        id: id.clone(),
        tool: "request_user_input".to_owned(),
        kind: Kind::QuestionLogged,
        subtype: None,
        told: false,
        process: None,
        role: None,
        escalates: false,
    });
    let mut entry = told.event(call.kind, Phase::Update, tool_key(&id), "retained_context");
    entry.tool_name = Some(call.tool);
    entry.tool_use_id = Some(id);
    if let Some(turn) = answer.word("turn_id") {
        entry.turn = Some(told.rules.word(&turn));
    }
    put(&mut entry.metadata, attributes::QUESTION_PHASE, Some("answered"));
    put(&mut entry.metadata, attributes::ANSWER_COUNT, Some(count));
    told.say(entry);
}

/// `EnteredReviewMode`: a thread of its own will look at the work.
pub(super) fn review_began(told: &mut Telling<'_>, item: &Members<'_>) {
    if let (true, Some(turn)) = (told.is_own(), told.turn.clone()) {
        told.state.enter_turn(&turn);
    }
    let key = review_key(told, "began", item);
    let mut entry = told.event(Kind::ContextSaved, Phase::Open, key, "EnteredReviewMode");
    entry.title = Some("Review started".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("review_started"));
    let target =
        item.members("target").and_then(|target| target.word("type")).or_else(|| item.word("target"));
    told.put_word(&mut entry.metadata, attributes::REVIEW_TARGET, target);
    told.say(entry);
    if told.is_own() && !told.state.titled {
        // A session that only reviews has no prompt of its own; one that comes later names it better.
        let mut about = Metadata::new();
        put(&mut about, attributes::TITLE, Some("Code review"));
        put(&mut about, attributes::TITLE_SOURCE, Some("review"));
        told.say_task(about, "EnteredReviewMode");
    }
}

/// `ExitedReviewMode`: what the review found is its result, so only its size is kept.
pub(super) fn review_ended(told: &mut Telling<'_>, item: &Members<'_>) {
    let key = review_key(told, "ended", item);
    let mut entry = told.event(Kind::ContextSaved, Phase::Open, key, "ExitedReviewMode");
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
    told.say(entry);
}

fn review_key(told: &Telling<'_>, what: &str, item: &Members<'_>) -> String {
    let id = item.word("id").map(|id| told.rules.word(&id));
    format!("review:{what}:{}", id.as_deref().unwrap_or(&told.observation))
}

/// `thread_rolled_back`: the last turns no longer count for the model; they happened all the same.
pub(super) fn rolled_back(told: &mut Telling<'_>, event: &Members<'_>) {
    let mut entry = taken_back(told, "thread_rolled_back");
    put(&mut entry.metadata, attributes::ITEM_COUNT, event.count("num_turns"));
    told.say(entry);
}

/// A file of a thread that goes on from an earlier point of another file of the same thread.
pub(super) fn went_back(told: &mut Telling<'_>, ordinal: Option<u64>) {
    let mut entry = taken_back(told, "session_meta.history_base");
    put(&mut entry.metadata, attributes::BASE_ORDINAL, ordinal);
    told.say(entry);
}

fn taken_back(told: &Telling<'_>, reason: &str) -> agent_tracer_event::Entry {
    let key = format!("rolled_back:{}", told.observation);
    let mut entry = told.event(Kind::ContextSaved, Phase::Open, key, reason);
    entry.title = Some("History taken back".to_owned());
    put(&mut entry.metadata, attributes::TRIGGER, Some("rolled_back"));
    entry
}
