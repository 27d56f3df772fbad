//! A small world for one test: a user's home, a project, the binaries, and a fixed environment.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The world's folders are under one temporary folder, which answers show as `[W]`.
pub(crate) struct World {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// Holds the output of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub(crate) fn ended_with(self, code: i32) -> Answer {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

impl World {
    /// Returns a world in which the hook is a file that can be executed and does nothing.
    pub(crate) fn new() -> World {
        let world = World::without_hook();
        world.write("bin/agent-tracer-hook", "#!/bin/sh\ncat > /dev/null\n");
        world.set_mode("bin/agent-tracer-hook", 0o755);
        world
    }

    /// Returns a world with the real hook.
    pub(crate) fn with_real_hook() -> World {
        let world = World::without_hook();
        fs::copy(real_hook(), world.path("bin/agent-tracer-hook")).expect("the hook");
        world
    }

    /// Returns a world in which there is no hook beside the main binary.
    pub(crate) fn without_hook() -> World {
        let folder = tempfile::Builder::new().prefix("world-").tempdir().expect("a temporary folder");
        let world = World { folder, variables: Vec::new() };
        for folder in ["bin", "home", "project", "empty"] {
            fs::create_dir(world.path(folder)).expect("a folder");
        }
        let program = world.path("bin/agent-tracer");
        // A link is quick; a copy works across file systems.
        if fs::hard_link(env!("CARGO_BIN_EXE_agent-tracer"), &program).is_err() {
            fs::copy(env!("CARGO_BIN_EXE_agent-tracer"), &program).expect("the program");
        }
        world
    }

    /// Sets a variable for every later command. `[W]` in it is the world's folder.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let value = value.replace("[W]", &self.root());
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value));
    }

    /// Returns the variables that were set.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn root(&self) -> String {
        self.folder.path().canonicalize().expect("a folder").to_string_lossy().into_owned()
    }

    /// Returns a path in the world.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder").join(path)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        let mut file = fs::File::create(&path).expect("a file");
        file.write_all(text.replace("[W]", &self.root()).as_bytes()).expect("written");
    }

    /// Reads a file.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).map_err(|error| format!("{path}: {error}")).expect("a text file")
    }

    /// Reads a JSON file.
    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(path)).map_err(|error| format!("{path}: {error}")).expect("JSON")
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.path(path)).is_ok()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).expect("facts").permissions().mode() & 0o7777
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// Returns the names in a folder, sorted; none if there is no such folder.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs `agent-tracer` in the project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_in("project", arguments)
    }

    /// Runs `agent-tracer` in a folder of the world.
    pub(crate) fn run_in(&self, folder: &str, arguments: &[&str]) -> Answer {
        self.run_with(folder, arguments, "")
    }

    /// Runs `agent-tracer` in a folder of the world, with this on its standard input.
    pub(crate) fn run_with(&self, folder: &str, arguments: &[&str], input: &str) -> Answer {
        self.run_program("bin/agent-tracer", folder, arguments, input)
    }

    /// Runs the hook in a folder of the world, as an agent does.
    pub(crate) fn hook(&self, folder: &str, agent: &str, input: &str) -> Answer {
        self.run_program("bin/agent-tracer-hook", folder, &[agent], input)
    }

    /// Runs a script of the world in the project.
    pub(crate) fn run_script(&self, script: &str, arguments: &[&str]) -> Answer {
        self.run_program(script, "project", arguments, "")
    }

    fn run_program(&self, program: &str, folder: &str, arguments: &[&str], input: &str) -> Answer {
        let arguments: Vec<String> =
            arguments.iter().map(|argument| argument.replace("[W]", &self.root())).collect();
        let mut command = Command::new(self.path(program));
        command
            .args(arguments)
            .current_dir(self.path(folder))
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", self.path("empty"))
            .env("TMPDIR", self.folder.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Another test may have begun a process while this one's copy of the program was written: it holds that open for a
        // moment.
        let started = loop {
            match command.spawn() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::yield_now()
                }
                other => break other,
            }
        };
        let mut child = started.expect("the program starts");
        // A command that does not read its input may be gone before it is written.
        drop(child.stdin.take().expect("an input").write_all(input.replace("[W]", &self.root()).as_bytes()));
        let output = child.wait_with_output().expect("the program ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace(&self.root(), "[W]");
        Answer {
            code: output.status.code().expect("no signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// Builds the real hook, once.
fn real_hook() -> &'static Path {
    static HOOK: OnceLock<PathBuf> = OnceLock::new();
    HOOK.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_agent-tracer")).parent().expect("a folder");
        let release = folder.file_name().is_some_and(|name| name == "release");
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--quiet", "--offline", "--package", "agent-tracer-hook"]);
        command.args(release.then_some("--release"));
        // In a folder of its own: the hook's own tests run one with other features from the shared folder.
        let target = folder.parent().expect("the target folder").join("cli-tests");
        command.arg("--target-dir").arg(&target);
        let status = command.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
        assert!(status.success(), "the hook can be built");
        target.join(folder.file_name().expect("a profile")).join("agent-tracer-hook")
    })
}
