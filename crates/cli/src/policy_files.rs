//! Where rules are, and which of a project's the user trusts.
//!
//! Law: a project's file is trusted by path and hash together, and only the user's own data folder says so. A file that
//! cannot be read or understood is an error with its name, never an empty set of rules.

use std::path::{Path, PathBuf};

use agent_tracer_policy::{Fault, Policy, RuleFile, Trust, read};
use agent_tracer_spool::Home;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;

/// A project's rules, as seen from its root.
pub(crate) const PROJECT_FILE: &str = ".agent-tracer/policy.toml";

/// A file of rules that is there.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its hash, in hexadecimal.
    pub(crate) hash: String,
    /// What it says, or everything that is wrong with it.
    pub(crate) content: Result<RuleFile, Vec<Fault>>,
}

impl Rules {
    /// Reads a file; `None` if there is none.
    pub(crate) fn find(path: &Path) -> Result<Option<Rules>, Failure> {
        let found = files::find(path)?;
        let Some(bytes) = &found.bytes else { return Ok(None) };
        let hash = hash(bytes);
        Ok(Some(Rules { path: path.to_owned(), hash, content: read(found.text()?) }))
    }

    /// What it says, or a failure that names its first fault.
    pub(crate) fn sound(self) -> Result<RuleFile, Failure> {
        self.content.map_err(|faults| {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            Failure::new(format!("the rules in `{}` are not in force: {first}", self.path.display()))
                .hint(format!("run `agent-tracer policy check {}`", self.path.display()))
        })
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The user's own file.
pub(crate) fn of_user(home: &Home) -> PathBuf {
    home.config().join("policy.toml")
}

/// The root of the project that a folder belongs to: the nearest folder above it with `.git` or with rules.
pub(crate) fn project_root(folder: &Path) -> PathBuf {
    let is_root = |folder: &&Path| folder.join(".git").exists() || folder.join(PROJECT_FILE).exists();
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}

/// The file that a person means: a file, or the folder of a project.
pub(crate) fn named(path: &Path, environment: &Environment) -> PathBuf {
    let path = environment.absolute(path);
    if path.is_dir() { path.join(PROJECT_FILE) } else { path }
}

/// The rules that are in force for a project.
pub(crate) struct InForce {
    /// The user's and the project's.
    pub(crate) policy: Policy,
    /// Why the project's are not in force, if they are there and broken.
    pub(crate) broken: Option<Failure>,
}

/// Reads the user's rules and those of the project at `root`. Broken rules of the user are an error; a project's must
/// not take the user's away.
pub(crate) fn in_force(home: &Home, root: &Path) -> Result<InForce, Failure> {
    let user = match Rules::find(&of_user(home))? {
        Some(rules) => Policy::of_user(rules.sound()?),
        None => Policy::default(),
    };
    let path = root.join(PROJECT_FILE);
    let project = match Rules::find(&path) {
        Ok(Some(rules)) => {
            let trust = Trusted::load(home).map(|trusted| trusted.trust(&path, &rules.hash))?;
            rules.sound().map(|file| Some((file, trust)))
        }
        Ok(None) => Ok(None),
        Err(failure) => Err(failure),
    };
    Ok(match project {
        Ok(Some((file, trust))) => InForce { policy: user.with_project(file, trust), broken: None },
        Ok(None) => InForce { policy: user, broken: None },
        Err(failure) => InForce { policy: user, broken: Some(failure) },
    })
}

/// What the user trusts.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trusted {
    files: Vec<TrustedFile>,
}

#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct TrustedFile {
    path: PathBuf,
    sha256: String,
}

impl Trusted {
    fn path(home: &Home) -> PathBuf {
        home.data().join("policy-trust.json")
    }

    /// Reads what the user trusts; nothing if nobody ever trusted anything.
    pub(crate) fn load(home: &Home) -> Result<Trusted, Failure> {
        let path = Trusted::path(home);
        let found = files::find(&path)?;
        let Some(bytes) = &found.bytes else { return Ok(Trusted::default()) };
        serde_json::from_slice(bytes).map_err(|cause| {
            Failure::new(format!("cannot read `{}`: {cause}", path.display()))
                .hint("remove the file, and trust again what you trust")
        })
    }

    /// Whether a file is trusted as it is.
    pub(crate) fn trust(&self, path: &Path, hash: &str) -> Trust {
        let path = canonical(path);
        let known = self.files.iter().any(|file| file.path == path && file.sha256 == hash);
        if known { Trust::Trusted } else { Trust::NotTrusted }
    }

    /// Trusts a file as it is, and no longer as it was.
    pub(crate) fn add(&mut self, path: &Path, hash: &str) {
        self.remove(path);
        self.files.push(TrustedFile { path: canonical(path), sha256: hash.to_owned() });
    }

    /// Trusts a file no longer. Returns whether it was trusted.
    pub(crate) fn remove(&mut self, path: &Path) -> bool {
        let path = canonical(path);
        let before = self.files.len();
        self.files.retain(|file| file.path != path);
        self.files.len() < before
    }

    /// Writes it down, for the user alone.
    pub(crate) fn save(&self, home: &Home) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|cause| Failure::new(format!("cannot write down what is trusted: {cause}")))?;
        files::write_private(&Trusted::path(home), (text + "\n").as_bytes())
    }
}

/// The path without links; as it is if the file is gone.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
