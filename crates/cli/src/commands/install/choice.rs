//! For which version of the agent the entries are chosen.

use agent_tracer_agents::ClientVersion;
use agent_tracer_agents::setup::Setup;

use crate::arguments::{Install, ScopeName};
use crate::clients::{self, InstalledClient};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use agent_tracer_event::Agent;

/// A version, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The version; none means what every version accepts.
    pub(super) version: Option<ClientVersion>,
    source: Source,
    /// The clients of this machine; empty if none was looked for.
    pub(super) clients: Vec<InstalledClient>,
}

/// Lists the sources of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The user gave it.
    Given,
    /// The settings are shared, so every version has to accept them.
    Shared,
    /// The clients of this machine were asked.
    Installed,
}

impl Choice {
    /// Chooses what the user says, else what all accept where settings are shared, else the oldest client here.
    pub(super) fn of(arguments: &Install, environment: &Environment) -> Result<Choice, Failure> {
        let given = arguments
            .client_version
            .as_deref()
            .map(|text| {
                let refused = || {
                    Failure::usage(format!("invalid version `{text}` of {}", arguments.agent.name())).hint(
                        format!(
                            "write three numbers, as `{} --version` prints them",
                            arguments.agent.spec().word
                        ),
                    )
                };
                ClientVersion::parse(text).ok_or_else(refused)
            })
            .transpose()?;
        // A template goes to a team: the clients of this machine say nothing about theirs.
        if arguments.print {
            let source = if given.is_some() { Source::Given } else { Source::Shared };
            return Ok(Choice { version: given, source, clients: Vec::new() });
        }
        let clients = clients::ask(arguments.agent, environment);
        let (version, source) = match given {
            Some(version) => (Some(version), Source::Given),
            None if arguments.scope == ScopeName::Project => (None, Source::Shared),
            None => (clients::oldest(&clients), Source::Installed),
        };
        Ok(Choice { version, source, clients })
    }

    /// Prints the version that was seen, what was chosen for it, and what was left out.
    pub(super) fn say(
        &self,
        agent: Agent,
        setup: &dyn Setup,
        left_out: &[&str],
        output: &mut Output,
    ) -> Result<(), Failure> {
        let title = agent.name();
        let too_old = self.version.zip(setup.oldest_driven()).filter(|(version, oldest)| version < oldest);
        let warning = too_old.map(|(version, oldest)| {
            format!("warning: {title} {version} is older than the oldest tested version, {oldest}")
        });
        if setup.ignores_unknown_events() {
            // The version decides nothing.
            let Some(version) = self.version else { return Ok(()) };
            let events = setup.events();
            let called = events.iter().filter(|event| setup.calls(version, event)).count();
            let news = format!("{title} {version} has {called} of these {} events", events.len());
            return output.say(&warning.unwrap_or(news));
        }
        match (self.source, self.version) {
            (Source::Shared, _) => {
                output.say(
                    "note: these settings are shared, so they use the form that every version accepts",
                )?;
            }
            (Source::Given, Some(version)) => {
                output.say(&format!("settings for {title} {version}, as requested"))?
            }
            (Source::Installed, Some(version)) => {
                let programs: Vec<String> = self
                    .clients
                    .iter()
                    .filter_map(|client| {
                        Some(format!("{} (`{}`)", client.version?, client.program.display()))
                    })
                    .collect();
                output.say(&format!("settings for {title} {}", programs.join(", ")))?;
                if programs.len() > 1 {
                    output.say(&format!("note: several are installed; the oldest decides, {version}"))?;
                }
            }
            (Source::Installed | Source::Given, None) => {
                let why = match self.clients.iter().find(|client| client.version.is_none()) {
                    Some(client) => format!("`{}` prints no version", client.program.display()),
                    None => format!("`{}` is not on the `PATH`", agent.spec().word),
                };
                output
                    .say(&format!("note: {why}, so the settings use the form that every version accepts"))?;
                output.say(&format!(
                    "hint: run `agent-tracer install {}` again once it is there, or give `--client-version`",
                    agent.spec().word
                ))?;
            }
        }
        if let Some(warning) = warning {
            output.say(&warning)?;
        }
        if !left_out.is_empty() {
            let who =
                if self.version.is_some() { "this version does not know" } else { "not every version knows" };
            output.say(&format!("left out, because {who} them: {}", left_out.join(", ")))?;
        }
        Ok(())
    }
}
