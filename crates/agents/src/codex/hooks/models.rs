//! Requests to the model's provider: before and after each attempt.
//!
//! The two events of one attempt share no id. `requestPhase` distinguishes them, and paired in their order within
//! a thread and turn by the ledger. What the attempt used stands on it and is not posted as a fact of its own:
//! the rollout's records count wherever a turn has any.

use agent_tracer_event::{CallState, Kind, Metadata, Phase, Reading, Tokens, attributes};
use serde_json::Value;

use super::Event;
use super::hook::Hook;
use crate::codex::facts::{TextOrSize, put};
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "PreModelRequest", members: &[], read: before },
    Event { name: "PostModelRequest", members: &["status", "error", "token_usage"], read: after },
];

/// The counts of a usage: theirs, and ours.
const COUNTS: &[(&str, &str)] = &[
    ("input_tokens", "inputTokens"),
    ("cached_input_tokens", "cachedInputTokens"),
    ("cache_write_input_tokens", "cacheWriteInputTokens"),
    ("output_tokens", "outputTokens"),
    ("reasoning_output_tokens", "reasoningOutputTokens"),
    ("total_tokens", "totalTokens"),
];

fn before(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ModelRequest, Phase::Open, hook.own_key());
    entry.title = Some(match hook.text("model") {
        Some(model) => text::title(&format!("Ask {model}")),
        None => "Ask the model".to_owned(),
    });
    put(&mut entry.metadata, attributes::REQUEST_PHASE, Some("before"));
    reading.entries.push(entry);
}

fn after(hook: &Hook<'_>, reading: &mut Reading) {
    // One of these per attempt: a request that is tried again ends several times before it completes.
    hook.expect_one_of("status", &["completed", "failed", "cancelled"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ModelRequest, Phase::Close, hook.own_key());
    entry.ended_at = Some(hook.observation.arrived);
    let status = hook.text("status").map(|status| text::line(status, 60));
    let model = hook.text("model").unwrap_or("The model");
    let (state, title) = match status.as_deref() {
        Some("failed") => (CallState::Failed, format!("Request to {model} failed")),
        Some("cancelled") => (CallState::Interrupted, format!("Request to {model} was cancelled")),
        _ => (CallState::Succeeded, format!("{model} answered")),
    };
    entry.state = Some(state);
    entry.title = Some(text::title(&title));
    put(&mut entry.metadata, attributes::REQUEST_PHASE, Some("after"));
    put(&mut entry.metadata, attributes::STATUS, status);
    put(&mut entry.metadata, attributes::ERROR, hook.payload.get("error").and_then(error));
    if let Some((usage, counts)) = hook.payload.get("token_usage").and_then(usage) {
        usage.write(&mut entry.metadata);
        put(&mut entry.metadata, attributes::USAGE_SOURCE, Some("hook"));
        entry.metadata.insert(attributes::TOKEN_USAGE.to_owned(), Value::Object(counts));
    }
    reading.entries.push(entry);
}

/// Returns why a request failed: a masked line, or what privacy left of it.
fn error(error: &Value) -> Option<Value> {
    let first = error.get("firstLine").and_then(Value::as_str).or_else(|| error.as_str());
    match first {
        Some(line) => Some(Value::from(text::line(line, 200))),
        None => TextOrSize::of(error).map(|_| error.clone()),
    }
}

fn usage(given: &Value) -> Option<(Tokens, Metadata)> {
    let given = given.as_object()?;
    let count = |name: &str| given.get(name).and_then(Value::as_u64);
    // An attempt that failed or was cancelled may carry none; zeros would look like an answer that was measured.
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let number = |name: &str| count(name).unwrap_or(0);
    // Codex reports what the cache gave inside of `input_tokens`, our `input` leaves it out: one price each.
    let usage = Tokens::from_inclusive(
        input.unwrap_or(0),
        number("cached_input_tokens"),
        number("cache_write_input_tokens"),
        output.unwrap_or(0),
        count("reasoning_output_tokens"),
    );
    let mut counts = Metadata::new();
    for (from, to) in COUNTS {
        put(&mut counts, to, count(from));
    }
    Some((usage, counts))
}
