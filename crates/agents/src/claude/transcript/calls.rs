//! Tool calls: the model asks for them in its rows, and what came back stands in rows of the user.
//!
//! Both speak of the fact `tool:<id>`. The row that asks says what the call is; the row with the result adds how it ended.
//! Where a result tells of other things too (an agent that was started, work items), it is written as its hook would write
//! it, and the reader remembers what the call was given until then.

use agent_tracer_event::semantics::SubtypeKey;
use agent_tracer_event::{
    Agent, CallState, Entry, ErrorClass, Evidence, Kind, Phase, Subject, TaskKey, attributes,
};
use serde_json::{Map, Value};

use super::row::{Block, Content, Row};
use super::scan::Cursor;
use super::state::OpenCall;
use super::text::Text;
use super::writer::{Member, RowWriter, put};
use super::{diffs, version};
use crate::tools::commits;
use crate::tools::outcome::{self, Outcome};

/// Reads a call that the model asks for.
pub(super) fn attempted(writer: &mut RowWriter<'_, '_>, block: &Block<'_>) {
    super::messages::unsettle(writer);
    let id = writer.word(block.id);
    let tool = writer.word(block.name);
    let input = match block.input {
        Some(input) => writer.reduce_member("PreToolUse", Some(&tool), "tool_input", Member::Raw(input)),
        None => Value::Null,
    };
    let remembered = if TELLING.contains(&tool.as_str()) { input.clone() } else { Value::Null };
    let members = vec![
        ("tool_name", Value::from(tool.as_str())),
        ("tool_input", input),
        ("tool_use_id", Value::from(id.as_str())),
    ];
    let mut entries = writer.as_hook("PreToolUse", members);
    for entry in &mut entries {
        if id.is_empty() {
            entry.key = writer.own_key();
        }
        put(&mut entry.metadata, attributes::REQUEST_ID, writer.word(writer.row.request));
        // A hook on the call begins later than the row, and the fact with it.
        put(&mut entry.metadata, attributes::WRITTEN_AT, writer.at.0);
    }
    writer.reading.entries.append(&mut entries);
    if id.is_empty() {
        return;
    }
    let entry = writer.reading.entries.last();
    let kind = entry.and_then(|entry| match entry.subject {
        Subject::Event(kind) => Some(kind),
        Subject::Task | Subject::Turn | Subject::Account => None,
    });
    let subtype =
        entry.and_then(|entry| SubtypeKey::parse(entry.metadata.get(attributes::SUBTYPE_KEY)?.as_str()?));
    let analysis = entry.and_then(|entry| entry.metadata.get(attributes::COMMAND_ANALYSIS));
    let makes_commits = analysis.is_some_and(commits::makes_commits);
    let agent = writer.agent.clone();
    let prompt = writer.lane().prompt.clone();
    writer.state.open(OpenCall { id, agent, tool, kind, subtype, input: remembered, prompt, makes_commits });
}

/// Tools whose results tell of other things than the call.
const TELLING: &[&str] = &["Agent", "Task", "TaskCreate", "TaskStop", "TaskUpdate", "TodoWrite"];

/// Writes what came back for the calls that a row of the user answers.
pub(super) fn results(writer: &mut RowWriter<'_, '_>) {
    let Some(Content::Blocks(blocks)) = writer.row.message.as_ref().map(|message| &message.content) else {
        return;
    };
    let answers: Vec<&Block<'_>> = blocks.iter().filter(|block| block.kind.is("tool_result")).collect();
    // The structured result stands beside the message once, so it is of use only if it is clear whose it is.
    let structured = writer.row.tool_use_result.filter(|_| answers.len() == 1);
    for block in answers {
        let body = if block.is_error { None } else { structured.filter(|body| !body.starts_with(b"\"")) };
        ended(writer, block, body);
    }
}

/// Reads a result that the provider itself put into its response.
pub(super) fn answered_by_server(writer: &mut RowWriter<'_, '_>, block: &Block<'_>) {
    ended(writer, block, None);
}

fn ended(writer: &mut RowWriter<'_, '_>, block: &Block<'_>, structured: Option<&[u8]>) {
    let id = writer.word(block.tool_use);
    if id.is_empty() {
        return;
    }
    let call = writer.state.close(&id);
    let tool = call.as_ref().map(|call| call.tool.clone()).unwrap_or_default();
    let makes_commits = call.as_ref().is_some_and(|call| call.makes_commits);
    let (event, member) = if block.is_error {
        let text = block.content.map(first_text).unwrap_or_default();
        (
            "PostToolUseFailure",
            ("error", writer.reduce_member("PostToolUseFailure", Some(&tool), "error", Member::Text(text))),
        )
    } else {
        let body = structured.or(block.content).unwrap_or(b"null");
        (
            "PostToolUse",
            (
                "tool_response",
                writer.reduce_member("PostToolUse", Some(&tool), "tool_response", Member::Raw(body)),
            ),
        )
    };
    let mut entries = match call {
        Some(call) if !call.input.is_null() => close(writer, &call, event, member),
        Some(call) => vec![ended_call(writer, call, event, &member.1)],
        None => vec![unknown(writer, &id, event, &member.1)],
    };
    if let Some(entry) = entries.first_mut() {
        permission(writer, entry);
        if let Some(result) = structured.filter(|result| has_diffs(result)) {
            diffs::changed_lines(writer, result, entry);
        }
        if makes_commits {
            let output = structured.and_then(diffs::output_of).or_else(|| block.content.map(first_text));
            diffs::committed(output.unwrap_or_default(), entry);
        }
    }
    let is_unclear = refusal(writer.row) == Some(Refusal::Unclear);
    if is_unclear && writer.row.permission_decision.is_none() {
        writer.lane().refused.push(id);
    }
    writer.reading.entries.append(&mut entries);
}

/// Returns the end of a call that is remembered, as its hook tells it: the call itself first.
fn close(
    writer: &mut RowWriter<'_, '_>,
    call: &OpenCall,
    event: &str,
    (name, value): (&str, Value),
) -> Vec<Entry> {
    let members = vec![
        ("tool_name", Value::from(call.tool.as_str())),
        ("tool_input", call.input.clone()),
        ("tool_use_id", Value::from(call.id.as_str())),
        (name, value),
    ];
    let prompt = std::mem::replace(&mut writer.lane().prompt, call.prompt.clone());
    let mut entries = writer.as_hook(event, members);
    writer.lane().prompt = prompt;
    if let Some(child) = entries.first().and_then(|entry| started(writer, entry)) {
        entries.push(child);
    }
    entries
}

/// Returns whether a structured result may hold differences of files. Most results hold none and are long.
fn has_diffs(result: &[u8]) -> bool {
    [&br#""structuredPatch""#[..], br#""bashEditDiff""#]
        .iter()
        .any(|name| memchr::memmem::find(result, name).is_some())
}

fn outcome_of(event: &str, body: &Value) -> Outcome {
    if event == "PostToolUse" { outcome::returned(body) } else { outcome::failed(body, false) }
}

/// Returns the end of a call, added to what the row that asked for it said.
fn ended_call(writer: &mut RowWriter<'_, '_>, call: OpenCall, event: &str, body: &Value) -> Entry {
    let outcome = outcome_of(event, body);
    // The end belongs to the turn of the call, although another prompt may have come since: it runs in the
    // background.
    let prompt = std::mem::replace(&mut writer.lane().prompt, call.prompt);
    let mut entry =
        writer.event(call.kind.unwrap_or(Kind::ToolUsed), Phase::Close, format!("tool:{}", call.id));
    writer.lane().prompt = prompt;
    entry.tool_name = Some(call.tool);
    entry.tool_use_id = Some(call.id);
    let importance = call.subtype.and_then(|subtype| outcome::importance(outcome.state, subtype));
    end(writer, &mut entry, outcome);
    put(&mut entry.metadata, attributes::IMPORTANCE, importance.map(|importance| importance.as_str()));
    entry
}

/// Returns the end of a call of which nothing else is known.
fn unknown(writer: &mut RowWriter<'_, '_>, id: &str, event: &str, body: &Value) -> Entry {
    let mut entry = writer.event(Kind::ToolUsed, Phase::Close, format!("tool:{id}"));
    entry.evidence = Evidence::inferred("transcript, result of a call that was not seen");
    entry.tool_use_id = Some(id.to_owned());
    end(writer, &mut entry, outcome_of(event, body));
    entry
}

fn end(writer: &RowWriter<'_, '_>, entry: &mut Entry, outcome: Outcome) {
    entry.state = Some(outcome.state);
    entry.ended_at = Some(writer.at);
    entry.metadata.extend(outcome.metadata);
}

/// Writes who decided that a call may run, and that it may not.
fn permission(writer: &RowWriter<'_, '_>, entry: &mut Entry) {
    let row = writer.row;
    let mut decided = Map::new();
    if let Some(decision) = row.permission_decision {
        let read = Cursor::new(decision).members(|cursor, name| {
            let ours = match &*name.name() {
                b"decision" => attributes::PERMISSION_DECISION,
                b"source" => attributes::PERMISSION_SOURCE,
                b"reasonType" => attributes::PERMISSION_REASON,
                b"reasonCode" => attributes::PERMISSION_REASON_CODE,
                b"ruleSource" => attributes::PERMISSION_RULE_SOURCE,
                b"grantScope" => attributes::PERMISSION_GRANT_SCOPE,
                _ => return cursor.skip(),
            };
            if let Some(text) = cursor.text()? {
                put(&mut decided, ours, writer.word(text));
            }
            Ok(())
        });
        if read.is_err() {
            // Half a decision is none: who decided without what would be a guess.
            decided.clear();
        }
    }
    put(&mut decided, attributes::DENIAL_KIND, writer.word(row.denial));
    let by_hook = decided.get(attributes::PERMISSION_REASON).is_some_and(|reason| reason == "hook");
    entry.metadata.extend(decided);
    if row.is_denied_before_run {
        entry.metadata.insert(attributes::DENIED_BEFORE_RUN.to_owned(), Value::Bool(true));
    }
    match refusal(row) {
        Some(Refusal::Cut) => refuse(entry, CallState::Interrupted, ErrorClass::Interrupt),
        Some(Refusal::Denied | Refusal::Unclear) => {
            let class = if by_hook { ErrorClass::HookBlocked } else { ErrorClass::Permission };
            refuse(entry, CallState::Denied, class);
        }
        None => {}
    }
}

/// Describes what the client means by a call that it says was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// It was not allowed to run.
    Denied,
    /// It was cut off: by a person, by the end of the process, or because another call of the same answer was.
    Cut,
    /// One of both. Versions before 2.1.326 have one word for them; what follows may tell.
    Unclear,
}

fn refusal(row: &Row<'_>) -> Option<Refusal> {
    match &*row.denial.head(40) {
        "" => None,
        "interrupted" | "cancelled" => Some(Refusal::Cut),
        "user-rejected" if row.is_denied_before_run || is_rejected(row) => Some(Refusal::Denied),
        // A version that marks calls which never ran says by the missing mark that this one did.
        "user-rejected" if version::marks_denials_before_run(row.version) => Some(Refusal::Cut),
        "user-rejected" => Some(Refusal::Unclear),
        _ => Some(Refusal::Denied),
    }
}

/// Returns whether the client decided by itself that a call may not run, as it does without a terminal. A call that
/// was cut off has no such decision.
fn is_rejected(row: &Row<'_>) -> bool {
    let mut is_rejected = false;
    let Some(decision) = row.permission_decision else { return false };
    let read = Cursor::new(decision).members(|cursor, name| {
        if &*name.name() != b"decision" {
            return cursor.skip();
        }
        is_rejected = cursor.text()?.is_some_and(|text| text.is("reject"));
        Ok(())
    });
    read.is_ok() && is_rejected
}

fn refuse(entry: &mut Entry, state: CallState, class: ErrorClass) {
    entry.state = Some(state);
    entry.metadata.insert(attributes::ERROR_CLASS.to_owned(), Value::from(class.as_str()));
    if state == CallState::Denied {
        entry.metadata.insert(attributes::IMPORTANCE.to_owned(), Value::from("critical"));
    }
}

/// Ends the calls that the human cut off: those that were refused for it, if the client says that it was a cut, and
/// those that nothing has answered.
pub(super) fn interrupted(writer: &mut RowWriter<'_, '_>, cut: bool) {
    let agent = writer.agent.clone();
    let refused = std::mem::take(&mut writer.lane().refused);
    for id in refused.into_iter().filter(|_| cut) {
        let mut entry = writer.event(Kind::ToolUsed, Phase::Close, format!("tool:{id}"));
        entry.tool_use_id = Some(id);
        entry.ended_at = Some(writer.at);
        refuse(&mut entry, CallState::Interrupted, ErrorClass::Interrupt);
        writer.push(entry);
    }
    let open: Vec<String> =
        writer.state.calls.iter().filter(|call| call.agent == agent).map(|call| call.id.clone()).collect();
    for id in open {
        let Some(call) = writer.state.close(&id) else { continue };
        let mut entry = writer.event(Kind::ToolUsed, Phase::Close, format!("tool:{id}"));
        entry.tool_name = Some(call.tool);
        entry.tool_use_id = Some(id);
        entry.ended_at = Some(writer.at);
        refuse(&mut entry, CallState::Interrupted, ErrorClass::Interrupt);
        writer.push(entry);
    }
}

/// Returns the agent that a call started, as its parent sees it: this file is the parent's, so the parent is certain.
fn started(writer: &mut RowWriter<'_, '_>, call: &Entry) -> Option<Entry> {
    if call.subject != Subject::Event(Kind::AgentActivityLogged) {
        return None;
    }
    let child = call.metadata.get(attributes::CHILD_AGENT_ID)?.as_str()?.to_owned();
    let status = call.metadata.get(attributes::STATUS).and_then(Value::as_str).unwrap_or_default();
    let running = matches!(status, "async_launched" | "teammate_spawned" | "running");
    let phase = if running { Phase::Open } else { Phase::Close };
    let mut entry = writer.event(Kind::ActionLogged, phase, format!("subagent:{child}"));
    entry.turn.clone_from(&call.turn);
    let kind =
        call.metadata.get(attributes::AGENT_NAME).and_then(Value::as_str).filter(|name| !name.is_empty());
    entry.title = Some(
        kind.map_or_else(|| "Subagent".to_owned(), |kind| crate::text::title(&format!("Subagent {kind}"))),
    );
    entry.ended_at = (!running).then_some(writer.at);
    let metadata = &mut entry.metadata;
    put(metadata, attributes::ASYNC_TASK_ID, child.as_str());
    put(metadata, attributes::AGENT_ID, child.as_str());
    put(metadata, attributes::ASYNC_STATUS, if running { "running" } else { "completed" });
    put(metadata, attributes::TOOL_USE_ID, call.tool_use_id.clone());
    put(metadata, attributes::CHILD_SESSION, TaskKey::subagent(Agent::CLAUDE_CODE, &child).runtime_session);
    Some(entry)
}

/// Reads the end of a call whose result was too long to be held: that it ended, how, and how long the row was.
pub(super) fn cut_result(writer: &mut RowWriter<'_, '_>, head: &[u8], tail: &[u8], length: u64) {
    let Some(id) =
        string_member(head, br#""tool_use_id""#).or_else(|| string_member(tail, br#""tool_use_id""#))
    else {
        return;
    };
    let id = writer.word(id);
    let failed = [head, tail].iter().any(|part| memchr::memmem::find(part, br#""is_error":true"#).is_some());
    let call = writer.state.close(&id);
    let mut entry = writer.event(Kind::ToolUsed, Phase::Close, format!("tool:{id}"));
    entry.tool_name = call.map(|call| call.tool);
    entry.tool_use_id = Some(id);
    let mut outcome = outcome::returned(&Value::Null);
    if failed {
        outcome = outcome::failed(&Value::Null, false);
    }
    end(writer, &mut entry, outcome);
    entry.metadata.insert(attributes::ROW_BYTES.to_owned(), Value::from(length));
    permission(writer, &mut entry);
    writer.push(entry);
}

/// Returns the string behind a name, where it stands as one.
fn string_member<'a>(part: &'a [u8], name: &[u8]) -> Option<Text<'a>> {
    memchr::memmem::find_iter(part, name).find_map(|at| {
        let before = part.get(..at)?.trim_ascii_end();
        matches!(before.last(), Some(b',' | b'{')).then_some(())?;
        let mut cursor = Cursor::new(part.get(at..)?);
        cursor.string().ok()?;
        cursor.colon().then_some(())?;
        cursor.string().ok()
    })
}

/// Returns the first text of a result, which is a string or a list of blocks.
fn first_text(content: &[u8]) -> Text<'_> {
    let mut cursor = Cursor::new(content);
    if cursor.peek() == Some(b'"') {
        return cursor.string().unwrap_or_default();
    }
    let mut first = Text::default();
    let read = cursor.items(|cursor| {
        cursor.members(|cursor, name| {
            if name.is("text") && first.is_empty() {
                first = cursor.text()?.unwrap_or_default();
                return Ok(());
            }
            cursor.skip()
        })
    });
    if read.is_ok() { first } else { Text::default() }
}
