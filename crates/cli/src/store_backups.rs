//! Backups of the store: where they are, how one is made, and what a purge does to them. When: [`schedule`].
//!
//! `backup/store-<time>.db` is one that was asked for or is due; `ledger.db.before-<time>` and `ledger.db.damaged-<time>` are
//! folders with the files of a store that another replaced; `ledger.db.schema-<N>.backup` is what an upgrade keeps.
//! `backup/.store-<time>.db.part` and `ledger.db.incoming` are what a process left that was killed while it made one.
//! Law: a backup is whole or not there, and for the user alone. No whole one goes while the store is known to be damaged.

mod schedule;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::{
    Contents, CopyError, Pace, check_pages, copy_holds, copy_store, error_text, remove_copy, verify_copy,
};
use agent_tracer_spool::Home;
use nix::sys::statvfs::statvfs;

use crate::failure::{Failure, plain};
use crate::output::Output;
use crate::{backup_job, files, sources};

pub(crate) use schedule::{BackupInterval, parse_span, span, start, status};

/// So much room stays free behind a backup.
const SPARE_BYTES: u64 = 64 << 20;
/// Suffix of a copy while it is written.
const PART: &str = ".db.part";
/// Age at which the remains of a backup by a dead process are removed.
const LEFTOVER: Duration = Duration::from_secs(24 * 60 * 60);

/// Lists the kinds of copies of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Asked for, or made from time to time.
    Store,
    /// The files of a store that another replaced.
    Undo,
    /// Kept by an upgrade.
    Upgrade,
    /// Left by a process that was killed while it made a copy. Nothing can be brought back from it, but it holds what was
    /// copied.
    Unfinished,
}

impl Kind {
    /// Returns the word that lists show.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Store => "store",
            Kind::Undo => "undo",
            Kind::Upgrade => "upgrade",
            Kind::Unfinished => "unfinished",
        }
    }
}

/// A copy of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreBackup {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// Time of the backup.
    pub(crate) at: Millis,
    pub(crate) bytes: u64,
    /// The file, or the folder of an undo.
    pub(crate) path: PathBuf,
}

impl StoreBackup {
    /// Returns the file of the store itself.
    pub(crate) fn file(&self) -> PathBuf {
        if self.kind == Kind::Undo { self.path.join("ledger.db") } else { self.path.clone() }
    }

    /// Returns whether it may hold any of these tasks. One that cannot be read may.
    pub(crate) fn may_hold(&self, tasks: &[TaskId]) -> bool {
        self.kind == Kind::Unfinished || !matches!(copy_holds(&self.file(), tasks), Ok(false))
    }

    /// Checks every byte of a backup, and says what is wrong. The other kinds have no sum, and may be kept because they are
    /// damaged.
    pub(crate) fn damage(&self) -> Option<String> {
        let error = (self.kind == Kind::Store).then(|| verify_copy(&self.file()).err())??;
        let text = error_text(&error);
        Some(text.split("\nhint: ").next().unwrap_or(&text).to_owned())
    }

    /// Removes it for good, with all that stands beside it.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        let removed =
            if self.path.is_dir() { fs::remove_dir_all(&self.path) } else { remove_copy(&self.path) };
        removed.map_err(|cause| Failure::file("remove", &self.path, &cause))
    }
}

/// Returns the file of the store of a home.
pub(crate) fn store(home: &Home) -> PathBuf {
    home.data().join("ledger.db")
}

/// Returns a moment as names have it.
pub(crate) fn stamp(at: Millis) -> String {
    at.to_string().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Reads a moment from a name: `20261115T211004001Z`.
pub(crate) fn moment(stamp: &str) -> Option<Millis> {
    let part = |from, to| stamp.get(from..to);
    let is_stamp = stamp.len() == 19 && stamp.is_ascii();
    let text = format!(
        "{}-{}-{}T{}:{}:{}.{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 15)?,
        part(15, 18)?
    );
    if is_stamp { Millis::parse(&text) } else { None }
}

/// Returns the folder into which the files of a store go that another replaces.
pub(crate) fn undo_folder(home: &Home, why: &str, now: Millis) -> PathBuf {
    home.data().join(format!("ledger.db.{why}-{}", stamp(now)))
}

/// Lists all copies of the store, the oldest first.
pub(crate) fn list(home: &Home) -> Result<Vec<StoreBackup>, Failure> {
    let mut found = Vec::new();
    for folder in [backup_job::folder(home), home.data().to_owned()] {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(Failure::file("read the folder", &folder, &cause)),
        };
        let is_data = folder == home.data();
        for entry in entries {
            let entry = entry.map_err(|cause| Failure::file("read the folder", &folder, &cause))?;
            if let Ok(name) = entry.file_name().into_string() {
                found.extend(look(is_data, name, &entry.path()));
            }
        }
    }
    // Each file of an unfinished one leads to it.
    let mut known = BTreeSet::new();
    found.retain(|backup: &StoreBackup| known.insert(backup.path.clone()));
    found.sort_by(|one, two| (one.at, &one.name).cmp(&(two.at, &two.name)));
    Ok(found)
}

/// Returns how many bytes a file has, or the files of a folder.
fn bytes_of(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.metadata().ok()).map(|facts| facts.len()).sum()
        }
        facts => facts.map_or(0, |facts| facts.len()),
    }
}

/// Looks whether a name is that of a copy which was not finished, or of what stands beside one.
fn look_for_unfinished(is_data: bool, name: &str, path: &Path) -> Option<StoreBackup> {
    let name = if is_data {
        // While a store is being put in its place, what waits there is no leftover.
        let is_waiting = path.with_file_name("ledger.db.swap").symlink_metadata().is_ok();
        (name == "ledger.db.incoming" && !is_waiting).then_some(name)?
    } else {
        let end = name.find(PART).map_or(name.len(), |at| at + PART.len());
        name.starts_with(".store-").then(|| name.get(..end))??
    };
    let facts = fs::symlink_metadata(path).ok()?;
    let since = facts.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let path = path.with_file_name(name);
    Some(StoreBackup {
        kind: Kind::Unfinished,
        name: name.to_owned(),
        at: Millis(i64::try_from(since.as_millis()).ok()?),
        bytes: bytes_of(&path),
        path,
    })
}

fn look(is_data: bool, name: String, path: &Path) -> Option<StoreBackup> {
    if let Some(unfinished) = look_for_unfinished(is_data, &name, path) {
        return Some(unfinished);
    }
    let facts = fs::symlink_metadata(path).ok()?;
    let between = |begin: &str, end: &str| name.strip_prefix(begin)?.strip_suffix(end);
    let (kind, at, bytes) = if !is_data {
        (Kind::Store, moment(between("store-", ".db")?)?, facts.is_file().then_some(facts.len())?)
    } else if facts.is_dir() {
        let at = between("ledger.db.before-", "").or_else(|| between("ledger.db.damaged-", ""))?;
        (Kind::Undo, moment(at)?, bytes_of(path))
    } else {
        between("ledger.db.schema-", ".backup")?.parse::<u32>().ok()?;
        let since = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        (Kind::Upgrade, Millis(i64::try_from(since.as_millis()).ok()?), facts.len())
    };
    Some(StoreBackup { kind, name, at, bytes, path: path.to_owned() })
}

/// Returns the hint that names the newest backup of the store beside a damaged one, if there is any.
pub(crate) fn hint(store: &Path) -> Option<String> {
    let home = Home::in_folder(store.parent()?);
    let newest = list(&home).ok()?.into_iter().rfind(|backup| backup.kind == Kind::Store)?;
    Some(format!("`agent-tracer backup restore {}` brings back the newest backup", newest.name))
}

/// Refuses to go on where there is no room for so many bytes.
pub(crate) fn check_room(folder: &Path, bytes: u64) -> Result<(), Failure> {
    // The folder of the backups is made later, so its nearest parent answers.
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    // A file system that does not answer is no reason to refuse: the copy itself fails without room.
    let Ok(facts) = statvfs(there) else { return Ok(()) };
    #[expect(clippy::useless_conversion, reason = "not useless where the system's type is narrower")]
    let free = u64::from(facts.blocks_available()).saturating_mul(u64::from(facts.fragment_size()));
    let needed = bytes.saturating_add(SPARE_BYTES);
    if free >= needed {
        return Ok(());
    }
    let text =
        format!("no room in `{}`: {} are needed and {} are free", folder.display(), size(needed), size(free));
    Err(Failure::new(text).hint("free some space, or remove a backup with `agent-tracer backup remove NAME`"))
}

/// Returns how many bytes the files of a store have.
pub(crate) fn store_bytes(store: &Path) -> u64 {
    let length = |end: &str| {
        let mut path = store.as_os_str().to_owned();
        path.push(end);
        fs::metadata(PathBuf::from(path)).map_or(0, |facts| facts.len())
    };
    // The log counts: after a burst it holds more than the file.
    length("") + length("-wal")
}

/// Writes a number of bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Makes a backup of the store now, whether or not a server runs.
pub(crate) fn make(
    home: &Home,
    now: Millis,
    pace: impl FnMut(u64, u64) -> Pace,
) -> Result<(StoreBackup, Contents), Failure> {
    let made = try_make(home, now, pace);
    match &made {
        // A success ends the report of an earlier failure in doctor and health.
        Ok(_) => drop(fs::remove_file(failure_mark(home))),
        Err(failure) => note_failure(home, now, failure),
    }
    made
}

/// Notes what doctor and health say of the last backup; without it they say that one is overdue.
fn note_failure(home: &Home, now: Millis, failure: &Failure) {
    let text = format!("{now} {}\n", failure.message());
    drop(files::write_private(&failure_mark(home), text.as_bytes()));
}

/// Refuses to back up a store of which pages are not what was written. Of a store that a server uses, only that knows.
pub(crate) fn check_sums(home: &Home) -> Result<(), Failure> {
    // The copy reports a file that cannot be read.
    match check_pages(&store(home), || true) {
        Ok(report) if !report.damaged.is_empty() => Err(damaged(&report.words()).hint(report.way_out())),
        _ => Ok(()),
    }
}

fn damaged(words: &str) -> Failure {
    Failure::new(format!("{words}; no backup was made, and none was removed"))
}

fn try_make(
    home: &Home,
    now: Millis,
    pace: impl FnMut(u64, u64) -> Pace,
) -> Result<(StoreBackup, Contents), Failure> {
    let (store, folder) = (store(home), backup_job::folder(home));
    // Before the copy, not during it: a full disk would stop the recording too.
    check_room(&folder, store_bytes(&store))?;
    files::make_folder(&folder, 0o700)?;
    let name = format!("store-{}.db", stamp(now));
    let path = folder.join(&name);
    let contents = copy_store(&store, &path, sources::options(home)?, pace)
        .map_err(|error| not_copied(&store, &error))?;
    let backup = StoreBackup { kind: Kind::Store, name, at: now, bytes: contents.bytes, path };
    Ok((backup, contents))
}

/// Explains why a store was not copied.
pub(crate) fn not_copied(store: &Path, error: &CopyError) -> Failure {
    match error {
        CopyError::Store(error) => sources::unopened(store, error),
        CopyError::Write(cause) => Failure::new(format!("cannot write the backup: {}", plain(cause)))
            .hint("check the free space and the permissions of the folder; no partial backup is left"),
        CopyError::Incomplete(_) | CopyError::Differs(_) | CopyError::Stopped => {
            Failure::from_text(&format!("backup failed: {}", error_text(error))).hint("run the command again")
        }
    }
}

fn failure_mark(home: &Home) -> PathBuf {
    backup_job::folder(home).join("store-failed")
}

/// Removes the oldest backups beyond a number, and the remains of others by dead processes. Those kept by an upgrade or
/// a restore are not counted, and neither are those with a time in the future: a clock was wrong then, or is now, and
/// their age is unknown.
pub(crate) fn retain(home: &Home, keep: u32, now: Millis) -> Result<u64, Failure> {
    let (unfinished, mut made): (Vec<_>, Vec<_>) =
        list(home)?.into_iter().partition(|backup| backup.kind == Kind::Unfinished);
    made.retain(|backup| backup.kind == Kind::Store && backup.at <= now);
    let beyond = made.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
    for backup in made.iter().take(beyond) {
        backup.remove()?;
    }
    let is_old = |backup: &&StoreBackup| {
        let written = UNIX_EPOCH + Duration::from_millis(u64::try_from(backup.at.0).unwrap_or(0));
        backup.path.parent() == Some(&backup_job::folder(home))
            && written.elapsed().is_ok_and(|age| age > LEFTOVER)
    };
    for backup in unfinished.iter().filter(is_old) {
        drop(backup.remove());
    }
    Ok(beyond as u64)
}

/// Removes, or names, the copies of the store that hold these tasks.
pub(crate) fn forget(
    home: &Home,
    is_meant: impl Fn(&StoreBackup) -> bool,
    keep: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    for backup in list(home)?.iter().filter(|backup| is_meant(backup)) {
        // An unfinished one cannot be restored, so it is useless.
        if keep && backup.kind != Kind::Unfinished {
            output.say(&format!(
                "the {} backup `{}` still holds what was deleted",
                backup.kind.as_str(),
                backup.name
            ))?;
        } else {
            backup.remove()?;
            output.say(&format!(
                "removed the {} backup `{}`, which held what was deleted",
                backup.kind.as_str(),
                backup.name
            ))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_they_are_and_when() {
        let at = Millis(1_790_000_000_123);
        assert_eq!(moment(&stamp(at)), Some(at));
        assert_eq!((moment(""), moment("2026-11-15T21:10:04Z"), moment("äöüäöüäöü1")), (None, None, None));
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        fs::create_dir_all(backup_job::folder(&home)).expect("a folder");
        for name in [
            format!("backup/store-{}.db", stamp(at)),
            "backup/store-x.db".to_owned(),
            "backup/.store-1.db.part".to_owned(),
            "backup/.store-1.db.part-wal".to_owned(),
            "ledger.db".to_owned(),
            "ledger.db.schema-7.backup".to_owned(),
            "ledger.db.schema-x.backup".to_owned(),
        ] {
            fs::File::create(home.data().join(name)).expect("a file");
        }
        fs::create_dir(undo_folder(&home, "before", at)).expect("a folder");
        fs::create_dir(undo_folder(&home, "damaged", Millis(at.0 + 1))).expect("a folder");
        fs::create_dir(home.data().join("ledger.db.aside")).expect("a folder");
        let kinds: Vec<&str> =
            list(&home).expect("a list").iter().map(|backup| backup.kind.as_str()).collect();
        let mut sorted = kinds.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["store", "undo", "undo", "unfinished", "upgrade"], "{kinds:?}");
    }

    #[test]
    fn where_there_is_no_room_it_says_how_much_is_needed_and_writes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("not/there/yet");
        check_room(&missing, 1).expect("room");
        let refused = check_room(&missing, u64::MAX).expect_err("no room").to_string();
        assert!(refused.contains("no room in") && refused.contains("are free\nhint: "), "{refused}");
        assert!(!missing.exists());
    }
}
