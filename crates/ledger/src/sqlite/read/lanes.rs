//! The lanes of a task and its subagents, in as many columns as the screen has.
//!
//! Rows that are too close to be told apart become one bin, so that an answer is as large as the picture, not as the
//! task. Everything that drawing needs is in the index of the timeline; only the title of a row that stands alone is
//! looked up.

use agent_tracer_event::{CallState, Certainty, Kind, Lane, Millis, TaskId};
use rusqlite::{Connection, params};

use super::row::{About, RowBuilder};
use super::stream::DRAWN;
use super::task;
use super::text::Texts;
use crate::sqlite::codec;
use crate::sqlite::facts::word_at;
use crate::store::{Answer, QueryError};
use crate::view::{LaneBin, LaneBins, LaneStrip};

/// A picture has no more columns than this.
const WIDEST: u32 = 4_000;

/// What began at most this long before the picture and still ran in it is drawn too.
const LOOK_BACK_MS: i64 = 30 * 60_000;

/// So many rows before the picture are looked at.
const MOST_BEFORE: i64 = 2_000;

/// A lane has no more parallel rows than this; what else happens at the same time joins the last.
const MOST_TRACKS: usize = 8;

/// The titles of so many rows that stand alone are looked up.
const MOST_TITLES: usize = 500;

/// An empty stretch is a gap if it is at least this part of the picture.
const GAP_PART: usize = 40;

/// The lanes between two moments; without them, of the whole life of the task and its subagents.
pub(crate) fn lanes(
    conn: &Connection,
    id: &TaskId,
    from: Option<Millis>,
    to: Option<Millis>,
    width: u32,
) -> Answer<LaneBins> {
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(QueryError::Bad("`from` must be before `to`".to_owned()));
    }
    let root = task::number(conn, id)?;
    let family: Vec<i64> = task::family(conn, root)?.into_iter().map(|(task, _)| task).collect();
    let (first, last) = life(conn, &family)?;
    let from = from.map_or(first, |from| from.0);
    let to = to.map_or(last, |to| to.0).max(from.saturating_add(1));
    let grid = Grid { from, to, width: width.clamp(1, WIDEST), last };
    let mut covered = vec![false; grid.width as usize];
    let mut builder = RowBuilder::new(conn);
    let mut namer = Namer { conn, texts: Texts::new(conn), left: MOST_TITLES };
    let mut strips = Vec::new();
    for task in family {
        let about = builder.about(task)?;
        let mut lanes: Vec<Packed> = Lane::ALL.iter().map(|_| Packed::default()).collect();
        visit(conn, task, &grid, |mark| {
            let (first, last) = grid.columns(mark.start, mark.end);
            covered.iter_mut().take(last + 1).skip(first).for_each(|column| *column = true);
            if let Some(lane) = lanes.get_mut(mark.lane) {
                lane.put(mark, first, last);
            }
        })?;
        for (lane, packed) in Lane::ALL.iter().zip(lanes) {
            if !packed.bins.is_empty() {
                strips.push(LaneStrip {
                    task_id: about.uid.to_string(),
                    lane: lane.to_string(),
                    bins: namer.show(task, &about, packed)?,
                });
            }
        }
    }
    Ok(LaneBins { from: Millis(from), to: Millis(to), width: grid.width, strips, gaps: grid.gaps(&covered) })
}

/// From when to when some tasks lived.
fn life(conn: &Connection, tasks: &[i64]) -> rusqlite::Result<(i64, i64)> {
    let mut find = conn.prepare_cached("SELECT started, last FROM task WHERE id = ?1 AND events > 0")?;
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for task in tasks {
        let mut rows = find.query([task])?;
        if let Some(row) = rows.next()? {
            first = first.min(row.get(0)?);
            last = last.max(row.get(1)?);
        }
    }
    Ok(if first > last { (0, 0) } else { (first, last) })
}

/// The columns of a picture.
#[derive(Clone, Copy, Debug)]
struct Grid {
    from: i64,
    to: i64,
    width: u32,
    /// The last moment of which anything is known: what still runs is drawn until then.
    last: i64,
}

impl Grid {
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

    /// The moment at which a column begins.
    fn at(&self, column: usize) -> i64 {
        let length = i128::from(self.to) - i128::from(self.from);
        let offset = length * column as i128 / i128::from(self.width);
        i64::try_from(i128::from(self.from) + offset).unwrap_or(self.to)
    }

    /// The long stretches of columns in which nothing happened.
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
#[derive(Clone, Copy, Debug)]
struct Mark {
    start: i64,
    end: i64,
    lane: usize,
    kind: i64,
    tool: Option<i64>,
    certainty: i64,
    is_failure: bool,
    is_running: bool,
    fact: i64,
}

/// Visits the rows of a task in the picture, by when they began.
fn visit(conn: &Connection, task: i64, grid: &Grid, mut seen: impl FnMut(&Mark)) -> rusqlite::Result<()> {
    let columns = format!(
        "SELECT occurred, ended, {DRAWN}, fact FROM fact INDEXED BY fact_time \
         WHERE task = ?1 AND kind >= 0 AND occurred >= ?2 AND occurred < ?3"
    );
    let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Mark> {
        let start: i64 = row.get(0)?;
        let ended: Option<i64> = row.get(1)?;
        let drawn: i64 = row.get(2)?;
        let state = (drawn >> 24) & 255;
        let is_running = ended.is_none() && state == CallState::Running as i64;
        Ok(Mark {
            start,
            end: if is_running { grid.last.max(start) } else { ended.unwrap_or(start).max(start) },
            lane: (drawn & 255) as usize,
            kind: (drawn >> 8) & 255,
            tool: Some(drawn >> 32).filter(|tool| *tool > 0),
            certainty: (drawn >> 16) & 255,
            is_failure: state == CallState::Failed as i64 || state == CallState::Denied as i64,
            is_running,
            fact: row.get(3)?,
        })
    };
    let mut before =
        conn.prepare_cached(&format!("{columns} ORDER BY occurred DESC, ord DESC, fact DESC LIMIT ?4"))?;
    let rows = before
        .query_map(params![task, grid.from.saturating_sub(LOOK_BACK_MS), grid.from, MOST_BEFORE], |row| {
            read(row)
        })?;
    let earlier = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    for mark in earlier.iter().rev() {
        if mark.end > grid.from {
            seen(mark);
        }
    }
    let mut inside = conn.prepare_cached(&format!("{columns} ORDER BY occurred, ord, fact"))?;
    let mut rows =
        inside.query(params![task, grid.from, grid.to.saturating_add(i64::from(grid.to == grid.last))])?;
    while let Some(row) = rows.next()? {
        seen(&read(row)?);
    }
    Ok(())
}

/// One bin while it is filled.
#[derive(Clone, Debug)]
struct Bin {
    first: Mark,
    end: i64,
    last_column: usize,
    is_narrow: bool,
    track: usize,
    count: u32,
    failures: u32,
    is_running: bool,
    kind: Option<i64>,
    certainty: i64,
    /// How many rows have the tool of the first.
    same_tool: u32,
    /// The other tools with how many rows of each.
    other_tools: Vec<(Option<i64>, u32)>,
}

impl Bin {
    fn of(mark: &Mark, first: usize, last: usize, track: usize) -> Self {
        Self {
            first: *mark,
            end: mark.end,
            last_column: last,
            is_narrow: last - first <= 1,
            track,
            count: 1,
            failures: u32::from(mark.is_failure),
            is_running: mark.is_running,
            kind: Some(mark.kind),
            certainty: mark.certainty,
            same_tool: 1,
            other_tools: Vec::new(),
        }
    }

    fn join(&mut self, mark: &Mark, last: usize) {
        self.end = self.end.max(mark.end);
        self.last_column = self.last_column.max(last);
        self.count = self.count.saturating_add(1);
        self.failures = self.failures.saturating_add(u32::from(mark.is_failure));
        self.is_running |= mark.is_running;
        self.kind = self.kind.filter(|kind| *kind == mark.kind);
        self.certainty = self.certainty.min(mark.certainty);
        if mark.tool == self.first.tool {
            self.same_tool += 1;
            return;
        }
        match self.other_tools.iter_mut().find(|(tool, _)| *tool == mark.tool) {
            Some((_, times)) => *times += 1,
            None => self.other_tools.push((mark.tool, 1)),
        }
    }

    /// The tool that most rows have.
    fn usual_tool(&self) -> Option<i64> {
        let first = self.first.tool.map(|tool| (tool, self.same_tool));
        let others = self.other_tools.iter().filter_map(|(tool, times)| Some(((*tool)?, *times)));
        others.chain(first).max_by_key(|(_, times)| *times).map(|(tool, _)| tool)
    }
}

/// The bins of one lane.
#[derive(Debug, Default)]
struct Packed {
    bins: Vec<Bin>,
    /// The newest bin of each track.
    tracks: Vec<usize>,
}

impl Packed {
    /// Puts a row, which began no earlier than all before it.
    fn put(&mut self, mark: &Mark, first: usize, last: usize) {
        let is_narrow = last - first <= 1;
        let mut free = None;
        for (track, newest) in self.tracks.iter().enumerate() {
            let Some(bin) = self.bins.get_mut(*newest) else { continue };
            if bin.last_column < first {
                free = free.or(Some(track));
            } else if is_narrow && bin.is_narrow {
                // Both are hardly wider than a column and share one: nobody could tell them apart.
                bin.join(mark, last.min(bin.last_column.max(first)));
                return;
            }
        }
        let place = self.bins.len();
        match free {
            Some(track) => {
                self.bins.push(Bin::of(mark, first, last, track));
                self.tracks.iter_mut().skip(track).take(1).for_each(|newest| *newest = place);
            }
            None if self.tracks.len() < MOST_TRACKS => {
                self.bins.push(Bin::of(mark, first, last, self.tracks.len()));
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

/// Gives bins their texts.
struct Namer<'conn> {
    conn: &'conn Connection,
    texts: Texts<'conn>,
    /// How many titles may still be looked up.
    left: usize,
}

impl Namer<'_> {
    fn show(&mut self, task: i64, about: &About, packed: Packed) -> rusqlite::Result<Vec<LaneBin>> {
        let mut bins = Vec::with_capacity(packed.bins.len());
        for bin in packed.bins {
            let tool = bin.first.tool.filter(|_| bin.other_tools.is_empty());
            let tool = tool.map(|tool| self.texts.word(tool)).transpose()?;
            let (id, title) = self.name(task, about, &bin)?;
            bins.push(LaneBin {
                start: bin.first.start,
                end: bin.end,
                count: bin.count,
                failures: bin.failures,
                running: bin.is_running,
                track: u32::try_from(bin.track).unwrap_or(u32::MAX),
                id,
                title,
                kind: bin.kind.and_then(|kind| word_at(Kind::ALL, kind)).map(|kind| kind.to_string()),
                tool,
                certainty: word_at(Certainty::ALL, bin.certainty).unwrap_or(Certainty::Guessed).to_string(),
            });
        }
        Ok(bins)
    }

    /// The title of a row; empty if it has none or cannot be read.
    fn title(&self, task: i64, fact: i64) -> rusqlite::Result<String> {
        /// What is shown of a row, without all that nobody asked for.
        #[derive(Default, serde::Deserialize)]
        struct Titled {
            #[serde(rename = "t", default)]
            title: String,
        }
        let mut find = self.conn.prepare_cached("SELECT data FROM fact WHERE task = ?1 AND fact = ?2")?;
        let mut rows = find.query([task, fact])?;
        let Some(row) = rows.next()? else { return Ok(String::new()) };
        Ok(codec::decode_json::<Titled>(row.get_ref(0)?.as_blob()?).unwrap_or_default().title)
    }

    /// The id and the title of a row that stands alone; of several, what most of them are.
    fn name(&mut self, task: i64, about: &About, bin: &Bin) -> rusqlite::Result<(Option<String>, String)> {
        let mut id = None;
        if bin.count == 1 {
            id = Some(about.row_id(bin.first.fact));
            if self.left > 0 {
                self.left -= 1;
                let title = self.title(task, bin.first.fact)?;
                if !title.is_empty() {
                    return Ok((id, title));
                }
            }
        }
        let title = match bin.usual_tool() {
            Some(tool) => self.texts.word(tool)?,
            None => word_at(Kind::ALL, bin.first.kind).map(|kind| kind.to_string()).unwrap_or_default(),
        };
        Ok((id, title))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(start: i64, end: i64) -> Mark {
        Mark {
            start,
            end,
            lane: 0,
            kind: 0,
            tool: None,
            certainty: 0,
            is_failure: false,
            is_running: false,
            fact: start,
        }
    }

    fn packed(marks: &[(i64, i64)], grid: &Grid) -> Packed {
        let mut packed = Packed::default();
        for (start, end) in marks {
            let (first, last) = grid.columns(*start, *end);
            packed.put(&mark(*start, *end), first, last);
        }
        packed
    }

    const GRID: Grid = Grid { from: 0, to: 1_000, width: 100, last: 1_000 };

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
    fn long_empty_stretches_are_gaps() {
        let mut covered = vec![false; 100];
        for column in [0, 1, 40, 41, 98] {
            covered[column] = true;
        }
        assert_eq!(GRID.gaps(&covered), [[20, 400], [420, 980]]);
        assert_eq!(GRID.gaps(&[true; 100]), Vec::<[i64; 2]>::new());
    }

    proptest! {
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
