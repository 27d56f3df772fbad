//! The sums of the store's pages, in a file of their own beside it (`ledger.db.sums`).
//!
//! The engine finds damage in the shape of a page, not in what stands on it. So every page has a sum here, and whatever
//! the disk changes is found by comparing both (ADR 18).
//!
//! The file is made of blocks of 4,096 bytes, numbers little-endian. The first holds the head: the letters `AgTrSum1`, the
//! size of a page (4), the kind of the log's mark and whether it is doubtful (4), two salts (8), moment and length of the
//! store's file (8 each), and the XXH3-64 of all that. Each other block holds the sums of 511 pages (XXH3-64 with the
//! page's number as seed), and the XXH3-64 of them with the block's number as seed. A block of zeros knows nothing.
//!
//! Law: a block that is torn or damaged knows nothing; it never accuses a page.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The sum of a page that has none yet.
pub(super) const UNKNOWN: u64 = 0;

/// The sum of a page that was written over after it was found damaged: what stands there now was made of the damage.
pub(super) const DAMAGED: u64 = 1;

/// The sum of a page that was changed while no server ran, by another program or by the disk, until an owner says that it
/// may be so.
pub(super) const CHANGED: u64 = 2;

const MAGIC: &[u8; 8] = b"AgTrSum1";
const BLOCK: usize = 4096;
const HEAD: usize = 40;

/// Sums in a block.
const SUMS: usize = BLOCK / 8 - 1;

type Block = [u64; SUMS];

/// Returns the sum of a page.
pub(super) fn sum_of(page: u32, bytes: &[u8]) -> u64 {
    // The first three mean something else.
    xxh3_64_with_seed(bytes, u64::from(page)).max(CHANGED + 1)
}

/// Up to where the sums follow the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogMark {
    /// No log was in use, and the store's file was last changed at this moment (nanoseconds) and is this long.
    Empty {
        /// The moment when it was changed.
        changed: i64,
        /// Its length.
        bytes: u64,
    },
    /// The log with these salts.
    Of {
        /// The salts.
        salts: (u32, u32),
    },
}

/// The head of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) log: LogMark,
    /// Another program may have changed pages since, and not all of them were checked yet.
    pub(super) is_doubtful: bool,
}

/// The file of the sums.
#[derive(Debug)]
pub(super) struct PageSums {
    file: File,
    page_size: u32,
    /// The block that was used last.
    cached: Option<(u64, Box<Block>)>,
    /// Blocks that could not be read and know nothing any more.
    pub(super) forgotten: u64,
}

/// The result of opening the sums.
pub(super) enum OpenedSums {
    /// Sums, and up to where they follow.
    Known(PageSums, Mark),
    /// None that can be used, and why; they begin anew.
    Anew(PageSums, &'static str),
}

impl PageSums {
    /// Opens the sums of a store with pages of this size, and begins anew where they cannot be used.
    pub(super) fn open(path: &Path, page_size: u32) -> io::Result<OpenedSums> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        Self::with(file, page_size).and_then(|opened| {
            if let OpenedSums::Anew(sums, _) = &opened {
                sums.file.set_len(0)?;
            }
            Ok(opened)
        })
    }

    /// Reads the sums that are there, and writes nothing; none if there are none.
    pub(super) fn read_only(path: &Path, page_size: u32) -> io::Result<Option<(Self, Mark)>> {
        match File::open(path) {
            Ok(file) => match Self::with(file, page_size)? {
                OpenedSums::Known(sums, mark) => Ok(Some((sums, mark))),
                OpenedSums::Anew(..) => Ok(None),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn with(file: File, page_size: u32) -> io::Result<OpenedSums> {
        let mut head = [0; HEAD + 8];
        let length = file.metadata()?.len();
        let sums = Self { file, page_size, cached: None, forgotten: 0 };
        if length == 0 {
            return Ok(OpenedSums::Anew(sums, "there were none"));
        }
        match sums.file.read_exact_at(&mut head, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Ok(OpenedSums::Anew(sums, "their file was cut off"));
            }
            Err(error) => return Err(error),
        }
        Ok(match read_head(&head) {
            // The size is in the head because it decides which bytes a sum covers: with another one every page would
            // look damaged.
            Some((size, mark)) if size == page_size => OpenedSums::Known(sums, mark),
            Some(_) => OpenedSums::Anew(sums, "they were those of another store"),
            None => OpenedSums::Anew(sums, "the head of their file was damaged"),
        })
    }

    /// Returns the sum of a page.
    pub(super) fn get(&mut self, page: u32) -> io::Result<u64> {
        let (number, place) = place_of(page);
        Ok(self.block(number)?.get(place).copied().unwrap_or(UNKNOWN))
    }

    /// Writes some sums. They are on disk only after [`PageSums::sync`].
    pub(super) fn put(&mut self, sums: &BTreeMap<u32, u64>) -> io::Result<()> {
        let mut sums = sums.iter().peekable();
        while let Some((page, sum)) = sums.next() {
            let (number, place) = place_of(*page);
            let block = self.block(number)?;
            if let Some(known) = block.get_mut(place) {
                *known = *sum;
            }
            // Sums come sorted by page, so a block of 511 is summed and written once and not for each of its pages.
            let is_last = sums.peek().is_none_or(|(next, _)| place_of(**next).0 != number);
            if is_last {
                let mut bytes: Vec<u8> = block.iter().flat_map(|sum| sum.to_le_bytes()).collect();
                bytes.extend_from_slice(&xxh3_64_with_seed(&bytes, number).to_le_bytes());
                let written = self.file.write_all_at(&bytes, number * BLOCK as u64);
                // What stands in the file now is not known.
                written.inspect_err(|_| self.cached = None)?;
            }
        }
        Ok(())
    }

    /// Writes up to where the sums follow the store.
    pub(super) fn mark(&self, mark: Mark) -> io::Result<()> {
        let (kind, salts, changed, bytes) = match mark.log {
            LogMark::Empty { changed, bytes } => (0_u32, (0, 0), changed, bytes),
            LogMark::Of { salts } => (1, salts, 0, 0),
        };
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&self.page_size.to_le_bytes());
        head.extend_from_slice(&(kind | u32::from(mark.is_doubtful) << 1).to_le_bytes());
        head.extend_from_slice(&salts.0.to_le_bytes());
        head.extend_from_slice(&salts.1.to_le_bytes());
        head.extend_from_slice(&changed.to_le_bytes());
        head.extend_from_slice(&bytes.to_le_bytes());
        head.extend_from_slice(&xxh3_64(&head).to_le_bytes());
        // In one write of less than a sector, which disks do not tear. A head that is torn all the same begins the
        // sums anew and accuses no page.
        self.file.write_all_at(&head, 0)
    }

    /// Waits until everything that was written is on disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn block(&mut self, number: u64) -> io::Result<&mut Block> {
        if self.cached.as_ref().is_none_or(|(cached, _)| *cached != number) {
            let block = self.read_block(number)?;
            self.cached = Some((number, block));
        }
        match &mut self.cached {
            Some((_, block)) => Ok(block),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn read_block(&mut self, number: u64) -> io::Result<Box<Block>> {
        let mut bytes = [0; BLOCK];
        let mut block = Box::new([UNKNOWN; SUMS]);
        match self.file.read_exact_at(&mut bytes, number * BLOCK as u64) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(block),
            Err(error) => return Err(error),
        }
        let (sums, claimed) = bytes.split_at(SUMS * 8);
        let is_whole = claimed == xxh3_64_with_seed(sums, number).to_le_bytes();
        if is_whole {
            for (known, bytes) in block.iter_mut().zip(sums.as_chunks::<8>().0) {
                *known = u64::from_le_bytes(*bytes);
            }
        // Zeros are a block that was never written, as at the end of a file that has grown: nothing was forgotten
        // there.
        } else if bytes.iter().any(|byte| *byte != 0) {
            self.forgotten += 1;
        }
        Ok(block)
    }
}

/// Returns the block of a page, and the page's place in it. Pages are counted from one.
fn place_of(page: u32) -> (u64, usize) {
    let index = u64::from(page.saturating_sub(1));
    (index / SUMS as u64 + 1, usize::try_from(index % SUMS as u64).unwrap_or(0))
}

fn read_head(head: &[u8; HEAD + 8]) -> Option<(u32, Mark)> {
    let (said, claimed) = head.split_last_chunk::<8>()?;
    let (magic, rest) = said.split_first_chunk::<8>()?;
    if magic != MAGIC || xxh3_64(said) != u64::from_le_bytes(*claimed) {
        return None;
    }
    let word = |at: usize| rest.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
    let long = |at: usize| rest.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let kind = word(4)?;
    let log = match kind & !2 {
        0 => LogMark::Empty { changed: long(16)?.cast_signed(), bytes: long(24)? },
        1 => LogMark::Of { salts: (word(8)?, word(12)?) },
        _ => return None,
    };
    Some((word(0)?, Mark { log, is_doubtful: kind & 2 != 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark { log: LogMark::Of { salts: (7, 9) }, is_doubtful: true };

    fn known(opened: OpenedSums) -> (PageSums, Mark) {
        match opened {
            OpenedSums::Known(sums, mark) => (sums, mark),
            OpenedSums::Anew(_, why) => panic!("{why}"),
        }
    }

    #[test]
    fn sums_and_their_mark_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sums");
        let OpenedSums::Anew(mut sums, "there were none") = PageSums::open(&path, 4096).unwrap() else {
            panic!()
        };
        let some = BTreeMap::from([(1, 5), (511, 6), (512, 7), (5_000, 8)]);
        sums.put(&some).unwrap();
        sums.put(&BTreeMap::from([(2, 9)])).unwrap();
        let empty = Mark { log: LogMark::Empty { changed: -3, bytes: 8192 }, is_doubtful: false };
        for mark in [empty, MARK] {
            sums.mark(mark).unwrap();
            let (mut again, found) = known(PageSums::open(&path, 4096).unwrap());
            assert_eq!(found, mark);
            for (page, sum) in some.iter().chain([(&2, &9), (&3, &UNKNOWN), (&90_000, &UNKNOWN)]) {
                assert_eq!(again.get(*page).unwrap(), *sum, "{page}");
            }
            assert_eq!(again.forgotten, 0);
        }
    }

    #[test]
    fn a_file_of_sums_that_is_damaged_knows_nothing_there_and_accuses_no_page() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sums");
        let (OpenedSums::Anew(mut sums, _) | OpenedSums::Known(mut sums, _)) =
            PageSums::open(&path, 4096).unwrap();
        sums.put(&BTreeMap::from([(1, 5), (600, 6)])).unwrap();
        sums.mark(MARK).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let with = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            std::fs::remove_file(&path).unwrap();
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
                .unwrap()
                .write_all_at(&bytes, 0)
        };
        for at in [BLOCK, BLOCK + 777, 2 * BLOCK - 1] {
            with(at).unwrap();
            let (mut sums, _) = known(PageSums::open(&path, 4096).unwrap());
            assert_eq!((sums.get(1).unwrap(), sums.get(600).unwrap(), sums.forgotten), (UNKNOWN, 6, 1));
        }
        for at in [0, 9, 13, 20, 30, HEAD] {
            with(at).unwrap();
            let OpenedSums::Anew(mut sums, _) = PageSums::open(&path, 4096).unwrap() else { panic!("{at}") };
            assert_eq!(sums.get(600).unwrap(), UNKNOWN);
        }
        with(3000).unwrap();
        assert!(matches!(PageSums::open(&path, 512).unwrap(), OpenedSums::Anew(..)), "another size of pages");
    }
}
