//! Gathers the evidence about the past of a tree of tasks as its rows pass by.
//!
//! The evidence at a moment is what a live question would have found then: every row up to the moment, the row of the
//! moment itself included. What grew past its bound is not known any more, which is reported, not guessed. Three things
//! are not in the history and therefore differ: usage that only the client's own account has, open work items, and
//! which files of a prompt existed.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::evidence::{Evidence, WORK_MAX};
use crate::{Call, Scope};
use agent_tracer_event::{Agent, CallState, Kind, Millis, Tokens, attributes};
use agent_tracer_ledger::view::Row;
use agent_tracer_ledger::{
    PastAction, PastPrompt, PastSpending, failures_in_a_row, interrupts_calls, opened_files,
};
use serde_json::Value;

/// Different calls, and different files, of one task that are remembered.
const REMEMBERED_MAX: usize = 200_000;

/// One task so far.
#[derive(Debug, Default)]
struct TaskState {
    spending: PastSpending,
    /// By turn.
    turns: HashMap<String, PastSpending>,
    /// Counts of each call.
    made: HashMap<String, u64>,
    opened: HashSet<String>,
    is_overfull: bool,
    started_at: Option<Millis>,
    prompt: Option<PastPrompt>,
    /// The latest actions, in the order in which they began.
    actions: VecDeque<KnownAction>,
}

/// An action as it is known so far.
#[derive(Debug)]
struct KnownAction {
    row_id: String,
    turn_id: Option<String>,
    action: PastAction,
}

/// One tree so far.
#[derive(Debug, Default)]
pub(crate) struct TreeState {
    spending: PastSpending,
    tasks: HashMap<String, TaskState>,
}

impl TreeState {
    /// Counts its tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Returns `true` if a row of the task has passed by.
    pub(crate) fn has_task(&self, id: &str) -> bool {
        self.tasks.contains_key(id)
    }

    /// Adds a task before its first row.
    pub(crate) fn add_task(&mut self, id: &str, started_at: Millis) {
        self.tasks.insert(id.to_owned(), TaskState::new(started_at));
    }

    fn task(&mut self, row: &Row) -> &mut TaskState {
        self.tasks.entry(row.task_id.clone()).or_insert_with(|| TaskState::new(row.occurred_at))
    }

    /// Adds a row that is no call.
    pub(crate) fn add_row(&mut self, row: &Row, agent: Agent, cost_pico: impl FnOnce(&Row) -> Option<u64>) {
        let task = self.task(row);
        if let Some(prompt) = PastPrompt::of(row) {
            task.prompt = Some(prompt);
        }
        task.interrupt_calls(row);
        task.add_action(row, PastAction::of(row, agent));
        if matches!(row.kind, Kind::TokenUsage | Kind::ModelRequest)
            && row.metadata.get(attributes::COUNTED) != Some(&Value::Bool(false))
            && let Some(usage) = Tokens::read(&row.metadata)
        {
            let spending =
                PastSpending { tokens: usage.total(), cost_pico: cost_pico(row).unwrap_or_default() };
            task.spending.add(spending);
            if let Some(turn) = &row.turn_id {
                task.turns.entry(turn.clone()).or_default().add(spending);
            }
            self.spending.add(spending);
        }
    }

    /// Adds a call that begins. Its end is not known yet.
    pub(crate) fn begin_call(&mut self, row: &Row, agent: Agent) {
        let task = self.task(row);
        if let Some(signature) = signature(row) {
            // Counts of known calls go on when the map is full. Which of the others were dropped cannot be seen
            // later, so the whole task answers with unknown.
            if task.made.len() < REMEMBERED_MAX || task.made.contains_key(signature) {
                *task.made.entry(signature.to_owned()).or_default() += 1;
            } else {
                task.is_overfull = true;
            }
        }
        task.add_action(row, PastAction::of(row, agent).map(PastAction::while_running));
    }

    /// Ends a call.
    pub(crate) fn end_call(&mut self, row: &Row, agent: Agent) {
        let task = self.task(row);
        for path in opened_files(row) {
            if task.opened.len() < REMEMBERED_MAX {
                task.opened.insert(path.to_owned());
            } else {
                task.is_overfull = true;
            }
        }
        let known = task.actions.iter_mut().rev().find(|known| known.row_id == row.id);
        if let (Some(known), Some(ended)) = (known, PastAction::of(row, agent)) {
            known.action = ended;
        }
    }
}

impl TaskState {
    fn new(started_at: Millis) -> Self {
        Self { started_at: Some(started_at), ..Self::default() }
    }

    /// Interrupts the calls that still run, if the row does so. An end that comes later replaces this: what was known
    /// counts, not what turned out.
    fn interrupt_calls(&mut self, row: &Row) {
        for known in self.actions.iter_mut().filter(|known| known.action.state == CallState::Running) {
            let is_their_turn = row.turn_id.is_some() && row.turn_id == known.turn_id;
            if known.action.at < row.occurred_at && interrupts_calls(row, is_their_turn) {
                known.action.state = CallState::Interrupted;
            }
        }
    }

    fn add_action(&mut self, row: &Row, action: Option<PastAction>) {
        let Some(action) = action else { return };
        let (row_id, turn_id) = (row.id.clone(), row.turn_id.clone());
        self.actions.push_back(KnownAction { row_id, turn_id, action });
        if self.actions.len() > WORK_MAX {
            self.actions.pop_front();
        }
    }
}

/// Returns the signature of a call, which all calls with the same input share.
fn signature(row: &Row) -> Option<&str> {
    row.metadata.get(attributes::CALL_SIGNATURE).and_then(Value::as_str)
}

/// The evidence at one moment of a replay.
pub(crate) struct ReplayEvidence<'t> {
    pub(crate) tree: &'t TreeState,
    /// The row whose moment it is.
    pub(crate) row: &'t Row,
    pub(crate) at: Millis,
    /// Returns the spending of the day by then, to the quarter-hour.
    pub(crate) of_day: &'t dyn Fn(Millis) -> Option<PastSpending>,
}

impl ReplayEvidence<'_> {
    fn task(&self) -> Option<&TaskState> {
        self.tree.tasks.get(&self.row.task_id)
    }
}

impl Evidence for ReplayEvidence<'_> {
    fn now(&self) -> Millis {
        self.at
    }

    fn spending(&self, scope: Scope) -> Option<PastSpending> {
        match scope {
            Scope::Turn => {
                let turn = self.row.turn_id.as_ref()?;
                Some(self.task()?.turns.get(turn).copied().unwrap_or_default())
            }
            Scope::Task => self.task().map(|task| task.spending),
            Scope::Tree => Some(self.tree.spending),
            Scope::Day => (self.of_day)(self.at),
        }
    }

    fn repeats(&self) -> Option<u64> {
        let task = self.task().filter(|task| !task.is_overfull)?;
        let made = task.made.get(signature(self.row)?).copied().unwrap_or(0);
        // The call itself is one of them.
        Some(made.saturating_sub(1))
    }

    fn failures_in_a_row(&self, most: usize) -> Option<u64> {
        let states = self.task()?.actions.iter().rev().map(|known| known.action.state);
        Some(failures_in_a_row(states, most))
    }

    fn has_opened(&self, path: &str) -> Option<bool> {
        let task = self.task()?;
        // A full set still proves what is in it. What is not in it may have been dropped, so its absence proves
        // nothing.
        match task.opened.contains(path) {
            true => Some(true),
            false => (!task.is_overfull).then_some(false),
        }
    }

    fn actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>> {
        let newest_first = self.task()?.actions.iter().rev().map(|known| &known.action);
        Some(newest_first.filter(|action| action.at >= since).take(most).cloned().collect())
    }

    fn settled_actions(&self, since: Millis, most: usize) -> Option<Vec<PastAction>> {
        self.actions(since, most)
    }

    fn last_prompt(&self) -> Option<Option<PastPrompt>> {
        self.task().map(|task| task.prompt.clone())
    }

    fn started_at(&self) -> Option<Millis> {
        self.task()?.started_at
    }

    fn deferrals(&self, _: &Call, _: &str) -> Option<u64> {
        // Each end is one that no rule has deferred yet.
        Some(0)
    }

    fn open_todos(&self) -> Option<u64> {
        None
    }

    fn mentioned(&self, _: &PastPrompt, _: &Call) -> Vec<String> {
        Vec::new()
    }
}
