//! A home, a few projects, and rules to write into them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use agent_tracer_policy::daemon::table::load;
use agent_tracer_policy_abi::Table;
use agent_tracer_spool::Home;

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) home: Home,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path().canonicalize().expect("a path").join("home"));
        fs::create_dir(home.data()).expect("a folder");
        Self { folder, home }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a path").join(name)
    }

    /// Writes a project's rules and returns its root.
    pub(crate) fn project(&self, name: &str, text: &str) -> PathBuf {
        let root = self.path(name);
        fs::create_dir_all(root.join(".agent-tracer")).expect("folders");
        write(&root.join(".agent-tracer/policy.toml"), text.as_bytes());
        root
    }

    pub(crate) fn user(&self, text: &str) {
        write(&self.home.policy_file(), text.as_bytes());
    }

    /// Returns the rows of the table: project, event, tool and rule. `None` if there is no table.
    pub(crate) fn rows(&self) -> Option<Vec<String>> {
        let bytes = load(&self.home).expect("readable")?;
        let table = Table::open(&bytes).expect("sound");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
        let mut rows: Vec<String> = table
            .rows()
            .filter(|row| row.agent == b"claude_code")
            .map(|row| {
                let project =
                    Path::new(&text(row.project)).file_name().map(|name| name.to_string_lossy().into_owned());
                format!(
                    "{} {} {} {}",
                    project.unwrap_or_default(),
                    text(row.event),
                    text(row.tool),
                    text(row.rule)
                )
            })
            .collect();
        rows.sort();
        Some(rows)
    }
}

/// Writes a file as an editor does that does not care.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::File::create(path).and_then(|mut file| file.write_all(bytes)).expect("written");
}

/// Returns a file with one rule that decides so about a tool.
pub(crate) fn rule(name: &str, decision: &str, tool: &str) -> String {
    format!(
        "version = 1\n[[rule]]\nname = \"{name}\"\non = \"PreToolUse\"\ndecision = \"{decision}\"\nreason = \"no\"\nmatch.tool = \"{tool}\"\n"
    )
}
