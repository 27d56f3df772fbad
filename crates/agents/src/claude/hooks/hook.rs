//! One payload with who, where and when worked out: what every event's reader starts from.

use agent_tracer_event::{
    Certainty, Channel, Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Subject, TaskKey,
    Unrecognised, attributes,
};
use serde_json::{Value, json};

use crate::claude::identity;
use crate::claude::wire::{Members, TextOrLength};
use crate::observation::Observation;
use crate::text::{self, cut};
use crate::tools::Place;

/// The permission modes that the client declares.
const PERMISSION_MODES: &[&str] = &["default", "acceptEdits", "plan", "bypassPermissions", "auto", "dontAsk"];

/// The session of a payload that names none.
const NO_SESSION: &str = "unknown";

/// A payload of a hook, and what it says of its sender.
pub(in crate::claude) struct Hook<'a> {
    pub(in crate::claude) observation: &'a Observation<'a>,
    pub(in crate::claude) payload: Members<'a>,
    /// The agent's name of the event; empty if it has none.
    pub(in crate::claude) event: &'a str,
    /// The session that the payload names: for a subagent the root of its tree.
    pub(in crate::claude) session: String,
    /// The subagent that acted.
    pub(in crate::claude) agent_id: Option<String>,
    /// The type of the agent as given, which may be empty.
    pub(in crate::claude) agent_type: Option<&'a str>,
    pub(in crate::claude) prompt_id: Option<String>,
    pub(in crate::claude) cwd: Option<&'a str>,
    /// Holds the time at which it happened: the agent's own time where an older client gives one, else the arrival.
    pub(in crate::claude) at: Millis,
}

/// Holds how the id of an agent begins that Claude Code starts to answer a hook of the type `agent`.
const VERIFIER: &str = "hook-agent-";

impl<'a> Hook<'a> {
    pub(in crate::claude) fn new(observation: &'a Observation<'a>, payload: Members<'a>) -> Self {
        let context = observation.context;
        let session = payload
            .id(&["session_id"])
            // 2.1.325 has both in every payload. Older documents leave one or the other out, and a payload without a
            // session would be a task of its own.
            .or_else(|| payload.text(&["transcript_path"]).and_then(session_of_transcript))
            .or_else(|| context.env("CLAUDE_CODE_SESSION_ID").map(str::to_owned))
            .unwrap_or_else(|| NO_SESSION.to_owned());
        let string = |key: &str| payload.0.get(key).and_then(Value::as_str);
        let agent_id = payload.id(&["agent_id"]);
        // Who verifies for a hook has a telling id and no type.
        let verifies = agent_id.as_deref().is_some_and(|id| id.starts_with(VERIFIER));
        let given = string("agent_type").or_else(|| string("subagent_type"));
        Self {
            observation,
            payload,
            event: string("hook_event_name").unwrap_or_default(),
            session,
            agent_id,
            agent_type: if verifies {
                given.filter(|given| !given.is_empty()).or(Some("verifier"))
            } else {
                given
            },
            prompt_id: payload.id(&["prompt_id"]),
            cwd: payload.text(&["cwd"]).or(context.cwd.as_deref()),
            // The client stamps no payload, so the arrival is the time of the event; it lags by the start of one
            // process.
            at: payload.text(&["timestamp"]).and_then(Millis::parse).unwrap_or(observation.arrived),
        }
    }

    /// Returns the root of the project, which does not follow `cd`.
    pub(in crate::claude) fn project(&self) -> Option<&'a str> {
        self.observation.context.env("CLAUDE_PROJECT_DIR")
    }

    /// Returns the agent's own file when a compaction began.
    pub(in crate::claude) fn transcript_seen(&self) -> Option<&'a crate::TranscriptSeen> {
        self.observation.context.transcript.as_ref()
    }

    pub(in crate::claude) fn place(&self) -> Place<'a> {
        Place { cwd: self.cwd, project: self.project() }
    }

    /// Returns whether the agent that acted answers a hook, and ends with what it answers.
    pub(in crate::claude) fn is_verifier(&self) -> bool {
        self.agent_id.as_deref().is_some_and(|id| id.starts_with(VERIFIER))
    }

    /// Returns the task of the session itself.
    pub(in crate::claude) fn root(&self) -> TaskKey {
        identity::task(&self.session, None)
    }

    /// Returns the task that acted.
    pub(in crate::claude) fn actor(&self) -> TaskKey {
        identity::task(&self.session, self.agent_id.as_deref())
    }

    /// Returns the bare id of the turn: the prompt on the main thread, the agent itself in a subagent.
    pub(in crate::claude) fn turn(&self) -> Option<String> {
        identity::turn(self.agent_id.as_deref(), self.prompt_id.as_deref()).map(str::to_owned)
    }

    /// Returns the key of an event that has no id of its own.
    pub(in crate::claude) fn own_key(&self) -> String {
        format!("hook:{}", self.observation.name)
    }

    pub(in crate::claude) fn evidence(&self) -> Evidence {
        let name = if self.event.is_empty() { "without a name" } else { self.event };
        Evidence::measured(format!("hook {}", text::line(name, 100)))
    }

    /// Returns an entry about anything, on any task.
    pub(in crate::claude) fn entry(
        &self,
        subject: Subject,
        phase: Phase,
        task: TaskKey,
        key: impl Into<String>,
    ) -> Entry {
        let mut entry = Entry::new(subject, phase, task, key, self.at, self.evidence());
        entry.hook_event_name = Some(text::line(self.event, 100)).filter(|name| !name.is_empty());
        entry
    }

    /// Returns an event of the task that acted, with what every event keeps.
    pub(in crate::claude) fn event(&self, kind: Kind, phase: Phase, key: impl Into<String>) -> Entry {
        self.event_on(self.actor(), kind, phase, key)
    }

    /// Returns the same on another task: the turn is then that task's own, which only the session's is known of.
    pub(in crate::claude) fn event_on(
        &self,
        task: TaskKey,
        kind: Kind,
        phase: Phase,
        key: impl Into<String>,
    ) -> Entry {
        // A subagent's event can be a row of its parent. The subagent's turn is no turn there.
        let acts_here = task == self.actor();
        let mut entry = self.entry(Subject::Event(kind), phase, task, key);
        // Most events have some thirty members; making room for them little by little costs more than the room.
        entry.metadata = Metadata::with_capacity(32);
        if acts_here {
            entry.turn = self.turn();
            entry.agent_id = self.agent_id.clone();
            entry.agent_type = self.shown_type();
        } else {
            entry.turn = self.prompt_id.clone();
            entry.agent_type = Some("main".to_owned());
        }
        self.common(&mut entry.metadata);
        entry
    }

    /// Returns a turn of the task that acted.
    pub(in crate::claude) fn turn_entry(&self, phase: Phase) -> Option<Entry> {
        let turn = self.turn()?;
        let mut entry = self.entry(Subject::Turn, phase, self.actor(), format!("turn:{turn}"));
        entry.turn = Some(turn);
        entry.agent_id = self.agent_id.clone();
        if let Some(prompt) = &self.prompt_id {
            entry.metadata.insert(attributes::PROMPT_ID.to_owned(), Value::from(prompt.as_str()));
        }
        Some(entry)
    }

    /// Returns what the agent is called: its type, byte for byte; `main` on the main thread unless that has one.
    pub(in crate::claude) fn shown_type(&self) -> Option<String> {
        let given =
            self.agent_type.filter(|given| !given.is_empty()).map(|given| cut(given, 200).into_owned());
        given.or_else(|| self.agent_id.is_none().then(|| "main".to_owned()))
    }

    /// Writes what every event of a hook keeps.
    fn common(&self, metadata: &mut Metadata) {
        if let Some(mode) = self.payload.text(&["permission_mode"]) {
            metadata.insert(attributes::PERMISSION_MODE.to_owned(), Value::from(cut(mode, 60).as_ref()));
        }
        if let Some(effort) = self.effort() {
            metadata.insert(attributes::EFFORT.to_owned(), effort);
        }
        if let Some(prompt) = &self.prompt_id {
            metadata.insert(attributes::PROMPT_ID.to_owned(), Value::from(prompt.as_str()));
        }
        if let Some(cwd) = self.cwd {
            metadata.insert(attributes::CWD.to_owned(), Value::from(cut(cwd, 1024).as_ref()));
        }
        if self.agent_id.is_none()
            && let Some(given) = self.agent_type.filter(|given| !given.is_empty())
        {
            metadata.insert(attributes::MAIN_AGENT_TYPE.to_owned(), Value::from(cut(given, 200).as_ref()));
        }
    }

    fn effort(&self) -> Option<Value> {
        match self.payload.get(&["effort"])? {
            Value::String(level) => Some(Value::from(cut(level, 60).as_ref())),
            Value::Object(members) => match members.get("level") {
                Some(Value::String(level)) => Some(Value::from(cut(level, 60).as_ref())),
                _ => Some(crate::tools::sanitise(&Value::Object(members.clone()))),
            },
            other => Some(crate::tools::sanitise(other)),
        }
    }

    /// Returns what the payload says of the task that acted.
    pub(in crate::claude) fn task(&self) -> Entry {
        if self.observation.channel == Channel::Transcript {
            // A row that is read as a hook: the reader of the file says what its task is, once and not on every row.
            return self.entry(Subject::Task, Phase::Update, self.actor(), "task");
        }
        let mut entry = self.task_of(self.actor());
        let metadata = &mut entry.metadata;
        match &self.agent_id {
            Some(agent) => {
                metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent.as_str()));
                metadata.insert(attributes::ROOT_SESSION.to_owned(), Value::from(self.session.as_str()));
                // `transcript_path` is the session's; the agent's own is named when it ends, by some on every event.
                if let Some(path) = self.payload.text(&["agent_transcript_path"]) {
                    metadata.insert(
                        attributes::TRANSCRIPT_PATH.to_owned(),
                        Value::from(cut(path, 1024).as_ref()),
                    );
                }
            }
            None => {
                if let Some(path) = self.payload.text(&["transcript_path"]) {
                    metadata.insert(
                        attributes::TRANSCRIPT_PATH.to_owned(),
                        Value::from(cut(path, 1024).as_ref()),
                    );
                }
                if let Some(mode) = self.payload.text(&["permission_mode"]) {
                    metadata
                        .insert(attributes::PERMISSION_MODE.to_owned(), Value::from(cut(mode, 60).as_ref()));
                }
            }
        }
        if let Some(shown) = self.shown_type() {
            metadata.insert(attributes::AGENT_TYPE.to_owned(), Value::from(shown));
        }
        entry
    }

    /// Returns who called the subagent that acted, in an entry of its own.
    ///
    /// The payload names the root of the tree and not the caller, so this is a guess, and everything that knows better
    /// must win over it; older documents have clients that name the parent.
    pub(in crate::claude) fn parent(&self) -> Option<Entry> {
        self.agent_id.as_ref()?;
        let mut entry = self.entry(Subject::Task, Phase::Update, self.actor(), "task");
        let named = self.payload.id(&["parent_session_id"]);
        entry.evidence = match &named {
            Some(_) => Evidence::reported("hook, parent_session_id"),
            // Agents of agents exist, and this payload names the root of the tree for all of them.
            None => Evidence { certainty: Certainty::Guessed, reason: "hook, session_id".to_owned() },
        };
        let parent = named.unwrap_or_else(|| self.session.clone());
        entry.metadata.insert(attributes::PARENT_SESSION.to_owned(), Value::from(parent));
        let certainty = entry.evidence.certainty.as_str();
        entry.metadata.insert(attributes::PARENT_CERTAINTY.to_owned(), Value::from(certainty));
        Some(entry)
    }

    /// Returns an entry about a task, with where it works and which process it is.
    fn task_of(&self, task: TaskKey) -> Entry {
        let mut entry = self.entry(Subject::Task, Phase::Update, task, "task");
        let metadata = &mut entry.metadata;
        if let Some(cwd) = self.cwd {
            metadata.insert(attributes::CWD.to_owned(), Value::from(cut(cwd, 1024).as_ref()));
        }
        let context = self.observation.context;
        if let Some(project) = self.project() {
            metadata.insert(attributes::PROJECT_DIR.to_owned(), Value::from(cut(project, 1024).as_ref()));
        }
        if let Some(entrypoint) = context.env("CLAUDE_CODE_ENTRYPOINT") {
            metadata.insert(attributes::ENTRYPOINT.to_owned(), Value::from(cut(entrypoint, 60).as_ref()));
        }
        let attended = match context.env("CLAUDE_CODE_SESSION_ATTENDED") {
            Some("1" | "true") => Some(true),
            Some("0" | "false") => Some(false),
            _ => None,
        };
        if let Some(attended) = attended {
            metadata.insert(attributes::ATTENDED.to_owned(), Value::Bool(attended));
        }
        // The kernel's word first: the variable is inherited by everything that the client starts.
        let pid = context.pid.or_else(|| context.env("CLAUDE_PID")?.parse().ok());
        for (name, number) in [
            (attributes::PID, pid.map(u64::from)),
            (attributes::PID_START, context.pid_start),
            (attributes::PID_NAMESPACE, context.pid_namespace),
        ] {
            if let Some(number) = number {
                metadata.insert(name.to_owned(), Value::from(number));
            }
        }
        entry
    }

    /// Counts an unknown value of a member that we know as a closed set; the value is kept.
    pub(in crate::claude) fn expect_one_of(&self, member: &str, known: &[&str], reading: &mut Reading) {
        if let Some(value) = self.payload.text(&[member])
            && !known.contains(&value)
        {
            reading.unrecognised.push(Unrecognised::Value(format!("{member}={}", text::line(value, 100))));
        }
    }

    pub(in crate::claude) fn check_permission_mode(&self, reading: &mut Reading) {
        self.expect_one_of("permission_mode", PERMISSION_MODES, reading);
        if self.session == NO_SESSION {
            reading.unrecognised.push(Unrecognised::Value("session_id=".to_owned()));
        }
    }
}

/// Puts a member of the payload into metadata under our name, whatever it is.
pub(in crate::claude) fn carry(payload: Members<'_>, metadata: &mut Metadata, pairs: &[(&[&str], &str)]) {
    for (keys, name) in pairs {
        let Some(value) = payload.get(keys) else { continue };
        metadata.insert((*name).to_owned(), crate::tools::sanitise(value));
    }
}

/// Puts a text into metadata: cut at `most` characters, or the length that privacy left of it.
pub(in crate::claude) fn carry_text(
    metadata: &mut Metadata,
    name: &str,
    said: Option<TextOrLength<'_>>,
    most: usize,
) {
    let value = match said {
        Some(TextOrLength::Text("")) | None => return,
        Some(TextOrLength::Text(text)) => Value::from(cut(text, most).as_ref()),
        Some(TextOrLength::Length(bytes)) => json!({ "bytes": bytes }),
    };
    metadata.insert(name.to_owned(), value);
}

/// Returns the session in the name of a transcript, which is called after it.
fn session_of_transcript(path: &str) -> Option<String> {
    let stem = text::base_name(path).strip_suffix(".jsonl")?;
    (!stem.is_empty()).then(|| cut(stem, 300).into_owned())
}
