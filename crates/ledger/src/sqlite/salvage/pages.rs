//! The pages of a store that may be damaged: of its file, and over them those of its log.
//!
//! The engine reads a log up to the first frame with a wrong checksum. Here whole frames behind it count too, if a commit
//! ends them: each page says by itself which rows it holds.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::wal::{self, FrameImage};

/// The size that every store is made with.
const PAGE_BYTES: usize = 4096;

/// What every file of the engine begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Page numbers begin with 1.
pub(super) type PageNumber = u32;

/// The pages.
pub(super) struct Pages {
    file: Option<File>,
    log: Option<File>,
    /// Where in the log the newest image of a page begins.
    images: HashMap<PageNumber, u64>,
    /// Bytes of a page, and how many of them hold something.
    pub(super) size: usize,
    pub(super) usable: usize,
    /// Pages that there should be.
    pub(super) count: PageNumber,
    /// Frames of the log that are used, and those that are damaged.
    pub(super) frames: u64,
    pub(super) frames_damaged: u64,
    /// Pages in the order in which they were read.
    #[cfg(test)]
    pub(super) trace: std::cell::RefCell<Vec<PageNumber>>,
}

impl Pages {
    /// Looks at the file, and at its log if that is given. Neither has to be there.
    pub(super) fn open(path: &Path, log: Option<&Path>) -> io::Result<Self> {
        let file = existing(path)?;
        let log = log.map(existing).transpose()?.flatten();
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
            #[cfg(test)]
            trace: std::cell::RefCell::default(),
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
            if size.is_power_of_two() && (512..=65_536).contains(&size) {
                pages.size = size;
            }
        }
        pages.read_log()?;
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

    fn read_log(&mut self) -> io::Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let mut waiting: Vec<(PageNumber, u64)> = Vec::new();
        let mut size = None;
        let (mut images, mut used, mut damaged) = (HashMap::new(), 0, 0);
        wal::frames(log, |frame: FrameImage| {
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
            return log.read_exact_at(&mut page, *at).ok().map(|()| page);
        }
        let at = u64::from(number - 1) * self.size as u64;
        self.file.as_ref()?.read_exact_at(&mut page, at).ok().map(|()| page)
    }

    /// Tells whether the first page says that this is a file of the engine.
    pub(super) fn has_magic(&self) -> bool {
        self.read(1).is_some_and(|page| page.starts_with(MAGIC))
    }
}

fn existing(path: &Path) -> io::Result<Option<File>> {
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
