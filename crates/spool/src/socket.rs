//! The paths of a home's sockets.
//!
//! A socket lies in the data folder, unless its path would be too long: the kernels take about a hundred bytes. Then
//! both sides use `agent-tracer-<hash of the socket's path>.sock` in `$XDG_RUNTIME_DIR`, else in
//! `/tmp/agent-tracer-<uid>/`. Any user may create that last folder first, so it must be a real folder, ours and 0700,
//! or there is no socket.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::Home;
use crate::checksum::xxh64;

/// Longest path used for a socket: the kernels take 104 to 108 bytes with the closing zero.
const PATH_MAX: usize = 100;

/// Returns the path at which to find the socket that belongs at `near`, if its folder may be trusted.
pub fn locate(home: &Home, near: &Path) -> io::Result<PathBuf> {
    if fits(near) { Ok(near.to_owned()) } else { FallbackSocket::near(home, near)?.locate() }
}

/// Returns the path at which to create the socket that belongs at `near`.
///
/// Creates the fallback folder if the path is too long.
pub fn create(home: &Home, near: &Path) -> io::Result<PathBuf> {
    if fits(near) { Ok(near.to_owned()) } else { FallbackSocket::near(home, near)?.create() }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= PATH_MAX
}

/// The place of a socket whose path in the data folder would be too long.
struct FallbackSocket {
    folder: PathBuf,
    name: String,
    /// The owner of the data folder, who stands for the user of this process: the standard library has no `getuid`.
    owner: u32,
}

impl FallbackSocket {
    fn near(home: &Home, near: &Path) -> io::Result<FallbackSocket> {
        let owner = fs::metadata(home.data())?.uid();
        let folder = match home.runtime() {
            Some(runtime) => runtime.to_owned(),
            None => PathBuf::from(format!("/tmp/agent-tracer-{owner}")),
        };
        let hash = xxh64(near.as_os_str().as_bytes());
        Ok(FallbackSocket { folder, name: format!("agent-tracer-{hash:016x}.sock"), owner })
    }

    /// Returns the path if its folder may be trusted.
    fn locate(&self) -> io::Result<PathBuf> {
        // The link itself is judged: it could lead to a folder of another user.
        let metadata = fs::symlink_metadata(&self.folder)?;
        let private = metadata.is_dir() && metadata.uid() == self.owner && metadata.mode() & 0o077 == 0;
        if !private {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the folder of the sockets is not a folder of ours alone",
            ));
        }
        Ok(self.folder.join(&self.name))
    }

    /// Returns the path after making its folder.
    fn create(&self) -> io::Result<PathBuf> {
        match fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.locate(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_directory_the_sockets_of_a_deep_home_are_in_a_folder_named_after_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let owner = fs::metadata(folder.path()).unwrap().uid();
        let socket = FallbackSocket::near(&home, &home.doorbell()).unwrap();
        assert_eq!(socket.folder, Path::new(&format!("/tmp/agent-tracer-{owner}")));
        assert!(fits(&socket.folder.join(&socket.name)));
        assert_eq!(socket.owner, owner);
        assert_ne!(socket.name, FallbackSocket::near(&home, &home.answers()).unwrap().name);
    }
}
