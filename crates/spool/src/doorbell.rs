//! The doorbell: a datagram that tells a running server to look into the spool.
//!
//! Only a hint. The envelope is already in `new/` when it rings; no server, a full queue or a lost
//! datagram change nothing but the moment at which the server looks. So ringing never blocks, never
//! waits for an answer and never fails.
//!
//! The socket is `<data>/doorbell.sock`. A socket's path has room for about a hundred bytes; where the
//! data folder is deeper, both sides use `agent-tracer-<hash of the data path>.sock` in
//! `$XDG_RUNTIME_DIR`, else in `/tmp/agent-tracer-<uid>/`. That last folder is in a place where anyone
//! may create it first, so it must be a real folder, ours and 0700, or the doorbell stays silent.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Home;
use crate::checksum::xxh64;

/// Longest path used for a socket: the kernels take 104 to 108 bytes with the closing zero.
const SOCKET_PATH_MAX: usize = 100;

/// Rings the doorbell; whether anyone hears it is not the caller's business.
pub fn ring(home: &Home) {
    try_ring(home).ok();
}

fn try_ring(home: &Home) -> io::Result<()> {
    let place = home.doorbell();
    let place = if fits(&place) { place } else { Far::of(home)?.existing()? };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.send_to(b".", place).map(drop)
}

/// The server's end of the doorbell; the socket's file goes when it is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixDatagram,
    path: PathBuf,
    /// Device and inode of the socket's file, so that only our own is removed.
    identity: (u64, u64),
}

impl Listener {
    /// Binds the doorbell of a home, for the user alone.
    ///
    /// The socket that a dead server left behind is replaced; one that a living server listens on is
    /// [`io::ErrorKind::AddrInUse`], and anything that is no socket is left alone.
    pub fn bind(home: &Home) -> io::Result<Listener> {
        let near = home.doorbell();
        let path = if fits(&near) { near } else { Far::of(home)?.made()? };
        remove_stale(&path)?;
        let socket = UnixDatagram::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(&path)?;
        Ok(Listener { socket, identity: (metadata.dev(), metadata.ino()), path })
    }

    /// Waits until the doorbell rings or the time is up, and swallows every further ring that is
    /// already there; returns whether it rang.
    pub fn wait(&self, timeout: Duration) -> io::Result<bool> {
        // A zero timeout would mean "for ever" to the system.
        self.socket.set_nonblocking(false)?;
        self.socket.set_read_timeout(Some(timeout.max(Duration::from_millis(1))))?;
        if !self.receive()? {
            return Ok(false);
        }
        self.socket.set_nonblocking(true)?;
        while self.receive()? {}
        Ok(true)
    }

    /// Returns the socket, for a server that waits by its own means; one datagram is one ring.
    pub fn socket(&self) -> &UnixDatagram {
        &self.socket
    }

    /// Returns where the socket's file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn receive(&self) -> io::Result<bool> {
        let mut byte = [0u8; 1];
        loop {
            return match self.socket.recv(&mut byte) {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    Ok(false)
                }
                Err(error) => Err(error),
            };
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity);
        if ours {
            fs::remove_file(&self.path).ok();
        }
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= SOCKET_PATH_MAX
}

/// Removes a socket that nobody listens on.
fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the doorbell's path is taken by something that is no socket",
        ));
    }
    match UnixDatagram::unbound()?.connect(path) {
        Ok(()) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens on this doorbell")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

/// The socket's place for a data folder that is too deep.
struct Far {
    folder: PathBuf,
    name: String,
    /// The owner of the data folder: who we are, as far as files tell.
    owner: u32,
}

impl Far {
    fn of(home: &Home) -> io::Result<Far> {
        let owner = fs::metadata(home.data())?.uid();
        let folder = match home.runtime() {
            Some(runtime) => runtime.to_owned(),
            None => PathBuf::from(format!("/tmp/agent-tracer-{owner}")),
        };
        let hash = xxh64(home.data().as_os_str().as_bytes());
        Ok(Far { folder, name: format!("agent-tracer-{hash:016x}.sock"), owner })
    }

    /// Returns the path if its folder may be trusted.
    fn existing(&self) -> io::Result<PathBuf> {
        let metadata = fs::symlink_metadata(&self.folder)?;
        let private = metadata.is_dir() && metadata.uid() == self.owner && metadata.mode() & 0o077 == 0;
        if !private {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the doorbell's folder is not a folder of ours alone",
            ));
        }
        Ok(self.folder.join(&self.name))
    }

    /// Returns the path after making its folder.
    fn made(&self) -> io::Result<PathBuf> {
        match fs::DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.existing(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_directory_a_deep_home_rings_in_a_folder_named_after_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(folder.path());
        let owner = fs::metadata(folder.path()).unwrap().uid();
        let far = Far::of(&home).unwrap();
        assert_eq!(far.folder, Path::new(&format!("/tmp/agent-tracer-{owner}")));
        assert!(fits(&far.folder.join(&far.name)));
        assert_eq!(far.owner, owner);
    }
}
