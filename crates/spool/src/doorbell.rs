//! The doorbell: a datagram that makes a running server look into the spool.
//!
//! Only a hint. The envelope is already in `new/` when it rings; no server, a full queue or a lost
//! datagram change nothing but the moment at which the server looks. So ringing never blocks, never
//! waits for an answer and never fails.
//!
//! The socket is `<data>/doorbell.sock`, or at the path of [`crate::socket`] if that is too long.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Home, socket};

/// Rings the doorbell. Failures are ignored: the envelope is already in the spool.
pub fn ring(home: &Home) {
    try_ring(home).ok();
}

fn try_ring(home: &Home) -> io::Result<()> {
    let place = socket::locate(home, &home.doorbell())?;
    // Unbound: a name of its own would leave a file for each hook.
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
        let path = socket::create(home, &home.doorbell())?;
        // The file of a socket outlives its process, and a second bind to it fails.
        remove_stale(&path)?;
        let socket = UnixDatagram::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let metadata = fs::symlink_metadata(&path)?;
        Ok(Listener { socket, identity: (metadata.dev(), metadata.ino()), path })
    }

    /// Waits until the doorbell rings or the time is up, and discards every further ring that is
    /// already queued. Returns `false` on timeout.
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

    /// Returns the path of the socket's file.
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

/// Removes a socket without a listener.
fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the doorbell's path is taken by a file that is not a socket",
        ));
    }
    // Connecting is the only test: a file alone does not show whether a server listens.
    match UnixDatagram::unbound()?.connect(path) {
        Ok(()) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens on this doorbell")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}
