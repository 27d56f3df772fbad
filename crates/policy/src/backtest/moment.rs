//! From a row of the history back to what a hook would have been asked.
//!
//! The payload is gone; what is left of it is put together again in the agent's own shape, so that rules read it with
//! the same eyes as a live one. What is not left is named in [`MissingParts`].

use crate::clients;
use crate::{Call, Event, Surroundings};
use agent_tracer_event::{Agent, CallState, Kind, attributes};
use agent_tracer_ledger::view::Row;
use serde_json::{Map, Value, json};

use crate::backtest::missing::{CallPart, MissingParts};

/// Commands longer than this were cut when they were recorded.
const COMMAND_CHARS: usize = 10_000;

/// Tools that are nothing without a file.
const ABOUT_FILES: &[&str] =
    &["Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead", "apply_patch"];

/// The kinds of rows that are replayed.
pub(crate) const KINDS: &[Kind] = &[
    Kind::UserMessage,
    Kind::AssistantResponse,
    Kind::TokenUsage,
    Kind::ModelRequest,
    Kind::ToolUsed,
    Kind::TerminalCommand,
    Kind::MonitorObserved,
    Kind::AgentActivityLogged,
    Kind::PlanLogged,
    Kind::QuestionLogged,
    Kind::TodoLogged,
    Kind::PermissionRequest,
    Kind::TeammateIdle,
    Kind::WorktreeCreate,
    Kind::WorktreeRemove,
];

/// A moment at which an agent would have asked.
pub(crate) struct Moment {
    pub(crate) event: Event,
    pub(crate) fields: Map<String, Value>,
    pub(crate) missing: MissingParts,
}

impl Moment {
    pub(crate) fn call(&self, agent: Agent, around: Surroundings) -> Call {
        Call::from_fields(agent, self.event, self.fields.clone(), around)
    }
}

/// Returns whether a row is a tool call.
pub(crate) fn is_call(row: &Row) -> bool {
    row.tool_name.is_some()
        && row.state.is_some()
        && row.kind != Kind::PermissionRequest
        && row.kind != Kind::RuleLogged
}

/// Returns whether the agent asks its hooks about a call. It does not if the input made no sense to it, or if a user
/// carries the call out instead.
pub(crate) fn is_asked(row: &Row, agent: Agent) -> bool {
    let Some(client) = clients::find(agent) else { return false };
    let is_refused = client.refuses_bad_input
        && row.state == Some(CallState::Failed)
        && text(row, attributes::ERROR_CLASS) == Some("invalid_input")
        && matches!(row.hook_event_name.as_deref(), None | Some("PostToolBatch"));
    let is_unasked = row.tool_name.as_deref().is_some_and(|tool| client.unasked_tools.contains(&tool));
    !is_refused && !is_unasked
}

/// Returns the moment at which a call was about to happen; with another event, the one at which it had ended.
pub(crate) fn call_moment(row: &Row, event: Event) -> Moment {
    let mut missing = MissingParts::default();
    let mut fields = common(row, &mut missing);
    let tool = row.tool_name.clone().unwrap_or_default();
    fields.insert("tool_input".to_owned(), input(row, &tool, &mut missing));
    fields.insert("tool_name".to_owned(), tool.into());
    if let Some(server) = text(row, attributes::MCP_SERVER) {
        // From the name alone a server with two underscores in its name cannot be separated from its tool.
        fields.insert("mcp_server".to_owned(), json!({ "name": server }));
    }
    if let Some(id) = &row.tool_use_id {
        fields.insert("tool_use_id".to_owned(), id.as_str().into());
    }
    Moment { event, fields, missing }
}

/// Returns the moment of a prompt.
pub(crate) fn prompt_moment(row: &Row) -> Moment {
    let mut missing = MissingParts::default();
    let mut fields = common(row, &mut missing);
    match &row.body {
        Some(prompt) => {
            fields.insert("prompt".to_owned(), prompt.as_str().into());
        }
        None => missing.add(CallPart::Prompt),
    }
    Moment { event: Event::UserPromptSubmit, fields, missing }
}

/// Returns the moment of an end, if the row is one at which a hook is asked.
pub(crate) fn end_moment(row: &Row) -> Option<Moment> {
    let event = match row.kind {
        Kind::TeammateIdle => Event::TeammateIdle,
        Kind::TodoLogged if row.hook_event_name.as_deref() == Some("TaskCompleted") => Event::TaskCompleted,
        // A turn that failed ends without asking a hook.
        Kind::AssistantResponse if row.hook_event_name.as_deref() == Some("StopFailure") => return None,
        Kind::AssistantResponse if row.state == Some(CallState::Failed) => return None,
        Kind::AssistantResponse if row.is_subagent => Event::SubagentStop,
        Kind::AssistantResponse => Event::Stop,
        _ => return None,
    };
    let mut missing = MissingParts::default();
    let fields = common(row, &mut missing);
    Some(Moment { event, fields, missing })
}

/// Returns the members of every payload.
fn common(row: &Row, missing: &mut MissingParts) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("session_id".to_owned(), row.runtime_session_id.as_str().into());
    if row.is_subagent {
        // The rule only asks whether there is one; a child that was known by other means has one too.
        let id = row.agent_id.clone().unwrap_or_else(|| row.task_id.clone());
        fields.insert("agent_id".to_owned(), id.into());
        fields.insert("agent_type".to_owned(), row.agent_type.as_str().into());
    }
    if let Some(cwd) = text(row, attributes::CWD) {
        fields.insert("cwd".to_owned(), cwd.into());
    }
    match text(row, attributes::PERMISSION_MODE) {
        Some(mode) => {
            fields.insert("permission_mode".to_owned(), mode.into());
        }
        None => missing.add(CallPart::PermissionMode),
    }
    fields
}

fn text<'r>(row: &'r Row, key: &str) -> Option<&'r str> {
    row.metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Members of an input that rules look at and that are kept as they were.
const KEPT_INPUT: &[&str] = &["pattern", "glob", "output_mode", "type", "command", "cmd", "script"];

/// Returns the recorded part of a tool's input.
fn input(row: &Row, tool: &str, missing: &mut MissingParts) -> Value {
    let mut input = Map::new();
    if row.kind == Kind::TerminalCommand || row.metadata.contains_key(attributes::MONITOR_SCRIPT) {
        match text(row, attributes::COMMAND).or_else(|| text(row, attributes::MONITOR_SCRIPT)) {
            Some(command) => {
                if command.chars().count() >= COMMAND_CHARS {
                    missing.add(CallPart::WholeCommand);
                }
                input.insert("command".to_owned(), command.into());
            }
            None => missing.add(CallPart::Command),
        }
        return Value::Object(input);
    }
    if tool == "apply_patch" {
        let patch = patch(row);
        if patch.is_empty() {
            missing.add(CallPart::Files);
        }
        input.insert("command".to_owned(), patch.into());
        return Value::Object(input);
    }
    if ABOUT_FILES.contains(&tool) && row.file_paths.is_empty() {
        missing.add(CallPart::Files);
    }
    match row.file_paths.as_slice() {
        [] => {}
        [path] => {
            input.insert("file_path".to_owned(), path.as_str().into());
        }
        paths => {
            input.insert("paths".to_owned(), paths.into());
        }
    }
    // How far a search looks, and what a server's shell runs.
    for name in KEPT_INPUT {
        let value = row.metadata.get(attributes::TOOL_INPUT).and_then(|input| input.get(name));
        if let Some(value) = value.filter(|value| value.is_string()) {
            input.insert((*name).to_owned(), value.clone());
        }
    }
    let url = row.metadata.get(attributes::WEB_URLS).and_then(|urls| urls.get(0)).and_then(Value::as_str);
    match url.filter(|_| tool != "WebSearch") {
        Some(url) => {
            input.insert("url".to_owned(), url.into());
        }
        None if tool == "WebFetch" => missing.add(CallPart::Address),
        None => {}
    }
    if let Some(skill) = text(row, attributes::SKILL_NAME) {
        input.insert("skill".to_owned(), skill.into());
    }
    Value::Object(input)
}

/// Rebuilds the headers of a patch: its text is never kept.
fn patch(row: &Row) -> String {
    let operations = row.metadata.get(attributes::FILE_OPERATIONS).and_then(Value::as_array);
    let mut patch = String::new();
    for operation in operations.into_iter().flatten() {
        let member = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
        let header = match member("operation") {
            "create" => "Add",
            "delete" => "Delete",
            _ => "Update",
        };
        patch.push_str(&format!("*** {header} File: {}\n", member("path")));
        if operation.get("to").is_some() {
            patch.push_str(&format!("*** Move to: {}\n", member("to")));
        }
    }
    patch
}
