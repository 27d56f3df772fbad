//! Decides whether a log belongs to the file that it stands beside.
//!
//! The engine goes by the name alone: a log that was left behind when its file was moved away is removed, and one beside
//! which another file was put is laid over that one, which is then damaged for good. So each opening of a store counts
//! itself, in two commits with the file brought up to date between them. Every commit writes the page on which the count
//! stands, so the log says which openings it knows, and the file must be of one of them, or of the one just before.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::super::checkpoint::Checkpointer;
use super::super::page_keeper::LogMove;
use super::super::{AppendError, wal};
use super::btree::Page;
use super::pages::{PageNumber, Pages};
use super::schema_roots;

/// The key of the number of openings.
const OPENINGS: &str = "openings";

/// A copy counts as so many openings of the store that it was made of: no log of that one belongs to it.
const COPY: i64 = 1_000_000;

/// A log that was left by a crash is brought into the file at once up to this size: a start should not take long.
const QUICK_BYTES: u64 = 16 << 20;

/// A log that cannot be that of the file beside it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::sqlite) enum Foreign {
    /// There is no such file, or nothing in it.
    Alone(String),
    /// It is that of another file.
    Other(String),
}

impl Foreign {
    pub(in crate::sqlite) fn into_reason(self) -> String {
        match self {
            Self::Alone(why) | Self::Other(why) => why,
        }
    }
}

/// Returns the evidence that a log does not belong to its store. Unreadable parts are no evidence.
pub(in crate::sqlite) fn foreign(store: &Path, log: &Path) -> Option<Foreign> {
    let file = File::open(log).ok()?;
    let (mut commits, mut page_bytes, mut images) = (0_u64, 0, Vec::new());
    wal::frames(&file, |frame| {
        if frame.is_whole {
            commits += u64::from(frame.is_commit);
            page_bytes = frame.page_bytes;
            images.push((frame.page, frame.at));
        }
    })
    .ok()?;
    if commits == 0 {
        return None;
    }
    let length = std::fs::metadata(store).map_or(0, |facts| facts.len());
    if length == 0 {
        let why = format!("`{}` is gone or empty, but its log holds {commits} commits", name(store));
        return Some(Foreign::Alone(why));
    }
    let pages = Pages::open(store, None).ok().filter(Pages::has_magic)?;
    let beside = |why: &str| {
        Some(Foreign::Other(format!("the log beside `{}` is that of another file: {why}", name(store))))
    };
    if pages.size != page_bytes {
        return beside("its pages have another size");
    }
    let root = schema_roots(&pages).get("meta").copied()?;
    let own = counts(Page::read(&pages, root)?)?;
    let mut known = images.iter().filter(|(page, _)| *page == root).filter_map(|(page, at)| {
        let image = Image { pages: &pages, page: *page, log: &file, at: *at };
        image.counts()
    });
    let first = known.next()?;
    let last = known.next_back().unwrap_or_else(|| first.clone());
    let count = |counts: &BTreeMap<String, i64>| counts.get(OPENINGS).copied().unwrap_or(0);
    let range = count(&first).saturating_sub(1)..=count(&last);
    if range.contains(&count(&own)) { None } else { beside("they were not written together") }
}

/// Returns the newest entry that any frame of a log knows; none if that is unknown.
pub(in crate::sqlite) fn newest_seq(store: &Path, log: &Path) -> Option<i64> {
    let pages = Pages::open(store, Some(log)).ok().filter(Pages::has_magic)?;
    let root = schema_roots(&pages).get("meta").copied()?;
    let file = File::open(log).ok()?;
    let mut newest = 0;
    wal::frames(&file, |frame| {
        if frame.is_whole && frame.is_of_this_log && frame.page == root {
            let image = Image { pages: &pages, page: root, log: &file, at: frame.at };
            let seq = image.counts().and_then(|counts| counts.get("seq").copied());
            newest = newest.max(seq.unwrap_or(0));
        }
    })
    .ok()?;
    Some(newest)
}

fn name(store: &Path) -> String {
    store.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The image of a page in a log.
struct Image<'a> {
    pages: &'a Pages,
    page: PageNumber,
    log: &'a File,
    at: u64,
}

impl Image<'_> {
    fn counts(&self) -> Option<BTreeMap<String, i64>> {
        let mut bytes = vec![0; self.pages.size];
        self.log.read_exact_at(&mut bytes, self.at).ok()?;
        counts(Page::parse(self.pages, self.page, &bytes)?)
    }
}

/// Returns the numbers of the whole, as their page has them.
fn counts(page: Page) -> Option<BTreeMap<String, i64>> {
    let Page::IndexLeaf(rows) = page else { return None };
    let counts = rows
        .into_iter()
        .flatten()
        .filter_map(|row| match <[Value; 2]>::try_from(row) {
            Ok([Value::Text(key), Value::Integer(value)]) => Some((key, value)),
            _ => None,
        })
        .collect();
    Some(counts)
}

/// Counts an opening. A disk that is full is no reason not to open: the log is then distinguished less well.
pub(in crate::sqlite) fn note_opening(conn: &Connection, log: &Path, checkpointer: &Checkpointer) {
    let is_quick = std::fs::metadata(log).map_or(0, |facts| facts.len()) <= QUICK_BYTES;
    let noted = count_openings(conn, 1)
        .map_err(AppendError::from)
        .and_then(|()| if is_quick { checkpointer.checkpoint(LogMove::Passive) } else { Ok(()) })
        .and_then(|()| Ok(count_openings(conn, 1)?));
    drop(noted);
}

/// Notes in a copy that it is one.
pub(in crate::sqlite) fn note_copy(conn: &Connection) -> rusqlite::Result<()> {
    count_openings(conn, COPY)
}

fn count_openings(conn: &Connection, by: i64) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = value + ?2",
        params![OPENINGS, by],
    )
    .map(drop)
}
