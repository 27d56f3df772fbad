//! One transaction: it takes observations and writes entries, facts, sums and the standing of tasks.
//!
//! Entries are written first. Then each fact with a new entry is folded again from all of its entries, the counts of
//! its old row are subtracted from the sums and those of the new row are added, and effects on neighbouring facts are
//! settled. The result does not depend on the order of the observations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use agent_tracer_event::{
    Channel, Entry, Outcome, Reading, Subject, TaskId, TaskKey, Unrecognised, attributes,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::facts::StoredFact;
use super::prepared::{Prepared, PreparedEntry};
use super::sources::{Arrival, name_of};
use super::tasks::Tasks;
use super::words::Words;
use super::{codec, entry_codec, facts, prepared, tasks};
use crate::fold::SourcedEntry;
use crate::observation::{Cursor, Observed, Receipt, Verdict};
use crate::project::tally::{Pricer, Tally, TaskSums};
use crate::project::task_fields::FieldChange;

/// New entries of a fact.
#[derive(Debug, Default)]
pub(super) struct Touch {
    pub(super) fresh: Vec<SourcedEntry>,
    /// The position of the last of them in the order of delivery.
    pub(super) seq: i64,
    /// Its entries changed in another way than by addition, and all of them must be read again.
    pub(super) reload: bool,
}

/// The writer's state between transactions.
pub(crate) struct Memory {
    pub(crate) words: Words,
    pub(crate) tasks: Tasks,
    pub(crate) seq: i64,
    pub(crate) machine_id: String,
}

/// A transaction in progress.
pub(crate) struct FoldTransaction<'c> {
    pub(super) conn: &'c Connection,
    pub(super) memory: &'c mut Memory,
    pub(super) pricer: &'c dyn Pricer,
    pub(super) tally: Tally,
    pub(super) touched: BTreeMap<(i64, i64), Touch>,
    /// Tasks with reported fields, and the greatest change by them.
    pub(super) reported: BTreeMap<i64, FieldChange>,
    /// Rows that changed: task and number.
    pub(super) changed: BTreeSet<(i64, i64)>,
    /// Rows that are gone because they were merged into another.
    pub(super) removed: Vec<(i64, i64)>,
    /// Sums of tasks, written later together with the rest of their rows.
    pub(super) sums: HashMap<i64, TaskSums>,
    /// Tasks of which a surer or later entry repeated a known value.
    pub(super) surer: BTreeSet<i64>,
    /// Rows that were folded here, as they stand now.
    pub(super) rows: HashMap<(i64, i64), Rc<StoredFact>>,
    created: Vec<TaskId>,
    outcomes: HashMap<(Outcome, Channel, String), (i64, i64)>,
    unrecognised: HashMap<(i64, String, String, String), i64>,
    pub(super) files: HashMap<String, i64>,
    /// Tasks whose account a change may affect.
    pub(super) unsettled: BTreeSet<i64>,
    /// Tasks whose numbers or standing may have changed; `true` if they ended or were resumed.
    pub(super) counted: BTreeMap<i64, bool>,
    /// Pairs of a parent and a child that may have been separated.
    pub(super) parted: BTreeSet<(i64, i64)>,
    /// The change in the number of entries.
    pub(super) entries: i64,
    /// The newest position before this transaction.
    before: i64,
    /// Ids of rows that were deleted together with their task.
    pub(super) gone: Vec<String>,
    /// The transaction folds everything again, and nothing in it counts as a change.
    pub(super) is_rebuild: bool,
    /// Any task was ever deleted on purpose. Looked up once: no transaction both deletes and takes observations.
    has_tombstones: Option<bool>,
}

/// The changes of a transaction, by the numbers of rows.
pub(crate) struct ChangedRows {
    rows: BTreeSet<(i64, i64)>,
    removed: Vec<(i64, i64)>,
    gone: Vec<String>,
}

impl ChangedRows {
    /// Returns `true` if rows are gone.
    pub(crate) fn has_removed(&self) -> bool {
        !self.removed.is_empty() || !self.gone.is_empty()
    }

    /// Drops the changed rows and keeps the removed ones.
    pub(crate) fn without_rows(self) -> Self {
        Self { rows: BTreeSet::new(), ..self }
    }

    /// Reads the changed rows back from the store.
    pub(crate) fn read(self, conn: &Connection, seq: i64) -> rusqlite::Result<super::Committed> {
        let mut committed =
            super::Committed { seq: u64::try_from(seq).unwrap_or(0), ..super::Committed::default() };
        let mut builder = super::read::RowBuilder::new(conn);
        let mut tasks = BTreeSet::new();
        for (task, fact) in &self.rows {
            tasks.insert(*task);
            if let Some(stored) = facts::load(conn, *task, *fact)?
                && stored.row.kind.is_some()
            {
                committed.rows.push(builder.row(&stored.row, *task, stored.changed)?);
            }
        }
        committed.removed = self.gone;
        for (task, fact) in &self.removed {
            committed.removed.push(builder.about(*task)?.row_id(*fact));
        }
        for task in tasks {
            committed.tasks.push(builder.about(task)?.uid.clone());
        }
        Ok(committed)
    }
}

/// The length at which a reason is cut, in characters. Reasons are counted, so there must be few different ones.
const REASON_CHARS: usize = 120;

impl<'c> FoldTransaction<'c> {
    pub(crate) fn new(conn: &'c Connection, memory: &'c mut Memory, pricer: &'c dyn Pricer) -> Self {
        Self {
            conn,
            before: memory.seq,
            memory,
            pricer,
            tally: Tally::default(),
            touched: BTreeMap::new(),
            reported: BTreeMap::new(),
            changed: BTreeSet::new(),
            removed: Vec::new(),
            sums: HashMap::new(),
            surer: BTreeSet::new(),
            rows: HashMap::new(),
            created: Vec::new(),
            outcomes: HashMap::new(),
            unrecognised: HashMap::new(),
            files: HashMap::new(),
            unsettled: BTreeSet::new(),
            counted: BTreeMap::new(),
            parted: BTreeSet::new(),
            entries: 0,
            gone: Vec::new(),
            is_rebuild: false,
            has_tombstones: None,
        }
    }

    /// Takes a batch. Sums and standings follow in [`FoldTransaction::finish`].
    pub(super) fn batch(&mut self, prepared: &mut Prepared) -> rusqlite::Result<Receipt> {
        let Prepared { batch, ready } = prepared;
        let mut receipt = Receipt::default();
        for (observed, ready) in batch.observed.iter().zip(&mut *ready) {
            ready.iter_mut().for_each(PreparedEntry::restore);
            receipt.outcomes.push(if batch.reread {
                self.reread(observed, ready)?
            } else if batch.own {
                self.record(observed, ready)?.0
            } else {
                self.observe(observed, ready)?
            });
        }
        if !batch.cursors.is_empty() {
            // The state of a reader contains parts of the text that it read, so a batch whose entries are all deleted
            // leaves only the bare state.
            let is_bare = self.is_all_deleted(ready)?;
            for cursor in &batch.cursors {
                self.cursor(cursor, if is_bare { &cursor.bare } else { &cursor.state })?;
            }
        }
        if batch.skipped > 0 {
            self.count_meta("skipped", i64::try_from(batch.skipped).unwrap_or(i64::MAX))?;
        }
        self.advance();
        receipt.created = std::mem::take(&mut self.created);
        receipt.seq = u64::try_from(self.memory.seq).unwrap_or(0);
        Ok(receipt)
    }

    /// Moves to a new position if only fields of a task changed or entries were removed. Without a position of its own,
    /// such a change would be missed by a follower that has read everything up to the previous one.
    fn advance(&mut self) {
        let is_change = !self.touched.is_empty() || !self.reported.is_empty();
        if is_change && !self.is_rebuild && self.memory.seq == self.before {
            self.memory.seq += 1;
        }
    }

    pub(super) fn count_meta(&self, key: &str, by: i64) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached(
                "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = value + ?2",
            )?
            .execute(params![key, by])?;
        Ok(())
    }

    fn cursor(&self, cursor: &Cursor, state: &[u8]) -> rusqlite::Result<()> {
        self.conn
            .prepare_cached(
                "INSERT OR REPLACE INTO cursor (source, agent, offset, state) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                cursor.source,
                cursor.agent.place() as i64,
                i64::try_from(cursor.offset).unwrap_or(i64::MAX),
                codec::encode(state)
            ])?;
        Ok(())
    }

    fn observe(&mut self, observed: &Observed, ready: &mut [PreparedEntry]) -> rusqlite::Result<Outcome> {
        let (outcome, reason) = self.record(observed, ready)?;
        self.count(outcome, observed, &reason);
        Ok(outcome)
    }

    /// Counts the outcome of an observation.
    pub(super) fn count(&mut self, outcome: Outcome, observed: &Observed, reason: &str) {
        let reason = reason.chars().take(REASON_CHARS).collect();
        let count = self.outcomes.entry((outcome, observed.channel, reason)).or_default();
        count.0 += 1;
        count.1 = count.1.max(observed.arrived.0);
    }

    /// Takes an outcome back from the counts, because the observation had another one in the end.
    pub(super) fn uncount(&mut self, outcome: Outcome, observed: &Observed, reason: &str) {
        let reason = reason.chars().take(REASON_CHARS).collect();
        self.outcomes.entry((outcome, observed.channel, reason)).or_default().0 -= 1;
    }

    /// Replaces the entries of an earlier reading of a source. The observation did arrive before, so its outcome is not
    /// counted.
    fn reread(&mut self, observed: &Observed, ready: &mut [PreparedEntry]) -> rusqlite::Result<Outcome> {
        if !matches!(observed.verdict, Verdict::Read(_)) {
            return Ok(Outcome::Malformed);
        }
        // A row that this version could not read before has no source yet: it is new and not a better reading.
        let source = self.known_source(name_of(observed.source.as_deref().unwrap_or(&observed.name)))?;
        let Some(source) = source else { return self.observe(observed, ready) };
        let mut changed = false;
        let mut index = 0_u32;
        loop {
            // Entries have numbers in a row, so asking for each until one is missing needs no list of what the old
            // reading gave.
            let uid = prepared::uid(&observed.name, index);
            let old: Option<(i64, i64, i64, Vec<u8>)> = self
                .conn
                .prepare_cached("SELECT seq, task, fact, data FROM entry WHERE source = ?1 AND uid = ?2")?
                .query_row([source, uid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
                .optional()?;
            let place = usize::try_from(index).unwrap_or(usize::MAX);
            let new = ready.get_mut(place);
            if old.is_none() && new.is_none() {
                break;
            }
            index += 1;
            let same = match (&old, new.as_ref().and_then(|new| new.entry())) {
                (Some((_, task, _, data)), Some(new)) => {
                    let task = tasks::key(self.conn, *task)?;
                    // Compared as entries and not as bytes: another version may have packed the same entry in another
                    // way.
                    task.and_then(|task| entry_codec::read(data, &task)).is_some_and(|old| old == *new)
                }
                _ => false,
            };
            if same {
                continue;
            }
            if let Some((seq, task, fact, _)) = old {
                self.conn.prepare_cached("DELETE FROM entry WHERE seq = ?1")?.execute([seq])?;
                self.entries -= 1;
                self.touched.entry((task, fact)).or_default().reload = true;
                changed = true;
            }
            // A better reading does not bring back entries that were deleted on purpose.
            if let Some(new) = new
                && let Some(entry) = new.entry()
                && !self.is_deleted(entry)?
            {
                changed |= self.enter(observed.channel, new, source)?;
            }
        }
        Ok(if changed { Outcome::Recorded } else { Outcome::Duplicate })
    }

    fn record(
        &mut self,
        observed: &Observed,
        ready: &mut [PreparedEntry],
    ) -> rusqlite::Result<(Outcome, String)> {
        let source = match &observed.source {
            Some(file) => self.file(file, observed)?,
            None => match self.source(observed, name_of(&observed.name), ready)? {
                Arrival::New(source) => source,
                Arrival::Known => return Ok((Outcome::Duplicate, String::new())),
                Arrival::Twin => {
                    // The events of a twin are known already. Its fields of the task are taken, as its twin's were.
                    for entry in ready.iter().filter_map(PreparedEntry::entry) {
                        self.hear(entry, observed.channel)?;
                    }
                    return Ok((Outcome::Duplicate, String::new()));
                }
            },
        };
        match &observed.verdict {
            Verdict::Malformed(reason) => Ok((Outcome::Malformed, reason.clone())),
            Verdict::Refused(reason) => Ok((Outcome::Refused, reason.clone())),
            Verdict::Read(reading) => self.read(observed, reading, ready, source),
        }
    }

    fn read(
        &mut self,
        observed: &Observed,
        reading: &Reading,
        ready: &mut [PreparedEntry],
        source: i64,
    ) -> rusqlite::Result<(Outcome, String)> {
        let mut is_news = false;
        let mut is_refused = false;
        for ready in &mut *ready {
            if let Some(entry) = ready.entry()
                && self.is_deleted(entry)?
            {
                // The others are still taken: an observation may tell of a task and of another one that was deleted.
                is_refused = true;
                continue;
            }
            is_news |= self.enter(observed.channel, ready, source)?;
        }
        // A repeat of an observation would count its unrecognised names once more.
        if is_news || ready.is_empty() {
            self.count_unrecognised(observed, reading, ready.first().map(PreparedEntry::task))?;
        }
        Ok(match (is_news, is_refused) {
            (true, _) if reading.unrecognised.iter().any(|what| matches!(what, Unrecognised::Event(_))) => {
                (Outcome::Unrecognised, "event".to_owned())
            }
            (true, _) => (Outcome::Recorded, String::new()),
            (false, true) => (Outcome::Refused, "deleted on purpose".to_owned()),
            (false, false) if !reading.unrecognised.is_empty() && ready.is_empty() => {
                (Outcome::Unrecognised, String::new())
            }
            (false, false) => (Outcome::Duplicate, String::new()),
        })
    }

    /// Writes one entry. Returns `true` if it was new.
    fn enter(&mut self, channel: Channel, ready: &mut PreparedEntry, source: i64) -> rusqlite::Result<bool> {
        // An entry that a fold took and that could not be restored must not be acknowledged.
        let entry = ready.entry().ok_or(rusqlite::Error::InvalidQuery)?;
        let task = self.task(&entry.task)?;
        if matches!(entry.subject, Subject::Task | Subject::Account) {
            return self.hear(entry, channel);
        }
        if self.is_sealed(task, entry)? {
            return Ok(false);
        }
        // An entry of a series is assigned to a fact when the whole series is known ([`super::series`]).
        let fact = match &entry.series {
            // Asked before the insert, because the fact of a series may have changed since and the unique key
            // contains it.
            Some(_) if self.has_entry(source, ready.uid)? => return Ok(false),
            Some(_) => ready.key,
            None => self.resolve(task, ready.key, &entry.aliases)?,
        };
        let machine = self.memory.words.id(self.conn, &self.memory.machine_id)?;
        let inserted = self
            .conn
            .prepare_cached(
                "INSERT OR IGNORE INTO entry (seq, task, fact, uid, source, channel, machine, data) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                self.memory.seq + 1,
                task,
                fact,
                ready.uid,
                source,
                channel as i64,
                machine,
                ready.blob
            ])?;
        if inserted == 0 {
            return Ok(false);
        }
        self.memory.seq += 1;
        self.entries += 1;
        let entry = ready.take();
        let touch = self.touched.entry((task, fact)).or_default();
        touch.fresh.extend(entry.map(|entry| SourcedEntry { entry, channel }));
        touch.seq = self.memory.seq;
        Ok(true)
    }

    /// Returns `true` if the entry is of a time whose facts retention has dropped. The sums have their counts already.
    fn is_sealed(&mut self, task: i64, entry: &Entry) -> rusqlite::Result<bool> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(false);
        };
        Ok(known.sealed_until.is_some_and(|until| entry.occurred_at.0 <= until))
    }

    /// Returns `true` if the entry belongs to a task that was deleted on purpose.
    pub(super) fn is_deleted(&mut self, entry: &Entry) -> rusqlite::Result<bool> {
        let has_tombstones = match self.has_tombstones {
            Some(known) => known,
            None => self.conn.prepare_cached("SELECT 1 FROM tombstone LIMIT 1")?.exists([])?,
        };
        self.has_tombstones = Some(has_tombstones);
        if !has_tombstones {
            return Ok(false);
        }
        let until: Option<i64> = self
            .conn
            .prepare_cached("SELECT until FROM tombstone WHERE task = ?1")?
            .query_row([entry.task.task_id().as_str()], |row| row.get(0))
            .optional()?;
        Ok(until.is_some_and(|until| entry.occurred_at.0 <= until))
    }

    /// Returns `true` if there are entries and all of them were deleted on purpose.
    fn is_all_deleted(&mut self, ready: &[Vec<PreparedEntry>]) -> rusqlite::Result<bool> {
        let mut is_any = false;
        for ready in ready.iter().flatten() {
            match ready.entry() {
                Some(entry) if self.is_deleted(entry)? => is_any = true,
                _ => return Ok(false),
            }
        }
        Ok(is_any)
    }

    /// Takes the fields of an entry about a task itself. Returns `true` if they changed the task.
    fn hear(&mut self, entry: &Entry, channel: Channel) -> rusqlite::Result<bool> {
        if !matches!(entry.subject, Subject::Task | Subject::Account) || self.is_deleted(entry)? {
            return Ok(false);
        }
        let task = self.task(&entry.task)?;
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(false);
        };
        let change = known.reported.hear(entry, channel);
        if change > FieldChange::Nothing {
            let before = self.reported.entry(task).or_insert(FieldChange::Nothing);
            *before = change.max(*before);
        }
        Ok(change == FieldChange::News)
    }

    /// Counts unrecognised names by client version: that of the reading, or else the one that the task reported.
    fn count_unrecognised(
        &mut self,
        observed: &Observed,
        reading: &Reading,
        task: Option<&TaskKey>,
    ) -> rusqlite::Result<()> {
        if reading.unrecognised.is_empty() {
            return Ok(());
        }
        let mut version = reading.client_version.clone();
        if let (None, Some(task)) = (&version, task) {
            let task = self.task(task)?;
            let known = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?;
            version =
                known.and_then(|known| known.reported.text(attributes::CLIENT_VERSION).map(str::to_owned));
        }
        let version = version.unwrap_or_default();
        for unrecognised in &reading.unrecognised {
            let (what, name) = match unrecognised {
                Unrecognised::Event(name) => ("event", name),
                Unrecognised::Tool(name) => ("tool", name),
                Unrecognised::Field(name) => ("field", name),
                Unrecognised::Value(name) => ("value", name),
                Unrecognised::Row(name) => ("row", name),
                Unrecognised::Line(name) => ("line", name),
            };
            let name = name.chars().take(REASON_CHARS).collect();
            let key = (observed.agent.place() as i64, version.clone(), what.to_owned(), name);
            *self.unrecognised.entry(key).or_default() += 1;
        }
        Ok(())
    }

    /// Returns the number of a task, and announces a new one.
    pub(super) fn task(&mut self, key: &TaskKey) -> rusqlite::Result<i64> {
        let task = self.memory.tasks.number(self.conn, &mut self.memory.words, key)?;
        if let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?
            && known.is_new
            && !known.is_announced
        {
            known.is_announced = true;
            self.created.push(known.uid.clone());
            self.reported.insert(task, FieldChange::News);
        }
        Ok(task)
    }

    /// Folds the touched facts and writes everything derived from them.
    pub(crate) fn finish(&mut self) -> rusqlite::Result<()> {
        self.advance();
        self.fold_pending()?;
        self.flush_counts()?;
        self.count_meta("entries", self.entries)?;
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES ('seq', ?1)")?
            .execute([self.memory.seq])?;
        Ok(())
    }

    /// Returns the changes of this transaction.
    pub(crate) fn changed(&mut self) -> ChangedRows {
        ChangedRows {
            rows: std::mem::take(&mut self.changed),
            removed: std::mem::take(&mut self.removed),
            gone: std::mem::take(&mut self.gone),
        }
    }

    fn flush_counts(&mut self) -> rusqlite::Result<()> {
        for ((outcome, channel, reason), (n, last)) in std::mem::take(&mut self.outcomes) {
            self.conn
                .prepare_cached(
                    "INSERT INTO outcome (outcome, channel, reason, n, last) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (outcome, channel, reason) DO UPDATE SET n = n + ?4, last = max(last, ?5)",
                )?
                .execute(params![outcome as i64, channel as i64, reason, n, last])?;
        }
        for ((agent, version, what, name), n) in std::mem::take(&mut self.unrecognised) {
            self.conn
                .prepare_cached(
                    "INSERT INTO unrecognised (agent, version, what, name, n) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (agent, version, what, name) DO UPDATE SET n = n + ?5",
                )?
                .execute(params![agent, version, what, name, n])?;
        }
        Ok(())
    }
}
