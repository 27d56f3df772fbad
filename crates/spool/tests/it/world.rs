//! A spool in a folder of its own, with names and times chosen by the test.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use agent_tracer_spool::drain::{Batch, Drain};
use agent_tracer_spool::envelope::{Agent, Channel, Header, encode};
use agent_tracer_spool::{Accepted, EnvelopeName, Home, Limits, Reason, Refused, Spool};

/// The time of the first envelope of a test.
pub(crate) const T0: u64 = 1_731_600_000_000_000_000;
pub(crate) const HOUR: u64 = 3_600_000_000_000;

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) spool: Spool,
}

impl World {
    /// A home in which nothing has been made yet.
    pub(crate) fn bare() -> World {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::at(&Home::in_folder(folder.path().join("home")).spool());
        World { folder, spool }
    }

    pub(crate) fn prepared() -> World {
        let world = World::bare();
        world.spool.prepare().unwrap();
        world
    }

    pub(crate) fn with_limits(mut self, limits: Limits) -> World {
        self.spool = self.spool.with_limits(limits);
        self
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.spool.root().join(relative)
    }

    pub(crate) fn accept(&self, nanos: u64, body: &[u8]) -> Result<Accepted, Refused> {
        self.spool.accept(&header(), body, nanos, 812)
    }

    /// Puts a file where a hook would have, without the hook's care.
    pub(crate) fn put(&self, relative: &str, bytes: &[u8], mode: u32) -> PathBuf {
        let path = self.path(relative);
        write(&path, bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn open(&self) -> Drain {
        Drain::open(&self.spool).unwrap()
    }

    /// One batch of everything, from a drain of its own.
    pub(crate) fn everything(&self) -> Batch {
        self.open().next_batch(1000, u64::MAX).unwrap()
    }

    pub(crate) fn list(&self, folder: &str) -> Vec<String> {
        list(&self.path(folder))
    }

    pub(crate) fn used(&self) -> u64 {
        fs::metadata(self.path("used")).unwrap().len()
    }

    pub(crate) fn lost(&self, reason: Reason) -> u64 {
        let counts = self.spool.stats().unwrap().lost;
        counts.into_iter().find(|(found, _)| *found == reason).unwrap().1
    }
}

pub(crate) fn header() -> Header<'static> {
    Header::new(Agent::CLAUDE_CODE, Channel::Hook, T0)
}

/// A whole envelope with this body.
pub(crate) fn envelope(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&header(), body, &mut bytes);
    bytes
}

pub(crate) fn name(nanos: u64, counter: u32) -> String {
    EnvelopeName::new(nanos, 812, counter).to_string()
}

pub(crate) fn write(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

pub(crate) fn list(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

pub(crate) fn bodies(batch: &Batch) -> Vec<&[u8]> {
    batch.envelopes.iter().map(|envelope| envelope.body.as_slice()).collect()
}
