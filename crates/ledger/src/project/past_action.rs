//! Derives from a row of the history what rules about the past ask of it.
//!
//! Law: each statement is derived here once, of a stored row and of a presented one. A live question reads the store, a
//! replay reads the timeline; both see the same action, prompt and cost, because neither derives them itself.

use agent_tracer_event::{Agent, CallState, Metadata, Millis, attributes};
use serde_json::Value;

use super::{FactRow, List};
use crate::view::{Row, UsageView};

/// Pico-dollars in a millionth of a dollar.
const MICRO: u64 = 1_000_000;
/// Pico-dollars in a dollar.
const DOLLAR: f64 = 1e12;

/// The lists that hold what an agent did.
pub(crate) const ACTIONS: [List; 4] = [List::Command, List::Exploration, List::Web, List::Call];

/// Something that a task did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastAction {
    /// The moment.
    pub at: Millis,
    /// The kind, as the row's `subtypeKey`.
    pub subtype: String,
    /// The tool.
    pub tool: String,
    /// The state of the call.
    pub state: CallState,
    /// The files it is about.
    pub paths: Vec<String>,
    /// The command, masked, if it is one.
    pub command: Option<String>,
    /// The directory in which it ran.
    pub directory: Option<String>,
    /// The exit code, if it is known for sure.
    pub exit: Option<i32>,
}

/// A request of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastPrompt {
    /// The moment.
    pub at: Millis,
    /// The text, masked, as far as it is kept.
    pub text: Option<String>,
    /// The working directory of the task at that time.
    pub directory: Option<String>,
}

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PastSpending {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Pico-dollars: sums of rounded parts would depend on how a sum was parted.
    pub cost_pico: u64,
}

impl PastSpending {
    /// Returns the spending of a sum as it is presented.
    #[must_use]
    pub fn of(usage: &UsageView) -> Self {
        let cost_pico = (usage.cost_usd.max(0.0) * DOLLAR).round() as u64;
        Self { tokens: usage.tokens.total(), cost_pico }
    }

    /// Returns the cost in millionths of a dollar, rounded.
    #[must_use]
    pub const fn cost_micros(self) -> u64 {
        self.cost_pico.saturating_add(MICRO / 2) / MICRO
    }

    /// Adds another sum.
    pub const fn add(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost_pico = self.cost_pico.saturating_add(other.cost_pico);
    }
}

/// A row as rules about the past see it: of the store, or as it is presented.
pub trait HistoryRow {
    /// Returns the list to which it belongs.
    fn list(&self) -> List;
    /// Returns the moment when it began.
    fn at(&self) -> Millis;
    /// Returns the tool.
    fn tool(&self) -> Option<&str>;
    /// Returns the state of a call.
    fn state(&self) -> Option<CallState>;
    /// Returns the longer text.
    fn body(&self) -> Option<&str>;
    /// Returns the files that it concerns.
    fn file_paths(&self) -> &[String];
    /// Returns a value of the metadata.
    fn value(&self, key: &str) -> Option<&Value>;

    /// Returns a text of the metadata.
    fn value_text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str()
    }
}

impl HistoryRow for FactRow {
    fn list(&self) -> List {
        self.list
    }
    fn at(&self) -> Millis {
        Millis(self.occurred)
    }
    fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
    fn state(&self) -> Option<CallState> {
        self.state
    }
    fn body(&self) -> Option<&str> {
        self.data.body.as_deref()
    }
    fn file_paths(&self) -> &[String] {
        &self.data.file_paths
    }
    fn value(&self, key: &str) -> Option<&Value> {
        self.meta(key)
    }
}

impl HistoryRow for Row {
    fn list(&self) -> List {
        List::of_fields(self.kind, self.tool_name.as_deref(), Some(self.lane), &self.metadata)
    }
    fn at(&self) -> Millis {
        self.occurred_at
    }
    fn tool(&self) -> Option<&str> {
        self.tool_name.as_deref()
    }
    fn state(&self) -> Option<CallState> {
        self.state
    }
    fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }
    fn file_paths(&self) -> &[String] {
        &self.file_paths
    }
    fn value(&self, key: &str) -> Option<&Value> {
        Metadata::get(&self.metadata, key)
    }
}

impl PastAction {
    /// Reads a row; `None` if it is no action of the agent.
    #[must_use]
    pub fn of(row: &impl HistoryRow, agent: Agent) -> Option<Self> {
        let list = row.list();
        if !ACTIONS.contains(&list) {
            return None;
        }
        let state = row.state().unwrap_or(CallState::Running);
        let analysed = || row.value(attributes::COMMAND_ANALYSIS)?.get("raw")?.as_str();
        let command = row.value_text(attributes::COMMAND).or_else(analysed).filter(|_| list == List::Command);
        let directory = row.value_text(attributes::WORKDIR).or_else(|| row.value_text(attributes::CWD));
        Some(Self {
            at: row.at(),
            subtype: row.value_text(attributes::SUBTYPE_KEY).unwrap_or_default().to_owned(),
            tool: row.tool().unwrap_or_default().to_owned(),
            state,
            paths: row.file_paths().to_vec(),
            command: command.map(str::to_owned),
            directory: directory.map(str::to_owned),
            exit: exit(row, state, agent),
        })
    }

    /// Returns the same action while it runs: its end is not known yet.
    #[must_use]
    pub fn while_running(self) -> Self {
        Self { state: CallState::Running, exit: None, ..self }
    }
}

impl PastPrompt {
    /// Reads a row; `None` unless a person typed it. Messages from other sources are prompts, too, and begin no work.
    #[must_use]
    pub fn of(row: &impl HistoryRow) -> Option<Self> {
        let is_typed = row.list() == List::Prompt
            && row.value_text(attributes::PROMPT_ORIGIN) != Some("task_notification");
        is_typed.then(|| Self {
            at: row.at(),
            text: row.body().map(str::to_owned),
            directory: row.value_text(attributes::CWD).map(str::to_owned),
        })
    }
}

/// Returns the exit code, where it is known. Some agents leave out that of a command that succeeded; a command in the
/// background has not ended.
fn exit(row: &impl HistoryRow, state: CallState, agent: Agent) -> Option<i32> {
    let reported =
        row.value(attributes::EXIT_CODE).and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let is_behind = row.value(attributes::RUN_IN_BACKGROUND) == Some(&Value::Bool(true))
        || row.value(attributes::BACKGROUND_TASK_ID).is_some();
    match (reported, state) {
        _ if is_behind => None,
        (Some(code), _) => Some(code),
        (None, CallState::Succeeded) if agent.spec().success_is_exit_zero => Some(0),
        (None, CallState::Failed) => Some(1),
        (None, _) => None,
    }
}

/// Returns whether a row ends the calls that still run: a prompt or an end does. What is said while a turn runs does not
/// end its calls.
#[must_use]
pub fn interrupts_calls(boundary: &impl HistoryRow, is_their_turn: bool) -> bool {
    match boundary.list() {
        List::Prompt => !is_their_turn,
        list => list == List::Stop,
    }
}

/// Returns the files that a row read or made. What it only tried does not count.
#[must_use]
pub fn opened_files(row: &impl HistoryRow) -> Vec<&str> {
    if row.tool().is_none() || row.state() != Some(CallState::Succeeded) {
        return Vec::new();
    }
    touched_files(row).into_iter().map(|(path, ..)| path).collect()
}

/// Returns the files of a call with their reads and changes: by the analysis of a command, or else by the call itself.
pub(crate) fn touched_files(row: &impl HistoryRow) -> Vec<(&str, i64, i64)> {
    if let Some(Value::Array(operations)) = row.value(attributes::FILE_OPERATIONS) {
        let named = operations.iter().filter_map(|operation| {
            let path = operation.get("path")?.as_str()?;
            let reads = matches!(operation.get("operation").and_then(Value::as_str), Some("read"));
            Some((path, i64::from(reads), i64::from(!reads)))
        });
        return named.collect();
    }
    let (reads, changes) = match row.value_text(attributes::SUBTYPE_KEY) {
        Some("read_file" | "grep_code") => (1, 0),
        Some("create_file" | "modify_file" | "delete_file" | "rename_file" | "apply_patch") => (0, 1),
        _ => return Vec::new(),
    };
    row.file_paths().iter().map(|path| (path.as_str(), reads, changes)).collect()
}

/// Returns how many of the newest calls that have ended failed, without one in between that did not; at most `most` are
/// looked at.
pub fn failures_in_a_row(newest_first: impl Iterator<Item = CallState>, most: usize) -> u64 {
    let ended = newest_first.filter(|state| *state != CallState::Running).take(most);
    ended.take_while(|state| matches!(state, CallState::Failed | CallState::Denied)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_end_at_the_first_success_and_what_runs_is_neither() {
        use CallState::{Denied, Failed, Running, Succeeded};
        for (states, expected) in [
            (&[][..], 0),
            (&[Running, Failed, Denied, Running, Failed, Succeeded, Failed], 3),
            (&[Succeeded, Failed], 0),
            (&[Running, Failed, Failed, Failed, Failed, Failed], 4),
        ] {
            assert_eq!(failures_in_a_row(states.iter().copied(), 4), expected, "{states:?}");
        }
    }

    #[test]
    fn cost_is_rounded_once() {
        let mut sum = PastSpending::default();
        for _ in 0..3 {
            sum.add(PastSpending { tokens: 1, cost_pico: 400_000 });
        }
        assert_eq!((sum.tokens, sum.cost_micros()), (3, 1));
    }
}
