//! The door of this room: an observation in, a reading out.

use agent_tracer_event::Reading;

use crate::adapter;
use crate::observation::{Observation, Source};

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
    let adapter = adapter::of(observation.agent);
    match observation.source {
        Source::Hook => adapter.read_hook(observation),
        Source::StatusLine => adapter.read_statusline(observation),
        Source::Decision => adapter.read_decision(observation),
    }
}
