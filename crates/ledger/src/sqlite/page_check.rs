//! Compares the pages of a store with their sums, and says of what is damaged what stands there.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::faults::{WAY_OUT_OF_CHANGES, damage_in_words, way_out_of_damage};
use super::page_sums::{CHANGED, DAMAGED, LogMark, Mark, PageSums, UNKNOWN, sum_of};
use super::store_files::beside;
use super::wal::{Log, SeenPages};

/// The longest search for the rows of a damaged page.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pages that are read at once.
const SLICE: usize = 256;

/// Tables that folding anew empties before it fills them: what is damaged in them or in their indexes is gone with that.
pub(super) const FOLDED_ANEW: &[&str] = &[
    "fact",
    "file_touch",
    "file_use",
    "repeat",
    "turn_sum",
    "rollup",
    "latency",
    "task_model",
    "task_skill",
    "activation",
];

/// Tables of the search index, which folding anew empties too.
const SEARCH: &[&str] = &["search_data", "search_idx", "search_docsize", "vocabulary"];

/// The content of a page: a table or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageOwner {
    /// The table, or the index and its table.
    pub(crate) name: String,
    /// A fold of all entries writes all of it again.
    pub(crate) is_folded: bool,
}

/// The result of checking a store that no server uses.
#[derive(Debug, Default)]
pub struct PageReport {
    /// Pages that were compared.
    pub compared: u64,
    /// Every page was checked.
    pub is_whole: bool,
    /// Pages that are damaged, each with what stands there if that could be found.
    pub damaged: BTreeMap<u32, Option<String>>,
    /// A fold of all entries mends all of them.
    pub is_mendable: bool,
    /// Pages that another program changed, or the disk while none of ours ran.
    pub changed: u64,
}

impl PageReport {
    /// Describes the damage: the number of pages, and the content of some of them.
    #[must_use]
    pub fn words(&self) -> String {
        let named = self.damaged.iter().map(|(page, place)| (*page, place.as_deref()));
        damage_in_words(self.damaged.len(), named)
    }

    /// Returns the hint for the damage.
    #[must_use]
    pub fn way_out(&self) -> &'static str {
        if self.damaged.is_empty() { WAY_OUT_OF_CHANGES } else { way_out_of_damage(self.is_mendable) }
    }
}

/// Returns `true` if another program may have changed the file since the sums were made.
pub(super) fn is_doubtful(mark: Mark, log: Option<&Log>, file: &File) -> io::Result<bool> {
    Ok(mark.is_doubtful
        || match (mark.log, log.map(|log| log.begin().salts)) {
            (LogMark::Empty { changed: then, bytes }, _) => changed(file)? != (then, bytes),
            // With every new use the engine adds one to the first salt; it begins one only when all is in the file.
            (LogMark::Of { salts, .. }, Some(now)) => now != salts && now.0 != salts.0.wrapping_add(1),
            (LogMark::Of { .. }, None) => true,
        })
}

/// Returns when a file was last changed, in nanoseconds, and its length.
pub(super) fn changed(file: &File) -> io::Result<(i64, u64)> {
    let facts = file.metadata()?;
    let moment = facts.mtime().wrapping_mul(1_000_000_000).wrapping_add(facts.mtime_nsec());
    Ok((moment, facts.len()))
}

/// Returns the page that has this sum, if these bytes differ from it in one bit.
fn mended(page: u32, bytes: &[u8], known: u64) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    // Some 32,000 sums of a page of 4 KB, which is why only a few pages are tried.
    let is_found = (0..bytes.len() * 8).any(|bit| {
        flip(&mut bytes, bit);
        let is_it = sum_of(page, &bytes) == known;
        if !is_it {
            flip(&mut bytes, bit);
        }
        is_it
    });
    is_found.then_some(bytes)
}

fn flip(bytes: &mut [u8], bit: usize) {
    if let Some(byte) = bytes.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

/// The number of remaining searches for a flipped bit that explains a page. A search takes some ten milliseconds, and
/// if many pages differ, another program changed them.
#[derive(Debug)]
pub(super) struct Tries(u32);

impl Default for Tries {
    fn default() -> Self {
        Self(16)
    }
}

impl Tries {
    /// Returns `true` if one flipped bit explains a page, as long as searches remain.
    pub(super) fn is_flipped(&mut self, page: u32, bytes: &[u8], known: u64) -> bool {
        let is_tried = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        is_tried && mended(page, bytes, known).is_some()
    }

    /// Returns the page as it was before one bit of it was turned. Only what fails counts as a try.
    pub(super) fn mended(&mut self, page: u32, bytes: &[u8], known: u64) -> Option<Vec<u8>> {
        let mended = if self.0 > 0 { mended(page, bytes, known) } else { None };
        if mended.is_none() {
            self.0 = self.0.saturating_sub(1);
        }
        mended
    }
}

/// Returns the pages that nothing is kept on, as far as the list of them can be read: it begins at byte 32 of the first
/// page, and each of its pages names the next one, a count, and as many free pages.
pub(super) fn free_leaves(read: impl Fn(u32) -> io::Result<Vec<u8>>, pages: u64) -> HashSet<u32> {
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
    };
    let mut free = HashSet::new();
    let mut trunk = read(1).map_or(0, |first| word(&first, 32));
    let mut trunks = HashSet::new();
    // A list that is damaged may go in a circle.
    while trunk != 0 && u64::from(trunk) <= pages && trunks.insert(trunk) {
        // An incomplete list only means that some free pages are compared as well, which at worst reports damage that
        // harms nothing.
        let Ok(bytes) = read(trunk) else { break };
        let count = usize::try_from(word(&bytes, 4)).unwrap_or(0).min(bytes.len() / 4);
        free.extend((2..count + 2).map(|index| word(&bytes, index * 4)));
        trunk = word(&bytes, 0);
    }
    free
}

/// Looks what stands on these pages. Those that nothing is kept on are not among the answers.
pub(super) fn places(path: &Path, pages: &[u32]) -> rusqlite::Result<BTreeMap<u32, PageOwner>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(Duration::from_secs(5))?;
    // `dbstat` walks every tree of the store, and a damaged one may lead it through most of the pages more than once.
    let until = Instant::now() + PATIENCE;
    conn.progress_handler(100_000, Some(move || Instant::now() > until))?;
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    let mut find =
        conn.prepare("SELECT name, tbl_name FROM sqlite_schema WHERE type IN ('table', 'index')")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        tables.insert(row.get(0)?, row.get(1)?);
    }
    let wanted: HashSet<u32> = pages.iter().copied().collect();
    let mut places = BTreeMap::new();
    let mut find = conn.prepare("SELECT pageno, name FROM dbstat")?;
    let mut rows = find.query([])?;
    while let Some(row) = rows.next()? {
        let (page, name): (u32, String) = (row.get(0)?, row.get(1)?);
        if !wanted.contains(&page) {
            continue;
        }
        let table = tables.get(&name).cloned().unwrap_or_else(|| name.clone());
        let is_folded = [FOLDED_ANEW, SEARCH].iter().any(|folded| folded.contains(&table.as_str()));
        let name = if table == name { format!("`{name}`") } else { format!("`{name}` of `{table}`") };
        places.insert(page, PageOwner { name, is_folded });
        // The walk over the rest of a large store would take seconds and find nothing more.
        if places.len() == wanted.len() {
            break;
        }
    }
    Ok(places)
}

/// Compares the pages of a store that no server uses with their sums, as far as `goes_on` lets it. Writes nothing. Without
/// sums nothing is compared.
///
/// # Errors
/// If a file cannot be read.
pub fn check_pages(path: &Path, mut goes_on: impl FnMut() -> bool) -> io::Result<PageReport> {
    let file = File::open(path)?;
    let mut head = [0; 18];
    let mut report = PageReport { is_mendable: true, ..PageReport::default() };
    if file.read_exact_at(&mut head, 0).is_err() {
        return Ok(report);
    }
    let [.., high, low] = head;
    let size = match u32::from(u16::from_be_bytes([high, low])) {
        1 => 65_536,
        size => size,
    };
    let Some((mut sums, mark)) = PageSums::read_only(&beside(path, ".sums"), size)? else {
        return Ok(report);
    };
    let log = Log::open(&beside(path, "-wal"))?;
    let is_doubtful = is_doubtful(mark, log.as_ref(), &file)?;
    let (seen, mut tries) = (SeenPages::open(log)?, Tries::default());
    let bytes_of = |page: u32, count: usize| {
        let mut bytes = vec![0; count * size as usize];
        file.read_exact_at(&mut bytes, u64::from(page - 1) * u64::from(size)).map(|()| bytes)
    };
    let pages = u32::try_from(file.metadata()?.len() / u64::from(size.max(1))).unwrap_or(u32::MAX);
    let free =
        free_leaves(|page| seen.read(page)?.map_or_else(|| bytes_of(page, 1), Ok), u64::from(u32::MAX));
    for from in (1..=pages).step_by(SLICE) {
        if !goes_on() {
            return Ok(report);
        }
        let count = (pages - from + 1).min(SLICE as u32) as usize;
        for (page, bytes) in (from..).zip(bytes_of(from, count)?.chunks_exact(size as usize)) {
            let known = sums.get(page)?;
            // A mark is believed even then: what the log holds of such a page was made from the damage.
            let is_read_from_log = seen.holds(page) && !matches!(known, DAMAGED | CHANGED);
            if known == UNKNOWN || is_read_from_log || free.contains(&page) {
                continue;
            }
            report.compared += 1;
            if sum_of(page, bytes) == known {
                continue;
            }
            if known == CHANGED {
                report.changed += 1;
            } else if known == DAMAGED || !is_doubtful || tries.is_flipped(page, bytes, known) {
                report.damaged.insert(page, None);
            } else {
                report.changed += 1;
            }
        }
    }
    report.is_whole = true;
    if !report.damaged.is_empty() {
        let numbers: Vec<u32> = report.damaged.keys().copied().collect();
        let places = places(path, &numbers).unwrap_or_default();
        report.is_mendable = numbers.iter().all(|page| places.get(page).is_some_and(|place| place.is_folded));
        for (page, place) in places {
            report.damaged.insert(page, Some(place.name));
        }
    }
    Ok(report)
}
