//! Every question of [`Store`], and the room that answers it.

use agent_tracer_event::{FactId, Millis, TaskId};

use super::insights::StoredSums;
use super::{
    SqliteStore, attention, context, detail, files, health, lanes, limits, lists, loops, parts, rules,
    search, summary, task, tasks, turns, usage,
};
use crate::insights;
use crate::store::{
    Answer, Changes, DecisionFilter, Decisions, Diagnostics, Insights, Paging, Range, RowFilter, Search,
    SearchFilter, Store, TaskDetails, TaskFilter, Tasks, Timeline, Usage, UsageBy, Zone,
};
use crate::view::{
    ActivityBucket, AgentStat, Attention, CommandRun, CommandStat, ContextPoint, EventDetail, Exploration,
    FailureStat, FileStat, FileUse, Hit, LaneBins, Limit, Loop, McpStat, OutcomeCounts, OutcomeReason, Page,
    Permission, Question, Row, RuleDecision, RuleStat, SkillStat, SourceHealth, StoreHealth, Task,
    TaskSummary, Todo, ToolCall, ToolDurations, ToolStat, TreeNode, Turn, UnrecognisedName, UsageBlock,
    UsageBucket, WebLookup,
};

impl Store for SqliteStore {}

impl Tasks for SqliteStore {
    fn tasks(&self, now: Millis, filter: &TaskFilter) -> Answer<Page<Task>> {
        self.ask(|conn| tasks::tasks(conn, now, filter))
    }

    fn task(&self, now: Millis, id: &TaskId) -> Answer<Task> {
        self.ask(|conn| task::task(conn, now, id))
    }

    fn tree(&self, now: Millis, id: &TaskId) -> Answer<Page<TreeNode>> {
        self.ask(|conn| task::tree(conn, now, id).map(Page::whole))
    }

    fn attention(&self, now: Millis) -> Answer<Page<Attention>> {
        self.ask(|conn| attention::attention(conn, now))
    }
}

impl TaskDetails for SqliteStore {
    fn summary(&self, now: Millis, id: &TaskId) -> Answer<TaskSummary> {
        self.ask(|conn| summary::summary(conn, now, id))
    }

    fn turns(&self, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
        self.ask(|conn| turns::turns(conn, id, paging))
    }

    fn context(&self, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
        self.ask(|conn| context::context(conn, id, paging))
    }

    fn todos(&self, id: &TaskId) -> Answer<Page<Todo>> {
        self.ask(|conn| summary::todos(conn, id))
    }

    fn task_files(&self, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
        self.ask(|conn| files::of_task(conn, id, tree, paging))
    }

    fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
        self.ask(|conn| parts::of_task(conn, id, by))
    }
}

impl Timeline for SqliteStore {
    fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
        self.ask(|conn| lists::timeline(conn, id, filter))
    }

    fn tool_calls(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
        self.ask(|conn| lists::tool_calls(conn, id, filter))
    }

    fn task_commands(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
        self.ask(|conn| lists::commands(conn, id, filter))
    }

    fn exploration(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
        self.ask(|conn| lists::exploration(conn, id, filter))
    }

    fn web(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
        self.ask(|conn| lists::web(conn, id, filter))
    }

    fn permissions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
        self.ask(|conn| lists::permissions(conn, id, filter))
    }

    fn questions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
        self.ask(|conn| lists::questions(conn, id, filter))
    }

    fn lanes(&self, id: &TaskId, from: Option<Millis>, to: Option<Millis>, width: u32) -> Answer<LaneBins> {
        self.ask(|conn| lanes::lanes(conn, id, from, to, width))
    }

    fn event(&self, id: &FactId) -> Answer<EventDetail> {
        self.ask(|conn| detail::event(conn, id))
    }
}

impl Insights for SqliteStore {
    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>> {
        self.ask(|conn| insights::tools(&StoredSums(conn), range))
    }

    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
        self.ask(|conn| insights::durations(&StoredSums(conn), range, bounds_ms))
    }

    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>> {
        self.ask(|conn| insights::failures(&StoredSums(conn), range))
    }

    fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        self.ask(|conn| files::of_range(conn, range))
    }

    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>> {
        self.ask(|conn| insights::skills(&StoredSums(conn), range))
    }

    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>> {
        self.ask(|conn| insights::mcp(&StoredSums(conn), range))
    }

    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>> {
        self.ask(|conn| insights::agents(&StoredSums(conn), range))
    }

    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>> {
        self.ask(|conn| insights::commands(&StoredSums(conn), range))
    }

    fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        self.ask(|conn| loops::loops(conn, range))
    }

    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
        self.ask(|conn| insights::activity(&StoredSums(conn), range, buckets))
    }
}

impl Usage for SqliteStore {
    fn usage(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        if matches!(by, UsageBy::Owner | UsageBy::Machine) {
            return Err(usage::of_one_machine());
        }
        self.ask(|conn| insights::usage(&StoredSums(conn), range, by, zone))
    }

    fn blocks(&self, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
        self.ask(|conn| insights::blocks(&StoredSums(conn), now, range))
    }

    fn limits(&self, now: Millis) -> Answer<Page<Limit>> {
        self.ask(|conn| limits::limits(conn, now))
    }
}

impl Decisions for SqliteStore {
    fn decisions(&self, filter: &DecisionFilter) -> Answer<Page<RuleDecision>> {
        self.ask(|conn| rules::decisions(conn, filter))
    }

    fn rules(&self, range: &Range) -> Answer<Page<RuleStat>> {
        self.ask(|conn| insights::rules(&StoredSums(conn), range))
    }
}

impl Search for SqliteStore {
    fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>> {
        self.ask(|conn| search::search(conn, filter))
    }
}

impl Changes for SqliteStore {
    fn changes(&self, after: u64, limit: u32) -> Answer<Vec<Row>> {
        self.ask(|conn| detail::changes(conn, after, limit))
    }

    fn seq(&self) -> Answer<u64> {
        self.ask(health::seq)
    }
}

impl Diagnostics for SqliteStore {
    fn outcomes(&self) -> Answer<OutcomeCounts> {
        self.ask(health::outcomes)
    }

    fn reasons(&self) -> Answer<Vec<OutcomeReason>> {
        self.ask(health::reasons)
    }

    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>> {
        self.ask(health::unrecognised)
    }

    fn sources(&self) -> Answer<Vec<SourceHealth>> {
        self.ask(health::sources)
    }

    fn position(&self, source: &str) -> Answer<Option<u64>> {
        Ok(self.cursor(source)?.map(|cursor| cursor.offset))
    }

    fn health(&self) -> Answer<StoreHealth> {
        self.ask(health::health)
    }
}
