//! Work items: reported by the call that changes them and by the client's own events, as one fact.

use agent_tracer_event::{Kind, Phase};
use serde_json::json;

use super::*;

#[test]
fn the_call_that_makes_an_item_carries_the_key_of_the_event_that_tells_of_it() {
    let event = hook(&payload("TaskCreated"));
    let actual = only(&event, Kind::TodoLogged);
    assert_eq!(actual.key, "todo:1:added");
    assert_eq!(actual.metadata["todoId"], "1");
    assert_eq!(actual.metadata["todoState"], "added");
    assert_eq!(actual.metadata["subject"], "Write the parser");
    assert_eq!(actual.metadata["description"], "Parse hook payloads");

    let call = hook(&payload("PostToolUse.taskcreate"));
    let row = only(&call, Kind::TodoLogged);
    assert_eq!((row.phase, row.state), (Phase::Close, Some(CallState::Succeeded)));
    assert_eq!(row.aliases, ["todo:1:added"]);
    assert_eq!(row.metadata["todoId"], "1");
    assert_eq!(row.title.as_deref(), Some("Add todo: Write the parser"));
}

#[test]
fn an_update_says_which_state_the_item_is_in_now() {
    let reading = hook(&payload("PostToolUse.taskupdate"));
    let row = only(&reading, Kind::TodoLogged);
    assert_eq!(row.aliases, ["todo:1:in_progress"]);
    assert_eq!(row.metadata["todoState"], "in_progress");
    let completed = hook(&payload("TaskCompleted"));
    let actual = only(&completed, Kind::TodoLogged);
    assert_eq!(actual.metadata["todoState"], "completed");
    assert_eq!(actual.key, format!("todo:{}:completed", actual.metadata["todoId"].as_str().unwrap()));
}

#[test]
fn an_update_that_changes_no_state_has_no_transition() {
    let reading = hook(&with(
        payload("PostToolUse.taskupdate"),
        &[
            ("tool_input", json!({"taskId": "1", "subject": "Better words"})),
            ("tool_response", json!({"success": true, "taskId": "1", "updatedFields": ["subject"]})),
        ],
    ));
    let row = only(&reading, Kind::TodoLogged);
    assert_eq!(row.aliases, Vec::<String>::new());
    assert_eq!(row.metadata.get("todoState"), None);
}

#[test]
fn an_attempt_and_a_failure_change_no_item() {
    let attempt = hook(&payload("PreToolUse.taskupdate"));
    assert_eq!(only(&attempt, Kind::TodoLogged).aliases, Vec::<String>::new());
    let refused = hook(&with(
        payload("PostToolUse.taskupdate"),
        &[("tool_response", json!({"success": false, "taskId": "9"}))],
    ));
    let row = only(&refused, Kind::TodoLogged);
    assert_eq!((row.state, row.aliases.len()), (Some(CallState::Failed), 0));
}

#[test]
fn writing_a_list_tells_each_item_once_per_state() {
    let payload = payload("PostToolUse.todowrite");
    let first = hook(&payload);
    let keys = |reading: &Reading| -> Vec<String> {
        let rows = reading.entries.iter().filter(|entry| entry.subject == Subject::Event(Kind::TodoLogged));
        rows.map(|entry| entry.key.clone()).collect()
    };
    let before = keys(&first);
    assert_eq!(before.len(), 2);
    assert!(before[0].ends_with(":in_progress") && before[1].ends_with(":added"));
    let second = hook(&with(
        payload,
        &[(
            "tool_input",
            json!({"todos": [
                {"content": "One", "status": "completed", "activeForm": "Doing one"},
                {"content": "Two", "status": "pending", "activeForm": "Doing two"},
            ]}),
        )],
    ));
    let after = keys(&second);
    assert_ne!(after[0], before[0], "the first item changed");
    assert_eq!(after[1], before[1], "the second did not, and folds into what is known");
    let call = only(&second, Kind::ToolUsed);
    assert_eq!(call.lane, Some(agent_tracer_event::Lane::Todos));
    assert_eq!(call.metadata["itemCount"], 2);
    assert_eq!(call.title.as_deref(), Some("Todos (1 of 2 done)"));
}

#[test]
fn without_an_id_an_item_is_known_by_its_subject() {
    let made = hook(&json!({"hook_event_name": "TaskCreated", "session_id": "s", "task_name": "Write it"}));
    let done =
        hook(&json!({"hook_event_name": "TaskCompleted", "session_id": "s", "task_subject": "Write it"}));
    let (made, done) = (only(&made, Kind::TodoLogged), only(&done, Kind::TodoLogged));
    assert_eq!(made.metadata["todoId"], done.metadata["todoId"]);
    assert_eq!(made.metadata["subject"], "Write it");
}
