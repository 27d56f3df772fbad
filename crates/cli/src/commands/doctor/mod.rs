//! `agent-tracer doctor`: looks at everything, changes nothing, and says what to do.
//!
//! Law: a check is a state, one sentence and, where the user can act, a way to fix it. `fail` means that events are not
//! recorded or not as the user wants; `warn` that they may soon not be; `info` is no judgement. A check that cannot
//! look says so, it never claims that all is well.

pub(crate) mod check;
pub(crate) mod client;
mod home;
pub(crate) mod installed;
mod program;
mod report;
mod server;
mod service;
mod store;

use std::process::ExitCode;

use agent_tracer_event::Agent;
use agent_tracer_spool::Home;

use crate::agent_homes;
use crate::agents::{self, Findings};
use crate::arguments::{Doctor, Options};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::target::home_of;
use check::{Check, Group, State};

/// Holds the inputs of the checks.
pub(crate) struct DoctorContext<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) home: Home,
    /// The home is the default one.
    default_home: bool,
    /// Foreign programs may be started, to ask an agent for its version.
    ask_clients: bool,
    /// The agents are started for a moment to prove that they call the hook.
    verify: bool,
}

pub(super) fn run(
    arguments: &Doctor,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, named) = environment.home(options.home.as_deref())?;
    let context = DoctorContext {
        environment,
        home,
        default_home: named.is_none(),
        ask_clients: !arguments.brief,
        verify: arguments.verify,
    };
    // First, though shown later: that no agent is connected is a line of the program's group.
    let of_agents = of_agents(&context)?;
    let mut checks = program::checks(&context);
    if !of_agents.iter().any(|findings| findings.is_connected) {
        let unconnected = "no agent is connected, so nothing is recorded";
        checks
            .push(Check::new(Group::Program, "connected", State::Warn, unconnected).fix(install_commands()));
    }
    checks.extend(home::checks(&context));
    if context.home.data().is_dir() {
        checks.extend(store::checks(&context.home, arguments.brief, environment.now()));
    }
    checks.extend(of_agents.into_iter().flat_map(|findings| findings.checks));
    checks.extend(server::checks(&context.home));
    checks.extend(service::checks(&context));
    let text = if arguments.json {
        report::json(&checks, &context.home)
    } else if arguments.brief {
        report::brief(&checks, output)
    } else {
        report::full(&checks, output)
    };
    output.data(&text)?;
    let failed = checks.iter().any(|check| check.state == State::Fail);
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns the findings about each agent. One of which there is no trace is left out, unless the table lists it.
fn of_agents(context: &DoctorContext<'_>) -> Result<Vec<Findings>, Failure> {
    let mut all = Vec::new();
    for agent in Agent::rows() {
        let mut findings = agents::checks(agent, context)?;
        findings.checks.extend(homes(agent, context));
        let has_home = || home_of(agent, context.environment).is_ok_and(|home| home.is_dir());
        if agent.spec().listed_when_absent || findings.is_connected || findings.has_client || has_home() {
            all.push(findings);
        }
    }
    Ok(all)
}

/// Names the homes of an agent that has more than one.
fn homes(agent: Agent, context: &DoctorContext<'_>) -> Option<Check> {
    let homes =
        agent_homes::of(agent, &context.home, context.environment).ok().filter(|homes| homes.len() > 1)?;
    let names: Vec<String> = homes.iter().map(|home| format!("`{}`", home.display())).collect();
    let text = format!("session files are read in {} homes: {}", names.len(), names.join(", "));
    let details = serde_json::json!(homes);
    Some(Check::new(Group::Agent(agent), "homes", State::Info, text).details(details))
}

/// Returns the commands that connect agents, one per line.
fn install_commands() -> String {
    let listed = Agent::ALL.iter().map(|agent| agent.spec()).filter(|spec| spec.listed_when_absent);
    listed.map(|spec| format!("agent-tracer install {}", spec.word)).collect::<Vec<_>>().join("\n")
}
