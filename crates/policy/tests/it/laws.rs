//! Laws of any rules and any call.

use agent_tracer_event::Agent;
use agent_tracer_policy::{
    Basis, Call, Event, NoHistory, Origin, Outcome, Policy, RuleScope, Surroundings, Trust, answer, compile,
    legality, read,
};
use agent_tracer_policy_abi::{Outage, Question, Table};
use proptest::prelude::*;
use serde_json::json;

use crate::world::{FixedHistory, call_of, rules};

/// Returns a rule that the reader takes, from a few choices.
fn rule(name: usize, choices: (usize, usize, usize, usize, usize, bool)) -> String {
    let (event, decision, matcher, when, outage, dry) = choices;
    let event = Event::ALL[event % Event::ALL.len()];
    let decisions = legality::decisions(Agent::ALL, event);
    let decision = decisions[decision % decisions.len()];
    let tool_matchers = [
        "match.tool = \"Bash\"",
        "match.tool = \"*\"",
        "match.command = { effect = \"delete\" }",
        "match.writes = \"src/**\"",
        "match.thread = \"subagent\"",
        "match.agent = \"claude_code\"",
        "unless.agent_type = \"writer\"",
        "",
    ];
    let matcher = if event.has_tool() { tool_matchers[matcher % 8] } else { tool_matchers[4 + matcher % 4] };
    let when = ["", "", "when.repeated = 2", "when.failures_in_a_row = 1"][when % 4];
    let outage = if event.is_an_end() {
        "allow"
    } else if legality::decisions(Agent::ALL, event).contains(&agent_tracer_policy::Decision::Ask) {
        ["allow", "ask", "deny"][outage % 3]
    } else {
        ["allow", "deny"][outage % 2]
    };
    let mode = if dry { "dry_run" } else { "enforce" };
    let rewrite = match decision.as_str() {
        "rewrite" => ["rewrite.add_flag = \"-n\"", "rewrite.set = { command = \"rm -rf src\" }"][name % 2],
        _ => "",
    };
    format!(
        "[[rule]]\nname = \"r{name}\"\non = \"{event}\"\ndecision = \"{decision}\"\nreason = \"x\"\non_outage = \"{outage}\"\nmode = \"{mode}\"\n{matcher}\n{when}\n{rewrite}\n"
    )
}

pub(crate) fn file() -> impl Strategy<Value = String> {
    let choices = (0..9_usize, 0..6_usize, 0..8_usize, 0..4_usize, 0..3_usize, prop::bool::weighted(0.1));
    prop::collection::vec(choices, 0..7)
        .prop_map(|all| all.into_iter().enumerate().map(|(name, choices)| rule(name, choices)).collect())
}

fn call() -> impl Strategy<Value = Call> {
    let agents = prop::sample::select(Agent::ALL.to_vec());
    let events = prop::sample::select(Event::ALL.to_vec());
    let commands =
        prop::sample::select(vec!["ls", "rm -rf src", "git push", "echo x > src/a", "eval $X", "rm x && ls"]);
    let kinds = prop::sample::select(vec!["", "writer", "reader"]);
    (agents, events, commands, kinds, any::<bool>()).prop_map(|(agent, event, command, kind, again)| {
        let mut fields = json!({"hook_event_name": event.as_str(), "stop_hook_active": again, "prompt": "x"});
        if event.has_tool() {
            fields["tool_name"] = "Bash".into();
            fields["tool_input"] = json!({"command": command});
        }
        if !kind.is_empty() {
            fields["agent_id"] = "a".into();
            fields["agent_type"] = kind.into();
        }
        call_of(agent, fields)
    })
}

fn any_history() -> impl Strategy<Value = Option<FixedHistory>> {
    prop::option::of((0..4_u64, 0..4_u64, 0..4_u64).prop_map(|(repeats, failures, put_off)| FixedHistory {
        repeats: Some(repeats),
        failures: Some(failures),
        put_off: Some(put_off),
        ..FixedHistory::default()
    }))
}

fn decide(policy: &Policy, call: &Call, past: &Option<FixedHistory>) -> agent_tracer_policy::Verdict {
    match past {
        Some(past) => policy.decide(call, past),
        None => policy.decide(call, &NoHistory),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_project_never_weakens_what_the_user_has(
        user in file(), project in file(), call in call(), past in any_history(), trusted in any::<bool>()
    ) {
        let alone = Policy::of_user(rules(&user));
        let trust = if trusted { Trust::Trusted } else { Trust::NotTrusted };
        let together = alone.clone().with_project(rules(&project), trust);
        let (before, after) = (decide(&alone, &call, &past), decide(&together, &call, &past));
        // Where the user's rules say nothing, a project that the user has trusted may speak for the user.
        if before.outcome != Outcome::Silent || !trusted {
            prop_assert!(after.outcome >= before.outcome, "{:?} became {:?}", before.outcome, after.outcome);
        }
        // Whatever the user's rules say is still said.
        for said in &before.context {
            prop_assert!(after.context.contains(said));
        }
        for said in &before.messages {
            prop_assert!(after.messages.contains(said));
        }
        // What the user's rules change is still changed, if the call can still run.
        if before.input.is_some() && matches!(after.outcome, Outcome::Rewrite | Outcome::Ask) {
            prop_assert!(after.input.is_some());
        }
        // The user's own rules are asked the same questions.
        let mine = |fired: &&agent_tracer_policy::FiredRule| fired.origin == Origin::User;
        for fired in before.fired.iter().filter(mine) {
            prop_assert!(after.fired.iter().any(|other| other.rule == fired.rule && mine(&other)));
        }
    }

    #[test]
    fn an_answer_is_nothing_or_one_object_and_never_weaker_than_the_verdict(
        user in file(), call in call(), past in any_history()
    ) {
        let verdict = decide(&Policy::of_user(rules(&user)), &call, &past);
        let said = answer(&call, &verdict);
        if !said.stdout.is_empty() {
            let value: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
            prop_assert!(value.is_object());
            prop_assert_eq!(said.stdout.lines().count(), 1);
            prop_assert_eq!(said.exit, 0);
        }
        let forbids = said.exit == 2
            || said.stdout.contains("\"deny\"")
            || said.stdout.contains("\"block\"")
            || said.stdout.contains("\"continue\":false");
        if verdict.outcome >= Outcome::Deny && legality::has_event(call.agent, call.event) {
            prop_assert!(forbids, "{:?} {}", verdict.outcome, said.stdout);
        }
        if verdict.outcome == Outcome::Ask && legality::has_event(call.agent, call.event)
            && call.event == Event::PreToolUse {
            prop_assert!(forbids || said.stdout.contains("\"ask\""), "{}", said.stdout);
        }
        if verdict.is_silent() {
            prop_assert!(said.is_silent());
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(user in file(), call in call(), past in any_history()) {
        let file = rules(&user);
        let mut turned = file.clone();
        turned.rules.reverse();
        let forwards = decide(&Policy::of_user(file), &call, &past);
        let backwards = decide(&Policy::of_user(turned), &call, &past);
        // Two rewrites may undo each other; which one comes last is a matter of order.
        let rewrites = forwards.fired.iter().filter(|it| it.decision.as_str() == "rewrite").count();
        if rewrites < 2 && !forwards.fired.iter().any(|it| it.basis == Basis::NotPossible) {
            prop_assert_eq!(forwards.outcome, backwards.outcome);
        }
    }

    #[test]
    fn the_table_has_a_row_wherever_a_rule_would_answer(
        user in file(), project in file(), call in call(), past in any_history(), trusted in any::<bool>()
    ) {
        let (user, project) = (rules(&user), rules(&project));
        let (trust, origin) = if trusted {
            (Trust::Trusted, Origin::TrustedProject)
        } else {
            (Trust::NotTrusted, Origin::Project)
        };
        let policy = Policy::of_user(user.clone()).with_project(project.clone(), trust);
        let placed = user.rules.iter().map(|rule| (RuleScope { origin: Origin::User, project: None }, rule)).chain(
            project.rules.iter().map(|rule| (RuleScope { origin, project: Some("/code/app") }, rule)));
        let bytes = compile(placed, &[], 50, b"/bin/guard").unwrap();
        let table = Table::open(&bytes).unwrap();
        let question = Question {
            agent: call.agent.as_str().as_bytes(),
            event: call.event.as_str().as_bytes(),
            tool: call.tool.as_deref().unwrap_or_default().as_bytes(),
            directories: [b"/code/app/src", b""],
        };
        let row = table.ask(&question);
        let said = answer(&call, &decide(&policy, &call, &past));
        prop_assert!(said.is_silent() || row.is_some(), "{said:?}");
        // Without a past an outage says at least what the rules say of it.
        let verdict = policy.decide(&call, &NoHistory);
        for fired in verdict.fired.iter().filter(|fired| fired.counted && fired.basis == Basis::Outage) {
            let least = if fired.decision.as_str() == "ask" { Outage::Ask } else { Outage::Deny };
            if legality::answer_form(call.agent, call.event, fired.decision).is_some() {
                prop_assert!(row.is_some_and(|asked| asked.row.outage >= least), "{fired:?}");
            }
        }
    }

    #[test]
    fn any_text_is_rules_or_faults(text in ".{0,300}") {
        prop_assert!(read(&text).is_ok() || read(&text).is_err_and(|faults| !faults.is_empty()));
    }

    #[test]
    fn any_bytes_are_a_call_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(Call::read(Agent::CODEX, &bytes, Surroundings::default()));
    }
}
