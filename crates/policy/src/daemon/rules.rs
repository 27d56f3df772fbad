//! Finds files of rules, and the projects that the user trusts.
//!
//! Law: a project's file is trusted by path and hash together, and only the user's own data folder says so. A file that
//! cannot be read or understood is an error with its name, never an empty set of rules.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::read::BYTES_MAX;
use crate::{Fault, Policy, RuleFile, Trust, read};
use agent_tracer_policy_abi::TooLarge;
use agent_tracer_spool::Home;
use agent_tracer_spool::settings_file::{self, Refusal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use agent_tracer_policy_abi::PROJECT_FILE;

/// Reasons why rules are not in force.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// The system did not give the file.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        cause: io::Error,
    },
    /// The file is there and makes no sense.
    #[error("the rules in `{}` are not in force", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Its first fault; `policy check` lists all of them.
        #[source]
        fault: Fault,
    },
    /// The file is not obeyed: it cannot be read, or other users can write it.
    #[error("the rules in `{}` are not in force", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        cause: Refusal,
    },
    /// The list of trusted files cannot be read.
    #[error("cannot read `{}`", path.display())]
    Trust {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        cause: serde_json::Error,
    },
    /// More rules than a table holds.
    #[error(transparent)]
    TooMany(#[from] TooLarge),
}

impl RulesError {
    /// Returns the hint for people.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Read { .. } => "check that you may read the file, and that it is one".to_owned(),
            Self::Refused { path, cause } => cause.hint(path),
            Self::Write { .. } => "check that you may write there; nothing was changed".to_owned(),
            Self::Broken { path, .. } => format!("run `agent-tracer policy check {}`", path.display()),
            Self::Trust { .. } => "remove the file, and trust again what you trust".to_owned(),
            Self::TooMany(_) => "take rules away, or join some".to_owned(),
        }
    }
}

/// A file of rules that is there.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Its path.
    pub path: PathBuf,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// Its rules, or all of its faults.
    pub content: Result<RuleFile, Vec<Fault>>,
}

impl Rules {
    /// Reads the user's own file; `None` if there is none. One that another user can write is refused.
    pub fn of_user(home: &Home) -> Result<Option<Self>, RulesError> {
        let path = home.policy_file();
        read_own(home, &path)?.map(|bytes| Self::parse(&path, bytes)).transpose()
    }

    /// Reads a file; `None` if there is none.
    pub fn find(path: &Path) -> Result<Option<Self>, RulesError> {
        read_regular(path)?.map(|bytes| Self::parse(path, bytes)).transpose()
    }

    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self, RulesError> {
        // Of the bytes that are parsed, not of a second read: a file that changes in between must not be trusted by
        // the hash of what it was.
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let text = String::from_utf8(bytes).map_err(|error| RulesError::Read {
            path: path.to_owned(),
            cause: refusal(&format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())),
        })?;
        Ok(Self { path: path.to_owned(), hash, content: read(&text) })
    }

    /// Returns its rules, or the reason why they are not in force.
    pub fn into_rule_file(self) -> Result<RuleFile, RulesError> {
        self.content.map_err(|faults| RulesError::Broken {
            path: self.path,
            // A file that is refused has a fault; an empty list would be a fault of the reader and must not panic here.
            fault: faults.into_iter().next().unwrap_or_default(),
        })
    }
}

/// Reads the bytes of a file in the user's own folders; `None` if there is none.
fn read_own(home: &Home, path: &Path) -> Result<Option<Vec<u8>>, RulesError> {
    settings_file::read(path, home.user(), BYTES_MAX + 1)
        .map_err(|cause| RulesError::Refused { path: path.to_owned(), cause })
}

/// Reads the bytes of a regular file, through a link if it is one; `None` if there is none.
fn read_regular(path: &Path) -> Result<Option<Vec<u8>>, RulesError> {
    let failed = |cause: io::Error| RulesError::Read { path: path.to_owned(), cause };
    // Checked before opening: opening a pipe would wait for a writer.
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Err(failed(refusal("it is not a regular file"))),
        Err(error) if is_absent(&error) && fs::symlink_metadata(path).is_err() => return Ok(None),
        Err(error) if is_absent(&error) => return Err(failed(refusal("it is a link that points nowhere"))),
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that the parser sees that the file is too long, and reports it as a fault with a
    // place.
    let limit = BYTES_MAX as u64 + 1;
    match File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => Err(failed(error)),
    }
}

/// Returns `true` if there is no such file. A folder on the way that is a file is as good as none.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns an error for a file that the system would give and that is not taken.
fn refusal(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Returns the root of the project that a folder belongs to: the nearest folder above it with `.git` or with rules.
#[must_use]
pub fn project_root(folder: &Path) -> PathBuf {
    let is_root = |folder: &&Path| folder.join(".git").exists() || folder.join(PROJECT_FILE).exists();
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}

/// The rules that are in force for a project.
#[derive(Debug)]
pub struct EffectivePolicy {
    /// The user's and the project's.
    pub policy: Policy,
    /// The reason why the project's are not in force, if they exist and are broken.
    pub broken: Option<RulesError>,
}

/// Reads the user's rules and those of the project at `root`. Broken rules of the user are an error; a project's must
/// not take the user's away.
pub fn load_effective(home: &Home, root: &Path) -> Result<EffectivePolicy, RulesError> {
    let user = match Rules::of_user(home)? {
        Some(rules) => Policy::of_user(rules.into_rule_file()?),
        None => Policy::default(),
    };
    let path = root.join(PROJECT_FILE);
    let project = match Rules::find(&path) {
        Ok(Some(rules)) => {
            // Read only when there are rules to trust: a broken list must not take the rules of users without
            // projects away.
            let trust = TrustList::load(home).map(|trusted| trusted.trust(&path, &rules.hash))?;
            rules.into_rule_file().map(|file| Some((file, trust)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    Ok(match project {
        Ok(Some((file, trust))) => EffectivePolicy { policy: user.with_project(file, trust), broken: None },
        Ok(None) => EffectivePolicy { policy: user, broken: None },
        Err(error) => EffectivePolicy { policy: user, broken: Some(error) },
    })
}

/// The files that the user trusts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TrustList {
    files: Vec<TrustedFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct TrustedFile {
    path: PathBuf,
    sha256: String,
}

impl TrustList {
    /// Reads the list of trusted files; empty if there is none.
    pub fn load(home: &Home) -> Result<Self, RulesError> {
        let path = home.policy_trust();
        let Some(bytes) = read_own(home, &path)? else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|cause| RulesError::Trust { path, cause })
    }

    /// Returns whether a file is trusted as it is.
    #[must_use]
    pub fn trust(&self, path: &Path, hash: &str) -> Trust {
        let path = canonical(path);
        let known = self.files.iter().any(|file| file.path == path && file.sha256 == hash);
        if known { Trust::Trusted } else { Trust::NotTrusted }
    }

    /// Returns the roots of the projects whose rules are trusted.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|file| file.path.parent()?.parent())
    }

    /// Trusts a file as it is, and no longer as it was.
    pub fn add(&mut self, path: &Path, hash: &str) {
        self.remove(path);
        self.files.push(TrustedFile { path: canonical(path), sha256: hash.to_owned() });
    }

    /// Trusts a file no longer. Returns whether it was trusted.
    pub fn remove(&mut self, path: &Path) -> bool {
        let path = canonical(path);
        let before = self.files.len();
        self.files.retain(|file| file.path != path);
        self.files.len() < before
    }

    /// Writes it down, for the user alone.
    pub fn save(&self, home: &Home) -> Result<(), RulesError> {
        let path = home.policy_trust();
        let failed = |cause: io::Error| RulesError::Write { path: path.clone(), cause };
        let text = serde_json::to_string_pretty(self).map_err(|cause| failed(cause.into()))?;
        replace(&path, (text + "\n").as_bytes()).map_err(failed)
    }
}

/// Returns the path without links; as it is if the file is gone.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Replaces a file of our own as a whole, for us alone.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let temporary = path.with_file_name(name);
    // A file left by a dead process of our number has no owner any more.
    drop(fs::remove_file(&temporary));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        // The rename must not become durable before the content does.
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}
