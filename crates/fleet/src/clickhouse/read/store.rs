//! Every question of [`Store`], and who answers it.
//!
//! What arrived at a machine, and what became of it, is counted on that machine: those questions have empty answers here.

use std::sync::Arc;

use agent_tracer_event::{FactId, Millis, TaskId};
use agent_tracer_ledger::view::{
    ActivityBucket, AgentStat, Attention, CommandRun, CommandStat, ContextPoint, EventDetail, Exploration,
    FailureStat, FileStat, FileUse, Hit, LaneBins, Limit, Loop, McpStat, OutcomeCounts, Page, Permission,
    Question, Row, RuleDecision, RuleStat, SkillStat, SourceHealth, StoreHealth, Task, TaskSummary, Todo,
    ToolCall, ToolDurations, ToolStat, TreeNode, Turn, UnrecognisedName, UsageBlock, UsageBucket, WebLookup,
};
use agent_tracer_ledger::{
    Answer, DecisionFilter, Paging, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Whose, Zone,
};

use super::Reader;

impl Store for Reader {
    fn narrowed(&self, whose: &Whose) -> Option<Arc<dyn Store>> {
        Some(Arc::new(self.of(whose)))
    }

    fn tasks(&self, now: Millis, filter: &TaskFilter) -> Answer<Page<Task>> {
        Self::tasks(self, now, filter)
    }

    fn task(&self, now: Millis, id: &TaskId) -> Answer<Task> {
        Self::task(self, now, id)
    }

    fn tree(&self, now: Millis, id: &TaskId) -> Answer<Page<TreeNode>> {
        Self::tree(self, now, id)
    }

    fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
        Self::timeline(self, id, filter)
    }

    fn turns(&self, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
        Self::turns(self, id, paging)
    }

    fn tool_calls(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
        Self::tool_calls(self, id, filter)
    }

    fn context(&self, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
        Self::context(self, id, paging)
    }

    fn task_files(&self, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
        Self::task_files(self, id, tree, paging)
    }

    fn task_commands(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
        Self::task_commands(self, id, filter)
    }

    fn exploration(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
        Self::exploration(self, id, filter)
    }

    fn web(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
        Self::web(self, id, filter)
    }

    fn permissions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
        Self::permissions(self, id, filter)
    }

    fn todos(&self, id: &TaskId) -> Answer<Page<Todo>> {
        Self::todos(self, id)
    }

    fn questions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
        Self::questions(self, id, filter)
    }

    fn summary(&self, now: Millis, id: &TaskId) -> Answer<TaskSummary> {
        Self::summary(self, now, id)
    }

    fn lanes(&self, id: &TaskId, from: Option<Millis>, to: Option<Millis>, width: u32) -> Answer<LaneBins> {
        Self::lanes(self, id, from, to, width)
    }

    fn event(&self, id: &FactId) -> Answer<EventDetail> {
        Self::event(self, id)
    }

    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>> {
        Self::tools(self, range)
    }

    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
        Self::durations(self, range, bounds_ms)
    }

    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>> {
        Self::failures(self, range)
    }

    fn usage(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        Self::usage(self, range, by, zone)
    }

    fn blocks(&self, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
        Self::blocks(self, now, range)
    }

    fn limits(&self, now: Millis) -> Answer<Page<Limit>> {
        Self::limits(self, now)
    }

    fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
        Self::task_usage(self, id, by)
    }

    fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        Self::files(self, range)
    }

    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>> {
        Self::skills(self, range)
    }

    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>> {
        Self::mcp(self, range)
    }

    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>> {
        Self::agents(self, range)
    }

    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>> {
        Self::commands(self, range)
    }

    fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        Self::loops(self, range)
    }

    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
        Self::activity(self, range, buckets)
    }

    fn decisions(&self, filter: &DecisionFilter) -> Answer<Page<RuleDecision>> {
        Self::decisions(self, filter)
    }

    fn rules(&self, range: &Range) -> Answer<Page<RuleStat>> {
        Self::rules(self, range)
    }

    fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>> {
        Self::search(self, filter)
    }

    fn attention(&self, now: Millis) -> Answer<Page<Attention>> {
        Self::attention(self, now)
    }

    fn changes(&self, after: u64, limit: u32) -> Answer<Vec<Row>> {
        Self::changes(self, after, limit)
    }

    fn seq(&self) -> Answer<u64> {
        Self::seq(self)
    }

    fn outcomes(&self) -> Answer<OutcomeCounts> {
        Ok(OutcomeCounts::default())
    }

    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>> {
        Ok(Vec::new())
    }

    fn sources(&self) -> Answer<Vec<SourceHealth>> {
        Ok(Vec::new())
    }

    fn health(&self) -> Answer<StoreHealth> {
        Self::health(self)
    }
}
