//! The sums of a team's store, as the insight questions read them.

use std::collections::{BTreeSet, HashMap};

use agent_tracer_ledger::insights::{GroupBy, KeySums, Rollups, TaskCount, ToolSums, Window};
use agent_tracer_ledger::project::measures::Measures;
use agent_tracer_ledger::project::tally::Dim;
use agent_tracer_ledger::view::{
    ActivityBucket, AgentStat, CommandStat, FailureStat, FileStat, Loop, McpStat, Page, SkillStat,
    ToolDurations, ToolStat, UsageBucket,
};
use agent_tracer_ledger::{Answer, Insights, Range, TaskFilter, UsageBy, Zone, insights};
use clickhouse::Row;
use serde::Deserialize;

use super::Reader;
use super::closed_days::ClosedDays;
use super::sums::QuerySpan;
use super::task::tasks_filter;

/// The number of tasks of one agent type, and how long they ran.
#[derive(Row, Deserialize)]
struct TaskCountLine {
    name: String,
    tasks: i64,
    run_ms: i64,
}

/// Returns the filter of tasks that had events in a range.
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

/// The scope of a window: which days are closed, and what the rows are narrowed by.
#[derive(Clone, Debug)]
pub struct Scope {
    closed: ClosedDays,
    range: Range,
}

impl Rollups for Reader {
    type Scope = Scope;

    fn window(&self, range: &Range) -> Answer<Option<Window<Scope>>> {
        let window =
            |QuerySpan { span, closed }| Window { span, scope: Scope { closed, range: range.clone() } };
        Ok(self.query_span(range)?.map(window))
    }

    fn sums(&self, window: &Window<Scope>, span: (i64, i64), dim: Dim, by: GroupBy) -> Answer<Vec<KeySums>> {
        let Scope { closed, range } = &window.scope;
        let mut sums = Self::sums(self, closed, dim, span, range, by)?;
        if dim == Dim::Activity {
            // Calls are counted by tool here; the embedded store keeps them beside the activity too.
            for tool in Self::sums(self, closed, Dim::Tool, span, range, by)? {
                let calls = Measures { calls: tool.sums.n, ..Measures::default() };
                sums.push(KeySums { key: String::new(), sums: calls, ..tool });
            }
        }
        Ok(sums)
    }

    fn tool_sums(&self, window: &Window<Scope>) -> Answer<Vec<ToolSums>> {
        let Scope { closed, range } = &window.scope;
        let mut durations = self.durations_of(window.span, closed, range)?;
        let sums = Self::sums(self, closed, Dim::Tool, window.span, range, GroupBy::Key)?;
        let tool =
            |KeySums { key, sums, .. }| ToolSums { durations: durations.remove(&key), tool: key, sums };
        Ok(sums.into_iter().map(tool).collect())
    }

    fn task_counts(&self, _: &Window<Scope>, range: &Range) -> Answer<Vec<TaskCount>> {
        let counts = self.rows::<TaskCountLine>(&format!(
            "SELECT toString(agent_type) AS name, toInt64(count()) AS tasks, \
               sum(greatest(last - started, 0)) AS run_ms \
             FROM task FINAL WHERE {} AND {} GROUP BY name",
            self.task_filter(),
            tasks_filter(&tasks_of(range)).join(" AND ")
        ))?;
        let count =
            |line: TaskCountLine| TaskCount { agent_type: line.name, tasks: line.tasks, run_ms: line.run_ms };
        Ok(counts.into_iter().map(count).collect())
    }

    fn newest(&self, window: &Window<Scope>) -> Answer<Option<i64>> {
        Self::newest(self, &window.scope.closed)
    }

    fn last_decisions(
        &self,
        window: &Window<Scope>,
        _: &BTreeSet<String>,
    ) -> Answer<HashMap<(String, String), i64>> {
        // Of all rules: naming them would not let the engine read fewer rows of the dimension.
        self.last_of_rules(&window.scope.closed)
    }

    fn usage_by_time(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        self.usage_over_time(range, by, zone)
    }

    fn usage_by_task(&self, range: &Range) -> Answer<Page<UsageBucket>> {
        self.usage_of_tasks(range)
    }
}

impl Insights for Reader {
    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>> {
        insights::tools(self, range)
    }

    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
        insights::durations(self, range, bounds_ms)
    }

    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>> {
        insights::failures(self, range)
    }

    fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        Self::files(self, range)
    }

    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>> {
        insights::skills(self, range)
    }

    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>> {
        insights::mcp(self, range)
    }

    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>> {
        insights::agents(self, range)
    }

    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>> {
        insights::commands(self, range)
    }

    fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        Self::loops(self, range)
    }

    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
        insights::activity(self, range, buckets)
    }
}
