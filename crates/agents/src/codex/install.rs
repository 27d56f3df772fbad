//! The edit plan for a Codex `hooks.json`: text in, text out, and what changed.
//!
//! Law: trust is kept by a group's number and a hash of the command line and the timeout. So our group is appended
//! last, never moved, and its command line stays the same for as long as the binary stays where it is. No marker of
//! ours goes into the file: an unknown key beside `hooks` makes Codex discard all of it.

use serde_json::{Value, json};

use super::events::{EVENTS, Event, HURRIED_TIMEOUT};
use crate::command_line::{HOOK_PROGRAM, quoted};
use crate::hooks::{self, Undo, WantedHook};
use crate::settings::{Settings, SettingsError};
pub use crate::setup::Plan;
use crate::setup::StatusLineChange;

/// The `description` that earlier versions of ours wrote. Codex 0.140 to 0.142 refuse a file that has one, with all of the
/// user's hooks in it, so it is taken away and never written.
pub const DESCRIPTION: &str = "Agent Tracer records what Codex does, on this machine";

/// Holds the options of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallOptions {
    /// The hook binary: an absolute path, or the bare name for a template that is found on the `PATH`.
    pub hook: String,
    /// Agent Tracer's home, where it is not the default one.
    pub home: Option<String>,
    /// The events, by name; `None` for all.
    pub events: Option<Vec<String>>,
    /// The tools that tool events are narrowed to; `None` for all.
    pub tools: Option<Vec<String>>,
}

impl InstallOptions {
    /// Returns the hooks to register, in the order of [`EVENTS`].
    pub fn hooks(&self) -> Vec<WantedHook> {
        EVENTS
            .iter()
            .filter(|event| {
                self.events.as_ref().is_none_or(|names| names.iter().any(|name| name == event.name))
            })
            .map(|event| WantedHook {
                event: event.name,
                matcher: self
                    .tools
                    .as_ref()
                    // Elsewhere a matcher is compared with a source, a trigger or a type, never with a tool.
                    .filter(|_| event.of_a_tool)
                    .map(|tools| hooks::tool_matcher(tools)),
                handler: self.handler(event),
            })
            .collect()
    }

    /// Returns the command line, for the user's login shell.
    pub fn command(&self) -> String {
        let mut command = if self.hook == HOOK_PROGRAM { self.hook.clone() } else { quoted(&self.hook) };
        command.push_str(" codex");
        // A variable of the shell would not do: hooks run with the environment of Codex' background server.
        if let Some(home) = &self.home {
            command.push_str(" --home ");
            command.push_str(&quoted(home));
        }
        command
    }

    fn handler(&self, event: &Event) -> Value {
        let command = self.command();
        // These events get one second without a timeout, and three at most; all others wait ten minutes.
        if event.hurried {
            json!({"type": "command", "command": command, "timeout": HURRIED_TIMEOUT})
        } else {
            json!({"type": "command", "command": command})
        }
    }
}

/// Returns the hooks that a team can put into a project or a plugin: the hook is found on the `PATH`.
pub fn template(events: Option<Vec<String>>, tools: Option<Vec<String>>) -> Value {
    let wanted = InstallOptions { hook: HOOK_PROGRAM.to_owned(), home: None, events, tools };
    let table = hooks::table(&wanted.hooks());
    json!({"hooks": table.get("hooks")})
}

/// Plans the installation into a hooks file with this text (empty for a file that is not there).
pub fn plan(text: &str, wanted: &InstallOptions, undo: Undo) -> Result<Plan, SettingsError> {
    let mut settings = Settings::parse(text)?;
    let mut undo = undo;
    remove_description(&mut settings);
    let changes = hooks::register(&mut settings, &wanted.hooks(), &mut undo)?;
    Ok(Plan { text: settings.text(), changes, status_line: StatusLineChange::Untouched, undo })
}

/// Plans the removal of everything of ours.
pub fn withdraw(text: &str, undo: &Undo) -> Result<Plan, SettingsError> {
    let mut settings = Settings::parse(text)?;
    let changes = hooks::withdraw(&mut settings, undo);
    remove_description(&mut settings);
    // Last: while our description is in it, the root does not count as empty.
    hooks::restore_root(&mut settings, undo);
    let undo = Undo::default();
    Ok(Plan { text: settings.text(), changes, status_line: StatusLineChange::Untouched, undo })
}

fn remove_description(settings: &mut Settings) {
    if let Some(place) = settings.find(&[], "description")
        // A description in other words is the user's own and stays.
        && settings.get(&[place]) == Some(json!(DESCRIPTION))
    {
        settings.remove(&[place]);
    }
}
