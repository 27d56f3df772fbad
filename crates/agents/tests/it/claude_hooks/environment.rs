//! Reads changes around the agent, and of the models that serve it.

use agent_tracer_event::{Kind, Phase};
use serde_json::json;

use super::*;

#[test]
fn loaded_instructions_say_which_file_and_why() {
    let payload = payload("InstructionsLoaded.include.project");
    let reading = hook(&payload);
    let row = only(&reading, Kind::InstructionsLoaded);
    assert_eq!(row.metadata["filePath"], payload["file_path"]);
    assert_eq!(row.metadata["relPath"], "docs/extra.md");
    assert_eq!(row.metadata["memoryType"], "Project");
    assert_eq!(row.metadata["loadReason"], "include");
    assert_eq!(row.metadata["parentFilePath"], payload["parent_file_path"]);
    assert_eq!(row.title.as_deref(), Some("Load docs/extra.md"));
    let again = hook(&super::payload("InstructionsLoaded.compact.project"));
    assert_eq!(
        only(&again, Kind::InstructionsLoaded).title.as_deref(),
        Some("Reload .claude/rules/always.md")
    );
}

#[test]
fn globs_and_the_file_that_triggered_them_are_kept() {
    let reading = hook(&with(
        payload("InstructionsLoaded.nested_traversal.project"),
        &[("load_reason", json!("path_glob_match")), ("globs", json!(["src/**/*.rs"]))],
    ));
    let row = only(&reading, Kind::InstructionsLoaded);
    assert_eq!(row.metadata["globs"], json!(["src/**/*.rs"]));
    assert!(row.metadata["triggerFilePath"].is_string());
}

#[test]
fn a_change_of_settings_says_which() {
    for source in ["local_settings", "project_settings", "skills"] {
        let payload = payload(&format!("ConfigChange.{source}"));
        let reading = hook(&payload);
        let row = only(&reading, Kind::ContextSaved);
        assert_eq!(row.metadata["trigger"], format!("config_change:{source}"));
        assert_eq!(row.metadata["configSource"], source);
        assert_eq!(row.metadata["filePath"], payload["file_path"]);
    }
}

#[test]
fn a_new_directory_is_where_the_task_now_works() {
    let payload = payload("CwdChanged");
    let reading = hook(&payload);
    let row = only(&reading, Kind::ContextSaved);
    assert_eq!(row.metadata["trigger"], "cwd_changed");
    assert_eq!(row.metadata["oldCwd"], payload["old_cwd"]);
    assert_eq!(row.metadata["newCwd"], payload["new_cwd"]);
    assert_eq!(task(&reading, payload["session_id"].as_str().unwrap()).metadata["cwd"], payload["new_cwd"]);
}

#[test]
fn an_added_directory_says_how_it_was_added() {
    let reading = hook(&payload("DirectoryAdded"));
    let row = only(&reading, Kind::ContextSaved);
    assert_eq!(row.metadata["trigger"], "directory_added");
    assert_eq!(row.metadata["directory"], "/home/dev/otherdir");
    assert_eq!(row.metadata["directorySource"], "slash_command");
}

#[test]
fn a_watched_file_says_what_happened_to_it() {
    for (event, title) in [
        ("change", ".env changed"),
        ("add", ".env appeared"),
        ("unlink", ".env was deleted"),
        ("?", ".env changed"),
    ] {
        let reading = hook(&json!({
            "hook_event_name": "FileChanged", "session_id": "s", "cwd": "/home/dev/project",
            "file_path": "/home/dev/project/.env", "event": event,
        }));
        let row = only(&reading, Kind::FileChanged);
        assert_eq!(row.title.as_deref(), Some(title));
        assert_eq!(row.metadata["changeType"], event);
        assert_eq!(row.metadata["relPath"], ".env");
        assert_eq!(row.file_paths, ["/home/dev/project/.env"]);
        assert_eq!(reading.unrecognised.len(), usize::from(event == "?"));
    }
}

#[test]
fn worktrees_that_a_hook_makes_and_removes() {
    let made = hook(&payload("WorktreeCreate"));
    assert_eq!(only(&made, Kind::WorktreeCreate).metadata["worktreeName"], "wt-one");
    let isolated = hook(&with(payload("WorktreeCreate"), &[("name", json!("agent-af3362fa3e37d2a7c"))]));
    assert_eq!(only(&isolated, Kind::WorktreeCreate).metadata["childAgentId"], "af3362fa3e37d2a7c");
    let removed = hook(&payload("WorktreeRemove"));
    let row = only(&removed, Kind::WorktreeRemove);
    assert_eq!(row.metadata["worktreePath"], "/home/dev/wt/wt-two");
    assert_eq!(row.title.as_deref(), Some("Remove worktree wt-two"));
}

#[test]
fn a_compaction_has_a_before_and_an_after() {
    let before = hook(&payload("PreCompact.manual.with_instructions"));
    let row = only(&before, Kind::ContextSaved);
    assert_eq!(
        (&row.metadata["compactPhase"], &row.metadata["trigger"]),
        (&json!("before"), &json!("manual"))
    );
    assert_eq!(
        row.metadata["customInstructions"],
        payload("PreCompact.manual.with_instructions")["custom_instructions"]
    );
    let nothing = hook(&payload("PreCompact.auto.null_instructions"));
    assert_eq!(only(&nothing, Kind::ContextSaved).metadata.get("customInstructions"), None);
    let after = hook(&payload("PostCompact.auto"));
    let row = only(&after, Kind::ContextSaved);
    assert_eq!((&row.metadata["compactPhase"], &row.metadata["trigger"]), (&json!("after"), &json!("auto")));
    assert_eq!(row.metadata["compactSummaryBytes"], 129);
    assert!(row.body.as_deref().unwrap().starts_with("<analysis>"));
    let bare = read_bytes(
        &reduced(&payload("PostCompact.auto"), Source::Hook, Some(Level::Metadata)),
        Source::Hook,
        "o",
    );
    assert_eq!(only(&bare, Kind::ContextSaved).body, None);
}

#[test]
fn asking_for_a_model_and_getting_it_are_one_fact() {
    let (asked, got) = (hook(&payload("PreModelSwitch.command")), hook(&payload("PostModelSwitch.command")));
    let (open, close) = (only(&asked, Kind::ModelSwitched), only(&got, Kind::ModelSwitched));
    assert_eq!(open.key, close.key);
    assert_eq!((open.phase, close.phase), (Phase::Open, Phase::Close));
    assert_eq!(close.metadata["fromModel"], "claude-opus-5-5");
    assert_eq!(close.metadata["toModel"], "claude-sonnet-5-5");
    assert_eq!(close.metadata["requestedModel"], "sonnet");
    assert_eq!(close.metadata["source"], "command");
    assert_eq!(close.metadata["contextTokens"], 15034);
    assert_eq!(close.metadata["promptCacheWarm"], true);
    let session = close.task.runtime_session.clone();
    assert_eq!(task(&got, &session).metadata["model"], "claude-sonnet-5-5");
    assert_eq!(task(&asked, &session).metadata.get("model"), None, "a question is no change");
}
