//! Codex's hooks from outside: every captured payload, before and after privacy.

use std::collections::BTreeMap;

use agent_tracer_event::{CallState, Certainty, Entry, Kind, Millis, Phase, Reading, Subject, Tokens};
use agent_tracer_privacy::Level;
use serde_json::{Value, json};

use crate::codex_fixtures::{
    LEVELS, hook_payloads, hook_scenarios, is, is_call, read_hook, read_payload, reduced,
};

/// Every captured payload with a name and a time, from the sequences and the single ones.
fn all() -> Vec<(String, Millis, Value)> {
    let mut all = Vec::new();
    for (scenario, rows) in hook_scenarios() {
        for (number, (at, payload)) in rows.into_iter().enumerate() {
            all.push((format!("{scenario}-{number}"), at, payload));
        }
    }
    all.extend(hook_payloads().into_iter().map(|(name, payload)| (name, Millis(1), payload)));
    assert!(all.len() > 700);
    all
}

/// Each payload in all four forms: as sent, and after privacy at each level.
fn forms(payload: &Value) -> Vec<Vec<u8>> {
    let mut forms = vec![serde_json::to_vec(payload).unwrap()];
    forms.extend(LEVELS.map(|level| reduced(payload, level)));
    forms
}

pub(crate) fn payload(name: &str) -> Value {
    hook_payloads().into_iter().find(|(found, _)| found == name).unwrap().1
}

fn reading(name: &str) -> Reading {
    read_payload(name, Millis(7), &payload(name), Level::Actions)
}

pub(crate) fn events(reading: &Reading) -> Vec<&Entry> {
    let rows = reading.entries.iter().filter(|entry| matches!(entry.subject, Subject::Event(_)));
    rows.filter(|entry| entry.evidence.certainty != Certainty::Guessed || is(entry, Kind::ActionLogged))
        .collect()
}

pub(crate) fn only(reading: &Reading, kind: Kind) -> Entry {
    let found: Vec<&Entry> = events(reading).into_iter().filter(|entry| is(entry, kind)).collect();
    assert_eq!(found.len(), 1, "{kind} in {reading:#?}");
    found[0].clone()
}

#[test]
fn every_captured_payload_is_understood_before_and_after_privacy() {
    for (name, at, payload) in all() {
        for body in forms(&payload) {
            let reading = read_hook(&name, at, &body);
            assert_eq!(reading.unrecognised, [], "{name}: {}", String::from_utf8_lossy(&body));
            let task = reading.entries.iter().find(|entry| entry.subject == Subject::Task);
            assert!(task.is_some(), "{name} tells of its thread");
            assert!(!events(&reading).is_empty(), "{name} is a row of the timeline");
            for entry in &reading.entries {
                assert_eq!(entry.occurred_at, at, "{name}");
                assert!(!entry.evidence.reason.is_empty(), "{name}");
                assert_eq!(entry.hook_event_name.as_deref(), payload["hook_event_name"].as_str(), "{name}");
            }
        }
    }
}

#[test]
fn every_row_has_a_title_on_one_line_and_what_every_event_keeps() {
    for (name, at, payload) in all() {
        for body in forms(&payload) {
            let reading = read_hook(&name, at, &body);
            for entry in events(&reading) {
                let title = entry.title.as_deref().unwrap_or_default();
                assert!(!title.is_empty() && title.chars().count() <= 120, "{name}: {title}");
                assert!(!title.chars().any(char::is_control), "{name}: {title}");
                if is(entry, Kind::ActionLogged) {
                    continue;
                }
                assert_eq!(entry.metadata.get("cwd"), payload.get("cwd"), "{name}");
                assert_eq!(entry.metadata.get("permissionMode"), payload.get("permission_mode"), "{name}");
                assert_eq!(entry.turn.as_deref(), payload["turn_id"].as_str(), "{name}");
            }
        }
    }
}

#[test]
fn a_thread_is_its_agent_id_or_its_rollout_and_never_the_root_by_mistake() {
    for (name, at, payload) in all() {
        let reading = read_payload(&name, at, &payload, Level::Actions);
        let expected = payload["agent_id"].as_str().map(str::to_owned).or_else(|| {
            let path = payload["transcript_path"].as_str()?;
            Some(
                path.trim_end_matches(".jsonl")
                    .chars()
                    .rev()
                    .take(36)
                    .collect::<String>()
                    .chars()
                    .rev()
                    .collect(),
            )
        });
        let expected = expected.unwrap_or_else(|| payload["session_id"].as_str().unwrap().to_owned());
        let task = reading.entries.iter().find(|entry| entry.subject == Subject::Task).unwrap();
        assert_eq!(task.task.runtime_session, expected, "{name}");
        assert_eq!(task.metadata["rootSession"], payload["session_id"], "{name}");
    }
}

#[test]
fn attempt_and_return_of_one_call_have_one_key() {
    let mut keys: BTreeMap<(String, String), Vec<Phase>> = BTreeMap::new();
    for (name, at, payload) in all() {
        for body in forms(&payload) {
            for entry in read_hook(&name, at, &body).entries.into_iter().filter(is_call) {
                let id = payload["tool_use_id"].as_str().unwrap();
                assert_eq!(entry.key, format!("tool:{id}"));
                assert_eq!(entry.tool_use_id.as_deref(), Some(id));
                keys.entry((entry.task.runtime_session, entry.key)).or_default().push(entry.phase);
            }
        }
    }
    assert!(keys.len() > 60);
    let both = keys
        .values()
        .filter(|phases| phases.contains(&Phase::Open) && phases.contains(&Phase::Close))
        .count();
    assert!(both > 50);
}

#[test]
fn a_request_for_permission_has_the_signature_of_its_attempt() {
    for level in LEVELS {
        let mut requests = 0;
        for (scenario, rows) in hook_scenarios() {
            let mut last: BTreeMap<String, Value> = BTreeMap::new();
            for (number, (at, payload)) in rows.iter().enumerate() {
                let reading = read_payload(&format!("{scenario}-{number}"), *at, payload, level);
                let thread = payload["transcript_path"].as_str().unwrap_or_default().to_owned();
                match payload["hook_event_name"].as_str() {
                    Some("PreToolUse") => {
                        let call = reading.entries.iter().find(|entry| is_call(entry)).unwrap();
                        last.insert(thread, call.metadata["callSignature"].clone());
                    }
                    Some("PermissionRequest") => {
                        requests += 1;
                        let rule = only(&reading, Kind::RuleLogged);
                        assert_eq!(Some(&rule.metadata["callSignature"]), last.get(&thread), "{scenario}");
                    }
                    _ => {}
                }
            }
        }
        assert!(requests >= 3);
    }
    // The patch is trimmed in the request, and not in the attempt.
    let mut request = payload("PermissionRequest.apply_patch");
    let attempt = payload("PreToolUse.apply_patch");
    request["tool_input"]["command"] = Value::from(attempt["tool_input"]["command"].as_str().unwrap().trim());
    for level in LEVELS {
        let signature = |payload: &Value| {
            let reading = read_payload("x", Millis(1), payload, level);
            reading.entries.iter().find_map(|entry| entry.metadata.get("callSignature").cloned())
        };
        assert_eq!(signature(&request), signature(&attempt));
        assert!(signature(&request).is_some());
    }
}

#[test]
fn events_become_the_kinds_of_the_contract() {
    use Kind::{
        ActionLogged, AgentActivityLogged, AssistantResponse, ContextSaved, ModelRequest, PlanLogged,
        QuestionLogged, RuleLogged, SessionEnded, SessionStarted, TerminalCommand, ToolUsed, TurnInterrupted,
        UserMessage,
    };
    for (name, kinds) in [
        ("SessionStart.startup", &[SessionStarted, ContextSaved][..]),
        ("SessionStart.resume", &[SessionStarted, ContextSaved]),
        ("SessionStart.clear", &[SessionStarted, ContextSaved]),
        ("SessionStart.fork", &[SessionStarted, ContextSaved]),
        ("SessionStart.ephemeral", &[SessionStarted, ContextSaved]),
        ("SessionStart.compact", &[ContextSaved]),
        ("SessionEnd.exec", &[SessionEnded]),
        ("UserPromptSubmit.root", &[UserMessage]),
        ("UserPromptSubmit.subagent", &[UserMessage]),
        ("UserPromptSubmit.review_child_thread", &[UserMessage]),
        ("PreModelRequest.root", &[ModelRequest]),
        ("PostModelRequest.completed", &[ModelRequest]),
        ("PreToolUse.Bash", &[TerminalCommand]),
        ("PostToolUse.Bash_exit3", &[TerminalCommand]),
        ("PreToolUse.apply_patch", &[ToolUsed]),
        ("PreToolUse.mcp", &[AgentActivityLogged]),
        ("PreToolUse.spawn_agent_v1", &[AgentActivityLogged]),
        ("PreToolUse.spawn_agent_v2", &[AgentActivityLogged]),
        ("PreToolUse.wait_agent_v1", &[AgentActivityLogged]),
        ("PreToolUse.wait_agent_v2", &[AgentActivityLogged]),
        ("PreToolUse.close_agent_v1", &[AgentActivityLogged]),
        ("PreToolUse.update_plan", &[PlanLogged]),
        ("PreToolUse.view_image", &[ToolUsed]),
        ("PreToolUse.request_user_input", &[QuestionLogged]),
        ("PermissionRequest.Bash", &[RuleLogged]),
        ("PermissionRequest.apply_patch", &[RuleLogged]),
        ("PermissionRequest.mcp", &[RuleLogged]),
        ("PreCompact.manual", &[ContextSaved]),
        ("PostCompact.auto", &[ContextSaved]),
        ("SubagentStart.v1", &[ActionLogged, SessionStarted]),
        ("SubagentStop.v2", &[ActionLogged, AssistantResponse, SessionEnded]),
        ("Stop.normal", &[AssistantResponse]),
        ("Interrupt.escape", &[TurnInterrupted]),
    ] {
        let reading = reading(name);
        let seen: Vec<Kind> = events(&reading)
            .iter()
            .map(|entry| match entry.subject {
                Subject::Event(kind) => kind,
                Subject::Task | Subject::Turn | Subject::Account => unreachable!(),
            })
            .collect();
        assert_eq!(seen, kinds, "{name}");
    }
}

#[test]
fn a_session_begins_once_and_goes_on_after_a_compaction() {
    let thread = payload("SessionStart.startup")["session_id"].as_str().unwrap().to_owned();
    let started = only(&reading("SessionStart.startup"), Kind::SessionStarted);
    assert_eq!(started.key, format!("session:started:{thread}"));
    assert_eq!(
        only(&reading("SessionStart.resume"), Kind::SessionStarted).key,
        "session:started:SessionStart.resume"
    );
    for source in ["startup", "resume", "clear", "compact", "fork"] {
        let name = format!("SessionStart.{source}");
        assert_eq!(only(&reading(&name), Kind::ContextSaved).metadata["trigger"], source);
        let task = reading(&name).entries.remove(0);
        let origin = (!matches!(source, "resume" | "compact")).then(|| json!(source));
        assert_eq!(
            task.metadata.get("sessionSource"),
            origin.as_ref(),
            "how a thread came to be stays as it was"
        );
    }
    let ended = only(&reading("SessionEnd.exec"), Kind::SessionEnded);
    assert_eq!(ended.metadata["completionReason"], "runtime_terminated");
    assert_eq!(ended.ended_at, Some(Millis(7)));
}

#[test]
fn a_prompt_opens_its_turn_and_names_its_task() {
    let reading = reading("UserPromptSubmit.root");
    let payload = payload("UserPromptSubmit.root");
    let message = only(&reading, Kind::UserMessage);
    assert_eq!(message.body.as_deref(), payload["prompt"].as_str());
    let turn = reading.entries.iter().find(|entry| entry.subject == Subject::Turn).unwrap();
    assert_eq!(turn.key, format!("turn:{}", payload["turn_id"].as_str().unwrap()));
    assert_eq!((turn.phase, turn.state), (Phase::Open, Some(CallState::Running)));
    let named = reading.entries.iter().find(|entry| entry.metadata.contains_key("title")).unwrap();
    assert_eq!((&named.subject, &named.metadata["title"]), (&Subject::Task, &payload["prompt"]));

    let quiet = read_payload("x", Millis(7), &payload, Level::Metadata);
    let message = only(&quiet, Kind::UserMessage);
    let bytes = payload["prompt"].as_str().unwrap().len();
    assert_eq!((message.body, message.metadata["promptBytes"].as_u64()), (None, Some(bytes as u64)));
    assert!(message.key.ends_with(&format!(":{bytes}")));
    assert!(quiet.entries.iter().all(|entry| !entry.metadata.contains_key("title")));
}

#[test]
fn a_steering_prompt_shares_the_turn_and_has_a_key_of_its_own() {
    let steer = only(&reading("UserPromptSubmit.steer_same_turn"), Kind::UserMessage);
    let mut first = payload("UserPromptSubmit.steer_same_turn");
    first["prompt"] = Value::from("another");
    let first = only(&read_payload("y", Millis(7), &first, Level::Actions), Kind::UserMessage);
    assert_eq!(steer.turn, first.turn);
    assert_ne!(steer.key, first.key);
}

#[test]
fn what_a_payload_only_suggests_is_a_guess_apart_from_what_was_seen() {
    for (name, at, payload) in all() {
        let reading = read_payload(&name, at, &payload, Level::Actions);
        for entry in &reading.entries {
            for suggested in ["promptOrigin", "title"] {
                if entry.metadata.contains_key(suggested) {
                    assert_eq!(entry.evidence.certainty, Certainty::Guessed, "{name}: {entry:?}");
                }
            }
            if let Some(certainty) = entry.metadata.get("parentCertainty") {
                assert_eq!(certainty, entry.evidence.certainty.as_str(), "{name}: {entry:?}");
            }
        }
        let guessed = |entry: &&Entry| entry.evidence.certainty == Certainty::Guessed;
        let prompts =
            reading.entries.iter().filter(|entry| is(entry, Kind::UserMessage)).filter(guessed).count();
        let asked = payload["hook_event_name"] == "UserPromptSubmit";
        assert_eq!(prompts, usize::from(asked), "{name}");
    }
}

#[test]
fn usage_stands_on_the_request_and_is_no_fact_of_its_own() {
    let reading = reading("PostModelRequest.completed");
    let request = only(&reading, Kind::ModelRequest);
    assert_eq!(
        Tokens::read(&request.metadata),
        Some(Tokens { input: 830, output: 80, cache_read: 400, cache_write: 0, reasoning: Some(30) })
    );
    assert_eq!(request.metadata["usageSource"], "hook");
    assert_eq!(request.metadata["tokenUsage"]["totalTokens"], 1310);
    assert!(request.turn.is_some());
    assert!(!reading.entries.iter().any(|entry| is(entry, Kind::TokenUsage)));
}

#[test]
fn failed_and_cancelled_requests_say_so() {
    let failed = only(&reading("PostModelRequest.failed"), Kind::ModelRequest);
    assert_eq!((failed.state, &failed.metadata["status"]), (Some(CallState::Failed), &json!("failed")));
    assert!(failed.metadata["error"].as_str().unwrap().contains("high demand"));
    assert!(!failed.metadata.contains_key("usage"));
    let cancelled = only(&reading("PostModelRequest.cancelled"), Kind::ModelRequest);
    assert_eq!(cancelled.state, Some(CallState::Interrupted));
    assert!(!cancelled.metadata.contains_key("error"));
}

#[test]
fn a_request_for_permission_is_an_observed_rule() {
    let rule = only(&reading("PermissionRequest.Bash"), Kind::RuleLogged);
    for (name, value) in [
        ("ruleStatus", "requested"),
        ("ruleOutcome", "observed"),
        ("rulePolicy", "codex_permission"),
        ("toolName", "Bash"),
    ] {
        assert_eq!(rule.metadata[name], value);
    }
    assert!(rule.metadata["reason"].is_string());
    assert_eq!(rule.tool_use_id, None);
}

#[test]
fn how_a_command_ended_is_not_known_from_its_hook() {
    let command = reading("PostToolUse.Bash_exit3").entries.into_iter().find(is_call).unwrap();
    assert_eq!((command.phase, command.evidence.certainty), (Phase::Close, Certainty::Inferred));
    assert!(!command.metadata.contains_key("exitCode"));
    let patch = reading("PostToolUse.apply_patch").entries.into_iter().find(is_call).unwrap();
    assert_eq!((patch.state, patch.evidence.certainty), (Some(CallState::Succeeded), Certainty::Measured));
    assert_eq!(patch.metadata["exitCode"], 0);
}

#[test]
fn a_patch_names_its_files() {
    let patch = reading("PreToolUse.apply_patch").entries.into_iter().find(is_call).unwrap();
    assert!(!patch.file_paths.is_empty());
    assert!(patch.file_paths.iter().all(|path| path.starts_with('/')), "{:?}", patch.file_paths);
    assert!(!patch.metadata["toolInput"].to_string().contains("+hello"));
}

#[test]
fn spawning_an_agent_tells_the_child_its_parent_for_certain() {
    let reading = reading("PostToolUse.spawn_agent_v1");
    let payload = payload("PostToolUse.spawn_agent_v1");
    let answer: Value = serde_json::from_str(payload["tool_response"].as_str().unwrap()).unwrap();
    let child =
        reading.entries.iter().find(|entry| entry.task.runtime_session == answer["agent_id"]).unwrap();
    assert_eq!(child.subject, Subject::Task);
    assert_eq!(child.metadata["parentSession"], payload["session_id"]);
    assert_eq!(child.metadata["parentCertainty"], "reported");
    assert_eq!(child.metadata["parentToolUseId"], payload["tool_use_id"]);
}

#[test]
fn a_subagent_begins_and_ends_on_its_own_task_and_on_its_parents() {
    for (start, stop) in [("SubagentStart.v1", "SubagentStop.v1"), ("SubagentStart.v2", "SubagentStop.v2")] {
        let payload = payload(stop);
        let (began, ended) = (reading(start), reading(stop));
        let child = payload["agent_id"].as_str().unwrap();
        let action = only(&ended, Kind::ActionLogged);
        assert_eq!(action.key, format!("subagent:{child}"));
        assert_eq!(action.task.runtime_session, payload["session_id"].as_str().unwrap());
        assert_eq!((action.phase, &action.metadata["asyncStatus"]), (Phase::Close, &json!("completed")));
        let answer = only(&ended, Kind::AssistantResponse);
        assert_eq!(answer.task.runtime_session, child);
        assert!(!answer.metadata.contains_key("stopReason"));
        let task = ended.entries.iter().find(|entry| entry.subject == Subject::Task).unwrap();
        assert_eq!(task.metadata["transcriptPath"], payload["agent_transcript_path"]);
        assert_eq!(
            parents(&ended),
            [(payload["session_id"].clone(), "reported"), (payload["session_id"].clone(), "guessed")]
        );
        assert_eq!(only(&began, Kind::SessionStarted).agent_type.as_deref(), payload["agent_type"].as_str());
        assert_eq!(parents(&began), [(payload["session_id"].clone(), "guessed")]);
    }
}

/// Every parent that a reading names, and how sure it is.
fn parents(reading: &Reading) -> Vec<(Value, &str)> {
    let named = reading.entries.iter().filter(|entry| entry.metadata.contains_key("parentSession"));
    named.map(|entry| (entry.metadata["parentSession"].clone(), entry.evidence.certainty.as_str())).collect()
}

#[test]
fn the_parents_rollout_is_never_the_childs() {
    let mut stop = payload("SubagentStop.v1");
    stop["agent_transcript_path"] = Value::Null;
    let reading = read_payload("x", Millis(7), &stop, Level::Actions);
    assert!(reading.entries.iter().all(|entry| !entry.metadata.contains_key("transcriptPath")));
}

#[test]
fn the_end_of_a_grandchild_is_recorded_on_its_parent_and_on_the_root() {
    let mut stop = payload("SubagentStop.v1");
    let parent = "01a1e0b7-0000-7000-8000-000000000001";
    stop["transcript_path"] = Value::from(format!("/s/rollout-2026-11-15T19-38-00-{parent}.jsonl"));
    let reading = read_payload("x", Millis(7), &stop, Level::Actions);
    let actual: Vec<&str> = reading
        .entries
        .iter()
        .filter(|entry| is(entry, Kind::ActionLogged))
        .map(|entry| entry.task.runtime_session.as_str())
        .collect();
    assert_eq!(actual, [parent, stop["session_id"].as_str().unwrap()]);
    assert_eq!(parents(&reading), [(json!(parent), "reported"), (stop["session_id"].clone(), "guessed")]);
}

#[test]
fn a_review_is_a_thread_of_its_own_without_a_type() {
    let reading = reading("UserPromptSubmit.review_child_thread");
    let payload = payload("UserPromptSubmit.review_child_thread");
    let task = reading.entries.iter().find(|entry| entry.subject == Subject::Task).unwrap();
    assert_ne!(task.task.runtime_session, payload["session_id"].as_str().unwrap());
    assert_eq!(parents(&reading), [(payload["session_id"].clone(), "guessed")]);
    assert!(!task.metadata.contains_key("agentType"));
}

#[test]
fn stopping_and_interrupting_end_the_turn() {
    let stop = reading("Stop.normal");
    let answer = only(&stop, Kind::AssistantResponse);
    assert_eq!(answer.metadata["stopReason"], "stop_hook");
    assert_eq!(answer.metadata["stopHookActive"], false);
    assert_eq!(
        only(&reading("Stop.stop_hook_active"), Kind::AssistantResponse).metadata["stopHookActive"],
        true
    );
    let turn = |reading: &Reading| {
        let turn = reading.entries.iter().find(|entry| entry.subject == Subject::Turn).unwrap();
        (turn.phase, turn.state, turn.ended_at)
    };
    assert_eq!(turn(&stop), (Phase::Close, Some(CallState::Succeeded), Some(Millis(7))));
    for name in ["Interrupt.escape", "Interrupt.denied_approval"] {
        assert_eq!(turn(&reading(name)), (Phase::Close, Some(CallState::Interrupted), Some(Millis(7))));
        let id = payload(name)["turn_id"].as_str().unwrap().to_owned();
        assert_eq!(only(&reading(name), Kind::TurnInterrupted).key, format!("interrupted:{id}"));
    }
}

#[test]
fn compactions_are_recorded_before_and_after() {
    for (name, phase, trigger) in [
        ("PreCompact.manual", "before", "manual"),
        ("PreCompact.auto", "before", "auto"),
        ("PostCompact.manual", "after", "manual"),
        ("PostCompact.auto", "after", "auto"),
    ] {
        let saved = only(&reading(name), Kind::ContextSaved);
        assert_eq!(
            (&saved.metadata["compactPhase"], &saved.metadata["trigger"]),
            (&json!(phase), &json!(trigger))
        );
    }
}

#[test]
fn patches_and_calls_of_servers_say_who_reports_them_under_which_key() {
    let call = |tool: &str| {
        let payload = json!({
            "session_id": "t", "turn_id": "u", "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_use_id": "call_1", "tool_input": {"command": "x"}, "tool_response": "",
        });
        let reading = read_payload("one", Millis(7), &payload, Level::Actions);
        let found = reading.entries.iter().find(|entry| entry.tool_use_id.is_some()).unwrap();
        found.metadata.get("crossCheck").cloned()
    };
    let mark = Some(json!({"source": "hook", "dedupeKey": "call_1"}));
    assert_eq!(call("apply_patch"), mark);
    assert_eq!(call("mcp__files__read"), mark);
    assert_eq!(call("Bash"), None);
}
