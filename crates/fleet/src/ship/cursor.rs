//! Stores the progress of shipping: one small file, replaced as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Limit of skipped tasks that are remembered. Beyond it the oldest ids are dropped: such a task is then shipped from
/// the time at which it is allowed.
const MOST_SKIPPED: usize = 100_000;

/// Holds the contents of a cursor file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct State {
    /// Destination: another server starts from the beginning.
    pub(crate) to: String,
    /// Everything up to this place in the ledger's order of delivery was acknowledged.
    pub(crate) until: u64,
    /// Offset added to places, so that versions only grow.
    pub(crate) base: u64,
    /// The greatest version that was sent.
    pub(crate) highest: u64,
    /// Number of rebuilds of the ledger.
    pub(crate) rebuilds: u64,
    /// The policy that it was sent under.
    pub(crate) policy: String,
    /// Tasks that the policy held back.
    pub(crate) skipped: BTreeSet<String>,
    /// Tasks that were purged here and deleted there, each with the moment up to which.
    pub(crate) removed: BTreeMap<String, i64>,
}

/// Why a cursor cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} `{}`", path.display())]
pub struct CursorError {
    what: &'static str,
    path: PathBuf,
    #[source]
    cause: io::Error,
}

/// The file that remembers.
#[derive(Debug)]
pub struct Cursor {
    path: PathBuf,
    pub(crate) state: State,
}

impl Cursor {
    /// Reads the cursor of the way to a server. One that is damaged, or of another server, begins anew: what is sent
    /// twice is there once.
    ///
    /// # Errors
    /// If there is a file and it cannot be read.
    pub fn open(path: &Path, to: &str) -> Result<Self, CursorError> {
        let state = match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => State::default(),
            Err(cause) => return Err(CursorError { what: "read", path: path.to_owned(), cause }),
        };
        let mut cursor = Self { path: path.to_owned(), state };
        if cursor.state.to != to {
            // Versions go on where they were, in case it is the same server under another name.
            let highest = cursor.state.highest;
            cursor.state = State { to: to.to_owned(), base: highest, highest, ..State::default() };
        }
        Ok(cursor)
    }

    /// Returns the destination of a cursor file that can be read.
    #[must_use]
    pub fn shipped_to(path: &Path) -> Option<String> {
        let state: State = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        Some(state.to).filter(|to| !to.is_empty())
    }

    /// Returns the position of the cursor.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.state.until
    }

    /// Remembers a task that was held back.
    pub(crate) fn skip(&mut self, task: &str) {
        if self.state.skipped.len() < MOST_SKIPPED {
            self.state.skipped.insert(task.to_owned());
        }
    }

    /// Begins anew under versions that are greater than all that were sent.
    pub(crate) fn restart(&mut self) {
        self.state.base = self.state.highest;
        self.state.until = 0;
        self.state.skipped.clear();
    }

    /// Writes it: either the old file or the new one is there, whatever happens.
    pub(crate) fn save(&self) -> Result<(), CursorError> {
        let fail = |what| move |cause| CursorError { what, path: self.path.clone(), cause };
        let bytes = serde_json::to_vec(&self.state).unwrap_or_default();
        let new = self.path.with_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .map_err(fail("write"))?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(fail("write"))?;
        fs::rename(&new, &self.path).map_err(fail("replace"))?;
        if let Some(folder) = self.path.parent() {
            // Without it a lost machine goes a part of the way again, which changes nothing.
            drop(File::open(folder).and_then(|folder| folder.sync_all()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_and_another_server_begins_anew_without_smaller_versions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ship.json");
        let mut cursor = Cursor::open(&path, "https://a").unwrap();
        cursor.state.until = 7;
        cursor.state.highest = 9;
        cursor.skip("t");
        cursor.save().unwrap();
        assert_eq!(Cursor::open(&path, "https://a").unwrap().state, cursor.state);
        let other = Cursor::open(&path, "https://b").unwrap();
        assert_eq!((other.until(), other.state.base), (0, 9));
        File::create(&path).unwrap().write_all(b"{ broken").unwrap();
        assert_eq!(Cursor::open(&path, "https://a").unwrap().until(), 0);
    }
}
