//! One process at a time writes to a home's ledger.
//!
//! The lock is the system's, on an open file: it ends with the process, however that ends. The file also holds the
//! number of the process, only to be shown.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use agent_tracer_spool::Home;

use crate::failure::Failure;

/// Held as long as this process may write to the ledger.
#[derive(Debug)]
pub(crate) struct Instance {
    _lock: File,
}

impl Instance {
    /// Takes the ledger of a home.
    pub(crate) fn take(home: &Home) -> Result<Instance, Failure> {
        Instance::at(&home.data().join("ledger.lock"))
    }

    fn at(path: &Path) -> Result<Instance, Failure> {
        let fail = |cause| Failure::file("open", path, &cause);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(&mut file)),
            Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", path, &cause)),
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        // On a full disk the lock still holds; only its owner cannot be named.
        drop(written);
        Ok(Instance { _lock: file })
    }
}

fn busy(file: &mut File) -> Failure {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    let who = match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    Failure::new(format!("the ledger is in use by {who}")).hint(
        "a running `agent-tracer serve` reads everything by itself; stop it first if you want to do this without it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_the_first_is_and_may_try_again_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.lock");
        let first = Instance::at(&path).expect("the first");
        let refused = Instance::at(&path).expect_err("the second").to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        assert!(refused.contains("\nhint: "), "{refused}");
        drop(first);
        Instance::at(&path).expect("later");
    }

    #[test]
    fn a_lock_that_nobody_holds_is_taken_whatever_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.lock");
        for text in ["4711\n", "", "nonsense that is longer than any number could ever be"] {
            crate::files::write_private(&path, text.as_bytes()).expect("written");
            drop(Instance::at(&path).expect("taken"));
            let told = std::fs::read_to_string(&path).expect("text");
            assert_eq!(told, format!("{}\n", std::process::id()));
        }
    }
}
