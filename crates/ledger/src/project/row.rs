//! The stored form of a fact.

use agent_tracer_event::{
    CallState, Certainty, Channel, ErrorClass, FactId, Kind, Lane, Metadata, Tokens, attributes,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{List, ruling};
use crate::fold::Fact;

/// The part of a fact that is only presented, never queried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FactData {
    /// Its natural key.
    #[serde(rename = "k")]
    pub key: String,
    /// The title that a person reads.
    #[serde(rename = "t", default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Longer text.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The agent's id of the call.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The subagent that acted.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The type of the agent that acted.
    #[serde(rename = "y", default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The hook that reported it.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// The natural key of its turn.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The files that it concerns.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub file_paths: Vec<String>,
    /// All other fields.
    #[serde(rename = "m", default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// The stored form of a fact: the columns that queries use, and [`FactData`], which is only presented.
///
/// It exists beside [`Fact`] because a store finds facts by numbers: the list, the turn and the signature are computed
/// once, when the fact is folded. Shipments carry it unchanged ([`crate::record::FactRecord`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FactRow {
    /// Its number within its task.
    pub fact: i64,
    /// Its kind; `None` for a turn.
    pub kind: Option<Kind>,
    /// The list to which it belongs.
    #[serde(deserialize_with = "list_of_code")]
    pub list: List,
    /// Its lane.
    pub lane: Lane,
    /// The moment when it began.
    pub occurred: i64,
    /// Breaks ties between equal times.
    pub order: i64,
    /// The moment when it ended.
    pub ended: Option<i64>,
    /// The state of a call.
    pub state: Option<CallState>,
    /// No entry reported the end of this call: its state and end are derived from later facts.
    pub open: bool,
    /// The tool.
    pub tool: Option<String>,
    /// The number of the turn's fact.
    pub turn: Option<i64>,
    /// The duration.
    pub duration: Option<i64>,
    /// The class of its error.
    pub error: Option<ErrorClass>,
    /// Of a call or a permission: a hash of its input. Of a response: [`RECORD`], or none. Of a decision: the rule and
    /// the outcome ([`ruling::signature`]). Of a prompt or an answer: its series.
    pub signature: Option<i64>,
    /// The certainty.
    pub certainty: Certainty,
    /// Every channel that reported it, as bits.
    pub channels: u8,
    /// Everything that is only presented.
    pub data: FactData,
    /// Metadata derived from other facts. It takes precedence over the fact's own.
    pub derived: Metadata,
}

fn list_of_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List, D::Error> {
    i64::deserialize(deserializer).map(List::from_code)
}

/// The signature of a response that the provider's own account reported.
pub const RECORD: i64 = 1;

/// Returns a set of channels as bits.
#[must_use]
pub fn channel_bits<'a>(channels: impl IntoIterator<Item = &'a Channel>) -> u8 {
    channels.into_iter().fold(0, |bits, channel| bits | (1 << *channel as u8))
}

/// Returns the channels in a set of bits.
#[must_use]
pub fn channels_of(bits: u8) -> Vec<Channel> {
    Channel::ALL.iter().copied().filter(|channel| bits & (1 << *channel as u8) != 0).collect()
}

/// Returns the number of a fact by its natural key. The same key has the same number in every task.
#[must_use]
pub fn number(key: &str) -> i64 {
    FactId::number_of(key).cast_signed()
}

impl FactRow {
    /// Returns the row of a folded fact with the number `fact`.
    #[must_use]
    pub fn of(number_of_fact: i64, fact: Fact) -> Self {
        let list = List::of(&fact);
        let kind = fact.kind();
        let mut metadata = fact.metadata;
        let is_call = kind.is_some() && fact.tool_name.is_some() && fact.state.is_some();
        let open = is_call && fact.state == Some(CallState::Running);
        let mut duration = metadata.get(attributes::DURATION_MS).and_then(Value::as_i64);
        if let (None, true, Some(ended)) = (duration, is_call && !open, fact.ended_at) {
            let ours = (ended.0 - fact.occurred_at.0).max(0);
            metadata.insert(attributes::DURATION_MS.to_owned(), Value::from(ours));
            metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("tracer"));
            duration = Some(ours);
        }
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let error = text(attributes::ERROR_CLASS).and_then(ErrorClass::parse);
        let signature = text(attributes::CALL_SIGNATURE).and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let is_signed = is_call || list == List::Permission;
        let title = fact
            .title
            .filter(|title| !title.is_empty())
            .unwrap_or_else(|| fact.tool_name.clone().or_else(|| kind.map(plain_words)).unwrap_or_default());
        let ruled = (list == List::Rule).then(|| {
            ruling::signature(
                text(attributes::RULE_ID).unwrap_or_default(),
                text(attributes::RULE_STATUS),
                text(attributes::RULE_OUTCOME),
            )
        });
        let series = fact.series.filter(|_| List::IN_SERIES.contains(&list));
        let is_record = list == List::Response && text(attributes::USAGE_SOURCE) == Some("record");
        Self {
            fact: number_of_fact,
            kind,
            list,
            lane: fact.lane.unwrap_or(Lane::Telemetry),
            occurred: fact.occurred_at.0,
            order: i64::try_from(fact.order).unwrap_or(i64::MAX),
            ended: fact.ended_at.map(|at| at.0),
            state: fact.state,
            open,
            tool: fact.tool_name,
            turn: fact.turn.as_deref().map(|turn| number(&format!("turn:{turn}"))),
            duration: duration.filter(|duration| *duration >= 0),
            error,
            signature: signature
                .filter(|_| is_signed)
                .map(u64::cast_signed)
                .or(is_record.then_some(RECORD))
                .or(ruled)
                .or(series.map(|name| number(&name))),
            certainty: fact.certainty,
            channels: channel_bits(&fact.channels),
            data: FactData {
                key: fact.key,
                title,
                body: fact.body,
                tool_use_id: fact.tool_use_id,
                agent_id: fact.agent_id,
                agent_type: fact.agent_type,
                hook_event_name: fact.hook_event_name,
                turn: fact.turn,
                file_paths: fact.file_paths.into_iter().collect(),
                metadata,
            },
            derived: Metadata::new(),
        }
    }

    /// Returns `true` if it is at the same position of the same lists as another row of its fact.
    #[must_use]
    pub fn stands_where(&self, other: &Self) -> bool {
        let place = |row: &Self| (row.kind, row.list, row.occurred, row.order, row.turn, row.signature);
        self.fact == other.fact && place(self) == place(other)
    }

    /// Returns `true` if it is a tool call.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.kind.is_some() && self.tool.is_some() && self.state.is_some()
    }

    /// Returns `true` if it is a tool call that failed or was denied.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.is_call() && matches!(self.state, Some(CallState::Failed | CallState::Denied))
    }

    /// Returns `true` if it is the final message of a turn that failed.
    #[must_use]
    pub fn is_failed_stop(&self) -> bool {
        let is_error = |reason: &str| reason.starts_with("error:");
        self.list == List::Stop
            && (self.state == Some(CallState::Failed)
                || self.text(attributes::STOP_REASON).is_some_and(is_error))
    }

    /// Returns a value of the metadata; derived metadata takes precedence.
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.derived.get(key).or_else(|| self.data.metadata.get(key))
    }

    /// Returns a text of the metadata.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.meta(key)?.as_str()
    }

    /// Returns the skill that it activated or tried to: by the tool for it, by reading it, or by a typed command.
    #[must_use]
    pub fn skill(&self) -> Option<&str> {
        let name = match self.kind? {
            Kind::UserPromptExpansion if self.text(attributes::EXPANSION_TYPE) == Some("slash_command") => {
                self.text(attributes::COMMAND_NAME)
            }
            _ if self.is_call() => self.text(attributes::SKILL_NAME),
            _ => None,
        };
        name.filter(|name| !name.is_empty())
    }

    /// Returns the cost of a response that is counted in this task.
    #[must_use]
    pub fn usage(&self) -> Option<Tokens> {
        if self.list != List::Response || self.meta(attributes::COUNTED) == Some(&Value::Bool(false)) {
            return None;
        }
        Tokens::read(&self.data.metadata)
    }
}

/// Returns a title for an event that has none, such as the end of a call whose beginning was not recorded.
fn plain_words(kind: Kind) -> String {
    let words = kind.as_str().replace(['.', '_'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
