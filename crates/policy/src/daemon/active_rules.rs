//! The rules that are in force while a server runs: read again whenever a file changes, with the table written anew.
//!
//! Law: rules that were sound stay in force until sound ones replace them or their file goes away. A problem is
//! reported as long as it lasts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Origin, Policy, Rule, RuleFile, Trust};
use agent_tracer_ledger::error_text;
use agent_tracer_spool::Home;

use crate::daemon::rules::{PROJECT_FILE, Rules, RulesError, TrustList};
use crate::daemon::table::{self, PROJECTS_MAX, ProjectRules, TableSources};

/// Distinguishes a file from another one at the same place.
// Without reading the file, because every project is looked at every other second. A time alone would miss a second
// write within its grain; a rename changes the inode even if length and time stay.
type FileStamp = Option<(u64, u64, u64, i64, i64)>;

fn stamp_of(path: &Path) -> FileStamp {
    let facts = fs::metadata(path).ok()?;
    Some((facts.dev(), facts.ino(), facts.len(), facts.mtime(), facts.mtime_nsec()))
}

/// One file of rules, as it was last read.
#[derive(Default)]
struct LoadedFile {
    stamp: FileStamp,
    /// Its rules, from the last time that they were sound.
    file: Option<RuleFile>,
    hash: String,
    /// The reason why they differ from the file as it is now.
    problem: Option<String>,
    /// True if the file could not be read: the obstacle may go away without a change of the file.
    is_unread: bool,
}

impl LoadedFile {
    /// Reads the file if it changed. Returns whether it did.
    fn reload(&mut self, path: &Path, read: impl Fn() -> Result<Option<Rules>, RulesError>) -> bool {
        let now = stamp_of(path);
        if now == self.stamp && (now.is_some() || self.file.is_none()) && !self.is_unread {
            return false;
        }
        let before = (self.stamp, self.problem.take());
        self.stamp = now;
        let found = read();
        self.is_unread = matches!(found, Err(RulesError::Read { .. } | RulesError::Refused { .. }));
        match found {
            Ok(None) => self.file = None,
            Ok(Some(rules)) => {
                let hash = rules.hash.clone();
                match rules.into_rule_file() {
                    Ok(file) => {
                        self.file = Some(file);
                        self.hash = hash;
                    }
                    Err(error) => self.problem = Some(problem_text(&error)),
                }
            }
            Err(error) => self.problem = Some(problem_text(&error)),
        }
        !self.is_unread || before != (self.stamp, self.problem.clone())
    }
}

/// Formats an error for a list of problems.
fn problem_text(error: &RulesError) -> String {
    format!("{}\nhint: {}", error_text(error), error.hint())
}

#[derive(Default)]
struct State {
    user: LoadedFile,
    projects: BTreeMap<PathBuf, LoadedFile>,
    trust: (FileStamp, TrustList, Option<String>),
    /// The reason why the table is out of date.
    table: Option<String>,
    /// The table as it was left.
    table_stamp: FileStamp,
    /// Policies that were asked for, by root.
    policies: BTreeMap<PathBuf, Arc<Policy>>,
}

/// The result of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReloadReport {
    /// True if any rules changed.
    pub changed: bool,
    /// Current problems.
    pub problems: Vec<String>,
}

/// A rule, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveRule {
    /// The file.
    pub path: PathBuf,
    /// The root of the project, if it is a project's.
    pub project: Option<PathBuf>,
    /// Its origin.
    pub origin: Origin,
    /// The rule.
    pub rule: Rule,
}

/// A file of rules that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFileStatus {
    /// The file.
    pub path: PathBuf,
    /// The root of the project, if it is a project's.
    pub project: Option<PathBuf>,
    /// Its origin.
    pub origin: Origin,
    /// The hash of the rules in force; empty if none are.
    pub sha256: String,
    /// The number of its rules in force.
    pub rules: usize,
    /// The reason why they differ from the file as it is now.
    pub problem: Option<String>,
}

/// The rules in force.
pub struct ActiveRules {
    home: Home,
    guard: PathBuf,
    state: RwLock<State>,
}

impl ActiveRules {
    /// Starts without rules. `guard` is the program that answers where no server does.
    #[must_use]
    pub fn new(home: Home, guard: PathBuf) -> Self {
        let mut state = State::default();
        for root in table::known_projects(&home) {
            state.projects.insert(root, LoadedFile::default());
        }
        Self { home, guard, state: RwLock::new(state) }
    }

    /// Looks at every file of rules, at those of projects in `roots` too, and writes the table if anything changed.
    pub fn reload(&self, roots: &[PathBuf]) -> ReloadReport {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let mut changed = state.user.reload(&self.home.policy_file(), || Rules::of_user(&self.home));
        changed |= self.reload_trust(state);
        let is_others = stamp_of(&self.home.policy_table()) != state.table_stamp;
        let mut all: BTreeSet<PathBuf> = roots.iter().cloned().collect();
        if is_others {
            // A command may have made a project known.
            all.extend(table::known_projects(&self.home));
        }
        all.extend(state.trust.1.roots().map(Path::to_owned));
        for root in all {
            // A project without rules is not remembered: there are many, and looking again costs one call.
            let is_new = !state.projects.contains_key(&root) && state.projects.len() < PROJECTS_MAX;
            if is_new && stamp_of(&root.join(PROJECT_FILE)).is_some() {
                state.projects.insert(root, LoadedFile::default());
            }
        }
        for (root, kept) in &mut state.projects {
            let path = root.join(PROJECT_FILE);
            changed |= kept.reload(&path, || Rules::find(&path));
        }
        // A file that is gone takes its rules with it at once: its absence is the user's decision, unlike a file that
        // is broken.
        state.projects.retain(|_, kept| kept.stamp.is_some());
        let is_missing = !changed && state.table.is_some();
        if changed || is_missing || is_others {
            state.policies.clear();
            self.write(state);
        }
        ReloadReport { changed, problems: problems(state) }
    }

    fn reload_trust(&self, state: &mut State) -> bool {
        let now = stamp_of(&self.home.policy_trust());
        if now == state.trust.0 && state.trust.2.is_none() {
            return false;
        }
        state.trust = match TrustList::load(&self.home) {
            Ok(trusted) => (now, trusted, None),
            // A file that cannot be read trusts nothing.
            Err(error) => (now, TrustList::default(), Some(problem_text(&error))),
        };
        true
    }

    fn write(&self, state: &mut State) {
        let projects = state.projects.iter().map(|(root, kept)| ProjectRules {
            root: root.clone(),
            file: kept.file.clone(),
            trust: trust_of(&state.trust.1, root, kept),
        });
        let sources =
            TableSources { user: state.user.file.clone().unwrap_or_default(), projects: projects.collect() };
        // Where the user's own rules were never sound, the table that is there says more than none.
        if state.user.problem.is_some() && state.user.file.is_none() {
            state.table_stamp = stamp_of(&self.home.policy_table());
            return;
        }
        state.table = table::write(&self.home, &self.guard, &sources).err().map(|error| problem_text(&error));
        // A different stamp at the next look means that the table was removed or damaged.
        state.table_stamp = stamp_of(&self.home.policy_table());
    }

    /// Returns the rules that are in force in a project.
    pub fn policy(&self, root: &Path) -> Arc<Policy> {
        {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(policy) = state.policies.get(root) {
                return Arc::clone(policy);
            }
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if !state.projects.contains_key(root)
            && state.projects.len() < PROJECTS_MAX
            && stamp_of(&root.join(PROJECT_FILE)).is_some()
        {
            let mut kept = LoadedFile::default();
            let path = root.join(PROJECT_FILE);
            kept.reload(&path, || Rules::find(&path));
            state.projects.insert(root.to_owned(), kept);
            self.write(state);
        }
        let mut policy = Policy::of_user(state.user.file.clone().unwrap_or_default());
        if let Some(kept) = state.projects.get(root)
            && let Some(file) = &kept.file
        {
            policy = policy.with_project(file.clone(), trust_of(&state.trust.1, root, kept));
        }
        if state.policies.len() >= PROJECTS_MAX {
            state.policies.clear();
        }
        let policy = Arc::new(policy);
        state.policies.insert(root.to_owned(), Arc::clone(&policy));
        policy
    }

    /// Returns whether the user's rules are known. Where they were never sound, silence would be no answer.
    pub fn knows_user_rules(&self) -> bool {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.user.problem.is_none() || state.user.file.is_some()
    }

    /// Returns the time hooks wait for an answer, in milliseconds.
    pub fn deadline_ms(&self) -> u32 {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.user.file.as_ref().and_then(|file| file.deadline_ms).unwrap_or(table::DEADLINE_MS)
    }

    /// Returns the rules that are in force somewhere, the user's first.
    pub fn rules(&self) -> Vec<ActiveRule> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for rule in state.user.file.iter().flat_map(|file| &file.rules) {
            all.push(ActiveRule {
                path: self.home.policy_file(),
                project: None,
                origin: Origin::User,
                rule: rule.clone(),
            });
        }
        for (root, kept) in &state.projects {
            let origin = match trust_of(&state.trust.1, root, kept) {
                Trust::Trusted => Origin::TrustedProject,
                Trust::NotTrusted => Origin::Project,
            };
            for rule in kept.file.iter().flat_map(|file| &file.rules) {
                let (path, project) = (root.join(PROJECT_FILE), Some(root.clone()));
                all.push(ActiveRule { path, project, origin, rule: rule.clone() });
            }
        }
        all
    }

    /// Returns the files of rules that are known, the user's first; that one only if it is there.
    pub fn files(&self) -> Vec<RuleFileStatus> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let known =
            |path: PathBuf, project: Option<PathBuf>, origin: Origin, kept: &LoadedFile| RuleFileStatus {
                path,
                project,
                origin,
                sha256: kept.hash.clone(),
                rules: kept.file.as_ref().map_or(0, |file| file.rules.len()),
                problem: kept.problem.clone(),
            };
        let mut files = Vec::new();
        if state.user.stamp.is_some() || state.user.file.is_some() {
            files.push(known(self.home.policy_file(), None, Origin::User, &state.user));
        }
        for (root, kept) in &state.projects {
            let origin = match trust_of(&state.trust.1, root, kept) {
                Trust::Trusted => Origin::TrustedProject,
                Trust::NotTrusted => Origin::Project,
            };
            files.push(known(root.join(PROJECT_FILE), Some(root.clone()), origin, kept));
        }
        files
    }

    /// Returns the problems of the rules as of the last reload.
    pub fn problems(&self) -> Vec<String> {
        problems(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn trust_of(trusted: &TrustList, root: &Path, kept: &LoadedFile) -> Trust {
    trusted.trust(&root.join(PROJECT_FILE), &kept.hash)
}

fn problems(state: &State) -> Vec<String> {
    let files = [&state.user].into_iter().chain(state.projects.values());
    let files = files.filter_map(|kept| kept.problem.clone());
    files.chain(state.trust.2.clone()).chain(state.table.clone()).collect()
}

impl std::fmt::Debug for ActiveRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActiveRules").finish_non_exhaustive()
    }
}
