//! Goes through the trees of a store as far as they can be read, and through pages that no readable tree leads to.

use std::collections::HashSet;

use rusqlite::types::Value;

use super::btree::{Page, Row};
use super::pages::{PageNumber, Pages, number};

/// No tree of a file that fits on a disk is deeper.
const DEPTH: usize = 16;

/// Ids of rows that a tree does not lead to any more: those behind the first, up to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) after: i64,
    pub(super) until: i64,
}

impl Gap {
    /// All ids.
    pub(super) const WHOLE: Self = Self { after: i64::MIN, until: i64::MAX };

    pub(super) fn holds(self, id: i64) -> bool {
        id > self.after && id <= self.until
    }
}

/// A way through the pages. No page is read twice as part of a tree.
pub(super) struct Walk<'p> {
    pages: &'p Pages,
    visited: HashSet<PageNumber>,
    /// Pages that a tree leads to and that cannot be read.
    pub(super) damaged_pages: u64,
    /// Rows on pages that can be read which cannot.
    pub(super) damaged_rows: u64,
    /// Pages that were read and may be wrong.
    pub(super) suspect_pages: u64,
}

impl<'p> Walk<'p> {
    pub(super) fn new(pages: &'p Pages) -> Self {
        Self { pages, visited: HashSet::new(), damaged_pages: 0, damaged_rows: 0, suspect_pages: 0 }
    }

    fn visit(&mut self, page: PageNumber) -> Option<Page> {
        let is_there = page >= 1 && page <= self.pages.count && self.visited.insert(page);
        self.pages.is_suspect.set(false);
        let read = if is_there { Page::read(self.pages, page) } else { None };
        self.damaged_pages += u64::from(read.is_none());
        self.suspect_pages += u64::from(read.is_some() && self.pages.is_suspect.get());
        read
    }

    /// Calls this for every row of a table, in the order of their ids. Returns where there may have been others.
    pub(super) fn table(&mut self, root: PageNumber, each: &mut dyn FnMut(Row)) -> Vec<Gap> {
        let mut gaps = Vec::new();
        self.table_below(root, Gap::WHOLE, DEPTH, each, &mut gaps);
        gaps
    }

    fn table_below(
        &mut self,
        page: PageNumber,
        within: Gap,
        depth: usize,
        each: &mut dyn FnMut(Row),
        gaps: &mut Vec<Gap>,
    ) {
        match self.visit(page) {
            Some(Page::Leaf(rows)) => {
                let mut after = within.after;
                for row in rows {
                    match row.filter(|row| Gap { after, ..within }.holds(row.id)) {
                        Some(row) => {
                            after = row.id;
                            each(row);
                        }
                        None => self.damaged_rows += 1,
                    }
                }
            }
            Some(Page::Interior(children, last)) if depth > 0 => {
                let mut after = within.after;
                for child in children {
                    match child.filter(|(_, until)| Gap { after, ..within }.holds(*until)) {
                        Some((child, until)) => {
                            self.table_below(child, Gap { after, until }, depth - 1, each, gaps);
                            after = until;
                        }
                        None => gaps.push(Gap { after, ..within }),
                    }
                }
                self.table_below(last, Gap { after, ..within }, depth - 1, each, gaps);
            }
            Some(_) => {
                // A page of another tree: it may be reached from there.
                self.visited.remove(&page);
                self.damaged_pages += 1;
                gaps.push(within);
            }
            None => gaps.push(within),
        }
    }

    /// Calls this for every row of an index, or of a table without row ids. Tells whether all of it could be read.
    pub(super) fn index(&mut self, root: PageNumber, each: &mut dyn FnMut(Vec<Value>)) -> bool {
        self.index_below(root, DEPTH, each)
    }

    fn index_below(&mut self, page: PageNumber, depth: usize, each: &mut dyn FnMut(Vec<Value>)) -> bool {
        match self.visit(page) {
            Some(Page::IndexLeaf(rows)) => {
                let mut is_whole = true;
                for row in rows {
                    is_whole &= self.index_row(row, each);
                }
                is_whole
            }
            Some(Page::IndexInterior(parts, last)) if depth > 0 => {
                let (mut is_whole, is_suspect) = (true, self.pages.is_suspect.get());
                for (child, row) in parts {
                    is_whole &= child.is_some_and(|child| self.index_below(child, depth - 1, each));
                    self.pages.is_suspect.set(is_suspect);
                    is_whole &= self.index_row(row, each);
                }
                self.index_below(last, depth - 1, each) && is_whole
            }
            Some(_) => {
                self.visited.remove(&page);
                self.damaged_pages += 1;
                false
            }
            None => false,
        }
    }

    fn index_row(&mut self, row: Option<Vec<Value>>, each: &mut dyn FnMut(Vec<Value>)) -> bool {
        self.damaged_rows += u64::from(row.is_none());
        row.map(each).is_some()
    }

    /// Calls this with the rows of every page that looks like one of a table and that neither a tree nor the list of free
    /// pages leads to. A free page holds rows that were deleted.
    pub(super) fn orphans(&self, mut each: impl FnMut(Vec<Option<Row>>)) {
        let free = self.free_pages();
        for page in 2..=self.pages.count {
            if self.visited.contains(&page) || free.contains(&page) {
                continue;
            }
            self.pages.is_suspect.set(false);
            if let Some(Page::Leaf(rows)) = Page::read(self.pages, page) {
                each(rows);
            }
        }
    }

    fn free_pages(&self) -> HashSet<PageNumber> {
        let mut free = HashSet::new();
        let first = if self.pages.has_magic() { self.pages.read(1) } else { None };
        let mut trunk = first.and_then(|page| number(&page, 32, 4)).unwrap_or(0);
        while trunk != 0 && trunk <= self.pages.count && free.insert(trunk) {
            let Some(page) = self.pages.read(trunk) else { break };
            let count = number(&page, 4, 4).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            let most = (self.pages.usable / 4).saturating_sub(2);
            free.extend((0..count.min(most)).filter_map(|leaf| number(&page, 8 + leaf * 4, 4)));
            trunk = number(&page, 0, 4).unwrap_or(0);
        }
        free
    }
}
