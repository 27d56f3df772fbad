//! The list of tasks, newest first, narrowed by anything a task is known by.
//!
//! The order is that of the last event. Every column that narrows the list is in the index that has this order, so
//! even a rare combination costs one walk over short index entries and no look at a row that is not shown.

use std::collections::HashSet;

use agent_tracer_event::Millis;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::fts_query::{self, Bounds};
use super::staleness::{self, StatusWindow};
use super::task_words::TaskWords;
use super::{cursor, task, text};
use crate::store::{Answer, Range, TaskFilter};
use crate::view::{Page, Task, TaskKind, TaskStatus, WaitingReason};

/// Conditions of a query and the values in them.
#[derive(Clone, Debug, Default)]
struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Conditions {
    /// Adds `AND <before> ?n <behind>`.
    fn add_value(&mut self, before: &str, value: impl Into<Value>, behind: &str) {
        self.values.push(value.into());
        self.text.push_str(&format!(" AND {before} ?{}{behind}", self.values.len()));
    }

    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn value(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }
}

/// Returns the condition that a task is in a stretch, without the status itself.
fn within(conditions: &mut Conditions, stretch: &StatusWindow) -> String {
    let mut text = String::new();
    if stretch.from > i64::MIN {
        text.push_str(&format!(" AND last >= {}", conditions.value(stretch.from)));
    }
    if stretch.to < i64::MAX {
        text.push_str(&format!(" AND last < {}", conditions.value(stretch.to)));
    }
    if let Some(idle) = stretch.idle {
        let place = conditions.value(WaitingReason::Idle as i64);
        text.push_str(&format!(
            " AND {} (waiting IS NULL OR waiting = {place})",
            if idle { "" } else { "NOT" }
        ));
    }
    text
}

/// The places of a page: when a task was last active, and its number.
pub(crate) type TaskPositions = Vec<(i64, i64)>;

/// Returns a page of tasks.
pub(crate) fn tasks(conn: &Connection, now: Millis, filter: &TaskFilter) -> Answer<Page<Task>> {
    let limit = cursor::limit(&filter.paging);
    let before = cursor::page_start::<2>(cursor::List::Tasks, &filter.paging)?;
    let (places, reached) = match filter.q.as_deref().filter(|question| !fts_query::ask(question).is_empty())
    {
        Some(question) => {
            let words = TaskWords::parse(conn, question, Bounds::USUAL)?;
            found_by_words(conn, now, filter, (words, FEW), before, limit + 1)?
        }
        None => (tasks_behind(conn, now, filter, before, limit + 1)?, None),
    };
    let page = cursor::cut(cursor::List::Tasks, limit, places, |(last, id)| [*last, *id]);
    let ids: Vec<i64> = page.items.iter().map(|(_, id)| *id).collect();
    let behind = || reached.map(|place| cursor::write(cursor::List::Tasks, &place));
    Ok(Page { items: task::show(conn, now, &ids)?, next_cursor: page.next_cursor.or_else(behind) })
}

/// Returns the places of tasks that had events in a range, newest first, behind a place.
pub(crate) fn in_range(
    conn: &Connection,
    range: &Range,
    before: Option<[i64; 2]>,
    limit: usize,
) -> Answer<TaskPositions> {
    let filter = TaskFilter {
        since: range.since,
        until: range.until,
        project: range.project.clone(),
        agent: range.agent,
        agent_type: range.agent_type.clone(),
        ..TaskFilter::default()
    };
    // What time it is matters to where tasks stand, which no one asks for here.
    tasks_behind(conn, Millis(0), &filter, before, limit)
}

/// Returns the places of tasks behind a place, whatever their words.
fn tasks_behind(
    conn: &Connection,
    now: Millis,
    filter: &TaskFilter,
    before: Option<[i64; 2]>,
    limit: usize,
) -> Answer<TaskPositions> {
    match conditions(conn, filter, before)? {
        Some(conditions) => find(conn, now, filter, conditions, limit),
        None => Ok(Vec::new()),
    }
}

/// The condition that a call of a task or of one of its descendants failed: those that a list shows beside it. Descendants
/// are looked at only where the task has no failure of its own.
const WITH_FAILURES: &str = " AND (failures > 0 OR EXISTS (WITH RECURSIVE tree (id) AS ( \
      SELECT child.id FROM task child WHERE child.parent = task.id \
      UNION SELECT child.id FROM tree JOIN task child ON child.parent = tree.id \
    ) SELECT 1 FROM tree CROSS JOIN task child ON child.id = tree.id WHERE child.failures > 0))";

/// The most tasks with a failure of their own that are looked at one by one: some ten milliseconds. Of more, the list is
/// walked, and its pages soon hold some.
const MOST_FAILING: usize = 500;

/// Returns the tasks with a failed call and all above them; nothing if more than `most` have one.
fn with_failures(conn: &Connection, most: usize) -> Answer<Option<HashSet<i64>>> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1);
    let mut find = conn
        .prepare_cached("SELECT id, parent FROM task INDEXED BY task_failed WHERE failures > 0 LIMIT ?1")?;
    let failing = find
        .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(i64, Option<i64>)>>>()?;
    if failing.len() > most {
        return Ok(None);
    }
    let mut find = conn.prepare_cached("SELECT parent FROM task WHERE id = ?1")?;
    let mut found = HashSet::new();
    let mut above = Vec::new();
    for (id, parent) in failing {
        found.insert(id);
        above.extend(parent);
    }
    let mut walked = HashSet::new();
    while let Some(id) = above.pop() {
        if walked.insert(id) {
            found.insert(id);
            above.extend(find.query_row([id], |row| row.get::<_, Option<i64>>(0)).optional()?.flatten());
        }
    }
    Ok(Some(found))
}

/// Returns all conditions but the status and the words; none if no task can meet them.
fn conditions(
    conn: &Connection,
    filter: &TaskFilter,
    before: Option<[i64; 2]>,
) -> Answer<Option<Conditions>> {
    let mut all = Conditions { text: "events > 0".to_owned(), values: Vec::new() };
    if let Some([last, id]) = before {
        let (last, id) = (all.value(last), all.value(id));
        all.add(&format!(" AND (last, id) < ({last}, {id})"));
    }
    if let Some(since) = filter.since {
        all.add_value("last >=", since.0, "");
    }
    if let Some(until) = filter.until {
        all.add_value("started <", until.0, "");
    }
    if let Some(agent) = filter.agent {
        all.add_value("agent =", agent.place() as i64, "");
    }
    if let Some(kind) = filter.kind {
        all.add_value("background =", i64::from(kind == TaskKind::Background), "");
    }
    if filter.failed_calls {
        all.add(WITH_FAILURES);
    }
    for (column, wanted) in
        [("agent_type", &filter.agent_type), ("project", &filter.project), ("model", &filter.model)]
    {
        if let Some(wanted) = wanted {
            let Some(word) = text::number(conn, wanted)? else { return Ok(None) };
            all.add_value(&format!("{column} ="), word, "");
        }
    }
    if let Some(parent) = &filter.parent {
        let parent = task::number(conn, parent)?;
        all.add_value("parent =", parent, "");
    }
    Ok(Some(all))
}

fn find(
    conn: &Connection,
    now: Millis,
    filter: &TaskFilter,
    mut all: Conditions,
    limit: usize,
) -> Answer<TaskPositions> {
    let stretches = staleness::stretches(&filter.status, now.0);
    let is_narrowed_by_status = !filter.status.is_empty();
    if is_narrowed_by_status && stretches.is_empty() {
        return Ok(Vec::new());
    }
    if filter.failed_calls
        && let Some(failing) = with_failures(conn, MOST_FAILING)?
    {
        narrow(&mut all, &stretches);
        return filter_tasks(conn, &failing, all, limit);
    }
    // What runs or waits now are few tasks of the last day, whatever else they are narrowed by.
    let is_only_alive = is_narrowed_by_status
        && filter.status.iter().all(|status| matches!(status, TaskStatus::Running | TaskStatus::Waiting));
    let only_by_status = is_narrowed_by_status
        && filter.agent.is_none()
        && filter.agent_type.is_none()
        && filter.model.is_none()
        && filter.kind.is_none()
        && filter.project.is_none()
        && filter.until.is_none()
        && !filter.failed_calls;
    if filter.parent.is_some() {
        narrow(&mut all, &stretches);
        return walk(conn, "task_parent", all, limit);
    }
    if is_only_alive || only_by_status {
        let mut places = Vec::new();
        for stretch in &stretches {
            let mut own = all.clone();
            own.add_value("status =", stretch.status as i64, "");
            let within = within(&mut own, stretch);
            own.add(&within);
            places.extend(walk(conn, "task_status", own, limit)?);
        }
        places.sort_unstable_by(|one, two| two.cmp(one));
        places.truncate(limit);
        return Ok(places);
    }
    narrow(&mut all, &stretches);
    let index = if filter.project.is_some() { "task_project" } else { "task_newest" };
    match filter.until {
        Some(until) => walk_until(conn, index, &all, until.0, limit),
        None => walk(conn, index, all, limit),
    }
}

/// A task that goes on for longer is a long one. The index of those begins there.
pub(crate) const LONG_MS: i64 = 86_400_000;

/// Walks over tasks that began before a moment without a look at all that came after it: first the long ones that went
/// on for more than a day from then, then those that ended within that day, then those that had ended.
fn walk_until(
    conn: &Connection,
    index: &str,
    all: &Conditions,
    until: i64,
    limit: usize,
) -> Answer<TaskPositions> {
    let a_day_later = until.saturating_add(LONG_MS);
    let mut places = TaskPositions::new();
    for (index, from, to) in [
        ("task_long", Some(a_day_later), None),
        (index, Some(until), Some(a_day_later)),
        (index, None, Some(until)),
    ] {
        if places.len() >= limit {
            break;
        }
        let mut own = all.clone();
        if index == "task_long" {
            own.add(&format!(" AND last - started > {LONG_MS}"));
        }
        if let Some(from) = from {
            own.add_value("last >=", from, "");
        }
        if let Some(to) = to {
            own.add_value("last <", to, "");
        }
        places.extend(walk(conn, index, own, limit - places.len())?);
    }
    Ok(places)
}

/// Adds that a task must be in one of the stretches, if there are any.
fn narrow(all: &mut Conditions, stretches: &[StatusWindow]) {
    let ways: Vec<String> = stretches
        .iter()
        .map(|stretch| {
            let status = all.value(stretch.status as i64);
            format!("(status = {status}{})", within(all, stretch))
        })
        .collect();
    if !ways.is_empty() {
        all.add(&format!(" AND ({})", ways.join(" OR ")));
    }
}

fn walk(conn: &Connection, index: &str, mut all: Conditions, limit: usize) -> Answer<TaskPositions> {
    let limit = all.value(i64::try_from(limit).unwrap_or(i64::MAX));
    let mut statement = conn.prepare_cached(&format!(
        "SELECT last, id FROM task INDEXED BY {index} WHERE {} ORDER BY last DESC, id DESC LIMIT {limit}",
        all.text
    ))?;
    let rows =
        statement.query_map(rusqlite::params_from_iter(all.values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// So many tasks that have the words are looked at one by one; of more, the list is walked.
const FEW: usize = 1_000;

/// So many tasks of the list are looked at together, twice as many each time.
const FIRST_PART: usize = 400;
const LARGEST_PART: usize = 6_400;

/// So many tasks are read for one page to see whether they have the words: some milliseconds. A page that is not full
/// then has a cursor to go on from.
const MOST_READ: usize = 1_000;

/// Returns the places of tasks that have the words, and how far the list was walked if not to the end of it or of the
/// page.
fn found_by_words(
    conn: &Connection,
    now: Millis,
    filter: &TaskFilter,
    (words, few): (Option<TaskWords>, usize),
    before: Option<[i64; 2]>,
    limit: usize,
) -> Answer<(TaskPositions, Option<[i64; 2]>)> {
    let nothing = || Ok((TaskPositions::new(), None));
    let Some(words) = words else { return nothing() };
    if let Some(found) = words.find_tasks(conn, few)? {
        let Some(mut all) = conditions(conn, filter, before)? else { return nothing() };
        let stretches = staleness::stretches(&filter.status, now.0);
        if !filter.status.is_empty() && stretches.is_empty() {
            return nothing();
        }
        narrow(&mut all, &stretches);
        return Ok((filter_tasks(conn, &found, all, limit)?, None));
    }
    // Many have them, so the first of the list that do come soon.
    let (mut places, mut before, mut part) = (TaskPositions::new(), before, FIRST_PART);
    let mut left = if words.must_be_read() { MOST_READ } else { usize::MAX };
    loop {
        let next = tasks_behind(conn, now, filter, before, part)?;
        let ids: Vec<i64> = next.iter().map(|(_, id)| *id).collect();
        let having = words.filter_tasks(conn, ids)?;
        places.extend(next.iter().filter(|(_, id)| having.contains(id)));
        if places.len() >= limit || next.len() < part {
            places.truncate(limit);
            return Ok((places, None));
        }
        before = next.last().map(|(last, id)| [*last, *id]);
        left = left.saturating_sub(part);
        if left == 0 {
            return Ok((places, before));
        }
        // Small at first, because the first tasks of the list usually do; larger later, because each part opens the
        // lists of terms again.
        part = part.saturating_mul(2).min(LARGEST_PART).min(left);
    }
}

/// Returns those of some tasks that meet the conditions, newest first.
fn filter_tasks(
    conn: &Connection,
    found: &HashSet<i64>,
    mut all: Conditions,
    limit: usize,
) -> Answer<TaskPositions> {
    // One parameter for any number of ids. A list in the text would be a statement of its own for each length,
    // prepared anew.
    let ids = all.value(serde_json::to_string(found).unwrap_or_default());
    let mut statement = conn.prepare_cached(&format!(
        "SELECT last, id FROM task WHERE id IN (SELECT value FROM json_each({ids})) AND +{}",
        all.text
    ))?;
    let rows =
        statement.query_map(rusqlite::params_from_iter(all.values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut places = rows.collect::<rusqlite::Result<TaskPositions>>()?;
    places.sort_unstable_by(|one, two| two.cmp(one));
    places.truncate(limit);
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open::open;

    /// So many tasks that the list is walked in several parts; the last active one has any number.
    const TASKS: i64 = 4_500;

    fn store() -> (Connection, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut conn = open(&folder.path().join("ledger.db")).unwrap();
        let transaction = conn.transaction().unwrap();
        {
            let mut task = transaction
                .prepare(
                    "INSERT INTO task (id, uid, agent, session, told, title, project, failures, started, last, status, events) \
                     VALUES (?1, 'task-' || ?1, ?1 % 2, '', x'', ?3, ?1 % 5, ?1 % 3, ?2, ?2 + 10, 2, 1)",
                )
                .unwrap();
            let mut document =
                transaction.prepare("INSERT INTO search (rowid, tokens) VALUES (?1, ?2)").unwrap();
            for number in 1..=TASKS {
                // Most numbers are neighbours, and some are far from all others.
                let id = if number % 100 == 0 { number * 1_000 } else { number };
                let words = if number % 7 == 0 { "retry index" } else { "index" };
                task.execute(rusqlite::params![id, (number * 7_919) % TASKS * 1_000, words]).unwrap();
                document.execute(rusqlite::params![-id, words]).unwrap();
            }
            for term in ["retry", "index"] {
                transaction.execute("INSERT INTO vocabulary (term, n) VALUES (?1, 1)", [term]).unwrap();
            }
            transaction.execute("INSERT INTO word (id, text) VALUES (3, '/srv/api')", []).unwrap();
        }
        transaction.commit().unwrap();
        (conn, folder)
    }

    /// Chains of three tasks each, of which the last of every tenth has a failed call.
    fn chains(tasks: i64, failing: bool) -> (Connection, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let conn = open(&folder.path().join("ledger.db")).unwrap();
        let insert = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
            INSERT INTO task (id, uid, agent, session, told, parent, project, failures, started, last, status, events) \
            SELECT n, 'task-' || n, 0, '', x'', iif(n % 3 = 1, NULL, n - 1), n % 5, iif(?2 AND n % 30 = 0, 2, 0), n, \
            n + (n * 7919) % 100, 2, 1 FROM n";
        conn.execute(insert, rusqlite::params![tasks, failing]).unwrap();
        (conn, folder)
    }

    #[test]
    fn tasks_with_failures_are_the_same_from_their_index_and_from_a_walk() {
        let (conn, _folder) = chains(3_000, true);
        let filter = TaskFilter { failed_calls: true, ..TaskFilter::default() };
        let mut before = None;
        for _page in 0..3 {
            let listed = tasks_behind(&conn, Millis(0), &filter, before, 100).unwrap();
            let all = conditions(&conn, &filter, before).unwrap().unwrap();
            assert_eq!(listed, walk(&conn, "task_newest", all, 100).unwrap());
            before = listed.last().map(|(last, id)| [*last, *id]);
        }
        assert!(before.is_some());
        let failing = with_failures(&conn, 100).unwrap().unwrap();
        assert_eq!(failing.len(), 300, "each of the hundred and the two above it");
        assert!([28, 29, 30].iter().all(|id| failing.contains(id)));
        assert_eq!(with_failures(&conn, 99).unwrap(), None);
    }

    #[test]
    fn no_failure_among_many_tasks_is_found_without_a_walk() {
        let (mut conn, _folder) = chains(20_000, false);
        let steps = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&steps);
        let count = move || counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == usize::MAX;
        conn.progress_handler(100, Some(count)).unwrap();
        let filter = TaskFilter { failed_calls: true, ..TaskFilter::default() };
        assert_eq!(tasks_behind(&conn, Millis(0), &filter, None, 51).unwrap(), []);
        // A walk takes some ten instructions for each task.
        assert!(steps.load(std::sync::atomic::Ordering::Relaxed) < 20, "{steps:?} hundred instructions");
    }

    #[test]
    fn a_list_that_is_walked_for_its_words_is_the_list_of_all_that_have_them() {
        let (conn, _folder) = store();
        let now = Millis(TASKS * 1_000 + 100);
        for filter in [
            TaskFilter::default(),
            TaskFilter { failed_calls: true, ..TaskFilter::default() },
            TaskFilter { project: Some("/srv/api".to_owned()), ..TaskFilter::default() },
            TaskFilter {
                since: Some(Millis(200_000)),
                until: Some(Millis(900_000)),
                status: vec![TaskStatus::Completed, TaskStatus::Abandoned, TaskStatus::Failed],
                ..TaskFilter::default()
            },
            TaskFilter { project: Some("/nowhere".to_owned()), ..TaskFilter::default() },
        ] {
            for question in ["retry", "index", "retry index", "nothing"] {
                let by = |bounds, few, before, limit| {
                    let words = TaskWords::parse(&conn, question, bounds).unwrap();
                    found_by_words(&conn, now, &filter, (words, few), before, limit).unwrap()
                };
                let (all, reached) = by(Bounds::USUAL, usize::MAX, None, usize::MAX);
                assert_eq!(reached, None);
                assert_eq!(by(Bounds::USUAL, 0, None, 10_000).0, all, "{question} in {filter:?}");
                // By the index, and by the titles.
                for bounds in [Bounds::USUAL, Bounds { single: 0, merged: 0 }] {
                    let (mut pages, mut at) = (TaskPositions::new(), None);
                    loop {
                        let (next, reached) = by(bounds, 0, at, 37);
                        at = reached.or_else(|| next.last().map(|(last, id)| [*last, *id]));
                        pages.extend(&next);
                        if next.is_empty() && reached.is_none() {
                            break;
                        }
                    }
                    assert_eq!(pages, all, "{question} in pages within {bounds:?}");
                }
                let is_found = question != "nothing" && filter.project.as_deref() != Some("/nowhere");
                assert_eq!(!all.is_empty(), is_found, "{question} in {filter:?}");
            }
        }
    }
}
