//! The receipt of a run: what it did, in one JSON object. `docs/ci.md` describes the fields.
//!
//! Law: what is not known is null and named in `unknown`; it is never zero. A session that was resumed counts from the
//! beginning of the run on.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{CallState, Millis, TaskId, Tokens};
use agent_tracer_ledger::view::{Task, ToolCall, UsageView};
use agent_tracer_ledger::{RowFilter, Store, UsageBy};
use agent_tracer_spool::Home;
use serde::Serialize;

use super::RunFacts;
use super::run_records::{Match, RunRecords, read_run};
use crate::arguments::Options;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::reading::{Reading, refused};

/// The version of the fields. A field that is added does not change it.
const SCHEMA: u32 = 1;

/// A receipt.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Receipt {
    schema: u32,
    agent: &'static str,
    agent_version: Option<String>,
    started_at: Millis,
    ended_at: Millis,
    wall_ms: u64,
    exit_code: u8,
    signal: Option<&'static str>,
    matched_by: Option<&'static str>,
    tasks: Vec<ReceiptTask>,
    models: BTreeSet<String>,
    turns: u64,
    time: Option<TimeByKind>,
    tokens: Option<Tokens>,
    cost_usd: Option<f64>,
    usage_by_model: Vec<ModelUsage>,
    call_count: u64,
    failure_count: u64,
    calls: Vec<ToolCount>,
    files_changed: BTreeSet<String>,
    permission_prompts: Option<u64>,
    unknown: BTreeSet<String>,
}

/// A session or a subagent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptTask {
    id: String,
    parent_id: Option<String>,
    session_id: String,
    agent: &'static str,
    agent_type: String,
    model: Option<String>,
    status: agent_tracer_ledger::view::TaskStatus,
}

/// Time of the run by kind, in milliseconds.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct TimeByKind {
    /// A turn ran and did not wait for a person.
    active_ms: u64,
    /// A person was waited for.
    waiting_ms: u64,
    /// At least one tool ran, calls to subagents aside.
    tools_ms: u64,
    /// Active, without a tool: the model, and the client itself.
    model_ms: u64,
}

/// Usage of one model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelUsage {
    model: String,
    tokens: Tokens,
    cost_usd: Option<f64>,
}

/// Calls of one tool.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCount {
    tool: String,
    count: u64,
    failures: u64,
}

/// Returns the receipt of a run. What cannot be found out is named in it.
pub(super) fn of(facts: &RunFacts, home: &Home, options: &Options, environment: &Environment) -> Receipt {
    let mut receipt = Receipt::of_process(facts);
    let read = read_run(facts, home, options, environment).and_then(|records| receipt.add(facts, records));
    if let Err(failure) = read {
        receipt.unknown.insert(format!("what was recorded: {}", failure.message()));
    }
    receipt
}

impl Receipt {
    fn of_process(facts: &RunFacts) -> Receipt {
        Receipt {
            schema: SCHEMA,
            agent: facts.agent.as_str(),
            agent_version: facts.client.version.map(|version| version.to_string()),
            started_at: facts.started,
            ended_at: facts.ended,
            wall_ms: u64::try_from(facts.ended.0 - facts.started.0).unwrap_or(0),
            exit_code: facts.end.code(),
            signal: facts.end.signal(),
            matched_by: None,
            tasks: Vec::new(),
            models: BTreeSet::new(),
            turns: 0,
            time: None,
            tokens: None,
            cost_usd: None,
            usage_by_model: Vec::new(),
            call_count: 0,
            failure_count: 0,
            calls: Vec::new(),
            files_changed: BTreeSet::new(),
            permission_prompts: None,
            unknown: BTreeSet::new(),
        }
    }

    fn add(&mut self, facts: &RunFacts, records: RunRecords) -> Result<(), Failure> {
        let RunRecords { reading, tasks, matched, unread } = records;
        // What could not be found out is named: a receipt without it would read as if there was nothing.
        self.unknown.extend(unread);
        match matched {
            Match::Run => self.matched_by = Some("hooks"),
            Match::FolderAndTime => {
                self.matched_by = Some("folder_and_time");
                self.unknown.insert(
                    "sessions: no hook named one, so those of the folder and the time count".to_owned(),
                );
            }
            Match::None => {
                self.unknown.insert("sessions: nothing was recorded".to_owned());
            }
        }
        let Some(store) = reading.store().filter(|_| !tasks.is_empty()) else { return Ok(()) };
        let mut sums = Sums { time: Some(TimeByKind::default()), ..Sums::default() };
        for task in &tasks {
            let Some(id) = TaskId::parse(&task.id) else { continue };
            self.add_tree(facts, &reading, store.as_ref(), task, &id, &mut sums)?;
        }
        self.finish(sums);
        Ok(())
    }

    fn add_tree(
        &mut self,
        facts: &RunFacts,
        reading: &Reading,
        store: &dyn Store,
        root: &Task,
        id: &TaskId,
        sums: &mut Sums,
    ) -> Result<(), Failure> {
        let nodes = store.tree(reading.now, id).map_err(refused)?.items;
        // A session that was resumed holds work of earlier runs, which this receipt must not count.
        let is_new = root.started_at >= facts.started;
        let mut delegations = BTreeSet::new();
        for node in &nodes {
            let task = &node.task;
            // Two sessions of a run may share a subagent; it counts once.
            if !sums.known.insert(task.id.clone()) {
                continue;
            }
            delegations.extend(task.parent_tool_use_id.clone());
            if is_new || task.last_event_at >= facts.started {
                self.models.extend(task.model.clone());
                self.add_task(task);
            }
            if let Some(id) = TaskId::parse(&task.id).filter(|_| !is_new) {
                let turns = reading.list(None, None, |store, paging| store.turns(&id, &paging))?;
                for turn in turns.items.iter().filter(|turn| turn.started_at >= facts.started) {
                    self.turns += 1;
                    sums.add_usage(&turn.usage);
                }
            }
        }
        if is_new {
            self.turns += nodes.iter().map(|node| node.task.turn_count).sum::<u64>();
            sums.add_usage(&root.tree_usage);
            for bucket in store.task_usage(id, UsageBy::Model).map_err(refused)?.items {
                sums.add_model(bucket.key, &bucket.usage);
            }
        } else {
            sums.time = None;
            self.unknown.insert("usageByModel, time: the session had begun before the run".to_owned());
        }
        let window =
            RowFilter { since: (!is_new).then_some(facts.started), tree: true, ..RowFilter::default() };
        let calls = reading.list(None, None, |store, paging| {
            store.tool_calls(id, &RowFilter { paging, ..window.clone() })
        })?;
        for call in &calls.items {
            self.call_count += 1;
            let is_failure = matches!(call.state, CallState::Failed | CallState::Denied);
            self.failure_count += u64::from(is_failure);
            let count = sums.tools.entry(call.tool_name.clone()).or_default();
            count.count += 1;
            count.failures += u64::from(is_failure);
        }
        let summary = store.summary(reading.now, id).map_err(refused)?;
        // Zero only where prompts are reported: without a hook for them their number is unknown.
        if summary.permissions_recorded {
            let prompts = reading.list(None, None, |store, paging| {
                store.permissions(id, &RowFilter { paging, ..window.clone() })
            })?;
            *self.permission_prompts.get_or_insert(0) += prompts.items.len() as u64;
        } else {
            self.unknown.insert("permissionPrompts: no hook reports them".to_owned());
        }
        if let Some(time) = &mut sums.time {
            let tools_ms = union_ms(
                calls
                    .items
                    .iter()
                    .filter(|call| call.tool_use_id.as_ref().is_none_or(|id| !delegations.contains(id))),
            );
            time.active_ms += summary.active_ms;
            time.waiting_ms += summary.waiting_ms;
            time.tools_ms += tools_ms;
            time.model_ms += summary.active_ms.saturating_sub(tools_ms);
        }
        let files = reading.list(None, None, |store, paging| store.task_files(id, true, &paging))?;
        let changed = files
            .items
            .into_iter()
            .filter(|file| file.changes > 0 && (is_new || file.last_at >= facts.started));
        self.files_changed.extend(changed.map(|file| file.path));
        Ok(())
    }

    fn add_task(&mut self, task: &Task) {
        self.tasks.push(ReceiptTask {
            id: task.id.clone(),
            parent_id: task.parent_task_id.clone(),
            session_id: task.runtime_session_id.clone(),
            agent: task.agent.as_str(),
            agent_type: task.agent_type.clone(),
            model: task.model.clone(),
            status: task.status,
        });
    }

    fn finish(&mut self, sums: Sums) {
        if sums.responses == 0 && self.turns > 0 {
            self.unknown.insert("tokens, costUsd: no response was recorded".to_owned());
        } else {
            self.tokens = Some(sums.tokens);
            if sums.unpriced == 0 {
                self.cost_usd = Some(sums.cost_usd);
            } else {
                self.unknown.insert(format!("costUsd: {} responses have no price", sums.unpriced));
            }
        }
        self.usage_by_model = sums.models.into_values().collect();
        self.models.extend(self.usage_by_model.iter().map(|usage| usage.model.clone()));
        self.time = sums.time;
        self.calls = sums.tools.into_iter().map(|(tool, count)| ToolCount { tool, ..count }).collect();
    }
}

/// Sums over all sessions of a run.
#[derive(Default)]
struct Sums {
    /// The tasks that were counted.
    known: BTreeSet<String>,
    tokens: Tokens,
    cost_usd: f64,
    responses: u64,
    unpriced: u64,
    models: BTreeMap<String, ModelUsage>,
    tools: BTreeMap<String, ToolCount>,
    time: Option<TimeByKind>,
}

impl Sums {
    fn add_usage(&mut self, usage: &UsageView) {
        self.tokens = self.tokens.plus(&usage.tokens);
        self.cost_usd += usage.cost_usd;
        let lines = usage.residual.iter().flat_map(|residual| &residual.models);
        let unpriced = lines.filter(|line| line.cost_usd.is_none()).count();
        self.responses += usage.provenance.responses + u64::from(usage.residual.is_some());
        self.unpriced += usage.provenance.unpriced + unpriced as u64;
    }

    fn add_model(&mut self, model: String, usage: &UsageView) {
        let cost = (usage.provenance.unpriced == 0).then_some(usage.cost_usd);
        let line = self.models.entry(model.clone()).or_insert(ModelUsage {
            model,
            tokens: Tokens::default(),
            cost_usd: Some(0.0),
        });
        line.tokens = line.tokens.plus(&usage.tokens);
        line.cost_usd = line.cost_usd.zip(cost).map(|(one, two)| one + two);
    }
}

/// Returns the time in which at least one of these calls ran.
fn union_ms<'a>(calls: impl Iterator<Item = &'a ToolCall>) -> u64 {
    let mut spans: Vec<(i64, i64)> = calls
        .filter_map(|call| Some((call.started_at.0, call.ended_at?.0)))
        .filter(|(from, to)| from < to)
        .collect();
    spans.sort_unstable();
    let (mut sum, mut reached) = (0, i64::MIN);
    for (from, to) in spans {
        sum += (to - from.max(reached)).max(0);
        reached = reached.max(to);
    }
    u64::try_from(sum).unwrap_or(0)
}
