//! The number of tasks of each agent type with events in a range, and their run time.
//!
//! A task is in a range if it began before the range ends and was seen since it began: it was either last active
//! within the range, or goes on behind its end. The former are sums that the store keeps for stretches of time, and at
//! both edges a walk over the tasks of less than one stretch; the latter ended within a day, or are among the few that
//! went on for longer. So the answer costs the same in a history of any length.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::rollup::Scope;
use super::tasks::LONG_MS;
use crate::project::tally::ALL_PROJECTS;
use crate::store::Range;

/// The bits of time in a short stretch of `task_count`: about 19 hours.
const SHORT: u32 = 26;

/// Those in a long one: about 25 days.
const LONG: u32 = 31;

/// Tasks, and the milliseconds that they ran.
pub(crate) type RunSums = (i64, i64);

/// The parts in which a range of time is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    /// From one moment to another: tasks that are walked over.
    walks: Vec<(i64, i64)>,
    /// The bits of a stretch, and from which stretch to which.
    sums: Vec<(u32, i64, i64)>,
}

/// Returns the first stretch that begins at a moment or behind it.
fn from_stretch(at: i64, bits: u32) -> i64 {
    (at >> bits) + i64::from(at.trailing_zeros() < bits)
}

impl Parts {
    /// Returns the parts between two moments, of which either may be missing.
    fn between(from: Option<i64>, to: Option<i64>) -> Self {
        let mut parts = Self::default();
        let first = from.map_or(i64::MIN >> SHORT, |from| from_stretch(from, SHORT));
        let last = to.map_or(i64::MAX >> SHORT, |to| to >> SHORT);
        // Within one stretch there is no whole one to take a sum of.
        if first >= last {
            parts.walk(from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
            return parts;
        }
        if let Some(from) = from {
            parts.walk(from, first << SHORT);
        }
        if let Some(to) = to {
            parts.walk(last << SHORT, to);
        }
        let (first_long, last_long) = (from_stretch(first, LONG - SHORT), last >> (LONG - SHORT));
        if first_long >= last_long {
            parts.sum(SHORT, first, last);
        } else {
            parts.sum(SHORT, first, first_long << (LONG - SHORT));
            parts.sum(LONG, first_long, last_long);
            parts.sum(SHORT, last_long << (LONG - SHORT), last);
        }
        parts
    }

    fn walk(&mut self, from: i64, to: i64) {
        if from < to {
            self.walks.push((from, to));
        }
    }

    fn sum(&mut self, bits: u32, first: i64, last: i64) {
        if first < last {
            self.sums.push((bits, first, last));
        }
    }
}

/// Counts by the word of the type of agent.
pub(crate) fn tasks(
    conn: &Connection,
    range: &Range,
    scope: &Scope,
) -> rusqlite::Result<HashMap<i64, RunSums>> {
    let mut counter = Counter { conn, scope, counts: HashMap::new() };
    let until = range.until.map(|until| until.0);
    let parts = Parts::between(range.since.map(|since| since.0), until);
    for (bits, first, last) in parts.sums {
        counter.sum(bits, first, last)?;
    }
    // Named, so that the plan is the same in every store, whatever its history: a test reads the plan of every
    // statement.
    let index = if scope.project.is_some() { "task_project" } else { "task_newest" };
    for (from, to) in parts.walks {
        counter.walk(index, "", (from, to), i64::MAX)?;
    }
    if let Some(until) = until {
        // A task that goes on behind the range and ran for less than a day ended within a day of it; the others have
        // an index of their own.
        let a_day_later = until.saturating_add(LONG_MS);
        counter.walk(index, "", (until, a_day_later), until)?;
        let long = format!("AND last - started > {LONG_MS}");
        counter.walk("task_long", &long, (a_day_later, i64::MAX), until)?;
    }
    Ok(counter.counts)
}

struct Counter<'conn> {
    conn: &'conn Connection,
    scope: &'conn Scope,
    counts: HashMap<i64, RunSums>,
}

impl Counter<'_> {
    fn add(&mut self, agent_type: i64, (n, run_ms): RunSums) {
        let sums = self.counts.entry(agent_type).or_default();
        sums.0 = sums.0.saturating_add(n);
        sums.1 = sums.1.saturating_add(run_ms);
    }

    /// Adds the sums of stretches. Where there is nothing in one, it goes on with the next that has anything.
    fn sum(&mut self, bits: u32, first: i64, last: i64) -> rusqlite::Result<()> {
        let agent = if self.scope.agent.is_some() { "AND agent = ?4" } else { "AND ?4 IS NULL" };
        let mut find = self.conn.prepare_cached(&format!(
            "SELECT agent_type, n, cast(run_ms AS INTEGER) FROM task_count WHERE bits = ?1 AND at = ?2 AND project = ?3 \
             {agent}"
        ))?;
        let mut next = self
            .conn
            .prepare_cached("SELECT at FROM task_count WHERE bits = ?1 AND at >= ?2 ORDER BY at LIMIT 1")?;
        let project = self.scope.project.unwrap_or(ALL_PROJECTS);
        let mut at = first;
        while at < last {
            let mut any = false;
            let mut rows =
                find.query(params![bits, at, project, self.scope.agent.map(|agent| agent.place() as i64)])?;
            while let Some(row) = rows.next()? {
                any = true;
                self.add(row.get(0)?, (row.get(1)?, row.get(2)?));
            }
            at += 1;
            if !any {
                match next.query_row(params![bits, at], |row| row.get::<_, i64>(0)).optional()? {
                    Some(there) => at = there,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// Adds every task that was last active between two moments and began before another.
    fn walk(
        &mut self,
        index: &str,
        more: &str,
        (from, to): (i64, i64),
        begun_before: i64,
    ) -> rusqlite::Result<()> {
        let project = if self.scope.project.is_some() { "AND project = ?4" } else { "AND ?4 IS NULL" };
        let agent = if self.scope.agent.is_some() { "AND agent = ?5" } else { "AND ?5 IS NULL" };
        let mut find = self.conn.prepare_cached(&format!(
            "SELECT agent_type, last - started FROM task INDEXED BY {index} \
             WHERE events > 0 AND last >= ?1 AND last < ?2 AND started < ?3 {project} {agent} {more}"
        ))?;
        let mut rows = find.query(params![
            from,
            to,
            begun_before,
            self.scope.project,
            self.scope.agent.map(|agent| agent.place() as i64)
        ])?;
        while let Some(row) = rows.next()? {
            self.add(row.get(0)?, (1, row.get::<_, i64>(1)?.max(0)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agent_tracer_event::{Agent, Millis};
    use proptest::prelude::*;

    use super::*;
    use crate::sqlite::open::open;

    proptest! {
        #[test]
        fn parts_count_every_moment_of_the_range_once_and_no_other(
            from in proptest::option::of(-4_000_000_000_000_i64..4_000_000_000_000),
            length in proptest::option::of(0_i64..400_000_000_000),
            moments in proptest::collection::vec(-4_500_000_000_000_i64..4_500_000_000_000, 40),
        ) {
            let to = length.map(|length| from.unwrap_or(0) + length);
            let parts = Parts::between(from, to);
            let edges = [from, to].into_iter().flatten().flat_map(|edge| [edge - 1, edge, edge + 1]);
            for moment in moments.into_iter().chain(edges) {
                let walked = parts.walks.iter().filter(|(from, to)| (*from..*to).contains(&moment)).count();
                let summed = parts.sums.iter().filter(|(bits, first, last)| (*first..*last).contains(&(moment >> bits)));
                let is_in = from.is_none_or(|from| from <= moment) && to.is_none_or(|to| moment < to);
                prop_assert_eq!(walked + summed.count(), usize::from(is_in), "{} in {:?}", moment, parts);
            }
            if from.is_some() && to.is_some() {
                for (from, to) in &parts.walks {
                    prop_assert!(to - from < 2 << SHORT, "{:?}", parts);
                }
                for (bits, first, last) in &parts.sums {
                    prop_assert!(*bits == LONG || last - first < 2 << (LONG - SHORT), "{:?}", parts);
                }
            }
        }
    }

    /// A change of a task in a test: the kind of change, the task, and its new values.
    type Step = (u8, i64, (i64, i64, i64, i64));

    const DAY_MS: i64 = 86_400_000;

    fn change(conn: &Connection, (what, task, (started, length, project, events)): Step) {
        // Most tasks are short; some go on for weeks.
        let last = started + if length % 4 == 0 { length * DAY_MS } else { length * 60_000 };
        let agent_type = 10 + (project + task) % 2;
        match what {
            0 => conn.execute("DELETE FROM task WHERE id = ?1", [task]),
            1 => conn.execute("UPDATE task SET last = ?2, started = min(started, ?2) WHERE id = ?1", [task, last]),
            2 => conn.execute("UPDATE task SET project = ?2, agent_type = ?3 WHERE id = ?1", [task, project, agent_type]),
            3 => conn.execute("UPDATE task SET events = ?2 WHERE id = ?1", [task, events]),
            4 => conn.execute(
                "UPDATE task SET started = ?2, last = ?3, project = ?4, events = ?5 WHERE id = ?1",
                [task, started, last, project, events],
            ),
            _ => conn.execute(
                "INSERT INTO task (id, uid, agent, session, told, agent_type, project, started, last, events) \
                 VALUES (?1, 'task-' || ?1, ?1 % 2, '', x'', ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                [task, agent_type, project, started, last, events],
            ),
        }
        .unwrap();
    }

    /// Every row of the sums, as they must be.
    const EXPECTED: &str = "SELECT bits.n, last >> bits.n, iif(whose.n, project, -1), agent, agent_type, count(*), \
        sum(last - started) FROM task, (SELECT 26 AS n UNION SELECT 31) AS bits, \
        (SELECT 0 AS n UNION SELECT 1) AS whose WHERE events > 0 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5";

    fn rows(conn: &Connection, sql: &str) -> Vec<Vec<i64>> {
        let mut find = conn.prepare(sql).unwrap();
        let found = find.query_map([], |row| (0..7).map(|column| row.get(column)).collect());
        found.unwrap().map(Result::unwrap).collect()
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let values = (0_i64..120 * DAY_MS, 0_i64..40, 1_i64..4, 0_i64..3);
        let values = values
            .prop_map(|(started, length, project, events)| (started - 10 * DAY_MS, length, project, events));
        proptest::collection::vec((0_u8..8, 1_i64..30, values), 1..120)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn whatever_happens_to_tasks_they_are_counted_where_they_are(
            steps in steps(), asked in proptest::collection::vec((-20_i64..140, 0_i64..100), 12),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let conn = open(&folder.path().join("ledger.db")).unwrap();
            conn.pragma_update(None, "synchronous", "OFF").unwrap();
            for step in steps {
                change(&conn, step);
            }
            prop_assert_eq!(rows(&conn, "SELECT * FROM task_count ORDER BY 1, 2, 3, 4, 5"), rows(&conn, EXPECTED));
            for (place, (since, length)) in asked.into_iter().enumerate() {
                let since_ms = since * DAY_MS + since * 1_234_567;
                let range = Range {
                    since: (place % 4 != 0).then_some(Millis(since_ms)),
                    until: (place % 5 != 0).then_some(Millis(since_ms + length * DAY_MS / 7)),
                    ..Range::default()
                };
                let scope = Scope {
                    project: (place % 3 == 0).then_some(2),
                    agent: (place % 2 == 0).then_some(Agent::CLAUDE_CODE),
                    agent_type: None,
                };
                let found: BTreeMap<i64, RunSums> = tasks(&conn, &range, &scope).unwrap().into_iter().collect();
                let mut find = conn.prepare(
                    "SELECT agent_type, count(*), sum(last - started) FROM task WHERE events > 0 AND last >= ?1 \
                     AND started < ?2 AND ifnull(project = ?3, 1) AND ifnull(agent = ?4, 1) GROUP BY agent_type",
                ).unwrap();
                let expected: BTreeMap<i64, RunSums> = find.query_map(
                    params![
                        range.since.map_or(i64::MIN, |at| at.0),
                        range.until.map_or(i64::MAX, |at| at.0),
                        scope.project,
                        scope.agent.map(|agent| agent.place() as i64),
                    ],
                    |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))),
                ).unwrap().map(Result::unwrap).collect();
                prop_assert_eq!(found, expected, "{:?} {:?}", range, scope);
            }
        }
    }

    #[test]
    fn the_sums_of_a_stretch_are_read_and_not_its_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let conn = open(&folder.path().join("ledger.db")).unwrap();
        change(&conn, (5, 1, (DAY_MS, 1, 3, 1)));
        // What the sums say is the answer, even where it is not so.
        conn.execute("UPDATE task_count SET n = 70 + bits", []).unwrap();
        let scope = Scope { project: Some(3), agent: None, agent_type: None };
        let ask = |since, until| {
            let range = Range { since: Some(Millis(since)), until: Some(Millis(until)), ..Range::default() };
            tasks(&conn, &range, &scope).unwrap().into_values().map(|(n, _)| n).collect::<Vec<_>>()
        };
        assert_eq!(ask(0, 100 * DAY_MS), [70 + i64::from(LONG)]);
        assert_eq!(ask(0, 10 * DAY_MS), [70 + i64::from(SHORT)]);
        assert_eq!(ask(DAY_MS, DAY_MS + 120_000), [1], "an edge is walked over");
    }
}
