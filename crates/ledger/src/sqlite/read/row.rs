//! Builds the rows that people see, for answers and for the live stream alike.

use std::collections::HashMap;
use std::rc::Rc;

use agent_tracer_event::Agent;
use rusqlite::{Connection, OptionalExtension};

use crate::project::presenters;
pub(crate) use crate::project::presenters::{About, MAIN, task_id};
use crate::project::{FactRow, List};
use crate::sqlite::facts;
use crate::sqlite::words;
use crate::view::Row;

/// Builds rows, and remembers what the rows of a task have in common.
pub(crate) struct RowBuilder<'conn> {
    conn: &'conn Connection,
    tasks: HashMap<i64, Rc<About>>,
}

impl<'conn> RowBuilder<'conn> {
    /// Returns a builder that knows nothing yet. It must not outlive the transaction that it reads in.
    pub(crate) fn new(conn: &'conn Connection) -> Self {
        Self { conn, tasks: HashMap::new() }
    }

    /// Returns the values that all rows of a task share.
    pub(crate) fn about(&mut self, task: i64) -> rusqlite::Result<Rc<About>> {
        if let Some(about) = self.tasks.get(&task) {
            return Ok(Rc::clone(about));
        }
        let about = Rc::new(about(self.conn, task)?);
        self.tasks.insert(task, Rc::clone(&about));
        Ok(about)
    }

    /// Returns the row of a fact that last changed at `seq`.
    pub(crate) fn row(&mut self, fact: &FactRow, task: i64, seq: i64) -> rusqlite::Result<Row> {
        Ok(self.about(task)?.row(fact, u64::try_from(seq).unwrap_or(0)))
    }
}

fn about(conn: &Connection, task: i64) -> rusqlite::Result<About> {
    let mut find = conn.prepare_cached(
        "SELECT uid, session, agent_type, background, started, agent FROM task WHERE id = ?1",
    )?;
    let found = find
        .query_row([task], |row| {
            let uid: String = row.get(0)?;
            Ok((
                uid,
                row.get::<_, String>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, bool>(3)?,
                row.get::<_, i64>(4)?,
                row.get::<_, i64>(5)?,
            ))
        })
        .optional()?;
    let (uid, session, agent_type, background, started, agent) = found.unwrap_or_default();
    Ok(About {
        uid: task_id(&uid),
        owner: None,
        agent: agent_at(agent),
        session,
        agent_type: words::text(conn, agent_type)?
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| MAIN.to_owned()),
        background,
        resumed: resumes(conn, task, started)?,
    })
}

/// Returns when the process of a task was resumed after the task began, oldest first.
fn resumes(conn: &Connection, task: i64, started: i64) -> rusqlite::Result<Vec<i64>> {
    let starts = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.list = ?2 AND f.occurred > ?3 ORDER BY f.occurred LIMIT ?4",
        [task, List::SessionStart.code(), started, i64::from(presenters::MOST_STAYS)],
    )?;
    Ok(presenters::resumes(starts.iter().map(|start| &start.row), started))
}

/// Returns the agent at a stored place.
pub(crate) fn agent_at(place: i64) -> Agent {
    Agent::from_place(place).unwrap_or_default()
}
