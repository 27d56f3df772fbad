//! Reads the hooks of Claude Code: one payload in, what it says out.
//!
//! Who acted: a payload without `agent_id` speaks of its session's own task; with one, of the subagent's task, whose
//! runtime session is `sub--<agent_id>`, because inside a subagent `session_id` is the parent's. Every payload also
//! says something of its task (where it works, which process it is), so a task is known from the first event of it
//! that arrives, whichever that is.
//!
//! Turns: on the main thread a turn is a prompt, `prompt_id`. In a subagent it is the agent itself: `prompt_id` is the
//! process's and moves on under a background agent's feet.
//!
//! Each group of events has a file with a table of its events: the members that they may have, and how they are read.

mod compaction;
mod dialogs;
mod environment;
pub(super) mod hook;
mod models;
mod notification;
mod prompts;
mod results;
mod sessions;
mod stops;
mod subagents;
mod todos;
mod tools;

use agent_tracer_event::{Entry, Kind, Phase, Reading, Subject, Unrecognised, attributes};
use serde_json::Value;

use super::wire::{BASE, Members};
use crate::decisions;
use crate::observation::Observation;
use crate::tools::sanitise;
use hook::Hook;

/// One event of the agent: what it may carry, and how it is read.
struct Event {
    name: &'static str,
    /// The members of its own, in every spelling.
    members: &'static [&'static str],
    read: fn(&Hook<'_>, &mut Reading),
}

const TABLES: &[&[Event]] = &[
    sessions::EVENTS,
    prompts::EVENTS,
    tools::EVENTS,
    dialogs::EVENTS,
    stops::EVENTS,
    subagents::EVENTS,
    todos::EVENTS,
    compaction::EVENTS,
    models::EVENTS,
    environment::EVENTS,
];

fn find(name: &str) -> Option<&'static Event> {
    TABLES.iter().flat_map(|table| table.iter()).find(|event| event.name == name)
}

/// Reads one payload of a hook.
pub(crate) fn read(observation: &Observation<'_>) -> Reading {
    match serde_json::from_slice::<Value>(observation.body) {
        Ok(payload) => read_payload(observation, &payload),
        Err(_) => {
            Reading { unrecognised: vec![Unrecognised::Line("not JSON".to_owned())], ..Reading::default() }
        }
    }
}

/// Reads what rules decided on an event.
pub(crate) fn read_decision(observation: &Observation<'_>) -> Reading {
    let Ok(Value::Object(payload)) = serde_json::from_slice::<Value>(observation.body) else {
        return Reading {
            unrecognised: vec![Unrecognised::Line("not JSON".to_owned())],
            ..Reading::default()
        };
    };
    let hook = Hook::new(observation, Members(&payload));
    let made = decisions::entries(&payload, |kind, phase, what| {
        hook.event(kind, phase, format!("{}:{what}", hook.own_key()))
    });
    let mut reading = Reading::default();
    reading.entries.push(hook.task());
    match made {
        Ok(entries) => {
            let undone =
                if entries.iter().any(decisions::blocks) { undo(&hook, &payload) } else { Vec::new() };
            reading.entries.extend(entries);
            reading.entries.extend(undone);
        }
        Err(unknown) => reading.unrecognised.push(unknown),
    }
    reading.write_reasons();
    reading
}

/// Takes back an event that a rule did not allow: the item is not done, the agent goes on. What the same event
/// tells later counts again.
fn undo(hook: &Hook<'_>, record: &serde_json::Map<String, Value>) -> Vec<Entry> {
    match (hook.event, &hook.agent_id) {
        ("TaskCompleted", _) => {
            let Some(id) = hook.payload.id(&["task_id"]) else { return Vec::new() };
            let key = crate::tools::todos::key(&id, "completed");
            let mut entry = hook.event(Kind::TodoLogged, Phase::Open, key);
            entry.metadata.insert(attributes::BLOCKED.to_owned(), Value::Bool(true));
            vec![entry]
        }
        ("SubagentStop", Some(agent)) => {
            let key = format!("subagent:{agent}");
            let mut entry = hook.event_on(hook.root(), Kind::ActionLogged, Phase::Close, key);
            entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from("running"));
            let blocked = decisions::event_of(record).map(|event| subagents::kept_running(hook, event));
            std::iter::once(entry).chain(blocked).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads a payload that is parsed already. The body of the observation is not looked at.
pub(in crate::claude) fn read_payload(observation: &Observation<'_>, payload: &Value) -> Reading {
    let empty = serde_json::Map::new();
    let members = payload.as_object().unwrap_or(&empty);
    let hook = Hook::new(observation, Members(members));
    let mut reading = Reading::default();
    let Some(event) = find(hook.event) else {
        unrecognised(&hook, payload, &mut reading);
        reading.write_reasons();
        return reading;
    };
    (event.read)(&hook, &mut reading);
    // Behind the task's own entry, which is surer: the parent is a guess in an entry of its own, so that it cannot
    // weaken the rest.
    add_parent(&hook, &mut reading);
    hook.check_permission_mode(&mut reading);
    other_members(&hook, event, &mut reading);
    reading.write_reasons();
    reading
}

/// Keeps an event that no table knows, and guesses nothing about it.
fn unrecognised(hook: &Hook<'_>, payload: &Value, reading: &mut Reading) {
    reading.entries.push(hook.task());
    add_parent(hook, reading);
    let mut entry = hook.event(Kind::Unrecognised, Phase::Open, hook.own_key());
    let name = if hook.event.is_empty() { "an event without a name" } else { hook.event };
    entry.title = Some(crate::text::title(&format!("Unrecognised: {name}")));
    // All of it stays: what matters of an event that no reader knows is not known either.
    entry.metadata.insert(attributes::PAYLOAD.to_owned(), sanitise(payload));
    reading.entries.push(entry);
    reading.unrecognised.push(Unrecognised::Event(crate::text::line(hook.event, 100)));
}

/// Says who called the subagent, right behind what is said of its task.
fn add_parent(hook: &Hook<'_>, reading: &mut Reading) {
    let own = |entry: &Entry| entry.subject == Subject::Task && entry.task == hook.actor();
    if let Some(at) = reading.entries.iter().position(own)
        && let Some(parent) = hook.parent()
    {
        reading.entries.insert(at + 1, parent);
    }
}

/// Keeps unknown members on the event, under `other.<name>`.
fn other_members(hook: &Hook<'_>, event: &Event, reading: &mut Reading) {
    let mut unknown = Vec::new();
    for (name, value) in hook.payload.0 {
        if BASE.contains(&name.as_str()) || event.members.contains(&name.as_str()) {
            continue;
        }
        let name = crate::text::line(name, 100);
        reading.unrecognised.push(Unrecognised::Field(format!("{}.{name}", event.name)));
        unknown.push((format!("{}{name}", attributes::OTHER_PREFIX), sanitise(value)));
    }
    if !unknown.is_empty()
        && let Some(entry) = main_entry(&mut reading.entries)
    {
        entry.metadata.extend(unknown);
    }
}

/// Returns the entry that the event is mainly about: the first that is a row of the timeline, else the task.
fn main_entry(entries: &mut [Entry]) -> Option<&mut Entry> {
    let row = entries.iter().position(|entry| matches!(entry.subject, Subject::Event(_)));
    entries.get_mut(row.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::events::EVENTS;

    #[test]
    fn every_event_of_the_client_is_in_exactly_one_table() {
        let mut names: Vec<&str> =
            TABLES.iter().flat_map(|table| table.iter()).map(|event| event.name).collect();
        names.sort_unstable();
        let mut expected: Vec<&str> = EVENTS.iter().map(|event| event.name).collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn no_event_repeats_a_member_that_every_event_has() {
        for event in TABLES.iter().flat_map(|table| table.iter()) {
            for member in event.members {
                assert!(!BASE.contains(member), "{}.{member}", event.name);
            }
        }
    }
}
