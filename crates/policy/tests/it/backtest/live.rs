//! Everything that was captured, asked twice: as the hooks asked it then, and by replaying what was recorded of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agent_tracer_event::{Agent, Channel};
use agent_tracer_policy::{Call, NoHistory, Policy, Surroundings};
use serde_json::Value;

use crate::backtest::world::{World, deny, file};

/// Returns one rule for each thing that rules can look at, without the past.
fn rules() -> String {
    [
        ("any-bash", "match.tool = \"Bash\""),
        ("writes", "match.tool = [\"Write\", \"Edit\"]"),
        ("text-files", "match.path = \"*.txt\""),
        ("writes-anywhere", "match.writes = \"/**\""),
        ("reads-anywhere", "match.reads = \"/**\""),
        ("echo", "match.command = { program = \"echo\" }"),
        ("no-effect", "match.command = { effect = \"read_only\" }"),
        ("not-echo", "match.tool = \"Bash\"\nunless.command = { program = \"echo\" }"),
        ("subagents", "match.thread = \"subagent\""),
        ("explorers", "match.agent_type = [\"Explore\", \"general-purpose\"]"),
        ("servers", "match.mcp_server = \"*\""),
        ("server-tools", "match.mcp_tool = \"e*\""),
        ("skills", "match.skill = \"*\""),
        ("hosts", "match.host = \"*\""),
        ("by-default", "match.permission_mode = \"default\""),
        ("claude", "match.agent = \"claude_code\""),
        ("codex", "match.agent = \"codex\""),
    ]
    .map(|(name, more)| deny(name, "PreToolUse", more))
    .concat()
}

/// Here another hook rewrote the call. What is recorded is what ran.
const REWRITTEN: &str = "/ctl_pre_updated";

/// Returns the rules that would have denied each call, by the hooks themselves.
fn asked_live(name: &str, policy: &Policy) -> BTreeMap<String, BTreeSet<String>> {
    let root = agent_tracer_testkit::fixtures();
    let (agent, path) = match name.starts_with("claude-code") {
        true => (Agent::CLAUDE_CODE, root.join(name).join("hooks.jsonl")),
        false => {
            let (version, stem) = name.rsplit_once('/').unwrap();
            (Agent::CODEX, root.join(version).join("hooks").join(format!("{stem}.hooks.jsonl")))
        }
    };
    let mut denied: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["payload"]["hook_event_name"] != "PreToolUse" {
            continue;
        }
        let payload = serde_json::to_vec(&row["payload"]).unwrap();
        let call = Call::read(agent, &payload, Surroundings::default()).unwrap().unwrap();
        let spoke = policy.decide(&call, &NoHistory).fired.into_iter().map(|fired| fired.rule);
        denied.entry(call.tool_use_id.clone().unwrap()).or_default().extend(spoke);
    }
    denied
}

#[test]
fn a_replay_decides_as_the_live_hooks() {
    let (rules, mut calls, mut spoke) = (rules(), 0, BTreeSet::new());
    let policy = Policy::of_user(file(&rules));
    let mut wrong = Vec::new();
    for scenario in agent_tracer_testkit::scenarios() {
        let live = asked_live(&scenario.name, &policy);
        let world = World::with(scenario.observed(Some(Channel::Hook)));
        let found = world.run(&policy, agent_tracer_event::Millis(0));
        let mut replayed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for rule in &found.rules {
            assert!(
                rule.examples.len() < agent_tracer_policy::backtest::EXAMPLES_MAX,
                "all of them are seen"
            );
            assert_eq!(rule.decisions.denied as usize, rule.examples.len());
            for example in &rule.examples {
                let row =
                    world.ledger.store().event(&agent_tracer_event::FactId::parse(&example.row_id).unwrap());
                let id = row.unwrap().row.tool_use_id.unwrap_or_default();
                replayed.entry(id).or_default().insert(rule.name.clone());
            }
        }
        calls += live.len();
        for (id, by) in &live {
            spoke.extend(by.iter().cloned());
            let again = replayed.remove(id).unwrap_or_default();
            if scenario.name.ends_with(REWRITTEN) {
                continue;
            }
            if again != *by {
                wrong.push(format!("{} {id}: live {by:?}, replayed {again:?}", scenario.name));
            }
        }
        for (id, by) in replayed {
            wrong.push(format!("{} {id}: never asked, replayed {by:?}", scenario.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {calls}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(calls > 200, "{calls}");
    assert_eq!(spoke.len(), 17, "every rule spoke somewhere: {spoke:?}");
}
