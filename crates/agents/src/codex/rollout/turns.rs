//! Turns: `task_started`, `task_complete`, `turn_aborted`, and what an old file leaves us to infer.

use agent_tracer_event::{CallState, Certainty, Kind, Millis, Phase, Subject, attributes};
use serde_json::Value;

use super::writer::RolloutWriter;
use crate::codex::facts::{
    TextOrSize, interrupted_key, put, said_key, subagent_ended_key, subagent_key, turn_key, write_action,
    write_excerpt, write_message,
};
use crate::codex::wire::{Members, text};

/// Reads the beginning of a turn.
pub(super) fn started(writer: &mut RolloutWriter<'_>, task: &Members<'_>) {
    let attribution = task.members("turn_attribution");
    let parent = attribution.as_ref().and_then(|turn| turn.word("parent_turn_id"));
    // A review runs in a thread of its own, but its turn is also announced in the file of the thread that asked
    // for it. A turn whose parent is our own turn is not ours.
    if parent.is_some() && parent.as_deref() == writer.state.turn.as_deref() {
        return;
    }
    writer.state.tells_turns = true;
    let Some(turn) = writer.turn.clone() else { return };
    writer.state.enter_turn(&turn);
    let mut entry = writer.entry(Subject::Turn, Phase::Open, turn_key(&turn), "task_started");
    entry.state = Some(CallState::Running);
    let trigger = attribution.as_ref().and_then(|turn| turn.word("turn_trigger"));
    writer.put_word(&mut entry.metadata, attributes::TURN_TRIGGER, trigger);
    writer.put_word(&mut entry.metadata, attributes::PARENT_TURN_ID, parent);
    writer.put_word(&mut entry.metadata, attributes::ROOT_TURN_ID, task.word("root_turn_id"));
    let initiator = attribution.as_ref().and_then(|turn| turn.word("initiating_agent_path"));
    writer.put_word(&mut entry.metadata, attributes::INITIATED_BY, initiator);
    writer.put_word(
        &mut entry.metadata,
        attributes::COLLABORATION_MODE,
        task.word("collaboration_mode_kind"),
    );
    put(&mut entry.metadata, attributes::CONTEXT_WINDOW_SIZE, task.count("model_context_window"));
    writer.say(entry);
}

/// Reads the end of a turn that ends by itself: with a message, with an error, or with neither.
pub(super) fn completed(writer: &mut RolloutWriter<'_>, task: &Members<'_>) {
    let Some(turn) = writer.turn.clone() else { return };
    writer.state.completed_turn = Some(turn.clone());
    let error = task.members("error");
    let state = if error.is_some() { CallState::Failed } else { CallState::Succeeded };
    end_turn(writer, task, &turn, state, "task_complete");
    let message = task.word("last_agent_message").map(|text| writer.message(&text));
    if let Some(message) = &message
        && let Some(kept) = TextOrSize::of(message)
    {
        response(writer, &turn, kept, "task_complete.last_agent_message");
    }
    if let Some(error) = error {
        failure(writer, &turn, &error, "task_complete.error");
    }
    end_subagent(writer, &turn, state, message.as_ref(), "task_complete");
}

/// Reads the end of a turn that is cut off.
pub(super) fn aborted(writer: &mut RolloutWriter<'_>, task: &Members<'_>) {
    let reason = task.word("reason").unwrap_or_default().into_owned();
    writer.expect_known(
        "turn_aborted.reason",
        &reason,
        &["interrupted", "replaced", "review_ended", "budget_limited"],
    );
    let Some(turn) = writer.turn.clone() else {
        let key = format!("interrupted:{}", writer.observation);
        interrupted(writer, key, &reason);
        return;
    };
    writer.state.aborted_turn = Some(turn.clone());
    end_turn(writer, task, &turn, CallState::Interrupted, "turn_aborted");
    interrupted(writer, interrupted_key(&turn), &reason);
    end_subagent(writer, &turn, CallState::Interrupted, None, "turn_aborted");
}

fn interrupted(writer: &mut RolloutWriter<'_>, key: String, reason: &str) {
    let mut entry = writer.event(Kind::TurnInterrupted, Phase::Open, key, "turn_aborted");
    entry.title = Some("Turn interrupted".to_owned());
    writer.put_word(
        &mut entry.metadata,
        attributes::REASON,
        Some(reason).filter(|reason| !reason.is_empty()),
    );
    writer.say(entry);
}

fn end_turn(writer: &mut RolloutWriter<'_>, task: &Members<'_>, turn: &str, state: CallState, reason: &str) {
    let duration = task.count("duration_ms");
    let mut entry = writer.entry(Subject::Turn, Phase::Close, turn_key(turn), reason);
    entry.state = Some(state);
    entry.ended_at = Some(writer.at);
    if let Some(duration) = duration.and_then(|duration| i64::try_from(duration).ok()) {
        entry.occurred_at = Millis(writer.at.0.saturating_sub(duration));
    }
    put(&mut entry.metadata, attributes::DURATION_MS, duration);
    put(&mut entry.metadata, attributes::TIME_TO_FIRST_TOKEN_MS, task.count("time_to_first_token_ms"));
    writer.put_word(&mut entry.metadata, attributes::ROOT_TURN_ID, task.word("root_turn_id"));
    writer.say(entry);
}

/// Reads the final message of a turn.
pub(super) fn response(writer: &mut RolloutWriter<'_>, turn: &str, message: TextOrSize<'_>, reason: &str) {
    let key = said_key(turn, message, writer.state.is_sent_on(turn));
    let mut entry = writer.event(Kind::AssistantResponse, Phase::Close, key, reason);
    if writer.state.history_mode.as_deref() != Some("paginated") {
        // The older dialect does not tell that a hook sent the agent on, and the hook does.
        entry.aliases.push(said_key(turn, message, true));
    }
    entry.ended_at = Some(writer.at);
    write_message(&mut entry, message);
    writer.say(entry);
}

/// Reads the failure of a turn: the provider, the network, the budget.
pub(super) fn failure(writer: &mut RolloutWriter<'_>, turn: &str, error: &Members<'_>, reason: &str) {
    // Either a word, or an object whose only member is the word.
    let class = error.raw("codex_error_info").and_then(|info| {
        let inside = || Members::parse(info.get())?.iter().next().map(|(name, _)| name.to_owned());
        text(info).map(|word| word.into_owned()).or_else(inside)
    });
    let class = class.and_then(|class| writer.rules.code(&class)).unwrap_or_else(|| "unknown".to_owned());
    let mut entry = writer.event(Kind::AssistantResponse, Phase::Close, format!("stop:{turn}"), reason);
    entry.title = Some(crate::text::title(&format!("Turn failed: {}", class.replace('_', " "))));
    entry.state = Some(CallState::Failed);
    entry.ended_at = Some(writer.at);
    entry.metadata.insert(attributes::STOP_REASON.to_owned(), Value::from(format!("error:{class}")));
    entry.metadata.insert(attributes::ERROR.to_owned(), Value::from(class));
    let details = error.word("message").map(|message| writer.rules.request_error(&message));
    put(&mut entry.metadata, attributes::ERROR_DETAILS, details.filter(|details| !details.is_null()));
    writer.say(entry);
}

/// Ends a subagent's session with its turn, until it gets more work.
fn end_subagent(
    writer: &mut RolloutWriter<'_>,
    turn: &str,
    state: CallState,
    message: Option<&Value>,
    reason: &str,
) {
    if !writer.is_own() {
        return;
    }
    let Some(parent) = writer.state.parent_thread.clone() else { return };
    let mut ended = writer.event(Kind::SessionEnded, Phase::Close, subagent_ended_key(turn), reason);
    ended.title = Some("Subagent ended".to_owned());
    ended.ended_at = Some(writer.at);
    let why = match state {
        CallState::Succeeded => "assistant_turn_complete",
        _ => "runtime_terminated",
    };
    ended.metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from(why));
    writer.say(ended);

    let key = subagent_key(&writer.thread);
    let mut action = writer.entry_of(&parent, Subject::Event(Kind::ActionLogged), Phase::Close, key, reason);
    let status = if state == CallState::Succeeded { "completed" } else { "failed" };
    write_action(&mut action, &writer.thread, writer.state.agent_type.as_deref(), status);
    write_excerpt(&mut action, message.and_then(TextOrSize::of));
    action.state = Some(state);
    action.ended_at = Some(writer.at);
    writer.say(action);
}

/// Infers the beginning of a turn, which old files do not name: each prompt begins one, and the row's name is its id.
pub(super) fn infer_from_prompt(writer: &mut RolloutWriter<'_>) {
    // A file of a newer version has an id for each turn, and a guess beside it would make a second turn.
    if writer.state.tells_turns {
        return;
    }
    if let Some(before) = writer.state.turn.clone() {
        let mut entry = writer.entry(Subject::Turn, Phase::Close, turn_key(&before), "the next prompt");
        // The last row before the prompt, because the pause in which a person reads is no part of the turn.
        let ended = writer.state.last_at.unwrap_or(writer.at);
        entry.occurred_at = ended;
        entry.ended_at = Some(ended);
        entry.turn = Some(before);
        entry.state = Some(CallState::Succeeded);
        entry.evidence.certainty = Certainty::Inferred;
        writer.say(entry);
    }
    let turn = writer.observation.clone();
    writer.state.enter_turn(&turn);
    writer.turn = Some(turn.clone());
    let mut entry = writer.entry(Subject::Turn, Phase::Open, turn_key(&turn), "user_message");
    entry.state = Some(CallState::Running);
    entry.evidence.certainty = Certainty::Inferred;
    writer.say(entry);
}
