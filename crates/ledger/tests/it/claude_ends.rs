//! Finds who owns what Claude Code's agents do, and when prompts, turns, calls and agents end: by hooks alone, by files
//! alone and by both the same.

use agent_tracer_event::{Agent, CallState, Channel, Kind, Millis, TaskId, TaskKey};
use agent_tracer_ledger::view::{Question, Row, Task, TaskKind, TaskStatus, ToolCall, Turn};
use agent_tracer_ledger::{Observed, RowFilter};
use agent_tracer_testkit::{Level, Scenario, claude_at, decision_of, hook, scenario, scenarios};
use serde_json::{Value, json};

use crate::provider_usage::tasks;
use crate::queries::every;
use crate::world::World;

const MODES: [Option<Channel>; 3] = [None, Some(Channel::Hook), Some(Channel::Transcript)];

fn id(session: &str) -> TaskId {
    TaskKey::new(Agent::CLAUDE_CODE, session).task_id()
}

fn task(world: &World, session: &str) -> Task {
    world.ledger.store().task(Millis(0), &id(session)).unwrap()
}

fn turns(world: &World, session: &str) -> Vec<Turn> {
    every(|paging| world.ledger.store().turns(&id(session), &paging))
}

fn rows(world: &World, session: &str, kind: Kind) -> Vec<Row> {
    let store = world.ledger.store();
    let all = every(|paging| store.timeline(&id(session), &RowFilter { paging, ..RowFilter::default() }));
    all.into_iter().filter(|row| row.kind == kind).collect()
}

fn calls(world: &World, session: &str) -> Vec<ToolCall> {
    let store = world.ledger.store();
    every(|paging| store.tool_calls(&id(session), &RowFilter { paging, ..RowFilter::default() }))
}

fn questions(world: &World, session: &str) -> Vec<Question> {
    let store = world.ledger.store();
    every(|paging| store.questions(&id(session), &RowFilter { paging, ..RowFilter::default() }))
}

fn active_ms(world: &World, session: &str) -> u64 {
    world.ledger.store().summary(Millis(0), &id(session)).unwrap().active_ms
}

fn at(text: &str) -> Millis {
    Millis::parse(&format!("2026-11-18T{text}Z")).unwrap()
}

#[track_caller]
fn assert_near(actual: Option<Millis>, expected: &str, within_ms: i64, about: &str) {
    let apart = actual.map(|actual| (actual.0 - at(expected).0).abs());
    assert!(apart.is_some_and(|apart| apart <= within_ms), "{about}: {actual:?} is not {expected}");
}

const CLEARED: &str = "ac1904a0-becb-46c9-8192-c22f94675e27";
const AFTER_CLEAR: &str = "8b7f86e4-9c60-487b-b1dd-25f6dae7d66b";
const OUTLIVES_CLEAR: &str = "sub--afa2720dffc3fe611";

#[test]
fn an_agent_that_outlives_clear_belongs_to_the_session_that_started_it() {
    let clear = scenario("2.1.326/clear_bg");
    // Without the session's own files the agent's rows alone say whose it is.
    let agent_only: Vec<Observed> = clear
        .parts
        .iter()
        .filter(|part| part.path.contains("/subagents/"))
        .flat_map(|part| part.observed.clone())
        .collect();
    for observed in MODES.map(|mode| clear.observed(mode)).into_iter().chain([agent_only]) {
        let mut reversed = observed.clone();
        reversed.reverse();
        for observed in [observed, reversed] {
            let world = World::with(&observed, 7);
            let parent = task(&world, OUTLIVES_CLEAR).parent_task_id;
            assert_eq!(parent, Some(id(CLEARED).to_string()));
        }
    }
}

#[test]
fn what_an_agent_cost_after_clear_is_in_one_account_and_counts_once() {
    let clear = scenario("2.1.326/clear_bg");
    for mode in [None, Some(Channel::Transcript)] {
        let mut observed = clear.observed(mode);
        for _ in 0..2 {
            let world = World::with(&observed, 3);
            let all = tasks(&world);
            for task in all.values() {
                assert_eq!(task.usage.residual, None, "{mode:?} {}", task.runtime_session_id);
            }
            let sum = |part: fn(&Task) -> u64| all.values().map(part).sum::<u64>();
            let spent = (sum(|task| task.usage.tokens.input), sum(|task| task.usage.tokens.output));
            assert_eq!(spent, (49, 378), "{mode:?}");
            assert_eq!(all[OUTLIVES_CLEAR].usage.tokens.output, 105, "{mode:?}");
            observed.reverse();
        }
    }
}

#[test]
fn the_row_of_an_agent_ends_with_the_agent_wherever_its_end_was_reported() {
    let clear = scenario("2.1.326/clear_bg");
    for mode in MODES {
        let world = World::with(&clear.observed(mode), 7);
        let all = rows(&world, CLEARED, Kind::ActionLogged);
        let [row] = all.as_slice() else { panic!("{mode:?}: {all:?}") };
        assert_eq!(row.metadata["asyncStatus"], "completed", "{mode:?}");
        assert_near(row.ended_at, "05:54:24.129", 500, &format!("{mode:?}"));
        // The call that started it is reported about in the session that made it, and in no other.
        assert!(calls(&world, AFTER_CLEAR).iter().all(|call| call.tool_name == "Bash"), "{mode:?}");
        assert_eq!(rows(&world, AFTER_CLEAR, Kind::AgentActivityLogged), [], "{mode:?}");
    }
}

#[test]
fn a_prompt_that_waits_does_not_take_the_place_of_the_one_that_runs() {
    let session = "06ad9f98-a102-45f4-adfb-809173e1ccdb";
    for mode in MODES {
        let world = World::with(&scenario("2.1.326/queue").observed(mode), 4);
        let said: Vec<String> =
            rows(&world, session, Kind::UserMessage).into_iter().map(|row| row.title).collect();
        assert_eq!(said, ["First [[queue1]]", "Second [[queue2]]"], "{mode:?}");
        let turns = turns(&world, session);
        let [turn] = turns.as_slice() else { panic!("{mode:?}: {turns:?}") };
        assert_eq!(turn.prompt.as_deref(), Some("First [[queue1]]"), "{mode:?}");
        assert_eq!(turn.prompt_origin.as_deref(), Some("user"), "{mode:?}");
    }
}

#[test]
fn a_notification_within_a_turn_does_not_take_the_turns_prompt() {
    let payload = |event: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "prompt_id": "p", "cwd": "/w"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    let note = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n\
        <summary>Background command done</summary>\n</task-notification>";
    let world = reported(&[
        payload("UserPromptSubmit", json!({"prompt": "Do it"})),
        payload("UserPromptSubmit", json!({"prompt": note})),
        payload("Stop", json!({"last_assistant_message": "Done."})),
    ]);
    let turns = turns(&world, "s");
    let [turn] = turns.as_slice() else { panic!("{turns:?}") };
    assert_eq!((turn.prompt.as_deref(), turn.prompt_origin.as_deref()), (Some("Do it"), Some("user")));
    assert_eq!(rows(&world, "s", Kind::UserMessage).len(), 2);
}

fn states(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.state.as_str()).collect()
}

#[test]
fn a_turn_ends_at_its_limit_and_with_its_session() {
    let session = "f442edec-ffc4-4c41-bde7-931b8a995607";
    for (mode, state) in MODES.into_iter().zip(["interrupted", "abandoned", "interrupted"]) {
        let world = World::with(&scenario("2.1.326/maxturns").observed(mode), 4);
        let turns = turns(&world, session);
        assert_eq!(states(&turns), [state], "{mode:?}");
        assert_near(turns[0].ended_at, "05:51:58.814", 200, &format!("{mode:?}"));
        let whole = turns[0].ended_at.unwrap().0 - turns[0].started_at.0;
        assert_eq!(turns[0].duration_ms, u64::try_from(whole).ok(), "{mode:?}");
        assert_eq!(active_ms(&world, session), turns[0].duration_ms.unwrap(), "{mode:?}");
        let reason = (state == "interrupted").then_some("max_turns");
        assert_eq!(turns[0].stop_reason.as_deref(), reason, "{mode:?}");
    }
}

#[test]
fn a_killed_turn_ends_when_its_session_is_resumed_and_its_call_was_cut_off() {
    let session = "bab00403-c7c8-425f-9dd8-06e20df8ca37";
    for mode in MODES {
        let world = World::with(&scenario("2.1.326/kill_resume").observed(mode), 4);
        let turns = turns(&world, session);
        assert_eq!(states(&turns), ["interrupted", "succeeded"], "{mode:?}");
        assert_near(turns[0].ended_at, "06:32:39.000", 1_000, &format!("{mode:?}"));
        let ended: Vec<CallState> = calls(&world, session).iter().map(|call| call.state).collect();
        assert_eq!(ended, [CallState::Interrupted, CallState::Succeeded], "{mode:?}");
        assert!(calls(&world, session).iter().all(|call| call.error_class.as_deref() != Some("permission")));
        assert!(active_ms(&world, session) > 8_000, "{mode:?}");
    }
}

#[test]
fn the_next_prompt_ends_a_turn_that_nothing_else_ended() {
    let session = "de50a9fa-c2cd-488b-8e5a-d390a544d589";
    for mode in MODES {
        let world = World::with(&scenario("2.1.326/interrupt").observed(mode), 4);
        let turns = turns(&world, session);
        assert_eq!(states(&turns), ["interrupted", "interrupted", "interrupted", "succeeded"], "{mode:?}");
        let mut before = Millis(0);
        for turn in &turns {
            assert!(turn.started_at >= before, "{mode:?}: {turn:?}");
            before = turn.ended_at.unwrap();
        }
    }
}

#[test]
fn a_process_that_is_gone_ends_its_turn() {
    let world = World::with(&scenario("2.1.325/killed").observed(None), 10);
    let session = world.ledger.store();
    let session = every(|paging| {
        session.tasks(Millis(0), &agent_tracer_ledger::TaskFilter { paging, ..Default::default() })
    });
    let session = session[0].runtime_session_id.clone();
    assert_eq!(states(&turns(&world, &session)), ["running"]);
    let task = TaskKey::new(Agent::CLAUDE_CODE, session.clone());
    let gone = turns(&world, &session)[0].started_at.0 + 60_000;
    let evidence = agent_tracer_event::Evidence::measured("its process is gone");
    let mut entry = agent_tracer_event::Entry::new(
        agent_tracer_event::Subject::Task,
        agent_tracer_event::Phase::Update,
        task,
        "task",
        Millis(gone),
        evidence,
    );
    entry.metadata.insert("processGoneAt".to_owned(), Value::from(gone));
    let mut observed = scenario("2.1.325/killed").observed(None).remove(0);
    observed.name = "gone".to_owned();
    observed.source = None;
    observed.payload = None;
    let reading = agent_tracer_event::Reading { entries: vec![entry], ..Default::default() };
    observed.verdict = agent_tracer_ledger::Verdict::Read(reading);
    world.bring(&[observed], 1);
    let turns = turns(&world, &session);
    assert_eq!((states(&turns), turns[0].ended_at), (vec!["abandoned"], Some(Millis(gone))));
    assert_eq!(active_ms(&world, &session), 60_000);
}

const STOPPED: &str = "sub--a936f4dd0d6bbabf7";
const STOPS: &str = "43329a02-fed4-4779-92fa-f6a697824bdf";

#[test]
fn an_agent_that_is_stopped_ends_when_it_is_stopped() {
    let kill = |level| claude_at(level, "2.1.326/many_kill");
    let levels = [Level::Metadata, Level::Actions, Level::Full];
    for (mode, level) in MODES.into_iter().flat_map(|mode| levels.map(|level| (mode, level))) {
        let world = World::with(&kill(level).observed(mode), 5);
        let stopped = task(&world, STOPPED);
        let about = format!("{mode:?} {level:?}");
        assert_eq!(stopped.status, TaskStatus::Abandoned, "{about}");
        assert_near(stopped.ended_at, "05:39:32.135", 100, &about);
        let turns = turns(&world, STOPPED);
        assert_eq!(states(&turns), ["interrupted"], "{about}");
        assert_near(turns[0].ended_at, "05:39:32.135", 100, &about);
        let calls = calls(&world, STOPPED);
        assert_eq!(
            calls.iter().map(|call| call.state).collect::<Vec<_>>(),
            [CallState::Interrupted],
            "{about}"
        );
        let reported = rows(&world, STOPS, Kind::ActionLogged);
        let row = reported.iter().find(|row| row.metadata["agentId"] == "a936f4dd0d6bbabf7").unwrap();
        assert_eq!(row.metadata["asyncStatus"], "cancelled", "{about}");
        assert_near(row.ended_at, "05:39:32.135", 100, &about);
        assert!(
            reported.iter().filter(|row| row.metadata["asyncStatus"] == "completed").count() == 3,
            "{about}"
        );
        assert_eq!(rows(&world, STOPPED, Kind::SessionEnded).len(), 1, "{about}");
    }
}

#[test]
fn a_session_does_not_run_on_because_of_an_agent_that_was_stopped() {
    let mut hooks = scenario("2.1.326/many_kill").observed(Some(Channel::Hook));
    hooks.pop();
    let world = World::with(&hooks, 5);
    assert_eq!(task(&world, STOPS).status, TaskStatus::Waiting);
}

#[test]
fn hooks_that_name_no_prompt_and_rows_that_do_tell_of_the_same_prompts_answers_and_turns() {
    let session = "27a3bee0-05d4-4fb8-8862-09ab9f3dfab1";
    let all = scenario("2.1.150/agent_bg");
    for mode in MODES {
        let mut observed = all.observed(mode);
        for _ in 0..2 {
            let world = World::with(&observed, 3);
            let count = |kind: Kind| rows(&world, session, kind).len();
            assert_eq!((count(Kind::UserMessage), count(Kind::AssistantResponse)), (2, 2), "{mode:?}");
            let turns = turns(&world, session);
            assert_eq!(states(&turns), ["succeeded", "succeeded"], "{mode:?}");
            assert_eq!(turns[0].prompt.as_deref(), Some("Delegate [[agent_bg]]"), "{mode:?}");
            assert_eq!(turns[0].answer.as_deref(), Some("Started it."), "{mode:?}");
            assert_eq!(turns[1].prompt_origin.as_deref(), Some("task_notification"), "{mode:?}");
            assert!((1_000..2_000).contains(&active_ms(&world, session)), "{mode:?}");
            assert_eq!(task(&world, session).turn_count, 2, "{mode:?}");
            if mode.is_none() {
                assert_eq!(turns[0].tool_call_count, 1);
            }
            observed.reverse();
        }
    }
}

#[test]
fn a_question_of_a_server_is_one_question_and_ends() {
    let world = World::with(&scenario("2.1.326/elicit").observed(None), 2);
    let asked = questions(&world, "14ceb343-6e65-4d5a-bca1-25f83f075e73");
    let [question] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((question.phase.as_str(), question.wait_ms), ("cancelled", Some(77)));
}

#[test]
fn a_question_waits_as_long_as_the_person_takes() {
    for mode in MODES {
        let world = World::with(&scenario("2.1.326/ask_multi").observed(mode), 2);
        let asked = questions(&world, "6dc6e9ce-d641-4912-a736-4f61480005c6");
        let [question] = asked.as_slice() else { panic!("{asked:?}") };
        let wait = question.wait_ms.unwrap();
        assert!((3_900..4_500).contains(&wait), "{mode:?}: {wait}");
        assert_eq!(question.phase, "answered", "{mode:?}");
    }
}

/// Returns a ledger to which these payloads were brought, a second apart.
fn reported(payloads: &[Value]) -> World {
    let mut observed = Vec::new();
    for (place, payload) in payloads.iter().enumerate() {
        let arrived = Millis(1_790_000_000_000 + 1_000 * i64::try_from(place).unwrap());
        let body = serde_json::to_vec(payload).unwrap();
        observed.push(hook(Agent::CLAUDE_CODE, &format!("o{place}"), arrived, false, &body));
    }
    World::with(&observed, 1)
}

fn of_agent(event: &str, more: Value) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": "/w", "agent_id": "k2"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

fn end_of_session() -> Value {
    json!({"hook_event_name": "SessionEnd", "session_id": "s", "cwd": "/w", "reason": "other"})
}

#[test]
fn an_agent_that_failed_stays_so_when_its_session_ends() {
    let start = of_agent("SubagentStart", json!({"agent_type": "Explore"}));
    for end in [
        of_agent("StopFailure", json!({"agent_type": "Explore", "error": "server_error"})),
        of_agent("SubagentStop", json!({"agent_type": "Explore", "success": false, "error": "boom\nmore"})),
    ] {
        let world = reported(&[start.clone(), end, end_of_session()]);
        let failed = task(&world, "sub--k2");
        assert_eq!((failed.status, failed.ended_at), (TaskStatus::Failed, Some(Millis(1_790_000_001_000))));
        assert_eq!(rows(&world, "s", Kind::ActionLogged)[0].metadata["asyncStatus"], "failed");
    }
}

#[test]
fn the_first_line_of_what_an_agent_failed_with_is_kept() {
    let world = reported(&[
        of_agent("SubagentStart", json!({"agent_type": "Explore"})),
        of_agent("SubagentStop", json!({"agent_type": "Explore", "success": false, "error": "boom\nmore"})),
    ]);
    assert_eq!(rows(&world, "s", Kind::ActionLogged)[0].metadata["error"], "boom");
    assert_eq!(rows(&world, "sub--k2", Kind::AssistantResponse)[0].metadata["error"], "boom");
}

#[test]
fn a_stop_inside_of_an_agent_does_not_end_it() {
    let mut payloads = vec![
        of_agent("SubagentStart", json!({"agent_type": "Explore"})),
        of_agent("Stop", json!({"agent_type": "Explore", "last_assistant_message": "Half."})),
    ];
    let world = reported(&payloads);
    assert_eq!(task(&world, "sub--k2").status, TaskStatus::Running);
    assert_eq!(states(&turns(&world, "sub--k2")), ["running"]);
    payloads
        .push(of_agent("SubagentStop", json!({"agent_type": "Explore", "last_assistant_message": "Done."})));
    let world = reported(&payloads);
    assert_eq!(task(&world, "sub--k2").status, TaskStatus::Completed);
    assert_eq!(states(&turns(&world, "sub--k2")), ["succeeded"]);
}

#[test]
fn an_agent_without_a_type_is_not_the_main_agent() {
    let call = of_agent(
        "PostToolUse",
        json!({"tool_name": "Read", "tool_input": {"file_path": "/w/a"}, "tool_use_id": "t1"}),
    );
    let world = reported(&[call]);
    assert_eq!(task(&world, "sub--k2").agent_type.as_str(), "subagent");
    let row = &rows(&world, "sub--k2", Kind::ToolUsed)[0];
    assert_eq!((row.agent_type.as_str(), row.is_subagent), ("subagent", true));
}

#[test]
fn rows_of_an_agent_without_a_type_are_of_its_task() {
    let input = json!({"file_path": "/w/a"});
    let call = |event: &str, kind: &str| {
        let given =
            json!({"tool_name": "Read", "tool_input": input, "tool_use_id": "t1", "agent_type": kind});
        of_agent(event, given)
    };
    let nameless = reported(&[call("PreToolUse", ""), call("PostToolUse", "")]);
    assert_eq!(rows(&nameless, "sub--k2", Kind::ToolUsed)[0].agent_type, "subagent");
    // The type is known from another event; that one of them leaves it empty does not take it away.
    let start = of_agent("SubagentStart", json!({"agent_type": "Explore"}));
    for payloads in
        [[start.clone(), call("PostToolUse", "")], [call("PreToolUse", "Explore"), call("PostToolUse", "")]]
    {
        let world = reported(&payloads);
        assert_eq!(rows(&world, "sub--k2", Kind::ToolUsed)[0].agent_type, "Explore");
        assert_eq!(task(&world, "sub--k2").agent_type, "Explore");
    }
}

#[test]
fn no_row_of_a_captured_agent_has_an_empty_type() {
    let has_agents =
        |scenario: &Scenario| scenario.parts.iter().any(|part| part.path.contains("/subagents/"));
    let scenarios: Vec<Scenario> = scenarios().into_iter().filter(has_agents).collect();
    assert!(scenarios.len() > 10, "{} scenarios", scenarios.len());
    for scenario in scenarios {
        let world = World::with(&scenario.observed(Some(Channel::Transcript)), 50);
        for task in tasks(&world).values().filter(|task| task.kind == TaskKind::Background) {
            let id = TaskId::parse(&task.id).unwrap();
            let store = world.ledger.store();
            let all = every(|paging| store.timeline(&id, &RowFilter { paging, ..RowFilter::default() }));
            assert!(all.iter().all(|row| !row.agent_type.is_empty()), "{}", scenario.name);
        }
    }
}

#[test]
fn turns_exist_without_a_prompt_id() {
    let of = |event: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": "/w"});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "/w/a"}, "tool_use_id": "t1"});
    let world = reported(&[
        of("UserPromptSubmit", json!({"prompt": "Read it"})),
        of("PreToolUse", read.clone()),
        of("PostToolUse", read),
        of("Stop", json!({"last_assistant_message": "Read."})),
        of("UserPromptSubmit", json!({"prompt": "Read it again"})),
        of("SessionEnd", json!({"reason": "other"})),
    ]);
    let turns = turns(&world, "s");
    assert_eq!(states(&turns), ["succeeded", "abandoned"]);
    assert_eq!((turns[0].duration_ms, active_ms(&world, "s")), (Some(3_000), 4_000));
    assert_eq!(turns[0].answer.as_deref(), Some("Read."));
}

#[test]
fn an_agent_that_is_asked_again_after_its_end_runs_again() {
    let world = reported(&[
        of_agent("SubagentStart", json!({"agent_type": "Explore"})),
        of_agent("SubagentStop", json!({"agent_type": "Explore", "last_assistant_message": "One."})),
        json!({"hook_event_name": "CwdChanged", "session_id": "s", "cwd": "/w", "old_cwd": "/", "new_cwd": "/w"}),
        // Equal bytes within a few seconds are one event.
        of_agent("SubagentStart", json!({"agent_type": "Explore", "prompt_id": "p2"})),
        of_agent("SubagentStop", json!({"agent_type": "Explore", "last_assistant_message": "Two."})),
    ]);
    assert_eq!(active_ms(&world, "sub--k2"), 2_000);
    let agent = task(&world, "sub--k2");
    assert_eq!((agent.status, agent.ended_at), (TaskStatus::Completed, Some(Millis(1_790_000_004_000))));
}

/// Returns what a rule decided on an event, right after it: that it does not happen.
fn blocked(payload: &Value, event: &Observed) -> Observed {
    let mut record = payload.clone();
    let rule = json!({"rule": "no-end", "origin": "user", "decision": "deny", "basis": "applies", "mode": "enforce",
        "severity": "high", "counted": true});
    record["decision"] = json!({"answered_by": "server", "outcome": "deny", "took_us": 100, "rules": [rule],
        "event": event.name});
    decision_of(event, &serde_json::to_vec(&record).unwrap())
}

/// Returns how the turn of the agent ended, and when.
fn turn_of(world: &World) -> (String, Option<Millis>) {
    let turn = turns(world, "sub--k2").remove(0);
    (turn.state, turn.ended_at)
}

#[test]
fn an_end_that_a_rule_blocked_is_no_end() {
    let done = json!({"hook_event_name": "TaskCompleted", "session_id": "s", "cwd": "/w", "task_id": "7",
        "task_subject": "Write it"});
    let stop = of_agent("SubagentStop", json!({"agent_type": "Explore", "last_assistant_message": "Done."}));
    let start = of_agent("SubagentStart", json!({"agent_type": "Explore"}));
    let bring = |payloads: &[&Value], is_blocked: &[usize]| {
        let mut observed = Vec::new();
        for (place, payload) in payloads.iter().enumerate() {
            let arrived = Millis(1_790_000_000_000 + 1_000 * i64::try_from(place).unwrap());
            let body = serde_json::to_vec(payload).unwrap();
            let event = hook(Agent::CLAUDE_CODE, &format!("o{place}"), arrived, false, &body);
            if is_blocked.contains(&place) {
                observed.push(blocked(payload, &event));
            }
            observed.push(event);
        }
        World::with(&observed, 1)
    };
    let todo = |world: &World| {
        let todos = world.ledger.store().todos(&id("s")).unwrap().items;
        todos.first().map(|todo| todo.state.clone())
    };
    let world = bring(&[&start, &stop, &done], &[1, 2]);
    assert_eq!(task(&world, "sub--k2").status, TaskStatus::Running);
    assert_eq!(rows(&world, "s", Kind::ActionLogged)[0].metadata["asyncStatus"], "running");
    assert_eq!(todo(&world), None);
    // The agent's row says what happened, and its turn goes on.
    assert_eq!(rows(&world, "sub--k2", Kind::SessionEnded), []);
    let kept = rows(&world, "sub--k2", Kind::ActionLogged);
    assert_eq!((kept.len(), kept[0].title.as_str()), (1, "End blocked by a rule"));
    assert_eq!(turn_of(&world), ("running".to_owned(), None));
    // The next time they were let pass. Equal bytes within a few seconds would be one event.
    let (mut stop_again, mut done_again) = (stop.clone(), done.clone());
    stop_again["stop_hook_active"] = Value::Bool(true);
    done_again["prompt_id"] = Value::from("p2");
    let world = bring(&[&start, &stop, &done, &stop_again, &done_again], &[1, 2]);
    assert_eq!(task(&world, "sub--k2").status, TaskStatus::Completed);
    assert_eq!(rows(&world, "s", Kind::ActionLogged)[0].metadata["asyncStatus"], "completed");
    assert_eq!(todo(&world).as_deref(), Some("completed"));
    assert_eq!(rows(&world, "sub--k2", Kind::SessionEnded).len(), 1);
    assert_eq!(turn_of(&world), ("succeeded".to_owned(), Some(Millis(1_790_000_003_000))));
    // Without a word at its end.
    let mut silent = stop_again.clone();
    silent.as_object_mut().unwrap().remove("last_assistant_message");
    let world = bring(&[&start, &stop, &done, &silent], &[1]);
    assert_eq!(turn_of(&world), ("succeeded".to_owned(), Some(Millis(1_790_000_003_000))));
    // An end before the agent was asked again stands, whatever a rule says of the next one.
    let world = bring(&[&start, &stop, &start, &stop_again], &[3]);
    assert_eq!(turn_of(&world), ("succeeded".to_owned(), Some(Millis(1_790_000_001_000))));
}

#[test]
fn a_task_without_a_prompt_is_called_after_its_type_or_itself_and_silence_is_no_answer() {
    let start = of_agent("SubagentStart", json!({"agent_type": "Explore"}));
    let stop = of_agent("SubagentStop", json!({"agent_type": "Explore"}));
    for payloads in
        [vec![start, stop], vec![of_agent("SubagentStop", json!({"last_assistant_message": " "}))]]
    {
        let world = reported(&payloads);
        let agent = task(&world, "sub--k2");
        assert_eq!(agent.title, if payloads.len() == 2 { "Explore" } else { "subagent" });
        assert_eq!(agent.status, TaskStatus::Completed);
        assert_eq!(rows(&world, "sub--k2", Kind::AssistantResponse), []);
    }
    let world = reported(&[
        json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/w", "source": "startup"}),
    ]);
    assert_eq!(task(&world, "s").title, "s");
    let prompt =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w", "prompt": "Read it"});
    assert_eq!(task(&reported(&[end_of_session(), prompt]), "s").title, "Read it");
}
