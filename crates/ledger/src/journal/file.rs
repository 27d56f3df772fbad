//! The journal's file: a head, then records one after the other.
//!
//! It is used again and again from its beginning, because writing over bytes that are there costs the disk less than
//! making a file longer. Each use has a number; whoever folds notes the number and the place up to which it has folded
//! in the same transaction as what it folded, so that after any crash each record is folded once.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::record::{self, Found};
use crate::sqlite::prepared::Prepared;

/// What the file begins with.
const MAGIC: &[u8; 8] = b"AgTrJrn1";

/// The head: the magic, the number of the use, a checksum of both.
pub(super) const HEAD: u64 = 24;

/// The file is made longer by so much at a time. A write over bytes that are there changes nothing else that the disk
/// would have to be waited for.
const STEP: usize = 1 << 20;

/// Bytes that are read at once, if no record is longer.
const READ: usize = 4 << 20;

/// A place in the journal: everything before it is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the use.
    pub(crate) number: u64,
    /// Bytes from the beginning.
    pub(crate) offset: u64,
}

/// Some records, in their order.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// What they say.
    pub(crate) prepared: Prepared,
    /// Where each of them ends.
    pub(crate) ends: Vec<u64>,
    /// Records that this version does not understand, as they are.
    pub(crate) unknown: Vec<Vec<u8>>,
    /// Where the last of them ends.
    pub(crate) end: u64,
    /// Whether they were handed over as they are, and not read from the file.
    pub(crate) is_handed: bool,
}

/// The file.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// The number of this use.
    pub(super) number: u64,
    /// Where the next record comes.
    pub(super) end: u64,
    /// How long the file is.
    length: u64,
}

impl JournalFile {
    /// Opens the file, and makes it if there is none. `folded` is how far it was folded; what comes behind it is found
    /// again.
    pub(super) fn open(path: &Path, folded: Place) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let length = file.metadata()?.len();
        let mut journal = Self { file, number: folded.number, end: HEAD, length };
        let mut head = [0; HEAD as usize];
        let number = match journal.file.read_exact_at(&mut head, 0) {
            Ok(()) => number_of(&head),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
        };
        // A head that cannot be read was being written anew, when everything was folded, or is damaged: what was
        // accepted is then still found under its own number.
        let candidates = number.map_or_else(
            || vec![folded.number, folded.number.saturating_add(1)],
            |number| if number < folded.number { Vec::new() } else { vec![number] },
        );
        for number in candidates {
            let from = if number == folded.number { folded.offset.max(HEAD) } else { HEAD };
            journal.number = number;
            journal.end = journal.find_end(from)?;
            if journal.end > from {
                if number != number_of(&head).unwrap_or(u64::MAX) {
                    journal.write_head()?;
                }
                return Ok(journal);
            }
        }
        // Nothing waits: it is used anew.
        journal.number = folded.number.max(number.unwrap_or(0));
        journal.begin_anew()?;
        Ok(journal)
    }

    fn find_end(&self, from: u64) -> io::Result<u64> {
        let mut end = from;
        loop {
            let part = self.read(end, u64::MAX, usize::MAX)?;
            if part.end == end {
                return Ok(end);
            }
            end = part.end;
        }
    }

    /// Writes records behind the others. They are on disk when this returns; if it fails, nothing of them counts.
    pub(super) fn append(&mut self, records: &[u8]) -> io::Result<()> {
        let end = self.end + records.len() as u64;
        self.make_longer(end);
        let written = self.file.write_all_at(records, self.end).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Whoever brought it is told that it was not taken; it must not be found after a crash.
            self.file.set_len(self.end).ok();
            self.length = self.end;
            return Err(error);
        }
        self.end = end;
        self.length = self.length.max(end);
        Ok(())
    }

    /// Makes room for records up to this place and for some that come behind them.
    fn make_longer(&mut self, until: u64) {
        if until <= self.length {
            return;
        }
        let more = vec![0; STEP];
        // Where there is no room for more, there may still be room for these records.
        if self.file.write_all_at(&more, until).is_ok() {
            self.length = until + STEP as u64;
        } else {
            self.file.set_len(self.end).ok();
            self.length = self.end;
        }
    }

    /// Uses the file anew. Everything in it must be folded.
    pub(super) fn begin_anew(&mut self) -> io::Result<()> {
        self.number = self.number.saturating_add(1);
        self.end = HEAD;
        self.write_head()
    }

    /// Uses the file anew and leaves nothing behind of what it held.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = HEAD;
        self.begin_anew()
    }

    fn write_head(&self) -> io::Result<()> {
        let mut head = [MAGIC.as_slice(), &self.number.to_le_bytes()].concat();
        head.extend_from_slice(&xxh3_64(&head).to_le_bytes());
        self.file.write_all_at(&head, 0)?;
        self.file.sync_data()
    }

    /// Another handle, to read beside whoever writes.
    pub(super) fn reader(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, number: self.number, end: self.end, length: self.length })
    }

    /// Reads some records from this place on, up to another: at most so many, and not much more than four megabytes.
    pub(super) fn read(&self, from: u64, until: u64, most: usize) -> io::Result<Part> {
        let mut part = Part { end: from, ..Part::default() };
        let there = usize::try_from(until.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = self.bytes(from, READ.min(there))?;
        let mut at = 0;
        while part.ends.len() + part.unknown.len() < most && from + (at as u64) < until {
            match record::find(bytes.get(at..).unwrap_or_default(), self.number) {
                Found::Record(body, taken) => {
                    at += taken;
                    part.end = from + at as u64;
                    match record::read(body) {
                        Some((observed, ready)) => {
                            part.prepared.push(observed, ready);
                            part.ends.push(part.end);
                        }
                        None => part.unknown.push(body.to_vec()),
                    }
                }
                Found::Part(length) if at == 0 && length > bytes.len() => {
                    let longer = self.bytes(from, length)?;
                    if longer.len() < length {
                        break;
                    }
                    bytes = longer;
                }
                Found::Part(_) | Found::Nothing => break,
            }
        }
        Ok(part)
    }

    fn bytes(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, from + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The number that a head names, if it is one.
fn number_of(head: &[u8; HEAD as usize]) -> Option<u64> {
    let (said, checksum) = head.split_last_chunk::<8>()?;
    let (magic, number) = said.split_first_chunk::<8>()?;
    let is_ours = magic == MAGIC && xxh3_64(said) == u64::from_le_bytes(*checksum);
    is_ours.then(|| u64::from_le_bytes(number.try_into().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{observed, prepared, write_one};
    use super::*;

    fn records(journal: &JournalFile, names: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in names {
            assert!(write_one(name, journal.number, &mut bytes));
        }
        bytes
    }

    fn names(journal: &JournalFile, from: u64) -> Vec<String> {
        let part = journal.read(from, u64::MAX, usize::MAX).unwrap();
        part.prepared.batch.observed.into_iter().map(|observed| observed.name).collect()
    }

    #[test]
    fn what_is_not_folded_is_found_again_and_what_is_folded_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(&path, Place::default()).unwrap();
        journal.append(&records(&journal, &["one", "two"])).unwrap();
        let number = journal.number;
        let one = journal.read(HEAD, u64::MAX, 1).unwrap().end;
        drop(journal);
        let again = JournalFile::open(&path, Place { number, offset: one }).unwrap();
        assert_eq!((again.number, names(&again, one)), (number, vec!["two".to_owned()]));
        let end = again.end;
        drop(again);
        let used = JournalFile::open(&path, Place { number, offset: end }).unwrap();
        assert_eq!((used.number, used.end), (number + 1, HEAD));
        assert!(names(&used, HEAD).is_empty(), "what an earlier use left is not news");
    }

    #[test]
    fn a_use_of_which_nothing_was_folded_yet_is_found_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(&path, Place::default()).unwrap();
        journal.append(&records(&journal, &["a much longer name than the others have", "old"])).unwrap();
        let folded = Place { number: journal.number, offset: journal.end };
        journal.begin_anew().unwrap();
        journal.append(&records(&journal, &["new"])).unwrap();
        drop(journal);
        let again = JournalFile::open(&path, folded).unwrap();
        assert_eq!(names(&again, HEAD), ["new"]);
    }

    #[test]
    fn a_damaged_head_loses_nothing_that_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        for folded_before in [true, false] {
            let mut journal = JournalFile::open(&path, Place::default()).unwrap();
            journal.append(&records(&journal, &["kept"])).unwrap();
            let number = if folded_before { journal.number } else { journal.number - 1 };
            journal.file.write_all_at(b"damage", 4).unwrap();
            drop(journal);
            let again = JournalFile::open(&path, Place { number, offset: HEAD }).unwrap();
            assert_eq!(names(&again, HEAD), ["kept"]);
            let mut again = JournalFile::open(&path, Place { number, offset: HEAD }).unwrap();
            assert_eq!(names(&again, HEAD), ["kept"], "the head is whole again");
            again.clear().unwrap();
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_file_grows_in_steps_and_what_lies_behind_the_records_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(&path, Place::default()).unwrap();
        let length = || std::fs::metadata(&path).unwrap().len();
        journal.append(&records(&journal, &["one"])).unwrap();
        let grown = length();
        assert_eq!(grown, journal.end + STEP as u64);
        journal.append(&records(&journal, &["two"])).unwrap();
        assert_eq!(length(), grown, "there was room");
        let (number, end) = (journal.number, journal.end);
        drop(journal);
        let mut again = JournalFile::open(&path, Place { number, offset: HEAD }).unwrap();
        assert_eq!((again.end, names(&again, HEAD)), (end, vec!["one".to_owned(), "two".to_owned()]));
        again.append(&records(&again, &["three"])).unwrap();
        assert_eq!((names(&again, end), length()), (vec!["three".to_owned()], grown));
    }

    #[test]
    fn a_torn_end_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(&path, Place::default()).unwrap();
        journal.append(&records(&journal, &["whole"])).unwrap();
        let (number, end) = (journal.number, journal.end);
        let torn = records(&journal, &["torn"]);
        journal.append(&torn[..torn.len() / 2]).unwrap();
        drop(journal);
        let mut again = JournalFile::open(&path, Place { number, offset: HEAD }).unwrap();
        assert_eq!(again.end, end);
        again.append(&records(&again, &["next"])).unwrap();
        assert_eq!(names(&again, HEAD), ["whole", "next"]);
    }

    #[test]
    fn a_record_longer_than_what_is_read_at_once_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = JournalFile::open(&folder.path().join("journal"), Place::default()).unwrap();
        let mut long = observed("long");
        long.kept = Some(vec![b'x'; READ * 2]);
        let mut bytes = records(&journal, &["before"]);
        let (long, ready) = prepared(long);
        assert!(record::write(&long, &ready, journal.number, &mut bytes));
        bytes.extend(records(&journal, &["after"]));
        journal.append(&bytes).unwrap();
        let mut found = Vec::new();
        let mut at = HEAD;
        loop {
            let part = journal.read(at, u64::MAX, usize::MAX).unwrap();
            if part.end == at {
                break;
            }
            at = part.end;
            found.extend(part.prepared.batch.observed.into_iter().map(|observed| observed.name));
        }
        assert_eq!(found, ["before", "long", "after"]);
    }

    #[test]
    fn what_is_cleared_is_not_in_the_file_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(&path, Place::default()).unwrap();
        journal.append(&records(&journal, &["private"])).unwrap();
        journal.clear().unwrap();
        assert_eq!(std::fs::read(&path).unwrap().len() as u64, HEAD);
    }
}
