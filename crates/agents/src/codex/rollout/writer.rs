//! One row on its way to entries: who speaks, when, in which turn, and what has been said so far.

use agent_tracer_event::{Entry, Evidence, Kind, Metadata, Millis, Phase, Reading, Subject, Unrecognised};
use serde_json::{Value, json};

use super::state::RolloutState;
use crate::codex::facts::{put, task};
use crate::files::Rules;

/// A row while it is being read.
pub(super) struct RolloutWriter<'r> {
    /// Holds what may be said.
    pub(super) rules: &'r Rules<'r>,
    /// Holds the state.
    pub(super) state: &'r mut RolloutState,
    /// The thread that the row is about.
    pub(super) thread: String,
    /// The turn that the row is about.
    pub(super) turn: Option<String>,
    /// Holds the time at which the row was written.
    pub(super) at: Millis,
    /// Holds where it stands in its file.
    pub(super) offset: u64,
    /// Names it.
    pub(super) observation: String,
    /// Holds the entries.
    pub(super) reading: Reading,
}

impl RolloutWriter<'_> {
    /// Returns an entry about an event of this thread and turn.
    pub(super) fn event(&self, kind: Kind, phase: Phase, key: String, reason: &str) -> Entry {
        self.entry(Subject::Event(kind), phase, key, reason)
    }

    /// Returns an entry about anything of this thread and turn.
    pub(super) fn entry(&self, subject: Subject, phase: Phase, key: String, reason: &str) -> Entry {
        let evidence = Evidence::reported(format!("rollout: {reason}"));
        let mut entry = Entry::new(subject, phase, task(&self.thread), key, self.at, evidence);
        entry.order = self.offset;
        entry.turn.clone_from(&self.turn);
        // A file has rows about other threads too; the type and parent that it names are those of its own.
        if self.is_own() {
            entry.agent_type.clone_from(&self.state.agent_type);
            if self.state.parent_thread.is_some() {
                entry.agent_id = Some(self.thread.clone());
            }
        }
        entry
    }

    /// Returns an entry about another thread's task.
    pub(super) fn entry_of(
        &self,
        thread: &str,
        subject: Subject,
        phase: Phase,
        key: String,
        reason: &str,
    ) -> Entry {
        let evidence = Evidence::reported(format!("rollout: {reason}"));
        let mut entry = Entry::new(subject, phase, task(thread), key, self.at, evidence);
        entry.order = self.offset;
        entry
    }

    /// Returns whether the row is about the thread that the file belongs to.
    pub(super) fn is_own(&self) -> bool {
        self.state.thread_id.as_deref() == Some(self.thread.as_str())
    }

    /// Returns a prompt as far as it may be kept. A guardian's quotes the outputs that it is to judge.
    pub(super) fn prompt(&self, text: &str) -> Value {
        if self.state.helper { json!({"bytes": text.len()}) } else { self.rules.prompt(text) }
    }

    /// Returns a final message as far as it may be kept.
    pub(super) fn message(&self, text: &str) -> Value {
        if self.state.helper { json!({"bytes": text.len()}) } else { self.rules.message(text) }
    }

    /// Says something.
    pub(super) fn say(&mut self, entry: Entry) {
        self.reading.entries.push(entry);
    }

    /// Says something about the task itself.
    pub(super) fn say_task(&mut self, metadata: Metadata, reason: &str) {
        if metadata.is_empty() {
            return;
        }
        let mut entry = self.entry(Subject::Task, Phase::Update, "task".to_owned(), reason);
        entry.turn = None;
        entry.metadata = metadata;
        self.say(entry);
    }

    /// Counts something unknown.
    pub(super) fn unknown(&mut self, what: Unrecognised) {
        self.reading.unrecognised.push(what);
    }

    /// Keeps a value of a set that we know as closed; counts it if it is not one of these.
    pub(super) fn expect_known(&mut self, field: &str, value: &str, words: &[&str]) {
        if !words.contains(&value) {
            self.unknown(Unrecognised::Value(format!("{field}={}", word_or_mark(value))));
        }
    }

    /// Writes a short text under a name, masked.
    pub(super) fn put_word(&self, metadata: &mut Metadata, name: &str, text: Option<impl AsRef<str>>) {
        put(metadata, name, text.map(|text| Value::from(self.rules.word(text.as_ref()))));
    }
}

/// Returns a value that could be a word of Codex; anything else may be content that stands in the wrong place.
pub(super) fn word_or_mark(value: &str) -> &str {
    let is_word = value.len() <= 40 && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if is_word { value } else { "…" }
}
