//! Alerts: found once, sent once, received.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

mod receiver;

use agent_tracer_agents::{Context, Observation, Source, read};
use agent_tracer_event::{Agent, Channel, Millis};
use agent_tracer_jobs::alerts::{Alert, Counts, Kind, Outcome, Settings, Watch};
use agent_tracer_ledger::{Batch, Ledger, Observed, Options, Verdict};
use serde_json::{Value, json};

const T0: i64 = 1_794_777_000_000;
const MINUTE: i64 = 60_000;

struct World {
    ledger: Ledger,
    _folder: tempfile::TempDir,
    sent: u64,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pricer = std::sync::Arc::new(agent_tracer_prices::Prices::embedded());
        let options = Options { pricer, ..Options::default() };
        let ledger = Ledger::open(&folder.path().join("ledger.db"), options).unwrap();
        Self { ledger, _folder: folder, sent: 0 }
    }

    fn bring(&self, observed: Observed) {
        self.ledger.append(Batch { observed: vec![observed], ..Batch::default() }).unwrap();
    }

    fn name(&mut self) -> String {
        self.sent += 1;
        format!("made-{}", self.sent)
    }

    fn hook(&mut self, at: i64, payload: Value) {
        let body = whole(payload);
        let name = self.name();
        let is_status_line = !String::from_utf8_lossy(&body).contains("hook_event_name");
        self.bring(agent_tracer_testkit::hook(Agent::CLAUDE_CODE, &name, Millis(at), is_status_line, &body));
    }

    fn call(&mut self, at: i64, id: &str, command: &str, is_failed: bool) {
        let ends = if is_failed { "PostToolUseFailure" } else { "PostToolUse" };
        for event in ["PreToolUse", ends] {
            self.hook(
                at,
                json!({"hook_event_name": event, "tool_name": "Bash", "tool_use_id": id,
                "tool_input": {"command": command}, "tool_response": {}, "error": "Exit code 1"}),
            );
        }
    }

    /// The record of a rule that spoke.
    fn decided(&mut self, at: i64, mode: &str, decision: &str) {
        let name = self.name();
        let rule = json!({"rule": "no-delete", "origin": "user", "decision": decision, "basis": "applies",
            "mode": mode, "severity": "medium", "counted": mode == "enforce"});
        let body = whole(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": name,
            "decision": {"answered_by": "server", "outcome": decision, "took_us": 5, "rules": [rule]}}));
        let reading = read(&Observation {
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Hook,
            name: &name,
            arrived: Millis(at),
            source: Source::Decision,
            body: &body,
            context: &Context::default(),
        });
        self.bring(Observed {
            name,
            source: None,
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Hook,
            arrived: Millis(at),
            verdict: Verdict::Read(reading),
            payload: None,
            kept: None,
        });
    }

    fn look(&self, watch: &mut Watch, on: &str, now: i64) -> Vec<Alert> {
        let settings: Settings = toml::from_str(&format!("desktop = true\n[on]\n{on}\n")).unwrap();
        watch.check(self.ledger.store().as_ref(), &settings, Millis(now), Millis(T0 - MINUTE)).unwrap()
    }
}

fn whole(mut payload: Value) -> Vec<u8> {
    let fields = payload.as_object_mut().unwrap();
    for (name, value) in [("session_id", "s1"), ("cwd", "/code"), ("transcript_path", "/t/s1.jsonl")] {
        fields.entry(name).or_insert_with(|| value.into());
    }
    serde_json::to_vec(&payload).unwrap()
}

fn lines(alerts: &[Alert]) -> Vec<(Kind, &str)> {
    alerts.iter().map(|alert| (alert.kind, alert.text.as_str())).collect()
}

#[test]
fn a_waiting_agent_is_reported_after_the_time_and_again_only_after_the_cool_down() {
    let mut world = World::new();
    world.hook(T0, json!({"hook_event_name": "UserPromptSubmit", "prompt": "SECRET words"}));
    world.hook(
        T0 + 1,
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "a",
        "tool_input": {"command": "SECRET command"}}),
    );
    world.hook(
        T0 + 2,
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "SECRET command"}}),
    );
    let counts = Counts::default();
    let (mut watch, on) = (Watch::counting(counts.clone()), "waiting_minutes = 5");
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 4 * MINUTE)), []);
    let alerts = world.look(&mut watch, on, T0 + 6 * MINUTE);
    assert_eq!(lines(&alerts), [(Kind::Waiting, "claude_code has waited for a permission for 5 minutes")]);
    assert!(!format!("{alerts:?}").contains("SECRET"), "{alerts:?}");
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 8 * MINUTE)), []);
    let counted: Vec<_> = counts.all().into_iter().filter(|(.., count)| *count > 0).collect();
    assert_eq!(counted, [(Kind::Waiting, Outcome::CooledDown, 1)], "what was held back is counted");
    assert_eq!(world.look(&mut watch, on, T0 + 16 * MINUTE).len(), 1, "the cool-down is over");
    assert_eq!(lines(&world.look(&mut Watch::default(), "stuck_minutes = 60", T0 + 6 * MINUTE)), []);
    world.hook(
        T0 + 17 * MINUTE,
        json!({"hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "", "background_tasks": [], "session_crons": []}),
    );
    assert_eq!(
        lines(&world.look(&mut Watch::default(), on, T0 + 60 * MINUTE)),
        [],
        "a finished task does not wait"
    );
}

#[test]
fn who_works_and_says_nothing_is_stuck() {
    let mut world = World::new();
    world.hook(T0, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    let (mut watch, on) = (Watch::default(), "stuck_minutes = 15");
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 14 * MINUTE)), []);
    let alerts = world.look(&mut watch, on, T0 + 16 * MINUTE);
    assert_eq!(lines(&alerts), [(Kind::Stuck, "claude_code is running and has been silent for 16 minutes")]);
    assert_eq!(alerts.first().unwrap().project.as_deref(), Some("/code"));
}

#[test]
fn loops_and_many_failures_are_reported() {
    let mut world = World::new();
    let (mut watch, on) = (Watch::default(), "looping = 4\nfailures = 3");
    world.call(T0, "a0", "make it", true);
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 1)), [], "what was before the watch began is no news");
    for number in 1..=3 {
        world.call(T0 + number * 1000, &format!("a{number}"), "make it", true);
    }
    let alerts = world.look(&mut watch, on, T0 + MINUTE);
    assert_eq!(
        lines(&alerts),
        [
            (Kind::Failures, "3 calls of claude_code failed within ten minutes"),
            (Kind::Looping, "the same call was repeated 4 times, 4 of them failed"),
        ]
    );
    for number in 4..=5 {
        world.call(T0 + number * 6 * MINUTE, &format!("a{number}"), &format!("other {number}"), true);
        assert_eq!(
            lines(&world.look(&mut watch, "failures = 3", T0 + number * 6 * MINUTE)),
            [],
            "slowly is no burst"
        );
    }
}

#[test]
fn a_denial_is_reported_and_a_rehearsal_is_not() {
    let mut world = World::new();
    world.decided(T0, "enforce", "deny");
    let (mut watch, on) = (Watch::default(), "denials = true");
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 1)), [], "what was before the watch began is no news");
    world.decided(T0 + 2, "dry_run", "deny");
    world.decided(T0 + 3, "enforce", "warn");
    assert_eq!(lines(&world.look(&mut watch, on, T0 + 4)), []);
    world.decided(T0 + 5, "enforce", "deny");
    world.decided(T0 + 6, "enforce", "deny");
    let alerts = world.look(&mut watch, on, T0 + 7);
    assert_eq!(lines(&alerts), [(Kind::Denial, "rule `no-delete` denied an action of the agent")]);
    assert_eq!(lines(&world.look(&mut watch, "denials = false", T0 + 8)), []);
}

#[test]
fn budget_and_rate_limits_are_reported_when_they_are_reached() {
    let mut world = World::new();
    let limits = json!({"five_hour": {"used_percentage": 91, "resets_at": (T0 + 60 * MINUTE) / 1000}});
    world.hook(
        T0,
        json!({"model": {"id": "claude-opus-4-1", "display_name": "Opus"}, "rate_limits": limits,
        "cost": {"total_cost_usd": 1.5}, "version": "2.1.325", "workspace": {"current_dir": "/code"}}),
    );
    let on = "rate_limit_pct = 90";
    let alerts = world.look(&mut Watch::default(), on, T0 + MINUTE);
    assert_eq!(lines(&alerts), [(Kind::RateLimit, "91 % of the five-hour limit of claude_code is used")]);
    assert_eq!(lines(&world.look(&mut Watch::default(), "rate_limit_pct = 92", T0 + MINUTE)), []);
    assert_eq!(lines(&world.look(&mut Watch::default(), on, T0 + 61 * MINUTE)), [], "it has begun anew");
    assert_eq!(lines(&world.look(&mut Watch::default(), "budget_usd = 1.0", T0 + MINUTE)), []);
    for scenario in agent_tracer_testkit::scenarios().into_iter().take(40) {
        for observed in scenario.observed(Some(Channel::Transcript)) {
            world.bring(observed);
        }
    }
    let settings: Settings = toml::from_str("desktop = true\n[on]\nbudget_usd = 0.0001\n").unwrap();
    let found =
        Watch::default().check(world.ledger.store().as_ref(), &settings, Millis(T0), Millis(0)).unwrap();
    assert!(
        found.iter().any(|alert| alert.kind == Kind::Budget && alert.text.contains("the budget is $0.00")),
        "{found:?}"
    );
}

#[test]
fn alerts_that_are_switched_off_are_not_reported() {
    let mut world = World::new();
    for number in 0..6 {
        world.call(T0 + number, &format!("a{number}"), "make it", true);
    }
    world.decided(T0 + 9, "enforce", "deny");
    assert_eq!(lines(&world.look(&mut Watch::default(), "", T0 + 90 * MINUTE)), []);
}
