//! Transcripts that hooks name, wherever they are.
//!
//! An agent may keep its files in a folder that the server was not started for: the home of another
//! account. Its hooks name the file, so it is followed from then on, with the files of its subagents beside it.
//! Only the file that was named and its own folder are read, never the history around it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_tracer_agents::sessions::{self, SessionFile, recognise};
use agent_tracer_event::{Agent, Subject, attributes};
use agent_tracer_ledger::{Batch, Verdict};

use super::watch::Waker;
use crate::files::Root;

/// The most files that are followed. Every event of a session names its file again, so those in use stay.
const FILES_MAX: usize = 64;

/// Collects the files that hooks name outside of the folders that are followed anyway.
#[derive(Clone)]
pub struct NamedFiles {
    inner: Arc<Inner>,
}

struct Inner {
    folders: Vec<PathBuf>,
    list: Mutex<List>,
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
        let folders = roots.iter().map(|root| root.folder.clone()).collect();
        let inner = Inner { folders, list: Mutex::default(), waker: OnceLock::new() };
        Self { inner: Arc::new(inner) }
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
        if self.is_followed(path) || !path.is_absolute() || recognise(Some(agent), path).is_none() {
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
        let followed = Followed::of(self.list().files.iter());
        (followed.files.into_iter().map(|(path, file)| (file.agent, path)).collect(), followed.roots)
    }

    /// Returns the files to follow if they changed since `version`, and updates `version`.
    pub(super) fn changed_since(&self, version: &mut u64) -> Option<Followed> {
        let list = self.list();
        if list.version == *version {
            return None;
        }
        *version = list.version;
        Some(Followed::of(list.files.iter()))
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.inner.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files to follow, and the folders that belong to them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Followed {
    pub(super) files: Vec<(PathBuf, SessionFile)>,
    pub(super) roots: Vec<Root>,
}

impl Followed {
    fn of<'a>(named: impl Iterator<Item = &'a (Agent, PathBuf)>) -> Self {
        let mut followed = Self::default();
        for (agent, path) in named {
            let Some(file) = recognise(Some(*agent), path) else { continue };
            let beside = sessions::of(*agent).map(|door| door.beside(path, &file)).unwrap_or_default();
            followed.roots.extend(beside.folders.into_iter().map(|folder| Root::of(*agent, folder)));
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
        let named = NamedFiles::outside(&[Root::of(Agent::CLAUDE_CODE, "/home/dev/.claude/projects")]);
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
        assert_eq!(now.roots, [Root::of(Agent::CLAUDE_CODE, "/b/-p/5a13")]);
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
}
