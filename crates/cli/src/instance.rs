//! One process at a time writes to a home's ledger.
//!
//! The lock is the system's, on an open file: it ends with the process, however that ends. The file also holds the
//! number of the process, only to be shown, and where it listens if it is a server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_tracer_spool::Home;

use crate::failure::Failure;

/// Whoever only looks whether the lock is held has it for a moment; so often it is tried again.
const ATTEMPTS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(10);

/// The most that is read of the file.
const TEXT_BYTES: u64 = 128;

/// Held as long as this process may write to the ledger.
#[derive(Debug)]
pub(crate) struct Instance {
    lock: File,
}

impl Instance {
    /// Takes the ledger of a home.
    pub(crate) fn take(home: &Home) -> Result<Instance, Failure> {
        Instance::at(&path(home))
    }

    /// Lets others know where this process answers.
    pub(crate) fn tell(&mut self, address: SocketAddr) {
        // On a full disk others read the ledger itself.
        drop(self.lock.seek(SeekFrom::End(0)).and_then(|_| writeln!(self.lock, "{address}")));
    }

    /// Where the process answers that holds the ledger of a home; none if nobody does, or it does not answer.
    pub(crate) fn address(home: &Home) -> Option<SocketAddr> {
        let mut file = File::open(path(home)).ok()?;
        // What is in the file counts only while somebody holds it: another program may listen there by now.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => text(&mut file).lines().nth(1)?.parse().ok(),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
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
        let mut attempt = 1;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => attempt += 1,
                Err(TryLockError::WouldBlock) => return Err(busy(&mut file)),
                Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", path, &cause)),
            }
            #[expect(clippy::disallowed_methods, reason = "nobody tells when a lock is given back")]
            std::thread::sleep(BETWEEN);
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        // On a full disk the lock still holds; only its owner cannot be named.
        drop(written);
        Ok(Instance { lock: file })
    }
}

fn path(home: &Home) -> PathBuf {
    home.data().join("ledger.lock")
}

fn text(file: &mut File) -> String {
    let mut text = String::new();
    // Whatever else is in it, it names nobody.
    file.take(TEXT_BYTES).read_to_string(&mut text).map(|_| text).unwrap_or_default()
}

fn busy(file: &mut File) -> Failure {
    let who = match text(file).lines().next().map(str::parse::<u32>) {
        Some(Ok(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    Failure::new(format!("the ledger is in use by {who}"))
        .hint("if that is `agent-tracer serve`, stop it and start it again afterwards: nothing is lost meanwhile")
        .hint("a running server imports history by itself, and `tasks`, `show`, `tail` and `search` work beside it")
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
    fn where_a_process_answers_is_known_only_while_it_holds_the_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        std::fs::create_dir_all(home.data()).expect("a folder");
        assert_eq!(Instance::address(&home), None);
        let mut first = Instance::take(&home).expect("the first");
        assert_eq!(Instance::address(&home), None);
        let address = "127.0.0.1:4747".parse().expect("an address");
        first.tell(address);
        assert_eq!(Instance::address(&home), Some(address));
        let refused = Instance::take(&home).expect_err("the second").to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        assert_eq!(Instance::address(&home), None, "somebody else may listen there by now");
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
