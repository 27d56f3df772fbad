//! Work items, as the client itself tells of them while the call that changes them runs.

use agent_tracer_event::{Kind, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry, carry_text};
use crate::claude::wire::TextOrLength;
use crate::text;
use crate::tools::todos;

const MEMBERS: &[&str] =
    &["task_id", "task_subject", "task_name", "task_description", "teammate_name", "team_name"];

pub(super) const EVENTS: &[Event] = &[
    Event { name: "TaskCreated", members: MEMBERS, read: |hook, reading| changed(hook, "added", reading) },
    Event {
        name: "TaskCompleted",
        members: MEMBERS,
        read: |hook, reading| changed(hook, "completed", reading),
    },
];

fn changed(hook: &Hook<'_>, state: &str, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let subject = hook.payload.text_or_length(&["task_subject", "task_name"]);
    let text = match subject {
        Some(TextOrLength::Text(text)) if !text.trim().is_empty() => Some(text),
        _ => None,
    };
    let id = hook.payload.id(&["task_id"]).or_else(|| text.map(text::hash16));
    let key = id.as_ref().map_or_else(|| hook.own_key(), |id| todos::key(id, state));
    let mut entry = hook.event(Kind::TodoLogged, Phase::Open, key);
    let which = text.map(str::to_owned).or_else(|| id.clone()).unwrap_or_default();
    let verb = if state == "added" { "Add todo" } else { "Complete todo" };
    entry.title = Some(text::title(&format!("{verb}: {which}")));
    if let Some(id) = id {
        entry.metadata.insert(attributes::TODO_ID.to_owned(), Value::from(id));
    }
    entry.metadata.insert(attributes::TODO_STATE.to_owned(), Value::from(state));
    if state == "completed" {
        // A rule may have blocked it before.
        entry.metadata.insert(attributes::BLOCKED.to_owned(), Value::Bool(false));
    }
    carry_text(&mut entry.metadata, attributes::SUBJECT, subject, 1000);
    let description = hook.payload.text_or_length(&["task_description"]);
    carry_text(&mut entry.metadata, attributes::DESCRIPTION, description, 10_000);
    if let Some(TextOrLength::Text(description)) = description {
        entry.body = Some(text::cut(description, 10_000).into_owned()).filter(|body| !body.is_empty());
    }
    carry(
        hook.payload,
        &mut entry.metadata,
        &[(&["teammate_name"], attributes::TEAMMATE_NAME), (&["team_name"], attributes::TEAM_NAME)],
    );
    reading.entries.push(entry);
}
