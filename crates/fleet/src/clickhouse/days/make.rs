//! Makes the sums of days that are over, and again of those that were marked since.

use std::collections::BTreeSet;

use agent_tracer_ledger::project::measures;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::Level;
use clickhouse::Row;
use serde::Deserialize;

use super::mark::{Mark, OwnersDay, version};
use super::{CLOSES_MS, DAY_MS, DURATIONS, GRACE_MS, added_columns, counted_columns, day_of, joined_arrays};
use crate::clickhouse::fleet::{Fleet, FleetError, any_of, as_it_is, literal};
use crate::clickhouse::read::join_tasks;
use crate::clickhouse::schema;

/// Limit of facts, older versions included, that one statement adds up: some seconds, and some hundred megabytes.
const FACTS_AT_ONCE: u64 = 400_000;

/// Limit of owner days that one statement names.
const DAYS_AT_ONCE: usize = 500;

/// Longer than this no statement may take that makes sums: less than the time in which a marked day is left alone.
const LONGEST_S: i64 = GRACE_MS / 1_000 - 20;

/// Limit of marks that one round reads.
const MARKS_AT_ONCE: u64 = 20_000;

/// Number of withdrawn marks above which their rows are deleted.
const MOST_OLD_MARKS: u64 = 50_000;

/// Holds the pauses between the steps.
#[derive(Clone, Copy, Debug)]
pub struct RollupDelays {
    /// So long after its end a day is closed.
    pub closes_ms: i64,
    /// So long after its newest mark its sums are made again.
    pub grace_ms: i64,
}

impl Default for RollupDelays {
    fn default() -> Self {
        Self { closes_ms: CLOSES_MS, grace_ms: GRACE_MS }
    }
}

/// Counts the rows and days that a run produced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollupReport {
    /// Days of owners that were closed.
    pub closed: u64,
    /// Days of owners with recalculated sums.
    pub again: u64,
}

/// Counts the facts of an owner in one day.
#[derive(Clone, Debug, Row, Deserialize)]
struct OwnerDayFacts {
    owner: String,
    day: i64,
    facts: u64,
}

/// Days and how many facts they have together.
#[derive(Row, Deserialize)]
struct DayFacts {
    day: i64,
    facts: u64,
}

/// Returns the dimensions that are asked by quarters of an hour.
fn by_quarters() -> String {
    let of_quarters = Dim::ALL.iter().filter(|dim| dim.finest() == Level::Quarter);
    let codes: Vec<String> = of_quarters.map(|dim| dim.code().to_string()).collect();
    codes.join(", ")
}

/// Parts of about as many facts as one statement adds up.
fn parts<T>(all: &[T], weight: impl Fn(&T) -> u64) -> Vec<&[T]> {
    let (mut parts, mut begin, mut sum) = (Vec::new(), 0, 0_u64);
    for (place, one) in all.iter().enumerate() {
        let is_full = sum.saturating_add(weight(one)) > FACTS_AT_ONCE || place - begin >= DAYS_AT_ONCE;
        if is_full && place > begin {
            parts.extend(all.get(begin..place));
            (begin, sum) = (place, 0);
        }
        sum = sum.saturating_add(weight(one));
    }
    parts.extend(all.get(begin..).filter(|rest| !rest.is_empty()));
    parts
}

impl Fleet {
    /// Closes the days that are over, and makes the sums of marked days again. Any number of processes may do so at
    /// once. Between two parts of the work it asks whether to go on; what is left is done the next time.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn make_days(
        &self,
        waits: RollupDelays,
        go_on: &dyn Fn() -> bool,
    ) -> Result<RollupReport, FleetError> {
        // Without waiting threads, a mark set a moment ago may be withdrawn already.
        self.marks().forget();
        let now = self.clock()?;
        let closed = self.close_days(now.saturating_sub(waits.closes_ms), go_on)?;
        let again = self.make_again(now.saturating_sub(waits.grace_ms), go_on)?;
        self.drop_old_marks(now)?;
        Ok(RollupReport { closed, again })
    }

    /// Returns the beginning of the first day that is not closed; `None` if no day is.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn closed_until(&self) -> Result<Option<i64>, FleetError> {
        let ask = "SELECT until FROM closed_day ORDER BY until DESC LIMIT 1";
        let found: Vec<i64> = self.wait(self.client().query(ask).fetch_all())?;
        Ok(found.first().copied())
    }

    /// Returns the number of owner days that await recalculation.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    pub fn days_marked(&self) -> Result<u64, FleetError> {
        let ask = "SELECT count() FROM day_mark FINAL";
        self.wait(self.client().query(ask).fetch_one())
    }

    fn close_days(&self, end: i64, go_on: &dyn Fn() -> bool) -> Result<u64, FleetError> {
        let end = end.saturating_sub(end.rem_euclid(DAY_MS));
        let begin = self.closed_until()?;
        if begin.is_some_and(|begin| begin >= end) {
            return Ok(0);
        }
        // Half of the range: the sums below must not overflow, and a hostile clock may have put facts before 1970.
        let begin = begin.unwrap_or(i64::MIN / 2);
        let day = day_of("occurred");
        let days: Vec<DayFacts> = self.ask(&format!(
            "SELECT {day} AS day, count() AS facts FROM fact WHERE {} GROUP BY day ORDER BY day",
            facts_between(begin, end)
        ))?;
        let mut made = 0;
        for part in parts(&days, |day| day.facts) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            if !go_on() {
                return Ok(made);
            }
            let units: Vec<OwnerDayFacts> = self.ask(&format!(
                "SELECT owner, {day} AS day, count() AS facts FROM fact WHERE {} GROUP BY owner, day ORDER BY owner, day",
                facts_between(first.day, last.day.saturating_add(DAY_MS))
            ))?;
            // Two levels: first whole days of all owners, so that `closed_day` moves on and an interrupted run goes
            // on there; within them owners, because a day of a large team is more than one statement may add up.
            for part in parts(&units, |unit| unit.facts) {
                self.make(part.iter().map(|unit| (unit.owner.clone(), unit.day)).collect())?;
            }
            made += units.len() as u64;
            self.put_closed(last.day.saturating_add(DAY_MS).min(end))?;
        }
        // Also without any fact in between, so that readers take empty days for closed and look for no facts there.
        self.put_closed(end)?;
        Ok(made)
    }

    fn put_closed(&self, until: i64) -> Result<(), FleetError> {
        self.run(&format!("INSERT INTO closed_day (until) VALUES ({until})"))
    }

    /// Recalculates the sums of days with a newest mark older than the given time.
    fn make_again(&self, before: i64, go_on: &dyn Fn() -> bool) -> Result<u64, FleetError> {
        let Some(closed) = self.closed_until()? else { return Ok(0) };
        let marks: Vec<Mark> = self.ask(&format!(
            "SELECT owner, day, version, gone FROM day_mark FINAL WHERE day < {closed} AND version <= {} \
             ORDER BY owner, day LIMIT {MARKS_AT_ONCE}",
            version(before)
        ))?;
        let mut made = 0;
        for marks in marks.chunks(DAYS_AT_ONCE) {
            let days: BTreeSet<OwnersDay> = marks.iter().map(|mark| (mark.owner.clone(), mark.day)).collect();
            let facts: Vec<OwnerDayFacts> = self.ask(&format!(
                "SELECT owner, {} AS day, count() AS facts FROM fact WHERE {} GROUP BY owner, day",
                day_of("occurred"),
                facts_filter(&days)
            ))?;
            let weight = |mark: &Mark| {
                let unit = facts.iter().find(|unit| unit.day == mark.day && unit.owner == mark.owner);
                unit.map_or(0, |unit| unit.facts)
            };
            for part in parts(marks, weight) {
                if !go_on() {
                    return Ok(made);
                }
                self.make(part.iter().map(|mark| (mark.owner.clone(), mark.day)).collect())?;
                // A newer mark has a greater version, and stays.
                self.put_marks(part.iter().map(|mark| Mark {
                    version: mark.version.saturating_add(1),
                    gone: 1,
                    ..mark.clone()
                }))?;
                made += part.len() as u64;
            }
        }
        Ok(made)
    }

    /// Deletes marks that were taken away, which no reader needs. If the engine has not merged one with what it took away, that
    /// day is made once more.
    fn drop_old_marks(&self, now: i64) -> Result<(), FleetError> {
        let a_day_ago = version(now.saturating_sub(DAY_MS));
        let old = format!("gone = 1 AND version < {a_day_ago}");
        let count: u64 =
            self.wait(self.client().query(&format!("SELECT count() FROM day_mark WHERE {old}")).fetch_one())?;
        if count > MOST_OLD_MARKS {
            self.run(&schema::delete("day_mark", &old, self.layout()))?;
        }
        Ok(())
    }

    /// Makes the sums of some days of owners. What was there and is not any more is gone.
    fn make(&self, days: BTreeSet<OwnersDay>) -> Result<(), FleetError> {
        if days.is_empty() {
            return Ok(());
        }
        // A later reader of the facts has the greater version, and is right.
        let version = self.clock()?;
        for statement in [sums(&days, version), durations(&days, version)] {
            self.run(&statement)?;
        }
        Ok(())
    }

    fn ask<T: clickhouse::RowOwned + clickhouse::RowRead>(
        &self,
        statement: &str,
    ) -> Result<Vec<T>, FleetError> {
        self.wait(self.client().query(&as_it_is(statement)).fetch_all::<T>())
    }
}

/// Builds the condition that a row is of some days of owners; never of none.
fn days_filter(days: &BTreeSet<OwnersDay>, day: &str) -> String {
    let pairs: Vec<String> = days.iter().map(|(owner, day)| format!("({}, {day})", literal(owner))).collect();
    format!("{} AND (owner, {day}) IN ({})", owners_filter(days), pairs.join(", "))
}

/// Builds the condition that a row is of one of their owners.
fn owners_filter(days: &BTreeSet<OwnersDay>) -> String {
    format!("owner IN {}", any_of(days.iter().map(|(owner, _)| owner.as_str())))
}

/// Returns the same for facts, which are found by their tasks.
fn facts_filter(days: &BTreeSet<OwnersDay>) -> String {
    format!("{} AND (owner, task) IN ({})", days_filter(days, &day_of("occurred")), tasks_of(days))
}

/// Returns the tasks that have facts in some days of owners.
fn tasks_of(days: &BTreeSet<OwnersDay>) -> String {
    format!("SELECT owner, task FROM task_day WHERE {}", days_filter(days, "day"))
}

/// Returns the condition that selects the facts of some days, of every owner.
fn facts_between(from: i64, to: i64) -> String {
    format!(
        "occurred >= {from} AND occurred < {to} \
         AND (owner, task) IN (SELECT owner, task FROM task_day WHERE day >= {from} AND day < {to})"
    )
}

/// Columns that identify a row of sums.
const KEY: &str = "owner, day, dim, level, at, project, agent, agent_type, key, machine";

fn sums(days: &BTreeSet<OwnersDay>, version: i64) -> String {
    // The rows that are there join with zeros and `alive = 0`: a key that no fact has any more gets a row that says
    // so. An insert alone could not take it away, and a deletion would rewrite parts.
    let each = |one: &dyn Fn(&str) -> String| measures::list(measures::of_team(), |column| one(column.name));
    format!(
        "INSERT INTO day_sum ({KEY}, version, gone, {}, last) \
         SELECT {KEY}, {version} AS version, toUInt8(max(alive) = 0) AS gone, {}, max(moment) AS last FROM ( \
           SELECT owner, day, dim, toUInt8(span) AS level, if(span = 0, quarter, day) AS at, project, agent, agent_type, key, machine, \
             1 AS alive, occurred AS moment, {} FROM ( \
               SELECT owner, task, occurred, dim, key, {} AS day, occurred - positiveModulo(occurred, {}) AS quarter, \
                 arrayJoin(if(dim IN ({}), [0, 1], [1])) AS span, {} \
               FROM fact FINAL ARRAY JOIN sums.dim AS dim, sums.key AS key, {} \
               WHERE {}) AS counted {} \
           UNION ALL \
           SELECT {KEY}, 0 AS alive, toInt64(0) AS moment, {} FROM day_sum FINAL WHERE {} AND dim <> {DURATIONS} \
         ) GROUP BY {KEY} SETTINGS max_execution_time = {LONGEST_S}",
        each(&str::to_owned),
        each(&|name| format!("sum(f_{name}) AS {name}")),
        added_columns(),
        day_of("occurred"),
        Level::Quarter.end(0),
        by_quarters(),
        counted_columns(),
        joined_arrays(),
        facts_filter(days),
        join_tasks(&owners_filter(days), &tasks_of(days)),
        each(&|name| format!("toInt64(0) AS f_{name}")),
        days_filter(days, "day"),
    )
}

fn durations(days: &BTreeSet<OwnersDay>, version: i64) -> String {
    format!(
        "INSERT INTO day_sum ({KEY}, version, gone, n, ms, last, buckets, calls) \
         SELECT {KEY}, {version} AS version, toUInt8(max(alive) = 0) AS gone, sum(alive) AS n, sum(f_ms) AS ms, \
           max(moment) AS last, sumMap(f_buckets, f_calls).1 AS buckets, sumMap(f_buckets, f_calls).2 AS calls FROM ( \
             SELECT owner, day, toUInt8({DURATIONS}) AS dim, toUInt8(1) AS level, day AS at, project, agent, agent_type, key, machine, \
               toInt64(1) AS alive, occurred AS moment, assumeNotNull(duration) AS f_ms, \
               [toInt64(assumeNotNull(bucket))] AS f_buckets, [toUInt64(1)] AS f_calls FROM ( \
                 SELECT owner, task, occurred, {} AS day, ifNull(toString(tool), '') AS key, duration, bucket \
                 FROM fact FINAL WHERE {} AND bucket IS NOT NULL) AS counted {} \
             UNION ALL \
             SELECT {KEY}, toInt64(0) AS alive, toInt64(0) AS moment, toInt64(0) AS f_ms, \
               CAST([], 'Array(Int64)') AS f_buckets, CAST([], 'Array(UInt64)') AS f_calls \
             FROM day_sum FINAL WHERE {} AND dim = {DURATIONS} \
           ) GROUP BY {KEY} SETTINGS max_execution_time = {LONGEST_S}",
        day_of("occurred"),
        facts_filter(days),
        join_tasks(&owners_filter(days), &tasks_of(days)),
        days_filter(days, "day"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_what_one_statement_adds_up() {
        let weigh =
            |all: &[u64]| parts(all, |weight| *weight).iter().map(|part| part.len()).collect::<Vec<_>>();
        assert_eq!(weigh(&[]), [0; 0]);
        assert_eq!(weigh(&[1, 2, 3]), [3]);
        assert_eq!(
            weigh(&[FACTS_AT_ONCE, 1, FACTS_AT_ONCE * 9, 5]),
            [1, 1, 1, 1],
            "one that is too large goes alone"
        );
        assert_eq!(weigh(&vec![0; DAYS_AT_ONCE * 2 + 1]), [DAYS_AT_ONCE, DAYS_AT_ONCE, 1]);
    }

    #[test]
    fn what_is_asked_by_quarters_is_kept_by_quarters() {
        assert_eq!(by_quarters(), "0, 1, 2, 3, 6");
    }
}
