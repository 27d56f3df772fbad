//! Replays: their range, their gaps, and their end.

use agent_tracer_event::{Agent, Millis};
use agent_tracer_ledger::Batch;
use agent_tracer_policy::backtest::{EXAMPLES_MAX, ReplayRequest, run};
use agent_tracer_policy::{Policy, Trust};
use serde_json::json;

use crate::backtest::world::{NOW, World, deny, file, rule, setting};

fn call(world: &mut World, at: i64, session: &str, id: &str, command: &str) {
    world.hook(
        at,
        json!({"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": id, "permission_mode": "default"}),
    );
}

#[test]
fn only_what_happened_since_then_is_judged_and_the_newest_comes_first() {
    let mut world = World::new();
    for (at, session) in [(1_000, "old"), (2_000, "middle"), (3_000, "new")] {
        call(&mut world, at, session, session, "rm -rf x");
    }
    let rules = deny("rm", "PreToolUse", "match.command = { program = \"rm\" }");
    let found = world.since(&rules, Millis(1_500_000));
    let times: Vec<i64> = rule(&found, "rm").examples.iter().map(|it| it.occurred_at.0 / 1000).collect();
    assert_eq!(times, [3_000, 2_000]);
    assert_eq!((found.tasks, found.calls, found.outcomes.denied, found.complete), (2, 2, 2, true));
}

#[test]
fn missing_data_is_reported_and_not_taken_for_silence() {
    let mut world = World::new();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/code", "tool_name": "Bash",
        "tool_input": {"command": {"program": "rm", "bytes": 40}}, "tool_use_id": "a",
        "transcript_path": "/t/s1.jsonl", "permission_mode": "default"});
    let body = serde_json::to_vec(&payload).unwrap();
    let observed = agent_tracer_testkit::hook(Agent::CLAUDE_CODE, "n", Millis(5_000), false, &body);
    world.ledger.append(Batch { observed: vec![observed], ..Batch::default() }).unwrap();
    call(&mut world, 6, "s1", "b", "rm -rf x");
    let rules = deny("rm", "PreToolUse", "match.command = { program = \"rm\" }")
        + &deny("write", "PreToolUse", "match.tool = \"Write\"\nmatch.command = { program = \"rm\" }")
        + &deny("todos", "Stop", "require.todos_closed = true");
    let found = world.backtest(&rules);
    let reasons = |name: &str| {
        let list = &rule(&found, name).not_judged;
        list.iter().map(|it| (it.reason.as_str(), it.count)).collect::<Vec<_>>()
    };
    assert_eq!(reasons("rm"), [("the command was not recorded", Some(1))]);
    assert_eq!(rule(&found, "rm").decisions.denied, 1);
    assert_eq!(reasons("write"), [], "it could not have been about this call");
    assert_eq!(reasons("todos"), [("open work items are not recorded", None)]);
}

#[test]
fn each_kind_of_decision_is_counted_and_a_rehearsal_counts_in_no_outcome() {
    let mut world = World::new();
    call(&mut world, 1, "s", "a", "git push");
    let of = |name: &str, decision: &str, more: &str| {
        format!(
            "[[rule]]\nname = \"{name}\"\non = \"PreToolUse\"\ndecision = \"{decision}\"\nreason = \"no\"\n{more}\n"
        )
    };
    let rules = of("ask", "ask", "match.tool = \"Bash\"")
        + &of("warn", "warn", "match.tool = \"Bash\"")
        + &of("flag", "rewrite", "match.command = { program = \"git\" }\nrewrite.add_flag = \"--dry-run\"")
        + &of("rehearsal", "deny", "match.tool = \"Bash\"\nmode = \"dry_run\"");
    let found = world.backtest(&rules);
    let counts: Vec<u64> = ["ask", "warn", "flag", "rehearsal"]
        .iter()
        .map(|name| {
            let decisions = rule(&found, name).decisions;
            assert_eq!(decisions.sum(), 1, "{name}");
            decisions.asked + 10 * decisions.warned + 100 * decisions.rewritten + 1000 * decisions.denied
        })
        .collect();
    assert_eq!(counts, [1, 10, 100, 1000]);
    assert_eq!((found.outcomes.asked, found.outcomes.sum()), (1, 1), "the strictest that is enforced");
}

#[test]
fn a_decision_that_a_project_may_not_make_is_reported_as_held_back() {
    let mut world = World::new();
    call(&mut world, 1, "s", "a", "ls");
    let stop = "[[rule]]\nname = \"stop\"\non = \"PreToolUse\"\ndecision = \"stop\"\nreason = \"no\"\n";
    let policy = Policy::default().with_project(file(stop), Trust::NotTrusted);
    let found = world.run(&policy, Millis(0));
    let it = rule(&found, "stop");
    assert_eq!((it.decisions.stopped, it.held_back, found.outcomes.sum()), (1, 1, 0));
    assert_eq!(it.origin, "project");
}

#[test]
fn a_permission_is_judged_with_the_input_of_its_call() {
    let mut world = World::new();
    call(&mut world, 1, "s1", "a", "rm -rf build");
    world.hook(
        2,
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "session_id": "s1",
        "tool_input": {"command": "rm -rf build"}, "permission_mode": "default"}),
    );
    let rules = deny("rm", "PermissionRequest", "match.command = { program = \"rm\", recursive = true }");
    let found = world.backtest(&rules);
    assert_eq!(rule(&found, "rm").decisions.denied, 1, "{found:?}");
}

#[test]
fn a_rule_lists_a_few_calls_and_counts_all() {
    let mut world = World::new();
    let count = EXAMPLES_MAX as i64 + 30;
    for at in 0..count {
        call(&mut world, at, "s", &format!("c{at}"), &format!("echo {at}"));
    }
    let found = world.backtest(&deny("all", "PreToolUse", ""));
    let all = rule(&found, "all");
    assert_eq!((all.decisions.denied, all.examples.len()), (count as u64, EXAMPLES_MAX));
}

#[test]
fn a_stopped_replay_returns_its_results_so_far() {
    let mut world = World::new();
    for session in 0..5 {
        call(&mut world, 100 - session, &format!("s{session}"), "a", "ls");
    }
    let (policy, setting) = (Policy::of_user(file(&deny("all", "PreToolUse", ""))), setting());
    let ask = ReplayRequest { policy: &policy, since: Millis(0), now: NOW, project: None, setting: &setting };
    let mut asked = 0;
    let found = run(world.ledger.store().as_ref(), &ask, |progress| {
        asked += 1;
        (progress.calls >= 2).then_some("stopped")
    })
    .unwrap();
    assert_eq!((found.calls, found.complete, found.stopped_by.as_deref()), (2, false, Some("stopped")));
    assert_eq!(asked, 2);
    assert_eq!(rule(&found, "all").examples[0].occurred_at, Millis(100_000), "the newest first");
}

#[test]
fn a_home_without_history_answers_with_nothing() {
    let found = World::new().backtest(&deny("all", "PreToolUse", ""));
    assert_eq!((found.tasks, found.moments, found.complete), (0, 0, true));
    assert_eq!(found.rules.len(), 1);
}
