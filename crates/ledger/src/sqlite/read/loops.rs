//! Loops: the same call, made again and again in one task.

use agent_tracer_event::Millis;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::cursor::{self, List};
use super::rollup::Scope;
use super::row::RowBuilder;
use super::usage_sum::count;
use super::{tasks, text};
use crate::sqlite::facts::{self, StoredFact};
use crate::store::{Answer, Range};
use crate::view::{Loop, Page};

/// Calls that were made fewer times are no loop. The index of the table begins there.
const LEAST: i64 = 3;

/// The loops of so many tasks are gathered and sorted; of more, the list of all loops is walked.
const FEW_TASKS: usize = 8_000;

/// Among so many loops for each of a few tasks they are looked for by one walk, and beyond that task by task.
const WALKED: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Repeat {
    task: i64,
    signature: i64,
    n: i64,
}

impl Repeat {
    fn key(&self) -> [i64; 3] {
        [-self.n, self.task, self.signature]
    }
}

/// Loops of tasks that had events in a range, the longest first.
pub(crate) fn loops(conn: &Connection, range: &Range) -> Answer<Page<Loop>> {
    let after = cursor::page_start::<3>(List::Loops, &range.paging)?;
    let limit = cursor::limit(&range.paging);
    let Some(of) = Tasks::of_range(conn, range)? else { return Ok(Page::whole(Vec::new())) };
    let page = match find_few_tasks(conn, range)? {
        Some(few) => cursor::page(List::Loops, &range.paging, of_tasks(conn, few)?, Repeat::key)?,
        None => cursor::cut(List::Loops, limit, of.longest(conn, after, limit + 1)?, Repeat::key),
    };
    let mut builder = RowBuilder::new(conn);
    let mut items = Vec::with_capacity(page.items.len());
    for repeat in &page.items {
        items.extend(show(conn, &mut builder, repeat)?);
    }
    Ok(Page { items, next_cursor: page.next_cursor })
}

/// Returns the numbers of the tasks of a range, if they are few.
fn find_few_tasks(conn: &Connection, range: &Range) -> Answer<Option<Vec<i64>>> {
    let places = tasks::in_range(conn, range, None, FEW_TASKS + 1)?;
    Ok((places.len() <= FEW_TASKS).then(|| places.into_iter().map(|(_, id)| id).collect()))
}

/// Selects tasks by conditions on their columns, and the values in them.
struct Tasks {
    conditions: String,
    values: Vec<Value>,
}

impl Tasks {
    fn of_range(conn: &Connection, range: &Range) -> Answer<Option<Self>> {
        let Some(scope) = Scope::of_range(conn, range)? else { return Ok(None) };
        let mut conditions = "t.events > 0".to_owned();
        let mut values: Vec<Value> = Vec::new();
        let mut and = |condition: &str, value: i64| {
            values.push(value.into());
            conditions.push_str(&format!(" AND t.{condition} ?{}", values.len()));
        };
        if let Some(since) = range.since {
            and("last >=", since.0);
        }
        if let Some(until) = range.until {
            and("started <", until.0);
        }
        if let Some(project) = scope.project {
            and("project =", project);
        }
        if let Some(agent) = scope.agent {
            and("agent =", agent.place() as i64);
        }
        if let Some(agent_type) = &scope.agent_type {
            let Some(word) = text::number(conn, agent_type)? else { return Ok(None) };
            and("agent_type =", word);
        }
        Ok(Some(Self { conditions, values }))
    }

    /// Returns the longest loops behind a place.
    fn longest(
        &self,
        conn: &Connection,
        after: Option<[i64; 3]>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Repeat>> {
        let [n, task, signature] = after.unwrap_or([i64::MIN + 1, i64::MIN, i64::MIN]);
        let mut values = self.values.clone();
        values.extend([-n, task, signature, i64::try_from(limit).unwrap_or(i64::MAX)].map(Value::from));
        let first = self.values.len() + 1;
        // The longest first, and of equally long ones in the order of the table: two parts of one index.
        let mut find = conn.prepare_cached(&format!(
            "SELECT r.task, r.signature, r.n FROM repeat r INDEXED BY repeat_often CROSS JOIN task t ON t.id = r.task \
             WHERE r.n >= {LEAST} AND r.n <= ?{first} AND (r.n < ?{first} OR (r.task, r.signature) > (?{}, ?{})) AND {} \
             ORDER BY r.n DESC, r.task, r.signature LIMIT ?{}",
            first + 1,
            first + 2,
            self.conditions,
            first + 3
        ))?;
        let rows = find.query_map(params_from_iter(values), |row| {
            Ok(Repeat { task: row.get(0)?, signature: row.get(1)?, n: row.get(2)? })
        })?;
        rows.collect()
    }
}

/// Returns all loops of some tasks.
///
/// Tasks that lived at one time have neighbouring numbers, and few have loops: one walk from the first to the last finds
/// them all without asking for each. Where other loops lie between, each is asked for.
fn of_tasks(conn: &Connection, mut tasks: Vec<i64>) -> rusqlite::Result<Vec<Repeat>> {
    tasks.sort_unstable();
    let (Some(first), Some(last)) = (tasks.first(), tasks.last()) else { return Ok(Vec::new()) };
    let most = tasks.len().saturating_mul(WALKED).saturating_add(100);
    let mut find = conn.prepare_cached(&format!(
        "SELECT task, signature, n FROM repeat INDEXED BY repeat_of_task \
         WHERE task BETWEEN ?1 AND ?2 AND n >= {LEAST} LIMIT ?3"
    ))?;
    let mut rows = find.query(params![first, last, i64::try_from(most).unwrap_or(i64::MAX)])?;
    let (mut found, mut walked) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        walked += 1;
        let task: i64 = row.get(0)?;
        if tasks.binary_search(&task).is_ok() {
            found.push(Repeat { task, signature: row.get(1)?, n: row.get(2)? });
        }
    }
    if walked < most {
        return Ok(found);
    }
    found.clear();
    let mut find = conn.prepare_cached(&format!(
        "SELECT signature, n FROM repeat INDEXED BY repeat_of_task WHERE task = ?1 AND n >= {LEAST}"
    ))?;
    for task in tasks {
        let mut rows = find.query([task])?;
        while let Some(row) = rows.next()? {
            found.push(Repeat { task, signature: row.get(0)?, n: row.get(1)? });
        }
    }
    Ok(found)
}

fn show(conn: &Connection, builder: &mut RowBuilder<'_>, repeat: &Repeat) -> rusqlite::Result<Option<Loop>> {
    let Some(last) = last_call(conn, repeat)? else { return Ok(None) };
    let first: Option<i64> = conn
        .prepare_cached(
            "SELECT occurred FROM fact WHERE task = ?1 AND signature = ?2 AND tool IS NOT NULL AND state IS NOT NULL \
             ORDER BY occurred LIMIT 1",
        )?
        .query_row(params![repeat.task, repeat.signature], |row| row.get(0))
        .optional()?;
    let failures = conn
        .prepare_cached("SELECT failures FROM repeat WHERE task = ?1 AND signature = ?2")?
        .query_row(params![repeat.task, repeat.signature], |row| row.get(0))?;
    let about = builder.about(repeat.task)?;
    Ok(Some(Loop {
        task_id: about.uid.to_string(),
        owner: about.owner.clone(),
        tool: last.row.tool.clone().unwrap_or_default(),
        title: last.row.data.title.clone(),
        count: count(repeat.n),
        failures: count(failures),
        first_at: Millis(first.unwrap_or(last.row.occurred)),
        last_at: Millis(last.row.occurred),
        last_id: about.row_id(last.row.fact),
    }))
}

fn last_call(conn: &Connection, repeat: &Repeat) -> rusqlite::Result<Option<StoredFact>> {
    let found = facts::select(
        conn,
        "WHERE f.task = ?1 AND f.signature = ?2 AND f.tool IS NOT NULL AND f.state IS NOT NULL \
         ORDER BY f.occurred DESC LIMIT 1",
        params![repeat.task, repeat.signature],
    )?;
    Ok(found.into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open::open;

    #[test]
    fn the_loops_of_some_tasks_are_theirs_however_many_lie_between() {
        let folder = tempfile::tempdir().unwrap();
        let conn = open(&folder.path().join("ledger.db")).unwrap();
        let mut add =
            conn.prepare("INSERT INTO repeat (task, signature, n, failures) VALUES (?1, ?2, ?3, 0)").unwrap();
        for task in 1..=600_i64 {
            for signature in 1..=3 {
                add.execute([task, signature, 1 + (task * signature) % 5]).unwrap();
            }
        }
        let close: Vec<i64> = (100..=300).rev().collect();
        for tasks in [close, vec![600, 1], vec![7], vec![], vec![10_000], (1..=600).collect()] {
            let mut expected = Vec::new();
            for task in &tasks {
                for signature in (1..=3).filter(|_| *task <= 600) {
                    let n = 1 + (task * signature) % 5;
                    expected.extend((n >= LEAST).then_some([-n, *task, signature]));
                }
            }
            expected.sort_unstable();
            let mut found: Vec<[i64; 3]> =
                of_tasks(&conn, tasks.clone()).unwrap().iter().map(Repeat::key).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{tasks:?}");
        }
    }
}
