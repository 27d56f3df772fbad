//! Causes of cost, failures and changes, on every captured scenario and on a generated history.

use std::collections::BTreeMap;

use agent_tracer_ledger::causes::cache::{Cause, losses};
use agent_tracer_ledger::causes::changes::ChangeSet;
use agent_tracer_ledger::causes::context::{ContextCost, PartCost};
use agent_tracer_ledger::causes::failures::{FailureThread, threads};
use agent_tracer_ledger::causes::history::{CallStep, Source, SourceGroup, StepOutcome};
use agent_tracer_ledger::causes::money::Amount;
use agent_tracer_ledger::causes::rows;
use agent_tracer_ledger::project::FactRow;
use agent_tracer_ledger::shipment::Shipment;
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Outbox};
use agent_tracer_prices::Prices;
use agent_tracer_testkit::history::History as Generated;
use agent_tracer_testkit::{scenario, scenarios};

fn shipment(batches: impl IntoIterator<Item = Vec<Observed>>) -> Shipment {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = Ledger::open(&path, Options::default()).unwrap();
    for observed in batches {
        ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    }
    Outbox::open(&path, std::sync::Arc::new(Prices::embedded())).unwrap().after(0, 1_000_000).unwrap()
}

/// One task with its rows and their costs.
struct TaskRows {
    rows: Vec<FactRow>,
    costs: BTreeMap<i64, Option<i64>>,
    /// The cost of the task, and its responses without a price.
    recorded: (i64, i64),
}

impl TaskRows {
    fn divide(&self) -> ContextCost {
        ContextCost::divide(&self.history())
    }

    fn history(&self) -> agent_tracer_ledger::causes::history::History {
        rows::history(&self.rows, |row| self.costs.get(&row.fact).copied().flatten(), &Prices::embedded())
    }
}

fn tasks(shipment: Shipment) -> Vec<TaskRows> {
    let mut tasks: BTreeMap<String, TaskRows> = shipment
        .tasks
        .iter()
        .map(|task| {
            let recorded = (task.spent.spend.cost, task.spent.spend.unpriced);
            (task.task.clone(), TaskRows { rows: Vec::new(), costs: BTreeMap::new(), recorded })
        })
        .collect();
    for record in shipment.facts {
        let task = tasks.get_mut(&record.task).unwrap();
        task.costs.insert(record.row.fact, record.cost);
        task.rows.push(record.row);
    }
    tasks.into_values().collect()
}

fn tasks_of(name: &str) -> Vec<TaskRows> {
    tasks(shipment([scenario(name).observed(None)]))
}

fn steps(tasks: &[TaskRows]) -> Vec<CallStep> {
    tasks.iter().enumerate().flat_map(|(agent, task)| rows::steps(&task.rows, agent)).collect()
}

fn check(name: &str, tasks: &[TaskRows]) {
    for task in tasks {
        let history = task.history();
        let cost = task.divide();
        let total = cost.total();
        assert_eq!(i64::try_from(total.priced).unwrap(), task.recorded.0, "{name}: cost of the task");
        let unpriced = history.responses.iter().filter(|response| response.cost.is_none()).count();
        assert_eq!(i64::try_from(unpriced).unwrap(), task.recorded.1, "{name}: responses without a price");
        let parts: Amount = cost.parts.iter().map(PartCost::cost).sum();
        assert_eq!(parts, cost.responses.iter().map(|response| response.prompt).sum(), "{name}: parts");
        for slice in &cost.slices {
            assert_eq!(slice.groups.values().sum::<u64>(), slice.tokens, "{name}: {slice:?}");
        }
        for response in history.responses.iter().filter(|response| response.cost.is_some()) {
            let rates = response.rates.unwrap();
            let whole = rates.total(&response.usage).0;
            assert!(whole <= u128::from(response.cost.unwrap()), "{name}: {response:?}");
        }
        for loss in losses(&history) {
            let response = history.responses.iter().find(|response| response.id == loss.response).unwrap();
            assert!(
                loss.tokens + response.usage.cache_read <= response.usage.prompt_tokens(),
                "{name}: {loss:?}"
            );
            assert!(loss.extra.priced <= response.cost.unwrap_or(0), "{name}: {loss:?}");
        }
    }
    let steps = steps(tasks);
    let threads = threads(&steps);
    let listed: usize = threads.iter().map(|thread| thread.failures.len()).sum();
    let failed = steps.iter().filter(|step| step.outcome == StepOutcome::Failed && !step.intents.is_empty());
    assert_eq!(listed, failed.count(), "{name}: failures");
    let changes = ChangeSet::from_steps(&steps);
    let done = steps.iter().filter(|step| step.outcome == StepOutcome::Succeeded);
    let edits: usize = done.map(|step| step.edits.len()).sum();
    assert_eq!(changes.lines().edits, edits as u64, "{name}: edits");
}

#[test]
fn sums_of_every_scenario_add_up() {
    let mut divided = 0;
    for scenario in scenarios() {
        let tasks = tasks(shipment([scenario.observed(None)]));
        check(&scenario.name, &tasks);
        divided += tasks.iter().map(|task| task.divide().slices.len()).sum::<usize>();
    }
    assert!(divided > 400, "only {divided} prompts were divided");
}

#[test]
fn sums_of_a_generated_history_add_up() {
    let mut history = Generated::new(6_000, 21);
    let batches = std::iter::from_fn(|| Some(history.batch(2_000)).filter(|batch| !batch.is_empty()));
    let tasks = tasks(shipment(batches));
    check("generated", &tasks);
    assert!(tasks.iter().any(|task| !task.divide().slices.is_empty()));
}

#[test]
fn session_that_edits_files_has_its_changes_and_its_failures() {
    let tasks = tasks_of("2.1.325/files");
    let steps = steps(&tasks);
    let changes = ChangeSet::from_steps(&steps);
    let files: Vec<(&str, u64, u64, u64)> = changes
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.lines.added, file.lines.removed, file.lines.uncounted))
        .collect();
    assert_eq!(files, [("/home/dev/project/new.txt", 3, 1, 0)]);
    let sentences: Vec<String> = threads(&steps).iter().map(FailureThread::sentence).collect();
    assert_eq!(sentences, ["not recovered, 1 failure", "not recovered, 1 failure"]);
}

#[test]
fn prompt_is_divided_among_system_tools_and_listed_additions() {
    let tasks = tasks_of("2.1.326/many_kill");
    let cost = tasks.iter().map(TaskRows::divide).find(|cost| cost.slices.len() > 5).unwrap();
    let has = |wanted: fn(&Source) -> bool| cost.parts.iter().any(|part| wanted(&part.source));
    assert!(has(|source| *source == Source::System));
    assert!(has(|source| matches!(source, Source::Tools { server: None })));
    assert!(has(|source| matches!(source, Source::Attachment { kind, .. } if kind == "date")));
    assert!(has(|source| matches!(source, Source::Result { tool, .. } if tool == "Agent")));
    let last = cost.slices.last().unwrap();
    assert!(last.groups[&SourceGroup::System] > 0 && last.error_tokens < last.tokens, "{last:?}");
}

#[test]
fn request_that_is_written_after_its_response_belongs_to_it() {
    let tasks = tasks_of("2.1.326/queue");
    let forms: Vec<Option<(u64, u64)>> = tasks
        .iter()
        .flat_map(|task| task.history().responses)
        .map(|response| response.request.map(|request| (request.kept, request.messages)))
        .collect();
    assert_eq!(forms, [Some((0, 2)), Some((2, 4))]);
}

#[test]
fn request_is_sent_before_its_response_where_the_client_writes_it_down() {
    let gaps: Vec<Option<bool>> = tasks_of("2.1.326/queue")
        .iter()
        .flat_map(|task| task.history().responses)
        .map(|response| response.requested_at.map(|requested| requested < response.at))
        .collect();
    assert_eq!(gaps, [Some(true), Some(true)]);
}

#[test]
fn switch_of_the_model_is_a_cause() {
    let causes: Vec<Cause> = tasks_of("2.1.325/model")
        .iter()
        .flat_map(|task| losses(&task.history()))
        .map(|loss| loss.cause)
        .collect();
    assert!(!causes.contains(&Cause::ToolsChanged), "{causes:?}");
}
