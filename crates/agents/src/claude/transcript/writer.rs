//! Writes the entries of one row: holds its task, its time and the entries so far.
//!
//! Facts that a hook also reports are written in the words of the hook: the row's members are put into the payload that the client
//! would have sent, that payload passes through privacy as every payload does, and the reader of hooks reads it. So a
//! fact has one key, one title and one set of fields, whichever channel tells of it first, at every level. Only how
//! sure it is and who said so differ: a hook was seen firing, a row reports.

use agent_tracer_event::{
    Agent, CallState, Certainty, Channel, Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Subject,
    TaskKey, attributes,
};
use agent_tracer_privacy::{Source as PrivacySource, reduce};
use serde_json::{Map, Value};

use super::row::Row;
use super::state::{Lane, ReaderState};
use super::text::Text;
use crate::claude::{hooks, identity};
use crate::files::Rules;
use crate::observation::{Context, Observation, Source};

/// The most characters of an id.
const ID_CHARS: usize = 300;

/// Limits how many members an event usually has: room for them at once instead of little by little.
const MEMBERS: usize = 24;

/// A row, with all that is known of it.
pub(super) struct RowWriter<'r, 'a> {
    pub(super) rules: &'r Rules<'r>,
    pub(super) state: &'r mut ReaderState,
    pub(super) row: &'r Row<'a>,
    /// The line, if all of it is there.
    pub(super) line: Option<&'a [u8]>,
    /// Holds the time at which the session began, if that is known.
    pub(super) began: Option<Millis>,
    /// The session that the row belongs to: for a subagent the root of its tree.
    pub(super) session: String,
    /// The subagent that acted; empty for the session itself.
    pub(super) agent: String,
    /// The file holds the rows of that subagent alone.
    pub(super) is_agent_file: bool,
    pub(super) at: Millis,
    pub(super) offset: u64,
    /// A stable name of the row.
    pub(super) name: String,
    pub(super) scratch: &'r mut Scratch,
    pub(super) reading: Reading,
}

/// A member of a payload that a row is put into.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member<'m> {
    /// A string as the row spells it.
    Text(Text<'m>),
    /// A text of ours.
    Str(&'m str),
    /// Any JSON, as it is spelled.
    Raw(&'m [u8]),
}

impl<'a> RowWriter<'_, 'a> {
    pub(super) fn lane(&mut self) -> &mut Lane {
        self.state.lane(&self.agent)
    }

    pub(super) fn agent_id(&self) -> Option<&str> {
        Some(self.agent.as_str()).filter(|agent| !agent.is_empty())
    }

    /// Returns the task that acted.
    pub(super) fn actor(&self) -> TaskKey {
        identity::task(&self.session, self.agent_id())
    }

    /// Returns the bare id of the turn.
    pub(super) fn turn(&mut self) -> Option<String> {
        let prompt = self.lane().prompt.clone();
        identity::turn(self.agent_id(), prompt.as_deref()).map(str::to_owned)
    }

    pub(super) fn evidence(&self) -> Evidence {
        Evidence::reported(format!("transcript, row {}", self.row.kind.head(40)))
    }

    /// Returns an id or another short text of a row, masked: nothing that a row calls an id is trusted to be one.
    pub(super) fn word(&self, text: Text<'_>) -> String {
        word(self.rules, text)
    }

    /// Returns an entry about anything, on the task that acted.
    pub(super) fn entry(&self, subject: Subject, phase: Phase, key: impl Into<String>) -> Entry {
        let mut entry = Entry::new(subject, phase, self.actor(), key, self.at, self.evidence());
        entry.order = self.offset;
        entry
    }

    /// Returns an event of the task that acted.
    pub(super) fn event(&mut self, kind: Kind, phase: Phase, key: impl Into<String>) -> Entry {
        let mut entry = self.entry(Subject::Event(kind), phase, key);
        entry.metadata = Metadata::with_capacity(MEMBERS);
        entry.turn = self.turn();
        entry.agent_id = self.agent_id().map(str::to_owned);
        entry.agent_type = self.shown_type();
        if let Some(prompt) = self.lane().prompt.clone() {
            entry.metadata.insert(attributes::PROMPT_ID.to_owned(), Value::from(prompt));
        }
        entry
    }

    /// Returns the type of the agent that acted, if the file names it.
    fn shown_type(&mut self) -> Option<String> {
        if self.agent.is_empty() {
            Some("main".to_owned())
        } else {
            self.lane().agent_type.clone().filter(|kind| !kind.is_empty())
        }
    }

    /// Returns the key of an event that has no id of its own.
    pub(super) fn own_key(&self) -> String {
        format!("row:{}", self.name)
    }

    /// Reads the row as the hook that the client would have fired, of members that went through privacy. What the hook
    /// says of the task that acted is left out: a reader says that once and not on every row.
    pub(super) fn as_hook(&mut self, event: &str, members: Vec<(&str, Value)>) -> Vec<Entry> {
        let payload = self.payload(event, members);
        let context = Context::default();
        let observation = Observation {
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Transcript,
            name: &self.name,
            arrived: self.at,
            source: Source::Hook,
            // The payload is handed over as a value and need not be printed only to be parsed again.
            body: b"",
            context: &context,
        };
        let mut read = hooks::read_payload(&observation, &payload);
        self.reading.unrecognised.append(&mut read.unrecognised);
        let (actor, evidence) = (self.actor(), self.evidence());
        let mut entries = read.entries;
        entries.retain(|entry| entry.subject != Subject::Task || entry.task != actor);
        for entry in &mut entries {
            entry.hook_event_name = None;
            entry.order = self.offset;
            let certainty = entry.evidence.certainty.min(Certainty::Reported);
            entry.evidence = Evidence { certainty, ..evidence.clone() };
            // The hook's reader wrote its own name here; this row of the file said so.
            if let Some(reason) = entry.metadata.get_mut(attributes::EVIDENCE_REASON) {
                *reason = Value::from(evidence.reason.as_str());
            }
        }
        entries
    }

    fn payload(&mut self, event: &str, members: Vec<(&str, Value)>) -> Value {
        let mut payload = Map::with_capacity(16);
        put(&mut payload, "hook_event_name", event);
        put(&mut payload, "session_id", self.session.as_str());
        put(&mut payload, "agent_id", self.agent.as_str());
        for (name, text) in [("cwd", self.row.cwd), ("permission_mode", self.row.permission_mode)] {
            if !text.is_empty() {
                put(&mut payload, name, self.rules.word(&text.decode()));
            }
        }
        let lane = self.state.lane(&self.agent);
        if let Some(kind) = lane.agent_type.as_deref().filter(|_| !lane.agent.is_empty()) {
            put(&mut payload, "agent_type", kind);
        }
        if let Some(prompt) = lane.prompt.as_deref() {
            put(&mut payload, "prompt_id", prompt);
        }
        for (name, value) in members {
            payload.insert(name.to_owned(), value);
        }
        Value::Object(payload)
    }

    /// Returns what privacy leaves of one member of a hook's payload; null if it cannot be understood.
    pub(super) fn reduce_member(
        &mut self,
        event: &str,
        tool: Option<&str>,
        name: &str,
        member: Member<'_>,
    ) -> Value {
        let Scratch { payload, out } = &mut *self.scratch;
        payload.clear();
        out.clear();
        payload.extend_from_slice(b"{\"hook_event_name\":");
        string(payload, event);
        if let Some(tool) = tool {
            payload.extend_from_slice(b",\"tool_name\":");
            string(payload, tool);
        }
        payload.push(b',');
        string(payload, name);
        payload.push(b':');
        match member {
            Member::Text(text) => {
                payload.push(b'"');
                payload.extend_from_slice(text.raw());
                payload.push(b'"');
            }
            Member::Str(text) => string(payload, text),
            Member::Raw(json) => payload.extend_from_slice(json),
        }
        payload.push(b'}');
        let key = self.rules.hash_key;
        let reduction =
            reduce(payload, PrivacySource::Hook(Agent::CLAUDE_CODE), self.rules.config, &mut || key, out);
        let kept = match reduction.fault {
            None => {
                serde_json::from_slice::<Map<String, Value>>(out).ok().and_then(|mut kept| kept.remove(name))
            }
            Some(_) => None,
        };
        self.scratch.trim();
        kept.unwrap_or_default()
    }

    /// Closes the turn that is being worked on.
    pub(super) fn close_turn(&mut self, state: CallState) -> Option<Entry> {
        let turn = self.turn()?;
        let mut entry = self.entry(Subject::Turn, Phase::Close, format!("turn:{turn}"));
        entry.turn = Some(turn);
        entry.agent_id = self.agent_id().map(str::to_owned);
        entry.state = Some(state);
        entry.ended_at = Some(self.at);
        Some(entry)
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.reading.entries.push(entry);
    }
}

/// Buffers that are used for one row after the other: a result can be megabytes long, and there is one in every other
/// row.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    payload: Vec<u8>,
    out: Vec<u8>,
}

impl Scratch {
    /// Holds what is kept of a buffer from one row to the next.
    const KEPT: usize = 1024 * 1024;

    fn trim(&mut self) {
        for buffer in [&mut self.payload, &mut self.out] {
            // One result of many megabytes would otherwise hold its room for as long as the file is followed.
            if buffer.capacity() > Self::KEPT {
                *buffer = Vec::new();
            }
        }
    }
}

/// Appends a text as JSON.
fn string(payload: &mut Vec<u8>, text: &str) {
    payload.extend_from_slice(Value::from(text).to_string().as_bytes());
}

/// Returns a short text that stays at every level, masked.
pub(super) fn word(rules: &Rules<'_>, text: Text<'_>) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut word = rules.word(&text.head(4 * ID_CHARS));
    if let Some((end, _)) = word.char_indices().nth(ID_CHARS).filter(|_| word.len() > ID_CHARS) {
        word.truncate(end);
    }
    word
}

/// The most bytes of a path.
// `PATH_MAX` of Linux: a longer text cannot name a file.
const PATH_BYTES: usize = 4096;

/// Returns an absolute path, masked; nothing of a text that is none. A member that is called a path is not trusted to
/// be one.
pub(super) fn absolute_path(rules: &Rules<'_>, text: &str) -> Option<String> {
    let is_absolute = match text.as_bytes() {
        [b'/', ..] => true,
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    let is_path = is_absolute && text.len() <= PATH_BYTES && !text.contains(char::is_control);
    is_path.then(|| rules.word(text))
}

/// Writes a text under a name unless it is empty.
pub(super) fn put(metadata: &mut Metadata, name: &str, value: impl Into<Value>) {
    let value = value.into();
    if !(value.is_null() || value.as_str() == Some("")) {
        metadata.insert(name.to_owned(), value);
    }
}
