//! The files that the store is made of, and whether they are still those that were opened.
//!
//! A file that is removed or replaced while it is open goes on to take writes, and all of them are gone when the
//! process ends. So what is committed is acknowledged only if each name still leads to the file that was opened.
//!
//! The same holds for a file that was cut or written over in place: the engine writes on behind a hole, and the next
//! one that opens the store finds no log at all. Law: what was cut stays so until the store is opened anew, because no
//! one knows what is gone.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::AppendError;
use super::wal;

/// A file by its name, and what is known of it.
#[derive(Debug)]
struct WatchedFile {
    path: PathBuf,
    part: FileRole,
    /// None until it is there: the log is made by the first write.
    known: Mutex<Option<FileState>>,
}

/// Names the role of a file in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    Store,
    Log,
    /// One that the engine or the journal makes longer and shorter as it likes.
    Other,
}

/// The last known state of a file.
#[derive(Debug)]
struct FileState {
    /// Device and inode.
    identity: (u64, u64),
    bytes: u64,
    /// The number of this use of the log.
    salts: Option<(u32, u32)>,
    /// A handle on the log. The store has none of its own: with the first handle that is closed, all locks on it go.
    log: Option<File>,
    is_cut: bool,
}

/// The files of an open store.
#[derive(Debug, Default)]
pub(crate) struct StoreFiles {
    files: Vec<WatchedFile>,
    /// A handle on the store that is closed after every connection.
    store: OnceLock<Arc<File>>,
    /// The store begins with a page that this process did not write.
    is_overwritten: AtomicBool,
}

impl StoreFiles {
    /// Remembers which files these names lead to now.
    pub(crate) fn open(paths: impl IntoIterator<Item = (PathBuf, FileRole)>) -> Self {
        let watched = |(path, part)| WatchedFile { path, part, known: Mutex::new(None) };
        let files = Self { files: paths.into_iter().map(watched).collect(), ..Self::default() };
        // What is cut or replaced is so only in comparison with what was there before.
        drop(files.check());
        files
    }

    /// Reads the store through this handle from now on.
    pub(super) fn hold(&self, store: Arc<File>) {
        self.store.set(store).ok();
    }

    /// Notes whether the store begins with a page that no one here wrote.
    pub(super) fn note_overwritten(&self, is_overwritten: bool) {
        self.is_overwritten.store(is_overwritten, Ordering::SeqCst);
    }

    /// Looks whether each name still leads to its file, and whether that still holds what was in it.
    pub(crate) fn check(&self) -> Result<(), AppendError> {
        for file in &self.files {
            // A name that cannot be looked at for the moment says nothing.
            let mut known = file.known.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(now) = facts(&file.path) else { continue };
            let what = match (known.as_mut(), now) {
                // Device and inode: a file of the same name, length and time can still be another one.
                (Some(known), Some((identity, bytes))) if known.identity == identity => {
                    self.compare(file, known, bytes);
                    known.is_cut.then_some("cut short")
                }
                (None, now) => {
                    *known = now.map(|(identity, bytes)| FileState::read(file, identity, bytes));
                    None
                }
                (Some(_), Some(_)) => Some("replaced by another file"),
                (Some(_), None) => Some("removed"),
            };
            if let Some(what) = what {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                return Err(AppendError::Gone(format!("`{name}` was {what}")));
            }
        }
        self.check_first_page()
    }

    /// Looks whether the files still hold what was in them, wherever they are. If not, moving the log would do harm.
    pub(super) fn check_contents(&self) -> Result<(), AppendError> {
        // Its answer is only about names. It is called for what it learns of lengths and salts, which decide below.
        drop(self.check());
        for file in &self.files {
            let known = file.known.lock().unwrap_or_else(PoisonError::into_inner);
            let is_emptied =
                |known: &FileState| file.part == FileRole::Log && known.bytes == 0 && known.salts.is_some();
            if known.as_ref().is_some_and(|known| known.is_cut || is_emptied(known)) {
                let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                return Err(AppendError::Gone(format!("`{name}` was cut short")));
            }
        }
        self.check_first_page()
    }

    fn check_first_page(&self) -> Result<(), AppendError> {
        if self.is_overwritten.load(Ordering::SeqCst) {
            return Err(AppendError::Gone("`ledger.db` was written over".to_owned()));
        }
        Ok(())
    }

    /// Compares how long a file is with how long it was.
    fn compare(&self, file: &WatchedFile, known: &mut FileState, bytes: u64) {
        match file.part {
            FileRole::Other => {}
            // The engine makes it shorter too, and says so on the first page.
            FileRole::Store => {
                known.is_cut |=
                    bytes < known.bytes && !self.store.get().is_some_and(|store| is_whole(store, bytes));
                known.bytes = bytes;
            }
            // A checkpoint may cut the log after it has moved all of it. The engine then begins the log with other
            // salts. A log that another process cut has none at its beginning when the next commit is written.
            FileRole::Log if bytes == 0 => known.bytes = 0,
            FileRole::Log => {
                if known.log.is_none() {
                    // Kept open, because this runs before and after every commit. The identity was compared above, so
                    // the handle leads to the same file.
                    known.log = File::open(&file.path).ok();
                }
                let Some(Ok(salts)) = known.log.as_ref().map(wal::salts) else { return };
                let is_anew = known.salts != salts;
                known.is_cut |= salts.is_none() || (!is_anew && bytes < known.bytes);
                (known.salts, known.bytes) = (salts, bytes);
            }
        }
    }
}

impl FileState {
    fn read(file: &WatchedFile, identity: (u64, u64), bytes: u64) -> Self {
        let log = if file.part == FileRole::Log { File::open(&file.path).ok() } else { None };
        let salts = log.as_ref().and_then(|log| wal::salts(log).ok().flatten());
        Self { identity, bytes, salts, log, is_cut: false }
    }
}

/// Returns `true` if a store of this length has as many pages as its first page says.
fn is_whole(store: &File, bytes: u64) -> bool {
    let mut head = [0; 32];
    if store.read_exact_at(&mut head, 0).is_err() {
        return false;
    }
    let number = |at: std::ops::Range<usize>| {
        head.get(at).unwrap_or_default().iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let size = match number(16..18) {
        1 => 65_536,
        size => size,
    };
    bytes > 0 && bytes >= number(28..32) * size
}

/// Returns the file beside another one whose name ends in this.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(end);
    PathBuf::from(beside)
}

/// Waits until the names in the folder of a file are on disk: a file that was made may otherwise be gone with the
/// power, whatever was waited for in it.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

/// Returns which file this is, and how long.
fn facts(path: &Path) -> io::Result<Option<((u64, u64), u64)>> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some(((facts.dev(), facts.ino()), facts.len()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_removed_or_replaced_is_missed_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let [kept, aside, late] =
            ["ledger.db", "aside.db", "ledger.db-wal"].map(|name| folder.path().join(name));
        File::create(&kept).unwrap();
        let files = StoreFiles::open([(kept.clone(), FileRole::Other), (late.clone(), FileRole::Log)]);
        files.check().unwrap();
        File::create(&late).unwrap();
        files.check().unwrap();
        fs::rename(&kept, &aside).unwrap();
        let gone = files.check().unwrap_err().to_string();
        assert!(gone.contains("`ledger.db` was removed"), "{gone}");
        File::create(&kept).unwrap();
        let replaced = files.check().unwrap_err().to_string();
        assert!(replaced.contains("`ledger.db` was replaced"), "{replaced}");
        fs::rename(&aside, &kept).unwrap();
        files.check().unwrap();
        fs::remove_file(&late).unwrap();
        assert!(files.check().is_err(), "the log was there");
    }
}
