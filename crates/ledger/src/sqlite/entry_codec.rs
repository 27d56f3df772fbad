//! The stored form of an entry: with short names, with moments as numbers, and without its task, which its row names.
//!
//! An entry has a few hundred bytes, half of which would be the names of its fields. It is encoded once for every event
//! and decoded only when a fact is folded again.

use std::borrow::Cow;

use agent_tracer_event::{
    CallState, Certainty, Entry, Evidence, Lane, Metadata, Millis, Phase, Series, Subject, TaskKey,
};
use serde::{Deserialize, Serialize};

use super::codec;

/// The stored form of an entry, for writing and for reading: the one encoding of the store and of the journal.
///
/// It is not [`Entry`] with other names: moments are numbers, the evidence is flat, and the task is missing. An entry is
/// borrowed when it is written, because that happens for every event.
#[derive(Serialize, Deserialize)]
struct StoredEntry<'a> {
    #[serde(rename = "s")]
    subject: Subject,
    #[serde(rename = "p")]
    phase: Phase,
    #[serde(rename = "k")]
    key: Cow<'a, str>,
    #[serde(rename = "a", default, skip_serializing_if = "is_empty")]
    aliases: Cow<'a, [String]>,
    /// Its name and its part.
    #[serde(rename = "z", skip_serializing_if = "Option::is_none")]
    series: Option<(Cow<'a, str>, Cow<'a, str>)>,
    #[serde(rename = "o")]
    occurred_at: i64,
    #[serde(rename = "i", default, skip_serializing_if = "is_zero")]
    order: u64,
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    #[serde(rename = "l", skip_serializing_if = "Option::is_none")]
    lane: Option<Lane>,
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    body: Option<Cow<'a, str>>,
    #[serde(rename = "w", skip_serializing_if = "Option::is_none")]
    state: Option<CallState>,
    #[serde(rename = "n", skip_serializing_if = "Option::is_none")]
    tool_name: Option<Cow<'a, str>>,
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(rename = "v", skip_serializing_if = "Option::is_none")]
    turn: Option<Cow<'a, str>>,
    #[serde(rename = "g", skip_serializing_if = "Option::is_none")]
    agent_id: Option<Cow<'a, str>>,
    #[serde(rename = "y", skip_serializing_if = "Option::is_none")]
    agent_type: Option<Cow<'a, str>>,
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    hook_event_name: Option<Cow<'a, str>>,
    #[serde(rename = "f", default, skip_serializing_if = "is_empty")]
    file_paths: Cow<'a, [String]>,
    #[serde(rename = "m", default = "no_metadata", skip_serializing_if = "is_blank")]
    metadata: Cow<'a, Metadata>,
    #[serde(rename = "c")]
    certainty: Certainty,
    #[serde(rename = "r")]
    reason: Cow<'a, str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_empty(texts: &[String]) -> bool {
    texts.is_empty()
}

fn is_blank(metadata: &Metadata) -> bool {
    metadata.is_empty()
}

fn no_metadata() -> Cow<'static, Metadata> {
    Cow::Owned(Metadata::new())
}

impl<'a> StoredEntry<'a> {
    fn new(entry: &'a Entry) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            subject: entry.subject,
            phase: entry.phase,
            key: Cow::Borrowed(&entry.key),
            aliases: Cow::Borrowed(&entry.aliases),
            series: entry.series.as_ref().map(|Series { name, part }| (name.into(), part.into())),
            occurred_at: entry.occurred_at.0,
            order: entry.order,
            ended_at: entry.ended_at.map(|at| at.0),
            lane: entry.lane,
            title: text(&entry.title),
            body: text(&entry.body),
            state: entry.state,
            tool_name: text(&entry.tool_name),
            tool_use_id: text(&entry.tool_use_id),
            turn: text(&entry.turn),
            agent_id: text(&entry.agent_id),
            agent_type: text(&entry.agent_type),
            hook_event_name: text(&entry.hook_event_name),
            file_paths: Cow::Borrowed(&entry.file_paths),
            metadata: Cow::Borrowed(&entry.metadata),
            certainty: entry.evidence.certainty,
            reason: Cow::Borrowed(&entry.evidence.reason),
        }
    }

    fn into_entry(self, task: TaskKey) -> Entry {
        let text = |text: Option<Cow<'a, str>>| text.map(Cow::into_owned);
        Entry {
            subject: self.subject,
            phase: self.phase,
            task,
            key: self.key.into_owned(),
            aliases: self.aliases.into_owned(),
            series: self
                .series
                .map(|(name, part)| Series { name: name.into_owned(), part: part.into_owned() }),
            occurred_at: Millis(self.occurred_at),
            order: self.order,
            ended_at: self.ended_at.map(Millis),
            lane: self.lane,
            title: text(self.title),
            body: text(self.body),
            state: self.state,
            tool_name: text(self.tool_name),
            tool_use_id: text(self.tool_use_id),
            turn: text(self.turn),
            agent_id: text(self.agent_id),
            agent_type: text(self.agent_type),
            hook_event_name: text(self.hook_event_name),
            file_paths: self.file_paths.into_owned(),
            metadata: self.metadata.into_owned(),
            evidence: Evidence { certainty: self.certainty, reason: self.reason.into_owned() },
        }
    }
}

/// Writes an entry.
pub(crate) fn write(entry: &Entry) -> Vec<u8> {
    codec::encode_json(&StoredEntry::new(entry))
}

/// Reads an entry of a task; none if it cannot be read.
pub(crate) fn read(blob: &[u8], task: &TaskKey) -> Option<Entry> {
    /// The beginning of every entry in the first schema, which had all names in full.
    const FULL: &[u8] = b"{\"subject\"";
    let json = codec::decode(blob).ok()?;
    // Entries are never written anew, so those of the first schema keep their whole names for as long as they are
    // kept.
    if json.starts_with(FULL) {
        return serde_json::from_slice(&json).ok();
    }
    Some(serde_json::from_slice::<StoredEntry<'_>>(&json).ok()?.into_entry(task.clone()))
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::{Agent, Kind};
    use serde_json::json;

    use super::*;

    fn entry() -> Entry {
        let task = TaskKey::new(Agent::CLAUDE_CODE, "5a0c7d1e-7f52-4c2b-9d0e-2f6a1c3b4d5e");
        let subject = Subject::Event(Kind::ToolUsed);
        let evidence = Evidence::reported("transcript, row user");
        let mut entry =
            Entry::new(subject, Phase::Close, task, "tool:1", Millis(1_790_241_678_566), evidence);
        entry.aliases = vec!["request:1".to_owned()];
        entry.series = Some(Series { name: "prompt:1".to_owned(), part: "2".to_owned() });
        entry.order = 7;
        entry.ended_at = Some(Millis(1_790_241_678_999));
        entry.lane = Some(Lane::Exploration);
        entry.title = Some("Read lib.rs".to_owned());
        entry.body = Some("b".to_owned());
        entry.state = Some(CallState::Succeeded);
        entry.tool_name = Some("Read".to_owned());
        entry.tool_use_id = Some("1".to_owned());
        entry.turn = Some("turn".to_owned());
        entry.agent_id = Some("a1".to_owned());
        entry.agent_type = Some("Explore".to_owned());
        entry.hook_event_name = Some("PostToolUse".to_owned());
        entry.file_paths = vec!["/srv/lib.rs".to_owned()];
        entry.metadata = json!({"toolInput": {"file_path": "/srv/lib.rs"}}).as_object().unwrap().clone();
        entry
    }

    #[test]
    fn what_is_written_is_read_whole() {
        let full = entry();
        assert_eq!(read(&write(&full), &full.task), Some(full.clone()));
        let mut bare =
            Entry::new(Subject::Turn, Phase::Open, full.task.clone(), "k", Millis(-1), full.evidence);
        bare.order = u64::MAX;
        assert_eq!(read(&write(&bare), &bare.task), Some(bare.clone()));
    }

    #[test]
    fn what_every_version_since_wrote_is_written_and_read() {
        let stored = r#"{"s":{"event":"tool.used"},"p":"close","k":"tool:1","a":["request:1"],"z":["prompt:1","2"],"o":1790241678566,"i":7,"e":1790241678999,"l":"exploration","t":"Read lib.rs","b":"b","w":"succeeded","n":"Read","u":"1","v":"turn","g":"a1","y":"Explore","h":"PostToolUse","f":["/srv/lib.rs"],"m":{"toolInput":{"file_path":"/srv/lib.rs"}},"c":"reported","r":"transcript, row user"}"#;
        let full = entry();
        assert_eq!(codec::decode(&write(&full)).unwrap().as_ref(), stored.as_bytes());
        assert_eq!(read(&codec::encode(stored.as_bytes()), &full.task), Some(full));
        let bare = r#"{"s":"turn","p":"open","k":"k","o":-1,"c":"measured","r":""}"#;
        let task = TaskKey::new(Agent::CODEX, "s");
        let entry = read(&codec::encode(bare.as_bytes()), &task).unwrap();
        assert_eq!(codec::decode(&write(&entry)).unwrap().as_ref(), bare.as_bytes());
    }

    #[test]
    fn what_the_first_schema_wrote_is_still_read() {
        let full = entry();
        let other = TaskKey::new(Agent::CODEX, "other");
        assert_eq!(read(&codec::encode_json(&full), &other), Some(full));
    }

    #[test]
    fn the_task_and_most_names_are_not_written() {
        let full = entry();
        let session = full.task.runtime_session.len();
        assert!(write(&full).len() + session + 20 < codec::encode_json(&full).len());
    }

    #[test]
    fn what_is_no_entry_is_none() {
        for blob in [&b""[..], b"\0", b"\0{}", b"\0{\"subject\":1}", b"\x01garbage"] {
            assert_eq!(read(blob, &entry().task), None);
        }
    }
}
