//! Looks into the write-ahead log before it is opened.
//!
//! The engine reads the log up to the first frame whose checksum is wrong and takes that for its end: rightly, if the
//! last commit was cut short, and silently, if the disk has damaged a frame in the middle. Each checksum goes on from
//! the one before it, so frames behind a damaged one can still be checked against each other. If a whole commit stands
//! there, it was written and is lost. So is one of which a single bit is wrong: a write that was cut short looks
//! otherwise. The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::faults::Faults;
use super::page_sums::{LogMark, PageSums};
use super::salvage::lineage;
use super::store_files::beside;
use crate::aside_folder::{AsideFolder, AsideKind};

const HEAD: usize = 32;
const FRAME_HEAD: usize = 24;

/// Bytes of a page, where nothing else says it.
const PAGE: usize = 4096;

/// The first word of a log; its last bit says in which order checksums read their words.
const MAGIC: u32 = 0x377f_0682;

/// Bytes that are read at once.
const READ: usize = 1 << 20;

/// A running checksum.
type Sum = (u32, u32);

/// Commits of a log that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LostCommits {
    pub(super) commits: u64,
    /// Only damage explains the loss. Otherwise a power cut does too: commits of folded posts do not wait for the disk,
    /// so any part of them may be on it.
    pub(super) is_damage: bool,
}

/// Commits that are missing, of which it is not known yet whether they come back from the journal of posts.
#[derive(Debug)]
pub(super) struct UnsureLoss {
    commits: u64,
    /// The newest entry that they knew.
    seq: i64,
    /// The copies of the log that were kept.
    copies: Vec<PathBuf>,
}

/// Looks for lost commits; if there are any, counts them and keeps a copy of the log. A log that cannot be read is left
/// to the engine, which says so. Returns those that may come back.
pub(super) fn examine_and_keep(store: &Path, aside: &AsideFolder, faults: &Faults) -> Option<UnsureLoss> {
    let log = beside(store, "-wal");
    let lost = lost_commits(store).ok().filter(|lost| lost.commits > 0)?;
    let commits = lost.commits;
    let reason = format!("{commits} commits stand in or behind a frame that is damaged");
    let before = aside.list(AsideKind::Log);
    // The store opens all the same: what is in the log cannot be used by anybody else anyway.
    aside.keep_file(AsideKind::Log, &reason, &log).ok();
    match lineage::newest_seq(store, &log).filter(|_| !lost.is_damage) {
        Some(seq) => {
            let copies =
                aside.list(AsideKind::Log).into_iter().filter(|copy| !before.contains(copy)).collect();
            Some(UnsureLoss { commits, seq, copies })
        }
        None => {
            faults.commits_damaged(commits);
            None
        }
    }
}

impl UnsureLoss {
    /// Decides, once everything in the journal of posts is folded, by the newest entry of the store.
    pub(super) fn decide(self, seq: i64, aside: &AsideFolder, faults: &Faults) {
        if seq < self.seq {
            faults.commits_damaged(self.commits);
            return;
        }
        for copy in &self.copies {
            aside.remove(copy).ok();
        }
    }
}

/// Counts the unreadable commits of a store's log: those behind a damaged frame, and a damaged one itself.
pub(super) fn lost_commits(store: &Path) -> io::Result<LostCommits> {
    match File::open(beside(store, "-wal")) {
        Ok(mut file) => {
            // Frames of an earlier use look the same once the head is gone. Only a page that the store lacks proves
            // that commits are missing.
            let lost_head = lost_head(&file, store)?.filter(|head| is_missing(&file, *head, store));
            file.rewind()?;
            count(BufReader::with_capacity(READ, file), lost_head)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(LostCommits::default()),
        Err(error) => Err(error),
    }
}

fn count(mut log: impl Read, lost_head: Option<Head>) -> io::Result<LostCommits> {
    let mut bytes = [0; HEAD];
    if !fill(&mut log, &mut bytes)? {
        return Ok(LostCommits::default());
    }
    let (head, mut is_broken) = match Head::read(&bytes) {
        Some(head) => (head, false),
        // For the engine it is no log at all.
        None => match mended_head(bytes).or(lost_head) {
            Some(head) => (head, true),
            None => return Ok(LostCommits::default()),
        },
    };
    // Each checksum begins with the one before it. Behind a frame that is wrong the frame's own claim goes on, so
    // that whatever follows can still be checked.
    let (mut before, mut lost) = (head.sum, LostCommits { commits: 0, is_damage: is_broken });
    let mut frame = vec![0; FRAME_HEAD + head.page];
    while fill(&mut log, &mut frame)? {
        let claimed = Frame::parse(&frame);
        before = match head.check(before, &frame) {
            Ok(sum) => {
                lost.commits += u64::from(is_broken && claimed.is_commit());
                sum
            }
            Err(Some(mended)) => {
                // Not the end of what was written: that would differ in more than a bit.
                (is_broken, lost.is_damage) = (true, true);
                lost.commits += u64::from(mended.is_commit());
                mended.sum
            }
            Err(None) => {
                is_broken = true;
                claimed.sum
            }
        };
    }
    Ok(lost)
}

/// Reconstructs the head of a log whose first sector is lost, from the second and third frame, which must belong
/// together. A sector of zeros may also be one that was never written, before any commit waited for the disk, so the
/// sums must know the log.
fn lost_head(log: &File, store: &Path) -> io::Result<Option<Head>> {
    let size = FRAME_HEAD + PAGE;
    let mut bytes = vec![0; HEAD + 3 * size];
    match log.read_exact_at(&mut bytes, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let (head, frames) = bytes.split_at(HEAD);
    let is_there =
        head.try_into().is_ok_and(|head| Head::read(&head).is_some() || mended_head(head).is_some());
    let [_, second, third] = [0, 1, 2].map(|place| frames.get(place * size..).unwrap_or_default());
    // The first frame stands in the same sector as the head. The second one's claimed checksum is where the third has
    // to go on.
    let (second, third) = (Frame::parse(second), third.get(..size).unwrap_or_default());
    let found = [false, true]
        .map(|is_big| Head { page: PAGE, is_big, salts: second.salts, sum: (0, 0) })
        .into_iter()
        .find(|head| !is_there && second.page != 0 && head.check_quickly(second.sum, third).is_ok());
    let is_empty = head.iter().all(|byte| *byte == 0);
    let is_known = |salts: (u32, u32)| {
        let sums = PageSums::read_only(&beside(store, ".sums"), PAGE as u32).ok().flatten();
        match sums.map(|(_, mark)| mark.log) {
            // The engine adds one to the first salt when it begins a log anew, which the sums learn with their next
            // checkpoint.
            Some(LogMark::Of { salts: known }) => known == salts || known.0.wrapping_add(1) == salts.0,
            Some(LogMark::Empty { .. }) | None => false,
        }
    };
    Ok(found.filter(|head| !is_empty || is_known(head.salts)))
}

/// Returns `true` if a log without its head holds commits that the store lacks.
fn is_missing(log: &File, head: Head, store: &Path) -> bool {
    // A store that cannot be opened has none of the commits: claiming a loss too many only keeps a copy too many.
    let Ok(store) = File::open(store) else { return true };
    let mut newest = HashMap::new();
    let read = frames_of(log, head, |frame| {
        if frame.is_whole {
            newest.insert(frame.page, frame.at);
        }
    });
    let differs = |page: u32, at: u64| {
        let (mut kept, mut image) = (vec![0; PAGE], vec![0; PAGE]);
        let place = u64::from(page.saturating_sub(1)) * PAGE as u64;
        store.read_exact_at(&mut kept, place).is_err()
            || log.read_exact_at(&mut image, at).is_err()
            || kept != image
    };
    read.is_err() || newest.into_iter().any(|(page, at)| differs(page, at))
}

/// Returns the head that this one was before a bit of it was damaged; none if it was never one. A head that is torn is
/// none: it was being written while the frames behind it had all been moved into the file.
fn mended_head(bytes: [u8; HEAD]) -> Option<Head> {
    (0..HEAD * 8).find_map(|bit| {
        let mut mended = bytes;
        // 256 attempts with a checksum of 24 bytes each cost less than one read of the disk, so no cleverer search is
        // needed.
        *mended.get_mut(bit / 8)? ^= 1 << (bit % 8);
        Head::read(&mended)
    })
}

/// The head of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    /// Bytes of a page.
    page: usize,
    /// In which order checksums read their words.
    is_big: bool,
    salts: (u32, u32),
    sum: Sum,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    page: u32,
    /// Pages of the store after this commit; zero within one.
    pages: u32,
    salts: (u32, u32),
    sum: Sum,
}

impl Frame {
    fn parse(bytes: &[u8]) -> Self {
        Self {
            page: word(bytes, 0),
            pages: word(bytes, 4),
            salts: (word(bytes, 8), word(bytes, 12)),
            sum: (word(bytes, 16), word(bytes, 20)),
        }
    }

    fn is_commit(&self) -> bool {
        self.pages != 0
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
}

impl Head {
    /// Reads a head; none if it is none or damaged.
    fn read(bytes: &[u8; HEAD]) -> Option<Self> {
        let page = match usize::try_from(word(bytes, 8)).ok()? {
            1 => 65_536,
            page => page,
        };
        let is_log = word(bytes, 0) & !1 == MAGIC && page.is_power_of_two() && (512..=65_536).contains(&page);
        let is_big = word(bytes, 0) & 1 == 1;
        let claimed = (word(bytes, 24), word(bytes, 28));
        let is_whole = is_log && sum((0, 0), bytes.get(..24)?, is_big) == claimed;
        is_whole.then_some(Self { page, is_big, salts: (word(bytes, 16), word(bytes, 20)), sum: claimed })
    }

    /// Returns the checksum of a frame behind another one. If it is none of this log: what it was if only a bit of it
    /// is damaged.
    fn check(&self, before: Sum, bytes: &[u8]) -> Result<Sum, Option<Frame>> {
        let frame = Frame::parse(bytes);
        let (head, data) = bytes.split_at(FRAME_HEAD.min(bytes.len()));
        let summed = [head.get(..8).unwrap_or_default(), data];
        let computed = summed.iter().fold(before, |before, bytes| sum(before, bytes, self.is_big));
        let bits = |one: (u32, u32), other: (u32, u32)| {
            (one.0 ^ other.0).count_ones() + (one.1 ^ other.1).count_ones()
        };
        let mended = Frame { salts: self.salts, sum: computed, ..frame };
        match (bits(frame.salts, self.salts), bits(frame.sum, computed)) {
            (0, 0) => Ok(computed),
            // A frame of an earlier use differs in many bits of its salts, and an interrupted write in many of its
            // checksum. One bit is the disk's.
            (1, 0) | (0, 1) => Err(Some(mended)),
            (0, _) => {
                let flip = self.find_flip(computed, frame.sum, summed);
                Err(flip.map(|flip| flip.undone_in(frame)))
            }
            _ => Err(None),
        }
    }

    /// Finds the one bit whose change explains a wrong checksum. The checksum is linear: adding to a word adds a
    /// multiple of that to both halves, which depends on the word's place alone.
    fn find_flip(&self, computed: Sum, claimed: Sum, summed: [&[u8]; 2]) -> Option<Flip> {
        let read = if self.is_big { u32::from_be_bytes } else { u32::from_le_bytes };
        let wrong = (claimed.0.wrapping_sub(computed.0), claimed.1.wrapping_sub(computed.1));
        // What one more in the first and in the second word of a pair adds.
        let mut adds = [(1_u32, 1_u32), (0, 1)];
        let count: usize = summed.iter().map(|bytes| bytes.len() / 8).sum();
        let pairs = summed.iter().flat_map(|bytes| bytes.as_chunks::<8>().0).rev();
        for (behind, pair) in pairs.enumerate() {
            for (half, add) in adds.iter().enumerate() {
                let Some(bytes) = pair.as_chunks::<4>().0.get(half) else { continue };
                for bit in 0..32 {
                    let one = 1_u32 << bit;
                    // The word as it is now was summed; undoing the flip adds the bit or takes it away.
                    let by = if read(*bytes) & one == 0 { one } else { one.wrapping_neg() };
                    if (add.0.wrapping_mul(by), add.1.wrapping_mul(by)) == wrong {
                        let mended = read(*bytes) ^ one;
                        let mended = if self.is_big { mended.to_be_bytes() } else { mended.to_le_bytes() };
                        return Some(Flip { word: (count - 1 - behind) * 2 + half, mended, sum: claimed });
                    }
                }
            }
            adds = adds.map(|(first, second)| {
                let first = first.wrapping_add(second);
                (first, second.wrapping_add(first))
            });
        }
        None
    }
}

/// A bit of a frame that is damaged: in which word of what the checksum covers, and what that was.
struct Flip {
    word: usize,
    mended: [u8; 4],
    sum: Sum,
}

impl Flip {
    fn undone_in(&self, frame: Frame) -> Frame {
        let mended = u32::from_be_bytes(self.mended);
        let page = if self.word == 0 { mended } else { frame.page };
        let pages = if self.word == 1 { mended } else { frame.pages };
        Frame { page, pages, sum: self.sum, ..frame }
    }
}

/// A log that is in use, read beside its writer.
#[derive(Debug)]
pub(super) struct Log {
    file: Arc<File>,
    head: Head,
}

/// A place in a log behind a whole commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPlace {
    /// The use of the log.
    pub(super) salts: (u32, u32),
    /// Frames before it.
    pub(super) frames: u64,
    sum: Sum,
}

impl Log {
    /// Opens a log; none if there is none or nothing was written to it.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Self::read(Arc::new(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Does the same with a file that is open.
    pub(super) fn read(file: Arc<File>) -> io::Result<Option<Self>> {
        let mut head = [0; HEAD];
        match file.read_exact_at(&mut head, 0) {
            Ok(()) => Ok(Head::read(&head).map(|head| Self { file, head })),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the place before the first frame.
    pub(super) fn begin(&self) -> LogPlace {
        LogPlace { salts: self.head.salts, frames: 0, sum: self.head.sum }
    }

    /// Waits until the log is on disk as it is now.
    pub(super) fn sync(&self) -> io::Result<()> {
        // Data only: the length is metadata that this call writes as far as the data needs it, and the time of a
        // change without a request.
        self.file.sync_data()
    }

    /// Reads the commits behind a place, and hands over each of their frames: its number from zero, its page and what
    /// stands on it. Returns the place behind the last of them.
    pub(super) fn scan<T>(
        &self,
        from: LogPlace,
        mut each: impl FnMut(u64, u32, &[u8]) -> T,
    ) -> io::Result<(LogPlace, Vec<T>)> {
        let size = FRAME_HEAD + self.head.page;
        let mut place = from;
        let mut seen = (from.frames, from.sum);
        let mut reader = BufReader::with_capacity(READ, &*self.file);
        reader.seek(SeekFrom::Start(HEAD as u64 + from.frames * size as u64))?;
        let (mut frame, mut found, mut committed) = (vec![0; size], Vec::new(), 0);
        while fill(&mut reader, &mut frame)? {
            let Ok(sum) = self.head.check_quickly(seen.1, &frame) else { break };
            let said = Frame::parse(&frame);
            found.push(each(seen.0, said.page, frame.get(FRAME_HEAD..).unwrap_or_default()));
            seen = (seen.0 + 1, sum);
            if said.is_commit() {
                committed = found.len();
                place = LogPlace { frames: seen.0, sum, ..place };
            }
        }
        found.truncate(committed);
        Ok((place, found))
    }
}

/// Returns the salts of a log, which identify its use, or `None` if it does not begin as a log does.
pub(super) fn salts(log: &File) -> io::Result<Option<(u32, u32)>> {
    let mut head = [0; HEAD];
    match log.read_exact_at(&mut head, 0) {
        Ok(()) => Ok(Head::read(&head).map(|head| head.salts)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// A frame as it stands in a log: the image of one page, damaged or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameImage {
    /// The page.
    pub(super) page: u32,
    /// Bytes of a page.
    pub(super) page_bytes: usize,
    /// The position of the image in the log.
    pub(super) at: u64,
    /// A commit ends with it.
    pub(super) is_commit: bool,
    /// It was written since the log was last restarted.
    pub(super) is_of_this_log: bool,
    /// Its checksum fits that of the frame before it.
    pub(super) is_whole: bool,
}

/// Calls this for every frame of a log, in their order, damaged or not. A head that is damaged is no log at all for the
/// engine: there are none then.
pub(super) fn frames(log: &File, each: impl FnMut(FrameImage)) -> io::Result<()> {
    let mut bytes = [0; HEAD];
    match log.read_exact_at(&mut bytes, 0) {
        Ok(()) => Head::read(&bytes).map_or(Ok(()), |head| frames_of(log, head, each)),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads the frames also where the head is damaged or gone and the frames tell what it was.
pub(super) fn frames_behind_damage(log: &File, store: &Path, each: impl FnMut(FrameImage)) -> io::Result<()> {
    let mut bytes = [0; HEAD];
    if log.read_exact_at(&mut bytes, 0).is_err() {
        return Ok(());
    }
    let head = match Head::read(&bytes).or_else(|| mended_head(bytes)) {
        Some(head) => Some(head),
        None => lost_head(log, store)?,
    };
    head.map_or(Ok(()), |head| frames_of(log, head, each))
}

fn frames_of(log: &File, head: Head, mut each: impl FnMut(FrameImage)) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(READ, log);
    reader.seek(SeekFrom::Start(HEAD as u64))?;
    let (mut before, mut at) = (head.sum, (HEAD + FRAME_HEAD) as u64);
    let mut frame = vec![0; FRAME_HEAD + head.page];
    while fill(&mut reader, &mut frame)? {
        let claimed = Frame::parse(&frame);
        each(FrameImage {
            page: claimed.page,
            page_bytes: head.page,
            at,
            is_commit: claimed.is_commit(),
            is_of_this_log: claimed.salts == head.salts,
            is_whole: head.check_quickly(before, &frame).is_ok(),
        });
        before = claimed.sum;
        at += frame.len() as u64;
    }
    Ok(())
}

/// The pages of the store as readers see them: some of them stand in the log.
#[derive(Debug, Default)]
pub(super) struct SeenPages {
    log: Option<Log>,
    /// The newest frame of each page.
    frames: HashMap<u32, u64>,
}

impl SeenPages {
    /// Finds which pages stand in this log.
    pub(super) fn open(log: Option<Log>) -> io::Result<Self> {
        let frames = match &log {
            Some(log) => log.scan(log.begin(), |number, page, _| (page, number))?.1.into_iter().collect(),
            None => HashMap::new(),
        };
        Ok(Self { log, frames })
    }

    /// Returns `true` if the log has an image of a page.
    pub(super) fn holds(&self, page: u32) -> bool {
        self.frames.contains_key(&page)
    }

    /// Reads a page from the log; none if it does not stand there.
    pub(super) fn read(&self, page: u32) -> io::Result<Option<Vec<u8>>> {
        let (Some(log), Some(frame)) = (&self.log, self.frames.get(&page)) else { return Ok(None) };
        let mut bytes = vec![0; log.head.page];
        let size = (FRAME_HEAD + log.head.page) as u64;
        log.file.read_exact_at(&mut bytes, (HEAD + FRAME_HEAD) as u64 + frame * size)?;
        Ok(Some(bytes))
    }
}

impl Head {
    /// Returns the checksum of a frame behind another one, if it is one of this log.
    fn check_quickly(&self, before: Sum, bytes: &[u8]) -> Result<Sum, ()> {
        let frame = Frame::parse(bytes);
        if frame.salts != self.salts {
            return Err(());
        }
        let (head, data) = bytes.split_at(FRAME_HEAD.min(bytes.len()));
        let begun = sum(before, head.get(..8).unwrap_or_default(), self.is_big);
        let computed = sum(begun, data, self.is_big);
        if computed == frame.sum { Ok(computed) } else { Err(()) }
    }
}

/// Fills all of these bytes; says whether there were as many.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn sum(mut sum: Sum, bytes: &[u8], is_big: bool) -> Sum {
    let word = if is_big { u32::from_be_bytes } else { u32::from_le_bytes };
    for pair in bytes.as_chunks::<8>().0 {
        let [a, b, c, d, e, f, g, h] = *pair;
        sum.0 = sum.0.wrapping_add(word([a, b, c, d])).wrapping_add(sum.1);
        sum.1 = sum.1.wrapping_add(word([e, f, g, h])).wrapping_add(sum.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// Returns a log of so many commits of one page each, as a process leaves it that is gone.
    fn log(commits: usize) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.db");
        let conn = Connection::open(&path).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        conn.execute_batch("CREATE TABLE one (x)").unwrap();
        for number in 1..commits {
            conn.execute("INSERT INTO one VALUES (?1)", [number as i64]).unwrap();
        }
        std::fs::read(folder.path().join("made.db-wal")).unwrap()
    }

    fn count(log: &[u8]) -> u64 {
        super::count(log, None).unwrap().commits
    }

    fn frames(log: &[u8]) -> usize {
        (log.len() - HEAD) / (FRAME_HEAD + 4096)
    }

    #[test]
    fn a_whole_log_and_one_that_was_cut_short_have_lost_nothing() {
        let whole = log(6);
        assert_eq!(count(whole.as_slice()), 0);
        for length in [0, 10, HEAD, HEAD + 100, whole.len() - 1, whole.len() - 5000] {
            assert_eq!(count(&whole[..length]), 0, "{length}");
        }
        assert_eq!(count([7; 9000].as_slice()), 0, "it is no log");
    }

    #[test]
    fn commits_behind_a_damaged_frame_are_counted_wherever_the_damage_is() {
        let whole = log(6);
        let count_of = frames(&whole);
        for damaged in 0..count_of {
            let begin = HEAD + damaged * (FRAME_HEAD + 4096);
            // In its data, its page, its salt and its checksum.
            for at in [begin + FRAME_HEAD + 77, begin, begin + 9, begin + 17] {
                let mut log = whole.clone();
                log[at] ^= 4;
                let lost = count(log.as_slice());
                // The commit itself and all behind it. The first made the table: it has two frames.
                let commits = u64::try_from((count_of - damaged).min(count_of - 1)).unwrap();
                assert_eq!(lost, commits, "{damaged} {at}");
            }
        }
    }

    #[test]
    fn a_commit_that_was_cut_short_is_not_taken_for_damage_and_one_of_which_a_bit_is_wrong_is() {
        let whole = log(4);
        let last = whole.len() - 4096;
        for torn in 0..8 {
            let mut log = whole.clone();
            log[last + torn * 512..].fill(0);
            assert_eq!(count(log.as_slice()), 0, "{torn}");
        }
        for bit in (0..(4096 + FRAME_HEAD) * 8).step_by(61) {
            let mut log = whole.clone();
            log[last - FRAME_HEAD + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(count(log.as_slice()), 1, "{bit}");
        }
    }

    #[test]
    fn a_damaged_bit_of_the_head_costs_every_commit_and_is_seen() {
        let whole = log(5);
        for bit in 0..HEAD * 8 {
            let mut log = whole.clone();
            log[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(count(log.as_slice()), 5, "{bit}");
        }
    }

    #[test]
    fn a_scan_hands_over_every_frame_of_whole_commits_and_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (whole, frame) = (log(6), FRAME_HEAD + 4096);
        let file = File::create(&path).unwrap();
        file.write_all_at(&whole[..whole.len() - frame - 7], 0).unwrap();
        let pages = |from: Option<LogPlace>| {
            let log = Log::open(&path).unwrap().unwrap();
            log.scan(from.unwrap_or_else(|| log.begin()), |number, page, data| (number, page, data.len()))
                .unwrap()
        };
        let (place, found) = pages(None);
        assert_eq!((place.frames, found.len()), (5, 5));
        assert_eq!(found[..3], [(0, 1, 4096), (1, 2, 4096), (2, 2, 4096)]);
        file.write_all_at(&whole, 0).unwrap();
        assert_eq!(pages(Some(place)).1, [(5, 2, 4096), (6, 2, 4096)]);
        file.set_len(0).unwrap();
        assert!(Log::open(&path).unwrap().is_none());
    }

    #[test]
    fn what_an_earlier_use_of_the_log_left_behind_is_not_lost() {
        let (new, old) = (log(3), log(9));
        let mut both = new.clone();
        both.extend_from_slice(&old[new.len()..]);
        assert_eq!(count(both.as_slice()), 0);
    }

    #[test]
    fn a_damaged_log_is_counted_and_a_copy_of_it_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db-wal");
        let store = folder.path().join("ledger.db");
        let aside = AsideFolder::beside(&store);
        let faults = Faults::default();
        let file = File::create(&path).unwrap();
        file.write_all_at(&log(6), 0).unwrap();
        examine_and_keep(&store, &aside, &faults);
        assert_eq!((faults.view(0).damaged_commits, aside.list(AsideKind::Log).len()), (0, 0));
        file.write_all_at(&[9; 10], HEAD as u64 + 500).unwrap();
        examine_and_keep(&store, &aside, &faults);
        let reported = faults.view(0);
        assert!(reported.damaged_commits > 0 && reported.problems[0].contains("hint: "), "{reported:?}");
        let kept = aside.list(AsideKind::Log);
        assert_eq!(std::fs::read(&kept[0]).unwrap(), std::fs::read(&path).unwrap());
    }
}
