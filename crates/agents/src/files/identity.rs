//! Tells whether a file that we meet again is the one that we read.
//!
//! A path is no identity: agents rotate, replace and archive their files. What is remembered is the file's number on
//! its device, how long it was, and a hash of its first bytes. All of them must agree for reading to go on where it
//! stopped; otherwise the file is read from its beginning. That is always safe, because facts have keys and a second
//! reading changes nothing; it only costs time.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Describes what is remembered of a file between two looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileIdentity {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Measures its length.
    pub length: u64,
    /// Holds how many of its first bytes were hashed.
    pub head_bytes: u32,
    /// Their XXH3-64.
    pub head_hash: u64,
}

/// A file as it is seen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSight<'a> {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Measures its length.
    pub length: u64,
    /// Its first bytes: [`FileIdentity::HEAD_BYTES`] of them, or all if it is shorter.
    pub head: &'a [u8],
}

/// Describes what became of a file between two looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing new.
    Same,
    /// It grew: what was read still stands.
    Appended {
        /// Holds where the new bytes begin.
        from: u64,
    },
    /// It is another file, or it was cut or rewritten: read it from its beginning.
    Replaced,
}

impl FileIdentity {
    /// Limits how many of the first bytes are looked at: enough for the row that names the session.
    pub const HEAD_BYTES: usize = 4096;

    /// Remembers a file as it is seen now.
    #[must_use]
    pub fn of(sight: &FileSight<'_>) -> Self {
        let head = head(sight, Self::HEAD_BYTES);
        Self {
            device: sight.device,
            inode: sight.inode,
            length: sight.length,
            head_bytes: u32::try_from(head.len()).unwrap_or(u32::MAX),
            head_hash: xxh3_64(head),
        }
    }

    /// Returns what became of the file since it was remembered.
    #[must_use]
    pub fn change(&self, sight: &FileSight<'_>) -> Change {
        let same_file = self.device == sight.device && self.inode == sight.inode;
        // No more than was hashed then: a file that was shorter than the head may have grown since.
        let known = head(sight, self.head_bytes as usize);
        let same_head = known.len() == self.head_bytes as usize && xxh3_64(known) == self.head_hash;
        if !same_file || !same_head || sight.length < self.length {
            Change::Replaced
        } else if sight.length == self.length {
            Change::Same
        } else {
            Change::Appended { from: self.length }
        }
    }
}

fn head<'a>(sight: &FileSight<'a>, most: usize) -> &'a [u8] {
    sight.head.get(..most.min(FileIdentity::HEAD_BYTES)).unwrap_or(sight.head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(inode: u64, content: &[u8]) -> FileSight<'_> {
        FileSight { device: 1, inode, length: content.len() as u64, head: content }
    }

    #[test]
    fn a_file_that_only_grew_is_read_on() {
        let remembered = FileIdentity::of(&sight(7, b"one\n"));
        assert_eq!(remembered.change(&sight(7, b"one\n")), Change::Same);
        assert_eq!(remembered.change(&sight(7, b"one\ntwo\n")), Change::Appended { from: 4 });
        let empty = FileIdentity::of(&sight(7, b""));
        assert_eq!(empty.change(&sight(7, b"one\n")), Change::Appended { from: 0 });
    }

    #[test]
    fn a_file_that_is_shorter_or_begins_otherwise_is_read_again() {
        let remembered = FileIdentity::of(&sight(7, b"one\ntwo\n"));
        assert_eq!(remembered.change(&sight(7, b"one\n")), Change::Replaced);
        assert_eq!(remembered.change(&sight(7, b"One\ntwo\n")), Change::Replaced);
        assert_eq!(remembered.change(&sight(7, b"One\ntwo\nthree\n")), Change::Replaced);
        assert_eq!(remembered.change(&sight(7, b"")), Change::Replaced);
    }

    #[test]
    fn another_file_in_the_same_place_is_read_from_its_beginning() {
        let remembered = FileIdentity::of(&sight(7, b"one\n"));
        assert_eq!(remembered.change(&sight(8, b"one\n")), Change::Replaced);
        let elsewhere = FileSight { device: 2, ..sight(7, b"one\n") };
        assert_eq!(remembered.change(&elsewhere), Change::Replaced);
    }

    #[test]
    fn only_the_first_bytes_are_compared() {
        let long = vec![b'x'; 3 * FileIdentity::HEAD_BYTES];
        let remembered = FileIdentity::of(&sight(7, &long));
        let mut grown = long.clone();
        grown.extend_from_slice(b"more\n");
        grown[2 * FileIdentity::HEAD_BYTES] = b'y';
        let from = long.len() as u64;
        assert_eq!(remembered.change(&sight(7, &grown)), Change::Appended { from });
        let head = FileSight { head: &grown[..FileIdentity::HEAD_BYTES], ..sight(7, &grown) };
        assert_eq!(remembered.change(&head), Change::Appended { from });
    }

    #[test]
    fn it_is_remembered_across_restarts() {
        let remembered = FileIdentity::of(&sight(7, b"one\n"));
        let text = serde_json::to_string(&remembered).unwrap();
        assert_eq!(serde_json::from_str::<FileIdentity>(&text).unwrap(), remembered);
    }
}
