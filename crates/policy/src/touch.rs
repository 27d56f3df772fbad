//! Lists the files a call touches, and the operations: from the tool's input, from a patch, from a command.

use agent_tracer_shell::{Breadth, CommandAnalysis, FileAccess, Step};
use serde_json::Value;

use crate::path;

/// Most paths of one call that rules look at.
const MOST: usize = 400;

/// Stands for a file that the command does not name: a variable, or code.
pub(crate) const UNNAMED: &str = "?";

/// The operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is taken away, or moved.
    Delete,
    /// Unknown: a tool that no table names.
    Any,
}

/// A file or folder, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// Absolute and tidy, if it is known where the call was made.
    pub path: String,
    /// The operation.
    pub access: Access,
    /// The extent of the path.
    pub breadth: Breadth,
}

/// The folders that names start from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BaseFolders<'f> {
    pub(crate) cwd: Option<&'f str>,
    pub(crate) home: Option<&'f str>,
}

impl BaseFolders<'_> {
    fn touch(self, name: &str, access: Access) -> Touch {
        self.touch_broadly(name, access, Breadth::One)
    }

    fn touch_broadly(self, name: &str, access: Access, breadth: Breadth) -> Touch {
        // Tools of servers take addresses of files where the client's own take paths; a rule means the file.
        let name = name.strip_prefix("file://").unwrap_or(name);
        let in_home = ["$HOME/", "${HOME}/"].into_iter().find_map(|start| name.strip_prefix(start));
        let path = match in_home {
            Some(rest) => path::absolute(&format!("~/{rest}"), self.cwd, self.home),
            None => path::absolute(name, self.cwd, self.home),
        };
        Touch { path, access, breadth }
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
    "file",
    "files",
    "filename",
    "uri",
    "directory",
    "source",
    "destination",
];

/// Returns the operation of a tool on the path in its input.
fn access_of(tool: &str) -> Access {
    match tool {
        "Read" | "NotebookRead" | "view_image" | "Glob" | "Grep" | "LS" | "read_file" => Access::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "write_file" | "create_file" | "edit_file" => {
            Access::Write
        }
        _ => Access::Any,
    }
}

/// The deepest level of paths in an input.
const MOST_LEVELS: usize = 8;

/// The paths of one call that rules look at.
#[derive(Debug, Default)]
pub(crate) struct Touches {
    pub(crate) list: Vec<Touch>,
    /// True if there are more than are listed.
    pub(crate) beyond: bool,
}

impl Touches {
    fn push(&mut self, touch: Touch) {
        if self.list.len() < MOST {
            self.list.push(touch);
        } else {
            self.beyond = true;
        }
    }

    /// Takes the paths of another part of the call in.
    pub(crate) fn join(&mut self, other: Self) {
        self.beyond |= other.beyond;
        other.list.into_iter().for_each(|touch| self.push(touch));
    }
}

/// Lists the paths that an input names.
pub(crate) fn from_input(tool: &str, input: &Value, from: BaseFolders<'_>) -> Touches {
    let access = access_of(tool);
    let mut touches = Touches::default();
    let complete = visit_named(tool, input, PATH_KEYS, &mut |name| touches.push(from.touch(name, access)));
    touches.beyond |= !complete;
    if matches!(tool, "Glob" | "Grep" | "LS") {
        widen_search(tool, input, from, &mut touches);
    }
    touches
}

/// Visits every text that an input gives under one of these names. Returns `false` if some of it lies too deep.
pub(crate) fn visit_named(tool: &str, input: &Value, keys: &[&str], add: &mut dyn FnMut(&str)) -> bool {
    // Tools of a server put their words where they like; those of the client are known.
    if tool.starts_with("mcp__") {
        return visit_below(input, keys, 0, add);
    }
    let mut complete = true;
    for value in keys.iter().filter_map(|key| input.get(key)) {
        complete &= visit_texts(value, keys, 0, add);
    }
    complete
}

/// Visits what stands under one of the names, at any depth.
fn visit_below(value: &Value, keys: &[&str], level: usize, add: &mut dyn FnMut(&str)) -> bool {
    let mut complete = true;
    match value {
        Value::Object(_) | Value::Array(_) if level >= MOST_LEVELS => complete = false,
        Value::Object(fields) => {
            for (key, value) in fields {
                complete &= if keys.contains(&key.as_str()) {
                    visit_texts(value, keys, level + 1, add)
                } else {
                    visit_below(value, keys, level + 1, add)
                };
            }
        }
        Value::Array(values) => {
            for value in values {
                complete &= visit_below(value, keys, level + 1, add);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    complete
}

/// Visits every text in what stands under one of the names.
fn visit_texts(value: &Value, keys: &[&str], level: usize, add: &mut dyn FnMut(&str)) -> bool {
    let mut complete = true;
    match value {
        Value::String(text) => {
            if !text.is_empty() {
                add(text);
            }
        }
        Value::Array(_) if level >= MOST_LEVELS => complete = false,
        Value::Array(values) => {
            for value in values {
                complete &= visit_texts(value, keys, level + 1, add);
            }
        }
        Value::Object(_) => complete = visit_below(value, keys, level, add),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    complete
}

/// Widens the folder of a search to what it looks at there.
fn widen_search(tool: &str, input: &Value, from: BaseFolders<'_>, touches: &mut Touches) {
    let text = |name: &str| input.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    // A search without a folder looks at where it is.
    if touches.list.is_empty() && from.cwd.is_some() {
        touches.push(from.touch(".", Access::Read));
    }
    let patterns: Vec<String> = match tool {
        "Glob" => text("pattern").map(alternatives).unwrap_or_default(),
        "Grep" => text("glob").map(search_patterns).unwrap_or_default(),
        _ => Vec::new(),
    };
    // Lines are shown only where they are asked for; names alone give nothing of a file away.
    let shows = tool == "Grep" && text("output_mode") == Some("content");
    let folders: Vec<String> = touches.list.iter().map(|touch| touch.path.clone()).collect();
    for folder in folders {
        for one in &patterns {
            // To a search a leading slash is the folder that it looks through.
            let rooted = tool == "Glob" && one.starts_with(['/', '~']);
            let inside =
                if one.contains('/') { one.trim_start_matches('/').to_owned() } else { format!("**/{one}") };
            let whole = if rooted { one.clone() } else { format!("{folder}/{inside}") };
            touches.push(from.touch_broadly(&whole, Access::Read, Breadth::Pattern));
        }
        if patterns.is_empty() && shows {
            let breadth = if text("type").is_some() { Breadth::Visible } else { Breadth::Below };
            touches.push(Touch { path: folder, access: Access::Read, breadth });
        }
    }
}

/// Splits the patterns of a search: by blanks, or by commas where there are no braces. Exclusions are left out.
fn search_patterns(glob: &str) -> Vec<String> {
    let words = glob.split_whitespace().flat_map(|word| {
        let parts: Vec<&str> = if word.contains('{') { vec![word] } else { word.split(',').collect() };
        parts
    });
    let words = words.filter(|word| !word.is_empty() && !word.starts_with('!'));
    words.flat_map(alternatives).flat_map(|pattern| with_hidden(&pattern)).collect()
}

/// Adds the patterns for hidden names that a search matches besides: there a wildcard in front stands for a dot too.
fn with_hidden(pattern: &str) -> Vec<String> {
    let (folder, name) = pattern.rsplit_once('/').map_or(("", pattern), |(folder, name)| (folder, name));
    let folder = if name.len() == pattern.len() { String::new() } else { format!("{folder}/") };
    let mut all = vec![pattern.to_owned()];
    if name.starts_with(['*', '?', '[']) {
        let behind = match name.split_once(']').filter(|_| name.starts_with('[')) {
            Some((_, behind)) => behind,
            None => name.get(1..).unwrap_or_default(),
        };
        all.push(format!("{folder}.{name}"));
        all.push(format!("{folder}.{}", behind.trim_start_matches(['*', '.'])));
    }
    all
}

/// Most patterns that one pattern with braces becomes.
const MOST_ALTERNATIVES: usize = 64;

/// Expands the braces of a pattern; one that is too large matches anything.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        let group = next.find('{').and_then(|start| {
            let length = next.get(start..)?.find('}')?;
            Some((next.get(..start)?, next.get(start + 1..start + length)?, next.get(start + length + 1..)?))
        });
        match group {
            Some((before, inside, after)) => {
                open.extend(inside.split(',').map(|choice| format!("{before}{choice}{after}")));
            }
            None => done.push(next),
        }
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return vec!["**".to_owned()];
        }
    }
    done
}

/// Lists the paths in the headers of a patch. Nothing else of it is looked at.
pub(crate) fn from_patch(patch: &str, from: BaseFolders<'_>) -> Touches {
    let mut touches = Touches::default();
    for line in patch.lines() {
        let (name, access) = if let Some(name) = line.strip_prefix("*** Add File: ") {
            (name, Access::Write)
        } else if let Some(name) = line.strip_prefix("*** Update File: ") {
            (name, Access::Write)
        } else if let Some(name) = line.strip_prefix("*** Delete File: ") {
            (name, Access::Delete)
        } else if let Some(name) = line.strip_prefix("*** Move to: ") {
            // What was there under the old name is gone.
            // The header of the move follows the one of the update, which was counted as a write of the old name.
            if let Some(last) = touches.list.last_mut().filter(|last| last.access == Access::Write) {
                last.access = Access::Delete;
            }
            (name, Access::Write)
        } else {
            continue;
        };
        if !name.trim().is_empty() {
            touches.push(from.touch(name.trim(), access));
        }
    }
    touches
}

/// Lists the paths that a command reaches.
pub(crate) fn from_command(analysis: &CommandAnalysis, from: BaseFolders<'_>) -> Touches {
    let mut touches = Touches::default();
    visit_steps(analysis, &mut |step| {
        for touch in from_step(step, from) {
            if !touches.list.contains(&touch) {
                touches.push(touch);
            }
        }
    });
    touches
}

/// Returns the paths that one step reaches. An unnamed path still counts as touched: no exception covers it.
pub(crate) fn from_step(step: &Step, from: BaseFolders<'_>) -> Vec<Touch> {
    let touch = |file: &agent_tracer_shell::FileUse| {
        let access = match file.access {
            FileAccess::Read => Access::Read,
            FileAccess::Write => Access::Write,
            FileAccess::Delete => Access::Delete,
        };
        match &file.path {
            Some(path) => from.touch_broadly(path, access, file.breadth),
            None => Touch { path: UNNAMED.to_owned(), access, breadth: Breadth::One },
        }
    };
    step.uses.files.iter().map(touch).collect()
}

/// Returns the part of a pattern before its first wildcard, up to a whole folder.
pub(crate) fn fixed_prefix(name: &str) -> &str {
    match name.find(['*', '?', '[']) {
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
pub(crate) fn visit_steps<'a>(analysis: &'a CommandAnalysis, visit: &mut impl FnMut(&'a Step)) {
    for step in &analysis.steps {
        visit_inner(step, visit);
    }
}

fn visit_inner<'a>(step: &'a Step, visit: &mut impl FnMut(&'a Step)) {
    match &step.pipeline {
        Some(members) => members.iter().for_each(|member| visit_inner(member, visit)),
        None => visit(step),
    }
    for inner in &step.substitutions {
        visit_inner(inner, visit);
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_shell::{Context, describe};
    use serde_json::json;

    use super::*;

    const FROM: BaseFolders<'_> = BaseFolders { cwd: Some("/code/app"), home: Some("/home/dev") };

    fn display_name(touches: &[Touch]) -> Vec<String> {
        let wide = |touch: &Touch| if touch.breadth == Breadth::One { "" } else { " and more" };
        touches.iter().map(|touch| format!("{:?} {}{}", touch.access, touch.path, wide(touch))).collect()
    }

    #[test]
    fn inputs_name_their_paths() {
        let touches = from_input("Write", &json!({"file_path": "a/../b.txt"}), FROM);
        assert_eq!(display_name(&touches.list), ["Write /code/app/b.txt"]);
        let touches =
            from_input("mcp__fs__move", &json!({"source": "/x", "destination": "~/y", "n": 3}), FROM);
        assert_eq!(display_name(&touches.list), ["Any /x", "Any /home/dev/y"]);
        assert_eq!(
            display_name(&from_input("Grep", &json!({"pattern": "x"}), FROM).list),
            ["Read /code/app"]
        );
        assert!(from_input("Write", &json!([1, 2]), FROM).list.is_empty());
        assert!(from_input("Write", &json!({"file_path": 3}), FROM).list.is_empty());
    }

    #[test]
    fn patches_name_their_files_in_their_headers_alone() {
        let patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n+*** Add File: no\n*** \
                     Delete File: c.txt\n*** End Patch\n";
        assert_eq!(
            display_name(&from_patch(patch, FROM).list),
            ["Delete /code/app/a.txt", "Write /code/app/b.txt", "Delete /code/app/c.txt"]
        );
    }

    #[test]
    fn commands_name_files_and_patterns() {
        let of = |command: &str| {
            let context = Context { cwd: FROM.cwd, home: FROM.home, ..Context::default() };
            let call = describe(command, &context);
            display_name(&from_command(&call.analysis, FROM).list)
        };
        assert_eq!(of("echo hi >> logs/app.log"), ["Write /code/app/logs/app.log"]);
        assert_eq!(of("sudo rm -rf src/*"), ["Delete /code/app/src/* and more"]);
        assert_eq!(of("cat a | tee b"), ["Read /code/app/a", "Write /code/app/b"]);
        assert_eq!(of("rm -rf /*"), ["Delete /* and more"]);
        assert_eq!(of("cat $HOME/.ssh/id"), ["Read /home/dev/.ssh/id"]);
        assert_eq!(of("grep -rn x ."), ["Read /code/app and more"]);
        assert_eq!(
            of("find . -name .env -exec cat {} +"),
            ["Read /code/app", "Read /code/app/**/.env and more"]
        );
        assert_eq!(of("rm -rf $X"), ["Delete ?"]);
    }
}
