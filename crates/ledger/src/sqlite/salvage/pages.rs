//! The pages of a store that may be damaged: of its file, and over them those of its log.
//!
//! The engine reads a log up to the first frame with a wrong checksum. Here whole frames behind it count too, if a commit
//! ends them: each page says by itself which rows it holds.
//!
//! A page of the file that does not match its sum is repaired if one flipped bit explains the difference, and is
//! otherwise returned as it is. Reading such a page sets a flag for the reader.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::page_check::Tries;
use super::super::page_sums::{CHANGED, DAMAGED, PageSums, UNKNOWN, sum_of};
use super::super::store_files::beside;
use super::super::wal::{self, FrameImage};

/// The size that every store is made with.
const PAGE_BYTES: usize = 4096;

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Page numbers begin with 1.
pub(super) type PageNumber = u32;

/// The pages.
pub(super) struct Pages {
    file: Option<File>,
    log: Option<File>,
    /// The positions of the newest image of each page in the log.
    images: HashMap<PageNumber, u64>,
    /// Bytes of a page, and how many of them hold something.
    pub(super) size: usize,
    pub(super) usable: usize,
    /// Pages that there should be.
    pub(super) count: PageNumber,
    /// Frames of the log that are used, and those that are damaged.
    pub(super) frames: u64,
    pub(super) frames_damaged: u64,
    sums: Option<RefCell<SumComparison>>,
    /// A page that may be wrong was read since the flag was last cleared.
    pub(super) is_suspect: Cell<bool>,
    /// Pages in the order in which they were read.
    #[cfg(test)]
    pub(super) trace: RefCell<Vec<PageNumber>>,
}

/// The sums of the pages, and what came of comparing them.
struct SumComparison {
    sums: PageSums,
    tries: Tries,
    /// Pages that do not have their sum: as they were, or none where that is not known.
    wrong: HashMap<PageNumber, Option<Vec<u8>>>,
}

impl SumComparison {
    /// Returns the page as it was written, and whether that is certain.
    fn judge(&mut self, number: PageNumber, bytes: Vec<u8>, is_from_log: bool) -> (Vec<u8>, bool) {
        let known = self.sums.get(number).unwrap_or(UNKNOWN);
        if known == UNKNOWN
            || (is_from_log && !matches!(known, DAMAGED | CHANGED))
            || sum_of(number, &bytes) == known
        {
            return (bytes, true);
        }
        let tries = &mut self.tries;
        let was = self.wrong.entry(number).or_insert_with(|| {
            let is_sum = !matches!(known, DAMAGED | CHANGED);
            is_sum.then(|| tries.mended(number, &bytes, known)).flatten()
        });
        was.as_ref().map_or((bytes, false), |was| (was.clone(), true))
    }
}

impl Pages {
    /// Looks at the file, and at its log if that is given. Neither has to be there.
    pub(super) fn open(path: &Path, log: Option<&Path>) -> io::Result<Self> {
        Self::open_with(path, log, None)
    }

    /// Opens them, and believes no page that does not have its sum.
    pub(super) fn open_with_sums(path: &Path, log: Option<&Path>) -> io::Result<Self> {
        // Without sums, or if they cannot be read, nothing can be said of what stands on a page.
        let sums = PageSums::read_only(&beside(path, ".sums"), PAGE_BYTES as u32).ok().flatten();
        Self::open_with(path, log, sums.map(|(sums, _)| sums))
    }

    fn open_with(path: &Path, log: Option<&Path>, sums: Option<PageSums>) -> io::Result<Self> {
        let witness =
            |sums| RefCell::new(SumComparison { sums, tries: Tries::default(), wrong: HashMap::new() });
        let file = open_existing(path)?;
        let log = log.map(open_existing).transpose()?.flatten();
        let length = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|facts| facts.len()))?;
        let mut pages = Self {
            file,
            log,
            images: HashMap::new(),
            size: PAGE_BYTES,
            usable: PAGE_BYTES,
            count: 0,
            frames: 0,
            frames_damaged: 0,
            sums: sums.map(witness),
            is_suspect: Cell::new(false),
            #[cfg(test)]
            trace: RefCell::default(),
        };
        let mut head = [0; 100];
        if let Some(file) = &pages.file
            && file.read_exact_at(&mut head, 0).is_ok()
            && head.starts_with(MAGIC)
        {
            let size = head
                .get(16..18)
                .map_or(0, |bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
            let size = if size == 1 { 65_536 } else { size };
            // Sums are those of pages of the usual size.
            if pages.sums.is_none() && size.is_power_of_two() && (512..=65_536).contains(&size) {
                pages.size = size;
            }
        }
        pages.read_log(path)?;
        let in_file = length.div_ceil(pages.size as u64);
        let newest = pages.images.keys().copied().max().unwrap_or(0);
        pages.count = PageNumber::try_from(in_file).unwrap_or(PageNumber::MAX - 1).max(newest);
        pages.usable = pages.size;
        if let Some(first) = pages.read(1)
            && first.starts_with(MAGIC)
        {
            let reserved = usize::from(first.get(20).copied().unwrap_or(0));
            // Ours has none; more than this is damage.
            if reserved <= 64 {
                pages.usable = pages.size - reserved;
            }
        }
        Ok(pages)
    }

    fn read_log(&mut self, store: &Path) -> io::Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let mut waiting: Vec<(PageNumber, u64)> = Vec::new();
        let mut size = None;
        let (mut images, mut used, mut damaged) = (HashMap::new(), 0, 0);
        wal::frames_behind_damage(log, store, |frame: FrameImage| {
            size = Some(frame.page_bytes);
            if !frame.is_whole {
                damaged += u64::from(frame.is_of_this_log);
                // What was begun before it may have been taken back since.
                return;
            }
            waiting.push((frame.page, frame.at));
            if frame.is_commit {
                used += waiting.len() as u64;
                images.extend(waiting.drain(..));
            }
        })?;
        if let Some(size) = size {
            self.size = size;
        }
        (self.images, self.frames, self.frames_damaged) = (images, used, damaged);
        Ok(())
    }

    /// Returns a page; none if it is not there or cannot be read.
    pub(super) fn read(&self, number: PageNumber) -> Option<Vec<u8>> {
        if number == 0 {
            return None;
        }
        #[cfg(test)]
        self.trace.borrow_mut().push(number);
        let mut page = vec![0; self.size];
        if let (Some(at), Some(log)) = (self.images.get(&number), &self.log) {
            return log.read_exact_at(&mut page, *at).ok().map(|()| self.judge(number, page, true));
        }
        let at = u64::from(number - 1) * self.size as u64;
        self.file.as_ref()?.read_exact_at(&mut page, at).ok().map(|()| self.judge(number, page, false))
    }

    fn judge(&self, number: PageNumber, page: Vec<u8>, is_from_log: bool) -> Vec<u8> {
        let Some(sums) = &self.sums else { return page };
        let (page, is_certain) = sums.borrow_mut().judge(number, page, is_from_log);
        if !is_certain {
            self.is_suspect.set(true);
        }
        page
    }

    /// Returns how many pages were read of which one bit was wrong.
    pub(super) fn mended(&self) -> u64 {
        let count = |sums: &RefCell<SumComparison>| sums.borrow().wrong.values().flatten().count();
        self.sums.as_ref().map_or(0, count) as u64
    }

    /// Returns `true` if the first page has the engine's magic number.
    pub(super) fn has_magic(&self) -> bool {
        self.read(1).is_some_and(|page| page.starts_with(MAGIC))
    }
}

fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("`{}` is not a regular file", path.display()),
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a big-endian number of two or four bytes.
pub(super) fn number(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}
