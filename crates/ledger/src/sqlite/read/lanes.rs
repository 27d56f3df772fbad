//! The lanes of a task and its subagents.
//!
//! Everything that drawing needs is in the index of the timeline; only the title of a row that stands alone is looked up.

use agent_tracer_event::{CallState, Certainty, Kind, Lane, Millis, TaskId};
use rusqlite::{Connection, params};

use super::row::RowBuilder;
use super::stream::DRAWN;
use super::task;
use super::text::Texts;
use crate::project::presenters::lanes::{ColumnGrid, Drawing, LOOK_BACK_MS, MOST_BEFORE, Mark, Names};
use crate::sqlite::codec;
use crate::sqlite::facts::word_at;
use crate::store::Answer;
use crate::view::LaneBins;

/// Returns the lanes between two moments; without them, of the whole life of the task and its subagents.
pub(crate) fn lanes(
    conn: &Connection,
    id: &TaskId,
    from: Option<Millis>,
    to: Option<Millis>,
    width: u32,
) -> Answer<LaneBins> {
    let root = task::number(conn, id)?;
    let family: Vec<i64> = task::family(conn, root)?.into_iter().map(|(task, _)| task).collect();
    let picture = ColumnGrid::new(from, to, width, life(conn, &family)?)?;
    let mut drawing = Drawing::new(picture);
    let mut builder = RowBuilder::new(conn);
    let mut namer = Namer { conn, texts: Texts::new(conn), task: root };
    for task in family {
        visit(conn, task, &picture, |mark| drawing.put(mark))?;
        namer.task = task;
        drawing.end_task(&*builder.about(task)?, &mut namer)?;
    }
    Ok(drawing.end())
}

/// Returns the first and the last moment of some tasks.
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

/// Visits the rows of a task in the picture, by when they began.
fn visit(
    conn: &Connection,
    task: i64,
    picture: &ColumnGrid,
    mut seen: impl FnMut(&Mark<i64>),
) -> rusqlite::Result<()> {
    let columns = format!(
        "SELECT occurred, ended, {DRAWN}, fact FROM fact INDEXED BY fact_time \
         WHERE task = ?1 AND kind >= 0 AND occurred >= ?2 AND occurred < ?3"
    );
    let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Mark<i64>> {
        let start: i64 = row.get(0)?;
        let ended: Option<i64> = row.get(1)?;
        let drawn: i64 = row.get(2)?;
        let state = (drawn >> 24) & 255;
        let is_running = ended.is_none() && state == CallState::Running as i64;
        Ok(Mark {
            start,
            end: picture.end_of(start, ended, is_running),
            lane: word_at(Lane::ALL, drawn & 255).unwrap_or(Lane::Telemetry),
            kind: word_at(Kind::ALL, (drawn >> 8) & 255),
            tool: Some(drawn >> 32).filter(|tool| *tool > 0),
            certainty: word_at(Certainty::ALL, (drawn >> 16) & 255).unwrap_or(Certainty::Guessed),
            is_failure: state == CallState::Failed as i64 || state == CallState::Denied as i64,
            is_running,
            fact: row.get(3)?,
        })
    };
    let mut before =
        conn.prepare_cached(&format!("{columns} ORDER BY occurred DESC, ord DESC, fact DESC LIMIT ?4"))?;
    let rows = before.query_map(
        params![task, picture.from.saturating_sub(LOOK_BACK_MS), picture.from, MOST_BEFORE],
        |row| read(row),
    )?;
    let earlier = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    for mark in earlier.iter().rev() {
        if mark.end > picture.from {
            seen(mark);
        }
    }
    let mut inside = conn.prepare_cached(&format!("{columns} ORDER BY occurred, ord, fact"))?;
    let mut rows = inside.query(params![task, picture.from, picture.end()])?;
    while let Some(row) = rows.next()? {
        seen(&read(row)?);
    }
    Ok(())
}

/// Gives bins their texts.
struct Namer<'conn> {
    conn: &'conn Connection,
    texts: Texts<'conn>,
    /// The task whose rows are named.
    task: i64,
}

impl Names<i64> for Namer<'_> {
    type Error = rusqlite::Error;

    fn tool(&mut self, tool: &i64) -> rusqlite::Result<String> {
        self.texts.word(*tool)
    }

    fn titles(&mut self, facts: &[i64]) -> rusqlite::Result<Vec<String>> {
        /// The title in a row's data. The other fields are not parsed, because a lane presents none of them.
        #[derive(Default, serde::Deserialize)]
        struct TitleField {
            #[serde(rename = "t", default)]
            title: String,
        }
        let mut find = self.conn.prepare_cached("SELECT data FROM fact WHERE task = ?1 AND fact = ?2")?;
        let mut titles = Vec::with_capacity(facts.len());
        for fact in facts {
            let mut rows = find.query([self.task, *fact])?;
            let titled = match rows.next()? {
                Some(row) => codec::decode_json::<TitleField>(row.get_ref(0)?.as_blob()?).unwrap_or_default(),
                None => TitleField::default(),
            };
            titles.push(titled.title);
        }
        Ok(titles)
    }
}
