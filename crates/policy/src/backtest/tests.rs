//! A replay answers as the live question did, on generated histories.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use agent_tracer_event::{
    Agent, Certainty, Channel, Entry, Evidence as Reason, FactId, Kind, Millis, Phase, Reading, Subject,
    TaskKey, Tokens,
};
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Verdict};
use agent_tracer_spool::EnvelopeName;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::backtest::{LocalMoment, ReplayRequest, Setting, run};
use crate::daemon::evidence::{LedgerEvidence, LookupCache, QuestionTime};
use crate::daemon::{Arrivals, StopDeferrals, arrivals::ArrivalWait};
use crate::evidence::EvidenceHistory;
use crate::{Basis, Call, OnOutage, Policy, Surroundings, read};

const AGENT: Agent = Agent::CLAUDE_CODE;
const EPOCH: i64 = 1_800_000_000_000;

/// Something that happens, after a pause.
#[derive(Clone, Debug)]
enum Step {
    Prompt,
    Call { input: usize, by_subagent: bool, takes_s: i64, end: End },
    Response { tokens: u64 },
    Stop,
}

/// The end of a call.
#[derive(Clone, Copy, Debug)]
enum End {
    Succeeds,
    Fails,
    /// Nothing reports it.
    Missing,
}

fn inputs() -> Vec<(&'static str, Value)> {
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let edit = |path: &str| ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"}));
    vec![
        bash("cargo test"),
        bash("make it"),
        bash("git commit -m done"),
        bash("cat /code/b.rs"),
        bash("touch /code/made.txt"),
        ("Read", json!({"file_path": "/code/a.rs"})),
        ("Glob", json!({"pattern": "*.rs", "path": "/code/b.rs"})),
        edit("/code/a.rs"),
        edit("/code/b.rs"),
        ("Write", json!({"file_path": "/code/c.rs", "content": "x"})),
        ("TodoWrite", json!({"todos": []})),
    ]
}

fn steps() -> impl Strategy<Value = Vec<(i64, Step)>> {
    let end = prop_oneof![4 => Just(End::Succeeds), 3 => Just(End::Fails), 1 => Just(End::Missing)];
    let call = (0..inputs().len(), prop::bool::weighted(0.2), 1_i64..200, end)
        .prop_map(|(input, by_subagent, takes_s, end)| Step::Call { input, by_subagent, takes_s, end });
    let step = prop_oneof![
        2 => Just(Step::Prompt),
        8 => call,
        2 => (1_u64..200).prop_map(|tokens| Step::Response { tokens }),
        1 => Just(Step::Stop),
    ];
    prop::collection::vec((1_i64..100, step), 1..24)
}

/// Returns a rule for each condition and a few of its limits.
fn rules() -> String {
    let mut rules = String::from("version = 1\n");
    let mut rule = |events: &str, more: &str| {
        let name = format!("r{}", rules.matches("[[rule]]").count());
        rules.push_str(&format!(
            "[[rule]]\nname = \"{name}\"\non = [{events}]\ndecision = \"deny\"\nreason = \"no\"\n{more}\n"
        ));
    };
    let calls = "\"PreToolUse\", \"PostToolUse\", \"PostToolUseFailure\"";
    let all = "\"PreToolUse\", \"PostToolUse\", \"PostToolUseFailure\", \"UserPromptSubmit\", \"Stop\"";
    for limit in 1..4 {
        rule(calls, &format!("when.repeated = {limit}"));
        rule(all, &format!("when.failures_in_a_row = {limit}"));
    }
    rule("\"PreToolUse\"", "when.unread_edit = true");
    for last in ["prompt", "edit", "test", "commit", "start"] {
        for over in [0, 2, 7] {
            rule(all, &format!("when.minutes_since = {{ last = \"{last}\", over = {over} }}"));
        }
    }
    for per in ["turn", "task", "tree"] {
        for over in [0, 150, 600] {
            rule(all, &format!("when.tokens = {{ per = \"{per}\", over = {over} }}"));
        }
    }
    for criterion in ["tests_passed = true", "failures_handled = true", "wrote = [\"/code/*.rs\"]"] {
        rule("\"Stop\"", &format!("require.{criterion}"));
    }
    rules
}

/// Everything is in the ledger before it is asked about.
struct Arrived;

impl Arrivals for Arrived {
    fn wait_for_earlier(&self, _: &EnvelopeName, _: Option<&str>, _: Duration) -> bool {
        true
    }
    fn wait_for(&self, _: &EnvelopeName, _: Duration) -> bool {
        true
    }
    fn peek(&self, _: &EnvelopeName) -> Option<Reading> {
        None
    }
}

/// Something that reaches the ledger.
enum Input {
    Hook(Value),
    Response { turn: String, tokens: u64 },
}

/// Lays the steps out in time: calls overlap, and their ends come later.
fn schedule(steps: &[(i64, Step)]) -> BTreeMap<i64, Input> {
    let mut events: BTreeMap<i64, Input> = BTreeMap::new();
    let mut add = |mut at: i64, input: Input| {
        // Two events of one millisecond have no order that a live question could see.
        while events.contains_key(&at) {
            at += 1;
        }
        events.insert(at, input);
    };
    let (mut at, mut turn, inputs) = (EPOCH, 0, inputs());
    let hook = |event: &str, turn: usize, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "s1", "cwd": "/code",
            "transcript_path": "/t/s1.jsonl", "permission_mode": "default", "prompt_id": format!("p{turn}")});
        if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
            payload.extend(more);
        }
        Input::Hook(payload)
    };
    add(at, hook("SessionStart", 0, json!({"source": "startup"})));
    for (number, (pause_s, step)) in steps.iter().enumerate() {
        at += pause_s * 1000 + 7;
        match step {
            Step::Prompt => {
                turn += 1;
                add(at, hook("UserPromptSubmit", turn, json!({"prompt": format!("do {number}")})));
            }
            Step::Response { tokens } => {
                add(at, Input::Response { turn: format!("p{turn}"), tokens: *tokens });
            }
            Step::Stop => add(
                at,
                hook(
                    "Stop",
                    turn,
                    json!({"stop_hook_active": false, "last_assistant_message": format!("done {number}")}),
                ),
            ),
            Step::Call { input, by_subagent, takes_s, end } => {
                let (tool, input) = &inputs[*input];
                let mut call =
                    json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("toolu_{number}")});
                if *by_subagent {
                    call["agent_id"] = json!("sub1");
                    call["agent_type"] = json!("Explore");
                }
                add(at, hook("PreToolUse", turn, call.clone()));
                let (event, result, text) = match end {
                    End::Succeeds => ("PostToolUse", "tool_response", json!({})),
                    End::Fails => ("PostToolUseFailure", "error", json!("Exit code 1\n")),
                    End::Missing => continue,
                };
                call[result] = text;
                add(at + takes_s * 1000, hook(event, turn, call));
            }
        }
    }
    events
}

fn response(at: i64, turn: &str, tokens: u64) -> Observed {
    let mut entry = Entry::new(
        Subject::Event(Kind::TokenUsage),
        Phase::Close,
        TaskKey::new(AGENT, "s1"),
        format!("response:{at}"),
        Millis(at),
        Reason { certainty: Certainty::Reported, reason: "a test".to_owned() },
    );
    entry.turn = Some(turn.to_owned());
    Tokens { input: tokens, ..Tokens::default() }.write(&mut entry.metadata);
    Observed {
        name: format!("response-{at}"),
        source: None,
        agent: AGENT,
        channel: Channel::Transcript,
        arrived: Millis(at),
        verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
        payload: None,
        kept: None,
    }
}

/// The rules that spoke, by event and call or time, and how often each could not be judged.
#[derive(Debug, Default, PartialEq)]
struct FiredRules {
    fired: BTreeMap<(String, String), Vec<String>>,
    unknown: BTreeMap<String, u64>,
}

/// Names a moment: by its call, or by its time.
fn moment(event: &str, id: Option<&str>, at: Millis) -> (String, String) {
    (event.to_owned(), id.map_or_else(|| at.0.to_string(), str::to_owned))
}

fn ask_live(ledger: &Ledger, policy: &Policy, payload: &[u8], at: Millis, spoken: &mut FiredRules) {
    let around =
        Surroundings { project: Some("/code".to_owned()), home: Some("/home/dev".to_owned()), now: None };
    let Ok(Some(call)) = Call::read(AGENT, payload, around) else { return };
    let (history, store, deferrals) = (ledger.history(), ledger.store(), StopDeferrals::default());
    let history = EvidenceHistory::new(LedgerEvidence {
        agent: AGENT,
        payload,
        history: &history,
        store: store.as_ref(),
        time: QuestionTime { now: at, midnight: Millis(EPOCH) },
        wait: ArrivalWait {
            arrivals: &Arrived,
            envelope: Some(EnvelopeName::new(1, 2, 3)),
            session: call.session.as_deref(),
            max_wait: Duration::ZERO,
        },
        deferrals: &deferrals,
        cache: LookupCache::default(),
    });
    for fired in policy.decide(&call, &history).fired {
        if fired.basis == Basis::Outage {
            *spoken.unknown.entry(fired.rule).or_default() += 1;
        } else {
            let key = moment(call.event.as_str(), call.tool_use_id.as_deref(), at);
            spoken.fired.entry(key).or_default().push(fired.rule);
        }
    }
}

fn replay(ledger: &Ledger, policy: &Policy) -> FiredRules {
    let setting = Setting {
        user_home: Some("/home/dev".to_owned()),
        local: Arc::new(|_| LocalMoment { local: None, midnight: Millis(EPOCH) }),
        cost_pico: Arc::new(|_| None),
    };
    let ask =
        ReplayRequest { policy, since: Millis(0), now: Millis(EPOCH * 2), project: None, setting: &setting };
    let store = ledger.store();
    let found = run(store.as_ref(), &ask, |_| None).expect("a store that answers");
    let mut spoken = FiredRules::default();
    let ids: RefCell<HashMap<String, Option<String>>> = RefCell::default();
    for rule in found.rules {
        assert!(rule.examples.len() < crate::backtest::EXAMPLES_MAX, "all of them are seen");
        for example in rule.examples {
            let mut ids = ids.borrow_mut();
            let id = ids.entry(example.row_id.clone()).or_insert_with(|| {
                let id = FactId::parse(&example.row_id).expect("an id");
                store.event(&id).expect("a row").row.tool_use_id
            });
            let key = moment(&example.event, id.as_deref(), example.occurred_at);
            spoken.fired.entry(key).or_default().push(rule.name.clone());
        }
        let unknown: u64 = rule.not_judged.iter().filter_map(|it| it.count).sum();
        if unknown > 0 {
            spoken.unknown.insert(rule.name, unknown);
        }
    }
    spoken
}

/// Asks live after each event and replays at the end. Returns how many rules spoke.
fn compare(steps: &[(i64, Step)]) -> Result<usize, TestCaseError> {
    let memory = std::path::Path::new("/dev/shm");
    let folder =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder");
    let ledger = Ledger::open(&folder.path().join("ledger.db"), Options::default()).expect("a ledger");
    let mut rules = read(&rules()).expect("sound rules");
    // As a replay does it: with this, a rule that cannot be evaluated says so.
    rules.rules.iter_mut().for_each(|rule| rule.on_outage = OnOutage::Deny);
    let policy = Policy::of_user(rules);
    let mut live = FiredRules::default();
    for (at, input) in schedule(steps) {
        let (observed, payload) = match input {
            Input::Hook(payload) => {
                let payload = serde_json::to_vec(&payload).expect("JSON");
                let name = format!("hook-{at}");
                (agent_tracer_testkit::hook(AGENT, &name, Millis(at), false, &payload), Some(payload))
            }
            Input::Response { turn, tokens } => (response(at, &turn, tokens), None),
        };
        ledger.append(Batch { observed: vec![observed], ..Batch::default() }).expect("appended");
        if let Some(payload) = payload {
            ask_live(&ledger, &policy, &payload, Millis(at), &mut live);
        }
    }
    let mut replayed = replay(&ledger, &policy);
    for spoken in [&mut live, &mut replayed] {
        spoken.fired.values_mut().for_each(|rules| rules.sort());
    }
    prop_assert_eq!(&live, &replayed);
    Ok(live.fired.values().map(Vec::len).sum())
}

#[test]
fn a_replay_answers_as_the_live_question_did() {
    let spoke = RefCell::new(0);
    let config = ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in steps())| {
        *spoke.borrow_mut() += compare(&steps)?;
    });
    assert!(spoke.into_inner() > 1000, "the rules speak");
}
