//! Writes `policy.tbl`: whom a hook must ask, of all rules that are in force anywhere.
//!
//! The hook looks into no project, because looking would cost every event of every user. So the table holds the rows of
//! the user and of every project that is known: those that are trusted, those that the table knows already, those where
//! an agent was seen to work, and the one that a command was called in. Where there is neither a row nor a file of the
//! user's there is no table, and a hook pays one failed open.
//!
//! Laws: the file is whole or it is the one before; a project whose rules are broken keeps the rows it had.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Origin, Rule, RuleFile, RuleScope, Trust, compile};
use agent_tracer_policy_abi::{BYTES_MAX, Row, Table};
use agent_tracer_spool::Home;
use agent_tracer_spool::settings_file::{self, Refusal};

use crate::daemon::rules::{PROJECT_FILE, Rules, RulesError, TrustList, replace};

pub use agent_tracer_policy_abi::DEADLINE_MS;

/// The most projects whose rules are in force.
pub const PROJECTS_MAX: usize = 500;

/// A project and its rules.
#[derive(Clone, Debug)]
pub struct ProjectRules {
    /// Its root.
    pub root: PathBuf,
    /// The rules of its file; `None` if it is broken now and was never valid.
    pub file: Option<RuleFile>,
    /// The trust of the user.
    pub trust: Trust,
}

/// Everything that goes into a table.
#[derive(Clone, Debug, Default)]
pub struct TableSources {
    /// The user's rules.
    pub user: RuleFile,
    /// The projects' rules.
    pub projects: Vec<ProjectRules>,
}

/// Reads the bytes of a home's table as a hook does; `None` if there is none.
pub fn load(home: &Home) -> Result<Option<Vec<u8>>, Refusal> {
    settings_file::read(&home.policy_table(), home.user(), BYTES_MAX)
}

/// Returns the projects that the table of a home knows.
#[must_use]
pub fn known_projects(home: &Home) -> BTreeSet<PathBuf> {
    let Ok(Some(bytes)) = load(home) else { return BTreeSet::new() };
    let Ok(table) = Table::open(&bytes) else { return BTreeSet::new() };
    let roots = table.rows().filter(|row| !row.project.is_empty());
    roots.filter_map(|row| std::str::from_utf8(row.project).ok().map(PathBuf::from)).collect()
}

/// Reads all rules and writes the table. For commands; a server has a [`crate::daemon::ActiveRules`].
///
/// `guard` is the program that answers where no server does. Returns the errors of projects, whose rows stay as they
/// were; an error of the user's own file changes nothing.
pub fn refresh(home: &Home, guard: &Path, more: &[PathBuf]) -> Result<Vec<RulesError>, RulesError> {
    let user = match Rules::of_user(home)? {
        Some(rules) => rules.into_rule_file()?,
        None => RuleFile::default(),
    };
    let trusted = TrustList::load(home)?;
    let mut roots = known_projects(home);
    roots.extend(trusted.roots().map(Path::to_owned));
    roots.extend(more.iter().cloned());
    let (mut projects, mut broken) = (Vec::new(), Vec::new());
    for root in roots {
        let path = root.join(PROJECT_FILE);
        match Rules::find(&path) {
            Ok(None) => {}
            Ok(Some(rules)) => {
                let trust = trusted.trust(&path, &rules.hash);
                let file = match rules.into_rule_file() {
                    Ok(file) => Some(file),
                    Err(error) => {
                        broken.push(error);
                        None
                    }
                };
                projects.push(ProjectRules { root, file, trust });
            }
            Err(error) => {
                broken.push(error);
                projects.push(ProjectRules { root, file: None, trust: Trust::NotTrusted });
            }
        }
    }
    write(home, guard, &TableSources { user, projects })?;
    Ok(broken)
}

/// Writes the table if it is another than the one that is there. Returns whether it was written or removed.
pub fn write(home: &Home, guard: &Path, rules: &TableSources) -> Result<bool, RulesError> {
    let path = home.policy_table();
    let failed = |cause: io::Error| RulesError::Write { path: path.clone(), cause };
    let before = load(home).unwrap_or_default();
    let bytes = bytes_of(rules, before.as_deref(), guard)?;
    // Where the user has a file of rules, an empty table says that none of them needs an answer. Without a table a hook
    // would ask at every event, because it cannot tell an empty one from one that was taken away.
    let bytes =
        Some(bytes).filter(|bytes| has_rows(bytes) || fs::symlink_metadata(home.policy_file()).is_ok());
    match (bytes, before) {
        (None, _) => match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(error)),
        },
        // Not rewritten for nothing: every write changes the inode, and a server would take that for a change by
        // another program.
        (Some(bytes), Some(before)) if bytes == before => Ok(false),
        (Some(bytes), _) => replace(&path, &bytes).map(|()| true).map_err(failed),
    }
}

fn has_rows(bytes: &[u8]) -> bool {
    Table::open(bytes).is_ok_and(|table| table.rows().next().is_some())
}

/// Returns the bytes of the table.
fn bytes_of(rules: &TableSources, before: Option<&[u8]>, guard: &Path) -> Result<Vec<u8>, RulesError> {
    let mut scoped: Vec<(RuleScope<'_>, &Rule)> = Vec::new();
    let everywhere = RuleScope { origin: Origin::User, project: None };
    scoped.extend(rules.user.rules.iter().map(|rule| (everywhere, rule)));
    let names: Vec<(&ProjectRules, Vec<String>)> =
        rules.projects.iter().take(PROJECTS_MAX).map(|project| (project, names_of(&project.root))).collect();
    let mut kept: Vec<Row<'_>> = Vec::new();
    let old = before.and_then(|bytes| Table::open(bytes).ok());
    for (project, names) in &names {
        let origin = match project.trust {
            Trust::Trusted => Origin::TrustedProject,
            Trust::NotTrusted => Origin::Project,
        };
        for name in names {
            match (&project.file, &old) {
                (Some(file), _) => {
                    let scope = RuleScope { origin, project: Some(name) };
                    scoped.extend(file.rules.iter().map(|rule| (scope, rule)));
                }
                (None, Some(old)) => {
                    kept.extend(old.rows().filter(|row| row.project == name.as_bytes()));
                }
                (None, None) => {}
            }
        }
    }
    let deadline = rules.user.deadline_ms.unwrap_or(DEADLINE_MS);
    let guard = guard.as_os_str().as_encoded_bytes();
    Ok(compile(scoped, &kept, deadline, guard)?)
}

/// Returns the names of a folder that agents may use: as found, and without links.
fn names_of(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = root.to_str().map(str::to_owned).into_iter().collect();
    // The hook compares bytes and follows no links: it must find the project under either name.
    let real = root.canonicalize().ok().and_then(|real| real.to_str().map(str::to_owned));
    names.extend(real.filter(|real| !names.contains(real)));
    names
}
