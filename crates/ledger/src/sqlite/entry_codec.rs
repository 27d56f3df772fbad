//! The stored form of an entry: with short names, with moments as numbers, and without its task, which its row names.
//!
//! An entry has a few hundred bytes, half of which would be the names of its fields. It is encoded once for every event
//! and decoded only when a fact is folded again.

use agent_tracer_event::{
    CallState, Certainty, Entry, Evidence, Lane, Metadata, Millis, Phase, Series, Subject, TaskKey,
};
use serde::{Deserialize, Serialize};

use super::codec;

/// An entry as it is written.
#[derive(Serialize)]
struct Short<'a> {
    s: Subject,
    p: Phase,
    k: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    a: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    z: Option<(&'a str, &'a str)>,
    o: i64,
    #[serde(skip_serializing_if = "is_zero")]
    i: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    l: Option<Lane>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<CallState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    u: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    g: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    h: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    f: &'a [String],
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    m: &'a Metadata,
    c: Certainty,
    r: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The same as it is read.
#[derive(Deserialize)]
struct Read {
    s: Subject,
    p: Phase,
    k: String,
    #[serde(default)]
    a: Vec<String>,
    z: Option<(String, String)>,
    o: i64,
    #[serde(default)]
    i: u64,
    e: Option<i64>,
    l: Option<Lane>,
    t: Option<String>,
    b: Option<String>,
    w: Option<CallState>,
    n: Option<String>,
    u: Option<String>,
    v: Option<String>,
    g: Option<String>,
    y: Option<String>,
    h: Option<String>,
    #[serde(default)]
    f: Vec<String>,
    #[serde(default)]
    m: Metadata,
    c: Certainty,
    r: String,
}

/// Writes an entry.
pub(crate) fn write(entry: &Entry) -> Vec<u8> {
    codec::encode_json(&Short {
        s: entry.subject,
        p: entry.phase,
        k: &entry.key,
        a: &entry.aliases,
        z: entry.series.as_ref().map(|series| (series.name.as_str(), series.part.as_str())),
        o: entry.occurred_at.0,
        i: entry.order,
        e: entry.ended_at.map(|at| at.0),
        l: entry.lane,
        t: entry.title.as_deref(),
        b: entry.body.as_deref(),
        w: entry.state,
        n: entry.tool_name.as_deref(),
        u: entry.tool_use_id.as_deref(),
        v: entry.turn.as_deref(),
        g: entry.agent_id.as_deref(),
        y: entry.agent_type.as_deref(),
        h: entry.hook_event_name.as_deref(),
        f: &entry.file_paths,
        m: &entry.metadata,
        c: entry.evidence.certainty,
        r: &entry.evidence.reason,
    })
}

/// Reads an entry of a task; none if it cannot be read.
pub(crate) fn read(blob: &[u8], task: &TaskKey) -> Option<Entry> {
    /// The beginning of every entry in the first schema, which had all names in full.
    const FULL: &[u8] = b"{\"subject\"";
    let json = codec::decode(blob).ok()?;
    if json.starts_with(FULL) {
        return serde_json::from_slice(&json).ok();
    }
    let read: Read = serde_json::from_slice(&json).ok()?;
    Some(Entry {
        subject: read.s,
        phase: read.p,
        task: task.clone(),
        key: read.k,
        aliases: read.a,
        series: read.z.map(|(name, part)| Series { name, part }),
        occurred_at: Millis(read.o),
        order: read.i,
        ended_at: read.e.map(Millis),
        lane: read.l,
        title: read.t,
        body: read.b,
        state: read.w,
        tool_name: read.n,
        tool_use_id: read.u,
        turn: read.v,
        agent_id: read.g,
        agent_type: read.y,
        hook_event_name: read.h,
        file_paths: read.f,
        metadata: read.m,
        evidence: Evidence { certainty: read.c, reason: read.r },
    })
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
