//! `item_completed`: what happened, typed by Codex itself. Only the default dialect has it.
//!
//! An item tells the end of a call with its true times. `started_at_ms` to `completed_at_ms` includes the wait for
//! the user's approval; `duration` is the run alone. An item of a long command may arrive after its turn.

use agent_tracer_event::{CallState, Entry, ErrorClass, Millis, Phase, Unrecognised, attributes};
use serde_json::{Map, Value, json};

use super::calls::{HookCall, attempt, object_or_text, shell};
use super::messages::{self, span};
use super::outputs::{finish, quantities, say_end, update};
use super::writer::RolloutWriter;
use super::{agents, context, patches, servers};
use crate::codex::facts::put;
use crate::codex::wire::{Members, text};
use crate::tools::{commits, outcome};

/// Describes how the end of a call came about.
pub(super) struct End {
    pub(super) state: CallState,
    pub(super) class: Option<ErrorClass>,
    pub(super) started: Millis,
    pub(super) ended: Millis,
    /// Holds how long it ran, without any wait.
    pub(super) duration_ms: Option<u64>,
}

/// Reads one item.
pub(super) fn completed(writer: &mut RolloutWriter<'_>, row: &Members<'_>) {
    let Some(item) = row.members("item") else {
        writer.unknown(Unrecognised::Row("item_completed".to_owned()));
        return;
    };
    let kind = item.word("type").unwrap_or_default();
    match kind.as_ref() {
        "UserMessage" => messages::user_item(writer, &item),
        "AgentMessage" => messages::agent_item(writer, &item),
        "Reasoning" => messages::thought_item(writer, &item),
        "HookPrompt" => messages::hook_prompt(writer, &item),
        "Plan" => messages::plan_item(writer, &item),
        "CommandExecution" => command(writer, row, &item),
        "FileChange" => patches::item(writer, row, &item),
        "McpToolCall" => servers::item(writer, row, &item),
        "DynamicToolCall" => dynamic(writer, row, &item),
        "WebSearch" => web_search(writer, &item, "item_completed WebSearch"),
        "ImageView" => image_view(writer, row, &item),
        "ImageGeneration" => image_generation(writer, &item, "item_completed ImageGeneration"),
        "Sleep" => sleep(writer, row, &item),
        "CollabAgentToolCall" => agents::collab(writer, row, &item),
        "SubAgentActivity" => agents::activity(writer, &item, "item_completed SubAgentActivity"),
        "ContextCompaction" => context::compacted_item(writer),
        "EnteredReviewMode" => context::review_began(writer, &item),
        "ExitedReviewMode" => context::review_ended(writer, &item),
        other => {
            let other = writer.rules.word(other);
            writer.unknown(Unrecognised::Row(format!("item_completed/{other}")));
        }
    }
}

/// Returns the end of a call that an item tells: of a call that the model made, or of one nested in code.
pub(super) fn close(
    writer: &mut RolloutWriter<'_>,
    id: &str,
    hook_call: &HookCall,
    end: &End,
    reason: &str,
) -> Entry {
    let (mut entry, call) = match writer.state.call(id) {
        Some(call) => {
            call.is_reported = true;
            let call = call.clone();
            (update(writer, &call, reason), call)
        }
        None => attempt(writer, id, hook_call, Phase::Close, reason),
    };
    if call.process.is_some() {
        // A command that went on: its output came long ago, so no more rows of the call will come.
        writer.state.close(id);
    }
    entry.phase = Phase::Close;
    // The item is written at the end; the fact began when the call did.
    entry.occurred_at = end.started;
    entry.ended_at = Some(end.ended);
    finish(&mut entry, &call, end.state);
    put(&mut entry.metadata, attributes::ERROR_CLASS, end.class.map(|class| class.as_str()));
    if let Some(duration) = end.duration_ms {
        put(&mut entry.metadata, attributes::DURATION_MS, Some(duration));
        put(&mut entry.metadata, attributes::DURATION_SOURCE, Some("agent"));
        put(&mut entry.metadata, attributes::PERMISSION_WAIT_MS, waited(writer, end, duration));
    }
    entry
}

/// Returns the part of an item's time in which nothing ran: the user was being asked.
fn waited(writer: &RolloutWriter<'_>, end: &End, duration: u64) -> Option<u64> {
    // No person is asked then, so what is left over is the cost of starting the process.
    if writer.state.approval_policy.as_deref() == Some("never") {
        return None;
    }
    let whole = u64::try_from(end.ended.0.saturating_sub(end.started.0)).ok()?;
    // Starting a process and its sandbox also takes time; no user answers a question that fast.
    whole.checked_sub(duration).filter(|wait| *wait >= 100)
}

/// Reads `{"secs": 1, "nanos": 870752007}`, to the nearest millisecond.
pub(super) fn duration(members: &Members<'_>) -> Option<u64> {
    let duration = members.members("duration")?;
    let secs = duration.count("secs")?;
    let nanos = duration.count("nanos").unwrap_or(0);
    secs.checked_mul(1000)?.checked_add(nanos.saturating_add(500_000) / 1_000_000)
}

pub(super) fn end(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>, kind: &str) -> End {
    let (started, ended) = span(row, writer.at);
    let status = item.word("status").unwrap_or_default();
    if !status.is_empty() {
        let known = ["completed", "failed", "declined", "in_progress", "inProgress", "interrupted"];
        writer.expect_known(&format!("{kind}.status"), &status, &known);
    }
    let (state, class) = match status.as_ref() {
        "failed" => (CallState::Failed, None),
        "declined" => (CallState::Denied, Some(ErrorClass::Permission)),
        "interrupted" => (CallState::Interrupted, Some(ErrorClass::Interrupt)),
        "in_progress" | "inProgress" => (CallState::Running, None),
        _ => (CallState::Succeeded, None),
    };
    End { state, class, started, ended, duration_ms: duration(item) }
}

pub(super) fn id_of(writer: &RolloutWriter<'_>, item: &Members<'_>) -> String {
    item.word("id").map_or_else(|| writer.observation.clone(), |id| writer.rules.word(&id))
}

/// Returns a path from a `file://` address, or the path as it is.
pub(super) fn path_of(text: &str) -> String {
    let Some(rest) = text.strip_prefix("file://") else { return text.to_owned() };
    // Whatever stands before the first slash is a host.
    let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.as_bytes();
    while let [byte, rest @ ..] = left {
        left = rest;
        let hex = (*byte == b'%').then(|| rest.get(..2)).flatten();
        let decoded = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match decoded {
            Some(decoded) => {
                bytes.push(decoded);
                left = rest.get(2..).unwrap_or_default();
            }
            None => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Exit codes of a command that SIGKILL or SIGTERM ended.
const KILLED: [i64; 2] = [137, 143];

fn command(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let mut end = end(writer, row, item, "CommandExecution");
    let exit = item.whole("exit_code");
    if end.state == CallState::Failed {
        // A command that never ran, or was killed with its turn, has no code of its own. One that the client leaves when it
        // ends has the code of its kill, if the client came to see that.
        let is_background = writer.state.call(&id).is_some_and(|call| call.process.is_some());
        let is_left = is_background && writer.turn.is_some() && writer.turn == writer.state.completed_turn;
        let ran = exit.is_some_and(|code| code >= 0 && !(is_left && KILLED.contains(&code)));
        end.class = Some(if ran { ErrorClass::NonZeroExit } else { ErrorClass::Unknown });
        if !ran && writer.turn.is_some() && writer.turn == writer.state.aborted_turn {
            end.state = CallState::Interrupted;
            end.class = Some(ErrorClass::Interrupt);
        } else if !ran && is_background {
            // It went on in the background until the client ended, and with it the command.
            end.state = CallState::Abandoned;
            end.class = None;
        }
    }
    let mut hook_call = shell(item);
    let cwd = item.word("cwd").map(|cwd| path_of(&cwd));
    hook_call.cwd.clone_from(&cwd);
    let mut entry = close(writer, &id, &hook_call, &end, "item_completed CommandExecution");
    put(&mut entry.metadata, attributes::EXIT_CODE, exit);
    writer.put_word(&mut entry.metadata, attributes::CWD, cwd);
    writer.put_word(&mut entry.metadata, attributes::PROCESS_ID, item.word("process_id"));
    if let Some(source) = item.word("source") {
        let known = ["unified_exec_startup", "unified_exec_interaction", "user_shell", "agent"];
        writer.expect_known("CommandExecution.source", &source, &known);
        writer.put_word(&mut entry.metadata, attributes::COMMAND_SOURCE, Some(source));
    }
    if entry.metadata.get(attributes::COMMAND_ANALYSIS).is_some_and(commits::makes_commits) {
        let hashes =
            item.text("aggregated_output").map(|output| commits::hashes(&output)).unwrap_or_default();
        put(&mut entry.metadata, attributes::COMMIT_HASHES, (!hashes.is_empty()).then_some(hashes));
    }
    if let Some(output) = item.raw("aggregated_output") {
        let result = Value::Object(writer.rules.result("Bash", output.get()));
        for (name, value) in outcome::returned(&result).metadata {
            // How it ended is known already; a result is only measured.
            if name.starts_with("output") {
                entry.metadata.insert(name, value);
            }
        }
    }
    say_end(writer, entry);
}

fn dynamic(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let mut end = end(writer, row, item, "DynamicToolCall");
    if item.truth("success") == Some(false) || item.raw("error").is_some() {
        end.state = CallState::Failed;
    }
    let namespace = item.word("namespace");
    let tool = super::calls::hook_name(namespace.as_deref(), &item.word("tool").unwrap_or_default());
    let input = item.raw("arguments").map_or_else(|| "{}".to_owned(), |raw| object_or_text(raw.get()));
    let error = item.text("error").unwrap_or_default();
    let kept = quantities(writer, &tool, &error, end.state, None);
    let mut entry = close(writer, &id, &HookCall::new(tool, input), &end, "item_completed DynamicToolCall");
    for (name, value) in kept {
        entry.metadata.entry(name).or_insert(value);
    }
    writer.say(entry);
}

/// Reads a search or a look at a page by the provider: one form for the item, the event and the model's own row.
pub(super) fn web_search(writer: &mut RolloutWriter<'_>, item: &Members<'_>, reason: &str) {
    let Some(id) = item.word("id").or_else(|| item.word("call_id")) else { return };
    let mut input = Map::new();
    put(&mut input, "query", item.word("query").as_deref());
    let mut action = Map::new();
    if let Some(given) = item.members("action") {
        for name in ["type", "query", "url", "pattern"] {
            put(&mut action, name, given.word(name).as_deref());
        }
        let queries: Vec<_> =
            given.list("queries").into_iter().filter_map(text).map(|one| one.into_owned()).collect();
        put(&mut action, "queries", (!queries.is_empty()).then_some(queries));
    }
    if !action.is_empty() {
        input.insert("action".to_owned(), Value::Object(action));
    }
    let status = item.word("status");
    let entry =
        super::calls::whole(writer, &id, "web_search", &Value::Object(input), status.as_deref(), reason);
    writer.say(entry);
}

/// Reads an image made by the provider. The image itself is only measured.
pub(super) fn image_generation(writer: &mut RolloutWriter<'_>, item: &Members<'_>, reason: &str) {
    let Some(id) = item.word("id").or_else(|| item.word("call_id")) else { return };
    let mut input = Map::new();
    put(&mut input, "prompt", item.word("revised_prompt").as_deref());
    put(&mut input, "path", item.word("saved_path").map(|path| path_of(&path)));
    let status = item.word("status");
    let input = Value::Object(input);
    let mut entry = super::calls::whole(writer, &id, "image_generation", &input, status.as_deref(), reason);
    put(&mut entry.metadata, attributes::OUTPUT_BYTES, item.text("result").map(|image| image.len()));
    writer.say(entry);
}

fn image_view(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let end = end(writer, row, item, "ImageView");
    let path = item.word("path").map(|path| path_of(&path)).unwrap_or_default();
    let hook_call = HookCall::new("view_image", json!({"path": path}).to_string());
    let entry = close(writer, &id, &hook_call, &end, "item_completed ImageView");
    writer.say(entry);
}

fn sleep(writer: &mut RolloutWriter<'_>, row: &Members<'_>, item: &Members<'_>) {
    let id = id_of(writer, item);
    let mut end = end(writer, row, item, "Sleep");
    end.duration_ms = item.count("duration_ms");
    let hook_call = HookCall::new("sleep", json!({"duration_ms": end.duration_ms}).to_string());
    let entry = close(writer, &id, &hook_call, &end, "item_completed Sleep");
    writer.say(entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_addresses_become_paths() {
        for (text, path) in [
            ("file:///home/dev/a%20b", "/home/dev/a b"),
            ("file://host/share/x", "/share/x"),
            ("/home/dev/100%", "/home/dev/100%"),
            ("file:///x/100%", "/x/100%"),
            ("file:///x/%zz%4", "/x/%zz%4"),
            ("file:///x/%ff", "/x/%ff"),
            ("file://", ""),
            ("", ""),
        ] {
            assert_eq!(path_of(text), path, "{text}");
        }
    }

    #[test]
    fn durations_are_in_milliseconds() {
        let of = |text: &str| duration(&Members::parse(text).unwrap());
        assert_eq!(of(r#"{"duration":{"secs":1,"nanos":870752007}}"#), Some(1871));
        assert_eq!(of(r#"{"duration":{"secs":0,"nanos":499999}}"#), Some(0));
        assert_eq!(of(r#"{"duration":{"secs":18446744073709551615,"nanos":0}}"#), None);
        assert_eq!(of(r#"{"duration":"1s"}"#), None);
        assert_eq!(of("{}"), None);
    }
}
