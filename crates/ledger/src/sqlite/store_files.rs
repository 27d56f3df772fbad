//! The files that the store is made of, and whether they are still those that were opened.
//!
//! A file that is removed or replaced while it is open goes on to take writes, and all of them are gone when the process
//! ends. So what is committed is acknowledged only if each name still leads to the file that was opened.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::AppendError;

/// A file by its name, and which file that was: device and inode.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    /// None until it is there: the log is made by the first write.
    identity: Mutex<Option<(u64, u64)>>,
}

/// The files of an open store.
#[derive(Debug)]
pub(crate) struct StoreFiles {
    files: Vec<Watched>,
}

impl StoreFiles {
    /// Remembers which files these names lead to now.
    pub(crate) fn open(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let watched = |path: PathBuf| Watched { identity: Mutex::new(identity(&path).ok().flatten()), path };
        Self { files: paths.into_iter().map(watched).collect() }
    }

    /// Looks whether each name still leads to its file.
    pub(crate) fn check(&self) -> Result<(), AppendError> {
        for file in &self.files {
            // A name that cannot be looked at for the moment says nothing.
            let Ok(now) = identity(&file.path) else { continue };
            let mut known = file.identity.lock().unwrap_or_else(PoisonError::into_inner);
            match (*known, now) {
                (Some(then), Some(now)) if then == now => {}
                (None, now) => *known = now,
                (Some(_), now) => {
                    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
                    let what = if now.is_some() { "replaced by another file" } else { "removed" };
                    return Err(AppendError::Gone(format!("`{name}` was {what}")));
                }
            }
        }
        Ok(())
    }
}

/// Returns the file beside another one whose name ends in this.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(end);
    PathBuf::from(beside)
}

/// Waits until the names in the folder of a file are on disk: a file that was made may otherwise be gone with the power,
/// whatever was waited for in it.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => fs::File::open(".")?.sync_all(),
    }
}

fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some((facts.dev(), facts.ino()))),
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
        fs::File::create(&kept).unwrap();
        let files = StoreFiles::open([kept.clone(), late.clone()]);
        files.check().unwrap();
        fs::File::create(&late).unwrap();
        files.check().unwrap();
        fs::rename(&kept, &aside).unwrap();
        let gone = files.check().unwrap_err().to_string();
        assert!(gone.contains("`ledger.db` was removed"), "{gone}");
        fs::File::create(&kept).unwrap();
        let replaced = files.check().unwrap_err().to_string();
        assert!(replaced.contains("`ledger.db` was replaced"), "{replaced}");
        fs::rename(&aside, &kept).unwrap();
        files.check().unwrap();
        fs::remove_file(&late).unwrap();
        assert!(files.check().is_err(), "the log was there");
    }
}
