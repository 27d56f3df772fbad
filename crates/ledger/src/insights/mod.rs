//! Queries about sums, defined once for all stores.
//!
//! A query here consists of a dimension, a grouping and a presentation. A store implements only the readings of
//! [`Rollups`]: the window of a range, sums by key and group, tool durations and task counts. The embedded store reads
//! stored sums of stretches of time, ClickHouse adds up deduplicated facts and the sums of closed days. The meaning of
//! each number is defined here, so the two cannot differ in it.
//!
//! Queries that need a plan of their own in each store are not here: usage by local days (the embedded store subtracts
//! the quarter-hours at the edges, ClickHouse has them all), files, loops, and lists of tasks.

mod activity;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use agent_tracer_event::Millis;

pub use activity::{Grid, activity};

use crate::engine::cursor::{self, List};
use crate::engine::usage_sum::count;
use crate::project::bucket::{Bucket, model_of};
use crate::project::measures::Measures;
use crate::project::presenters::{self, numbers};
use crate::project::ruling::RuleKey;
use crate::project::tally::Dim;
use crate::project::time::Level;
use crate::store::{Answer, Paging, Range, UsageBy, Zone};
use crate::view::{
    AgentStat, CommandStat, FailureStat, McpStat, Page, RuleStat, SkillStat, ToolDurations, ToolStat,
    UsageBlock, UsageBucket,
};

/// The number of durations in each bucket of a latency histogram.
pub type Durations = BTreeMap<i64, u64>;

/// A range, cut to the whole days for which the store has data.
#[derive(Clone, Debug)]
pub struct Window<S> {
    /// The first moment and the end.
    pub span: (i64, i64),
    /// The store's own form of the range's project, agent and agent type.
    pub scope: S,
}

/// The grouping of sums beside their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// No grouping.
    Key,
    /// The project of the task.
    Project,
    /// The agent product.
    Agent,
    /// The type of the agent.
    AgentType,
    /// The owner of the token. Only a team's store knows any.
    Owner,
    /// The machine. Only a team's store knows more than one.
    Machine,
    /// Stretches of time.
    Time(Level),
}

/// The sums of one key in one group.
#[derive(Clone, Debug, Default)]
pub struct KeySums {
    /// The key of the dimension.
    pub key: String,
    /// The name of the group; empty for [`GroupBy::Key`] and [`GroupBy::Time`].
    pub group: String,
    /// The beginning of the stretch of time; zero for any other grouping.
    pub at: i64,
    /// The sums.
    pub sums: Measures,
}

/// The sums of one tool and the durations of its calls, where they are known.
#[derive(Clone, Debug, Default)]
pub struct ToolSums {
    /// The tool.
    pub tool: String,
    /// Its sums.
    pub sums: Measures,
    /// Its durations. `None` if some of them were kept without the agent that acted and the range asks for some agents only.
    pub durations: Option<Durations>,
}

/// The number of tasks of one agent type, and their run time.
#[derive(Clone, Debug, Default)]
pub struct TaskCount {
    /// The type of the agent.
    pub agent_type: String,
    /// The number of tasks.
    pub tasks: i64,
    /// Their summed run time.
    pub run_ms: i64,
}

/// The keys that a page of the most frequent ones may show.
///
/// A year of a busy machine has thousands of commands, of which a page shows a hundred: the others need no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostFrequent {
    /// Keys that occur more often are on earlier pages.
    at_most: i64,
    /// The length of the page, and one more, which tells that another page follows.
    count: usize,
}

impl MostFrequent {
    /// Returns the keys of a page of [`List::Ranked`].
    fn parse(paging: &Paging) -> Answer<Self> {
        let after = cursor::page_start::<2>(List::Ranked, paging)?;
        let at_most = after.map_or(i64::MAX, |[rank, _]| rank.saturating_neg());
        Ok(Self { at_most, count: cursor::limit(paging).saturating_add(1) })
    }

    /// Drops keys that the page cannot show. Of those that occur equally often all or none stay, because their order
    /// depends on their names.
    pub fn retain<T>(self, keys: &mut Vec<T>, n: impl Fn(&T) -> i64) {
        keys.retain(|key| n(key) <= self.at_most);
        // Keys that occur as often as the last one of the page before may all be on that page.
        let mut rest: Vec<i64> = keys.iter().map(&n).filter(|n| *n < self.at_most).collect();
        if rest.len() > self.count {
            let (_, least, _) = rest.select_nth_unstable_by(self.count - 1, |one, two| two.cmp(one));
            let least = *least;
            keys.retain(|key| n(key) >= least);
        }
    }
}

/// The readings that a store supplies.
pub trait Rollups {
    /// The state of a store between the readings of one query.
    type Scope;

    /// Returns the window of a range, or `None` if nothing can be in it.
    ///
    /// # Errors
    /// If the range ends before it begins, or the store cannot answer.
    fn window(&self, range: &Range) -> Answer<Option<Window<Self::Scope>>>;

    /// Returns the sums of a dimension in a span of the window, rounded outwards to the shortest stretch that is kept.
    ///
    /// # Errors
    /// If the store cannot answer, or does not know the grouping.
    fn sums(
        &self,
        window: &Window<Self::Scope>,
        span: (i64, i64),
        dim: Dim,
        by: GroupBy,
    ) -> Answer<Vec<KeySums>>;

    /// Returns the sums of a dimension by key: at least those that [`MostFrequent::retain`] keeps.
    ///
    /// # Errors
    /// As [`Rollups::sums`].
    fn frequent_sums(
        &self,
        window: &Window<Self::Scope>,
        dim: Dim,
        _most: MostFrequent,
    ) -> Answer<Vec<KeySums>> {
        self.sums(window, window.span, dim, GroupBy::Key)
    }

    /// Returns the sums and durations of every tool. Durations are rounded outwards to days.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn tool_sums(&self, window: &Window<Self::Scope>) -> Answer<Vec<ToolSums>>;

    /// Returns the tasks with events in a range by agent type.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn task_counts(&self, window: &Window<Self::Scope>, range: &Range) -> Answer<Vec<TaskCount>>;

    /// Returns the end of the newest quarter-hour with data.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn newest(&self, window: &Window<Self::Scope>) -> Answer<Option<i64>>;

    /// Returns the time of the last decision by rule and project: at least of these rules.
    ///
    /// It may lie outside the window: it says whether a rule still speaks, and not how often it did.
    ///
    /// # Errors
    /// If the store cannot answer.
    fn last_decisions(
        &self,
        window: &Window<Self::Scope>,
        rules: &BTreeSet<String>,
    ) -> Answer<HashMap<(String, String), i64>>;

    /// Returns the usage of each local day, week or month, oldest first. Those without a response are left out.
    ///
    /// # Errors
    /// If the range or its cursor is wrong, or the store cannot answer.
    fn usage_by_time(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>>;

    /// Returns the tasks with events in a range, newest first, each with its whole usage.
    ///
    /// # Errors
    /// As [`Rollups::usage_by_time`].
    fn usage_by_task(&self, range: &Range) -> Answer<Page<UsageBucket>>;
}

/// Returns the sums of a dimension by key. Keys whose sums were taken away again are dropped.
fn by_key<R: Rollups>(rollups: &R, window: &Window<R::Scope>, dim: Dim) -> Answer<Vec<KeySums>> {
    let mut sums = rollups.sums(window, window.span, dim, GroupBy::Key)?;
    sums.retain(|key| !key.sums.is_zero());
    Ok(sums)
}

/// Returns the sums of a dimension by key, as far as a page of the most frequent may show them.
fn frequent<R: Rollups>(
    rollups: &R,
    window: &Window<R::Scope>,
    dim: Dim,
    range: &Range,
) -> Answer<Vec<KeySums>> {
    let mut sums = rollups.frequent_sums(window, dim, MostFrequent::parse(&range.paging)?)?;
    sums.retain(|key| !key.sums.is_zero());
    Ok(sums)
}

/// Returns a page of items, most frequent first. Ties are ordered by name, so that all stores give the same order.
fn ranked<T>(range: &Range, items: Vec<T>, rank: impl Fn(&T) -> (i64, &str)) -> Answer<Page<T>> {
    cursor::page(List::Ranked, &range.paging, items, |item| {
        let (n, name) = rank(item);
        [-n, cursor::stable(name)]
    })
}

/// Returns a page that presents the sums of one dimension, most frequent first.
fn presented<R: Rollups, T>(
    rollups: &R,
    range: &Range,
    dim: Dim,
    mut present: impl FnMut(KeySums) -> T,
) -> Answer<Page<T>> {
    // A foreign cursor is refused even where there is nothing to list.
    cursor::page_start::<2>(List::Ranked, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let page = ranked(range, frequent(rollups, &window, dim, range)?, |key| (key.sums.n, &key.key))?;
    Ok(page.map(&mut present))
}

/// Returns the calls, failures and durations of each tool.
///
/// # Errors
/// If the range or its cursor is wrong, or the store cannot answer.
pub fn tools<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<ToolStat>> {
    cursor::page_start::<2>(List::Ranked, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let mut tools = rollups.tool_sums(&window)?;
    tools.retain(|tool| !tool.sums.is_zero());
    let page = ranked(range, tools, |tool| (tool.sums.n, &tool.tool))?;
    Ok(page.map(|tool| numbers::tool_stat(tool.tool, &tool.sums, tool.durations.as_ref())))
}

/// Returns the decisions of each rule with their counts, most decisions first.
///
/// # Errors
/// As [`tools`].
pub fn rules<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<RuleStat>> {
    cursor::page_start::<2>(List::Ranked, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let sums = by_key(rollups, &window, Dim::Rule)?.into_iter();
    let sums = sums.map(|summed| (RuleKey::parse(&summed.key), summed.sums));
    let stats: Vec<(i64, RuleStat)> = (0..).zip(presenters::rule_stats(sums)).collect();
    let page = cursor::page(List::Ranked, &range.paging, stats, |(place, stat)| {
        [-i64::try_from(stat.count).unwrap_or(i64::MAX), *place]
    })?;
    // Asked for the rules of the page alone: the embedded store looks each name up in an index.
    let names: BTreeSet<String> = page.items.iter().map(|(_, stat)| stat.rule.clone()).collect();
    let last = if names.is_empty() { HashMap::new() } else { rollups.last_decisions(&window, &names)? };
    Ok(page.map(|(_, mut stat)| {
        let key = (stat.rule.clone(), stat.project.clone().unwrap_or_default());
        stat.last_at = last.get(&key).copied().map(Millis);
        stat
    }))
}

/// Returns the number of each tool's calls within each of the bounds, most calls first.
///
/// # Errors
/// As [`tools`].
pub fn durations<R: Rollups>(rollups: &R, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
    let Some(window) = rollups.window(range)? else { return Ok(Vec::new()) };
    let tools = rollups.tool_sums(&window)?.into_iter();
    let tools = tools.filter_map(|tool| tool.durations.map(|durations| (tool.tool, durations, tool.sums.ms)));
    Ok(numbers::tool_durations(tools, bounds_ms))
}

/// Returns failures by error class and tool.
///
/// # Errors
/// As [`tools`].
pub fn failures<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<FailureStat>> {
    cursor::page_start::<2>(List::Ranked, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let page = ranked(range, frequent(rollups, &window, Dim::Error, range)?, |key| (key.sums.n, &key.key))?;
    let calls: HashMap<String, i64> =
        by_key(rollups, &window, Dim::Tool)?.into_iter().map(|tool| (tool.key, tool.sums.n)).collect();
    Ok(page.map(|KeySums { key, sums, .. }| {
        let (error_class, tool) = numbers::split(&key);
        FailureStat {
            error_class,
            count: count(sums.n),
            calls: count(calls.get(&tool).copied().unwrap_or(sums.n)),
            tool,
        }
    }))
}

/// Returns shell commands by program and subcommand.
///
/// # Errors
/// As [`tools`].
pub fn commands<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<CommandStat>> {
    presented(rollups, range, Dim::Command, |command| numbers::command_stat(command.key, &command.sums))
}

/// Returns MCP calls by server and tool.
///
/// # Errors
/// As [`tools`].
pub fn mcp<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<McpStat>> {
    presented(rollups, range, Dim::Mcp, |call| numbers::mcp_stat(&call.key, &call.sums))
}

/// Returns the activations of each skill and the usage attributed to it.
///
/// # Errors
/// As [`tools`].
pub fn skills<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<SkillStat>> {
    let mut whole = 0_i64;
    if let Some(window) = rollups.window(range)? {
        for model in by_key(rollups, &window, Dim::Model)? {
            whole = whole.saturating_add(model.sums.spend.cost);
        }
    }
    presented(rollups, range, Dim::Skill, |skill| numbers::skill_stat(skill.key, &skill.sums, whole))
}

/// The sums of one agent type.
#[derive(Clone, Debug, Default)]
struct AgentSums {
    tasks: i64,
    run_ms: i64,
    calls: Measures,
    spent: Bucket,
}

/// Returns agent types, ordered by the number of their tasks.
///
/// # Errors
/// As [`tools`].
pub fn agents<R: Rollups>(rollups: &R, range: &Range) -> Answer<Page<AgentStat>> {
    cursor::page_start::<2>(List::Ranked, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let mut types: BTreeMap<String, AgentSums> = BTreeMap::new();
    for tool in rollups.sums(&window, window.span, Dim::Tool, GroupBy::AgentType)? {
        types.entry(tool.group).or_default().calls += tool.sums;
    }
    for model in rollups.sums(&window, window.span, Dim::Model, GroupBy::AgentType)? {
        types.entry(model.group).or_default().spent.add(model.sums.spend, model_of(&model.key).1, 1);
    }
    for counted in rollups.task_counts(&window, range)? {
        let sums = types.entry(counted.agent_type).or_default();
        sums.tasks += counted.tasks;
        sums.run_ms = sums.run_ms.saturating_add(counted.run_ms);
    }
    // Sums are also taken away, so a type may be left with zeros. It did nothing in the range.
    types.retain(|_, sums| sums.tasks > 0 || !sums.calls.is_zero() || !sums.spent.is_empty());
    let items: Vec<(i64, (String, AgentSums))> = (0..).zip(types).collect();
    let page = cursor::page(List::Ranked, &range.paging, items, |(place, (_, sums))| [-sums.tasks, *place])?;
    Ok(page.map(|(_, (agent_type, sums))| {
        numbers::agent_stat(agent_type, (sums.tasks, sums.run_ms), &sums.calls, &sums.spent)
    }))
}

/// Returns the usage in a range, by a grouping.
///
/// # Errors
/// As [`tools`], and if the store does not know the grouping.
pub fn usage<R: Rollups>(
    rollups: &R,
    range: &Range,
    by: UsageBy,
    zone: &dyn Zone,
) -> Answer<Page<UsageBucket>> {
    let (dim, by) = match by {
        UsageBy::Day | UsageBy::Week | UsageBy::Month => return rollups.usage_by_time(range, by, zone),
        UsageBy::Task => return rollups.usage_by_task(range),
        UsageBy::Model => (Dim::Model, GroupBy::Key),
        UsageBy::Skill => (Dim::Skill, GroupBy::Key),
        UsageBy::Project => (Dim::Model, GroupBy::Project),
        UsageBy::Agent => (Dim::Model, GroupBy::Agent),
        UsageBy::AgentType => (Dim::Model, GroupBy::AgentType),
        UsageBy::Owner => (Dim::Model, GroupBy::Owner),
        UsageBy::Machine => (Dim::Model, GroupBy::Machine),
    };
    let Some(window) = rollups.window(range)? else {
        return numbers::usage_page(&range.paging, Vec::new());
    };
    let mut buckets: HashMap<String, Bucket> = HashMap::new();
    for KeySums { key, group, sums, .. } in rollups.sums(&window, window.span, dim, by)? {
        let (model, reason) = model_of(&key);
        let name = if by == GroupBy::Key { model.to_owned() } else { group };
        buckets.entry(name).or_default().add(sums.spend, reason, 1);
    }
    numbers::usage_page(&range.paging, buckets)
}

/// Returns the usage in windows of five hours, newest first.
///
/// # Errors
/// As [`tools`].
pub fn blocks<R: Rollups>(rollups: &R, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
    cursor::page_start::<1>(List::Usage, &range.paging)?;
    let Some(window) = rollups.window(range)? else { return Ok(Page::whole(Vec::new())) };
    let quarters = quarters(rollups, &window, numbers::block_span(window.span))?;
    numbers::block_page(&range.paging, now, range.since, quarters)
}

/// Returns the usage of every quarter-hour of a span.
///
/// # Errors
/// If the store cannot answer.
pub fn quarters<R: Rollups>(
    rollups: &R,
    window: &Window<R::Scope>,
    span: (i64, i64),
) -> Answer<BTreeMap<i64, Bucket>> {
    let mut quarters: BTreeMap<i64, Bucket> = BTreeMap::new();
    for model in rollups.sums(window, span, Dim::Model, GroupBy::Time(Level::Quarter))? {
        quarters.entry(model.at).or_default().add(model.sums.spend, model_of(&model.key).1, 1);
    }
    Ok(quarters)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pages_of_the_most_frequent_are_those_of_all(
            counts in proptest::collection::vec(0_i64..6, 0..60), limit in 1_u32..9,
        ) {
            let keys: Vec<(i64, String)> = (0..).zip(counts).map(|(name, n)| (n, format!("{name}"))).collect();
            let mut range = Range { paging: Paging { cursor: None, limit }, ..Range::default() };
            loop {
                let mut frequent = keys.clone();
                MostFrequent::parse(&range.paging).unwrap().retain(&mut frequent, |(n, _)| *n);
                let page = |keys: Vec<(i64, String)>| ranked(&range, keys, |(n, name)| (*n, name)).unwrap();
                let (some, all) = (page(frequent), page(keys.clone()));
                prop_assert_eq!(&some, &all);
                let Some(next) = all.next_cursor else { break };
                range.paging.cursor = Some(next);
            }
        }
    }

    #[test]
    fn keys_beyond_the_page_are_dropped() {
        let mut keys: Vec<i64> = (0..10_000).collect();
        MostFrequent::parse(&Paging { cursor: None, limit: 3 }).unwrap().retain(&mut keys, |n| *n);
        assert_eq!(keys, [9_996, 9_997, 9_998, 9_999]);
    }
}
