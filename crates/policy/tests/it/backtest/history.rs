//! Rules about the past, judged by what was known at each moment.

use serde_json::json;

use crate::backtest::world::{World, deny, rule};

fn bash(world: &mut World, at: i64, id: &str, command: &str, ends: &str) {
    let input = json!({"command": command});
    world.hook(
        at,
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input,
        "tool_use_id": id, "permission_mode": "default"}),
    );
    let mut end = json!({"hook_event_name": ends, "tool_name": "Bash", "tool_input": input, "tool_use_id": id,
        "duration_ms": 5, "permission_mode": "default"});
    match ends {
        "PostToolUse" => end["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false}),
        _ => end["error"] = json!("Exit code 1\n"),
    }
    world.hook(at + 1, end);
}

fn titles(world: &World, rules: &str, name: &str) -> Vec<String> {
    let found = world.backtest(rules);
    rule(&found, name).examples.iter().map(|example| example.title.clone()).collect()
}

#[test]
fn a_call_is_repeated_only_after_it_was_made_before() {
    let mut world = World::new();
    for (at, id) in [(10, "a"), (20, "b"), (30, "c"), (40, "d")] {
        bash(&mut world, at, id, "make it", "PostToolUse");
    }
    bash(&mut world, 50, "e", "make other", "PostToolUse");
    let found = world.backtest(&deny("loop", "PreToolUse", "when.repeated = 2"));
    let loops = rule(&found, "loop");
    assert_eq!((loops.decisions.denied, found.calls), (2, 5));
    let times: Vec<i64> = loops.examples.iter().map(|example| example.occurred_at.0).collect();
    assert_eq!(times, [30_000, 40_000]);
}

#[test]
fn failures_in_a_row_end_with_a_success() {
    let mut world = World::new();
    bash(&mut world, 10, "a", "false one", "PostToolUseFailure");
    bash(&mut world, 20, "b", "false two", "PostToolUseFailure");
    bash(&mut world, 30, "c", "third", "PostToolUse");
    bash(&mut world, 40, "d", "fourth", "PostToolUse");
    let titles = titles(&world, &deny("row", "PreToolUse", "when.failures_in_a_row = 2"), "row");
    assert_eq!(titles.len(), 1, "{titles:?}");
    assert!(titles[0].contains("third"), "{titles:?}");
}

#[test]
fn an_edit_is_unread_until_the_file_was_read() {
    let mut world = World::new();
    let edit = |world: &mut World, at: i64, id: &str, tool: &str, path: &str| {
        let input = match tool {
            "Edit" => json!({"file_path": path, "old_string": "a", "new_string": "b"}),
            _ => json!({"file_path": path}),
        };
        for event in ["PreToolUse", "PostToolUse"] {
            world.hook(
                at,
                json!({"hook_event_name": event, "tool_name": tool, "tool_input": input,
                "tool_use_id": id, "tool_response": {}, "permission_mode": "default"}),
            );
        }
    };
    edit(&mut world, 10, "a", "Edit", "/code/one.rs");
    edit(&mut world, 20, "b", "Read", "/code/two.rs");
    edit(&mut world, 30, "c", "Edit", "/code/two.rs");
    let titles = titles(&world, &deny("unread", "PreToolUse", "when.unread_edit = true"), "unread");
    assert_eq!(titles, ["Edit one.rs"]);
}

#[test]
fn an_end_is_held_against_the_work_since_the_prompt() {
    let stop = json!({"hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "done",
        "background_tasks": [], "session_crons": [], "permission_mode": "default"});
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "do it", "permission_mode": "default",
        "prompt_id": "p1"});
    let change = |world: &mut World, at: i64| {
        for event in ["PreToolUse", "PostToolUse"] {
            world.hook(
                at,
                json!({"hook_event_name": event, "tool_name": "Write", "tool_use_id": format!("w{at}"),
                "tool_input": {"file_path": "/code/a.rs", "content": "x"}, "tool_response": {},
                "permission_mode": "default"}),
            );
        }
    };
    let rules = deny("tests", "Stop", "require.tests_passed = true");
    let mut world = World::new();
    world.hook(1, prompt.clone());
    change(&mut world, 10);
    world.hook(20, stop.clone());
    assert_eq!(rule(&world.backtest(&rules), "tests").decisions.denied, 1);
    let mut world = World::new();
    world.hook(1, prompt);
    change(&mut world, 10);
    bash(&mut world, 15, "t", "cargo test", "PostToolUse");
    world.hook(20, stop);
    assert_eq!(rule(&world.backtest(&rules), "tests").decisions.denied, 0);
}

#[test]
fn minutes_are_counted_from_the_moment_and_not_from_today() {
    let mut world = World::new();
    world.hook(
        0,
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "go", "permission_mode": "default"}),
    );
    bash(&mut world, 60, "a", "echo early", "PostToolUse");
    bash(&mut world, 3600, "b", "echo late", "PostToolUse");
    let rules = deny("long", "PreToolUse", "when.minutes_since = { last = \"prompt\", over = 30 }");
    let titles = titles(&world, &rules, "long");
    assert_eq!(titles.len(), 1, "{titles:?}");
    assert!(titles[0].contains("late"), "{titles:?}");
}

#[test]
fn a_budget_is_what_was_spent_by_then() {
    let scenario = agent_tracer_testkit::scenarios()
        .into_iter()
        .find(|it| it.name.starts_with("claude-code") && it.observed(None).len() > 30)
        .unwrap();
    let world = World::with(scenario.observed(None));
    let all = world.backtest(&deny("all", "PreToolUse", ""));
    let calls = rule(&all, "all").decisions.denied;
    assert!(calls > 1);
    for per in ["turn", "task", "tree", "day"] {
        let over = |limit: u64| {
            let rules =
                deny("over", "PreToolUse", &format!("when.tokens = {{ per = \"{per}\", over = {limit} }}"));
            let found = world.backtest(&rules);
            assert!(rule(&found, "over").not_judged.is_empty(), "{per}");
            rule(&found, "over").decisions.denied
        };
        assert_eq!(over(1_000_000_000_000), 0, "{per}");
        if per != "day" {
            // The first call of a session comes after a response, and a turn begins anew.
            assert!((1..=calls).contains(&over(0)), "{per}: {} of {calls}", over(0));
        }
    }
}
