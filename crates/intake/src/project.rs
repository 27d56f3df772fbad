//! Finds the project of a working directory.
//!
//! A project is the root of the git common directory, so that all worktrees of a repository are one; else the folder
//! that the agent calls its project; else the directory itself. The agent's project folder is searched first, because
//! it does not follow `cd`. A directory is searched once: later changes of the repository do not move its history.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use agent_tracer_event::{Entry, Evidence, Phase, Reading, Subject, TaskKey, attributes};
use agent_tracer_privacy::mask;
use serde_json::Value;

/// The most directories and tasks that are remembered. Beyond, all are forgotten and searched again.
const REMEMBERED: usize = 10_000;
/// The longest pointer file that is read.
const POINTER_BYTES: u64 = 8192;
/// The most folders above a directory that are searched.
const LEVELS: usize = 64;

/// Finds projects and remembers them.
#[derive(Debug, Default)]
pub struct Projects {
    /// The repository of each directory that was searched.
    repositories: Mutex<HashMap<String, Option<String>>>,
    /// The last project that was brought for each task.
    brought: Mutex<HashMap<TaskKey, String>>,
}

/// The projects that a reading adds, to be remembered once it is on disk.
pub(crate) type ProjectClaims = Vec<(TaskKey, String)>;

impl Projects {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the project of a working directory and of the folder that the agent calls its project.
    pub fn of(&self, cwd: Option<&str>, named: Option<&str>) -> Option<String> {
        let named = named.filter(|path| !path.is_empty());
        let cwd = cwd.filter(|path| !path.is_empty());
        named
            .and_then(|path| self.repository(path))
            .or_else(|| cwd.and_then(|path| self.repository(path)))
            .or_else(|| named.or(cwd).map(str::to_owned))
    }

    /// Adds the project behind the first entry that names a task's directory, unless it was brought before.
    ///
    /// `first` is the project of a source whose rows follow each other: it stays what it was at the beginning, however
    /// often the working directory changes.
    pub(crate) fn add_to(
        &self,
        reading: &mut Reading,
        mut first: Option<&mut Option<String>>,
    ) -> ProjectClaims {
        let mut said = ProjectClaims::new();
        let mut added = Vec::new();
        for entry in &reading.entries {
            if entry.subject != Subject::Task || said.iter().any(|(task, _)| *task == entry.task) {
                continue;
            }
            let text = |name: &str| entry.metadata.get(name).and_then(Value::as_str);
            let (cwd, named) = (text(attributes::CWD), text(attributes::PROJECT_DIR));
            if cwd.is_none() && named.is_none() {
                continue;
            }
            let project = match &mut first {
                Some(Some(known)) => Some(known.clone()),
                Some(first) => {
                    // Found once per file: an agent that changes its directory still works for the project it began in.
                    **first = self.of(cwd, named);
                    first.clone()
                }
                None => self.of(cwd, named),
            };
            let Some(project) = project else { continue };
            if self.is_brought(&entry.task, &project) {
                continue;
            }
            added.push(entry_of(entry, &project));
            said.push((entry.task.clone(), project));
        }
        reading.entries.append(&mut added);
        said
    }

    /// Remembers the projects of a committed reading, so that later events do not repeat them.
    pub(crate) fn remember(&self, said: ProjectClaims) {
        if said.is_empty() {
            return;
        }
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        if brought.len() >= REMEMBERED {
            brought.clear();
        }
        brought.extend(said);
    }

    fn is_brought(&self, task: &TaskKey, project: &str) -> bool {
        let brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        brought.get(task).is_some_and(|known| known == project)
    }

    fn repository(&self, directory: &str) -> Option<String> {
        let mut known = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(repository) = known.get(directory) {
            return repository.clone();
        }
        let repository =
            repository(Path::new(directory)).and_then(|root| Some(mask(root.to_str()?).into_owned()));
        // Emptied, not trimmed: an order of use would cost memory for each entry, and a search is a few lookups.
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(directory.to_owned(), repository.clone());
        repository
    }
}

fn entry_of(about: &Entry, project: &str) -> Entry {
    let evidence = Evidence::inferred("working directory");
    let mut entry =
        Entry::new(Subject::Task, Phase::Update, about.task.clone(), "task", about.occurred_at, evidence);
    entry.order = about.order;
    entry.metadata.insert(attributes::PROJECT.to_owned(), Value::from(project));
    entry
}

/// Returns the root of the repository that a directory is in.
fn repository(directory: &Path) -> Option<PathBuf> {
    if !directory.is_absolute() {
        return None;
    }
    directory.ancestors().take(LEVELS).find_map(|folder| {
        let git = folder.join(".git");
        // Looked up without running `git`, which libraries of this project may not start.
        let facts = fs::metadata(&git).ok()?;
        if facts.is_dir() {
            // An empty folder of that name is no repository.
            return git.join("HEAD").exists().then(|| folder.to_owned());
        }
        let place = pointer(&git, "gitdir:")?;
        let place = lexical(&folder.join(place));
        match pointer(&place.join("commondir"), "") {
            // A worktree: the common directory is `.git` of the repository, or a bare one.
            Some(common) => {
                let common = lexical(&place.join(common));
                let is_inside = common.file_name().is_some_and(|name| name == ".git");
                Some(if is_inside { common.parent()?.to_owned() } else { common })
            }
            // A submodule, or a repository whose data lies elsewhere: a project of its own.
            None => Some(folder.to_owned()),
        }
    })
}

/// Reads the path behind a word in a small file.
fn pointer(file: &Path, word: &str) -> Option<PathBuf> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(POINTER_BYTES).read_to_string(&mut text).ok()?;
    let path = text.lines().next()?.strip_prefix(word)?.trim();
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Resolves `.` and `..` without following links, as git does.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use agent_tracer_event::{Agent, Certainty, Millis};

    use super::*;

    struct World(tempfile::TempDir);

    impl World {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, path: &str) -> String {
            self.0.path().canonicalize().unwrap().join(path).to_str().unwrap().to_owned()
        }

        fn put(&self, path: &str, text: &str) {
            let path = PathBuf::from(self.path(path));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn folder(&self, path: &str) -> String {
            fs::create_dir_all(self.path(path)).unwrap();
            self.path(path)
        }
    }

    #[test]
    fn a_directory_belongs_to_its_repository() {
        let world = World::new();
        world.put("shop/.git/HEAD", "ref: refs/heads/main\n");
        let deep = world.folder("shop/src/deep");
        assert_eq!(Projects::new().of(Some(&deep), None), Some(world.path("shop")));
    }

    #[test]
    fn worktrees_fold_into_the_repository_they_were_made_from() {
        let world = World::new();
        world.put("shop/.git/HEAD", "ref: refs/heads/main\n");
        world.put("shop/.git/worktrees/try/commondir", "../..\n");
        world.put("try/.git", &format!("gitdir: {}\n", world.path("shop/.git/worktrees/try")));
        let cwd = world.folder("try/src");
        assert_eq!(Projects::new().of(Some(&cwd), None), Some(world.path("shop")));
        // Newer versions of git may write the pointer relative to the worktree.
        world.put("near/.git", "gitdir: ../shop/.git/worktrees/try\n");
        assert_eq!(Projects::new().of(Some(&world.path("near")), None), Some(world.path("shop")));
    }

    #[test]
    fn a_worktree_of_a_bare_repository_belongs_to_that() {
        let world = World::new();
        world.put("shop.git/HEAD", "ref: refs/heads/main\n");
        world.put("shop.git/worktrees/try/commondir", "../..\n");
        world.put("try/.git", &format!("gitdir: {}\n", world.path("shop.git/worktrees/try")));
        assert_eq!(Projects::new().of(Some(&world.path("try")), None), Some(world.path("shop.git")));
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own() {
        let world = World::new();
        world.put("shop/.git/HEAD", "ref: refs/heads/main\n");
        world.folder("shop/.git/modules/lib");
        world.put("shop/lib/.git", "gitdir: ../.git/modules/lib\n");
        assert_eq!(Projects::new().of(Some(&world.path("shop/lib")), None), Some(world.path("shop/lib")));
    }

    #[test]
    fn without_a_repository_the_agents_project_counts_then_the_directory() {
        let world = World::new();
        let (cwd, named) = (world.folder("a/b"), world.folder("a"));
        let projects = Projects::new();
        assert_eq!(projects.of(Some(&cwd), Some(&named)), Some(named.clone()));
        assert_eq!(projects.of(Some(&cwd), None), Some(cwd.clone()));
        assert_eq!(projects.of(Some(""), Some("")), None);
        assert_eq!(projects.of(Some("/nowhere/at/all"), None), Some("/nowhere/at/all".into()));
        assert_eq!(projects.of(Some("relative"), None), Some("relative".into()));
        world.put("r/.git/HEAD", "ref: x\n");
        let other = world.folder("r/x");
        assert_eq!(projects.of(Some(&other), Some(&named)), Some(world.path("r")));
    }

    #[test]
    fn the_agents_project_does_not_follow_the_working_directory() {
        let world = World::new();
        world.put("one/.git/HEAD", "ref: x\n");
        world.put("two/.git/HEAD", "ref: x\n");
        let (one, two) = (world.path("one"), world.path("two"));
        assert_eq!(Projects::new().of(Some(&two), Some(&one)), Some(one));
    }

    #[test]
    fn odd_pointers_are_no_repositories() {
        let world = World::new();
        for text in ["", "gitdir:", "gitdir:   \n", "nothing of the kind", "\u{0}"] {
            world.put("odd/.git", text);
            let cwd = world.path("odd");
            assert_eq!(Projects::new().of(Some(&cwd), None), Some(cwd.clone()), "{text:?}");
        }
        world.folder("empty/.git");
        assert_eq!(Projects::new().of(Some(&world.path("empty")), None), Some(world.path("empty")));
    }

    fn reading(task: &str, cwd: &str) -> Reading {
        let task = TaskKey::new(Agent::CLAUDE_CODE, task);
        let evidence = Evidence::measured("test");
        let mut entry = Entry::new(Subject::Task, Phase::Update, task, "task", Millis(5), evidence);
        entry.metadata.insert("cwd".to_owned(), Value::from(cwd));
        Reading { entries: vec![entry], ..Reading::default() }
    }

    #[test]
    fn the_project_is_inferred_and_repeated_until_it_was_brought() {
        let projects = Projects::new();
        let mut first = reading("s", "/nowhere/a");
        let said = projects.add_to(&mut first, None);
        let added = first.entries.last().unwrap();
        assert_eq!(first.entries.len(), 2);
        assert_eq!(added.evidence.certainty, Certainty::Inferred);
        assert_eq!(added.metadata["project"], "/nowhere/a");
        // Not on disk yet, so the project is added again.
        assert_eq!(projects.add_to(&mut reading("s", "/nowhere/a"), None), said);
        projects.remember(said);
        let mut again = reading("s", "/nowhere/a");
        assert_eq!(projects.add_to(&mut again, None), []);
        assert_eq!(again.entries.len(), 1);
        assert_eq!(projects.add_to(&mut reading("s", "/nowhere/b"), None).len(), 1);
    }

    #[test]
    fn a_source_keeps_the_project_it_began_in() {
        let projects = Projects::new();
        let mut first = None;
        projects.add_to(&mut reading("s", "/nowhere/a"), Some(&mut first));
        let mut moved = reading("s", "/nowhere/b");
        projects.add_to(&mut moved, Some(&mut first));
        assert_eq!(first.as_deref(), Some("/nowhere/a"));
        assert_eq!(moved.entries.last().unwrap().metadata["project"], "/nowhere/a");
    }
}
