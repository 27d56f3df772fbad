//! Keeping house: folding everything anew, deleting on purpose, dropping what is old.

use std::collections::{BTreeSet, VecDeque};
use std::ops::AddAssign;

use agent_tracer_event::{Agent, Channel, Millis, TaskId};
use rusqlite::{OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use super::append::Apply;
use super::owners::response_of;
use super::read::summary::OfFacts;
use super::settle::descendants;
use super::writer::Writer;
use super::{AppendError, Ledger, codec, facts, kept, tasks};
use crate::project::tally::Tally;
use crate::project::told::Heard;

/// Tasks that are folded at a time when everything is folded anew.
const PART: usize = 64;

/// About so many events are dropped or deleted in one transaction, a whole task at least: whoever writes waits for one.
const STEP_EVENTS: u64 = 5_000;

/// So many tasks or kept hooks are looked at in one transaction.
const STEP_ROWS: i64 = 2_000;

/// Pages of the search index that are merged in one transaction.
const STEP_PAGES: i64 = 500;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Tasks.
    pub tasks: u64,
    /// Events of them.
    pub events: u64,
    /// Kept bytes of hooks that were dropped.
    pub observations: u64,
}

impl AddAssign for Upkeep {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.events += other.events;
        self.observations += other.observations;
    }
}

/// How far retention came: the last kept hook and the last task that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    source: i64,
    task: i64,
}

/// What is old enough to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Events of tasks that were last heard of before this are dropped; their totals stay.
    pub events_before: Option<Millis>,
    /// Bytes of hooks that arrived before this are dropped; a better reader cannot read them again.
    pub kept_before: Option<Millis>,
}

/// The bytes of a hook that were kept for a better reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its place: ask for those after it next.
    pub place: i64,
    /// The observation's name.
    pub name: String,
    /// The agent.
    pub agent: Agent,
    /// How it reached us.
    pub channel: Channel,
    /// When it reached us.
    pub arrived: Millis,
    /// What was kept.
    pub bytes: Vec<u8>,
}

impl Ledger {
    /// Folds everything anew from the entries. The rows are the same as before.
    ///
    /// # Errors
    /// If it could not be written; then nothing changed.
    pub fn rebuild(&self) -> Result<Upkeep, AppendError> {
        self.on_writer(|writer| writer.change(|apply| apply.rebuild()))?
    }

    /// Deletes tasks and all that they started, and remembers that nothing of them up to now may come back.
    ///
    /// # Errors
    /// If it could not be written; then some of them may be deleted, and asking again goes on.
    pub fn purge(&self, tasks: Vec<TaskId>, now: Millis) -> Result<Upkeep, AppendError> {
        self.purge_with(tasks, now, |_| {})
    }

    /// The same, and tells after each step what was done so far. Whoever writes waits for one step, not for all.
    ///
    /// # Errors
    /// If it could not be written; then some of them may be deleted, and asking again goes on.
    pub fn purge_with(
        &self,
        tasks: Vec<TaskId>,
        now: Millis,
        mut progress: impl FnMut(&Upkeep),
    ) -> Result<Upkeep, AppendError> {
        let mut done = Upkeep::default();
        // First of all nothing of them may come back, whatever happens next.
        let (mut left, buried) = self.on_writer(move |writer| {
            let buried =
                writer.change(|apply| tasks.iter().try_for_each(|task| apply.bury(task.as_str(), now)));
            (tasks.into_iter().collect::<VecDeque<_>>(), buried)
        })?;
        buried?;
        while !left.is_empty() {
            let (rest, step) = self.on_writer(move |writer| {
                let part = writer.next_part(&mut left);
                let step = part.and_then(|part| writer.purge(&part, now));
                (left, step)
            })?;
            left = rest;
            done += step?;
            progress(&done);
        }
        if done.tasks > 0 {
            self.on_writer(|writer| {
                writer.overwriting(|writer| writer.change(|apply| apply.sweep_words()))
            })??;
            while !self.on_writer(Writer::merge_search)?? {}
            self.on_writer(|writer| {
                writer.overwriting(|writer| writer.change(|apply| apply.sweep_terms()))
            })??;
        }
        self.on_writer(|writer| {
            while writer.waiting.is_behind() && writer.fold_posted() {}
            writer.waiting.clear();
            writer.conn.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok()
        })?;
        Ok(done)
    }

    /// Every task there is, also those of which no event is known.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn every_task(&self) -> Result<Vec<TaskId>, AppendError> {
        self.on_writer(|writer| {
            let mut find = writer.conn.prepare_cached("SELECT uid FROM task ORDER BY id")?;
            let ids = find.query_map([], |row| row.get::<_, String>(0))?;
            ids.map(|id| Ok(TaskId::parse(&id?)))
                .filter_map(Result::transpose)
                .collect::<rusqlite::Result<Vec<_>>>()
        })?
        .map_err(AppendError::from)
    }

    /// Drops what is old. Totals of what is dropped stay.
    ///
    /// # Errors
    /// If it could not be written; what was dropped until then is, and asking again goes on.
    pub fn retain(&self, retention: Retention) -> Result<Upkeep, AppendError> {
        self.retain_with(retention, |_| true)
    }

    /// The same, and tells after each step what was done so far; it ends early where that says no. Whoever writes waits
    /// for one step, not for all.
    ///
    /// # Errors
    /// If it could not be written; what was dropped until then is, and asking again goes on.
    pub fn retain_with(
        &self,
        retention: Retention,
        mut goes_on: impl FnMut(&Upkeep) -> bool,
    ) -> Result<Upkeep, AppendError> {
        let (mut done, mut place) = (Upkeep::default(), Some(Place::default()));
        while let Some(from) = place {
            let (step, next) = self.on_writer(move |writer| writer.retain(retention, from))??;
            done += step;
            place = next;
            if !goes_on(&done) {
                break;
            }
        }
        Ok(done)
    }

    /// What [`Ledger::retain`] would drop.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn would_retain(&self, retention: Retention) -> Result<Upkeep, AppendError> {
        self.on_writer(move |writer| writer.would_retain(retention))?.map_err(AppendError::from)
    }

    /// Folds everything anew if the user's own prices are not those that costs were counted with. Totals of what was
    /// dropped keep the prices they were sealed with.
    ///
    /// # Errors
    /// If it could not be written; then nothing changed, and the next try does it.
    pub fn reprice(&self, prices_toml: &str) -> Result<Option<Upkeep>, AppendError> {
        let mark = match prices_toml.trim() {
            "" => 0,
            // Any number but the one for no file. Only compared for being the same.
            text => (xxh3_64(text.as_bytes()) as i64) | 1,
        };
        self.on_writer(move |writer| writer.reprice(mark))?
    }

    /// Lets the file grow to so many pages and no further.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn limit_pages(&self, pages: u32) -> Result<(), AppendError> {
        self.on_writer(move |writer| {
            // The pragma answers with the limit in force, so it is asked like a question.
            writer.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
        })?
        .map_err(AppendError::from)
    }

    /// Kept bytes of hooks after a place, oldest first, at most so many.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn kept(&self, after: i64, limit: u32) -> Result<Vec<Kept>, AppendError> {
        self.on_writer(move |writer| writer.kept(after, limit))?.map_err(AppendError::from)
    }
}

impl Writer {
    /// The next tasks that are deleted together: as many as a step has room for, one at least.
    fn next_part(&self, left: &mut VecDeque<TaskId>) -> Result<Vec<TaskId>, AppendError> {
        let (mut part, mut events) = (Vec::new(), 0);
        while let Some(task) = left.pop_front() {
            let number: Option<i64> = self
                .conn
                .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
                .query_row([task.as_str()], |row| row.get(0))
                .optional()?;
            if let Some(number) = number {
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

    fn purge(&mut self, tasks: &[TaskId], now: Millis) -> Result<Upkeep, AppendError> {
        self.overwriting(|writer| writer.change(|apply| apply.purge(tasks, now)))
    }

    /// Does something after which nothing of what it deletes is left in the file.
    fn overwriting<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        self.conn.pragma_update(None, "secure_delete", "ON")?;
        let done = work(self);
        self.memory.tasks.forget();
        self.memory.words.forget();
        self.conn.pragma_update(None, "secure_delete", "OFF")?;
        done
    }

    /// Merges a part of the search index: once it is merged, it holds nothing of deleted rows. Tells whether it is done.
    fn merge_search(&mut self) -> Result<bool, AppendError> {
        self.overwriting(|writer| {
            let before = writer.conn.total_changes();
            // A negative number begins to merge all into one; asked again, it goes on with that.
            writer.conn.execute("INSERT INTO search (search, rank) VALUES ('merge', ?1)", [-STEP_PAGES])?;
            Ok(writer.conn.total_changes() - before < 2)
        })
    }

    fn retain(&mut self, retention: Retention, from: Place) -> Result<(Upkeep, Option<Place>), AppendError> {
        let done = self.change(|apply| apply.retain(retention, from));
        self.memory.tasks.forget();
        done
    }

    fn would_retain(&self, retention: Retention) -> rusqlite::Result<Upkeep> {
        let before = |moment: Option<Millis>| moment.map_or(i64::MIN, |moment| moment.0);
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let (tasks, events) = self.conn.query_row(
            "SELECT count(DISTINCT f.task), count(*) FROM task t JOIN fact f ON f.task = t.id \
             WHERE t.last < ?1 AND t.last > 0 AND t.events > 0",
            [before(retention.events_before)],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let observations = self.conn.query_row(
            "SELECT count(*) FROM source WHERE kept IS NOT NULL AND (arrived < ?1 OR task IN \
             (SELECT id FROM task WHERE last < ?2 AND last > 0 AND events > 0))",
            [before(retention.kept_before), before(retention.events_before)],
            |row| row.get(0),
        )?;
        Ok(Upkeep { tasks: count(tasks), events: count(events), observations: count(observations) })
    }

    fn reprice(&mut self, mark: i64) -> Result<Option<Upkeep>, AppendError> {
        let known: Option<i64> = self
            .conn
            .query_row("SELECT value FROM meta WHERE key = 'prices'", [], |row| row.get(0))
            .optional()?;
        if known.unwrap_or(0) == mark {
            return Ok(None);
        }
        let done = self.change(|apply| {
            let done = apply.rebuild()?;
            apply.conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('prices', ?1)", [mark])?;
            Ok(done)
        })?;
        Ok(Some(done))
    }

    fn kept(&self, after: i64, limit: u32) -> rusqlite::Result<Vec<Kept>> {
        let mut find = self.conn.prepare_cached(
            "SELECT id, agent, channel, arrived, kept FROM source WHERE id > ?1 AND kept IS NOT NULL ORDER BY id LIMIT ?2",
        )?;
        let rows = find.query_map(params![after, limit], |row| {
            let blob = row.get_ref(4)?.as_blob()?;
            let whole = codec::decode(blob).map(std::borrow::Cow::into_owned).unwrap_or_default();
            let (name, bytes) = match whole.iter().position(|byte| *byte == b'\n') {
                Some(at) => whole.split_at(at),
                None => (whole.as_slice(), [].as_slice()),
            };
            Ok(Kept {
                place: row.get(0)?,
                name: String::from_utf8_lossy(name).into_owned(),
                agent: facts::word_at(Agent::ALL, row.get(1)?).unwrap_or(Agent::ClaudeCode),
                channel: facts::word_at(Channel::ALL, row.get(2)?).unwrap_or(Channel::Hook),
                arrived: Millis(row.get(3)?),
                bytes: bytes.get(1..).unwrap_or_default().to_vec(),
            })
        })?;
        rows.collect()
    }
}

/// The sums of a task that retention keeps.
const SUMS: &str = "events, calls, failures, turns, input, output, cache_read, cache_write, reasoning, cost, responses, \
    unpriced, copies, wait_ms";

impl Apply<'_> {
    fn rebuild(&mut self) -> rusqlite::Result<Upkeep> {
        self.is_rebuild = true;
        // Facts get places that may be before those they had: whoever ships goes by this.
        self.conn.execute(
            "INSERT INTO meta (key, value) VALUES ('rebuilds', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
            [],
        )?;
        // What was known of tasks follows from rows that go now.
        self.memory.tasks.forget();
        for table in [
            "fact",
            "file_touch",
            "file_use",
            "repeat",
            "turn_sum",
            "rollup",
            "latency",
            "task_model",
            "task_skill",
            "activation",
        ] {
            self.conn.execute(&format!("DELETE FROM {table}"), [])?;
        }
        // What sealed tasks hold cannot be told again.
        self.conn.execute("DELETE FROM holder WHERE task NOT IN (SELECT task FROM sealed_task)", [])?;
        self.conn.execute("INSERT INTO task_model SELECT * FROM sealed_model", [])?;
        self.conn.execute("INSERT INTO task_skill SELECT * FROM sealed_skill", [])?;
        self.conn
            .execute("UPDATE task SET residual = NULL WHERE id NOT IN (SELECT task FROM sealed_task)", [])?;
        self.conn.execute("INSERT INTO rollup SELECT * FROM sealed_rollup", [])?;
        self.conn.execute("INSERT INTO latency SELECT * FROM sealed_latency", [])?;
        let zeros = SUMS.split(", ").map(|column| format!("{column} = 0")).collect::<Vec<_>>().join(", ");
        self.conn.execute(&format!("UPDATE task SET {zeros}"), [])?;
        self.conn.execute(
            &format!(
                "UPDATE task SET ({SUMS}) = (SELECT {SUMS} FROM sealed_task WHERE sealed_task.task = task.id) \
                 WHERE id IN (SELECT task FROM sealed_task)"
            ),
            [],
        )?;
        self.forget_search()?;
        let tasks = self.numbers("SELECT id FROM task ORDER BY id")?;
        let mut done = Upkeep::default();
        for part in tasks.chunks(PART) {
            for task in part {
                self.told.insert(*task, Heard::News);
                let mut find = self.conn.prepare_cached("SELECT DISTINCT fact FROM entry WHERE task = ?1")?;
                let facts: Vec<i64> =
                    find.query_map([task], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
                for fact in facts {
                    self.touched.entry((*task, fact)).or_default().reload = true;
                    done.events += 1;
                }
                done.tasks += 1;
            }
            self.fold_pending()?;
            // Nobody is told: nothing is news.
            self.changed.clear();
        }
        Ok(done)
    }

    fn numbers(&self, sql: &str) -> rusqlite::Result<Vec<i64>> {
        self.conn.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
    }

    fn forget_search(&self) -> rusqlite::Result<()> {
        self.conn.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
        self.conn.execute("DELETE FROM vocabulary", [])?;
        self.conn.execute("DELETE FROM meta WHERE key IN ('indexed', 'indexed_tasks')", [])?;
        Ok(())
    }

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
        for task in &all {
            let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, *task)? else {
                continue;
            };
            let (uid, filing) = (known.uid.clone(), known.filing.clone());
            self.bury(uid.as_str(), now)?;
            self.forget_claim(*task)?;
            if let Some(residual) = self.stored_residual(*task)? {
                self.tally.count_residual(&residual, &filing, -1);
            }
            for above in self.above(*task)? {
                self.unsettled.insert(above);
                self.counted.entry(above).or_default();
            }
            let mut forks = self.conn.prepare_cached("SELECT id FROM task WHERE forked = ?1")?;
            for fork in forks.query_map([task], |row| row.get::<_, i64>(0))? {
                self.unsettled.insert(fork?);
            }
            for stored in facts::select(self.conn, "WHERE f.task = ?1", [task])? {
                self.tally.count(&stored.row, &filing, self.pricer, -1);
                if let Some(response) = response_of(&stored.row) {
                    self.forget_holder(response, *task, stored.row.fact)?;
                    responses.insert(response);
                }
                self.removed.push((*task, stored.row.fact));
                done.events += 1;
            }
            self.tally.tasks.remove(task);
            self.tally.turns.retain(|(of, _), _| of != task);
            self.tally.files.remove(task);
            self.tally.repeats.retain(|(of, _), _| of != task);
            self.tally.models.retain(|(of, ..), _| of != task);
            self.tally.skills.retain(|(of, _), _| of != task);
            done.tasks += 1;
        }
        let removed = std::mem::take(&mut self.removed);
        self.flush()?;
        for task in &all {
            self.drop_events(*task)?;
            for table in ["task_model", "task_skill", "sealed_model", "sealed_skill"] {
                self.conn.execute(&format!("DELETE FROM {table} WHERE task = ?1"), [task])?;
            }
            let observations = self.conn.execute("DELETE FROM source WHERE task = ?1", [task])?;
            done.observations += u64::try_from(observations).unwrap_or(0);
            self.conn.execute("DELETE FROM search WHERE rowid = ?1", [-task])?;
            self.conn.execute("DELETE FROM sealed_task WHERE task = ?1", [task])?;
            for column in ["parent", "continues", "forked"] {
                self.conn.execute(&format!("UPDATE task SET {column} = NULL WHERE {column} = ?1"), [task])?;
            }
        }
        // Rows that are gone are named by their task, so that is looked up before it goes too.
        let mut builder = super::read::RowBuilder::new(self.conn);
        for (task, fact) in removed {
            self.gone.push(builder.about(task)?.row_id(fact));
        }
        for task in &all {
            self.conn.execute("DELETE FROM task WHERE id = ?1", [task])?;
        }
        self.memory.tasks.forget();
        // What they owned is somebody else's now, and a fork no longer knows what its account began with.
        self.settle_owners(&responses)?;
        self.flush()?;
        self.unsettled.retain(|task| !all.contains(task));
        self.settle_residuals()?;
        self.counted.retain(|task, _| !all.contains(task));
        self.parted.clear();
        self.settle_endings()?;
        Ok(done)
    }

    fn bury(&self, task: &str, now: Millis) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO tombstone (task, until) VALUES (?1, ?2) \
                 ON CONFLICT (task) DO UPDATE SET until = max(until, ?2)",
            )?
            .execute(params![task, now.0])?;
        Ok(())
    }

    /// Deletes the events of a task; sums over time are not touched.
    fn drop_events(&mut self, task: i64) -> rusqlite::Result<()> {
        self.conn
            .execute("DELETE FROM search WHERE rowid IN (SELECT id FROM fact WHERE task = ?1)", [task])?;
        let gone = self.conn.execute("DELETE FROM entry WHERE task = ?1", [task])?;
        self.entries -= i64::try_from(gone).unwrap_or(0);
        for table in ["fact", "alias", "file_touch", "file_use", "repeat", "turn_sum", "activation"] {
            self.conn.execute(&format!("DELETE FROM {table} WHERE task = ?1"), [task])?;
        }
        Ok(())
    }

    /// Forgets texts that nothing names any more.
    fn sweep_words(&self) -> rusqlite::Result<()> {
        self.conn.execute(
            "DELETE FROM word WHERE id NOT IN (
               SELECT machine FROM entry UNION SELECT agent_type FROM task UNION SELECT project FROM task
               UNION SELECT machine FROM task UNION SELECT model FROM task WHERE model IS NOT NULL
               UNION SELECT tool FROM fact WHERE tool IS NOT NULL UNION SELECT path FROM file_touch
               UNION SELECT path FROM file_use UNION SELECT model FROM task_model
               UNION SELECT skill FROM task_skill UNION SELECT skill FROM activation UNION SELECT project FROM rollup UNION SELECT actor FROM rollup
               UNION SELECT key FROM rollup UNION SELECT tool FROM latency UNION SELECT project FROM latency
               UNION SELECT project FROM sealed_rollup UNION SELECT actor FROM sealed_rollup
               UNION SELECT key FROM sealed_rollup UNION SELECT tool FROM sealed_latency)",
            [],
        )?;
        Ok(())
    }

    /// Forgets search terms that no row has any more. A merged index holds all terms that there are.
    fn sweep_terms(&self) -> rusqlite::Result<()> {
        self.conn.execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, search, row);
             DELETE FROM vocabulary WHERE term NOT IN (SELECT term FROM temp.terms);
             DROP TABLE temp.terms;",
        )
    }

    /// One step from a place. Gives the place of the next one, if there may be more.
    fn retain(&mut self, retention: Retention, from: Place) -> rusqlite::Result<(Upkeep, Option<Place>)> {
        let mut done = Upkeep::default();
        if let Some(before) = retention.kept_before {
            let last: Option<i64> = self.conn.query_row(
                "SELECT max(id) FROM (SELECT id FROM source WHERE id > ?1 ORDER BY id LIMIT ?2)",
                [from.source, STEP_ROWS],
                |row| row.get(0),
            )?;
            if let Some(last) = last {
                let gone = self.conn.execute(
                    "UPDATE source SET kept = NULL WHERE id > ?1 AND id <= ?2 AND arrived < ?3 AND kept IS NOT NULL",
                    [from.source, last, before.0],
                )?;
                done.observations = u64::try_from(gone).unwrap_or(0);
                return Ok((done, Some(Place { source: last, ..from })));
            }
        }
        let Some(before) = retention.events_before else { return Ok((done, None)) };
        let mut find = self.conn.prepare_cached(
            "SELECT id FROM task WHERE id > ?2 AND last < ?1 AND last > 0 AND events > 0 ORDER BY id LIMIT ?3",
        )?;
        let tasks: Vec<i64> = find
            .query_map([before.0, from.task, STEP_ROWS], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut next = tasks.last().map(|task| Place { task: *task, ..from });
        for task in tasks {
            let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
                continue;
            };
            let filing = known.filing.clone();
            let mut sums = Tally::default();
            let mut events = 0;
            for stored in facts::select(self.conn, "WHERE f.task = ?1", [task])? {
                sums.count(&stored.row, &filing, self.pricer, 1);
                events += 1;
            }
            if events == 0 {
                continue;
            }
            if let Some(residual) = self.stored_residual(task)? {
                sums.count_residual(&residual, &filing, 1);
            }
            self.seal(&sums)?;
            let of_facts = OfFacts::read(self.conn, task)?;
            self.conn.execute(
                &format!(
                    "INSERT OR REPLACE INTO sealed_task (task, until, started, last, status, ended, active_ms, \
                     files_read, files_changed, permissions, compactions, {SUMS}) \
                     SELECT id, ?2, started, last, status, ended, ?3, ?4, ?5, ?6, ?7, {SUMS} FROM task WHERE id = ?1"
                ),
                params![
                    task,
                    self.newest_told(task)?,
                    of_facts.active_ms,
                    of_facts.files_read,
                    of_facts.files_changed,
                    of_facts.permissions,
                    of_facts.compactions
                ],
            )?;
            for (sealed, kept) in [("sealed_model", "task_model"), ("sealed_skill", "task_skill")] {
                self.conn.execute(
                    &format!("INSERT OR REPLACE INTO {sealed} SELECT * FROM {kept} WHERE task = ?1"),
                    [task],
                )?;
            }
            self.drop_events(task)?;
            self.conn.execute("UPDATE source SET kept = NULL WHERE task = ?1", [task])?;
            done.tasks += 1;
            done.events += events;
            if done.events >= STEP_EVENTS {
                next = Some(Place { task, ..from });
                break;
            }
        }
        Ok((done, next))
    }

    /// The latest moment that any entry of a task tells of.
    fn newest_told(&self, task: i64) -> rusqlite::Result<i64> {
        let Some(key) = tasks::key(self.conn, task)? else { return Ok(0) };
        let mut find = self.conn.prepare_cached("SELECT data FROM entry WHERE task = ?1")?;
        let mut newest = 0;
        for blob in find.query_map([task], |row| row.get::<_, Vec<u8>>(0))? {
            newest = newest.max(kept::read(&blob?, &key).map_or(0, |entry| entry.occurred_at.0));
        }
        Ok(newest)
    }

    /// Adds sums to those that belong to the ledger.
    fn seal(&mut self, sums: &Tally) -> rusqlite::Result<()> {
        self.add_rollups("sealed_rollup", sums)?;
        self.add_latencies("sealed_latency", sums)
    }
}
