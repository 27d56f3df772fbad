//! The way of posted members through privacy: the same pass that hooks go through.
//!
//! A record is laid out as a hook's payload, with its metadata as the payload's own members, so that a result, a
//! command, a prompt or a file's contents is treated by its name wherever it stands and however it is spelled. What
//! comes back is what may be written.

use agent_tracer_event::{Agent, Kind, attributes};
use agent_tracer_intake::Privacy;
use agent_tracer_privacy::{self as privacy, Level, Source};
use serde::Serializer;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

/// A record after privacy.
#[derive(Debug, Default)]
pub(super) struct ReducedRecord {
    /// The text for people.
    pub(super) title: Option<String>,
    /// Longer text.
    pub(super) body: Option<String>,
    /// Files it is about.
    pub(super) file_paths: Vec<String>,
    /// The input of a tool.
    pub(super) tool_input: Option<Value>,
    /// Everything else, results reduced.
    pub(super) metadata: Map<String, Value>,
    /// True if nothing of it may be written.
    pub(super) excluded: bool,
}

/// The parts of a record, laid out for the pass.
#[derive(Default)]
pub(super) struct RecordParts {
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) file_paths: Vec<String>,
    pub(super) tool_name: Option<String>,
    pub(super) tool_input: Option<Value>,
    pub(super) metadata: Map<String, Value>,
}

/// Members of the layout that are ours; metadata of these names would change what the others mean.
const OWN: [&str; 8] = [
    "hook_event_name",
    "agent_type",
    "tool_name",
    "tool_input",
    "title",
    "cwd",
    "posted_body",
    "posted_files",
];

/// The places for metadata of these names.
const INNER: &str = "posted_inner";

/// Names of metadata that the pass knows under another spelling.
const SPELLINGS: &[(&str, &str)] =
    &[("toolInput", "tool_input"), ("lastAssistantMessage", "last_assistant_message")];

/// Returns the hook's name for the body of this kind; none if it may not be written at this level.
fn body_name(kind: Kind, level: Level) -> Option<&'static str> {
    match kind {
        Kind::UserMessage => Some("prompt"),
        Kind::AssistantResponse => Some("last_assistant_message"),
        Kind::AssistantCommentary | Kind::ThoughtLogged | Kind::UserPromptExpansion => {
            (level == Level::Full).then_some("message")
        }
        // The body of a tool's event may be its output: a short text stays, a long one is reduced.
        Kind::ToolUsed | Kind::TerminalCommand | Kind::MonitorObserved | Kind::AgentActivityLogged => {
            Some("posted_body")
        }
        _ => Some("message"),
    }
}

/// A reason why a record did not pass privacy.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassError {
    /// Privacy could not parse the record; holds its name of the fault.
    #[error("{0}")]
    Fault(&'static str),
    /// The record could not be written as a payload, or read back.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Reduces a record by privacy.
pub(super) fn pass(posted: RecordParts, kind: Kind, rules: &Privacy) -> Result<ReducedRecord, PassError> {
    let level = rules.config.level;
    let event = match kind {
        Kind::UserMessage => "UserPromptSubmit",
        Kind::AssistantResponse => "Stop",
        _ => "PostToolUse",
    };
    let body_name = body_name(kind, level);
    let payload = lay_out(posted, event, body_name)?;
    let mut kept = Vec::new();
    let reduction = privacy::reduce(
        &payload,
        // The layout below is that of the first agent's hooks.
        Source::Hook(Agent::default()),
        &rules.config,
        &mut || rules.hash_key,
        &mut kept,
    );
    if let Some(fault) = reduction.fault {
        return Err(PassError::Fault(fault.what.name()));
    }
    let directories = [&reduction.cwd, &reduction.project_dir];
    let excluded =
        directories.into_iter().flatten().any(|path| rules.config.excludes(path, rules.home_dir.as_deref()));
    let members: Map<String, Value> = serde_json::from_slice(&kept)?;
    Ok(pick_up(members, body_name, excluded))
}

/// Writes a record as a hook's payload. It is written at once and not first put together: every post comes through here.
fn lay_out(posted: RecordParts, event: &str, body_name: Option<&str>) -> serde_json::Result<Vec<u8>> {
    let mut payload = Vec::with_capacity(2 * 1024);
    let mut writer = serde_json::Serializer::new(&mut payload);
    let mut layout = writer.serialize_map(None)?;
    layout.serialize_entry("hook_event_name", event)?;
    // Without a type the last message would count as a compaction's summary.
    layout.serialize_entry("agent_type", "main")?;
    layout.serialize_entry("tool_name", &posted.tool_name.unwrap_or_default())?;
    if let Some(input) = &posted.tool_input {
        layout.serialize_entry("tool_input", input)?;
    }
    if let Some(cwd) = &posted.cwd {
        layout.serialize_entry("cwd", cwd)?;
    }
    if let Some(title) = &posted.title {
        layout.serialize_entry("title", title)?;
    }
    layout.serialize_entry("posted_files", &posted.file_paths)?;
    let mut inner = Map::new();
    for (name, value) in &posted.metadata {
        let spelled =
            SPELLINGS.iter().find(|(ours, _)| ours == name).map_or(name.as_str(), |(_, theirs)| *theirs);
        // Members of our own names are kept apart, where they mean what they always mean.
        if OWN.contains(&spelled) || Some(spelled) == body_name {
            inner.insert(name.clone(), value.clone());
        } else if spelled == name || !posted.metadata.contains_key(spelled) {
            // Who says it in both spellings is taken at the pass's own.
            layout.serialize_entry(spelled, value)?;
        }
    }
    if let (Some(name), Some(body)) = (body_name, &posted.body) {
        layout.serialize_entry(name, body)?;
    }
    if !inner.is_empty() {
        layout.serialize_entry(INNER, &inner)?;
    }
    layout.end()?;
    Ok(payload)
}

/// Takes apart what came back.
fn pick_up(members: Map<String, Value>, body_name: Option<&str>, excluded: bool) -> ReducedRecord {
    let text = |value: Value| match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    };
    let mut passed =
        ReducedRecord { metadata: Map::with_capacity(members.len()), excluded, ..ReducedRecord::default() };
    let (mut inner, mut cwd) = (None, None);
    for (name, value) in members {
        match name.as_str() {
            "title" => passed.title = text(value),
            "tool_input" => passed.tool_input = Some(value),
            "posted_files" => {
                if let Value::Array(paths) = value {
                    passed.file_paths = paths.into_iter().filter_map(text).collect();
                }
            }
            "cwd" => cwd = Some(value).filter(Value::is_string),
            INNER => inner = Some(value),
            own if Some(own) == body_name => match value {
                Value::Object(length) => {
                    drop(passed.metadata.insert(attributes::BODY.to_owned(), length.into()))
                }
                said => passed.body = text(said),
            },
            own if OWN.contains(&own) => {}
            theirs => {
                let ours = SPELLINGS.iter().find(|(_, known)| *known == theirs).map(|(ours, _)| *ours);
                passed.metadata.insert(ours.map_or(name, str::to_owned), value);
            }
        }
    }
    if let Some(Value::Object(inner)) = inner {
        passed.metadata.extend(inner);
    }
    if let Some(cwd) = cwd {
        passed.metadata.insert(attributes::CWD.to_owned(), cwd);
    }
    passed
}
