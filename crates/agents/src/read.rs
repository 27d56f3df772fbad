//! The door of this room: an observation in, a reading out.

use agent_tracer_event::{Agent, Reading, Unrecognised};

use crate::observation::{Observation, Source};
use crate::{claude, codex};

/// Reads what one observation says.
///
/// Pure and total: the same observation gives the same reading, on any bytes. Bytes that are not JSON, and a status
/// line under the name of an agent that has none, give a reading without entries; anything else gives at least one.
#[must_use]
pub fn read(observation: &Observation<'_>) -> Reading {
    let mut reading = read_any(observation);
    // What one payload says happened at one moment; rows stand in the order in which the reader gives them.
    for (place, entry) in reading.entries.iter_mut().enumerate() {
        entry.order = place as u64;
    }
    reading
}

fn read_any(observation: &Observation<'_>) -> Reading {
    match (observation.agent, observation.source) {
        (Agent::ClaudeCode, Source::Hook) => claude::hooks::read(observation),
        (Agent::ClaudeCode, Source::StatusLine) => claude::statusline::read(observation),
        (Agent::ClaudeCode, Source::Decision) => claude::hooks::read_decision(observation),
        (Agent::Codex, Source::Decision) => codex::hooks::read_decision(observation),
        (Agent::Codex, Source::Hook) => codex::hooks::read(observation),
        // Codex has no status line: whoever sends one under its name has mixed something up.
        (Agent::Codex, Source::StatusLine) => not_read("status line of codex"),
    }
}

fn not_read(what: &str) -> Reading {
    Reading { unrecognised: vec![Unrecognised::Event(what.to_owned())], ..Reading::default() }
}
