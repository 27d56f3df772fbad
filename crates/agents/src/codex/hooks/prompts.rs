//! Turns: what the human asks, how the agent answers, and that it was cut off.

use agent_tracer_event::{CallState, Entry, Kind, Phase, Reading, Subject, attributes};

use super::Event;
use super::hook::Hook;
use crate::codex::facts::{
    carry, interrupted_key, prompt_key, put, said_key, write_message, write_prompt, write_title,
};

pub(super) const EVENTS: &[Event] = &[
    Event { name: "UserPromptSubmit", members: &["prompt"], read: prompt },
    Event { name: "Stop", members: &["stop_hook_active", "last_assistant_message"], read: stop },
    Event { name: "Interrupt", members: &[], read: interrupt },
];

fn prompt(hook: &Hook<'_>, reading: &mut Reading) {
    let said = hook.text_or_size("prompt");
    reading.entries.push(hook.task());
    let key = match (&hook.turn, said) {
        (Some(turn), Some(said)) => prompt_key(turn, said),
        _ => hook.own_key(),
    };
    let mut message = hook.event(Kind::UserMessage, Phase::Open, key.clone());
    message.title = Some("Prompt".to_owned());
    if let Some(said) = said {
        write_prompt(&mut message, said);
        carry(&mut message.metadata, attributes::PROMPT, said);
    }
    put(&mut message.metadata, attributes::DELEGATED, hook.is_child().then_some(true));
    reading.entries.push(message);
    // A second prompt of the same turn steers it. That is known only beside the first.
    let mut origin =
        hook.guess(Subject::Event(Kind::UserMessage), Phase::Update, key, "the first prompt of its turn");
    origin.turn.clone_from(&hook.turn);
    put(&mut origin.metadata, attributes::PROMPT_ORIGIN, Some("user"));
    reading.entries.push(origin);
    if let Some(said) = said {
        let mut named = hook.guess(Subject::Task, Phase::Update, "task", "the first prompt of its thread");
        write_title(&mut named.metadata, said);
        if !named.metadata.is_empty() {
            reading.entries.push(named);
        }
    }
    if let Some(mut turn) = hook.turn_entry(Phase::Open) {
        turn.state = Some(CallState::Running);
        reading.entries.push(turn);
    }
}

fn stop(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut answer = answer(hook);
    // The client gives no reason; this says where the word comes from.
    put(&mut answer.metadata, attributes::STOP_REASON, Some("stop_hook"));
    reading.entries.push(answer);
    end_turn(hook, CallState::Succeeded, reading);
}

/// Returns the last words of a turn.
pub(super) fn answer(hook: &Hook<'_>) -> Entry {
    let said = hook.text_or_size("last_assistant_message");
    let is_again = hook.payload.get("stop_hook_active").and_then(|flag| flag.as_bool());
    let key = match (&hook.turn, said) {
        (Some(turn), Some(said)) if !said.is_empty() => said_key(turn, said, is_again == Some(true)),
        _ => format!("stop:{}", hook.observation.name),
    };
    let mut entry = hook.event(Kind::AssistantResponse, Phase::Close, key);
    entry.title = Some("Response".to_owned());
    entry.ended_at = Some(hook.observation.arrived);
    if let Some(said) = said {
        write_message(&mut entry, said);
        carry(&mut entry.metadata, attributes::LAST_ASSISTANT_MESSAGE, said);
    }
    put(&mut entry.metadata, attributes::STOP_HOOK_ACTIVE, is_again);
    entry
}

/// Ends the turn with the event.
pub(super) fn end_turn(hook: &Hook<'_>, state: CallState, reading: &mut Reading) {
    if let Some(mut turn) = hook.turn_entry(Phase::Close) {
        turn.state = Some(state);
        turn.ended_at = Some(hook.observation.arrived);
        reading.entries.push(turn);
    }
}

fn interrupt(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let key = hook.turn.as_ref().map_or_else(|| hook.own_key(), |turn| interrupted_key(turn));
    let mut entry = hook.event(Kind::TurnInterrupted, Phase::Open, key);
    entry.title = Some("Turn interrupted".to_owned());
    reading.entries.push(entry);
    end_turn(hook, CallState::Interrupted, reading);
}
