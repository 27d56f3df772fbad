//! The queries that every store answers.
//!
//! The embedded store and the distributed one implement the same traits. A query is written in the vocabulary of the
//! product, not in SQL, and its cost grows with its answer, not with the history. `now` is an argument, because the
//! status of a silent task depends on the time of the query.

use std::sync::Arc;

use agent_tracer_event::{Agent, FactId, Kind, Lane, Millis, TaskId};

use crate::fault_cause::FaultCause;
use crate::view::{
    ActivityBucket, AgentStat, Attention, CommandRun, CommandStat, ContextPoint, EventDetail, Exploration,
    FailureStat, FileStat, FileUse, Hit, LaneBins, Limit, Loop, McpStat, OutcomeCounts, OutcomeReason, Page,
    Permission, Question, Row, RuleDecision, RuleStat, SkillStat, SourceHealth, StoreHealth, Task, TaskKind,
    TaskStatus, TaskSummary, Todo, ToolCall, ToolDurations, ToolStat, TreeNode, Turn, UnrecognisedName,
    UsageBlock, UsageBucket, WebLookup,
};

/// The most items of one page.
pub const MAX_LIMIT: u32 = 500;

/// The reason for which a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query itself is invalid: an unreadable cursor, a range that ends before it begins. The text names the fault.
    #[error("{0}")]
    Bad(String),
    /// Not found.
    #[error("not found")]
    NotFound,
    /// The store could not answer because a part of it is damaged.
    #[error("a damaged part of the store could not answer")]
    Damaged(#[source] FaultCause),
    /// The store could not answer.
    #[error("the store could not answer")]
    Store(#[source] FaultCause),
}

/// The result of a query.
pub type Answer<T> = Result<T, QueryError>;

/// Selects a page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// The start of the page: `nextCursor` of the page before.
    pub cursor: Option<String>,
    /// The number of items, at most [`MAX_LIMIT`]; zero means a hundred.
    pub limit: u32,
}

/// Selects an owner and a machine. Only a team's store distinguishes people and machines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OwnerFilter {
    /// The person or machine whose token shipped it.
    pub owner: Option<String>,
    /// The machine it ran on.
    pub machine: Option<String>,
}

/// Selects tasks, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskFilter {
    /// One of these; empty means any.
    pub status: Vec<TaskStatus>,
    /// Of this agent.
    pub agent: Option<Agent>,
    /// Of this type of agent.
    pub agent_type: Option<String>,
    /// In this project.
    pub project: Option<String>,
    /// With this model.
    pub model: Option<String>,
    /// Words in the title or session.
    pub q: Option<String>,
    /// With an event at or after this.
    pub since: Option<Millis>,
    /// That began before this.
    pub until: Option<Millis>,
    /// Started by this task.
    pub parent: Option<TaskId>,
    /// Of this kind.
    pub kind: Option<TaskKind>,
    /// With a failed call of its own or of a descendant.
    pub failed_calls: bool,
    /// The part of the list.
    pub paging: Paging,
}

/// Selects rows of a timeline. Oldest first unless `newest_first`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFilter {
    /// One of these lanes; empty means any.
    pub lanes: Vec<Lane>,
    /// One of these kinds; empty means any.
    pub kinds: Vec<Kind>,
    /// At or after this.
    pub since: Option<Millis>,
    /// Before this.
    pub until: Option<Millis>,
    /// Newest first.
    pub newest_first: bool,
    /// With the rows of all subagents.
    pub tree: bool,
    /// The part of the list.
    pub paging: Paging,
}

/// Selects the part of the history that a number covers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// At or after this.
    pub since: Option<Millis>,
    /// Before this.
    pub until: Option<Millis>,
    /// In this project.
    pub project: Option<String>,
    /// Of this agent.
    pub agent: Option<Agent>,
    /// Of this type of agent.
    pub agent_type: Option<String>,
    /// The part of the list.
    pub paging: Paging,
}

/// Selects the dimension by which usage is grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageBy {
    /// Days in the caller's local time.
    Day,
    /// Weeks, from Monday.
    Week,
    /// Months.
    Month,
    /// Models.
    Model,
    /// Projects.
    Project,
    /// Tasks.
    Task,
    /// Agents: the products.
    Agent,
    /// Types of agents.
    AgentType,
    /// Skills.
    Skill,
    /// Owners: people and machines as their tokens name them. Only a team's store knows any.
    Owner,
    /// Machines. Only a team's store knows more than one.
    Machine,
}

/// Selects the rows of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchFilter {
    /// The words. All of them must be there; the last may be the beginning of a word.
    pub q: String,
    /// Calls of this tool.
    pub tool: Option<String>,
    /// Calls in this state.
    pub state: Option<String>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// That took at least this long.
    pub longer_than_ms: Option<u64>,
    /// In this task.
    pub task: Option<TaskId>,
    /// In this range.
    pub range: Range,
}

/// Selects decisions of rules, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionFilter {
    /// Of the rule with this name, by any author.
    pub rule: Option<String>,
    /// That came to one of these ([`crate::project::ruling::OUTCOMES`]); empty means any.
    pub outcomes: Vec<String>,
    /// That counted in one of these ways ([`crate::project::ruling::STATUSES`]); empty means any.
    pub statuses: Vec<String>,
    /// In this task.
    pub task: Option<TaskId>,
    /// At or after this.
    pub since: Option<Millis>,
    /// Before this.
    pub until: Option<Millis>,
    /// The part of the list.
    pub paging: Paging,
}

/// The local time of the caller, which decides where its days begin.
pub trait Zone: Send + Sync {
    /// Returns the offset of local time from UTC at a moment, in seconds.
    fn offset_seconds(&self, at: Millis) -> i32;
}

/// Days in UTC.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utc;

impl Zone for Utc {
    fn offset_seconds(&self, _: Millis) -> i32 {
        0
    }
}

/// Finds tasks.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Tasks: Send + Sync {
    fn tasks(&self, now: Millis, filter: &TaskFilter) -> Answer<Page<Task>>;
    fn task(&self, now: Millis, id: &TaskId) -> Answer<Task>;
    fn tree(&self, now: Millis, id: &TaskId) -> Answer<Page<TreeNode>>;
    fn attention(&self, now: Millis) -> Answer<Page<Attention>>;
}

/// Queries about one task as a whole.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait TaskDetails: Send + Sync {
    fn summary(&self, now: Millis, id: &TaskId) -> Answer<TaskSummary>;
    fn turns(&self, id: &TaskId, paging: &Paging) -> Answer<Page<Turn>>;
    fn context(&self, id: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>>;
    fn todos(&self, id: &TaskId) -> Answer<Page<Todo>>;
    fn task_files(&self, id: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>>;
    /// Returns the usage of a task and all below it, by model, skill, project, agent, type of agent or task. The parts by
    /// skill do not add up to the whole: most responses belong to no skill.
    fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>>;
}

/// Lists and details the rows of one task.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Timeline: Send + Sync {
    fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>>;
    fn tool_calls(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>>;
    fn task_commands(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>>;
    fn exploration(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>>;
    fn web(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>>;
    fn permissions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>>;
    fn questions(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Question>>;
    fn lanes(&self, id: &TaskId, from: Option<Millis>, to: Option<Millis>, width: u32) -> Answer<LaneBins>;
    fn event(&self, id: &FactId) -> Answer<EventDetail>;
}

/// Sums the calls of a range.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Insights: Send + Sync {
    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>>;
    /// Returns the durations of every tool's calls, most calls first. The range is rounded outwards to days.
    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>>;
    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>>;
    /// Returns the most used files, at most 150, in a range rounded to UTC days. Only files among the most used of a
    /// day or month in the range are ranked ([`crate::project::ranking`]); their numbers are exact.
    fn files(&self, range: &Range) -> Answer<Page<FileStat>>;
    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>>;
    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>>;
    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>>;
    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>>;
    fn loops(&self, range: &Range) -> Answer<Page<Loop>>;
    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>>;
}

/// Sums tokens and cost of a range.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Usage: Send + Sync {
    fn usage(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>>;
    /// Returns windows of five hours, newest first; the open one carries a projection of its total.
    fn blocks(&self, now: Millis, range: &Range) -> Answer<Page<UsageBlock>>;
    /// Returns the used share of each agent's rate limits, with a forecast.
    fn limits(&self, now: Millis) -> Answer<Page<Limit>>;
}

/// Lists and counts the decisions of rules.
pub trait Decisions: Send + Sync {
    /// Returns decisions of rules, newest first. A page may have fewer items than its limit, or none, without being the
    /// last: only a page without a cursor is.
    fn decisions(&self, filter: &DecisionFilter) -> Answer<Page<RuleDecision>>;
    /// Counts the decisions of each rule by outcome, most decisions first.
    fn rules(&self, range: &Range) -> Answer<Page<RuleStat>>;
}

/// Finds rows by their words.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Search: Send + Sync {
    fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>>;
}

/// Reads changes in the order of delivery.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Changes: Send + Sync {
    /// Returns about `limit` rows that changed after a position in the order of delivery, in that order. There are
    /// fewer if turns, which are no rows, changed in between, and more if many rows changed at one position. Only an
    /// empty answer is the end.
    fn changes(&self, after: u64, limit: u32) -> Answer<Vec<Row>>;
    fn seq(&self) -> Answer<u64>;
}

/// Reports the condition of the recording and of the store.
#[expect(missing_docs, reason = "each method is named after its path in the query API, which documents it")]
pub trait Diagnostics: Send + Sync {
    fn outcomes(&self) -> Answer<OutcomeCounts>;
    /// Returns the reasons for which observations were malformed or refused, most frequent first. A team's store takes
    /// no observations and keeps this default.
    fn reasons(&self) -> Answer<Vec<OutcomeReason>> {
        Ok(Vec::new())
    }
    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>>;
    fn sources(&self) -> Answer<Vec<SourceHealth>>;
    /// Returns how far a file was read, in bytes; `None` if it was not. A team's store reads no files and keeps this default.
    fn position(&self, _source: &str) -> Answer<Option<u64>> {
        Ok(None)
    }
    fn health(&self) -> Answer<StoreHealth>;
}

/// All queries: the sum of the traits above, for callers that need more than one of them.
pub trait Store:
    Tasks + TaskDetails + Timeline + Insights + Usage + Decisions + Search + Changes + Diagnostics
{
    /// Returns the store narrowed to an owner and a machine, or `None` if the store has only one of each.
    fn narrowed(&self, _owners: &OwnerFilter) -> Option<Arc<dyn Store>> {
        None
    }
}
