//! Forks: copied rows are not recorded again, and their cost is counted once.

use serde_json::{Value, json};

use super::*;

const PARENT: &str = "88ed0a44-c22b-4984-b1f4-43938f903c20";
const FORK: &str = "b1970ab1-cf2f-4f26-8a28-3bc8b9c3b5c2";

fn fork() -> (Captured, Captured) {
    let mut files = scenario("2.1.325/fork").into_iter();
    let (parent, fork) = (files.next().unwrap(), files.next().unwrap());
    assert!(parent.path.ends_with(format!("{PARENT}.jsonl")) && fork.path.ends_with(format!("{FORK}.jsonl")));
    (parent, fork)
}

#[test]
fn a_fork_tells_only_what_happened_in_it() {
    let (parent, fork) = fork();
    let actual = read(&fork, Level::Actions);
    let entries = actual.entries();
    let prompts = of_kind(&entries, Kind::UserMessage);
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0].body.as_deref(), Some("Forked [[hello]]"));
    assert_eq!(of_kind(&entries, Kind::TerminalCommand).len(), 0);
    let usage = of_kind(&entries, Kind::TokenUsage);
    assert_eq!((usage.len(), &usage[0].metadata["ownRequest"]), (1, &json!(true)));
    assert!(actual.counts().copied > 10, "{:?}", actual.counts());
    let copied = entries.iter().rfind(|entry| entry.key == "account:copied").unwrap();
    assert_eq!(
        (&copied.metadata["responses"], &copied.metadata["usage"]["outputTokens"]),
        (&json!(2), &json!(123))
    );
    assert_eq!(read(&parent, Level::Actions).counts().copied, 0);
}

#[test]
fn a_fork_without_a_beginning_of_its_own_is_known_by_who_made_its_requests() {
    // An interactive client writes no queue, so nothing in the file is older than it.
    let (_, fork) = fork();
    let text = String::from_utf8(fork.content.clone()).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.contains(r#""type":"queue-operation""#)).collect();
    let content = rows.join("\n") + "\n";
    let actual = read_in_chunks(&fork.rows().unwrap(), content.as_bytes(), Level::Actions, &[]);
    let entries = actual.entries();
    let own: Vec<&Value> =
        of_kind(&entries, Kind::TokenUsage).iter().map(|entry| &entry.metadata["ownRequest"]).collect();
    assert_eq!(own, [&json!(false), &json!(false), &json!(true)]);
    // With the time of the session's start the copies are recognised as copies.
    let mut file = fork.rows().unwrap();
    file.began = Millis::parse("2026-11-15T21:32:27.100Z");
    let actual = read_in_chunks(&file, content.as_bytes(), Level::Actions, &[]);
    assert_eq!(of_kind(&actual.entries(), Kind::TokenUsage).len(), 1);
}

#[test]
fn rows_that_say_where_they_were_copied_from_name_the_parent() {
    let row = |uuid: &str, id: &str, fork: &str| {
        format!(
            r#"{{"type":"assistant",{fork}"uuid":"{uuid}","sessionId":"s","timestamp":"2026-11-15T21:00:00.000Z","message":{{"id":"{id}","model":"m","stop_reason":"end_turn","content":[{{"type":"text","text":"x"}}],"usage":{{"output_tokens":7}}}}}}"#
        )
    };
    let copied = row("u1", "msg_1", r#""forkedFrom":{"sessionId":"parent-1","messageUuid":"u0"},"#);
    let actual = read_lines(&[&copied, &copied, &row("u2", "msg_2", "")], Level::Actions);
    let entries = actual.entries();
    let parent: Vec<&Value> = entries.iter().filter_map(|entry| entry.metadata.get("forkedFrom")).collect();
    assert_eq!(parent, ["parent-1"]);
    assert_eq!(of_kind(&entries, Kind::TokenUsage).len(), 1);
    assert_eq!(of_kind(&entries, Kind::AssistantResponse).len(), 1);
    let copied: Vec<&Entry> = entries.iter().filter(|entry| entry.key == "account:copied").collect();
    assert_eq!((copied.len(), &copied[0].metadata["usage"]["outputTokens"]), (1, &json!(7)));
    assert_eq!(actual.counts().copied, 2);
}

#[test]
fn a_resumed_session_owns_all_its_requests() {
    for name in ["2.1.325/rc_resume", "2.1.325/resume_a", "2.1.325/resume_picker", "2.1.325/clear"] {
        let all = entries(name, Level::Actions);
        let foreign = of_kind(&all, Kind::TokenUsage)
            .into_iter()
            .filter(|entry| entry.metadata.get("ownRequest") == Some(&json!(false)))
            .count();
        assert_eq!(foreign, 0, "{name}");
    }
}

#[test]
fn a_cleared_session_names_the_one_it_goes_on_from() {
    let all = entries("2.1.325/clear", Level::Actions);
    let continues: Vec<(&str, &Value)> = all
        .iter()
        .filter_map(|entry| Some((entry.task.runtime_session.as_str(), entry.metadata.get("continues")?)))
        .collect();
    let before = json!("1b7f9861-e61e-4a4f-a0f4-d8bd6a6a459e");
    assert_eq!(continues, [("852a03f7-bca6-4b07-8ef8-7bac1129e54c", &before)]);
    for name in ["2.1.325/rc_tui", "2.1.325/interrupt", "2.1.325/rc_resume"] {
        assert!(
            entries(name, Level::Actions).iter().all(|entry| !entry.metadata.contains_key("continues")),
            "{name}"
        );
    }
}
