//! Reads the hooks of Codex: one payload in, what it says out.
//!
//! Who acted: `session_id` is the root of a tree of threads, so it identifies the root only. The thread is
//! `agent_id` where there is one, else the first UUID in the name of the rollout that the payload points to, else the
//! session. Every payload also says something of its thread, so a thread is known from the first event of it that
//! arrives; `SessionStart` need not be the first and need not come at all.
//!
//! What was seen is measured. What a payload only suggests (the parent of a child, that a prompt is the first of its
//! turn and names its task) is an entry of its own that is marked as a guess, so that whatever knows better wins.
//!
//! What a payload cannot say is left to the ledger, with what it needs: which attempt a request for permission is about (`callSignature`), which
//! request to the model ended (requests of one thread and turn, in order), and whether usage counts (`usageSource`
//! is `hook`: only in turns of which no rollout has a record).

mod compaction;
mod hook;
mod models;
mod prompts;
mod sessions;
mod subagents;
mod tools;

use agent_tracer_event::{Kind, Phase, Reading, Subject, Unrecognised, attributes};
use serde_json::{Map, Value};

use crate::decisions;
use crate::observation::Observation;
use crate::tools::sanitise;
use hook::{BASE, Hook};

/// One event of the agent: what it may carry, and how it is read.
struct Event {
    name: &'static str,
    /// The members of its own.
    members: &'static [&'static str],
    read: fn(&Hook<'_>, &mut Reading),
}

const TABLES: &[&[Event]] = &[
    sessions::EVENTS,
    prompts::EVENTS,
    models::EVENTS,
    tools::EVENTS,
    subagents::EVENTS,
    compaction::EVENTS,
];

fn find(name: &str) -> Option<&'static Event> {
    TABLES.iter().flat_map(|table| table.iter()).find(|event| event.name == name)
}

/// Reads one payload of a hook.
pub(crate) fn read(observation: &Observation<'_>) -> Reading {
    let Ok(payload) = serde_json::from_slice::<Value>(observation.body) else {
        return Reading {
            unrecognised: vec![Unrecognised::Line("not JSON".to_owned())],
            ..Reading::default()
        };
    };
    let empty = Map::new();
    // JSON that is no object is an event without members: it is kept as unrecognised instead of being lost.
    let hook = Hook::new(observation, payload.as_object().unwrap_or(&empty));
    let mut reading = Reading::default();
    let Some(event) = find(hook.event) else {
        unrecognised(&hook, &payload, &mut reading);
        reading.write_reasons();
        return reading;
    };
    (event.read)(&hook, &mut reading);
    // Apart from the event: the parent is a guess, and a guess inside of a measured entry would outvote the rollout.
    reading.entries.extend(hook.parent());
    hook.check(&mut reading);
    other_members(&hook, event, &mut reading);
    reading.write_reasons();
    reading
}

/// Reads what rules decided on an event.
pub(crate) fn read_decision(observation: &Observation<'_>) -> Reading {
    let Ok(Value::Object(payload)) = serde_json::from_slice::<Value>(observation.body) else {
        return Reading {
            unrecognised: vec![Unrecognised::Line("not JSON".to_owned())],
            ..Reading::default()
        };
    };
    let hook = Hook::new(observation, &payload);
    let made = decisions::entries(&payload, |kind, phase, what| {
        hook.event(kind, phase, format!("{}:{what}", hook.own_key()))
    });
    let mut reading = Reading::default();
    reading.entries.push(hook.task());
    match made {
        Ok(entries) => {
            let is_blocked = hook.event == "SubagentStop" && entries.iter().any(decisions::blocks);
            reading.entries.extend(entries);
            // A blocked stop ended nothing: Codex goes on in the same turn, and its next end replaces this attempt.
            if is_blocked {
                let event = decisions::event_of(&payload).unwrap_or_default().to_owned();
                subagents::keep_running(&hook, &event, &mut reading);
            }
        }
        Err(unknown) => reading.unrecognised.push(unknown),
    }
    reading.entries.extend(hook.parent());
    reading.write_reasons();
    reading
}

/// Keeps an event that no table knows, and guesses nothing about it.
fn unrecognised(hook: &Hook<'_>, payload: &Value, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::Unrecognised, Phase::Open, hook.own_key());
    let name = if hook.event.is_empty() { "an event without a name" } else { hook.event };
    entry.title = Some(crate::text::title(&format!("Unrecognised: {name}")));
    entry.metadata.insert(attributes::PAYLOAD.to_owned(), sanitise(payload));
    reading.entries.push(entry);
    reading.entries.extend(hook.parent());
    reading.unrecognised.push(Unrecognised::Event(crate::text::line(hook.event, 100)));
}

/// Keeps unknown members on the event, under `other.<name>`.
fn other_members(hook: &Hook<'_>, event: &Event, reading: &mut Reading) {
    let mut unknown = Vec::new();
    // The schemas of Codex forbid other members, yet members were added between versions.
    for (name, value) in hook.payload {
        if BASE.contains(&name.as_str()) || event.members.contains(&name.as_str()) {
            continue;
        }
        let name = crate::text::line(name, 100);
        reading.unrecognised.push(Unrecognised::Field(format!("{}.{name}", event.name)));
        unknown.push((format!("{}{name}", attributes::OTHER_PREFIX), sanitise(value)));
    }
    let row = reading.entries.iter().position(|entry| matches!(entry.subject, Subject::Event(_)));
    if let Some(entry) = reading.entries.get_mut(row.unwrap_or(0)) {
        entry.metadata.extend(unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::events::EVENTS;

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
