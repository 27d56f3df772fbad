//! Every change to the spool's files, and what is particular to Unix about them.
//!
//! Law: no other room of this crate creates, writes, renames or removes a file of the spool. Each
//! function is one step that either happens or does not (a write may happen by half), so tests can let
//! a process die, or a disk run full, at every single one of them: see `gate`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
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

/// Creates a file for appending that must not exist.
pub(crate) fn create_new_append(path: &Path) -> io::Result<File> {
    gate::pass()?;
    OpenOptions::new().append(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Opens an existing file for appending.
pub(crate) fn open_existing_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
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

/// Tells whether anything has this name, without following it.
pub(crate) fn is_taken(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
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
