//! Rows of the fact table.

use agent_tracer_event::{CallState, Certainty, ErrorClass, Kind, Lane, Metadata};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::codec;
use super::words::{self, Words};
use crate::project::row::Signature;
use crate::project::{FactData, FactRow, List};

/// A fact as it stands in the table.
#[derive(Clone, Debug)]
pub(crate) struct StoredFact {
    /// The row's number in the table.
    pub(crate) id: i64,
    /// The task.
    pub(crate) task: i64,
    /// The moment when it last changed.
    pub(crate) changed: i64,
    /// The fact.
    pub(crate) row: FactRow,
}

/// The columns that [`read`] reads, in its order, for a query whose `fact` table is named `f`.
pub(crate) const COLUMNS: &str = "f.id, f.task, f.changed, f.fact, f.kind, f.list, f.lane, f.occurred, f.ord, f.ended, \
    f.state, f.open, f.tool, f.turn, f.duration, f.error, f.signature, f.certainty, f.channels, f.data, f.derived";

/// Returns the word at this place of a closed set.
pub(crate) fn word_at<T: Copy>(all: &[T], place: i64) -> Option<T> {
    usize::try_from(place).ok().and_then(|place| all.get(place)).copied()
}

/// Reads a row of [`COLUMNS`]. The tool's name is looked up separately: a row without one needs no second look.
pub(crate) fn read(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<StoredFact> {
    let tool: Option<i64> = row.get(12)?;
    let tool = match tool {
        Some(word) => words::text(conn, word)?,
        None => None,
    };
    let blob = row.get_ref(19)?.as_blob()?;
    // A blob that cannot be read loses what is only shown; what the columns know stays.
    let data: FactData = codec::decode_json(blob).unwrap_or_default();
    let derived: Option<String> = row.get(20)?;
    let derived: Metadata = derived.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let state: Option<i64> = row.get(10)?;
    let error: Option<i64> = row.get(15)?;
    let list = List::from_code(row.get(5)?);
    let signature: Option<i64> = row.get(16)?;
    Ok(StoredFact {
        id: row.get(0)?,
        task: row.get(1)?,
        changed: row.get(2)?,
        row: FactRow {
            fact: row.get(3)?,
            kind: word_at(Kind::ALL, row.get(4)?),
            list,
            lane: word_at(Lane::ALL, row.get(6)?).unwrap_or(Lane::Telemetry),
            occurred: row.get(7)?,
            order: row.get(8)?,
            ended: row.get(9)?,
            state: state.and_then(|state| word_at(CallState::ALL, state)),
            open: row.get(11)?,
            tool,
            turn: row.get(13)?,
            duration: row.get(14)?,
            error: error.and_then(|error| word_at(ErrorClass::ALL, error)),
            signature: signature.map(|number| Signature::of_column(list, number)),
            certainty: word_at(Certainty::ALL, row.get(17)?).unwrap_or(Certainty::Guessed),
            channels: row.get(18)?,
            data,
            derived,
        },
    })
}

/// Returns the condition that a row of the fact table stands in a list, with the list as a part of the text.
///
/// As a parameter it would cost far more than the look-up itself: there is an index of one list alone, so SQLite asks
/// which list the parameter is and makes a new plan whenever another one is bound.
pub(crate) fn in_list(list: List) -> String {
    format!("list = {}", list.code())
}

/// The same columns without what is only shown: no blob is unpacked and no word looked up.
const OUTLINE: &str = "f.id, f.task, f.changed, f.fact, f.kind, f.list, f.lane, f.occurred, f.ord, f.ended, \
    f.state, f.open, NULL, f.turn, f.duration, f.error, f.signature, f.certainty, f.channels, x'', NULL";

/// Returns all rows that a query gives, without their tools, their data and what was derived.
pub(crate) fn read_outlines(
    conn: &Connection,
    rest: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<FactRow>> {
    let mut statement = conn.prepare_cached(&format!("SELECT {OUTLINE} FROM fact f {rest}"))?;
    let rows = statement.query_map(parameters, |row| read(conn, row).map(|stored| stored.row))?;
    rows.collect()
}

/// Returns all rows that a query over [`COLUMNS`] gives.
pub(crate) fn select(
    conn: &Connection,
    rest: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<StoredFact>> {
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM fact f {rest}"))?;
    let rows = statement.query_map(parameters, |row| read(conn, row))?;
    rows.collect()
}

/// Returns the fact with this number.
pub(crate) fn load(conn: &Connection, task: i64, fact: i64) -> rusqlite::Result<Option<StoredFact>> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {COLUMNS} FROM fact f WHERE f.task = ?1 AND f.fact = ?2"))?;
    statement.query_row([task, fact], |row| read(conn, row)).optional()
}

/// Writes a fact: over the row `id`, or as a new one. Gives the row's number.
pub(crate) fn save(
    conn: &Connection,
    words: &mut Words,
    task: i64,
    id: Option<i64>,
    row: &FactRow,
    changed: i64,
) -> rusqlite::Result<i64> {
    let tool = row.tool.as_deref().map(|tool| words.id(conn, tool)).transpose()?;
    let mut statement = conn.prepare_cached(match id {
        Some(_) => {
            "UPDATE fact SET task = ?2, changed = ?3, fact = ?4, kind = ?5, list = ?6, lane = ?7, occurred = ?8, \
             ord = ?9, ended = ?10, state = ?11, open = ?12, tool = ?13, turn = ?14, duration = ?15, error = ?16, \
             signature = ?17, certainty = ?18, channels = ?19, data = ?20, derived = ?21 WHERE id = ?1"
        }
        None => {
            "INSERT INTO fact (id, task, changed, fact, kind, list, lane, occurred, ord, ended, state, open, tool, \
             turn, duration, error, signature, certainty, channels, data, derived) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)"
        }
    })?;
    statement.execute(params![
        id,
        task,
        changed,
        row.fact,
        row.kind.map_or(-1, |kind| kind as i64),
        row.list.code(),
        row.lane as i64,
        row.occurred,
        row.order,
        row.ended,
        row.state.map(|state| state as i64),
        row.open,
        tool,
        row.turn,
        row.duration,
        row.error.map(|error| error as i64),
        row.signature.map(Signature::number),
        row.certainty as i64,
        row.channels,
        codec::encode_json(&row.data),
        derived(row),
    ])?;
    Ok(id.unwrap_or_else(|| conn.last_insert_rowid()))
}

/// Writes a fact over the row `id` where that stands at the same place ([`FactRow::stands_where`]): the indexes of
/// places are left alone, and they are most of what writing a row costs.
pub(crate) fn save_in_place(
    conn: &Connection,
    words: &mut Words,
    id: i64,
    row: &FactRow,
    changed: i64,
) -> rusqlite::Result<()> {
    let tool = row.tool.as_deref().map(|tool| words.id(conn, tool)).transpose()?;
    conn.prepare_cached(
        "UPDATE fact SET changed = ?2, lane = ?3, ended = ?4, state = ?5, open = ?6, tool = ?7, duration = ?8, \
         error = ?9, certainty = ?10, channels = ?11, data = ?12, derived = ?13 WHERE id = ?1",
    )?
    .execute(params![
        id,
        changed,
        row.lane as i64,
        row.ended,
        row.state.map(|state| state as i64),
        row.open,
        tool,
        row.duration,
        row.error.map(|error| error as i64),
        row.certainty as i64,
        row.channels,
        codec::encode_json(&row.data),
        derived(row),
    ])?;
    Ok(())
}

/// Returns the derived metadata of a row in its stored form.
fn derived(row: &FactRow) -> Option<String> {
    (!row.derived.is_empty()).then(|| serde_json::to_string(&row.derived).unwrap_or_default())
}

/// Writes only what follows from other facts.
pub(crate) fn save_derived(conn: &Connection, id: i64, row: &FactRow, changed: i64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE fact SET changed = ?2, state = ?3, ended = ?4, error = ?5, derived = ?6 WHERE id = ?1",
    )?
    .execute(params![
        id,
        changed,
        row.state.map(|state| state as i64),
        row.ended,
        row.error.map(|error| error as i64),
        derived(row)
    ])?;
    Ok(())
}
