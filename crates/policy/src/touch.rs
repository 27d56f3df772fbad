//! Which files a call touches, and how: from the tool's input, from a patch, from a command.

use agent_tracer_shell::{CommandAnalysis, Effect, Files, Step, TargetType};
use serde_json::Value;

use crate::path;

/// Most paths of one call that rules look at.
const MOST: usize = 400;

/// Stands for a file that the command does not name: a variable, or code.
const UNNAMED: &str = "?";

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is taken away, or moved.
    Delete,
    /// Nobody knows: a tool that no table names.
    Any,
}

/// A file or folder, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// Absolute and tidy, if it is known where the call was made.
    pub path: String,
    /// What is done.
    pub access: Access,
}

/// Where names are seen from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct From<'f> {
    pub(crate) cwd: Option<&'f str>,
    pub(crate) home: Option<&'f str>,
}

impl From<'_> {
    fn touch(self, name: &str, access: Access) -> Touch {
        Touch { path: path::absolute(name, self.cwd, self.home), access }
    }
}

/// The names under which tools take a path.
const PATH_KEYS: &[&str] = &[
    "file_path",
    "filePath",
    "notebook_path",
    "notebookPath",
    "path",
    "paths",
    "directory",
    "source",
    "destination",
];

/// How a tool treats the path in its input.
fn access_of(tool: &str) -> Access {
    match tool {
        "Read" | "NotebookRead" | "view_image" | "Glob" | "Grep" | "LS" | "read_file" => Access::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write_file" | "create_file" | "edit_file" => {
            Access::Write
        }
        _ => Access::Any,
    }
}

/// The paths that an input names.
pub(crate) fn of_input(tool: &str, input: &Value, from: From<'_>) -> Vec<Touch> {
    let access = access_of(tool);
    let mut touches = Vec::new();
    for key in PATH_KEYS {
        match input.get(key) {
            Some(Value::String(name)) if !name.is_empty() => touches.push(from.touch(name, access)),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str).filter(|name| !name.is_empty());
                touches.extend(names.take(MOST).map(|name| from.touch(name, access)));
            }
            _ => {}
        }
    }
    // A search without a folder looks at where it is.
    if touches.is_empty() && matches!(tool, "Glob" | "Grep" | "LS") && from.cwd.is_some() {
        touches.push(from.touch(".", Access::Read));
    }
    touches
}

/// The paths in the headers of a patch. Nothing else of it is looked at.
pub(crate) fn of_patch(patch: &str, from: From<'_>) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    for line in patch.lines() {
        let (name, access) = if let Some(name) = line.strip_prefix("*** Add File: ") {
            (name, Access::Write)
        } else if let Some(name) = line.strip_prefix("*** Update File: ") {
            (name, Access::Write)
        } else if let Some(name) = line.strip_prefix("*** Delete File: ") {
            (name, Access::Delete)
        } else if let Some(name) = line.strip_prefix("*** Move to: ") {
            // What was there under the old name is gone.
            if let Some(last) = touches.last_mut().filter(|last| last.access == Access::Write) {
                last.access = Access::Delete;
            }
            (name, Access::Write)
        } else {
            continue;
        };
        if !name.trim().is_empty() && touches.len() < MOST {
            touches.push(from.touch(name.trim(), access));
        }
    }
    touches
}

/// The paths that a command names: those it names in full, and the folders in which its patterns are.
pub(crate) fn of_command(analysis: &CommandAnalysis, files: &Files, from: From<'_>) -> Vec<Touch> {
    let mut touches: Vec<Touch> = Vec::new();
    let mut add = |touch: Touch| {
        if touches.len() < MOST && !touches.contains(&touch) {
            touches.push(touch);
        }
    };
    for (names, access) in
        [(&files.read, Access::Read), (&files.written, Access::Write), (&files.deleted, Access::Delete)]
    {
        names.iter().for_each(|name| add(from.touch(name, access)));
    }
    each_step(analysis, &mut |step| {
        let access = access_of_step(step);
        if step.targets.is_empty() && access == Access::Delete {
            add(Touch { path: UNNAMED.to_owned(), access });
        }
        for target in &step.targets {
            // What nobody can name still counts as touched: no exception covers it.
            if target.kind == TargetType::Unknown {
                add(Touch { path: UNNAMED.to_owned(), access });
            }
            let is_path = matches!(target.kind, TargetType::File | TargetType::Directory | TargetType::Path);
            if !is_path {
                continue;
            }
            let whole = from.touch(fixed(&target.value), access);
            // What is listed as a file above has its access from there.
            let known = [&files.read, &files.written, &files.deleted]
                .into_iter()
                .any(|names| names.iter().any(|name| path::tidy(name) == whole.path));
            if !known {
                add(whole);
            }
        }
    });
    touches
}

fn access_of_step(step: &Step) -> Access {
    if step.effects.contains(&Effect::Destructive) {
        Access::Delete
    } else if step.effects.contains(&Effect::Write) {
        Access::Write
    } else {
        Access::Read
    }
}

/// The part of a name before its first wildcard, up to a whole folder.
fn fixed(name: &str) -> &str {
    match name.find(['*', '?', '[', '{']) {
        None => name,
        Some(open) => {
            let before = name.get(..open).unwrap_or_default();
            match before.rfind('/') {
                Some(0) => "/",
                Some(slash) => before.get(..slash).unwrap_or_default(),
                None => ".",
            }
        }
    }
}

/// Visits every step that is not a pipeline, those inside substitutions too.
pub(crate) fn each_step<'a>(analysis: &'a CommandAnalysis, visit: &mut impl FnMut(&'a Step)) {
    for step in &analysis.steps {
        each_inner(step, visit);
    }
}

fn each_inner<'a>(step: &'a Step, visit: &mut impl FnMut(&'a Step)) {
    match &step.pipeline {
        Some(members) => members.iter().for_each(|member| each_inner(member, visit)),
        None => visit(step),
    }
    for inner in &step.substitutions {
        each_inner(inner, visit);
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_shell::{Context, describe};
    use serde_json::json;

    use super::*;

    const FROM: From<'_> = From { cwd: Some("/code/app"), home: Some("/home/dev") };

    fn shown(touches: &[Touch]) -> Vec<String> {
        touches.iter().map(|touch| format!("{:?} {}", touch.access, touch.path)).collect()
    }

    #[test]
    fn inputs_name_their_paths() {
        let touches = of_input("Write", &json!({"file_path": "a/../b.txt"}), FROM);
        assert_eq!(shown(&touches), ["Write /code/app/b.txt"]);
        let touches = of_input("mcp__fs__move", &json!({"source": "/x", "destination": "~/y", "n": 3}), FROM);
        assert_eq!(shown(&touches), ["Any /x", "Any /home/dev/y"]);
        assert_eq!(shown(&of_input("Grep", &json!({"pattern": "x"}), FROM)), ["Read /code/app"]);
        assert!(of_input("Write", &json!([1, 2]), FROM).is_empty());
        assert!(of_input("Write", &json!({"file_path": 3}), FROM).is_empty());
    }

    #[test]
    fn patches_name_their_files_in_their_headers_alone() {
        let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n+*** Add File: no\n*** \
                     Delete File: c.txt\n*** End Patch\n";
        assert_eq!(
            shown(&of_patch(patch, FROM)),
            ["Delete /code/app/a.txt", "Write /code/app/b.txt", "Delete /code/app/c.txt"]
        );
    }

    #[test]
    fn commands_name_files_and_the_folders_of_their_patterns() {
        let of = |command: &str| {
            let context = Context { cwd: FROM.cwd, home: FROM.home, ..Context::default() };
            let call = describe(command, &context);
            shown(&of_command(&call.analysis, &call.files, FROM))
        };
        assert_eq!(of("echo hi >> logs/app.log"), ["Write /code/app/logs/app.log"]);
        assert_eq!(of("sudo rm -rf src/*"), ["Delete /code/app/src"]);
        assert_eq!(of("cat a | tee b"), ["Read /code/app/a", "Write /code/app/b"]);
        assert_eq!(of("rm -rf /*"), ["Delete /"]);
        assert_eq!(of("rm -rf $X"), ["Delete ?"]);
    }
}
