//! The edit plan for a Claude Code settings file: text in, text out, and what changed.
//!
//! Law: only what the client's version accepts is written ([`super::versions`]): an event too many costs the
//! user their whole settings file. Hooks are registered synchronously and, where the version allows it, without a shell
//! (`command` and `args`), because the agent kills asynchronous hooks when the session ends and a shell costs more than
//! the hook. The status line has no such form, so its command is quoted for `sh`; a status line that the user already
//! has is chained, never lost.

use serde_json::{Value, json};

use super::events::{EVENTS, Event, Registration};
use super::versions::{self, Form};
use crate::client_version::ClientVersion;
use crate::command_line::{HOOK_PROGRAM, Invocation, quoted};
use crate::hooks::{self, Undo, WantedHook};
use crate::settings::{Settings, SettingsError};
pub use crate::setup::{Plan, StatusLine, StatusLineChange};

const STATUS_LINE: &str = "statusLine";
/// Limits how long the agent waits for a verdict, in seconds: of a small model, and of an agent that looks around.
const PROMPT_TIMEOUT_S: u64 = 30;
const AGENT_TIMEOUT_S: u64 = 120;

/// Holds the options of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallOptions {
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
    /// Holds what to do about the status line.
    pub status_line: StatusLine,
}

impl InstallOptions {
    /// Returns the hooks to register, in the order of [`EVENTS`].
    pub fn hooks(&self) -> Vec<WantedHook> {
        self.chosen()
            .filter(|event| versions::accepts(self.client, event.name))
            .map(|event| self.hook_for(event, versions::form(self.client)))
            .collect()
    }

    /// Returns the events that are left out because the client's version does not accept them.
    pub fn left_out(&self) -> Vec<&'static str> {
        self.chosen()
            .filter(|event| !versions::accepts(self.client, event.name))
            .map(|event| event.name)
            .collect()
    }

    /// Returns every chosen event in both forms, whatever the version: what an installation may have written.
    pub fn in_every_form(&self) -> Vec<WantedHook> {
        self.chosen()
            // An upgrade of the client changes the form, and the old entry has to be found to be replaced.
            .flat_map(|event| [Form::Shell, Form::Exec].map(|form| self.hook_for(event, form)))
            .collect()
    }

    fn hook_for(&self, event: &Event, form: Form) -> WantedHook {
        WantedHook { event: event.name, matcher: self.matcher(event), handler: self.handler(event, form) }
    }

    fn chosen(&self) -> impl Iterator<Item = &'static Event> + '_ {
        EVENTS.iter().filter(|event| match &self.events {
            Some(names) => {
                event.registration != Registration::Never && names.iter().any(|name| name == event.name)
            }
            None => event.registration == Registration::Default,
        })
    }

    /// Returns the command of the status line, for `sh`.
    pub fn status_line_command(&self) -> String {
        self.shell_command("statusline")
    }

    fn shell_command(&self, word: &str) -> String {
        let program = if self.hook == HOOK_PROGRAM { self.hook.clone() } else { quoted(&self.hook) };
        let mut command = format!("{program} {word}");
        if let Some(home) = &self.home {
            command.push_str(" --home ");
            command.push_str(&quoted(home));
        }
        command
    }

    fn matcher(&self, event: &Event) -> Option<String> {
        match (&self.tools, event.of_a_tool) {
            (Some(tools), true) => Some(hooks::tool_matcher(tools)),
            _ => event.matcher.map(str::to_owned),
        }
    }

    fn handler(&self, event: &Event, form: Form) -> Value {
        let mut handler = match form {
            Form::Shell => json!({"type": "command", "command": self.shell_command("claude")}),
            Form::Exec => {
                let mut arguments = vec!["claude"];
                if let Some(home) = &self.home {
                    arguments.extend(["--home", home]);
                }
                json!({"type": "command", "command": self.hook, "args": arguments})
            }
        };
        // Only where the client's default does not do; the table of events says why.
        if let (Some(timeout), Some(handler)) = (event.timeout, handler.as_object_mut()) {
            handler.insert("timeout".to_owned(), json!(timeout));
        }
        handler
    }
}

/// Returns the settings that a team can put into a project: the hook is found on the `PATH`, nothing names a home.
pub fn template(
    client: Option<ClientVersion>,
    events: Option<Vec<String>>,
    tools: Option<Vec<String>>,
) -> Value {
    let (hook, status_line) = (HOOK_PROGRAM.to_owned(), StatusLine::Leave);
    hooks::table(&InstallOptions { hook, home: None, client, events, tools, status_line }.hooks())
}

/// Plans the installation into a settings file with this text (empty for a file that is not there).
pub fn plan(text: &str, wanted: &InstallOptions, undo: Undo) -> Result<Plan, SettingsError> {
    let mut settings = Settings::parse(text)?;
    let mut undo = undo;
    let changes = hooks::register(&mut settings, &wanted.hooks(), &mut undo)?;
    let status_line = match &wanted.status_line {
        StatusLine::Leave => StatusLineChange::Untouched,
        StatusLine::Ours { displaces } => {
            put_status_line(&mut settings, wanted, displaces.as_deref(), &mut undo)
        }
    };
    Ok(Plan { text: settings.text(), changes, status_line, undo })
}

/// Returns one of our verifiers, which the agent asks at the end of a turn.
#[must_use]
pub fn verifier(kind: &str, text: &str) -> WantedHook {
    let timeout = if kind == "agent" { AGENT_TIMEOUT_S } else { PROMPT_TIMEOUT_S };
    let handler = json!({"type": kind, "prompt": text, "timeout": timeout});
    WantedHook { event: "Stop", matcher: None, handler }
}

/// Plans to have exactly these verifiers of ours in a settings file.
pub fn verify(text: &str, wanted: &[WantedHook], undo: Undo) -> Result<Plan, SettingsError> {
    let mut settings = Settings::parse(text)?;
    let mut undo = undo;
    let changes = hooks::register_verifiers(&mut settings, wanted, &mut undo)?;
    Ok(Plan { text: settings.text(), changes, status_line: StatusLineChange::Untouched, undo })
}

/// Plans the removal of everything of ours. `chained` is the command that ours had replaced, for the case that the
/// undo notes are lost.
pub fn withdraw(text: &str, undo: &Undo, chained: Option<&str>) -> Result<Plan, SettingsError> {
    let mut settings = Settings::parse(text)?;
    let changes = hooks::withdraw(&mut settings, undo);
    let mut status_line = StatusLineChange::Untouched;
    if let Some((place, command)) = own_status_line(&settings) {
        match (&undo.status_line, chained) {
            (Some(raw), _) => settings.replace_raw(&command, raw),
            (None, Some(chained)) if *undo == Undo::default() => settings.replace_string(&command, chained),
            (None, _) => settings.remove(&[place]),
        }
        hooks::restore_root(&mut settings, undo);
        status_line = StatusLineChange::Restored;
    }
    Ok(Plan { text: settings.text(), changes, status_line, undo: Undo::default() })
}

/// Returns the command of the file's status line, with whether it is ours.
pub fn status_line(settings: &Settings) -> Option<(String, bool)> {
    let command = settings.member(STATUS_LINE)?.get("command")?.as_str()?.to_owned();
    let ours = Invocation::of_shell(&command).is_some_and(|invocation| invocation.is_ours());
    Some((command, ours))
}

/// Returns where our status line and its command stand, if it is ours.
fn own_status_line(settings: &Settings) -> Option<(usize, [usize; 2])> {
    let (_, ours) = status_line(settings)?;
    let place = settings.find(&[], STATUS_LINE)?;
    let command = settings.find(&[place], "command")?;
    ours.then_some((place, [place, command]))
}

fn put_status_line(
    settings: &mut Settings,
    wanted: &InstallOptions,
    displaces: Option<&str>,
    undo: &mut Undo,
) -> StatusLineChange {
    let command = wanted.status_line_command();
    if let Some((_, place)) = own_status_line(settings) {
        if settings.get(&place).as_ref().and_then(Value::as_str) == Some(&command) {
            return StatusLineChange::Untouched;
        }
        settings.replace_string(&place, &command);
        return StatusLineChange::Updated;
    }
    let Some(place) = settings.find(&[], STATUS_LINE) else {
        hooks::append_to_root(settings, undo, STATUS_LINE, &json!({"type": "command", "command": command}));
        return match displaces {
            Some(displaced) => StatusLineChange::Chained(displaced.to_owned()),
            None => StatusLineChange::Added,
        };
    };
    let is_command =
        settings.get(&[place]).is_some_and(|line| line.get("type").is_none_or(|kind| kind == "command"));
    // Only the command is exchanged: padding and whatever else belongs to the line stays.
    let (Some((previous, _)), Some(command_place), true) =
        (status_line(settings), settings.find(&[place], "command"), is_command)
    else {
        return StatusLineChange::LeftAlone;
    };
    undo.status_line = settings.raw(&[place, command_place]);
    settings.replace_string(&[place, command_place], &command);
    StatusLineChange::Chained(previous)
}
