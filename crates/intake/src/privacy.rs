//! The user's privacy settings, as they are now.
//!
//! The file is small and may change at any time; a change counts from the next file that is read, and from the next
//! event that is posted. No file means the default. A file that is there and cannot be read means the strictest level,
//! because the user meant something by it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_agents::files::Rules;
use agent_tracer_privacy::{Config, Level};
use xxhash_rust::xxh3::xxh3_64;

/// What may be recorded, at one moment.
#[derive(Clone, Debug)]
pub struct Privacy {
    /// The user's `privacy.conf`.
    pub config: Config,
    /// The key of this home under which contents of files are hashed.
    pub hash_key: [u8; 16],
    /// The user's home, for patterns that begin with `~/`.
    pub home_dir: Option<Vec<u8>>,
}

impl Privacy {
    /// The rules for the readers.
    #[must_use]
    pub fn rules(&self) -> Rules<'_> {
        Rules { config: &self.config, hash_key: self.hash_key, home_dir: self.home_dir.as_deref() }
    }

    /// A number that changes with the exclusions.
    pub(crate) fn exclusions(&self) -> u64 {
        xxh3_64(format!("{:?}", self.config.excludes).as_bytes())
    }
}

/// `privacy.conf`, read again when it changes.
#[derive(Debug)]
pub struct PrivacyFile {
    path: PathBuf,
    hash_key: [u8; 16],
    home_dir: Option<Vec<u8>>,
    last: Mutex<Option<Last>>,
    unrecorded: Option<Unrecorded>,
}

/// What was found when the file was last read.
#[derive(Debug)]
struct Last {
    text: Vec<u8>,
    privacy: Arc<Privacy>,
    face: Face,
}

/// Times of change are no finer than this on any disk.
const COARSE: Duration = Duration::from_secs(2);

/// What tells without reading a file that it was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    place: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(facts: &Metadata) -> Self {
        Self {
            place: (facts.dev(), facts.ino()),
            length: facts.len(),
            modified: (facts.mtime(), facts.mtime_nsec()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// How the file looked from outside, and since when; without a stamp there was none.
///
/// Two changes so soon after each other that the disk gives them one time look the same. So a file is believed to be what
/// it was only if it was read once more after its stamp had been the same for longer than that.
#[derive(Clone, Copy, Debug)]
struct Face {
    stamp: Option<Stamp>,
    since: Instant,
    is_settled: bool,
}

impl Face {
    /// The file looked like this just before it was read, now; `before` is how it looked the last time.
    fn read(stamp: Option<Stamp>, before: Option<Self>, now: Instant) -> Self {
        let since = before.filter(|before| before.stamp == stamp).map_or(now, |before| before.since);
        Self { stamp, since, is_settled: now.saturating_duration_since(since) > COARSE }
    }

    /// Whether a file that looks like this need not be read. One that is not there says nothing else when it is looked at
    /// more closely.
    fn tells(&self, stamp: Option<Stamp>) -> bool {
        self.stamp == stamp && (self.is_settled || stamp.is_none())
    }
}

/// The list of sessions that ran while recording was switched off, and how long it was when it was read.
#[derive(Debug)]
struct Unrecorded {
    path: PathBuf,
    last: Mutex<(u64, Vec<String>)>,
}

impl PrivacyFile {
    /// The file at a path that need not exist.
    #[must_use]
    pub fn new(path: PathBuf, hash_key: [u8; 16], home_dir: Option<Vec<u8>>) -> Self {
        Self { path, hash_key, home_dir, last: Mutex::new(None), unrecorded: None }
    }

    /// Also keeps out the sessions of this list ([`agent_tracer_spool::unrecorded`]), which need not exist.
    #[must_use]
    pub fn without(mut self, list: PathBuf) -> Self {
        self.unrecorded = Some(Unrecorded { path: list, last: Mutex::default() });
        self
    }

    /// Whether a file is of a session that ran while recording was switched off.
    pub(crate) fn keeps_out(&self, file: &Path) -> bool {
        let name = file.to_string_lossy();
        self.any_unrecorded(|id| name.contains(id))
    }

    /// Whether a session ran while recording was switched off.
    #[must_use]
    pub fn keeps_out_session(&self, session: &str) -> bool {
        self.any_unrecorded(|id| id == session)
    }

    fn any_unrecorded(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let Some(list) = &self.unrecorded else { return false };
        let length = std::fs::metadata(&list.path).map_or(0, |facts| facts.len());
        let mut last = list.last.lock().unwrap_or_else(PoisonError::into_inner);
        // The list only ever grows. One that cannot be read keeps out what it kept out before.
        if last.0 != length
            && let Ok(ids) = agent_tracer_spool::unrecorded::all(&list.path)
        {
            *last = (length, ids);
        }
        last.1.iter().any(|id| is_meant(id))
    }

    /// The settings as they are now.
    #[must_use]
    pub fn current(&self) -> Arc<Privacy> {
        // Looked at from outside before it is read: what is written meanwhile is found the next time.
        let stamp = match std::fs::metadata(&self.path) {
            Ok(facts) => Ok(Some(Stamp::of(&facts))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Ok(stamp), Some(last)) = (&stamp, &*last)
            && last.face.tells(*stamp)
        {
            return Arc::clone(&last.privacy);
        }
        let text = self.read();
        let face =
            stamp.ok().map(|stamp| Face::read(stamp, last.as_ref().map(|last| last.face), Instant::now()));
        if let (Ok(text), Some(face), Some(last)) = (&text, face, &mut *last)
            && last.text == *text
        {
            last.face = face;
            return Arc::clone(&last.privacy);
        }
        let config = match &text {
            Ok(text) => Config::parse(text).0,
            Err(_) => Config { level: Level::Metadata, ..Config::default() },
        };
        let privacy = Arc::new(Privacy { config, hash_key: self.hash_key, home_dir: self.home_dir.clone() });
        *last = text.ok().zip(face).map(|(text, face)| Last { text, privacy: Arc::clone(&privacy), face });
        privacy
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        match File::open(&self.path) {
            Ok(file) => file.take(Config::MAX_BYTES as u64 + 1).read_to_end(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn put(path: &Path, text: &str) {
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_change_counts_from_the_next_look() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        assert_eq!(file.current().config, Config::default());
        put(&path, "level full\n");
        assert_eq!(file.current().config.level, Level::Full);
        put(&path, "level metadata\nexclude /x/**\n");
        let now = file.current();
        assert_eq!((now.config.level, now.config.excludes.len()), (Level::Metadata, 1));
        assert!(Arc::ptr_eq(&now, &file.current()));
    }

    #[test]
    fn a_file_is_believed_from_outside_only_when_two_changes_cannot_look_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        put(&path, "level full\n");
        let stamp = |path: &Path| Some(Stamp::of(&std::fs::metadata(path).unwrap()));
        let (now, then) = (stamp(&path), Instant::now());
        let first = Face::read(now, None, then);
        assert!(!first.tells(now), "it may have been changed again since");
        let again = Face::read(now, Some(first), then + COARSE);
        assert!(!again.tells(now), "also this soon");
        let settled = Face::read(now, Some(again), then + COARSE + Duration::from_millis(1));
        assert!(settled.tells(now) && !settled.tells(None));
        put(&folder.path().join("new"), "level full\n");
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(!settled.tells(stamp(&path)), "another file of the same length");
        let changed = Face::read(stamp(&path), Some(settled), then + COARSE * 3);
        assert!(!changed.tells(stamp(&path)), "it begins anew");
        assert!(Face::read(None, Some(changed), then).tells(None), "none is none");
    }

    #[test]
    fn a_file_that_is_removed_and_made_again_counts_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        for level in [Level::Full, Level::Metadata, Level::Full] {
            assert_eq!(file.current().config, Config::default());
            put(&path, if level == Level::Full { "level full\n" } else { "level metadata\n" });
            assert_eq!(file.current().config.level, level);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn sessions_that_ran_while_recording_was_off_are_kept_out() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("unrecorded");
        let id = "0f0e0d0c-1111-4222-8333-444455556666";
        let file = PrivacyFile::new(folder.path().join("privacy.conf"), [7; 16], None).without(list.clone());
        let main = PathBuf::from(format!("/home/dev/.claude/projects/-shop/{id}.jsonl"));
        assert!(!file.keeps_out(&main));
        agent_tracer_spool::unrecorded::note(&list, id.as_bytes()).unwrap();
        assert!(file.keeps_out(&main));
        let beside = format!("/home/dev/.claude/projects/-shop/{id}/subagents/agent-a1.jsonl");
        assert!(file.keeps_out(Path::new(&beside)));
        assert!(!file.keeps_out(Path::new("/home/dev/.claude/projects/-shop/5a13.jsonl")));
        assert!(file.keeps_out_session(id) && !file.keeps_out_session("5a13") && !file.keeps_out_session(""));
    }

    #[test]
    fn a_file_that_cannot_be_read_means_the_strictest_level() {
        let folder = tempfile::tempdir().unwrap();
        // A folder can be opened, but not read.
        let file = PrivacyFile::new(folder.path().to_owned(), [7; 16], None);
        assert_eq!(file.current().config.level, Level::Metadata);
    }
}
