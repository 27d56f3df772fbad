//! The counts that a row adds to the sums, and takes away again when it changes.

use std::collections::{BTreeMap, HashMap};

use agent_tracer_event::{Channel, Tokens, attributes};
use agent_tracer_prices::{BilledUsage, Prices, Prompt, Rates};
use serde_json::Value;

use super::measures::Measures;
use super::past_action::touched_files;
use super::residual::Residual;
use super::row::FactRow;
use super::ruling::RuleKey;
use super::spend::{DOLLAR, ModelSums, Spend, sums};
use super::time::Level;
use super::{List, latency};

/// Stands for all projects together.
pub const ALL_PROJECTS: i64 = -1;

/// Stands for an actor that was not stored: of durations that were sealed before they were kept by actor.
pub const UNKNOWN_ACTOR: i64 = -1;

/// Separates the two parts of a key.
pub const SEPARATOR: char = '\u{1f}';

/// The dimension of a sum. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dim {
    /// Everything: rows, calls among them, time in tools, time of waiting, tokens. No key.
    Activity = 0,
    /// Calls by tool.
    Tool = 1,
    /// Responses by model. For usage that only the client's account shows, the reason follows the model in the key.
    Model = 2,
    /// Failures by class and tool.
    Error = 3,
    /// Shell commands by program and subcommand.
    Command = 4,
    /// MCP calls by server and tool.
    Mcp = 5,
    /// Activations by skill, with the spend of the responses that were given for it.
    Skill = 6,
    /// Reads and changes by path.
    File = 7,
    /// Decisions by rule and outcome ([`super::ruling::RuleKey`]), and the time that they took.
    Rule = 8,
}

impl Dim {
    /// All dimensions.
    pub const ALL: [Self; 9] = [
        Self::Activity,
        Self::Tool,
        Self::Model,
        Self::Error,
        Self::Command,
        Self::Mcp,
        Self::Skill,
        Self::File,
        Self::Rule,
    ];

    /// Returns the stored number of the dimension.
    #[must_use]
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// Returns the levels of time at which it is summed, the shortest first.
    #[must_use]
    pub const fn levels(self) -> &'static [Level] {
        match self {
            Self::Activity | Self::Tool | Self::Model | Self::Error | Self::Skill => &Level::ALL,
            Self::Command | Self::Mcp | Self::File | Self::Rule => &[Level::Day, Level::Month],
        }
    }

    /// Returns the shortest level.
    #[must_use]
    pub const fn finest(self) -> Level {
        match self.levels() {
            [finest, ..] => *finest,
            [] => Level::Month,
        }
    }
}

/// Identifies the rollups of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RollupKey {
    /// The task's number in the store.
    pub task: i64,
    /// The project's number among the words.
    pub project: i64,
    /// The number of `<agent>/<type of agent>` among the words.
    pub actor: i64,
}

/// The finest place at which a sum is gathered: a stretch of time, a project and an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Finest {
    /// The dimension.
    pub dim: Dim,
    /// The beginning of its stretch.
    pub at: i64,
    /// The project.
    pub project: i64,
    /// The actor: agent and type of agent.
    pub actor: i64,
}

/// The place of a stored sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SumAddress<'a> {
    /// The dimension.
    pub dim: Dim,
    /// The length of its stretches.
    pub level: Level,
    /// The beginning of its stretch.
    pub at: i64,
    /// The project.
    pub project: i64,
    /// The actor: agent and type of agent.
    pub actor: i64,
    /// The key.
    pub key: &'a str,
}

/// The place of the durations of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DurationPlace<'a> {
    /// The length of its stretches.
    pub level: Level,
    /// The beginning of its stretch.
    pub at: i64,
    /// The project.
    pub project: i64,
    /// The actor: agent and type of agent.
    pub actor: i64,
    /// The tool.
    pub tool: &'a str,
}

/// Durations by tool: the change of the count in each bucket.
pub type ToolBuckets = HashMap<String, BTreeMap<i64, i64>>;

/// Durations by place: the change of the count in each bucket.
pub type Durations<'a> = HashMap<DurationPlace<'a>, BTreeMap<i64, i64>>;

/// Sums of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSums {
    /// Rows.
    pub events: i64,
    /// Calls.
    pub calls: i64,
    /// Calls that failed.
    pub failures: i64,
    /// Turns.
    pub turns: i64,
    /// Copied responses.
    pub copies: i64,
    /// The cost of single responses as the client reported it, in pico-dollars.
    pub client_cost: i64,
    /// Time spent waiting for people, in milliseconds.
    pub wait_ms: i64,
    /// Tokens and cost.
    pub spend: Spend,
}

sums!(TaskSums { events, calls, failures, turns, copies, client_cost, wait_ms } { spend });

impl TaskSums {
    /// The columns of a task that are added up, beside those of [`Spend`]. The client's cost is not: it depends on the
    /// kind of the task.
    const OWN: [&str; 6] = ["events", "calls", "failures", "turns", "copies", "wait_ms"];

    /// Returns the assignments that add parameters, the first of which is at this place, to the columns of a task.
    #[must_use]
    pub fn added_from(first: usize) -> String {
        let columns = Self::OWN.iter().chain(&Spend::COLUMNS);
        let added = columns.zip(first..).map(|(column, place)| format!("{column} = {column} + ?{place}"));
        added.collect::<Vec<_>>().join(", ")
    }

    /// Returns the numbers that [`Self::added_from`] adds.
    pub fn numbers(&self) -> impl Iterator<Item = i64> {
        let own = [self.events, self.calls, self.failures, self.turns, self.copies, self.wait_ms];
        own.into_iter().chain(self.spend.numbers())
    }
}

/// Converts a cost that a client reported in dollars to pico-dollars. Returns `None` for an implausible one.
pub(crate) fn pico_dollars(dollars: &Value) -> Option<i64> {
    let dollars = dollars.as_f64().filter(|dollars| dollars.is_finite() && (0.0..1e6).contains(dollars))?;
    Some((dollars * DOLLAR as f64).round() as i64)
}

/// Returns the cost of a response in the client's own file, in pico-dollars. Costs from telemetry do not count: it
/// reports those of subagents too, which the account of their session already includes.
fn client_cost(row: &FactRow) -> i64 {
    let is_exported = row.channels & (1 << Channel::Otlp as u8) != 0;
    if is_exported || row.usage().is_none() {
        return 0;
    }
    row.meta(attributes::CLIENT_COST_USD).and_then(pico_dollars).unwrap_or(0)
}

/// Sums of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnSums {
    /// Calls.
    pub calls: i64,
    /// Calls that failed.
    pub failures: i64,
    /// Responses reported by the provider's own account.
    pub records: i64,
    /// Tokens and cost.
    pub spend: Spend,
}

/// The uses of a file by a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSums {
    /// The number of reads.
    pub reads: i64,
    /// The number of changes.
    pub changes: i64,
    /// The number of failed uses.
    pub failures: i64,
    /// Uses by moment and fact: added or taken away.
    pub touches: BTreeMap<(i64, i64), i64>,
}

/// Prices responses.
pub trait Pricer: Send + Sync {
    /// Returns the cost of a response in pico-dollars, by its model and metadata, or `None` if it has no price.
    fn cost(&self, model: &str, metadata: &serde_json::Map<String, Value>) -> Option<i64>;

    /// Returns the cost of several responses together. Prices of long prompts do not apply, because the lengths of the
    /// single prompts are unknown.
    fn cost_of_sum(&self, model: &str, sums: &ModelSums) -> Option<i64>;

    /// Returns the price of one token of each kind in a response, or `None` without a table of prices.
    fn rates(&self, _model: &str, _metadata: &serde_json::Map<String, Value>) -> Option<Rates> {
        None
    }
}

impl Pricer for Prices {
    fn cost(&self, model: &str, metadata: &serde_json::Map<String, Value>) -> Option<i64> {
        let usage = BilledUsage::read(metadata)?;
        i64::try_from(Self::cost(self, model, &usage)?.0).ok()
    }

    fn rates(&self, model: &str, metadata: &serde_json::Map<String, Value>) -> Option<Rates> {
        Self::rates(self, model, &BilledUsage::read(metadata)?)
    }

    fn cost_of_sum(&self, model: &str, sums: &ModelSums) -> Option<i64> {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let spend = sums.spend;
        let hour = count(sums.cache_write_1h).min(count(spend.cache_write));
        let usage = BilledUsage {
            input: count(spend.input),
            output: count(spend.output),
            cache_read: count(spend.cache_read),
            cache_write_5m: count(spend.cache_write) - hour,
            cache_write_1h: hour,
            web_searches: count(sums.searches),
            prompt: Prompt::Short,
            ..BilledUsage::default()
        };
        i64::try_from(Self::cost(self, model, &usage)?.0).ok()
    }
}

/// No prices: tokens are counted, cost is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrices;

impl Pricer for NoPrices {
    fn cost(&self, _: &str, _: &serde_json::Map<String, Value>) -> Option<i64> {
        None
    }

    fn cost_of_sum(&self, _: &str, _: &ModelSums) -> Option<i64> {
        None
    }
}

/// Changes of sums, gathered before they are written.
///
/// A change is gathered once, in its finest stretch and its own project. Days, months and the sum of all projects are
/// derived from it when the tally is written: a row counts in some twenty sums, and most rows of a transaction in the
/// same ones.
#[derive(Debug, Default)]
pub struct Tally {
    /// Sums over time, by key.
    pub rollups: HashMap<Finest, HashMap<String, Measures>>,
    /// Durations by day, project and actor, and by tool: the change of the count in each bucket.
    pub latencies: HashMap<(i64, i64, i64), ToolBuckets>,
    /// Sums of tasks.
    pub tasks: HashMap<i64, TaskSums>,
    /// Sums of turns.
    pub turns: HashMap<(i64, i64), TurnSums>,
    /// Sums of files by task and path.
    pub files: HashMap<i64, HashMap<String, FileSums>>,
    /// Calls by task and input: all and failed ones.
    pub repeats: HashMap<(i64, i64), (i64, i64)>,
    /// Responses by task and model, and whether they are copies that count elsewhere.
    pub models: HashMap<(i64, String, bool), ModelSums>,
    /// Activations, and the spend of responses, by task and skill, as in [`Dim::Skill`].
    pub skills: HashMap<(i64, String), Measures>,
}

/// Changes the value of a key, which is copied only if it is new.
fn change<T: Default>(map: &mut HashMap<String, T>, key: &str, change: impl FnOnce(&mut T)) {
    match map.get_mut(key) {
        Some(known) => change(known),
        None => change(map.entry(key.to_owned()).or_default()),
    }
}

/// Returns program and subcommand of the step that decides.
fn command_of(row: &FactRow) -> Option<String> {
    let analysis = row.meta(attributes::COMMAND_ANALYSIS)?;
    let steps = analysis.get("steps")?.as_array()?;
    let decisive = analysis.get("decisiveStep").and_then(Value::as_u64).unwrap_or(0);
    let step = steps.get(usize::try_from(decisive).ok()?).or_else(|| steps.first())?;
    let name = step.get("commandName")?.as_str()?;
    match step.get("subcommand").and_then(Value::as_str) {
        Some(subcommand) => Some(format!("{name} {subcommand}")),
        None => Some(name.to_owned()),
    }
}

/// Returns the spend of a row: of a response that counts here, and nothing of any other row.
fn spend_of(row: &FactRow, pricer: &dyn Pricer) -> Spend {
    let Some(usage) = row.usage() else { return Spend::default() };
    let cost = pricer.cost(row.text(attributes::MODEL).unwrap_or_default(), &row.data.metadata);
    Spend::of_response(&usage, cost)
}

impl Tally {
    /// Adds what a row counts (`sign` 1) or takes it away (`sign` -1).
    pub fn count(&mut self, row: &FactRow, rollup_key: &RollupKey, pricer: &dyn Pricer, sign: i64) {
        let Some(_) = row.kind else {
            self.tasks.entry(rollup_key.task).or_default().turns += sign;
            return;
        };
        let failed = i64::from(row.is_failure());
        let is_call = row.is_call();
        let wait_ms = if row.list == List::Permission || row.list == List::Question {
            row.meta(attributes::WAIT_MS).and_then(Value::as_i64).unwrap_or(0)
        } else {
            0
        };
        let call_ms = if is_call && row.list != List::Question { row.duration.unwrap_or(0) } else { 0 };
        let spend = spend_of(row, pricer);
        let calls = i64::from(is_call);
        let all =
            Measures { n: 1, failures: failed, ms: call_ms, wait_ms, calls, spend, ..Measures::default() };
        self.roll(Dim::Activity, row.occurred, rollup_key, "", all.times(sign));
        let task = self.tasks.entry(rollup_key.task).or_default();
        task.events += sign;
        task.calls += sign * i64::from(is_call);
        task.failures += sign * failed;
        task.copies += sign * i64::from(row.text(attributes::NOT_COUNTED) == Some("copy"));
        task.client_cost += sign * client_cost(row);
        task.wait_ms += sign * wait_ms;
        task.spend += spend.times(sign);
        if let Some(turn) = row.turn {
            let sums = self.turns.entry((rollup_key.task, turn)).or_default();
            sums.calls += sign * i64::from(is_call);
            sums.failures += sign * failed;
            sums.records += sign * i64::from(row.text(attributes::USAGE_SOURCE) == Some("record"));
            sums.spend += spend.times(sign);
        }
        self.count_model(row, rollup_key, &spend, sign);
        if row.usage().is_some() {
            let model = row.text(attributes::MODEL).unwrap_or("unknown");
            let response = Measures { spend, ..Measures::default() }.times(sign);
            self.roll(Dim::Model, row.occurred, rollup_key, model, response);
            if let Some(skill) = row.text(attributes::ATTRIBUTION_SKILL) {
                self.count_skill(row, rollup_key, skill, response);
            }
        }
        if let Some(skill) = row.skill() {
            let one = Measures { n: 1, failures: failed, ..Measures::default() };
            self.count_skill(row, rollup_key, skill, one.times(sign));
        }
        if is_call {
            self.count_call(row, rollup_key, sign);
        }
        if let Some(key) = RuleKey::of(row) {
            let took = row.meta(attributes::DECISION_US).and_then(Value::as_i64).unwrap_or(0).max(0);
            let one = Measures { n: 1, decision_us: took, ..Measures::default() };
            self.roll(Dim::Rule, row.occurred, rollup_key, &key.text(), one.times(sign));
        }
    }

    fn count_skill(&mut self, row: &FactRow, rollup_key: &RollupKey, skill: &str, measures: Measures) {
        self.roll(Dim::Skill, row.occurred, rollup_key, skill, measures);
        *self.skills.entry((rollup_key.task, skill.to_owned())).or_default() += measures;
    }

    fn count_model(&mut self, row: &FactRow, rollup_key: &RollupKey, spend: &Spend, sign: i64) {
        let is_copy = row.text(attributes::NOT_COUNTED) == Some("copy");
        if row.list != List::Response || !(is_copy || row.usage().is_some()) {
            return;
        }
        let Some(usage) = Tokens::read(&row.data.metadata) else { return };
        let count = |key: &str| row.data.metadata.get(key).and_then(Value::as_i64).unwrap_or(0).max(0);
        // A copy is priced where it counts. Reasoning is not kept by model.
        let (cost, unpriced) = (spend.cost, spend.unpriced);
        let one = ModelSums {
            spend: Spend { reasoning: 0, cost, unpriced, ..Spend::of_response(&usage, None) },
            cache_write_1h: count(attributes::CACHE_CREATION_1H_TOKENS),
            searches: count(attributes::WEB_SEARCH_REQUESTS),
        };
        let model = row.text(attributes::MODEL).unwrap_or("unknown").to_owned();
        *self.models.entry((rollup_key.task, model, is_copy)).or_default() += one.times(sign);
    }

    /// Adds what only the client's account of a session knows (`sign` 1), or takes it away (`sign` -1).
    pub fn count_residual(&mut self, residual: &Residual, rollup_key: &RollupKey, sign: i64) {
        for line in &residual.lines {
            let measures = line.measures().times(sign);
            self.roll(Dim::Activity, residual.at, rollup_key, "", measures);
            let key = format!("{}{SEPARATOR}{}", line.model, line.reason);
            self.roll(Dim::Model, residual.at, rollup_key, &key, measures);
        }
    }

    fn count_call(&mut self, row: &FactRow, rollup_key: &RollupKey, sign: i64) {
        let tool = row.tool.as_deref().unwrap_or_default();
        let failed = i64::from(row.is_failure());
        let one = Measures { n: 1, failures: failed, ms: row.duration.unwrap_or(0), ..Measures::default() }
            .times(sign);
        self.roll(Dim::Tool, row.occurred, rollup_key, tool, one);
        if row.is_failure() {
            let class = row.error.map_or("unknown", agent_tracer_event::ErrorClass::as_str);
            self.roll(Dim::Error, row.occurred, rollup_key, &format!("{class}{SEPARATOR}{tool}"), one);
        }
        if let Some(command) = command_of(row) {
            self.roll(Dim::Command, row.occurred, rollup_key, &command, one);
        }
        if let (Some(server), Some(name)) = (row.text(attributes::MCP_SERVER), row.text(attributes::MCP_TOOL))
        {
            self.roll(Dim::Mcp, row.occurred, rollup_key, &format!("{server}{SEPARATOR}{name}"), one);
        }
        if let Some(duration) = row.duration.and_then(|duration| u64::try_from(duration).ok()) {
            let day = Level::Day.start(row.occurred);
            let tools = self.latencies.entry((day, rollup_key.project, rollup_key.actor)).or_default();
            change(tools, tool, |buckets| *buckets.entry(latency::bucket(duration)).or_default() += sign);
        }
        if let Some(input) = row.input() {
            let repeat = self.repeats.entry((rollup_key.task, input)).or_default();
            repeat.0 += sign;
            repeat.1 += sign * failed;
        }
        for (path, reads, changes) in touched_files(row) {
            change(self.files.entry(rollup_key.task).or_default(), path, |sums| {
                sums.reads += sign * reads;
                sums.changes += sign * changes;
                sums.failures += sign * failed;
                *sums.touches.entry((row.occurred, row.fact)).or_default() += sign;
            });
            let used = Measures { reads, changes, ..Measures::default() };
            self.roll(Dim::File, row.occurred, rollup_key, path, used.times(sign));
        }
    }

    fn roll(&mut self, dim: Dim, occurred: i64, rollup_key: &RollupKey, key: &str, measures: Measures) {
        let at = dim.finest().start(occurred);
        let finest = Finest { dim, at, project: rollup_key.project, actor: rollup_key.actor };
        change(self.rollups.entry(finest).or_default(), key, |sums| *sums += measures);
    }

    /// Returns the sums of every stretch, for each project and for all of them.
    #[must_use]
    pub fn rolled(&self) -> HashMap<SumAddress<'_>, Measures> {
        let mut rolled: HashMap<SumAddress<'_>, Measures> = HashMap::new();
        for (Finest { dim, at, project, actor }, keys) in &self.rollups {
            for (key, measures) in keys.iter().filter(|(_, measures)| !measures.is_zero()) {
                for level in dim.levels() {
                    for project in [*project, ALL_PROJECTS] {
                        let (dim, level, at, actor) = (*dim, *level, level.start(*at), *actor);
                        *rolled.entry(SumAddress { dim, level, at, project, actor, key }).or_default() +=
                            *measures;
                    }
                }
            }
        }
        rolled
    }

    /// Returns the durations of every stretch that they are kept for.
    #[must_use]
    pub fn durations(&self) -> Durations<'_> {
        let mut durations = Durations::new();
        for ((day, project, actor), tools) in &self.latencies {
            let month = Level::Month.start(*day);
            for (tool, buckets) in tools {
                for (level, at, project) in [
                    (Level::Day, *day, *project),
                    (Level::Day, *day, ALL_PROJECTS),
                    (Level::Month, month, ALL_PROJECTS),
                ] {
                    let place = DurationPlace { level, at, project, actor: *actor, tool };
                    let sums = durations.entry(place).or_default();
                    for (bucket, n) in buckets.iter().filter(|(_, n)| **n != 0) {
                        *sums.entry(*bucket).or_default() += n;
                    }
                }
            }
        }
        durations.retain(|_, buckets| buckets.values().any(|n| *n != 0));
        durations
    }
}
