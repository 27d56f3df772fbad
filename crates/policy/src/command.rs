//! The commands in the input of a tool.
//!
//! The law: every text under a name that a shell could take for a command is read as one, and whatever else stands there
//! is not understood. Tools of a server name their fields as they like; which of them it obeys is not known here.

use agent_tracer_shell::{Context, Dialect, Opacity, ShellCall, describe};
use serde_json::{Map, Value};

use crate::path;
use crate::touch::{self, BaseFolders};

/// The tools that run a command, with the language they speak.
pub(crate) const SHELLS: &[(&str, Dialect)] = &[
    ("Bash", Dialect::Bash),
    ("bash", Dialect::Bash),
    ("Monitor", Dialect::Bash),
    ("exec_command", Dialect::Bash),
    ("shell", Dialect::Bash),
    ("shell_command", Dialect::Bash),
    ("local_shell", Dialect::Bash),
    ("local_shell_call", Dialect::Bash),
    ("container.exec", Dialect::Bash),
    ("user_shell", Dialect::Bash),
    // What is typed into a running shell is a command of that shell. No hook is asked before it, but a replay sees it.
    ("write_stdin", Dialect::Bash),
    ("PowerShell", Dialect::PowerShell),
];

/// The tools that run code which is no command of a shell: cells of JavaScript and scripts of workflows.
const CODE_TOOLS: &[&str] = &["exec", "js_repl", "REPL", "Eval", "Workflow"];

/// The names under which tools take a command, a program or a list of them.
const COMMAND_KEYS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "chars",
    "commandLine",
    "command_line",
    "cmdline",
    "commands",
    "cmds",
    "scripts",
    "shellCommand",
    "shell_command",
    "bash_command",
    "bash",
    "shell",
    "exec",
    "program",
    "executable",
    "binary",
    "code",
    "source_code",
    "expression",
];

/// Fields with code in an unnamed language.
const CODE_KEYS: &[&str] = &["code", "source_code", "expression"];

/// Those that hold one command in each entry of a list; a list elsewhere is one command in words.
const LIST_KEYS: &[&str] = &["commands", "cmds", "scripts"];

/// The names under which tools take the words behind a program.
const WORD_KEYS: &[&str] = &["args", "arguments", "argv", "params", "parameters", "flags", "options"];

/// The names under which tools take variables.
const VARIABLE_KEYS: &[&str] = &["env", "environment", "env_vars", "environment_variables"];

/// The names under which tools take the folder in which a command starts.
const FOLDER_KEYS: &[&str] = &[
    "workdir",
    "cwd",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "workingDir",
    "work_dir",
    "workDir",
    "dir",
    "directory",
];

/// Shells that a tool may name beside the command that it gives them.
const SHELL_NAMES: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "fish"];

/// Most commands of one input that are read.
const MOST_COMMANDS: usize = 64;
/// Most bytes of all commands but the first, which has a limit of its own.
const MOST_BYTES: usize = 512 * 1024;
/// The deepest level of commands in an input.
const MOST_LEVELS: usize = 8;

/// The names under which a tool takes what it types into something that runs.
const TYPED_KEYS: &[&str] =
    &["input", "stdin", "keys", "text", "data", "statement", "line", "lines", "content"];

/// Returns whether the name of a server's tool means typing into a terminal or an interpreter.
fn types_text(tool: &str) -> bool {
    // A guess by name, on purpose: a server names its tools as it likes. Wrong guesses make a call not understood,
    // which asks; a missing one would let typed commands pass unseen.
    let name = tool.strip_prefix("mcp__").unwrap_or_default().to_ascii_lowercase();
    let words = [
        "shell", "term", "tmux", "exec", "process", "bash", "repl", "console", "ssh", "keys", "stdin", "pty",
    ];
    words.iter().any(|word| name.contains(word))
}

/// The shell commands of an input.
#[derive(Default)]
struct CommandTexts {
    texts: Vec<String>,
    bytes: usize,
    opacities: Vec<Opacity>,
}

impl CommandTexts {
    fn add(&mut self, text: String) {
        let fits = self.texts.is_empty() || self.bytes + text.len() <= MOST_BYTES;
        if self.texts.len() < MOST_COMMANDS && fits {
            self.bytes += text.len();
            self.texts.push(text);
        } else {
            self.hide(Opacity::Limit);
        }
    }

    fn hide(&mut self, opacity: Opacity) {
        if !self.opacities.contains(&opacity) {
            self.opacities.push(opacity);
        }
    }
}

/// Returns the folder in which the command of an input starts, if the input names one.
pub(crate) fn folder_of(tool: &str, input: &Value, from: BaseFolders<'_>) -> Option<String> {
    dialect_of(tool)?;
    let given = FOLDER_KEYS.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    given.filter(|folder| !folder.is_empty()).map(|folder| path::absolute(folder, from.cwd, from.home))
}

/// Returns the combined effects of the commands of an input; none if the tool is no shell or has no command.
pub(crate) fn parse_input(tool: &str, input: &Value, from: BaseFolders<'_>) -> Option<ShellCall> {
    if CODE_TOOLS.contains(&tool) {
        return Some(unread_code(from));
    }
    let dialect = dialect_of(tool)?;
    let mut found = CommandTexts::default();
    match input {
        // The input is the command itself.
        Value::String(text) => found.add(text.clone()),
        Value::Array(words) if words.iter().all(|word| !word.is_object()) => add_words(words, &mut found),
        _ => collect(input, 0, &mut found),
    }
    if types_text(tool) {
        let complete = touch::visit_named(tool, input, TYPED_KEYS, &mut |text| found.add(text.to_owned()));
        if !complete {
            found.hide(Opacity::Limit);
        }
    }
    let context = Context { dialect, cwd: from.cwd, home: from.home, rule_patterns: &[] };
    let calls = found.texts.iter().map(|text| describe(text, &context));
    let mut whole = match calls.reduce(join) {
        Some(call) => call,
        None if found.opacities.is_empty() => return None,
        None => describe("", &context),
    };
    for opacity in found.opacities {
        if !whole.exposure.opacity.contains(&opacity) {
            whole.exposure.opacity.push(opacity);
        }
    }
    Some(whole)
}

/// Returns a command without steps that is not understood. Reading code as a shell's would name programs that never run.
fn unread_code(from: BaseFolders<'_>) -> ShellCall {
    let context = Context { dialect: Dialect::Bash, cwd: from.cwd, home: from.home, rule_patterns: &[] };
    let mut call = describe("", &context);
    call.exposure.opacity.push(Opacity::Code);
    call
}

/// Returns the language of a tool. Any tool of a server that takes a command may be a shell; if it is none, its text is
/// not understood.
fn dialect_of(tool: &str) -> Option<Dialect> {
    let known = SHELLS.iter().find(|(name, _)| *name == tool).map(|(_, dialect)| *dialect);
    known.or_else(|| tool.starts_with("mcp__").then_some(Dialect::Bash))
}

/// Joins two commands into one with all of their steps, and all that either hides.
fn join(mut call: ShellCall, other: ShellCall) -> ShellCall {
    // The most dangerous effect and the least certain reading win, as for the steps of one command.
    let (all, more) = (&mut call.analysis, other.analysis);
    all.raw.push('\n');
    all.raw.push_str(&more.raw);
    all.overall_effect = all.overall_effect.max(more.overall_effect);
    all.confidence = all.confidence.min(more.confidence);
    all.failure_masked |= more.failure_masked;
    all.steps.extend(more.steps);
    all.omitted_steps += more.omitted_steps;
    let (seen, unseen) = (&mut call.exposure, other.exposure);
    seen.opacity.extend(unseen.opacity);
    seen.environment.extend(unseen.environment);
    seen.programs.extend(unseen.programs);
    seen.printed |= unseen.printed;
    call
}

fn collect(value: &Value, level: usize, found: &mut CommandTexts) {
    match value {
        Value::Object(_) | Value::Array(_) if level >= MOST_LEVELS => found.hide(Opacity::Limit),
        Value::Object(fields) => {
            collect_fields(fields, found);
            for (key, value) in fields.iter().filter(|(key, _)| !COMMAND_KEYS.contains(&key.as_str())) {
                match value {
                    Value::String(text) if is_like_command(key) => found.add(text.clone()),
                    _ => collect(value, level + 1, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, level + 1, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a name is a variant of `command`: `command2`, `preCommand`, `setup_script`.
fn is_like_command(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    lower.contains("command") || lower.contains("cmd") || key.ends_with("Script") || key.ends_with("_script")
}

fn collect_fields(fields: &Map<String, Value>, found: &mut CommandTexts) {
    let more = argument_words(fields, found);
    let before = found.texts.len();
    for key in COMMAND_KEYS {
        let Some(value) = fields.get(*key) else { continue };
        let text = match value {
            Value::Null => continue,
            // `shell: "bash"` names the interpreter and `shell: "rm -rf x"` a command; servers use the key for both.
            Value::String(text) if *key == "shell" && is_shell(text) => continue,
            Value::Bool(_) if *key == "shell" => continue,
            Value::String(text) => text.clone(),
            Value::Array(entries) if LIST_KEYS.contains(key) => {
                for entry in entries {
                    match entry {
                        Value::String(text) => found.add(text.clone()),
                        Value::Array(words) => add_words(words, found),
                        _ => found.hide(Opacity::Syntax),
                    }
                }
                continue;
            }
            Value::Array(words) => {
                add_words(words, found);
                continue;
            }
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                found.hide(Opacity::Syntax);
                continue;
            }
        };
        if CODE_KEYS.contains(key) {
            found.hide(Opacity::Code);
        }
        found.add(text);
    }
    if found.texts.len() == before {
        // Words alone are a command if they begin with the program.
        match fields.get("argv") {
            Some(Value::Array(words)) => add_words(words, found),
            Some(Value::String(text)) => found.add(text.clone()),
            _ => return,
        }
    } else if let Some(first) = found.texts.get_mut(before) {
        for word in more {
            first.push(' ');
            first.push_str(&word);
        }
    }
    add_variables(fields, found);
}

/// Returns the words that are given apart from their program. A text is as many of them as it holds.
fn argument_words(fields: &Map<String, Value>, found: &mut CommandTexts) -> Vec<String> {
    let is_command = COMMAND_KEYS.iter().any(|key| fields.contains_key(*key));
    let mut all = Vec::new();
    for value in WORD_KEYS.iter().filter(|_| is_command).filter_map(|key| fields.get(*key)) {
        match value {
            Value::Null => {}
            Value::String(text) => all.push(text.clone()),
            Value::Array(words) => match quote_words(words) {
                Some(words) => all.extend(words),
                None => found.hide(Opacity::Syntax),
            },
            Value::Object(fields) if fields.is_empty() => {}
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => found.hide(Opacity::Syntax),
        }
    }
    all
}

/// Adds a command that is given in words.
fn add_words(words: &[Value], found: &mut CommandTexts) {
    // `["bash", "-lc", "…"]` is how an older Codex says it.
    if let [Value::String(shell), Value::String(flag), Value::String(script)] = words
        && is_shell(shell)
        && matches!(flag.as_str(), "-c" | "-lc" | "-ic" | "-lic")
    {
        found.add(script.clone());
        return;
    }
    match quote_words(words) {
        Some(words) => found.add(words.join(" ")),
        None => found.hide(Opacity::Syntax),
    }
}

/// Words as a shell would have to be given them; nothing if one of them is none.
fn quote_words(words: &[Value]) -> Option<Vec<String>> {
    let word = |value: &Value| match value {
        Value::String(text) => Some(quote(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    words.iter().map(word).collect()
}

/// Variables count where they are set: as a step of their own.
fn add_variables(fields: &Map<String, Value>, found: &mut CommandTexts) {
    for value in VARIABLE_KEYS.iter().filter_map(|key| fields.get(*key)) {
        let settings: Option<Vec<String>> = match value {
            Value::Null => continue,
            Value::Object(variables) => variables
                .iter()
                .map(|(name, value)| match value {
                    Value::String(text) => Some(quote(&format!("{name}={text}"))),
                    Value::Number(_) | Value::Bool(_) | Value::Null => {
                        Some(quote(&format!("{name}={value}")))
                    }
                    Value::Array(_) | Value::Object(_) => None,
                })
                .collect(),
            Value::Array(settings) => quote_words(settings),
            Value::String(_) | Value::Bool(_) | Value::Number(_) => None,
        };
        match settings {
            Some(settings) if settings.is_empty() => {}
            Some(settings) => found.add(format!("export {}", settings.join(" "))),
            None => found.hide(Opacity::Environment),
        }
    }
}

/// Returns whether a text names a shell of the system and nothing else.
fn is_shell(text: &str) -> bool {
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| text.strip_prefix(folder)).unwrap_or(text);
    SHELL_NAMES.contains(&name)
}

/// Quotes a word for a shell.
#[must_use]
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%')
    };
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
