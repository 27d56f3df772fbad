//! One record with who, when and what worked out: what every event's reader starts from.

use agent_tracer_event::{
    Agent, Certainty, Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Subject, TaskKey,
    Unrecognised, attributes,
};
use agent_tracer_privacy::{Level, Source, mask, reduce};
use serde_json::{Map, Value};

use super::{Attributes, Record};
use crate::files::Rules;
use crate::text::{self, hash16};
use crate::tools::{Call, Meaning, NAME_CHARS, Place, understand};

/// The session of a record that names none.
const NO_SESSION: &str = "unknown";
/// The most characters of a prompt or a message that are kept.
const BODY_CHARS: usize = 200_000;
/// The most characters of the line that is kept of an error.
const ERROR_CHARS: usize = 200;

/// Limits the attributes that are kept of an unknown record.
const ATTRIBUTES: usize = 100;

/// Attributes whose values are texts of people: they stay out of keys too.
const TEXTS: &[&str] = &[
    "prompt",
    "prompt_text",
    "response",
    "arguments",
    "output",
    "tool_input",
    "tool_parameters",
    "content",
    "tool",
    "body",
];

/// A record, and what it says so far.
pub(crate) struct RecordWriter<'a> {
    pub(crate) rules: &'a Rules<'a>,
    agent: Agent,
    /// The event or span, without the agent's prefix.
    pub(crate) name: &'a str,
    resource: &'a Attributes,
    pub(crate) attributes: &'a Attributes,
    item: &'a Value,
    /// The call that the span lies in.
    pub(crate) call: Option<&'a str>,
    pub(crate) at: Millis,
    pub(crate) reading: Reading,
}

impl<'a> RecordWriter<'a> {
    #[expect(clippy::too_many_arguments, reason = "a record is known by this much, and there is one caller")]
    pub(super) fn new(
        rules: &'a Rules<'a>,
        agent: Agent,
        name: &'a str,
        resource: &'a Attributes,
        attributes: &'a Attributes,
        item: &'a Value,
        call: Option<&'a str>,
        arrived: Millis,
    ) -> Self {
        let nanos = |member: &str| {
            item.get(member)
                .and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()))
                // Zero is how the format says that there is no time.
                .filter(|nanos| *nanos > 0)
                .map(Millis::from_nanos)
        };
        let written = || attributes.text(&["event.timestamp"]).and_then(Millis::parse);
        let at = nanos("timeUnixNano").or_else(|| nanos("startTimeUnixNano")).or_else(written);
        // The exporter's own moment is later than the event, but it is the same when the export is sent again.
        let at = at.or_else(|| nanos("observedTimeUnixNano")).unwrap_or(arrived);
        let version = resource.text(&["service.version"]).or_else(|| attributes.text(&["app.version"]));
        let reading =
            Reading { client_version: version.map(|version| rules.word(version)), ..Reading::default() };
        Self { rules, agent, name, resource, attributes, item, call, at, reading }
    }

    /// Returns an attribute that names something.
    pub(crate) fn id(&self, names: &[&str]) -> Option<String> {
        self.attributes.text(names).map(|id| self.rules.word(id.trim()))
    }

    /// Returns the session or thread that the record names.
    pub(crate) fn session(&self) -> String {
        let names = crate::adapter::of(self.agent).session_attributes();
        self.id(names).unwrap_or_else(|| NO_SESSION.to_owned())
    }

    /// Returns the subagent that acted, where one has an id within its session. A span names it as its conversation.
    pub(crate) fn agent_id(&self) -> Option<String> {
        if self.agent.spec().has_subagent_sessions {
            return None;
        }
        let conversation = || {
            let conversation = self.id(&["gen_ai.conversation.id"])?;
            (self.id(&["session.id"])? != conversation).then_some(conversation)
        };
        self.id(&["agent_id", "agent.id", "gen_ai.agent.id"]).or_else(conversation)
    }

    /// Returns the task that acted.
    pub(crate) fn actor(&self) -> TaskKey {
        match self.agent_id() {
            Some(agent) => TaskKey::subagent(self.agent, &agent),
            None => self.root(),
        }
    }

    /// Returns the task of the session itself.
    pub(crate) fn root(&self) -> TaskKey {
        TaskKey::new(self.agent, self.session())
    }

    /// Returns what identifies the record: its place and time and content, and nothing of how it reached us.
    ///
    /// Texts are left out of it: a key must not be a way to guess at a prompt.
    pub(crate) fn own_name(&self) -> String {
        let mut known: Vec<String> = self
            .attributes
            .iter()
            .filter(|(name, _)| !TEXTS.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        // A repeated export may list its attributes in another order.
        known.sort_unstable();
        let span = self.item.get("spanId").and_then(Value::as_str).unwrap_or_default();
        hash16(&format!("{}\n{}\n{span}\n{}", self.name, self.at.0, known.join("\n")))
    }

    /// Returns the key of an event that names nothing which other channels know.
    pub(crate) fn own_key(&self) -> String {
        format!("otlp:{}:{}", text::line(self.name, 60), self.own_name())
    }

    /// Returns an entry about anything, on any task.
    pub(crate) fn entry(
        &self,
        subject: Subject,
        phase: Phase,
        task: TaskKey,
        key: impl Into<String>,
    ) -> Entry {
        let evidence = Evidence::reported(format!("otlp {}", text::line(self.name, 100)));
        Entry::new(subject, phase, task, key, self.at, evidence)
    }

    /// Returns an event of the task that acted.
    pub(crate) fn event(&self, kind: Kind, phase: Phase, key: impl Into<String>) -> Entry {
        let mut entry = self.entry(Subject::Event(kind), phase, self.actor(), key);
        let prompt = self.id(&["prompt.id"]);
        entry.agent_id = self.agent_id();
        // As hooks have it: the prompt's id is the process's and moves on while an agent works in the background.
        entry.turn = entry.agent_id.clone().or_else(|| prompt.clone());
        entry.agent_type = match &entry.agent_id {
            Some(_) => self.id(&["agent_type", "agent.name"]),
            None => Some("main".to_owned()),
        };
        if let Some(prompt) = prompt {
            entry.metadata.insert(attributes::PROMPT_ID.to_owned(), Value::from(prompt));
        }
        entry
    }

    /// Writes what the record says of the task that acted. A subagent's caller is a guess, in an entry of its own.
    pub(crate) fn task(&mut self) {
        let mut entry = self.entry(Subject::Task, Phase::Update, self.actor(), "task");
        let version = self.reading.client_version.clone();
        let model = self.id(&["model", "gen_ai.request.model"]);
        for (name, value) in [(attributes::CLIENT_VERSION, version), (attributes::MODEL, model)] {
            if let Some(value) = value {
                entry.metadata.insert(name.to_owned(), Value::from(value));
            }
        }
        if self.resource.text(&["service.name"]).is_some() || !entry.metadata.is_empty() {
            if let Some(agent) = self.agent_id() {
                entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent));
                entry.metadata.insert(attributes::ROOT_SESSION.to_owned(), Value::from(self.session()));
                let mut parent = self.entry(Subject::Task, Phase::Update, self.actor(), "task");
                let named = self.id(&["parent_agent_id", "agent.parent_id"]).map(|id| format!("sub--{id}"));
                if named.is_none() {
                    parent.evidence.certainty = Certainty::Guessed;
                }
                let certainty = parent.evidence.certainty.as_str();
                let session = named.unwrap_or_else(|| self.session());
                parent.metadata.insert(attributes::PARENT_SESSION.to_owned(), Value::from(session));
                parent.metadata.insert(attributes::PARENT_CERTAINTY.to_owned(), Value::from(certainty));
                self.reading.entries.push(parent);
            }
            self.reading.entries.push(entry);
        }
    }

    /// Says an event, behind what the record says of its task.
    pub(crate) fn say(&mut self, entry: Entry) {
        if self.reading.entries.is_empty() {
            self.task();
        }
        self.reading.entries.push(entry);
    }

    /// Returns a tool call under the key that every channel has for it; without an id it cannot be tied to any.
    pub(crate) fn tool_call(&mut self, tool: &str, id: Option<String>, input: &Value, phase: Phase) -> Entry {
        let call = Call { agent: self.agent, tool, input, place: Place::default() };
        let meaning: Meaning = understand(&call);
        // A record may do without the name; then no name is unknown.
        if !meaning.recognised && !tool.is_empty() {
            self.reading.unrecognised.push(Unrecognised::Tool(text::line(tool, NAME_CHARS)));
        }
        let key = id.as_ref().map_or_else(|| self.own_key(), |id| format!("tool:{id}"));
        let mut entry = self.event(Kind::ToolUsed, phase, key);
        entry.tool_name = Some(text::line(tool, NAME_CHARS));
        entry.tool_use_id = id;
        meaning.write(&mut entry);
        entry
    }

    /// Returns whether texts may be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.rules.level() == Level::Full
    }

    /// Reads a text that is kept at level `full` only, masked.
    pub(crate) fn body(&self, names: &[&str]) -> Option<String> {
        let text = self.attributes.display_text(names).filter(|_| self.is_full())?;
        Some(text::cut(&mask(text), BODY_CHARS).into_owned())
    }

    /// Returns what a call was given or gave back, in the words of the hook that tells of the same; at level `full` only.
    pub(crate) fn reduced(&self, event: &str, tool: &str, member: &str, value: &Value) -> Value {
        if !self.is_full() {
            return Value::Null;
        }
        let payload = serde_json::json!({ "hook_event_name": event, "tool_name": tool, member: value });
        let source = Source::Hook(self.agent);
        let mut out = Vec::new();
        let whole = payload.to_string();
        let mut key = || self.rules.hash_key;
        if reduce(whole.as_bytes(), source, self.rules.config, &mut key, &mut out).fault.is_some() {
            return Value::Null;
        }
        let members = serde_json::from_slice::<Map<String, Value>>(&out).ok();
        members.and_then(|mut members| members.remove(member)).unwrap_or(Value::Null)
    }

    /// Returns the line that is kept of an error: none at the level that keeps no texts.
    pub(crate) fn error(&self, names: &[&str]) -> Option<String> {
        let error = self.attributes.display_text(names).filter(|_| self.rules.level() != Level::Metadata)?;
        let first = error.trim_start().lines().next().unwrap_or_default();
        Some(text::line(&mask(first), ERROR_CHARS)).filter(|line| !line.is_empty())
    }

    /// Puts names, numbers and flags into metadata under our names.
    pub(crate) fn carry(&self, metadata: &mut Metadata, pairs: &[(&[&str], &str)]) {
        for (names, to) in pairs {
            let value = match self.attributes.get(names) {
                Some(Value::String(text)) => match text.trim().parse::<u64>() {
                    Ok(number) if to.ends_with("Ms") || to.ends_with("Bytes") || to.ends_with("Count") => {
                        Value::from(number)
                    }
                    _ if text.trim().is_empty() => continue,
                    _ => Value::from(self.rules.word(text)),
                },
                Some(value @ (Value::Number(_) | Value::Bool(_))) => value.clone(),
                _ => continue,
            };
            metadata.insert((*to).to_owned(), value);
        }
    }

    /// Returns what may be kept of unknown attributes: numbers and booleans; texts at level `full`, masked.
    fn unknown_attributes(&self) -> Value {
        let mut kept = Map::new();
        for (name, value) in self.attributes.iter().take(ATTRIBUTES) {
            let value = match value {
                Value::Number(_) | Value::Bool(_) => value.clone(),
                Value::String(text) if self.is_full() && name != "user.email" => {
                    Value::from(self.rules.word(text))
                }
                _ => continue,
            };
            kept.insert(self.rules.word(name), value);
        }
        Value::Object(kept)
    }

    /// Ends the record.
    pub(super) fn end(mut self, understood: bool) -> Record {
        if !understood {
            let name = self.rules.word(&text::line(self.name, 100));
            let mut entry = self.event(Kind::Unrecognised, Phase::Open, self.own_key());
            entry.title = Some(text::title(&format!("Unrecognised: {name}")));
            entry.metadata.insert(attributes::PAYLOAD.to_owned(), self.unknown_attributes());
            self.say(entry);
            self.reading.unrecognised.push(Unrecognised::Event(name));
        }
        if self.reading.entries.is_empty() && self.reading.unrecognised.is_empty() {
            return Record::Skipped;
        }
        let name = self.own_key();
        Record::Read { agent: self.agent, name, reading: self.reading }
    }
}
