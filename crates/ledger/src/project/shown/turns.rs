//! Turns, to-dos, stays and compactions of one task, each made of the rows of a list.

use std::collections::HashMap;

use agent_tracer_event::{CallState, Channel, Kind, Millis};

use super::{About, duration};
use crate::project::FactRow;
use crate::project::row::channels_of;
use crate::view::{SessionView, Todo, TodoStep, Turn, UsageView};

/// More starts and ends of a process than this are not shown.
pub const MOST_SESSIONS: u32 = 500;

/// More changes of to-dos than this are not shown: the newest are.
pub const MOST_TODOS: u32 = 1_500;

/// What was done and spent in a turn.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// What it spent.
    pub usage: UsageView,
}

fn said(row: &FactRow) -> Option<String> {
    row.data.body.clone().or_else(|| Some(row.data.title.clone())).filter(|text| !text.is_empty())
}

/// A turn, with what was said at its beginning and at its end.
#[must_use]
pub fn turn(
    about: &About,
    row: &FactRow,
    number: u64,
    prompt: Option<&FactRow>,
    end: Option<&FactRow>,
    called: Called,
) -> Turn {
    let text =
        |key: &str, other: Option<&FactRow>| row.text(key).or_else(|| other?.text(key)).map(str::to_owned);
    let ours = row.ended.and_then(|ended| u64::try_from(ended.saturating_sub(row.occurred)).ok());
    Turn {
        id: about.turn_id(row.fact),
        task_id: about.uid.to_string(),
        number,
        prompt: prompt.and_then(said),
        prompt_origin: text("promptOrigin", prompt),
        started_at: Millis(row.occurred),
        ended_at: row.ended.map(Millis),
        duration_ms: duration(row).or(ours),
        state: row.state.unwrap_or(CallState::Running).to_string(),
        stop_reason: end
            .and_then(|end| end.text("stopReason").map(str::to_owned))
            .or_else(|| text("stopReason", None)),
        answer: end.and_then(said),
        tool_call_count: called.calls,
        failure_count: called.failures,
        usage: called.usage,
    }
}

/// How long turns ran, given when each began and ended in the order in which they began. One that has not ended runs
/// until `open_until`; two at once count once.
pub fn active_ms(turns: impl IntoIterator<Item = (i64, Option<i64>)>, open_until: i64) -> u64 {
    let (mut sum, mut reached) = (0_i64, i64::MIN);
    for (begun, ended) in turns {
        let ended = ended.unwrap_or(open_until);
        sum = sum.saturating_add(ended.saturating_sub(begun.max(reached)).max(0));
        reached = reached.max(ended);
    }
    u64::try_from(sum).unwrap_or(0)
}

/// How often the context was compacted. A hook and the transcript tell of it as two facts: the channel that tells of
/// more is believed.
pub fn compactions<'row>(told: impl IntoIterator<Item = &'row FactRow>) -> u64 {
    let mut by_channel: HashMap<Channel, u64> = HashMap::new();
    let told = told.into_iter().filter(|row| row.kind == Some(Kind::ContextSaved));
    for row in told.filter(|row| row.text("compactPhase") == Some("after")) {
        for channel in channels_of(row.channels) {
            *by_channel.entry(channel).or_default() += 1;
        }
    }
    by_channel.into_values().max().unwrap_or(0)
}

/// The stays of the process: each begins with the task or with a resume, and ends with the last end before the next.
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
        let source = text(start, "sessionSource");
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
            session.completion_reason = text(end, "completionReason");
        }
    }
    sessions
}

/// To-dos out of their changes, oldest first, in the order in which they first came up.
pub fn todos<'row>(about: &About, changes: impl IntoIterator<Item = &'row FactRow>) -> Vec<Todo> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut todos: Vec<Todo> = Vec::new();
    for row in changes {
        let text = |key: &str| row.text(key).filter(|text| !text.is_empty());
        let number = || row.meta("todoId").filter(|id| id.is_number()).map(ToString::to_string);
        let name = text("todoId").map(str::to_owned).or_else(number);
        // Before the agent has named it, a to-do is known by what it says.
        let Some(name) = name.or_else(|| text("subject").map(str::to_owned)) else { continue };
        let place = *places.entry(name.clone()).or_insert_with(|| {
            todos.push(Todo {
                todo_id: name,
                task_id: about.uid.to_string(),
                subject: String::new(),
                state: "added".to_owned(),
                history: Vec::new(),
            });
            todos.len() - 1
        });
        let Some(todo) = todos.get_mut(place) else { continue };
        if let Some(subject) = text("subject") {
            subject.clone_into(&mut todo.subject);
        } else if todo.subject.is_empty() {
            todo.subject.clone_from(&row.data.title);
        }
        let state = text("todoState").unwrap_or("added").to_owned();
        if todo.history.last().is_none_or(|last| last.state != state) {
            let id = about.row_id(row.fact);
            todo.history.push(TodoStep { state: state.clone(), at: Millis(row.occurred), id });
        }
        todo.state = state;
    }
    todos
}
