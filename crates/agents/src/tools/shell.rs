//! Shells: commands, what runs in the background, and code that calls tools.
//!
//! What a command does is the work of another room; this is the seam to it. At capture level `metadata` only the
//! program's name is left of a command, and then only that is said.

use std::borrow::Cow;

use agent_tracer_event::semantics::{EntityType, Importance, Semantics, SubtypeKey, ToolFamily};
use agent_tracer_event::{Kind, Lane, Metadata, attributes};
use agent_tracer_shell::{Context, Dialect, Files, describe};
use serde_json::{Value, json};

use super::input::{Input, PATH_CHARS, PATHS};
use super::row::{EXPLORE, Keep, Row, TERMINAL, flag, number, text};
use super::{Meaning, skills};
use crate::text::{cut, line, title};

/// The most characters of a command that is kept, and of each step of its analysis.
const COMMAND_CHARS: usize = 10_000;
const STEP_CHARS: usize = 1_000;

/// The tools that run a command, by every name there is for them.
const SHELLS: &[(&str, Dialect)] = &[
    ("Bash", Dialect::Bash),
    ("bash", Dialect::Bash),
    ("PowerShell", Dialect::PowerShell),
    ("exec_command", Dialect::Bash),
    ("shell", Dialect::Bash),
    ("shell_command", Dialect::Bash),
    ("local_shell", Dialect::Bash),
    ("local_shell_call", Dialect::Bash),
    ("container.exec", Dialect::Bash),
    ("user_shell", Dialect::Bash),
];

const SHELL_ID: &[&str] = &["bash_id", "shell_id", "task_id", "taskId", "agent_id", "session_id"];

pub(super) const TABLE: &[Row] = &[
    Row {
        names: &["BashOutput", "BashOutputTool", "TaskOutput", "AgentOutput", "AgentOutputTool"],
        subtype: SubtypeKey::ShellProbe,
        label: Some("Background shell read"),
        family: ToolFamily::Terminal,
        operation: "read",
        entity: Some((EntityType::Shell, SHELL_ID)),
        keep: &[
            text(&["filter"], attributes::OUTPUT_FILTER, 300),
            flag(&["block"], attributes::WAITS_FOR_END),
            TIMEOUT,
        ],
        title: |input| match input.id(SHELL_ID) {
            Some(id) => format!("Read output of background task {id}"),
            None => "Read output of a background task".to_owned(),
        },
        ..EXPLORE
    },
    Row {
        names: &["KillShell", "KillBash", "TaskStop"],
        label: Some("Kill background shell"),
        entity: Some((EntityType::Shell, SHELL_ID)),
        title: |input| match input.id(SHELL_ID) {
            Some(id) => format!("Stop background task {id}"),
            None => "Stop a background task".to_owned(),
        },
        ..TERMINAL
    },
    Row {
        names: &["Monitor"],
        kind: Kind::MonitorObserved,
        lane: Lane::Background,
        subtype: SubtypeKey::ShellProbe,
        label: Some("Monitor watch"),
        operation: "monitor",
        importance: Importance::Minor,
        keep: &[
            text(&["command", "script"], attributes::MONITOR_SCRIPT, 10_000),
            text(&["description"], attributes::MONITOR_DESCRIPTION, 1000),
            text(&["filter"], attributes::MONITOR_FILTER, 300),
            TIMEOUT,
        ],
        title: |input| match (input.text(&["description"]), input.text(&["command", "script"])) {
            (Some(said), _) => format!("Watch: {said}"),
            (None, Some(script)) => format!("Watch: {}", line(script, 80)),
            (None, None) => "Watch something that goes on".to_owned(),
        },
        also: Some(monitor),
        ..TERMINAL
    },
    Row {
        names: &["write_stdin"],
        label: Some("Write to shell"),
        entity: Some((EntityType::Shell, SHELL_ID)),
        keep: &[number(&["yield_time_ms"], attributes::TIMEOUT_MS)],
        title: |input| {
            let to = input
                .id(SHELL_ID)
                .map_or_else(|| "a running command".to_owned(), |id| format!("command {id}"));
            match input.get(&["chars", "input"]).and_then(Value::as_str) {
                Some("") | None => format!("Wait for {to}"),
                Some(typed) if typed.trim().is_empty() => format!("Press Enter in {to}"),
                Some(typed) => format!("Type \"{}\" into {to}", line(typed, 40)),
            }
        },
        ..TERMINAL
    },
    // Code mode: the model writes JavaScript; the calls in it are reported one by one, and this row is their frame.
    Row {
        names: &["exec", "js_repl", "REPL", "Eval"],
        label: Some("Run code"),
        title: |input| {
            let tools = called_tools(input);
            match tools.as_slice() {
                [] => "Run code".to_owned(),
                tools => format!("Run code that calls {}", tools.join(", ")),
            }
        },
        also: Some(|input, meaning| {
            let tools = called_tools(input);
            if !tools.is_empty() {
                meaning.metadata.insert(attributes::CALLED_TOOLS.to_owned(), Value::from(tools));
            }
        }),
        ..TERMINAL
    },
    Row {
        names: &["js_repl_reset"],
        label: Some("Reset code"),
        title: |_| "Forget what code has defined".to_owned(),
        ..TERMINAL
    },
    Row {
        names: &["wait_for_code"],
        subtype: SubtypeKey::ShellProbe,
        label: Some("Wait for code"),
        operation: "wait",
        importance: Importance::Minor,
        entity: Some((EntityType::Shell, &["cell_id"])),
        keep: &[number(&["yield_time_ms"], attributes::TIMEOUT_MS)],
        title: |_| "Wait for running code".to_owned(),
        ..TERMINAL
    },
];

const TIMEOUT: Keep = number(&["timeout_ms", "timeoutMs", "timeout", "wait_up_to"], attributes::TIMEOUT_MS);

/// Returns which shell a tool is, if it is one.
pub(super) fn of(name: &str) -> Option<Dialect> {
    SHELLS.iter().find(|(tool, _)| *tool == name).map(|(_, dialect)| *dialect)
}

/// A command as far as privacy left it.
enum ReducedCommand {
    Command(String),
    Program { name: Option<String>, bytes: Option<i64> },
    Nothing,
}

fn reduced_command(input: &Input<'_>) -> ReducedCommand {
    let value = match input.value {
        Value::Object(_) => input.get(&["command", "cmd", "script"]),
        Value::String(_) => Some(input.value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    match value {
        Some(Value::String(command)) if !command.trim().is_empty() => {
            ReducedCommand::Command(command.clone())
        }
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            ReducedCommand::Command(command_of(&words))
        }
        Some(Value::Object(reduced)) => ReducedCommand::Program {
            name: reduced.get("program").and_then(Value::as_str).map(|name| line(name, 64)),
            bytes: reduced.get("bytes").and_then(super::input::integer),
        },
        _ => ReducedCommand::Nothing,
    }
}

/// Returns the command line behind the words of a call: what `bash -lc` was given, or the words joined.
#[must_use]
pub fn command_of(words: &[&str]) -> String {
    if let [shell, flag, script] = words
        && matches!(crate::text::base_name(shell), "bash" | "sh" | "zsh" | "dash" | "ksh" | "fish")
        && flag.starts_with('-')
        && flag.ends_with('c')
    {
        return (*script).to_owned();
    }
    let quoted = words.iter().map(|word| {
        let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+~".contains(letter);
        if !word.is_empty() && word.chars().all(plain) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Says what a shell call means.
pub(super) fn understand(input: &Input<'_>, dialect: Dialect) -> Meaning {
    let mut metadata = Metadata::new();
    for (keys, name) in [
        (&["description", "justification"][..], attributes::DESCRIPTION),
        (&["workdir", "cwd"][..], attributes::WORKDIR),
        (&["sandbox_permissions"][..], attributes::SANDBOX_PERMISSIONS),
    ] {
        if let Some(text) = input.text(keys) {
            metadata.insert(name.to_owned(), Value::from(cut(text, 1024).as_ref()));
        }
    }
    if let Some(timeout) = input.number(&["timeout", "timeout_ms", "timeoutMs"]) {
        metadata.insert(attributes::TIMEOUT_MS.to_owned(), Value::from(timeout));
    }
    if let Some(background) = input.flag(&["run_in_background"]) {
        metadata.insert(attributes::RUN_IN_BACKGROUND.to_owned(), Value::from(background));
    }
    if let Some(open) = input.flag(&["dangerouslyDisableSandbox"]) {
        metadata.insert(attributes::SANDBOX_DISABLED.to_owned(), Value::from(open));
    }
    let mut meaning = Meaning {
        kind: Kind::TerminalCommand,
        lane: Lane::Implementation,
        semantics: Semantics {
            subtype: SubtypeKey::RunCommand,
            label: None,
            family: ToolFamily::Terminal,
            operation: "execute".to_owned(),
            entity: None,
            source_tool: input.tool.to_owned(),
            importance: Importance::Normal,
        },
        title: "Run a command".to_owned(),
        body: None,
        file_paths: Vec::new(),
        metadata,
        recognised: true,
    };
    match reduced_command(input) {
        ReducedCommand::Command(command) => {
            meaning
                .metadata
                .insert(attributes::COMMAND.to_owned(), Value::from(cut(&command, COMMAND_CHARS).as_ref()));
            analyse(&command, dialect, input, &mut meaning);
        }
        ReducedCommand::Program { name, bytes } => {
            if let Some(bytes) = bytes {
                meaning.metadata.insert(attributes::COMMAND_BYTES.to_owned(), Value::from(bytes));
            }
            if let Some(name) = name {
                meaning.title = title(&format!("Run {name}"));
                meaning.metadata.insert(attributes::PROGRAM.to_owned(), Value::from(name.as_str()));
                meaning.semantics.entity = Some((EntityType::Command, name));
            }
        }
        ReducedCommand::Nothing => {}
    }
    meaning
}

/// Analyses a command and takes over its meaning.
fn analyse(command: &str, dialect: Dialect, input: &Input<'_>, meaning: &mut Meaning) {
    let workdir = input.text(&["workdir"]).filter(|path| path.starts_with('/'));
    // Without a home and without rules: a reader knows no environment, and the same bytes are the same facts anywhere.
    let context = Context { dialect, cwd: workdir.or(input.place.cwd), home: None, rule_patterns: &[] };
    let call = describe(command, &context);
    let said = &call.semantics;
    meaning.title = title(&call.title);
    meaning.lane = call.lane;
    let semantics = &mut meaning.semantics;
    semantics.subtype = said.subtype_key;
    semantics.label = Some(line(&said.subtype_label, 100)).filter(|label| !label.is_empty());
    semantics.operation = line(&said.operation, 100);
    semantics.importance = said.importance;
    semantics.entity =
        Some((said.entity_type, line(&said.entity_name, 300))).filter(|(_, name)| !name.is_empty());
    if let Some(probe) = said.probe_key {
        meaning.metadata.insert(attributes::PROBE_KEY.to_owned(), Value::from(probe.as_str()));
    }
    file_operations(&call.files, meaning);
    // Reading a skill's file is how Codex, which has no tool for it, activates one.
    if let Some(skill) = call.files.read.iter().find_map(|path| skills::name_of_file(path)) {
        skills::mark(&mut meaning.metadata, &skill, skills::Activation::Read);
    }
    if let Ok(mut analysis) = serde_json::to_value(&call.analysis) {
        bound(&mut analysis, COMMAND_CHARS);
        meaning.metadata.insert(attributes::COMMAND_ANALYSIS.to_owned(), analysis);
    }
}

/// Reads the files that a command names, and what it does to each.
fn file_operations(files: &Files, meaning: &mut Meaning) {
    let mut listed = Vec::new();
    for (paths, operation) in [(&files.written, "modify"), (&files.deleted, "delete"), (&files.read, "read")]
    {
        for path in paths {
            let path = cut(path, PATH_CHARS).into_owned();
            // The gravest operation comes first: a file that is read and written is listed as written.
            if meaning.file_paths.contains(&path) || listed.len() == PATHS {
                continue;
            }
            listed.push(json!({"path": path, "operation": operation}));
            meaning.file_paths.push(path);
        }
    }
    if !listed.is_empty() {
        meaning.metadata.insert(attributes::FILE_OPERATIONS.to_owned(), Value::Array(listed));
    }
}

/// Cuts the texts of an analysis: the steps of a long script repeat it piece by piece.
fn bound(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(short) = cut(text, most) {
                *text = short;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| bound(item, STEP_CHARS)),
        Value::Object(members) => members.values_mut().for_each(|member| bound(member, most)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn monitor(input: &Input<'_>, meaning: &mut Meaning) {
    if let Some(script) = input.text(&["command", "script"]) {
        let program = script.split_whitespace().next().unwrap_or_default();
        meaning.semantics.entity = Some((EntityType::Command, line(program, 100)));
    }
    if let Some(url) = input.get(&["ws"]).and_then(|socket| socket.get("url")).and_then(Value::as_str) {
        meaning.metadata.insert(attributes::MONITOR_URL.to_owned(), Value::from(cut(url, 300).as_ref()));
        meaning.semantics.entity = Some((EntityType::Url, line(url, 300)));
    }
}

/// Returns the tools that a piece of code calls, in the order of their first call.
fn called_tools(input: &Input<'_>) -> Vec<String> {
    // Not parsed, for a title only: a name in a comment of the code counts as well.
    let code = input.value.as_str().or_else(|| input.text(&["code", "input", "script"])).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for piece in code.split("tools.").skip(1).take(200) {
        let name: String = piece
            .chars()
            .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
            .take(80)
            .collect();
        if !name.is_empty() && !names.contains(&name) && names.len() < 20 {
            names.push(name);
        }
    }
    names
}
