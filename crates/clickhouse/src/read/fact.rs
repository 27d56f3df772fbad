//! Facts as they are read, and the rows that people see.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Certainty, ErrorClass, Kind, Lane};
use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::shown::{About, MOST_STAYS, resumes, task_id};
use agent_tracer_ledger::project::{FactRow, List};
use clickhouse::Row;
use serde::Deserialize;

use super::task::PLACE;
use super::{Key, Reader, columns, keys_in};
use crate::write::TaskLine;

/// The columns of a fact that rows and lists show.
#[derive(Clone, Debug, Row, Deserialize)]
pub(crate) struct FactShown {
    pub(crate) owner: String,
    pub(crate) task: String,
    fact: i64,
    version: u64,
    kind: String,
    list: u8,
    lane: String,
    occurred: i64,
    ord: i64,
    ended: Option<i64>,
    state: String,
    open: u8,
    tool: Option<String>,
    turn: Option<i64>,
    duration: Option<i64>,
    error_class: String,
    signature: Option<i64>,
    certainty: String,
    channels: u8,
    data: String,
    derived: String,
    /// The task's place among equal places of rows.
    place: i64,
}

/// A fact, whose it is and when it last changed.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) key: Key,
    pub(crate) version: u64,
    pub(crate) place: i64,
    pub(crate) row: FactRow,
}

impl From<FactShown> for Stored {
    fn from(shown: FactShown) -> Self {
        let row = FactRow {
            fact: shown.fact,
            kind: Kind::parse(&shown.kind),
            list: List::from_code(i64::from(shown.list)),
            lane: Lane::parse(&shown.lane).unwrap_or(Lane::Telemetry),
            occurred: shown.occurred,
            order: shown.ord,
            ended: shown.ended,
            state: CallState::parse(&shown.state),
            open: shown.open == 1,
            tool: shown.tool,
            turn: shown.turn,
            duration: shown.duration,
            error: ErrorClass::parse(&shown.error_class),
            signature: shown.signature,
            certainty: Certainty::parse(&shown.certainty).unwrap_or(Certainty::Guessed),
            channels: shown.channels,
            // What cannot be read is lost for showing; what the columns know stays.
            data: serde_json::from_str(&shown.data).unwrap_or_default(),
            derived: serde_json::from_str(&shown.derived).unwrap_or_default(),
        };
        Self {
            key: Key { owner: shown.owner, task: shown.task },
            version: shown.version,
            place: shown.place,
            row,
        }
    }
}

impl Reader {
    /// Facts; `rest` begins behind the table.
    pub(crate) fn facts(&self, rest: &str) -> Answer<Vec<Stored>> {
        let columns = columns::<FactShown>().replace("`place`", &format!("{PLACE} AS place"));
        let shown = self.rows::<FactShown>(&format!("SELECT {columns} FROM fact FINAL {rest}"))?;
        Ok(shown.into_iter().map(Stored::from).collect())
    }

    /// What the rows of each of these tasks have in common.
    pub(crate) fn abouts(&self, tasks: &[TaskLine]) -> Answer<HashMap<Key, About>> {
        let keys: Vec<Key> = tasks.iter().map(TaskLine::key).collect();
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let list = List::SessionStart.code();
        let starts = self.facts(&format!(
            "WHERE (owner, task) IN {} AND list = {list} ORDER BY owner, task, occurred LIMIT {MOST_STAYS} BY owner, task",
            keys_in(&keys)
        ))?;
        let mut by_task: HashMap<Key, Vec<FactRow>> = HashMap::new();
        for start in starts {
            by_task.entry(start.key).or_default().push(start.row);
        }
        let about = |line: &TaskLine| {
            let key = line.key();
            let about = About {
                uid: task_id(&line.task),
                agent: line.agent(),
                session: line.session.clone(),
                agent_type: line.agent_type.clone(),
                background: line.background == 1,
                resumed: resumes(by_task.get(&key).into_iter().flatten(), line.started),
            };
            (key, about)
        };
        Ok(tasks.iter().map(about).collect())
    }
}
