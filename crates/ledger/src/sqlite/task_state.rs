//! The task table: what was reported about a task, and where it stands.

use std::collections::BTreeSet;

use agent_tracer_event::{Certainty, TaskKey, attributes};
use rusqlite::types::Value as StoredFact;
use rusqlite::{OptionalExtension, params, params_from_iter};
use serde_json::Value;

use super::append::FoldTransaction;
use super::life::Life;
use super::read::staleness;
use super::settle::{MAX_DEPTH, descendants};
use super::tasks::{KnownTask, actor};
use super::{codec, facts, tasks};
use crate::project::FactRow;
use crate::project::list::list_code;
use crate::project::presenters;
use crate::project::status::{Marks, SWAP_MS};
use crate::project::tally::{RollupKey, TaskSums, pico_dollars};
use crate::project::task_fields::FieldChange;
use crate::view::TaskStatus;

/// A cleared context continues in a new session of the same process at once.
const CLEAR_MS: i64 = 60_000;

struct SealedState {
    started: i64,
    last: i64,
    status: TaskStatus,
    ended: Option<i64>,
}

impl FoldTransaction<'_> {
    /// Writes the reported fields of a task.
    pub(super) fn save_reported(&mut self, task: i64, change: FieldChange) -> rusqlite::Result<()> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(());
        };
        if change < FieldChange::News {
            // It is written with the rest of the row.
            self.surer.insert(task);
            return Ok(());
        }
        let blob = codec::encode_json(&known.reported);
        let (reported, agent, old_filing, is_new) =
            (known.reported.clone(), known.agent, known.rollup_key.clone(), known.is_new);
        let other = |apply: &mut Self, field: &str| -> rusqlite::Result<Option<i64>> {
            match reported.text(field) {
                Some(session) => apply.named_task(&TaskKey::new(agent, session)),
                None => Ok(None),
            }
        };
        let parent = match reported.text(attributes::PARENT_SESSION) {
            Some(session) => Some(self.task(&TaskKey::new(agent, session))?).filter(|parent| *parent != task),
            None => None,
        };
        let named = other(self, attributes::FORKED_FROM)?.filter(|from| *from != task);
        // A session that names no parent was forked from the one that owns what it was given.
        let claimed = self.claimed(task)?;
        let forked = named.or(claimed);
        self.unsettled.insert(task);
        let continues = other(self, attributes::CONTINUES)?.filter(|from| *from != task);
        let cwd = reported.text(attributes::CWD).unwrap_or_default();
        let project =
            reported.text(attributes::PROJECT).or(reported.text(attributes::PROJECT_DIR)).unwrap_or(cwd);
        // No entry says what a subagent without a type is; the main agent it is not.
        let is_subagent = parent.is_some() || self.known_task(task)?.is_some_and(|known| known.background);
        let agent_type = reported.text(attributes::AGENT_TYPE).unwrap_or(if is_subagent {
            presenters::SUBAGENT
        } else {
            presenters::MAIN
        });
        // No one gave it a title: a subagent is called after its type, and a session after itself.
        let title = match reported.title().filter(|title| !title.is_empty()) {
            Some(title) => title.to_owned(),
            None if is_subagent => agent_type.to_owned(),
            None => tasks::key(self.conn, task)?.map(|key| key.runtime_session).unwrap_or_default(),
        };
        let words = &mut self.memory.words;
        let model = reported.text(attributes::MODEL).map(|model| words.id(self.conn, model)).transpose()?;
        let machine = words.id(self.conn, &self.memory.machine_id)?;
        let rollup_key = RollupKey {
            task,
            project: words.id(self.conn, project)?,
            actor: words.id(self.conn, &actor(agent, agent_type))?,
        };
        let agent_type = words.id(self.conn, agent_type)?;
        let left = if is_new { parent } else { self.settle_moved(task, parent)? };
        self.conn
            .prepare_cached(
                "UPDATE task SET told = ?2, parent = ?3, parent_certainty = ?4, forked = ?5, \
                 continues = coalesce(?6, continues), title = ?7, agent_type = ?8, cwd = ?9, project = ?10, model = ?11, \
                 machine = ?12, pid = ?13, pid_start = ?14, client_cost = coalesce(?15, client_cost), changed = ?16, \
                 background = max(background, ?17) WHERE id = ?1",
            )?
            .execute(params![
                task,
                blob,
                parent,
                parent.and(reported.certainty(attributes::PARENT_SESSION)).map(|certainty: Certainty| certainty as i64),
                forked,
                continues,
                title,
                agent_type,
                cwd,
                rollup_key.project,
                model,
                machine,
                reported.number(attributes::PID),
                reported.number(attributes::PID_START),
                client_cost(reported.get("account")),
                self.memory.seq,
                parent.is_some(),
            ])?;
        if let Some(parent) = parent
            && let Some(above) = self.memory.tasks.load(self.conn, &mut self.memory.words, parent)?
        {
            above.has_children = true;
        }
        if let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? {
            known.parent = parent;
            known.background |= parent.is_some();
            known.rollup_key = rollup_key.clone();
        }
        if rollup_key != old_filing && !is_new {
            self.refile(&old_filing, &rollup_key)?;
        }
        if reported.number(attributes::PROCESS_GONE_AT).is_some() || parent != left {
            self.settle_open_calls(task)?;
        }
        Ok(())
    }

    /// Returns the number of a task that another one names: it gets one, unless it was deleted on purpose.
    fn named_task(&mut self, key: &TaskKey) -> rusqlite::Result<Option<i64>> {
        let is_deleted = self
            .conn
            .prepare_cached(
                "SELECT 1 FROM tombstone WHERE task = ?1 AND NOT EXISTS (SELECT 1 FROM task WHERE uid = ?1)",
            )?
            .exists([key.task_id().as_str()])?;
        if is_deleted { Ok(None) } else { self.task(key).map(Some) }
    }

    /// Settles the parent that a task leaves behind when it gets another: it may run only because of it; and what it
    /// started itself now ends with others. Gives the parent that it had.
    fn settle_moved(&mut self, task: i64, parent: Option<i64>) -> rusqlite::Result<Option<i64>> {
        let left = self.known_task(task)?.and_then(|known| known.parent);
        if left == parent {
            return Ok(left);
        }
        let below = descendants(self.conn, task)?;
        for above in self.ancestors(task)? {
            self.parted.extend(below.iter().map(|below| (above, *below)));
        }
        let near = below.into_iter().filter(|below| *below != task).chain(left);
        for near in near.collect::<Vec<_>>() {
            self.reported.insert(near, FieldChange::News);
            self.unsettled.insert(near);
        }
        Ok(left)
    }

    /// Moves the sums of a task to another project or type of agent.
    fn refile(&mut self, old: &RollupKey, new: &RollupKey) -> rusqlite::Result<()> {
        for stored in facts::select(self.conn, "WHERE f.task = ?1", [old.task])? {
            self.tally.count(&stored.row, old, self.pricer, -1);
            self.tally.count(&stored.row, new, self.pricer, 1);
        }
        if let Some(residual) = self.stored_residual(old.task)? {
            self.tally.count_residual(&residual, old, -1);
            self.tally.count_residual(&residual, new, 1);
        }
        Ok(())
    }

    /// Settles the status of tasks again, children before parents, and then of the tasks that depend on them.
    pub(super) fn settle_tasks(&mut self, tasks: BTreeSet<i64>) -> rusqlite::Result<()> {
        let mut depths: BTreeSet<(usize, i64)> = BTreeSet::new();
        for task in tasks {
            let above = self.ancestors(task)?;
            depths.insert((MAX_DEPTH.saturating_sub(above.len()), task));
            if let Some(parent) = above.first() {
                depths.insert((MAX_DEPTH.saturating_sub(self.ancestors(*parent)?.len()), *parent));
            }
            if self.life(task)?.is_some_and(|life| life.has_ended()) {
                for near in descendants(self.conn, task)?.into_iter().chain(self.same_process(task)?) {
                    depths.insert((MAX_DEPTH.saturating_sub(self.ancestors(near)?.len()), near));
                }
            }
        }
        while let Some((_, task)) = depths.pop_first() {
            if self.settle_task(task)? {
                // A parent runs as long as one of its children does.
                if let Some(parent) = self.ancestors(task)?.first() {
                    depths.insert((MAX_DEPTH.saturating_sub(self.ancestors(*parent)?.len()), *parent));
                }
            }
        }
        self.save_rest()
    }

    /// Returns a task as the writer knows it.
    pub(super) fn known_task(&mut self, task: i64) -> rusqlite::Result<Option<&mut KnownTask>> {
        self.memory.tasks.load(self.conn, &mut self.memory.words, task)
    }

    /// Returns the facts that decide the status of a task.
    pub(super) fn life(&mut self, task: i64) -> rusqlite::Result<Option<&mut Life>> {
        let conn = self.conn;
        let Some(known) = self.known_task(task)? else { return Ok(None) };
        if known.life.is_none() {
            known.life = Some(Life::read(conn, task)?);
        }
        Ok(known.life.as_mut())
    }

    /// Tells the life of a task that one of its facts changed.
    pub(super) fn follow_life(
        &mut self,
        task: i64,
        old: Option<&FactRow>,
        new: Option<&FactRow>,
    ) -> rusqlite::Result<()> {
        if let Some(known) = self.known_task(task)?
            && let Some(life) = &mut known.life
            && !life.follow(old, new)
        {
            known.life = None;
        }
        Ok(())
    }

    /// Returns the tasks above a task, nearest first.
    pub(super) fn ancestors(&mut self, task: i64) -> rusqlite::Result<Vec<i64>> {
        let mut chain = Vec::new();
        let mut at = task;
        while chain.len() < MAX_DEPTH {
            match self.known_task(at)?.and_then(|known| known.parent) {
                Some(parent) if parent != task && !chain.contains(&parent) => {
                    chain.push(parent);
                    at = parent;
                }
                _ => break,
            }
        }
        Ok(chain)
    }

    /// Returns when the process of a task, or of the one it belongs to, was found to be gone.
    pub(super) fn gone_at(&mut self, task: i64) -> rusqlite::Result<Option<i64>> {
        let mut first: Option<i64> = None;
        for task in std::iter::once(task).chain(self.ancestors(task)?) {
            let gone =
                self.known_task(task)?.and_then(|known| known.reported.number(attributes::PROCESS_GONE_AT));
            first = match (first, gone) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        Ok(first)
    }

    /// Returns the tasks of the same process: one of them may continue this one.
    fn same_process(&self, task: i64) -> rusqlite::Result<Vec<i64>> {
        let mut find = self.conn.prepare_cached(
            "SELECT other.id FROM task mine JOIN task other ON other.pid = mine.pid \
             AND other.pid_start IS mine.pid_start AND other.id <> mine.id WHERE mine.id = ?1 LIMIT 64",
        )?;
        find.query_map([task], |row| row.get(0))?.collect()
    }

    /// Settles the status of a task again. Returns `true` if it changed.
    fn settle_task(&mut self, task: i64) -> rusqlite::Result<bool> {
        let Some(life) = self.life(task)? else { return Ok(false) };
        let (mut started, mut last) = (life.started, life.last);
        let (context, cleared) = (life.context(), life.cleared);
        let mut standing = self.marks(task)?.standing();
        if let Some(sealed) = self.sealed(task)? {
            if last.is_none() {
                standing.status = sealed.status;
                standing.ended = sealed.ended;
                standing.waiting = None;
            }
            started = Some(started.map_or(sealed.started, |started| started.min(sealed.started)));
            last = last.max(Some(sealed.last));
        }
        let conn = self.conn;
        let current = match self.life(task)? {
            Some(life) => life.current(conn, task)?,
            None => None,
        };
        let continued = match cleared {
            Some(at) => self.continued(task, at)?,
            None => None,
        };
        let (reason, since, fact) = match standing.waiting {
            Some((reason, since, fact)) => (Some(reason as i64), Some(since), fact),
            None => (None, None, None),
        };
        let sums = self.sums.remove(&task).unwrap_or_default();
        let client_cost = self.own_client_cost(task, &sums)?;
        let is_surer = self.surer.remove(&task);
        let seq = self.memory.seq;
        let Some(known) = self.known_task(task)? else { return Ok(false) };
        let reported = is_surer.then(|| codec::encode_json(&known.reported));
        conn.prepare_cached(&format!(
            "UPDATE task SET status = ?2, waiting = ?3, waiting_since = ?4, waiting_fact = ?5, ended = ?6, \
             started = ?7, last = ?8, current = ?9, context_pct = ?10, \
             continues = CASE WHEN ?11 THEN ?12 ELSE continues END, changed = ?13, told = coalesce(?14, told), \
             client_cost = iif(?15 = 0, client_cost, nullif(ifnull(client_cost, 0) + ?15, 0)), {} WHERE id = ?1",
            TaskSums::added_from(16)
        ))?
        .execute(params_from_iter(
            [
                StoredFact::from(task),
                StoredFact::from(standing.status as i64),
                StoredFact::from(reason),
                StoredFact::from(since),
                StoredFact::from(fact),
                StoredFact::from(standing.ended),
                StoredFact::from(started.unwrap_or(0)),
                StoredFact::from(last.unwrap_or(0)),
                StoredFact::from(current),
                StoredFact::from(context),
                StoredFact::from(cleared.is_some()),
                StoredFact::from(continued),
                StoredFact::from(seq),
                StoredFact::from(reported),
                StoredFact::from(client_cost),
            ]
            .into_iter()
            .chain(sums.numbers().map(StoredFact::from)),
        ))?;
        let status = Some(standing.status as i64);
        let has_turned = std::mem::replace(&mut known.status, status) != status;
        *self.counted.entry(task).or_default() |= has_turned;
        Ok(has_turned)
    }

    /// Writes the remaining changes of tasks whose status was not settled.
    fn save_rest(&mut self) -> rusqlite::Result<()> {
        for task in std::mem::take(&mut self.surer) {
            let Some(known) = self.known_task(task)? else { continue };
            let blob = codec::encode_json(&known.reported);
            self.conn
                .prepare_cached("UPDATE task SET told = ?2 WHERE id = ?1")?
                .execute(params![task, blob])?;
        }
        self.flush_tasks()
    }

    /// Returns the values that remain of a task after retention dropped its events.
    fn sealed(&mut self, task: i64) -> rusqlite::Result<Option<SealedState>> {
        if self.known_task(task)?.is_none_or(|known| known.sealed_until.is_none()) {
            return Ok(None);
        }
        self.conn
            .prepare_cached("SELECT started, last, status, ended FROM sealed_task WHERE task = ?1")?
            .query_row([task], |row| {
                let status = match row.get::<_, i64>(2)? {
                    0 => TaskStatus::Running,
                    1 => TaskStatus::Waiting,
                    3 => TaskStatus::Failed,
                    4 => TaskStatus::Abandoned,
                    _ => TaskStatus::Completed,
                };
                Ok(SealedState { started: row.get(0)?, last: row.get(1)?, status, ended: row.get(3)? })
            })
            .optional()
    }

    /// Returns the newest moments of a task and of those that it depends on.
    fn marks(&mut self, task: i64) -> rusqlite::Result<Marks> {
        let mut marks = self.life(task)?.map(|life| life.marks()).unwrap_or_default();
        let Some(known) = self.known_task(task)? else { return Ok(marks) };
        marks.background = known.background;
        if known.has_children {
            marks.children_run = self
                .conn
                .prepare_cached(&format!(
                    "SELECT 1 FROM task WHERE parent = ?1 AND {} AND events > 0 LIMIT 1",
                    staleness::alive()
                ))?
                .exists([task])?;
        }
        marks.gone = self.gone_at(task)?;
        for ancestor in self.ancestors(task)? {
            let end = self.life(ancestor)?.and_then(|life| life.session_end());
            marks.ancestor_end = marks.ancestor_end.max(end);
        }
        Ok(marks)
    }

    /// Returns how much what the client says of single responses adds to what the task cost: nothing where it keeps an
    /// account, and nothing again of what retention has counted.
    pub(super) fn own_client_cost(&mut self, task: i64, sums: &TaskSums) -> rusqlite::Result<i64> {
        if sums.client_cost == 0 {
            return Ok(0);
        }
        let is_rebuild = self.is_rebuild;
        let is_ours = self.known_task(task)?.is_some_and(|known| {
            client_cost(known.reported.get("account")).is_none()
                && !(is_rebuild && known.sealed_until.is_some())
        });
        Ok(if is_ours { sums.client_cost } else { 0 })
    }

    /// Returns the task whose context was cleared to begin this one: the same process ended it just before.
    fn continued(&self, task: i64, at: i64) -> rusqlite::Result<Option<i64>> {
        self.conn
            .prepare_cached(concat!(
                "SELECT other.id FROM task mine JOIN task other ON other.pid = mine.pid \
                   AND other.pid_start IS mine.pid_start AND other.id <> mine.id AND other.agent = mine.agent \
                 JOIN fact f ON f.task = other.id AND f.list = ",
                list_code!(SessionEnd),
                " AND f.occurred BETWEEN ?2 AND ?3 \
                 WHERE mine.id = ?1 ORDER BY f.occurred DESC LIMIT 1"
            ))?
            .query_row([task, at - CLEAR_MS, at + SWAP_MS], |row| row.get(0))
            .optional()
    }
}

/// Returns the cost of a session by the client's own account, in pico-dollars.
pub(super) fn client_cost(account: Option<&Value>) -> Option<i64> {
    pico_dollars(account?.get(attributes::CLIENT_COST_USD)?)
}
