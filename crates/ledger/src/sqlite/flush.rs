//! Writes gathered changes of sums. A sum that comes to nothing leaves no row behind.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::append::FoldTransaction;
use crate::project::latency;
use crate::project::measures::{self, MeasureColumn};
use crate::project::spend::Spend;
use crate::project::tally::{DurationPlace, FileSums, Tally, TaskSums};

/// Returns a statement that adds to the sums of a table: the columns of its key, and those that are added up.
fn adding(table: &str, key: &[&str], sums: &[&str]) -> String {
    let all: Vec<&str> = key.iter().chain(sums).copied().collect();
    let added: Vec<String> = sums.iter().map(|sum| format!("{sum} = {sum} + excluded.{sum}")).collect();
    format!(
        "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT DO UPDATE SET {}",
        all.join(", "),
        vec!["?"; all.len()].join(", "),
        added.join(", ")
    )
}

impl FoldTransaction<'_> {
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
        let columns = measures::of_rollups();
        let mut add = self.conn.prepare_cached(&format!(
            "INSERT INTO {table} (dim, level, at, project, actor, key, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, {}) \
             ON CONFLICT DO UPDATE SET {}",
            measures::list(columns.clone(), |column| column.name.to_owned()),
            measures::list(columns.clone(), |_| "?".to_owned()),
            measures::list(columns.clone(), |MeasureColumn { name, .. }| format!("{name} = {name} + excluded.{name}")),
        ))?;
        let zeros: String = columns.clone().map(|column| format!(" AND {} = 0", column.name)).collect();
        let mut sweep = self.conn.prepare_cached(&format!(
            "DELETE FROM {table} WHERE dim = ?1 AND level = ?2 AND at = ?3 AND project = ?4 AND actor = ?5 AND key = ?6 \
             {zeros}",
        ))?;
        let mut rolled = Vec::new();
        for (place, sum) in tally.rolled().into_iter().filter(|(_, sum)| !sum.is_zero()) {
            let key = self.memory.words.id(self.conn, place.key)?;
            rolled.push(((place.level.code(), place.at, place.dim, place.project, place.actor, key), sum));
        }
        // In the order of the table: neighbours stand on one page.
        rolled.sort_unstable_by_key(|(place, _)| *place);
        for ((level, at, dim, project, actor, key), sum) in rolled {
            let place = [dim.code(), level, at, project, actor, key];
            let values: Vec<i64> = columns.clone().map(|column| column.value(sum, dim)).collect();
            add.execute(params_from_iter(place.iter().chain(&values)))?;
            // Only a subtraction can empty a sum, and only then is it worth looking whether it did.
            if values.first().is_none_or(|n| *n <= 0) {
                sweep.execute(place)?;
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
            // Read, changed and written whole: with a row for each bucket, a histogram by hour and project had nearly
            // as many rows as there were events.
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
        let mut add = self.conn.prepare_cached(&format!(
            "UPDATE task SET {}, client_cost = iif(?2 = 0, client_cost, nullif(ifnull(client_cost, 0) + ?2, 0)), \
             changed = max(changed, ?3) WHERE id = ?1",
            TaskSums::added_from(4)
        ))?;
        // Shipping reads this position: sums also change when another task turns out to own a response.
        let changed = if self.is_rebuild { 0 } else { self.memory.seq };
        for (task, sum) in std::mem::take(&mut self.sums) {
            if sum.is_zero() {
                continue;
            }
            let place = [task, self.own_client_cost(task, &sum)?, changed];
            add.execute(params_from_iter(place.into_iter().chain(sum.numbers())))?;
        }
        Ok(())
    }

    fn flush_turns(&self, tally: &Tally) -> rusqlite::Result<()> {
        let sums = [&["calls", "failures", "records"], Spend::COLUMNS.as_slice()].concat();
        let mut add = self.conn.prepare_cached(&adding("turn_sum", &["task", "turn"], &sums))?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM turn_sum WHERE task = ?1 AND turn = ?2 AND calls = 0 AND failures = 0 AND records = 0 \
             AND responses = 0",
        )?;
        for ((task, turn), sum) in &tally.turns {
            let spend = sum.spend;
            if sum.calls == 0 && sum.failures == 0 && sum.records == 0 && spend.is_zero() {
                continue;
            }
            let own = [*task, *turn, sum.calls, sum.failures, sum.records];
            add.execute(params_from_iter(own.into_iter().chain(spend.numbers())))?;
            if sum.calls < 0 || spend.responses < 0 {
                sweep.execute(params![task, turn])?;
            }
        }
        Ok(())
    }

    fn flush_models(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let mut add = self.conn.prepare_cached(&adding(
            "task_model",
            &["task", "model", "copied"],
            &[
                "n",
                "input",
                "output",
                "cache_read",
                "cache_write",
                "cache_write_1h",
                "searches",
                "cost",
                "unpriced",
            ],
        ))?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM task_model WHERE task = ?1 AND model = ?2 AND copied = ?3 AND n = 0",
        )?;
        for ((task, model, copied), sum) in &tally.models {
            if sum.is_zero() {
                continue;
            }
            let spend = sum.spend;
            let model = self.memory.words.id(self.conn, model)?;
            add.execute(params![
                task,
                model,
                copied,
                spend.responses,
                spend.input,
                spend.output,
                spend.cache_read,
                spend.cache_write,
                sum.cache_write_1h,
                sum.searches,
                spend.cost,
                spend.unpriced
            ])?;
            if spend.responses < 0 {
                sweep.execute(params![task, model, copied])?;
            }
        }
        Ok(())
    }

    fn flush_skills(&mut self, tally: &Tally) -> rusqlite::Result<()> {
        let sums = [&["n", "failures"], Spend::COLUMNS.as_slice()].concat();
        let mut add = self.conn.prepare_cached(&adding("task_skill", &["task", "skill"], &sums))?;
        let mut sweep = self.conn.prepare_cached(
            "DELETE FROM task_skill WHERE task = ?1 AND skill = ?2 AND n = 0 AND responses = 0",
        )?;
        for ((task, skill), sum) in tally.skills.iter().filter(|(_, sum)| !sum.is_zero()) {
            let skill = self.memory.words.id(self.conn, skill)?;
            let own = [*task, skill, sum.n, sum.failures];
            add.execute(params_from_iter(own.into_iter().chain(sum.spend.numbers())))?;
            if sum.n < 0 || sum.spend.responses < 0 {
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
                // A row that was subtracted and added again leaves zeros, which most folds do: they must not cost a
                // write.
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
