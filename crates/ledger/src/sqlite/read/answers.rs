//! Every question of [`Store`], and the room that answers it.

use agent_tracer_event::{FactId, Millis, TaskId};

use super::{SqliteStore, task};
use crate::store::{
    Answer, Paging, QueryError, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Zone,
};
use crate::view::{
    ActivityBucket, AgentStat, Attention, CommandRun, CommandStat, ContextPoint, EventDetail, Exploration,
    FailureStat, FileStat, FileUse, Hit, LaneBins, Loop, McpStat, OutcomeCounts, Page, Permission, Question,
    Row, SkillStat, SourceHealth, StoreHealth, Task, TaskSummary, Todo, ToolCall, ToolStat, TreeNode, Turn,
    UnrecognisedName, UsageBucket, WebLookup,
};

fn later<T>() -> Answer<T> {
    Err(QueryError::Store("not there yet".to_owned()))
}

impl Store for SqliteStore {
    fn tasks(&self, _now: Millis, _filter: &TaskFilter) -> Answer<Page<Task>> {
        later()
    }
    fn task(&self, now: Millis, id: &TaskId) -> Answer<Task> {
        self.ask(|conn| task::task(conn, now, id))
    }
    fn tree(&self, now: Millis, id: &TaskId) -> Answer<Page<TreeNode>> {
        self.ask(|conn| task::tree(conn, now, id).map(Page::whole))
    }
    fn timeline(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<Row>> {
        later()
    }
    fn turns(&self, _id: &TaskId, _paging: &Paging) -> Answer<Page<Turn>> {
        later()
    }
    fn tool_calls(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<ToolCall>> {
        later()
    }
    fn context(&self, _id: &TaskId, _paging: &Paging) -> Answer<Page<ContextPoint>> {
        later()
    }
    fn task_files(&self, _id: &TaskId, _tree: bool, _paging: &Paging) -> Answer<Page<FileUse>> {
        later()
    }
    fn task_commands(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<CommandRun>> {
        later()
    }
    fn exploration(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<Exploration>> {
        later()
    }
    fn web(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<WebLookup>> {
        later()
    }
    fn permissions(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<Permission>> {
        later()
    }
    fn todos(&self, _id: &TaskId) -> Answer<Page<Todo>> {
        later()
    }
    fn questions(&self, _id: &TaskId, _filter: &RowFilter) -> Answer<Page<Question>> {
        later()
    }
    fn summary(&self, _now: Millis, _id: &TaskId) -> Answer<TaskSummary> {
        later()
    }
    fn lanes(
        &self,
        _id: &TaskId,
        _from: Option<Millis>,
        _to: Option<Millis>,
        _width: u32,
    ) -> Answer<LaneBins> {
        later()
    }
    fn event(&self, _id: &FactId) -> Answer<EventDetail> {
        later()
    }
    fn tools(&self, _range: &Range) -> Answer<Page<ToolStat>> {
        later()
    }
    fn failures(&self, _range: &Range) -> Answer<Page<FailureStat>> {
        later()
    }
    fn usage(&self, _range: &Range, _by: UsageBy, _zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        later()
    }
    fn files(&self, _range: &Range) -> Answer<Page<FileStat>> {
        later()
    }
    fn skills(&self, _range: &Range) -> Answer<Page<SkillStat>> {
        later()
    }
    fn mcp(&self, _range: &Range) -> Answer<Page<McpStat>> {
        later()
    }
    fn agents(&self, _range: &Range) -> Answer<Page<AgentStat>> {
        later()
    }
    fn commands(&self, _range: &Range) -> Answer<Page<CommandStat>> {
        later()
    }
    fn loops(&self, _range: &Range) -> Answer<Page<Loop>> {
        later()
    }
    fn activity(&self, _range: &Range, _buckets: u32) -> Answer<Page<ActivityBucket>> {
        later()
    }
    fn search(&self, _filter: &SearchFilter) -> Answer<Page<Hit>> {
        later()
    }
    fn attention(&self, _now: Millis) -> Answer<Page<Attention>> {
        later()
    }
    fn changes(&self, _after: u64, _limit: u32) -> Answer<Vec<Row>> {
        later()
    }
    fn seq(&self) -> Answer<u64> {
        later()
    }
    fn outcomes(&self) -> Answer<OutcomeCounts> {
        later()
    }
    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>> {
        later()
    }
    fn sources(&self) -> Answer<Vec<SourceHealth>> {
        later()
    }
    fn health(&self) -> Answer<StoreHealth> {
        later()
    }
}
