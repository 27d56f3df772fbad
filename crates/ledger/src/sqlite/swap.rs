//! Replacement of a store by another, which keeps the old one.
//!
//! A store consists of five files, which cannot be renamed at once. The intention is therefore written first, into a
//! file beside the store, and the next process that opens the store completes an interrupted replacement. Law: a log
//! never stands beside a file that is not its own, not even for a moment, and nothing is removed.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::store_files::{beside, sync_folder};

/// The ends of the names of a store's files; the file itself last, because the others mean nothing without it.
const ENDS: [&str; 5] = ["-journal-of-posts", ".sums", "-shm", "-wal", ""];

/// The marker of an unfinished swap of stores: `out` or `in`, and the folder of the one that goes.
const MARK: &str = ".swap";

/// The suffix of the new store before it is in place.
const INCOMING: &str = ".incoming";

/// Makes the folder in which the new store is made, and returns the path that its file should have.
///
/// # Errors
/// If the folder cannot be made.
pub fn prepare_swap(store: &Path) -> io::Result<PathBuf> {
    finish_swap(store)?;
    remove_incoming(store)?;
    let folder = beside(store, INCOMING);
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder.join(store.file_name().unwrap_or_default()))
}

/// Removes what [`prepare_swap`] made, if nothing came of it. What is being put in place stays: the next opening goes on
/// with it.
///
/// # Errors
/// If it cannot be removed.
pub fn abandon_swap(store: &Path) -> io::Result<()> {
    if is_unfinished(store) {
        return Ok(());
    }
    remove_incoming(store)
}

fn remove_incoming(store: &Path) -> io::Result<()> {
    match fs::remove_dir_all(beside(store, INCOMING)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Puts the store that waits into the place of this one; the files of this one go into a new folder `kept`, beside it.
///
/// # Errors
/// If a file cannot be renamed; the next opening goes on with it.
pub fn swap_store(store: &Path, kept: &Path) -> io::Result<()> {
    swap_in_steps(store, kept, usize::MAX)
}

fn swap_in_steps(store: &Path, kept: &Path, steps: usize) -> io::Result<()> {
    let mut swap = Swap { store, kept: kept.to_owned(), steps };
    if !swap.incoming("").is_file() {
        return Err(io::Error::new(ErrorKind::NotFound, "there is no new store"));
    }
    DirBuilder::new().mode(0o700).create(kept)?;
    // Written down before the first file moves: the next start after a crash finds the mark and goes on, and never has to guess
    // which store is the old one.
    swap.mark("out")?;
    swap.move_out()?;
    swap.move_in()
}

/// Completes a replacement that another process began. Returns `true` if there was one.
///
/// # Errors
/// If a file cannot be renamed, or what is written down cannot be read.
pub fn finish_swap(store: &Path) -> io::Result<bool> {
    let text = match fs::read_to_string(beside(store, MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let unreadable = || {
        io::Error::new(ErrorKind::InvalidData, format!("`{}` says `{text}`", beside(store, MARK).display()))
    };
    let (way, name) = text.trim_end().split_once(' ').ok_or_else(unreadable)?;
    let mut swap = Swap { store, kept: store.with_file_name(name), steps: usize::MAX };
    match way {
        "out" => {
            swap.move_out()?;
            swap.move_in()?;
        }
        "in" => swap.move_in()?,
        _ => return Err(unreadable()),
    }
    Ok(true)
}

/// Returns `true` if there is a store: its file, or one that is to replace it.
#[must_use]
pub fn has_store(store: &Path) -> bool {
    // A path that cannot be looked at is left to the process that opens it.
    store.try_exists().unwrap_or(true) || is_unfinished(store)
}

/// Returns `true` if the replacement of a store is unfinished.
pub(super) fn is_unfinished(store: &Path) -> bool {
    beside(store, MARK).symlink_metadata().is_ok()
}

struct Swap<'s> {
    store: &'s Path,
    kept: PathBuf,
    /// The number of changes of the folder so far, after any of which a test can end.
    steps: usize,
}

impl Swap<'_> {
    fn step(&mut self) -> io::Result<()> {
        self.steps = self.steps.checked_sub(1).ok_or(ErrorKind::Interrupted)?;
        Ok(())
    }

    fn incoming(&self, end: &str) -> PathBuf {
        beside(&beside(self.store, INCOMING).join(self.store.file_name().unwrap_or_default()), end)
    }

    fn mark(&mut self, way: &str) -> io::Result<()> {
        self.step()?;
        let name = self.kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = beside(self.store, ".swap.part");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        writeln!(file, "{way} {name}")?;
        // The name must not point to a plan that is not on disk: after a power cut an empty mark would stop every
        // start.
        file.sync_all()?;
        self.step()?;
        fs::rename(&part, beside(self.store, MARK))?;
        sync_folder(self.store)
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::rename(from, to) {
            // Already moved by the process that was killed, or never there: a store without a log has no such file.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Ok(()) => self.step(),
            Err(error) => Err(error),
        }
    }

    /// Moves the old files away. All that stands in the store's place is old until the mark says otherwise.
    fn move_out(&mut self) -> io::Result<()> {
        let kept = self.kept.join(self.store.file_name().unwrap_or_default());
        for end in ENDS {
            self.rename(&beside(self.store, end), &beside(&kept, end))?;
        }
        sync_folder(&kept)?;
        sync_folder(self.store)?;
        self.mark("in")
    }

    /// Moves the files that the new store set aside to those of the old one. None of them was acknowledged by the new
    /// store alone, so a failed move loses nothing.
    fn keep_aside(&self) {
        let (from, to) = (self.incoming(".aside"), beside(self.store, ".aside"));
        let Ok(entries) = fs::read_dir(&from) else { return };
        drop(DirBuilder::new().mode(0o700).create(&to));
        for entry in entries.flatten() {
            let place = to.join(entry.file_name());
            if place.symlink_metadata().is_err() {
                drop(fs::rename(entry.path(), place));
            }
        }
    }

    fn move_in(&mut self) -> io::Result<()> {
        for end in ENDS {
            self.rename(&self.incoming(end), &beside(self.store, end))?;
        }
        sync_folder(self.store)?;
        self.keep_aside();
        self.step()?;
        remove_incoming(self.store)?;
        // Where there was no store, nothing is kept.
        drop(fs::remove_dir(&self.kept));
        self.step()?;
        fs::remove_file(beside(self.store, MARK))?;
        sync_folder(self.store)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn put(path: &Path, text: &str) {
        let mut file = File::create(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn said(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    /// Writes old and new files of a store.
    fn lay(folder: &Path, old: &[&str]) -> (PathBuf, PathBuf) {
        let store = folder.join("ledger.db");
        for end in old {
            put(&beside(&store, end), &format!("old{end}"));
        }
        let new = prepare_swap(&store).unwrap();
        put(&new, "new");
        put(&beside(&new, "-journal-of-posts"), "new-journal-of-posts");
        (store, folder.join("ledger.db.before"))
    }

    #[test]
    fn one_that_is_ended_anywhere_is_gone_on_with_and_loses_nothing() {
        for old in [&ENDS[..], &["", "-wal"], &["-wal"], &[]] {
            let mut ends = 0;
            for steps in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let (store, kept) = lay(folder.path(), old);
                let is_done = swap_in_steps(&store, &kept, steps).is_ok();
                // No log of the old one beside the new one, at any moment.
                let (file, log) = (said(&store), said(&beside(&store, "-wal")));
                assert!(!(file.as_deref() == Some("new") && log.is_some()), "{old:?} {steps}");
                let is_marked = is_unfinished(&store);
                let is_none_yet = !is_marked && !is_done && !old.contains(&"");
                assert!(is_none_yet || has_store(&store), "{old:?} {steps}");
                assert_eq!(finish_swap(&store).unwrap(), is_marked, "{old:?} {steps}");
                let is_begun = is_done || is_marked || said(&store).as_deref() == Some("new");
                if is_begun {
                    assert_eq!(said(&store).as_deref(), Some("new"), "{old:?} {steps}");
                    assert_eq!(
                        said(&beside(&store, "-journal-of-posts")).as_deref(),
                        Some("new-journal-of-posts")
                    );
                    for end in old {
                        let file = beside(&kept.join("ledger.db"), end);
                        assert_eq!(said(&file), Some(format!("old{end}")), "{old:?} {steps}");
                    }
                    assert_eq!(kept.exists(), !old.is_empty());
                } else {
                    for end in old {
                        assert_eq!(said(&beside(&store, end)), Some(format!("old{end}")), "{old:?} {steps}");
                    }
                }
                assert!(!is_unfinished(&store));
                if is_done {
                    break;
                }
                ends += 1;
            }
            assert!(ends >= 6, "{ends}");
        }
    }

    #[test]
    fn what_is_kept_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let (store, kept) = lay(folder.path(), &ENDS);
        fs::create_dir(&kept).unwrap();
        assert!(swap_store(&store, &kept).is_err());
        assert_eq!(said(&store).as_deref(), Some("old"));
        assert!(!is_unfinished(&store));
        abandon_swap(&store).unwrap();
        assert!(swap_store(&store, &folder.path().join("other")).is_err(), "there is no new store");
    }
}
