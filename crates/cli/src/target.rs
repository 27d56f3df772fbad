//! Finds the settings file of a command and the hook binary to write into it.

use std::path::{Path, PathBuf};

use agent_tracer_agents::hooks::Undo;
use agent_tracer_agents::settings::SettingsError;
use agent_tracer_agents::setup::{self, Places, Plan, Scope, Setup};

use crate::arguments::ScopeName;
use crate::environment::Environment;
use crate::failure::Failure;
use agent_tracer_event::Agent;

/// A settings file of an agent.
#[derive(Clone)]
pub(crate) struct Target {
    /// Agent of the settings file.
    pub(crate) agent: Agent,
    /// The agent's settings.
    pub(crate) setup: &'static dyn Setup,
    /// For whom it counts.
    pub(crate) scope: ScopeName,
    /// Path of the file, links not resolved.
    pub(crate) path: PathBuf,
}

impl ScopeName {
    /// Every scope; a later one overrides an earlier one.
    pub(crate) const ALL: [ScopeName; 3] = [ScopeName::User, ScopeName::Project, ScopeName::Local];

    /// Returns the word on our command line.
    pub(crate) fn word(self) -> &'static str {
        self.scope().word()
    }

    fn scope(self) -> Scope {
        match self {
            ScopeName::User => Scope::User,
            ScopeName::Project => Scope::Project,
            ScopeName::Local => Scope::Local,
        }
    }
}

/// Returns the settings of an agent, or the failure of one that has none.
pub(crate) fn setup_of(agent: Agent) -> Result<&'static dyn Setup, Failure> {
    setup::of(agent).ok_or_else(|| {
        Failure::usage(format!("{} calls no hooks", agent.name()))
            .hint("its own files are read wherever they are; no other step is needed")
    })
}

impl Target {
    /// Finds the settings file for an agent and a scope.
    pub(crate) fn of(agent: Agent, scope: ScopeName, environment: &Environment) -> Result<Target, Failure> {
        // A project's file is found without any home, so that a missing `$HOME` is no obstacle.
        let home = match scope {
            ScopeName::User => home_of(agent, environment)?,
            ScopeName::Project | ScopeName::Local => PathBuf::new(),
        };
        Target::at(agent, scope, &home, environment)
    }

    fn at(agent: Agent, scope: ScopeName, home: &Path, environment: &Environment) -> Result<Target, Failure> {
        let setup = setup_of(agent)?;
        let repository = repository(&environment.directory);
        let places = Places { home, directory: &environment.directory, repository: &repository };
        let path = setup.settings(scope.scope(), &places).ok_or_else(|| {
            let has = |scope: &ScopeName| setup.settings(scope.scope(), &places).is_some();
            let others: Vec<String> = ScopeName::ALL
                .into_iter()
                .filter(has)
                .map(|scope| format!("`--scope {}`", scope.word()))
                .collect();
            Failure::usage(format!("{} has no settings of scope `{}`", agent.name(), scope.word()))
                .hint(format!("use {}", others.join(" or ")))
        })?;
        Ok(Target { agent, setup, scope, path })
    }

    /// Returns the settings files of an agent, one per scope, the first of those with the same path.
    pub(crate) fn all_of(agent: Agent, environment: &Environment) -> Vec<Target> {
        distinct(ScopeName::ALL.into_iter().flat_map(|scope| Target::of(agent, scope, environment)))
    }

    /// Returns the same of an agent that has this home.
    pub(crate) fn all_at(agent: Agent, home: &Path, environment: &Environment) -> Vec<Target> {
        distinct(ScopeName::ALL.into_iter().flat_map(|scope| Target::at(agent, scope, home, environment)))
    }

    /// Returns the label for backups: agent and scope.
    pub(crate) fn label(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{}-{}-{file}", self.agent.spec().word, self.scope.word())
    }

    /// Returns `true` if there are entries of ours in the text.
    pub(crate) fn has_own_entries(&self, text: &str) -> bool {
        !setup::own_entries(self.setup, text).is_empty()
    }

    /// Plans the removal of everything of ours.
    pub(crate) fn withdraw(&self, text: &str, undo: &Undo, chained: Option<&str>) -> Result<Plan, Failure> {
        self.setup.withdraw(text, undo, chained).map_err(|error| self.refused(&error))
    }

    /// Turns an error about the file's content into a failure.
    pub(crate) fn refused(&self, error: &SettingsError) -> Failure {
        Failure::new(format!("cannot change `{}`: {error}", self.path.display()))
            .hint("correct the file first; nothing was written")
    }
}

fn distinct(found: impl Iterator<Item = Target>) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for target in found {
        // Where the home is the working directory, two scopes have the same file.
        if !targets.iter().any(|known| known.path == target.path) {
            targets.push(target);
        }
    }
    targets
}

/// Returns the home of an agent.
pub(crate) fn home_of(agent: Agent, environment: &Environment) -> Result<PathBuf, Failure> {
    let spec = agent.spec();
    match environment.path_variable(spec.home_variable) {
        Some(folder) => Ok(spec.home(Some(&folder), Path::new(""))),
        None => Ok(spec.home(None, &environment.user_home()?)),
    }
}

/// Returns the root of the repository that `folder` is in, or `folder` itself.
pub(crate) fn repository(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_owned()
}

/// Returns the hook binary beside this one, ready to be registered.
pub(crate) fn hook(environment: &Environment) -> Result<PathBuf, Failure> {
    let hook = environment.hook();
    if !hook.is_file() {
        return Err(Failure::new(format!("cannot find the hook binary `{}`", hook.display()))
            .hint("`agent-tracer-hook` must be in the same folder as `agent-tracer`: install both, or run `make build`"));
    }
    if !crate::files::is_executable(&hook) {
        return Err(Failure::new(format!("the hook binary `{}` is not executable", hook.display()))
            .hint(format!("run `chmod +x '{}'`", hook.display())));
    }
    Ok(hook)
}

/// Returns a path as text for a settings file, which cannot hold any other bytes.
pub(crate) fn as_text<'a>(what: &str, path: &'a Path) -> Result<&'a str, Failure> {
    let text = path.to_str().ok_or_else(|| {
        Failure::new(format!("{what} `{}` is not UTF-8, which JSON requires", path.display()))
            .hint("move it to a folder with a plain name")
    })?;
    Ok(text)
}
