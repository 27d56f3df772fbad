//! What clients say about searches, permissions and to-dos stands in the lists of a task, not only in their rows.

use agent_tracer_event::{Agent, Millis, TaskKey};
use agent_tracer_ledger::RowFilter;
use agent_tracer_testkit::hook;
use serde_json::{Value, json};

use crate::world::World;

fn told(payloads: &[Value]) -> World {
    let mut observed = Vec::new();
    for (place, payload) in payloads.iter().enumerate() {
        let arrived = Millis(1_790_000_000_000 + 1_000 * i64::try_from(place).unwrap());
        let body = serde_json::to_vec(payload).unwrap();
        observed.push(hook(Agent::ClaudeCode, &format!("o{place}"), arrived, false, &body));
    }
    World::with(&observed, 1)
}

#[test]
fn searches_permissions_and_to_dos_are_listed_with_what_the_client_says_of_them() {
    let search = json!({"pattern": "x", "path": "src", "glob": "*.rs", "-i": true, "multiline": true});
    let world = told(&[
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Grep", "tool_use_id": "g",
            "tool_input": search}),
        json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
            "tool_input": {"command": "rm a"}, "permission_suggestions": [{"type": "addRules"}, {"type": "setMode"}]}),
        json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w", "tool_name": "TodoWrite",
            "tool_use_id": "t", "tool_response": {}, "tool_input": {"todos": [
                {"content": "one", "status": "pending", "activeForm": "one", "priority": "high"}]}}),
    ]);
    let store = world.ledger.store();
    let task = TaskKey::new(Agent::ClaudeCode, "s").task_id();
    let filter = RowFilter::default();
    let search = store.exploration(&task, &filter).unwrap().items.remove(0);
    assert_eq!(
        (search.glob.as_deref(), search.case_insensitive, search.multiline),
        (Some("*.rs"), Some(true), Some(true))
    );
    let permission = store.permissions(&task, &filter).unwrap().items.remove(0);
    assert_eq!(
        (permission.tool_input_summary.as_deref(), permission.suggestion_count),
        (Some("rm a"), Some(2))
    );
    assert_eq!(store.todos(&task).unwrap().items.remove(0).priority.as_deref(), Some("high"));
}

#[test]
fn web_look_ups_are_listed_with_their_filters_and_what_was_asked() {
    let call = |id: &str, tool: &str, input: Value| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": tool, "tool_use_id": id,
            "tool_input": input})
    };
    let world = told(&[
        call(
            "a",
            "WebSearch",
            json!({"query": "rust sqlite", "allowed_domains": ["docs.rs"], "blocked_domains": ["x.com"]}),
        ),
        call("b", "WebFetch", json!({"url": "https://docs.rs/rusqlite", "prompt": "Which version?"})),
    ]);
    let task = TaskKey::new(Agent::ClaudeCode, "s").task_id();
    let web = world.ledger.store().web(&task, &RowFilter::default()).unwrap().items;
    let search = web.iter().find(|look| look.what == "web_search").unwrap();
    assert_eq!(
        (search.query.as_deref(), &search.allowed_domains[..], &search.blocked_domains[..]),
        (Some("rust sqlite"), &["docs.rs".to_owned()][..], &["x.com".to_owned()][..])
    );
    let fetch = web.iter().find(|look| look.what == "web_fetch").unwrap();
    assert_eq!(
        (fetch.prompt.as_deref(), &fetch.domains[..]),
        (Some("Which version?"), &["docs.rs".to_owned()][..])
    );
}
