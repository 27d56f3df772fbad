//! Finds session files and tells what they are by their names. Reads names and metadata, and opens no file.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use agent_tracer_agents::sessions::{SessionFile, recognise};
use agent_tracer_event::Agent;

/// The most levels of folders that are searched. The agents' own files lie at most eight deep.
const DEPTH_MAX: usize = 12;

/// A folder that an agent writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The agent; `None` if a person named the folder without its agent.
    pub agent: Option<Agent>,
    /// The folder. It need not exist.
    pub folder: PathBuf,
}

impl Root {
    /// Creates the root of an agent.
    pub fn new(agent: Agent, folder: impl Into<PathBuf>) -> Self {
        Self { agent: Some(agent), folder: folder.into() }
    }
}

/// The metadata of a file, which is read without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The device it is on.
    pub device: u64,
    /// The number of the file on that device.
    pub inode: u64,
    /// The length in bytes.
    pub length: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub changed_ns: i64,
}

impl Facts {
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            changed_ns: metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()),
        }
    }
}

/// Returns the metadata of a regular file; `None` if there is none at this path.
pub(crate) fn read_facts(path: &Path) -> io::Result<Option<Facts>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(metadata.is_file().then(|| Facts::from_metadata(&metadata))),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns `true` if an error only means that the file is missing.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The path.
    pub path: PathBuf,
    /// The meaning of its path.
    pub file: SessionFile,
    /// The metadata.
    pub facts: Facts,
}

/// Returns a file by its path, if an agent would give it that name. Links are not followed.
#[must_use]
pub fn find_named(agent: Agent, path: &Path) -> Option<FoundFile> {
    let file = recognise(Some(agent), path).filter(|_| path.is_absolute())?;
    let facts = read_facts(path).ok()??;
    Some(FoundFile { path: path.to_owned(), file, facts })
}

/// Calls `each` for every file of a root. Returns the folders that could not be listed.
///
/// Links are not followed, except if the root itself is one. A missing folder counts as empty.
pub fn find(root: &Root, each: &mut dyn FnMut(FoundFile)) -> Vec<(PathBuf, io::Error)> {
    let mut failed = Vec::new();
    find_in(root, &root.folder, each, &mut failed);
    failed
}

/// Calls `each` for files of a root until so many entries of folders were read. Returns `true` if that were all of them.
///
/// Takes as long as the limit allows, however many files there are; folders that cannot be listed count as empty.
pub fn find_up_to(root: &Root, entries_max: usize, each: &mut dyn FnMut(FoundFile)) -> bool {
    let mut left = entries_max;
    walk(root, &root.folder, &mut left, each, &mut Vec::new())
}

/// Searches a folder somewhere below the root, as [`find`] does the root.
pub(crate) fn find_in(
    root: &Root,
    folder: &Path,
    each: &mut dyn FnMut(FoundFile),
    failed: &mut Vec<(PathBuf, io::Error)>,
) {
    let mut left = usize::MAX;
    walk(root, folder, &mut left, each, failed);
}

/// Searches a folder until `left` entries were read. Returns `false` if some are left.
fn walk(
    root: &Root,
    folder: &Path,
    left: &mut usize,
    each: &mut dyn FnMut(FoundFile),
    failed: &mut Vec<(PathBuf, io::Error)>,
) -> bool {
    let mut waiting = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_gone(&error) => continue,
            Err(error) => {
                failed.push((folder, error));
                continue;
            }
        };
        for entry in entries {
            let Some(rest) = left.checked_sub(1) else { return false };
            *left = rest;
            let seen = entry.and_then(|entry| classify_entry(root, &entry));
            match seen {
                Ok(EntryKind::File(found)) => each(found),
                Ok(EntryKind::Folder(path)) if depth < DEPTH_MAX => waiting.push((path, depth + 1)),
                Ok(EntryKind::Folder(_) | EntryKind::Other) => {}
                Err(error) if is_gone(&error) => {}
                Err(error) => failed.push((folder.clone(), error)),
            }
        }
    }
    true
}

enum EntryKind {
    File(FoundFile),
    Folder(PathBuf),
    Other,
}

fn classify_entry(root: &Root, entry: &DirEntry) -> io::Result<EntryKind> {
    // The file type comes with the listing; metadata costs another call, so only session files pay for it.
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return Ok(EntryKind::Folder(entry.path()));
    }
    if !kind.is_file() {
        return Ok(EntryKind::Other);
    }
    let path = entry.path();
    match recognise(root.agent, &path) {
        Some(file) => {
            Ok(EntryKind::File(FoundFile { facts: Facts::from_metadata(&entry.metadata()?), file, path }))
        }
        None => Ok(EntryKind::Other),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    const ROLLOUT: &str = "rollout-2026-11-15T19-33-11-01a1e0b3-0708-7a91-bca0-aa31b76b9484.jsonl";

    fn names(root: &Root) -> Vec<String> {
        let mut names = Vec::new();
        let failed = find(root, &mut |found| {
            names.push(found.path.strip_prefix(&root.folder).unwrap().to_str().unwrap().to_owned());
        });
        assert!(failed.is_empty(), "{failed:?}");
        names.sort();
        names
    }

    fn put(folder: &Path, path: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap();
    }

    #[test]
    fn every_file_of_an_agent_is_found_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(Agent::CLAUDE_CODE, folder.path());
        let ours = [
            "-home-dev/5a13.jsonl",
            "-home-dev/5a13/subagents/agent-a1.jsonl",
            "-home-dev/5a13/subagents/agent-a1.meta.json",
            "-home-dev/5a13/subagents/workflows/wf/agent-b.jsonl",
        ];
        for path in ours {
            put(folder.path(), path);
        }
        for path in ["-home-dev/notes.txt", "-home-dev/5a13/tool-results/x.txt", "sessions-index.json"] {
            put(folder.path(), path);
        }
        fs::create_dir(folder.path().join("-home-dev/folder.jsonl")).unwrap();
        symlink("5a13.jsonl", folder.path().join("-home-dev/link.jsonl")).unwrap();
        symlink(folder.path(), folder.path().join("-home-dev/round")).unwrap();
        assert_eq!(names(&root), ours);
    }

    #[test]
    fn rollouts_are_found_by_name_plain_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(Agent::CODEX, folder.path());
        let plain = format!("2026/11/15/{ROLLOUT}");
        let archived = format!("{ROLLOUT}.zst");
        for path in [plain.as_str(), archived.as_str(), "history.jsonl", "2026/x.txt"] {
            put(folder.path(), path);
        }
        assert_eq!(names(&root), [plain.as_str(), archived.as_str()]);
    }

    #[test]
    fn a_folder_that_is_missing_is_an_empty_one() {
        assert_eq!(names(&Root::new(Agent::CODEX, "/nowhere/at/all")), Vec::<String>::new());
    }

    #[test]
    fn a_limited_search_ends_at_its_limit_and_reports_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(Agent::CLAUDE_CODE, folder.path());
        for name in ["a", "b", "c"] {
            put(folder.path(), &format!("p/{name}.jsonl"));
        }
        // The folder itself is an entry, too.
        for (entries_max, files, is_whole) in [(0, 0, false), (2, 1, false), (4, 3, true), (100, 3, true)] {
            let mut seen = 0;
            assert_eq!(find_up_to(&root, entries_max, &mut |_| seen += 1), is_whole, "{entries_max}");
            assert_eq!(seen, files, "{entries_max}");
        }
    }

    #[test]
    fn a_root_may_be_a_link() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "real/p/5a13.jsonl");
        symlink("real", folder.path().join("link")).unwrap();
        assert_eq!(names(&Root::new(Agent::CLAUDE_CODE, folder.path().join("link"))), ["p/5a13.jsonl"]);
    }
}
