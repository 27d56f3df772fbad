//! Codex: checks of its hooks file and its trust.

mod doctor;

use agent_tracer_event::Agent;

use super::{Findings, Special};
use crate::commands::doctor::DoctorContext;
use crate::failure::Failure;

/// The entry of this folder.
pub(super) struct Codex;

impl Special for Codex {
    fn agent(&self) -> Agent {
        Agent::CODEX
    }

    fn checks(&self, context: &DoctorContext<'_>) -> Result<Findings, Failure> {
        doctor::checks(context)
    }
}
