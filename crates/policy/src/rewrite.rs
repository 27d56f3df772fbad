//! Changes the input of a tool.
//!
//! A rewritten call runs without asking, because that is how the clients take a new input. So a change that cannot be
//! made for sure is not made: the human is asked instead.

use agent_tracer_shell::Structure;
use serde_json::Value;

use crate::call::Call;
use crate::command::quote;
use crate::path;
use crate::rule::Rewrite;

/// The result of a rewrite.
#[derive(Clone, Debug, PartialEq)]
pub enum RewriteOutcome {
    /// The input is already as the rule wants it.
    Unchanged,
    /// The new input, whole.
    Changed(Value),
    /// It cannot be done to this input.
    Impossible(&'static str),
}

impl Rewrite {
    /// Applies the change to the input of a call.
    #[must_use]
    pub fn apply(&self, call: &Call) -> RewriteOutcome {
        let Value::Object(before) = &call.input else {
            return RewriteOutcome::Impossible("the tool has no input that could be changed");
        };
        let mut input = before.clone();
        for key in &self.remove {
            // The order of the other members stays: the client shows the input, and a moved member looks like a
            // change.
            input.shift_remove(key);
        }
        for (key, value) in &self.set {
            input.insert(key.clone(), value.clone());
        }
        if self.add_flag.is_some() || self.directory.is_some() {
            let (Some(Value::String(command)), Some(_)) = (input.get("command"), &call.command) else {
                return RewriteOutcome::Impossible("the tool has no command");
            };
            let mut command = command.clone();
            if let Some(flag) = &self.add_flag {
                match with_flag(call, &command, flag) {
                    Ok(changed) => command = changed,
                    Err(why) => return RewriteOutcome::Impossible(why),
                }
            }
            if let Some(directory) = &self.directory {
                command = in_directory(call, command, directory);
            }
            input.insert("command".to_owned(), Value::from(command));
        }
        if input == *before {
            RewriteOutcome::Unchanged
        } else {
            RewriteOutcome::Changed(Value::Object(input))
        }
    }
}

/// Adds a word to a command of one plain step. Anything else has more than one place for it.
fn with_flag(call: &Call, command: &str, flag: &str) -> Result<String, &'static str> {
    let Some(shell) = &call.command else { return Err("the tool has no command") };
    let analysis = &shell.analysis;
    let [step] = analysis.steps.as_slice() else {
        return Err("the command has more than one step");
    };
    // What is unwrapped, redirected, commented or left open would put the word in another place.
    let plain = analysis.structure == Structure::Simple
        && step.wrappers.is_empty()
        && step.redirects.is_empty()
        && step.substitutions.is_empty()
        && !command.contains(['#', '\\', '\n', '`', ';', '&', '|', '<', '>', '(', ')']);
    if !plain {
        return Err("the command is more than one plain step");
    }
    let word = quote(flag);
    if command.split_whitespace().any(|it| it == word || it == flag) {
        return Ok(command.to_owned());
    }
    Ok(format!("{} {word}", command.trim_end()))
}

/// Lets a command start in a folder. A line of its own before it works with whatever the command is.
fn in_directory(call: &Call, command: String, directory: &str) -> String {
    let folder = path::absolute(directory, call.project(), call.around.home.as_deref());
    // `|| exit 1`: in a folder that does not exist the command would run where it must not. `--`: a folder may begin
    // with a dash.
    let before = format!("cd -- {} || exit 1\n", quote(&folder));
    let is_there = call.command_folder() == Some(folder.as_str()) || command.starts_with(&before);
    if is_there { command } else { format!("{before}{command}") }
}
