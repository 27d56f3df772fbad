//! Reads changes around the agent: instructions, settings, directories, files, worktrees.

use agent_tracer_event::{Entry, Kind, Metadata, Phase, Reading, attributes};
use serde_json::Value;

use super::Event;
use super::hook::{Hook, carry};
use crate::text;

pub(super) const EVENTS: &[Event] = &[
    Event {
        name: "InstructionsLoaded",
        members: &[
            "file_path",
            "memory_type",
            "load_reason",
            "globs",
            "trigger_file_path",
            "parent_file_path",
        ],
        read: instructions,
    },
    Event { name: "ConfigChange", members: &["source", "config_source", "file_path"], read: config },
    Event { name: "CwdChanged", members: &["old_cwd", "new_cwd"], read: cwd },
    Event { name: "DirectoryAdded", members: &["directory", "source"], read: directory },
    Event { name: "FileChanged", members: &["file_path", "event"], read: file },
    // Never registered: a hook for it replaces git's own creation. It is read all the same.
    Event { name: "WorktreeCreate", members: &["name", "worktree_path"], read: worktree_create },
    Event { name: "WorktreeRemove", members: &["worktree_path", "name"], read: worktree_remove },
];

/// Returns the path as people read it here.
fn display_path<'p>(hook: &Hook<'_>, path: &'p str) -> &'p str {
    text::relative(path, &[hook.cwd, hook.project()])
}

/// Keeps a path, as given and as seen from here.
fn keep_path(hook: &Hook<'_>, metadata: &mut Metadata, path: &str, names: (&str, &str)) {
    metadata.insert(names.0.to_owned(), Value::from(text::cut(path, 1024).as_ref()));
    metadata.insert(names.1.to_owned(), Value::from(text::cut(display_path(hook, path), 1024).as_ref()));
}

fn keep_file(hook: &Hook<'_>, entry: &mut Entry, path: &str) {
    keep_path(hook, &mut entry.metadata, path, (attributes::FILE_PATH, attributes::REL_PATH));
    entry.file_paths.push(text::cut(path, 1024).into_owned());
}

fn instructions(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("memory_type", &["User", "Project", "Local", "Managed"], reading);
    let reasons = &["session_start", "include", "nested_traversal", "path_glob_match", "compact"];
    hook.expect_one_of("load_reason", reasons, reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::InstructionsLoaded, Phase::Open, hook.own_key());
    let path = hook.payload.text(&["file_path"]);
    let again = hook.payload.text(&["load_reason"]) == Some("compact");
    // A reload comes with the next prompt after the compaction, not with the compaction.
    let verb = if again { "Reload" } else { "Load" };
    let what = path.map_or("instructions", |path| display_path(hook, path));
    entry.title = Some(text::title(&format!("{verb} {what}")));
    if let Some(path) = path {
        keep_file(hook, &mut entry, path);
    }
    carry(
        hook.payload,
        &mut entry.metadata,
        &[
            (&["memory_type"], attributes::MEMORY_TYPE),
            (&["load_reason"], attributes::LOAD_REASON),
            (&["globs"], attributes::GLOBS),
            (&["trigger_file_path"], attributes::TRIGGER_FILE_PATH),
            (&["parent_file_path"], attributes::PARENT_FILE_PATH),
        ],
    );
    reading.entries.push(entry);
}

fn config(hook: &Hook<'_>, reading: &mut Reading) {
    let sources = &["user_settings", "project_settings", "local_settings", "policy_settings", "skills"];
    hook.expect_one_of("source", sources, reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    // Changes from outside: what the client writes itself, as a default model, fires nothing.
    let source = hook.payload.text(&["source", "config_source"]);
    let source = source.map_or_else(|| "unknown".to_owned(), |source| text::line(source, 60));
    entry.title = Some(text::title(&format!("Settings changed: {}", source.replace('_', " "))));
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from(format!("config_change:{source}")));
    entry.metadata.insert(attributes::CONFIG_SOURCE.to_owned(), Value::from(source));
    if let Some(path) = hook.payload.text(&["file_path"]) {
        keep_file(hook, &mut entry, path);
    }
    reading.entries.push(entry);
}

fn cwd(hook: &Hook<'_>, reading: &mut Reading) {
    let new = hook.payload.text(&["new_cwd"]);
    let mut task = hook.task();
    if let Some(new) = new {
        task.metadata.insert(attributes::CWD.to_owned(), Value::from(text::cut(new, 1024).as_ref()));
    }
    reading.entries.push(task);
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    // From the old one: the payload's `cwd` is the new directory already.
    let to = new.map(|new| text::relative(new, &[hook.payload.text(&["old_cwd"]), hook.project()]));
    entry.title = Some(match to {
        Some(".") => "Go back to the project's root".to_owned(),
        Some(to) => text::title(&format!("Go to {to}")),
        None => "Working directory changed".to_owned(),
    });
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("cwd_changed"));
    carry(
        hook.payload,
        &mut entry.metadata,
        &[(&["old_cwd"], attributes::OLD_CWD), (&["new_cwd"], attributes::NEW_CWD)],
    );
    reading.entries.push(entry);
}

fn directory(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("source", &["slash_command", "register_repo_root"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::ContextSaved, Phase::Open, hook.own_key());
    let what = hook.payload.text(&["directory"]).map_or("a directory", |path| display_path(hook, path));
    entry.title = Some(text::title(&format!("Add {what}")));
    entry.metadata.insert(attributes::TRIGGER.to_owned(), Value::from("directory_added"));
    carry(
        hook.payload,
        &mut entry.metadata,
        &[(&["directory"], attributes::DIRECTORY), (&["source"], attributes::DIRECTORY_SOURCE)],
    );
    reading.entries.push(entry);
}

fn file(hook: &Hook<'_>, reading: &mut Reading) {
    hook.expect_one_of("event", &["change", "add", "unlink"], reading);
    reading.entries.push(hook.task());
    let mut entry = hook.event(Kind::FileChanged, Phase::Open, hook.own_key());
    let path = hook.payload.text(&["file_path"]);
    let what = path.map_or("A watched file", |path| display_path(hook, path));
    let happened = match hook.payload.text(&["event"]) {
        Some("add") => "appeared",
        Some("unlink") => "was deleted",
        _ => "changed",
    };
    entry.title = Some(text::title(&format!("{what} {happened}")));
    if let Some(path) = path {
        keep_file(hook, &mut entry, path);
    }
    carry(hook.payload, &mut entry.metadata, &[(&["event"], attributes::CHANGE_TYPE)]);
    reading.entries.push(entry);
}

fn worktree_create(hook: &Hook<'_>, reading: &mut Reading) {
    worktree(hook, Kind::WorktreeCreate, "Create worktree", reading);
}

fn worktree_remove(hook: &Hook<'_>, reading: &mut Reading) {
    worktree(hook, Kind::WorktreeRemove, "Remove worktree", reading);
}

fn worktree(hook: &Hook<'_>, kind: Kind, verb: &str, reading: &mut Reading) {
    reading.entries.push(hook.task());
    let mut entry = hook.event(kind, Phase::Open, hook.own_key());
    let path = hook.payload.text(&["worktree_path"]);
    let name = hook.payload.text(&["name"]).or_else(|| path.map(text::base_name));
    entry.title = Some(text::title(&format!("{verb} {}", name.unwrap_or_default())));
    if let Some(path) = path {
        keep_path(hook, &mut entry.metadata, path, (attributes::WORKTREE_PATH, attributes::REL_PATH));
    }
    if let Some(name) = name {
        entry.metadata.insert(attributes::WORKTREE_NAME.to_owned(), Value::from(text::line(name, 200)));
        // An isolated agent's worktree is called after the agent.
        if let Some(agent) = name.strip_prefix("agent-") {
            entry.metadata.insert(attributes::CHILD_AGENT_ID.to_owned(), Value::from(text::line(agent, 200)));
        }
    }
    reading.entries.push(entry);
}
