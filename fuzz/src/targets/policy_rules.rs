//! Whatever stands in `policy.toml`: rules or faults with their places; and rules decide on any call without harm.

use agent_tracer_event::Agent;
use agent_tracer_policy::{Call, NoHistory, Origin, Policy, RuleScope, Surroundings, answer, compile, read};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "policy_rules",
    run,
    seeds,
    dictionary: &[
        b"[[rule]]\n",
        b"[[rule.example]]\n",
        b"name = ",
        b"on = \"PreToolUse\"\n",
        b"on = \"Stop\"\n",
        b"decision = \"deny\"\n",
        b"decision = \"rewrite\"\n",
        b"match.tool = \"*\"\n",
        b"match.command = { effect = \"delete\" }\n",
        b"match.path = \"**/a\"\n",
        b"when.repeated = 3\n",
        b"on_outage = \"deny\"\n",
        b"rewrite.directory = \"..\"\n",
        b"\xc3\xa4",
    ],
};

const CALLS: &[&str] = &[
    r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/w","tool_input":{"command":"sudo rm -rf a/*"}}"#,
    r#"{"hook_event_name":"PermissionRequest","tool_name":"apply_patch","tool_input":{"command":"*** Add File: a"}}"#,
    r#"{"hook_event_name":"Stop","stop_hook_active":true}"#,
];

fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match read(&text) {
        Err(faults) => {
            assert!(!faults.is_empty(), "what is wrong is said");
            let lines = text.matches('\n').count() + 1;
            assert!(faults.iter().all(|fault| (1..=lines).contains(&fault.line)), "a fault has a line");
        }
        Ok(file) => {
            let placed =
                file.rules.iter().map(|rule| (RuleScope { origin: Origin::User, project: None }, rule));
            assert!(compile(placed, &[], 50, b"/bin/guard").is_ok(), "rules become a table");
            let policy = Policy::of_user(file);
            for (payload, agent) in CALLS.iter().zip([Agent::CLAUDE_CODE, Agent::CODEX, Agent::CLAUDE_CODE]) {
                decide(&policy, agent, payload.as_bytes());
            }
        }
    }
    // The same bytes as a call.
    for agent in Agent::ALL {
        decide(&Policy::default(), *agent, bytes);
    }
}

fn decide(policy: &Policy, agent: Agent, payload: &[u8]) {
    if let Ok(Some(call)) = Call::read(agent, payload, Surroundings::default()) {
        let said = answer(&call, &policy.decide(&call, &NoHistory));
        assert!(said.stdout.is_empty() || said.stdout.ends_with("}\n"), "an answer is nothing or an object");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let rules = "version = 1\n[[rule]]\nname = \"a\"\non = [\"PreToolUse\", \"PermissionRequest\"]\ndecision = \"deny\"\n\
                 reason = \"no\"\nmatch.command = { program = \"rm\", recursive = true }\nunless.path = \"tmp/**\"\n\
                 when.tokens = { per = \"turn\", over = 10 }\n[[rule]]\nname = \"b\"\non = \"PreToolUse\"\n\
                 decision = \"rewrite\"\nmatch.time = { days = \"weekend\", from = \"22:00\" }\nrewrite.add_flag = \"-n\"\n";
    let mut seeds = vec![rules.as_bytes().to_vec(), b"version = 1\n".to_vec()];
    seeds.extend(CALLS.iter().map(|call| call.as_bytes().to_vec()));
    seeds
}
