//! Loops: the same call of a task, made again and again.

use std::collections::{BTreeSet, HashMap};

use agent_tracer_event::{FactId, Millis};
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::usage_sum::count;
use agent_tracer_ledger::project::presenters::task_id;
use agent_tracer_ledger::view::{Loop, Page};
use agent_tracer_ledger::{Answer, QueryError, Range};
use clickhouse::Row;
use serde::Deserialize;

use super::numbers::tasks_of;
use super::task::{PLACE, tasks_filter};
use super::{Reader, TaskKey, keys_in};

/// Calls that were made fewer times are no loop.
const LEAST: u32 = 3;

/// The same call, again and again.
#[derive(Row, Deserialize)]
struct Repeat {
    owner: String,
    task: String,
    place: i64,
    repeated: i64,
    n: i64,
    failures: i64,
    first: i64,
    last: i64,
    newest: i64,
}

/// Holds the name of the newest repeat.
#[derive(Row, Deserialize)]
struct RepeatName {
    owner: String,
    task: String,
    fact: i64,
    called: String,
    shown: String,
}

impl Reader {
    /// Loops of tasks that had events in a range, the longest first.
    ///
    /// # Errors
    /// If the range or its cursor is wrong, or the database cannot answer.
    pub fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        let after = cursor::page_start::<3>(Listing::Loops, &range.paging)?;
        if let (Some(since), Some(until)) = (range.since, range.until)
            && since > until
        {
            return Err(QueryError::Bad("`since` is after `until`".to_owned()));
        }
        let limit = cursor::limit(&range.paging);
        let (scope, facts) = (self.task_filter(), self.fact_filter());
        let after = match after {
            Some([n, place, repeated]) => format!(" AND (-n, place, repeated) > ({n}, {place}, {repeated})"),
            None => String::new(),
        };
        // Over the calls themselves: how often a call was made in one task is no sum of days, which know no task.
        let found = self.rows::<Repeat>(&format!(
            "SELECT owner, task, {PLACE} AS place, assumeNotNull(signature) AS repeated, toInt64(count()) AS n, \
               toInt64(sum(failed)) AS failures, min(occurred) AS first, max(occurred) AS last, \
               argMax(fact, (occurred, ord, fact)) AS newest \
             FROM fact FINAL WHERE {facts} AND is_call = 1 AND signature IS NOT NULL \
               AND (owner, task) IN (SELECT owner, task FROM task FINAL WHERE {scope} AND {}) \
             GROUP BY owner, task, repeated HAVING n >= {LEAST}{after} ORDER BY n DESC, place, repeated LIMIT {}",
            tasks_filter(&tasks_of(range)).join(" AND "),
            limit + 1
        ))?;
        let page =
            cursor::cut(Listing::Loops, limit, found, |repeat| [-repeat.n, repeat.place, repeat.repeated]);
        let mut names = self.repeat_names(&page.items)?;
        Ok(page.map(|repeat| {
            let key = TaskKey { owner: repeat.owner, task: repeat.task };
            let (tool, title) = names.remove(&(key.clone(), repeat.newest)).unwrap_or_default();
            Loop {
                last_id: FactId::from_number(&task_id(&key.task), repeat.newest.cast_unsigned()).to_string(),
                task_id: key.task,
                owner: Some(key.owner),
                tool,
                title,
                count: count(repeat.n),
                failures: count(repeat.failures),
                first_at: Millis(repeat.first),
                last_at: Millis(repeat.last),
            }
        }))
    }

    /// Returns the tool and the title of the newest call of each: read of those that are shown alone.
    fn repeat_names(&self, repeats: &[Repeat]) -> Answer<HashMap<(TaskKey, i64), (String, String)>> {
        if repeats.is_empty() {
            return Ok(HashMap::new());
        }
        let keys: BTreeSet<TaskKey> = repeats
            .iter()
            .map(|repeat| TaskKey { owner: repeat.owner.clone(), task: repeat.task.clone() })
            .collect();
        let facts: Vec<String> = repeats.iter().map(|repeat| repeat.newest.to_string()).collect();
        let called = self.rows::<RepeatName>(&format!(
            "SELECT owner, task, fact, ifNull(toString(tool), '') AS called, JSONExtractString(data, 't') AS shown \
             FROM fact FINAL WHERE (owner, task) IN {} AND fact IN ({})",
            keys_in(&keys),
            facts.join(", ")
        ))?;
        let one = |row: RepeatName| {
            ((TaskKey { owner: row.owner, task: row.task }, row.fact), (row.called, row.shown))
        };
        Ok(called.into_iter().map(one).collect())
    }
}
