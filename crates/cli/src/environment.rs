//! Reads the environment of this process: variables, working directory, its own file, the time.
//!
//! Law: read once, here. Everything else gets it as a value, so that a test can hand in another world.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use agent_tracer_agents::command_line::HOOK_PROGRAM;
use agent_tracer_event::Millis;
use agent_tracer_spool::Home;

use crate::failure::{Failure, plain};

/// Returns the files that are programs, each once, whatever links lead to it.
pub(crate) fn distinct(files: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut known = Vec::new();
    let mut programs = Vec::new();
    for file in files.filter(|file| file.is_file() && crate::files::is_executable(file)) {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if !known.contains(&real) {
            known.push(real);
            programs.push(file);
        }
    }
    programs
}

/// The surroundings of one run.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// The folder of the running binary, links resolved.
    program_folder: PathBuf,
}

impl Environment {
    /// Reads the surroundings of this process.
    pub(crate) fn of_process() -> Result<Environment, Failure> {
        let directory = std::env::current_dir().map_err(|cause| {
            Failure::new(format!("cannot read the working directory: {}", plain(&cause)))
                .hint("change to a folder that exists")
        })?;
        let program = std::env::current_exe().map_err(|cause| {
            Failure::new(format!("cannot find the path of this program: {}", plain(&cause)))
        })?;
        let program_folder = program.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Environment { directory, program_folder })
    }

    /// Returns a variable; an empty one counts as absent.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable as an absolute path.
    pub(crate) fn path_variable(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(|value| self.absolute(Path::new(&value)))
    }

    /// Returns a path as seen from the working directory.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        // `components` drops `./` and doubled slashes; `..` stays, because links make it ambiguous.
        self.directory.join(path).components().collect()
    }

    /// Returns the user's home.
    pub(crate) fn user_home(&self) -> Result<PathBuf, Failure> {
        self.variable("HOME").map(PathBuf::from).filter(|path| path.is_absolute()).ok_or_else(|| {
            Failure::new("cannot find your home directory: `$HOME` is not set to an absolute path")
                .hint("set `HOME` and try again")
        })
    }

    /// Returns Agent Tracer's home and, if it is not the default one, the folder to pass to hooks.
    pub(crate) fn home(&self, argument: Option<&Path>) -> Result<(Home, Option<PathBuf>), Failure> {
        let variable = self.path_variable("AGENT_TRACER_HOME");
        let argument = argument.map(|path| self.absolute(path));
        if let (Some(variable), Some(argument)) = (&variable, &argument)
            && variable != argument
        {
            // The hook obeys the variable, so an installation with this argument would record elsewhere.
            return Err(Failure::usage(format!(
                "`--home` is `{}` but `$AGENT_TRACER_HOME` is `{}`, which counts for hooks",
                argument.display(),
                variable.display()
            ))
            .hint("unset `AGENT_TRACER_HOME`, or remove `--home`"));
        }
        let user = nix::unistd::geteuid().as_raw();
        if let Some(folder) = variable.or(argument) {
            return Ok((Home::in_folder(&folder).with_user(user), Some(folder)));
        }
        let home = Home::resolve(&|name| std::env::var_os(name), None).ok_or_else(|| {
            Failure::new("no folder for data: neither `$HOME` nor `--home` is given")
                .hint("set `HOME`, or name a folder with `--home`")
        })?;
        Ok((home.with_user(user), None))
    }

    /// Returns where the hook binary has to be: beside this one.
    pub(crate) fn hook(&self) -> PathBuf {
        self.program_folder.join(HOOK_PROGRAM)
    }

    /// Returns this program's own file, by which hooks call it where no server answers.
    pub(crate) fn main_program(&self) -> PathBuf {
        self.program_folder.join("agent-tracer")
    }

    /// Returns how a person calls this program: by its name if it is on the path, else by where it is.
    pub(crate) fn program(&self) -> String {
        let here = self.main_program();
        // The short name only where a shell finds this very program by it: hints are meant to be copied.
        let known = self.on_path("agent-tracer").and_then(|file| file.canonicalize().ok());
        if known.is_some_and(|known| known == here) {
            return "agent-tracer".to_owned();
        }
        here.display().to_string()
    }

    /// Returns the first file called `name` in the folders of `$PATH`.
    pub(crate) fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }

    /// Returns every program called `name` in the folders of `$PATH`, in their order, one that is linked twice once.
    pub(crate) fn all_on_path(&self, name: &str) -> Vec<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default();
        distinct(std::env::split_paths(&path).map(|folder| self.absolute(&folder).join(name)))
    }

    /// Returns the name of the local time zone, where the system has one.
    pub(crate) fn time_zone(&self) -> Option<String> {
        let named = self.variable("TZ").and_then(|zone| zone.into_string().ok());
        let named = named.map(|zone| zone.trim_start_matches(':').to_owned());
        named.filter(|zone| !zone.is_empty()).or_else(|| {
            // The name of the zone is in the target of the link; the file itself does not hold it.
            let target = std::fs::canonicalize("/etc/localtime").ok()?;
            Some(target.to_str()?.split_once("/zoneinfo/")?.1.to_owned())
        })
    }

    /// Returns the present time.
    #[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
    pub(crate) fn now(&self) -> Millis {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}
