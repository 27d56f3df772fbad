//! The state of the service.

use std::path::{Path, PathBuf};

use agent_tracer_spool::Home;
use serde::Serialize;
use serde_json::Value;

use super::{Manager, is_ours};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::instance::Instance;
use crate::local_server::{self, HEALTH};

/// The service, as its file, its manager and its server have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    /// The name of the manager.
    pub(crate) manager: &'static str,
    /// There is a file, of ours or of a package.
    pub(crate) installed: bool,
    /// The file is one that `service install` wrote.
    pub(crate) ours: bool,
    /// The file; where it would be, if there is none.
    pub(crate) file: PathBuf,
    /// The program that it starts.
    pub(crate) program: Option<String>,
    /// The program exists.
    pub(crate) program_exists: bool,
    /// The program is this one.
    pub(crate) is_this_program: bool,
    /// It is started at login; `None` if the manager does not answer.
    pub(crate) enabled: Option<bool>,
    /// It runs; `None` if the manager does not answer.
    pub(crate) running: Option<bool>,
    /// The number of its process.
    pub(crate) pid: Option<u32>,
    /// The address of the server of this home, whatever started it.
    pub(crate) address: Option<String>,
    /// The version of that server.
    pub(crate) version: Option<String>,
    /// The way to see the log.
    pub(crate) log: String,
    /// Why the manager does not answer.
    pub(crate) problem: Option<String>,
}

impl Status {
    /// Looks at the service. The manager is asked only if there is a file.
    pub(crate) fn look(manager: Manager, home: &Home, environment: &Environment) -> Result<Status, Failure> {
        let own = manager.file(environment)?;
        let packaged = manager.packaged_file().filter(|_| !own.exists());
        let file = packaged.unwrap_or(own);
        let found = files::find(&file)?;
        let text = found.text()?;
        let installed = found.exists();
        let program = manager.program_of(text);
        let this = environment.main_program();
        let real = program.as_deref().and_then(|program| Path::new(program).canonicalize().ok());
        let state = installed.then(|| manager.state().run(environment));
        let (state, problem) = match state {
            Some(Ok(text)) => (State::parse(manager, &text), None),
            // launchd knows only what is loaded, and says so by a failure.
            Some(Err(_)) if manager != Manager::Systemd => (State::OFF, None),
            Some(Err(failure)) => (State::default(), Some(failure.message().to_owned())),
            None => (State::default(), None),
        };
        let address = Instance::address(home);
        let health = address.and_then(|address| local_server::get(address, HEALTH));
        let version =
            health.and_then(|(_, health)| Some(health.get("version").and_then(Value::as_str)?.to_owned()));
        Ok(Status {
            manager: manager.name(),
            installed,
            ours: is_ours(text),
            file,
            program_exists: real.is_some(),
            // Compared by real path: packages start the program through a link.
            is_this_program: real.is_some() && real == this.canonicalize().ok(),
            program,
            enabled: state.enabled,
            running: state.running,
            pid: state.pid,
            address: address.map(|address| address.to_string()),
            version,
            log: manager.log(environment)?,
            problem,
        })
    }
}

/// The answer of a manager.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    enabled: Option<bool>,
    running: Option<bool>,
    pid: Option<u32>,
}

impl State {
    const OFF: State = State { enabled: Some(false), running: Some(false), pid: None };

    fn parse(manager: Manager, text: &str) -> State {
        let value = |key: &str, between: &str| {
            let lines = text.lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(between));
            lines.map(str::trim).next()
        };
        let number = |value: Option<&str>| value.and_then(|text| text.parse().ok()).filter(|pid| *pid > 0);
        match manager {
            Manager::Systemd => State {
                enabled: value("UnitFileState", "=").map(|state| state.starts_with("enabled")),
                running: value("ActiveState", "=").map(|state| matches!(state, "active" | "reloading")),
                pid: number(value("MainPID", "=")),
            },
            // What is loaded is loaded at each login.
            Manager::Launchd { .. } => State {
                enabled: Some(true),
                running: value("state", " = ").map(|state| state == "running"),
                pid: number(value("pid", " = ")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_manager_are_understood_and_others_are_unknown() {
        let state = |enabled, running, pid| State { enabled, running, pid };
        let launchd = Manager::Launchd { user: 501 };
        for (manager, text, expected) in [
            (
                Manager::Systemd,
                "MainPID=4711\nUnitFileState=enabled\nActiveState=active\n",
                state(Some(true), Some(true), Some(4711)),
            ),
            (
                Manager::Systemd,
                "UnitFileState=disabled\nActiveState=failed\nMainPID=0\n",
                state(Some(false), Some(false), None),
            ),
            (Manager::Systemd, "", State::default()),
            (Manager::Systemd, "MainPID=many\n\u{0}", State::default()),
            (
                launchd,
                "local.agent-tracer = {\n\tstate = running\n\tpid = 42\n}",
                state(Some(true), Some(true), Some(42)),
            ),
            (launchd, "\tstate = waiting\n", state(Some(true), Some(false), None)),
        ] {
            assert_eq!(State::parse(manager, text), expected, "{text}");
        }
    }
}
