//! Reads from the result of a call the other things that it changed: a child agent, a worktree, work items.

use agent_tracer_event::{
    CallState, Certainty, Channel, Entry, Evidence, Kind, Phase, Subject, TaskKey, attributes,
};
use serde_json::Value;

use super::hook::Hook;
use super::subagents;
use super::tools::CallPayload;
use crate::text;
use crate::tools::todos;

/// Reads the closed entry of a call for what else it tells. May add to the entry itself.
pub(super) fn of(hook: &Hook<'_>, call_payload: &CallPayload<'_>, entry: &mut Entry) -> Vec<Entry> {
    if entry.state != Some(CallState::Succeeded) {
        return Vec::new();
    }
    match call_payload.tool {
        "Agent" | "Task" => child(hook, call_payload, entry),
        "TaskCreate" => {
            created(entry);
            Vec::new()
        }
        "TaskUpdate" => {
            updated(entry);
            Vec::new()
        }
        "TodoWrite" => items(hook, call_payload),
        "TaskStop" => stopped(hook, call_payload, entry),
        _ => Vec::new(),
    }
}

/// Returns the agent that was stopped. Anything else that runs in the background is no task of its own.
fn stopped(hook: &Hook<'_>, call_payload: &CallPayload<'_>, entry: &Entry) -> Vec<Entry> {
    let kind = text_of(entry, attributes::STOPPED_TASK_TYPE).unwrap_or_default();
    let agent = call_payload.input.get("task_id").and_then(Value::as_str).filter(|id| !id.is_empty());
    match agent {
        Some(agent) if kind.ends_with("agent") => {
            // Hooks tell of every agent on the session; a file tells of it where it was called.
            let is_hook = hook.observation.channel == Channel::Hook;
            let caller = if is_hook { hook.root() } else { hook.actor() };
            subagents::stopped(hook, &caller, &text::line(agent, 200))
        }
        _ => Vec::new(),
    }
}

/// Returns a member of the entry's metadata that is a text.
fn text_of(entry: &Entry, name: &str) -> Option<String> {
    entry.metadata.get(name)?.as_str().map(str::to_owned)
}

/// Returns the agent that a call started: only here is it said which call of whom that was.
fn child(hook: &Hook<'_>, call_payload: &CallPayload<'_>, entry: &Entry) -> Vec<Entry> {
    let mut entries = Vec::new();
    let input =
        |key: &str| call_payload.input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(agent) = text_of(entry, attributes::CHILD_AGENT_ID) {
        let task = TaskKey::subagent(hook.observation.agent, &agent);
        let mut child = hook.entry(Subject::Task, Phase::Update, task, "task");
        child.evidence = Evidence::reported("hook PostToolUse, agentId of the result");
        let mut put = |name: &str, value: Value| child.metadata.insert(name.to_owned(), value);
        put(attributes::AGENT_ID, Value::from(agent.as_str()));
        put(attributes::ROOT_SESSION, Value::from(hook.session.as_str()));
        put(attributes::PARENT_SESSION, Value::from(hook.actor().runtime_session));
        put(attributes::PARENT_CERTAINTY, Value::from(Certainty::Reported.as_str()));
        if let Some(id) = &call_payload.id {
            put(attributes::PARENT_TOOL_USE_ID, Value::from(id.as_str()));
        }
        if hook.agent_id.is_none() {
            put(attributes::DEPTH, Value::from(1));
        }
        if let Some(model) = text_of(entry, attributes::AGENT_RESOLVED_MODEL) {
            put(attributes::MODEL, Value::from(model));
        }
        // A teammate's own events call it by its name, not by the type it was made from.
        let kind = if text_of(entry, attributes::STATUS).as_deref() == Some("teammate_spawned") {
            "name"
        } else {
            "subagent_type"
        };
        if let Some(kind) = input(kind) {
            put(attributes::AGENT_TYPE, Value::from(text::cut(kind, 200).as_ref()));
        }
        if let Some(title) = input("description").map(text::title).filter(|title| !title.is_empty()) {
            put(attributes::TITLE, Value::from(title));
            put(attributes::TITLE_SOURCE, Value::from("delegation"));
        }
        if let Some(path) = text_of(entry, attributes::WORKTREE_PATH) {
            put(attributes::CWD, Value::from(path));
        }
        entries.push(child);
    }
    if input("isolation") == Some("worktree")
        && let Some(id) = &call_payload.id
    {
        let mut worktree = hook.event(Kind::WorktreeCreate, Phase::Open, format!("worktree:{id}"));
        worktree.evidence = Evidence::inferred("hook PostToolUse, isolation of the input");
        worktree.title = Some(match text_of(entry, attributes::WORKTREE_PATH) {
            Some(path) => text::title(&format!("Worktree for an agent: {}", text::base_name(&path))),
            None => "Worktree for an agent".to_owned(),
        });
        for name in [attributes::WORKTREE_PATH, attributes::WORKTREE_BRANCH, attributes::CHILD_AGENT_ID] {
            if let Some(value) = entry.metadata.get(name) {
                worktree.metadata.insert(name.to_owned(), value.clone());
            }
        }
        worktree.metadata.insert(attributes::TOOL_USE_ID.to_owned(), Value::from(id.as_str()));
        entries.push(worktree);
    }
    entries
}

/// Reads the new item's id: the event `TaskCreated` tells of the same.
fn created(entry: &mut Entry) {
    if let Some(id) = text_of(entry, attributes::RESULT_TASK_ID) {
        entry.aliases.push(todos::key(&id, "added"));
        entry.metadata.insert(attributes::TODO_ID.to_owned(), Value::from(id));
    }
}

/// Reads the item's new state: the event `TaskCompleted` may tell of the same.
fn updated(entry: &mut Entry) {
    let to = text_of(entry, attributes::STATUS_TO).and_then(|status| todos::todo_state(&status));
    if let Some(state) = to {
        entry.metadata.insert(attributes::TODO_STATE.to_owned(), Value::from(state));
    }
    if let (Some(id), Some(state)) =
        (text_of(entry, attributes::TODO_ID), text_of(entry, attributes::TODO_STATE))
    {
        entry.aliases.push(todos::key(&id, &state));
    }
}

/// Returns each item of a list that was written. An item whose state did not change has the key that it had before.
fn items(hook: &Hook<'_>, call_payload: &CallPayload<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for item in todos::items(call_payload.input) {
        let state = item.state.unwrap_or(&item.status);
        let mut entry = hook.event(Kind::TodoLogged, Phase::Open, todos::key(&item.id, state));
        entry.title =
            Some(if item.subject.is_empty() { "Todo".to_owned() } else { text::title(&item.subject) });
        todos::write(&item, &mut entry.metadata);
        if let Some(id) = &call_payload.id {
            entry.metadata.insert(attributes::TOOL_USE_ID.to_owned(), Value::from(id.as_str()));
        }
        entries.push(entry);
    }
    entries
}
