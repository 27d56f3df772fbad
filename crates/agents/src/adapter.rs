//! One door per agent, and the list of them: the only place that names the folders of this crate.
//!
//! Everything else asks [`of`]. What an agent does not have keeps the answer of the trait, so that a folder holds only
//! what its agent has.

use agent_tracer_event::{Agent, Reading, Unrecognised};
use serde_json::Value;

use crate::compactions::LineRead;
use crate::observation::Observation;
use crate::otlp::RecordWriter;
use crate::sessions::SessionFiles;
use crate::setup::Setup;
use crate::tools::Call;
use crate::usage::UsageCollection;

/// The readers of one agent.
pub(crate) trait Adapter: Sync {
    /// Returns the agent.
    fn agent(&self) -> Agent;

    /// Reads an event of the agent's hooks.
    fn read_hook(&self, observation: &Observation<'_>) -> Reading;

    /// Reads a refresh of the agent's status line.
    fn read_statusline(&self, observation: &Observation<'_>) -> Reading {
        unread(&format!("status line of {}", observation.agent))
    }

    /// Reads our own record of a decision on an event of the agent.
    fn read_decision(&self, observation: &Observation<'_>) -> Reading {
        unread(&format!("decision of {}", observation.agent))
    }

    /// Reads a row of the agent's file for what it says of a compaction.
    fn read_compaction(&self, _row: &Value) -> LineRead {
        LineRead::default()
    }

    /// Returns `true` if a record of telemetry is the agent's, by the program that exports it or by its own name.
    fn exports(&self, _service: &str, _record: &str) -> bool {
        false
    }

    /// Returns `true` if a record of telemetry is a line of the program's own log and no event.
    fn is_program_log(&self, _event_name: Option<&str>, _record: &str) -> bool {
        false
    }

    /// Returns the attributes that name the session in telemetry, the best one first.
    fn session_attributes(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads an event of the agent's telemetry. Returns `false` if it is not known.
    fn read_export(&self, _record: &mut RecordWriter<'_>) -> bool {
        false
    }

    /// Reads a span of the agent's telemetry. Returns `false` if it is not known.
    fn read_span(&self, _record: &mut RecordWriter<'_>) -> bool {
        // `true`, unlike events: spans repeat what events report, so an unread one is skipped and not unrecognised.
        true
    }

    /// Returns the door to the agent's settings; `None` if it is recorded without any.
    fn setup(&self) -> Option<&'static dyn Setup> {
        None
    }

    /// Returns the door to the agent's session files; `None` if it is known by its hooks alone.
    fn session_files(&self) -> Option<&'static dyn SessionFiles> {
        None
    }

    /// Returns an empty collection of the usage in the agent's session files; `None` if they report none.
    fn usage_collection(&self) -> Option<Box<dyn UsageCollection>> {
        None
    }

    /// Returns the name under which the tables know a tool.
    fn tool_name<'a>(&self, call: &Call<'a>) -> &'a str {
        call.tool
    }

    /// Returns what two notices of the same call have in common.
    fn call_text(&self, _tool: &str, input: &Value) -> String {
        crate::text::canonical(input)
    }
}

/// Every agent. A new one is a line here and a row of the table of agents.
static ALL: &[&dyn Adapter] = &[
    &crate::claude::Claude,
    &crate::codex::Codex,
    #[cfg(feature = "example-agent")]
    &crate::example::Example,
];

/// Returns the door of an agent.
pub(crate) fn of(agent: Agent) -> &'static dyn Adapter {
    ALL.iter().find(|adapter| adapter.agent() == agent).copied().unwrap_or(&Missing)
}

/// Returns the agent that a record of telemetry comes from.
pub(crate) fn exporter(service: &str, record: &str) -> Option<&'static dyn Adapter> {
    ALL.iter().find(|adapter| adapter.exports(service, record)).copied()
}

fn unread(name: &str) -> Reading {
    Reading { unrecognised: vec![Unrecognised::Event(name.to_owned())], ..Reading::default() }
}

/// Stands in for a row of the table that has no folder: what it sends is counted and not read.
struct Missing;

impl Adapter for Missing {
    fn agent(&self) -> Agent {
        Agent::default()
    }

    fn read_hook(&self, observation: &Observation<'_>) -> Reading {
        unread(&format!("hook of {}", observation.agent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_has_a_door() {
        for agent in Agent::ALL {
            assert_eq!(ALL.iter().filter(|adapter| adapter.agent() == *agent).count(), 1, "{agent}");
        }
    }
}
