//! Tool calls as the model makes them: `function_call`, `custom_tool_call` and their kin.
//!
//! A call is put into the words of the hook that tells of the same call: the tool's name, its input, its id. So the
//! attempt has the same key, signature and meaning from both channels, and tools without a hook get the same form.

use std::borrow::Cow;

use agent_tracer_event::{Agent, CallState, Entry, Kind, Phase, Unrecognised, attributes};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::messages::flush_said;
use super::rules::quoted;
use super::state::OpenCall;
use super::writer::RolloutWriter;
use crate::codex::facts::{cross_check, put, tool_key};
use crate::codex::wire::Members;
use crate::text::call_signature;
use crate::tools::{self, Call, Meaning, Place, shell::command_of};

/// A call in the words of a hook.
pub(super) struct HookCall {
    /// The tool's name in hooks.
    pub(super) tool: String,
    /// The input in the form of hooks, as JSON, before privacy.
    pub(super) input: String,
    /// The directory, where the call names one.
    pub(super) cwd: Option<String>,
    /// The command or script that the call polls.
    pub(super) polls: Option<String>,
    /// The role of the agent that the call starts.
    pub(super) role: Option<String>,
    /// True if the call asks for more than the sandbox allows.
    pub(super) escalates: bool,
}

impl HookCall {
    pub(super) fn new(tool: impl Into<String>, input: impl Into<String>) -> Self {
        Self { tool: tool.into(), input: input.into(), cwd: None, polls: None, role: None, escalates: false }
    }
}

/// Returns the name that hooks have for a tool: the namespace is glued to it, except where it is not.
pub(super) fn hook_name(namespace: Option<&str>, name: &str) -> String {
    match (namespace.unwrap_or_default(), name) {
        // Hooks have one name for all of these, and the signature that joins a request for permission holds it.
        ("", "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec") => {
            "Bash".to_owned()
        }
        ("", name) => name.to_owned(),
        // The namespace of a server is cut from the name in rollouts, and whole in hooks.
        (server, name) if server.starts_with("mcp__") => format!("{}__{name}", server.trim_end_matches("__")),
        ("multi_agent_v1", "spawn_agent") => "spawn_agent".to_owned(),
        (namespace, name) => format!("{namespace}{name}"),
    }
}

/// Reads a call with JSON arguments: `function_call`.
pub(super) fn function(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let name = item.word("name").unwrap_or_default();
    let tool = hook_name(item.word("namespace").as_deref(), &name);
    // The arguments are JSON inside a text; if the model wrote nonsense, they are just a text.
    let said = item.text("arguments").or_else(|| item.raw("arguments").map(|raw| Cow::Borrowed(raw.get())));
    let said = said.unwrap_or_default();
    let arguments = Members::parse(&said);
    let hook_call = match (tool.as_str(), &arguments) {
        ("Bash", Some(arguments)) => shell(arguments),
        ("apply_patch", Some(arguments)) => {
            patch(&arguments.text("input").or_else(|| arguments.text("patch")).unwrap_or_default())
        }
        ("write_stdin", Some(arguments)) => typed(arguments),
        ("wait", Some(arguments)) => HookCall {
            polls: arguments.word("cell_id").map(|cell| format!("cell:{cell}")),
            ..HookCall::new(tool, said.clone())
        },
        ("spawn_agent", Some(arguments)) => HookCall {
            role: arguments.word("agent_type").map(Cow::into_owned),
            ..HookCall::new(tool, said.clone())
        },
        (_, Some(_)) => HookCall::new(tool, said.clone()),
        (_, None) if serde_json::from_str::<&RawValue>(&said).is_ok() => {
            HookCall::new(tool, object_or_text(&said))
        }
        (_, None) => HookCall::new(tool, object_or_text(&quoted(&said))),
    };
    open(writer, item.word("call_id").as_deref(), hook_call, "function_call");
}

/// Reads a call with free text: `custom_tool_call`.
pub(super) fn custom(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let tool = hook_name(item.word("namespace").as_deref(), &item.word("name").unwrap_or_default());
    let input = item.text("input").unwrap_or_default();
    let hook_call = match tool.as_str() {
        "apply_patch" => patch(&input),
        // Code may hold whole files, so privacy treats it as the content of one.
        _ => HookCall::new(tool, json!({"content": input}).to_string()),
    };
    let tools = if hook_call.tool == "exec" { called_tools(&input) } else { Vec::new() };
    let id = item.word("call_id");
    open(writer, id.as_deref(), hook_call, "custom_tool_call");
    if !tools.is_empty()
        && let Some(entry) = writer.reading.entries.last_mut()
    {
        entry.title = Some(crate::text::title(&format!("Run code that calls {}", tools.join(", "))));
        put(&mut entry.metadata, attributes::CALLED_TOOLS, Some(tools));
    }
}

/// Reads a command of an older version: `local_shell_call`.
pub(super) fn local_shell(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let action = item.members("action").unwrap_or_default();
    let id = item.word("call_id").or_else(|| item.word("id"));
    open(writer, id.as_deref(), shell(&action), "local_shell_call");
}

/// Reads a search for tools, which the client runs itself: `tool_search_call`.
pub(super) fn tool_search(writer: &mut RolloutWriter<'_>, item: &Members<'_>) {
    let id = item.word("call_id").or_else(|| item.word("id"));
    let input = item.raw("arguments").map_or("{}", |raw| raw.get());
    let hook_call = HookCall::new("tool_search", object_or_text(input));
    open(writer, id.as_deref(), hook_call, "tool_search_call");
}

/// Reads a call of which the row tells the attempt and the end in one: web searches, images.
pub(super) fn whole(
    writer: &mut RolloutWriter<'_>,
    id: &str,
    tool: &str,
    input: &Value,
    status: Option<&str>,
    reason: &str,
) -> Entry {
    let hook_call = HookCall::new(tool, input.to_string());
    let (mut entry, _) = attempt(writer, id, &hook_call, Phase::Close, reason);
    entry.ended_at = Some(writer.at);
    entry.state = Some(match status {
        None | Some("completed" | "generating" | "in_progress" | "searching") => CallState::Succeeded,
        Some(_) => CallState::Failed,
    });
    entry
}

/// Says that a call was made.
fn open(writer: &mut RolloutWriter<'_>, id: Option<&str>, hook_call: HookCall, reason: &str) {
    flush_said(writer);
    let observation = writer.observation.clone();
    let id = id.unwrap_or(&observation);
    let (mut entry, mut call) = attempt(writer, id, &hook_call, Phase::Open, reason);
    entry.state = Some(CallState::Running);
    call.process = hook_call.polls;
    call.role = hook_call.role.map(|role| writer.rules.word(&role));
    call.escalates = hook_call.escalates;
    writer.state.open(call);
    writer.say(entry);
}

/// Returns an entry about a call with all that its input says.
pub(super) fn attempt(
    writer: &mut RolloutWriter<'_>,
    id: &str,
    hook_call: &HookCall,
    phase: Phase,
    reason: &str,
) -> (Entry, OpenCall) {
    let input = writer.rules.input(&hook_call.tool, &hook_call.input);
    let tool = writer.rules.word(&hook_call.tool);
    let cwd = hook_call.cwd.clone().or_else(|| writer.state.cwd.clone()).map(|cwd| writer.rules.word(&cwd));
    let mut entry = writer.event(Kind::ToolUsed, phase, tool_key(id), reason);
    let meaning = understand(&tool, &input, cwd.as_deref(), writer.state.cwd.as_deref());
    if !meaning.recognised {
        writer.unknown(Unrecognised::Tool(tool.clone()));
    }
    let call = OpenCall {
        id: id.to_owned(),
        tool: hook_call.tool.clone(),
        kind: meaning.kind,
        subtype: Some(meaning.semantics.subtype),
        is_reported: false,
        process: None,
        role: None,
        escalates: false,
    };
    meaning.write(&mut entry);
    put(&mut entry.metadata, attributes::CALL_SIGNATURE, Some(call_signature(Agent::CODEX, &tool, &input)));
    put(&mut entry.metadata, attributes::CWD, cwd);
    entry.tool_name = Some(tool);
    entry.tool_use_id = Some(id.to_owned());
    cross_check(&mut entry, "rollout");
    (entry, call)
}

fn understand(tool: &str, input: &Value, cwd: Option<&str>, project: Option<&str>) -> Meaning {
    tools::understand(&Call { agent: Agent::CODEX, tool, input, place: Place { cwd, project } })
}

/// Returns a command in the form of the `Bash` hook: what the shell was given, and what the hook leaves out.
pub(super) fn shell(arguments: &Members<'_>) -> HookCall {
    let mut input = Map::new();
    let words = arguments.list("command");
    let words: Vec<_> = words.into_iter().filter_map(crate::codex::wire::text).collect();
    let command = match arguments.text("cmd").or_else(|| arguments.text("command")) {
        Some(command) => Some(command.into_owned()),
        None if !words.is_empty() => {
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            Some(command_of(&words))
        }
        None => None,
    };
    put(&mut input, "command", command);
    put(&mut input, "description", arguments.word("justification").as_deref());
    let sandbox = arguments.word("sandbox_permissions");
    put(&mut input, "sandbox_permissions", sandbox.as_deref());
    put(&mut input, "timeout_ms", arguments.count("timeout_ms"));
    let cwd = arguments.word("workdir").or_else(|| arguments.word("working_directory"));
    put(&mut input, "workdir", cwd.as_deref());
    HookCall {
        cwd: cwd.filter(|cwd| cwd.starts_with('/')).map(Cow::into_owned),
        escalates: sandbox.is_some_and(|sandbox| sandbox != "use_default"),
        ..HookCall::new("Bash", Value::Object(input).to_string())
    }
}

/// Reads a patch in the form of the `apply_patch` hook.
pub(super) fn patch(text: &str) -> HookCall {
    HookCall::new("apply_patch", json!({"command": text}).to_string())
}

/// Keeps only the length of the text typed into a running command: it may be a password that no pattern knows.
fn typed(arguments: &Members<'_>) -> HookCall {
    let session = arguments.raw("session_id").and_then(|id| serde_json::from_str::<Value>(id.get()).ok());
    let polls = session
        .as_ref()
        .map(|session| format!("session:{}", session.as_str().unwrap_or(&session.to_string())));
    let mut input = Map::new();
    put(&mut input, "session_id", session);
    put(&mut input, "chars_bytes", arguments.text("chars").map(|chars| chars.len()));
    put(&mut input, "yield_time_ms", arguments.count("yield_time_ms"));
    HookCall { polls, ..HookCall::new("write_stdin", Value::Object(input).to_string()) }
}

/// Returns an object as it is; anything else as the only member of one.
pub(super) fn object_or_text(json: &str) -> String {
    if Members::parse(json).is_some() { json.to_owned() } else { format!("{{\"arguments\":{json}}}") }
}

/// Returns the tools that a piece of code calls, in the order of their first call.
///
/// Only names of tools that exist are looked for: the code may quote the contents of files, and nothing of those
/// may pass for a name.
fn called_tools(code: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in code.split("tools.").skip(1).take(200) {
        let end = piece
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        if name.len() > 80 || !rest.trim_start().starts_with('(') || names.len() >= 20 {
            continue;
        }
        let known = || understand(name, &Value::Null, None, None).recognised;
        if !names.iter().any(|seen| seen == name) && known() {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_the_names_that_hooks_give_them() {
        for (namespace, name, expected) in [
            (None, "exec_command", "Bash"),
            (None, "shell", "Bash"),
            (None, "apply_patch", "apply_patch"),
            (None, "no_such_tool", "no_such_tool"),
            (Some("mcp__lab"), "echo", "mcp__lab__echo"),
            (Some("mcp__lab__"), "echo", "mcp__lab__echo"),
            (Some("multi_agent_v1"), "spawn_agent", "spawn_agent"),
            (Some("multi_agent_v1"), "wait_agent", "multi_agent_v1wait_agent"),
            (Some("collaboration"), "spawn_agent", "collaborationspawn_agent"),
            (Some("collaboration"), "wait_agent", "collaborationwait_agent"),
        ] {
            assert_eq!(hook_name(namespace, name), expected);
        }
    }

    #[test]
    fn commands_of_every_version_become_one_command_line() {
        for (arguments, command) in [
            (r#"{"cmd":"ls -la","workdir":"/src"}"#, "ls -la"),
            (r#"{"command":"ls -la"}"#, "ls -la"),
            (r#"{"command":["bash","-lc","ls -la"]}"#, "ls -la"),
            (r#"{"command":["ls","-la"]}"#, "ls -la"),
        ] {
            let hook_call = shell(&Members::parse(arguments).unwrap());
            let input: Value = serde_json::from_str(&hook_call.input).unwrap();
            assert_eq!(input["command"], command, "{arguments}");
        }
        let hook_call = shell(&Members::parse(r#"{"nope":1}"#).unwrap());
        assert_eq!(hook_call.input, "{}");
    }

    #[test]
    fn what_is_typed_into_a_command_is_only_measured() {
        let hook_call = typed(&Members::parse(r#"{"session_id":7,"chars":"hunter2\n"}"#).unwrap());
        assert_eq!(hook_call.input, r#"{"session_id":7,"chars_bytes":8}"#);
    }

    #[test]
    fn only_tools_that_exist_are_found_in_code() {
        let code = "await tools.exec_command({}); tools.exec_command(1); tools.mcp__demo__echo (2);\n\
                    tools.apply_patch(\"tools.secret tools.topsecret(1) tools.\");";
        assert_eq!(called_tools(code), ["exec_command", "mcp__demo__echo", "apply_patch"]);
    }
}
