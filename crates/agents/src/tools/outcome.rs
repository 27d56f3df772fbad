//! Reads the result of a tool: the end of the call, and the few named things that are kept.
//!
//! A result has been reduced by privacy to `{"outputBytes", "isError", "exitCode", "errorClass", "firstLine", …}` and
//! the ids, states and counts that may stay. A result that was never reduced is read for the same names and nothing
//! else: no text of a result leaves this room but the masked first line of an error.

use agent_tracer_event::semantics::{Importance, SubtypeKey};
use agent_tracer_event::{CallState, ErrorClass, Metadata, attributes};
use serde_json::{Map, Value};

use super::input::integer;
use crate::extent::Bounds;
use crate::text::{cut, line};

/// Holds the end of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Holds where the call stands now.
    pub state: CallState,
    /// Why it failed.
    pub error_class: Option<ErrorClass>,
    /// Holds what is kept of the result, under our names.
    pub metadata: Metadata,
}

/// Describes what a result's member becomes.
enum Shape {
    Text(usize),
    Number,
    Flag,
}

/// The members of a result that are kept: their names in the result, and ours.
const KEPT: &[(&str, &str, Shape)] = &[
    ("outputBytes", attributes::OUTPUT_BYTES, Shape::Number),
    ("exitCode", attributes::EXIT_CODE, Shape::Number),
    ("interrupted", attributes::INTERRUPTED, Shape::Flag),
    ("truncated", attributes::RESULT_TRUNCATED, Shape::Flag),
    ("numFiles", attributes::RESULT_FILES, Shape::Number),
    ("totalMatches", attributes::RESULT_MATCHES, Shape::Number),
    ("numLines", attributes::RESULT_LINES, Shape::Number),
    ("totalLines", attributes::FILE_LINES, Shape::Number),
    ("startLine", attributes::RESULT_START_LINE, Shape::Number),
    ("searchCount", attributes::WEB_SEARCH_COUNT, Shape::Number),
    ("code", attributes::HTTP_STATUS, Shape::Number),
    ("backgroundTaskId", attributes::BACKGROUND_TASK_ID, Shape::Text(200)),
    ("shellId", attributes::BACKGROUND_TASK_ID, Shape::Text(200)),
    ("worktreePath", attributes::WORKTREE_PATH, Shape::Text(1024)),
    ("worktreeBranch", attributes::WORKTREE_BRANCH, Shape::Text(300)),
    ("discardedFiles", attributes::DISCARDED_FILES, Shape::Number),
    ("discardedCommits", attributes::DISCARDED_COMMITS, Shape::Number),
    ("totalDurationMs", attributes::TOTAL_DURATION_MS, Shape::Number),
    ("totalToolUseCount", attributes::TOTAL_TOOL_USE_COUNT, Shape::Number),
    ("agentId", attributes::CHILD_AGENT_ID, Shape::Text(200)),
    ("agent_id", attributes::CHILD_AGENT_ID, Shape::Text(200)),
    ("nickname", attributes::CHILD_NICKNAME, Shape::Text(200)),
    ("task_name", attributes::CHILD_TASK_NAME, Shape::Text(200)),
    ("resolvedModel", attributes::AGENT_RESOLVED_MODEL, Shape::Text(200)),
    ("status", attributes::STATUS, Shape::Text(60)),
    ("isAsync", attributes::IS_ASYNC, Shape::Flag),
    ("task_type", attributes::STOPPED_TASK_TYPE, Shape::Text(60)),
    ("timed_out", attributes::TIMED_OUT, Shape::Flag),
    ("success", attributes::SUCCESS, Shape::Flag),
    ("head", attributes::OUTPUT_HEAD, Shape::Text(4096)),
    ("tail", attributes::OUTPUT_TAIL, Shape::Text(4096)),
];

/// Reads what a tool gave back when it ran to its end.
#[must_use]
pub fn returned(body: &Value) -> Outcome {
    let mut outcome = Outcome { state: CallState::Succeeded, error_class: None, metadata: Metadata::new() };
    // Codex's agent tools answer with JSON inside a string.
    let unpacked = body.as_str().and_then(|text| Bounds::ARGUMENTS.parse::<Map<String, Value>>(text));
    let Some(members) = body.as_object().or(unpacked.as_ref()) else {
        if let Some(bytes) = bytes_of(body) {
            outcome.metadata.insert(attributes::OUTPUT_BYTES.to_owned(), Value::from(bytes));
        }
        return outcome;
    };
    keep(members, &mut outcome.metadata);
    outcome.error_class = class(members);
    let exit = members.get("exitCode").and_then(integer).unwrap_or(0);
    let is_error = [members.get("isError"), members.get("is_error")].into_iter().flatten().any(is_true);
    let unsuccessful = members.get("success") == Some(&Value::Bool(false));
    let interrupted = members.get("interrupted").is_some_and(is_true);
    if interrupted {
        outcome.error_class = Some(ErrorClass::Interrupt);
    }
    if interrupted || is_error || unsuccessful || exit != 0 || outcome.error_class.is_some() {
        // The words of a denial or a time-out say more than the number beside them.
        if exit != 0 && outcome.error_class.is_none() {
            outcome.error_class = Some(ErrorClass::NonZeroExit);
        }
        outcome.state = state_of(outcome.error_class);
    }
    write_class(&mut outcome);
    outcome
}

/// Reads the error of a tool that failed.
#[must_use]
pub fn failed(error: &Value, is_interrupt: bool) -> Outcome {
    let mut outcome = Outcome { state: CallState::Failed, error_class: None, metadata: Metadata::new() };
    match error {
        Value::Object(members) => {
            keep(members, &mut outcome.metadata);
            outcome.error_class = class(members);
            if let Some(first) = members.get("firstLine").and_then(Value::as_str) {
                outcome.metadata.insert(attributes::ERROR.to_owned(), Value::from(line(first, 200)));
            }
        }
        other => {
            if let Some(bytes) = bytes_of(other) {
                outcome.metadata.insert(attributes::OUTPUT_BYTES.to_owned(), Value::from(bytes));
            }
        }
    }
    if is_interrupt {
        outcome.error_class = Some(ErrorClass::Interrupt);
        outcome.metadata.insert(attributes::IS_INTERRUPT.to_owned(), Value::Bool(true));
    }
    let class = outcome.error_class.unwrap_or(match outcome.metadata.get(attributes::EXIT_CODE) {
        Some(_) => ErrorClass::NonZeroExit,
        None => ErrorClass::Unknown,
    });
    outcome.error_class = Some(class);
    outcome.state = state_of(outcome.error_class);
    write_class(&mut outcome);
    outcome
}

/// Returns what an ended call makes of the importance of its event: denials and failed tests matter.
#[must_use]
pub fn importance(state: CallState, subtype: SubtypeKey) -> Option<Importance> {
    match (state, subtype) {
        (CallState::Denied, _) | (CallState::Failed, SubtypeKey::RunTest) => Some(Importance::Critical),
        _ => None,
    }
}

/// Returns where a call stands that ended for this reason.
const fn state_of(class: Option<ErrorClass>) -> CallState {
    match class {
        Some(ErrorClass::Interrupt) => CallState::Interrupted,
        Some(ErrorClass::Permission | ErrorClass::HookBlocked | ErrorClass::PolicyDenied) => {
            CallState::Denied
        }
        Some(
            ErrorClass::Timeout
            | ErrorClass::NotFound
            | ErrorClass::Network
            | ErrorClass::InvalidInput
            | ErrorClass::NonZeroExit
            | ErrorClass::Unknown,
        )
        | None => CallState::Failed,
    }
}

fn is_true(value: &Value) -> bool {
    value == &Value::Bool(true)
}

fn class(members: &Map<String, Value>) -> Option<ErrorClass> {
    let word = members.get("errorClass")?.as_str()?;
    Some(ErrorClass::parse(word).unwrap_or(ErrorClass::Unknown))
}

fn write_class(outcome: &mut Outcome) {
    if let Some(class) = outcome.error_class {
        outcome.metadata.insert(attributes::ERROR_CLASS.to_owned(), Value::from(class.as_str()));
    }
}

/// Returns the bytes of the texts of a result that was not reduced.
fn bytes_of(body: &Value) -> Option<u64> {
    fn sum(value: &Value) -> u64 {
        match value {
            Value::String(text) => text.len() as u64,
            Value::Array(items) => items.iter().map(sum).sum(),
            Value::Object(members) => members.values().map(sum).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }
    (!body.is_null()).then(|| sum(body))
}

fn keep(members: &Map<String, Value>, metadata: &mut Metadata) {
    for (from, to, shape) in KEPT {
        let Some(value) = members.get(*from) else { continue };
        let kept = match (shape, value) {
            (Shape::Text(most), Value::String(text)) if !text.is_empty() => {
                Value::from(cut(text, *most).as_ref())
            }
            (Shape::Number, Value::Number(number)) => Value::Number(number.clone()),
            (Shape::Flag, Value::Bool(flag)) => Value::Bool(*flag),
            _ => continue,
        };
        // Two spellings of one thing stand in the table; the one that comes first there counts.
        if !metadata.contains_key(*to) {
            metadata.insert((*to).to_owned(), kept);
        }
    }
    if !metadata.contains_key(attributes::OUTPUT_BYTES) && !members.is_empty() {
        let bytes: u64 = members.values().filter_map(bytes_of).sum();
        metadata.insert(attributes::OUTPUT_BYTES.to_owned(), Value::from(bytes));
    }
    // What a tool says of the thing it made: a todo, a schedule.
    if let Some(id) = members.get("task").and_then(|task| task.get("id")).and_then(id_text) {
        metadata.insert(attributes::RESULT_TASK_ID.to_owned(), Value::from(id));
    } else if let Some(id) = members.get("taskId").and_then(id_text) {
        metadata.insert(attributes::RESULT_TASK_ID.to_owned(), Value::from(id));
    }
    if let Some(id) = members.get("id").and_then(id_text) {
        metadata.insert(attributes::RESULT_ID.to_owned(), Value::from(id));
    }
    if let Some(change) = members.get("statusChange").and_then(Value::as_object) {
        for (from, to) in [("from", attributes::STATUS_FROM), ("to", attributes::STATUS_TO)] {
            if let Some(status) = change.get(from).and_then(Value::as_str) {
                metadata.insert(to.to_owned(), Value::from(cut(status, 60).as_ref()));
            }
        }
    }
    if let Some(file) = members.get("file").and_then(Value::as_object) {
        keep(file, metadata);
    }
}

/// Reads an id: a text, or a number written as one.
fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(cut(text, 200).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
