//! The user's privacy settings, reread when they change.
//!
//! The file is small and may change at any time; a change applies from the next file that is read, and from the next
//! event that is posted. No file means the default.
//!
//! Law: a file that is there and cannot be relied on (it cannot be read, another user can write it, a line is not
//! understood) changes nothing. The last good settings hold, and the problem is shown. Without any yet, nothing may be
//! recorded: readers leave files for later, and posts are refused until the file is mended. A file that vanishes, is
//! emptied or ends within a line may be half written: the last good settings hold until it has stayed so for a second.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent_tracer_agents::files::Rules;
use agent_tracer_privacy::Config;
use agent_tracer_spool::{links, settings_file};
use xxhash_rust::xxh3::xxh3_64;

/// The settings at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Privacy {
    /// The user's `privacy.conf`.
    pub config: Config,
    /// The key of this home under which contents of files are hashed.
    pub hash_key: [u8; 16],
    /// The user's home, for patterns that begin with `~/`.
    pub home_dir: Option<Vec<u8>>,
}

impl Privacy {
    /// Returns the rules for the readers.
    #[must_use]
    pub fn rules(&self) -> Rules<'_> {
        Rules { config: &self.config, hash_key: self.hash_key, home_dir: self.home_dir.as_deref() }
    }

    /// Returns a hash of the exclusions.
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
    /// The id of the user who runs this program. A file that others can write is not obeyed.
    user: Option<u32>,
    last: Mutex<Readings>,
    unrecorded: Option<UnrecordedSessions>,
}

/// The last readings of the file.
#[derive(Debug, Default)]
struct Readings {
    /// The settings in force.
    good: Option<GoodReading>,
    /// The reason why the file as it is now is not in force.
    problem: Option<PrivacyError>,
    /// A text that looks half written, and the time when it was first read.
    unfinished: Option<(Vec<u8>, Instant)>,
}

/// The time after which a text that looks half written counts as finished.
const WRITTEN: Duration = Duration::from_secs(1);

impl Readings {
    /// Returns `true` if a new text may be half written.
    fn is_unfinished(&mut self, text: &[u8], now: Instant) -> bool {
        if text.ends_with(b"\n") {
            self.unfinished = None;
            return false;
        }
        match &self.unfinished {
            Some((seen, since)) if seen == text => now.saturating_duration_since(*since) < WRITTEN,
            _ => {
                self.unfinished = Some((text.to_owned(), now));
                true
            }
        }
    }
}

/// The last reading that could be relied on.
#[derive(Debug)]
struct GoodReading {
    text: Vec<u8>,
    privacy: Arc<Privacy>,
    face: SettledStamp,
}

/// The reason why `privacy.conf` is not in force, and the way to repair it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot rely on `{}`: {reason}", path.display())]
pub struct PrivacyError {
    /// The file.
    pub path: PathBuf,
    /// The fault in words: it is copied to every caller until the file changes, and an error of the system
    /// cannot be copied.
    pub reason: String,
    /// A way out.
    pub hint: String,
}

/// The coarsest resolution of modification times on any disk.
const COARSE: Duration = Duration::from_secs(2);

/// The metadata that shows a change without reading the file.
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

/// The stamp of the file, and the time since when it is the same. Without a file the stamp is `None`.
///
/// Two changes within the resolution of the disk's clock leave the same stamp. So a stamp vouches for the contents
/// only if the file was read once more after the stamp had been the same for longer than that.
#[derive(Clone, Copy, Debug)]
struct SettledStamp {
    stamp: Option<Stamp>,
    since: Instant,
    is_settled: bool,
}

impl SettledStamp {
    /// Creates the state of a reading at `now`. `stamp` was taken just before it, `before` belongs to the last reading.
    fn read(stamp: Option<Stamp>, before: Option<Self>, now: Instant) -> Self {
        let since = before.filter(|before| before.stamp == stamp).map_or(now, |before| before.since);
        Self { stamp, since, is_settled: now.saturating_duration_since(since) > COARSE }
    }

    /// Returns `true` if a file with this stamp need not be read. A file that is still missing has nothing to read.
    /// more closely.
    fn vouches_for(&self, stamp: Option<Stamp>) -> bool {
        self.stamp == stamp && (self.is_settled || stamp.is_none())
    }
}

/// The list of sessions that ran while recording was switched off, and its length at the last reading.
#[derive(Debug)]
struct UnrecordedSessions {
    path: PathBuf,
    /// `None` until the list was read for the first time.
    last: Mutex<Option<(u64, Vec<String>)>>,
}

impl PrivacyFile {
    /// Creates the settings of a file, which need not exist.
    #[must_use]
    pub fn new(path: PathBuf, hash_key: [u8; 16], home_dir: Option<Vec<u8>>) -> Self {
        Self { path, hash_key, home_dir, user: None, last: Mutex::default(), unrecorded: None }
    }

    /// Obeys only files that no one but this user and root can write.
    #[must_use]
    pub fn of_user(mut self, user: Option<u32>) -> Self {
        self.user = user;
        self
    }

    /// Excludes the sessions of this list ([`agent_tracer_spool::unrecorded_sessions`]) too; it need not exist.
    #[must_use]
    pub fn without(mut self, list: PathBuf) -> Self {
        self.unrecorded = Some(UnrecordedSessions { path: list, last: Mutex::default() });
        self
    }

    /// Returns `true` if a file belongs to a session that ran while recording was switched off.
    pub(crate) fn keeps_out(&self, file: &Path) -> bool {
        let name = file.to_string_lossy();
        self.any_unrecorded(|id| name.contains(id))
    }

    /// Returns `true` if a session ran while recording was switched off.
    #[must_use]
    pub fn keeps_out_session(&self, session: &str) -> bool {
        self.any_unrecorded(|id| id == session)
    }

    fn any_unrecorded(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let Some(list) = &self.unrecorded else { return false };
        let last = list.refresh();
        // Callers need the settings first, and those are withheld until the list was read.
        last.as_ref().is_some_and(|(_, ids)| ids.iter().any(|id| is_meant(id)))
    }

    /// Returns the settings in force.
    ///
    /// # Errors
    /// If the file cannot be relied on and never could: it is not known what may be recorded.
    pub fn current(&self) -> Result<Arc<Privacy>, PrivacyError> {
        self.current_at(Instant::now())
    }

    fn current_at(&self, now: Instant) -> Result<Arc<Privacy>, PrivacyError> {
        if let Some(list) = &self.unrecorded
            && list.refresh().is_none()
        {
            let hint = format!("check that you may read '{}'", list.path.display());
            return Err(PrivacyError {
                path: list.path.clone(),
                reason: "it cannot be read".to_owned(),
                hint,
            });
        }
        // The stamp is taken before the file is read, so that a write in between is found the next time.
        let stamp = match std::fs::metadata(&self.path) {
            Ok(facts) => Ok(Some(Stamp::of(&facts))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        let mut found = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let found = &mut *found;
        if let (Ok(stamp), Some(last), None) = (&stamp, &found.good, &found.problem)
            && last.face.vouches_for(*stamp)
        {
            return Ok(Arc::clone(&last.privacy));
        }
        let read = stamp
            .map_err(|cause| self.error(&settings_file::Refusal::Unreadable(cause)))
            .and_then(|stamp| self.read().map(|(text, config)| (stamp, text, config)));
        let (stamp, text, config) = match (read, &found.good) {
            (Ok(read), _) => read,
            (Err(error), good) => {
                found.problem = Some(error.clone());
                return good.as_ref().map(|last| Arc::clone(&last.privacy)).ok_or(error);
            }
        };
        found.problem = None;
        let before = found.good.as_ref().map(|last| last.face);
        let face = SettledStamp::read(stamp, before, now);
        if let Some(last) = &mut found.good
            && last.text == text
        {
            last.face = face;
            found.unfinished = None;
            return Ok(Arc::clone(&last.privacy));
        }
        let in_force = found.good.as_ref().map(|last| Arc::clone(&last.privacy));
        if let Some(in_force) = in_force
            && found.is_unfinished(&text, now)
        {
            return Ok(in_force);
        }
        let privacy = Arc::new(Privacy { config, hash_key: self.hash_key, home_dir: self.home_dir.clone() });
        found.good = Some(GoodReading { text, privacy: Arc::clone(&privacy), face });
        Ok(privacy)
    }

    /// Returns the reason why the file as it is now is not in force, if it is not.
    #[must_use]
    pub fn problem(&self) -> Option<PrivacyError> {
        self.current()
            .err()
            .or_else(|| self.last.lock().unwrap_or_else(PoisonError::into_inner).problem.clone())
    }

    fn read(&self) -> Result<(Vec<u8>, Config), PrivacyError> {
        let text = settings_file::read(&self.path, self.user, Config::MAX_BYTES);
        let text = text.map_err(|refusal| self.error(&refusal))?.unwrap_or_default();
        let (mut config, faults) = Config::parse(&text);
        if let Some(fault) = faults.first() {
            let fault = fault.to_string();
            let (reason, hint) = fault.split_once("\nhint: ").unwrap_or((&fault, "correct the line"));
            return Err(PrivacyError {
                path: self.path.clone(),
                reason: reason.to_owned(),
                hint: hint.to_owned(),
            });
        }
        config.follow_links(self.home_dir.as_deref(), links::resolve);
        Ok((text, config))
    }

    fn error(&self, refusal: &settings_file::Refusal) -> PrivacyError {
        let (reason, hint) = (refusal.to_string(), refusal.hint(&self.path));
        PrivacyError { path: self.path.clone(), reason, hint }
    }
}

impl UnrecordedSessions {
    /// Reads the list if its length changed. If it cannot be read, the last list holds.
    fn refresh(&self) -> MutexGuard<'_, Option<(u64, Vec<String>)>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let length = match std::fs::metadata(&self.path) {
            Ok(facts) => facts.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A missing file is known without a file handle, of which there may be none left.
                *last = Some((0, Vec::new()));
                return last;
            }
            Err(_) => return last,
        };
        if last.as_ref().is_none_or(|(known, _)| *known != length)
            && let Ok(ids) = agent_tracer_spool::unrecorded_sessions::list(&self.path)
        {
            *last = Some((length, ids));
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use agent_tracer_privacy::Level;

    use super::*;

    fn put(path: &Path, text: &str) {
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_change_applies_from_the_next_call() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        assert_eq!(file.current().unwrap().config, Config::default());
        put(&path, "level full\n");
        assert_eq!(file.current().unwrap().config.level, Level::Full);
        put(&path, "level metadata\nexclude /x/**\n");
        let now = file.current().unwrap();
        assert_eq!((now.config.level, now.config.excludes.len()), (Level::Metadata, 1));
        assert!(Arc::ptr_eq(&now, &file.current().unwrap()));
    }

    #[test]
    fn a_stamp_vouches_for_a_file_only_once_two_changes_cannot_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        put(&path, "level full\n");
        let stamp = |path: &Path| Some(Stamp::of(&std::fs::metadata(path).unwrap()));
        let (now, then) = (stamp(&path), Instant::now());
        let first = SettledStamp::read(now, None, then);
        assert!(!first.vouches_for(now), "it may have been changed again since");
        let again = SettledStamp::read(now, Some(first), then + COARSE);
        assert!(!again.vouches_for(now), "also this soon");
        let settled = SettledStamp::read(now, Some(again), then + COARSE + Duration::from_millis(1));
        assert!(settled.vouches_for(now) && !settled.vouches_for(None));
        put(&folder.path().join("new"), "level full\n");
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert!(!settled.vouches_for(stamp(&path)), "another file of the same length");
        let changed = SettledStamp::read(stamp(&path), Some(settled), then + COARSE * 3);
        assert!(!changed.vouches_for(stamp(&path)), "it begins anew");
        assert!(SettledStamp::read(None, Some(changed), then).vouches_for(None), "none is none");
    }

    #[test]
    fn a_file_that_is_removed_and_made_again_counts_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        let mut now = Instant::now();
        for level in [Level::Full, Level::Metadata, Level::Full] {
            // It may be rewritten at this moment; only a file that stays away is gone.
            file.current_at(now).unwrap();
            now += WRITTEN;
            assert_eq!(file.current_at(now).unwrap().config, Config::default());
            put(&path, if level == Level::Full { "level full\n" } else { "level metadata\n" });
            assert_eq!(file.current_at(now).unwrap().config.level, level);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_being_rewritten_excludes_what_it_excluded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        let mut now = Instant::now();
        let step = Duration::from_millis(300);
        for half in ["", "level full", "level full\nexclude /sec", "gone"] {
            put(&path, "exclude /secret\n");
            now += COARSE * 2;
            let good = file.current_at(now).unwrap();
            match half {
                "gone" => std::fs::remove_file(&path).unwrap(),
                half => put(&path, half),
            }
            // Holds for every call meanwhile.
            for _ in 0..4 {
                assert!(Arc::ptr_eq(&file.current_at(now).unwrap(), &good), "{half}");
                assert_eq!(good.config.excludes.len(), 1);
                now += step;
            }
            let settled = file.current_at(now).unwrap();
            assert!(!Arc::ptr_eq(&settled, &good), "{half}");
            assert_eq!(file.current_at(now + step).unwrap().config, settled.config);
        }
        put(&path, "");
        assert_eq!(file.current_at(now).unwrap().config, Config::default());
        put(&path, "exclude /other\n");
        assert_eq!(file.current_at(now).unwrap().config.excludes.len(), 1, "a whole file counts at once");
    }

    #[test]
    fn sessions_that_ran_while_recording_was_off_are_kept_out() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("unrecorded");
        let id = "0f0e0d0c-1111-4222-8333-444455556666";
        let file = PrivacyFile::new(folder.path().join("privacy.conf"), [7; 16], None).without(list.clone());
        let main = PathBuf::from(format!("/home/dev/.claude/projects/-shop/{id}.jsonl"));
        assert!(!file.keeps_out(&main));
        agent_tracer_spool::unrecorded_sessions::append(&list, id.as_bytes()).unwrap();
        assert!(file.keeps_out(&main));
        let beside = format!("/home/dev/.claude/projects/-shop/{id}/subagents/agent-a1.jsonl");
        assert!(file.keeps_out(Path::new(&beside)));
        assert!(!file.keeps_out(Path::new("/home/dev/.claude/projects/-shop/5a13.jsonl")));
        assert!(file.keeps_out_session(id) && !file.keeps_out_session("5a13") && !file.keeps_out_session(""));
    }

    /// Replaces the file by one that cannot be relied on.
    fn spoil(path: &Path, how: &str) {
        drop(std::fs::remove_file(path));
        match how {
            "a folder" => std::fs::create_dir(path).unwrap(),
            "a link to nowhere" => std::os::unix::fs::symlink(path.join("nowhere"), path).unwrap(),
            "a link to itself" => std::os::unix::fs::symlink(path, path).unwrap(),
            "writable for others" => {
                put(path, "level full\n");
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
            }
            "too long" => put(path, &"#".repeat(Config::MAX_BYTES + 1)),
            text => put(path, text),
        }
    }

    const SPOILED: [&str; 9] = [
        "a folder",
        "a link to nowhere",
        "a link to itself",
        "writable for others",
        "too long",
        "exlude /secret\n",
        "level ful\n",
        "exclude {a,b}\n",
        "\u{0}\n",
    ];

    #[test]
    fn a_file_that_cannot_be_relied_on_changes_nothing_and_is_reported() {
        for how in SPOILED {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("privacy.conf");
            put(&path, "level actions\nexclude /secret\n");
            let file = PrivacyFile::new(path.clone(), [7; 16], None);
            let good = file.current().unwrap();
            assert_eq!(file.problem(), None);
            spoil(&path, how);
            for _ in 0..2 {
                assert!(Arc::ptr_eq(&file.current().unwrap(), &good), "{how}");
                assert_eq!(file.problem().expect("a problem").path, path, "{how}");
            }
            if path.is_dir() {
                std::fs::remove_dir(&path).unwrap();
            }
            drop(std::fs::remove_file(&path));
            put(&path, "level full\n");
            assert_eq!(file.current().unwrap().config.level, Level::Full, "{how}");
            assert_eq!(file.problem(), None, "{how}");
        }
    }

    #[test]
    fn without_good_settings_there_are_none() {
        for how in SPOILED {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("privacy.conf");
            spoil(&path, how);
            let file = PrivacyFile::new(path.clone(), [7; 16], None);
            let error = file.current().expect_err(how);
            assert_eq!((&error.path, file.problem()), (&path, Some(error.clone())), "{how}");
            assert!(!error.reason.is_empty() && !error.hint.is_empty(), "{how}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let file = PrivacyFile::new(folder.path().join("privacy.conf"), [7; 16], None);
        assert!(file.current().is_err(), "others may have removed it");
        let list = folder.path().join("unrecorded");
        std::fs::create_dir(&list).unwrap();
        let file = PrivacyFile::new(folder.path().join("x/privacy.conf"), [7; 16], None).without(list);
        assert!(file.current().is_err(), "it is not known which sessions ran while recording was off");
    }

    #[test]
    fn a_folder_is_excluded_by_each_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("secret/in")).unwrap();
        std::os::unix::fs::symlink(root.join("secret"), root.join("link")).unwrap();
        let path = root.join("privacy.conf");
        let is_excluded = |pattern: &str, name: &str| {
            put(&path, &format!("exclude {}\n", root.join(pattern).display()));
            let privacy = PrivacyFile::new(path.clone(), [7; 16], None).current().unwrap();
            privacy.config.excludes(root.join(name).to_str().unwrap().as_bytes(), None)
        };
        for pattern in ["secret", "link", "link/**", "secret/i*", "link/i?"] {
            assert!(is_excluded(pattern, "secret/in") && is_excluded(pattern, "link/in/gone"), "{pattern}");
            assert!(!is_excluded(pattern, "other/in"), "{pattern}");
        }
    }

    #[test]
    fn a_change_of_the_settings_applies_from_the_next_call() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("privacy.conf");
        let file = PrivacyFile::new(path.clone(), [7; 16], None);
        let before = file.current().unwrap();
        assert!(Arc::ptr_eq(&before, &file.current().unwrap()), "unchanged settings are shared");
        for (text, excludes) in [("exclude /a/**\n", 1), ("exclude /b/**\n", 1), ("level metadata\n", 0)] {
            put(&path, text);
            let now = file.current().unwrap();
            assert_eq!(now.config.level, Config::parse(text.as_bytes()).0.level);
            assert_eq!((now.config.excludes.len(), now.hash_key), (excludes, [7; 16]));
        }
    }
}
