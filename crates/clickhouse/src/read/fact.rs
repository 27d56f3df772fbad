//! Facts as they are read, and the rows that people see.

use std::collections::HashMap;

use agent_tracer_event::{
    Agent, CallState, Certainty, ErrorClass, FactId, Kind, Lane, Millis, SessionId, TaskId, TaskKey, TurnId,
};
use agent_tracer_ledger::Answer;
use agent_tracer_ledger::project::row::channels_of;
use agent_tracer_ledger::project::{FactRow, List};
use agent_tracer_ledger::view;
use clickhouse::Row;
use serde::Deserialize;

use super::task::PLACE;
use super::{Key, Reader, columns, keys_in};
use crate::write::TaskLine;

/// More stays than this are not told apart: a hostile client may start as often as it likes.
const MOST_STAYS: u32 = 1_000;

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

/// What the rows of a task have in common.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) uid: TaskId,
    pub(crate) session: String,
    pub(crate) agent_type: String,
    pub(crate) background: bool,
    /// When its process was resumed, oldest first.
    resumed: Vec<i64>,
}

/// A task's id from its text.
pub(crate) fn task_id(text: &str) -> TaskId {
    // A sender may call its task anything; what is no id still needs one, and that opens nothing.
    TaskId::parse(text).unwrap_or_else(|| TaskKey::new(Agent::ClaudeCode, text).task_id())
}

impl About {
    /// The stay of the process in which something at this moment happened.
    pub(crate) fn stay(&self, at: i64) -> SessionId {
        let resumes = self.resumed.partition_point(|resumed| *resumed <= at);
        SessionId::derive(&self.uid, &format!("stay:{}", resumes + 1))
    }

    pub(crate) fn row_id(&self, fact: i64) -> String {
        FactId::from_number(&self.uid, fact.cast_unsigned()).to_string()
    }

    pub(crate) fn turn_id(&self, turn: i64) -> String {
        TurnId::from_number(&self.uid, turn.cast_unsigned()).to_string()
    }

    /// The row of a fact.
    pub(crate) fn row(&self, stored: &Stored) -> view::Row {
        let fact = &stored.row;
        let data = &fact.data;
        let mut metadata = data.metadata.clone();
        for (key, value) in &fact.derived {
            metadata.insert(key.clone(), value.clone());
        }
        view::Row {
            id: self.row_id(fact.fact),
            seq: stored.version,
            task_id: self.uid.to_string(),
            session_id: self.stay(fact.occurred).to_string(),
            turn_id: fact.turn.map(|turn| self.turn_id(turn)),
            kind: fact.kind.unwrap_or(Kind::Unrecognised),
            lane: fact.lane,
            title: data.title.clone(),
            body: data.body.clone(),
            occurred_at: Millis(fact.occurred),
            ended_at: fact.ended.map(Millis),
            state: fact.state,
            tool_name: fact.tool.clone(),
            tool_use_id: data.tool_use_id.clone(),
            agent_id: data.agent_id.clone(),
            agent_type: data.agent_type.clone().unwrap_or_else(|| self.agent_type.clone()),
            is_subagent: self.background,
            runtime_session_id: self.session.clone(),
            hook_event_name: data.hook_event_name.clone(),
            file_paths: data.file_paths.clone(),
            metadata,
            channels: channels_of(fact.channels),
            certainty: fact.certainty,
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
        let mut resumed: HashMap<Key, Vec<i64>> = HashMap::new();
        for start in starts.into_iter().filter(|start| start.row.text("sessionSource") == Some("resume")) {
            resumed.entry(start.key).or_default().push(start.row.occurred);
        }
        let about = |line: &TaskLine| {
            let key = line.key();
            let mut resumed = resumed.remove(&key).unwrap_or_default();
            resumed.retain(|at| *at > line.started);
            let about = About {
                uid: task_id(&line.task),
                session: line.session.clone(),
                agent_type: line.agent_type.clone(),
                background: line.background == 1,
                resumed,
            };
            (key, about)
        };
        Ok(tasks.iter().map(about).collect())
    }
}
