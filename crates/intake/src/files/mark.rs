//! The state of a file between two readings, beside the position in it.
//!
//! On disk it is one line of JSON, followed by the state of the reader. The line alone shows a change of the file, so
//! thousands of files are compared without decoding the states of their readers.

use agent_tracer_agents::files::{Change, FileIdentity, FileSight};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::find::Facts;

/// The version of this format. A state of another version is ignored and the file read again.
const VERSION: u32 = 1;
/// The number of bytes before the position that are compared before reading goes on.
pub(super) const BEFORE_BYTES: u64 = 1024;

/// The stored state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    version: u32,
    /// The identity of the file. Its length covers everything that was seen, an unfinished last line included.
    pub(super) identity: FileIdentity,
    /// The time of the last change, in nanoseconds since 1970; `None` if the file was not read to its end.
    pub(super) changed_ns: Option<i64>,
    /// A hash of the bytes before the position, and their number.
    pub(super) before: (u64, u64),
    /// The end of the file is an observation once no more rows follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unsettled: bool,
    /// A hash of the exclusions at the time of reading.
    #[serde(default)]
    pub(super) exclusions: u64,
    /// `true` if nothing of the file may be recorded; `None` until it names a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) excluded: Option<bool>,
    /// The project of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
}

impl Mark {
    pub(super) fn new(identity: FileIdentity, changed_ns: Option<i64>, before: (u64, u64)) -> Self {
        Self {
            version: VERSION,
            identity,
            changed_ns,
            before,
            unsettled: false,
            exclusions: 0,
            excluded: None,
            project: None,
        }
    }

    /// Returns `true` if the file was read to its end and has not changed since.
    pub(super) fn is_current(&self, facts: &Facts) -> bool {
        self.changed_ns == Some(facts.changed_ns)
            && self.identity.device == facts.device
            && self.identity.inode == facts.inode
            && self.identity.length == facts.length
    }

    /// Compares the file with an earlier sight of it.
    pub(super) fn change(&self, sight: &FileSight<'_>) -> Change {
        self.identity.change(sight)
    }

    /// Writes the line, and the state of the reader behind it.
    pub(super) fn encode(&self, reader: &[u8]) -> Vec<u8> {
        // Numbers, texts and flags always encode.
        let mut state = serde_json::to_vec(self).unwrap_or_default();
        state.push(b'\n');
        state.extend_from_slice(reader);
        state
    }

    /// Writes the line without anything from the file's contents: enough to see that it has not changed. A changed file
    /// is then read from its beginning.
    pub(super) fn bare(&self) -> Vec<u8> {
        Self { project: None, unsettled: false, ..self.clone() }.encode(&[])
    }

    /// Reads the line and returns the rest unread.
    pub(super) fn decode(state: &[u8]) -> Option<(Self, &[u8])> {
        let end = memchr::memchr(b'\n', state)?;
        let mark: Self = serde_json::from_slice(state.get(..end)?).ok()?;
        (mark.version == VERSION).then_some((mark, state.get(end + 1..)?))
    }
}

/// Returns a state without anything from the file's contents; `None` if it cannot be decoded.
pub(crate) fn without_content(state: &[u8]) -> Option<Vec<u8>> {
    Mark::decode(state).map(|(mark, _)| mark.bare())
}

/// Hashes the bytes before a position, and returns their number too.
pub(super) fn before(bytes: &[u8]) -> (u64, u64) {
    (xxh3_64(bytes), bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        let sight = FileSight { device: 1, inode: 2, length: 4, head: b"one\n" };
        Mark::new(FileIdentity::of(&sight), Some(7), before(b"one\n"))
    }

    #[test]
    fn a_mark_round_trips_with_the_readers_state() {
        let mut mark = mark();
        mark.unsettled = true;
        mark.excluded = Some(false);
        mark.project = Some("/home/dev/a\nb".into());
        let state = mark.encode(b"{\"a\":\n1}");
        assert_eq!(Mark::decode(&state), Some((mark, &b"{\"a\":\n1}"[..])));
    }

    #[test]
    fn a_bare_mark_still_shows_a_change_of_the_file() {
        let mut mark = mark();
        mark.project = Some("/home/dev/secret".into());
        mark.unsettled = true;
        let bare = without_content(&mark.encode(b"{\"said\":\"secret\"}")).unwrap();
        assert!(!String::from_utf8_lossy(&bare).contains("secret"));
        let (left, reader) = Mark::decode(&bare).unwrap();
        let facts = Facts { device: 1, inode: 2, length: 4, changed_ns: 7 };
        assert!(left.is_current(&facts) && !left.unsettled && reader.is_empty());
    }

    #[test]
    fn a_state_of_another_version_is_ignored() {
        for state in [&b""[..], b"{}", b"{}\n", b"\n", b"{\"version\":2}\n", b"\xff\n"] {
            assert_eq!(Mark::decode(state), None);
        }
        let newer = String::from_utf8(mark().encode(b"")).unwrap().replace("\"version\":1", "\"version\":2");
        assert_eq!(Mark::decode(newer.as_bytes()), None);
    }

    #[test]
    fn a_change_of_any_fact_makes_a_mark_outdated() {
        let facts = Facts { device: 1, inode: 2, length: 4, changed_ns: 7 };
        assert!(mark().is_current(&facts));
        for other in [
            Facts { device: 2, ..facts },
            Facts { inode: 3, ..facts },
            Facts { length: 5, ..facts },
            Facts { changed_ns: 8, ..facts },
        ] {
            assert!(!mark().is_current(&other));
        }
        assert!(!Mark { changed_ns: None, ..mark() }.is_current(&facts));
    }
}
