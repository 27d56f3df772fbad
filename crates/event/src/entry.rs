//! Entries: what a reading says, before anybody knows whether it is news.
//!
//! A reader turns one observation into entries. The ledger gives each its place in the order of delivery
//! and folds all entries with the same natural key into one fact. Folding does not depend on the order:
//! an entry only ever adds what it knows, with how sure it is.

use crate::attributes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{FactId, TaskKey};
use crate::kind::{Kind, Lane};
use crate::time::Millis;
use crate::words::{CallState, Certainty, Phase};

/// Named values of a fact, in camelCase, as they are shown.
pub type Metadata = Map<String, Value>;

/// Describes what an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// An event: a row of the timeline.
    Event(Kind),
    /// The task itself: title, place, parent, model, version. One fact per task, its key is `task`.
    Task,
    /// A turn of the task.
    Turn,
    /// A cumulative account that the agent keeps (Claude Code's `cost-state`). The last one counts.
    Account,
}

/// Why an entry says what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Holds how sure it is.
    pub certainty: Certainty,
    /// One phrase: which channel and field said so.
    pub reason: String,
}

impl Reading {
    /// Writes on every event which channel and field said so. Where several did, the surest is shown.
    pub fn write_reasons(&mut self) {
        for entry in &mut self.entries {
            // Only on events: the timeline shows a reason per row, and tasks and turns have none.
            if matches!(entry.subject, Subject::Event(_)) {
                let reason = entry.evidence.reason.as_str();
                entry.metadata.insert(attributes::EVIDENCE_REASON.to_owned(), reason.into());
            }
        }
    }
}

impl Evidence {
    /// Returns evidence of what was seen happening.
    #[must_use]
    pub fn measured(reason: impl Into<String>) -> Self {
        Self { certainty: Certainty::Measured, reason: reason.into() }
    }

    /// Returns evidence of what the agent said.
    #[must_use]
    pub fn reported(reason: impl Into<String>) -> Self {
        Self { certainty: Certainty::Reported, reason: reason.into() }
    }

    /// Follows from something else.
    #[must_use]
    pub fn inferred(reason: impl Into<String>) -> Self {
        Self { certainty: Certainty::Inferred, reason: reason.into() }
    }
}

/// Facts of one task that channels tell in the same order, but for which they have no common name: prompts of one turn, or
/// the same words said more than once. The ledger joins the first that one channel tells with the first that another tells,
/// and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    /// The name that all channels give it.
    pub name: String,
    /// Holds what stands for the text of this one. Those with the same text are joined first; empty if it is not known.
    pub part: String,
}

impl Series {
    /// Returns the key of the nth fact, counted from one, of those that would have the same key.
    #[must_use]
    pub fn nth_key(key: &str, n: u32) -> String {
        // The first keeps the bare key, so that a fact which turns out to be the first of several keeps its id.
        if n < 2 { key.to_owned() } else { format!("{key}#{n}") }
    }
}

/// One thing that one observation says about one fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Holds what it is about.
    pub subject: Subject,
    /// Holds what it does to its fact.
    pub phase: Phase,
    /// Holds whose fact it is.
    pub task: TaskKey,
    /// The natural key of the fact within its task, such as `tool:toolu_…`, `response:msg_…`,
    /// `prompt:<prompt id>`. The name of the observation serves only where the event has none of its own.
    pub key: String,
    /// Other keys under which other channels know the same fact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The series that the fact is one of, if channels have no name for it that they share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Holds the time at which it happened, as far as the observation can say.
    pub occurred_at: Millis,
    /// Holds where in its source it stood: breaks ties between equal times.
    #[serde(default)]
    pub order: u64,
    /// Holds the time at which the fact ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    /// The lane where it is not the usual one of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<Lane>,
    /// Holds what a person reads in the timeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Longer text: the prompt, the message, the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Holds where a tool call stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<CallState>,
    /// The tool as the agent calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The agent's id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The natural key of the turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The subagent that acted, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The type of the agent that acted, byte for byte as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The name of the hook event, if a hook reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// Files it was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_paths: Vec<String>,
    /// Everything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Metadata,
    /// Why it says so.
    pub evidence: Evidence,
}

impl Entry {
    /// Returns an entry that says nothing yet beyond what it is about.
    #[must_use]
    pub fn new(
        subject: Subject,
        phase: Phase,
        task: TaskKey,
        key: impl Into<String>,
        occurred_at: Millis,
        evidence: Evidence,
    ) -> Self {
        Self {
            subject,
            phase,
            task,
            key: key.into(),
            aliases: Vec::new(),
            series: None,
            occurred_at,
            order: 0,
            ended_at: None,
            lane: None,
            title: None,
            body: None,
            state: None,
            tool_name: None,
            tool_use_id: None,
            turn: None,
            agent_id: None,
            agent_type: None,
            hook_event_name: None,
            file_paths: Vec::new(),
            metadata: Metadata::new(),
            evidence,
        }
    }

    /// Returns the id of the fact that this entry belongs to.
    #[must_use]
    pub fn fact_id(&self) -> FactId {
        FactId::derive(&self.task.task_id(), &self.key)
    }
}

/// Something well-formed that no reader knows yet. Counted by name and client version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what", content = "name")]
pub enum Unrecognised {
    /// An event name.
    Event(String),
    /// A tool name.
    Tool(String),
    /// A field: `<event>.<path>`.
    Field(String),
    /// A value of a field that we know as a closed set: `<field>=<value>`. Of a posted attribute with another type than
    /// the declared one: `<key>=<JSON type>`.
    Value(String),
    /// A type of row in a transcript or rollout.
    Row(String),
    /// A line that was too long or not JSON.
    Line(String),
}

/// Describes what was understood of one observation, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// Holds what it says.
    pub entries: Vec<Entry>,
    /// Holds what it holds that we do not know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrecognised: Vec<Unrecognised>,
    /// The version of the client, where the observation names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
}
