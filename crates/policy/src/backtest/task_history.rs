//! Rebuilds the history known at each moment of a tree of tasks, as its rows pass by.
//!
//! The same questions as the live past answers, with the same meanings; here the clock is the row's own. What grew past
//! its bound is not known any more, which is reported, not guessed.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::{Call, Deed, History, Moment, Scope, Since, Work};
use agent_tracer_event::{Agent, CallState, Kind, Millis, Tokens, attributes};
use agent_tracer_ledger::view::Row;
use serde_json::Value;

/// The most actions that criteria are evaluated against.
const WORK_MAX: usize = 2000;
/// Different calls, and different files, of one task that are remembered.
const REMEMBERED_MAX: usize = 200_000;

/// The kinds of calls that change a file.
const CHANGES: &[&str] = &["create_file", "modify_file", "delete_file", "rename_file", "apply_patch"];

/// Tokens, and millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) tokens: u64,
    pub(crate) micros: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.micros = self.micros.saturating_add(other.micros);
    }
}

/// One task so far.
#[derive(Debug, Default)]
struct Task {
    spent: Sum,
    turn: Option<String>,
    of_turn: Sum,
    /// Counts of each call.
    made: HashMap<String, u64>,
    failures_in_a_row: u64,
    opened: HashSet<String>,
    is_overfull: bool,
    started: Option<Millis>,
    last: HashMap<Moment, Millis>,
    /// Since the last prompt, oldest first.
    deeds: VecDeque<Deed>,
}

/// One tree so far.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    spent: Sum,
    tasks: HashMap<String, Task>,
}

impl Tree {
    /// Counts its tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn task(&mut self, row: &Row) -> &mut Task {
        let task = self.tasks.entry(row.task_id.clone()).or_default();
        task.started.get_or_insert(row.occurred_at);
        if row.turn_id.is_some() && row.turn_id != task.turn {
            task.turn.clone_from(&row.turn_id);
            task.of_turn = Sum::default();
        }
        task
    }

    /// A row begins. A call counts as made only once it was judged: see [`Tree::made`].
    pub(crate) fn begins(&mut self, row: &Row, cost_micros: impl FnOnce(&Row) -> Option<u64>) {
        let task = self.task(row);
        if matches!(row.kind, Kind::TokenUsage | Kind::ModelRequest)
            && row.metadata.get(attributes::COUNTED) != Some(&Value::Bool(false))
            && let Some(usage) = Tokens::read(&row.metadata)
        {
            let sum = Sum { tokens: usage.total(), micros: cost_micros(row).unwrap_or(0) };
            task.spent.add(sum);
            task.of_turn.add(sum);
            self.spent.add(sum);
        }
    }

    /// A prompt was judged: what comes now is the work on it.
    pub(crate) fn prompted(&mut self, row: &Row) {
        let is_typed =
            row.metadata.get(attributes::PROMPT_ORIGIN).and_then(Value::as_str) != Some("task_notification");
        let task = self.task(row);
        if is_typed {
            task.last.insert(Moment::Prompt, row.occurred_at);
            task.deeds.clear();
        }
    }

    /// A call was judged and begins.
    pub(crate) fn made(&mut self, row: &Row) {
        let task = self.task(row);
        if let Some(signature) = row.metadata.get(attributes::CALL_SIGNATURE).and_then(Value::as_str) {
            if task.made.len() < REMEMBERED_MAX || task.made.contains_key(signature) {
                *task.made.entry(signature.to_owned()).or_default() += 1;
            } else {
                task.is_overfull = true;
            }
        }
    }

    /// A call ends.
    pub(crate) fn ended(&mut self, row: &Row, agent: Agent) {
        let state = row.state.unwrap_or(CallState::Running);
        let subtype = row.metadata.get(attributes::SUBTYPE_KEY).and_then(Value::as_str).unwrap_or_default();
        let command = row.metadata.get(attributes::COMMAND).and_then(Value::as_str);
        let at = row.ended_at.unwrap_or(row.occurred_at);
        let task = self.task(row);
        match state {
            CallState::Failed | CallState::Denied => task.failures_in_a_row += 1,
            CallState::Running => {}
            _ => task.failures_in_a_row = 0,
        }
        if subtype == "run_test" {
            task.last.insert(Moment::Test, at);
        }
        if state == CallState::Succeeded {
            if CHANGES.contains(&subtype) {
                task.last.insert(Moment::Edit, at);
            }
            if command.is_some_and(|command| command.contains("git ") && command.contains("commit")) {
                task.last.insert(Moment::Commit, at);
            }
            for path in &row.file_paths {
                if task.opened.len() < REMEMBERED_MAX {
                    task.opened.insert(path.clone());
                } else {
                    task.is_overfull = true;
                }
            }
        }
        for deed in deeds(row, state, subtype, command, agent) {
            task.deeds.push_back(deed);
            if task.deeds.len() > WORK_MAX {
                task.deeds.pop_front();
            }
        }
    }
}

fn deeds(row: &Row, state: CallState, subtype: &str, command: Option<&str>, agent: Agent) -> Vec<Deed> {
    let text = |key: &str| row.metadata.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(command) = command {
        return match state {
            CallState::Denied => Vec::new(),
            _ => vec![Deed::Ran {
                command: command.to_owned(),
                directory: text(attributes::WORKDIR).or_else(|| text(attributes::CWD)),
                exit: exit(row, state, agent),
            }],
        };
    }
    if state != CallState::Succeeded {
        return Vec::new();
    }
    let paths = row.file_paths.iter().cloned();
    match subtype {
        "read_file" => paths.map(Deed::Read).collect(),
        subtype if CHANGES.contains(&subtype) => paths.map(Deed::Changed).collect(),
        _ => Vec::new(),
    }
}

/// The exit code, where it is known for sure.
fn exit(row: &Row, state: CallState, agent: Agent) -> Option<i32> {
    let recorded = row
        .metadata
        .get(attributes::EXIT_CODE)
        .and_then(Value::as_i64)
        .and_then(|code| i32::try_from(code).ok());
    let is_behind = row.metadata.get(attributes::RUN_IN_BACKGROUND) == Some(&Value::Bool(true))
        || row.metadata.contains_key(attributes::BACKGROUND_TASK_ID);
    match (recorded, state) {
        _ if is_behind => None,
        (Some(code), _) => Some(code),
        (None, CallState::Succeeded) if agent.spec().success_is_exit_zero => Some(0),
        (None, CallState::Failed) => Some(1),
        (None, _) => None,
    }
}

/// The past of one moment.
pub(crate) struct EarlierState<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) row: &'t Row,
    pub(crate) at: Millis,
    /// Returns the cost of the day by then, to the quarter-hour.
    pub(crate) of_day: &'t dyn Fn(Millis) -> Option<Sum>,
}

impl EarlierState<'_> {
    fn task(&self) -> Option<&Task> {
        self.tree.tasks.get(&self.row.task_id)
    }

    fn spent(&self, scope: Scope) -> Option<Sum> {
        match scope {
            Scope::Turn => self.task().map(|task| task.of_turn),
            Scope::Task => self.task().map(|task| task.spent),
            Scope::Tree => Some(self.tree.spent),
            Scope::Day => (self.of_day)(self.at),
        }
    }
}

impl History for EarlierState<'_> {
    fn tokens(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.spent(scope).map(|sum| sum.tokens)
    }

    fn cost_micros(&self, _: &Call, scope: Scope) -> Option<u64> {
        self.spent(scope).map(|sum| sum.micros)
    }

    fn repeats(&self, _: &Call) -> Option<u64> {
        let task = self.task().filter(|task| !task.is_overfull)?;
        let signature = self.row.metadata.get(attributes::CALL_SIGNATURE).and_then(Value::as_str)?;
        Some(task.made.get(signature).copied().unwrap_or(0))
    }

    fn failures_in_a_row(&self, _: &Call) -> Option<u64> {
        self.task().map(|task| task.failures_in_a_row)
    }

    fn was_read(&self, _: &Call, path: &str) -> Option<bool> {
        let task = self.task()?;
        match task.opened.contains(path) {
            true => Some(true),
            false => (!task.is_overfull).then_some(false),
        }
    }

    fn since(&self, _: &Call, moment: Moment) -> Option<Since> {
        let task = self.task()?;
        let at = match moment {
            Moment::Start => task.started,
            Moment::Prompt | Moment::Edit | Moment::Test | Moment::Commit => task.last.get(&moment).copied(),
        };
        Some(at.map_or(Since::Never, |at| {
            Since::Minutes(u64::try_from((self.at.0 - at.0).max(0) / 60_000).unwrap_or(0))
        }))
    }

    fn deferrals(&self, _: &Call, _: &str) -> Option<u64> {
        // Each end is one that no rule has deferred yet.
        Some(0)
    }

    fn work(&self, _: &Call) -> Option<Work> {
        let deeds = self.task()?.deeds.iter().cloned().collect();
        Some(Work { deeds, open_todos: None, mentioned: Vec::new() })
    }
}
