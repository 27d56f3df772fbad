//! Sessions: how they begin and end, and what is set up before them.

use agent_tracer_event::{Kind, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry};
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "SessionStart",
        members: &[
            "source",
            "model",
            "session_title",
            "seconds_since_last_response",
            "context_tokens",
            "prompt_cache_likely_expired",
            "estimated_cache_write_usd",
        ],
        read: start,
    },
    Event { name: "SessionEnd", members: &["reason", "duration_ms"], read: end },
    Event { name: "Setup", members: &["trigger"], read: setup },
];

const SOURCES: &[&str] = &["startup", "resume", "clear", "compact", "fork"];

/// Holds what a session's end means for the task; the agent's words are on the left.
const REASONS: &[(&str, &str)] = &[
    ("clear", "cleared"),
    ("prompt_input_exit", "explicit_exit"),
    ("logout", "explicit_exit"),
    ("resume", "idle"),
    // Headless runs and every signal but SIGKILL end like this; after SIGKILL nothing is sent, and staleness has to
    // end the session.
    ("other", "runtime_terminated"),
    // Named by older documents; 2.1.325 does not declare it.
    ("bypass_permissions_disabled", "runtime_terminated"),
];

fn start(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("source", SOURCES, reading);
    let source = hook.payload.text(&["source"]);
    // Only interactive sessions name it, and not after `/clear`; otherwise the first response does.
    let model = hook.payload.text(&["model"]).map(|model| text::line(model, 200));
    let mut task = hook.task();
    // How the task came to be; going on with it later does not change that.
    if let Some(source) = source.filter(|source| !matches!(*source, "resume" | "compact")) {
        task.metadata.insert(attributes::SESSION_SOURCE.to_owned(), Value::from(text::line(source, 60)));
    }
    if let Some(model) = &model {
        task.metadata.insert(attributes::MODEL.to_owned(), Value::from(model.as_str()));
    }
    title_of_session(hook, &mut task);
    reading.entries.push(task);

    let mut metadata = agent_tracer_event::Metadata::new();
    carry(
        hook.payload,
        &mut metadata,
        &[
            (&["model"], attributes::MODEL_ID),
            (&["session_title"], attributes::SESSION_TITLE),
            (&["seconds_since_last_response"], attributes::SECONDS_SINCE_LAST_RESPONSE),
            (&["context_tokens"], attributes::CONTEXT_TOKENS),
            (&["prompt_cache_likely_expired"], attributes::PROMPT_CACHE_LIKELY_EXPIRED),
            (&["estimated_cache_write_usd"], attributes::ESTIMATED_CACHE_WRITE_USD),
        ],
    );
    // After a compaction the same session goes on.
    if source != Some("compact") {
        let key = format!("session:started:{}", hook.observation.name);
        let mut started = hook.event(Kind::SessionStarted, Phase::Open, key);
        started.title = Some(title(source));
        if let Some(source) = source {
            started
                .metadata
                .insert(attributes::SESSION_SOURCE.to_owned(), Value::from(text::line(source, 60)));
        }
        started.metadata.extend(metadata.clone());
        reading.entries.push(started);
    }
    let mut saved = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    saved.title = Some(title(source));
    saved
        .metadata
        .insert(attributes::TRIGGER.to_owned(), Value::from(text::line(source.unwrap_or("startup"), 60)));
    saved.metadata.extend(metadata);
    reading.entries.push(saved);
}

/// Returns how a session began, in words.
fn title(source: Option<&str>) -> String {
    match source {
        Some("startup") | None => "Session started".to_owned(),
        Some("resume") => "Session resumed".to_owned(),
        Some("clear") => "Conversation cleared".to_owned(),
        Some("compact") => "Session goes on after compaction".to_owned(),
        Some("fork") => "Session forked".to_owned(),
        Some(other) => text::title(&format!("Session started: {other}")),
    }
}

/// Writes the title that the user or the client gave the session.
pub(super) fn title_of_session(hook: &Hook<'_>, task: &mut agent_tracer_event::Entry) {
    if let Some(title) =
        hook.payload.text(&["session_title"]).map(text::title).filter(|title| !title.is_empty())
    {
        task.metadata.insert(attributes::TITLE.to_owned(), Value::from(title));
        task.metadata.insert(attributes::TITLE_SOURCE.to_owned(), Value::from("session_title"));
    }
}

fn end(hook: &Hook<'_>, reading: &mut Reading) {
    let known: Vec<&str> = REASONS.iter().map(|(reason, _)| *reason).collect();
    hook.expect_one_of("reason", &known, reading);
    reading.entries.push(hook.task());
    let reason = hook.payload.text(&["reason"]);
    let meant = REASONS.iter().find(|(known, _)| Some(*known) == reason).map(|(_, meant)| *meant);
    let key = format!("session:ended:{}", hook.observation.name);
    let mut ended = hook.event(Kind::SessionEnded, Phase::Close, key);
    ended.ended_at = Some(hook.at);
    ended.title = Some(
        match reason {
            Some("clear") => "Conversation cleared",
            Some("resume") => "Session left for another",
            Some("logout") => "Logged out",
            Some("prompt_input_exit") => "Session ended by the user",
            _ => "Session ended",
        }
        .to_owned(),
    );
    let meant = meant.unwrap_or("runtime_terminated");
    ended.metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from(meant));
    carry(
        hook.payload,
        &mut ended.metadata,
        &[(&["reason"], attributes::REASON), (&["duration_ms"], attributes::DURATION_MS)],
    );
    reading.entries.push(ended);
}

fn setup(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("trigger", &["init", "maintenance"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::SetupTriggered, Phase::Open, hook.own_key());
    entry.title = Some(match hook.payload.text(&["trigger"]) {
        Some("init") => "Set-up of the project".to_owned(),
        Some("maintenance") => "Maintenance of the project".to_owned(),
        Some(other) => text::title(&format!("Set-up: {other}")),
        None => "Set-up".to_owned(),
    });
    carry(hook.payload, &mut entry.metadata, &[(&["trigger"], attributes::TRIGGER)]);
    reading.entries.push(entry);
}
