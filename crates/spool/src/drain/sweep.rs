//! The sweep of `tmp/`, for the files of hooks that died while writing.
//!
//! Age is judged by the name's time, so a file is old if it is more than an hour away from now in
//! either direction: a clock that was wrong once must not leave files for ever. A whole envelope is
//! delivered after all; half of one is removed and counted as lost.

use super::admit::{self, Admission};
use super::scan::{self, Entry};
use super::{Disposition, Drain, DrainError, Refusal, RefusedFile, quarantine};
use crate::envelope::EnvelopeError;
use crate::lost::{self, Reason};
use crate::spool::{Folder, SpoolError};
use crate::{EnvelopeName, disk};

/// The least distance of a name's time from now; a living hook needs milliseconds.
const AGE_NANOS: u64 = 3_600_000_000_000;

/// Files taken by one sweep; the rest waits for the next.
const SWEEP_MAX: usize = 16_384;

/// The result of a sweep.
#[derive(Debug, Default)]
pub struct SweepCounts {
    /// Whole envelopes that are now in `new/`.
    pub recovered: u64,
    /// Halves that were removed and counted.
    pub torn: u64,
    /// Files that may still be written to, or whose name is taken in `new/`.
    pub kept: u64,
    /// Files that are not from our hooks.
    pub refused: Vec<RefusedFile>,
}

impl Drain {
    /// Clears `tmp/` of files that are more than an hour old.
    pub fn sweep(&mut self, now_nanos: u64) -> Result<SweepCounts, DrainError> {
        let mut swept = SweepCounts::default();
        let folder = self.spool.folder(Folder::Tmp);
        let found = scan::smallest(&folder, SWEEP_MAX, |entry| match entry {
            // In both directions: a clock that was set back must not age the file of a living hook.
            Entry::Envelope(name) => name.nanos().abs_diff(now_nanos) <= AGE_NANOS,
            Entry::Stranger(name) => self.left_strangers.contains(name),
        })?;
        swept.refused = self.refuse_strangers(Folder::Tmp, found.strangers);
        for name in found.names.iter().rev() {
            self.sweep_one(name, &mut swept)?;
        }
        scan::names(&folder, |_| swept.kept += 1)?;
        Ok(swept)
    }

    fn sweep_one(&mut self, name: &EnvelopeName, swept: &mut SweepCounts) -> Result<(), DrainError> {
        let path = self.spool.path(Folder::Tmp, name);
        let admission = admit::admit(&self.guard, &path, None).map_err(SpoolError::at("read", &path))?;
        match admission {
            Admission::Admitted { .. } => {
                let target = self.spool.path(Folder::New, name);
                // As in `accept`: while the name is held in `tmp/`, no other process can bring it into
                // `new/`, so a free one stays free. A taken one is free once it has been acked.
                if !disk::is_taken(&target).map_err(SpoolError::at("inspect", &target))? {
                    disk::rename(&path, &target).map_err(SpoolError::at("recover", &path))?;
                    swept.recovered += 1;
                }
            }
            Admission::Refused(Refusal::Envelope(EnvelopeError::Torn { bytes })) => {
                // Counted first: dying in between counts it twice, the other order not at all.
                let counters = self.spool.folder(Folder::Lost);
                lost::count(&counters, Reason::Torn).map_err(SpoolError::at("count a loss in", &counters))?;
                disk::remove(&path).map_err(SpoolError::at("remove", &path))?;
                swept.torn += 1;
                swept.refused.push(RefusedFile {
                    name: name.to_string(),
                    refusal: Refusal::Envelope(EnvelopeError::Torn { bytes }),
                    disposition: Disposition::Removed,
                });
            }
            Admission::Refused(refusal) => {
                swept.refused.push(quarantine::envelope(&self.spool, Folder::Tmp, name, refusal));
                self.tidy();
            }
            Admission::Gone | Admission::NoRoom => {}
        }
        Ok(())
    }
}
