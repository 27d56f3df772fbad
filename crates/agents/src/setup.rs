//! The door to an agent's settings: where they are, what `install` writes into them, and what can be said of them.
//!
//! An implementation stands in the agent's folder. The file may be JSON, TOML or a plugin of which every byte is ours: a
//! plan is text in and text out, and [`Setup::own`] reads back what stands there. Everything that reads a disk, starts a
//! program or prints is the caller's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use agent_tracer_event::{Agent, Millis};

use crate::adapter;
use crate::client_version::ClientVersion;
use crate::command_line::Invocation;
use crate::hooks::{Changes, OwnHook, Undo, WantedHook, own_hooks};
use crate::settings::{Settings, SettingsError};

/// Names the user of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user, in all projects.
    User,
    /// Everybody who works on the project.
    Project,
    /// The user, in this project alone.
    Local,
}

impl Scope {
    /// Every scope; a later one overrides an earlier one.
    pub const ALL: [Scope; 3] = [Scope::User, Scope::Project, Scope::Local];

    /// Returns the word on our command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
        }
    }
}

/// Holds the folders below which settings are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The agent's home; empty where a project's file is meant and the home is not known.
    pub home: &'a Path,
    /// The working directory.
    pub directory: &'a Path,
    /// The root of the repository around it, or the working directory itself.
    pub repository: &'a Path,
}

/// Holds the options of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The hook binary: an absolute path, or the bare name for a template that is found on the `PATH`.
    pub hook: String,
    /// Agent Tracer's home, where it is not the default one.
    pub home: Option<String>,
    /// The version that has to accept it; `None` for what every version accepts.
    pub client: Option<ClientVersion>,
    /// The events, by name; `None` for all that are registered by default.
    pub events: Option<Vec<String>>,
    /// The tools that tool events are narrowed to; `None` for all.
    pub tools: Option<Vec<String>>,
    /// Selects the change of the status line.
    pub status_line: StatusLine,
}

/// Selects the change of the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusLine {
    /// Leave it as it is.
    Leave,
    /// Put ours there; `displaces` is the command of another settings file that ours would cover.
    Ours {
        /// The user's command in a file of lower rank, if that one is in effect now.
        displaces: Option<String>,
    },
}

/// Holds the change of the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StatusLineChange {
    /// Nothing to do, or not asked for.
    #[default]
    Untouched,
    /// Ours is there now, where none was.
    Added,
    /// Ours was there and is up to date now.
    Updated,
    /// Ours took the place of this command, which has to be chained.
    Chained(String),
    /// Another program's, of a kind that we cannot chain, so it stays.
    LeftAlone,
    /// Ours is gone and the user's own is back, or there is none any more.
    Restored,
}

/// Holds the change of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The text to write.
    pub text: String,
    /// Lists the changes in the table of hooks.
    pub changes: Changes,
    /// Holds the change of the status line.
    pub status_line: StatusLineChange,
    /// Holds the data that undoes the change.
    pub undo: Undo,
}

/// Explains an event that cannot be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedEvent {
    /// The reason, which fits after "cannot be registered: ".
    pub reason: &'static str,
    /// The way out.
    pub hint: &'static str,
}

/// Describes the settings that a team puts into a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text.
    pub text: String,
    /// The file below the project.
    pub file: &'static str,
    /// A step that is left to each member of the team, as the end of a sentence; empty if there is none.
    pub also: &'static str,
}

/// Holds the state of a settings file after `install`.
#[derive(Debug, Clone, Copy)]
pub struct Installed<'a> {
    /// The path, as people know it.
    pub path: &'a Path,
    /// The text.
    pub text: &'a str,
    /// The version that it was chosen for.
    pub client: Option<ClientVersion>,
    /// Is `true` if the agent ignores the file as it stands.
    pub is_ignored: bool,
}

/// Describes a version that sessions report, beside the settings as they were chosen.
#[derive(Debug, Clone, Copy)]
pub struct Drift<'a> {
    /// The version of the newest session.
    pub seen: ClientVersion,
    /// The start of the first of the newest sessions with it.
    pub since: Millis,
    /// The settings file.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The version that the settings were chosen for.
    pub chosen_for: Option<ClientVersion>,
    /// The time of the last installation.
    pub installed_at: Option<Millis>,
    /// Is `true` if events may be missing: the user chose them, or the file is shared.
    pub may_lack_events: bool,
}

/// Holds the settings of a trial: the client runs once, headless, in a temporary home, against a model that refuses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Files below the agent's home, with their text.
    pub files: Vec<(&'static str, String)>,
    /// The arguments of the client.
    pub arguments: Vec<String>,
    /// Variables besides those that every program gets.
    pub variables: Vec<(&'static str, TrialValue)>,
}

/// Holds the value of a variable in a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialValue {
    /// This text.
    Text(String),
    /// The folder that the client works in.
    WorkFolder,
}

/// Explains why a client cannot be tried offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrialError {
    /// There is no known way to start the agent against a model of ours.
    #[error("it cannot be tried offline")]
    NoOfflineMode,
    /// The version calls hooks only after the user has reviewed them, and has no switch that works without.
    #[error("this version calls no hook before you have reviewed it")]
    UnreviewedHooks,
}

/// Describes a session that is recorded although no settings file is changed for it.
pub struct SessionRequest<'a> {
    /// The hook, its home, and the version that has to accept it.
    pub request: &'a Request,
    /// The folders below which settings stand.
    pub places: &'a Places<'a>,
    /// A private folder for files of this session, which exists as long as the agent runs.
    pub folder: &'a Path,
    /// The arguments that the user gives to the agent.
    pub arguments: &'a [OsString],
    /// Returns the text of a file.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
}

impl SessionRequest<'_> {
    /// Returns `true` if an installed hook of ours brings its events to the same home.
    pub(crate) fn is_served_by(&self, own: &OwnHook) -> bool {
        // A named home is in the environment too, which every hook of ours obeys before its own command line.
        self.request.home.is_some() || own.invocation.home().is_none()
    }
}

/// Holds how the agent is started so that it calls our hooks in this session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionStart {
    /// All arguments, the user's among them.
    pub arguments: Vec<OsString>,
    /// Variables beside those of the caller.
    pub variables: Vec<(&'static str, OsString)>,
    /// Files in the private folder, by name, with their text.
    pub files: Vec<(&'static str, String)>,
}

/// The settings of one agent.
///
/// The answers that stand here are those of an agent with one JSON file per scope and hooks in the table that
/// [`crate::hooks`] describes. Events that a version does not know do no harm unless an implementation says otherwise.
pub trait Setup: Sync {
    /// Returns the settings file of a scope; `None` if the agent has none of that scope.
    fn settings(&self, scope: Scope, places: &Places<'_>) -> Option<PathBuf>;

    /// Returns every event that can be registered, in the order in which they are written.
    fn events(&self) -> Vec<&'static str>;

    /// Returns why an event of the agent cannot be registered.
    fn refused_event(&self, _event: &str) -> Option<RefusedEvent> {
        None
    }

    /// Returns the agent's own tools.
    fn tools(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the hooks that an installation registers.
    fn hooks(&self, request: &Request) -> Vec<WantedHook>;

    /// Returns what an earlier installation may have written for the same command line.
    fn earlier_hooks(&self, request: &Request) -> Vec<WantedHook> {
        self.hooks(request)
    }

    /// Returns the chosen events that the version does not accept.
    fn left_out(&self, _request: &Request) -> Vec<&'static str> {
        Vec::new()
    }

    /// Plans the installation into a file with this text (empty for a file that is not there).
    fn plan(&self, text: &str, request: &Request, undo: Undo) -> Result<Plan, SettingsError> {
        let mut settings = Settings::parse(text)?;
        let mut undo = undo;
        let changes = crate::hooks::register(&mut settings, &self.hooks(request), &mut undo)?;
        Ok(Plan { text: settings.text(), changes, status_line: StatusLineChange::Untouched, undo })
    }

    /// Plans the removal of everything of ours. `chained` is the command of the status line that ours had replaced.
    fn withdraw(&self, text: &str, undo: &Undo, _chained: Option<&str>) -> Result<Plan, SettingsError> {
        let mut settings = Settings::parse(text)?;
        let changes = crate::hooks::withdraw(&mut settings, undo);
        crate::hooks::restore_root(&mut settings, undo);
        let undo = Undo::default();
        Ok(Plan { text: settings.text(), changes, status_line: StatusLineChange::Untouched, undo })
    }

    /// Returns our hooks in a file; none in one that cannot be read.
    fn own(&self, text: &str) -> Vec<OwnHook> {
        Settings::parse(text).map(|settings| own_hooks(&settings)).unwrap_or_default()
    }

    /// Returns why the file cannot be changed, if it cannot.
    fn check(&self, text: &str) -> Result<(), SettingsError> {
        Settings::parse(text).map(drop)
    }

    /// Returns why the agent would ignore all of a file that we can read, in words that fit after "because of".
    fn ignored_because(&self, text: &str) -> Option<String> {
        Settings::parse(text).ok().and_then(|settings| looseness(&settings))
    }

    /// Returns the command of the file's status line, and whether it is ours.
    fn status_line(&self, _text: &str) -> Option<(String, bool)> {
        None
    }

    /// Returns the settings for a team: the hook is found on the `PATH`, and nothing names a home.
    fn template(&self, request: &Request) -> Template;

    /// Returns the oldest version that was driven.
    fn oldest_driven(&self) -> Option<ClientVersion> {
        None
    }

    /// Returns `true` if an event that a version does not know does no harm, so that all are registered.
    fn ignores_unknown_events(&self) -> bool {
        true
    }

    /// Returns `true` if a version calls an event.
    fn calls(&self, _client: ClientVersion, _event: &str) -> bool {
        true
    }

    /// Returns the places besides the `PATH` where the agent's own installer puts its program, below the user's home.
    fn program_places(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the ways other than settings files by which the agent calls us already. `read` returns the text of a file.
    fn other_ways(&self, _home: &Path, _read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
        Vec::new()
    }

    /// Returns a warning about foreign hooks whose place in the file has changed.
    fn shifted_note(&self, _changes: &Changes) -> Option<String> {
        None
    }

    /// Returns the last lines of `install`: what is in the way, and what is left to do.
    fn advice(&self, installed: &Installed<'_>) -> Vec<String> {
        let when = if installed.is_ignored { "once it is corrected, new" } else { "new" };
        vec![format!("{when} sessions are recorded; run `agent-tracer doctor` to check the setup")]
    }

    /// Returns the harm that a change of the client's version does, with the way out on a second line.
    fn drift(&self, _drift: &Drift<'_>) -> Option<String> {
        None
    }

    /// Returns how the client is started offline to see that it calls these hooks of ours; its model is at `base`.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be tried.
    fn trial(&self, _own: &[OwnHook], _base: &str, _version: ClientVersion) -> Result<Trial, TrialError> {
        Err(TrialError::NoOfflineMode)
    }

    /// Returns how the agent is started so that one session is recorded, each event once, and the user's own hooks run too.
    /// `None` if the agent takes hooks from its settings files alone.
    fn session(&self, _session: &SessionRequest<'_>) -> Option<SessionStart> {
        None
    }

    /// Returns the door for rules that the agent asks a model about; `None` if it cannot.
    fn verifiers(&self) -> Option<&'static dyn Verifiers> {
        None
    }
}

/// Hooks that ask a model whether a rule was kept.
pub trait Verifiers: Sync {
    /// Returns one of our verifiers.
    fn verifier(&self, kind: &str, text: &str) -> WantedHook;

    /// Returns the verifiers of ours in a file.
    fn own(&self, settings: &Settings) -> Vec<OwnHook>;

    /// Plans to have exactly these verifiers of ours in a file.
    fn plan(&self, text: &str, wanted: &[WantedHook], undo: Undo) -> Result<Plan, SettingsError>;

    /// Returns the first version that is given verifiers.
    fn first_version(&self) -> ClientVersion;

    /// Returns `true` if a version may be given verifiers; one that is not known may not.
    fn accepts(&self, client: Option<ClientVersion>) -> bool {
        // A client that does not know this type of hook may ignore all of the user's settings.
        client.is_some_and(|client| client >= self.first_version())
    }
}

/// Returns the door to an agent's settings; `None` if the agent is recorded without any.
#[must_use]
pub fn of(agent: Agent) -> Option<&'static dyn Setup> {
    adapter::of(agent).setup()
}

/// Returns the invocations of our entries in a file: hooks and status line.
#[must_use]
pub fn own_entries(setup: &dyn Setup, text: &str) -> Vec<Invocation> {
    let mut own: Vec<Invocation> = setup.own(text).into_iter().map(|own| own.invocation).collect();
    if let Some((command, true)) = setup.status_line(text) {
        own.extend(Invocation::of_shell(&command));
    }
    own
}

/// Returns the part of a file that a strict JSON reader refuses, in words that fit after "because of".
pub(crate) fn looseness(settings: &Settings) -> Option<String> {
    let looseness = settings.looseness()?;
    Some(format!("{} at line {}, column {}", looseness.what, looseness.line, looseness.column))
}
