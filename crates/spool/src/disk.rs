//! Every change to the spool's files, and everything about them that is particular to Unix.
//!
//! Law: no other room of this crate creates, writes, renames or removes a file of the spool. Each
//! function is one step that either happens or does not (a write may happen by half), so tests can let
//! a process die, or a disk run full, at every single one of them: see `gate`.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, ReadDir};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Creates a file that must not exist.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    gate::pass()?;
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Opens a file for appending, and creates it if it is not there.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    gate::pass()?;
    OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(path)
}

/// Opens a file for reading. Changes nothing, but can fail like everything else.
pub(crate) fn open_read(path: &Path) -> io::Result<File> {
    gate::pass()?;
    File::open(path)
}

/// Opens a folder for listing.
pub(crate) fn list(path: &Path) -> io::Result<ReadDir> {
    gate::pass()?;
    fs::read_dir(path)
}

/// Writes all bytes, in one system call unless the kernel takes fewer.
pub(crate) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    match gate::pass_write(bytes)? {
        None => file.write_all(bytes),
        Some((part, error)) => file.write_all(part).and(Err(error)),
    }
}

/// Renames a file within the spool.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    gate::pass()?;
    fs::rename(from, to)
}

/// Removes a file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    gate::pass()?;
    fs::remove_file(path)
}

/// Creates a folder and its missing parents, for the user alone.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    gate::pass()?;
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Removes a file if that is possible; for leftovers that the sweep would find as well.
pub(crate) fn try_remove(path: &Path) {
    remove(path).ok();
}

/// Cuts or extends a file.
pub(crate) fn set_len(file: &File, bytes: u64) -> io::Result<()> {
    gate::pass()?;
    file.set_len(bytes)
}

/// Closes a folder to all users but its owner.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    gate::pass()?;
    fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))
}

/// Opens or creates a file for the user alone, to be locked.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    gate::pass()?;
    OpenOptions::new().write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// The metadata of a directory entry; a link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) is_file: bool,
    pub(crate) is_folder: bool,
    /// The user id of the owner.
    pub(crate) owner: u32,
    /// The permission bits.
    pub(crate) mode: u32,
    pub(crate) bytes: u64,
    /// Device and inode, which identify the file under any name.
    pub(crate) identity: (u64, u64),
    /// The time of the last write: seconds since the epoch, and nanoseconds.
    pub(crate) written: (i64, i64),
}

impl Facts {
    /// Returns `true` if group or others have any right.
    pub(crate) fn is_exposed(&self) -> bool {
        self.mode & 0o077 != 0
    }
}

impl From<Metadata> for Facts {
    fn from(metadata: Metadata) -> Facts {
        Facts {
            is_file: metadata.is_file(),
            is_folder: metadata.is_dir(),
            owner: metadata.uid(),
            mode: metadata.mode() & 0o7777,
            bytes: metadata.len(),
            identity: (metadata.dev(), metadata.ino()),
            written: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Returns the facts of a name, which may be a link.
pub(crate) fn facts(path: &Path) -> io::Result<Facts> {
    fs::symlink_metadata(path).map(Facts::from)
}

/// Returns the facts of an open file.
pub(crate) fn facts_of(file: &File) -> io::Result<Facts> {
    file.metadata().map(Facts::from)
}

/// Returns the bytes of a file name.
pub(crate) fn name_bytes(name: &OsStr) -> &[u8] {
    name.as_bytes()
}

/// Returns `true` if an entry of this name exists, even a dangling link.
pub(crate) fn is_taken(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns `true` if an operation failed because the system ran short of a resource or was interrupted, not because of
/// the file itself.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    use io::ErrorKind::{
        Deadlock, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable, NotConnected, OutOfMemory,
        QuotaExceeded, ResourceBusy, StaleNetworkFileHandle, StorageFull, TimedOut, WouldBlock,
    };
    /// `ENFILE` and `EMFILE`, which have no `ErrorKind`. The numbers are the same on Linux, macOS and the BSDs.
    const NO_HANDLES: [i32; 2] = [23, 24];
    if error.raw_os_error().is_some_and(|code| NO_HANDLES.contains(&code)) {
        return true;
    }
    matches!(
        error.kind(),
        Deadlock
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | NotConnected
            | OutOfMemory
            | QuotaExceeded
            | ResourceBusy
            | StaleNetworkFileHandle
            | StorageFull
            | TimedOut
            | WouldBlock
    )
}

/// The gate of the shipped code: always open, and gone after compilation.
#[cfg(not(test))]
mod gate {
    use std::io;

    #[inline(always)]
    pub(super) fn pass() -> io::Result<()> {
        Ok(())
    }

    #[inline(always)]
    pub(super) fn pass_write(_bytes: &[u8]) -> io::Result<Option<(&[u8], io::Error)>> {
        Ok(None)
    }
}

#[cfg(test)]
pub(crate) mod gate;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_no_fault_of_the_file() {
        // ENFILE, EMFILE, ENOMEM, EINTR.
        for code in [23, 24, 12, 4] {
            assert!(is_shortage(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for kind in
            [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::StaleNetworkFileHandle]
        {
            assert!(is_shortage(&kind.into()), "{kind:?}");
        }
        // EIO, EISDIR, EINVAL.
        for code in [5, 21, 22] {
            assert!(!is_shortage(&io::Error::from_raw_os_error(code)), "{code}");
        }
        assert!(!is_shortage(&io::Error::other("damaged")));
    }
}
