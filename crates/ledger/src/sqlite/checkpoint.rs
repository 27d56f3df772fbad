//! Moves the write-ahead log into the file beside the writer.
//!
//! Somebody has to copy the pages of the log and wait for the disk twice. On the writer's thread that would be a commit
//! that takes a hundred times as long as the others, for whoever happens to wait for it.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, OpenFlags};

use super::OpenError;
use crate::journal::Settle;

/// The thread that moves the log, and the way to wake it. It ends when this is dropped.
pub(super) struct Checkpointer {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Begins to wait for work on a file that the writer has opened.
    pub(super) fn start(path: &Path) -> Result<Self, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        // The log must be on disk before the file is changed, and the file before the log is used again.
        conn.pragma_update(None, "synchronous", "FULL")?;
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("ledger-log".to_owned())
            .spawn(move || work(&conn, &woken))
            .map_err(|error| OpenError::Io(error.to_string()))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    /// Lets it move what the log holds now. Does not wait.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            // Full: it has been woken already and has not begun yet.
            wake.try_send(()).ok();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn work(conn: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // What could not be moved now stays in the log, where it is as safe and as readable.
        conn.pragma_update(None, "wal_checkpoint", "PASSIVE").ok();
    }
}

/// Waits until everything that was committed is on disk: what is not in this log any more is in the file.
pub(super) fn settler(log: PathBuf) -> Settle {
    Box::new(move || match File::open(&log) {
        Ok(log) => log.sync_data(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_log_comes_into_the_file_without_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let conn = super::super::open::open(&path).unwrap();
        let size = || std::fs::metadata(&path).unwrap().len();
        let before = size();
        let checkpointer = Checkpointer::start(&path).unwrap();
        checkpointer.wake();
        // It finishes what it was woken for before it ends.
        drop(checkpointer);
        assert!(size() > before, "the tables are in the file");
        assert!(conn.query_row("SELECT count(*) FROM task", [], |row| row.get::<_, i64>(0)).is_ok());
    }
}
