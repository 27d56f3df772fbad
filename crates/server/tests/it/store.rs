//! A store and a ledger in memory, as small as the server lets them be.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};

use agent_tracer_event::{
    Agent, Certainty, Channel, FactId, Kind, Lane, Metadata, Millis, Outcome, SessionId, Subject, TaskId,
    TaskKey,
};
use agent_tracer_ledger::view::*;
use agent_tracer_ledger::{
    Answer, AppendError, Batch, Changes, DecisionFilter, Decisions, Diagnostics, Insights, Observed,
    OwnerFilter, Paging, QueryError, Range, Receipt, RowFilter, Search, SearchFilter, Store, TaskDetails,
    TaskFilter, Tasks, Timeline, Usage, UsageBy, Verdict, Zone,
};
use agent_tracer_server::{Append, WriteCallback};

/// Blocks queries until it is opened.
#[derive(Clone)]
pub(crate) struct Gate {
    entered: mpsc::Sender<()>,
    open: Arc<OnceLock<()>>,
}

impl Gate {
    /// Makes a closed gate, and a channel that receives each arrival.
    pub(crate) fn closed() -> (Self, mpsc::Receiver<()>) {
        let (entered, came) = mpsc::channel();
        (Self { entered, open: Arc::default() }, came)
    }

    pub(crate) fn open(&self) {
        self.open.set(()).ok();
    }

    fn pass(&self) {
        self.entered.send(()).ok();
        self.open.wait();
    }
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) tasks: Mutex<BTreeMap<String, Task>>,
    pub(crate) rows: Mutex<Vec<Row>>,
    pub(crate) seq: AtomicU64,
    pub(crate) brought: Mutex<Vec<Observed>>,
    pub(crate) skipped: AtomicU64,
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) tools: Mutex<Vec<ToolStat>>,
    pub(crate) durations: Mutex<Vec<ToolDurations>>,
    pub(crate) agents: Mutex<Vec<AgentStat>>,
    pub(crate) rules: Mutex<Vec<RuleStat>>,
    pub(crate) full: AtomicBool,
    /// True if acknowledged data is folded only a moment later.
    pub(crate) lags: Arc<AtomicBool>,
    pub(crate) refuses: Mutex<Option<AppendError>>,
    /// Every question waits until this is set.
    pub(crate) gate: Mutex<Option<Gate>>,
    /// Changes are returned only when this is set.
    pub(crate) gate_behind_changes: Mutex<Option<Gate>>,
    pub(crate) breaks: AtomicBool,
    /// True if every query is answered by an error.
    pub(crate) is_damaged: AtomicBool,
    pub(crate) usage: Mutex<Vec<UsageBucket>>,
    /// The store narrowed to a person or a machine; none outside of a team.
    pub(crate) team: OnceLock<Arc<Self>>,
    names: Mutex<HashSet<String>>,
}

impl Memory {
    fn note<T>(&self, question: impl Into<String>, answer: T) -> Answer<T> {
        let gate = self.gate.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.pass();
        }
        assert!(!self.breaks.load(Ordering::SeqCst), "the store breaks because the test wants it");
        if self.is_damaged.load(Ordering::SeqCst) {
            return Err(QueryError::Damaged("the file is damaged".into()));
        }
        self.asked.lock().unwrap().push(question.into());
        Ok(answer)
    }

    fn empty<T>(&self, question: &str) -> Answer<Page<T>> {
        self.note(question, Page::whole(Vec::new()))
    }

    pub(crate) fn questions_asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The readings that were brought and taken.
    pub(crate) fn entries(&self) -> Vec<agent_tracer_event::Entry> {
        let brought = self.brought.lock().unwrap();
        let readings = brought.iter().filter_map(|observed| match &observed.verdict {
            Verdict::Read(reading) => Some(reading.entries.clone()),
            _ => None,
        });
        readings.flatten().collect()
    }

    /// The entries about events, without those about tasks.
    pub(crate) fn events(&self) -> Vec<agent_tracer_event::Entry> {
        let mut entries = self.entries();
        entries.retain(|entry| matches!(entry.subject, Subject::Event(_)));
        entries
    }

    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        self.brought.lock().unwrap().iter().map(|observed| observed.verdict.clone()).collect()
    }

    pub(crate) fn add_task(&self, key: &TaskKey, parent: Option<&TaskKey>, project: &str) -> Task {
        let task = Task {
            id: key.task_id().to_string(),
            title: "A task".to_owned(),
            kind: TaskKind::Primary,
            status: TaskStatus::Running,
            waiting_reason: None,
            waiting_since: None,
            stale: false,
            parent_task_id: parent.map(|parent| parent.task_id().to_string()),
            parent_certainty: None,
            parent_tool_use_id: None,
            agent: key.agent,
            agent_type: "main".to_owned(),
            agent_id: None,
            runtime_session_id: key.runtime_session.clone(),
            workspace_path: project.to_owned(),
            model: None,
            started_at: Millis(0),
            last_event_at: Millis(0),
            ended_at: None,
            event_count: 0,
            tool_call_count: 0,
            failure_count: 0,
            turn_count: 0,
            child_count: 0,
            current: None,
            context_used_pct: None,
            usage: UsageView::default(),
            tree_usage: UsageView::default(),
            tree_tool_call_count: 0,
            tree_failure_count: 0,
            continues_task_id: None,
            forked_from_task_id: None,
            git_branch: None,
            client_version: None,
            transcript_path: None,
            owner: None,
            machine_id: "m".to_owned(),
            project: project.to_owned(),
        };
        self.tasks.lock().unwrap().insert(task.id.clone(), task.clone());
        task
    }

    pub(crate) fn row(&self, key: &TaskKey, name: &str, kind: Kind, seq: u64) -> Row {
        let task = key.task_id();
        let row = Row {
            id: FactId::derive(&task, name).to_string(),
            seq,
            task_id: task.to_string(),
            owner: None,
            session_id: SessionId::derive(&task, "stay:1").to_string(),
            turn_id: None,
            kind,
            lane: kind.lane(),
            title: name.to_owned(),
            body: None,
            occurred_at: Millis(1_794_777_004_001),
            ended_at: None,
            state: None,
            tool_name: None,
            tool_use_id: None,
            agent_id: None,
            agent_type: "main".to_owned(),
            is_subagent: false,
            runtime_session_id: key.runtime_session.clone(),
            hook_event_name: None,
            file_paths: Vec::new(),
            metadata: Metadata::new(),
            channels: vec![Channel::Hook],
            certainty: Certainty::Measured,
        };
        self.rows.lock().unwrap().push(row.clone());
        self.seq.fetch_max(seq, Ordering::SeqCst);
        row
    }
}

impl Append for Memory {
    fn soon(&self) -> Option<Box<dyn Fn() -> bool + Send + Sync>> {
        let lags = Arc::clone(&self.lags);
        // It is folded by the time of the next query.
        lags.load(Ordering::SeqCst).then(|| Box::new(move || !lags.swap(false, Ordering::SeqCst)) as Box<_>)
    }

    fn submit(&self, batch: Batch, done: WriteCallback) -> Result<(), Box<Batch>> {
        if self.full.load(Ordering::SeqCst) {
            return Err(Box::new(batch));
        }
        if let Some(error) = self.refuses.lock().unwrap().clone() {
            done(Err(error));
            return Ok(());
        }
        let mut receipt = Receipt::default();
        self.skipped.fetch_add(batch.skipped, Ordering::SeqCst);
        for observed in batch.observed {
            let is_new = self.names.lock().unwrap().insert(observed.name.clone());
            let outcome = match &observed.verdict {
                _ if !is_new => Outcome::Duplicate,
                Verdict::Malformed(_) => Outcome::Malformed,
                Verdict::Refused(_) => Outcome::Refused,
                Verdict::Read(reading) => {
                    for entry in &reading.entries {
                        self.seq.fetch_add(1, Ordering::SeqCst);
                        let id = entry.task.task_id();
                        if !self.tasks.lock().unwrap().contains_key(id.as_str()) {
                            self.add_task(&entry.task, None, "");
                            receipt.created.push(id.clone());
                        }
                        if entry.subject == Subject::Event(Kind::SessionEnded)
                            && let Some(task) = self.tasks.lock().unwrap().get_mut(id.as_str())
                        {
                            task.status = TaskStatus::Completed;
                        }
                    }
                    if reading.unrecognised.is_empty() { Outcome::Recorded } else { Outcome::Unrecognised }
                }
            };
            receipt.outcomes.push(outcome);
            self.brought.lock().unwrap().push(observed);
        }
        receipt.seq = self.seq.load(Ordering::SeqCst);
        done(Ok(receipt));
        Ok(())
    }
}

impl Store for Memory {
    fn narrowed(&self, owners: &OwnerFilter) -> Option<Arc<dyn Store>> {
        let narrowed = self.team.get()?;
        narrowed.note(format!("narrowed {owners:?}"), ()).ok()?;
        Some(Arc::clone(narrowed) as Arc<dyn Store>)
    }
}

impl Tasks for Memory {
    fn tasks(&self, _: Millis, filter: &TaskFilter) -> Answer<Page<Task>> {
        if filter.paging.cursor.as_deref() == Some("torn") {
            return Err(QueryError::Bad("`cursor` is not a cursor of this list".to_owned()));
        }
        let items = self.tasks.lock().unwrap().values().cloned().collect();
        self.note(format!("tasks {filter:?}"), Page { items, next_cursor: None })
    }
    fn task(&self, _: Millis, id: &TaskId) -> Answer<Task> {
        let found = self.tasks.lock().unwrap().get(id.as_str()).cloned();
        self.note(format!("task {id}"), ())?;
        found.ok_or(QueryError::NotFound)
    }
    fn tree(&self, _: Millis, id: &TaskId) -> Answer<Page<TreeNode>> {
        self.empty(&format!("tree {id}"))
    }
    fn attention(&self, _: Millis) -> Answer<Page<Attention>> {
        self.empty("attention")
    }
}

impl TaskDetails for Memory {
    fn summary(&self, _: Millis, id: &TaskId) -> Answer<TaskSummary> {
        self.note(format!("summary {id}"), ())?;
        Err(QueryError::NotFound)
    }
    fn turns(&self, _: &TaskId, paging: &Paging) -> Answer<Page<Turn>> {
        self.empty(&format!("turns {paging:?}"))
    }
    fn context(&self, _: &TaskId, paging: &Paging) -> Answer<Page<ContextPoint>> {
        self.empty(&format!("context {paging:?}"))
    }
    fn todos(&self, _: &TaskId) -> Answer<Page<Todo>> {
        self.empty("todos")
    }
    fn task_files(&self, _: &TaskId, tree: bool, paging: &Paging) -> Answer<Page<FileUse>> {
        self.empty(&format!("task_files {tree} {paging:?}"))
    }
    fn task_usage(&self, id: &TaskId, by: UsageBy) -> Answer<Page<UsageBucket>> {
        self.empty(&format!("task_usage {id:?} {by:?}"))
    }
}

impl Timeline for Memory {
    fn timeline(&self, id: &TaskId, filter: &RowFilter) -> Answer<Page<Row>> {
        self.empty(&format!("timeline {id} {filter:?}"))
    }
    fn tool_calls(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<ToolCall>> {
        self.empty(&format!("tool_calls {filter:?}"))
    }
    fn task_commands(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<CommandRun>> {
        self.empty(&format!("task_commands {filter:?}"))
    }
    fn exploration(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<Exploration>> {
        self.empty(&format!("exploration {filter:?}"))
    }
    fn web(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<WebLookup>> {
        self.empty(&format!("web {filter:?}"))
    }
    fn permissions(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<Permission>> {
        self.empty(&format!("permissions {filter:?}"))
    }
    fn questions(&self, _: &TaskId, filter: &RowFilter) -> Answer<Page<Question>> {
        self.empty(&format!("questions {filter:?}"))
    }
    fn lanes(&self, _: &TaskId, from: Option<Millis>, to: Option<Millis>, width: u32) -> Answer<LaneBins> {
        let (from, to) = (from.unwrap_or(Millis(0)), to.unwrap_or(Millis(0)));
        self.note("lanes", LaneBins { from, to, width, strips: Vec::new(), gaps: Vec::new() })
    }
    fn event(&self, id: &FactId) -> Answer<EventDetail> {
        self.note(format!("event {id}"), ())?;
        Err(QueryError::NotFound)
    }
}

impl Insights for Memory {
    fn tools(&self, range: &Range) -> Answer<Page<ToolStat>> {
        let only = range.agent.is_none_or(|agent| agent == Agent::CLAUDE_CODE);
        let items = if only { self.tools.lock().unwrap().clone() } else { Vec::new() };
        self.note(format!("tools {range:?}"), Page::whole(items))
    }
    fn durations(&self, range: &Range, bounds_ms: &[u64]) -> Answer<Vec<ToolDurations>> {
        let only = range.agent.is_none_or(|agent| agent == Agent::CLAUDE_CODE);
        let tools = if only { self.durations.lock().unwrap().clone() } else { Vec::new() };
        self.note(format!("durations {bounds_ms:?} {range:?}"), tools)
    }
    fn failures(&self, range: &Range) -> Answer<Page<FailureStat>> {
        self.empty(&format!("failures {range:?}"))
    }
    fn files(&self, range: &Range) -> Answer<Page<FileStat>> {
        self.empty(&format!("files {range:?}"))
    }
    fn skills(&self, range: &Range) -> Answer<Page<SkillStat>> {
        self.empty(&format!("skills {range:?}"))
    }
    fn mcp(&self, range: &Range) -> Answer<Page<McpStat>> {
        self.empty(&format!("mcp {range:?}"))
    }
    fn agents(&self, range: &Range) -> Answer<Page<AgentStat>> {
        let only = range.agent.is_none_or(|agent| agent == Agent::CLAUDE_CODE);
        let items = if only { self.agents.lock().unwrap().clone() } else { Vec::new() };
        self.note(format!("agents {range:?}"), Page::whole(items))
    }
    fn commands(&self, range: &Range) -> Answer<Page<CommandStat>> {
        self.empty(&format!("commands {range:?}"))
    }
    fn loops(&self, range: &Range) -> Answer<Page<Loop>> {
        self.empty(&format!("loops {range:?}"))
    }
    fn activity(&self, range: &Range, buckets: u32) -> Answer<Page<ActivityBucket>> {
        self.empty(&format!("activity {buckets} {range:?}"))
    }
}

impl Usage for Memory {
    fn usage(&self, range: &Range, by: UsageBy, zone: &dyn Zone) -> Answer<Page<UsageBucket>> {
        let question = format!("usage {by:?} {} {range:?}", zone.offset_seconds(Millis(1_794_777_004_001)));
        self.note(question, Page::whole(self.usage.lock().unwrap().clone()))
    }
    fn blocks(&self, now: Millis, range: &Range) -> Answer<Page<UsageBlock>> {
        self.empty(&format!("blocks {now:?} {range:?}"))
    }
    fn limits(&self, now: Millis) -> Answer<Page<Limit>> {
        self.empty(&format!("limits {now:?}"))
    }
}

impl Decisions for Memory {
    fn decisions(&self, filter: &DecisionFilter) -> Answer<Page<RuleDecision>> {
        self.empty(&format!("decisions {filter:?}"))
    }
    fn rules(&self, range: &Range) -> Answer<Page<RuleStat>> {
        let rules = self.rules.lock().unwrap().clone();
        self.note(format!("rules {range:?}"), Page::whole(rules))
    }
}

impl Search for Memory {
    fn search(&self, filter: &SearchFilter) -> Answer<Page<Hit>> {
        self.empty(&format!("search {filter:?}"))
    }
}

impl Changes for Memory {
    fn changes(&self, after: u64, limit: u32) -> Answer<Vec<Row>> {
        self.note(format!("changes {after} {limit}"), ())?;
        let mut rows = self.rows.lock().unwrap().clone();
        rows.retain(|row| row.seq > after);
        rows.sort_by_key(|row| row.seq);
        // Like the real one: parts may be short before the end, and the rows of one place are never in two parts.
        let last = rows.get((limit as usize / 2).max(1) - 1).map(|row| row.seq);
        rows.retain(|row| last.is_none_or(|last| row.seq <= last));
        let gate = self.gate_behind_changes.lock().unwrap().clone();
        if let Some(gate) = gate {
            gate.pass();
        }
        Ok(rows)
    }
    fn seq(&self) -> Answer<u64> {
        if self.is_damaged.load(Ordering::SeqCst) {
            return Err(QueryError::Damaged("the file is damaged".into()));
        }
        Ok(self.seq.load(Ordering::SeqCst))
    }
}

impl Diagnostics for Memory {
    fn outcomes(&self) -> Answer<OutcomeCounts> {
        self.note(
            "outcomes",
            OutcomeCounts { received: 3, recorded: 2, refused: 1, ..OutcomeCounts::default() },
        )
    }
    fn reasons(&self) -> Answer<Vec<OutcomeReason>> {
        self.note("reasons", Vec::new())
    }
    fn unrecognised(&self) -> Answer<Vec<UnrecognisedName>> {
        self.note("unrecognised", Vec::new())
    }
    fn sources(&self) -> Answer<Vec<SourceHealth>> {
        self.note("sources", Vec::new())
    }
    fn health(&self) -> Answer<StoreHealth> {
        self.note("health", StoreHealth { kind: "sqlite".to_owned(), entries: 7, ..StoreHealth::default() })
    }
}

/// Lanes and kinds must be what the fake makes of them.
#[test]
fn a_row_of_the_fake_has_the_lane_of_its_kind() {
    let row = Memory::default().row(&TaskKey::new(Agent::CODEX, "s"), "r", Kind::UserMessage, 1);
    assert_eq!(row.lane, Lane::User);
}
