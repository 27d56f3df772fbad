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
use agent_tracer_ledger::search::{Terms, mark};
use agent_tracer_ledger::shipment::{DerivedTask, FORMAT, Shipment, ShippedFact};
use clickhouse::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clickhouse::days::PendingLines;
use crate::clickhouse::fact_columns::{FactColumns, fact_columns};
use crate::clickhouse::fleet::{Fleet, FleetError};
use crate::clickhouse::spend_row::{SpendRow, spend_row};

/// The longest name of an owner, in bytes.
pub(crate) const OWNER_BYTES_MAX: usize = 256;

/// Limit of rows in one insert, unless one shipment alone has more: enough for a good part, little to hold.
const LINES_MAX: usize = 20_000;

impl Fleet {
    /// Writes a shipment under its owner. When this returns, it is stored.
    ///
    /// # Errors
    /// If the shipment is of a newer format or the owner has no name: then nothing was written. If the server cannot be
    /// reached or refuses: then a part may be written, and the same shipment again completes it.
    pub fn write(&self, owner: &str, shipment: &Shipment) -> Result<(), FleetError> {
        if owner.is_empty() || owner.len() > OWNER_BYTES_MAX {
            return Err(FleetError::OwnerName { bytes: owner.len() });
        }
        if shipment.format == 0 || shipment.format > FORMAT {
            return Err(FleetError::ShipmentFormat { found: shipment.format, known: FORMAT });
        }
        // Before the rows of the same shipment: what comes back after a purge has a greater version, and stays.
        if let Some(removed) = &shipment.removed {
            self.remove(owner, &removed.tasks, removed.version)?;
        }
        let lines = Lines::new(owner, shipment);
        if lines.weight() == 0 {
            return Ok(());
        }
        self.waiting().write(lines, LINES_MAX, Lines::weight, |group| self.insert_group(group))
    }

    /// Inserts what several senders brought. If that is refused, each alone: what is wrong with one is not the others'.
    fn insert_group(&self, group: &[Lines]) -> Vec<Result<(), FleetError>> {
        let all: Vec<&Lines> = group.iter().collect();
        match self.insert(&all) {
            // Only a refusal: if the engine cannot be reached, to try each alone would multiply the load when it
            // comes back.
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
    fn new(owner: &str, shipment: &Shipment) -> Self {
        let mut facts = Vec::with_capacity(shipment.facts.len());
        for fact in &shipment.facts {
            facts.push(FactLine::new(owner, fact));
            let parts = fact.parts.iter().filter(|part| **part != fact.row.fact);
            facts.extend(parts.map(|part| FactLine::gone(owner, fact, *part)));
        }
        Self { facts, tasks: shipment.tasks.iter().map(|task| TaskLine::new(owner, task)).collect() }
    }

    fn weight(&self) -> usize {
        self.facts.len() + self.tasks.len()
    }
}

/// No moment is further from 1970 than any calendar counts: a hostile one must not overflow what is counted with it.
const TIME_MAX_MS: i64 = 8_640_000_000_000_000;

const fn moment(at: i64) -> i64 {
    if at > TIME_MAX_MS {
        TIME_MAX_MS
    } else if at < -TIME_MAX_MS {
        -TIME_MAX_MS
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
        spend { all }
        then {
            pub(crate) copies: i64,
            pub(crate) client_cost: Option<i64>,
            pub(crate) residual: String,
        }
    }
}

/// Spells a word of a closed set.
pub(crate) fn word<T: Serialize>(word: T) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}

impl TaskLine {
    pub(crate) fn new(owner: &str, task: &DerivedTask) -> Self {
        let mut terms = Terms::default();
        terms.add(&task.title);
        terms.add(&task.session);
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        let spent = &task.spent;
        let mut line = Self {
            owner: owner.to_owned(),
            task: task.task.clone(),
            version: task.version,
            gone: 0,
            agent: word(task.agent),
            session: task.session.clone(),
            background: u8::from(task.background),
            parent: or_empty(&task.parent),
            parent_certainty: task.parent_certainty.map(word).unwrap_or_default(),
            parent_tool_use_id: or_empty(&task.parent_tool_use_id),
            continues: or_empty(&task.continues),
            forked: or_empty(&task.forked),
            title: task.title.clone(),
            terms: terms.words().map(str::to_owned).collect(),
            agent_type: task.agent_type.clone(),
            agent_id: or_empty(&task.agent_id),
            cwd: task.cwd.clone(),
            project: task.project.clone(),
            model: or_empty(&task.model),
            machine: task.machine.clone(),
            git_branch: or_empty(&task.git_branch),
            client_version: or_empty(&task.client_version),
            started: moment(task.started),
            last: moment(task.last),
            ended: task.ended.map(moment),
            status: word(task.status),
            waiting: task.waiting.map(word).unwrap_or_default(),
            waiting_since: task.waiting_since.map(moment),
            waiting_fact: task.waiting_fact,
            current: task.current.clone(),
            context_pct: task.context_pct,
            events: task.events,
            calls: task.calls,
            failures: task.failures,
            turns: task.turns,
            wait_ms: task.wait_ms,
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
///
/// The row exists beside [`FactRow`] because the table also has what questions ask of a fact: its owner, its spend, its
/// counts and its search terms. All of them follow from the fact.
macro_rules! fact_line {
    ($([$name:ident, $place:literal, $array:ident, $path:literal, $of_fact:literal, $of_sum:literal, $measure:expr])*) => {
        fact_columns! {
            /// A row of `fact`.
            #[derive(Clone, Debug, Default, Row, Serialize, Deserialize)]
            pub(crate) struct FactLine {
                own {
                    owner: String,
                    task: String,
                    version: u64,
                    gone: u8,
                    bucket: Option<i16>,
                    agent_type: Option<String>,
                    model: String,
                    copied: u8,
                    is_call: u8,
                    failed: u8,
                }
                spend { all }
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
                }
            }
        }

        impl FactLine {
            /// Returns the arrays of the measures, in the order of the columns that have one.
            fn arrays(&mut self) -> impl Iterator<Item = &mut Vec<i64>> {
                [$(&mut self.$array),*].into_iter()
            }
        }
    };
}
measure_columns!(fact_line);

impl FactLine {
    pub(crate) fn new(owner: &str, fact: &ShippedFact) -> Self {
        let mut row = fact.row.clone();
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
        words.extend(row.tool.as_ref().filter(|_| is_indexed(&row)).map(|tool| mark('t', tool)));
        let mut line = Self {
            owner: owner.to_owned(),
            task: fact.task.clone(),
            version: fact.version,
            gone: 0,
            agent_type: row.data.agent_type.clone(),
            is_call: u8::from(row.is_call()),
            failed: u8::from(row.is_failure()),
            terms: words,
            ..Self::default()
        };
        let mut tally = Tally::default();
        tally.count(&row, &RollupKey::default(), &ReportedCost(fact.cost), 1);
        line.count(&tally);
        line.set_fact(row);
        line
    }

    /// Returns the row that says in which day the task has something.
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

    /// Marks a fact as gone that turned out to be part of another. It has that one's moment: without any it would be
    /// older than every limit of age, and gone before what it takes the place of; and no granule would be known to
    /// begin after 1970.
    fn gone(owner: &str, fact: &ShippedFact, part: i64) -> Self {
        Self {
            occurred: moment(fact.row.occurred),
            owner: owner.to_owned(),
            task: fact.task.clone(),
            fact: part,
            version: fact.version,
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
        let record: ShippedFact = serde_json::from_value(json!({
            "task": "t", "fact": 1, "version": 9, "kind": "user.message", "list": 0, "lane": "user",
            "occurred": 1_700_000_000_000_i64, "order": 0, "ended": null, "state": null, "open": false, "tool": null,
            "turn": null, "duration": null, "error": null, "signature": null, "certainty": "measured", "channels": 1,
            "data": { "k": "" }, "derived": {}, "cost": null, "parts": [1, 2, 3],
        }))
        .unwrap();
        let shipment = Shipment { format: FORMAT, facts: vec![record], ..Shipment::default() };
        let lines = Lines::new("ann", &shipment).facts;
        let marks: Vec<(i64, u8, i64)> =
            lines.iter().map(|line| (line.fact, line.gone, line.occurred)).collect();
        let at = 1_700_000_000_000;
        assert_eq!(marks, [(1, 0, at), (2, 1, at), (3, 1, at)]);
    }
}
