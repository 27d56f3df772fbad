//! The request of a response, the sizes of what entered the context, and the changes and commits of calls.

use serde_json::json;

use super::*;

const REQUEST: &str = r#"{"type":"api-request","sessionId":"s","id":"r1","timestamp":"2026-11-15T19:40:30.383Z","shapeHash":"7743e866f801008b1ab93a2bdfc07b54","keep":2,"tail":["x"]}"#;
const SHAPE: &str = r#"{"type":"api-request-shape","sessionId":"s","shapeHash":"7743e866f801008b1ab93a2bdfc07b54","timestamp":"2026-11-15T19:40:30.383Z","shape":{"system":[{"text":"Be kind."}],"tools":[{"name":"Read"},{"name":"mcp__demo__add","d":"x"},{"name":"mcp__demo__sub"}]}}"#;
const RESPONSE: &str = r#"{"type":"assistant","uuid":"u1","sessionId":"s","requestRef":"r1","timestamp":"2026-11-15T19:40:31.000Z","message":{"id":"msg_1","model":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":9,"output_tokens":3}}}"#;

#[test]
fn response_has_the_form_of_its_request_in_either_order() {
    let first = read_lines(&[SHAPE, REQUEST, RESPONSE], Level::Metadata).entries();
    let first = of_kind(&first, Kind::TokenUsage);
    assert_eq!(first.len(), 1);
    let later = read_lines(&[RESPONSE, SHAPE, REQUEST], Level::Metadata).entries();
    let later = of_kind(&later, Kind::TokenUsage);
    assert_eq!(later.len(), 2);
    assert_eq!((&later[1].key, later[1].occurred_at), (&first[0].key, first[0].occurred_at));
    for entry in [first[0], later[1]] {
        let metadata = &entry.metadata;
        assert_eq!(metadata["requestPrefixHash"], "7743e866f801008b");
        assert_eq!((&metadata["repeatedMessageCount"], &metadata["messageCount"]), (&json!(2), &json!(3)));
        assert_eq!(metadata["systemBytes"], 21);
        let tools = json!([{"tools": 1, "bytes": 15}, {"server": "demo", "tools": 2, "bytes": 58}]);
        assert_eq!(metadata["toolDefinitions"], tools);
        assert_eq!(metadata["ownRequest"], true);
        assert_eq!(metadata["requestedAt"], 1_794_771_630_383_i64);
    }
}

#[test]
fn response_and_its_calls_have_the_times_at_which_their_blocks_were_complete() {
    let row = |uuid: &str, second: u8, block: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","sessionId":"s","timestamp":"2026-11-15T19:40:3{second}.000Z","message":{{"id":"msg_1","model":"m","role":"assistant","stop_reason":"tool_use","content":[{block}],"usage":{{"input_tokens":9,"output_tokens":3}}}}}}"#
        )
    };
    let thinking = row("u1", 1, r#"{"type":"thinking","thinking":"hm"}"#);
    let call = row("u2", 4, r#"{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/p/a"}}"#);
    let entries = read_lines(&[&thinking, &call], Level::Metadata).entries();
    let response = of_kind(&entries, Kind::TokenUsage)[0];
    assert_eq!(response.metadata["thoughtUntil"], 1_794_771_631_000_i64);
    assert_eq!(of_kind(&entries, Kind::ToolUsed)[0].metadata["writtenAt"], 1_794_771_634_000_i64);
    let text = read_lines(&[RESPONSE], Level::Metadata).entries();
    assert!(!of_kind(&text, Kind::TokenUsage)[0].metadata.contains_key("thoughtUntil"));
}

#[test]
fn sizes_of_attachments_stand_on_the_response_that_reads_them() {
    let attachment = |uuid: &str, attachment: &str, rendered: &str| {
        format!(
            r#"{{"type":"attachment","uuid":"{uuid}","sessionId":"s","timestamp":"2026-11-15T19:40:30.000Z","attachment":{attachment}{rendered}}}"#
        )
    };
    let memory = attachment(
        "a1",
        r##"{"type":"instructions","files":[{"path":"/p/CLAUDE.md","type":"Project","content":"# Rules"},{"path":"a secret","content":"x"}]}"##,
        "",
    );
    let date = attachment("a2", r#"{"type":"date"}"#, r#","rendered":[{"content":"It is Monday."}]"#);
    let entries = read_lines(&[&memory, &date, RESPONSE], Level::Metadata).entries();
    let additions = &of_kind(&entries, Kind::TokenUsage)[0].metadata["contextAdditions"];
    assert_eq!(
        *additions,
        json!([
            {"source": "instructions", "path": "/p/CLAUDE.md", "bytes": 7},
            {"source": "instructions", "bytes": 1},
            {"source": "attachment", "name": "date", "bytes": 13}
        ])
    );
}

#[test]
fn commit_has_its_hash_and_an_edit_its_lines() {
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"c{id}","sessionId":"s","timestamp":"2026-11-15T19:40:31.000Z","message":{{"id":"m{id}","model":"m","role":"assistant","stop_reason":"tool_use","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let result = |id: &str, result: &str| {
        format!(
            r#"{{"type":"user","uuid":"r{id}","sessionId":"s","timestamp":"2026-11-15T19:40:32.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"done"}}]}},"toolUseResult":{result}}}"#
        )
    };
    let printed = r#"{"stdout":"[main 1a2b3c4] first\n 1 file changed","stderr":"","interrupted":false}"#;
    let edited = r#"{"filePath":"/p/a.rs","structuredPatch":[{"lines":[" a","-b","+c","+d"]}]}"#;
    let lines = [
        call("t1", "Bash", r#"{"command":"git commit -am first"}"#),
        result("t1", printed),
        call("t2", "Bash", r#"{"command":"git log"}"#),
        result("t2", printed),
        call("t3", "Edit", r#"{"file_path":"/p/a.rs","old_string":"b","new_string":"c\nd"}"#),
        result("t3", edited),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let entries = read_lines(&lines, Level::Actions).entries();
    let end = |id: &str| {
        let of_call = |entry: &&Entry| entry.key == format!("tool:{id}") && entry.ended_at.is_some();
        entries.iter().find(of_call).unwrap().metadata.clone()
    };
    assert_eq!(end("t1")["commitHashes"], json!(["1a2b3c4"]));
    assert_eq!(end("t2").get("commitHashes"), None, "only a command that commits names its commits");
    let changes = json!([{"path": "/p/a.rs", "operation": "modify", "linesAdded": 2, "linesRemoved": 1}]);
    assert_eq!(end("t3")["fileChanges"], changes);
}
