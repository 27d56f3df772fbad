//! One payload with who, where and when worked out: what every event's reader starts from.

use agent_tracer_event::{
    Certainty, Entry, Evidence, Kind, Metadata, Phase, Reading, Subject, Unrecognised, attributes,
};
use serde_json::{Map, Value};

use crate::codex::facts::{TextOrSize, put, task, turn_key};
use crate::codex::rollout::name::thread_of;
use crate::observation::Observation;
use crate::text::{self, cut};
use crate::tools::Place;

/// Members that most events have; none of them is required.
pub(super) const BASE: &[&str] = &[
    "session_id",
    "transcript_path",
    "cwd",
    "hook_event_name",
    "model",
    "permission_mode",
    "turn_id",
    "agent_id",
    "agent_type",
];

const PERMISSION_MODES: &[&str] = &["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"];

/// The session of a payload that names none.
const NO_SESSION: &str = "unknown";
/// The most characters of an id that is kept.
const ID_CHARS: usize = 300;
const PATH_CHARS: usize = 1024;

/// A payload of a hook, and what it says of its sender.
pub(super) struct Hook<'a> {
    pub(super) observation: &'a Observation<'a>,
    pub(super) payload: &'a Map<String, Value>,
    /// The agent's name of the event; empty if it has none.
    pub(super) event: &'a str,
    /// The root of the tree that the thread belongs to.
    pub(super) root: String,
    /// The thread that acted.
    pub(super) thread: String,
    /// The subagent that acted, where the payload says that it was one.
    pub(super) agent_id: Option<String>,
    pub(super) turn: Option<String>,
}

impl<'a> Hook<'a> {
    pub(super) fn new(observation: &'a Observation<'a>, payload: &'a Map<String, Value>) -> Self {
        let agent_id = id(payload, "agent_id");
        let rollout =
            payload.get("transcript_path").and_then(Value::as_str).and_then(thread_of).map(str::to_owned);
        let session = id(payload, "session_id");
        // `session_id` is the root of the tree for every thread in it. The file's name is what tells a review apart,
        // which has no agent's id.
        let thread = agent_id.clone().or_else(|| rollout.clone()).or_else(|| session.clone());
        Self {
            observation,
            payload,
            event: payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default(),
            root: session.or(rollout).unwrap_or_else(|| NO_SESSION.to_owned()),
            thread: thread.unwrap_or_else(|| NO_SESSION.to_owned()),
            agent_id,
            turn: id(payload, "turn_id"),
        }
    }

    /// Returns a member that is a text with something in it.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.payload.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns a member that is a text, or what privacy left of it.
    pub(super) fn text_or_size(&self, name: &str) -> Option<TextOrSize<'a>> {
        TextOrSize::of(self.payload.get(name)?)
    }

    /// Returns a member that names something.
    pub(super) fn id(&self, name: &str) -> Option<String> {
        id(self.payload, name)
    }

    pub(super) fn cwd(&self) -> Option<&'a str> {
        self.text("cwd").or(self.observation.context.cwd.as_deref())
    }

    pub(super) fn place(&self) -> Place<'a> {
        Place { cwd: self.cwd(), project: None }
    }

    /// Returns whether the thread is not the root of its tree. A review has no `agent_id`, but a rollout of its own.
    pub(super) fn is_child(&self) -> bool {
        self.agent_id.is_some() || self.thread != self.root
    }

    /// Returns the type of the agent, byte for byte; the root's is `main`, that of a review is unknown.
    pub(super) fn agent_type(&self) -> Option<String> {
        match self.payload.get("agent_type").and_then(Value::as_str) {
            Some(given) => Some(cut(given, 200).into_owned()),
            None if self.is_child() => None,
            None => Some("main".to_owned()),
        }
    }

    /// Returns the key of an event that has no id of its own.
    pub(super) fn own_key(&self) -> String {
        format!("hook:{}", self.observation.name)
    }

    /// Returns an entry about anything, on any thread.
    pub(super) fn entry(
        &self,
        subject: Subject,
        phase: Phase,
        thread: &str,
        key: impl Into<String>,
    ) -> Entry {
        let name = if self.event.is_empty() { "without a name" } else { self.event };
        let evidence = Evidence::measured(format!("hook {}", text::line(name, 100)));
        let mut entry = Entry::new(subject, phase, task(thread), key, self.observation.arrived, evidence);
        entry.hook_event_name = Some(text::line(self.event, 100)).filter(|name| !name.is_empty());
        entry
    }

    /// Returns an event of the thread that acted, with what every event keeps.
    pub(super) fn event(&self, kind: Kind, phase: Phase, key: impl Into<String>) -> Entry {
        let mut entry = self.entry(Subject::Event(kind), phase, &self.thread, key);
        entry.turn.clone_from(&self.turn);
        entry.agent_id.clone_from(&self.agent_id);
        entry.agent_type = self.agent_type();
        for (from, to) in [("permission_mode", attributes::PERMISSION_MODE), ("model", attributes::MODEL)] {
            put(&mut entry.metadata, to, self.text(from).map(|word| text::line(word, 200)));
        }
        put(&mut entry.metadata, attributes::CWD, self.cwd().map(|cwd| cut(cwd, PATH_CHARS).into_owned()));
        entry
    }

    /// Returns the turn of the thread that acted.
    pub(super) fn turn_entry(&self, phase: Phase) -> Option<Entry> {
        let turn = self.turn.as_ref()?;
        let mut entry = self.entry(Subject::Turn, phase, &self.thread, turn_key(turn));
        entry.turn = Some(turn.clone());
        entry.agent_id.clone_from(&self.agent_id);
        put(&mut entry.metadata, attributes::MODEL, self.text("model").map(|model| text::line(model, 200)));
        Some(entry)
    }

    /// Returns what the payload says of the thread that acted.
    pub(super) fn task(&self) -> Entry {
        let mut entry = self.entry(Subject::Task, Phase::Update, &self.thread, "task");
        let about = &mut entry.metadata;
        put(about, attributes::CWD, self.cwd().map(|cwd| cut(cwd, PATH_CHARS).into_owned()));
        put(about, attributes::MODEL, self.text("model").map(|model| text::line(model, 200)));
        put(
            about,
            attributes::PERMISSION_MODE,
            self.text("permission_mode").map(|mode| text::line(mode, 60)),
        );
        put(about, attributes::ROOT_SESSION, Some(self.root.as_str()));
        put(about, attributes::AGENT_TYPE, self.agent_type());
        put(
            about,
            attributes::TRANSCRIPT_PATH,
            self.text("transcript_path").map(|path| cut(path, PATH_CHARS).into_owned()),
        );
        put(about, attributes::AGENT_ID, self.is_child().then_some(self.thread.as_str()));
        self.process(about);
        entry
    }

    /// Returns an entry that says what the payload only suggests. Everything that knows better must win over it, so it
    /// stands apart from what was seen.
    pub(super) fn guess(
        &self,
        subject: Subject,
        phase: Phase,
        key: impl Into<String>,
        reason: &str,
    ) -> Entry {
        let mut entry = self.entry(subject, phase, &self.thread, key);
        entry.evidence = Evidence { certainty: Certainty::Guessed, reason: format!("hook, {reason}") };
        entry
    }

    /// Returns who started the child that acted. The payload names the root of the tree, which may be the parent or an older
    /// ancestor; only the rollout, the call and the end of the child tell.
    pub(super) fn parent(&self) -> Option<Entry> {
        if !self.is_child() {
            return None;
        }
        let mut entry = self.guess(Subject::Task, Phase::Update, "task", "session_id");
        put(&mut entry.metadata, attributes::PARENT_SESSION, Some(self.root.as_str()));
        put(&mut entry.metadata, attributes::PARENT_CERTAINTY, Some("guessed"));
        Some(entry)
    }

    fn process(&self, about: &mut Metadata) {
        let context = self.observation.context;
        put(about, attributes::PID, context.pid);
        put(about, attributes::PID_START, context.pid_start);
        put(about, attributes::PID_NAMESPACE, context.pid_namespace);
    }

    /// Counts an unknown value of a member that we know as a closed set; the value is kept.
    pub(super) fn expect_one_of(&self, name: &str, known: &[&str], reading: &mut Reading) {
        if let Some(value) = self.text(name)
            && !known.contains(&value)
        {
            reading.unrecognised.push(Unrecognised::Value(format!("{name}={}", text::line(value, 100))));
        }
    }

    /// Counts what is odd about the members that every event has.
    pub(super) fn check(&self, reading: &mut Reading) {
        self.expect_one_of("permission_mode", PERMISSION_MODES, reading);
        if self.thread == NO_SESSION {
            reading.unrecognised.push(Unrecognised::Value("session_id=".to_owned()));
        }
    }
}

/// Reads an id: a text, or a number written as one.
fn id(payload: &Map<String, Value>, name: &str) -> Option<String> {
    match payload.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(cut(text.trim(), ID_CHARS).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
