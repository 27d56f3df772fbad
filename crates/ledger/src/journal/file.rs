//! The journal's file: a head, then records one after the other.
//!
//! The file is reused from its beginning, because overwriting bytes costs the disk less than extending a file. Each use
//! has a number. The fold stores this number and the position up to which it has folded in the same transaction as the
//! folded records, so that after any crash each record is folded exactly once.
//!
//! Law: damage costs the records that it touches and no others. An unreadable record is skipped by its length or, if
//! that is damaged too, by a search for the next record; its bytes are handed to the reader.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::record::{self, FoundRecord};
use crate::sqlite::prepared::Prepared;
use crate::sqlite::store_files::sync_folder;

/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"AgTrJrn2";

/// The same in files of versions that wrote no end marks.
const UNMARKED: &[u8; 8] = b"AgTrJrn1";

/// The head: the magic, the number of the use, a checksum of both.
pub(super) const HEAD: u64 = 24;

/// The file is made longer by so much at a time. A write over bytes that are there changes nothing else that the disk
/// would have to be waited for.
const STEP: usize = 1 << 20;

/// Bytes that are read at once, if no record is longer.
const READ: usize = 4 << 20;

/// Bytes that a disk cannot read together, and what the system says then.
const SECTOR: u64 = 4096;
const EIO: i32 = 5;

/// Bytes that two parts of a search have in common.
const OVERLAP: usize = 64;

/// The most bytes of an end that cannot be read that are kept.
const END_BYTES: usize = 1 << 20;

/// A place in the journal: everything before it is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalPosition {
    /// The number of the use.
    pub(crate) number: u64,
    /// Bytes from the beginning.
    pub(crate) offset: u64,
}

/// Some records, in their order.
#[derive(Debug, Default)]
pub(crate) struct RecordRun {
    /// Their values.
    pub(crate) prepared: Prepared,
    /// The position at which each of them ends.
    pub(crate) ends: Vec<u64>,
    /// Records that this version does not understand, as they are.
    pub(crate) unknown: Vec<Vec<u8>>,
    /// Bytes between records that are none.
    pub(crate) damaged: Vec<Vec<u8>>,
    /// The position at which the last of them ends.
    pub(crate) end: u64,
    /// They were handed over in memory, and not read from the file.
    pub(crate) is_handed: bool,
}

/// Opens the file of a journal, and makes it if there is none. Its name is on disk then: what is acknowledged
/// in a file that is not found again is lost.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    // Also for an existing file: the process that made it may have ended before this call.
    sync_folder(path)?;
    Ok(file)
}

/// Returns `true` if a journal may hold records that are not folded. It only reads, so that a writer may go on.
pub(crate) fn waits(path: &Path, folded: JournalPosition) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let mut bytes = [0; HEAD as usize];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        Err(error) => return Err(error),
    }
    match Head::read(&bytes) {
        Head::Of { number, .. } if number < folded.number => Ok(false),
        Head::Of { number, .. } => {
            let from = if number == folded.number { folded.offset.max(HEAD) } else { HEAD };
            let journal = JournalFile { file, number, end: from, length, torn: None };
            Ok(!journal.is_end(from)?)
        }
        Head::Empty | Head::Damaged => Ok(true),
    }
}

/// The file.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// The number of this use.
    pub(super) number: u64,
    /// The position of the next record.
    pub(super) end: u64,
    /// The length of the file.
    length: u64,
    /// Unexpected bytes behind the last record when the file was opened. If the last write was cut short, none of them
    /// was acknowledged; if the disk lost data, some may have been.
    pub(super) torn: Option<Vec<u8>>,
}

/// The end of the records of a use.
struct End {
    at: u64,
    /// The bytes found there in place of an end mark.
    torn: Option<Vec<u8>>,
}

impl JournalFile {
    /// Reads how far the file is written. `folded` is how far it was folded; what comes behind it is found again.
    pub(super) fn open(file: File, folded: JournalPosition) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let mut journal = Self { file, number: folded.number, end: HEAD, length, torn: None };
        let bytes = journal.bytes(0, HEAD as usize)?;
        let head = bytes.as_slice().try_into().map_or(Head::Empty, Head::read);
        // A head that cannot be read was being written anew, when everything was folded, or is damaged: what was
        // accepted is then still found under its own number.
        let (candidates, is_marked) = match head {
            Head::Of { number, is_marked } if number >= folded.number => (vec![number], is_marked),
            Head::Of { .. } => (Vec::new(), false),
            Head::Empty | Head::Damaged => (vec![folded.number, folded.number.saturating_add(1)], false),
        };
        let is_damaged = head == Head::Damaged;
        for number in candidates {
            let from = if number == folded.number { folded.offset.max(HEAD) } else { HEAD };
            journal.number = number;
            let end = journal.find_end(from, is_marked)?;
            journal.torn = end.torn.or_else(|| is_damaged.then(|| bytes.to_vec()));
            journal.end = end.at;
            if journal.end > from {
                if is_damaged || head == Head::Empty {
                    journal.write_head()?;
                }
                return Ok(journal);
            }
        }
        // Nothing waits: it is used anew.
        let known = if let Head::Of { number, .. } = head { number } else { 0 };
        journal.number = folded.number.max(known);
        journal.begin_anew()?;
        Ok(journal)
    }

    /// Finds the end of the records: an end mark, the end of the file, or a position with neither a record nor a mark.
    fn find_end(&self, from: u64, is_marked: bool) -> io::Result<End> {
        let mut at = from;
        loop {
            at = self.read_run(at, u64::MAX, usize::MAX)?.end;
            if self.is_end(at)? {
                return Ok(End { at, torn: None });
            }
            match self.resume(at, self.length)? {
                Some(next) => at = next,
                // What an earlier use left behind stands there.
                None if !is_marked => return Ok(End { at, torn: None }),
                None => return Ok(End { at, torn: Some(self.rest(at)?) }),
            }
            if self.is_end(at)? {
                return Ok(End { at, torn: None });
            }
        }
    }

    /// Returns `true` if the journal may end here. A disk may lose the content of a file, but does not shorten it.
    fn is_end(&self, at: u64) -> io::Result<bool> {
        Ok(at >= self.length || self.bytes(at, record::HEAD)? == record::end_mark(at, self.number))
    }

    /// Returns the bytes at an unreadable end, without the zeros behind them.
    fn rest(&self, at: u64) -> io::Result<Vec<u8>> {
        let claimed = record::claimed(&self.bytes(at, record::HEAD)?).unwrap_or(END_BYTES);
        let mut rest = self.bytes(at, claimed.min(END_BYTES))?;
        let used = rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        rest.truncate(used);
        Ok(rest)
    }

    /// Returns where records go on behind one that cannot be read, before this place: behind its length if that is
    /// whole, else at the first record that a search finds. A search alone would also look into the bodies of records.
    fn resume(&self, damaged: u64, until: u64) -> io::Result<Option<u64>> {
        if let Some(claimed) = record::claimed(&self.bytes(damaged, record::HEAD)?) {
            let next = damaged.saturating_add(claimed as u64);
            if next <= until && (self.is_end(next)? || self.is_record(next)?) {
                return Ok(Some(next));
            }
        }
        let mut from = damaged.saturating_add(1);
        while from < until {
            let bytes = self.bytes(from, READ)?;
            for candidate in record::candidates(&bytes) {
                let at = from + candidate as u64;
                if at < until && self.is_record(at)? {
                    return Ok(Some(at));
                }
            }
            // What a record begins with may stand across the end of what was read.
            match bytes.len().checked_sub(OVERLAP) {
                Some(read) if bytes.len() == READ => from += read as u64,
                _ => break,
            }
        }
        Ok(None)
    }

    /// Returns `true` if a record begins here.
    fn is_record(&self, at: u64) -> io::Result<bool> {
        let head = self.bytes(at, record::HEAD)?;
        let Some(length) = record::claimed(&head).filter(|length| at + *length as u64 <= self.length) else {
            return Ok(false);
        };
        Ok(matches!(record::find(&self.bytes(at, length)?, self.number), FoundRecord::Record(..)))
    }

    /// Writes records behind the others. They are on disk when this returns; if it fails, nothing of them counts.
    pub(super) fn append(&mut self, records: &mut Vec<u8>) -> io::Result<()> {
        let end = self.end + records.len() as u64;
        self.make_longer(end);
        // In one write with the records: a process that ends between two would leave records without an end.
        records.extend_from_slice(&record::end_mark(end, self.number));
        let written = self.file.write_all_at(records, self.end).and_then(|()| self.file.sync_data());
        records.truncate(records.len() - record::HEAD);
        if let Err(error) = written {
            self.take_back(self.end);
            return Err(error);
        }
        self.end = end;
        self.length = self.length.max(end + record::HEAD as u64);
        Ok(())
    }

    /// Returns `true` if another process shortened the file.
    pub(super) fn is_cut(&self) -> bool {
        self.file.metadata().is_ok_and(|facts| facts.len() < self.length)
    }

    /// Takes back what was written behind this place: it was not acknowledged and must not be found after a crash.
    pub(super) fn take_back(&mut self, end: u64) {
        self.file.set_len(end).ok();
        self.end = end;
        self.length = end;
    }

    /// Makes room for records up to this place and for some that come behind them.
    fn make_longer(&mut self, until: u64) {
        if until + record::HEAD as u64 <= self.length {
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
        let mut head = self.head();
        if self.length > HEAD {
            // What this use leaves of the last one begins behind it.
            head.extend_from_slice(&record::end_mark(HEAD, self.number));
        }
        self.write(&head)
    }

    /// Uses the file anew and leaves nothing behind of what it held.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = 0;
        self.begin_anew()
    }

    fn write_head(&mut self) -> io::Result<()> {
        self.write(&self.head())
    }

    fn head(&self) -> Vec<u8> {
        let mut head = [MAGIC.as_slice(), &self.number.to_le_bytes()].concat();
        head.extend_from_slice(&xxh3_64(&head).to_le_bytes());
        head
    }

    fn write(&mut self, head: &[u8]) -> io::Result<()> {
        self.file.write_all_at(head, 0)?;
        self.length = self.length.max(head.len() as u64);
        self.file.sync_data()
    }

    /// Returns another handle, to read beside its writer.
    pub(super) fn reader(&self) -> io::Result<Self> {
        let file = self.file.try_clone()?;
        Ok(Self { file, number: self.number, end: self.end, length: self.length, torn: None })
    }

    /// Reads some records from this place on, up to another: at most so many, and not much more than four megabytes.
    /// What is damaged between them is passed over.
    pub(super) fn read(&self, from: u64, until: u64, most: usize) -> io::Result<RecordRun> {
        let mut part = self.read_run(from, until, most)?;
        // The same as it is now: it has grown since this handle was made.
        let seen = Self { length: self.file.metadata()?.len(), ..self.reader()? };
        while part.end < until && part.ends.is_empty() && part.unknown.is_empty() {
            let damaged = part.end;
            part.end = seen.resume(damaged, until)?.unwrap_or(until);
            let length = usize::try_from(part.end - damaged).unwrap_or(END_BYTES);
            part.damaged.push(seen.bytes(damaged, length)?);
            let next = self.read_run(part.end, until, most)?;
            part = RecordRun { damaged: part.damaged, ..next };
        }
        Ok(part)
    }

    /// Reads the same up to the first record that is damaged.
    fn read_run(&self, from: u64, until: u64, most: usize) -> io::Result<RecordRun> {
        let mut part = RecordRun { end: from, ..RecordRun::default() };
        let there = usize::try_from(until.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = self.bytes(from, READ.min(there))?;
        let mut at = 0;
        while part.ends.len() + part.unknown.len() < most && from + (at as u64) < until {
            match record::find(bytes.get(at..).unwrap_or_default(), self.number) {
                FoundRecord::Record(body, taken) => {
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
                FoundRecord::Part(length) if at == 0 && length > bytes.len() => {
                    let longer = self.bytes(from, length)?;
                    if longer.len() < length {
                        break;
                    }
                    bytes = longer;
                }
                FoundRecord::Part(_) | FoundRecord::Nothing => break,
            }
        }
        Ok(part)
    }

    fn bytes(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let at = from + filled as u64;
            match self.read_at(rest, at) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What the disk cannot read stays zeros, which are no record; what stands beside it can be read.
                Err(error) if error.raw_os_error() == Some(EIO) => {
                    let until = (at / SECTOR + 1) * SECTOR;
                    let part = usize::try_from(until - at).unwrap_or(rest.len()).min(rest.len());
                    let (part, length) =
                        (rest.get_mut(..part).unwrap_or_default(), self.file.metadata()?.len());
                    match self.read_at(part, at) {
                        Ok(0) => break,
                        Ok(read) => filled += read,
                        Err(_) if at >= length => break,
                        Err(_) => {
                            part.fill(0);
                            let there = usize::try_from(length - at).unwrap_or(part.len());
                            filled += part.len().min(there);
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        #[cfg(test)]
        if tests::BAD
            .get()
            .is_some_and(|bad| (at / SECTOR..=(at + bytes.len() as u64 - 1) / SECTOR).contains(&bad))
        {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        self.file.read_at(bytes, at)
    }
}

/// The head of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// Nothing was ever written.
    Empty,
    /// The use with this number, and whether its end is marked.
    Of { number: u64, is_marked: bool },
    /// Something else.
    Damaged,
}

impl Head {
    fn read(head: &[u8; HEAD as usize]) -> Self {
        let Some((said, checksum)) = head.split_last_chunk::<8>() else { return Self::Damaged };
        let Some((magic, number)) = said.split_first_chunk::<8>() else { return Self::Damaged };
        let is_ours = (magic == MAGIC || magic == UNMARKED) && xxh3_64(said) == u64::from_le_bytes(*checksum);
        match number.try_into() {
            Ok(number) if is_ours => {
                Self::Of { number: u64::from_le_bytes(number), is_marked: magic == MAGIC }
            }
            _ if head.iter().all(|byte| *byte == 0) => Self::Empty,
            _ => Self::Damaged,
        }
    }
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
        let part = journal.read_run(from, u64::MAX, usize::MAX).unwrap();
        part.prepared.batch.observed.into_iter().map(|observed| observed.name).collect()
    }

    #[test]
    fn what_is_not_folded_is_found_again_and_what_is_folded_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        journal.append(&mut records(&journal, &["one", "two"])).unwrap();
        let number = journal.number;
        let one = journal.read_run(HEAD, u64::MAX, 1).unwrap().end;
        drop(journal);
        let again =
            JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: one }).unwrap();
        assert_eq!((again.number, names(&again, one)), (number, vec!["two".to_owned()]));
        let end = again.end;
        drop(again);
        let used =
            JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: end }).unwrap();
        assert_eq!((used.number, used.end), (number + 1, HEAD));
        assert!(names(&used, HEAD).is_empty(), "what an earlier use left is not news");
    }

    #[test]
    fn a_use_of_which_nothing_was_folded_yet_is_found_from_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        journal.append(&mut records(&journal, &["a much longer name than the others have", "old"])).unwrap();
        let folded = JournalPosition { number: journal.number, offset: journal.end };
        journal.begin_anew().unwrap();
        journal.append(&mut records(&journal, &["new"])).unwrap();
        drop(journal);
        let again = JournalFile::open(create(&path).unwrap(), folded).unwrap();
        assert_eq!(names(&again, HEAD), ["new"]);
    }

    #[test]
    fn a_damaged_head_loses_nothing_that_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        for folded_before in [true, false] {
            let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
            journal.append(&mut records(&journal, &["kept"])).unwrap();
            let number = if folded_before { journal.number } else { journal.number - 1 };
            journal.file.write_all_at(b"damage", 4).unwrap();
            drop(journal);
            let again =
                JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: HEAD }).unwrap();
            assert_eq!(names(&again, HEAD), ["kept"]);
            let mut again =
                JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: HEAD }).unwrap();
            assert_eq!(names(&again, HEAD), ["kept"], "the head is whole again");
            again.clear().unwrap();
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn the_file_grows_in_steps_and_what_lies_behind_the_records_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        let length = || std::fs::metadata(&path).unwrap().len();
        journal.append(&mut records(&journal, &["one"])).unwrap();
        let grown = length();
        assert_eq!(grown, journal.end + STEP as u64);
        journal.append(&mut records(&journal, &["two"])).unwrap();
        assert_eq!(length(), grown, "there was room");
        let (number, end) = (journal.number, journal.end);
        drop(journal);
        let mut again =
            JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: HEAD }).unwrap();
        assert_eq!((again.end, names(&again, HEAD)), (end, vec!["one".to_owned(), "two".to_owned()]));
        again.append(&mut records(&again, &["three"])).unwrap();
        assert_eq!((names(&again, end), length()), (vec!["three".to_owned()], grown));
    }

    #[test]
    fn a_torn_end_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        journal.append(&mut records(&journal, &["whole"])).unwrap();
        let (number, end) = (journal.number, journal.end);
        let torn = records(&journal, &["torn"]);
        journal.append(&mut torn[..torn.len() / 2].to_vec()).unwrap();
        drop(journal);
        let mut again =
            JournalFile::open(create(&path).unwrap(), JournalPosition { number, offset: HEAD }).unwrap();
        assert_eq!(again.end, end);
        again.append(&mut records(&again, &["next"])).unwrap();
        assert_eq!(names(&again, HEAD), ["whole", "next"]);
    }

    #[test]
    fn a_record_longer_than_what_is_read_at_once_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal =
            JournalFile::open(create(&folder.path().join("journal")).unwrap(), JournalPosition::default())
                .unwrap();
        let mut long = observed("long");
        long.kept = Some(vec![b'x'; READ * 2]);
        let mut bytes = records(&journal, &["before"]);
        let (long, ready) = prepared(long);
        assert!(record::write(&long, &ready, journal.number, &mut bytes));
        bytes.extend(records(&journal, &["after"]));
        journal.append(&mut bytes).unwrap();
        let mut found = Vec::new();
        let mut at = HEAD;
        loop {
            let part = journal.read_run(at, u64::MAX, usize::MAX).unwrap();
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
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        journal.append(&mut records(&journal, &["private"])).unwrap();
        journal.clear().unwrap();
        assert_eq!(std::fs::read(&path).unwrap().len() as u64, HEAD);
    }

    /// Returns a journal of the second use of a file, behind whose records stand those of the first, and where each
    /// ends.
    fn used_twice(path: &Path, names: &[&str]) -> (Vec<u64>, JournalPosition) {
        let mut journal = JournalFile::open(create(path).unwrap(), JournalPosition::default()).unwrap();
        let old = ["an earlier use", "of the same file", "with more in it", "than there is now", "by far"];
        journal.append(&mut records(&journal, &old)).unwrap();
        let folded = JournalPosition { number: journal.number, offset: journal.end };
        journal.begin_anew().unwrap();
        let ends = names.iter().map(|name| {
            journal.append(&mut records(&journal, &[name])).unwrap();
            journal.end
        });
        (ends.collect(), folded)
    }

    /// Returns the names of the records that are read from a journal, and `true` if bytes were damaged.
    fn read_all(path: &Path, folded: JournalPosition) -> (Vec<String>, bool) {
        let journal = JournalFile::open(create(path).unwrap(), folded).unwrap();
        let (mut found, mut is_damaged, mut at) = (Vec::new(), journal.torn.is_some(), HEAD);
        while at < journal.end {
            let part = journal.read(at, journal.end, 2).unwrap();
            assert!(part.end > at);
            at = part.end;
            is_damaged |= !part.damaged.is_empty();
            found.extend(part.prepared.batch.observed.into_iter().map(|observed| observed.name));
        }
        (found, is_damaged)
    }

    thread_local! {
        /// A sector that the disk cannot read.
        pub(super) static BAD: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
    }

    #[test]
    fn what_the_disk_cannot_read_costs_the_records_that_stand_there_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = JournalFile::open(create(&path).unwrap(), JournalPosition::default()).unwrap();
        let folded = JournalPosition { number: journal.number, offset: HEAD };
        let names: Vec<String> = (0..200).map(|number| format!("record {number:03}")).collect();
        let mut begins = Vec::new();
        for name in &names {
            begins.push(journal.end);
            journal.append(&mut records(&journal, &[name])).unwrap();
        }
        drop(journal);
        let ends = begins.iter().copied().skip(1).chain([u64::MAX]);
        let places: Vec<(u64, u64)> = begins.iter().copied().zip(ends).collect();
        for bad in [0, 1, 2, 5] {
            BAD.set(Some(bad));
            let (found, is_damaged) = read_all(&path, folded);
            BAD.set(None);
            let sector = (bad * SECTOR, (bad + 1) * SECTOR);
            let untouched: Vec<&String> = places
                .iter()
                .zip(&names)
                .filter(|((begin, end), _)| *end <= sector.0 || *begin >= sector.1)
                .map(|(_, name)| name)
                .collect();
            assert!(
                is_damaged && untouched.iter().all(|name| found.contains(name)),
                "{bad}: {}",
                found.len()
            );
            assert!(found.len() >= untouched.len() && found.len() < names.len(), "{bad}");
        }
    }

    const NAMES: [&str; 5] = ["one", "two", "three", "four", "five"];

    /// Damages a journal and holds that only the records that were touched are missing, and that it is seen.
    fn damage(at: u64, length: u64, change: impl Fn(&mut u8)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (ends, folded) = used_twice(&path, &NAMES);
        assert_eq!(read_all(&path, folded), (NAMES.map(str::to_owned).to_vec(), false));
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        file.read_exact_at(&mut bytes, at).unwrap();
        let before = bytes.clone();
        bytes.iter_mut().for_each(change);
        file.write_all_at(&bytes, at).unwrap();
        let begins = std::iter::once(HEAD).chain(ends.iter().copied());
        let untouched: Vec<String> = begins
            .zip(&ends)
            .zip(NAMES)
            .filter(|((begin, end), _)| **end <= at || at + length <= *begin)
            .map(|(_, name)| name.to_owned())
            .collect();
        let last = ends.last().unwrap() + record::HEAD as u64;
        let (found, is_damaged) = read_all(&path, folded);
        assert_eq!(found, untouched, "{at} {length}");
        // Where every record of the use is gone, only a head that says so can tell that there were any.
        assert_eq!(is_damaged, at < last && bytes != before, "{at} {length}");
    }

    #[test]
    fn a_sector_of_zeros_anywhere_costs_what_stood_there_and_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        used_twice(&path, &NAMES);
        for sector in 0..8 {
            damage(sector * 512, 512, |byte| *byte = 0);
        }
    }

    #[test]
    fn records_behind_damage_are_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (ends, folded) = used_twice(&path, &NAMES);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        // Its length is damaged too.
        file.write_all_at(&[0xff; 40], ends[0]).unwrap();
        let mut journal = JournalFile::open(create(&path).unwrap(), folded).unwrap();
        journal.append(&mut records(&journal, &["six"])).unwrap();
        drop(journal);
        assert_eq!(read_all(&path, folded).0, ["one", "three", "four", "five", "six"]);
    }

    #[test]
    fn a_file_of_a_version_without_end_marks_has_no_damage_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let (ends, folded) = used_twice(&path, &NAMES);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        let mut head = [UNMARKED.as_slice(), &(folded.number + 1).to_le_bytes()].concat();
        head.extend_from_slice(&xxh3_64(&head).to_le_bytes());
        file.write_all_at(&head, 0).unwrap();
        file.write_all_at(&[0; record::HEAD], *ends.last().unwrap()).unwrap();
        assert_eq!(read_all(&path, folded), (NAMES.map(str::to_owned).to_vec(), false));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]

        #[test]
        fn a_flipped_bit_anywhere_costs_the_record_it_is_in_and_is_seen(at in 0_u64..4_000, bit in 0..8_u8) {
            damage(at, 1, |byte| *byte ^= 1 << bit);
        }
    }
}
