//! Losses: what was refused, counted where even a full disk lets us count.
//!
//! `lost/<reason>` holds one byte per loss, plus a first one that belongs to nobody: it is written when
//! the file is made (by `install`), so that the file already owns a block and the next few thousand
//! appends need no new one. An append of one byte is atomic enough: POSIX moves the offset and writes
//! as one step, so concurrent hooks never share a byte.

use std::fs;
use std::io;
use std::path::Path;

use crate::disk;

/// Why an observation was not kept. The list is closed: each has its file, made at install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The spool is at its limit of files or bytes: nobody drains it.
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
    /// The hook panicked.
    Panic,
    /// A hook died while writing; its half envelope was swept from `tmp/`.
    Torn,
}

impl Reason {
    /// Every reason, in the order in which they are shown.
    pub const ALL: [Reason; 8] = [
        Reason::Full,
        Reason::TooLarge,
        Reason::DiskFull,
        Reason::Io,
        Reason::OversizeInput,
        Reason::UnreadableInput,
        Reason::Panic,
        Reason::Torn,
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
            Reason::Panic => "panic",
            Reason::Torn => "torn",
        }
    }

    /// Returns the reason for a failed file operation.
    pub(crate) fn of(error: &io::Error) -> Reason {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Reason::DiskFull,
            _ => Reason::Io,
        }
    }
}

/// Adds one loss to the folder's counter, which is made if it is missing.
pub(crate) fn count(folder: &Path, reason: Reason) -> io::Result<()> {
    let path = folder.join(reason.as_str());
    match disk::open_existing_append(&path) {
        Ok(file) => disk::write(&file, b"."),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk::create_folder(folder)?;
            // Whoever creates the file writes the first byte with its own, in append mode: another
            // hook's byte may already be there, and the sum is right in any order.
            match disk::create_new_append(&path) {
                Ok(file) => disk::write(&file, b"..")?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    disk::write(&disk::open_existing_append(&path)?, b".")?;
                }
                Err(error) => return Err(error),
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Makes every counter with its first byte; counters that have one are left alone.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    for reason in Reason::ALL {
        let file = disk::open_append(&folder.join(reason.as_str()))?;
        if file.metadata()?.len() == 0 {
            disk::write(&file, b".")?;
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
        .map(|reason| match fs::symlink_metadata(folder.join(reason.as_str())) {
            Ok(metadata) => Ok((reason, metadata.len().saturating_sub(1))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((reason, 0)),
            Err(error) => Err(error),
        })
        .collect()
}
