//! Work items: the tools that write them, and the facts about them that several events tell.
//!
//! A transition of an item is one fact, `todo:<id>:<state>`, on every channel. Items without an id are known by the
//! hash of their text.

use agent_tracer_event::semantics::{Importance, SubtypeKey};
use agent_tracer_event::{Kind, Lane, attributes};
use serde_json::Value;

use super::Meaning;
use super::row::{PLAN, Row, id, text};
use crate::text::{cut, hash16, line};

// The tool's, the event's, and that of an older document.
const SUBJECT: &[&str] = &["subject", "task_subject", "task_name"];
const DESCRIPTION: &[&str] = &["description", "task_description"];
const TODO_ID: &[&str] = &["taskId", "task_id", "id"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["TodoWrite"],
        lane: Lane::Todos,
        subtype: SubtypeKey::Todo,
        operation: "update",
        title: |input| {
            let rows = rows(input.value);
            let status = |row: &&Value, state| {
                row.get("status").and_then(Value::as_str).and_then(todo_state) == Some(state)
            };
            let done = rows.iter().filter(|row| status(row, "completed")).count();
            let now = rows.iter().find(|row| status(row, "in_progress")).and_then(subject_of);
            match (rows.len(), now) {
                (0, _) => "Clear the todo list".to_owned(),
                (all, Some(now)) => format!("Todos ({done} of {all} done): {}", line(now, 80)),
                (all, None) => format!("Todos ({done} of {all} done)"),
            }
        },
        also: Some(|input, meaning| {
            meaning.metadata.insert(attributes::ITEM_COUNT.to_owned(), Value::from(rows(input.value).len()));
        }),
        ..PLAN
    },
    Row {
        names: &["TaskCreate"],
        kind: Kind::TodoLogged,
        lane: Lane::Todos,
        subtype: SubtypeKey::Todo,
        operation: "create",
        keep: &[
            text(SUBJECT, attributes::SUBJECT, 1000),
            text(DESCRIPTION, attributes::DESCRIPTION, 10_000),
            text(&["activeForm"], attributes::ACTIVE_FORM, 1000),
        ],
        body: DESCRIPTION,
        title: |input| match input.text(SUBJECT) {
            Some(subject) => format!("Add todo: {}", line(subject, 100)),
            None => "Add a todo".to_owned(),
        },
        also: Some(|input, meaning| {
            state(meaning, "added");
            // The id comes with the result; until then an item is known by its subject, as one without an id always is.
            if let Some(subject) = input.text(SUBJECT) {
                meaning.metadata.insert(attributes::TODO_ID.to_owned(), Value::from(hash16(subject)));
            }
        }),
        ..PLAN
    },
    Row {
        names: &["TaskUpdate"],
        kind: Kind::TodoLogged,
        lane: Lane::Todos,
        subtype: SubtypeKey::Todo,
        operation: "update",
        keep: &[
            id(TODO_ID, attributes::TODO_ID),
            text(SUBJECT, attributes::SUBJECT, 1000),
            text(DESCRIPTION, attributes::DESCRIPTION, 10_000),
            text(&["activeForm"], attributes::ACTIVE_FORM, 1000),
            text(&["owner"], attributes::OWNER, 200),
            text(&["status"], attributes::STATUS, 60),
        ],
        title: |input| {
            let which = input.text(SUBJECT).map(|subject| line(subject, 80));
            let which = which.or_else(|| input.id(TODO_ID).map(|id| line(&id, 40)));
            let which = which.unwrap_or_default();
            let what = match input.text(&["status"]).and_then(todo_state) {
                Some("completed") => "Complete todo",
                Some("in_progress") => "Start todo",
                Some("cancelled") => "Drop todo",
                Some("added") => "Reopen todo",
                _ => "Change todo",
            };
            format!("{what} {which}").trim_end().to_owned()
        },
        also: Some(|input, meaning| {
            // A change of the text alone is no transition of the item.
            if let Some(now) = input.text(&["status"]).and_then(todo_state) {
                state(meaning, now);
            }
        }),
        ..PLAN
    },
    Row {
        names: &["TaskList"],
        lane: Lane::Todos,
        subtype: SubtypeKey::Todo,
        label: Some("List todos"),
        operation: "list",
        importance: Importance::Minor,
        title: |_| "List todos".to_owned(),
        ..PLAN
    },
    Row {
        names: &["TaskGet"],
        lane: Lane::Todos,
        subtype: SubtypeKey::Todo,
        label: Some("Read todo"),
        operation: "read",
        importance: Importance::Minor,
        keep: &[id(TODO_ID, attributes::TODO_ID)],
        title: |input| match input.id(TODO_ID) {
            Some(id) => format!("Read todo {}", line(&id, 40)),
            None => "Read a todo".to_owned(),
        },
        ..PLAN
    },
];

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its own id, or the hash of its text.
    pub id: String,
    /// Holds what is to be done. Empty where privacy left only its length.
    pub subject: String,
    /// added, in_progress, completed or cancelled; none if the agent's word for it is new.
    pub state: Option<&'static str>,
    /// The agent's own word for the state.
    pub status: String,
    /// Holds how urgent it is, in the agent's own word.
    pub priority: Option<String>,
}

/// Returns our word for a state that an agent names.
#[must_use]
pub fn todo_state(status: &str) -> Option<&'static str> {
    match status {
        "pending" | "added" | "open" => Some("added"),
        "in_progress" => Some("in_progress"),
        "completed" | "done" => Some("completed"),
        "cancelled" | "canceled" | "deleted" => Some("cancelled"),
        _ => None,
    }
}

/// Returns the key of a transition.
#[must_use]
pub fn key(id: &str, state: &str) -> String {
    format!("todo:{id}:{state}")
}

/// Returns the rows of a list, at most five hundred.
fn rows(input: &Value) -> &[Value] {
    let list = match input {
        Value::Array(list) => list.as_slice(),
        _ => input.get("todos").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default(),
    };
    list.get(..500).unwrap_or(list)
}

fn text_of<'a>(row: &'a Value, key: &str) -> Option<&'a str> {
    row.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

fn subject_of(row: &Value) -> Option<&str> {
    text_of(row, "content").or_else(|| text_of(row, "subject"))
}

/// Returns the items that a `TodoWrite` names, at most five hundred.
///
/// At level `metadata` only the length of an item's text is left; then its place in the list would be a guess, so an
/// item is recorded only if it can be identified.
#[must_use]
pub fn items(input: &Value) -> Vec<Item> {
    let item = |row: &Value| {
        let subject = subject_of(row);
        let id = text_of(row, "id").map(str::to_owned).or_else(|| subject.map(hash16))?;
        let status = text_of(row, "status").unwrap_or("pending");
        Some(Item {
            id: cut(&id, 200).into_owned(),
            subject: cut(subject.unwrap_or_default(), 1000).into_owned(),
            state: todo_state(status),
            status: cut(status, 60).into_owned(),
            priority: text_of(row, "priority").map(|priority| line(priority, 60)),
        })
    };
    rows(input).iter().filter_map(item).collect()
}

fn state(meaning: &mut Meaning, state: &str) {
    meaning.metadata.insert(attributes::TODO_STATE.to_owned(), Value::from(state));
}

/// Writes what an item is into the metadata of its event.
pub fn write(item: &Item, metadata: &mut agent_tracer_event::Metadata) {
    metadata.insert(attributes::TODO_ID.to_owned(), Value::from(item.id.as_str()));
    // A state that is new to us is kept in the agent's own word.
    metadata.insert(attributes::TODO_STATE.to_owned(), Value::from(item.state.unwrap_or(&item.status)));
    if !item.subject.is_empty() {
        metadata.insert(attributes::SUBJECT.to_owned(), Value::from(item.subject.as_str()));
    }
    if let Some(priority) = &item.priority {
        metadata.insert(attributes::PRIORITY.to_owned(), Value::from(priority.as_str()));
    }
}
