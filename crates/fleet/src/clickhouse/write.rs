//! Writes shipments: a record becomes a row with everything that questions ask of it.
//!
//! The sums a fact counts into, its search terms and the bucket of its duration follow from the record by the ledger's
//! own functions, so that both engines sum the same things. A shipment that is written twice, or in part and then
//! again, leaves the same rows.

use std::collections::BTreeSet;

use agent_tracer_ledger::engine::{is_indexed, texts};
use agent_tracer_ledger::measure_columns;
use agent_tracer_ledger::project::measures;
use agent_tracer_ledger::project::residual::Residual;
use agent_tracer_ledger::project::spend::{ModelSums, Spend};
use agent_tracer_ledger::project::tally::{Pricer, RollupKey, Tally};
use agent_tracer_ledger::project::time::Level;
use agent_tracer_ledger::record::{FORMAT, FactRecord, Shipment, TaskRecord};
use agent_tracer_ledger::search::{Terms, mark};
use clickhouse::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clickhouse::days::PendingLines;
use crate::clickhouse::fleet::{Fleet, FleetError};
use crate::clickhouse::spend_row::{SpendRow, spend_row};

/// An owner's name is no longer than this.
const LONGEST_OWNER: usize = 256;

/// Limit of rows in one insert, unless one shipment alone has more: enough for a good part, little to hold.
const MOST_LINES: usize = 20_000;

impl Fleet {
    /// Writes a shipment under its owner. When this returns, it is stored.
    ///
    /// # Errors
    /// If the shipment is of a newer format or the owner has no name: then nothing was written. If the server cannot be
    /// reached or refuses: then a part may be written, and the same shipment again completes it.
    pub fn write(&self, owner: &str, shipment: &Shipment) -> Result<(), FleetError> {
        if owner.is_empty() || owner.len() > LONGEST_OWNER {
            return Err(FleetError::Bad(format!("an owner has a name of 1 to {LONGEST_OWNER} bytes")));
        }
        if shipment.format == 0 || shipment.format > FORMAT {
            return Err(FleetError::Bad(format!(
                "the shipment has format {}, this server knows {FORMAT}\nhint: bring the server up to date",
                shipment.format
            )));
        }
        if let Some(removed) = &shipment.removed {
            self.remove(owner, &removed.tasks, removed.version)?;
        }
        let lines = Lines::of(owner, shipment);
        if lines.weight() == 0 {
            return Ok(());
        }
        self.waiting().write(lines, MOST_LINES, Lines::weight, |group| self.insert_group(group))
    }

    /// Inserts what several senders brought. If that is refused, each alone: what is wrong with one is not the others'.
    fn insert_group(&self, group: &[Lines]) -> Vec<Result<(), FleetError>> {
        let all: Vec<&Lines> = group.iter().collect();
        match self.insert(&all) {
            Err(FleetError::Refused(_)) if group.len() > 1 => {
                group.iter().map(|one| self.insert(&[one])).collect()
            }
            result => group.iter().map(|_| result.clone()).collect(),
        }
    }

    fn insert(&self, group: &[&Lines]) -> Result<(), FleetError> {
        let mut change = PendingLines::default();
        for lines in group {
            change.tasks.extend(lines.tasks.iter().map(|line| (line.owner.as_str(), line.task.as_str())));
            for line in &lines.facts {
                change.tasks.insert((&line.owner, &line.task));
                change.days.insert((&line.owner, Level::Day.start(line.occurred)));
            }
        }
        self.with_days_marked(&change, || self.insert_rows(group))
    }

    fn insert_rows(&self, group: &[&Lines]) -> Result<(), FleetError> {
        let client = self.client();
        self.wait(async {
            // Where to look first, then facts, then tasks: a fact that is there is found, a task that is seen has its facts.
            let days: BTreeSet<DayLine> =
                group.iter().flat_map(|lines| &lines.facts).map(FactLine::day).collect();
            if !days.is_empty() {
                let mut insert = client.insert::<DayLine>("task_day").await?;
                for line in &days {
                    insert.write(line).await?;
                }
                insert.end().await?;
            }
            if group.iter().any(|lines| !lines.facts.is_empty()) {
                let mut insert = client.insert::<FactLine>("fact").await?;
                for line in group.iter().flat_map(|lines| &lines.facts) {
                    insert.write(line).await?;
                }
                insert.end().await?;
            }
            if group.iter().any(|lines| !lines.tasks.is_empty()) {
                let mut insert = client.insert::<TaskLine>("task").await?;
                for line in group.iter().flat_map(|lines| &lines.tasks) {
                    insert.write(line).await?;
                }
                insert.end().await?;
            }
            Ok(())
        })
    }
}

/// The rows that a shipment becomes.
#[derive(Debug)]
pub(crate) struct Lines {
    facts: Vec<FactLine>,
    tasks: Vec<TaskLine>,
}

impl Lines {
    fn of(owner: &str, shipment: &Shipment) -> Self {
        let mut facts = Vec::with_capacity(shipment.facts.len());
        for record in &shipment.facts {
            facts.push(FactLine::of(owner, record));
            let parts = record.parts.iter().filter(|part| **part != record.row.fact);
            facts.extend(parts.map(|part| FactLine::gone(owner, record, *part)));
        }
        Self { facts, tasks: shipment.tasks.iter().map(|record| TaskLine::of(owner, record)).collect() }
    }

    fn weight(&self) -> usize {
        self.facts.len() + self.tasks.len()
    }
}

/// No moment is further from 1970 than any calendar counts: a hostile one must not overflow what is counted with it.
const FURTHEST: i64 = 8_640_000_000_000_000;

const fn moment(at: i64) -> i64 {
    if at > FURTHEST {
        FURTHEST
    } else if at < -FURTHEST {
        -FURTHEST
    } else {
        at
    }
}

/// Holds the cost of a response as the sender reports it.
struct ReportedCost(Option<i64>);

impl Pricer for ReportedCost {
    fn cost(&self, _: &str, _: &Map<String, Value>) -> Option<i64> {
        self.0
    }

    fn cost_of_sum(&self, _: &str, _: &ModelSums) -> Option<i64> {
        None
    }
}

spend_row! {
    /// A row of `task`.
    #[derive(Clone, Debug, Default, Row, Serialize, Deserialize)]
    pub(crate) struct TaskLine {
        own {
            pub(crate) owner: String,
            pub(crate) task: String,
            pub(crate) version: u64,
            pub(crate) gone: u8,
            pub(crate) agent: String,
            pub(crate) session: String,
            pub(crate) background: u8,
            pub(crate) parent: String,
            pub(crate) parent_certainty: String,
            pub(crate) parent_tool_use_id: String,
            pub(crate) continues: String,
            pub(crate) forked: String,
            pub(crate) title: String,
            pub(crate) terms: Vec<String>,
            pub(crate) agent_type: String,
            pub(crate) agent_id: String,
            pub(crate) cwd: String,
            pub(crate) project: String,
            pub(crate) model: String,
            pub(crate) machine: String,
            pub(crate) git_branch: String,
            pub(crate) client_version: String,
            pub(crate) started: i64,
            pub(crate) last: i64,
            pub(crate) ended: Option<i64>,
            pub(crate) status: String,
            pub(crate) waiting: String,
            pub(crate) waiting_since: Option<i64>,
            pub(crate) waiting_fact: Option<i64>,
            pub(crate) current: Option<String>,
            pub(crate) context_pct: Option<f64>,
            pub(crate) events: i64,
            pub(crate) calls: i64,
            pub(crate) failures: i64,
            pub(crate) turns: i64,
            pub(crate) wait_ms: i64,
        }
        spend {
            input: input,
            output: output,
            cache_read: cache_read,
            cache_write: cache_write,
            reasoning: reasoning,
            cost: cost,
            responses: responses,
            unpriced: unpriced,
        }
        then {
            pub(crate) copies: i64,
            pub(crate) client_cost: Option<i64>,
            pub(crate) residual: String,
        }
    }
}

/// A word of a closed set as its text.
pub(crate) fn word<T: Serialize>(word: T) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}

impl TaskLine {
    pub(crate) fn of(owner: &str, record: &TaskRecord) -> Self {
        let mut terms = Terms::default();
        terms.add(&record.title);
        terms.add(&record.session);
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        let spent = &record.spent;
        let mut line = Self {
            owner: owner.to_owned(),
            task: record.task.clone(),
            version: record.version,
            gone: 0,
            agent: word(record.agent),
            session: record.session.clone(),
            background: u8::from(record.background),
            parent: or_empty(&record.parent),
            parent_certainty: record.parent_certainty.map(word).unwrap_or_default(),
            parent_tool_use_id: or_empty(&record.parent_tool_use_id),
            continues: or_empty(&record.continues),
            forked: or_empty(&record.forked),
            title: record.title.clone(),
            terms: terms.words().map(str::to_owned).collect(),
            agent_type: record.agent_type.clone(),
            agent_id: or_empty(&record.agent_id),
            cwd: record.cwd.clone(),
            project: record.project.clone(),
            model: or_empty(&record.model),
            machine: record.machine.clone(),
            git_branch: or_empty(&record.git_branch),
            client_version: or_empty(&record.client_version),
            started: moment(record.started),
            last: moment(record.last),
            ended: record.ended.map(moment),
            status: word(record.status),
            waiting: record.waiting.map(word).unwrap_or_default(),
            waiting_since: record.waiting_since.map(moment),
            waiting_fact: record.waiting_fact,
            current: record.current.clone(),
            context_pct: record.context_pct,
            events: record.events,
            calls: record.calls,
            failures: record.failures,
            turns: record.turns,
            wait_ms: record.wait_ms,
            copies: spent.copies,
            client_cost: spent.client_cost,
            residual: spent.residual.as_ref().and_then(Residual::stored).unwrap_or_default(),
            ..Self::default()
        };
        line.set_spend(&spent.spend);
        line
    }
}

/// A row of `task_day`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Row, Serialize, Deserialize)]
struct DayLine {
    owner: String,
    day: i64,
    task: String,
    version: u64,
    gone: u8,
}

/// Declares the row of `fact`, with an array for each measure that a fact counts in each dimension.
macro_rules! fact_line {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        spend_row! {
            /// A row of `fact`.
            #[derive(Clone, Debug, Default, Row, Serialize, Deserialize)]
            pub(crate) struct FactLine {
                own {
                    owner: String,
                    task: String,
                    fact: i64,
                    version: u64,
                    gone: u8,
                    kind: String,
                    list: u8,
                    lane: String,
                    occurred: i64,
                    ord: i64,
                    ended: Option<i64>,
                    state: String,
                    open: u8,
                    tool: Option<String>,
                    turn: Option<i64>,
                    duration: Option<i64>,
                    bucket: Option<i16>,
                    error_class: String,
                    signature: Option<i64>,
                    certainty: String,
                    channels: u8,
                    agent_type: Option<String>,
                    model: String,
                    copied: u8,
                    is_call: u8,
                    failed: u8,
                }
                spend {
                    input: input,
                    output: output,
                    cache_read: cache_read,
                    cache_write: cache_write,
                    reasoning: reasoning,
                    cost: cost,
                    responses: responses,
                    unpriced: unpriced,
                }
                then {
                    #[serde(rename = "sums.dim")]
                    sums_dim: Vec<u8>,
                    #[serde(rename = "sums.key")]
                    sums_key: Vec<String>,
                    $(#[serde(rename = $path)]
                    $array: Vec<i64>,)*
                    #[serde(rename = "sums.spends")]
                    sums_spends: Vec<u8>,
                    terms: Vec<String>,
                    data: String,
                    derived: String,
                }
            }
        }

        impl FactLine {
            /// The arrays of the measures, in the order of the columns that have one.
            fn arrays(&mut self) -> impl Iterator<Item = &mut Vec<i64>> {
                [$(&mut self.$array),*].into_iter()
            }
        }
    };
}
measure_columns!(fact_line);

impl FactLine {
    pub(crate) fn of(owner: &str, record: &FactRecord) -> Self {
        let mut row = record.row.clone();
        row.occurred = moment(row.occurred);
        row.ended = row.ended.map(moment);
        row.duration = row.duration.map(moment);
        let mut terms = Terms::default();
        if is_indexed(&row) {
            for text in texts(&row) {
                terms.add(text);
            }
        }
        let mut words: Vec<String> = terms.words().map(str::to_owned).collect();
        // Tools are the same whatever the case they are asked for in.
        words.extend(record.row.tool.as_ref().filter(|_| is_indexed(&row)).map(|tool| mark('t', tool)));
        let mut line = Self {
            owner: owner.to_owned(),
            task: record.task.clone(),
            fact: record.row.fact,
            version: record.version,
            gone: 0,
            kind: record.row.kind.map(word).unwrap_or_default(),
            list: u8::try_from(record.row.list.code()).unwrap_or(0),
            lane: word(record.row.lane),
            occurred: row.occurred,
            ord: record.row.order,
            ended: row.ended,
            state: record.row.state.map(word).unwrap_or_default(),
            open: u8::from(record.row.open),
            tool: record.row.tool.clone(),
            turn: record.row.turn,
            duration: row.duration,
            error_class: record.row.error.map(word).unwrap_or_default(),
            signature: record.row.signature,
            certainty: word(record.row.certainty),
            channels: record.row.channels,
            agent_type: record.row.data.agent_type.clone(),
            is_call: u8::from(row.is_call()),
            failed: u8::from(row.is_failure()),
            terms: words,
            data: serde_json::to_string(&record.row.data).unwrap_or_default(),
            derived: match record.row.derived.is_empty() {
                true => String::new(),
                false => serde_json::to_string(&record.row.derived).unwrap_or_default(),
            },
            ..Self::default()
        };
        let mut tally = Tally::default();
        tally.count(&row, &RollupKey::default(), &ReportedCost(record.cost), 1);
        line.count(&tally);
        line
    }

    /// In which day its task has something.
    fn day(&self) -> DayLine {
        DayLine {
            owner: self.owner.clone(),
            day: Level::Day.start(self.occurred),
            task: self.task.clone(),
            version: 1,
            gone: 0,
        }
    }

    /// Takes over what the row alone adds to the sums.
    fn count(&mut self, tally: &Tally) {
        // Every sum is kept for days; other stretches and all projects together say the same again.
        let own = RollupKey::default().project;
        let rolled = tally.rolled();
        let mut sums: Vec<_> =
            rolled.iter().filter(|(place, _)| place.level == Level::Day && place.project == own).collect();
        sums.sort_by_key(|(place, _)| (place.dim, place.key));
        for (place, sum) in sums {
            self.sums_dim.push(place.dim as u8);
            self.sums_key.push(place.key.to_owned());
            for (column, array) in measures::of_team().zip(self.arrays()) {
                array.push(column.value(*sum, place.dim));
            }
            self.sums_spends.push(u8::from(sum.spend.responses > 0));
        }
        if let Some(sums) = tally.tasks.values().next() {
            self.set_spend(&sums.spend);
        }
        if let Some((_, model, is_copy)) = tally.models.keys().next() {
            self.model.clone_from(model);
            self.copied = u8::from(*is_copy);
        }
        let bucket = tally.durations().values().flat_map(|buckets| buckets.keys().copied()).next();
        self.bucket = bucket.and_then(|bucket| i16::try_from(bucket).ok());
    }

    /// A fact that turned out to be part of another. It has that one's moment: without any it would be older than every
    /// limit of age, and gone before what it takes the place of; and no granule would be known to begin after 1970.
    fn gone(owner: &str, record: &FactRecord, part: i64) -> Self {
        Self {
            occurred: moment(record.row.occurred),
            owner: owner.to_owned(),
            task: record.task.clone(),
            fact: part,
            version: record.version,
            gone: 1,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_became_part_of_a_fact_is_gone_at_its_moment() {
        let record: FactRecord = serde_json::from_value(json!({
            "task": "t", "fact": 1, "version": 9, "kind": "user.message", "list": 0, "lane": "user",
            "occurred": 1_700_000_000_000_i64, "order": 0, "ended": null, "state": null, "open": false, "tool": null,
            "turn": null, "duration": null, "error": null, "signature": null, "certainty": "measured", "channels": 1,
            "data": { "k": "" }, "derived": {}, "cost": null, "parts": [1, 2, 3],
        }))
        .unwrap();
        let shipment = Shipment { format: FORMAT, facts: vec![record], ..Shipment::default() };
        let lines = Lines::of("ann", &shipment).facts;
        let marks: Vec<(i64, u8, i64)> =
            lines.iter().map(|line| (line.fact, line.gone, line.occurred)).collect();
        let at = 1_700_000_000_000;
        assert_eq!(marks, [(1, 0, at), (2, 1, at), (3, 1, at)]);
    }
}
