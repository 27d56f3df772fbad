//! Finds the settings file of a command and the hook binary to write into it.

use std::path::{Path, PathBuf};

use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::hooks::{Changes, Undo, own_hooks};
use agent_tracer_agents::settings::{Settings, SettingsError};
use agent_tracer_agents::{claude, codex};

use crate::arguments::ScopeName;
use crate::environment::Environment;
use crate::failure::Failure;
use agent_tracer_event::Agent;

/// A settings file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Agent of the settings file.
    pub(crate) agent: Agent,
    /// For whom it counts.
    pub(crate) scope: ScopeName,
    /// Path of the file, links not resolved.
    pub(crate) path: PathBuf,
}

/// A change of a settings file, whichever agent it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The text to write.
    pub(crate) text: String,
    /// Changes in the table of hooks.
    pub(crate) changes: Changes,
    /// Change of the status line; untouched for Codex.
    pub(crate) status_line: claude::install::StatusLineChange,
    /// Data that undoes the change.
    pub(crate) undo: Undo,
}

impl ScopeName {
    /// Returns the word on our command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            ScopeName::User => "user",
            ScopeName::Project => "project",
            ScopeName::Local => "local",
        }
    }
}

impl Target {
    /// Finds the settings file for an agent and a scope.
    pub(crate) fn of(agent: Agent, scope: ScopeName, environment: &Environment) -> Result<Target, Failure> {
        let path = match agent {
            Agent::CLAUDE_CODE => claude_settings(scope, environment)?,
            _ => codex_hooks(scope, environment)?,
        };
        Ok(Target { agent, scope, path })
    }

    /// Returns the label for backups: agent and scope.
    pub(crate) fn label(&self) -> String {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{}-{}-{file}", self.agent.spec().word, self.scope.word())
    }

    /// Plans the removal of everything of ours.
    pub(crate) fn withdraw(
        &self,
        text: &str,
        undo: &Undo,
        chained: Option<&str>,
    ) -> Result<Change, SettingsError> {
        Ok(match self.agent {
            Agent::CLAUDE_CODE => {
                let plan = claude::install::withdraw(text, undo, chained)?;
                Change {
                    text: plan.text,
                    changes: plan.changes,
                    status_line: plan.status_line,
                    undo: plan.undo,
                }
            }
            _ => Change::of_codex(codex::install::withdraw(text, undo)?),
        })
    }

    /// Returns why the agent would not load the file at all.
    pub(crate) fn unreadable_for_agent(&self, settings: &Settings) -> Option<String> {
        unreadable_for(self.agent, settings)
    }

    /// Turns an error about the file's content into a failure.
    pub(crate) fn refused(&self, error: &SettingsError) -> Failure {
        Failure::new(format!("cannot change `{}`: {error}", self.path.display()))
            .hint("correct the file first; nothing was written")
    }
}

impl Change {
    pub(crate) fn of_codex(plan: codex::install::Plan) -> Change {
        Change {
            text: plan.text,
            changes: plan.changes,
            status_line: claude::install::StatusLineChange::Untouched,
            undo: plan.undo,
        }
    }
}

/// Returns Claude Code's home.
pub(crate) fn claude_home(environment: &Environment) -> Result<PathBuf, Failure> {
    match environment.path_variable(claude::paths::HOME_VARIABLE) {
        Some(folder) => Ok(folder),
        None => Ok(claude::paths::home(None, &environment.user_home()?)),
    }
}

/// Returns Codex's home.
pub(crate) fn codex_home(environment: &Environment) -> Result<PathBuf, Failure> {
    match environment.path_variable(codex::paths::HOME_VARIABLE) {
        Some(folder) => Ok(folder),
        None => Ok(codex::paths::home(None, &environment.user_home()?)),
    }
}

fn claude_settings(scope: ScopeName, environment: &Environment) -> Result<PathBuf, Failure> {
    let scope = match scope {
        ScopeName::User => claude::paths::Scope::User,
        ScopeName::Project => claude::paths::Scope::Project,
        ScopeName::Local => claude::paths::Scope::Local,
    };
    // A project's file is found without any home, so that a missing `$HOME` is no obstacle.
    let home = match scope {
        claude::paths::Scope::User => claude_home(environment)?,
        claude::paths::Scope::Project | claude::paths::Scope::Local => PathBuf::new(),
    };
    Ok(claude::paths::settings(&home, &environment.directory, scope))
}

fn codex_hooks(scope: ScopeName, environment: &Environment) -> Result<PathBuf, Failure> {
    match scope {
        ScopeName::User => {
            Ok(codex::paths::hooks(&codex_home(environment)?, Path::new(""), codex::paths::Scope::User))
        }
        ScopeName::Project => {
            let project = repository(&environment.directory);
            Ok(codex::paths::hooks(Path::new(""), &project, codex::paths::Scope::Project))
        }
        ScopeName::Local => Err(Failure::usage("Codex has no settings of scope `local`")
            .hint("use `--scope user` or `--scope project`")),
    }
}

/// Returns the root of the repository that `folder` is in, or `folder` itself. Codex looks for its files there.
fn repository(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_owned()
}

/// Returns why an agent would not load a settings file at all.
pub(crate) fn unreadable_for(agent: Agent, settings: &Settings) -> Option<String> {
    if let Some(looseness) = settings.looseness() {
        return Some(format!("{} at line {}, column {}", looseness.what, looseness.line, looseness.column));
    }
    if agent == Agent::CLAUDE_CODE {
        return None;
    }
    if settings.has_byte_order_mark() {
        return Some("a byte order mark at its start".to_owned());
    }
    for place in [&[][..], &["hooks"][..]] {
        if let Some(name) = settings.repeated_names(place).first() {
            return Some(format!("the name `{name}`, which occurs twice"));
        }
    }
    let value = settings.value();
    let unknown = value.as_object()?.keys().find(|key| !matches!(key.as_str(), "description" | "hooks"))?;
    Some(format!("the unknown key `{unknown}`"))
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

/// Returns what our entries in a settings file run, hooks and status line.
pub(crate) fn own_entries(text: &str) -> Vec<Invocation> {
    let Ok(settings) = Settings::parse(text) else { return Vec::new() };
    let mut own: Vec<Invocation> = own_hooks(&settings).into_iter().map(|own| own.invocation).collect();
    if let Some((command, true)) = claude::install::status_line(&settings) {
        own.extend(Invocation::of_shell(&command));
    }
    own
}
