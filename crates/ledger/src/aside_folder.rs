//! A folder beside the store for what it could not take: posts that cannot be written, bytes of the journal that cannot be
//! read, logs of which a part cannot be read.
//!
//! Each file is named by a hash of what is in it, so that setting the same aside twice leaves one. It is on disk before
//! anything goes on. The folder is bounded: beyond it the oldest go. Posts were acknowledged, so each that goes is a loss:
//! `lost` in the folder grows by a byte for it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_64;

use crate::journal;
use crate::task_names::TaskNames;

/// Most files of a kind that are kept.
const FILES_MAX: usize = 1_000;

/// Most bytes of a kind that are kept.
const BYTES_MAX: u64 = 256 << 20;

/// The suffix of the file with the reason, behind the name of the file set aside.
const REASON: &str = ".reason";

/// The file whose length is the number of posts that were set aside and are gone.
const LOST: &str = "lost";

/// A kind of file that is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AsideKind {
    /// A post that cannot be written, as a record of the journal.
    Post,
    /// Bytes of the journal that are no record, or one of another version.
    Journal,
    /// A log of which a part cannot be read.
    Log,
}

impl AsideKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Post => "post-",
            Self::Journal => "journal-",
            Self::Log => "log-",
        }
    }
}

/// The result of deleting tasks from the files set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsidePurge {
    /// Files that reported them and are gone.
    pub removed: u64,
    /// Files of which it is not known what they tell; they are still there.
    pub unknown: u64,
}

/// Returns `true` if a file belongs to one of these tasks, or `None` if that cannot be known.
fn tells_of(name: &str, bytes: &[u8], names: &TaskNames) -> Option<bool> {
    // A copy of a log holds pages of any task, and what stands on them is packed.
    if name.starts_with(AsideKind::Log.prefix()) {
        return Some(true);
    }
    let record = name.starts_with(AsideKind::Post.prefix()).then(|| journal::decode(bytes)).flatten();
    match record {
        Some(record) => Some(record.ready.iter().flatten().any(|ready| names.has(ready.task()))),
        None => names.are_in(bytes).then_some(true),
    }
}

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct AsideFolder {
    folder: PathBuf,
}

impl AsideFolder {
    /// Returns the folder beside this store. It is made when something comes into it.
    pub(crate) fn beside(store: &Path) -> Self {
        let mut folder = store.as_os_str().to_owned();
        folder.push(".aside");
        Self { folder: PathBuf::from(folder) }
    }

    /// Keeps some bytes, and why.
    pub(crate) fn keep(&self, kind: AsideKind, reason: &str, bytes: &[u8]) -> io::Result<()> {
        let name = format!("{}{:016x}", kind.prefix(), xxh3_64(bytes));
        self.put(&name, |file| file.write_all(bytes))?;
        self.put(&format!("{name}{REASON}"), |file| writeln!(file, "{reason}"))?;
        self.tidy(kind);
        Ok(())
    }

    /// Keeps a copy of a file, and why; nothing if it is longer than all that may be kept.
    pub(crate) fn keep_file(&self, kind: AsideKind, reason: &str, path: &Path) -> io::Result<()> {
        let mut from = File::open(path)?;
        let facts = from.metadata()?;
        // It would push out everything else in the folder; the original stays where it is.
        if facts.len() > BYTES_MAX {
            return Ok(());
        }
        // By its time and length instead of its content: hashing a log of hundreds of megabytes would delay the
        // start.
        let stamp = format!("{:?}", facts.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        let name = format!("{}{:016x}", kind.prefix(), xxh3_64(stamp.as_bytes()) ^ facts.len());
        self.put(&name, |to| io::copy(&mut from, to).map(drop))?;
        self.put(&format!("{name}{REASON}"), |file| writeln!(file, "{reason}"))?;
        self.tidy(kind);
        Ok(())
    }

    /// Keeps a copy of a file of another such folder, under its name.
    pub(crate) fn keep_copy(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut from = File::open(path)?;
        self.put(&name, |to| io::copy(&mut from, to).map(drop))
    }

    fn put(&self, name: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let path = self.folder.join(name);
        // Half of it may be there from a process that was ended.
        let part = self.folder.join(format!(".{name}"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        // POSIX does not promise that a new name is durable before its folder is synced, and the caller goes on to
        // overwrite the original.
        File::open(&self.folder)?.sync_all()
    }

    /// Returns the files of a kind, the oldest first.
    pub(crate) fn list(&self, kind: AsideKind) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                name.to_str().is_some_and(|name| name.starts_with(kind.prefix()) && !name.ends_with(REASON))
            })
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_unstable();
        files.into_iter().map(|(_, path)| path).collect()
    }

    /// Removes what tells of these tasks and every copy of a log, or everything if no tasks are given. What else cannot be
    /// read stays and is counted, unless it names one of their sessions.
    pub(crate) fn purge(&self, names: Option<&TaskNames>) -> io::Result<AsidePurge> {
        let mut done = AsidePurge::default();
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(done),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(REASON) || name == LOST {
                continue;
            }
            // Half of a file that no process will finish: a purge runs alone.
            let is_half = name.starts_with('.');
            let tells = match names {
                Some(names) if !is_half => tells_of(&name, &fs::read(&path)?, names),
                _ => Some(true),
            };
            match tells {
                Some(true) => {
                    self.remove(&path)?;
                    done.removed += 1;
                }
                Some(false) => {}
                None => done.unknown += 1,
            }
        }
        Ok(done)
    }

    /// Removes a file of the folder, with its reason.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let mut reason = path.as_os_str().to_owned();
        reason.push(REASON);
        fs::remove_file(path)?;
        fs::remove_file(reason).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    }

    /// Removes the oldest files beyond what is kept. The newest stays: it tells of what is wrong now.
    fn tidy(&self, kind: AsideKind) {
        let files = self.list(kind);
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |facts| facts.len());
        let (mut count, mut bytes) = (files.len(), files.iter().map(size).sum::<u64>());
        for path in files {
            // The newest is kept whatever its size: it is the one that the present fault is about.
            if count <= 1 || (count <= FILES_MAX && bytes <= BYTES_MAX) {
                return;
            }
            bytes = bytes.saturating_sub(size(&path));
            count -= 1;
            // Counted first: dying in between counts it twice, the other order not at all.
            let is_counted = kind != AsideKind::Post || self.count_lost().is_ok();
            if !is_counted || self.remove(&path).is_err() {
                return;
            }
        }
    }

    fn count_lost(&self) -> io::Result<()> {
        let path = self.folder.join(LOST);
        // A byte for each, because an append of one byte is never torn; a number that is written anew can be.
        OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(b".")
    }

    /// Returns how many posts were set aside and are gone because there were too many.
    pub(crate) fn lost(&self) -> u64 {
        fs::metadata(self.folder.join(LOST)).map_or(0, |facts| facts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_kept_once_with_its_reason_and_for_no_one_else() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let aside = AsideFolder::beside(&folder.path().join("ledger.db"));
        assert!(aside.list(AsideKind::Post).is_empty());
        for _ in 0..2 {
            aside.keep(AsideKind::Post, "a page is damaged", b"one").unwrap();
        }
        aside.keep(AsideKind::Journal, "it is no record", b"one").unwrap();
        let posts = aside.list(AsideKind::Post);
        assert_eq!((posts.len(), fs::read(&posts[0]).unwrap()), (1, b"one".to_vec()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&posts[0]), mode(&aside.folder)), (0o600, 0o700));
        let reason = fs::read_to_string(posts[0].with_extension("reason")).unwrap();
        assert_eq!(reason, "a page is damaged\n");
        aside.remove(&posts[0]).unwrap();
        assert_eq!((aside.list(AsideKind::Post).len(), aside.list(AsideKind::Journal).len()), (0, 1));
        assert_eq!(fs::read_dir(&aside.folder).unwrap().count(), 2, "its reason went with it");
    }

    #[test]
    fn what_tells_of_deleted_tasks_goes_and_what_cannot_be_read_stays_unless_all_go() {
        use agent_tracer_event::{
            Agent, Channel, Entry, Evidence, Kind as EventKind, Millis, Phase, Reading, Subject, TaskKey,
        };

        use crate::observation::{Batch, Observed, Verdict};
        use crate::sqlite::prepared::Prepared;

        let folder = tempfile::tempdir().unwrap();
        let aside = AsideFolder::beside(&folder.path().join("ledger.db"));
        assert_eq!(aside.purge(None).unwrap(), AsidePurge::default(), "there is no folder");
        let post = |session: &str| {
            let task = TaskKey::new(Agent::CODEX, session);
            let subject = Subject::Event(EventKind::UserMessage);
            let evidence = Evidence::measured("test");
            let entry = Entry::new(subject, Phase::Open, task, "e", Millis(7), evidence);
            let observed = Observed {
                name: session.to_owned(),
                source: None,
                agent: Agent::CODEX,
                channel: Channel::Http,
                arrived: Millis(7),
                verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
                payload: None,
                kept: None,
            };
            let prepared = Prepared::of(Batch { observed: vec![observed], ..Batch::default() });
            journal::encode(&prepared.batch.observed[0], &prepared.ready[0]).unwrap()
        };
        let keep = |kind, bytes: &[u8]| aside.keep(kind, "why", bytes).unwrap();
        keep(AsideKind::Post, &post("gone-session"));
        keep(AsideKind::Post, &post("other-session"));
        keep(AsideKind::Post, b"damaged");
        keep(AsideKind::Journal, b"torn {\"session_id\":\"gone-session\"}");
        keep(AsideKind::Log, b"pages");
        aside.put(".post-half", |file| file.write_all(b"half")).unwrap();
        let mut names = TaskNames::default();
        names.add(TaskKey::new(Agent::CODEX, "gone-session").task_id().as_str(), "gone-session");
        assert_eq!(aside.purge(Some(&names)).unwrap(), AsidePurge { removed: 4, unknown: 1 });
        let left = [AsideKind::Post, AsideKind::Journal, AsideKind::Log].map(|kind| aside.list(kind).len());
        assert_eq!(left, [2, 0, 0], "a log holds pages of any task");
        assert_eq!(aside.purge(None).unwrap(), AsidePurge { removed: 2, unknown: 0 });
        assert_eq!(fs::read_dir(&aside.folder).unwrap().count(), 0, "with their reasons");
    }

    #[test]
    fn beyond_what_is_kept_the_oldest_go_and_posts_among_them_are_counted_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let aside = AsideFolder::beside(&folder.path().join("ledger.db"));
        for number in 0..FILES_MAX + 5 {
            let name = format!("post-{number:016x}");
            aside.put(&name, |file| file.write_all(b"x")).unwrap();
        }
        aside.keep(AsideKind::Post, "newest", b"newest").unwrap();
        let kept = aside.list(AsideKind::Post);
        assert_eq!(kept.len(), FILES_MAX);
        assert!(kept.iter().any(|path| fs::read(path).unwrap() == b"newest"));
        assert_eq!(aside.lost(), 6);
        aside.purge(None).unwrap();
        assert_eq!((aside.list(AsideKind::Post).len(), aside.lost()), (0, 6), "the count names no task");
        for number in 0..FILES_MAX + 5 {
            aside.put(&format!("journal-{number:016x}"), |file| file.write_all(b"x")).unwrap();
        }
        aside.keep(AsideKind::Journal, "newest", b"newest").unwrap();
        assert_eq!(aside.lost(), 6, "what could not be read was counted when it was met");
    }
}
