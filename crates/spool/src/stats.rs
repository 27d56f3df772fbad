//! Figures on a spool for `doctor` and the health page.
//!
//! Takes no lock and changes nothing, so it works beside a running server. Each figure is read on its
//! own: while hooks write and the drain removes, they belong to slightly different moments.

use crate::EnvelopeName;
use crate::disk;
use crate::drain::{REASON_SUFFIX, each};
use crate::lost::{self, Reason};
use crate::spool::{Folder, Spool, SpoolError};

/// The state of a spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Envelopes in `new/`, delivered but not acked ones included.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Arrival of the oldest of them, in nanoseconds since the epoch.
    pub oldest_nanos: Option<u64>,
    /// Files in `tmp/`: envelopes being written, or left by a hook that died.
    pub unfinished: u64,
    /// Files in `quarantine/`, their reasons not counted.
    pub quarantined: u64,
    /// Losses by reason, zeros included.
    pub lost: Vec<(Reason, u64)>,
}

impl Stats {
    /// Returns the sum of all losses.
    pub fn lost_total(&self) -> u64 {
        self.lost.iter().map(|(_, count)| count).sum()
    }
}

impl Spool {
    /// Counts the files of the spool; a missing folder is an empty one. Costs one `stat` per waiting envelope.
    pub fn stats(&self) -> Result<Stats, SpoolError> {
        let counters = self.folder(Folder::Lost);
        let lost = lost::counts(&counters).map_err(SpoolError::at("inspect", &counters))?;
        let mut stats =
            Stats { waiting: 0, waiting_bytes: 0, oldest_nanos: None, unfinished: 0, quarantined: 0, lost };
        each(&self.folder(Folder::New), |name, facts| {
            if let Some(name) = EnvelopeName::parse(disk::name_bytes(name)) {
                stats.waiting += 1;
                stats.waiting_bytes += facts.bytes;
                stats.oldest_nanos =
                    Some(stats.oldest_nanos.map_or(name.nanos(), |oldest| oldest.min(name.nanos())));
            }
        })?;
        each(&self.folder(Folder::Tmp), |_, _| stats.unfinished += 1)?;
        each(&self.folder(Folder::Quarantine), |name, _| {
            if !disk::name_bytes(name).ends_with(REASON_SUFFIX.as_bytes()) {
                stats.quarantined += 1;
            }
        })?;
        Ok(stats)
    }
}
