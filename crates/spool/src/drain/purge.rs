//! Deleting on purpose: envelopes that wait, halves that dead hooks left, and what was put aside.
//!
//! Which of them are meant, the caller says, who can read what is in them. What is removed here is not counted as lost.

use std::io::Read;
use std::path::Path;

use super::scan::each;
use super::{Drain, DrainError, REASON_SUFFIX};
use crate::envelope::ENVELOPE_BYTES_MAX;
use crate::spool::{Folder, SpoolError};
use crate::{EnvelopeName, disk};

/// A file in `tmp/` whose name is nearer to now may still be written to: a living hook needs milliseconds.
const LIVING_NANOS: u64 = 60_000_000_000;

/// What the caller says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is meant.
    Remove,
    /// It is not.
    Keep,
    /// Nobody knows what it tells.
    Unknown,
}

/// What was removed, and what was not because nobody knows what it tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpoolPurge {
    /// Files that are gone.
    pub removed: u64,
    /// Files of which nobody knows what they tell; they are still there.
    pub unknown: u64,
}

impl Drain {
    /// Removes the files that are chosen by their name and their bytes, with their reasons. A file that cannot be read is
    /// chosen without its bytes.
    pub fn purge(
        &mut self,
        now_nanos: u64,
        mut choose: impl FnMut(&str, Option<&[u8]>) -> Choice,
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
                let is_living = |name: EnvelopeName| name.nanos().abs_diff(now_nanos) <= LIVING_NANOS;
                if folder == Folder::Tmp && envelope.is_some_and(is_living) {
                    continue;
                }
                let file = path.join(&name);
                // A link is removed or left, and never followed.
                let bytes = if is_file { read(&file) } else { None };
                match choose(&name.to_string_lossy(), bytes.as_deref()) {
                    Choice::Remove => {
                        disk::remove(&file).map_err(SpoolError::of("remove", &file))?;
                        let mut reason = name;
                        reason.push(REASON_SUFFIX);
                        disk::try_remove(&path.join(reason));
                        done.removed += 1;
                    }
                    Choice::Keep => {}
                    Choice::Unknown => done.unknown += 1,
                }
            }
        }
        self.queue.clear();
        self.recount()?;
        Ok(done)
    }
}

/// The bytes of a file, as far as an envelope can be long.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    disk::open_read(path).ok()?.take(ENVELOPE_BYTES_MAX as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
