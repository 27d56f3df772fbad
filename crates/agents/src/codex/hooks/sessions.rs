//! Sessions: how they begin and end.

use agent_tracer_event::{Kind, Phase, Reading, attributes};

use super::Event;
use super::hook::Hook;
use crate::codex::facts::{put, thread_started_key};
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "SessionStart", members: &["source"], read: start },
    Event { name: "SessionEnd", members: &["reason"], read: end },
];

const SOURCES: &[&str] = &["startup", "resume", "clear", "compact", "fork"];

/// Holds what a session's end means for the task; the agent's words are on the left. Only `other` has been seen.
const REASONS: &[(&str, &str)] = &[
    ("other", "runtime_terminated"),
    ("clear", "cleared"),
    ("prompt_input_exit", "explicit_exit"),
    ("logout", "explicit_exit"),
    ("resume", "idle"),
];

fn start(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("source", SOURCES, reading);
    let source = hook.text("source").map(|source| text::line(source, 60));
    let mut task = hook.task();
    // How the thread came to be; going on with it later does not change that.
    let origin = source.as_deref().filter(|source| !matches!(*source, "resume" | "compact"));
    put(&mut task.metadata, attributes::SESSION_SOURCE, origin);
    reading.entries.push(task);
    // A thread begins once, and its rollout tells the same; a resume is another stretch of it. After a compaction
    // the same stretch goes on.
    let key = match source.as_deref() {
        Some("startup" | "clear" | "fork") => Some(thread_started_key(&hook.thread)),
        Some("compact") => None,
        _ => Some(format!("session:started:{}", hook.observation.name)),
    };
    if let Some(key) = key {
        let mut started = hook.event(Kind::SessionStarted, Phase::Open, key);
        started.title = Some("Session started".to_owned());
        put(&mut started.metadata, attributes::SESSION_SOURCE, source.as_deref());
        reading.entries.push(started);
    }
    let mut saved = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    saved.title = Some(match source.as_deref() {
        Some("startup") | None => "Session started".to_owned(),
        Some("resume") => "Session resumed".to_owned(),
        Some("clear") => "Conversation cleared".to_owned(),
        Some("compact") => "Session goes on after compaction".to_owned(),
        Some("fork") => "Session forked".to_owned(),
        Some(other) => text::title(&format!("Session started: {other}")),
    });
    put(&mut saved.metadata, attributes::TRIGGER, Some(source.unwrap_or_else(|| "startup".to_owned())));
    reading.entries.push(saved);
}

fn end(hook: &Hook<'_>, reading: &mut Reading) {
    let known: Vec<&str> = REASONS.iter().map(|(reason, _)| *reason).collect();
    hook.expect_one_of("reason", &known, reading);
    reading.entries.push(hook.task());
    let reason = hook.text("reason");
    let meant = REASONS.iter().find(|(known, _)| Some(*known) == reason).map(|(_, meant)| *meant);
    let mut ended =
        hook.event(Kind::SessionEnded, Phase::Close, format!("session:ended:{}", hook.observation.name));
    ended.title = Some("Session ended".to_owned());
    ended.ended_at = Some(hook.observation.arrived);
    put(&mut ended.metadata, attributes::COMPLETION_REASON, Some(meant.unwrap_or("runtime_terminated")));
    put(&mut ended.metadata, attributes::REASON, reason.map(|reason| text::line(reason, 60)));
    reading.entries.push(ended);
}
