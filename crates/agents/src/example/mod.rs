//! A made-up agent: the least that an agent needs to be seen.
//!
//! Its hooks are called with the event as a word, and send `{"session_id", "prompt" | "tool_name", "tool_input",
//! "call_id"}`. Only tests compile it.

mod hooks;

use agent_tracer_event::{Agent, Reading};

use crate::adapter::Adapter;
use crate::observation::Observation;

/// The door of this folder.
pub(crate) struct Example;

impl Adapter for Example {
    fn agent(&self) -> Agent {
        Agent::parse("example").expect("the feature that compiles this folder adds the row")
    }

    fn read_hook(&self, observation: &Observation<'_>) -> Reading {
        hooks::read(observation)
    }
}
