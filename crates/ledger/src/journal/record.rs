//! One observation as the journal holds it: its length, a checksum, what it says as JSON, and its kept bytes.
//!
//! The checksum begins with the number of the journal's present use, so that what an earlier use left behind in the
//! same file is never taken for news.

use std::ops::Range;

use agent_tracer_event::{Agent, Channel, Millis, Reading};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::observed::{Observed, Verdict};

/// Bytes before the body: its length and its checksum.
const HEAD: usize = 12;

/// A longer body is damage, not an observation.
const LONGEST: usize = 64 << 20;

/// What is said of an observation, beside its kept bytes.
#[derive(Serialize)]
struct Short<'a> {
    n: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    a: Agent,
    c: Channel,
    t: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<&'a Reading>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<u64>,
    /// Whether bytes were kept; there may be none of them.
    k: bool,
}

/// The same as it is read.
#[derive(Deserialize)]
struct Read {
    n: String,
    s: Option<String>,
    a: Agent,
    c: Channel,
    t: i64,
    r: Option<Reading>,
    m: Option<String>,
    x: Option<String>,
    p: Option<u64>,
    k: bool,
}

/// Adds an observation to what will be written. Tells whether it could be: one that cannot leaves no trace.
pub(super) fn write(observed: &Observed, seed: u64, out: &mut Vec<u8>) -> bool {
    let begin = out.len();
    out.extend_from_slice(&[0; HEAD + 4]);
    let (r, m, x) = match &observed.verdict {
        Verdict::Read(reading) => (Some(reading), None, None),
        Verdict::Malformed(reason) => (None, Some(reason.as_str()), None),
        Verdict::Refused(reason) => (None, None, Some(reason.as_str())),
    };
    let short = Short {
        n: &observed.name,
        s: observed.source.as_deref(),
        a: observed.agent,
        c: observed.channel,
        t: observed.arrived.0,
        r,
        m,
        x,
        p: observed.payload,
        k: observed.kept.is_some(),
    };
    let is_said = serde_json::to_writer(&mut *out, &short).is_ok();
    let said = out.len() - begin - HEAD - 4;
    out.extend_from_slice(observed.kept.as_deref().unwrap_or_default());
    let length = out.len() - begin - HEAD;
    let (Ok(short), Ok(whole), true) =
        (u32::try_from(said), u32::try_from(length), is_said && length <= LONGEST)
    else {
        out.truncate(begin);
        return false;
    };
    fill(out, begin + HEAD..begin + HEAD + 4, &short.to_le_bytes());
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

/// What stands at the beginning of some bytes.
#[derive(Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// The body of a record, and the bytes that it takes with its head.
    Record(&'a [u8], usize),
    /// The beginning of one that is this long.
    Part(usize),
    /// Nothing of this use of the journal.
    Nothing,
}

/// Looks for a record at the beginning of these bytes.
pub(super) fn find(bytes: &[u8], seed: u64) -> Found<'_> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
        return if bytes.is_empty() { Found::Nothing } else { Found::Part(HEAD) };
    };
    let [a, b, c, d, checksum @ ..] = *head;
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if !(4..=LONGEST).contains(&length) {
        return Found::Nothing;
    }
    match rest.get(..length) {
        None => Found::Part(HEAD + length),
        Some(body) if xxh3_64_with_seed(body, seed) == u64::from_le_bytes(checksum) => {
            Found::Record(body, HEAD + length)
        }
        Some(_) => Found::Nothing,
    }
}

/// Reads the body of a record; none if this version does not understand it.
pub(super) fn read(body: &[u8]) -> Option<Observed> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    let (short, kept) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let read: Read = serde_json::from_slice(short).ok()?;
    let verdict = match (read.r, read.m, read.x) {
        (Some(reading), None, None) => Verdict::Read(reading),
        (None, Some(reason), None) => Verdict::Malformed(reason),
        (None, None, Some(reason)) => Verdict::Refused(reason),
        _ => return None,
    };
    Some(Observed {
        name: read.n,
        source: read.s,
        agent: read.a,
        channel: read.c,
        arrived: Millis(read.t),
        verdict,
        payload: read.p,
        kept: read.k.then(|| kept.to_vec()),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use agent_tracer_event::{Entry, Evidence, Kind, Phase, Subject, TaskKey, Unrecognised};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    pub(in crate::journal) fn observed(name: &str) -> Observed {
        let task = TaskKey::new(Agent::ClaudeCode, "session");
        let subject = Subject::Event(Kind::ToolUsed);
        let mut entry =
            Entry::new(subject, Phase::Open, task, "tool:1", Millis(7), Evidence::reported("test"));
        entry.metadata = json!({"toolInput": {"command": "ls \u{1f980}\n"}}).as_object().unwrap().clone();
        let reading = Reading {
            entries: vec![entry],
            unrecognised: vec![Unrecognised::Field("a.b".to_owned())],
            client_version: Some("2".to_owned()),
        };
        Observed {
            name: name.to_owned(),
            source: None,
            agent: Agent::ClaudeCode,
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
        let all = [observed("one"), bare, malformed, refused];
        let mut bytes = Vec::new();
        assert!(all.iter().all(|observed| write(observed, 3, &mut bytes)));
        let mut rest = bytes.as_slice();
        let mut back = Vec::new();
        while let Found::Record(body, taken) = find(rest, 3) {
            back.push(read(body).unwrap());
            rest = &rest[taken..];
        }
        assert_eq!(find(rest, 3), Found::Nothing);
        assert_eq!(back, all);
    }

    #[test]
    fn what_another_use_of_the_file_left_behind_is_nothing() {
        let mut bytes = Vec::new();
        write(&observed("old"), 3, &mut bytes);
        assert_eq!(find(&bytes, 4), Found::Nothing);
    }

    #[test]
    fn a_record_that_is_cut_anywhere_is_a_part_of_it() {
        let mut bytes = Vec::new();
        write(&observed("cut"), 3, &mut bytes);
        for length in 1..bytes.len() {
            let found = find(&bytes[..length], 3);
            assert!(matches!(found, Found::Part(whole) if whole > length), "{length}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn damage_is_never_read(at in 0_usize..400, by in 1_u8..=255) {
            let mut bytes = Vec::new();
            write(&observed("damaged"), 3, &mut bytes);
            let at = at % bytes.len();
            bytes[at] ^= by;
            prop_assert!(!matches!(find(&bytes, 3), Found::Record(..)));
        }

        #[test]
        fn garbage_is_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            find(&bytes, 3);
            read(&bytes);
        }
    }
}
