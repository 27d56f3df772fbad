//! Deleting on purpose: tasks with all that they started, their part of every sum, and the bytes that they leave behind.
//!
//! Law: when it is over, no page of the file, no frame of its log and no record of the journal holds anything of them.
//! Until then the store remembers that it is not over, and asking again goes on. How bytes go: [`super::scrub`].

use std::collections::{BTreeSet, VecDeque};

use agent_tracer_event::{Millis, TaskId};
use rusqlite::{OptionalExtension, params};

use super::append::FoldTransaction;
use super::facts::{self, StoredFact};
use super::response_attribution::response_of;
use super::settle::descendants;
use super::upkeep::{PART, STEP_EVENTS};
use super::writer::Writer;
use super::{AppendError, Cursor, Ledger, Upkeep, codec, entry_codec, tasks};
use crate::fault_cause::FaultCause;
use crate::project::task_fields::{FieldChange, PAID_BY, PAID_FOR};
use crate::task_names::TaskNames;

const DAY_MS: i64 = 86_400_000;

/// Everything that is kept of tasks, beside the tasks themselves.
const OF_TASKS: &[&str] = &[
    "entry",
    "fact",
    "alias",
    "file_touch",
    "file_use",
    "repeat",
    "turn_sum",
    "activation",
    "holder",
    "task_model",
    "task_skill",
    "task_count",
    "rollup",
    "latency",
    "sealed_rollup",
    "sealed_latency",
    "sealed_model",
    "sealed_skill",
    "sealed_task",
    "sealed_share",
    "unrecognised",
];

impl Ledger {
    /// Deletes tasks and all that they started, and remembers that nothing of them up to now may come back. Then the
    /// store is written anew without them.
    ///
    /// # Errors
    /// If it could not be written; then some of them may be deleted, and asking again goes on.
    pub fn purge(&self, tasks: Vec<TaskId>, now: Millis) -> Result<Upkeep, AppendError> {
        self.purge_with(tasks, now, |_| {})
    }

    /// Works like [`Ledger::purge`], with a report of the progress after each step. Other writes wait for one step, not
    /// for all of them; only the last step, which writes the whole store again, delays every write until its end.
    ///
    /// # Errors
    /// If the store could not be written. Some of the tasks may be deleted by then, and another call continues.
    pub fn purge_with(
        &self,
        tasks: Vec<TaskId>,
        now: Millis,
        progress: impl FnMut(&Upkeep),
    ) -> Result<Upkeep, AppendError> {
        self.finish_posts()?;
        let done = self.delete_tasks(tasks, now, progress)?;
        self.finish_purge()?;
        Ok(done)
    }

    /// Deletes every task, and whatever else is kept of what agents did: totals of what was dropped with age, bytes of
    /// hooks that tell of no task, names that no reader knows.
    ///
    /// # Errors
    /// If it could not be written; then some of them may be deleted, and asking again goes on.
    pub fn purge_all_with(&self, now: Millis, progress: impl FnMut(&Upkeep)) -> Result<Upkeep, AppendError> {
        self.finish_posts()?;
        let done = self.delete_tasks(self.every_task()?, now, progress)?;
        self.on_writer(|writer| writer.overwriting(|writer| writer.change(|apply| apply.clear())))??;
        self.finish_purge()?;
        Ok(done)
    }

    fn delete_tasks(
        &self,
        tasks: Vec<TaskId>,
        now: Millis,
        mut progress: impl FnMut(&Upkeep),
    ) -> Result<Upkeep, AppendError> {
        let mut done = Upkeep::default();
        if tasks.is_empty() {
            return Ok(done);
        }
        // First of all nothing of them may come back, whatever happens next.
        let (mut left, buried) = self.on_writer(move |writer| {
            let buried = writer.change(|apply| {
                apply.note_pending()?;
                tasks.iter().try_for_each(|task| apply.bury(task.as_str(), now))
            });
            (tasks.into_iter().collect::<VecDeque<_>>(), buried)
        })?;
        buried?;
        while !left.is_empty() {
            // One step at a time, so that other writes get the writer between two of them.
            let (rest, step) = self.on_writer(move |writer| {
                let part = writer.next_part(&mut left);
                let step = part.and_then(|part| writer.purge(&part, now));
                (left, step)
            })?;
            left = rest;
            done += step?;
            progress(&done);
        }
        Ok(done)
    }

    /// Folds everything that was acknowledged and waits in the journal, so that what is asked or changed next knows it.
    ///
    /// # Errors
    /// If it cannot be folded.
    pub fn finish_posts(&self) -> Result<(), AppendError> {
        self.on_writer(|writer| {
            while writer.waiting.is_behind() {
                if !writer.fold_posted() {
                    let why = writer.faults.failing();
                    return Err(why.unwrap_or_else(|| AppendError::Store("the journal of posts".into())));
                }
            }
            Ok(())
        })?
    }

    /// Returns `true` if a purge was begun and not completed: bytes of deleted rows may still be in the file.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn is_purge_pending(&self) -> Result<bool, AppendError> {
        self.on_writer(|writer| writer.is_purge_pending())?.map_err(AppendError::from)
    }

    /// Leaves nothing behind of what was deleted, if a purge was begun.
    fn finish_purge(&self) -> Result<(), AppendError> {
        if !self.is_purge_pending()? {
            // What the journal holds of events that were folded long ago goes whatever was asked for.
            return self.on_writer(|writer| writer.waiting.clear());
        }
        let sweep = |work: fn(&mut FoldTransaction<'_>) -> rusqlite::Result<()>| {
            self.on_writer(move |writer| writer.overwriting(|writer| writer.change(work)))?
        };
        sweep(|apply| apply.sweep_words())?;
        sweep(|apply| apply.sweep_unrecognised())?;
        // FTS5 keeps terms of deleted rows in its segments until they are merged. After this nothing that a deleted
        // text said is left in the index.
        while !self.on_writer(Writer::merge_search)?? {}
        sweep(|apply| apply.sweep_terms())?;
        self.finish_posts()?;
        self.on_writer(|writer| {
            writer.waiting.clear();
            writer.write_anew()?;
            writer.change(|apply| apply.forget_pending())?;
            // Last: the steps above went through the log themselves, and its frames hold pages as they were before.
            writer.empty_log()
        })?
    }

    /// Returns every task that was ever deleted on purpose.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn deleted_tasks(&self) -> Result<Vec<TaskId>, AppendError> {
        self.ids("SELECT task FROM tombstone")
    }

    /// Returns every task there is, also those of which no event is known.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn every_task(&self) -> Result<Vec<TaskId>, AppendError> {
        self.ids("SELECT uid FROM task ORDER BY id")
    }

    fn ids(&self, sql: &'static str) -> Result<Vec<TaskId>, AppendError> {
        self.on_writer(move |writer| {
            let mut find = writer.conn.prepare_cached(sql)?;
            let ids = find.query_map([], |row| row.get::<_, String>(0))?;
            ids.map(|id| Ok(TaskId::parse(&id?)))
                .filter_map(Result::transpose)
                .collect::<rusqlite::Result<Vec<_>>>()
        })?
        .map_err(AppendError::from)
    }

    /// Returns the names of tasks and of all that they started, by which others may hold something of them.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn names_of(&self, tasks: Vec<TaskId>) -> Result<TaskNames, AppendError> {
        self.on_writer(move |writer| writer.names_of(&tasks))?.map_err(AppendError::from)
    }

    /// Returns how many of these tasks added to totals that retention keeps without it being known how much: a version
    /// before schema 9 dropped their events.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn inseparable(&self, tasks: Vec<TaskId>) -> Result<u64, AppendError> {
        self.on_writer(move |writer| {
            let mut find = writer.conn.prepare_cached(
                "SELECT 1 FROM task t JOIN sealed_task s ON s.task = t.id WHERE t.uid = ?1 \
                 AND NOT EXISTS (SELECT 1 FROM sealed_share WHERE sealed_share.task = t.id)",
            )?;
            let mut count = 0;
            for task in &tasks {
                count += u64::from(find.exists([task.as_str()])?);
            }
            Ok::<_, rusqlite::Error>(count)
        })?
        .map_err(AppendError::from)
    }

    /// Replaces what readers remember of their files, where `change` gives something else; where that is empty, all of it is
    /// forgotten. Returns how many.
    ///
    /// # Errors
    /// If it could not be written; then nothing changed.
    pub fn change_cursors(
        &self,
        change: impl Fn(&Cursor) -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<u64, AppendError> {
        let mut cursors = Vec::new();
        for agent in agent_tracer_event::Agent::ALL {
            cursors.extend(self.cursors(*agent).map_err(|error| AppendError::Store(FaultCause::new(error)))?);
        }
        self.on_writer(move |writer| {
            writer.change(|apply| {
                let mut save = apply.conn.prepare_cached("UPDATE cursor SET state = ?2 WHERE source = ?1")?;
                let mut forget = apply.conn.prepare_cached("DELETE FROM cursor WHERE source = ?1")?;
                let mut count = 0;
                for cursor in &cursors {
                    match change(cursor) {
                        // Without a cursor the file is read again from its beginning, which is safe: entries of
                        // deleted tasks are refused by their tombstone.
                        Some(state) if state.is_empty() => forget.execute([&cursor.source])?,
                        Some(state) if state != cursor.state => {
                            save.execute(params![cursor.source, codec::encode(&state)])?
                        }
                        _ => continue,
                    };
                    count += 1;
                }
                if count > 0 {
                    apply.note_pending()?;
                }
                Ok(count)
            })
        })?
    }
}

impl Writer {
    /// Returns the next tasks that are deleted together: as many as a step has room for, one at least.
    fn next_part(&self, left: &mut VecDeque<TaskId>) -> Result<Vec<TaskId>, AppendError> {
        let (mut part, mut events) = (Vec::new(), 0);
        while let Some(task) = left.pop_front() {
            if let Some(number) = self.number(&task)? {
                for below in descendants(&self.conn, number)? {
                    events += self
                        .conn
                        .prepare_cached("SELECT events FROM task WHERE id = ?1")?
                        .query_row([below], |row| row.get::<_, i64>(0))?;
                }
            }
            part.push(task);
            if u64::try_from(events).unwrap_or(0) >= STEP_EVENTS || part.len() >= PART {
                break;
            }
        }
        Ok(part)
    }

    fn number(&self, task: &TaskId) -> rusqlite::Result<Option<i64>> {
        self.conn
            .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
            .query_row([task.as_str()], |row| row.get(0))
            .optional()
    }

    fn names_of(&self, tasks: &[TaskId]) -> rusqlite::Result<TaskNames> {
        let mut names = TaskNames::default();
        let mut find = self.conn.prepare_cached("SELECT uid, session FROM task WHERE id = ?1")?;
        for task in tasks {
            names.add(task.as_str(), "");
            let Some(number) = self.number(task)? else { continue };
            for below in descendants(&self.conn, number)? {
                let (id, session): (String, String) =
                    find.query_row([below], |row| Ok((row.get(0)?, row.get(1)?)))?;
                names.add(&id, &session);
            }
        }
        Ok(names)
    }

    fn purge(&mut self, tasks: &[TaskId], now: Millis) -> Result<Upkeep, AppendError> {
        self.overwriting(|writer| writer.change(|apply| apply.purge(tasks, now)))
    }
}

impl FoldTransaction<'_> {
    fn purge(&mut self, tasks: &[TaskId], now: Millis) -> rusqlite::Result<Upkeep> {
        let mut all: BTreeSet<i64> = BTreeSet::new();
        for task in tasks {
            let id: Option<i64> = self
                .conn
                .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
                .query_row([task.as_str()], |row| row.get(0))
                .optional()?;
            self.bury(task.as_str(), now)?;
            if let Some(id) = id {
                all.extend(descendants(self.conn, id)?);
            }
        }
        let mut done = Upkeep::default();
        let mut responses = BTreeSet::new();
        let mut near = BTreeSet::new();
        let mut rows_above = Vec::new();
        for task in &all {
            near.extend(self.related_tasks(*task)?);
            rows_above.extend(self.rows_above(*task, &all)?);
            self.take_away(*task, now, &mut responses, &mut done)?;
        }
        // Tasks that stay are settled again afterwards; those that go have no row to write to.
        near.retain(|task| !all.contains(task));
        let removed = std::mem::take(&mut self.removed);
        self.flush()?;
        for task in &all {
            self.delete(*task, &mut done)?;
        }
        // Rows that are gone are named by their task, so that is looked up before it goes too.
        let mut builder = super::read::RowBuilder::new(self.conn);
        for (task, fact) in removed {
            self.gone.push(builder.about(task)?.row_id(fact));
        }
        for task in &all {
            self.conn.execute("DELETE FROM task WHERE id = ?1", [task])?;
        }
        // The cache knows nothing of deletions. A task of the same id that is recorded again later must begin with
        // nothing.
        self.memory.tasks.forget();
        // What they owned is another's now, and a fork no longer knows what its account began with.
        self.settle_owners(&responses)?;
        self.flush()?;
        self.unsettled.retain(|task| !all.contains(task));
        self.unsettled.extend(&near);
        self.counted.retain(|task, _| !all.contains(task));
        self.parted.clear();
        for stored in rows_above {
            self.forget_subagent(&stored)?;
        }
        for task in near {
            self.counted.insert(task, true);
            self.reported.insert(task, FieldChange::News);
        }
        Ok(done)
    }

    /// Returns the tasks whose rows may depend on a task that goes: those above it, its forks, those that go on from
    /// it, and those whose account holds what it cost or that it paid for.
    fn related_tasks(&mut self, task: i64) -> rusqlite::Result<Vec<i64>> {
        let mut near = self.ancestors(task)?;
        let mut find = self.conn.prepare_cached("SELECT id FROM task WHERE forked = ?1 OR continues = ?1")?;
        near.extend(
            find.query_map([task], |row| row.get::<_, i64>(0))?.collect::<rusqlite::Result<Vec<_>>>()?,
        );
        for beginning in [PAID_BY, PAID_FOR] {
            near.extend(self.payment_partners(task, beginning)?);
        }
        Ok(near)
    }

    /// Returns the rows with which tasks that stay tell of one that goes.
    fn rows_above(&mut self, task: i64, all: &BTreeSet<i64>) -> rusqlite::Result<Vec<StoredFact>> {
        let mut rows = Vec::new();
        for above in self.ancestors(task)? {
            if !all.contains(&above) {
                rows.extend(self.row_of(above, task)?);
            }
        }
        Ok(rows)
    }

    /// Takes what a task counted out of every sum.
    fn take_away(
        &mut self,
        task: i64,
        now: Millis,
        responses: &mut BTreeSet<i64>,
        done: &mut Upkeep,
    ) -> rusqlite::Result<()> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(());
        };
        let (uid, rollup_key, is_sealed) =
            (known.uid.clone(), known.rollup_key.clone(), known.sealed_until.is_some());
        // Up to its newest event and not only to now: with the clock set back, an import would bring the rest of it
        // back.
        self.bury(uid.as_str(), self.newest_moment(task, now)?)?;
        self.forget_claim(task)?;
        if is_sealed {
            self.unseal(task)?;
            // Those of its responses that were dropped are known by their holder alone.
            let mut held = self.conn.prepare_cached("SELECT response FROM holder WHERE task = ?1")?;
            for response in held.query_map([task], |row| row.get::<_, i64>(0))? {
                responses.insert(response?);
            }
            self.conn.execute("DELETE FROM holder WHERE task = ?1", [task])?;
        } else if let Some(residual) = self.stored_residual(task)? {
            self.tally.count_residual(&residual, &rollup_key, -1);
        }
        for stored in facts::select(self.conn, "WHERE f.task = ?1", [task])? {
            self.tally.count(&stored.row, &rollup_key, self.pricer, -1);
            if let Some(response) = response_of(&stored.row) {
                self.forget_holder(response, task, stored.row.fact)?;
                responses.insert(response);
            }
            self.removed.push((task, stored.row.fact));
            done.events += 1;
        }
        // The task's own sums go with its row. Only what it added to sums of others (days, projects, models) has to
        // be subtracted.
        self.tally.tasks.remove(&task);
        self.tally.turns.retain(|(of, _), _| *of != task);
        self.tally.files.remove(&task);
        self.tally.repeats.retain(|(of, _), _| *of != task);
        self.tally.models.retain(|(of, ..), _| *of != task);
        self.tally.skills.retain(|(of, _), _| *of != task);
        done.tasks += 1;
        Ok(())
    }

    /// Deletes what is kept of a task, but for its own row.
    fn delete(&mut self, task: i64, done: &mut Upkeep) -> rusqlite::Result<()> {
        // Bytes of hooks that tell of this task and of another: the other has its events, and these bytes are of both.
        self.conn.execute(
            "UPDATE source SET kept = NULL, payload = NULL WHERE kept IS NOT NULL \
             AND id IN (SELECT source FROM entry WHERE task = ?1)",
            [task],
        )?;
        self.drop_events(task)?;
        for table in
            ["task_model", "task_skill", "sealed_model", "sealed_skill", "sealed_task", "sealed_share"]
        {
            self.conn.execute(&format!("DELETE FROM {table} WHERE task = ?1"), [task])?;
        }
        let observations = self.conn.execute("DELETE FROM source WHERE task = ?1", [task])?;
        done.observations += u64::try_from(observations).unwrap_or(0);
        self.conn.execute("DELETE FROM search WHERE rowid = ?1", [-task])?;
        for column in ["parent", "continues", "forked"] {
            self.conn.execute(&format!("UPDATE task SET {column} = NULL WHERE {column} = ?1"), [task])?;
        }
        Ok(())
    }

    /// Deletes whatever is left when no task is.
    fn clear(&mut self) -> rusqlite::Result<()> {
        self.note_pending()?;
        if self.conn.prepare_cached("SELECT 1 FROM task")?.exists([])? {
            // A caller brought something meanwhile: it came after what was deleted.
            return Ok(());
        }
        for table in OF_TASKS {
            self.conn.execute(&format!("DELETE FROM {table}"), [])?;
        }
        self.conn.execute("UPDATE source SET kept = NULL, payload = NULL, task = NULL", [])?;
        self.conn.execute("DELETE FROM meta WHERE key = 'entries'", [])?;
        self.forget_search()
    }

    /// Returns now, or the newest moment of which an entry of a task tells, if that is later: its calls may end after its
    /// last event. Only of a task that was active a day before now or later can that be.
    fn newest_moment(&self, task: i64, now: Millis) -> rusqlite::Result<Millis> {
        let last: i64 = self
            .conn
            .prepare_cached("SELECT last FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))?;
        let key = tasks::key(self.conn, task)?;
        let Some(key) = key.filter(|_| last.saturating_add(DAY_MS) > now.0) else { return Ok(now) };
        let mut newest = now;
        let mut find = self.conn.prepare_cached("SELECT data FROM entry WHERE task = ?1")?;
        let mut rows = find.query([task])?;
        while let Some(row) = rows.next()? {
            let entry = entry_codec::read(row.get_ref(0)?.as_blob()?, &key);
            newest = newest.max(entry.map_or(now, |entry| entry.occurred_at));
        }
        Ok(newest)
    }

    /// Notes that nothing of a task may come back up to now. A clock that is behind lies before what it deletes, so it is
    /// up to the newest event of the task at least.
    fn bury(&self, task: &str, now: Millis) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO tombstone (task, until) \
                 VALUES (?1, max(?2, coalesce((SELECT last FROM task WHERE uid = ?1), ?2))) \
                 ON CONFLICT (task) DO UPDATE SET until = max(until, excluded.until)",
            )?
            .execute(params![task, now.0])?;
        Ok(())
    }
}
