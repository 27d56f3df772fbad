//! Keeping house: folding everything anew, dropping what is old. Deleting on purpose is in [`super::purge`].

use std::ops::AddAssign;

use agent_tracer_event::{Agent, Channel, Millis};
use rusqlite::{OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use super::append::FoldTransaction;
use super::page_check::FOLDED_ANEW;
use super::read::follower::DOCUMENT_NUMBER;
use super::read::summary::FactSummary;
use super::writer::Writer;
use super::{AppendError, Ledger, codec, entry_codec, facts, tasks};
use crate::project::tally::Tally;
use crate::project::task_fields::FieldChange;

/// Tasks that are folded at a time when everything is folded anew.
pub(super) const PART: usize = 64;

/// The approximate number of events that one transaction drops or deletes, at least a whole task. Other writes wait for
/// one such transaction.
pub(super) const STEP_EVENTS: u64 = 5_000;

/// So many tasks or kept hooks are looked at in one transaction.
const STEP_ROWS: i64 = 2_000;

/// The work that was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Tasks.
    pub tasks: u64,
    /// Events of them.
    pub events: u64,
    /// Retained bytes of hooks that were dropped.
    pub observations: u64,
}

impl AddAssign for Upkeep {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.events += other.events;
        self.observations += other.observations;
    }
}

/// The progress of retention: the last kept hook and the last task that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RetentionProgress {
    source: i64,
    task: i64,
}

/// The ages from which events are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Events of tasks that were last active before this are dropped; their totals stay.
    pub events_before: Option<Millis>,
    /// Bytes of hooks that arrived before this are dropped; a better reader cannot read them again.
    pub kept_before: Option<Millis>,
}

/// The bytes of a hook that were kept for a better reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainedPayload {
    /// Its place: ask for those after it next.
    pub place: i64,
    /// The observation's name.
    pub name: String,
    /// The agent.
    pub agent: Agent,
    /// The channel that brought it.
    pub channel: Channel,
    /// The moment when it reached us.
    pub arrived: Millis,
    /// The retained bytes.
    pub bytes: Vec<u8>,
}

impl Ledger {
    /// Folds everything anew from the entries. The rows are the same as before.
    ///
    /// # Errors
    /// If it could not be written; then nothing changed.
    pub fn rebuild(&self) -> Result<Upkeep, AppendError> {
        self.on_writer(|writer| {
            let done = writer.change(|apply| apply.rebuild())?;
            // What was damaged there was emptied first.
            writer.checkpointer.forgive_folded(&writer.path)?;
            Ok(done)
        })?
    }

    /// Drops what is old. Totals of what is dropped stay.
    ///
    /// # Errors
    /// If it could not be written; what was dropped until then is, and asking again goes on.
    pub fn retain(&self, retention: Retention) -> Result<Upkeep, AppendError> {
        self.retain_with(retention, |_| true)
    }

    /// Works like [`Ledger::retain`], with a report of the progress after each step, which can end it early. Other
    /// writes wait for one step, not for all of them.
    ///
    /// # Errors
    /// If the store could not be written. The events of completed steps stay dropped, and another call continues.
    pub fn retain_with(
        &self,
        retention: Retention,
        mut goes_on: impl FnMut(&Upkeep) -> bool,
    ) -> Result<Upkeep, AppendError> {
        let (mut done, mut place) = (Upkeep::default(), Some(RetentionProgress::default()));
        while let Some(from) = place {
            // A job of its own for each step, so that hooks are recorded between two of them.
            let (step, next) = self.on_writer(move |writer| writer.retain(retention, from))??;
            done += step;
            place = next;
            if !goes_on(&done) {
                break;
            }
        }
        Ok(done)
    }

    /// Returns the numbers that [`Ledger::retain`] would drop.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn would_retain(&self, retention: Retention) -> Result<Upkeep, AppendError> {
        self.on_writer(move |writer| writer.would_retain(retention))?.map_err(AppendError::from)
    }

    /// Folds everything anew if the user's own prices are not those that costs were counted with, or if another version
    /// folded it by other rules (`FOLD`). `own_prices` is a text that differs where the prices differ, empty if there are
    /// none. Totals of what was dropped keep the prices they were sealed with.
    ///
    /// # Errors
    /// If it could not be written; then nothing changed, and the next try does it.
    pub fn reprice(&self, own_prices: &str) -> Result<Option<Upkeep>, AppendError> {
        let mark = match own_prices.trim() {
            "" => 0,
            // Any number but the one for no prices. Only compared for being the same.
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

    /// Returns retained bytes of hooks after a place, oldest first, at most so many.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn retained_payloads(&self, after: i64, limit: u32) -> Result<Vec<RetainedPayload>, AppendError> {
        self.on_writer(move |writer| writer.retained_payloads(after, limit))?.map_err(AppendError::from)
    }
}

impl Writer {
    fn retain(
        &mut self,
        retention: Retention,
        from: RetentionProgress,
    ) -> Result<(Upkeep, Option<RetentionProgress>), AppendError> {
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
        let known = |key: &str| {
            self.conn
                .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get::<_, i64>(0))
                .optional()
        };
        // The version of the fold belongs to it: a new version may count what the old one did not, and prices it in
        // the same pass.
        if known("prices")?.unwrap_or(0) == mark && known("fold")?.unwrap_or(0) == super::FOLD {
            return Ok(None);
        }
        let done = self.change(|apply| {
            let done = apply.rebuild()?;
            for (key, value) in [("prices", mark), ("fold", super::FOLD)] {
                apply.conn.execute(
                    "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
                    params![key, value],
                )?;
            }
            Ok(done)
        })?;
        Ok(Some(done))
    }

    fn retained_payloads(&self, after: i64, limit: u32) -> rusqlite::Result<Vec<RetainedPayload>> {
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
            Ok(RetainedPayload {
                place: row.get(0)?,
                name: String::from_utf8_lossy(name).into_owned(),
                agent: Agent::from_place(row.get(1)?).unwrap_or_default(),
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

impl FoldTransaction<'_> {
    fn rebuild(&mut self) -> rusqlite::Result<Upkeep> {
        self.is_rebuild = true;
        // Facts may get positions before those that they had. Shipping finds out by this key.
        self.conn.execute(
            "INSERT INTO meta (key, value) VALUES ('rebuilds', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1",
            [],
        )?;
        // What was known of tasks follows from rows that go now.
        self.memory.tasks.forget();
        for table in FOLDED_ANEW {
            self.conn.execute(&format!("DELETE FROM {table}"), [])?;
        }
        // What sealed tasks hold is unknown again.
        self.conn.execute("DELETE FROM holder WHERE task NOT IN (SELECT task FROM sealed_task)", [])?;
        self.conn.execute("INSERT INTO task_model SELECT * FROM sealed_model", [])?;
        self.conn.execute("INSERT INTO task_skill SELECT * FROM sealed_skill", [])?;
        self.conn
            .execute("UPDATE task SET residual = NULL WHERE id NOT IN (SELECT task FROM sealed_task)", [])?;
        // What retention dropped cannot be folded again. Its sums were set aside when it went, and the new sums begin
        // with them.
        self.conn.execute("INSERT INTO rollup SELECT * FROM sealed_rollup", [])?;
        self.conn.execute("INSERT INTO latency SELECT * FROM sealed_latency", [])?;
        let zeros = SUMS.split(", ").map(|column| format!("{column} = 0")).collect::<Vec<_>>().join(", ");
        self.conn.execute(&format!("UPDATE task SET {zeros}"), [])?;
        self.conn.execute(
            "UPDATE task SET client_cost = NULL WHERE id NOT IN (SELECT task FROM sealed_task)",
            [],
        )?;
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
        // In parts, because the rows that are folded stay in memory until they are settled.
        for part in tasks.chunks(PART) {
            for task in part {
                self.reported.insert(*task, FieldChange::News);
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
            // Listeners are not called: nothing is news.
            self.changed.clear();
        }
        Ok(done)
    }

    fn numbers(&self, sql: &str) -> rusqlite::Result<Vec<i64>> {
        self.conn.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
    }

    pub(super) fn forget_search(&self) -> rusqlite::Result<()> {
        self.conn.execute("INSERT INTO search (search) VALUES ('delete-all')", [])?;
        self.conn.execute("DELETE FROM vocabulary", [])?;
        self.conn.execute("DELETE FROM meta WHERE key IN ('indexed', 'indexed_tasks')", [])?;
        Ok(())
    }

    /// Deletes the events of a task; sums over time are not touched.
    pub(super) fn drop_events(&mut self, task: i64) -> rusqlite::Result<()> {
        // Before the rows go: the number of a document is computed from its row and stored nowhere else.
        let documents = format!("SELECT {DOCUMENT_NUMBER} FROM fact f WHERE f.task = ?1");
        self.conn.execute(&format!("DELETE FROM search WHERE rowid IN ({documents})"), [task])?;
        let gone = self.conn.execute("DELETE FROM entry WHERE task = ?1", [task])?;
        self.entries -= i64::try_from(gone).unwrap_or(0);
        for table in ["fact", "alias", "file_touch", "file_use", "repeat", "turn_sum", "activation"] {
            self.conn.execute(&format!("DELETE FROM {table} WHERE task = ?1"), [task])?;
        }
        Ok(())
    }

    /// Takes one step from a place. Returns the place of the next one, if there may be more.
    fn retain(
        &mut self,
        retention: Retention,
        from: RetentionProgress,
    ) -> rusqlite::Result<(Upkeep, Option<RetentionProgress>)> {
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
                return Ok((done, Some(RetentionProgress { source: last, ..from })));
            }
        }
        let Some(before) = retention.events_before else { return Ok((done, None)) };
        let mut find = self.conn.prepare_cached(
            "SELECT id FROM task WHERE id > ?2 AND last < ?1 AND last > 0 AND events > 0 ORDER BY id LIMIT ?3",
        )?;
        let tasks: Vec<i64> = find
            .query_map([before.0, from.task, STEP_ROWS], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut next = tasks.last().map(|task| RetentionProgress { task: *task, ..from });
        for task in tasks {
            let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
                continue;
            };
            let (rollup_key, is_sealed) = (known.rollup_key.clone(), known.sealed_until.is_some());
            let mut sums = Tally::default();
            let mut events = 0;
            for stored in facts::select(self.conn, "WHERE f.task = ?1", [task])? {
                sums.count(&stored.row, &rollup_key, self.pricer, 1);
                events += 1;
            }
            if events == 0 {
                continue;
            }
            // What only the account knows was sealed with the first events that went.
            if let Some(residual) = self.stored_residual(task)?.filter(|_| !is_sealed) {
                sums.count_residual(&residual, &rollup_key, 1);
            }
            self.seal(task, &sums)?;
            let of_facts = FactSummary::read(self.conn, task)?;
            self.conn.execute(
                &format!(
                    "INSERT OR REPLACE INTO sealed_task (task, until, started, last, status, ended, active_ms, \
                     files_read, files_changed, permissions, compactions, {SUMS}) \
                     SELECT id, ?2, started, last, status, ended, ?3, ?4, ?5, ?6, ?7, {SUMS} FROM task WHERE id = ?1"
                ),
                params![
                    task,
                    self.newest_reported(task)?,
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
            // These follow from events alone: folding again without them gives none.
            self.conn.execute(
                "UPDATE task SET current = NULL, waiting = NULL, waiting_since = NULL, waiting_fact = NULL, \
                 context_pct = NULL WHERE id = ?1",
                [task],
            )?;
            self.conn.execute("UPDATE source SET kept = NULL WHERE task = ?1", [task])?;
            done.tasks += 1;
            done.events += events;
            if done.events >= STEP_EVENTS {
                next = Some(RetentionProgress { task, ..from });
                break;
            }
        }
        Ok((done, next))
    }

    /// Returns the latest moment that any entry of a task tells of.
    fn newest_reported(&self, task: i64) -> rusqlite::Result<i64> {
        let Some(key) = tasks::key(self.conn, task)? else { return Ok(0) };
        let mut find = self.conn.prepare_cached("SELECT data FROM entry WHERE task = ?1")?;
        let mut newest = 0;
        for blob in find.query_map([task], |row| row.get::<_, Vec<u8>>(0))? {
            newest = newest.max(entry_codec::read(&blob?, &key).map_or(0, |entry| entry.occurred_at.0));
        }
        Ok(newest)
    }
}
