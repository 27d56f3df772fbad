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
        (Agent::CLAUDE_CODE, Source::Hook) => claude::hooks::read(observation),
        (Agent::CLAUDE_CODE, Source::StatusLine) => claude::statusline::read(observation),
        (Agent::CLAUDE_CODE, Source::Decision) => claude::hooks::read_decision(observation),
        (Agent::CODEX, Source::Decision) => codex::hooks::read_decision(observation),
        (Agent::CODEX, Source::Hook) => codex::hooks::read(observation),
        // Codex has no status line: a sender that uses its name has mixed something up.
        (agent, _) => not_read(&format!("status line of {agent}")),
    }
}

fn not_read(what: &str) -> Reading {
    Reading { unrecognised: vec![Unrecognised::Event(what.to_owned())], ..Reading::default() }
}
