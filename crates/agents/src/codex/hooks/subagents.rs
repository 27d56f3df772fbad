//! Subagents: their beginning and end, recorded on the child and on its parent.
//!
//! `SubagentStart` names the child's rollout, so its parent is at best the root. `SubagentStop` names the parent's
//! rollout beside the child's: there the parent is certain, and if it is not the root, the guess on the root's row is
//! ended too.

use agent_tracer_event::{CallState, Certainty, Entry, Evidence, Kind, Phase, Reading, Subject, attributes};

use super::Event;
use super::hook::Hook;
use super::prompts::{answer, end_turn};
use crate::codex::facts::{
    put, subagent_ended_key, subagent_key, thread_started_key, write_action, write_excerpt,
};
use crate::codex::rollout::name::thread_of;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "SubagentStart", members: &["agent_transcript_path"], read: start },
    Event {
        name: "SubagentStop",
        members: &["agent_transcript_path", "stop_hook_active", "last_assistant_message"],
        read: stop,
    },
];

fn start(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    if hook.is_child() {
        // The root at best: a nested agent's start names no parent, and its stop corrects this.
        let mut action = on_parent(hook, &hook.root, Phase::Open, "running");
        action.evidence.certainty = Certainty::Guessed;
        reading.entries.push(action);
    }
    let mut started = hook.event(Kind::SessionStarted, Phase::Open, thread_started_key(&hook.thread));
    started.title = Some("Subagent started".to_owned());
    reading.entries.push(started);
    if let Some(mut turn) = hook.turn_entry(Phase::Open) {
        turn.state = Some(CallState::Running);
        reading.entries.push(turn);
    }
}

fn stop(hook: &Hook<'_>, reading: &mut Reading) {
    let parent = hook.text("transcript_path").and_then(thread_of).filter(|parent| *parent != hook.thread);
    let mut task = hook.task();
    // The path of the payload is the parent's.
    task.metadata.shift_remove(attributes::TRANSCRIPT_PATH);
    let own = hook.text("agent_transcript_path").map(|path| text::cut(path, 1024).into_owned());
    put(&mut task.metadata, attributes::TRANSCRIPT_PATH, own.as_deref());
    reading.entries.push(task);
    if let Some(parent) = parent {
        let mut known = hook.entry(Subject::Task, Phase::Update, &hook.thread, "task");
        known.evidence = Evidence::reported("hook, transcript_path of SubagentStop");
        put(&mut known.metadata, attributes::PARENT_SESSION, Some(parent));
        put(&mut known.metadata, attributes::PARENT_CERTAINTY, Some("reported"));
        reading.entries.push(known);
    }
    let mut parent_threads: Vec<&str> = parent.into_iter().collect();
    if hook.is_child() && !parent_threads.contains(&hook.root.as_str()) {
        parent_threads.push(&hook.root);
    }
    for parent_thread in parent_threads {
        let mut action = on_parent(hook, parent_thread, Phase::Close, "completed");
        if parent != Some(parent_thread) {
            action.evidence.certainty = Certainty::Guessed;
        }
        action.state = Some(CallState::Succeeded);
        action.ended_at = Some(hook.observation.arrived);
        write_excerpt(&mut action, hook.text_or_size("last_assistant_message"));
        reading.entries.push(action);
    }
    let mut answer = answer(hook);
    put(&mut answer.metadata, attributes::AGENT_TRANSCRIPT_PATH, own);
    reading.entries.push(answer);
    end_turn(hook, CallState::Succeeded, reading);
    let mut ended = hook.event(Kind::SessionEnded, Phase::Close, ended_key(hook, hook.observation.name));
    ended.title = Some("Subagent ended".to_owned());
    ended.ended_at = Some(hook.observation.arrived);
    put(&mut ended.metadata, attributes::COMPLETION_REASON, Some("assistant_turn_complete"));
    reading.entries.push(ended);
}

/// Returns the key of an end, which both channels know by its turn.
fn ended_key(hook: &Hook<'_>, event: &str) -> String {
    hook.turn.as_deref().map_or_else(|| format!("session:ended:{event}"), subagent_ended_key)
}

/// Makes an attempt of an end that a rule blocked. Codex re-enters the same turn: the next end has the same key, is later
/// and replaces the attempt.
pub(super) fn keep_running(hook: &Hook<'_>, event: &str, reading: &mut Reading) {
    let mut attempt = hook.event(Kind::ActionLogged, Phase::Close, ended_key(hook, event));
    attempt.title = Some("End blocked by a rule".to_owned());
    put(&mut attempt.metadata, attributes::ASYNC_STATUS, Some("running"));
    reading.entries.push(attempt);
    if hook.is_child() {
        reading.entries.push(on_parent(hook, &hook.root, Phase::Close, "running"));
    }
}

fn on_parent(hook: &Hook<'_>, parent: &str, phase: Phase, status: &str) -> Entry {
    let subject = Subject::Event(Kind::ActionLogged);
    let mut entry = hook.entry(subject, phase, parent, subagent_key(&hook.thread));
    write_action(&mut entry, &hook.thread, hook.agent_type().as_deref(), status);
    entry
}
