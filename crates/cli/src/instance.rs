//! One process at a time writes to a home's ledger.
//!
//! The lock is the system's, on the folder that holds the ledger: it ends with the process, however that ends, and
//! cannot be taken away by removing a file. `ledger.lock` beside the ledger holds the number of the process, for
//! display only, and the address of a server. It is locked too: versions before this one look at nothing else. A server
//! writes the file again if it is removed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_tracer_spool::Home;

use crate::failure::{Failure, plain};

/// Attempts to lock: a process that only probes the lock holds it for a moment.
const ATTEMPTS: u32 = 4;
const BETWEEN: Duration = Duration::from_millis(10);

/// The most that is read of the file.
const TEXT_BYTES: u64 = 128;

/// Held as long as this process may write to the ledger.
#[derive(Debug)]
pub(crate) struct Instance {
    named: Arc<Mutex<LockFile>>,
    state: LockState,
    /// Held, not used. None on a file system that cannot lock folders: there the file alone has to do.
    _folder: Option<File>,
}

/// The file that names this process.
#[derive(Debug)]
struct LockFile {
    path: PathBuf,
    file: File,
    text: String,
}

/// Counts how often the file that names this process was taken away. Clones count the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockState {
    removed: Arc<AtomicU64>,
}

impl LockState {
    /// Returns how often it was taken away.
    pub(crate) fn removed(&self) -> u64 {
        self.removed.load(Ordering::Relaxed)
    }

    /// Returns what is wrong, and what to do about it.
    pub(crate) fn problem(&self) -> Option<String> {
        match self.removed() {
            0 => None,
            times => Some(format!(
                "`ledger.lock` was removed {times} times while the server runs, and was written anew; the ledger stays \
                 locked\nhint: leave the file alone: it stays after every exit and is never in the way"
            )),
        }
    }
}

impl Instance {
    /// Takes the ledger of a home.
    pub(crate) fn take(home: &Home) -> Result<Instance, Failure> {
        Instance::at(&path(home))
    }

    /// Lets others know where this process answers.
    pub(crate) fn publish(&mut self, address: SocketAddr) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.text.push_str(&format!("{address}\n"));
        // On a full disk others read the ledger itself.
        drop(named.write());
    }

    /// Returns what happened to the file that names this process.
    pub(crate) fn state(&self) -> LockState {
        self.state.clone()
    }

    /// Returns a look at the file that names this process, which writes it anew if it is gone.
    pub(crate) fn lock_check(&self) -> impl FnMut() -> Result<(), Failure> + Send + 'static {
        let (named, state) = (Arc::clone(&self.named), self.state.clone());
        move || {
            let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
            if named.is_there() {
                return Ok(());
            }
            state.removed.fetch_add(1, Ordering::Relaxed);
            match named.renew() {
                Ok(()) => Err(Failure::new("`ledger.lock` was removed and was written anew")),
                Err(cause) => Err(Failure::new(format!(
                    "`ledger.lock` was removed and cannot be written: {}",
                    plain(&cause)
                ))),
            }
        }
    }

    /// Returns the address of the process that holds the ledger of a home, or `None` if there is none or it does not
    /// answer.
    pub(crate) fn address(home: &Home) -> Option<SocketAddr> {
        let mut file = File::open(path(home)).ok()?;
        // The file counts only while the lock is held: another program may use that address by now.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => text(&mut file).lines().nth(1)?.parse().ok(),
            // A lock that could be taken belongs to no process; what is written in the file is left from an earlier one.
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }

    /// Returns whether a process holds the ledger of a home.
    pub(crate) fn is_held(home: &Home) -> bool {
        let held = |path: &Path| {
            let locked = File::open(path).map(|file| file.try_lock_shared());
            matches!(locked, Ok(Err(TryLockError::WouldBlock)))
        };
        held(home.data()) || held(&path(home))
    }

    fn at(path: &Path) -> Result<Instance, Failure> {
        // The folder first: a file that another process is about to write anew must not be taken in between.
        let folder = match path.parent().map(File::open) {
            Some(Ok(folder)) => Some(folder),
            _ => None,
        };
        let folder = match folder.map(|folder| (try_lock(&folder), folder)) {
            Some((Ok(()), folder)) => Some(folder),
            Some((Err(TryLockError::WouldBlock), _)) => return Err(busy(path)),
            Some((Err(TryLockError::Error(_)), _)) | None => None,
        };
        let file = open(path).map_err(|cause| Failure::file("open", path, &cause))?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(path)),
            Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", path, &cause)),
        }
        let text = format!("{}\n", std::process::id());
        let mut named = LockFile { path: path.to_owned(), file, text };
        // On a full disk the lock still holds; only its owner cannot be named.
        drop(named.write());
        Ok(Instance { named: Arc::new(Mutex::new(named)), state: LockState::default(), _folder: folder })
    }
}

impl LockFile {
    fn write(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(self.text.as_bytes())
    }

    /// Returns whether its name still leads to it. If that cannot be seen, it is believed to.
    fn is_there(&self) -> bool {
        match (fs::symlink_metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(held)) => (named.dev(), named.ino()) == (held.dev(), held.ino()),
            (Err(cause), _) => cause.kind() != io::ErrorKind::NotFound,
            (_, Err(_)) => true,
        }
    }

    fn renew(&mut self) -> io::Result<()> {
        let file = open(&self.path)?;
        try_lock(&file).map_err(io::Error::from)?;
        self.file = file;
        self.write()
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn try_lock(file: &File) -> Result<(), TryLockError> {
    let mut attempt = 1;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => attempt += 1,
            other => return other,
        }
        #[expect(clippy::disallowed_methods, reason = "no event reports that a lock is released")]
        std::thread::sleep(BETWEEN);
    }
}

fn path(home: &Home) -> PathBuf {
    home.data().join("ledger.lock")
}

fn text(file: &mut File) -> String {
    let mut text = String::new();
    // Anything else in it names no process.
    file.take(TEXT_BYTES).read_to_string(&mut text).map(|_| text).unwrap_or_default()
}

fn busy(path: &Path) -> Failure {
    let text = File::open(path).map(|mut file| text(&mut file)).unwrap_or_default();
    let who = match text.lines().next().map(str::parse::<u32>) {
        Some(Ok(pid)) => format!("process {pid}"),
        _ => "another process".to_owned(),
    };
    Failure::new(format!("the ledger is in use by {who}"))
        .hint("stop `agent-tracer serve` and start it again afterwards: nothing is lost meanwhile")
        .hint("a running server imports history by itself, and `tasks`, `show`, `tail` and `search` work beside it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_learns_who_the_first_is_and_may_try_again_later() {
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
        fs::create_dir_all(home.data()).expect("a folder");
        assert_eq!(Instance::address(&home), None);
        let mut first = Instance::take(&home).expect("the first");
        assert_eq!(Instance::address(&home), None);
        let address = "127.0.0.1:4747".parse().expect("an address");
        first.publish(address);
        assert_eq!(Instance::address(&home), Some(address));
        let refused = Instance::take(&home).expect_err("the second").to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        assert_eq!(Instance::address(&home), None, "another program may listen there by now");
    }

    #[test]
    fn a_lock_with_a_removed_file_still_holds_and_the_file_is_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let mut first = Instance::take(&home).expect("the first");
        let address = "127.0.0.1:4747".parse().expect("an address");
        first.publish(address);
        let (mut look, state) = (first.lock_check(), first.state());
        assert_eq!((look(), state.problem()), (Ok(()), None));
        for _ in 0..2 {
            fs::remove_file(path(&home)).expect("removed");
            let refused = Instance::take(&home).expect_err("the second").to_string();
            assert!(refused.contains("in use") && Instance::is_held(&home), "{refused}");
            assert!(look().is_err());
            assert_eq!(look(), Ok(()));
            assert_eq!(Instance::address(&home), Some(address));
        }
        assert!(state.problem().is_some_and(|problem| problem.contains("removed 2 times")));
        assert_eq!(state.removed(), 2);
        drop((look, first));
        assert!(!Instance::is_held(&home));
        Instance::take(&home).expect("later");
    }

    #[test]
    fn a_free_lock_is_taken_whatever_is_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.lock");
        for text in ["4711\n", "", "nonsense that is longer than any number could ever be"] {
            crate::files::write_private(&path, text.as_bytes()).expect("written");
            drop(Instance::at(&path).expect("taken"));
            let text = fs::read_to_string(&path).expect("text");
            assert_eq!(text, format!("{}\n", std::process::id()));
        }
    }
}
