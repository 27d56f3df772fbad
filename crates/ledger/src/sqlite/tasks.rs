//! Tasks as the writer knows them while it works.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use agent_tracer_event::{Agent, TaskId, TaskKey};
use rusqlite::{Connection, OptionalExtension, params};

use super::codec;
use super::life::Life;
use super::words::Words;
use crate::project::tally::RollupKey;
use crate::project::task_fields::TaskFields;

/// More than this many tasks are not remembered at a time.
const REMEMBERED: usize = 2_000;

/// One task.
#[derive(Clone, Debug)]
pub(crate) struct KnownTask {
    /// Its id.
    pub(crate) uid: TaskId,
    /// The agent.
    pub(crate) agent: Agent,
    /// Its reported fields.
    pub(crate) reported: TaskFields,
    /// The key of its rollups, as the tables have it.
    pub(crate) rollup_key: RollupKey,
    /// Any of its facts has more than one name.
    pub(crate) has_aliases: bool,
    /// The task that it belongs to.
    pub(crate) parent: Option<i64>,
    /// It is a subagent.
    pub(crate) background: bool,
    /// Any task belongs to it.
    pub(crate) has_children: bool,
    /// Its status in the table.
    pub(crate) status: Option<i64>,
    /// The facts that decide its status, while they are loaded.
    pub(crate) life: Option<Life>,
    /// The signatures of the calls for which a person was ever asked, once they were looked up.
    pub(crate) asked: Option<HashSet<i64>>,
    /// Any skill was ever activated in it; `None` until it was looked up.
    pub(crate) has_activations: Option<bool>,
    /// Retention dropped the events up to this moment; its sums are sealed.
    pub(crate) sealed_until: Option<i64>,
    /// It was made in this transaction.
    pub(crate) is_new: bool,
    /// The receipt of its first entry has named it as new.
    pub(crate) is_announced: bool,
}

/// Tasks that were looked at lately.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    numbers: HashMap<TaskKey, i64>,
    known: HashMap<i64, KnownTask>,
}

const COLUMNS: &str = "id, uid, agent, told, project, agent_type, parent, background, status, \
    EXISTS (SELECT 1 FROM task child WHERE child.parent = task.id)";

impl Tasks {
    /// Returns the number of a task; it gets one if it has none.
    pub(crate) fn number(
        &mut self,
        conn: &Connection,
        words: &mut Words,
        key: &TaskKey,
    ) -> rusqlite::Result<i64> {
        if let Some(id) = self.numbers.get(key) {
            return Ok(*id);
        }
        let uid = key.task_id();
        let mut find = conn.prepare_cached("SELECT id FROM task WHERE uid = ?1")?;
        let (id, is_new) = match find.query_row([uid.as_str()], |row| row.get(0)).optional()? {
            Some(id) => (id, false),
            None => {
                let background = key.runtime_session.starts_with("sub--");
                conn.prepare_cached(
                    "INSERT INTO task (uid, agent, session, told, background) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    uid.as_str(),
                    key.agent.place() as i64,
                    key.runtime_session,
                    codec::encode_json(&TaskFields::default()),
                    background,
                ])?;
                (conn.last_insert_rowid(), true)
            }
        };
        self.numbers.insert(key.clone(), id);
        let known = self.load(conn, words, id)?;
        if let Some(known) = known {
            known.is_new = is_new;
        }
        Ok(id)
    }

    /// Returns a task by its number.
    pub(crate) fn load(
        &mut self,
        conn: &Connection,
        words: &mut Words,
        id: i64,
    ) -> rusqlite::Result<Option<&mut KnownTask>> {
        Ok(match self.known.entry(id) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(place) => find(conn, words, id)?.map(|known| place.insert(known)),
        })
    }

    /// Keeps the memory small. Between transactions only: reported values and not yet written must not be forgotten.
    pub(crate) fn trim(&mut self) {
        if self.known.len() > REMEMBERED {
            self.forget();
        }
        for known in self.known.values_mut() {
            known.is_new = false;
        }
    }

    /// Forgets everything.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
        self.known.clear();
    }
}

/// Returns the agent of a task and the agent's name of its session.
pub(crate) fn key(conn: &Connection, id: i64) -> rusqlite::Result<Option<TaskKey>> {
    conn.prepare_cached("SELECT agent, session FROM task WHERE id = ?1")?
        .query_row([id], |row| {
            let agent = Agent::from_place(row.get(0)?).unwrap_or_default();
            Ok(TaskKey::new(agent, row.get::<_, String>(1)?))
        })
        .optional()
}

/// Returns a task as the table has it.
fn find(conn: &Connection, words: &mut Words, id: i64) -> rusqlite::Result<Option<KnownTask>> {
    let mut find = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM task WHERE id = ?1"))?;
    let found = find
        .query_row([id], |row| {
            let uid: String = row.get(1)?;
            let reported = row.get_ref(3)?.as_blob()?;
            Ok(KnownTask {
                uid: TaskId::parse(&uid).unwrap_or_else(|| TaskKey::new(Agent::default(), uid).task_id()),
                agent: Agent::from_place(row.get(2)?).unwrap_or_default(),
                reported: codec::decode_json(reported).unwrap_or_default(),
                rollup_key: RollupKey { task: row.get(0)?, project: row.get(4)?, actor: row.get(5)? },
                has_aliases: false,
                parent: row.get(6)?,
                background: row.get(7)?,
                has_children: row.get(9)?,
                status: row.get(8)?,
                life: None,
                asked: None,
                has_activations: None,
                sealed_until: None,
                is_new: false,
                is_announced: false,
            })
        })
        .optional()?;
    let Some(mut known) = found else { return Ok(None) };
    known.has_aliases = conn.prepare_cached("SELECT 1 FROM alias WHERE task = ?1 LIMIT 1")?.exists([id])?;
    known.sealed_until = conn
        .prepare_cached("SELECT until FROM sealed_task WHERE task = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    // The table keeps the type of the agent; sums are filed under the agent and the type together.
    known.rollup_key.actor = match super::words::text(conn, known.rollup_key.actor)? {
        Some(kind) => words.id(conn, &actor(known.agent, &kind))?,
        None => 0,
    };
    Ok(Some(known))
}

/// Returns the word under which the sums of an agent's type are filed.
pub(crate) fn actor(agent: Agent, agent_type: &str) -> String {
    format!("{agent}/{agent_type}")
}
