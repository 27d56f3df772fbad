//! Tests that what clients say about searches, permissions and to-dos stands in the lists of a task, not only in their rows.

use agent_tracer_event::{Agent, Millis, TaskKey};
use agent_tracer_ledger::RowFilter;
use agent_tracer_testkit::{Level, hook, transcript_of};
use serde_json::{Value, json};

use crate::world::World;

fn reported(payloads: &[Value]) -> World {
    let mut observed = Vec::new();
    for (place, payload) in payloads.iter().enumerate() {
        let arrived = Millis(1_790_000_000_000 + 1_000 * i64::try_from(place).unwrap());
        let body = serde_json::to_vec(payload).unwrap();
        observed.push(hook(Agent::CLAUDE_CODE, &format!("o{place}"), arrived, false, &body));
    }
    World::with(&observed, 1)
}

#[test]
fn searches_permissions_and_to_dos_are_listed_with_what_the_client_says_of_them() {
    let search = json!({"pattern": "x", "path": "src", "glob": "*.rs", "-i": true, "multiline": true});
    let world = reported(&[
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Grep", "tool_use_id": "g",
            "tool_input": search}),
        json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
            "tool_input": {"command": "rm a"}, "permission_suggestions": [{"type": "addRules"}, {"type": "setMode"}]}),
        json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w", "tool_name": "TodoWrite",
            "tool_use_id": "t", "tool_response": {}, "tool_input": {"todos": [
                {"content": "one", "status": "pending", "activeForm": "one", "priority": "high"}]}}),
    ]);
    let store = world.ledger.store();
    let task = TaskKey::new(Agent::CLAUDE_CODE, "s").task_id();
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
    let world = reported(&[
        call(
            "a",
            "WebSearch",
            json!({"query": "rust sqlite", "allowed_domains": ["docs.rs"], "blocked_domains": ["x.com"]}),
        ),
        call("b", "WebFetch", json!({"url": "https://docs.rs/rusqlite", "prompt": "Which version?"})),
    ]);
    let task = TaskKey::new(Agent::CLAUDE_CODE, "s").task_id();
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

#[test]
fn what_the_client_says_of_single_responses_is_the_cost_of_a_task_without_an_account() {
    let response = |number: u32, cost: f64| {
        json!({"type": "api_response", "timestamp": format!("2026-01-01T00:00:0{number}.000Z"), "model": "m", "sessionId": "s",
            "uuid": format!("u{number}"), "usage": {"input_tokens": 10, "output_tokens": 20}, "cost_usd": cost})
    };
    let account = json!({"type": "cost-state", "timestamp": "2026-01-01T00:00:09.000Z", "sessionId": "s", "uuid": "a",
        "totalCostUSD": 2.0, "modelUsage": {}});
    let cost = |world: &World| {
        let task = TaskKey::new(Agent::CLAUDE_CODE, "s").task_id();
        world.ledger.store().task(Millis(0), &task).unwrap().usage.client_cost_usd
    };
    let read = |rows: &[Value]| {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        transcript_of(Level::Actions, "projects/w/s.jsonl", text.as_bytes())
    };
    let both = read(&[response(1, 0.5), response(2, 0.25)]);
    for at_a_time in [1, 9] {
        let world = World::with(&both, at_a_time);
        assert_eq!(cost(&world), Some(0.75));
        world.ledger.rebuild().unwrap();
        assert_eq!(cost(&world), Some(0.75), "counted anew it is the same");
    }
    let mut with_account = read(&[response(1, 0.5), account]);
    for _ in 0..2 {
        assert_eq!(cost(&World::with(&with_account, 1)), Some(2.0), "an account holds them already");
        with_account.reverse();
    }
}
