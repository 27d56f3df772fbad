//! Describes what a person answered to Codex, and when: permissions that were given or refused, and questions. By hooks
//! alone, by files alone and by both, whatever came first.

use agent_tracer_event::{Agent, CallState, Channel, Kind, Millis, TaskId, TaskKey};
use agent_tracer_ledger::view::{Permission, Question, Row, TaskStatus, ToolCall};
use agent_tracer_ledger::{Observed, Range, RowFilter};
use agent_tracer_testkit::{decision_of, hook, scenario};
use serde_json::{Value, json};

use crate::queries::every;
use crate::world::World;

/// Hooks and files, hooks alone, files alone.
const MODES: [Option<Channel>; 3] = [None, Some(Channel::Hook), Some(Channel::Transcript)];

fn id(thread: &str) -> TaskId {
    TaskKey::new(Agent::CODEX, thread).task_id()
}

fn calls(world: &World, thread: &str) -> Vec<ToolCall> {
    let store = world.ledger.store();
    every(|paging| store.tool_calls(&id(thread), &RowFilter { paging, ..RowFilter::default() }))
}

fn permissions(world: &World, thread: &str) -> Vec<Permission> {
    let store = world.ledger.store();
    every(|paging| store.permissions(&id(thread), &RowFilter { paging, ..RowFilter::default() }))
}

fn questions(world: &World, thread: &str) -> Vec<Question> {
    let store = world.ledger.store();
    every(|paging| store.questions(&id(thread), &RowFilter { paging, ..RowFilter::default() }))
}

fn waiting_ms(world: &World, thread: &str) -> u64 {
    world.ledger.store().summary(Millis(0), &id(thread)).unwrap().waiting_ms
}

/// Returns what a scenario tells in each mode, forwards and backwards, in pieces of several sizes.
fn worlds(name: &str) -> Vec<(Option<Channel>, World)> {
    let captured = scenario(name);
    let mut all = Vec::new();
    for mode in MODES {
        let observed = captured.observed(mode);
        let mut reversed = observed.clone();
        reversed.reverse();
        all.extend([(mode, World::with(&observed, 3)), (mode, World::with(&reversed, 1))]);
    }
    all
}

fn has_hooks(mode: Option<Channel>) -> bool {
    mode != Some(Channel::Transcript)
}

#[track_caller]
fn assert_wait(wait: Option<u64>, expected: u64, within: u64, about: &str) {
    assert!(
        wait.is_some_and(|wait| wait.abs_diff(expected) <= within),
        "{about}: {wait:?} is not {expected}"
    );
}

#[test]
fn no_in_a_dialog_is_a_refusal_with_the_time_that_it_took() {
    let thread = "01a1ed45-c023-72f0-b713-963177211473";
    for (mode, world) in worlds("0.169.0/denied") {
        let calls = calls(&world, thread);
        let [call] = calls.as_slice() else { panic!("{mode:?}: {calls:?}") };
        assert_eq!(call.state, CallState::Denied, "{mode:?}");
        assert_eq!(call.error_class.as_deref(), Some("permission"), "{mode:?}");
        let asked = permissions(&world, thread);
        if !has_hooks(mode) {
            assert_eq!(asked, [], "a rollout does not tell of dialogs");
            continue;
        }
        let [permission] = asked.as_slice() else { panic!("{mode:?}: {asked:?}") };
        assert_eq!(permission.decision.as_deref(), Some("denied"), "{mode:?}");
        assert_eq!(permission.call_id.as_deref(), Some(call.id.as_str()), "{mode:?}");
        assert_wait(permission.wait_ms, 2_300, 100, &format!("{mode:?}"));
        assert_wait(Some(waiting_ms(&world, thread)), 2_300, 100, &format!("{mode:?}"));
        assert_wait(call.permission_wait_ms, 2_300, 100, &format!("{mode:?}"));
    }
}

/// Returns each call: tool and state.
fn states(world: &World, thread: &str) -> Vec<(String, CallState)> {
    calls(world, thread).into_iter().map(|call| (call.tool_name, call.state)).collect()
}

/// Returns what became of each permission.
fn decisions(world: &World, thread: &str) -> Vec<String> {
    permissions(world, thread).into_iter().filter_map(|permission| permission.decision).collect()
}

#[test]
fn commands_patches_and_calls_of_servers_are_refused_alike() {
    let thread = "01a1ee88-3398-7cc3-a9b8-40bf2aa70d09";
    let named = |state: CallState| {
        [("Bash", CallState::Denied), ("apply_patch", CallState::Denied), ("mcp__demo__write", state)]
            .map(|(tool, state)| (tool.to_owned(), state))
    };
    for (mode, world) in worlds("0.169.0/refuse") {
        let calls = states(&world, thread);
        // Hooks do not tell how a call of a server ended that did not go well, and its turn goes on.
        let is_blind = mode == Some(Channel::Hook);
        assert_eq!(
            calls,
            named(if is_blind { CallState::Interrupted } else { CallState::Denied }),
            "{mode:?}"
        );
        if has_hooks(mode) {
            let last = if is_blind { "unanswered" } else { "denied" };
            assert_eq!(decisions(&world, thread), ["denied", "denied", last], "{mode:?}");
            let waits: Vec<Option<u64>> =
                permissions(&world, thread).into_iter().map(|permission| permission.wait_ms).collect();
            for wait in waits.iter().take(if is_blind { 2 } else { 3 }) {
                assert_wait(*wait, 2_400, 500, &format!("{mode:?} {waits:?}"));
            }
        }
    }
}

#[test]
fn a_command_that_was_approved_and_then_cut_off_was_not_refused() {
    let thread = "01a1ee88-6ee4-7461-a87e-deed3ec16384";
    let captured = scenario("0.169.0/approve");
    for mode in [None, Some(Channel::Transcript)] {
        let mut observed = captured.observed(mode);
        for _ in 0..2 {
            let world = World::with(&observed, 2);
            let calls = states(&world, thread);
            let states: Vec<CallState> = calls.into_iter().map(|(_, state)| state).collect();
            assert_eq!(
                states,
                [CallState::Succeeded, CallState::Succeeded, CallState::Interrupted],
                "{mode:?}"
            );
            if has_hooks(mode) {
                assert_eq!(decisions(&world, thread), ["allowed", "allowed"]);
                for permission in permissions(&world, thread) {
                    assert_wait(permission.wait_ms, 1_200, 400, "answered at once");
                }
            }
            observed.reverse();
        }
    }
}

#[test]
fn questions_are_answered_or_left_each_with_its_wait() {
    let thread = "01a1ee88-9f82-7d73-b0ea-33aed1af63d0";
    for (mode, world) in worlds("0.169.0/questions") {
        let all = questions(&world, thread);
        let [both, left] = all.as_slice() else { panic!("{mode:?}: {all:?}") };
        assert_eq!((both.phase.as_str(), both.questions.len()), ("answered", 2), "{mode:?}");
        assert_eq!(left.phase, "cancelled", "{mode:?}");
        assert_wait(both.wait_ms, 3_000, 600, &format!("{mode:?}"));
        assert_wait(left.wait_ms, 700, 300, &format!("{mode:?}"));
        let waits = both.wait_ms.unwrap() + left.wait_ms.unwrap();
        assert_eq!(waiting_ms(&world, thread), waits, "{mode:?}");
        let store = world.ledger.store();
        let columns = store.activity(&Range::default(), 1).unwrap().items;
        assert_eq!(columns.iter().map(|column| column.waiting_ms).sum::<u64>(), waits, "{mode:?}");
        // The answers are counted where the file or the result tells of them, and never quoted.
        let whole = serde_json::to_string(&all).unwrap();
        assert!(!whole.contains("answers"), "{whole}");
    }
}

#[test]
fn a_question_of_plan_mode_is_answered() {
    let thread = "01a1ed46-5664-7ff1-9bcc-49f9ed0856dc";
    for (mode, world) in worlds("0.169.0/plan_question") {
        let all = questions(&world, thread);
        let [question] = all.as_slice() else { panic!("{mode:?}: {all:?}") };
        assert_eq!(question.phase, "answered", "{mode:?}");
        assert_wait(question.wait_ms, 1_130, 60, &format!("{mode:?}"));
        assert_wait(Some(waiting_ms(&world, thread)), 1_130, 60, &format!("{mode:?}"));
    }
}

fn payload(event: &str, more: Value) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": "t", "turn_id": "1", "cwd": "/w",
        "transcript_path": null, "model": "m", "permission_mode": "default"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

/// Payloads of hooks, a second apart.
fn hooks(payloads: &[Value]) -> Vec<Observed> {
    let numbered = payloads.iter().enumerate();
    numbered
        .map(|(index, payload)| {
            let at = Millis(1_795_000_000_000 + 1_000 * i64::try_from(index).unwrap());
            hook(Agent::CODEX, &format!("h{index}"), at, false, &serde_json::to_vec(payload).unwrap())
        })
        .collect()
}

#[test]
fn an_interrupt_refuses_only_the_call_that_was_being_asked_about() {
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let attempt = |id: &str, command: &str| {
        let mut call = bash(command);
        call["tool_use_id"] = id.into();
        payload("PreToolUse", call)
    };
    let mut events = vec![
        payload("UserPromptSubmit", json!({"prompt": "Go"})),
        attempt("a", "sleep 9"),
        attempt("b", "rm x"),
        payload("PermissionRequest", bash("rm x")),
        payload("Interrupt", json!({})),
    ];
    let mut observed = hooks(&events);
    for _ in 0..2 {
        let world = World::with(&observed, 1);
        let states: Vec<CallState> = calls(&world, "t").into_iter().map(|call| call.state).collect();
        assert_eq!(states, [CallState::Interrupted, CallState::Denied]);
        assert_eq!(permissions(&world, "t")[0].wait_ms, Some(1_000));
        observed.reverse();
    }
    // Nothing was decided while the dialog is open, nor where the process went away with it.
    events.pop();
    let world = World::with(&hooks(&events), 1);
    assert_eq!(permissions(&world, "t")[0].decision, None);
    events.push(payload("SessionEnd", json!({"reason": "other"})));
    let world = World::with(&hooks(&events), 1);
    assert_eq!(permissions(&world, "t")[0].decision.as_deref(), Some("unanswered"));
    assert_eq!(calls(&world, "t")[1].state, CallState::Abandoned);
}

#[test]
fn a_refusal_that_turns_out_to_be_none_is_taken_back() {
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "a"});
    let asked = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    let observed = hooks(&[
        payload("PreToolUse", bash.clone()),
        payload("PermissionRequest", asked),
        payload("PostToolUse", bash),
        payload("Interrupt", json!({})),
    ]);
    // The interrupt first, so that the call counts as refused until its result arrives.
    let order = [0, 1, 3, 2].map(|index: usize| observed[index].clone());
    let world = World::with(&order, 1);
    assert_eq!(calls(&world, "t")[0].state, CallState::Succeeded);
    assert_eq!(calls(&world, "t")[0].error_class, None);
    assert_eq!(permissions(&world, "t")[0].decision.as_deref(), Some("allowed"));
}

/// Returns the decision of a rule on an event, right after it: the event may not happen.
fn blocked(payload: &Value, event: &Observed) -> Observed {
    let mut record = payload.clone();
    let rule = json!({"rule": "no-end", "origin": "user", "decision": "deny", "basis": "applies", "mode": "enforce",
        "severity": "high", "counted": true});
    record["decision"] = json!({"answered_by": "server", "outcome": "deny", "took_us": 100, "rules": [rule],
        "event": event.name});
    decision_of(event, &serde_json::to_vec(&record).unwrap())
}

#[test]
fn an_end_of_a_subagent_that_a_rule_blocked_is_no_end() {
    let child = "01a1ed45-c023-72f0-b713-963177211474";
    let of_child = |event: &str, again: bool| {
        let mut more = json!({"agent_id": child, "agent_type": "worker", "turn_id": "u1"});
        if event == "SubagentStop" {
            more["stop_hook_active"] = again.into();
            more["last_assistant_message"] = "Done.".into();
        }
        payload(event, more)
    };
    let stop = of_child("SubagentStop", false);
    let mut observed =
        hooks(&[of_child("SubagentStart", false), stop.clone(), of_child("SubagentStop", true)]);
    let last = observed.pop().unwrap();
    observed.push(blocked(&stop, &observed[1]));
    let kinds = |world: &World, thread: &str| -> Vec<(Kind, Option<String>)> {
        let store = world.ledger.store();
        let rows = every(|paging| store.timeline(&id(thread), &RowFilter { paging, ..RowFilter::default() }));
        let status = |row: &Row| row.metadata.get("asyncStatus").and_then(Value::as_str).map(str::to_owned);
        rows.iter().map(|row| (row.kind, status(row))).collect()
    };
    let running = (Kind::ActionLogged, Some("running".to_owned()));
    for _ in 0..2 {
        let world = World::with(&observed, 1);
        let rows = kinds(&world, child);
        assert!(rows.contains(&running), "{rows:?}");
        assert!(!rows.iter().any(|(kind, _)| *kind == Kind::SessionEnded), "{rows:?}");
        assert!(kinds(&world, "t").contains(&running));
        assert_eq!(world.ledger.store().task(Millis(0), &id(child)).unwrap().status, TaskStatus::Running);
        observed.reverse();
    }
    // Codex re-enters the same turn, and the next end was let pass.
    observed.push(last);
    let world = World::with(&observed, 1);
    let rows = kinds(&world, child);
    assert!(rows.iter().any(|(kind, _)| *kind == Kind::SessionEnded), "{rows:?}");
    assert!(kinds(&world, "t").contains(&(Kind::ActionLogged, Some("completed".to_owned()))));
    assert_eq!(world.ledger.store().task(Millis(0), &id(child)).unwrap().status, TaskStatus::Completed);
}
