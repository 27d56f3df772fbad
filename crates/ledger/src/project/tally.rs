//! Describes what a row adds to the sums, and takes away again when it changes.

use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;

use agent_tracer_event::{Channel, Usage, attributes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::residual::Residual;
use super::row::FactRow;
use super::ruling::RuleKey;
use super::time::Level;
use super::{List, latency};

/// A dollar in the unit of costs.
pub const DOLLAR: i64 = 1_000_000_000_000;

/// Stands for all projects together.
pub const ALL_PROJECTS: i64 = -1;

/// Stands for those who acted where that was not kept: durations that were sealed before they were kept by actor.
pub const UNKNOWN_ACTOR: i64 = -1;

/// Between the two parts of a key.
pub const SEPARATOR: char = '\u{1f}';

/// Names the dimension of a sum. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dim {
    /// Everything: rows, calls among them, time in tools, time of waiting, tokens. No key.
    Activity = 0,
    /// Calls by tool.
    Tool = 1,
    /// Responses by model. What only the client's account knows has the reason behind the model.
    Model = 2,
    /// Failures by class and tool.
    Error = 3,
    /// Shell commands by program and subcommand.
    Command = 4,
    /// MCP calls by server and tool.
    Mcp = 5,
    /// Activations by skill; tokens are those of responses that were given for it, which `ms` counts.
    Skill = 6,
    /// Files by path: `n` counts reads, `failures` counts changes.
    File = 7,
    /// Decisions by rule and what they came to ([`super::ruling::RuleKey`]): `ms` counts the microseconds they took.
    Rule = 8,
}

impl Dim {
    /// All of them.
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

    /// Its stored number.
    #[must_use]
    pub const fn code(self) -> i64 {
        self as i64
    }

    /// The stretches that it is kept for, the shortest first.
    #[must_use]
    pub const fn levels(self) -> &'static [Level] {
        match self {
            Self::Activity | Self::Tool | Self::Model | Self::Error | Self::Skill => &Level::ALL,
            Self::Command | Self::Mcp | Self::File | Self::Rule => &[Level::Day, Level::Month],
        }
    }

    /// The shortest of them.
    #[must_use]
    pub const fn finest(self) -> Level {
        match self.levels() {
            [finest, ..] => *finest,
            [] => Level::Month,
        }
    }
}

/// Things that can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// The count.
    pub n: i64,
    /// Counts how many of them failed.
    pub failures: i64,
    /// Time they took.
    pub ms: i64,
    /// Time people were waited for.
    pub wait_ms: i64,
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Reasoning tokens.
    pub reasoning: i64,
    /// Pico-dollars: every price per token is a whole number of them, so sums do not drift.
    pub cost: i64,
    /// Responses.
    pub responses: i64,
    /// Responses without a price.
    pub unpriced: i64,
    /// Calls among all rows; of [`Dim::Activity`] only.
    pub calls: i64,
}

macro_rules! measures {
    ($($field:ident),+) => {
        impl Measures {
            /// The same so many times.
            #[must_use]
            pub fn times(mut self, sign: i64) -> Self {
                $(self.$field *= sign;)+
                self
            }

            /// The numbers, in the order of their fields.
            #[must_use]
            pub fn numbers(&self) -> Vec<i64> {
                vec![$(self.$field),+]
            }

            /// The measures that have these numbers; those that are missing are zero.
            #[must_use]
            pub fn of_numbers(numbers: &[i64]) -> Self {
                let mut numbers = numbers.iter().copied();
                Self { $($field: numbers.next().unwrap_or(0)),+ }
            }

            /// Returns whether nothing is left of it.
            #[must_use]
            pub fn is_zero(&self) -> bool {
                *self == Self::default()
            }
        }

        impl AddAssign for Measures {
            fn add_assign(&mut self, other: Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)+
            }
        }
    };
}
measures!(
    n,
    failures,
    ms,
    wait_ms,
    input,
    output,
    cache_read,
    cache_write,
    reasoning,
    cost,
    responses,
    unpriced,
    calls
);

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

/// The finest stretch that a sum is gathered in, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Finest {
    /// The dimension.
    pub dim: Dim,
    /// The place where its stretch begins.
    pub at: i64,
    /// The project.
    pub project: i64,
    /// The actor: agent and type of agent.
    pub actor: i64,
}

/// A sum's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place<'a> {
    /// The dimension.
    pub dim: Dim,
    /// The length of its stretches.
    pub level: Level,
    /// The place where its stretch begins.
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
    /// The place where its stretch begins.
    pub at: i64,
    /// The project.
    pub project: i64,
    /// The actor: agent and type of agent.
    pub actor: i64,
    /// The tool.
    pub tool: &'a str,
}

/// Durations by tool: how many more in each bucket.
pub type ToolBuckets = HashMap<String, BTreeMap<i64, i64>>;

/// Durations by place: how many more in each bucket.
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
    /// Holds what the client says that single responses cost, in pico-dollars.
    pub client_cost: i64,
    /// Tokens, cost and waits.
    pub spent: Measures,
}

impl AddAssign for TaskSums {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.calls += other.calls;
        self.failures += other.failures;
        self.turns += other.turns;
        self.copies += other.copies;
        self.client_cost += other.client_cost;
        self.spent += other.spent;
    }
}

/// Reads what a client says that something cost, in pico-dollars.
pub(crate) fn pico_dollars(dollars: &Value) -> Option<i64> {
    let dollars = dollars.as_f64().filter(|dollars| dollars.is_finite() && (0.0..1e6).contains(dollars))?;
    Some((dollars * DOLLAR as f64).round() as i64)
}

/// Returns what the client's own file says that a response cost. Telemetry says it of the responses of subagents too,
/// which are in the account of their session.
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
    pub spent: Measures,
}

/// Holds what one model was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSums {
    /// Responses.
    pub n: i64,
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Tokens read from caches.
    pub cache_read: i64,
    /// Tokens written to caches.
    pub cache_write: i64,
    /// Those of them that live for an hour.
    pub cache_write_1h: i64,
    /// Searches of the web that the provider made.
    pub searches: i64,
    /// Pico-dollars.
    pub cost: i64,
    /// Responses without a price.
    pub unpriced: i64,
}

impl ModelSums {
    /// The numbers that are tokens or searches.
    pub const PARTS: [fn(&mut Self) -> &mut i64; 6] = [
        |sums| &mut sums.input,
        |sums| &mut sums.output,
        |sums| &mut sums.cache_read,
        |sums| &mut sums.cache_write,
        |sums| &mut sums.cache_write_1h,
        |sums| &mut sums.searches,
    ];

    /// Adds other sums, or takes them away.
    pub fn add(&mut self, other: &Self, sign: i64) {
        for (sum, part) in [
            (&mut self.n, other.n),
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.cache_write_1h, other.cache_write_1h),
            (&mut self.searches, other.searches),
            (&mut self.cost, other.cost),
            (&mut self.unpriced, other.unpriced),
        ] {
            *sum = sum.saturating_add(part.saturating_mul(sign));
        }
    }

    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> i64 {
        [self.output, self.cache_read, self.cache_write]
            .iter()
            .fold(self.input, |sum, part| sum.saturating_add(*part))
    }
}

/// Holds what a task did with a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSums {
    /// Counts how often it was read.
    pub reads: i64,
    /// Counts how often it was changed.
    pub changes: i64,
    /// Counts how often that failed.
    pub failures: i64,
    /// By moment and fact: added or taken away.
    pub touches: BTreeMap<(i64, i64), i64>,
}

/// Prices responses.
pub trait Pricer: Send + Sync {
    /// The cost of a response in pico-dollars, from its model and metadata; none if it has no price.
    fn cost(&self, model: &str, metadata: &serde_json::Map<String, Value>) -> Option<i64>;

    /// The cost of several responses together: none of their prompts is known to be a long one.
    fn cost_of_sum(&self, model: &str, sums: &ModelSums) -> Option<i64>;
}

impl Pricer for agent_tracer_prices::Prices {
    fn cost(&self, model: &str, metadata: &serde_json::Map<String, Value>) -> Option<i64> {
        let spent = agent_tracer_prices::Spent::read(metadata)?;
        i64::try_from(Self::cost(self, model, &spent)?.0).ok()
    }

    fn cost_of_sum(&self, model: &str, sums: &ModelSums) -> Option<i64> {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let hour = count(sums.cache_write_1h).min(count(sums.cache_write));
        let spent = agent_tracer_prices::Spent {
            input: count(sums.input),
            output: count(sums.output),
            cache_read: count(sums.cache_read),
            cache_write_5m: count(sums.cache_write) - hour,
            cache_write_1h: hour,
            web_searches: count(sums.searches),
            prompt: agent_tracer_prices::Prompt::Short,
            ..agent_tracer_prices::Spent::default()
        };
        i64::try_from(Self::cost(self, model, &spent)?.0).ok()
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
/// Each is gathered once, in its finest stretch and its own project: days, months and all projects together follow from
/// that when it is written. A row counts into some twenty sums, and most rows of a transaction into the same ones.
#[derive(Debug, Default)]
pub struct Tally {
    /// Sums over time, by key.
    pub rollups: HashMap<Finest, HashMap<String, Measures>>,
    /// Durations by day, project and actor, and by tool: how many more in each bucket.
    pub latencies: HashMap<(i64, i64, i64), ToolBuckets>,
    /// Sums of tasks.
    pub tasks: HashMap<i64, TaskSums>,
    /// Sums of turns.
    pub turns: HashMap<(i64, i64), TurnSums>,
    /// Sums of files by task and path.
    pub files: HashMap<i64, HashMap<String, FileSums>>,
    /// Calls by task and signature: how many, how many failed.
    pub repeats: HashMap<(i64, i64), (i64, i64)>,
    /// Responses by task and model, and whether they are copies that count elsewhere.
    pub models: HashMap<(i64, String, bool), ModelSums>,
    /// Activations and responses by task and skill, as in [`Dim::Skill`].
    pub skills: HashMap<(i64, String), Measures>,
}

/// Changes what stands under a key, which need not be owned unless it is new.
fn change<T: Default>(map: &mut HashMap<String, T>, key: &str, change: impl FnOnce(&mut T)) {
    match map.get_mut(key) {
        Some(known) => change(known),
        None => change(map.entry(key.to_owned()).or_default()),
    }
}

/// Returns how a call uses the files it names.
fn file_use(row: &FactRow) -> Option<(i64, i64)> {
    match row.text(attributes::SUBTYPE_KEY)? {
        "read_file" | "grep_code" => Some((1, 0)),
        "create_file" | "modify_file" | "delete_file" | "rename_file" | "apply_patch" => Some((0, 1)),
        _ => None,
    }
}

/// Each file of a call, with how it was used: as the command's analysis says, else as the call itself.
pub(crate) fn files_of(row: &FactRow) -> Vec<(&str, i64, i64)> {
    if let Some(Value::Array(operations)) = row.meta(attributes::FILE_OPERATIONS) {
        let named = operations.iter().filter_map(|operation| {
            let path = operation.get("path")?.as_str()?;
            let reads = matches!(operation.get("operation").and_then(Value::as_str), Some("read"));
            Some((path, i64::from(reads), i64::from(!reads)))
        });
        return named.collect();
    }
    let Some((reads, changes)) = file_use(row) else { return Vec::new() };
    row.data.file_paths.iter().map(|path| (path.as_str(), reads, changes)).collect()
}

/// Program and subcommand of the step that decides.
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
        let spent = self.spent(row, pricer);
        let calls = i64::from(is_call);
        let all = Measures { n: 1, failures: failed, ms: call_ms, wait_ms, calls, ..spent };
        self.roll(Dim::Activity, row.occurred, rollup_key, "", all.times(sign));
        let task = self.tasks.entry(rollup_key.task).or_default();
        task.events += sign;
        task.calls += sign * i64::from(is_call);
        task.failures += sign * failed;
        task.copies += sign * i64::from(row.text(attributes::NOT_COUNTED) == Some("copy"));
        task.client_cost += sign * client_cost(row);
        task.spent += Measures { wait_ms, ..spent }.times(sign);
        if let Some(turn) = row.turn {
            let sums = self.turns.entry((rollup_key.task, turn)).or_default();
            sums.calls += sign * i64::from(is_call);
            sums.failures += sign * failed;
            sums.records += sign * i64::from(row.text(attributes::USAGE_SOURCE) == Some("record"));
            sums.spent += spent.times(sign);
        }
        self.count_model(row, rollup_key, &spent, sign);
        if row.usage().is_some() {
            let model = row.text(attributes::MODEL).unwrap_or("unknown");
            self.roll(Dim::Model, row.occurred, rollup_key, model, Measures { n: 1, ..spent }.times(sign));
            if let Some(skill) = row.text(attributes::ATTRIBUTION_SKILL) {
                self.count_skill(row, rollup_key, skill, Measures { ms: 1, ..spent }.times(sign));
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
            let one = Measures { n: 1, ms: took, ..Measures::default() };
            self.roll(Dim::Rule, row.occurred, rollup_key, &key.text(), one.times(sign));
        }
    }

    fn count_skill(&mut self, row: &FactRow, rollup_key: &RollupKey, skill: &str, measures: Measures) {
        self.roll(Dim::Skill, row.occurred, rollup_key, skill, measures);
        *self.skills.entry((rollup_key.task, skill.to_owned())).or_default() += measures;
    }

    fn spent(&self, row: &FactRow, pricer: &dyn Pricer) -> Measures {
        let Some(usage) = row.usage() else { return Measures::default() };
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let cost = pricer.cost(row.text(attributes::MODEL).unwrap_or_default(), &row.data.metadata);
        Measures {
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_creation_tokens),
            reasoning: count(usage.reasoning_tokens.unwrap_or(0)),
            cost: cost.unwrap_or(0),
            responses: 1,
            unpriced: i64::from(cost.is_none()),
            ..Measures::default()
        }
    }

    fn count_model(&mut self, row: &FactRow, rollup_key: &RollupKey, spent: &Measures, sign: i64) {
        let is_copy = row.text(attributes::NOT_COUNTED) == Some("copy");
        if row.list != List::Response || !(is_copy || row.usage().is_some()) {
            return;
        }
        let Some(usage) = Usage::read(&row.data.metadata) else { return };
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let of = |key: &str| row.data.metadata.get(key).and_then(Value::as_i64).unwrap_or(0).max(0);
        let one = ModelSums {
            n: 1,
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_creation_tokens),
            cache_write_1h: of(attributes::CACHE_CREATION_1H_TOKENS),
            searches: of(attributes::WEB_SEARCH_REQUESTS),
            cost: spent.cost,
            unpriced: spent.unpriced,
        };
        let model = row.text(attributes::MODEL).unwrap_or("unknown").to_owned();
        self.models.entry((rollup_key.task, model, is_copy)).or_default().add(&one, sign);
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
        if let Some(signature) = row.signature {
            let repeat = self.repeats.entry((rollup_key.task, signature)).or_default();
            repeat.0 += sign;
            repeat.1 += sign * failed;
        }
        for (path, reads, changes) in files_of(row) {
            change(self.files.entry(rollup_key.task).or_default(), path, |sums| {
                sums.reads += sign * reads;
                sums.changes += sign * changes;
                sums.failures += sign * failed;
                *sums.touches.entry((row.occurred, row.fact)).or_default() += sign;
            });
            let used = Measures { n: reads, failures: changes, ..Measures::default() };
            self.roll(Dim::File, row.occurred, rollup_key, path, used.times(sign));
        }
    }

    fn roll(&mut self, dim: Dim, occurred: i64, rollup_key: &RollupKey, key: &str, measures: Measures) {
        let at = dim.finest().start(occurred);
        let finest = Finest { dim, at, project: rollup_key.project, actor: rollup_key.actor };
        change(self.rollups.entry(finest).or_default(), key, |sums| *sums += measures);
    }

    /// The sums of every stretch, for each project and for all of them.
    #[must_use]
    pub fn rolled(&self) -> HashMap<Place<'_>, Measures> {
        let mut rolled: HashMap<Place<'_>, Measures> = HashMap::new();
        for (Finest { dim, at, project, actor }, keys) in &self.rollups {
            for (key, measures) in keys.iter().filter(|(_, measures)| !measures.is_zero()) {
                for level in dim.levels() {
                    for project in [*project, ALL_PROJECTS] {
                        let (dim, level, at, actor) = (*dim, *level, level.start(*at), *actor);
                        *rolled.entry(Place { dim, level, at, project, actor, key }).or_default() +=
                            *measures;
                    }
                }
            }
        }
        rolled
    }

    /// The durations of every stretch that they are kept for.
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
