//! One observation in the journal: its length, a checksum, its description as JSON, its entries in the encoding of the
//! ledger, and its kept bytes.
//!
//! Entries are encoded before they are written here, so that folding them from the file needs no further preparation.
//!
//! The checksum is seeded with the number of the journal's present use. Records that an earlier use left in the same
//! file therefore never pass for new ones.
//!
//! An end mark follows the last record: a length of zero and a checksum of its position. Without it, a journal whose
//! last record the disk has lost would look like one that ends before that record.

use std::borrow::Cow;
use std::ops::Range;

use agent_tracer_event::{Agent, Channel, Entry, Millis, Reading, TaskKey};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::observation::{Batch, Observed, Verdict};
use crate::sqlite::prepared::{Prepared, PreparedEntry};

/// Bytes before the body: its length and its checksum.
pub(super) const HEAD: usize = 12;

/// The first bytes of every body, behind the length of its JSON: a search for records looks for this.
const BEGINS: &[u8] = b"{\"n\":\"";

/// Bytes between the beginning of a record and [`BEGINS`].
const BEFORE: usize = HEAD + 4;

/// The longest body. A greater length is damage: no observation is that large.
const LONGEST: usize = 64 << 20;

/// The description of an observation, for writing and for reading: everything but its entries' bytes and its kept bytes.
/// Its short names are the format of the file, and [`BEGINS`] depends on the first. What is written is borrowed.
///
/// It is not [`Observed`] with other names: entries are named by their length, the verdict is flat, and of the kept bytes
/// only their presence is stated.
#[derive(Serialize, Deserialize)]
struct Description<'a> {
    #[serde(rename = "n")]
    name: Cow<'a, str>,
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    source: Option<Cow<'a, str>>,
    #[serde(rename = "a")]
    agent: Agent,
    #[serde(rename = "c")]
    channel: Channel,
    #[serde(rename = "t")]
    arrived: i64,
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    reading: Option<Cow<'a, Reading>>,
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    malformed: Option<Cow<'a, str>>,
    #[serde(rename = "x", skip_serializing_if = "Option::is_none")]
    refused: Option<Cow<'a, str>>,
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    payload: Option<u64>,
    /// Bytes were kept, though perhaps zero of them.
    #[serde(rename = "k")]
    is_kept: bool,
    /// Its entries. The first journals held all of them in full, in their reading.
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<EntryPlace<'a>>,
}

/// The place of an entry. One that the ledger stores is named by its task and its length, and its bytes follow the
/// description; any other stands here in full.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum EntryPlace<'a> {
    Behind(Cow<'a, TaskKey>, usize),
    Here(Box<Cow<'a, Entry>>),
}

/// Appends an observation to `out`. Returns `false`, and leaves `out` as it was, if it cannot be encoded.
pub(super) fn write(observed: &Observed, ready: &[PreparedEntry], seed: u64, out: &mut Vec<u8>) -> bool {
    let places = ready.iter().map(|ready| match ready.entry() {
        _ if !ready.blob.is_empty() => {
            Some(EntryPlace::Behind(Cow::Borrowed(ready.task()), ready.blob.len()))
        }
        reported => reported.map(|entry| EntryPlace::Here(Box::new(Cow::Borrowed(entry)))),
    });
    // An entry that was already taken by a fold has nothing left to write.
    let Some(entries) = places.collect::<Option<Vec<_>>>() else { return false };
    let begin = out.len();
    out.extend_from_slice(&[0; HEAD + 4]);
    let (reading, malformed, refused) = match &observed.verdict {
        Verdict::Read(reading) => (Some(Cow::Borrowed(reading)), None, None),
        Verdict::Malformed(reason) => (None, Some(reason.into()), None),
        Verdict::Refused(reason) => (None, None, Some(reason.into())),
    };
    let description = Description {
        name: Cow::Borrowed(&observed.name),
        source: observed.source.as_deref().map(Cow::Borrowed),
        agent: observed.agent,
        channel: observed.channel,
        arrived: observed.arrived.0,
        reading,
        malformed,
        refused,
        payload: observed.payload,
        is_kept: observed.kept.is_some(),
        entries,
    };
    let is_described = serde_json::to_writer(&mut *out, &description).is_ok();
    let described = out.len() - begin - HEAD - 4;
    for ready in ready {
        out.extend_from_slice(&ready.blob);
    }
    out.extend_from_slice(observed.kept.as_deref().unwrap_or_default());
    let length = out.len() - begin - HEAD;
    let (Ok(described), Ok(whole), true) =
        (u32::try_from(described), u32::try_from(length), is_described && length <= LONGEST)
    else {
        out.truncate(begin);
        return false;
    };
    fill(out, begin + HEAD..begin + HEAD + 4, &described.to_le_bytes());
    let checksum = xxh3_64_with_seed(out.get(begin + HEAD..).unwrap_or_default(), seed);
    fill(out, begin..begin + 4, &whole.to_le_bytes());
    fill(out, begin + 4..begin + HEAD, &checksum.to_le_bytes());
    true
}

fn fill(out: &mut [u8], place: Range<usize>, bytes: &[u8]) {
    if let Some(place) = out.get_mut(place) {
        place.copy_from_slice(bytes);
    }
}

/// The result of looking for a record at the beginning of some bytes.
#[derive(Debug, PartialEq)]
pub(super) enum FoundRecord<'a> {
    /// The body of a record, and the bytes that it takes with its head.
    Record(&'a [u8], usize),
    /// The beginning of a record of this length.
    Part(usize),
    /// No record of this use of the journal.
    Nothing,
}

/// Reads a record at the beginning of `bytes`.
pub(super) fn find(bytes: &[u8], seed: u64) -> FoundRecord<'_> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return if bytes.is_empty() { FoundRecord::Nothing } else { FoundRecord::Part(HEAD) };
    };
    let [a, b, c, d, checksum @ ..] = *head;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if !(4..=LONGEST).contains(&length) {
        return FoundRecord::Nothing;
    }
    match rest.get(..length) {
        None => FoundRecord::Part(HEAD + length),
        Some(body) if xxh3_64_with_seed(body, seed) == u64::from_le_bytes(checksum) => {
            FoundRecord::Record(body, HEAD + length)
        }
        Some(_) => FoundRecord::Nothing,
    }
}

/// Returns the end mark for a last record that ends at `at`.
pub(super) fn end_mark(at: u64, seed: u64) -> [u8; HEAD] {
    let mut mark = [0; HEAD];
    fill(&mut mark, 4..HEAD, &xxh3_64_with_seed(&at.to_le_bytes(), seed).to_le_bytes());
    mark
}

/// Returns the length in the head of the record at the beginning of `bytes`, with the head. The head may be damaged.
pub(super) fn claimed(bytes: &[u8]) -> Option<usize> {
    let length = usize::try_from(u32::from_le_bytes(*bytes.first_chunk::<4>()?)).ok()?;
    (4..=LONGEST).contains(&length).then_some(HEAD + length)
}

/// Returns the positions in `bytes` at which a record may begin. Almost all of them are records, so few checksums are
/// computed in vain, and a search costs about as much as reading the bytes.
pub(super) fn candidates(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(bytes, BEGINS).filter_map(|at| at.checked_sub(BEFORE))
}

/// Reads the body of a record. Returns `None` if this version does not understand it.
pub(super) fn read(body: &[u8]) -> Option<(Observed, Vec<PreparedEntry>)> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    let (description, mut kept) =
        rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let description: Description<'_> = serde_json::from_slice(description).ok()?;
    let verdict = match (description.reading, description.malformed, description.refused) {
        (Some(reading), None, None) => Verdict::Read(reading.into_owned()),
        (None, Some(reason), None) => Verdict::Malformed(reason.into_owned()),
        (None, None, Some(reason)) => Verdict::Refused(reason.into_owned()),
        _ => return None,
    };
    let name = description.name.into_owned();
    let mut ready = Vec::with_capacity(description.entries.len());
    for (index, place) in (0..).zip(description.entries) {
        ready.push(match place {
            EntryPlace::Here(entry) => PreparedEntry::reported(&name, index, entry.into_owned()),
            EntryPlace::Behind(task, length) => {
                let (blob, rest) = kept.split_at_checked(length)?;
                kept = rest;
                PreparedEntry::read(&name, index, &task, blob)?
            }
        });
    }
    let observed = Observed {
        name,
        source: description.source.map(Cow::into_owned),
        agent: description.agent,
        channel: description.channel,
        arrived: Millis(description.arrived),
        verdict,
        payload: description.payload,
        kept: description.is_kept.then(|| kept.to_vec()),
    };
    let is_old = matches!(&observed.verdict, Verdict::Read(reading) if !reading.entries.is_empty());
    if !is_old {
        return Some((observed, ready));
    }
    Prepared::of(Batch { observed: vec![observed], ..Batch::default() }).into_each().next()
}

#[cfg(test)]
pub(super) mod tests {
    use agent_tracer_event::{Entry, Evidence, Kind, Phase, Subject, TaskKey, Unrecognised};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// An observation that is ready to be written.
    pub(in crate::journal) fn ready(name: &str) -> (Observed, Vec<PreparedEntry>) {
        prepared(observed(name))
    }

    pub(in crate::journal) fn prepared(observed: Observed) -> (Observed, Vec<PreparedEntry>) {
        Prepared::of(Batch { observed: vec![observed], ..Batch::default() }).into_each().next().unwrap()
    }

    pub(in crate::journal) fn write_one(name: &str, seed: u64, out: &mut Vec<u8>) -> bool {
        let (observed, ready) = ready(name);
        write(&observed, &ready, seed, out)
    }

    pub(in crate::journal) fn observed(name: &str) -> Observed {
        let task = TaskKey::new(Agent::CLAUDE_CODE, "session");
        let mut about = Entry::new(
            Subject::Task,
            Phase::Update,
            task.clone(),
            "task",
            Millis(7),
            Evidence::reported("test"),
        );
        about.metadata.insert("cwd".to_owned(), json!("/shop"));
        let subject = Subject::Event(Kind::ToolUsed);
        let mut entry =
            Entry::new(subject, Phase::Open, task, "tool:1", Millis(7), Evidence::reported("test"));
        entry.metadata = json!({"toolInput": {"command": "ls \u{1f980}\n"}}).as_object().unwrap().clone();
        let reading = Reading {
            entries: vec![about, entry],
            unrecognised: vec![Unrecognised::Field("a.b".to_owned())],
            client_version: Some("2".to_owned()),
        };
        Observed {
            name: name.to_owned(),
            source: None,
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Http,
            arrived: Millis(9),
            verdict: Verdict::Read(reading),
            payload: Some(u64::MAX),
            kept: Some(b"{\"a\":\xff}".to_vec()),
        }
    }

    #[test]
    fn what_is_written_is_read_whole() {
        let mut bare = observed("bare");
        (bare.payload, bare.kept, bare.source) = (None, None, Some("file".to_owned()));
        let mut malformed = observed("bad");
        malformed.verdict = Verdict::Malformed("no object".to_owned());
        malformed.kept = Some(Vec::new());
        let mut refused = observed("out");
        refused.verdict = Verdict::Refused(String::new());
        let all = [observed("one"), bare, malformed, refused].map(prepared);
        let mut bytes = Vec::new();
        assert!(all.iter().all(|(observed, ready)| write(observed, ready, 3, &mut bytes)));
        let mut rest = bytes.as_slice();
        let mut back = Vec::new();
        while let FoundRecord::Record(body, taken) = find(rest, 3) {
            back.push(read(body).unwrap());
            rest = &rest[taken..];
        }
        assert_eq!(find(rest, 3), FoundRecord::Nothing);
        assert_eq!(back, all);
    }

    #[test]
    fn description_is_written_as_every_version_wrote_it() {
        let stored = r#"{"n":"one","a":"claude_code","c":"http","t":9,"r":{"entries":[],"unrecognised":[{"what":"field","name":"a.b"}],"clientVersion":"2"},"p":18446744073709551615,"k":true,"e":[{"subject":"task","phase":"update","task":{"agent":"claude_code","runtimeSession":"session"},"key":"task","occurredAt":"1970-01-01T00:00:00.007Z","order":0,"metadata":{"cwd":"/shop"},"evidence":{"certainty":"reported","reason":"test"}},[{"agent":"claude_code","runtimeSession":"session"},99]]}"#;
        let (observed, ready) = ready("one");
        let mut bytes = Vec::new();
        assert!(write(&observed, &ready, 3, &mut bytes));
        let length = usize::try_from(u32::from_le_bytes(*bytes[HEAD..].first_chunk().unwrap())).unwrap();
        let description = std::str::from_utf8(&bytes[HEAD + 4..HEAD + 4 + length]).unwrap();
        assert_eq!(description, stored);
        let body = [&(length as u32).to_le_bytes(), description.as_bytes(), &ready[1].blob, b"{\"a\":\xff}"]
            .concat();
        assert_eq!(read(&body), Some((observed, ready)));
    }

    #[test]
    fn what_an_earlier_version_wrote_is_read() {
        let old = observed("old");
        let mut bytes = Vec::new();
        assert!(write(&old, &[], 3, &mut bytes));
        assert_eq!(read(&bytes[HEAD..]), Some(ready("old")));
    }

    #[test]
    fn an_entry_that_was_taken_is_not_written() {
        let (observed, mut ready) = ready("taken");
        assert!(ready[0].take().is_some());
        let mut bytes = vec![1];
        assert!(!write(&observed, &ready, 3, &mut bytes));
        assert_eq!(bytes, [1]);
    }

    #[test]
    fn what_another_use_of_the_file_left_behind_is_nothing() {
        let mut bytes = Vec::new();
        write_one("old", 3, &mut bytes);
        assert_eq!(find(&bytes, 4), FoundRecord::Nothing);
    }

    #[test]
    fn a_record_that_is_cut_anywhere_is_a_part_of_it() {
        let mut bytes = Vec::new();
        write_one("cut", 3, &mut bytes);
        for length in 1..bytes.len() {
            let found = find(&bytes[..length], 3);
            assert!(matches!(found, FoundRecord::Part(whole) if whole > length), "{length}: {found:?}");
        }
    }

    #[test]
    fn every_record_is_a_candidate_of_a_search() {
        let mut bytes = b"before".to_vec();
        let mut begins = Vec::new();
        for name in ["one", "two", ""] {
            begins.push(bytes.len());
            write_one(name, 3, &mut bytes);
        }
        assert_eq!(candidates(&bytes).collect::<Vec<_>>(), begins);
    }

    #[test]
    fn an_end_mark_is_of_one_place_and_one_use_and_is_no_record() {
        let mark = end_mark(100, 3);
        assert_eq!(find(&mark, 3), FoundRecord::Nothing);
        assert!(mark != end_mark(101, 3) && mark != end_mark(100, 4) && mark != [0; HEAD]);
    }

    proptest! {
        #[test]
        fn damage_is_never_read(at in 0_usize..400, by in 1_u8..=255) {
            let mut bytes = Vec::new();
            write_one("damaged", 3, &mut bytes);
            let at = at % bytes.len();
            bytes[at] ^= by;
            prop_assert!(!matches!(find(&bytes, 3), FoundRecord::Record(..)));
        }

        #[test]
        fn garbage_is_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            find(&bytes, 3);
            read(&bytes);
        }
    }
}
