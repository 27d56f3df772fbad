//! Claude Code: its events, where its files are, and how to install into its settings. See `README.md` beside this
//! file for what the real client was seen to do.

pub(crate) mod compactions;
pub mod events;
pub(crate) mod hooks;
pub mod identity;
pub mod install;
pub(crate) mod otlp;
pub mod paths;
mod session;
mod sessions;
mod setup;
pub(crate) mod statusline;
pub mod transcript;
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
use crate::usage::UsageCollection;

/// The door of this folder.
pub(crate) struct Claude;

impl Adapter for Claude {
    fn agent(&self) -> Agent {
        Agent::CLAUDE_CODE
    }

    fn read_hook(&self, observation: &Observation<'_>) -> Reading {
        hooks::read(observation)
    }

    fn read_statusline(&self, observation: &Observation<'_>) -> Reading {
        statusline::read(observation)
    }

    fn read_decision(&self, observation: &Observation<'_>) -> Reading {
        hooks::read_decision(observation)
    }

    fn read_compaction(&self, row: &Value) -> LineRead {
        compactions::read(row)
    }

    fn exports(&self, service: &str, record: &str) -> bool {
        record.starts_with("claude_code.") || service == "claude-code" || service == "claude_code"
    }

    fn setup(&self) -> Option<&'static dyn Setup> {
        Some(&setup::ClaudeSetup)
    }

    fn session_files(&self) -> Option<&'static dyn SessionFiles> {
        Some(&sessions::ClaudeSessions)
    }

    fn usage_collection(&self) -> Option<Box<dyn UsageCollection>> {
        Some(Box::<usage::TranscriptUsage>::default())
    }

    fn session_attributes(&self) -> &'static [&'static str] {
        // In a span of a subagent the second is the subagent; the first is the session in every record.
        &["session.id", "gen_ai.conversation.id"]
    }

    fn read_export(&self, record: &mut RecordWriter<'_>) -> bool {
        otlp::event(record)
    }

    fn read_span(&self, record: &mut RecordWriter<'_>) -> bool {
        otlp::span(record)
    }
}
