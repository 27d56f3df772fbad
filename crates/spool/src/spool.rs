//! The spool's folder: its layout, its limits and how it is made.
//!
//! ```text
//! spool/            0700
//!   tmp/            envelopes being written; the name in here is a lock on the same name in new/
//!   new/            accepted envelopes, oldest name first
//!   quarantine/     files that the drain refused, each with `<name>.reason`
//!   lost/<reason>   one byte per loss, and one that makes the file own a block
//!   used            one byte per started 4 KiB accepted, at least one per envelope
//! ```
//!
//! `used` makes the limits a question of one `fstat`: its length bounds the files and, times 4 KiB, the
//! bytes. Hooks only append to it; the drain sets it to the real number. It is an estimate: hooks
//! that run at the same moment may pass the limit together, by as many envelopes as there are hooks.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::envelope::ENVELOPE_BYTES_MAX;
use crate::lost::{self, Reason};
use crate::{EnvelopeName, disk};

/// The grain of the accounting in `used`.
pub(crate) const UNIT_BYTES: u64 = 4096;

/// The limits beyond which the spool refuses envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one envelope; never more than [`ENVELOPE_BYTES_MAX`], which is the default.
    pub envelope_bytes: u64,
    /// The most bytes of all waiting envelopes, counted in whole 4 KiB; 1 GiB by default.
    pub spool_bytes: u64,
    /// The most waiting envelopes; 262,144 by default.
    pub spool_files: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { envelope_bytes: ENVELOPE_BYTES_MAX as u64, spool_bytes: 1 << 30, spool_files: 262_144 }
    }
}

impl Limits {
    /// Returns the largest length of `used`.
    pub(crate) fn units(&self) -> u64 {
        (self.spool_bytes / UNIT_BYTES).min(self.spool_files)
    }

    /// Returns the most bytes of one envelope, within what the format allows.
    pub(crate) fn envelope(&self) -> u64 {
        self.envelope_bytes.min(ENVELOPE_BYTES_MAX as u64)
    }
}

/// Returns the units that an envelope of this size takes in `used`.
pub(crate) fn units_of(bytes: u64) -> u64 {
    bytes.div_ceil(UNIT_BYTES).max(1)
}

/// The spool of one home: its path and its limits, without an open file.
#[derive(Debug, Clone)]
pub struct Spool {
    root: PathBuf,
    limits: Limits,
}

impl Spool {
    /// Returns the spool in this folder ([`crate::Home::spool`]) with the default limits; touches nothing.
    pub fn at(root: &Path) -> Spool {
        Spool { root: root.to_owned(), limits: Limits::default() }
    }

    /// Returns the same spool with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Spool {
        self.limits = limits;
        self
    }

    /// Returns the spool's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the limits that `accept` and the drain hold.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes every folder and counter, as `install` does; existing ones stay.
    ///
    /// Folders that others may enter are closed to them. The hook also works without, but only
    /// prepared counters can count on a full disk.
    pub fn prepare(&self) -> Result<(), SpoolError> {
        self.prepare_folder(&self.root)?;
        for folder in Folder::ALL {
            self.prepare_folder(&self.folder(folder))?;
        }
        let used = self.used();
        disk::open_append(&used).map_err(SpoolError::at("open", &used))?;
        let counters = self.folder(Folder::Lost);
        lost::prepare(&counters).map_err(SpoolError::at("prepare", &counters))
    }

    fn prepare_folder(&self, path: &Path) -> Result<(), SpoolError> {
        disk::create_folder(path).map_err(SpoolError::at("create", path))?;
        let facts = disk::facts(path).map_err(SpoolError::at("inspect", path))?;
        // The root may be a link to another disk; its contents must be real folders.
        if !facts.is_folder && path != self.root {
            return Err(SpoolError::at("use", path)(io::ErrorKind::NotADirectory.into()));
        }
        if facts.is_folder && facts.is_exposed() {
            disk::make_private(path).map_err(SpoolError::at("close to others", path))?;
        }
        Ok(())
    }

    /// Counts an observation that never became an envelope (an unreadable payload, a panic).
    ///
    /// Returns `false` if the loss could not be written either.
    pub fn count_loss(&self, reason: Reason) -> bool {
        lost::count(&self.folder(Folder::Lost), reason).is_ok()
    }

    /// Returns the path of one of the spool's folders.
    pub(crate) fn folder(&self, folder: Folder) -> PathBuf {
        self.root.join(folder.as_str())
    }

    /// Returns the path of an envelope in one of the folders.
    pub(crate) fn path(&self, folder: Folder, name: &EnvelopeName) -> PathBuf {
        // By hand: `PathBuf::push` would parse the path again at every step.
        let (folder, name) = (folder.as_str(), name.as_str());
        let mut path = OsString::with_capacity(self.root.as_os_str().len() + folder.len() + name.len() + 2);
        path.push(&self.root);
        path.push("/");
        path.push(folder);
        path.push("/");
        path.push(name);
        PathBuf::from(path)
    }

    /// Returns the path of the accounting file.
    pub(crate) fn used(&self) -> PathBuf {
        self.root.join("used")
    }
}

/// The folders inside the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    Tmp,
    New,
    Quarantine,
    Lost,
}

impl Folder {
    pub(crate) const ALL: [Folder; 4] = [Folder::Tmp, Folder::New, Folder::Quarantine, Folder::Lost];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Folder::Tmp => "tmp",
            Folder::New => "new",
            Folder::Quarantine => "quarantine",
            Folder::Lost => "lost",
        }
    }
}

/// A file operation on the spool that failed.
#[derive(Debug)]
pub struct SpoolError {
    /// The attempted operation, as a verb.
    pub attempted: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl SpoolError {
    /// Returns a function that gives a system error its place.
    pub(crate) fn at(attempted: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SpoolError {
        move |source| SpoolError { attempted, path: path.to_owned(), source }
    }
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} `{}`", self.attempted, self.path.display())
    }
}

impl std::error::Error for SpoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
