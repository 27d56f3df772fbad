//! Agents that this thread starts and talks to.
//!
//! The first generation tells the children of a call by thread (`CollabAgentToolCall`), the second tells what becomes
//! of each child (`SubAgentActivity`). Either way the parent is certain here; hooks can only guess it.

use agent_tracer_event::{CallState, Certainty, Entry, Kind, Metadata, Phase, Subject, attributes};
use serde_json::{Map, Value};

use super::calls::HookCall;
use super::items::{End, close};
use super::messages::{child_task, span};
use super::name::is_uuid;
use super::state::OpenCall;
use super::writer::RolloutWriter;
use crate::codex::facts::{put, subagent_key, write_action};
use crate::codex::wire::{Members, Raw, text};
use crate::text::{base_name, title};

/// Describes how a child is doing, in its parent's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Running,
    Completed,
    Failed,
}

/// Reads a state: a word, or an object whose only member is the word and holds the child's last message.
fn doing(writer: &mut RolloutWriter<'_>, state: Raw<'_>) -> Option<Doing> {
    let word = text(state)
        .map(|word| word.into_owned())
        .or_else(|| Members::parse(state.get())?.iter().next().map(|(name, _)| name.to_owned()))?;
    match word.as_str() {
        "pending_init" | "pendingInit" | "running" => Some(Doing::Running),
        "completed" => Some(Doing::Completed),
        "errored" | "interrupted" => Some(Doing::Failed),
        // An agent that was closed or is not there any more says nothing of how it ended.
        "shutdown" | "not_found" | "notFound" => None,
        other => {
            writer.expect_known("agents_states", other, &[]);
            None
        }
    }
}

/// Reads a call to an agent tool of the first generation, and the second's `wait`.
pub(super) fn collab(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let tool = item.word("tool").unwrap_or_default().into_owned();
    let known = ["spawn_agent", "send_input", "resume_agent", "wait", "close_agent"];
    let snake = snake_case(&tool);
    writer.expect_known("CollabAgentToolCall.tool", &snake, &known);
    let receivers = receivers(item);
    let (started, ended) = span(row, writer.at);
    let failed = item.word("status").as_deref() == Some("failed");
    let state = if failed { CallState::Failed } else { CallState::Succeeded };
    let end = End { state, class: None, started, ended, duration_ms: None };
    let hook_call = HookCall::new(hook_name(writer, &snake), input(item, &receivers));
    let id = item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id));
    let mut entry = close(writer, &id, &hook_call, &end, "item_completed CollabAgentToolCall");
    if let [only] = receivers.as_slice() {
        writer.put_word(&mut entry.metadata, attributes::CHILD_AGENT_ID, Some(&only.thread));
        writer.put_word(&mut entry.metadata, attributes::CHILD_NICKNAME, only.nickname.as_deref());
    }
    writer.put_word(&mut entry.metadata, attributes::AGENT_MODEL, item.word("model"));
    writer.say(entry);

    if snake == "spawn_agent" && !failed {
        for receiver in &receivers {
            spawned(writer, item, receiver, &id, started);
        }
    }
    for (child, state) in item.members("agents_states").unwrap_or_default().iter() {
        if is_uuid(child) {
            end_by_state(writer, child, state, "CollabAgentToolCall.agents_states");
        }
    }
}

/// Ends a child whose state says that it has ended.
fn end_by_state(writer: &mut RolloutWriter<'_>, child: &str, state: Raw<'_>, reason: &str) {
    match doing(writer, state) {
        Some(Doing::Completed) => ended_on_parent(writer, child, CallState::Succeeded, reason),
        Some(Doing::Failed) => ended_on_parent(writer, child, CallState::Failed, reason),
        Some(Doing::Running) | None => {}
    }
}

/// A child as its parent's call names it.
struct Receiver {
    thread: String,
    nickname: Option<String>,
    role: Option<String>,
}

fn receivers(item: &Members<'_>) -> Vec<Receiver> {
    let named: Vec<Receiver> = item
        .list("receiver_agents")
        .into_iter()
        .filter_map(|agent| Members::parse(agent.get()))
        .filter_map(|agent| {
            Some(Receiver {
                thread: agent.word("thread_id")?.into_owned(),
                nickname: agent.word("agent_nickname").map(|name| name.into_owned()),
                role: agent.word("agent_role").map(|role| role.into_owned()),
            })
        })
        .collect();
    let ids = item.list("receiver_thread_ids").into_iter().filter_map(text);
    let mut receivers = named;
    for id in ids {
        if !receivers.iter().any(|known| known.thread == id) {
            receivers.push(Receiver { thread: id.into_owned(), nickname: None, role: None });
        }
    }
    receivers.truncate(CHILDREN);
    receivers
}

/// The most children of one call that are recorded.
const CHILDREN: usize = 100;

/// Returns the tool's name in hooks. Only a call nested in code needs it; any other was named by the model's own row.
fn hook_name(writer: &RolloutWriter<'_>, tool: &str) -> String {
    let tool = if tool == "wait" { "wait_agent" } else { tool };
    match (writer.state.multi_agent_version.as_deref(), tool) {
        (Some("v2"), tool) => format!("collaboration{tool}"),
        (_, "spawn_agent") => "spawn_agent".to_owned(),
        (_, tool) => format!("multi_agent_v1{tool}"),
    }
}

fn snake_case(tool: &str) -> String {
    let mut snake = String::new();
    for letter in tool.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake.trim_start_matches('_').to_owned()
}

fn input(item: &Members<'_>, receivers: &[Receiver]) -> String {
    let mut input = Map::new();
    put(&mut input, "message", item.word("prompt").as_deref());
    put(&mut input, "model", item.word("model").as_deref());
    put(&mut input, "reasoning_effort", item.word("reasoning_effort").as_deref());
    if let [only] = receivers {
        put(&mut input, "agent_type", only.role.as_deref());
    }
    let targets: Vec<&str> = receivers.iter().map(|one| one.thread.as_str()).collect();
    put(&mut input, "targets", (!targets.is_empty()).then_some(targets));
    Value::Object(input).to_string()
}

fn spawned(
    writer: &mut RolloutWriter<'_>,
    item: &Members<'_>,
    child: &Receiver,
    call: &str,
    at: agent_tracer_event::Millis,
) {
    let thread = writer.rules.word(&child.thread);
    let mut about = Metadata::new();
    let role = writer.rules.word(child.role.as_deref().unwrap_or("default"));
    put(&mut about, attributes::AGENT_TYPE, Some(role.as_str()));
    put(&mut about, attributes::PARENT_TOOL_USE_ID, Some(call));
    writer.put_word(&mut about, attributes::AGENT_NICKNAME, child.nickname.as_deref());
    writer.put_word(&mut about, attributes::MODEL, item.word("model"));
    let entry = child_task(writer, &thread, about, "CollabAgentToolCall.receiver_agents");
    writer.say(entry);
    let reason = "CollabAgentToolCall.receiver_thread_ids";
    let mut action = on_parent(writer, &thread, Phase::Open, Some(&role), "running", reason);
    action.occurred_at = at;
    put(&mut action.metadata, attributes::PARENT_TOOL_USE_ID, Some(call));
    writer.put_word(&mut action.metadata, attributes::AGENT_NICKNAME, child.nickname.as_deref());
    writer.say(action);
}

/// Reads a child that only the output of its call tells of.
pub(super) fn spawn_returned(writer: &mut RolloutWriter<'_>, child: &str, call: &OpenCall) {
    // The client calls an agent `default` whose call names no role; the call was read before, else this row would not be written.
    let role = call.role.as_deref().unwrap_or("default");
    let mut about = Metadata::new();
    put(&mut about, attributes::AGENT_TYPE, Some(role));
    put(&mut about, attributes::PARENT_TOOL_USE_ID, Some(call.id.as_str()));
    let entry = child_task(writer, child, about, "the output of spawn_agent");
    writer.say(entry);
    let mut action =
        on_parent(writer, child, Phase::Open, Some(role), "running", "the output of spawn_agent");
    put(&mut action.metadata, attributes::PARENT_TOOL_USE_ID, Some(call.id.as_str()));
    writer.say(action);
}

/// Reads the children whose end only the output of a wait tells: `{"status": {"<thread>": {"completed": …}}}`.
pub(super) fn wait_returned(writer: &mut RolloutWriter<'_>, output: &str) {
    let Some(status) = Members::parse(output).and_then(|output| output.members("status")) else { return };
    for (child, state) in status.iter().filter(|(child, _)| is_uuid(child)).take(CHILDREN) {
        end_by_state(writer, child, state, "the output of wait_agent");
    }
}

/// Writes what becomes of a child: `SubAgentActivity`, as an item or as an event of the legacy dialect.
pub(super) fn activity(writer: &mut RolloutWriter<'_>, item: &Members<'_>, reason: &str) {
    let Some(child) = item.word("agent_thread_id").map(|child| writer.rules.word(&child)) else { return };
    let kind = item.word("kind").unwrap_or_default();
    writer.expect_known(
        "SubAgentActivity.kind",
        &kind,
        &["started", "interacted", "completed", "failed", "interrupted"],
    );
    let path = item.word("agent_path").map(|path| writer.rules.word(&path));
    let name = path.as_deref().map_or("agent", base_name).to_owned();
    // At the end the id is `subagent-completed-<turn>` and names no call.
    let call = item.word("id").filter(|id| !id.starts_with("subagent-")).map(|id| writer.rules.word(&id));
    match kind.as_ref() {
        "started" => {
            let mut about = Metadata::new();
            put(&mut about, attributes::AGENT_PATH, path.as_deref());
            put(&mut about, attributes::PARENT_TOOL_USE_ID, call.as_deref());
            writer.put_word(&mut about, attributes::MODEL, item.word("model"));
            let entry = child_task(writer, &child, about, reason);
            writer.say(entry);
            let mut action = on_parent(writer, &child, Phase::Open, None, "running", reason);
            action.title = Some(title(&format!("Subagent {name}")));
            put(&mut action.metadata, attributes::AGENT_PATH, path);
            put(&mut action.metadata, attributes::PARENT_TOOL_USE_ID, call.as_deref());
            writer.say(action);
            // The row gives the id of the call that spawned it, though nothing else names the child there.
            if let Some(known) = call.and_then(|call| writer.state.call(&call).cloned()) {
                let mut entry = super::outputs::update(writer, &known, reason);
                put(&mut entry.metadata, attributes::CHILD_AGENT_ID, Some(child));
                writer.say(entry);
            }
        }
        "completed" => ended_on_parent(writer, &child, CallState::Succeeded, reason),
        "failed" | "interrupted" => ended_on_parent(writer, &child, CallState::Failed, reason),
        _ => {
            let mut action = on_parent(writer, &child, Phase::Update, None, "running", reason);
            put(&mut action.metadata, attributes::AGENT_PATH, path);
            writer.say(action);
        }
    }
}

/// Ends a child on its parent, which learns of the end at or after it; the child's own file and hook know the moment.
fn ended_on_parent(writer: &mut RolloutWriter<'_>, child: &str, state: CallState, reason: &str) {
    let status = if state == CallState::Succeeded { "completed" } else { "failed" };
    let mut action = on_parent(writer, child, Phase::Close, None, status, reason);
    // The title of the beginning stays: it names the child's type, which is not known here.
    action.title = None;
    action.state = Some(state);
    action.ended_at = Some(writer.at);
    action.evidence.certainty = Certainty::Inferred;
    writer.say(action);
}

fn on_parent(
    writer: &RolloutWriter<'_>,
    child: &str,
    phase: Phase,
    agent_type: Option<&str>,
    status: &str,
    reason: &str,
) -> Entry {
    let mut action = writer.entry(Subject::Event(Kind::ActionLogged), phase, subagent_key(child), reason);
    write_action(&mut action, child, agent_type, status);
    action
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_in_both_spellings() {
        assert_eq!(snake_case("spawnAgent"), "spawn_agent");
        assert_eq!(snake_case("spawn_agent"), "spawn_agent");
        assert_eq!(snake_case("Wait"), "wait");
    }
}
