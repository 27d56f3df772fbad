//! Admission: the checks that a file in the spool must pass before its bytes are trusted.
//!
//! The spool is 0700, so only the user and root can put anything there. Still a file that others own or
//! may touch, a link, a folder or a giant is no envelope of a hook, and reading it could pass another
//! user's bytes to the ledger, or block for ever on a pipe.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::DrainError;
use crate::disk::{self, Facts};
use crate::envelope::{self, EnvelopeError, Header};
use crate::spool::{Spool, SpoolError};

/// The owner and the mode that files of our own have on this file system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    /// The owner of files that we create.
    owner: u32,
    /// True if a file created with 0600 has that mode afterwards. Some mounts show one mode for all
    /// files; a check of modes would refuse every envelope there.
    keeps_modes: bool,
    /// The most bytes of one envelope.
    limit: u64,
}

impl Guard {
    /// Reads owner and mode from a probe file. Refuses a folder that belongs to another user.
    pub(super) fn probe(spool: &Spool) -> Result<Guard, DrainError> {
        static PROBES: AtomicU32 = AtomicU32::new(0);
        let root = spool.root();
        disk::create_folder(root).map_err(SpoolError::at("create", root))?;
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let probe = root.join(format!("probe-{}-{number}", std::process::id()));
        // Left behind by a process with our id that was killed at this very point.
        disk::try_remove(&probe);
        let file = disk::create_new(&probe).map_err(SpoolError::at("create", &probe))?;
        let own = disk::facts_of(&file).map_err(SpoolError::at("inspect", &probe));
        disk::try_remove(&probe);
        let own = own?;
        // Followed: the root itself may be a link to a folder of ours.
        let folder = std::fs::metadata(root).map(Facts::from).map_err(SpoolError::at("inspect", root))?;
        if folder.owner != own.owner {
            return Err(DrainError::Foreign(root.to_owned()));
        }
        Ok(Guard { owner: own.owner, keeps_modes: !own.is_exposed(), limit: spool.limits().envelope() })
    }

    fn judge(&self, facts: &Facts) -> Result<(), Refusal> {
        // The kind comes first: opening a pipe would block for ever.
        if !facts.is_file {
            Err(Refusal::NotAFile)
        } else if facts.owner != self.owner {
            Err(Refusal::NotOurs { owner: facts.owner })
        } else if self.keeps_modes && facts.is_exposed() {
            Err(Refusal::Exposed { mode: facts.mode })
        } else if facts.bytes > self.limit {
            Err(Refusal::Oversized { bytes: facts.bytes })
        } else {
            Ok(())
        }
    }
}

/// The verdict on a file.
#[expect(clippy::large_enum_variant, reason = "made and taken apart once per file, never kept")]
pub(super) enum Admission {
    /// A whole envelope.
    Admitted {
        header: Header<'static>,
        body: Vec<u8>,
        /// Bytes of the file.
        size: u64,
    },
    /// It would not fit into the batch.
    NoRoom,
    /// It is not there any more.
    Gone,
    /// It is no envelope of ours.
    Refused(Refusal),
}

/// Why a file in the spool was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its name is not an envelope's.
    Stranger,
    /// A link, a folder, a pipe or a socket.
    NotAFile,
    /// Owned by another user.
    NotOurs {
        /// The owner's user id.
        owner: u32,
    },
    /// Group or others may read or write it.
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// Larger than an envelope may be.
    Oversized {
        /// Its size.
        bytes: u64,
    },
    /// Reading it failed repeatedly.
    Unreadable(String),
    /// Its bytes are not a whole envelope.
    Envelope(EnvelopeError),
    /// It is a whole envelope, but the ledger refuses it while it accepts others.
    Unwritten(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Stranger => f.write_str("the name is not that of an envelope"),
            Refusal::NotAFile => f.write_str("it is a link, a folder or a device, not a file"),
            Refusal::NotOurs { owner } => write!(f, "it belongs to the user with id {owner}"),
            Refusal::Exposed { mode } => write!(f, "others may read or write it: its mode is {mode:04o}"),
            Refusal::Oversized { bytes } => write!(f, "its {bytes} bytes are over the limit of an envelope"),
            Refusal::Unreadable(why) => write!(f, "it cannot be read: {why}"),
            Refusal::Envelope(error) => error.fmt(f),
            Refusal::Unwritten(why) => f.write_str(why),
        }
    }
}

/// Reads a file if it is an envelope of ours; with `room`, only if it is no bigger than that.
///
/// An error is one of the system that may pass (too many open files); the file is then untouched.
pub(super) fn admit(guard: &Guard, path: &Path, room: Option<u64>) -> io::Result<Admission> {
    let seen = match disk::facts(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Admission::Gone),
        Err(error) => return Err(error),
    };
    if let Err(refusal) = guard.judge(&seen) {
        return Ok(Admission::Refused(refusal));
    }
    if room.is_some_and(|room| seen.bytes > room) {
        return Ok(Admission::NoRoom);
    }
    let file = match disk::open_read(path) {
        Ok(file) => file,
        Err(error) => return refused_by_system(error),
    };
    // Opening follows links. If the entry was replaced after the check, this is another file.
    let opened = disk::facts_of(&file)?;
    if opened.identity != seen.identity {
        return Ok(Admission::Refused(Refusal::NotAFile));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(opened.bytes.min(guard.limit)).unwrap_or_default());
    // One byte more than the limit shows that the file grew after its size was read.
    if let Err(error) = file.take(guard.limit + 1).read_to_end(&mut bytes) {
        return refused_by_system(error);
    }
    let size = bytes.len() as u64;
    if size > guard.limit {
        return Ok(Admission::Refused(Refusal::Oversized { bytes: size }));
    }
    match envelope::parse(&bytes) {
        Err(error) => Ok(Admission::Refused(Refusal::Envelope(error))),
        Ok(envelope) => {
            let body = envelope.body.to_vec();
            Ok(Admission::Admitted { header: envelope.header.into_owned(), body, size })
        }
    }
}

fn refused_by_system(error: io::Error) -> io::Result<Admission> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(Admission::Gone),
        // The next attempt would fail too, unlike one that lacked a handle.
        io::ErrorKind::PermissionDenied => Ok(Admission::Refused(Refusal::Unreadable(error.to_string()))),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Facts = Facts {
        is_file: true,
        is_folder: false,
        owner: 1000,
        mode: 0o600,
        bytes: 10,
        identity: (1, 2),
        written: (0, 0),
    };

    #[test]
    fn only_a_private_file_of_ours_within_the_limit_is_read() {
        let guard = Guard { owner: 1000, keeps_modes: true, limit: 10 };
        for (facts, verdict) in [
            (OURS, Ok(())),
            (Facts { mode: 0o400, ..OURS }, Ok(())),
            (Facts { mode: 0o640, ..OURS }, Err(Refusal::Exposed { mode: 0o640 })),
            (Facts { mode: 0o602, ..OURS }, Err(Refusal::Exposed { mode: 0o602 })),
            (Facts { owner: 0, ..OURS }, Err(Refusal::NotOurs { owner: 0 })),
            (Facts { owner: 1001, ..OURS }, Err(Refusal::NotOurs { owner: 1001 })),
            (Facts { is_file: false, is_folder: true, ..OURS }, Err(Refusal::NotAFile)),
            (Facts { is_file: false, ..OURS }, Err(Refusal::NotAFile)),
            (Facts { bytes: 11, ..OURS }, Err(Refusal::Oversized { bytes: 11 })),
        ] {
            assert_eq!(guard.judge(&facts), verdict, "{facts:?}");
        }
    }

    #[test]
    fn modes_are_not_judged_where_every_file_looks_open_to_all() {
        let guard = Guard { owner: 1000, keeps_modes: false, limit: 10 };
        assert_eq!(guard.judge(&Facts { mode: 0o777, ..OURS }), Ok(()));
        let foreign = Facts { mode: 0o777, owner: 0, ..OURS };
        assert_eq!(guard.judge(&foreign), Err(Refusal::NotOurs { owner: 0 }));
    }

    #[test]
    fn only_errors_that_will_not_pass_are_refusals() {
        let refused = |kind: io::ErrorKind| refused_by_system(kind.into());
        assert!(matches!(refused(io::ErrorKind::NotFound), Ok(Admission::Gone)));
        assert!(matches!(
            refused(io::ErrorKind::PermissionDenied),
            Ok(Admission::Refused(Refusal::Unreadable(_)))
        ));
        assert!(refused(io::ErrorKind::Other).is_err());
    }
}
