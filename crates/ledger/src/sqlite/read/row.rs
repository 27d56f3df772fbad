//! Builds the rows that people see, for answers and for the live stream alike.

use std::collections::HashMap;
use std::rc::Rc;

use agent_tracer_event::{Agent, FactId, Kind, Millis, SessionId, TaskId, TaskKey, TurnId};
use rusqlite::{Connection, OptionalExtension};

use crate::project::row::channels_of;
use crate::project::{FactRow, List};
use crate::sqlite::facts::{self, word_at};
use crate::sqlite::words;
use crate::view::Row;

/// The main agent's type.
pub(crate) const MAIN: &str = "main";

/// More stays than this are not told apart: a hostile client may start as often as it likes.
const MOST_STAYS: i64 = 1_000;

/// What the rows of a task have in common.
#[derive(Debug)]
pub(crate) struct About {
    /// The task's id.
    pub(crate) uid: TaskId,
    /// The agent's id of the session.
    pub(crate) session: String,
    /// The type of its agent.
    pub(crate) agent_type: String,
    /// It is a subagent.
    pub(crate) background: bool,
    /// When its process was resumed, oldest first.
    resumed: Vec<i64>,
}

impl About {
    /// The stay of the process in which something at this moment happened.
    pub(crate) fn stay(&self, at: i64) -> SessionId {
        let resumes = self.resumed.partition_point(|resumed| *resumed <= at);
        SessionId::derive(&self.uid, &format!("stay:{}", resumes + 1))
    }

    /// The id of one of its rows.
    pub(crate) fn row_id(&self, fact: i64) -> String {
        FactId::from_number(&self.uid, fact.cast_unsigned()).to_string()
    }

    /// The id of one of its turns.
    pub(crate) fn turn_id(&self, turn: i64) -> String {
        TurnId::from_number(&self.uid, turn.cast_unsigned()).to_string()
    }
}

/// A task's id from its text.
pub(crate) fn task_id(text: &str) -> TaskId {
    // Only what the writer derived is in the table; a damaged text still needs some id that opens nothing.
    TaskId::parse(text).unwrap_or_else(|| TaskKey::new(Agent::ClaudeCode, text).task_id())
}

/// Builds rows, and remembers what the rows of a task have in common.
pub(crate) struct RowBuilder<'conn> {
    conn: &'conn Connection,
    tasks: HashMap<i64, Rc<About>>,
}

impl<'conn> RowBuilder<'conn> {
    /// A builder that knows nothing yet. It must not outlive the transaction that it reads in.
    pub(crate) fn new(conn: &'conn Connection) -> Self {
        Self { conn, tasks: HashMap::new() }
    }

    /// What the rows of this task have in common.
    pub(crate) fn about(&mut self, task: i64) -> rusqlite::Result<Rc<About>> {
        if let Some(about) = self.tasks.get(&task) {
            return Ok(Rc::clone(about));
        }
        let about = Rc::new(about(self.conn, task)?);
        self.tasks.insert(task, Rc::clone(&about));
        Ok(about)
    }

    /// The row of a fact that last changed at `seq`.
    pub(crate) fn row(&mut self, fact: &FactRow, task: i64, seq: i64) -> rusqlite::Result<Row> {
        let about = self.about(task)?;
        let data = &fact.data;
        let mut metadata = data.metadata.clone();
        for (key, value) in &fact.derived {
            metadata.insert(key.clone(), value.clone());
        }
        Ok(Row {
            id: about.row_id(fact.fact),
            seq: u64::try_from(seq).unwrap_or(0),
            task_id: about.uid.to_string(),
            session_id: about.stay(fact.occurred).to_string(),
            turn_id: fact.turn.map(|turn| about.turn_id(turn)),
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
            agent_type: data.agent_type.clone().unwrap_or_else(|| about.agent_type.clone()),
            is_subagent: about.background,
            runtime_session_id: about.session.clone(),
            hook_event_name: data.hook_event_name.clone(),
            file_paths: data.file_paths.clone(),
            metadata,
            channels: channels_of(fact.channels),
            certainty: fact.certainty,
        })
    }
}

fn about(conn: &Connection, task: i64) -> rusqlite::Result<About> {
    let mut find =
        conn.prepare_cached("SELECT uid, session, agent_type, background, started FROM task WHERE id = ?1")?;
    let found = find
        .query_row([task], |row| {
            let uid: String = row.get(0)?;
            Ok((
                uid,
                row.get::<_, String>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, bool>(3)?,
                row.get::<_, i64>(4)?,
            ))
        })
        .optional()?;
    let (uid, session, agent_type, background, started) = found.unwrap_or_default();
    Ok(About {
        uid: task_id(&uid),
        session,
        agent_type: words::text(conn, agent_type)?
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| MAIN.to_owned()),
        background,
        resumed: resumes(conn, task, started)?,
    })
}

/// When the process of a task was resumed after the task began, oldest first.
fn resumes(conn: &Connection, task: i64, started: i64) -> rusqlite::Result<Vec<i64>> {
    let starts = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.list = ?2 AND f.occurred > ?3 ORDER BY f.occurred LIMIT ?4",
        [task, List::SessionStart.code(), started, MOST_STAYS],
    )?;
    let resumed = starts.iter().filter(|start| start.row.text("sessionSource") == Some("resume"));
    Ok(resumed.map(|start| start.row.occurred).collect())
}

/// The agent at a stored place.
pub(crate) fn agent_at(place: i64) -> Agent {
    word_at(Agent::ALL, place).unwrap_or(Agent::ClaudeCode)
}
