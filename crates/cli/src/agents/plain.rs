//! The checks of an agent with nothing but settings files that hold our hooks.

use std::fmt;

use agent_tracer_agents::command_line::Invocation;
use agent_tracer_agents::setup::{Request, StatusLine};
use agent_tracer_event::Agent;

use super::Findings;
use crate::arguments::ScopeName;
use crate::clients;
use crate::commands::doctor::DoctorContext;
use crate::commands::doctor::check::{Check, Group, State};
use crate::commands::doctor::client;
use crate::commands::doctor::installed::Installed;
use crate::failure::Failure;
use crate::files;
use crate::target::Target;

/// Looks at the settings of every scope, and at the program.
pub(super) fn checks(agent: Agent, context: &DoctorContext<'_>) -> Findings {
    let (mut checks, clients) = client::checks(context, agent);
    let has_client = !clients.is_empty();
    let version = clients::oldest(&clients);
    let check = |name, state, text: String| Check::new(Group::Agent(agent), name, state, text);
    let mut ways: Vec<String> = Vec::new();
    for target in Target::all_of(agent, context.environment) {
        let text = match load(&target) {
            Ok(text) => text,
            Err(failure) => {
                let shown = target.path.display();
                checks.push(
                    check("settings", State::Fail, failure.message().to_owned())
                        .fix(format!("correct `{shown}`")),
                );
                continue;
            }
        };
        let own = target.setup.own(&text);
        if own.is_empty() {
            continue;
        }
        ways.push(format!("`{}`", target.path.display()));
        let installed = Installed { agent, scope: target.scope, path: &target.path, own: &own };
        let client = match target.scope {
            // Shared settings have to fit every version, not only that of this machine.
            ScopeName::Project => None,
            ScopeName::User | ScopeName::Local => version.or_else(|| installed.chosen_for(context)),
        };
        let request = |invocation: Option<&Invocation>| Request {
            hook: invocation.map(|it| it.program.clone()).unwrap_or_default(),
            home: invocation.and_then(|it| it.home().map(str::to_owned)),
            client,
            events: None,
            tools: None,
            status_line: StatusLine::Leave,
        };
        let all: Vec<&str> = target.setup.hooks(&request(None)).iter().map(|wanted| wanted.event).collect();
        checks.extend(
            installed
                .checks(context, &all, |invocation| target.setup.earlier_hooks(&request(Some(invocation)))),
        );
        checks.extend(client::trials(context, agent, &clients, &own));
    }
    let is_connected = !ways.is_empty();
    if !is_connected {
        let fix = format!("agent-tracer install {}", agent.spec().word);
        checks.push(check("hooks", State::Info, "not connected".to_owned()).fix(fix));
    // Of other agents equal events are one event that arrived twice, which does no harm.
    } else if ways.len() > 1 && !agent.spec().repeats_equal_events {
        let text =
            format!("connected more than once, so every event counts more than once: {}", ways.join(", "));
        checks.push(check("twice", State::Warn, text).fix("keep one of them, and disconnect the others"));
    }
    Findings { checks, is_connected, has_client }
}

/// Returns the text of a settings file; empty if there is none.
fn load(target: &Target) -> Result<String, Failure> {
    let (name, shown) = (target.agent.name(), target.path.display());
    let failed = |why: &dyn fmt::Display| Failure::new(format!("{name} cannot load `{shown}`: {why}"));
    let found = files::find(&target.path)?;
    let text = found.text().map_err(|_| failed(&"it is not UTF-8"))?;
    target.setup.check(text).map_err(|error| failed(&error))?;
    match target.setup.ignored_because(text) {
        Some(why) => Err(Failure::new(format!("{name} ignores all of `{shown}` because of {why}"))),
        None => Ok(text.to_owned()),
    }
}
