//! `install.json`: what `install` did, so that `uninstall` can undo it to the byte.
//!
//! ```text
//! {"version": 1, "installations": [{
//!   "agent": "claude", "file": "/home/me/.claude/settings.json",
//!   "base": "/…/backups/…",        the file as it would be without us; absent if there was none
//!   "written": "sha256:…",          what install wrote: if the file still is that, the base comes back whole
//!   "madeFolder": "/…",             the topmost folder that install made for the file
//!   "chained": "~/line.sh",         the status line command that ours runs
//!   "events": ["Stop"],             what was chosen with `--events`, if anything was
//!   "client": "2.1.326",            the version of the agent it was chosen for; absent if it was not known
//!   "shared": true,                 whether it is the project's file; absent if not
//!   "hook": "/…/agent-tracer-hook", "installedAt": "2026-…Z",
//!   "undo": {…}                     what the edit has to remember, see `agents::hooks::Undo`
//! }]}
//! ```
//!
//! Law: losing this file costs nothing but exactness. `uninstall` then removes our entries by their own looks.

use std::path::{Path, PathBuf};

use agent_tracer_agents::hooks::Undo;
use agent_tracer_spool::Home;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::files;

const VERSION: u32 = 1;
const BYTES_MAX: u64 = 4 << 20;

/// All installations of this home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    installations: Vec<Installation>,
}

/// One settings file that has entries of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Installation {
    /// The agent's name on our command line.
    pub(crate) agent: String,
    /// The settings file, links resolved.
    pub(crate) file: PathBuf,
    /// A copy of the file as it would be without us; `None` if there was no file.
    pub(crate) base: Option<PathBuf>,
    /// The hash of what `install` wrote last.
    pub(crate) written: String,
    /// The topmost folder that was made for the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made_folder: Option<PathBuf>,
    /// The status line command that ours runs first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) chained: Option<String>,
    /// The events that were chosen with `--events`; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<Vec<String>>,
    /// The version of the agent that the entries were chosen for; absent for what every version accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The file is shared with others, who may have another version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shared: bool,
    /// The hook binary that was registered.
    pub(crate) hook: PathBuf,
    /// Time of the last write.
    pub(crate) installed_at: String,
    /// Data that undoes the edit.
    pub(crate) undo: Undo,
}

impl Record {
    /// Returns the backups that `uninstall` would bring back.
    pub(crate) fn bases(&self) -> Vec<PathBuf> {
        self.installations.iter().filter_map(|installation| installation.base.clone()).collect()
    }

    fn empty() -> Record {
        Record { version: VERSION, installations: Vec::new() }
    }

    /// Reads the record. One that cannot be understood counts as lost, and the second value says so.
    pub(crate) fn load(home: &Home) -> (Record, Option<String>) {
        let path = home.install_record();
        // No record is the usual state before `install`, and nothing to report.
        if !path.exists() {
            return (Record::empty(), None);
        }
        let lost = |why: String| (Record::empty(), Some(format!("cannot use `{}`: {why}", path.display())));
        let bytes = match files::read_capped(&path, BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(_) => return lost("it cannot be read".to_owned()),
        };
        match serde_json::from_slice::<Record>(&bytes) {
            // A record of a newer version is not guessed at: `uninstall` then asks the settings file itself.
            Ok(record) if record.version == VERSION => (record, None),
            Ok(record) => lost(format!("unsupported version {}, expected {VERSION}", record.version)),
            Err(cause) => lost(cause.to_string()),
        }
    }

    /// Writes the record.
    pub(crate) fn save(&self, home: &Home) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|cause| Failure::new(format!("cannot write the installation record: {cause}")))?;
        text.push('\n');
        files::write_private(&home.install_record(), text.as_bytes())
    }

    /// Returns what is known about a settings file.
    pub(crate) fn of(&self, file: &Path) -> Option<&Installation> {
        self.installations.iter().find(|installation| installation.file == file)
    }

    /// Returns all installations.
    pub(crate) fn installations(&self) -> &[Installation] {
        &self.installations
    }

    /// Puts an installation in the place of an older one of the same file.
    pub(crate) fn put(&mut self, installation: Installation) {
        // One entry per file: what the second `install` wrote is what `uninstall` has to undo.
        self.forget(&installation.file.clone());
        self.installations.push(installation);
    }

    /// Forgets about a settings file.
    pub(crate) fn forget(&mut self, file: &Path) {
        self.installations.retain(|installation| installation.file != file);
    }

    /// Returns the status line command that another settings file already chains.
    pub(crate) fn chained_elsewhere(&self, file: &Path) -> Option<&str> {
        let other = self.installations.iter().find(|it| it.file != file && it.chained.is_some())?;
        other.chained.as_deref()
    }
}

impl Installation {
    /// Returns whether the file is still what `install` wrote.
    pub(crate) fn wrote(&self, bytes: &[u8]) -> bool {
        self.written == hash(bytes)
    }
}

/// Returns the hash by which a written file is recognised.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
