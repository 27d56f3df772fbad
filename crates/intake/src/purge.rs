//! Deletes tasks on purpose from the places outside of the ledger: the spool, with what was put aside, and the state
//! of readers.

use std::path::Path;

use agent_tracer_event::{Millis, Reading, attributes};
use agent_tracer_ledger::{Cursor, TaskNames};
use agent_tracer_spool::drain::{DrainError, PurgeDecision, SpoolPurge};
use agent_tracer_spool::{Drain, Spool, envelope};

use crate::files::without_content;
use crate::spool::read_envelope;

/// Removes the envelopes of these tasks from a spool, also those that were put aside; every envelope without `names`.
///
/// # Errors
/// If another process has the spool, or the system refuses.
pub fn purge_spool(spool: &Spool, names: Option<&TaskNames>, now: Millis) -> Result<SpoolPurge, DrainError> {
    let nanos = u64::try_from(now.0).unwrap_or(0).saturating_mul(1_000_000);
    Drain::open(spool)?.purge(nanos, |name, bytes| match names {
        Some(names) => bytes.map_or(PurgeDecision::Unknown, |bytes| choose(name, bytes, names)),
        None => PurgeDecision::Remove,
    })
}

fn choose(name: &str, bytes: &[u8], names: &TaskNames) -> PurgeDecision {
    let read = envelope::parse(bytes)
        .ok()
        .and_then(|envelope| read_envelope(name, &envelope.header, envelope.body).ok())
        .filter(|reading| !reading.entries.is_empty());
    match read {
        Some(reading) if tells_of(&reading, names) => PurgeDecision::Remove,
        Some(_) => PurgeDecision::Keep,
        None if names.are_in(bytes) => PurgeDecision::Remove,
        None => PurgeDecision::Unknown,
    }
}

/// Returns `true` if an observation belongs to one of these tasks or to a subagent of one.
fn tells_of(reading: &Reading, names: &TaskNames) -> bool {
    reading.entries.iter().any(|entry| {
        let parent = entry.metadata.get(attributes::PARENT_SESSION).and_then(serde_json::Value::as_str);
        names.has(&entry.task) || parent.is_some_and(|parent| names.has_session(parent))
    })
}

/// Returns the state that a reader may keep of a file of these tasks, or of any file without `names`: enough to see
/// that it has not changed, and nothing if it is gone. `None` if the file belongs to other tasks.
pub fn cursor_without_content(cursor: &Cursor, names: Option<&TaskNames>) -> Option<Vec<u8>> {
    let is_there = Path::new(&cursor.source).exists();
    let is_meant =
        names.is_none_or(|names| names.are_in(cursor.source.as_bytes()) || names.are_in(&cursor.state));
    // A state that cannot be decoded is dropped and the file read again. The name of a missing file is dropped too.
    is_meant.then(|| without_content(&cursor.state).filter(|_| is_there).unwrap_or_default())
}
