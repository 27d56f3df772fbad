//! What is remembered of a file between two looks, beside the position in it.
//!
//! On disk it is one line of JSON, then what the reader needs. The line alone tells whether a file has changed, so that
//! thousands of files are compared without reading what their readers need.

use agent_tracer_agents::files::{Change, FileIdentity, FileSight};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::find::Facts;

/// The form that this version writes. Another one is not read: the file is read again instead.
const VERSION: u32 = 1;
/// How many bytes before the position are compared before reading goes on.
pub(super) const BEFORE_BYTES: u64 = 1024;

/// What is remembered of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    version: u32,
    /// Which file it was. Its length is how much of it was seen, the line that had not ended included.
    pub(super) identity: FileIdentity,
    /// When it had last changed, in nanoseconds since 1970; none if it was not read to its end.
    pub(super) changed_ns: Option<i64>,
    /// A hash of what stood before the position, and of how much.
    pub(super) before: (u64, u64),
    /// Its end says something once it is known to be the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) unsettled: bool,
    /// A hash of the exclusions under which it was read.
    #[serde(default)]
    pub(super) exclusions: u64,
    /// Whether nothing of it may be recorded; unknown until it names a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) excluded: Option<bool>,
    /// The project that its first row was in.
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

    /// Whether the file was read to its end and nothing of it has changed since.
    pub(super) fn is_current(&self, facts: &Facts) -> bool {
        self.changed_ns == Some(facts.changed_ns)
            && self.identity.device == facts.device
            && self.identity.inode == facts.inode
            && self.identity.length == facts.length
    }

    /// What became of the file.
    pub(super) fn change(&self, sight: &FileSight<'_>) -> Change {
        self.identity.change(sight)
    }

    /// The line, and behind it what the reader needs.
    pub(super) fn encode(&self, reader: &[u8]) -> Vec<u8> {
        // Numbers, texts and flags: there is nothing in it that could fail.
        let mut state = serde_json::to_vec(self).unwrap_or_default();
        state.push(b'\n');
        state.extend_from_slice(reader);
        state
    }

    /// The same without anything that was read in the file: enough to know that it has not changed. A file that has is read
    /// from its beginning.
    pub(super) fn bare(&self) -> Vec<u8> {
        Self { project: None, unsettled: false, ..self.clone() }.encode(&[])
    }

    /// Reads the line; what is behind it stays as it is.
    pub(super) fn decode(state: &[u8]) -> Option<(Self, &[u8])> {
        let end = memchr::memchr(b'\n', state)?;
        let mark: Self = serde_json::from_slice(state.get(..end)?).ok()?;
        (mark.version == VERSION).then_some((mark, state.get(end + 1..)?))
    }
}

/// Returns what is remembered of a file without anything that was read in it; none if it cannot be understood.
pub(crate) fn without_content(state: &[u8]) -> Option<Vec<u8>> {
    Mark::decode(state).map(|(mark, _)| mark.bare())
}

/// A hash of bytes that stood before a position, and their number.
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
    fn it_comes_back_with_what_the_reader_needs() {
        let mut mark = mark();
        mark.unsettled = true;
        mark.excluded = Some(false);
        mark.project = Some("/home/dev/a\nb".into());
        let state = mark.encode(b"{\"a\":\n1}");
        assert_eq!(Mark::decode(&state), Some((mark, &b"{\"a\":\n1}"[..])));
    }

    #[test]
    fn without_what_was_read_it_still_tells_whether_the_file_has_changed() {
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
    fn what_another_version_wrote_is_not_read() {
        for state in [&b""[..], b"{}", b"{}\n", b"\n", b"{\"version\":2}\n", b"\xff\n"] {
            assert_eq!(Mark::decode(state), None);
        }
        let newer = String::from_utf8(mark().encode(b"")).unwrap().replace("\"version\":1", "\"version\":2");
        assert_eq!(Mark::decode(newer.as_bytes()), None);
    }

    #[test]
    fn any_change_of_the_facts_makes_it_worth_opening() {
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
