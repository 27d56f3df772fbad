//! The manager of services: where its files are, and how its own program is called.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::trial::{NoAnswer, Trial, Variables};

use super::{Definition, plist, unit};

/// The name of the unit.
const UNIT: &str = "agent-tracer";
/// The folder of units that packages install.
const PACKAGED_UNITS: [&str; 2] = ["/usr/lib/systemd/user", "/lib/systemd/user"];
/// Time limit for a manager: a start waits for the program, and a stop for its end.
const LIMIT: Duration = Duration::from_secs(60);

/// A manager of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manager {
    /// systemd, with units of the user.
    Systemd,
    /// launchd, with agents of the user.
    Launchd {
        /// The number of the user, which names the domain.
        user: u32,
    },
}

/// A command of a manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command(pub(crate) Vec<String>);

impl Command {
    fn of(words: &[&str]) -> Command {
        Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Returns the command as a person types it.
    pub(crate) fn text(&self) -> String {
        self.0.join(" ")
    }

    /// Runs it and returns its output. The failure holds the first line that it printed.
    pub(crate) fn run(&self, environment: &Environment) -> Result<String, Failure> {
        let (name, words) = self.0.split_first().ok_or_else(|| Failure::new("no command"))?;
        let program = environment.all_on_path(name).into_iter().next();
        let program = program.ok_or_else(|| Failure::new(format!("`{name}` is not on the `PATH`")))?;
        let answer = Trial {
            program: &program,
            arguments: words.iter().map(OsStr::new).collect(),
            input: b"",
            variables: Variables::Without(&[]),
            directory: environment.directory.clone(),
            limit: LIMIT,
        }
        .run();
        match answer {
            Ok(answer) if answer.success => Ok(answer.text),
            Ok(answer) => Err(Failure::new(match answer.text.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => format!("`{}` failed: {}", self.text(), line.trim()),
                None => format!("`{}` failed", self.text()),
            })),
            Err(NoAnswer::NotStarted(cause)) => Err(Failure::new(format!("cannot start `{name}`: {cause}"))),
            Err(NoAnswer::TooSlow) => Err(Failure::new(format!("`{}` did not end in time", self.text()))),
        }
    }
}

impl Manager {
    /// Returns the manager of this system.
    pub(crate) fn of_system() -> Manager {
        if cfg!(target_os = "macos") {
            Manager::Launchd { user: nix::unistd::geteuid().as_raw() }
        } else {
            Manager::Systemd
        }
    }

    /// Returns the name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Manager::Systemd => "systemd",
            Manager::Launchd { .. } => "launchd",
        }
    }

    /// Returns the path of our file.
    pub(crate) fn file(self, environment: &Environment) -> Result<PathBuf, Failure> {
        let home = environment.user_home()?;
        Ok(match self {
            Manager::Systemd => {
                let config = environment.path_variable("XDG_CONFIG_HOME");
                let config = config.unwrap_or_else(|| home.join(".config"));
                config.join("systemd/user").join(format!("{UNIT}.service"))
            }
            Manager::Launchd { .. } => {
                home.join("Library/LaunchAgents").join(format!("{}.plist", plist::LABEL))
            }
        })
    }

    /// Returns the file of a package, which counts where there is none of ours.
    pub(crate) fn packaged_file(self) -> Option<PathBuf> {
        match self {
            Manager::Systemd => {
                let files =
                    PACKAGED_UNITS.iter().map(|folder| Path::new(folder).join(format!("{UNIT}.service")));
                files.into_iter().find(|file| file.is_file())
            }
            Manager::Launchd { .. } => None,
        }
    }

    /// Returns the text of the file for a server.
    pub(crate) fn text(self, definition: &Definition, environment: &Environment) -> Result<String, Failure> {
        Ok(match self {
            Manager::Systemd => unit::text(definition),
            Manager::Launchd { .. } => plist::text(definition, &log_file(environment)?.to_string_lossy()),
        })
    }

    /// Returns the program that a file starts.
    pub(crate) fn program_of(self, text: &str) -> Option<String> {
        match self {
            Manager::Systemd => unit::program_of(text),
            Manager::Launchd { .. } => plist::program_of(text),
        }
    }

    /// Returns a command that changes nothing and fails where the manager does not answer.
    pub(crate) fn probe(self) -> Command {
        match self {
            Manager::Systemd => Command::of(&["systemctl", "--user", "show-environment"]),
            Manager::Launchd { user } => Command::of(&["launchctl", "print", &format!("gui/{user}")]),
        }
    }

    /// Returns the commands that make a written file count, and start it anew; `is_loaded` if it counted before.
    pub(crate) fn start(self, file: &Path, is_loaded: bool) -> Vec<Command> {
        match self {
            Manager::Systemd => vec![
                Command::of(&["systemctl", "--user", "daemon-reload"]),
                Command::of(&["systemctl", "--user", "enable", UNIT]),
                // Starts it, too, if it does not run.
                Command::of(&["systemctl", "--user", "restart", UNIT]),
            ],
            Manager::Launchd { user } => {
                let (domain, name) = (format!("gui/{user}"), format!("gui/{user}/{}", plist::LABEL));
                let mut commands = Vec::new();
                // launchd keeps the definition that it loaded, so an older one is taken out first.
                if is_loaded {
                    commands.push(Command::of(&["launchctl", "bootout", &name]));
                }
                // A label that was disabled stays so over a new bootstrap.
                commands.push(Command::of(&["launchctl", "enable", &name]));
                commands.push(Command::of(&["launchctl", "bootstrap", &domain, &file.to_string_lossy()]));
                commands
            }
        }
    }

    /// Returns the command that stops it and takes it out of the login.
    pub(crate) fn stop(self) -> Command {
        match self {
            Manager::Systemd => Command::of(&["systemctl", "--user", "disable", "--now", UNIT]),
            Manager::Launchd { user } => {
                Command::of(&["launchctl", "bootout", &format!("gui/{user}/{}", plist::LABEL)])
            }
        }
    }

    /// Returns the command after the file is gone, if the manager has to know.
    pub(crate) fn forget(self) -> Option<Command> {
        match self {
            Manager::Systemd => Some(Command::of(&["systemctl", "--user", "daemon-reload"])),
            Manager::Launchd { .. } => None,
        }
    }

    /// Returns the command that starts it anew.
    pub(crate) fn restart(self) -> Command {
        match self {
            Manager::Systemd => Command::of(&["systemctl", "--user", "restart", UNIT]),
            Manager::Launchd { user } => {
                Command::of(&["launchctl", "kickstart", "-k", &format!("gui/{user}/{}", plist::LABEL)])
            }
        }
    }

    /// Returns the command that prints its state.
    pub(crate) fn state(self) -> Command {
        match self {
            Manager::Systemd => Command::of(&[
                "systemctl",
                "--user",
                "show",
                UNIT,
                "--property=UnitFileState,ActiveState,MainPID",
            ]),
            Manager::Launchd { user } => {
                Command::of(&["launchctl", "print", &format!("gui/{user}/{}", plist::LABEL)])
            }
        }
    }

    /// Returns how to see the log.
    pub(crate) fn log(self, environment: &Environment) -> Result<String, Failure> {
        Ok(match self {
            Manager::Systemd => format!("journalctl --user --unit {UNIT}"),
            Manager::Launchd { .. } => log_file(environment)?.display().to_string(),
        })
    }

    /// Returns the links by which a manager starts it at login: they are its own, and stay if it does not answer.
    pub(crate) fn links(self, file: &Path) -> Vec<PathBuf> {
        match self {
            Manager::Systemd => {
                vec![file.with_file_name("default.target.wants").join(format!("{UNIT}.service"))]
            }
            Manager::Launchd { .. } => Vec::new(),
        }
    }

    /// Returns why a manager that does not answer cannot, and what to do.
    pub(crate) fn absence(self, failure: &Failure, environment: &Environment) -> Failure {
        let why = failure.message();
        let serve = format!("or start `{} serve` by whatever starts programs here", environment.program());
        match self {
            Manager::Systemd if !Path::new("/run/systemd/system").is_dir() => {
                Failure::new(format!("this system is not run by systemd, as in most containers: {why}"))
                    .hint(format!("run `{} up`, {serve}", environment.program()))
            }
            Manager::Systemd => {
                let user = nix::unistd::geteuid();
                Failure::new(format!("systemd does not answer for your user in this shell: {why}"))
                    .hint("a shell of `su`, `sudo` or `cron` has no session; log in anew, by SSH or at the screen")
                    .hint(format!("or run `loginctl enable-linger`, `export XDG_RUNTIME_DIR=/run/user/{user}`, and this again"))
                    .hint(serve)
            }
            Manager::Launchd { .. } => Failure::new(format!("launchd does not answer for your user: {why}"))
                .hint("run it again in a terminal of the logged-in user, not over SSH")
                .hint(serve),
        }
    }
}

fn log_file(environment: &Environment) -> Result<PathBuf, Failure> {
    Ok(environment.user_home()?.join("Library/Logs/agent-tracer.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(commands: &[Command]) -> Vec<String> {
        commands.iter().map(Command::text).collect()
    }

    #[test]
    fn each_manager_is_called_in_its_own_words() {
        let file = Path::new("/Users/dev/Library/LaunchAgents/local.agent-tracer.plist");
        let launchd = Manager::Launchd { user: 501 };
        let bootstrap = format!("launchctl bootstrap gui/501 {}", file.display());
        assert_eq!(
            texts(&launchd.start(file, true)),
            [
                "launchctl bootout gui/501/local.agent-tracer",
                "launchctl enable gui/501/local.agent-tracer",
                &bootstrap
            ]
        );
        assert_eq!(launchd.start(file, false).len(), 2);
        assert_eq!(launchd.stop().text(), "launchctl bootout gui/501/local.agent-tracer");
        assert_eq!(launchd.forget(), None);
        assert_eq!(
            texts(&Manager::Systemd.start(file, true)),
            [
                "systemctl --user daemon-reload",
                "systemctl --user enable agent-tracer",
                "systemctl --user restart agent-tracer"
            ]
        );
        assert_eq!(Manager::Systemd.stop().text(), "systemctl --user disable --now agent-tracer");
    }
}
