//! Turns, to-dos, stays and compactions of one task, each made of the rows of a list.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Channel, Kind, Millis, attributes};
use serde_json::Value;

use super::{About, duration};
use crate::project::row::channels_of;
use crate::project::{FactRow, List};
use crate::view::{SessionView, Todo, TodoStep, Turn, UsageView};

/// More starts and ends of a process than this are not shown.
pub const MOST_SESSIONS: u32 = 500;

/// More changes of to-dos than this are not shown: the newest are.
pub const MOST_TODOS: u32 = 1_500;

/// The lists that begin a run of a subagent.
pub const RUN_STARTS: [List; 2] = [List::Prompt, List::SessionStart];

/// The lists that end a run.
pub const RUN_ENDS: [List; 3] = [List::Stop, List::SessionEnd, List::Interrupt];

/// The activity and usage of a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnActivity {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Tokens and cost.
    pub usage: UsageView,
}

/// The prompts and final messages of turns: by the turn that they name, or else by their moment, which is the turn's.
#[derive(Clone, Debug, Default)]
pub struct TurnEdges {
    prompts: HashMap<i64, FactRow>,
    ends: HashMap<i64, FactRow>,
    nameless_prompts: HashMap<i64, FactRow>,
    nameless_ends: HashMap<i64, FactRow>,
}

impl TurnEdges {
    /// Takes prompts and ends, each in the order in which they happened: a turn begins with its first prompt and ends with
    /// its last word.
    pub fn new(prompts: impl IntoIterator<Item = FactRow>, ends: impl IntoIterator<Item = FactRow>) -> Self {
        let mut edges = Self::default();
        for prompt in prompts {
            let (known, key) = match prompt.turn {
                Some(turn) => (&mut edges.prompts, turn),
                None => (&mut edges.nameless_prompts, prompt.occurred),
            };
            known.entry(key).or_insert(prompt);
        }
        for end in ends {
            let (known, key) = match end.turn {
                Some(turn) => (&mut edges.ends, turn),
                None => (&mut edges.nameless_ends, end.occurred),
            };
            known.insert(key, end);
        }
        edges
    }

    /// Returns the prompt of a turn.
    #[must_use]
    pub fn prompt(&self, turn: &FactRow) -> Option<&FactRow> {
        self.prompts.get(&turn.fact).or_else(|| self.nameless_prompts.get(&turn.occurred))
    }

    /// Returns the last word of a turn.
    #[must_use]
    pub fn end(&self, turn: &FactRow) -> Option<&FactRow> {
        self.ends.get(&turn.fact).or_else(|| self.nameless_ends.get(&turn.ended?))
    }
}

fn shown_text(row: &FactRow) -> Option<String> {
    row.data.body.clone().or_else(|| Some(row.data.title.clone())).filter(|text| !text.is_empty())
}

/// Returns a turn, with what was said at its beginning and at its end.
#[must_use]
pub fn turn(
    about: &About,
    row: &FactRow,
    number: u64,
    prompt: Option<&FactRow>,
    end: Option<&FactRow>,
    called: TurnActivity,
) -> Turn {
    let text = |row: &FactRow, key: &str| row.text(key).map(str::to_owned);
    // The client counts something else: without waits for people, and since the last prompt of a person.
    let client = duration(row);
    let ours = row.ended.and_then(|ended| u64::try_from(ended.saturating_sub(row.occurred)).ok());
    Turn {
        id: about.turn_id(row.fact),
        task_id: about.uid.to_string(),
        number,
        prompt: prompt.and_then(shown_text),
        // What is said while a turn runs opens it once more, but did not begin it.
        prompt_origin: prompt
            .and_then(|prompt| text(prompt, attributes::PROMPT_ORIGIN))
            .or_else(|| text(row, attributes::PROMPT_ORIGIN)),
        started_at: Millis(row.occurred),
        ended_at: row.ended.map(Millis),
        duration_ms: ours,
        client_duration_ms: client,
        state: row.state.unwrap_or(CallState::Running).to_string(),
        stop_reason: end
            .and_then(|end| text(end, attributes::STOP_REASON))
            .or_else(|| text(row, attributes::STOP_REASON)),
        answer: end.and_then(shown_text),
        tool_call_count: called.calls,
        failure_count: called.failures,
        usage: called.usage,
    }
}

/// Returns the runs of a subagent, out of the moments at which it was asked or began and of those at which it ended,
/// each in their order. Its turn is its first run alone: it may be asked again after it has ended.
#[must_use]
pub fn runs(starts: &[i64], ends: &[i64]) -> Vec<(i64, Option<i64>)> {
    let mut runs: Vec<(i64, Option<i64>)> = Vec::new();
    for start in starts {
        let runs_still = runs.last().is_some_and(|(_, end)| end.is_none_or(|end| *start < end));
        if !runs_still {
            runs.push((*start, ends.iter().copied().find(|end| end > start)));
        }
    }
    runs
}

/// Returns how often the context was compacted. A hook and the transcript tell of it as two facts: the channel that tells of
/// more is believed.
pub fn compactions<'row>(reported: impl IntoIterator<Item = &'row FactRow>) -> u64 {
    let mut by_channel: HashMap<Channel, u64> = HashMap::new();
    let reported = reported.into_iter().filter(|row| row.kind == Some(Kind::ContextSaved));
    for row in reported.filter(|row| row.text(attributes::COMPACT_PHASE) == Some("after")) {
        for channel in channels_of(row.channels) {
            *by_channel.entry(channel).or_default() += 1;
        }
    }
    by_channel.into_values().max().unwrap_or(0)
}

/// Returns the stays of the process: each begins with the task or with a resume, and ends with the last end before the
/// next.
pub fn sessions<'row>(
    about: &About,
    started: i64,
    starts: impl IntoIterator<Item = &'row FactRow>,
    ends: impl IntoIterator<Item = &'row FactRow>,
) -> Vec<SessionView> {
    let text = |row: &FactRow, key: &str| row.text(key).map(str::to_owned);
    let view = |id, at, source| SessionView {
        id,
        started_at: Millis(at),
        ended_at: None,
        source,
        completion_reason: None,
    };
    let mut sessions: Vec<SessionView> = Vec::new();
    for start in starts {
        let id = about.stay(start.occurred).to_string();
        let source = text(start, attributes::SESSION_SOURCE);
        match sessions.iter_mut().find(|session| session.id == id) {
            Some(session) => session.source = session.source.take().or(source),
            None => sessions.push(view(id, start.occurred, source)),
        }
    }
    let first = about.stay(started).to_string();
    match sessions.first_mut().filter(|session| session.id == first) {
        Some(session) => session.started_at = Millis(started),
        None => sessions.insert(0, view(first, started, None)),
    }
    for end in ends {
        let id = about.stay(end.occurred).to_string();
        if let Some(session) = sessions.iter_mut().find(|session| session.id == id) {
            session.ended_at = Some(Millis(end.occurred));
            session.completion_reason = text(end, attributes::COMPLETION_REASON);
        }
    }
    sessions
}

/// Builds to-dos from their changes, oldest first, in the order in which they first came up.
pub fn todos<'row>(about: &About, changes: impl IntoIterator<Item = &'row FactRow>) -> Vec<Todo> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut todos: Vec<Todo> = Vec::new();
    // A change that a rule did not let happen is none.
    for row in changes.into_iter().filter(|row| row.meta(attributes::BLOCKED) != Some(&Value::Bool(true))) {
        let text = |key: &str| row.text(key).filter(|text| !text.is_empty());
        let number = || row.meta(attributes::TODO_ID).filter(|id| id.is_number()).map(ToString::to_string);
        let name = text(attributes::TODO_ID).map(str::to_owned).or_else(number);
        // Before the agent has named it, a to-do is known by what it says.
        let Some(name) = name.or_else(|| text(attributes::SUBJECT).map(str::to_owned)) else { continue };
        let place = *places.entry(name.clone()).or_insert_with(|| {
            todos.push(Todo {
                todo_id: name,
                task_id: about.uid.to_string(),
                subject: String::new(),
                priority: None,
                state: "added".to_owned(),
                history: Vec::new(),
            });
            todos.len() - 1
        });
        let Some(todo) = todos.get_mut(place) else { continue };
        if let Some(subject) = text(attributes::SUBJECT) {
            subject.clone_into(&mut todo.subject);
        } else if todo.subject.is_empty() {
            todo.subject.clone_from(&row.data.title);
        }
        if let Some(priority) = text(attributes::PRIORITY) {
            todo.priority = Some(priority.to_owned());
        }
        let state = text(attributes::TODO_STATE).unwrap_or("added").to_owned();
        if todo.history.last().is_none_or(|last| last.state != state) {
            let id = about.row_id(row.fact);
            todo.history.push(TodoStep { state: state.clone(), at: Millis(row.occurred), id });
        }
        todo.state = state;
    }
    todos
}

#[cfg(test)]
mod tests {
    use super::super::TimeSplit;
    use super::*;

    #[test]
    fn an_agent_that_is_asked_again_runs_again() {
        assert_eq!(runs(&[0, 5, 20], &[10, 30]), [(0, Some(10)), (20, Some(30))]);
        assert_eq!(runs(&[0, 20, 25], &[10]), [(0, Some(10)), (20, None)]);
        assert_eq!(runs(&[], &[10]), []);
        let turn = (0, Some(10));
        let mut all = runs(&[0, 20], &[10, 30]);
        all.push(turn);
        let time = TimeSplit::new((0, 30), all, [], i64::MIN);
        assert_eq!(time.active_ms, 20, "what a turn and a run both cover counts once");
    }
}
