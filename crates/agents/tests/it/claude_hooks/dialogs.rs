//! Reads dialogs with the user.

use agent_tracer_event::{Kind, Phase, Unrecognised};
use serde_json::json;

use super::*;

#[test]
fn a_request_for_permission_says_what_is_asked() {
    let reading = hook(&payload("PermissionRequest.bash"));
    let row = only(&reading, Kind::PermissionRequest);
    assert_eq!(row.key, "hook:1731-812-0");
    assert_eq!(row.metadata["toolName"], "Bash");
    assert_eq!(row.metadata["toolInputSummary"], "touch /home/dev/denied-file");
    assert_eq!(row.metadata["suggestionCount"], 2);
    assert_eq!(row.metadata.get("toolUseId"), None);
    assert!(
        reading.entries.iter().all(|entry| !entry.key.starts_with("tool:")),
        "the call itself is not touched"
    );
}

#[test]
fn the_dialog_of_a_question_is_titled_after_the_question() {
    let reading = hook(&payload("PermissionRequest.askuserquestion"));
    let row = only(&reading, Kind::PermissionRequest);
    assert_eq!(row.title.as_deref(), Some("Ask: Which one?"));
    assert_eq!(row.metadata["toolName"], "AskUserQuestion");
    assert_eq!(row.metadata["suggestionCount"], 0);
}

#[test]
fn the_summary_of_an_input_is_one_short_line() {
    let long = "x".repeat(3000);
    for input in
        [json!({"command": format!("echo {long}\nls")}), json!({"url": "https://a/", "b": [1, {"c": long}]})]
    {
        let reading = hook(&with(payload("PermissionRequest.bash"), &[("tool_input", input)]));
        let summary =
            only(&reading, Kind::PermissionRequest).metadata["toolInputSummary"].as_str().unwrap().to_owned();
        assert!(summary.chars().count() <= 400 && !summary.contains('\n'), "{summary}");
    }
}

#[test]
fn a_question_of_a_server_and_its_answer() {
    let asked = hook(&payload("Elicitation"));
    let row = only(&asked, Kind::QuestionLogged);
    assert_eq!(row.metadata["questionPhase"], "asked");
    assert_eq!(row.metadata["mcpServerName"], "demo");
    assert_eq!(row.metadata["message"], "Which colour?");
    assert_eq!(row.metadata["mode"], "form");
    assert_eq!(row.metadata["requestedFields"], json!(["colour"]));
    for (name, phase) in [("accept", "answered"), ("decline", "declined"), ("cancel", "cancelled")] {
        let reading = hook(&payload(&format!("ElicitationResult.{name}")));
        let row = only(&reading, Kind::QuestionLogged);
        assert_eq!(row.metadata["questionPhase"], phase);
        assert_eq!(row.metadata["action"], name);
        assert_eq!(row.phase, Phase::Close);
        assert!(!serde_json::to_string(&reading).unwrap().contains("blue"), "the answer is not kept");
    }
}

#[test]
fn a_question_with_an_id_is_closed_by_its_answer() {
    let id = ("elicitation_id", json!("e-1"));
    let asked = hook(&with(payload("Elicitation"), std::slice::from_ref(&id)));
    let answered = hook(&with(payload("ElicitationResult.accept"), &[id]));
    assert_eq!(only(&asked, Kind::QuestionLogged).key, "elicitation:e-1");
    assert_eq!(only(&answered, Kind::QuestionLogged).key, "elicitation:e-1");
}

#[test]
fn a_notification_is_context_with_its_type() {
    let reading = hook(&payload("Notification.permission_prompt"));
    let row = only(&reading, Kind::ContextSaved);
    assert_eq!(row.metadata["trigger"], "notification:permission_prompt");
    assert_eq!(row.metadata["notificationType"], "permission_prompt");
    assert_eq!(row.metadata["message"], "Claude needs your permission");
    let unknown = hook(&with(
        payload("Notification.permission_prompt"),
        &[("notification_type", json!("sunset")), ("title", json!("Evening"))],
    ));
    assert_eq!(unknown.unrecognised, [Unrecognised::Value("notification_type=sunset".to_owned())]);
    let row = only(&unknown, Kind::ContextSaved);
    assert_eq!(row.metadata["trigger"], "notification:sunset");
    assert_eq!(row.metadata["title"], "Evening");
}
