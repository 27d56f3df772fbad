//! Checks each capture level.

use agent_tracer_event::Kind;
use serde_json::json;

use super::*;

fn at(level: Level, name: &str) -> Reading {
    read_bytes(&reduced(&payload(name), Source::Hook, Some(level)), Source::Hook, "o")
}

#[test]
fn at_metadata_a_command_is_its_program() {
    let reading = at(Level::Metadata, "PreToolUse.bash");
    let row = only(&reading, Kind::TerminalCommand);
    assert_eq!(row.title.as_deref(), Some("Run touch"));
    assert_eq!(row.metadata["program"], "touch");
    assert_eq!(row.metadata.get("command"), None);
    assert_eq!(row.metadata.get("commandAnalysis"), None);
}

#[test]
fn at_metadata_prompts_and_answers_are_lengths_and_nothing_is_titled_after_them() {
    let reading = at(Level::Metadata, "UserPromptSubmit.text");
    let row = only(&reading, Kind::UserMessage);
    assert_eq!((row.title.as_deref(), row.body.as_deref()), (Some("Prompt"), None));
    assert_eq!(
        row.metadata["promptBytes"],
        payload("UserPromptSubmit.text")["prompt"].as_str().unwrap().len()
    );
    assert!(!task(&reading, &row.task.runtime_session).metadata.contains_key("title"));

    let reading = at(Level::Metadata, "Stop.plain");
    let row = only(&reading, Kind::AssistantResponse);
    let said = payload("Stop.plain");
    let bytes = said["last_assistant_message"].as_str().unwrap().len();
    assert_eq!(row.key, format!("said:{}:{bytes}", said["prompt_id"].as_str().unwrap()));
    assert_eq!((row.title.as_deref(), row.body.as_deref()), (Some("Response"), None));
    assert_eq!(row.metadata["lastAssistantMessage"], json!({"bytes": bytes}));
}

#[test]
fn at_every_level_a_notification_is_not_taken_for_a_typed_prompt() {
    let actual =
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>";
    let payload = with(payload("UserPromptSubmit.text"), &[("prompt", json!(actual))]);
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let reading = read_bytes(&reduced(&payload, Source::Hook, Some(level)), Source::Hook, "o");
        let row = only(&reading, Kind::UserMessage);
        assert_eq!(row.metadata["promptOrigin"], "task_notification", "{level:?}");
        assert!(!task(&reading, &row.task.runtime_session).metadata.contains_key("title"), "{level:?}");
    }
}

#[test]
fn at_metadata_a_todo_list_is_counted() {
    let reading = at(Level::Metadata, "PostToolUse.todowrite");
    let row = only(&reading, Kind::ToolUsed);
    assert_eq!(row.metadata["itemCount"], 2);
    assert_eq!(row.title.as_deref(), Some("Todos (0 of 2 done)"));
}

#[test]
fn contents_of_files_are_sizes_at_every_level() {
    for level in [Level::Metadata, Level::Actions, Level::Full] {
        let written = at(level, "PreToolUse.write");
        let row = only(&written, Kind::ToolUsed);
        assert_eq!(row.metadata["contentBytes"], 11, "{level:?}");
        assert!(row.metadata["toolInput"]["content"].is_object(), "{level:?}");
        let edited = at(level, "PreToolUse.edit");
        let row = only(&edited, Kind::ToolUsed);
        assert!(row.metadata["linesAdded"].is_u64() || row.metadata["linesAdded"].is_i64(), "{level:?}");
        assert_eq!(row.metadata["editReplaceAll"], json!(false), "{level:?}");
    }
}

#[test]
fn only_at_full_is_there_anything_of_an_output() {
    let full = at(Level::Full, "PostToolUse.bash");
    assert!(only(&full, Kind::TerminalCommand).metadata.contains_key("outputHead"));
    let less = at(Level::Actions, "PostToolUse.bash");
    assert!(!only(&less, Kind::TerminalCommand).metadata.contains_key("outputHead"));
}
