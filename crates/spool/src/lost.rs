//! Counters of refused observations, which work even on a full disk.
//!
//! `lost/<reason>` holds one `.` per loss. `install` makes the files with a `,` in each, which counts for
//! nothing: it makes the file own a block, so that the next few thousand appends need no new one and
//! work on a full disk. Appending one byte is one step: POSIX moves to the end and writes at once, so
//! concurrent hooks never share a byte, and the sum is right for every creator of the file.

use std::io::{self, Read};
use std::path::Path;

use crate::disk;

/// The reason for a loss. The list is closed: each reason has its own file, made at install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The spool is at its limit of files or bytes, because no server drains it.
    Full,
    /// The envelope is over the limit of a single one.
    TooLarge,
    /// The disk or the user's quota is full.
    DiskFull,
    /// Any other failure to write the envelope.
    Io,
    /// The payload on stdin is over what the hook reads.
    OversizeInput,
    /// The payload on stdin could not be read.
    UnreadableInput,
    /// `privacy.conf` is there and could not be relied on, so it was not known what may be recorded.
    UnreadablePrivacy,
    /// The hook panicked.
    Panic,
    /// A hook died while writing; its half envelope was swept from `tmp/`.
    Torn,
    /// A file was removed from the quarantine because the quarantine was over its limit.
    Quarantine,
}

impl Reason {
    /// Every reason, in the order in which they are shown.
    pub const ALL: [Reason; 10] = [
        Reason::Full,
        Reason::TooLarge,
        Reason::DiskFull,
        Reason::Io,
        Reason::OversizeInput,
        Reason::UnreadableInput,
        Reason::UnreadablePrivacy,
        Reason::Panic,
        Reason::Torn,
        Reason::Quarantine,
    ];

    /// Returns the reason's file name in `lost/`, which is also its name everywhere else.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Full => "full",
            Reason::TooLarge => "too_large",
            Reason::DiskFull => "disk_full",
            Reason::Io => "io",
            Reason::OversizeInput => "oversize_input",
            Reason::UnreadableInput => "unreadable_input",
            Reason::UnreadablePrivacy => "unreadable_privacy",
            Reason::Panic => "panic",
            Reason::Torn => "torn",
            Reason::Quarantine => "quarantine",
        }
    }

    /// Returns the reason for a failed file operation.
    pub(crate) fn from_error(error: &io::Error) -> Reason {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Reason::DiskFull,
            _ => Reason::Io,
        }
    }
}

/// The byte that stands for a loss in a counter.
const LOSS: u8 = b'.';
/// The byte that makes a counter own a block.
const FIRST: u8 = b',';
/// The most bytes of a counter that are read; a longer one is judged by its length.
const COUNTED_MAX: u64 = 64 << 20;

/// Adds one loss to the folder's counter, which is made if it is missing.
pub(crate) fn count(folder: &Path, reason: Reason) -> io::Result<()> {
    let path = folder.join(reason.as_str());
    // Opened before the folder is made: both exist since `install`, and a full disk has no room for new ones.
    let file = match disk::open_append(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk::create_folder(folder)?;
            disk::open_append(&path)?
        }
        opened => opened?,
    };
    disk::write(&file, &[LOSS])
}

/// Makes every counter own a block; counters that have one are left alone.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    for reason in Reason::ALL {
        let file = disk::open_append(&folder.join(reason.as_str()))?;
        if disk::facts_of(&file)?.bytes == 0 {
            disk::write(&file, &[FIRST])?;
        }
    }
    Ok(())
}

/// Returns the losses by reason, zeros included, from the folder of counters ([`crate::Home::lost`]).
///
/// A missing folder or file is zero losses; any other failure is an error, because "no losses" must
/// not be claimed by someone who could not look.
pub fn counts(folder: &Path) -> io::Result<Vec<(Reason, u64)>> {
    Reason::ALL
        .into_iter()
        .map(|reason| match count_of(&folder.join(reason.as_str())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((reason, 0)),
            count => Ok((reason, count?)),
        })
        .collect()
}

fn count_of(path: &Path) -> io::Result<u64> {
    let facts = disk::facts(path)?;
    if !facts.is_file {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the counter is not a file"));
    }
    let mut file = disk::open_read(path)?;
    let mut page = [0u8; 4096];
    let (mut losses, mut read) = (0, 0);
    while read < COUNTED_MAX {
        let bytes = match file.read(&mut page) {
            Ok(0) => return Ok(losses),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let found = page.get(..bytes).unwrap_or_default();
        losses += found.iter().filter(|byte| **byte == LOSS).count() as u64;
        read += bytes as u64;
    }
    Ok(losses.saturating_add(facts.bytes.saturating_sub(read)))
}
