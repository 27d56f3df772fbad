//! A task with those below it, in as many columns as the question needs: planning a statement costs more with every
//! column, and most questions about a task need few of the task's own.

use std::collections::{BTreeSet, HashMap, HashSet};

use agent_tracer_event::TaskId;
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::presenters::{About, MOST_STAYS, task_id};
use agent_tracer_ledger::{Answer, QueryError};
use clickhouse::{Row, RowOwned, RowRead};
use serde::Deserialize;

use super::task::parse_word;
use super::{Reader, TaskKey, TaskRef, columns, keys_in};
use crate::clickhouse::fleet::literal;
use crate::clickhouse::write::TaskLine;

/// More descendants than this are not shown.
const MOST_DESCENDANTS: usize = 5_000;

/// Limit of tasks that one statement names: names may be long, and a level of a family has no end.
const AT_ONCE: usize = 5_000;

/// Deeper than this no tree is followed.
const DEEPEST: u32 = 64;

/// A row of `task`, in some of its columns.
pub(crate) trait TaskColumns: RowOwned + RowRead {
    /// Returns the key of the task.
    fn key(&self) -> TaskKey;
}

/// The same with what tells versions apart.
pub(crate) trait Versioned: TaskColumns {
    /// Returns the version.
    fn version(&self) -> u64;
    /// Returns whether the task is deleted.
    fn is_gone(&self) -> bool;
    /// Returns the task that started it; empty: none.
    fn parent(&self) -> &str;
    /// Returns the time at which the task was first seen.
    fn started(&self) -> i64;
    /// Returns the machine on which the task ran.
    fn machine(&self) -> &str;
}

/// Holds the fields of a task that its rows need.
#[derive(Clone, Debug, Row, Deserialize)]
pub(crate) struct Member {
    owner: String,
    pub(crate) task: String,
    version: u64,
    gone: u8,
    parent: String,
    machine: String,
    agent: String,
    session: String,
    pub(crate) agent_type: String,
    background: u8,
    pub(crate) title: String,
    pub(crate) started: i64,
    pub(crate) last: i64,
    pub(crate) events: i64,
}

impl TaskColumns for Member {
    fn key(&self) -> TaskKey {
        TaskKey { owner: self.owner.clone(), task: self.task.clone() }
    }
}

impl TaskColumns for TaskLine {
    fn key(&self) -> TaskKey {
        TaskKey { owner: self.owner.clone(), task: self.task.clone() }
    }
}

macro_rules! versioned {
    ($($row:ty),*) => {
        $(impl Versioned for $row {
            fn version(&self) -> u64 {
                self.version
            }

            fn is_gone(&self) -> bool {
                self.gone == 1
            }

            fn parent(&self) -> &str {
                &self.parent
            }

            fn started(&self) -> i64 {
                self.started
            }

            fn machine(&self) -> &str {
                &self.machine
            }
        })*
    };
}

versioned!(Member, TaskLine);

impl From<&TaskLine> for Member {
    fn from(line: &TaskLine) -> Self {
        Self {
            owner: line.owner.clone(),
            task: line.task.clone(),
            version: line.version,
            gone: line.gone,
            parent: line.parent.clone(),
            machine: line.machine.clone(),
            agent: line.agent.clone(),
            session: line.session.clone(),
            agent_type: line.agent_type.clone(),
            background: line.background,
            title: line.title.clone(),
            started: line.started,
            last: line.last,
            events: line.events,
        }
    }
}

/// Holds the start of a process of a task, and whether it continued an earlier session.
#[derive(Row, Deserialize)]
struct RunStart {
    owner: String,
    task: String,
    occurred: i64,
    resumes: u8,
}

impl Reader {
    /// Reads rows of the table `task`. `rest` is the statement behind the name of the table.
    pub(crate) fn task_rows<T: TaskColumns>(&self, rest: &str) -> Answer<Vec<T>> {
        self.rows(&format!("SELECT {} FROM task FINAL {rest}", columns::<T>()))
    }

    /// Returns the task with this id, unless two owners have one.
    pub(crate) fn one<T: TaskColumns>(&self, id: &TaskId) -> Answer<T> {
        let rest = format!(
            "WHERE {} AND task = {} ORDER BY owner LIMIT 3",
            self.task_filter(),
            literal(id.as_str())
        );
        let mut found: Vec<T> = self.task_rows(&rest)?;
        match found.len() {
            // To choose one would let an owner stand before another with a session of the same id.
            2.. => {
                let owners: Vec<String> = found.iter().map(|one| format!("`{}`", one.key().owner)).collect();
                let more = if owners.len() > 2 { " and others" } else { "" };
                Err(QueryError::Bad(format!(
                    "more than one person has this session: name one with `owner`, {}{more}",
                    owners.get(..2).unwrap_or(&owners).join(" or ")
                )))
            }
            _ => found.pop().ok_or(QueryError::NotFound),
        }
    }

    /// Returns the owner of a task.
    ///
    /// # Errors
    /// If there is no such task, or the database cannot answer.
    pub fn owner_of(&self, id: &TaskId) -> Answer<String> {
        Ok(self.one::<Member>(id)?.owner)
    }

    /// Returns these tasks and all their descendants, parents before children.
    pub(crate) fn families<T: Versioned>(&self, roots: Vec<T>) -> Answer<Vec<T>> {
        let mut seen: HashSet<TaskKey> = roots.iter().map(TaskColumns::key).collect();
        let mut next: Vec<TaskKey> = roots.iter().map(TaskColumns::key).collect();
        let mut all = roots;
        // Level by level: few columns find the children in any version, and only those that exist are deduplicated.
        for _ in 0..DEEPEST {
            if next.is_empty() || all.len() >= MOST_DESCENDANTS {
                break;
            }
            let children: Vec<T> = self.below(&next)?;
            // A ring of parents, which only wrong guesses could make, is walked once.
            let children: Vec<T> = children.into_iter().filter(|child| seen.insert(child.key())).collect();
            next = children.iter().map(TaskColumns::key).collect();
            all.extend(children);
        }
        Ok(all)
    }

    /// Returns the newest versions of some tasks, in no order. They are few: reading all versions costs less than to
    /// let the engine deduplicate everything that lies around them.
    pub(crate) fn newest_tasks<T: Versioned>(&self, keys: &[TaskKey]) -> Answer<HashMap<TaskKey, T>> {
        let mut newest: HashMap<TaskKey, T> = HashMap::new();
        for part in keys.chunks(AT_ONCE) {
            let rows = self.rows::<T>(&format!(
                "SELECT {} FROM task WHERE (owner, task) IN {}",
                columns::<T>(),
                keys_in(part)
            ))?;
            for row in rows {
                let key = row.key();
                if newest.get(&key).is_none_or(|known| known.version() <= row.version()) {
                    newest.insert(key, row);
                }
            }
        }
        newest.retain(|_, row| !row.is_gone());
        Ok(newest)
    }

    /// Returns the children of some tasks, in the order in which they began. Which they are is found in few columns,
    /// whatever the version.
    fn below<T: Versioned>(&self, parents: &[TaskKey]) -> Answer<Vec<T>> {
        let mut any: BTreeSet<TaskKey> = BTreeSet::new();
        for part in parents.chunks(AT_ONCE) {
            let found: Vec<TaskRef> = self.rows(&format!(
                "SELECT DISTINCT owner, task FROM task WHERE (owner, parent) IN {}",
                keys_in(part)
            ))?;
            any.extend(found.into_iter().map(TaskKey::from));
        }
        let any: Vec<TaskKey> = any.into_iter().collect();
        let parents: HashSet<&TaskKey> = parents.iter().collect();
        let mut children: Vec<(TaskKey, T)> = self.newest_tasks::<T>(&any)?.into_iter().collect();
        children.retain(|(key, child)| {
            self.machine.as_ref().is_none_or(|machine| child.machine() == machine)
                && parents.contains(&TaskKey { owner: key.owner.clone(), task: child.parent().to_owned() })
        });
        children.sort_by(|(one, first), (two, second)| {
            (&one.owner, first.started(), &one.task).cmp(&(&two.owner, second.started(), &two.task))
        });
        Ok(children.into_iter().map(|(_, child)| child).collect())
    }

    /// Returns a task, and all its descendants if they are wanted.
    pub(crate) fn family<T: Versioned>(&self, id: &TaskId, with_subagents: bool) -> Answer<Vec<T>> {
        let root = self.one(id)?;
        if with_subagents { self.families(vec![root]) } else { Ok(vec![root]) }
    }

    /// Returns the fields that the rows of each task share.
    pub(crate) fn abouts(&self, members: &[Member]) -> Answer<HashMap<TaskKey, About>> {
        let keys: Vec<TaskKey> = members.iter().map(TaskColumns::key).collect();
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let starts = self.rows::<RunStart>(&format!(
            "SELECT owner, task, occurred, if(JSONHas(derived, 'sessionSource'), JSONExtractString(derived, 'sessionSource'), \
             JSONExtractString(data, 'm', 'sessionSource')) = 'resume' AS resumes FROM fact FINAL \
             WHERE (owner, task) IN {} AND list = {} ORDER BY owner, task, occurred LIMIT {MOST_STAYS} BY owner, task",
            keys_in(&keys),
            List::SessionStart.code()
        ))?;
        let mut resumed: HashMap<TaskKey, Vec<i64>> = HashMap::new();
        for start in starts.into_iter().filter(|start| start.resumes == 1) {
            let key = TaskKey { owner: start.owner, task: start.task };
            resumed.entry(key).or_default().push(start.occurred);
        }
        let about = |member: &Member| {
            let key = member.key();
            let mut resumed = resumed.get(&key).cloned().unwrap_or_default();
            resumed.retain(|at| *at > member.started);
            let about = About {
                uid: task_id(&member.task),
                owner: Some(member.owner.clone()),
                agent: parse_word(&member.agent).unwrap_or_default(),
                session: member.session.clone(),
                agent_type: member.agent_type.clone(),
                background: member.background == 1,
                resumed,
            };
            (key, about)
        };
        Ok(members.iter().map(about).collect())
    }

    /// Returns the fields that the rows of one task share.
    pub(crate) fn about(&self, member: &Member) -> Answer<About> {
        self.abouts(std::slice::from_ref(member))?.remove(&member.key()).ok_or(QueryError::NotFound)
    }
}
