//! The agents as rules meet them: one file each, with the answers that the agent obeys and the names of its tools.
//!
//! An agent without a file cannot be answered: rules about it are refused when they are read, and its hooks are never asked.

mod claude;
mod codex;

use agent_tracer_event::Agent;

use crate::legality::{AnswerForm, Provenance};
use crate::words::{Decision, Event};

/// The answers that an agent obeys, and what its tools are called.
#[derive(Debug)]
pub(crate) struct Client {
    /// The agent.
    pub(crate) agent: Agent,
    /// The column of the table: each decision that works at an event, its output and the evidence.
    pub(crate) cells: &'static [(Event, Decision, AnswerForm, Provenance)],
    /// The events at which it accepts `suppressOutput`.
    pub(crate) may_suppress: &'static [Event],
    /// The events at which it accepts `updatedPermissions`.
    pub(crate) may_update_permissions: &'static [Event],
    /// Tools that the client itself takes for others.
    pub(crate) aliases: &'static [(&'static str, &'static [&'static str])],
    /// Tools about which it asks no hook.
    pub(crate) unasked_tools: &'static [&'static str],
    /// Is `true` if a call whose input makes no sense fails before any hook is asked.
    pub(crate) refuses_bad_input: bool,
}

impl Client {
    /// Returns the other names of a tool.
    pub(crate) fn other_names(&self, tool: &str) -> &'static [&'static str] {
        self.aliases.iter().find(|(name, _)| *name == tool).map_or(&[], |(_, others)| others)
    }
}

/// Every agent that can be answered.
pub(crate) static ALL: &[Client] = &[claude::CLIENT, codex::CLIENT];

/// Returns the client of an agent; `None` if the agent cannot be answered.
pub(crate) fn find(agent: Agent) -> Option<&'static Client> {
    ALL.iter().find(|client| client.agent == agent)
}

/// Returns the names of the agents that can ask a model for a verdict, for a sentence.
pub(crate) fn askers() -> String {
    let askers = Agent::ALL.iter().filter(|agent| agent.spec().can_ask_model);
    askers.map(|agent| agent.name()).collect::<Vec<_>>().join(" or ")
}
