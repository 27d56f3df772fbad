//! The agents' own programs: which are here, of which version, and whether they call the hook.

use agent_tracer_agents::hooks::OwnHook;

use super::DoctorContext;
use super::check::{Check, Group, State};
use crate::clients::{self, InstalledClient};
use crate::proof::{Proof, prove};
use agent_tracer_event::Agent;

/// Returns a check for each client of an agent. Its absence is no fault: it may be elsewhere, or not yet installed.
pub(crate) fn checks(context: &DoctorContext<'_>, agent: Agent) -> (Vec<Check>, Vec<InstalledClient>) {
    let clients = if context.ask_clients {
        clients::ask(agent, context.environment)
    } else {
        clients::find(agent, context.environment)
    };
    let check = |state, text| Check::new(Group::Agent(agent), "client", state, text);
    let mut checks: Vec<Check> = clients
        .iter()
        .map(|client| match &client.words {
            Some(words) => check(State::Ok, format!("`{}` is {words}", client.program.display())),
            None => check(State::Info, format!("{} is `{}`", agent.name(), client.program.display())),
        })
        .collect();
    if clients.is_empty() {
        checks.push(check(State::Info, format!("`{}` is not on the `PATH`", agent.spec().word)));
    }
    (checks, clients)
}

/// Starts each client with our hooks, if the user asks for it.
pub(crate) fn trials(
    context: &DoctorContext<'_>,
    agent: Agent,
    clients: &[InstalledClient],
    own: &[OwnHook],
) -> Vec<Check> {
    if !context.verify || own.is_empty() {
        return Vec::new();
    }
    let (title, check) =
        (agent.name(), |state, text| Check::new(Group::Agent(agent), "client_calls", state, text));
    if clients.is_empty() {
        return vec![check(
            State::Info,
            format!("could not be verified: `{}` is not on the `PATH`", agent.spec().word),
        )];
    }
    let trial = |client: &InstalledClient| {
        let version = client.version.map(|version| format!(" {version}")).unwrap_or_default();
        match prove(agent, client, own, context.environment) {
            Proof::Called(events) => {
                check(State::Ok, format!("{title}{version} called the hook ({})", events.join(", ")))
            }
            Proof::NotCalled(said) => {
                let said = said.map(|line| format!("; it printed `{line}`")).unwrap_or_default();
                check(State::Fail, format!("{title}{version} was started and did not call the hook{said}"))
                    .fix(format!("agent-tracer install {}", agent.spec().word))
            }
            Proof::NotTried(failure) => {
                let why = failure.message();
                check(State::Info, format!("{title}{version} could not be tried: {why}"))
            }
        }
    };
    clients.iter().map(trial).collect()
}
