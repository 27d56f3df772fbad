//! The changes since the last shipment, as records for another store.
//!
//! Tasks and facts are read from the indexes of their last change, up to one common position, from which the next
//! shipment continues without a gap. The cost of a shipment grows with the changes, not with the history.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use agent_tracer_event::attributes;
use rusqlite::{Connection, OptionalExtension};

use super::SqliteStore;
use super::health;
use super::row::MAIN;
use super::task::{self, TaskRow};
use super::text::Texts;
use super::usage_sum::count;
use crate::project::List;
use crate::project::tally::Pricer;
use crate::shipment::{DerivedTask, FORMAT, Shipment, ShippedFact};
use crate::sqlite::facts::{self, StoredFact};
use crate::sqlite::open::{self, OpenError};
use crate::store::Answer;

/// So many tasks, and as many facts, are taken at once, whatever is asked for.
const MOST: u32 = 50_000;

/// No more is taken at once than holds so many bytes, as they are stored, and one fact: what is unpacked is some times as
/// much.
const MOST_BYTES: i64 = 8 << 20;

/// Takes what changed out of a store. It never writes, and another process may write meanwhile.
pub struct Outbox {
    store: SqliteStore,
    pricer: Arc<dyn Pricer>,
}

impl Outbox {
    /// Opens the store in this file.
    ///
    /// # Errors
    /// If there is no such file, or it is damaged, of another version, another program's, or cannot be read.
    pub fn open(path: &Path, pricer: Arc<dyn Pricer>) -> Result<Self, OpenError> {
        open::check_version(path)?;
        Ok(Self { store: SqliteStore::open(path, Arc::default())?, pricer })
    }

    /// Returns the changes after a position in the order of delivery: about `limit` tasks and as many facts, and always
    /// all changes at the last position. At the end the shipment is empty and its `until` is `after`.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn after(&self, after: u64, limit: u32) -> Answer<Shipment> {
        self.between(after, u64::MAX, limit)
    }

    /// Returns the same of what changed up to another place.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn between(&self, after: u64, newest: u64, limit: u32) -> Answer<Shipment> {
        self.store.ask(|conn| shipment(conn, self.pricer.as_ref(), after, newest, limit))
    }

    /// Returns the newest place in the order of delivery.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn newest(&self) -> Answer<u64> {
        self.store.ask(health::seq)
    }

    /// Returns how often the store was rebuilt. What changed before a rebuild may have smaller places after it.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn rebuilds(&self) -> Answer<u64> {
        self.store.ask(|conn| Ok(count(health::meta(conn, "rebuilds")?.unwrap_or(0))))
    }

    /// Returns every task that was purged, by its id, with the moment up to which nothing of it is left.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn purged(&self) -> Answer<BTreeMap<String, i64>> {
        self.store.ask(|conn| {
            let mut find = conn.prepare_cached("SELECT task, until FROM tombstone")?;
            let found =
                find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
            Ok(found)
        })
    }

    /// Returns the projects of some tasks, by the tasks' ids. Ids that name no task are left out.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn projects(&self, tasks: &BTreeSet<String>) -> Answer<HashMap<String, String>> {
        self.store.ask(|conn| {
            let mut find = conn.prepare_cached("SELECT project FROM task WHERE uid = ?1")?;
            let mut texts = Texts::new(conn);
            let mut projects = HashMap::new();
            for task in tasks {
                let word: Option<i64> = find.query_row([task], |row| row.get(0)).optional()?;
                if let Some(word) = word {
                    projects.insert(task.clone(), texts.word(word)?);
                }
            }
            Ok(projects)
        })
    }
}

fn shipment(conn: &Connection, pricer: &dyn Pricer, after: u64, newest: u64, limit: u32) -> Answer<Shipment> {
    let limit = i64::from(limit.clamp(1, MOST));
    let from = i64::try_from(after).unwrap_or(i64::MAX);
    let newest = i64::try_from(newest).unwrap_or(i64::MAX);
    let (last_fact, all_facts) = reach(conn, "fact", ("length(data)", MOST_BYTES), [from, newest, limit])?;
    let (last_task, all_tasks) = reach(conn, "task", ("0", MOST_BYTES), [from, newest, limit])?;
    let until = match (all_facts, all_tasks) {
        (true, true) => last_fact.max(last_task),
        (true, false) => last_task,
        (false, true) => last_fact,
        (false, false) => last_fact.min(last_task),
    };
    let Some(until) = until else {
        return Ok(Shipment { format: FORMAT, until: after, ..Shipment::default() });
    };
    let mut texts = Texts::new(conn);
    let mut shipment = Shipment {
        format: FORMAT,
        tasks: tasks(conn, &mut texts, from, until)?,
        facts: Vec::new(),
        until: u64::try_from(until).unwrap_or(after),
        removed: None,
    };
    let changed = facts::select(
        conn,
        "WHERE f.changed > ?1 AND f.changed <= ?2 ORDER BY f.changed, f.id",
        [from, until],
    )?;
    let mut parts: HashMap<i64, HashMap<i64, Vec<i64>>> = HashMap::new();
    for StoredFact { task, changed, row, .. } in changed {
        let Some(uid) = texts.task(Some(task))? else { continue };
        let parts = match parts.entry(task) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => new.insert(parts_of(conn, task)?),
        };
        let is_priced = row.list == List::Response && row.usage().is_some();
        let cost = is_priced
            .then(|| pricer.cost(row.text(attributes::MODEL).unwrap_or_default(), &row.data.metadata))
            .flatten();
        let parts = parts.get(&row.fact).cloned().unwrap_or_default();
        shipment.facts.push(ShippedFact {
            task: uid,
            version: u64::try_from(changed).unwrap_or(0),
            row,
            cost,
            parts,
        });
    }
    Ok(shipment)
}

/// Returns the place of the last of the next changes of a table, and whether there are no more behind it. The next are
/// so many as the last of `within` says, or as many as hold `most` bytes.
fn reach(
    conn: &Connection,
    table: &str,
    (bytes, most): (&str, i64),
    within: [i64; 3],
) -> rusqlite::Result<(Option<i64>, bool)> {
    let mut find = conn.prepare_cached(&format!(
        "SELECT changed, {bytes} FROM {table} WHERE changed > ?1 AND changed <= ?2 ORDER BY changed LIMIT ?3"
    ))?;
    let [.., limit] = within;
    let (mut last, mut count, mut held) = (None, 0, 0_i64);
    let mut rows = find.query(within)?;
    while let Some(row) = rows.next()? {
        last = Some(row.get(0)?);
        count += 1;
        held += row.get::<_, Option<i64>>(1)?.unwrap_or(0);
        if held >= most {
            return Ok((last, false));
        }
    }
    Ok((last, count < limit))
}

/// Returns for every fact of a task the numbers that others knew it by.
fn parts_of(conn: &Connection, task: i64) -> rusqlite::Result<HashMap<i64, Vec<i64>>> {
    let mut find = conn.prepare_cached("SELECT fact, key FROM alias WHERE task = ?1 AND key <> fact")?;
    let mut rows = find.query([task])?;
    let mut parts: HashMap<i64, Vec<i64>> = HashMap::new();
    while let Some(row) = rows.next()? {
        parts.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(parts)
}

fn tasks(conn: &Connection, texts: &mut Texts<'_>, from: i64, until: i64) -> Answer<Vec<DerivedTask>> {
    let mut find =
        conn.prepare_cached("SELECT id, changed FROM task WHERE changed > ?1 AND changed <= ?2")?;
    let rows = find.query_map([from, until], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let mut tasks = Vec::new();
    for (id, changed) in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        if let Some(row) = task::load(conn, id)? {
            tasks.push(derived_task(texts, row, changed)?);
        }
    }
    tasks.sort_by(|one, two| (one.version, &one.task).cmp(&(two.version, &two.task)));
    Ok(tasks)
}

/// Returns a task that last changed at a place, with texts instead of their numbers.
pub(crate) fn derived_task(
    texts: &mut Texts<'_>,
    row: TaskRow,
    changed: i64,
) -> rusqlite::Result<DerivedTask> {
    let reported = |key: &str| row.reported.text(key).map(str::to_owned);
    let agent_id =
        reported(attributes::AGENT_ID).or_else(|| row.session.strip_prefix("sub--").map(str::to_owned));
    let agent_type = texts.word(row.agent_type)?;
    Ok(DerivedTask {
        version: u64::try_from(changed).unwrap_or(0),
        agent: row.agent,
        background: row.background,
        parent: texts.task(row.parent)?,
        parent_certainty: row.parent_certainty,
        parent_tool_use_id: reported(attributes::PARENT_TOOL_USE_ID),
        continues: texts.task(row.continues)?,
        forked: texts.task(row.forked)?,
        agent_type: if agent_type.is_empty() { MAIN.to_owned() } else { agent_type },
        agent_id: agent_id.filter(|_| row.background),
        project: texts.word(row.project)?,
        model: row.model.map(|model| texts.word(model)).transpose()?.filter(|model| !model.is_empty()),
        machine: texts.word(row.machine)?,
        git_branch: reported(attributes::GIT_BRANCH),
        client_version: reported(attributes::CLIENT_VERSION),
        started: row.started,
        last: row.last,
        ended: row.ended,
        status: row.status,
        waiting: row.waiting,
        waiting_since: row.waiting_since,
        waiting_fact: row.waiting_fact,
        context_pct: row.context_pct,
        events: row.events,
        calls: row.calls,
        failures: row.failures,
        turns: row.turns,
        wait_ms: row.wait_ms,
        spent: row.spent,
        task: row.uid,
        session: row.session,
        title: row.title,
        cwd: row.cwd,
        current: row.current,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_changes_end_at_a_number_at_a_place_or_at_their_bytes() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE fact (changed INTEGER, data BLOB)").unwrap();
        for changed in 1..=10 {
            conn.execute("INSERT INTO fact VALUES (?1, zeroblob(100))", [changed]).unwrap();
        }
        let reach = |most, within| reach(&conn, "fact", ("length(data)", most), within).unwrap();
        assert_eq!(reach(i64::MAX, [0, i64::MAX, 100]), (Some(10), true));
        assert_eq!(reach(i64::MAX, [0, i64::MAX, 4]), (Some(4), false), "so many");
        assert_eq!(reach(i64::MAX, [3, 7, 100]), (Some(7), true), "what is behind that place is not there");
        assert_eq!(reach(250, [0, i64::MAX, 100]), (Some(3), false), "so many bytes, and one more");
        assert_eq!(reach(1, [9, i64::MAX, 100]), (Some(10), false), "one at least");
        assert_eq!(reach(i64::MAX, [10, i64::MAX, 100]), (None, true));
    }
}
