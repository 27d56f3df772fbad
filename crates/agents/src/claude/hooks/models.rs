//! Another model takes over. Asking for it and its happening are one fact.

use agent_tracer_event::{Kind, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry};
use crate::text::{line, title};

const MEMBERS: &[&str] = &[
    "from_model",
    "to_model",
    "requested_model",
    "source",
    "context_tokens",
    "prompt_cache_warm",
    "cache_ttl",
    "estimated_cache_write_usd",
    "pricing",
];

// A switch to `--fallback-model` in `-p` fires no `PostModelSwitch`; a row of the transcript reports it.
pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "PreModelSwitch",
        members: MEMBERS,
        read: |hook, reading| switch(hook, Phase::Open, reading),
    },
    Event {
        name: "PostModelSwitch",
        members: MEMBERS,
        read: |hook, reading| switch(hook, Phase::Close, reading),
    },
];

fn switch(hook: &Hook<'_>, phase: Phase, reading: &mut Reading) {
    hook.expect_one_of("source", &["command", "picker", "sdk", "auto", "resume"], reading);
    let model = |key: &str| hook.payload.text(&[key]).map(|model| line(model, 200));
    let (from, to) = (model("from_model"), model("to_model"));
    let mut task = hook.task();
    // Not before: the first event fires when the dialog opens, and the user may still keep the model.
    if phase == Phase::Close
        && let Some(to) = &to
    {
        task.metadata.insert(attributes::MODEL.to_owned(), Value::from(to.as_str()));
    }
    reading.entries.push(task);
    // The two events share no id of their own. Before the first prompt of a process they lack this one, too.
    let key = match (&hook.prompt_id, &from, &to) {
        (Some(prompt), Some(from), Some(to)) => format!("model:{prompt}:{from}:{to}"),
        _ => hook.own_key(),
    };
    let mut entry = hook.event(Kind::ModelSwitched, phase, key);
    entry.title = Some(match (&from, &to) {
        (Some(from), Some(to)) => title(&format!("Model {from} → {to}")),
        (None, Some(to)) => title(&format!("Model → {to}")),
        (_, None) => "Model switched".to_owned(),
    });
    if phase == Phase::Close {
        entry.ended_at = Some(hook.at);
        entry.metadata.insert(attributes::SWITCHED.to_owned(), Value::Bool(true));
    }
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["from_model"], attributes::FROM_MODEL),
            (&["to_model"], attributes::TO_MODEL),
            (&["requested_model"], attributes::REQUESTED_MODEL),
            (&["source"], attributes::SOURCE),
            (&["context_tokens"], attributes::CONTEXT_TOKENS),
            (&["prompt_cache_warm"], attributes::PROMPT_CACHE_WARM),
            (&["cache_ttl"], attributes::CACHE_TTL),
            (&["estimated_cache_write_usd"], attributes::ESTIMATED_CACHE_WRITE_USD),
            (&["pricing"], attributes::PRICING),
        ],
    );
    reading.entries.push(entry);
}
