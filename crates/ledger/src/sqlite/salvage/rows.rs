//! Decides which rows are taken, and when one is believed.

use std::collections::{BTreeMap, HashMap, HashSet};

use agent_tracer_event::{Agent, Channel, Millis, TaskId, TaskKey};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use xxhash_rust::xxh3::xxh3_64;

use super::super::entry_codec;
use super::btree::{Page, Row};
use super::pages::{PageNumber, Pages};
use super::report::{LostSpan, Salvage};
use super::walk::{Gap, Walk};

/// More stretches of time than this are not distinguished.
const STRETCHES: usize = 100;

/// A table from which rows are salvaged.
pub(super) struct SalvagedTable {
    pub(super) name: &'static str,
    has_row_ids: bool,
    /// The column with the number of a task, in tables whose rows are meaningless without their task.
    task: Option<usize>,
}

const fn with_ids(name: &'static str) -> SalvagedTable {
    SalvagedTable { name, has_row_ids: true, task: None }
}

const fn plain(name: &'static str) -> SalvagedTable {
    SalvagedTable { name, has_row_ids: false, task: None }
}

const fn of_task(name: &'static str, task: usize) -> SalvagedTable {
    SalvagedTable { name, has_row_ids: false, task: Some(task) }
}

/// Tables that cannot be folded from others. Each comes after the tables against which its rows are checked.
pub(super) const TABLES: &[SalvagedTable] = &[
    plain("tombstone"),
    with_ids("word"),
    with_ids("task"),
    with_ids("source"),
    with_ids("entry"),
    of_task("alias", 0),
    plain("cursor"),
    plain("outcome"),
    plain("unrecognised"),
    plain("meta"),
    SalvagedTable { name: "sealed_task", has_row_ids: true, task: Some(0) },
    SalvagedTable { name: "sealed_share", has_row_ids: true, task: Some(0) },
    plain("sealed_rollup"),
    plain("sealed_latency"),
    of_task("sealed_model", 0),
    of_task("sealed_skill", 0),
    of_task("holder", 1),
];

/// The values that a column may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Integer,
    Real,
    Text,
    Blob,
}

struct Column {
    name: String,
    kind: ValueKind,
    is_nullable: bool,
    has_default: bool,
}

/// The columns of a table.
pub(super) struct Table {
    has_row_ids: bool,
    columns: Vec<Column>,
}

/// Reads from a store how its tables look.
pub(super) fn tables(conn: &Connection) -> rusqlite::Result<HashMap<&'static str, Table>> {
    TABLES.iter().map(|wanted| Ok((wanted.name, Table::read(conn, wanted)?))).collect()
}

impl Table {
    fn read(conn: &Connection, wanted: &SalvagedTable) -> rusqlite::Result<Self> {
        let mut find = conn.prepare(&format!("PRAGMA table_info({})", wanted.name))?;
        let columns = find.query_map([], |row| {
            let kind = match row.get::<_, String>(2)?.as_str() {
                "TEXT" => ValueKind::Text,
                "BLOB" => ValueKind::Blob,
                "REAL" => ValueKind::Real,
                _ => ValueKind::Integer,
            };
            let is_key = row.get::<_, i64>(5)? > 0;
            Ok(Column {
                name: row.get(1)?,
                kind,
                is_nullable: !row.get::<_, bool>(3)? && !is_key,
                has_default: row.get::<_, Option<String>>(4)?.is_some(),
            })
        })?;
        Ok(Self { has_row_ids: wanted.has_row_ids, columns: columns.collect::<rusqlite::Result<_>>()? })
    }

    /// Returns `true` if a row may be one of this table. Earlier versions had fewer columns at the end.
    pub(super) fn fits(&self, values: &[Value]) -> bool {
        let is_long_enough =
            self.columns.iter().skip(values.len()).all(|column| column.has_default || column.is_nullable);
        let suits = |(place, (value, column)): (usize, (&Value, &Column))| match (value, column.kind) {
            // Where the row id stands, nothing is written.
            (Value::Null, _) => column.is_nullable || (self.has_row_ids && place == 0),
            (Value::Integer(_), ValueKind::Integer | ValueKind::Real) => !(self.has_row_ids && place == 0),
            (Value::Real(_), ValueKind::Real)
            | (Value::Text(_), ValueKind::Text)
            | (Value::Blob(_), ValueKind::Blob) => true,
            _ => false,
        };
        values.len() <= self.columns.len()
            && !values.is_empty()
            && is_long_enough
            && values.iter().zip(&self.columns).enumerate().all(suits)
    }

    /// Returns `true` if a page may be the root of this table.
    pub(super) fn is_root(&self, pages: &Pages, root: PageNumber) -> bool {
        let mut page = root;
        for _ in 0..16 {
            page = match Page::read(pages, page) {
                Some(Page::Leaf(rows)) => {
                    return self.has_row_ids && rows.iter().flatten().all(|row| self.fits(&row.values));
                }
                Some(Page::IndexLeaf(rows)) => {
                    return !self.has_row_ids && rows.iter().flatten().all(|row| self.fits(row));
                }
                Some(Page::Interior(children, last)) if self.has_row_ids => {
                    children.iter().flatten().next().map_or(last, |(child, _)| *child)
                }
                Some(Page::IndexInterior(parts, last)) if !self.has_row_ids => {
                    parts.iter().find_map(|(child, _)| *child).unwrap_or(last)
                }
                _ => return false,
            };
        }
        false
    }
}

/// Takes rows from the pages of one store into another, which is new.
pub(super) struct RowTransfer<'a> {
    conn: &'a Connection,
    pages: &'a Pages,
    roots: HashMap<String, PageNumber>,
    tables: HashMap<&'static str, Table>,
    /// The keys of the tasks that were taken, by their numbers.
    tasks: HashMap<i64, TaskKey>,
    /// Tasks that were deleted on purpose, and the moment of deletion.
    deleted: HashMap<String, i64>,
    salvage: Salvage,
}

impl<'a> RowTransfer<'a> {
    pub(super) fn new(
        conn: &'a Connection,
        pages: &'a Pages,
        roots: HashMap<String, PageNumber>,
    ) -> rusqlite::Result<Self> {
        let salvage = Salvage {
            log_pages: pages.frames,
            damaged_log_pages: pages.frames_damaged,
            ..Salvage::default()
        };
        let tables = tables(conn)?;
        Ok(Self { conn, pages, roots, tables, tasks: HashMap::new(), deleted: HashMap::new(), salvage })
    }

    pub(super) fn run(mut self) -> rusqlite::Result<Salvage> {
        let transaction = self.conn.unchecked_transaction()?;
        let mut entry_gaps = Vec::new();
        for wanted in TABLES {
            let gaps = self.take(wanted)?;
            if wanted.name == "entry" {
                entry_gaps = gaps;
            }
        }
        self.keep_numbers()?;
        self.drop_deleted()?;
        self.name_losses(&entry_gaps)?;
        self.count_whole()?;
        let sources: i64 = self.conn.query_row("SELECT count(*) FROM source", [], |row| row.get(0))?;
        self.salvage.sources = u64::try_from(sources).unwrap_or(0);
        self.salvage.mended_pages = self.pages.mended();
        transaction.commit()?;
        Ok(self.salvage)
    }

    /// Takes the rows of one table. Returns where there may have been more.
    fn take(&mut self, wanted: &'static SalvagedTable) -> rusqlite::Result<Vec<Gap>> {
        let mut walk = Walk::new(self.pages);
        let Some(root) = self.roots.get(wanted.name).copied() else {
            // Its rows may still be found, if what they look like tells them from those of others.
            let gaps = vec![Gap::WHOLE];
            if wanted.has_row_ids {
                self.take_orphans(wanted, &walk, &gaps)?;
            }
            self.salvage.damaged_tables.push(wanted.name);
            return Ok(gaps);
        };
        let mut failed = None;
        let mut refused = 0;
        let mut attempt = |taking: &mut Self, values: Vec<Value>, id: Option<i64>| match taking
            .take_row(wanted, values, id)
        {
            Ok(true) => {}
            Ok(false) => refused += 1,
            Err(error) => failed = Some(error),
        };
        let (gaps, is_whole) = if wanted.has_row_ids {
            let gaps = walk.table(root, &mut |row| attempt(self, row.values, Some(row.id)));
            let is_whole = gaps.is_empty();
            (gaps, is_whole)
        } else {
            let is_whole = walk.index(root, &mut |values| attempt(self, values, None));
            (Vec::new(), is_whole)
        };
        if let Some(error) = failed {
            return Err(error);
        }
        if !gaps.is_empty() {
            self.take_orphans(wanted, &walk, &gaps)?;
        }
        if wanted.name == "word" && (!is_whole || walk.damaged_rows > 0) {
            self.take_words_from_index()?;
        }
        let damaged_rows = walk.damaged_rows + refused;
        if !is_whole || damaged_rows > 0 {
            self.salvage.damaged_tables.push(wanted.name);
        }
        self.salvage.damaged_pages += walk.damaged_pages;
        self.salvage.suspect_pages += walk.suspect_pages;
        self.salvage.damaged_rows += damaged_rows;
        Ok(gaps)
    }

    /// Takes rows from pages that the tree does not lead to any more: only those that are missing in it.
    fn take_orphans(
        &mut self,
        wanted: &'static SalvagedTable,
        walk: &Walk<'_>,
        gaps: &[Gap],
    ) -> rusqlite::Result<()> {
        let mut found: Vec<(Row, bool)> = Vec::new();
        let Some(table) = self.tables.get(wanted.name) else { return Ok(()) };
        let pages = self.pages;
        walk.orphans(|rows| {
            let is_missing = |row: &Row| gaps.iter().any(|gap| gap.holds(row.id));
            let is_of_table = !rows.is_empty()
                && rows.iter().flatten().all(|row| table.fits(&row.values) && is_missing(row));
            if is_of_table {
                let is_suspect = pages.is_suspect.get();
                found.extend(rows.into_iter().flatten().map(|row| (row, is_suspect)));
            }
        });
        for (row, is_suspect) in found {
            pages.is_suspect.set(is_suspect);
            self.take_row(wanted, row.values, Some(row.id))?;
        }
        Ok(())
    }

    /// Takes words from their index, which holds all that their table does.
    fn take_words_from_index(&mut self) -> rusqlite::Result<()> {
        let Some(root) = self.roots.get("sqlite_autoindex_word_1").copied() else { return Ok(()) };
        let mut found = Vec::new();
        Walk::new(self.pages).index(root, &mut |values| {
            if let (Some(word), Some(id)) = (text(&values, 0), integer(&values, 1))
                && values.len() == 2
            {
                found.push((id, word.to_owned()));
            }
        });
        let sql = "INSERT OR IGNORE INTO word (id, text) VALUES (?1, ?2)";
        for (id, word) in found {
            let taken = self.conn.prepare_cached(sql)?.execute(params![id, word])?;
            *self.salvage.rows.entry("word").or_default() += taken as u64;
        }
        Ok(())
    }

    /// Takes a row; tells whether it is believed.
    fn take_row(
        &mut self,
        wanted: &'static SalvagedTable,
        mut values: Vec<Value>,
        id: Option<i64>,
    ) -> rusqlite::Result<bool> {
        let Some(table) = self.tables.get(wanted.name) else { return Ok(false) };
        if !table.fits(&values) {
            return Ok(false);
        }
        if let (Some(id), Some(first)) = (id, values.first_mut()) {
            *first = Value::Integer(id);
        }
        let task = wanted.task.and_then(|place| integer(&values, place));
        if task.is_some_and(|task| !self.tasks.contains_key(&task)) {
            return Ok(false);
        }
        if !self.is_believed(wanted.name, &mut values) {
            return Ok(false);
        }
        let Some(table) = self.tables.get(wanted.name) else { return Ok(false) };
        let names: Vec<&str> =
            table.columns.iter().take(values.len()).map(|column| column.name.as_str()).collect();
        let places: Vec<String> = (1..=values.len()).map(|place| format!("?{place}")).collect();
        // Numbers of the whole stand in a new store already.
        let verb = if wanted.name == "meta" { "REPLACE" } else { "IGNORE" };
        let sql = format!(
            "INSERT OR {verb} INTO {} ({}) VALUES ({})",
            wanted.name,
            names.join(", "),
            places.join(", ")
        );
        let taken = self.conn.prepare_cached(&sql)?.execute(params_from_iter(&values))?;
        *self.salvage.rows.entry(wanted.name).or_default() += taken as u64;
        if taken > 0 && self.pages.is_suspect.get() {
            self.suspect(wanted, &values);
        }
        Ok(taken > 0)
    }

    /// Notes that a row was taken from a page that may be wrong.
    fn suspect(&mut self, wanted: &'static SalvagedTable, values: &[Value]) {
        if !self.salvage.suspect_tables.contains(&wanted.name) {
            self.salvage.suspect_tables.push(wanted.name);
        }
        let place = match wanted.name {
            "task" => Some(0),
            "entry" => Some(1),
            "source" => Some(6),
            _ => wanted.task,
        };
        let task = place.and_then(|place| integer(values, place));
        if let Some(key) = task.and_then(|task| self.tasks.get(&task)) {
            self.salvage.suspect_tasks.insert(key.task_id().to_string());
        }
    }

    /// Returns `true` if a row agrees with the rows that it refers to.
    fn is_believed(&mut self, table: &str, values: &mut [Value]) -> bool {
        let is_word = |place, count: usize| {
            integer(values, place).is_some_and(|word| usize::try_from(word).is_ok_and(|word| word < count))
        };
        match table {
            "tombstone" => match (text(values, 0).and_then(TaskId::parse), integer(values, 1)) {
                (Some(task), Some(until)) => {
                    self.deleted.insert(task.to_string(), until);
                    true
                }
                _ => false,
            },
            // The id of a task follows from its agent and its session.
            "task" => {
                let agent = integer(values, 2).and_then(Agent::from_place);
                let (Some(id), Some(agent), Some(session)) = (integer(values, 0), agent, text(values, 3))
                else {
                    return false;
                };
                let key = TaskKey::new(agent, session.to_owned());
                let is_whole = text(values, 1) == Some(key.task_id().as_str());
                if is_whole {
                    self.tasks.insert(id, key);
                }
                is_whole
            }
            "source" => {
                let is_whole = is_word(3, Agent::ALL.len()) && is_word(4, Channel::ALL.len());
                // Its bytes may still be read again; its number may become another task's.
                if integer(values, 6).is_some_and(|task| !self.tasks.contains_key(&task))
                    && let Some(task) = values.get_mut(6)
                {
                    *task = Value::Null;
                }
                is_whole
            }
            "entry" => {
                let Some(key) = integer(values, 1).and_then(|task| self.tasks.get(&task)) else {
                    return false;
                };
                let Some(Value::Blob(data)) = values.get(7) else { return false };
                let Some(entry) = entry_codec::read(data, key) else { return false };
                let until = self.deleted.get(key.task_id().as_str()).copied();
                is_word(5, Channel::ALL.len()) && until.is_none_or(|until| entry.occurred_at.0 > until)
            }
            _ => true,
        }
    }

    /// Sees to it that no number of a row that is lost is given to another while something still names it.
    fn keep_numbers(&self) -> rusqlite::Result<()> {
        let is_damaged = |table: &str| self.salvage.damaged_tables.contains(&table);
        if is_damaged("word") {
            self.conn.execute(
                "INSERT OR IGNORE INTO word (id, text) SELECT id, 'unreadable ' || id FROM (
                   SELECT machine AS id FROM entry UNION SELECT project FROM task UNION SELECT agent_type FROM task
                   UNION SELECT model FROM task UNION SELECT machine FROM task UNION SELECT project FROM sealed_rollup
                   UNION SELECT actor FROM sealed_rollup UNION SELECT key FROM sealed_rollup
                   UNION SELECT project FROM sealed_latency UNION SELECT tool FROM sealed_latency
                   UNION SELECT actor FROM sealed_latency
                   UNION SELECT model FROM sealed_model UNION SELECT skill FROM sealed_skill)
                 WHERE id > 0 AND id NOT IN (SELECT id FROM word)",
                [],
            )?;
        }
        if is_damaged("source") {
            let name = xxh3_64(b"the last source that was named").cast_signed();
            self.conn.execute(
                "INSERT OR IGNORE INTO source (id, time, name, agent, channel, arrived)
                 SELECT max(source), 0, ?1, 0, 0, 0 FROM entry
                 HAVING max(source) > (SELECT coalesce(max(id), 0) FROM source)",
                [name],
            )?;
        }
        Ok(())
    }

    /// Drops tasks that were deleted on purpose and of which nothing has come since.
    fn drop_deleted(&mut self) -> rusqlite::Result<()> {
        let dropped = self.conn.execute(
            "DELETE FROM task WHERE uid IN (SELECT task FROM tombstone)
             AND id NOT IN (SELECT task FROM entry) AND id NOT IN (SELECT task FROM sealed_task)",
            [],
        )?;
        if let Some(taken) = self.salvage.rows.get_mut("task") {
            *taken = taken.saturating_sub(dropped as u64);
        }
        Ok(())
    }

    /// Finds out which tasks and which stretches of time are not whole.
    fn name_losses(&mut self, entry_gaps: &[Gap]) -> rusqlite::Result<()> {
        let is_damaged = |salvage: &Salvage, table: &str| salvage.damaged_tables.contains(&table);
        let (task, entry) = (is_damaged(&self.salvage, "task"), is_damaged(&self.salvage, "entry"));
        // The index of ids still names tasks of which the row is gone.
        let mut named: HashMap<i64, String> = HashMap::new();
        let index = self.roots.get("sqlite_autoindex_task_1").copied();
        if let Some(root) = index.filter(|_| task) {
            Walk::new(self.pages).index(root, &mut |values| {
                if let (Some(id), Some(number)) =
                    (text(&values, 0).and_then(TaskId::parse), integer(&values, 1))
                {
                    named.insert(number, id.to_string());
                }
            });
            let mut lost: Vec<String> = named
                .iter()
                .filter(|(number, id)| !self.tasks.contains_key(number) && !self.deleted.contains_key(*id))
                .map(|(_, id)| id.clone())
                .collect();
            lost.sort();
            self.salvage.lost_tasks = lost;
        }
        if !entry && !task {
            return Ok(());
        }
        let mut known: HashSet<i64> = HashSet::new();
        let mut find = self.conn.prepare("SELECT seq FROM entry")?;
        for seq in find.query_map([], |row| row.get(0))? {
            known.insert(seq?);
        }
        let mut incomplete: BTreeMap<String, u64> = BTreeMap::new();
        let mut missing: HashSet<i64> = HashSet::new();
        if let Some(root) = self.roots.get("entry_of_fact").copied() {
            Walk::new(self.pages).index(root, &mut |values| {
                if let (Some(task), Some(seq)) = (integer(&values, 0), integer(&values, 3))
                    && values.len() == 4
                    && !known.contains(&seq)
                    && missing.insert(seq)
                    && let Some(id) = self.tasks.get(&task).map(|key| key.task_id().to_string())
                {
                    *incomplete.entry(id).or_default() += 1;
                }
            });
        }
        self.salvage.incomplete_tasks = incomplete;
        self.salvage.lost_entries = Some(missing.len() as u64).filter(|missing| *missing > 0);
        for gap in entry_gaps.iter().take(STRETCHES) {
            let stretch = LostSpan {
                from: self.moment("seq <= ?1 ORDER BY seq DESC", gap.after)?,
                to: self.moment("seq > ?1 ORDER BY seq", gap.until)?,
            };
            if !self.salvage.lost_stretches.contains(&stretch) {
                self.salvage.lost_stretches.push(stretch);
            }
        }
        Ok(())
    }

    /// Returns when the first entry of some happened.
    fn moment(&self, which: &str, seq: i64) -> rusqlite::Result<Option<Millis>> {
        let sql = format!("SELECT task, data FROM entry WHERE {which} LIMIT 1");
        let found: Option<(i64, Vec<u8>)> = self
            .conn
            .prepare_cached(&sql)?
            .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found.and_then(|(task, data)| Some(entry_codec::read(&data, self.tasks.get(&task)?)?.occurred_at)))
    }

    /// Writes the numbers of the whole that follow from the rows.
    fn count_whole(&mut self) -> rusqlite::Result<()> {
        let entries: i64 = self.conn.query_row("SELECT count(*) FROM entry", [], |row| row.get(0))?;
        let counted: Option<i64> = self
            .conn
            .query_row("SELECT value FROM meta WHERE key = 'entries'", [], |row| row.get(0))
            .optional()?;
        let lost = counted.map(|counted| u64::try_from(counted - entries).unwrap_or(0));
        self.salvage.lost_entries = self.salvage.lost_entries.max(lost);
        let newest: i64 =
            self.conn.query_row("SELECT coalesce(max(seq), 0) FROM entry", [], |row| row.get(0))?;
        for (key, value) in [("entries", entries), ("seq", newest)] {
            self.conn.execute(
                "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE \
                 SET value = CASE key WHEN 'entries' THEN ?2 ELSE max(value, ?2) END",
                params![key, value],
            )?;
        }
        Ok(())
    }
}

fn integer(values: &[Value], place: usize) -> Option<i64> {
    match values.get(place)? {
        Value::Integer(number) => Some(*number),
        _ => None,
    }
}

fn text(values: &[Value], place: usize) -> Option<&str> {
    match values.get(place)? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
