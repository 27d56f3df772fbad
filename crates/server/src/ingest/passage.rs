//! The way of posted members through privacy: the same pass that hooks go through.
//!
//! A record is laid out as a hook's payload, with its metadata as the payload's own members, so that a result, a
//! command, a prompt or a file's contents is treated by its name wherever it stands and however it is spelled. What
//! comes back is what may be written.

use agent_tracer_event::Kind;
use agent_tracer_privacy::{self as privacy, Level, Source};
use serde_json::{Map, Value};

use crate::doors::Privacy;

/// What may be written of a record.
#[derive(Debug)]
pub(super) struct Passed {
    /// What a person reads.
    pub(super) title: Option<String>,
    /// Longer text.
    pub(super) body: Option<String>,
    /// Files it is about.
    pub(super) file_paths: Vec<String>,
    /// What a tool was called with.
    pub(super) tool_input: Option<Value>,
    /// Everything else, results reduced.
    pub(super) metadata: Map<String, Value>,
    /// Whether nothing of it may be written.
    pub(super) excluded: bool,
}

/// What is laid out for the pass.
#[derive(Default)]
pub(super) struct Posted {
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

/// Names of metadata that the pass knows under another spelling.
const SPELLINGS: &[(&str, &str)] =
    &[("toolInput", "tool_input"), ("lastAssistantMessage", "last_assistant_message")];

/// What the body of this kind is, in the words of a hook; none if it may not be written at this level.
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

/// Sends a record through privacy. An error is the pass's own word for what it could not understand.
pub(super) fn pass(posted: Posted, kind: Kind, rules: &Privacy) -> Result<Passed, String> {
    let level = rules.config.level;
    let event = match kind {
        Kind::UserMessage => "UserPromptSubmit",
        Kind::AssistantResponse => "Stop",
        _ => "PostToolUse",
    };
    let body_name = body_name(kind, level);
    let mut layout = Map::with_capacity(OWN.len() + posted.metadata.len() + 2);
    layout.insert("hook_event_name".to_owned(), Value::from(event));
    // Without a type the last message would count as a compaction's summary.
    layout.insert("agent_type".to_owned(), Value::from("main"));
    layout.insert("tool_name".to_owned(), Value::from(posted.tool_name.unwrap_or_default()));
    if let Some(input) = posted.tool_input {
        layout.insert("tool_input".to_owned(), input);
    }
    if let Some(cwd) = posted.cwd {
        layout.insert("cwd".to_owned(), Value::from(cwd));
    }
    if let Some(title) = posted.title {
        layout.insert("title".to_owned(), Value::from(title));
    }
    layout.insert("posted_files".to_owned(), Value::from(posted.file_paths));
    let mut inner = Map::new();
    for (name, value) in posted.metadata {
        let spelled =
            SPELLINGS.iter().find(|(ours, _)| *ours == name).map_or(name.as_str(), |(_, theirs)| *theirs);
        let collides = OWN.contains(&spelled) || Some(spelled) == body_name;
        // Members of our own names are kept apart, where they mean what they always mean.
        if collides {
            inner.insert(name, value)
        } else {
            layout.insert(spelled.to_owned(), value)
        };
    }
    if let (Some(name), Some(body)) = (body_name, posted.body) {
        layout.insert(name.to_owned(), Value::from(body));
    }
    if !inner.is_empty() {
        layout.insert("posted_inner".to_owned(), Value::Object(inner));
    }
    let payload = serde_json::to_vec(&Value::Object(layout)).map_err(|error| error.to_string())?;
    let mut kept = Vec::new();
    let reduction =
        privacy::reduce(&payload, Source::ClaudeHook, &rules.config, &mut || rules.hash_key, &mut kept);
    if let Some(fault) = reduction.fault {
        return Err(fault.what.name().to_owned());
    }
    let directories = [&reduction.cwd, &reduction.project_dir];
    let excluded =
        directories.into_iter().flatten().any(|path| rules.config.excludes(path, rules.home_dir.as_deref()));
    let mut members: Map<String, Value> = serde_json::from_slice(&kept).map_err(|error| error.to_string())?;
    let text = |value: Option<Value>| match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let title = text(members.remove("title"));
    let said = body_name.and_then(|name| members.remove(name));
    let tool_input = members.remove("tool_input");
    let file_paths = match members.remove("posted_files") {
        Some(Value::Array(paths)) => paths.into_iter().filter_map(|path| text(Some(path))).collect(),
        _ => Vec::new(),
    };
    let inner = members.remove("posted_inner");
    let cwd = members.remove("cwd");
    for name in OWN {
        members.remove(name);
    }
    for (ours, theirs) in SPELLINGS {
        if let Some(value) = members.remove(*theirs) {
            members.insert((*ours).to_owned(), value);
        }
    }
    if let Some(Value::Object(inner)) = inner {
        members.extend(inner);
    }
    if let Some(Value::String(cwd)) = cwd {
        members.insert("cwd".to_owned(), Value::from(cwd));
    }
    if let Some(Value::Object(length)) = &said {
        members.insert("body".to_owned(), Value::Object(length.clone()));
    }
    Ok(Passed { title, body: text(said), file_paths, tool_input, metadata: members, excluded })
}
