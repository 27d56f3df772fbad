//! Subagents: their beginning and end, recorded on the child and on its parent.
//!
//! The parent is the session: which agent of the tree called this one is not in these payloads. A `SubagentStop` whose
//! type is empty is the client's helper for compactions; it is no agent of anybody's and makes no task.

use agent_tracer_event::{CallState, Entry, Kind, Phase, Reading, Subject, TaskKey, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry};
use super::stops::answer;
use crate::claude::identity;
use crate::claude::wire::TextOrLength;
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event { name: "SubagentStart", members: &[], read: start },
    Event {
        name: "SubagentStop",
        members: &[
            "stop_hook_active",
            "last_assistant_message",
            "background_tasks",
            "session_crons",
            "stop_reason",
            "duration_ms",
            "success",
            "error",
        ],
        read: stop,
    },
    Event { name: "TeammateIdle", members: &["teammate_name", "team_name"], read: idle },
];

/// The most characters of the last message that the parent's row shows.
const EXCERPT_CHARS: usize = 400;

/// Returns whether this is the helper that writes the summary of a compaction.
pub(super) fn is_compaction_helper(hook: &Hook<'_>) -> bool {
    // `/compact` and an automatic compaction fire a `SubagentStop` without a start, and the file that it names never
    // exists.
    hook.agent_id.is_some() && hook.agent_type == Some("")
}

/// Returns the helper, as what it is for the session.
pub(super) fn helper(hook: &Hook<'_>, status: &str) -> Entry {
    let agent = hook.agent_id.clone().unwrap_or_default();
    let mut entry =
        hook.event_on(hook.root(), Kind::ContextSaved, Phase::Open, format!("compaction:{agent}"));
    entry.title = Some("Summary for the compaction".to_owned());
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("compaction_helper"));
    entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from(status));
    entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent));
    let bytes = match hook.payload.text_or_length(&["last_assistant_message"]) {
        Some(TextOrLength::Text(text)) => Some(text.len() as u64),
        Some(TextOrLength::Length(bytes)) => Some(bytes),
        None => None,
    };
    if let Some(bytes) = bytes {
        entry.metadata.insert(attributes::COMPACT_SUMMARY_BYTES.to_owned(), Value::from(bytes));
    }
    carry(
        hook.payload,
        &mut entry.metadata,
        &[(&["agent_transcript_path"], attributes::AGENT_TRANSCRIPT_PATH)],
    );
    entry
}

/// Returns the subagent as its parent sees it. The row opens when the agent starts and closes when it ends.
pub(super) fn on_parent(hook: &Hook<'_>, phase: Phase, status: &str) -> Entry {
    let agent = hook.agent_id.clone().unwrap_or_default();
    let mut entry = hook.event_on(hook.root(), Kind::ActionLogged, phase, format!("subagent:{agent}"));
    let kind = hook.agent_type.filter(|kind| !kind.is_empty());
    entry.title =
        Some(kind.map_or_else(|| "Subagent".to_owned(), |kind| text::title(&format!("Subagent {kind}"))));
    entry.metadata.insert(attributes::ASYNC_TASK_ID.to_owned(), Value::from(agent.as_str()));
    entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from(status));
    entry.metadata.insert(attributes::AGENT_ID.to_owned(), Value::from(agent));
    if let Some(kind) = kind {
        entry.metadata.insert(attributes::AGENT_TYPE.to_owned(), Value::from(text::cut(kind, 200).as_ref()));
    }
    entry.metadata.insert(attributes::CHILD_SESSION.to_owned(), Value::from(hook.actor().runtime_session));
    if phase == Phase::Close {
        entry.ended_at = Some(hook.at);
        if let Some(TextOrLength::Text(message)) = hook.payload.text_or_length(&["last_assistant_message"])
            && !message.trim().is_empty()
        {
            entry.body = Some(text::cut(message.trim(), EXCERPT_CHARS).into_owned());
        }
    }
    entry
}

fn start(hook: &Hook<'_>, reading: &mut Reading) {
    if is_compaction_helper(hook) {
        reading.entries.push(helper(hook, "running"));
        return;
    }
    reading.entries.push(hook.task());
    if hook.agent_id.is_none() {
        // Without an id there is no child to tell of; the session still hears that one began.
        reading.entries.push(nameless(hook, "running"));
        return;
    }
    reading.entries.push(on_parent(hook, Phase::Open, "running"));
    let key = format!("session:started:{}", hook.observation.name);
    let mut started = hook.event(Kind::SessionStarted, Phase::Open, key);
    started.title = Some("Subagent started".to_owned());
    reading.entries.push(started);
    reading.entries.extend(hook.turn_entry(Phase::Open));
}

/// Returns a start or end that names no agent.
fn nameless(hook: &Hook<'_>, status: &str) -> Entry {
    let mut entry = hook.event(Kind::ActionLogged, Phase::Open, hook.own_key());
    entry.title = Some("Subagent".to_owned());
    entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from(status));
    entry
}

fn stop(hook: &Hook<'_>, reading: &mut Reading) {
    // Older documents say whether it went well; the client has another event for failures.
    let good = hook.payload.flag(&["success"]) != Some(false);
    let (status, state) =
        if good { ("completed", CallState::Succeeded) } else { ("failed", CallState::Failed) };
    if is_compaction_helper(hook) {
        reading.entries.push(helper(hook, status));
        return;
    }
    reading.entries.push(hook.task());
    if hook.agent_id.is_none() {
        reading.entries.push(nameless(hook, status));
        return;
    }
    let mut row = on_parent(hook, Phase::Close, status);
    carry(hook.payload, &mut row.metadata, &[(&["duration_ms"], attributes::DURATION_MS)]);
    failure(hook, &mut row);
    let mut said = answer(hook);
    let is_silent = identity::text_part(hook.payload.text_or_length(&["last_assistant_message"])).is_none();
    if !good {
        said.state = Some(CallState::Failed);
        let class = row.metadata.get(attributes::ERROR_CLASS).and_then(Value::as_str).unwrap_or("unknown");
        let reason = Value::from(format!("error:{class}"));
        said.metadata.entry(attributes::STOP_REASON).or_insert(reason);
        failure(hook, &mut said);
    }
    reading.entries.push(row);
    // Without a last message its end is enough; a failure is recorded in any case.
    if !(good && is_silent) {
        reading.entries.push(said);
    }
    if let Some(mut turn) = hook.turn_entry(Phase::Close) {
        turn.state = Some(state);
        turn.ended_at = Some(hook.at);
        reading.entries.push(turn);
    }
    reading.entries.push(ended(hook));
}

/// Returns the end of the agent that acted.
pub(super) fn ended(hook: &Hook<'_>) -> Entry {
    let key = format!("session:ended:{}", hook.observation.name);
    let mut ended = hook.event(Kind::SessionEnded, Phase::Close, key);
    ended.title = Some("Subagent ended".to_owned());
    ended.ended_at = Some(hook.at);
    ended.metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from("assistant_turn_complete"));
    ended
}

/// Returns the entry that makes an attempt of an end that a rule blocked. The row stays in its place.
pub(super) fn kept_running(hook: &Hook<'_>, event: &str) -> Entry {
    let key = format!("session:ended:{event}");
    let mut entry = hook.event(Kind::ActionLogged, Phase::Close, key);
    entry.title = Some("End blocked by a rule".to_owned());
    entry.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from("running"));
    entry
}

/// Returns the entries of an agent that was stopped while it worked: on the task that started it, on its turn, and its end.
/// No event of its own tells of that end.
pub(super) fn stopped(hook: &Hook<'_>, caller: &TaskKey, agent: &str) -> Vec<Entry> {
    let key = format!("subagent:{agent}");
    let mut row = hook.event_on(caller.clone(), Kind::ActionLogged, Phase::Update, key);
    // The turn and the prompt are those that started the agent, and when it ended its own task says.
    row.turn = None;
    row.metadata.remove(attributes::PROMPT_ID);
    for name in [attributes::ASYNC_TASK_ID, attributes::AGENT_ID] {
        row.metadata.insert(name.to_owned(), Value::from(agent));
    }
    row.metadata.insert(attributes::ASYNC_STATUS.to_owned(), Value::from("cancelled"));
    let task = TaskKey::subagent(hook.observation.agent, agent);
    let mut turn = hook.entry(Subject::Turn, Phase::Close, task.clone(), format!("turn:{agent}"));
    turn.turn = Some(agent.to_owned());
    turn.agent_id = Some(agent.to_owned());
    turn.state = Some(CallState::Interrupted);
    turn.ended_at = Some(hook.at);
    let key = format!("session:ended:stopped:{agent}");
    let mut ended = hook.event_on(task, Kind::SessionEnded, Phase::Close, key);
    // Who stops an agent does not say what it is.
    ended.agent_type = None;
    ended.metadata.remove(attributes::PROMPT_ID);
    ended.title = Some("Subagent stopped".to_owned());
    ended.turn = Some(agent.to_owned());
    ended.agent_id = Some(agent.to_owned());
    ended.ended_at = Some(hook.at);
    ended.metadata.insert(attributes::COMPLETION_REASON.to_owned(), Value::from("cancelled"));
    vec![row, turn, ended]
}

/// Writes why it failed, as far as privacy left it: the class of the error, and its first line where that is kept.
fn failure(hook: &Hook<'_>, row: &mut Entry) {
    let Some(error) = hook.payload.get(&["error"]) else { return };
    if let Some(class) = error.get("errorClass").and_then(Value::as_str) {
        row.metadata.insert(attributes::ERROR_CLASS.to_owned(), Value::from(text::line(class, 60)));
    }
    let first = error.get("firstLine").unwrap_or(error).as_str().map(|first| text::line(first, 200));
    if let Some(first) = first.filter(|first| !first.is_empty()) {
        row.metadata.insert(attributes::ERROR.to_owned(), Value::from(first));
    }
}

fn idle(hook: &Hook<'_>, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::TeammateIdle, Phase::Open, hook.own_key());
    entry.title = Some(match hook.payload.text(&["teammate_name"]) {
        Some(name) => text::title(&format!("{name} has nothing to do")),
        None => "A teammate has nothing to do".to_owned(),
    });
    carry(
        hook.payload,
        &mut entry.metadata,
        &[(&["teammate_name"], attributes::TEAMMATE_NAME), (&["team_name"], attributes::TEAM_NAME)],
    );
    reading.entries.push(entry);
}
