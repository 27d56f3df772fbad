//! Writes gathered changes of sums. A sum that comes to nothing leaves no row behind.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use super::append::Apply;
use crate::project::latency;
use crate::project::tally::{DurationPlace, FileSums, ModelSums, Tally, TaskSums};

impl Apply<'_> {
    pub(super) fn flush(&mut self) -> rusqlite::Result<()> {
        let mut tally = std::mem::take(&mut self.tally);
        for (task, more) in tally.tasks.drain() {
            let sums = self.sums.entry(task).or_default();
            *sums += more;
            self.counted.entry(task).or_default();
        }
        self.add_rollups("rollup", &tally)?;
        self.add_latencies("latency", &tally)?;
        self.flush_turns(&tally)?;
        self.flush_models(&tally)?;
        self.flush_skills(&tally)?;
        self.flush_files(&tally)
    }

    /// Adds sums over time to a table of that shape.
    pub(super) fn add_rollups(&mut self, table: &str, tally: &Tally) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(&format!(
            "INSERT INTO {table} (dim, level, at, project, actor, key, n, failures, ms, wait_ms, input, output, \
             cache_read, cache_write, reasoning, cost, unpriced, calls) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) \
             ON CONFLICT DO UPDATE SET n = n + ?7, failures = failures + ?8, ms = ms + ?9, wait_ms = wait_ms + ?10, \
             input = input + ?11, output = output + ?12, cache_read = cache_read + ?13, \
             cache_write = cache_write + ?14, reasoning = reasoning + ?15, cost = cost + ?16, unpriced = unpriced + ?17, \
             calls = calls + ?18",
        ))?;
        let mut sweep = self.conn.prepare_cached(&format!(
            "DELETE FROM {table} WHERE dim = ?1 AND level = ?2 AND at = ?3 AND project = ?4 AND actor = ?5 AND key = ?6 \
             AND n = 0 AND failures = 0 AND ms = 0 AND wait_ms = 0 AND input = 0 AND output = 0 AND cache_read = 0 \
             AND cache_write = 0 AND reasoning = 0 AND cost = 0 AND unpriced = 0 AND calls = 0",
        ))?;
        let mut rolled = Vec::new();
        for (place, sum) in tally.rolled().into_iter().filter(|(_, sum)| !sum.is_zero()) {
            let key = self.memory.words.id(self.conn, place.key)?;
            let (dim, level) = (place.dim.code(), place.level.code());
            rolled.push(((level, place.at, dim, place.project, place.actor, key), sum));
        }
        // In the order of the table: neighbours stand on one page.
        rolled.sort_unstable_by_key(|(place, _)| *place);
        for ((level, at, dim, project, actor, key), sum) in rolled {
            add.execute(params![
                dim,
                level,
                at,
                project,
                actor,
                key,
                sum.n,
                sum.failures,
                sum.ms,
                sum.wait_ms,
                sum.input,
                sum.output,
                sum.cache_read,
                sum.cache_write,
                sum.reasoning,
                sum.cost,
                sum.unpriced,
                sum.calls
            ])?;
            if sum.n <= 0 {
                sweep.execute(params![dim, level, at, project, actor, key])?;
            }
        }
        Ok(())
    }

    /// Adds durations to a table of that shape.
    pub(super) fn add_latencies(&mut self, table: &str, tally: &Tally) -> rusqlite::Result<()> {
        let place = "level = ?1 AND at = ?2 AND project = ?3 AND actor = ?4 AND tool = ?5";
        let mut find = self.conn.prepare_cached(&format!("SELECT buckets FROM {table} WHERE {place}"))?;
        let mut save = self.conn.prepare_cached(&format!(
            "INSERT OR REPLACE INTO {table} (level, at, project, actor, tool, buckets) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        ))?;
        let mut sweep = self.conn.prepare_cached(&format!("DELETE FROM {table} WHERE {place}"))?;
        for (DurationPlace { level, at, project, actor, tool }, more) in &tally.durations() {
            let (level, tool) = (level.code(), self.memory.words.id(self.conn, tool)?);
            let packed: Option<Vec<u8>> =
                find.query_row(params![level, at, project, actor, tool], |row| row.get(0)).optional()?;
            let mut buckets: BTreeMap<i64, i64> = latency::unpack(&packed.unwrap_or_default())
                .into_iter()
                .map(|(bucket, n)| (bucket, i64::try_from(n).unwrap_or(i64::MAX)))
                .collect();
            for (bucket, n) in more {
                *buckets.entry(*bucket).or_default() += n;
            }
            let packed = latency::pack(&buckets);
            if packed.is_empty() {
                sweep.execute(params![level, at, project, actor, tool])?;
            } else {
                save.execute(params![level, at, project, actor, tool, packed])?;
            }
        }
        Ok(())
    }

    /// Writes the sums of tasks that are not written with the rest of their rows.
    pub(super) fn flush_tasks(&mut self) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(
            "UPDATE task SET events = events + ?2, calls = calls + ?3, failures = failures + ?4, turns = turns + ?5, \
             copies = copies + ?6, wait_ms = wait_ms + ?7, input = input + ?8, output = output + ?9, \
             cache_read = cache_read + ?10, cache_write = cache_write + ?11, reasoning = reasoning + ?12, \
             cost = cost + ?13, responses = responses + ?14, unpriced = unpriced + ?15, \
             client_cost = iif(?17 = 0, client_cost, nullif(ifnull(client_cost, 0) + ?17, 0)), \
             changed = max(changed, ?16) WHERE id = ?1",
        )?;
        // Shipping reads this position: sums also change when another task turns out to own a response.
        let changed = if self.is_rebuild { 0 } else { self.memory.seq };
        for (task, sum) in std::mem::take(&mut self.sums) {
            if sum == TaskSums::default() {
                continue;
            }
            let (spent, client_cost) = (sum.spent, self.own_client_cost(task, &sum)?);
            add.execute(params![
                task,
                sum.events,
                sum.calls,
                sum.failures,
                sum.turns,
                sum.copies,
                spent.wait_ms,
                spent.input,
                spent.output,
                spent.cache_read,
                spent.cache_write,
                spent.reasoning,
                spent.cost,
                spent.responses,
                spent.unpriced,
                changed,
                client_cost
            ])?;
        }
        Ok(())
    }

    fn flush_turns(&self, tally: &Tally) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(
            "INSERT INTO turn_sum (task, turn, calls, failures, records, input, output, cache_read, cache_write, \
             reasoning, cost, responses, unpriced) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
             ON CONFLICT DO UPDATE SET calls = calls + ?3, failures = failures + ?4, records = records + ?5, \
             input = input + ?6, output = output + ?7, cache_read = cache_read + ?8, cache_write = cache_write + ?9, \
             reasoning = reasoning + ?10, cost = cost + ?11, responses = responses + ?12, unpriced = unpriced + ?13",
        )?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM turn_sum WHERE task = ?1 AND turn = ?2 AND calls = 0 AND failures = 0 AND records = 0 \
             AND responses = 0",
        )?;
        for ((task, turn), sum) in &tally.turns {
            let spent = sum.spent;
            if sum.calls == 0 && sum.failures == 0 && sum.records == 0 && spent.is_zero() {
                continue;
            }
            add.execute(params![
                task,
                turn,
                sum.calls,
                sum.failures,
                sum.records,
                spent.input,
                spent.output,
                spent.cache_read,
                spent.cache_write,
                spent.reasoning,
                spent.cost,
                spent.responses,
                spent.unpriced
            ])?;
            if sum.calls < 0 || spent.responses < 0 {
                sweep.execute(params![task, turn])?;
            }
        }
        Ok(())
    }

    fn flush_models(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(
            "INSERT INTO task_model (task, model, copied, n, input, output, cache_read, cache_write, cache_write_1h, \
             searches, cost, unpriced) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
             ON CONFLICT DO UPDATE SET n = n + ?4, input = input + ?5, output = output + ?6, \
             cache_read = cache_read + ?7, cache_write = cache_write + ?8, cache_write_1h = cache_write_1h + ?9, \
             searches = searches + ?10, cost = cost + ?11, unpriced = unpriced + ?12",
        )?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM task_model WHERE task = ?1 AND model = ?2 AND copied = ?3 AND n = 0",
        )?;
        for ((task, model, copied), sum) in &tally.models {
            if *sum == ModelSums::default() {
                continue;
            }
            let model = self.memory.words.id(self.conn, model)?;
            add.execute(params![
                task,
                model,
                copied,
                sum.n,
                sum.input,
                sum.output,
                sum.cache_read,
                sum.cache_write,
                sum.cache_write_1h,
                sum.searches,
                sum.cost,
                sum.unpriced
            ])?;
            if sum.n < 0 {
                sweep.execute(params![task, model, copied])?;
            }
        }
        Ok(())
    }

    fn flush_skills(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(
            "INSERT INTO task_skill (task, skill, n, failures, responses, input, output, cache_read, cache_write, \
             reasoning, cost, unpriced) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
             ON CONFLICT DO UPDATE SET n = n + ?3, failures = failures + ?4, responses = responses + ?5, \
             input = input + ?6, output = output + ?7, cache_read = cache_read + ?8, cache_write = cache_write + ?9, \
             reasoning = reasoning + ?10, cost = cost + ?11, unpriced = unpriced + ?12",
        )?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM task_skill WHERE task = ?1 AND skill = ?2 AND n = 0 AND responses = 0",
        )?;
        for ((task, skill), sum) in tally.skills.iter().filter(|(_, sum)| !sum.is_zero()) {
            let skill = self.memory.words.id(self.conn, skill)?;
            add.execute(params![
                task,
                skill,
                sum.n,
                sum.failures,
                sum.ms,
                sum.input,
                sum.output,
                sum.cache_read,
                sum.cache_write,
                sum.reasoning,
                sum.cost,
                sum.unpriced
            ])?;
            if sum.n < 0 || sum.ms < 0 {
                sweep.execute(params![task, skill])?;
            }
        }
        Ok(())
    }

    fn flush_files(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let mut touch = self.conn.prepare_cached(
            "INSERT OR REPLACE INTO file_touch (task, path, occurred, fact) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut untouch = self.conn.prepare_cached(
            "DELETE FROM file_touch WHERE task = ?1 AND path = ?2 AND occurred = ?3 AND fact = ?4",
        )?;
        let mut add = self.conn.prepare_cached(
            "INSERT INTO file_use (task, path, reads, changes, failures) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT DO UPDATE SET reads = reads + ?3, changes = changes + ?4, failures = failures + ?5",
        )?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM file_use WHERE task = ?1 AND path = ?2 AND reads = 0 AND changes = 0",
        )?;
        for (task, files) in &tally.files {
            for (path, sums) in files {
                let FileSums { reads, changes, failures, touches } = sums;
                let is_touched = touches.values().any(|n| *n != 0);
                if !is_touched && (*reads, *changes, *failures) == (0, 0, 0) {
                    continue;
                }
                let path = self.memory.words.id(self.conn, path)?;
                for ((occurred, fact), n) in touches.iter().filter(|(_, n)| **n != 0) {
                    let statement = if *n > 0 { &mut touch } else { &mut untouch };
                    statement.execute(params![task, path, occurred, fact])?;
                }
                if (*reads, *changes, *failures) != (0, 0, 0) {
                    add.execute(params![task, path, reads, changes, failures])?;
                    if *reads < 0 || *changes < 0 {
                        sweep.execute(params![task, path])?;
                    }
                }
            }
        }
        let mut add = self.conn.prepare_cached(
            "INSERT INTO repeat (task, signature, n, failures) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT DO UPDATE SET n = n + ?3, failures = failures + ?4",
        )?;
        let mut sweep =
            self.conn.prepare_cached("DELETE FROM repeat WHERE task = ?1 AND signature = ?2 AND n = 0")?;
        for ((task, signature), (n, failures)) in &tally.repeats {
            if (*n, *failures) != (0, 0) {
                add.execute(params![task, signature, n, failures])?;
                if *n < 0 {
                    sweep.execute(params![task, signature])?;
                }
            }
        }
        Ok(())
    }
}
