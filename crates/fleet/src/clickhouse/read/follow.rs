//! Reads the lanes of a task, one event, recent changes, and the state of the store.
//!
//! Places in the order of delivery are milliseconds of arrival here, because every sender counts its own versions. Two
//! processes may write at once, and an earlier arrival may become visible later: a follower reads a little further back
//! and drops the rows it has seen.

use std::collections::{BTreeSet, HashMap};

use agent_tracer_event::{CallState, FactId, Millis, TaskId};
use agent_tracer_ledger::project::List;
use agent_tracer_ledger::project::presenters::lanes::{
    ColumnGrid, Drawing, LOOK_BACK_MS, MOST_BEFORE, Mark, Names,
};
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::view::{EventDetail, LaneBins, Row as Shown, StoreHealth, StoreKind};
use agent_tracer_ledger::{Answer, Changes, QueryError};
use clickhouse::Row;
use serde::Deserialize;

use super::closed_days::ClosedDays;
use super::fact::{StoredFact, Version};
use super::family::{Member, TaskColumns};
use super::sums::ALWAYS;
use super::task::parse_word;
use super::{Reader, TaskKey, keys_in};
use crate::clickhouse::schema;

/// Limit of rows in one answer, whatever limit the caller gives.
const MOST_CHANGES: u32 = 5_000;

/// Search windows for the newest arrival, tried one after the other.
const LOOKS_BACK_MS: [u64; 3] = [60_000, 3_600_000, 86_400_000];

/// More rows than this are not named one by one in a statement.
const AT_ONCE: usize = 500;

/// A row, as far as it is drawn.
#[derive(Row, Deserialize)]
struct MarkRow {
    owner: String,
    task: String,
    fact: i64,
    occurred: i64,
    ended: Option<i64>,
    state: String,
    lane: String,
    kind: String,
    name: String,
    certainty: String,
}

impl MarkRow {
    fn mark(self, picture: &ColumnGrid) -> Mark<String> {
        let state: Option<CallState> = parse_word(&self.state);
        let is_running = self.ended.is_none() && state == Some(CallState::Running);
        Mark {
            start: self.occurred,
            end: picture.end_of(self.occurred, self.ended, is_running),
            lane: parse_word(&self.lane).unwrap_or(agent_tracer_event::Lane::Telemetry),
            kind: parse_word(&self.kind),
            tool: Some(self.name).filter(|name| !name.is_empty()),
            certainty: parse_word(&self.certainty).unwrap_or(agent_tracer_event::Certainty::Guessed),
            is_failure: matches!(state, Some(CallState::Failed | CallState::Denied)),
            is_running,
            fact: self.fact,
        }
    }
}

/// The title of a row.
#[derive(Row, Deserialize)]
struct TitleRow {
    fact: i64,
    title: String,
}

/// A version that arrived.
#[derive(Row, Deserialize)]
struct ArrivedRow {
    owner: String,
    task: String,
    fact: i64,
    version: u64,
}

/// Names of one task's rows.
struct Namer<'reader> {
    reader: &'reader Reader,
    key: TaskKey,
}

impl Names<String> for Namer<'_> {
    type Error = QueryError;

    fn tool(&mut self, tool: &String) -> Answer<String> {
        Ok(tool.clone())
    }

    fn titles(&mut self, facts: &[i64]) -> Answer<Vec<String>> {
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<String> = facts.iter().map(ToString::to_string).collect();
        let titled = self.reader.rows::<TitleRow>(&format!(
            "SELECT fact, JSONExtractString(data, 't') AS title FROM fact FINAL WHERE (owner, task) IN {} AND fact IN ({})",
            keys_in([&self.key]),
            numbers.join(", ")
        ))?;
        let mut titles: HashMap<i64, String> = titled.into_iter().map(|row| (row.fact, row.title)).collect();
        Ok(facts.iter().map(|fact| titles.remove(fact).unwrap_or_default()).collect())
    }
}

impl Reader {
    /// Returns the lanes between two moments; without them, of the whole life of the task and its subagents.
    ///
    /// # Errors
    /// If there is no such task, the moments are in the wrong order, or the database cannot answer.
    pub fn lanes(
        &self,
        id: &TaskId,
        from: Option<Millis>,
        to: Option<Millis>,
        width: u32,
    ) -> Answer<LaneBins> {
        let family: Vec<Member> = self.family(id, true)?;
        let lived = || family.iter().filter(|line| line.events > 0);
        let life = lived().map(|line| line.started).min().zip(lived().map(|line| line.last).max());
        let picture = ColumnGrid::new(from, to, width, life.unwrap_or((0, 0)))?;
        let mut drawing = Drawing::new(picture);
        let abouts = self.abouts(&family)?;
        let mut drawn = self.drawn(&family, &picture)?;
        for line in &family {
            let key = line.key();
            for mark in drawn.remove(&key).unwrap_or_default() {
                drawing.put(&mark);
            }
            if let Some(about) = abouts.get(&key) {
                drawing.end_task(about, &mut Namer { reader: self, key })?;
            }
        }
        Ok(drawing.end())
    }

    /// Returns the rows of each task in a picture, by when they began, with those before it that still ran in it.
    fn drawn(&self, family: &[Member], picture: &ColumnGrid) -> Answer<HashMap<TaskKey, Vec<Mark<String>>>> {
        let keys: Vec<TaskKey> = family.iter().map(TaskColumns::key).collect();
        let columns = format!(
            "SELECT owner, task, fact, occurred, ended, toString(state) AS state, toString(lane) AS lane, \
             toString(kind) AS kind, ifNull(toString(tool), '') AS name, toString(certainty) AS certainty FROM fact FINAL \
             WHERE (owner, task) IN {} AND kind <> ''",
            keys_in(&keys)
        );
        let mut before = self.rows::<MarkRow>(&format!(
            "{columns} AND occurred >= {} AND occurred < {} ORDER BY occurred DESC, ord DESC, fact DESC \
             LIMIT {MOST_BEFORE} BY owner, task",
            picture.from.saturating_sub(LOOK_BACK_MS),
            picture.from
        ))?;
        // They were read from the newest back, for the limit; they are drawn from the oldest on.
        before.reverse();
        let inside = self.rows::<MarkRow>(&format!(
            "{columns} AND occurred >= {} AND occurred < {} ORDER BY occurred, ord, fact",
            picture.from,
            picture.end()
        ))?;
        let mut marks: HashMap<TaskKey, Vec<Mark<String>>> = HashMap::new();
        for (drawn, is_before) in
            before.into_iter().map(|row| (row, true)).chain(inside.into_iter().map(|row| (row, false)))
        {
            let key = TaskKey { owner: drawn.owner.clone(), task: drawn.task.clone() };
            let mark = drawn.mark(picture);
            if !is_before || mark.end > picture.from {
                marks.entry(key).or_default().push(mark);
            }
        }
        Ok(marks)
    }

    /// Returns one event. Its observations stay with the machine that recorded them; only the resulting fact is here.
    ///
    /// # Errors
    /// If there is no such event, or the database cannot answer.
    pub fn event(&self, id: &FactId) -> Answer<EventDetail> {
        let member: Member = self.one(&id.task())?;
        let number = id.number().cast_signed();
        let found = self.facts(&format!(
            "WHERE (owner, task) IN {} AND fact = {number} AND kind <> ''",
            keys_in([&member.key()])
        ))?;
        let stored = found.into_iter().next().ok_or(QueryError::NotFound)?;
        let row = self.about(&member)?.row(&stored.row, stored.version);
        Ok(EventDetail { row, field_channels: std::collections::BTreeMap::new(), entries: Vec::new() })
    }

    /// Returns the tasks of some facts.
    pub(crate) fn members_of(&self, facts: &[StoredFact]) -> Answer<Vec<Member>> {
        let keys: BTreeSet<&TaskKey> = facts.iter().map(|stored| &stored.key).collect();
        let keys: Vec<TaskKey> = keys.into_iter().cloned().collect();
        Ok(self.newest_tasks(&keys)?.into_values().collect())
    }

    /// Returns the moment up to which about so many rows, with their older versions, arrived after another; `None` if
    /// none did.
    fn arrival(&self, after: u64, limit: u32) -> Answer<Option<u64>> {
        let found: Vec<i64> = self.rows(&format!(
            "SELECT arrived FROM fact WHERE {} AND arrived > {after} ORDER BY arrived LIMIT {limit}",
            self.fact_filter()
        ))?;
        Ok(found.last().and_then(|at| u64::try_from(*at).ok()))
    }

    /// Returns the newest versions that arrived between two moments, in the order in which they did.
    fn arrived(&self, after: u64, last: u64) -> Answer<Vec<Shown>> {
        let between = format!(
            "{} AND arrived > {after} AND arrived <= {last} AND list <> {} AND kind <> ''",
            self.fact_filter(),
            List::Turn.code()
        );
        let any =
            self.rows::<ArrivedRow>(&format!("SELECT owner, task, fact, version FROM fact WHERE {between}"))?;
        let versions: Vec<Version> = any
            .into_iter()
            .map(|row| Version {
                key: TaskKey { owner: row.owner, task: row.task },
                fact: row.fact,
                version: row.version,
            })
            .collect();
        let mut facts = match versions.len() > AT_ONCE {
            false => self.newest_of(versions)?,
            // What one insert brought arrived at one moment, and is more than one statement can name.
            true => self.facts(&format!(
                "WHERE (owner, task, fact) IN (SELECT owner, task, fact FROM fact WHERE {between}) AND {between}"
            ))?,
        };
        let moment = |stored: &StoredFact| u64::try_from(stored.arrived).unwrap_or(0);
        // A repeated row is returned at its last arrival.
        facts.retain(|stored| (after + 1..=last).contains(&moment(stored)));
        facts.sort_by_key(|stored| (stored.arrived, stored.version, stored.row.fact));
        let abouts = self.abouts(&self.members_of(&facts)?)?;
        // A row that arrived before its task is returned when it changes, or on request.
        let row = |stored: &StoredFact| {
            let mut row = abouts.get(&stored.key)?.row(&stored.row, stored.version);
            row.seq = moment(stored);
            Some(row)
        };
        Ok(facts.iter().filter_map(row).collect())
    }

    /// Returns the time of the database: every process reads the same clock.
    ///
    /// # Errors
    /// If the database cannot answer.
    pub fn now(&self) -> Answer<u64> {
        let now: Vec<i64> = self.rows("SELECT toUnixTimestamp64Milli(now64(3))")?;
        Ok(now.first().and_then(|at| u64::try_from(*at).ok()).unwrap_or(0))
    }

    /// Returns how many rows, older versions included, arrived after a time, and the time of the newest.
    ///
    /// # Errors
    /// If the database cannot answer.
    pub fn arrivals(&self, after: u64) -> Answer<(u64, u64)> {
        let found: Vec<(u64, i64)> = self.rows(&format!(
            "SELECT count(), max(arrived) FROM fact WHERE {} AND arrived > {after}",
            self.fact_filter()
        ))?;
        let (count, newest) = found.first().copied().unwrap_or_default();
        Ok((count, u64::try_from(newest).unwrap_or(0)))
    }

    /// Returns the number of events.
    fn events(&self, closed: &ClosedDays) -> Answer<u64> {
        let (scope, facts) = (self.task_filter(), self.fact_filter());
        let made = closed.sums_condition(ALWAYS, Level::Day).map(|made| {
            let dim = Dim::Activity.code();
            format!(
                "SELECT toUInt64(sum(n)) AS rows FROM day_sum FINAL WHERE {scope} AND dim = {dim} AND {made}"
            )
        });
        let open = closed.open(ALWAYS).map(|open| {
            let open = open.facts;
            format!(
                "SELECT toUInt64(count()) AS rows FROM fact FINAL WHERE {facts} AND kind <> '' AND {open}"
            )
        });
        let parts: Vec<String> = made.into_iter().chain(open).collect();
        let counted: Vec<u64> =
            self.rows(&format!("SELECT sum(rows) FROM ({})", parts.join(" UNION ALL ")))?;
        Ok(counted.first().copied().unwrap_or(0))
    }

    /// Returns the state of the store.
    ///
    /// # Errors
    /// If the database cannot answer.
    pub fn health(&self) -> Answer<StoreHealth> {
        let scope = self.task_filter();
        let one = |statement: String| -> Answer<u64> {
            Ok(self.rows::<u64>(&statement)?.first().copied().unwrap_or(0))
        };
        let bytes = self.fleet.disk_usage()?.iter().map(|table| table.bytes).sum();
        Ok(StoreHealth {
            kind: StoreKind::Clickhouse.to_string(),
            bytes,
            entries: 0,
            events: self.events(&self.closed()?)?,
            tasks: one(format!("SELECT count() FROM task FINAL WHERE {scope} AND events > 0"))?,
            search_lag: 0,
            schema: schema::VERSION,
        })
    }
}

impl Changes for Reader {
    /// Rows that arrived after a moment, in the order in which they arrived: about `limit`, and always all of the last
    /// moment. Their `seq` is the moment of arrival.
    fn changes(&self, after: u64, limit: u32) -> Answer<Vec<Shown>> {
        let limit = limit.clamp(1, MOST_CHANGES);
        let mut after = after;
        // How far to look is found in one column; only what arrived up to there is deduplicated. It may all have been
        // replaced by a later arrival, and is returned there.
        while let Some(last) = self.arrival(after, limit)? {
            let rows = self.arrived(after, last)?;
            if !rows.is_empty() {
                return Ok(rows);
            }
            after = last;
        }
        Ok(Vec::new())
    }

    /// Returns the newest moment of arrival.
    fn seq(&self) -> Answer<u64> {
        // Something nearly always came a moment ago, and that is found without reading the column of every row.
        let now = self.now()?;
        for back in LOOKS_BACK_MS {
            if let (1.., newest) = self.arrivals(now.saturating_sub(back))? {
                return Ok(newest);
            }
        }
        self.arrivals(0).map(|(_, newest)| newest)
    }
}
