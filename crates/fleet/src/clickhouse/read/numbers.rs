//! Numbers over many tasks: tools, failures, commands, servers, skills, types of agents, activity.

use std::collections::{BTreeMap, HashMap};

use agent_tracer_ledger::engine::Grid;
use agent_tracer_ledger::engine::cursor::{self, List as Listing};
use agent_tracer_ledger::engine::spent::count;
use agent_tracer_ledger::project::bucket::{Bucket, Sums, model_of};
use agent_tracer_ledger::project::shown::numbers;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::view::{
    ActivityBucket, AgentStat, CommandStat, FailureStat, FileStat, Loop, McpStat, Page, SkillStat,
    ToolDurations, ToolStat,
};
use agent_tracer_ledger::{Answer, Insights, Range, TaskFilter};
use clickhouse::Row;
use serde::Deserialize;

use super::Reader;
use super::sums::{Asked, By, Summed, rounded};
use super::task::narrowed;

/// How many tasks of a type of agent.
#[derive(Row, Deserialize)]
struct Typed {
    name: String,
    tasks: i64,
    run_ms: i64,
}

/// The tasks that had events in a range.
pub(crate) fn tasks_of(range: &Range) -> TaskFilter {
    TaskFilter {
        agent: range.agent,
        agent_type: range.agent_type.clone(),
        project: range.project.clone(),
        since: range.since,
        until: range.until,
        ..TaskFilter::default()
    }
}

impl Reader {
    /// A page of the keys of a dimension by how often, and the span they were summed in.
    fn ranked(&self, range: &Range, dim: Dim) -> Answer<Option<(Asked, Page<Summed>)>> {
        // A cursor that is none is refused, even where there is nothing to list.
        cursor::place::<2>(Listing::Ranked, &range.paging)?;
        let Some(asked) = self.asked(range)? else { return Ok(None) };
        let mut sums = self.sums(&asked.closed, dim, asked.span, range, By::Key)?;
        sums.retain(|summed| summed.sums != Sums::default());
        let page = cursor::page(Listing::Ranked, &range.paging, sums, |summed| {
            [-summed.sums.n, cursor::stable(&summed.key)]
        })?;
        Ok(Some((asked, page)))
    }

    fn shown<T>(&self, range: &Range, dim: Dim, show: impl FnMut(Summed) -> T) -> Answer<Page<T>> {
        Ok(match self.ranked(range, dim)? {
            Some((_, page)) => page.map(show),
            None => Page::whole(Vec::new()),
        })
    }

    /// How often each key of a dimension counts.
    fn counts(&self, dim: Dim, asked: &Asked, range: &Range) -> Answer<HashMap<String, Sums>> {
        let sums = self.sums(&asked.closed, dim, asked.span, range, By::Key)?;
        Ok(sums.into_iter().map(|summed| (summed.key, summed.sums)).collect())
    }
}

impl Insights for Reader {
    /// Tools: how often, how well, how long.
    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>> {
        let Some((asked, page)) = self.ranked(range, Dim::Tool)? else { return Ok(Page::whole(Vec::new())) };
        let durations = self.durations_of(&asked, range)?;
        Ok(page.map(|Summed { key, sums, .. }| {
            let durations = durations.get(&key);
            numbers::tool_stat(key, &sums, durations)
        }))
    }

    /// How long the calls of every tool in a range took, counted at these bounds: most calls first.
    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
        let Some(asked) = self.asked(range)? else { return Ok(Vec::new()) };
        let sums = self.counts(Dim::Tool, &asked, range)?;
        // Days are rounded outwards: a tool that was used on one of them may not be in the range itself.
        let tools = self.durations_of(&asked, range)?.into_iter().filter_map(|(tool, buckets)| {
            let ms = sums.get(&tool)?.ms;
            Some((tool, buckets, ms))
        });
        Ok(numbers::tool_durations(tools, bounds_ms))
    }

    /// Failures by class and tool.
    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>> {
        let Some((asked, page)) = self.ranked(range, Dim::Error)? else { return Ok(Page::whole(Vec::new())) };
        let calls = self.counts(Dim::Tool, &asked, range)?;
        Ok(page.map(|summed| {
            let (error_class, tool) = numbers::split(&summed.key);
            FailureStat {
                error_class,
                count: count(summed.sums.n),
                calls: count(calls.get(&tool).map_or(summed.sums.n, |sums| sums.n)),
                tool,
            }
        }))
    }

    /// Skills by how often they were activated.
    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>> {
        let mut whole = 0_i64;
        if let Some(asked) = self.asked(range)? {
            for sums in self.counts(Dim::Model, &asked, range)?.values() {
                whole = whole.saturating_add(sums.cost);
            }
        }
        self.shown(range, Dim::Skill, |summed| numbers::skill_stat(summed.key, &summed.sums, whole))
    }

    /// MCP calls by server and tool.
    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>> {
        self.shown(range, Dim::Mcp, |summed| numbers::mcp_stat(&summed.key, &summed.sums))
    }

    /// Types of agents, by how many tasks.
    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>> {
        cursor::place::<2>(Listing::Ranked, &range.paging)?;
        let Some(Asked { span, closed }) = self.asked(range)? else { return Ok(Page::whole(Vec::new())) };
        let mut types: BTreeMap<String, ((i64, i64), Sums, Bucket)> = BTreeMap::new();
        for summed in self.sums(&closed, Dim::Tool, span, range, By::AgentType)? {
            types.entry(summed.name).or_default().1.add(&summed.sums, 1);
        }
        for summed in self.sums(&closed, Dim::Model, span, range, By::AgentType)? {
            types.entry(summed.name).or_default().2.add(&summed.sums, model_of(&summed.key).1, 1);
        }
        let typed = self.rows::<Typed>(&format!(
            "SELECT toString(agent_type) AS name, toInt64(count()) AS tasks, sum(greatest(last - started, 0)) AS run_ms FROM task FINAL WHERE {} AND {} GROUP BY name",
            self.mine(),
            narrowed(&tasks_of(range)).join(" AND ")
        ))?;
        for typed in typed {
            types.entry(typed.name).or_default().0 = (typed.tasks, typed.run_ms);
        }
        let items: Vec<(i64, AgentStat)> = (0..)
            .zip(types)
            .map(|(place, (name, (tasks, calls, spent)))| {
                (place, numbers::agent_stat(name, tasks, &calls, &spent))
            })
            .collect();
        let page = cursor::page(Listing::Ranked, &range.paging, items, |(place, item)| {
            [-i64::try_from(item.tasks).unwrap_or(i64::MAX), *place]
        })?;
        Ok(page.map(|(_, item)| item))
    }

    /// Shell commands by program and subcommand.
    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>> {
        self.shown(range, Dim::Command, |summed| numbers::command_stat(summed.key, &summed.sums))
    }

    /// Activity over time, in columns of equal width, oldest first, those without anything included.
    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
        let Some(asked) = self.asked(range)? else { return Ok(Page::whole(Vec::new())) };
        let ((first, last), closed) = (asked.span, &asked.closed);
        let from = range.since.map_or(first, |since| since.0);
        let to = match range.until {
            Some(until) => until.0,
            None => self.newest(closed)?.unwrap_or(last),
        };
        let Some(grid) = Grid::of(from, to, buckets) else { return Ok(Page::whole(Vec::new())) };
        let mut columns = vec![(Sums::default(), 0_i64); grid.columns];
        // Only what is known is read, however far the chart goes.
        let known = rounded((first.max(grid.from), last.min(grid.to())), grid.level);
        for dim in [Dim::Activity, Dim::Tool] {
            for summed in self.sums(closed, dim, known, range, By::Time(grid.level))? {
                let Some(column) = grid.column(summed.at).and_then(|column| columns.get_mut(column)) else {
                    continue;
                };
                match dim {
                    Dim::Tool => column.1 += summed.sums.n,
                    _ => column.0.add(&summed.sums, 1),
                }
            }
        }
        let items = columns.iter().enumerate();
        let items =
            items.map(|(place, (sums, calls))| numbers::activity_bucket(grid.at(place), sums, *calls));
        Ok(Page::whole(items.collect()))
    }

    fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        Self::files(self, range)
    }

    fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        Self::loops(self, range)
    }
}
