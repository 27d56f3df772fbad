//! A user's home, some homes of the tracer in it, and the two programs.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use agent_tracer_spool::{Home, Spool};

/// Everything of one test, gone with it.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// A world in memory where there is room for it: thousands of commits would wait for a disk.
    pub(crate) fn new() -> World {
        let memory = Path::new("/dev/shm");
        let mut builder = tempfile::Builder::new();
        builder.prefix("crash-");
        let folder = if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() };
        let world = World { folder: folder.expect("a temporary folder") };
        fs::create_dir_all(world.user()).expect("the user's home");
        world
    }

    /// The user's home, where agents keep their files.
    pub(crate) fn user(&self) -> PathBuf {
        self.folder.path().join("user")
    }

    /// Returns the folder of Claude Code's transcripts.
    pub(crate) fn transcripts(&self) -> PathBuf {
        self.user().join(".claude/projects/-nowhere-shop")
    }

    /// Lets every user look into this world.
    pub(crate) fn open_to_others(&self) {
        for folder in [self.folder.path().to_owned(), self.user()] {
            fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("a mode");
        }
    }

    /// The program, where every user may run it.
    pub(crate) fn program_for_others(&self) -> PathBuf {
        let program = self.folder.path().join("agent-tracer");
        fs::copy(env!("CARGO_BIN_EXE_agent-tracer"), &program).expect("the program");
        program
    }

    /// A home of the tracer. All of them share the user's files.
    pub(crate) fn tracer(&self, name: &str) -> Tracer {
        Tracer::at(&self.folder.path().join(name), &self.user())
    }
}

/// One home of the tracer.
#[derive(Clone)]
pub(crate) struct Tracer {
    folder: PathBuf,
    user: PathBuf,
}

impl Tracer {
    pub(crate) fn at(folder: &Path, user: &Path) -> Tracer {
        Tracer { folder: folder.to_owned(), user: user.to_owned() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn home(&self) -> Home {
        Home::in_folder(&self.folder)
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::at(&self.home().spool())
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path("ledger.db")
    }

    /// The names in one of the spool's folders.
    pub(crate) fn spooled(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.home().spool().join(folder)) else { return Vec::new() };
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.collect()
    }

    /// Returns the number of payloads that hooks could not keep.
    pub(crate) fn lost(&self) -> u64 {
        let counts = agent_tracer_spool::lost::counts(&self.home().lost()).expect("the counters");
        counts.into_iter().map(|(_, count)| count).sum()
    }

    /// Any program, in this home.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.user)
            .env_clear()
            .env("HOME", &self.user)
            .env("AGENT_TRACER_HOME", &self.folder)
            .stdin(Stdio::null());
        command
    }

    /// `agent-tracer`, in this home.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_agent-tracer"));
        command.args(arguments);
        command
    }

    /// Runs `agent-tracer` to its end; returns its exit code and what it said on both outputs.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).output().expect("the program starts");
        let said = [output.stdout, output.stderr].concat();
        let code = output.status.code().expect("no signal");
        (code, String::from_utf8_lossy(&said).into_owned())
    }
}

/// Builds the real hook, once.
pub(crate) fn hook() -> &'static Path {
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
