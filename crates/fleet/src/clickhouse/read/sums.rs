//! Sums over the newest version of every fact: what each fact alone adds, and what only accounts of clients know. Closed
//! days were added up already ([`crate::clickhouse::days`]); what is open is added up here, and both are one answer.
//!
//! Ranges are rounded outwards as the embedded store rounds them: to quarter-hours, or to days for what it keeps by day.

use std::collections::HashMap;

use agent_tracer_ledger::insights::{Durations, GroupBy, KeySums};
use agent_tracer_ledger::project::measures::{self, Measures};
use agent_tracer_ledger::project::spend::Spend;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::{Answer, QueryError, Range, measure_columns};
use clickhouse::Row;
use serde::Deserialize;

use super::Reader;
use super::closed_days::{ClosedDays, OpenFacts, sums_filter};
use crate::clickhouse::days::{DURATIONS, added_columns, counted_columns, joined_arrays};
use crate::clickhouse::fleet::literal;
use crate::clickhouse::spend_row::{SpendRow, spend_row};
use crate::clickhouse::write::word;

/// From when to when.
pub(crate) type Span = (i64, i64);

/// Declares the row of sums: the measures that both stores keep as columns.
macro_rules! sum_line {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        spend_row! {
            /// Holds sums with the key that groups them.
            #[derive(Clone, Debug, Row, Deserialize)]
            struct SumLine {
                own {
                    key: String,
                    name: String,
                    at: i64,
                    $($name: i64,)*
                }
                spend {
                    input: input,
                    output: output,
                    cache_read: cache_read,
                    cache_write: cache_write,
                    reasoning: reasoning,
                    cost: cost,
                    unpriced: unpriced,
                }
            }
        }

        impl SumLine {
            fn key_sums(self, dim: Dim) -> KeySums {
                let mut sums = Measures { spend: self.spend(), ..Measures::default() };
                for (column, value) in measures::of_team().zip([$(self.$name),*]) {
                    column.set(&mut sums, dim, value);
                }
                KeySums { key: self.key, group: self.name, at: self.at, sums }
            }
        }
    };
}
measure_columns!(sum_line);

/// The first and the last moment of anything.
#[derive(Clone, Copy, Debug, Row, Deserialize)]
struct Extent {
    first: i64,
    last: i64,
    n: u64,
}

/// The durations of a tool: buckets, and how many are in each.
#[derive(Row, Deserialize)]
struct ToolLatency {
    name: String,
    latency: (Vec<i64>, Vec<u64>),
}

/// Returns the expression of a group's name, on facts joined with their tasks and on sums alike.
const fn group_name(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Project => "toString(project)",
        GroupBy::Agent => "toString(agent)",
        GroupBy::AgentType => "toString(agent_type)",
        GroupBy::Owner => "owner",
        GroupBy::Machine => "toString(machine)",
        GroupBy::Key | GroupBy::Time(_) => "''",
    }
}

/// Returns the expression of the beginning of the stretch that holds a moment.
fn group_start(by: GroupBy, moment: &str) -> String {
    match by {
        GroupBy::Time(level) => format!("{moment} - positiveModulo({moment}, {})", level.end(0)),
        _ => "toInt64(0)".to_owned(),
    }
}

/// Returns the join that supplies columns of tasks, where the grouping needs them.
fn group_join(by: GroupBy, scope: &str, tasks: &str) -> String {
    match by {
        GroupBy::Project | GroupBy::Agent | GroupBy::AgentType | GroupBy::Machine => join_tasks(scope, tasks),
        GroupBy::Key | GroupBy::Owner | GroupBy::Time(_) => String::new(),
    }
}

/// Returns the shortest stretches that a grouping needs.
const fn group_level(by: GroupBy) -> Level {
    match by {
        GroupBy::Time(level) => level,
        _ => Level::Day,
    }
}

/// Holds the span of a query and the closed days in it.
#[derive(Clone, Debug)]
pub(crate) struct QuerySpan {
    pub(crate) span: Span,
    pub(crate) closed: ClosedDays,
}

/// All time.
pub(crate) const ALWAYS: Span = (i64::MIN / 2, i64::MAX / 2);

/// Lists what is added up, each in its own words.
fn sum_list(one: impl Fn(&str) -> String) -> String {
    measures::list(measures::of_team(), |column| one(column.name))
}

/// Joins owner columns for the tasks that a statement selects; missing tasks yield defaults.
pub(crate) fn join_tasks(scope: &str, tasks: &str) -> String {
    // Owners are named again, so that their shards alone are asked.
    format!(
        "LEFT ANY JOIN (SELECT owner, task, project, agent, agent_type, machine FROM task FINAL \
           WHERE {scope} AND (owner, task) IN ({tasks})) AS task_owner USING (owner, task)"
    )
}

/// Returns the ends of all extents together; `None` if nothing is in any.
fn union_of(extents: &[Extent]) -> Option<(i64, i64)> {
    let some = || extents.iter().filter(|extent| extent.n > 0);
    some().map(|extent| extent.first).min().zip(some().map(|extent| extent.last).max())
}

/// The lines of a task's residual as rows of an array.
const LINES: &str = "JSONExtract(residual, 'lines', 'Array(Tuple(model String, reason String, input Int64, \
    output Int64, cacheRead Int64, cacheWrite Int64, cost Int64, unpriced Int64))')";

/// Time at which the account behind a task's residual was written.
const ACCOUNT_AT: &str = "JSONExtractInt(residual, 'at')";

/// The condition that a task has an account that knows more than its facts.
const HAS_ACCOUNT: &str = "residual <> ''";

impl Reader {
    /// Builds the newest versions of tasks that meet a condition which few do, as a statement names them behind `FROM`.
    /// Only those are deduplicated of which any version meets it.
    pub(crate) fn tasks_that(&self, condition: &str) -> String {
        let scope = self.task_filter();
        format!(
            "task FINAL WHERE {scope} AND (owner, task) IN (SELECT owner, task FROM task WHERE {scope} AND {condition}) AND \
             {condition}"
        )
    }

    /// Builds the condition that the task of a row is of the range's project, agent and type of agent; `None` if any
    /// is.
    pub(crate) fn range_filter(&self, range: &Range) -> Option<String> {
        let mut all = Vec::new();
        all.extend(range.project.as_ref().map(|project| format!("project = {}", literal(project))));
        all.extend(range.agent.map(|agent| format!("agent = {}", literal(&word(agent)))));
        all.extend(range.agent_type.as_ref().map(|name| format!("agent_type = {}", literal(name))));
        if all.is_empty() {
            return None;
        }
        Some(format!(
            "(owner, task) IN (SELECT owner, task FROM task FINAL WHERE {} AND {})",
            self.task_filter(),
            all.join(" AND ")
        ))
    }

    /// Returns the first day and the last moment of everything that counts.
    ///
    /// To deduplicate every open row and every task for two ends would cost as much as most questions themselves. So the
    /// ends of all versions are found first, which reads one column, and then it is seen whether the newest versions stand
    /// there.
    fn moments(&self, closed: &ClosedDays) -> Answer<Option<(i64, i64)>> {
        let scope = self.task_filter();
        let ends = |facts: &str, tasks: &str| {
            let mut parts = vec![format!(
                "SELECT toInt64(min({ACCOUNT_AT})) AS first, toInt64(max({ACCOUNT_AT})) AS last, count() AS n \
                 FROM {tasks}"
            )];
            parts.extend(closed.open(ALWAYS).map(|open| {
                format!(
                    "SELECT toInt64(min(occurred)) AS first, toInt64(max(occurred)) AS last, count() AS n FROM {facts} \
                     AND {}",
                    open.facts
                )
            }));
            parts.extend(closed.sums_condition(ALWAYS, Level::Day).map(|made| {
                format!(
                    "SELECT toInt64(min(day)) AS first, toInt64(max(day_sum.last)) AS last, count() AS n FROM day_sum FINAL \
                     WHERE {scope} AND dim = {} AND {made}",
                    Dim::Activity.code()
                )
            }));
            // The order of the parts is the server's; which is which does not matter for the ends of all together.
            self.rows::<Extent>(&parts.join(" UNION ALL ")).map(|extents| union_of(&extents))
        };
        let counting = format!("{} AND kind <> ''", self.fact_filter());
        let all = ends(&format!("fact WHERE {counting}"), &format!("task WHERE {scope} AND {HAS_ACCOUNT}"))?;
        let Some((first, last)) = all else { return Ok(None) };
        let at_ends = format!("fact FINAL WHERE {counting} AND (occurred <= {first} OR occurred >= {last})");
        let accounts = format!("{HAS_ACCOUNT} AND ({ACCOUNT_AT} <= {first} OR {ACCOUNT_AT} >= {last})");
        // Nearly always so: only an end whose every version was replaced by one elsewhere needs the full pass.
        if ends(&at_ends, &self.tasks_that(&accounts))? == all {
            return Ok(all);
        }
        ends(&format!("fact FINAL WHERE {counting}"), &self.tasks_that(HAS_ACCOUNT))
    }

    /// Returns the end of the newest quarter-hour that has anything.
    pub(crate) fn newest(&self, closed: &ClosedDays) -> Answer<Option<i64>> {
        Ok(self.moments(closed)?.map(|(_, last)| Level::Quarter.end(last)))
    }

    /// Returns the range cut to the whole days for which there are facts, with the closed ones among them, or `None` if
    /// no fact can be in it.
    pub(crate) fn query_span(&self, range: &Range) -> Answer<Option<QuerySpan>> {
        if let (Some(since), Some(until)) = (range.since, range.until)
            && since > until
        {
            return Err(QueryError::Bad("`since` is after `until`".to_owned()));
        }
        if let Some(project) = &range.project {
            let named: Vec<u8> = self.rows(&format!(
                "SELECT toUInt8(1) FROM task FINAL WHERE {} AND project = {} LIMIT 1",
                self.task_filter(),
                literal(project)
            ))?;
            if named.is_empty() {
                return Ok(None);
            }
        }
        let closed = self.closed()?;
        let Some((first, last)) = self.moments(&closed)? else { return Ok(None) };
        let (first, last) = (Level::Day.start(first), Level::Day.end(last));
        let from = range.since.map_or(first, |since| since.0.max(first));
        let to = range.until.map_or(last, |until| until.0.min(last));
        Ok((from < to).then_some(QuerySpan { span: (from, to), closed }))
    }

    /// Returns the sums of a dimension in a span, of the tasks of a range's project, agent and type of agent.
    pub(crate) fn sums(
        &self,
        closed: &ClosedDays,
        dim: Dim,
        span: Span,
        range: &Range,
        by: GroupBy,
    ) -> Answer<Vec<KeySums>> {
        let span = dim.finest().around(span);
        let mut parts = Vec::new();
        parts.extend(
            closed.sums_condition(span, group_level(by)).map(|made| self.made_sums(&made, dim, range, by)),
        );
        parts.extend(closed.open(span).map(|open| self.open_sums(&open, dim, range, by)));
        if matches!(dim, Dim::Activity | Dim::Model) {
            parts.push(self.account_sums(span, dim, range, by));
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let lines = self.rows::<SumLine>(&format!(
            "SELECT f_key AS key, f_name AS name, f_at AS at, {} FROM ({}) GROUP BY key, name, at",
            sum_list(|name| format!("sum(f_{name}) AS {name}")),
            parts.join(" UNION ALL ")
        ))?;
        Ok(lines.into_iter().map(|line| line.key_sums(dim)).collect())
    }

    /// Returns the statement that adds up the sums of closed days in the database.
    fn made_sums(&self, made: &str, dim: Dim, range: &Range, by: GroupBy) -> String {
        format!(
            "SELECT key AS f_key, {} AS f_name, {} AS f_at, {} FROM day_sum FINAL WHERE {} AND dim = {} AND {made} AND {} \
             GROUP BY f_key, f_name, f_at",
            group_name(by),
            group_start(by, "at"),
            sum_list(|name| format!("sum(day_sum.{name}) AS f_{name}")),
            self.task_filter(),
            dim.code(),
            sums_filter(range)
        )
    }

    /// Returns the statement that yields the facts of open days one by one.
    fn open_sums(&self, open: &OpenFacts, dim: Dim, range: &Range, by: GroupBy) -> String {
        let (scope, facts) = (self.task_filter(), self.fact_filter());
        let of = self.range_filter(range).map_or_else(String::new, |of| format!(" AND {of}"));
        format!(
            "SELECT own_key AS f_key, {} AS f_name, {} AS f_at, {} FROM ( \
               SELECT owner, task, occurred, own_dim, own_key, {} \
               FROM fact FINAL ARRAY JOIN sums.dim AS own_dim, sums.key AS own_key, {} \
               WHERE {facts} AND {}{of}) AS counted {} WHERE own_dim = {}",
            group_name(by),
            group_start(by, "occurred"),
            added_columns(),
            counted_columns(),
            joined_arrays(),
            open.facts,
            group_join(by, &scope, &open.tasks),
            dim.code()
        )
    }

    /// Returns the statement for amounts that only the accounts of clients know.
    fn account_sums(&self, (from, to): Span, dim: Dim, range: &Range, by: GroupBy) -> String {
        let key = if dim == Dim::Model { "concat(line.1, char(31), line.2)" } else { "''" };
        let line = |name: &str| match name {
            "input" => "line.3",
            "output" => "line.4",
            "cache_read" => "line.5",
            "cache_write" => "line.6",
            "cost" => "line.7",
            "unpriced" => "line.8",
            _ => "toInt64(0)",
        };
        format!(
            "SELECT {key} AS f_key, {} AS f_name, {} AS f_at, {} FROM ( \
               SELECT owner, project, agent, agent_type, machine, {ACCOUNT_AT} AS moment, arrayJoin({LINES}) AS line FROM {} AND {}) \
             WHERE moment >= {from} AND moment < {to}",
            group_name(by),
            group_start(by, "moment"),
            sum_list(|name| format!("{} AS f_{name}", line(name))),
            self.tasks_that(HAS_ACCOUNT),
            sums_filter(range)
        )
    }

    /// Durations by tool in a span, rounded outwards to days, of the range's project, agent and type of agent.
    pub(crate) fn durations_of(
        &self,
        span: Span,
        closed: &ClosedDays,
        range: &Range,
    ) -> Answer<HashMap<String, Durations>> {
        let span = Level::Day.around(span);
        let (scope, facts) = (self.task_filter(), self.fact_filter());
        let made = closed.sums_condition(span, Level::Day).map(|made| {
            format!(
                "SELECT key AS tool_name, sumMap(buckets, calls).1 AS f_buckets, sumMap(buckets, calls).2 AS f_calls \
                 FROM day_sum FINAL WHERE {scope} AND dim = {DURATIONS} AND {made} AND {} GROUP BY tool_name",
                sums_filter(range)
            )
        });
        let open = closed.open(span).map(|open| {
            let of = self.range_filter(range).map_or_else(String::new, |of| format!(" AND {of}"));
            format!(
                "SELECT ifNull(toString(tool), '') AS tool_name, [toInt64(assumeNotNull(bucket))] AS f_buckets, \
                   [toUInt64(1)] AS f_calls FROM fact FINAL WHERE {facts} AND bucket IS NOT NULL AND {}{of}",
                open.facts
            )
        });
        let parts: Vec<String> = made.into_iter().chain(open).collect();
        if parts.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = self.rows::<ToolLatency>(&format!(
            "SELECT tool_name AS name, sumMap(f_buckets, f_calls) AS latency FROM ({}) GROUP BY name",
            parts.join(" UNION ALL ")
        ))?;
        let buckets = |(places, counts): (Vec<i64>, Vec<u64>)| places.into_iter().zip(counts).collect();
        let durations = rows.into_iter().map(|row| (row.name, buckets(row.latency))).collect();
        Ok(durations)
    }
}
