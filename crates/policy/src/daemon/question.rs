//! The question of a hook, parsed once: agent, folder, and identity of the event.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::{Call, CallError, Event, Surroundings};
use agent_tracer_event::Agent;
use agent_tracer_privacy::mask;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::daemon::rules::project_root;

/// Members of a payload that say whose event it is, and nothing else.
const IDENTITY_MEMBERS: &[&str] = &[
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
    "task_id",
];

/// The longest of them that is kept, in characters.
const CHARS_MAX: usize = 4096;

/// The members of a payload by which `policy.tbl` is asked, also of one that is nested too deeply to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// The event, as the agent spells it.
    pub event: String,
    /// The tool; empty if there is none.
    pub tool: String,
    /// The working directory of the agent.
    pub cwd: String,
}

impl Sender {
    /// Reads a payload; of members that are there twice the last counts, as in [`Question::read`].
    #[must_use]
    pub fn read(payload: &[u8]) -> Option<Self> {
        serde_json::from_slice(payload).ok()
    }
}

impl<'de> Deserialize<'de> for Sender {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SenderVisitor)
    }
}

/// Takes the members that are wanted. The others are skipped, which no nesting stops.
struct SenderVisitor;

impl<'de> Visitor<'de> for SenderVisitor {
    type Value = Sender;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Sender, M::Error> {
        let mut sender = Sender::default();
        while let Some(name) = members.next_key::<String>()? {
            let place = match name.as_str() {
                "hook_event_name" => &mut sender.event,
                "tool_name" => &mut sender.tool,
                "cwd" => &mut sender.cwd,
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = members.next_value()?;
        }
        Ok(sender)
    }
}

/// A question of an event that a rule can name.
#[derive(Clone, Debug)]
pub struct Question {
    agent: Agent,
    event: Event,
    fields: Map<String, Value>,
    identity: Map<String, Value>,
}

impl Question {
    /// Reads a payload. `None` if it is of an event that no rule can name.
    pub fn read(agent: Agent, payload: &[u8]) -> Result<Option<Self>, CallError> {
        let value: Value = serde_json::from_slice(payload).map_err(CallError::NotJson)?;
        let Value::Object(fields) = value else { return Err(CallError::NotAnObject) };
        let name = fields.get("hook_event_name").and_then(Value::as_str).ok_or(CallError::NoEvent)?;
        let Some(event) = Event::parse(name) else { return Ok(None) };
        let identity = IDENTITY_MEMBERS.iter().filter_map(|name| {
            let text = fields.get(*name)?.as_str()?;
            let short =
                text.char_indices().nth(CHARS_MAX).map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
            Some(((*name).to_owned(), Value::from(mask(short).into_owned())))
        });
        let identity = identity.collect();
        Ok(Some(Self { agent, event, fields, identity }))
    }

    /// Returns the identity of the event: ids, names and places, masked.
    #[must_use]
    pub fn identity(&self) -> &Map<String, Value> {
        &self.identity
    }

    /// Returns the root of the project: of the one that the agent names, which does not follow `cd`, so that an agent
    /// does not leave its project's rules by walking away; else of where it works.
    #[must_use]
    pub fn root(&self, named: Option<&Path>, here: &Path) -> PathBuf {
        if let Some(named) = named.filter(|named| named.is_absolute()) {
            return project_root(named);
        }
        let cwd = self.fields.get("cwd").and_then(Value::as_str).filter(|cwd| !cwd.is_empty());
        project_root(&cwd.map_or_else(|| here.to_owned(), |cwd| here.join(cwd).components().collect()))
    }

    /// Returns the call that rules are evaluated on.
    #[must_use]
    pub fn into_call(self, around: Surroundings) -> Call {
        Call::from_fields(self.agent, self.event, self.fields, around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_read_of_a_payload_that_is_nested_too_deeply_to_be_judged() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let payload = format!(
            r#"{{"hook_event_name":"Stop","tool_input":{{"x":{deep},"command":"rm"}},"cwd":"/p","tool_name":"Bash","hook_event_name":"PreToolUse"}}"#
        );
        assert!(Question::read(Agent::CLAUDE_CODE, payload.as_bytes()).is_err());
        let expected = Sender { event: "PreToolUse".into(), tool: "Bash".into(), cwd: "/p".into() };
        assert_eq!(Sender::read(payload.as_bytes()), Some(expected));
        for broken in ["", "[]", "{", r#"{"cwd":7}"#] {
            assert_eq!(Sender::read(broken.as_bytes()), None, "{broken}");
        }
    }
}
