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
/// once, when the fact is folded. Shipments carry it unchanged ([`crate::shipment::ShippedFact`]).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(remote = "Self")]
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
    /// The number by which it is found among facts like it. Its list determines the variant.
    #[serde(deserialize_with = "signature_of_number")]
    pub signature: Option<Signature>,
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

/// The number by which a store finds facts that are alike. The column `signature` holds it for all lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Of a call or a permission: a hash of its input.
    Input(i64),
    /// Of a response that the provider's own account reported. Other responses have none.
    Account,
    /// Of a decision: the rule, the status and the outcome ([`ruling::signature`]).
    Ruling(i64),
    /// Of a prompt or an answer: the name of its series.
    Series(i64),
}

impl Signature {
    /// The number of [`Self::Account`].
    const ACCOUNT: i64 = 1;

    /// Returns the signature that a column of a fact in a list holds.
    #[must_use]
    pub const fn of_column(list: List, number: i64) -> Self {
        match list {
            List::Response => Self::Account,
            List::Rule => Self::Ruling(number),
            List::Prompt | List::Stop => Self::Series(number),
            List::Other
            | List::SessionStart
            | List::SessionEnd
            | List::Permission
            | List::Question
            | List::Todo
            | List::Context
            | List::Command
            | List::Exploration
            | List::Web
            | List::Call
            | List::Interrupt
            | List::Turn => Self::Input(number),
        }
    }

    /// Returns the number that the column holds.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::Account => Self::ACCOUNT,
            Self::Input(number) | Self::Ruling(number) | Self::Series(number) => number,
        }
    }

    /// Returns the signature of a folded fact.
    fn of(list: List, is_call: bool, series: Option<&str>, metadata: &Metadata) -> Option<Self> {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let number = match list {
            List::Response => (text(attributes::USAGE_SOURCE) == Some("record")).then_some(Self::ACCOUNT),
            List::Rule => Some(ruling::signature(
                text(attributes::RULE_ID).unwrap_or_default(),
                text(attributes::RULE_STATUS),
                text(attributes::RULE_OUTCOME),
            )),
            list if List::IN_SERIES.contains(&list) => series.map(number),
            list if is_call || list == List::Permission => text(attributes::CALL_SIGNATURE)
                .and_then(|hex| u64::from_str_radix(hex, 16).ok())
                .map(u64::cast_signed),
            _ => None,
        };
        number.map(|number| Self::of_column(list, number))
    }
}

impl<'de> Deserialize<'de> for FactRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut row = Self::deserialize(deserializer)?;
        // The number may stand before the list that gives it a meaning.
        row.signature = row.signature.map(|signature| Signature::of_column(row.list, signature.number()));
        Ok(row)
    }
}

fn signature_of_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Signature>, D::Error> {
    Ok(Option::<i64>::deserialize(deserializer)?.map(Signature::Input))
}

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
    pub fn new(number_of_fact: i64, fact: Fact) -> Self {
        let list = List::of(&fact);
        let kind = fact.kind();
        let mut metadata = fact.metadata;
        let is_call = kind.is_some() && fact.tool_name.is_some() && fact.state.is_some();
        // Decided before anything is derived: an end that follows from neighbours may be taken back, one that an
        // entry reports may not.
        let open = is_call && fact.state == Some(CallState::Running);
        let mut duration = metadata.get(attributes::DURATION_MS).and_then(Value::as_i64);
        if let (None, true, Some(ended)) = (duration, is_call && !open, fact.ended_at) {
            // Measured by our clock between two hooks. It contains the wait for a permission, so its source is named
            // and the agent's own value wins.
            let ours = (ended.0 - fact.occurred_at.0).max(0);
            metadata.insert(attributes::DURATION_MS.to_owned(), Value::from(ours));
            metadata.insert(attributes::DURATION_SOURCE.to_owned(), Value::from("tracer"));
            duration = Some(ours);
        }
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let error = text(attributes::ERROR_CLASS).and_then(ErrorClass::parse);
        let title = fact
            .title
            .filter(|title| !title.is_empty())
            .unwrap_or_else(|| fact.tool_name.clone().or_else(|| kind.map(plain_words)).unwrap_or_default());
        let signature = Signature::of(list, is_call, fact.series.as_deref(), &metadata);
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
            // With a prefix, because a turn and a call of one name would otherwise be one fact.
            turn: fact.turn.as_deref().map(|turn| number(&format!("turn:{turn}"))),
            duration: duration.filter(|duration| *duration >= 0),
            error,
            signature,
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

    /// Returns the hash of the input of a call or a permission.
    #[must_use]
    pub const fn input(&self) -> Option<i64> {
        match self.signature {
            Some(Signature::Input(hash)) => Some(hash),
            Some(Signature::Account | Signature::Ruling(_) | Signature::Series(_)) | None => None,
        }
    }

    /// Returns the number of the series of a prompt or an answer.
    #[must_use]
    pub const fn series(&self) -> Option<i64> {
        match self.signature {
            Some(Signature::Series(name)) => Some(name),
            Some(Signature::Input(_) | Signature::Account | Signature::Ruling(_)) | None => None,
        }
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
        // What follows from other facts corrects what was reported, such as a response that turned out to be a copy.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn number_of_a_signature_means_what_its_list_says_wherever_it_stands() {
        for (list, signature) in [
            (List::Call, Signature::Input(-7)),
            (List::Permission, Signature::Input(-7)),
            (List::Rule, Signature::Ruling(-7)),
            (List::Prompt, Signature::Series(-7)),
            (List::Stop, Signature::Series(-7)),
            (List::Response, Signature::Account),
        ] {
            let number = if list == List::Response { 1 } else { -7 };
            assert_eq!(signature.number(), number);
            let text = format!(r#"{{"signature":{number},"list":{},"#, list.code())
                + r#""fact":1,"kind":null,"lane":"telemetry","occurred":1,"order":2,"ended":null,"state":null,
                "open":false,"tool":null,"turn":null,"duration":null,"error":null,"certainty":"measured","channels":5,
                "data":{"k":""},"derived":{}}"#;
            let row: FactRow = serde_json::from_str(&text).unwrap();
            assert_eq!((row.list, row.signature), (list, Some(signature)));
            assert_eq!(Signature::of_column(list, number), signature);
        }
    }

    #[test]
    fn fact_has_the_signature_of_its_list() {
        let signature = |list: List, is_call: bool, metadata: Value| {
            let metadata = metadata.as_object().unwrap();
            Signature::of(list, is_call, Some("prompt:1"), metadata)
        };
        let hash = json!({ attributes::CALL_SIGNATURE: "ffffffffffffffff" });
        assert_eq!(signature(List::Command, true, hash.clone()), Some(Signature::Input(-1)));
        assert_eq!(signature(List::Permission, false, hash.clone()), Some(Signature::Input(-1)));
        assert_eq!(signature(List::Command, false, hash.clone()), None);
        assert_eq!(signature(List::Prompt, true, hash), Some(Signature::Series(number("prompt:1"))));
        let record = json!({ attributes::USAGE_SOURCE: "record" });
        assert_eq!(signature(List::Response, false, record), Some(Signature::Account));
        assert_eq!(signature(List::Response, false, json!({})), None);
        let ruling = ruling::signature("r", None, None);
        assert_eq!(
            signature(List::Rule, true, json!({ attributes::RULE_ID: "r" })),
            Some(Signature::Ruling(ruling))
        );
    }
}
