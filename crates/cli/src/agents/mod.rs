//! Checks and counts that only one agent needs, and the list of the folders that hold them.
//!
//! An agent whose settings are fully described by its [`Setup`](agent_tracer_agents::setup::Setup) has no folder here:
//! [`checks`] answers for it.

mod claude;
mod codex;
mod plain;

use agent_tracer_event::Agent;

use crate::commands::doctor::DoctorContext;
use crate::commands::doctor::check::Check;
use crate::failure::Failure;

/// Holds the findings of `doctor` about an agent.
pub(crate) struct Findings {
    /// The checks, in the order in which they are shown.
    pub(crate) checks: Vec<Check>,
    /// Is `true` if the agent is connected by any way.
    pub(crate) is_connected: bool,
    /// Is `true` if a client of the agent was found.
    pub(crate) has_client: bool,
}

/// An agent with checks of its own.
trait Special: Sync {
    /// Returns the agent.
    fn agent(&self) -> Agent;

    /// Looks at its settings and its program.
    fn checks(&self, context: &DoctorContext<'_>) -> Result<Findings, Failure>;
}

static SPECIAL: &[&dyn Special] = &[&claude::Claude, &codex::Codex];

/// Looks at the settings and the program of an agent.
pub(crate) fn checks(agent: Agent, context: &DoctorContext<'_>) -> Result<Findings, Failure> {
    match SPECIAL.iter().find(|special| special.agent() == agent) {
        Some(special) => special.checks(context),
        None => Ok(plain::checks(agent, context)),
    }
}
