//! Transcripts that hooks name, wherever they are.
//!
//! An agent may keep its files in a folder that the server was not started for: the home of another
//! account. Its hooks name the file, so it is followed from then on, with the files of its subagents beside it.
//! Only the file that was named and its own folder are read, never the history around it.
//!
//! Law: a payload is not to be trusted. A file is read only if it belongs to the user, is a regular file that no link leads
//! to, has the name of a session file of that agent and begins like one, and no exclusion of the user's says otherwise. At most
//! [`FILES_MAX`] are followed; files that are refused, and those that make room, are counted.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_tracer_agents::sessions::{self, SessionFile, recognise};
use agent_tracer_event::{Agent, Subject, attributes};
use agent_tracer_ledger::{Batch, Verdict};

use tracing::warn;

use super::watch::Waker;
use crate::files::plain::{self, Refusal};
use crate::files::{Root, read_facts};

/// The most files that are followed. Every event of a session names its file again, so those in use stay.
const FILES_MAX: usize = 64;

/// The most verdicts that are kept.
const VERDICTS_MAX: usize = 4_096;

/// Counts the files that hooks named and that are not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedCounts {
    /// Files that were refused.
    pub refused: u64,
    /// Files that made room for others.
    pub displaced: u64,
}

/// Collects the files that hooks name outside of the folders that are followed anyway.
#[derive(Clone)]
pub struct NamedFiles {
    inner: Arc<Inner>,
}

/// The judgements by path.
type Verdicts = HashMap<PathBuf, Judgement>;

/// Holds the verdict about a file.
#[derive(Clone, Copy)]
struct Judgement {
    /// Device and number of the file; none of what is no file, which is judged again.
    identity: Option<(u64, u64)>,
    refusal: Option<Refusal>,
}

struct Inner {
    folders: Vec<PathBuf>,
    /// The user whose files are read; `None` for any.
    user: Option<u32>,
    list: Mutex<List>,
    /// The verdict about each file, as long as the same file is there.
    verdicts: Mutex<Verdicts>,
    refused: AtomicU64,
    displaced: AtomicU64,
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct List {
    /// The file that was named longest ago first.
    files: VecDeque<(Agent, PathBuf)>,
    /// Grows with every change of the list's members.
    version: u64,
}

impl NamedFiles {
    /// Creates an empty collection; files below `roots` are never part of it.
    #[must_use]
    pub fn outside(roots: &[Root]) -> Self {
        Self::of_user(roots, None)
    }

    /// Creates an empty collection of files that belong to this user.
    #[must_use]
    pub fn of_user(roots: &[Root], user: Option<u32>) -> Self {
        let inner = Inner {
            folders: roots.iter().map(|root| root.folder.clone()).collect(),
            user,
            list: Mutex::default(),
            verdicts: Mutex::default(),
            refused: AtomicU64::new(0),
            displaced: AtomicU64::new(0),
            waker: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the number of files that were named and are not read.
    #[must_use]
    pub fn counts(&self) -> NamedCounts {
        NamedCounts {
            refused: self.inner.refused.load(Ordering::Relaxed),
            displaced: self.inner.displaced.load(Ordering::Relaxed),
        }
    }

    /// Returns `true` if a file may be read. Files in followed folders lie where their agent put them, so they may.
    pub(crate) fn admits(&self, path: &Path, file: &SessionFile) -> bool {
        if self.is_followed(path) {
            return true;
        }
        // A file that is empty so far may begin in any way.
        let facts = read_facts(path).ok().flatten().filter(|facts| facts.length > 0);
        let identity = facts.map(|facts| (facts.device, facts.inode));
        let known = self.verdicts().get(path).copied();
        match known {
            Some(known) if known.identity.is_some() && known.identity == identity => known.refusal.is_none(),
            _ => self.judge(path, file, identity, known.and_then(|known| known.refusal)),
        }
    }

    /// Judges a file, and counts a refusal that is not the one before.
    fn judge(
        &self,
        path: &Path,
        file: &SessionFile,
        identity: Option<(u64, u64)>,
        before: Option<Refusal>,
    ) -> bool {
        let refusal = plain::judge(path, file, self.inner.user);
        if identity.is_some() || refusal.is_some() {
            let mut verdicts = self.verdicts();
            if verdicts.len() >= VERDICTS_MAX {
                verdicts.clear();
            }
            verdicts.insert(path.to_owned(), Judgement { identity, refusal });
        }
        if let Some(refusal) = refusal
            && before != Some(refusal)
        {
            self.inner.refused.fetch_add(1, Ordering::Relaxed);
            let reason = refusal.as_str();
            let session = file.session.as_deref().unwrap_or("unknown");
            warn!(
                session.id = %session,
                agent = %file.agent,
                reason,
                "not reading the file that a hook named for session {session}: {reason}"
            );
        }
        refusal.is_none()
    }

    fn verdicts(&self) -> MutexGuard<'_, Verdicts> {
        self.inner.verdicts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the transcripts that a batch names.
    pub fn learn(&self, batch: &Batch) {
        for observed in &batch.observed {
            let Verdict::Read(reading) = &observed.verdict else { continue };
            // A row of a file does not name the file.
            if observed.source.is_some() {
                continue;
            }
            for entry in &reading.entries {
                if entry.subject != Subject::Task {
                    continue;
                }
                if let Some(path) =
                    entry.metadata.get(attributes::TRANSCRIPT_PATH).and_then(|path| path.as_str())
                {
                    self.add(observed.agent, Path::new(path));
                }
            }
        }
    }

    /// Adds a file unless it lies in a followed folder, or no agent would give it that name.
    pub(crate) fn add(&self, agent: Agent, path: &Path) {
        if self.is_followed(path) || !plain::is_plain(path) || recognise(Some(agent), path).is_none() {
            return;
        }
        let mut list = self.list();
        let known = list.files.iter().position(|(_, known)| known == path);
        if let Some(file) = known.and_then(|at| list.files.remove(at)) {
            list.files.push_back(file);
            return;
        }
        if list.files.len() >= FILES_MAX {
            list.files.pop_front();
            self.inner.displaced.fetch_add(1, Ordering::Relaxed);
        }
        list.files.push_back((agent, path.to_owned()));
        list.version += 1;
        drop(list);
        if let Some(waker) = self.inner.waker.get() {
            waker.wake();
        }
    }

    /// Returns `true` if a file lies in a folder that is followed anyway.
    pub(crate) fn is_followed(&self, path: &Path) -> bool {
        self.inner.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Sets the tail to wake whenever a file is added.
    pub(super) fn wake_with(&self, waker: Waker) {
        // A second tail would be a mistake of the caller; the first one stays.
        drop(self.inner.waker.set(waker));
    }

    /// Returns the files, and the folders that belong to them.
    pub(crate) fn list_all(&self) -> (Vec<(Agent, PathBuf)>, Vec<Root>) {
        let followed = FollowedFiles::of(self.list().files.iter());
        (followed.files.into_iter().map(|(path, file)| (file.agent, path)).collect(), followed.roots)
    }

    /// Returns the files to follow if they changed since `version`, and updates `version`.
    pub(super) fn changed_since(&self, version: &mut u64) -> Option<FollowedFiles> {
        let list = self.list();
        if list.version == *version {
            return None;
        }
        *version = list.version;
        Some(FollowedFiles::of(list.files.iter()))
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.inner.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files to follow, and the folders that belong to them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FollowedFiles {
    pub(super) files: Vec<(PathBuf, SessionFile)>,
    pub(super) roots: Vec<Root>,
}

impl FollowedFiles {
    fn of<'a>(named: impl Iterator<Item = &'a (Agent, PathBuf)>) -> Self {
        let mut followed = Self::default();
        for (agent, path) in named {
            let Some(file) = recognise(Some(*agent), path) else { continue };
            let beside = sessions::of(*agent).map(|door| door.beside(path, &file)).unwrap_or_default();
            followed.roots.extend(beside.folders.into_iter().map(|folder| Root::new(*agent, folder)));
            for path in beside.files {
                if let Some(file) = recognise(Some(*agent), &path) {
                    followed.files.push((path, file));
                }
            }
            followed.files.push((path.clone(), file));
        }
        followed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(named: &NamedFiles) -> Vec<String> {
        let followed = named.changed_since(&mut u64::MAX.clone()).expect("another version");
        followed.files.iter().map(|(path, _)| path.display().to_string()).collect()
    }

    #[test]
    fn files_of_followed_folders_and_odd_names_are_left_out() {
        let named = NamedFiles::outside(&[Root::new(Agent::CLAUDE_CODE, "/home/dev/.claude/projects")]);
        for path in [
            "/home/dev/.claude/projects/-p/5a13.jsonl",
            "relative/5a13.jsonl",
            "/home/dev/notes.txt",
            "/home/dev/.claude-two/projects/-p/5a13.jsonl",
            "",
        ] {
            named.add(Agent::CLAUDE_CODE, Path::new(path));
        }
        named.add(Agent::CODEX, Path::new("/home/dev/5a13.jsonl"));
        assert_eq!(followed(&named), ["/home/dev/.claude-two/projects/-p/5a13.jsonl"]);
    }

    #[test]
    fn a_file_comes_with_what_belongs_to_it() {
        let named = NamedFiles::outside(&[]);
        named.add(Agent::CLAUDE_CODE, Path::new("/b/-p/5a13.jsonl"));
        named.add(Agent::CLAUDE_CODE, Path::new("/c/agent-a1.jsonl"));
        let mut version = 0;
        let now = named.changed_since(&mut version).expect("two files");
        assert_eq!(now.roots, [Root::new(Agent::CLAUDE_CODE, "/b/-p/5a13")]);
        assert_eq!(followed(&named), ["/b/-p/5a13.jsonl", "/c/agent-a1.meta.json", "/c/agent-a1.jsonl"]);
        assert_eq!(named.changed_since(&mut version), None);
    }

    #[test]
    fn the_most_recently_named_files_stay() {
        let named = NamedFiles::outside(&[]);
        let path = |number: usize| PathBuf::from(format!("/b/{number}.jsonl"));
        for number in 0..FILES_MAX {
            named.add(Agent::CLAUDE_CODE, &path(number));
        }
        named.add(Agent::CLAUDE_CODE, &path(0));
        named.add(Agent::CLAUDE_CODE, &path(FILES_MAX));
        let kept = followed(&named);
        assert_eq!(kept.len(), FILES_MAX);
        assert!(kept.contains(&"/b/0.jsonl".to_owned()) && !kept.contains(&"/b/1.jsonl".to_owned()));
    }

    const ROW: &str = "{\"type\":\"user\",\"uuid\":\"u1\"}\n";

    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let mut file = std::fs::File::create(path).expect("made");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("written");
    }

    fn admits(named: &NamedFiles, path: &Path) -> bool {
        recognise(Some(Agent::CLAUDE_CODE), path).is_some_and(|file| named.admits(path, &file))
    }

    #[test]
    fn only_a_plain_file_of_the_user_that_begins_like_a_session_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let named = NamedFiles::outside(&[]);
        let path = |name: &str| folder.path().join("two/projects/-p").join(name);
        put(&path("5a13.jsonl"), ROW);
        put(&path("people.jsonl"), "{\"name\":\"Ada\"}\n");
        put(&path("words.jsonl"), "root:x:0:0:root:/root:/bin/bash\n");
        std::fs::create_dir(path("folder.jsonl")).expect("made");
        std::os::unix::fs::symlink("5a13.jsonl", path("link.jsonl")).expect("made");
        std::os::unix::fs::symlink("/etc/passwd", path("passwd.jsonl")).expect("made");
        std::os::unix::fs::symlink("/dev/zero", path("zero.jsonl")).expect("made");
        nix::unistd::mkfifo(&path("pipe.jsonl"), nix::sys::stat::Mode::S_IRWXU).expect("made");
        assert!(admits(&named, &path("5a13.jsonl")));
        let odd = ["people", "words", "folder", "link", "passwd", "zero", "pipe"];
        for name in odd {
            for _ in 0..3 {
                assert!(!admits(&named, &path(&format!("{name}.jsonl"))), "{name}");
            }
        }
        assert_eq!(named.counts().refused, odd.len() as u64, "each counts once");
        assert!(!admits(&named, Path::new("/etc/passwd")) && !admits(&named, Path::new("/dev/zero")));
        assert!(!admits(&named, &folder.path().join("two/../two/projects/-p/5a13.jsonl")));
        let others = NamedFiles::of_user(&[], Some(u32::MAX - 1));
        assert!(!admits(&others, &path("5a13.jsonl")), "it belongs to another user");
        // A file that takes the place of another is judged anew.
        std::fs::rename(path("words.jsonl"), path("5a13.jsonl")).expect("renamed");
        assert!(!admits(&named, &path("5a13.jsonl")));
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_judged_once_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let (named, path) = (NamedFiles::outside(&[]), folder.path().join("5a13.jsonl"));
        assert!(admits(&named, &path), "there is nothing to read");
        put(&path, "");
        assert!(admits(&named, &path));
        put(&path, "words\n");
        assert!(!admits(&named, &path));
    }

    #[test]
    fn ten_thousand_homes_are_bounded_and_counted() {
        let named = NamedFiles::outside(&[]);
        for number in 0..10_000 {
            named.add(Agent::CLAUDE_CODE, Path::new(&format!("/homes/{number}/projects/-p/5a13.jsonl")));
        }
        assert_eq!(followed(&named).len(), FILES_MAX);
        assert_eq!(named.counts().displaced, 10_000 - FILES_MAX as u64);
    }
}
