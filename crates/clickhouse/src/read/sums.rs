//! Sums over the newest version of every fact: what each fact alone adds, and what only accounts of clients know.
//!
//! Ranges are rounded outwards as the embedded store rounds them: to quarter-hours, or to days for what it keeps by day.

use std::collections::{BTreeMap, HashMap};

use agent_tracer_ledger::project::bucket::Sums;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::{Answer, QueryError, Range};
use clickhouse::Row;
use serde::Deserialize;

use super::Reader;
use crate::fleet::literal;
use crate::schema::LATENCY;
use crate::write::word;

/// From when to when.
pub(crate) type Span = (i64, i64);

/// Sums, and what they were told apart by.
#[derive(Clone, Debug, Row, Deserialize)]
struct SumLine {
    key: String,
    name: String,
    at: i64,
    n: i64,
    failures: i64,
    ms: i64,
    wait_ms: i64,
    input: i64,
    output: i64,
    cache_read: i64,
    cache_write: i64,
    reasoning: i64,
    cost: i64,
    unpriced: i64,
}

/// Sums of a key, in a stretch or of a name.
#[derive(Clone, Debug)]
pub(crate) struct Summed {
    /// The key of the dimension.
    pub(crate) key: String,
    /// The project, agent or type of agent, where they are told apart.
    pub(crate) name: String,
    /// The beginning of the stretch, where they are told apart.
    pub(crate) at: i64,
    pub(crate) sums: Sums,
}

impl From<SumLine> for Summed {
    fn from(line: SumLine) -> Self {
        let sums = Sums {
            n: line.n,
            failures: line.failures,
            ms: line.ms,
            wait_ms: line.wait_ms,
            input: line.input,
            output: line.output,
            cache_read: line.cache_read,
            cache_write: line.cache_write,
            reasoning: line.reasoning,
            cost: line.cost,
            unpriced: line.unpriced,
            // Here calls are counted by tool.
            calls: 0,
        };
        Self { key: line.key, name: line.name, at: line.at, sums }
    }
}

/// The first and the last moment of anything.
#[derive(Clone, Copy, Debug, Row, Deserialize)]
struct Extent {
    first: i64,
    last: i64,
    n: u64,
}

/// The durations of a tool: buckets, and how many are in each.
#[derive(Row, Deserialize)]
struct Bucketed {
    name: String,
    latency: (Vec<i64>, Vec<u64>),
}

/// What sums are told apart by, beside their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Nothing.
    Key,
    /// The project of the task.
    Project,
    /// The agent.
    Agent,
    /// The type of the agent.
    AgentType,
    /// Stretches of time.
    Time(Level),
}

/// The ends of all extents together; none if nothing is in any.
fn together(extents: &[Extent]) -> Option<(i64, i64)> {
    let some = || extents.iter().filter(|extent| extent.n > 0);
    some().map(|extent| extent.first).min().zip(some().map(|extent| extent.last).max())
}

/// A range rounded outwards to stretches.
pub(crate) fn rounded((from, to): Span, level: Level) -> Span {
    let to = if level.start(to) == to { to } else { level.end(to) };
    (level.start(from), to)
}

/// The lines of a task's residual as rows of an array.
const LINES: &str = "JSONExtract(residual, 'lines', 'Array(Tuple(model String, reason String, input Int64, \
    output Int64, cacheRead Int64, cacheWrite Int64, cost Int64, unpriced Int64))')";

/// When the account behind a task's residual was written.
const ACCOUNT_AT: &str = "JSONExtractInt(residual, 'at')";

impl Reader {
    /// The condition that the task of a row is of the range's project, agent and type of agent; none if any is.
    pub(crate) fn of_range(&self, range: &Range) -> Option<String> {
        let mut all = Vec::new();
        all.extend(range.project.as_ref().map(|project| format!("project = {}", literal(project))));
        all.extend(range.agent.map(|agent| format!("agent = {}", literal(&word(agent)))));
        all.extend(range.agent_type.as_ref().map(|name| format!("agent_type = {}", literal(name))));
        if all.is_empty() {
            return None;
        }
        Some(format!(
            "(owner, task) IN (SELECT owner, task FROM task FINAL WHERE {} AND {})",
            self.mine(),
            all.join(" AND ")
        ))
    }

    /// The moments of everything that counts.
    ///
    /// To deduplicate every row for its two ends would cost as much as most questions themselves. So the ends of all
    /// versions are found first, which reads one column, and then it is seen whether the newest versions stand there.
    fn moments(&self) -> Answer<Option<(i64, i64)>> {
        let mine = self.mine();
        let extents = |facts: &str, tasks: &str| {
            self.rows::<Extent>(&format!(
                "SELECT toInt64(min(occurred)) AS first, toInt64(max(occurred)) AS last, count() AS n FROM {facts} \
                 UNION ALL SELECT toInt64(min({ACCOUNT_AT})) AS first, toInt64(max({ACCOUNT_AT})) AS last, count() AS n \
                 FROM task FINAL WHERE {mine} AND {tasks}"
            ))
        };
        let counting = format!("{mine} AND kind <> ''");
        // The order of the two is the server's; which is which does not matter for the ends of both together.
        let all = together(&extents(&format!("fact WHERE {counting}"), "residual <> ''")?);
        let Some((first, last)) = all else { return Ok(None) };
        let ends = format!("fact FINAL WHERE {counting} AND (occurred <= {first} OR occurred >= {last})");
        let at_ends = format!("residual <> '' AND ({ACCOUNT_AT} <= {first} OR {ACCOUNT_AT} >= {last})");
        if together(&extents(&ends, &at_ends)?) == all {
            return Ok(all);
        }
        Ok(together(&extents(&format!("fact FINAL WHERE {counting}"), "residual <> ''")?))
    }

    /// The end of the newest quarter-hour that has anything.
    pub(crate) fn newest(&self) -> Answer<Option<i64>> {
        Ok(self.moments()?.map(|(_, last)| Level::Quarter.end(last)))
    }

    /// The range, cut to whole days of which anything is known; none if nothing can be in it.
    pub(crate) fn asked(&self, range: &Range) -> Answer<Option<Span>> {
        if let (Some(since), Some(until)) = (range.since, range.until)
            && since > until
        {
            return Err(QueryError::Bad("`since` is after `until`".to_owned()));
        }
        if let Some(project) = &range.project {
            let named: Vec<u64> = self.rows(&format!(
                "SELECT count() FROM task FINAL WHERE {} AND project = {}",
                self.mine(),
                literal(project)
            ))?;
            if named.first().is_none_or(|tasks| *tasks == 0) {
                return Ok(None);
            }
        }
        let Some((first, last)) = self.moments()? else { return Ok(None) };
        let (first, last) = (Level::Day.start(first), Level::Day.end(last));
        let from = range.since.map_or(first, |since| since.0.max(first));
        let to = range.until.map_or(last, |until| until.0.min(last));
        Ok((from < to).then_some((from, to)))
    }

    /// The sums of a dimension in a span, of the tasks that meet a condition.
    pub(crate) fn sums(&self, dim: Dim, span: Span, of: Option<&str>, by: By) -> Answer<Vec<Summed>> {
        let (from, to) = rounded(span, dim.finest());
        let mine = self.mine();
        let of = of.map_or_else(String::new, |of| format!(" AND {of}"));
        let name = match by {
            By::Project => "toString(project)",
            By::Agent => "toString(agent)",
            By::AgentType => "toString(agent_type)",
            By::Key | By::Time(_) => "''",
        };
        let at = match by {
            By::Time(level) => format!("moment - positiveModulo(moment, {})", level.end(0)),
            _ => "toInt64(0)".to_owned(),
        };
        let join = match by {
            By::Project | By::Agent | By::AgentType => format!(
                "INNER JOIN (SELECT owner, task, project, agent, agent_type FROM task FINAL WHERE {mine}) AS whose \
                 USING (owner, task)"
            ),
            By::Key | By::Time(_) => String::new(),
        };
        let spent = |column: &str| format!("if(spends = 1, {column}, 0) AS f_{column}");
        let told = format!(
            "SELECT owner, task, occurred AS moment, key AS f_key, n AS f_n, failures AS f_failures, ms AS f_ms, \
               wait_ms AS f_wait_ms, {} \
             FROM (SELECT owner, task, occurred, dim, key, n, failures, ms, wait_ms, spends, input, output, cache_read, \
                     cache_write, reasoning, cost, unpriced \
                   FROM fact FINAL ARRAY JOIN sums.dim AS dim, sums.key AS key, sums.n AS n, sums.failures AS failures, \
                     sums.ms AS ms, sums.wait_ms AS wait_ms, sums.spends AS spends \
                   WHERE {mine} AND occurred >= {from} AND occurred < {to}{of}) WHERE dim = {}",
            ["input", "output", "cache_read", "cache_write", "reasoning", "cost", "unpriced"]
                .map(spent)
                .join(", "),
            dim.code()
        );
        let accounts = match dim {
            Dim::Activity | Dim::Model => format!(
                " UNION ALL SELECT owner, task, {ACCOUNT_AT} AS moment, {} AS f_key, toInt64(0) AS f_n, \
                   toInt64(0) AS f_failures, toInt64(0) AS f_ms, toInt64(0) AS f_wait_ms, line.3 AS f_input, \
                   line.4 AS f_output, line.5 AS f_cache_read, line.6 AS f_cache_write, toInt64(0) AS f_reasoning, \
                   line.7 AS f_cost, line.8 AS f_unpriced \
                 FROM (SELECT owner, task, residual, arrayJoin({LINES}) AS line FROM task FINAL \
                       WHERE {mine} AND residual <> ''{of}) WHERE moment >= {from} AND moment < {to}",
                if dim == Dim::Model { "concat(line.1, char(31), line.2)" } else { "''" }
            ),
            _ => String::new(),
        };
        let sums: Vec<String> = [
            "n",
            "failures",
            "ms",
            "wait_ms",
            "input",
            "output",
            "cache_read",
            "cache_write",
            "reasoning",
            "cost",
            "unpriced",
        ]
        .iter()
        .map(|column| format!("sum(f_{column}) AS {column}"))
        .collect();
        let lines = self.rows::<SumLine>(&format!(
            "SELECT f_key AS key, {name} AS name, {at} AS at, {} FROM ({told}{accounts}) AS one {join} \
             GROUP BY key, name, at",
            sums.join(", ")
        ))?;
        Ok(lines.into_iter().map(Summed::from).collect())
    }

    /// Durations by tool in a span, rounded outwards to days, of one project or of all.
    pub(crate) fn durations_of(
        &self,
        span: Span,
        project: Option<&str>,
    ) -> Answer<HashMap<String, BTreeMap<i64, u64>>> {
        let (from, to) = rounded(span, Level::Day);
        let of = Range { project: project.map(str::to_owned), ..Range::default() };
        let of = self.of_range(&of).map_or_else(String::new, |of| format!(" AND {of}"));
        let rows = self.rows::<Bucketed>(&format!(
            "SELECT ifNull(toString(tool), '') AS name, {LATENCY} AS latency \
             FROM fact FINAL WHERE {} AND bucket IS NOT NULL AND occurred >= {from} AND occurred < {to}{of} \
             GROUP BY name",
            self.mine()
        ))?;
        let buckets = |(places, counts): (Vec<i64>, Vec<u64>)| places.into_iter().zip(counts).collect();
        let durations = rows.into_iter().map(|row| (row.name, buckets(row.latency))).collect();
        Ok(durations)
    }
}
