//! What a hook asks, read once: who, where, and whose event it is.

use std::path::{Path, PathBuf};

use agent_tracer_event::Agent;
use agent_tracer_policy::{Call, CallError, Event, Surroundings};
use agent_tracer_privacy::mask;
use serde_json::{Map, Value};

use crate::rules::project_root;

/// Members of a payload that say whose event it is, and nothing else.
const WHOSE: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "prompt_id",
    "turn_id",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
];

/// The longest of them that is kept, in characters.
const CHARS_MAX: usize = 4096;

/// A question of an event that a rule can name.
#[derive(Clone, Debug)]
pub struct Question {
    agent: Agent,
    event: Event,
    fields: Map<String, Value>,
    whose: Map<String, Value>,
}

impl Question {
    /// Reads a payload. `None` if it is of an event that no rule can name.
    pub fn read(agent: Agent, payload: &[u8]) -> Result<Option<Self>, CallError> {
        let value: Value = serde_json::from_slice(payload).map_err(CallError::NotJson)?;
        let Value::Object(fields) = value else { return Err(CallError::NotAnObject) };
        let name = fields.get("hook_event_name").and_then(Value::as_str).ok_or(CallError::NoEvent)?;
        let Some(event) = Event::parse(name) else { return Ok(None) };
        let whose = WHOSE.iter().filter_map(|name| {
            let text = fields.get(*name)?.as_str()?;
            let short =
                text.char_indices().nth(CHARS_MAX).map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
            Some(((*name).to_owned(), Value::from(mask(short).into_owned())))
        });
        let whose = whose.collect();
        Ok(Some(Self { agent, event, fields, whose }))
    }

    /// Whose event it is: ids, names and places, masked.
    #[must_use]
    pub fn whose(&self) -> &Map<String, Value> {
        &self.whose
    }

    /// The root of the project: of the one that the agent names, which does not follow `cd`, so that an agent does not
    /// leave its project's rules by walking away; else of where it works.
    #[must_use]
    pub fn root(&self, named: Option<&Path>, here: &Path) -> PathBuf {
        if let Some(named) = named.filter(|named| named.is_absolute()) {
            return project_root(named);
        }
        let cwd = self.fields.get("cwd").and_then(Value::as_str).filter(|cwd| !cwd.is_empty());
        project_root(&cwd.map_or_else(|| here.to_owned(), |cwd| here.join(cwd).components().collect()))
    }

    /// What rules are asked.
    #[must_use]
    pub fn into_call(self, around: Surroundings) -> Call {
        Call::of(self.agent, self.event, self.fields, around)
    }
}
