//! Lists the agents that can be recorded: what a client needs to name, mark and colour each of them.
//!
//! Everything comes from the one table of agents, so that no client keeps a table of its own.

use agent_tracer_event::Agent;
use agent_tracer_ledger::view::Page;
use serde::Serialize;
use utoipa::ToSchema;

use super::{CachePolicy, Endpoint, write};
use crate::openapi::page;

/// An agent that can be recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SupportedAgent {
    /// The id, as tasks and filters use it.
    pub(crate) id: &'static str,
    /// The name on screen.
    pub(crate) name: &'static str,
    /// The name where a column is narrow.
    pub(crate) short_name: &'static str,
    /// Two letters that no other agent has: tells agents apart without colour.
    pub(crate) mark: &'static str,
    /// The colour on a dark page, as `#rrggbb`.
    pub(crate) dark_colour: &'static str,
    /// The colour on a light page, as `#rrggbb`.
    pub(crate) light_colour: &'static str,
    /// The word on the command line, as in `agent-tracer install WORD`.
    pub(crate) word: &'static str,
    /// The beginning of model names that says no more than the agent does; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model_prefix: Option<&'static str>,
}

impl From<Agent> for SupportedAgent {
    fn from(agent: Agent) -> Self {
        let spec = agent.spec();
        Self {
            id: spec.id,
            name: spec.name,
            short_name: spec.short_name,
            mark: spec.mark,
            dark_colour: spec.dark_colour,
            light_colour: spec.light_colour,
            word: spec.word,
            model_prefix: Some(spec.model_prefix).filter(|prefix| !prefix.is_empty()),
        }
    }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    path: "/supported-agents",
    operation: "listSupportedAgents",
    summary: "Agents that can be recorded, with their names, marks and colours.",
    params: &[],
    shape: page::<SupportedAgent>,
    cache: CachePolicy::WithLedger,
    ask: |_, _| write(&Page::whole(Agent::ALL.iter().copied().map(SupportedAgent::from).collect())),
}];
