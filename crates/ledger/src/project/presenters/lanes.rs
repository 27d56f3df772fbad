//! The lanes of a task and its subagents, in as many columns as the screen has.
//!
//! Rows that are too close to be distinguished become one bin, so that an answer is as large as the picture, not as the
//! task. What a store calls a tool by is its own business: `T`.

use agent_tracer_event::{Certainty, Kind, Lane, Millis};

use super::About;
use crate::store::{Answer, QueryError};
use crate::view::{LaneBin, LaneBins, LaneStrip};

/// A picture has no more columns than this.
const WIDEST: u32 = 4_000;

/// Rows that began at most this long before the picture and still ran in it are drawn too.
pub const LOOK_BACK_MS: i64 = 30 * 60_000;

/// So many rows of a task before the picture are looked at.
pub const MOST_BEFORE: u32 = 2_000;

/// A lane has no more parallel rows than this; what else happens at the same time joins the last.
const MOST_TRACKS: usize = 8;

/// The titles of so many rows that stand alone are looked up.
pub const MOST_TITLES: usize = 500;

/// An empty stretch is a gap if it is at least this part of the picture.
const GAP_PART: usize = 40;

/// The columns of a picture.
#[derive(Clone, Copy, Debug)]
pub struct ColumnGrid {
    /// The moment at which it begins.
    pub from: i64,
    /// The moment at which it ends.
    pub to: i64,
    /// The number of its columns.
    pub width: u32,
    /// The last moment of which anything is known: what still runs is drawn until then.
    pub last: i64,
}

impl ColumnGrid {
    /// Returns the picture of a part of a task's life, which went from `first` to `last`; without an edge, of the
    /// whole.
    ///
    /// # Errors
    /// If it would end before it begins.
    pub fn new(
        from: Option<Millis>,
        to: Option<Millis>,
        width: u32,
        (first, last): (i64, i64),
    ) -> Answer<Self> {
        if from.zip(to).is_some_and(|(from, to)| from >= to) {
            return Err(QueryError::Bad("`from` must be before `to`".to_owned()));
        }
        let from = from.map_or(first, |from| from.0);
        let to = to.map_or(last, |to| to.0).max(from.saturating_add(1));
        Ok(Self { from, to, width: width.clamp(1, WIDEST), last })
    }

    /// Returns the moment before which a row must begin to be in it: the last moment of a life is in it, the end of a
    /// part is not.
    #[must_use]
    pub const fn end(&self) -> i64 {
        self.to.saturating_add((self.to == self.last) as i64)
    }

    /// Returns when a row ends in it, given when it began, when it ended and whether it still runs.
    #[must_use]
    pub fn end_of(&self, start: i64, ended: Option<i64>, is_running: bool) -> i64 {
        if is_running { self.last.max(start) } else { ended.unwrap_or(start).max(start) }
    }

    fn column(&self, at: i64) -> usize {
        // Both ends of a hundred thousand rows: a floating number is several times quicker than a wide division, and a
        // column's edge may be off by less than a millionth of the picture.
        let length = self.to.saturating_sub(self.from) as f64;
        let offset = at.saturating_sub(self.from).max(0) as f64;
        let column = (offset * f64::from(self.width) / length) as usize;
        column.min(self.width as usize - 1)
    }

    fn columns(&self, start: i64, end: i64) -> (usize, usize) {
        let first = self.column(start);
        (first, self.column(end).max(first))
    }

    /// Returns the moment at which a column begins.
    fn at(&self, column: usize) -> i64 {
        let length = i128::from(self.to) - i128::from(self.from);
        let offset = length * column as i128 / i128::from(self.width);
        i64::try_from(i128::from(self.from) + offset).unwrap_or(self.to)
    }

    /// Returns the long stretches of columns in which nothing happened.
    fn gaps(&self, covered: &[bool]) -> Vec<[i64; 2]> {
        let shortest = (covered.len() / GAP_PART).max(2);
        let mut gaps = Vec::new();
        let mut begun = None;
        for (column, is_covered) in covered.iter().copied().chain([true]).enumerate() {
            match (is_covered, begun) {
                (false, None) => begun = Some(column),
                (true, Some(start)) => {
                    if column - start >= shortest {
                        gaps.push([self.at(start), self.at(column)]);
                    }
                    begun = None;
                }
                (true, None) | (false, Some(_)) => {}
            }
        }
        gaps
    }
}

/// A row, as far as it is drawn.
#[derive(Clone, Debug)]
pub struct Mark<T> {
    /// The moment when it began.
    pub start: i64,
    /// The moment when it ended, as far as it is drawn.
    pub end: i64,
    /// Its lane.
    pub lane: Lane,
    /// Its kind.
    pub kind: Option<Kind>,
    /// Its tool.
    pub tool: Option<T>,
    /// The certainty.
    pub certainty: Certainty,
    /// It is a call that failed or was denied.
    pub is_failure: bool,
    /// It still runs.
    pub is_running: bool,
    /// Its number.
    pub fact: i64,
}

/// One bin while it is filled.
#[derive(Clone, Debug)]
struct Bin<T> {
    first: Mark<T>,
    end: i64,
    /// The part of it in which a row ran. Rows come by their start, so one sum without overlaps is enough.
    busy_ms: u64,
    last_column: usize,
    is_narrow: bool,
    track: usize,
    count: u32,
    failures: u32,
    is_running: bool,
    kind: Option<Kind>,
    certainty: Certainty,
    /// The number of rows with the tool of the first.
    same_tool: u32,
    /// The other tools with how many rows of each.
    other_tools: Vec<(Option<T>, u32)>,
}

impl<T: Clone + PartialEq> Bin<T> {
    fn new(mark: &Mark<T>, first: usize, last: usize, track: usize) -> Self {
        Self {
            first: mark.clone(),
            end: mark.end,
            busy_ms: mark.end.saturating_sub(mark.start).try_into().unwrap_or(0),
            last_column: last,
            is_narrow: last - first <= 1,
            track,
            count: 1,
            failures: u32::from(mark.is_failure),
            is_running: mark.is_running,
            kind: mark.kind,
            certainty: mark.certainty,
            same_tool: 1,
            other_tools: Vec::new(),
        }
    }

    fn join(&mut self, mark: &Mark<T>, last: usize) {
        let not_yet_counted = mark.end.saturating_sub(mark.start.max(self.end));
        self.busy_ms = self.busy_ms.saturating_add(not_yet_counted.try_into().unwrap_or(0));
        self.end = self.end.max(mark.end);
        self.last_column = self.last_column.max(last);
        self.count = self.count.saturating_add(1);
        self.failures = self.failures.saturating_add(u32::from(mark.is_failure));
        self.is_running |= mark.is_running;
        self.kind = self.kind.filter(|kind| Some(*kind) == mark.kind);
        self.certainty = self.certainty.min(mark.certainty);
        if mark.tool == self.first.tool {
            self.same_tool += 1;
            return;
        }
        match self.other_tools.iter_mut().find(|(tool, _)| *tool == mark.tool) {
            Some((_, times)) => *times += 1,
            None => self.other_tools.push((mark.tool.clone(), 1)),
        }
    }

    /// Returns the most frequent tool.
    fn usual_tool(&self) -> Option<&T> {
        let first = self.first.tool.as_ref().map(|tool| (tool, self.same_tool));
        let others = self.other_tools.iter().filter_map(|(tool, times)| Some((tool.as_ref()?, *times)));
        others.chain(first).max_by_key(|(_, times)| *times).map(|(tool, _)| tool)
    }

    /// Returns the bin for the wire. Its title is the row's, or else the most frequent tool.
    fn view<N: Names<T>>(&self, about: &About, title: String, names: &mut N) -> Result<LaneBin, N::Error> {
        let only = self.first.tool.as_ref().filter(|_| self.other_tools.is_empty());
        let title = match (title.is_empty(), self.usual_tool()) {
            (false, _) => title,
            (true, Some(tool)) => names.tool(tool)?,
            (true, None) => self.first.kind.map(|kind| kind.to_string()).unwrap_or_default(),
        };
        Ok(LaneBin {
            start: self.first.start,
            end: self.end,
            count: self.count,
            failures: self.failures,
            busy_ms: self.busy_ms,
            running: self.is_running,
            track: u32::try_from(self.track).unwrap_or(u32::MAX),
            id: (self.count == 1).then(|| about.row_id(self.first.fact)),
            title,
            kind: self.kind.map(|kind| kind.to_string()),
            tool: only.map(|tool| names.tool(tool)).transpose()?,
            certainty: self.certainty.to_string(),
        })
    }
}

/// The bins of one lane.
#[derive(Debug)]
struct LaneTracks<T> {
    bins: Vec<Bin<T>>,
    /// The newest bin of each track.
    tracks: Vec<usize>,
}

impl<T: Clone + PartialEq> LaneTracks<T> {
    const fn new() -> Self {
        Self { bins: Vec::new(), tracks: Vec::new() }
    }

    /// Puts a row, which began no earlier than all before it.
    fn put(&mut self, mark: &Mark<T>, first: usize, last: usize) {
        let is_narrow = last - first <= 1;
        let mut free = None;
        for (track, newest) in self.tracks.iter().enumerate() {
            let Some(bin) = self.bins.get_mut(*newest) else { continue };
            if bin.last_column < first {
                free = free.or(Some(track));
            } else if is_narrow && bin.is_narrow {
                // Both are hardly wider than a column and share one: no one could tell them apart.
                bin.join(mark, last.min(bin.last_column.max(first)));
                return;
            }
        }
        let place = self.bins.len();
        match free {
            Some(track) => {
                self.bins.push(Bin::new(mark, first, last, track));
                self.tracks.iter_mut().skip(track).take(1).for_each(|newest| *newest = place);
            }
            None if self.tracks.len() < MOST_TRACKS => {
                self.bins.push(Bin::new(mark, first, last, self.tracks.len()));
                self.tracks.push(place);
            }
            None => {
                if let Some(bin) = self.tracks.last().and_then(|newest| self.bins.get_mut(*newest)) {
                    bin.join(mark, last);
                }
            }
        }
    }
}

/// A picture while it is drawn: the lanes of one task after the other.
pub struct Drawing<T> {
    picture: ColumnGrid,
    covered: Vec<bool>,
    lanes: Vec<LaneTracks<T>>,
    strips: Vec<LaneStrip>,
    /// The number of titles that may still be looked up.
    titles: usize,
}

/// The source of the names in bins.
pub trait Names<T> {
    /// Why something has no name.
    type Error;

    /// Returns the text of a tool.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn tool(&mut self, tool: &T) -> Result<String, Self::Error>;

    /// Returns the titles of rows that stand alone, in the same order; empty if a row has none or cannot be read.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn titles(&mut self, facts: &[i64]) -> Result<Vec<String>, Self::Error>;
}

impl<T: Clone + PartialEq> Drawing<T> {
    /// Returns an empty picture.
    #[must_use]
    pub fn new(picture: ColumnGrid) -> Self {
        Self {
            covered: vec![false; picture.width as usize],
            picture,
            lanes: Lane::ALL.iter().map(|_| LaneTracks::new()).collect(),
            strips: Vec::new(),
            titles: MOST_TITLES,
        }
    }

    /// Puts a row of the task that is being drawn; it began no earlier than all before it.
    pub fn put(&mut self, mark: &Mark<T>) {
        let (first, last) = self.picture.columns(mark.start, mark.end);
        self.covered.iter_mut().take(last + 1).skip(first).for_each(|column| *column = true);
        if let Some(lane) = self.lanes.get_mut(mark.lane as usize) {
            lane.put(mark, first, last);
        }
    }

    /// Ends the task that is being drawn.
    ///
    /// # Errors
    /// If a name cannot be looked up.
    pub fn end_task<N: Names<T>>(&mut self, about: &About, names: &mut N) -> Result<(), N::Error> {
        let lanes = std::mem::replace(&mut self.lanes, Lane::ALL.iter().map(|_| LaneTracks::new()).collect());
        let alone: Vec<i64> = lanes
            .iter()
            .flat_map(|lane| &lane.bins)
            .filter(|bin| bin.count == 1)
            .take(self.titles)
            .map(|bin| bin.first.fact)
            .collect();
        self.titles -= alone.len();
        let mut titles = names.titles(&alone)?.into_iter();
        for (lane, packed) in Lane::ALL.iter().zip(lanes).filter(|(_, packed)| !packed.bins.is_empty()) {
            let mut bins = Vec::with_capacity(packed.bins.len());
            for bin in packed.bins {
                // Looked up in this order; when they are used up, a row is called by its tool.
                let title = if bin.count == 1 { titles.next() } else { None };
                bins.push(bin.view(about, title.unwrap_or_default(), names)?);
            }
            self.strips.push(LaneStrip { task_id: about.uid.to_string(), lane: lane.to_string(), bins });
        }
        Ok(())
    }

    /// Returns the picture.
    #[must_use]
    pub fn end(self) -> LaneBins {
        LaneBins {
            from: Millis(self.picture.from),
            to: Millis(self.picture.to),
            width: self.picture.width,
            gaps: self.picture.gaps(&self.covered),
            strips: self.strips,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(start: i64, end: i64) -> Mark<u8> {
        Mark {
            start,
            end,
            lane: Lane::User,
            kind: Some(Kind::UserMessage),
            tool: None,
            certainty: Certainty::Measured,
            is_failure: false,
            is_running: false,
            fact: start,
        }
    }

    fn packed(marks: &[(i64, i64)], grid: &ColumnGrid) -> LaneTracks<u8> {
        let mut packed = LaneTracks::new();
        for (start, end) in marks {
            let (first, last) = grid.columns(*start, *end);
            packed.put(&mark(*start, *end), first, last);
        }
        packed
    }

    const GRID: ColumnGrid = ColumnGrid { from: 0, to: 1_000, width: 100, last: 1_000 };

    #[test]
    fn what_shares_a_column_is_one_bin_and_what_runs_beside_gets_a_track() {
        let together = packed(&[(0, 0), (1, 1), (2, 2)], &GRID);
        assert_eq!(together.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3]);
        let apart = packed(&[(0, 0), (500, 500)], &GRID);
        assert_eq!(apart.bins.len(), 2);
        let beside = packed(&[(0, 600), (100, 700), (650, 800)], &GRID);
        assert_eq!(beside.bins.iter().map(|bin| bin.track).collect::<Vec<_>>(), [0, 1, 0]);
    }

    #[test]
    fn a_picture_that_ends_before_it_begins_is_none() {
        let of = |from, to| ColumnGrid::new(Some(Millis(from)), Some(Millis(to)), 100, (0, 9));
        assert!(of(5, 6).is_ok());
        for (from, to) in [(5, 5), (6, 5)] {
            assert!(matches!(of(from, to), Err(QueryError::Bad(_))), "{from} {to}");
        }
    }

    #[test]
    fn long_empty_stretches_are_gaps() {
        let mut covered = vec![false; 100];
        for column in [0, 1, 40, 41, 98] {
            covered[column] = true;
        }
        assert_eq!(GRID.gaps(&covered), [[20, 400], [420, 980]]);
        assert_eq!(GRID.gaps(&[true; 100]), Vec::<[i64; 2]>::new());
    }

    #[test]
    fn a_bin_is_busy_only_while_one_of_its_rows_ran() {
        let grid = ColumnGrid { from: 0, to: 100_000, width: 10, last: 100_000 };
        let sparse = packed(&[(0, 50), (4_000, 4_100), (4_050, 4_080), (9_000, 9_010)], &grid);
        assert_eq!(
            sparse.bins.iter().map(|bin| (bin.count, bin.end, bin.busy_ms)).collect::<Vec<_>>(),
            [(4, 9_010, 50 + 100 + 10)]
        );
    }

    proptest! {
        #[test]
        fn bins_are_never_busier_than_their_rows_or_than_they_are_long(
            mut marks in proptest::collection::vec((0_i64..1_000, 0_i64..80), 0..400),
        ) {
            marks.sort_unstable();
            let marks: Vec<(i64, i64)> = marks.into_iter().map(|(start, length)| (start, start + length)).collect();
            let packed = packed(&marks, &GRID);
            for bin in &packed.bins {
                prop_assert!(bin.busy_ms <= bin.end.abs_diff(bin.first.start));
            }
            let busy: u64 = packed.bins.iter().map(|bin| bin.busy_ms).sum();
            prop_assert!(busy <= marks.iter().map(|(start, end)| end.abs_diff(*start)).sum());
        }

        #[test]
        fn every_row_is_in_one_bin_and_bins_are_no_more_than_columns(
            mut marks in proptest::collection::vec((0_i64..1_000, 0_i64..80), 0..400),
        ) {
            marks.sort_unstable();
            let marks: Vec<(i64, i64)> = marks.into_iter().map(|(start, length)| (start, start + length)).collect();
            let packed = packed(&marks, &GRID);
            prop_assert_eq!(packed.bins.iter().map(|bin| bin.count as usize).sum::<usize>(), marks.len());
            prop_assert!(packed.bins.len() <= 100 * MOST_TRACKS);
            prop_assert!(packed.tracks.len() <= MOST_TRACKS);
        }
    }
}
