//! Subagents: a task of their own, a row on the session, and who called whom.

use agent_tracer_agents::claude::identity;
use agent_tracer_event::{Certainty, Kind, Phase};
use serde_json::json;

use super::*;

#[test]
fn a_start_is_recorded_on_the_child_and_on_the_session() {
    let payload = payload("SubagentStart.explore");
    let (session, agent) = (payload["session_id"].as_str().unwrap(), payload["agent_id"].as_str().unwrap());
    let reading = hook(&payload);
    assert_eq!(
        outline(&reading),
        [
            format!("task update sub--{agent} task"),
            format!("task update sub--{agent} task"),
            format!("action.logged open {session} subagent:{agent}"),
            format!("session.started open sub--{agent} session:started:1731-812-0"),
            format!("turn open sub--{agent} turn:{agent}"),
        ]
    );
    let child = task(&reading, &format!("sub--{agent}"));
    assert_eq!(child.metadata["agentType"], "Explore");
    assert_eq!(child.metadata["agentId"], agent);
    assert_eq!(child.metadata["rootSession"], session);
    assert_eq!(child.metadata.get("parentSession"), None, "what is sure stands apart from what is guessed");
    let guess = parent(&reading, &format!("sub--{agent}"));
    assert_eq!(guess.metadata["parentSession"], session);
    assert_eq!(guess.metadata["parentCertainty"], "guessed");
    assert_eq!(guess.evidence.certainty, Certainty::Guessed);
    assert_eq!(child.metadata.get("transcriptPath"), None, "the payload's transcript is the parent's");
    let actual = only(&reading, Kind::ActionLogged);
    assert_eq!(actual.metadata["asyncStatus"], "running");
    assert_eq!(actual.title.as_deref(), Some("Subagent Explore"));
    assert_eq!(actual.agent_id, None, "the session reported it, not the child");
}

#[test]
fn a_stop_ends_the_child_and_closes_the_row_of_the_session() {
    let payload = payload("SubagentStop.foreground");
    let (session, agent) = (payload["session_id"].as_str().unwrap(), payload["agent_id"].as_str().unwrap());
    let reading = hook(&payload);
    let said = only(&reading, Kind::AssistantResponse);
    assert_eq!(
        outline(&reading),
        [
            format!("task update sub--{agent} task"),
            format!("task update sub--{agent} task"),
            format!("action.logged close {session} subagent:{agent}"),
            format!("assistant.response close sub--{agent} {}", said.key),
            format!("turn close sub--{agent} turn:{agent} succeeded"),
            format!("session.ended close sub--{agent} session:ended:1731-812-0"),
        ]
    );
    assert_eq!(said.body.as_deref(), payload["last_assistant_message"].as_str());
    assert_eq!(said.agent_id.as_deref(), Some(agent));
    let child = task(&reading, &format!("sub--{agent}"));
    assert_eq!(child.metadata["transcriptPath"], payload["agent_transcript_path"]);
    assert_eq!(only(&reading, Kind::SessionEnded).metadata["completionReason"], "assistant_turn_complete");
    assert_eq!(only(&reading, Kind::ActionLogged).metadata["asyncStatus"], "completed");
}

#[test]
fn the_helper_of_a_compaction_has_no_parent() {
    let payload = payload("SubagentStop.compact");
    let session = payload["session_id"].as_str().unwrap();
    let reading = hook(&payload);
    assert_eq!(outline(&reading), [format!("context.saved open {session} compaction:a1e41ea5a058ca0f9")]);
    let saved = only(&reading, Kind::ContextSaved);
    assert_eq!(saved.metadata["trigger"], "compaction_helper");
    assert_eq!(saved.metadata["compactSummaryBytes"], 129);
    assert_eq!(saved.body, None, "PostCompact brings the summary itself");
}

#[test]
fn every_call_inside_a_subagent_is_the_childs() {
    let reading = hook(&payload("PreToolUse.bash.in_subagent"));
    let call = only(&reading, Kind::TerminalCommand);
    let agent = call.agent_id.clone().unwrap();
    assert_eq!(call.task.runtime_session, format!("sub--{agent}"));
    assert_eq!(call.turn.as_deref(), Some(agent.as_str()), "prompt_id is the process's and moves on");
    assert!(call.metadata.contains_key("promptId"));
    assert_eq!(call.agent_type.as_deref(), Some("general-purpose"));
}

#[test]
fn an_event_that_leaves_out_the_type_does_not_unname_the_child() {
    let mut payload = payload("PreToolUse.bash.in_subagent");
    payload.as_object_mut().unwrap().remove("agent_type");
    let reading = hook(&payload);
    let call = only(&reading, Kind::TerminalCommand);
    assert_eq!(call.agent_type, None);
    assert_eq!(task(&reading, &call.task.runtime_session).metadata.get("agentType"), None);
}

#[test]
fn the_return_of_an_agent_call_says_exactly_who_called_whom() {
    let payload = payload("PostToolUse.agent.completed.in_subagent");
    let (caller, child) =
        (payload["agent_id"].as_str().unwrap(), payload["tool_response"]["agentId"].as_str().unwrap());
    let reading = hook(&payload);
    let actual = task(&reading, &format!("sub--{child}"));
    assert_eq!(actual.metadata["parentSession"], format!("sub--{caller}"));
    assert_eq!(actual.metadata["parentCertainty"], "reported");
    assert!(
        actual.evidence.certainty > Certainty::Guessed,
        "it must win over the guesses of the child's own events"
    );
    assert_eq!(actual.metadata["parentToolUseId"], payload["tool_use_id"]);
    assert_eq!(actual.metadata["rootSession"], payload["session_id"]);
    assert_eq!(actual.metadata.get("depth"), None, "how deep the caller is was not said");
    assert_eq!(actual.metadata["title"], "Inner");
    let call = only(&reading, Kind::AgentActivityLogged);
    assert_eq!(call.metadata["childAgentId"], child);
    assert_eq!(call.metadata["status"], "completed");
    assert!(call.metadata["totalDurationMs"].is_u64());
    assert!(call.metadata["totalToolUseCount"].is_u64());
}

#[test]
fn an_agent_of_the_main_thread_is_one_deep() {
    let payload = payload("PostToolUse.agent.async_launched");
    let reading = hook(&payload);
    let actual = task(&reading, "sub--a9f867cf9bc859a6d");
    assert_eq!(actual.metadata["depth"], 1);
    assert_eq!(actual.metadata["parentSession"], payload["session_id"]);
    assert_eq!(actual.metadata["agentType"], "general-purpose");
    assert_eq!(actual.metadata["model"], "claude-opus-5-5");
    let call = only(&reading, Kind::AgentActivityLogged);
    assert_eq!(call.metadata["status"], "async_launched");
    assert_eq!(call.metadata["agentRunInBackground"], true);
    assert_eq!(call.state, Some(CallState::Succeeded));
}

#[test]
fn a_teammate_is_called_by_its_name() {
    let reading = hook(&payload("PostToolUse.agent.teammate_spawned"));
    let actual = task(&reading, "sub--aresearcher-6ff197c7c6b8fda5");
    assert_eq!(actual.metadata["agentType"], "researcher");
    let stopped = hook(&payload("SubagentStop.teammate"));
    assert_eq!(task(&stopped, "sub--aresearcher-6ff197c7c6b8fda5").metadata["agentType"], "researcher");
    let idle = hook(&payload("TeammateIdle"));
    let row = only(&idle, Kind::TeammateIdle);
    assert_eq!(row.task.runtime_session, "sub--aresearcher-6ff197c7c6b8fda5");
    assert_eq!(row.metadata["teammateName"], "researcher");
    assert_eq!(row.metadata["teamName"], "session-29ae2bf4");
}

#[test]
fn an_isolated_agent_has_a_worktree() {
    let reading = hook(&payload("PostToolUse.agent.completed.worktree"));
    let row = only(&reading, Kind::WorktreeCreate);
    assert_eq!(row.key, "worktree:toolu_7e7fdea21d444ee49aa9d8d1");
    assert_eq!(row.metadata["childAgentId"], "af3362fa3e37d2a7c");
    let failed = hook(&payload("PostToolUseFailure.agent.worktree"));
    assert!(failed.entries.iter().all(|entry| entry.subject != Subject::Event(Kind::WorktreeCreate)));
}

#[test]
fn an_api_error_fails_the_child_and_its_row_on_the_session() {
    let payload = payload("StopFailure.unknown.in_subagent");
    let (session, agent) = (payload["session_id"].as_str().unwrap(), payload["agent_id"].as_str().unwrap());
    let reading = hook(&payload);
    let said = only(&reading, Kind::AssistantResponse);
    assert_eq!(said.task.runtime_session, format!("sub--{agent}"));
    assert_eq!(said.metadata["stopReason"], "error:unknown");
    let words = payload["last_assistant_message"].as_str().unwrap();
    // The transcript holds the same words, and a failure reported twice is one failure.
    assert_eq!(said.key, identity::said_key(agent, words));
    assert_eq!(turn(&reading).state, Some(CallState::Failed));
    let actual = only(&reading, Kind::ActionLogged);
    assert_eq!((actual.phase, actual.task.runtime_session.as_str()), (Phase::Close, session));
    assert_eq!(actual.metadata["asyncStatus"], "failed");
}

#[test]
fn a_failed_turn_of_the_session_names_the_error() {
    for name in
        ["authentication_failed", "billing_error", "model_not_found", "rate_limit", "server_error", "unknown"]
    {
        let payload = payload(&format!("StopFailure.{name}"));
        let reading = hook(&payload);
        let said = only(&reading, Kind::AssistantResponse);
        assert_eq!(said.metadata["stopReason"], format!("error:{name}"));
        assert_eq!(said.metadata["error"], name);
        assert_eq!(standing(said), (Phase::Close, Some(CallState::Failed)));
        assert_eq!(standing(turn(&reading)), (Phase::Close, Some(CallState::Failed)));
        assert!(reading.entries.iter().all(|entry| entry.subject != Subject::Event(Kind::ActionLogged)));
    }
}

#[test]
fn a_stop_ends_the_turn_and_counts_what_still_runs() {
    let payload = payload("Stop.background_tasks");
    let prompt = payload["prompt_id"].as_str().unwrap();
    let reading = hook(&payload);
    let said = only(&reading, Kind::AssistantResponse);
    assert!(said.key.starts_with(&format!("said:{prompt}:")), "{}", said.key);
    assert_eq!(said.body.as_deref(), payload["last_assistant_message"].as_str());
    assert_eq!(said.metadata["lastAssistantMessage"], payload["last_assistant_message"]);
    assert_eq!(said.metadata["backgroundTaskCount"], 1);
    assert_eq!(
        said.metadata["backgroundTasks"],
        json!([{"id": "a9f867cf9bc859a6d", "type": "subagent", "status": "running", "agentType": "general-purpose"}])
    );
    assert_eq!(said.metadata["stopHookActive"], false);
    assert_eq!(said.metadata.get("stopReason"), None, "only the transcript knows");
    assert_eq!(standing(turn(&reading)), (Phase::Close, Some(CallState::Succeeded)));
    assert_eq!(turn(&reading).key, format!("turn:{prompt}"));
}

#[test]
fn the_last_words_of_a_stop_have_the_key_of_their_row_in_the_transcript() {
    let mut agreed = 0;
    for version in ["2.1.197", "2.1.325", "2.1.326"] {
        for name in folders(&fixtures_dir().join(version)) {
            let texts = transcript_texts(&fixtures_dir().join(version).join(&name));
            for captured in scenario(version, &name).iter().filter(|one| one.event() == "Stop") {
                let body = reduced(&captured.payload, Source::Hook, None);
                let reading = read_bytes(&body, Source::Hook, "o");
                let key = &only(&reading, Kind::AssistantResponse).key;
                if texts.is_empty() || key.starts_with("stop:") {
                    continue;
                }
                let prompt = captured.payload["prompt_id"].as_str().unwrap();
                let is_again = captured.payload["stop_hook_active"] == true;
                let keys = texts.iter().map(|text| {
                    let key = identity::said_key(prompt, text);
                    if is_again { identity::again_key(&key) } else { key }
                });
                assert!(keys.into_iter().any(|one| one == *key), "{}", captured.place);
                agreed += 1;
            }
        }
    }
    assert!(agreed > 60, "{agreed}");
}

/// Every text block of the model in a scenario's main transcripts.
fn transcript_texts(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for name in folders(folder).iter().filter(|name| name.ends_with(".jsonl") && *name != "hooks.jsonl") {
        for line in std::fs::read_to_string(folder.join(name)).expect("the transcript is there").lines() {
            let row: Value = serde_json::from_str(line).unwrap_or_default();
            let word = |at: &str, of: &Value| of.pointer(at).and_then(Value::as_str).map(str::to_owned);
            if word("/type", &row).as_deref() != Some("assistant") {
                continue;
            }
            for block in row.pointer("/message/content").and_then(Value::as_array).into_iter().flatten() {
                texts.extend(word("/text", block));
            }
        }
    }
    texts
}

#[test]
fn an_agent_that_answers_a_hook_is_a_task_that_ends_with_its_answer() {
    // As Claude Code 2.1.325 tells of it: two hooks of its last call, no start, no end and no type.
    let reading_of = |event: &str, tool: &str, agent: &str| {
        hook(&json!({"hook_event_name": event, "session_id": "s-1", "agent_id": agent, "cwd": "/p",
            "tool_name": tool, "tool_use_id": "toolu_1", "tool_input": {"ok": true}, "tool_response": "done"}))
    };
    let ends = |reading: &Reading| {
        let ended = |entry: &&Entry| entry.subject == Subject::Event(Kind::SessionEnded);
        reading
            .entries
            .iter()
            .filter(ended)
            .map(|entry| entry.task.runtime_session.clone())
            .collect::<Vec<_>>()
    };
    let before = reading_of("PreToolUse", "StructuredOutput", "hook-agent-1");
    let child = task(&before, "sub--hook-agent-1");
    assert_eq!(child.metadata["agentType"], "verifier");
    assert_eq!(parent(&before, "sub--hook-agent-1").metadata["parentSession"], "s-1");
    assert!(ends(&before).is_empty());
    assert_eq!(ends(&reading_of("PostToolUse", "StructuredOutput", "hook-agent-1")), ["sub--hook-agent-1"]);
    assert!(ends(&reading_of("PostToolUse", "Read", "hook-agent-1")).is_empty(), "it goes on");
    assert!(
        ends(&reading_of("PostToolUse", "StructuredOutput", "a1b2")).is_empty(),
        "others tell of their end"
    );
}
