//! Claude Code: checks of its settings.

mod doctor;

use agent_tracer_event::Agent;

use super::{Findings, Special};
use crate::commands::doctor::DoctorContext;
use crate::failure::Failure;

/// The entry of this folder.
pub(super) struct Claude;

impl Special for Claude {
    fn agent(&self) -> Agent {
        Agent::CLAUDE_CODE
    }

    fn checks(&self, context: &DoctorContext<'_>) -> Result<Findings, Failure> {
        doctor::checks(context)
    }
}
