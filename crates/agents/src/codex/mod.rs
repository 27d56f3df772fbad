//! Codex: its events, where its files are, how to install into its `hooks.json`, how it trusts hooks, and what its
//! hooks and rollouts say. See `README.md` beside this file for what the real client was seen to do.

pub(crate) mod compactions;
pub mod events;
mod facts;
pub(crate) mod hooks;
pub mod install;
pub(crate) mod otlp;
pub mod paths;
pub mod rollout;
mod session;
mod sessions;
mod setup;
pub mod trust;
mod usage;
pub mod versions;
mod wire;

use agent_tracer_event::{Agent, Reading};
use serde_json::Value;

use crate::adapter::Adapter;
use crate::compactions::LineRead;
use crate::observation::Observation;
use crate::otlp::RecordWriter;
use crate::sessions::SessionFiles;
use crate::setup::Setup;
use crate::text::canonical;
use crate::tools::{self, Call};
use crate::usage::UsageCollection;

/// The door of this folder.
pub(crate) struct Codex;

impl Adapter for Codex {
    fn agent(&self) -> Agent {
        Agent::CODEX
    }

    fn read_hook(&self, observation: &Observation<'_>) -> Reading {
        hooks::read(observation)
    }

    fn read_decision(&self, observation: &Observation<'_>) -> Reading {
        hooks::read_decision(observation)
    }

    fn read_compaction(&self, row: &Value) -> LineRead {
        compactions::read(row)
    }

    fn exports(&self, service: &str, record: &str) -> bool {
        let is_own =
            service.strip_prefix("codex").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        record.starts_with("codex.") || is_own
    }

    // Every event names itself; the rest are lines of the program's log, called by their place in the source.
    fn is_program_log(&self, event_name: Option<&str>, record: &str) -> bool {
        event_name.is_none() && !record.starts_with("codex.")
    }

    fn setup(&self) -> Option<&'static dyn Setup> {
        Some(&setup::CodexSetup)
    }

    fn session_files(&self) -> Option<&'static dyn SessionFiles> {
        Some(&sessions::CodexSessions)
    }

    fn usage_collection(&self) -> Option<Box<dyn UsageCollection>> {
        Some(Box::<usage::RolloutUsage>::default())
    }

    fn session_attributes(&self) -> &'static [&'static str] {
        &["conversation.id", "thread.id"]
    }

    // Spans are not read: they are those of the program's parts, by the hundred, and events repeat what they measure.
    fn read_export(&self, record: &mut RecordWriter<'_>) -> bool {
        otlp::event(record)
    }

    // A namespace is glued in front of its agent tools, and two tools are called `wait`: one for agents, and one for code
    // that still runs, which names a cell.
    fn tool_name<'a>(&self, call: &Call<'a>) -> &'a str {
        match tools::agents::without_namespace(call.tool) {
            "wait" if call.input.get("cell_id").is_some() => "wait_for_code",
            "wait" => "wait_agent",
            name => name,
        }
    }

    // A request for permission has a justification that the attempt lacks, and its patch is trimmed: only the command
    // counts, and of a patch only the files that it names.
    fn call_text(&self, tool: &str, input: &Value) -> String {
        match input.get("command") {
            Some(command) if tool == "apply_patch" => tools::patch::headers(command).join("\n"),
            Some(command) => canonical(command),
            None => canonical(input),
        }
    }
}
