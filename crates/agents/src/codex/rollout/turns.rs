//! Turns: `task_started`, `task_complete`, `turn_aborted`, and what an old file leaves us to infer.

use agent_tracer_event::{CallState, Certainty, Kind, Millis, Phase, Subject, attributes};
use serde_json::Value;

use super::telling::Telling;
use crate::codex::facts::{
    Kept, interrupted_key, put, said_key, subagent_ended_key, subagent_key, turn_key, write_action,
    write_excerpt, write_message,
};
use crate::codex::wire::{Members, text};

/// A turn begins.
pub(super) fn started(told: &mut Telling<'_>, task: &Members<'_>) {
    let attribution = task.members("turn_attribution");
    let parent = attribution.as_ref().and_then(|turn| turn.word("parent_turn_id"));
    // A review runs in a thread of its own, but its turn is also announced in the file of the thread that asked
    // for it. A turn whose parent is our own turn is not ours.
    if parent.is_some() && parent.as_deref() == told.state.turn.as_deref() {
        return;
    }
    told.state.tells_turns = true;
    let Some(turn) = told.turn.clone() else { return };
    told.state.enter_turn(&turn);
    let mut entry = told.entry(Subject::Turn, Phase::Open, turn_key(&turn), "task_started");
    entry.state = Some(CallState::Running);
    let trigger = attribution.as_ref().and_then(|turn| turn.word("turn_trigger"));
    told.put_word(&mut entry.metadata, attributes::TURN_TRIGGER, trigger);
    told.put_word(&mut entry.metadata, attributes::PARENT_TURN_ID, parent);
    told.put_word(&mut entry.metadata, attributes::ROOT_TURN_ID, task.word("root_turn_id"));
    let initiator = attribution.as_ref().and_then(|turn| turn.word("initiating_agent_path"));
    told.put_word(&mut entry.metadata, attributes::INITIATED_BY, initiator);
    told.put_word(&mut entry.metadata, attributes::COLLABORATION_MODE, task.word("collaboration_mode_kind"));
    put(&mut entry.metadata, attributes::CONTEXT_WINDOW_SIZE, task.count("model_context_window"));
    told.say(entry);
}

/// A turn ends by itself: with a message, with an error, or with neither.
pub(super) fn completed(told: &mut Telling<'_>, task: &Members<'_>) {
    let Some(turn) = told.turn.clone() else { return };
    told.state.completed_turn = Some(turn.clone());
    let error = task.members("error");
    let state = if error.is_some() { CallState::Failed } else { CallState::Succeeded };
    end_turn(told, task, &turn, state, "task_complete");
    let message = task.word("last_agent_message").map(|text| told.message(&text));
    if let Some(message) = &message
        && let Some(kept) = Kept::of(message)
    {
        response(told, &turn, kept, "task_complete.last_agent_message");
    }
    if let Some(error) = error {
        failure(told, &turn, &error, "task_complete.error");
    }
    end_subagent(told, &turn, state, message.as_ref(), "task_complete");
}

/// A turn is cut off.
pub(super) fn aborted(told: &mut Telling<'_>, task: &Members<'_>) {
    let reason = task.word("reason").unwrap_or_default().into_owned();
    told.known(
        "turn_aborted.reason",
        &reason,
        &["interrupted", "replaced", "review_ended", "budget_limited"],
    );
    let Some(turn) = told.turn.clone() else {
        let key = format!("interrupted:{}", told.observation);
        interrupted(told, key, &reason);
        return;
    };
    told.state.aborted_turn = Some(turn.clone());
    end_turn(told, task, &turn, CallState::Interrupted, "turn_aborted");
    interrupted(told, interrupted_key(&turn), &reason);
    end_subagent(told, &turn, CallState::Interrupted, None, "turn_aborted");
}

fn interrupted(told: &mut Telling<'_>, key: String, reason: &str) {
    let mut entry = told.event(Kind::TurnInterrupted, Phase::Open, key, "turn_aborted");
    entry.title = Some("Turn interrupted".to_owned());
    told.put_word(&mut entry.metadata, attributes::REASON, Some(reason).filter(|reason| !reason.is_empty()));
    told.say(entry);
}

fn end_turn(told: &mut Telling<'_>, task: &Members<'_>, turn: &str, state: CallState, reason: &str) {
    let duration = task.count("duration_ms");
    let mut entry = told.entry(Subject::Turn, Phase::Close, turn_key(turn), reason);
    entry.state = Some(state);
    entry.ended_at = Some(told.at);
    if let Some(duration) = duration.and_then(|duration| i64::try_from(duration).ok()) {
        entry.occurred_at = Millis(told.at.0.saturating_sub(duration));
    }
    put(&mut entry.metadata, attributes::DURATION_MS, duration);
    put(&mut entry.metadata, attributes::TIME_TO_FIRST_TOKEN_MS, task.count("time_to_first_token_ms"));
    told.put_word(&mut entry.metadata, attributes::ROOT_TURN_ID, task.word("root_turn_id"));
    told.say(entry);
}

/// The final message of a turn.
pub(super) fn response(told: &mut Telling<'_>, turn: &str, message: Kept<'_>, reason: &str) {
    let key = said_key(turn, message, told.state.is_sent_on(turn));
    let mut entry = told.event(Kind::AssistantResponse, Phase::Close, key, reason);
    if told.state.history_mode.as_deref() != Some("paginated") {
        // The older dialect does not tell that a hook sent the agent on, and the hook does.
        entry.aliases.push(said_key(turn, message, true));
    }
    entry.ended_at = Some(told.at);
    write_message(&mut entry, message);
    told.say(entry);
}

/// A turn failed: the provider, the network, the budget.
pub(super) fn failure(told: &mut Telling<'_>, turn: &str, error: &Members<'_>, reason: &str) {
    // Either a word, or an object whose only member is the word.
    let class = error.raw("codex_error_info").and_then(|info| {
        let inside = || Members::parse(info.get())?.iter().next().map(|(name, _)| name.to_owned());
        text(info).map(|word| word.into_owned()).or_else(inside)
    });
    let class = class.and_then(|class| told.rules.code(&class)).unwrap_or_else(|| "unknown".to_owned());
    let mut entry = told.event(Kind::AssistantResponse, Phase::Close, format!("stop:{turn}"), reason);
    entry.title = Some(crate::text::title(&format!("Turn failed: {}", class.replace('_', " "))));
    entry.state = Some(CallState::Failed);
    entry.ended_at = Some(told.at);
    entry.metadata.insert(attributes::STOP_REASON.to_owned(), Value::from(format!("error:{class}")));
    entry.metadata.insert(attributes::ERROR.to_owned(), Value::from(class));
    let details = error.word("message").map(|message| told.rules.request_error(&message));
    put(&mut entry.metadata, attributes::ERROR_DETAILS, details.filter(|details| !details.is_null()));
    told.say(entry);
}

/// The end of a subagent's turn ends its session, until somebody gives it more to do.
fn end_subagent(told: &mut Telling<'_>, turn: &str, state: CallState, message: Option<&Value>, reason: &str) {
    if !told.is_own() {
        return;
    }
    let Some(parent) = told.state.parent_thread.clone() else { return };
    let mut ended = told.event(Kind::SessionEnded, Phase::Close, subagent_ended_key(turn), reason);
    ended.title = Some("Subagent ended".to_owned());
    ended.ended_at = Some(told.at);
    let why = match state {
        CallState::Succeeded => "assistant_turn_complete",
        _ => "runtime_terminated",
    };
    ended.metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from(why));
    told.say(ended);

    let key = subagent_key(&told.thread);
    let mut action = told.entry_of(&parent, Subject::Event(Kind::ActionLogged), Phase::Close, key, reason);
    let status = if state == CallState::Succeeded { "completed" } else { "failed" };
    write_action(&mut action, &told.thread, told.state.agent_type.as_deref(), status);
    write_excerpt(&mut action, message.and_then(Kept::of));
    action.state = Some(state);
    action.ended_at = Some(told.at);
    told.say(action);
}

/// Old files do not say when a turn begins: then each prompt begins one, and the row's name is its id.
pub(super) fn infer_from_prompt(told: &mut Telling<'_>) {
    if told.state.tells_turns {
        return;
    }
    if let Some(before) = told.state.turn.clone() {
        let mut entry = told.entry(Subject::Turn, Phase::Close, turn_key(&before), "the next prompt");
        let ended = told.state.last_at.unwrap_or(told.at);
        entry.occurred_at = ended;
        entry.ended_at = Some(ended);
        entry.turn = Some(before);
        entry.state = Some(CallState::Succeeded);
        entry.evidence.certainty = Certainty::Inferred;
        told.say(entry);
    }
    let turn = told.observation.clone();
    told.state.enter_turn(&turn);
    told.turn = Some(turn.clone());
    let mut entry = told.entry(Subject::Turn, Phase::Open, turn_key(&turn), "user_message");
    entry.state = Some(CallState::Running);
    entry.evidence.certainty = Certainty::Inferred;
    told.say(entry);
}
