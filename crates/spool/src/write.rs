//! The writing side: one envelope in, one file in `new/`, or a counted loss.
//!
//! An envelope is written to `tmp/` and renamed into `new/`, so a reader sees whole files only, and a
//! hook that dies at any step leaves either nothing in `new/` or all of it. Nothing is synced: the
//! page cache survives the death of every process, and an fsync would cost the agent more than the
//! whole hook. A power cut or a kernel crash may therefore take the last seconds with it, or leave a
//! torn file, which the drain puts aside and counts.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::envelope::{self, Header};
use crate::lost::Reason;
use crate::spool::{Folder, Spool, units_of};
use crate::{EnvelopeName, disk};

/// Distinguishes envelopes of one process and one nanosecond.
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// The most names tried for one envelope; a second try is already rare.
const NAMES_TRIED: usize = 64;

/// One byte per unit, enough for the largest envelope.
static UNITS: [u8; 2048] = [b'.'; 2048];

/// The source of envelope names.
pub(crate) struct Writer<'a> {
    pub(crate) now_nanos: u64,
    pub(crate) pid: u32,
    pub(crate) counter: &'a AtomicU32,
}

impl Writer<'_> {
    fn draw(&self) -> EnvelopeName {
        EnvelopeName::new(self.now_nanos, self.pid, self.counter.fetch_add(1, Ordering::Relaxed))
    }
}

/// An envelope that is in `new/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// Its file name.
    pub name: EnvelopeName,
    /// Its size on disk.
    pub bytes: u64,
}

/// An envelope that was not kept.
#[derive(Debug)]
pub struct Refused {
    /// The reason.
    pub reason: Reason,
    /// True if the loss is counted in `lost/`: false only if that could not be written either.
    pub counted: bool,
    /// The error of the system, if the system refused.
    pub cause: Option<io::Error>,
}

impl Spool {
    /// Writes one envelope, or counts its loss.
    ///
    /// `now_nanos` and `pid` (the writer's own) become the file name. Missing folders are made.
    /// The hook ignores the answer: it is never the agent's problem.
    pub fn accept(
        &self,
        header: &Header<'_>,
        body: &[u8],
        now_nanos: u64,
        pid: u32,
    ) -> Result<Accepted, Refused> {
        self.accept_as(&Writer { now_nanos, pid, counter: &COUNTER }, header, body)
    }

    /// Does the same for a writer with its own counter, as another process has.
    pub(crate) fn accept_as(
        &self,
        writer: &Writer<'_>,
        header: &Header<'_>,
        body: &[u8],
    ) -> Result<Accepted, Refused> {
        let mut bytes = Vec::new();
        envelope::encode(header, body, &mut bytes);
        self.accept_encoded(writer, &bytes).map_err(|(reason, cause)| Refused {
            reason,
            counted: self.count_loss(reason),
            cause,
        })
    }

    fn accept_encoded(&self, writer: &Writer<'_>, bytes: &[u8]) -> Result<Accepted, Failure> {
        let size = bytes.len() as u64;
        // Judged before a unit is reserved: a refused envelope must not use up the limit of the others.
        if size > self.limits().envelope() {
            return Err((Reason::TooLarge, None));
        }
        self.reserve(units_of(size))?;
        match self.deliver(writer, bytes) {
            // The sweep of `tmp/` took our file (the machine slept for an hour in between). Either it
            // was whole and is now delivered, or it was not; a second delivery is better than a loss.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.deliver(writer, bytes),
            result => result,
        }
        .map(|name| Accepted { name, bytes: size })
        .map_err(|error| (Reason::from_error(&error), Some(error)))
    }

    /// Takes units from the limit, before the envelope is written: a hook that dies in between leaves
    /// the spool looking fuller than it is, which the drain's next recount corrects.
    fn reserve(&self, units: u64) -> Result<(), Failure> {
        let path = self.used();
        let failed = |error: io::Error| (Reason::from_error(&error), Some(error));
        let file = self.with_folders(|| disk::open_append(&path)).map_err(failed)?;
        // The length is the count: one `fstat` instead of a walk through the folder. Parallel hooks may pass the limit.
        let taken = file.metadata().map_err(failed)?.len();
        if taken.saturating_add(units) > self.limits().units() {
            return Err((Reason::Full, None));
        }
        let units = usize::try_from(units).unwrap_or(usize::MAX);
        disk::write(&file, UNITS.get(..units).unwrap_or(&UNITS)).map_err(failed)
    }

    fn deliver(&self, writer: &Writer<'_>, bytes: &[u8]) -> io::Result<EnvelopeName> {
        let Draft { name, file, tmp, new } = self.draw_name(writer)?;
        let written = disk::write(&file, bytes);
        drop(file);
        let moved = written.and_then(|()| self.with_folders(|| disk::rename(&tmp, &new)));
        match moved {
            Ok(()) => Ok(name),
            Err(error) => {
                // A half-written file must not take space on a disk that may be full; if it cannot be
                // removed either, the sweep will find it.
                disk::try_remove(&tmp);
                Err(error)
            }
        }
    }

    /// Creates a file in `tmp/` under a name that is free in `new/` as well.
    ///
    /// Two hooks in different pid namespaces can draw the same name, and `rename` would silently
    /// replace the other's envelope. The file in `tmp/` is the lock that prevents it: it is created
    /// exclusively, only its creator renames it to `new/<name>`, and until then no other process can
    /// hold that name. So one look at `new/<name>` after the creation is enough: an earlier holder of the
    /// name has either renamed its file (we see it) or left. A hard link would do as well, at the price of
    /// an unlink, of file systems that have none, and of envelopes in two folders after a crash.
    fn draw_name(&self, writer: &Writer<'_>) -> io::Result<Draft> {
        for _ in 0..NAMES_TRIED {
            let name = writer.draw();
            let tmp = self.path(Folder::Tmp, &name);
            let file = match self.with_folders(|| disk::create_new(&tmp)) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let new = self.path(Folder::New, &name);
            match disk::is_taken(&new) {
                Ok(false) => return Ok(Draft { name, file, tmp, new }),
                taken => {
                    disk::try_remove(&tmp);
                    taken?;
                }
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Runs a step again after making the folders, if it failed because one was missing.
    fn with_folders<T>(&self, step: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match step() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                for folder in [Folder::Tmp, Folder::New] {
                    disk::create_folder(&self.folder(folder))?;
                }
                step()
            }
            result => result,
        }
    }
}

/// An envelope that has its name and no content.
struct Draft {
    name: EnvelopeName,
    file: File,
    /// Its present path.
    tmp: PathBuf,
    /// Its path after the rename.
    new: PathBuf,
}

/// A loss before it is counted.
type Failure = (Reason, Option<io::Error>);
