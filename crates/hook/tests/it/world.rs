//! A home of its own for each test, and the hook run in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use agent_tracer_spool::envelope::{self, Header};

/// A throw-away home.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the hook's command with a clean environment.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(alone());
        command
            .args(words)
            .env_clear()
            .env("HOME", self.folder.path())
            .env("AGENT_TRACER_HOME", self.home())
            .current_dir(self.folder.path());
        command
    }

    /// Runs the hook as an agent does.
    pub(crate) fn run(&self, words: &[&str], payload: &[u8]) -> Output {
        run(&mut self.command(words), payload)
    }

    /// Puts a file into home.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.home()).expect("home");
        let mut file = fs::File::create(self.home().join(name)).expect("a file");
        file.write_all(text.as_bytes()).expect("text");
    }

    /// Returns the accepted envelopes, oldest first.
    pub(crate) fn envelopes(&self) -> Vec<(Header<'static>, Vec<u8>)> {
        let mut names: Vec<PathBuf> = match fs::read_dir(self.home().join("spool/new")) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => Vec::new(),
        };
        names.sort();
        names
            .iter()
            .map(|path| {
                let bytes = fs::read(path).expect("an envelope");
                let parsed = envelope::parse(&bytes).expect("a whole envelope");
                (parsed.header.into_owned(), parsed.body.to_vec())
            })
            .collect()
    }

    /// Returns the only accepted envelope.
    pub(crate) fn envelope(&self) -> (Header<'static>, serde_json::Value) {
        let mut all = self.envelopes();
        assert_eq!(all.len(), 1, "exactly one envelope");
        let (header, body) = all.remove(0);
        (header, serde_json::from_slice(&body).expect("a JSON body"))
    }

    /// Returns the counted losses by reason.
    pub(crate) fn lost(&self) -> Vec<(String, u64)> {
        let mut lost: Vec<(String, u64)> = agent_tracer_spool::lost::counts(&self.home().join("spool/lost"))
            .unwrap_or_default()
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.as_str().to_owned(), count))
            .collect();
        lost.sort();
        lost
    }
}

/// Links the hook into a folder of its own, so that no guard lies beside it unless a test puts one there.
fn alone() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hook-alone");
        fs::create_dir_all(&folder).expect("a folder");
        let place = folder.join("agent-tracer-hook");
        drop(fs::remove_file(&place));
        fs::hard_link(env!("CARGO_BIN_EXE_agent-tracer-hook"), &place).expect("a second name");
        place
    })
}

/// Runs a command with this input. A command that does not read it is no failure of the test.
pub(crate) fn run(command: &mut Command, payload: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the hook starts");
    drop(child.stdin.take().expect("a pipe").write_all(payload));
    child.wait_with_output().expect("the hook ends")
}

/// Asserts the promise to agents: exit code 0 and no output.
#[track_caller]
pub(crate) fn assert_silent(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "exit code");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "standard output");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "standard error");
}

/// Returns all files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().expect("a type").is_dir() {
                open.push(entry.path());
            } else {
                out.push(entry.path());
            }
        }
    }
    out
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("metadata").permissions().mode() & 0o777
}

/// Returns every hook payload of the fixtures with its agent's word on the command line.
pub(crate) fn fixture_payloads() -> Vec<(&'static str, String, serde_json::Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut out = Vec::new();
    for path in files(&root) {
        let name = path.strip_prefix(&root).expect("below").display().to_string();
        let caller = if name.starts_with("codex") { "codex" } else { "claude" };
        let text = || fs::read_to_string(&path).expect("text");
        if name.ends_with("hooks.jsonl") {
            for (number, line) in text().lines().enumerate() {
                let row: serde_json::Value = serde_json::from_str(line).expect("a row");
                let caller = if row["channel"] == "statusline" { "statusline" } else { caller };
                out.push((caller, format!("{name}:{}", number + 1), row["payload"].clone()));
            }
        } else if name.contains("payloads/") && path.extension() == Some(OsStr::new("json")) {
            let value: serde_json::Value = serde_json::from_str(&text()).expect("a payload");
            if value.get("hook_event_name").is_some() {
                out.push((caller, name, value));
            }
        }
    }
    assert!(out.len() > 1000, "the fixtures are there: {}", out.len());
    out
}
