//! Deletes files on request: waiting envelopes, halves left by dead hooks, and files in quarantine.
//!
//! The caller chooses the files, because this crate cannot read payloads. A purged file is not counted as lost.

use std::io::Read;
use std::path::Path;

use super::scan::each;
use super::{Drain, DrainError, REASON_SUFFIX};
use crate::envelope::ENVELOPE_BYTES_MAX;
use crate::spool::{Folder, SpoolError};
use crate::{EnvelopeName, disk};

/// The age below which a file in `tmp/` may still be written to; a living hook needs milliseconds.
const LIVING_NANOS: u64 = 60_000_000_000;

/// The caller's decision on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurgeDecision {
    /// The file is removed.
    Remove,
    /// The file stays.
    Keep,
    /// The caller cannot read the file; it stays and is counted.
    Unknown,
}

/// The result of a purge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolPurge {
    /// Files that were removed.
    pub removed: u64,
    /// Files that the caller could not read; they are still there.
    pub unknown: u64,
}

impl Drain {
    /// Removes the files that `choose` selects by name and bytes, together with their reasons. If a file cannot be
    /// read, `choose` gets its name alone.
    pub fn purge(
        &mut self,
        now_nanos: u64,
        mut choose: impl FnMut(&str, Option<&[u8]>) -> PurgeDecision,
    ) -> Result<SpoolPurge, DrainError> {
        let mut done = SpoolPurge::default();
        for folder in [Folder::New, Folder::Tmp, Folder::Quarantine] {
            let path = self.spool.folder(folder);
            let mut found = Vec::new();
            each(&path, |name, facts| {
                let is_reason = folder == Folder::Quarantine
                    && disk::name_bytes(name).ends_with(REASON_SUFFIX.as_bytes());
                if !facts.is_folder && !is_reason {
                    found.push((name.to_owned(), facts.is_file));
                }
            })?;
            for (name, is_file) in found {
                let envelope = EnvelopeName::parse(disk::name_bytes(&name));
                // The distance in both directions: a clock that was set back must not make a living file old.
                let is_living = |name: EnvelopeName| name.nanos().abs_diff(now_nanos) <= LIVING_NANOS;
                if folder == Folder::Tmp && envelope.is_some_and(is_living) {
                    continue;
                }
                let file = path.join(&name);
                // A link is never followed: its target is not part of the spool.
                let bytes = if is_file { read(&file) } else { None };
                match choose(&name.to_string_lossy(), bytes.as_deref()) {
                    PurgeDecision::Remove => {
                        disk::remove(&file).map_err(SpoolError::at("remove", &file))?;
                        let mut reason = name;
                        reason.push(REASON_SUFFIX);
                        disk::try_remove(&path.join(reason));
                        done.removed += 1;
                    }
                    PurgeDecision::Keep => {}
                    PurgeDecision::Unknown => done.unknown += 1,
                }
            }
        }
        // Names in the queue may be gone by now.
        self.queue.clear();
        self.recount()?;
        Ok(done)
    }
}

/// Reads a file, up to the size of the largest envelope.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    disk::open_read(path).ok()?.take(ENVELOPE_BYTES_MAX as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
