//! Lists a folder of possibly millions of files, with memory for a few thousand names.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::EnvelopeName;
use crate::disk::{self, Facts};
use crate::spool::SpoolError;

/// The most strangers taken from one listing; the others wait for the next.
const STRANGERS_MAX: usize = 1024;

/// The result of one listing.
pub(super) struct FolderListing {
    /// The smallest names, the oldest at the end.
    pub(super) names: Vec<EnvelopeName>,
    /// Entries whose name is not an envelope's.
    pub(super) strangers: Vec<OsString>,
    /// True if there was no envelope at all, not even a skipped one.
    pub(super) was_empty: bool,
}

/// An entry that may be skipped.
pub(super) enum Entry<'a> {
    Envelope(&'a EnvelopeName),
    Stranger(&'a OsStr),
}

/// Returns the `keep` smallest names, and some of the strangers, that are not skipped.
pub(super) fn smallest(
    folder: &Path,
    keep: usize,
    skip: impl Fn(Entry<'_>) -> bool,
) -> Result<FolderListing, SpoolError> {
    // The largest kept name is on top, where a smaller one replaces it.
    let mut heap: BinaryHeap<EnvelopeName> = BinaryHeap::new();
    let mut found = FolderListing { names: Vec::new(), strangers: Vec::new(), was_empty: true };
    names(folder, |text| {
        let Some(name) = EnvelopeName::parse(disk::name_bytes(text)) else {
            if found.strangers.len() < STRANGERS_MAX && !skip(Entry::Stranger(text)) {
                found.strangers.push(text.to_owned());
            }
            return;
        };
        // Before the skip: envelopes in flight still take room, and an empty folder sets the count of units to zero.
        found.was_empty = false;
        if skip(Entry::Envelope(&name)) {
            return;
        }
        if heap.len() < keep {
            heap.push(name);
        } else if let Some(mut largest) = heap.peek_mut()
            && name < *largest
        {
            *largest = name;
        }
    })?;
    found.names = heap.into_sorted_vec();
    // The queue is popped from its end.
    found.names.reverse();
    Ok(found)
}

/// Calls back for each entry with its facts; entries that vanish meanwhile are skipped.
pub(crate) fn each(folder: &Path, mut call: impl FnMut(&OsStr, Facts)) -> Result<(), SpoolError> {
    let mut failed = None;
    names(folder, |name| {
        let path = folder.join(name);
        match disk::facts(&path) {
            Ok(facts) => call(name, facts),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                failed.get_or_insert(SpoolError::at("inspect", &path)(error));
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

/// Calls back for each name in the folder; a missing folder is an empty one.
pub(crate) fn names(folder: &Path, mut call: impl FnMut(&OsStr)) -> Result<(), SpoolError> {
    let entries = match disk::list(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(SpoolError::at("list", folder)(error)),
    };
    for entry in entries {
        call(&entry.map_err(SpoolError::at("list", folder))?.file_name());
    }
    Ok(())
}
